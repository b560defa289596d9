"""A strategy in its own process behaves as in any other runner, within its limits."""

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from tests.one_task import in_one_task
from tests.strategies.endings import is_like

from journeyman.domain.tasks import JSON, Result, Task, TaskId
from journeyman.strategies.api import Context
from journeyman.strategies.api.outcomes import Decline, Misconfigured, RetryLater
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome, StrategyError, TimedOut
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.runner import Runner
from journeyman.strategies.running.template import Template

Load = Callable[..., LoadedStrategy]
MakeContext = Callable[..., Context]

HEAD = """
import asyncio, os, signal, subprocess, sys, time
from journeyman import Decline, Misconfigured, Needs, Result, RetryLater, strategy

"""


def written(body: str, *, form: str = "def", options: str = "") -> str:
    indented = body.strip("\n").replace("\n", "\n    ")
    return (
        f"{HEAD}@strategy(tags={{'x'}}, runner='process'{options})\n"
        f"{form} mine(task, ctx):\n    {indented}\n"
    )


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    return tmp_path / "homes"


@pytest.fixture
def isolation(homes: Path) -> Isolation:
    return Isolation(homes=homes)


@pytest.fixture
async def runner(isolation: Isolation) -> AsyncIterator[Runner]:
    runner = Runner(grace_seconds=0.2, isolation=isolation)
    async with in_one_task(runner.running()) as it:
        yield it


Run = Callable[..., Awaitable[RunOutcome]]


@pytest.fixture
def run_file(runner: Runner, load_file: Load, make_context: MakeContext) -> Run:
    async def run(
        source: str, *, seconds: float = 20, text: str = "", **changes: object
    ) -> RunOutcome:
        loaded = load_file(source)
        task = Task(id=TaskId("t1"), text=text, reward=1)
        context = make_context(**changes)
        return await runner.run(loaded, task, context, timeout_seconds=seconds)

    return run


def result_of(ended: RunOutcome) -> Result:
    assert isinstance(ended, Result), ended
    return ended


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def is_there(path: str) -> bool:
    return Path(path).exists()


FORMS = pytest.mark.parametrize("form", ["def", "async def"])


@FORMS
async def test_a_result_comes_back_whole(run_file: Run, form: str) -> None:
    body = "return Result([task.text, {'a': None}], evidence={'by': 'hand'})"

    ended = await run_file(written(body, form=form), text="häh \ud800")

    assert isinstance(ended, Decline)  # the half of a pair has no UTF-8 form
    ended = await run_file(written(body, form=form), text="häh \u2028")
    assert result_of(ended) == Result(
        ["häh \u2028", {"a": None}], evidence={"by": "hand"}
    )


async def test_every_way_to_end_is_told_apart(
    runner: Runner, load_file: Load, make_context: MakeContext
) -> None:
    body = """
kinds = {
    "decline": Decline("too long", words=9),
    "later": RetryLater("not ready", after=5),
    "broken": Misconfigured("no key", fix="set it"),
    "bug": ValueError("boom"),
    "exit": SystemExit(3),
}
if task.text == "odd":
    return {1, 2}
raise kinds[task.text]"""
    loaded = load_file(written(body))

    async def end(text: str) -> RunOutcome:
        task = Task(id=TaskId("t1"), text=text)
        return await runner.run(loaded, task, make_context(), timeout_seconds=20)

    assert is_like(await end("decline"), Decline("too long", words=9))
    assert is_like(await end("later"), RetryLater("not ready", after=5))
    assert is_like(await end("broken"), Misconfigured("no key", fix="set it"))
    bug = await end("bug")
    assert isinstance(bug, StrategyError)
    assert bug.error == "ValueError: boom"
    assert bug.where == "strategies/mine.py:16 in mine"
    assert "raise kinds[task.text]" in bug.traceback
    left = await end("exit")
    assert isinstance(left, StrategyError)
    assert left.error == "SystemExit: 3"
    odd = await end("odd")
    assert isinstance(odd, StrategyError)
    assert odd.error.startswith("output is a set: give a str")


async def test_the_context_is_the_same_as_elsewhere(
    run_file: Run, log: object, homes: Path
) -> None:
    told: list[tuple[float, str]] = []
    body = """
ctx.log.info("hello", words=3, odd={1}, **{"a b": 4})
ctx.progress(0.5, "half")
print("on paper")
(ctx.workspace / "note").write_text("x")
return [
    ctx.strategy, ctx.canary, ctx.budget.balance, ctx.deadline.isoformat(),
    ctx.now.isoformat()[:13], ctx.cancelled, str(ctx.workspace), os.getcwd(),
    os.environ["HOME"], os.listdir(),
]"""
    deadline = datetime(2026, 11, 22, tzinfo=UTC)

    ended = await run_file(
        written(body),
        canary="canary_1",
        deadline=deadline,
        progress=lambda fraction, note: told.append((fraction, note)),
    )

    output = result_of(ended).output
    assert isinstance(output, list)
    home = str(output[6])
    assert output[:6] == [
        "mine",
        "canary_1",
        100,
        deadline.isoformat(),
        "2026-11-21T12",
        False,
    ]
    assert Path(home).parent == homes
    assert output[7:] == [home, home, ["note"]]
    assert told == [(0.5, "half")]
    assert getattr(log, "lines") == [  # noqa: B009 - the fixture's own type
        ("info", "hello", {"words": 3, "odd": "{1}", "a b": 4}),
        ("info", "printed", {"text": "on paper"}),
    ]


