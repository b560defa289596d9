"""The agent without a network: what it shows of a strategy at work."""

# mypy: disable-error-code="mutable-override"
# Narrowing a class attribute is how authors declare.

from pathlib import Path
from textwrap import dedent

import pytest

from journeyman import (
    Context,
    Decline,
    Misconfigured,
    NewTask,
    OutcomeReport,
    Result,
    RetryLater,
    Strategy,
    Task,
    param,
    skip,
    strategy,
)
from journeyman.testing import FakeAgent, StrategyNotLoadedError, load_strategy, task

STUDY = '''
    from journeyman import Strategy, Task, Context, Result, Decline, param, skip

    class WordCount(Strategy):
        """Counts the words of a text task."""
        api, version = 1, "1.0.0"
        max_words: int = param(50_000, ge=1, help="decline longer texts")

        def wants(self, task: Task):
            if "count" in task.tags:
                return task.reward >= 1
            return skip("tag 'count' missing")

        async def run(self, task: Task, ctx: Context) -> Result:
            n = len(task.text.split())
            if n > self.max_words:
                raise Decline("text too long", words=n)
            ctx.log.info("counted", words=n)
            return Result(str(n), evidence={"method": "whitespace"})
'''


class Careful(Strategy):
    """Ends in every way that there is, by the text of its task."""

    tags = {"careful"}  # noqa: RUF012 - the base class says ClassVar
    bonus: int = param(0, ge=0)

    def wants(self, task: Task) -> object:  # type: ignore[override]  # a careless author
        return skip("not today") if task.text == "skip" else super().wants(task)

    async def run(self, task: Task, ctx: Context) -> Result:
        ctx.state["seen"] = ctx.state.get("seen", 0) + 1
        if task.text == "decline":
            raise Decline("too hard")
        if task.text == "later":
            raise RetryLater("not ready", after=5)
        if task.text == "misconfigured":
            raise Misconfigured("no key", fix="set one")
        if task.text == "bug":
            raise KeyError("title")
        ctx.log.info("done", left=ctx.budget.balance)
        return Result(len(task.text) + self.bonus)

    def on_start(self, ctx: Context) -> None:
        ctx.state["starts"] = ctx.state.get("starts", 0) + 1

    async def on_outcome(self, outcome: OutcomeReport, ctx: Context) -> None:
        ctx.state["last"] = (outcome.state, outcome.credits)

    def post(self) -> list[NewTask]:
        return [NewTask(title="t", description="d", reward=1)]

    def on_result(self, post: NewTask, result: object, ctx: Context) -> None:
        ctx.state["came_back"] = (post.title, result)

    def status(self) -> dict[str, int]:
        return {"bonus": self.bonus}


@strategy(tags={"echo"})
def echo(task: Task) -> str:
    return task.text


def careful(text: str, reward: int = 1) -> Task:
    return task(text, tags=["careful"], reward=reward)


@pytest.fixture
def agent(tmp_path: Path) -> FakeAgent:
    return FakeAgent(tmp_path)


def test_the_test_of_the_study_works_as_printed(
    agent: FakeAgent, tmp_path: Path
) -> None:
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies/word_count.py").write_text(dedent(STUDY))
    file = "strategies/word_count.py"

    run = agent.run(file, task("to be or not", tags=["count"], reward=3))
    assert (run.outcome, run.result.text, run.credits) == ("completed", "4", 3)
    assert agent.run(file, task("x", tags=["draw"])).reason == "tag 'count' missing"
    long = task("a b c", tags=["count"])
    assert agent.run(file, long, max_words=2).outcome == "declined"


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ("fine", "completed", ""),
        ("skip", "skipped", "not today"),
        ("decline", "declined", "too hard"),
        ("later", "retry_later", "not ready"),
        ("misconfigured", "misconfigured", "no key"),
    ],
)
def test_a_run_says_how_it_ended_and_why(
    agent: FakeAgent, text: str, outcome: str, reason: str
) -> None:
    run = agent.run(Careful, careful(text))

    assert (run.outcome, run.reason) == (outcome, reason)


