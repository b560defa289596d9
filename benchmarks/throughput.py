"""The daemon beside other ways to do the same tasks, on a network faster than all.

They take turns, each in a process of its own against one server, so that a noisy
machine disturbs all alike. What counts are the ratios within a round; tasks per second
and milliseconds are those of this machine.

    make bench
    .venv/bin/python benchmarks/throughput.py --slots 8,100 --tasks 1200 --rounds 3
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
NEEDS = {"aiohttp": "aiohttp", "dbos": "dbos"}
"""Workers that need a library of their own, which `make bench` installs."""
WORKERS = ("daemon", "httpx2", "aiohttp", "dbos", "polling")
SLOW = ("dbos", "polling")
"""They are given a tenth of the tasks: their figures are far from the others."""
REFERENCE = "httpx2"


@dataclass(frozen=True, slots=True)
class Measure:
    """One run of one worker."""

    seconds: float
    cpu_seconds: float
    tasks: float

    @property
    def per_second(self) -> float:
        """Tasks ended in a second of wall time."""
        return self.tasks / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of the worker's CPU for a task."""
        return 1000 * self.cpu_seconds / self.tasks


@contextmanager
def server(*options: str) -> Iterator[str]:
    """Run the fast network as a process of its own; yield its address."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "server.py"), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        if process.stdout is None or process.stdin is None:
            raise RuntimeError("the server has no pipes")
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def measure(worker: str, url: str, slots: int, tasks: int) -> Measure:
    """Run one worker once."""
    command = [sys.executable, str(HERE / "workers.py"), worker, url]
    command += ["--slots", str(slots), "--tasks", str(tasks)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Measure(**json.loads(done.stdout.splitlines()[-1]))


def compare(slots: int, tasks: int, rounds: int) -> dict[str, list[Measure]]:
    """Let all workers that are installed take turns; return the measures of each."""
    found = defaultdict[str, list[Measure]](list)
    for number in range(rounds):
        with server() as url:
            for worker in WORKERS:
                if worker in NEEDS and find_spec(NEEDS[worker]) is None:
                    continue
                share = tasks // 10 if worker in SLOW else tasks
                print(f"round {number + 1}: {worker}", file=sys.stderr)
                found[worker].append(measure(worker, url, slots, share))
    return found


def summary(found: dict[str, list[Measure]]) -> dict[str, dict[str, float]]:
    """Return medians for each worker, and its ratios to the bare loop, by round."""
    bare = found[REFERENCE]
    return {
        worker: {
            "tasks_per_second": _median([one.per_second for one in runs]),
            "cpu_ms_per_task": _median([one.cpu_ms for one in runs]),
            "speed_ratio": _median(
                [a.per_second / b.per_second for a, b in zip(runs, bare, strict=True)]
            ),
            "cpu_ratio": _median(
                [a.cpu_ms / b.cpu_ms for a, b in zip(runs, bare, strict=True)]
            ),
        }
        for worker, runs in found.items()
    }


def _median(values: list[float]) -> float:
    return round(statistics.median(values), 2)


def main() -> None:
    """Read the command line, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slots", default="8,100", help="one figure, or several")
    parser.add_argument("--tasks", type=int, default=1_200, help="a round and worker")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    figures = {
        slots: summary(compare(slots, chosen.tasks, chosen.rounds))
        for slots in map(int, chosen.slots.split(","))
    }
    if chosen.json:
        print(json.dumps(figures))
        return
    for slots, workers in figures.items():
        print(
            f"| at {slots} slots | tasks/s | of httpx2 | CPU ms per task | of httpx2 |"
        )
        print("|---|---|---|---|---|")
        for worker, row in workers.items():
            speed, cpu = row["tasks_per_second"], row["cpu_ms_per_task"]
            ratios = row["speed_ratio"], row["cpu_ratio"]
            print(f"| {worker} | {speed:.0f} | {ratios[0]} | {cpu} | {ratios[1]} |")
        print()


if __name__ == "__main__":
    main()
