"""What a Dask cluster costs and brings, beside processes here: `make bench-cluster`.

The same strategy, which computes for so long, is run by as many callers at once in
local processes and on workers of a real scheduler. All share this machine, so that the
ratio shows what the way to a worker costs, and not what more machines bring.
"""

import argparse
import math
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import anyio
from tests.strategies.dask_cluster import DaskCluster

from journeyman.domain.tasks import Result, Task, TaskId
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load_file
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.cluster import Cluster, ClusterAddress
from journeyman.strategies.running.dry_run import DryRunContext
from journeyman.strategies.running.runner import Runner

SOURCE = """
import time
from journeyman import strategy

@strategy(tags={"x"}, runner="process")
def compute(task):
    began = time.process_time()
    while time.process_time() - began < float(task.text):
        sum(range(1000))
    return 1
"""
WARM_UP = 4
"""Runs for each caller that are not counted: they start the children."""


async def measure(
    runner: Runner, loaded: LoadedStrategy, seconds: float, tasks: int, callers: int
) -> float:
    """Return how many tasks a second were done."""
    left = iter(range(tasks))

    async def call() -> None:
        for number in left:
            task = Task(id=TaskId(f"t{number}"), text=str(seconds))
            context = DryRunContext().make(loaded.name, task, Path())
            ended = await runner.run(loaded, task, context, timeout_seconds=60)
            if not isinstance(ended, Result):
                raise SystemExit(f"a run failed: {ended}")

    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(callers):
            group.start_soon(call)
    return tasks / (time.perf_counter() - began)


async def both(
    file: Path, address: str, workers: int, plan: dict[float, int]
) -> dict[float, tuple[float, float]]:
    """Return, for tasks of so many CPU seconds, the rate here and on the cluster."""
    (loaded,) = load_file(file).strategies
    there = replace(loaded, runner="cluster")
    isolation = Isolation(warm_children=workers, idle_seconds=60)
    at = ClusterAddress(scheduler=address, wait_seconds=math.inf)
    cluster = Cluster(address=at, isolation=isolation)
    rates = {}
    async with Runner(isolation=isolation, cluster=cluster).running() as runner:
        while (await cluster.settled()).capacity < workers:  # noqa: ASYNC110 - theirs
            await anyio.sleep(0.1)
        for one in (loaded, there):
            await measure(runner, one, 0.0, WARM_UP * workers, workers)
        for seconds, tasks in plan.items():
            here = await measure(runner, loaded, seconds, tasks, workers)
            rates[seconds] = here, await measure(runner, there, seconds, tasks, workers)
    return rates


def main() -> None:
    """Print a row for each length of a task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--short", type=int, default=400, help="tasks of 20 ms")
    parser.add_argument("--long", type=int, default=12, help="tasks of 2 s")
    given = parser.parse_args()
    plan = {0.0: given.short, 0.02: given.short, 2.0: given.long}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "strategies" / "compute.py"
        file.parent.mkdir()
        file.write_text(SOURCE)
        with DaskCluster(Path(folder) / "dask") as dask:
            for _ in range(given.workers):
                dask.start_worker()
            rates = anyio.run(both, file, dask.address, given.workers, plan)
    print("| CPU a task | here, tasks/s | on the cluster, tasks/s | ratio |")
    print("|---|---|---|---|")
    for seconds, (here, there) in rates.items():
        ratio = there / here
        print(f"| {seconds * 1000:g} ms | {here:.2f} | {there:.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
