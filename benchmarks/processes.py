"""What a strategy's own process costs: its start, its memory, a task there and back.

The same strategy runs in a warm child and in a thread, in turns, so that a noisy
machine disturbs both alike. The memory is what the kernel counts as private to each of
a child's two processes (smaps_rollup, man 5 proc).

    .venv/bin/python benchmarks/processes.py --tasks 1000
"""

import argparse
import re
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import anyio

from journeyman.domain.tasks import Result, Task, TaskId
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load_file
from journeyman.strategies.running.child import (
    Child,
    Isolation,
    child_config,
    launch,
    new_home,
)
from journeyman.strategies.running.dry_run import DryRunContext
from journeyman.strategies.running.runner import Runner
from journeyman.strategies.running.template import Template

SOURCE = """
from journeyman import strategy

@strategy(tags={"echo"}, runner="process")
def echo(task): return task.text
"""
CHILDREN = 100
TEXT = "a task of usual length " * 20


async def main(tasks: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        inside = echo_in(Path(folder))
        isolation = Isolation(homes=Path(folder), tasks_per_child=10 * tasks)
        with Template() as template:
            starts, private = await children(inside, isolation, template)
        async with Runner(isolation=isolation).running() as runner:
            await milliseconds(runner, inside)
            thread = replace(inside, runner="thread")
            pairs = [
                (await milliseconds(runner, inside), await milliseconds(runner, thread))
                for _ in range(tasks)
            ]
    first, *others = starts
    print(f"until the first child is ready, with its template: {first:.0f} ms")
    print(
        f"until each other is ready: best {min(others):.1f} ms, "
        f"median {statistics.median(others):.1f} ms"
    )
    for name, kilobytes in private.items():
        print(f"private memory of the {name}: {kilobytes / 1024:.1f} MiB")
    for name, times in zip(
        ("warm child", "thread"), zip(*pairs, strict=True), strict=True
    ):
        ranks = statistics.quantiles(times, n=100)
        print(f"{name:<10}  p50 {ranks[49]:.2f} ms, p90 {ranks[89]:.2f} ms")


async def children(
    loaded: LoadedStrategy, isolation: Isolation, template: Template
) -> tuple[list[float], dict[str, int]]:
    """Start children one by one; give milliseconds, and kilobytes by process."""
    starts, private = [], {}
    for _ in range(CHILDREN):
        began = time.perf_counter()
        home = str(new_home(isolation))
        config = replace(child_config(loaded, isolation), home=home)
        child = Child(launch(config, template))
        await child.become_ready()
        starts.append(1000 * (time.perf_counter() - began))
        private = {name: private_kilobytes(pid) for name, pid in child.pids.items()}
        await child.end(0)
    return starts, private | {"template": private_kilobytes(template.pid or 0)}


def private_kilobytes(process: int) -> int:
    """Return the memory that would be free if this process alone ended."""
    text = Path("/proc", str(process), "smaps_rollup").read_text()
    return sum(map(int, re.findall(r"^Private_\w+:\s+(\d+) kB$", text, re.MULTILINE)))


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
