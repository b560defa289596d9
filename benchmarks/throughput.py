"""How much the journal costs: the daemon beside a bare loop of the same HTTP client.

Both work on the same kind of tasks against one sandbox process, one after the other,
in turns, so that a noisy machine disturbs both alike. The ratio is the figure; the
tasks per second are those of this machine.

    make bench
    .venv/bin/python benchmarks/throughput.py --slots 32 --tasks 600 --rounds 3
"""

import argparse
import io
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import anyio

from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.environment import Environment, SystemClock, SystemRandomness
from journeyman.daemon.strategies import ready_strategies
from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import IdempotencyKey, Identity, Result, Task
from journeyman.network.client import NetworkClient
from journeyman.network.http import HttpLimits
from journeyman.observability.events import Event, Log
from journeyman.observability.logging import build_log
from journeyman.observability.redaction import Redactor
from journeyman.settings.sources import load_settings

KINDS = "word_count"
"""Quick to do and to grade, so that what is measured is the way there and back."""
PAGE = 200


@dataclass(frozen=True, slots=True)
class Measure:
    """One run of one side."""

    seconds: float
    cpu_seconds: float
    tasks: int

    @property
    def per_second(self) -> float:
        """Tasks ended in a second of wall time."""
        return self.tasks / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of this process's CPU for a task."""
        return 1000 * self.cpu_seconds / self.tasks


class Stopwatch:
    """Wall and CPU time between two moments."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin at nought."""
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def stop(self, tasks: int) -> Measure:
        """Give what has passed."""
        wall = time.perf_counter() - self._wall
        return Measure(wall, time.process_time() - self._cpu, tasks)


class TimedLog:
    """A log that reads the stopwatch when the daemon starts and stops working."""

    def __init__(self, log: Log, watch: Stopwatch, measures: list[Measure]) -> None:
        self._log = log
        self._watch = watch
        self._measures = measures

    def emit(self, event: Event, **fields: object) -> None:
        """Write one event, and take the time of two of them."""
        if event.name == "daemon.started":
            self._watch.start()
        if event.name == "daemon.stopped":
            self._measures.append(self._watch.stop(int(str(fields["ended"]))))
        self._log.emit(event, **fields)

    def bind(self, **context: object) -> "TimedLog":
        """Give a log that adds these fields, and tells the same stopwatch."""
        return TimedLog(self._log.bind(**context), self._watch, self._measures)


