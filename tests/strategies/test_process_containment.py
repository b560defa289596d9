"""A strategy that misbehaves costs one task, and leaves nothing behind."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.one_task import in_one_task

from journeyman.domain.tasks import Result, Task, TaskId
from journeyman.strategies.api import Context, RetryLater
from journeyman.strategies.child.confinement import available_confinement
from journeyman.strategies.child.kernel import children_of
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome, StrategyError, TimedOut
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.runner import Runner

pytestmark = pytest.mark.endurance

PATIENCE_SECONDS = 60

SOURCE = """
import ctypes, mmap, os, re, signal, socket, subprocess, sys, time
from journeyman import Needs, strategy

def pause():
    time.sleep(1e6)

def marks():
    open("mark", "w").close()
    pause()

def forks():
    if os.fork() == 0:
        pause()
    pause()

def daemonizes():
    # Twice forked, in a session of its own, with nothing in its environment.
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve(sys.executable, [sys.executable, "-c",
                "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
                "time.sleep(1e6)"], {})
        os._exit(0)
    os.wait()
    return "left something running"

def hops():
    # Never twice the same process.
    if os.fork() == 0:
        os.setsid()
        while True:
            if os.fork():
                os._exit(0)
    os.wait()
    pause()

def answers_twice():
    os.fork()
    return "twice"

def eats():
    hoard = []
    while True:
        hoard.append(bytearray(16_000_000))

def eats_shared():
    hoard = [mmap.mmap(-1, 64_000_000) for _ in range(5)]
    for each in hoard:
        each.write(b"x" * len(each))
    pause()

def prints():
    while True:
        os.write(1, b"noise " * 8_000)

def closes():
    os.closerange(0, 4096)
    return "into nothing"

def swaps():
    os.closerange(3, 4096)
    with open("trap", "wb") as trap, open("trap2", "wb"):
        return "into a file"

def kills_the_group():
    os.killpg(0, signal.SIGKILL)

def kills_its_parents():
    told = []
    for victim in (DAEMON, os.getppid(), -1, -os.getppid(), *SIBLINGS):
        try:
            os.kill(victim, signal.SIGKILL)
        except PermissionError:
            told.append("refused")
        except ProcessLookupError:
            told.append("gone")
    return told

def segfaults():
    ctypes.string_at(0)

def regex():
    return bool(re.match(r"(a+)+$", "a" * 64 + "b"))

def ignores():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        pass

def burns():
    while True:
        pass

def floods_the_log(ctx):
    for n in range(100_000):
        ctx.log.info("noise", n=n)
    return "done"

def forges(ctx):
    # Speaks the protocol itself, to answer a task that was never given.
    import json
    body = json.dumps({"run": 999, "ended": {"is": "finished"}}).encode()
    for descriptor in range(3, 32):
        try:
            os.write(descriptor, len(body).to_bytes(4, "big") + body)
        except OSError:
            pass
    pause()

@strategy(tags={"x"}, runner="process")
def mine(task, ctx):
    if task.text == "pid":
        return os.getpid()
    if task.text.startswith("DAEMON"):
        global DAEMON, SIBLINGS
        DAEMON, *SIBLINGS = map(int, task.text.split()[1:])
        return kills_its_parents()
    what = globals()[task.text]
    return what(ctx) if "ctx" in what.__code__.co_varnames else what()
"""


class Stage:
    """One strategy file, one runner, and a way to give tasks."""

    def __init__(
        self, runner: Runner, loaded: LoadedStrategy, context: Callable[..., Context]
    ) -> None:
        self.runner, self.loaded, self.context = runner, loaded, context

    async def ask(self, text: str, seconds: float = 120) -> RunOutcome:
        task = Task(id=TaskId(text[:9]), text=text)
        return await self.runner.run(
            self.loaded, task, self.context(), timeout_seconds=seconds
        )


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    return tmp_path / "homes"


@pytest.fixture
async def stage(
    homes: Path,
    load_file: Callable[..., LoadedStrategy],
    make_context: Callable[..., Context],
) -> AsyncIterator[Stage]:
    isolation = Isolation(
        homes=homes, memory_mb=200, processes=8, output_bytes=4_096, cpu_seconds=3
    )
    runner = Runner(grace_seconds=0.1, isolation=isolation)
    async with in_one_task(runner.running()):
        yield Stage(runner, load_file(SOURCE), make_context)
    await at_most_in(homes, 0)


def still_in(homes: Path) -> list[str]:
    """Return every process that was started in one of the folders, by any way."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(homes):
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found


async def is_well(stage: Stage, homes: Path, known: object) -> None:
    """Check that the next task works, and that nothing of the last one is left."""
    ended = await stage.ask("pid")
    assert isinstance(ended, Result)
    assert ended.output != known
    # One supervisor and one worker are to be there.
    await at_most_in(homes, 2)


async def at_most_in(homes: Path, count: int) -> None:
    """Wait until no more processes are left: a killed one goes when it is next run."""
    with anyio.fail_after(PATIENCE_SECONDS):
        while len(still_in(homes)) > count:  # noqa: ASYNC110 - a process sets no Event
            await anyio.sleep(0.01)


HANGS = ["pause", "forks", "hops", "regex", "ignores"]


@pytest.mark.parametrize("what", HANGS)
async def test_what_hangs_is_killed_with_all_that_it_started(
    stage: Stage, homes: Path, what: str
) -> None:
    first = await stage.ask("pid")

    ended = await stage.ask(what, seconds=0.2)

    assert ended == TimedOut(0.2)
    assert isinstance(first, Result)
    await is_well(stage, homes, first.output)