async def test_state_goes_in_and_what_changed_comes_back(
    runner: Runner, load_file: Load, make_context: MakeContext
) -> None:
    loaded = load_file(
        written(
            "ctx.state['n'] = ctx.state.get('n', 0) + 1\n"
            "ctx.state.pop('old', None)\nreturn 1"
        )
    )
    state: dict[str, JSON] = {"old": 1, "other": [1]}
    context = make_context(state=state)

    await runner.run(loaded, Task(id=TaskId("t1")), context, timeout_seconds=20)
    state["added meanwhile"] = True
    await runner.run(loaded, Task(id=TaskId("t2")), context, timeout_seconds=20)

    assert state == {"other": [1], "n": 2, "added meanwhile": True}


async def test_a_state_that_is_not_json_is_a_crash_and_changes_nothing(
    run_file: Run,
) -> None:
    state: dict[str, object] = {"n": 1}

    ended = await run_file(written("ctx.state['n'] = {1}\nreturn 1"), state=state)

    assert isinstance(ended, StrategyError)
    assert ended.error.startswith("ctx.state contains what JSON cannot represent")
    assert state == {"n": 1}


async def test_one_process_does_task_after_task_each_in_an_empty_folder(
    runner: Runner, load_file: Load, make_context: MakeContext
) -> None:
    body = """
found = os.listdir(ctx.workspace)
os.makedirs(ctx.workspace / "deep" / "er")
(ctx.workspace / "deep").chmod(0o300)
os.chdir(ctx.workspace / "deep")
return [os.getpid(), found, os.environ.get("SECRET_THING")]"""
    loaded = load_file(written(body))

    ends = [
        await runner.run(
            loaded, Task(id=TaskId(f"t{n}")), make_context(), timeout_seconds=20
        )
        for n in range(3)
    ]

    pids = {str(result_of(ended).output[0]) for ended in ends}  # type: ignore[index] # a list, as written above
    assert len(pids) == 1
    assert [result_of(ended).output[1:] for ended in ends] == [[[], None]] * 3  # type: ignore[index] # as above


async def test_a_process_is_replaced_after_so_many_tasks(
    homes: Path, load_file: Load, make_context: MakeContext
) -> None:
    isolation = Isolation(homes=homes, tasks_per_child=2)
    loaded = load_file(written("return os.getpid()"))
    async with Runner(isolation=isolation).running() as runner:
        ends = [
            await runner.run(
                loaded, Task(id=TaskId(f"t{n}")), make_context(), timeout_seconds=20
            )
            for n in range(3)
        ]

    pids = [result_of(ended).output for ended in ends]
    assert pids[0] == pids[1] != pids[2]


async def test_outside_of_running_each_task_has_its_own_process(
    homes: Path, load_file: Load, make_context: MakeContext
) -> None:
    runner = Runner(isolation=Isolation(homes=homes.parent))
    loaded = load_file(written("return os.getppid()"))

    ended = await runner.run(
        loaded, Task(id=TaskId("t1")), make_context(), timeout_seconds=20
    )

    supervisor = result_of(ended).output
    # The kernel closes its pipes, which tell us of its end, before its entry goes.
    with anyio.fail_after(60):
        while is_there(f"/proc/{supervisor}"):  # noqa: ASYNC110 - a process sets no Event
            await anyio.sleep(0.01)
    assert "child-" not in " ".join(names_in(homes.parent))


async def test_a_polite_strategy_may_clean_up_when_its_time_is_over(
    run_file: Run, tmp_path: Path
) -> None:
    note = tmp_path / "strategies" / "note"
    body = f"""
try:
    await asyncio.sleep(1e9)
finally:
    ctx.log.info("cleaned", cancelled=ctx.cancelled, note={str(note)!r})
return "too late" """

    ended = await run_file(written(body, form="async def"), seconds=0.05)

    assert ended == TimedOut(0.05)


async def test_the_callers_cancellation_ends_the_process(
    runner: Runner, load_file: Load, make_context: MakeContext, homes: Path
) -> None:
    loaded = load_file(written("time.sleep(1e9)"))

    with anyio.move_on_after(0.5) as scope:
        await runner.run(
            loaded, Task(id=TaskId("t1")), make_context(), timeout_seconds=1e6
        )

    assert scope.cancelled_caught
    assert names_in(homes) == []