def test_a_bug_is_told_with_the_author_s_line(agent: FakeAgent) -> None:
    run = agent.run(Careful, careful("bug"))

    assert run.outcome == "failed"
    assert run.reason.startswith("KeyError: 'title' (")
    assert "test_agent.py" in run.reason
    assert 'raise KeyError("title")' in run.traceback


def test_asking_for_a_result_that_is_not_there_says_what_happened(
    agent: FakeAgent,
) -> None:
    run = agent.run(Careful, careful("decline"))

    with pytest.raises(AssertionError, match="there is no result: declined: too hard"):
        run.result  # noqa: B018 - reading it is what fails


def test_credits_logs_and_state_are_kept_as_in_the_daemon(agent: FakeAgent) -> None:
    first = agent.run(Careful, careful("ab", reward=3))
    second = agent.run(Careful, careful("abc", reward=2))

    assert (first.result.output, second.result.output) == (2, 3)
    assert [line.fields for run in (first, second) for line in run.logs] == [
        {"left": 100},
        {"left": 103},
    ]
    assert agent.credits == 105
    assert agent.state["careful"] == {"starts": 1, "seen": 2, "last": ("completed", 2)}


def test_a_strategy_is_given_what_came_back_for_its_post(agent: FakeAgent) -> None:
    (post,) = agent.posts(Careful)

    agent.give_result(Careful, post, {"words": 7})

    assert agent.state["careful"]["came_back"] == ("t", {"words": 7})


def test_parameters_make_another_instance_of_the_strategy(agent: FakeAgent) -> None:
    runs = [agent.run(Careful, careful("ab"), bonus=bonus) for bonus in (0, 5, 0)]

    assert [run.result.output for run in runs] == [2, 7, 2]
    assert agent.status(Careful, bonus=5) == {"bonus": 5}
    assert agent.state["careful"]["starts"] == 2


async def test_it_can_be_used_inside_an_event_loop(agent: FakeAgent) -> None:
    run = await agent.run_async(Careful, careful("ab"))

    assert run.outcome == "completed"


def test_a_decorated_function_is_a_subject_too(agent: FakeAgent) -> None:
    assert agent.run(echo, task("hello", tags=["echo"])).result.text == "hello"


def test_what_it_wants_to_post_can_be_asked_for(agent: FakeAgent) -> None:
    assert [new.title for new in agent.posts(Careful)] == ["t"]
    with pytest.raises(AssertionError, match="echo has no post"):
        agent.posts(echo)


def test_a_result_that_is_no_text_is_shown_as_json() -> None:
    assert Result({"a": [1]}).text == '{"a": [1]}'


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def half(:", "E101"),
        ("import journeyman", "E104"),
        (
            STUDY + "\n    class Second(WordCount):\n        pass\n",
            "several strategies",
        ),
    ],
)
def test_a_file_that_does_not_load_fails_the_test_with_its_problems(
    agent: FakeAgent, tmp_path: Path, source: str, words: str
) -> None:
    (tmp_path / "mine.py").write_text(dedent(source))

    with pytest.raises(StrategyNotLoadedError, match=words):
        agent.run("mine.py", task("x"))


def test_a_value_that_a_parameter_does_not_allow_fails_the_test(
    agent: FakeAgent,
) -> None:
    with pytest.raises(StrategyNotLoadedError, match="bonus = -1: must be 0 or more"):
        agent.run(Careful, careful("x"), bonus=-1)


def test_a_missing_file_and_a_stranger_are_told(agent: FakeAgent) -> None:
    with pytest.raises(StrategyNotLoadedError, match="there is no file"):
        agent.run("nowhere.py", task("x"))
    with pytest.raises(StrategyNotLoadedError, match="is not a strategy"):
        agent.run(print, task("x"))


def test_a_strategy_file_gives_its_class_to_inherit_from(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(dedent(STUDY))

    assert issubclass(load_strategy(tmp_path / "mine.py"), Strategy)


def test_a_task_reads_its_text_out_of_its_input_as_the_daemon_does() -> None:
    assert task(input={"text": "inside"}).text == "inside"
    assert task("outside", input={"text": "inside"}).text == "outside"
