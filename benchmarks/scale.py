"""What a large market and a long history cost the daemon.

A listing of many tasks that nobody wants is looked at again and again while nothing in
it changes. Each look is told by its CPU, and by the longest that one turn of the event
loop took meanwhile: for so long `health` got no answer. A journal of many tasks is
asked what `journeyman status` asks.

    make scale
    .venv/bin/python benchmarks/scale.py --listed 10000,100000 --history 1000000
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import anyio
from daemons import daemon  # type: ignore[import-not-found] # beside this file
from throughput import server  # type: ignore[import-not-found] # beside this file
from workers import Stopwatch  # type: ignore[import-not-found] # as above

from journeyman.daemon.status import journal_status
from journeyman.daemon.system import SystemClock
from journeyman.daemon.turns import LoopTurns
from journeyman.domain.tasks import Task, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import encode_task
from journeyman.observability.events import Event, Log

LOOKS = 4
"""The first, and three at which nothing is new."""
BODY_BYTES = 100_000_000
TICK_SECONDS = 0.001


class LongestTurn:
    """The longest time for which the event loop did not come round.

    On a busy machine that is mostly a wait for a core, which is no fault of the loop's,
    and a timer may come two turns late. So the most CPU of a single turn is told
    beside it.
    """

    def __init__(self, turns: LoopTurns) -> None:
        self.seconds = 0.0
        self._turns = turns

    @property
    def cpu_seconds(self) -> float:
        """The most CPU that one turn took."""
        return self._turns.longest_seconds

    def forget(self) -> None:
        """Begin anew."""
        self.seconds = 0.0
        self._turns.forget()

    async def watch(self) -> None:
        """Come round again and again, and note how late that was."""
        before = time.perf_counter()
        while True:
            await anyio.sleep(TICK_SECONDS)
            now = time.perf_counter()
            self.seconds = max(self.seconds, now - before - TICK_SECONDS)
            before = now


class CpuClock(SystemClock):
    """Counts the CPU of the thread that asks."""

    def monotonic(self) -> float:
        """Return the seconds of CPU so far."""
        return time.thread_time()


class LookLog:
    """A log that measures from look to look."""

    def __init__(
        self, log: Log, turn: LongestTurn, looks: list[dict[str, float]]
    ) -> None:
        self._log, self._turn, self._looks = log, turn, looks
        self._watch = Stopwatch()

    def emit(self, event: Event, **fields: object) -> None:
        """Write one event, and end a measure at the end of each look."""
        if event.name == "daemon.started":
            self._begin()
        if event.name == "discover.polled":
            measure = self._watch.read(int(str(fields["listed"])))
            turn = {"turn": self._turn.seconds, "turn_cpu": self._turn.cpu_seconds}
            self._looks.append(measure | turn)
            self._begin()
        self._log.emit(event, **fields)

    def bind(self, **context: object) -> "LookLog":
        """Return a log that adds these fields, and goes on measuring."""
        bound = LookLog(self._log.bind(**context), self._turn, self._looks)
        bound._watch = self._watch
        return bound

    def _begin(self) -> None:
        self._turn.forget()
        self._watch.start()


async def looks_at(url: str, turns: LoopTurns) -> list[dict[str, float]]:
    """Run the daemon until it has looked at the market often enough."""
    with tempfile.TemporaryDirectory() as name:
        looks: list[dict[str, float]] = []
        turn = LongestTurn(turns)
        settings = {
            "network.max_body_bytes": BODY_BYTES,
            "network.total_timeout_seconds": 120,
            "schedule.discover_every_seconds": 0.2,
            "schedule.discover_max_seconds": 0.2,
        }
        async with anyio.create_task_group() as group:
            group.start_soon(turn.watch)
            group.start_soon(
                daemon, url, Path(name), lambda log: LookLog(log, turn, looks), settings
            )
            while len(looks) < LOOKS:  # noqa: ASYNC110 - the log is no event
                await anyio.sleep(0.05)
            group.cancel_scope.cancel()
    return looks


def market(listed: int) -> dict[str, float]:
    """Measure a listing of so many tasks, in a process of its own."""
    with server("--listed", str(listed), "--kind", "nobody_wants_this") as url:
        command = [sys.executable, __file__, "--look-at", url]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def look_at(url: str) -> dict[str, float]:
    """Return the figures of one listing."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    turns = LoopTurns(CpuClock())
    options = {"loop_factory": turns.new_loop}
    first, *repeats = anyio.run(looks_at, url, turns, backend_options=options)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "first_seconds": first["cpu_seconds"],
        "repeat_seconds": statistics.median(one["cpu_seconds"] for one in repeats),
        "first_turn": first["turn"],
        "first_turn_cpu": first["turn_cpu"],
        "repeat_turn": max(one["turn"] for one in repeats),
        "repeat_turn_cpu": max(one["turn_cpu"] for one in repeats),
        "megabytes": after / 1024,
        "more_megabytes": (after - before) / 1024,
    }


def history(tasks: int) -> tuple[float, float]:
    """Fill a journal with ended tasks; return seconds of `status`, and megabytes."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "journal.db"
        with Journal(path, SystemClock().now) as journal:
            fill(journal, tasks)
            times = []
            for _ in range(5):
                began = time.perf_counter()
                journal_status(journal, "http://network.example")
                times.append(time.perf_counter() - began)
            size = path.stat().st_size
        return max(times), size / 1e6


def fill(journal: Journal, tasks: int) -> None:
    """Write ended tasks as the daemon leaves them, in large transactions."""
    began, database = SystemClock().now(), journal.database
    text = encode_task(Task(id=TaskId("t"), title="Count the words", reward=3))
    for start in range(0, tasks, 10_000):
        with journal.tx("fill"):
            for number in range(start, start + 10_000):
                task_id, state = f"task_{number}", TaskState.COMPLETED
                at = (began + timedelta(seconds=number)).isoformat()
                database.insert(
                    "tasks",
                    task_id=task_id,
                    state=state,
                    strategy="count_words",
                    reward=3,
                    fingerprint="f",
                    seen_at=at,
                    updated_at=at,
                )
                database.insert("task_texts", task_id=task_id, record=text)
            journal.totals.add(f"state.{TaskState.COMPLETED}", 10_000)
            journal.totals.add(f"ended.{began:%Y-%m-%d}.completed.count_words", 10_000)


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--listed", default="10000,100000", help="tasks of a listing")
    parser.add_argument("--history", type=int, default=1_000_000, help="ended tasks")
    parser.add_argument("--look-at", metavar="URL", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.look_at:
        print(json.dumps(look_at(chosen.look_at)))
        return
    print(
        "| listed | first, CPU s | again, CPU s "
        "| longest turn, first and again, ms (of CPU) | memory, MB |"
    )
    print("|---|---|---|---|---|")
    for listed in filter(None, chosen.listed.split(",")):
        found = market(int(listed))
        turns = ", ".join(
            f"{1000 * found[look]:.0f} ({1000 * found[f'{look}_cpu']:.0f})"
            for look in ("first_turn", "repeat_turn")
        )
        print(
            f"| {int(listed):,} | {found['first_seconds']:.2f} "
            f"| {found['repeat_seconds']:.3f} | {turns} "
            f"| {found['megabytes']:.0f} (+{found['more_megabytes']:.0f}) |",
            flush=True,
        )
    if chosen.history:
        seconds, size = history(chosen.history)
        print(
            f"\n`status` of {chosen.history:,} tasks ({size:.0f} MB): "
            f"{1000 * seconds:.1f} ms at most"
        )


if __name__ == "__main__":
    main()
