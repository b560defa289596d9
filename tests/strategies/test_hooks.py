"""Which optional methods a strategy may have, and with which arguments."""

from collections.abc import Callable
from pathlib import Path

import pytest

from journeyman.domain.tasks import NewTask
from journeyman.strategies.api import Needs, NeedsError, OutcomeReport
from journeyman.strategies.loading.loaded import HOOKS, LoadedStrategy
from journeyman.strategies.loading.loader import load
from journeyman.strategies.loading.problems import Problem

HEAD = """
from journeyman import NewTask, Strategy

class Mine(Strategy):
    tags = {"mine"}

    def run(self, task):
        return "x"

"""


def problems_of(folder: Path, hook: str) -> list[Problem]:
    (folder / "mine.py").write_text(f"{HEAD}    {hook}\n        return None\n")
    return list(load(folder).problems)


def test_a_hook_is_given_only_the_arguments_that_it_names(
    load_file: Callable[..., LoadedStrategy],
) -> None:
    loaded = load_file(
        HEAD + "    def on_outcome(self, outcome):\n        return outcome.credits\n"
    )
    hook = loaded.hooks["on_outcome"]

    told = hook.bind(
        task=None, outcome=OutcomeReport(state="completed", credits=3), ctx=None
    )()

    assert (hook.arguments, hook.is_async, told) == (("outcome",), False, 3)


def test_hooks_may_be_async_and_may_leave_all_arguments_out(
    load_file: Callable[..., LoadedStrategy],
) -> None:
    loaded = load_file(
        HEAD
        + "    async def on_start(self):\n        pass\n\n"
        + "    def on_stop(self, ctx, verbose=False):\n        pass\n"
    )

    assert loaded.hooks["on_start"].is_async
    assert loaded.hooks["on_stop"].arguments == ("ctx",)
    assert set(loaded.hooks) == {"on_start", "on_stop"}


def test_post_may_give_its_tasks_one_by_one(
    load_file: Callable[..., LoadedStrategy],
) -> None:
    loaded = load_file(
        HEAD
        + "    def post(self):\n"
        + "        yield NewTask(title='t', description='d', reward=2)\n"
    )

    (task,) = loaded.hooks["post"].bind(ctx=None)()

    assert task == NewTask(title="t", description="d", reward=2)


@pytest.mark.parametrize(
    ("hook", "code", "words"),
    [
        ("def on_start(self, settings):", "E106", "on_start takes 'settings'"),
        ("def on_outcome(self, *args):", "E106", "ordinary arguments"),
        ("def post(self, ctx, **options):", "E106", "ordinary arguments"),
        ("def status(self, ctx):", "E106", "status takes 'ctx'"),
        ("async def status(self):", "E106", "status must not be async"),
        (
            "def on_outcomes(self, task):",
            "E113",
            "on_outcomes is not a hook, and is never called",
        ),
        ("def review(self, task, result):", "E113", "has no way to accept or refuse"),
    ],
)
def test_a_hook_that_cannot_be_called_is_a_problem_at_its_load(
    folder: Path, hook: str, code: str, words: str
) -> None:
    (problem,) = problems_of(folder, hook)

    assert (problem.code, words in problem.message) == (code, True), problem
    assert problem.line == 4


def test_a_misspelt_hook_is_answered_with_the_nearest(folder: Path) -> None:
    (problem,) = problems_of(folder, "def on_outcomes(self, task):")

    assert "did you mean 'on_outcome'?" in problem.fix


@pytest.mark.parametrize("hook", [name for name in HOOKS if name != "post"])
def test_no_other_hook_may_be_a_generator(folder: Path, hook: str) -> None:
    (folder / "mine.py").write_text(f"{HEAD}    def {hook}(self):\n        yield 1\n")

    (problem,) = load(folder).problems

    assert (problem.code, "generator" in problem.message) == ("E106", True)


def test_what_a_run_needs_comes_with_the_strategy(
    load_file: Callable[..., LoadedStrategy],
) -> None:
    loaded = load_file("""
        from journeyman import Needs, Strategy

        class Mine(Strategy):
            tags = {"mine"}
            runner = "process"
            needs = Needs(hosts={"b.org", "a.org:8443"}, seconds=9, memory_mb=64)

            def run(self, task):
                return "x"
    """)

    assert loaded.needs.hosts == ("a.org:8443", "b.org")
    assert (loaded.runner, loaded.timeout, loaded.needs.memory_mb) == ("process", 9, 64)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"hosts": "a.org"}, "write hosts="),
        ({"hosts": ["https://a.org/x"]}, "without scheme or path"),
        ({"hosts": ["127.0.0.1:*"]}, "a port cannot be a pattern"),
        ({"hosts": [1]}, "is not a string"),
        ({"files": [""]}, "an empty path"),
        ({"seconds": 0}, "above 0"),
        ({"seconds": True}, "above 0"),
        ({"memory_mb": float("inf")}, "above 0"),
        ({"credits": -1}, "0 or more"),
    ],
)
def test_a_need_that_nobody_can_grant_is_refused_where_it_is_written(
    fields: dict[str, object], words: str
) -> None:
    with pytest.raises(NeedsError, match=words):
        Needs(**fields)  # type: ignore[arg-type]  # the errors under test


def test_a_senseless_need_in_a_file_is_shown_with_its_line(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from journeyman import Needs, Strategy\n"
        "class Mine(Strategy):\n"
        "    needs = Needs(hosts='a.org')\n"
    )

    (problem,) = load(folder).problems

    assert (problem.code, problem.line) == ("E110", 3)