async def test_what_it_left_running_ends_with_its_task(
    stage: Stage, homes: Path
) -> None:
    ended = await stage.ask("daemonizes")

    assert isinstance(ended, Result)
    await is_well(stage, homes, None)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("eats", "MemoryError"),
        ("eats_shared", "MiB of memory in total (limit 200)"),
        ("prints", "printed without end"),
        ("closes", "exit code 1"),
        ("swaps", "exit code 1"),
        ("kills_the_group", "SIGKILL"),
        ("segfaults", "SIGSEGV: it crashed in C code"),
        ("burns", "SIGXCPU: it used more CPU time"),
        ("forges", "it sent messages that do not belong to the run"),
    ],
)
async def test_what_breaks_its_process_costs_one_task(
    stage: Stage, homes: Path, what: str, words: str
) -> None:
    ended = await stage.ask(what)

    assert isinstance(ended, StrategyError)
    assert words in ended.error
    await is_well(stage, homes, None)


async def test_a_forked_copy_does_not_answer_too(stage: Stage, homes: Path) -> None:
    ended = await stage.ask("answers_twice")

    assert isinstance(ended, Result)
    assert ended == Result("twice")
    await is_well(stage, homes, None)


async def test_a_flood_of_log_lines_is_cut_at_its_source(
    stage: Stage,
    log: Any,  # noqa: ANN401 - the fixture's own type
) -> None:
    ended = await stage.ask("floods_the_log")

    assert isinstance(ended, Result)
    assert len(log.lines) < 250
    level, event, fields = log.lines[-1]
    assert (level, event) == ("warning", "lines of this log dropped")
    assert fields["lines"] == 100_000 - (len(log.lines) - 1)


@pytest.mark.skipif(
    "not" in available_confinement()["signals"],
    reason="this kernel keeps no signals in",
)
async def test_it_cannot_kill_the_daemon_its_supervisor_or_other_children(
    stage: Stage,
) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(stage.ask, "pause")
        siblings: list[int] = []
        while len(siblings) < 2:
            await anyio.sleep(0.01)
            supervisors = supervisors_here()
            workers = [pid for each in supervisors for pid in children_of(each)]
            siblings = supervisors + workers
        ended = await stage.ask(f"DAEMON {os.getpid()} {' '.join(map(str, siblings))}")
        lost = [pid for pid in siblings if pid not in alive()]
        group.cancel_scope.cancel()

    assert isinstance(ended, Result)
    assert set(ended.output) == {"refused"}  # type: ignore[arg-type] # a list, as written above
    assert lost == []


def supervisors_here() -> list[int]:
    return [
        supervisor
        for template in children_of(os.getpid())
        for supervisor in children_of(template)
    ]


def alive() -> set[int]:
    return {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()}


async def test_a_task_whose_child_somebody_else_kills_is_done_again_later(
    stage: Stage, homes: Path
) -> None:
    async def kill_while(marks: int) -> None:
        while len(marks_in(homes)) != marks:  # noqa: ASYNC110 - a folder sets no Event
            await anyio.sleep(0.01)
        for process in supervisors_here():
            os.kill(process, signal.SIGKILL)

    async with anyio.create_task_group() as group:
        group.start_soon(kill_while, 1)
        ended = await stage.ask("marks")
    assert isinstance(ended, RetryLater)
    assert "its supervisor was killed" in ended.reason
    await stage.ask("pid")
    await kill_while(0)  # it waits for a task
    while still_in(homes):  # noqa: ASYNC110 - a process sets no Event
        await anyio.sleep(0.01)
    await is_well(stage, homes, None)


def marks_in(homes: Path) -> list[Path]:
    return list(homes.glob("*/mark"))


async def test_a_file_that_ends_its_process_when_it_is_loaded_is_a_crash(
    homes: Path,
    load_file: Callable[..., LoadedStrategy],
    make_context: Callable[..., Context],
) -> None:
    loaded = load_file(SOURCE)
    loaded.path.write_text("print('bye'); import os, journeyman; os._exit(3)")
    runner = Runner(isolation=Isolation(homes=homes.parent))

    ended = await runner.run(
        loaded, Task(id=TaskId("t")), make_context(), timeout_seconds=20
    )

    assert isinstance(ended, StrategyError)
    assert ended.error.endswith("does not start: it ended by itself with exit code 3")
    assert ended.traceback == "bye"


KILLED = """
import anyio, sys
from pathlib import Path
from journeyman.daemon.system import SystemClock
from journeyman.domain.tasks import Task, TaskId
from journeyman.strategies.loading.loader import load_file
from journeyman.strategies.running.dry_run import DryRunContext
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.runner import Runner

async def main(file, homes):
    (loaded,) = load_file(Path(file)).strategies
    runner = Runner(isolation=Isolation(homes=Path(homes)))
    async with runner.running():
        task = Task(id=TaskId("t"), text="daemonizes_and_hangs")
        context = DryRunContext().make("mine", task, Path(homes))
        await runner.run(loaded, task, context, timeout_seconds=1e6)

anyio.run(main, *sys.argv[1:])
"""


async def test_a_daemon_that_is_killed_takes_everything_with_it(
    load_file: Callable[..., LoadedStrategy], homes: Path
) -> None:
    source = SOURCE + "\n\ndef daemonizes_and_hangs():\n    daemonizes()\n    pause()\n"
    command = [sys.executable, "-c", KILLED, str(load_file(source).path), str(homes)]
    async with await anyio.open_process(command) as daemon:
        with anyio.fail_after(PATIENCE_SECONDS):
            # A supervisor, a worker, and what the worker started twice removed.
            while len(still_in(homes)) < 3:  # noqa: ASYNC110 - a process sets no Event
                await anyio.sleep(0.01)
            daemon.kill()
            while still_in(homes):  # noqa: ASYNC110 - as above
                await anyio.sleep(0.01)