async def test_an_environment_variable_is_passed_on_only_if_the_owner_says_so(
    homes: Path,
    load_file: Load,
    make_context: MakeContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("MODEL_KEY", "OTHER_KEY", "JOURNEYMAN_X", "LC_ALL"):
        monkeypatch.setenv(name, "C")
    isolation = Isolation(homes=homes, environment=("MODEL_KEY", "JOURNEYMAN_X"))
    loaded = load_file(written("return sorted(os.environ)"))
    async with Runner(isolation=isolation).running() as runner:
        ended = await runner.run(
            loaded, Task(id=TaskId("t1")), make_context(), timeout_seconds=20
        )

    names = result_of(ended).output
    assert isinstance(names, list)
    assert {"MODEL_KEY", "LC_ALL", "HOME", "PATH", "TMPDIR"} <= set(names)
    assert {"OTHER_KEY", "JOURNEYMAN_X"}.isdisjoint(names)


async def test_a_strategy_that_does_not_load_in_its_process_is_broken_not_failed(
    runner: Runner, load_file: Load, make_context: MakeContext
) -> None:
    loaded = load_file(written("return 1"))
    loaded.path.write_text("def oops(:\n")

    ended = await runner.run(
        loaded, Task(id=TaskId("t1")), make_context(), timeout_seconds=20
    )

    assert isinstance(ended, Misconfigured)
    assert "E101" in ended.problem


async def test_a_process_of_newer_files_says_so(
    runner: Runner, load_file: Load, make_context: MakeContext, log: object
) -> None:
    loaded = load_file(written("return 1"))
    loaded.path.write_text(written("return 2"))

    ended = await runner.run(
        loaded, Task(id=TaskId("t1")), make_context(), timeout_seconds=20
    )

    assert result_of(ended).output == 2
    assert "have changed since" in getattr(log, "lines")[0][1]  # noqa: B009 - the fixture's own type


async def test_a_new_generation_has_new_processes_and_the_old_ones_end(
    runner: Runner, load_file: Load, make_context: MakeContext, homes: Path
) -> None:
    old = load_file(written("return 'old'"))
    await runner.run(old, Task(id=TaskId("t1")), make_context(), timeout_seconds=20)
    new = load_file(written("return 'new'"))

    runner.serve([new])
    ended = await runner.run(
        new, Task(id=TaskId("t2")), make_context(), timeout_seconds=20
    )
    with anyio.fail_after(60):
        while len(names_in(homes)) > 1:  # noqa: ASYNC110 - a folder sets no Event
            await anyio.sleep(0.01)

    assert result_of(ended).output == "new"


async def test_without_processes_it_runs_on_the_loop_as_in_simulated_time(
    load_file: Load, make_context: MakeContext
) -> None:
    runner = Runner(isolation=None)
    loaded = load_file(written("return os.getpid()"))

    ended = await runner.run(
        loaded, Task(id=TaskId("t1")), make_context(), timeout_seconds=20
    )

    assert result_of(ended).output == os.getpid()


async def test_what_a_killed_daemon_left_is_swept_away(
    homes: Path, isolation: Isolation
) -> None:
    (homes / "child-left" / "deep").mkdir(parents=True)
    (homes / "of-a-task").mkdir()

    async with Runner(isolation=isolation).running():
        assert names_in(homes) == ["of-a-task"]


async def test_a_child_imports_nothing_but_the_standard_library_and_the_api(
    run_file: Run,
) -> None:
    body = "return sorted({name.partition('.')[0] for name in sys.modules})"

    names = result_of(await run_file(written(body))).output

    assert isinstance(names, list)
    assert {"anyio", "pydantic", "structlog", "httpx2", "sqlite3"}.isdisjoint(names)


async def test_children_that_have_nothing_to_do_end(
    homes: Path, load_file: Load, make_context: MakeContext
) -> None:
    isolation = Isolation(homes=homes, idle_seconds=0.01)
    loaded = load_file(written("return os.getppid()"))
    async with Runner(isolation=isolation).running() as runner:
        ended = await runner.run(
            loaded, Task(id=TaskId("t1")), make_context(), timeout_seconds=20
        )
        supervisor = result_of(ended).output
        with anyio.fail_after(60):
            while is_there(f"/proc/{supervisor}"):  # noqa: ASYNC110 - a process sets no Event
                await anyio.sleep(0.01)

        assert names_in(homes) == []


async def test_a_template_that_somebody_kills_is_started_again(
    homes: Path, load_file: Load, make_context: MakeContext
) -> None:
    isolation = Isolation(homes=homes, warm_children=0)
    loaded = load_file(written("return os.getpid()"))
    with Template() as template:
        runner = Runner(isolation=isolation, template=template)
        async with runner.running():
            for _ in range(2):
                ended = await runner.run(
                    loaded, Task(id=TaskId("t1")), make_context(), timeout_seconds=20
                )
                assert isinstance(result_of(ended).output, int)
                assert template.pid is not None
                os.kill(template.pid, signal.SIGKILL)
                os.waitid(os.P_PID, template.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - it was killed
