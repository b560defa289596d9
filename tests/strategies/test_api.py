"""The author's side: the example of the design to the letter, and light imports."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.strategies.endings import is_like

import journeyman
from journeyman import Decline, Example, Result, Task, param, score, skip, strategy
from journeyman.domain.tasks import TaskId
from journeyman.strategies.api import Context
from journeyman.strategies.loading.registry import load_registry
from journeyman.strategies.running.runner import Runner

DESIGN_6 = '''\
from journeyman import Context, Decline, Result, Strategy, Task, param, skip


class WordCount(Strategy):
    """Counts the words of a text task."""

    api, version = 1, "1.0.0"
    max_words: int = param(50_000, ge=1, help="decline longer texts")

    def wants(self, task: Task):
        return task.reward >= 1 if "count" in task.tags else skip("tag 'count' missing")

    async def run(self, task: Task, ctx: Context) -> Result:
        words = len(task.text.split())
        if words > self.max_words:
            raise Decline("text too long", words=words)
        ctx.log.info("counted", words=words)
        return Result(str(words), evidence={"method": "whitespace"})
'''
ECHO = """\
from journeyman import strategy


@strategy(tags={"echo"}, min_reward=1)
def echo(task): return task.text
"""
NEW_IN_MEMORY = """
import json, sys
before = set(sys.modules)
import journeyman
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def a_task(text: str, *, reward: int = 1, tags: tuple[str, ...] = ("count",)) -> Task:
    return Task(id=TaskId("t1"), text=text, reward=reward, tags=tags)


async def test_the_example_works_as_documented(
    folder: Path, make_context: Callable[..., Context], runner: Runner
) -> None:
    (folder / "word_count.py").write_text(DESIGN_6)
    registry = load_registry(folder, {"word_count": {"max_words": 4}})
    loaded = registry.find("WordCount")

    ended = [
        await runner.run(loaded, a_task(text), make_context(), timeout_seconds=9)
        for text in ("to be or not", "to be or not to be")
    ]

    assert registry.problems == ()
    assert registry.choose(a_task("")).strategy is loaded
    assert registry.choose(a_task("", reward=0)).strategy is None
    assert registry.choose(a_task("", tags=())).reason == "tag 'count' missing"
    assert ended[0] == Result("4", evidence={"method": "whitespace"})
    assert is_like(ended[1], Decline("text too long", words=6))
    assert str(ended[1]) == "text too long (words=6)"


async def test_the_function_form_works_as_documented(
    folder: Path, make_context: Callable[..., Context], runner: Runner
) -> None:
    (folder / "echo.py").write_text(ECHO)
    registry = load_registry(folder)
    task = a_task("hello", tags=("echo",))

    choice = registry.choose(task)
    assert choice.strategy is not None
    ended = await runner.run(choice.strategy, task, make_context(), timeout_seconds=9)

    assert choice.strategy.runner == "thread"
    assert ended == Result("hello")


def test_a_decorated_function_can_still_be_called() -> None:
    @strategy(tags={"double"})
    def double(task: Task) -> str:
        return task.text * 2

    assert double(a_task("ab")) == "abab"


def test_importing_journeyman_loads_nothing_heavy() -> None:
    answer = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", NEW_IN_MEMORY], capture_output=True, check=True
    )
    modules = set(json.loads(answer.stdout))
    top = {name.partition(".")[0] for name in modules}

    assert top - set(sys.stdlib_module_names) == {"journeyman"}
    assert not top & {"asyncio", "logging", "sqlite3", "ssl", "http", "email"}
    assert {name for name in modules if name.startswith("journeyman.")} == {
        name
        for name in modules
        if name.startswith(("journeyman.domain", "journeyman.strategies"))
    }


def test_every_public_name_is_there_once() -> None:
    assert len(set(journeyman.__all__)) == len(journeyman.__all__)
    assert all(hasattr(journeyman, name) for name in journeyman.__all__)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: score(1.1), "between 0 and 1"),
        (lambda: score(float("nan")), "between 0 and 1"),
        (lambda: score(1, cost=-1), "0 or more"),
        (lambda: param(0, ge=1), "must be 1 or more"),
        (lambda: param("a", choices=("b",)), "choose one of 'b'"),
        (lambda: param([]), "must be a bool, int, float or str"),  # type: ignore[type-var]  # the error under test
        (lambda: Example({"kin": "x"}, expect=1), "no field 'kin'"),
    ],
)
def test_a_slip_in_the_authors_words_is_answered_at_once(
    make: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_an_example_finds_the_text_as_the_daemon_does() -> None:
    inside = Example({"input": {"text": "in"}, "description": "out"}, expect=1)
    outside = Example({"input": [1], "description": "out"}, expect=Decline)

    assert (inside.task.text, outside.task.text) == ("in", "out")


def test_the_workspace_is_made_once_and_only_when_asked_for(
    make_context: Callable[..., Context], tmp_path: Path
) -> None:
    made: list[Path] = []

    def make() -> Path:
        made.append(tmp_path)
        return tmp_path

    context = make_context(workspace=make)
    assert made == []

    assert context.workspace == context.workspace == tmp_path
    assert made == [tmp_path]


def test_a_skip_is_falsy_so_that_wants_can_be_tested_plainly() -> None:
    assert not skip("no")