@contextmanager
def sandbox(folder: Path, tasks: int) -> Iterator[str]:
    """Run a sandbox as a process of its own; give its address."""
    command = [sys.executable, "-m", "journeyman", "sandbox", "--json", "--port", "0"]
    command += ["--data", str(folder / "sandbox.db"), "--kinds", KINDS]
    command += ["--tasks", str(tasks)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield _address(process.stdout)
        finally:
            process.terminate()


def _address(lines: IO[str] | None) -> str:
    if lines is None:
        raise RuntimeError("the sandbox has no output")
    return str(json.loads(lines.readline())["base_url"])


async def run_the_daemon(
    base_url: str, folder: Path, slots: int, tasks: int
) -> Measure:
    """Let the daemon, with its journal on disk, end so many tasks."""
    overrides = {
        "network.base_url": base_url,
        "network.limit": PAGE,
        "network.max_connections": slots + 4,
        "data.directory": str(folder),
        "strategies.directory": str(ready_strategies()),
        "work.slots": slots,
        "work.max_tasks": tasks,
    }
    loaded = load_settings(files=(), overrides=overrides, environ={}, cwd=folder)
    clock, redactor = SystemClock(), Redactor()
    with (folder / "daemon.log").open("w") as stream:
        log = build_log(
            stream=stream,
            format="json",
            level="info",
            now=clock.now,
            secrets=redactor,
        )
        measures: list[Measure] = []
        timed = TimedLog(log, Stopwatch(), measures)
        randomness = SystemRandomness()
        environment = Environment(
            clock=clock, randomness=randomness, log=timed, redactor=redactor
        )
        await run_daemon(loaded.settings, base_url, environment)
    (measure,) = measures
    return measure


async def run_bare(base_url: str, slots: int, tasks: int) -> Measure:
    """Claim, submit and complete so many tasks with the HTTP client alone.

    Finding tasks and making answers is not measured, only the requests are.
    """
    parts: list[Measure] = []
    async with bare_client(base_url, slots) as client:
        while (left := tasks - sum(part.tasks for part in parts)) > 0:
            work = (await _open_tasks(client))[:left]
            count, watch = len(work), Stopwatch()
            async with anyio.create_task_group() as group:
                for _ in range(slots):
                    group.start_soon(_carry, client, work)
            parts.append(watch.stop(count))
    return Measure(
        seconds=sum(part.seconds for part in parts),
        cpu_seconds=sum(part.cpu_seconds for part in parts),
        tasks=tasks,
    )


@asynccontextmanager
async def bare_client(base_url: str, slots: int) -> AsyncIterator[NetworkClient]:
    """Give a joined client with the daemon's limits."""
    clock = SystemClock()
    log = build_log(
        stream=io.StringIO(),
        format="json",
        level="error",
        now=clock.now,
        secrets=Redactor(),
    )
    limits = HttpLimits(max_connections=slots + 4)
    async with NetworkClient(
        base_url=base_url,
        log=log,
        clock=clock,
        limits=limits,
    ) as client:
        key = IdempotencyKey(SystemRandomness().new_id("bare"))
        joined = await client.register(key)
        if not isinstance(joined, Confirmed):
            raise TypeError(joined.message)
        agent = joined.value
        client.identify(Identity(agent.agent_id, agent.access_token, base_url))
        yield client


async def _open_tasks(client: NetworkClient) -> list[Task]:
    listed = await client.marketplace_tasks(PAGE)
    if not isinstance(listed, Confirmed):
        raise TypeError(listed.message)
    return list(listed.value.tasks)


async def _carry(client: NetworkClient, work: list[Task]) -> None:
    while work:
        task = work.pop()
        result = Result(str(len(task.text.split())))
        for outcome in (
            await client.claim(task.id, IdempotencyKey(f"claim:{task.id}")),
            await client.submit(task.id, result, IdempotencyKey(f"submit:{task.id}")),
            await client.complete(task.id, IdempotencyKey(f"complete:{task.id}")),
        ):
            if not isinstance(outcome, Confirmed):
                raise TypeError(f"{task.id}: {outcome.message}")


async def compare(slots: int, tasks: int, rounds: int) -> dict[str, object]:
    """Run both sides in turns; give medians and the ratio."""
    daemon: list[Measure] = []
    bare: list[Measure] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with sandbox(folder, 2 * rounds * tasks + PAGE) as base_url:
            for number in range(rounds):
                bare.append(await run_bare(base_url, slots, tasks))
                home = folder / f"daemon-{number}"
                home.mkdir()
                daemon.append(await run_the_daemon(base_url, home, slots, tasks))
    ratios = [a.per_second / b.per_second for a, b in zip(daemon, bare, strict=True)]
    return {
        "slots": slots,
        "tasks_per_round": tasks,
        "rounds": rounds,
        "daemon_tasks_per_second": round(_median(m.per_second for m in daemon), 1),
        "bare_tasks_per_second": round(_median(m.per_second for m in bare), 1),
        "ratio": round(statistics.median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
        "daemon_cpu_ms_per_task": round(_median(m.cpu_ms for m in daemon), 2),
        "bare_cpu_ms_per_task": round(_median(m.cpu_ms for m in bare), 2),
    }


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)


def main() -> None:
    """Read the command line, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slots", type=int, default=32)
    parser.add_argument("--tasks", type=int, default=600, help="a round and side")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    figures = anyio.run(compare, chosen.slots, chosen.tasks, chosen.rounds)
    if chosen.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):28} {value}")


if __name__ == "__main__":
    main()
