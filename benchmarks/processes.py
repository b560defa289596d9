"""What a strategy's own process costs: a task that does nothing, there and back.

The same strategy runs in a warm child and in a thread, in turns, so that a noisy
machine disturbs both alike. Another figure is what starting a child takes.

    .venv/bin/python benchmarks/processes.py --tasks 1000
"""

import argparse
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import anyio

from journeyman.domain.tasks import Result, Task, TaskId
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load_file
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.dry_run import DryRunContext
from journeyman.strategies.running.runner import Runner

SOURCE = """
from journeyman import strategy

@strategy(tags={"echo"}, runner="process")
def echo(task): return task.text
"""
TEXT = "a task of usual length " * 20


async def main(tasks: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        inside = echo_in(Path(folder))
        isolation = Isolation(homes=Path(folder, "homes"), tasks_per_child=10 * tasks)
        async with Runner(isolation=isolation).running() as runner:
            first = await milliseconds(runner, inside)
            thread = replace(inside, runner="thread")
            pairs = [
                (await milliseconds(runner, inside), await milliseconds(runner, thread))
                for _ in range(tasks)
            ]
    print(f"the first task, which starts a child: {first:.0f} ms")
    for name, times in zip(
        ("warm child", "thread"), zip(*pairs, strict=True), strict=True
    ):
        ranks = statistics.quantiles(times, n=100)
        print(f"{name:<10}  p50 {ranks[49]:.2f} ms, p90 {ranks[89]:.2f} ms")


def echo_in(folder: Path) -> LoadedStrategy:
    """Write the strategy into a folder, and load it."""
    file = folder / "echo.py"
    file.write_text(SOURCE)
    (loaded,) = load_file(file).strategies
    return loaded


async def milliseconds(runner: Runner, loaded: LoadedStrategy) -> float:
    """Run one task, and give how long that took."""
    task = Task(id=TaskId("t"), text=TEXT, reward=1)
    context = DryRunContext().make(loaded.name, task, Path())
    began = time.perf_counter()
    ended = await runner.run(loaded, task, context, timeout_seconds=60)
    if not isinstance(ended, Result):
        raise SystemExit(f"it did not work: {ended}")
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1000, help="of each kind")
    anyio.run(main, parser.parse_args().tasks)
