"""A strategy as a strict type checker sees it: checked by mypy, never executed."""

# mypy: disable-error-code="mutable-override"
# Narrowing a class attribute is how authors declare; `--strict` allows it too.

from typing import assert_type

from journeyman import (
    Context,
    Decision,
    Decline,
    Example,
    Result,
    Strategy,
    Task,
    param,
    score,
    skip,
    strategy,
)


class Typed(Strategy):
    """Both forms of run, params and declarations need no help from the author."""

    api, version = 1, "1.0.0"
    runner = "loop"
    timeout = 3.5
    kinds = {"typed"}  # noqa: RUF012 - the base class says ClassVar
    inputs = {"text": str}  # noqa: RUF012 - the base class says ClassVar
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


class Plain(Strategy):
    """A run without async."""

    tags = {"plain"}  # noqa: RUF012 - the base class says ClassVar

    def run(self, task: Task) -> str:
        return task.text


@strategy(tags={"echo"}, min_reward=1)
def echo(task: Task) -> str:
    """The decorator keeps the function's type."""
    return task.text


def check(task: Task) -> None:
    """See that the types come through."""
    assert_type(echo(task), str)
    assert_type(Typed().most, int)
    Typed(runner="loop")  # type: ignore[call-arg]  # settings come by param only
    param(0, le="1")  # type: ignore[arg-type]  # a bound is a number
