"""Strategies as a type checker sees them: checked by mypy and pyright, never run."""

# mypy: disable-error-code="mutable-override"
# Narrowing a class attribute is how authors declare; `--strict` allows it too.

from collections.abc import Iterable, Iterator
from typing import assert_type

from journeyman import (
    Context,
    Decision,
    Decline,
    Example,
    Needs,
    NewTask,
    OutcomeReport,
    Result,
    RetryLater,
    Strategy,
    Task,
    param,
    score,
    skip,
    strategy,
)
from journeyman.testing import FakeAgent, Market, assert_strategy_conforms, task


class Typed(Strategy):
    """Both forms of run, params and declarations need no help from the author."""

    api, version = 1, "1.0.0"
    runner = "process"
    timeout = 3.5
    kinds = {"typed"}  # noqa: RUF012 - the base class says ClassVar
    inputs = {"text": str}  # noqa: RUF012 - the base class says ClassVar
    needs = Needs(hosts={"api.example.com"}, seconds=9, memory_mb=128)
    examples = [Example({"kind": "typed"}, expect=Decline)]  # noqa: RUF012 - see above

    most: int = param(3, ge=1)
    ratio: float = param(0.5, le=1)
    mode: str = param("fast", choices=("fast", "exact"))

    def wants(self, task: Task) -> Decision:
        if task.reward < 1:
            return skip("too little")
        return score(0.5, cost=0.1) if self.ratio else super().wants(task)

    async def run(self, text: str, ctx: Context) -> Result:
        assert_type(self.most, int)
        assert_type(ctx.cancelled, bool)
        if len(text) > self.most:
            raise Decline("too long", length=len(text))
        ctx.log.info("typed", mode=self.mode)
        return Result(text, evidence={"mode": self.mode})

    def on_start(self, ctx: Context) -> None:
        ctx.state["starts"] = ctx.state.get("starts", 0) + 1

    async def on_outcome(self, outcome: OutcomeReport) -> None:
        assert_type(outcome.credits, int)

    def post(self, ctx: Context) -> Iterator[NewTask]:
        if ctx.budget.spendable > 1:
            yield NewTask(title="t", description="d", reward=1, tags=("a",))

    def status(self) -> dict[str, int]:
        return {"most": self.most}


class Plain(Strategy):
    """A run without async, hooks with other arguments and other forms."""

    tags = {"plain"}  # noqa: RUF012 - the base class says ClassVar

    def run(self, task: Task) -> str:
        if not task.text:
            raise RetryLater("not there yet", after=5)
        return task.text

    async def post(self) -> Iterable[NewTask]:
        return []

    def status(self) -> str:
        return "fine"


class Listing(Strategy):
    """What it hands in needs no type that only we know."""

    kinds = {"listing"}  # noqa: RUF012 - the base class says ClassVar

    async def run(self, task: Task) -> Result:
        words: list[str] = task.text.split()
        counts: dict[str, int] = {word: len(word) for word in words}
        rows: list[dict[str, float]] = [{"a": 1.5}]
        return Result({"words": words, "rows": rows}, evidence={"counts": counts})


@strategy(tags={"echo"}, min_reward=1)
def echo(task: Task) -> str:
    """The decorator keeps the function's type."""
    return task.text


def check(given: Task) -> None:
    """See that the types come through."""
    assert_type(echo(given), str)
    assert_type(Typed().most, int)
    Typed(runner="loop")  # type: ignore[call-arg]  # settings come by param only
    param(0, le="1")  # type: ignore[arg-type]  # a bound is a number
    Needs(memory_mb="64")  # type: ignore[arg-type]  # a number of MiB


def check_tests(agent: FakeAgent, market: Market) -> None:
    """See that a test of a strategy is typed as well."""
    run = agent.run(Typed, task("to be", kind="typed", reward=2), most=1)
    assert_type(run.result, Result)
    assert_type(run.credits, int)
    agent.run(echo, task("x"))
    agent.run("strategies/x.py", task("x"))
    assert_type(market.work("strategies/x.py", work__slots=1).completed, int)
    assert_strategy_conforms(Typed, most=3)
