"""A strategy on a cluster behaves as in a process here, whatever becomes of it.

The scheduler and the workers are real processes.
"""

import math
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import pytest
import trustme
from tests.every import whole_only
from tests.one_task import in_one_task
from tests.strategies.dask_cluster import DaskCluster, wire_to
from tests.wheels import write_wheel

from journeyman import Decline, Misconfigured, Needs, Result, RetryLater
from journeyman.domain.tasks import Task, TaskId
from journeyman.strategies.api import Context
from journeyman.strategies.loading.libraries import named_in
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome, StrategyError, TimedOut
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.cluster import (
    Cluster,
    ClusterAddress,
    ClusterStatus,
    ClusterWorker,
)
from journeyman.strategies.running.runner import Runner

# Not imported: that takes each process of the tests half a second.
pytestmark = pytest.mark.skipif(
    find_spec("distributed") is None, reason="the extra `cluster` is not installed"
)

Load = Callable[..., LoadedStrategy]
MakeContext = Callable[..., Context]

PATIENCE_SECONDS = 120.0

HEAD = """
import os, signal, time
from pathlib import Path
from journeyman import Decline, Misconfigured, Needs, Result, RetryLater, strategy

"""


def written(body: str, options: str = "") -> str:
    indented = body.strip("\n").replace("\n", "\n    ")
    head = f"{HEAD}@strategy(tags={{'x'}}, runner='process'{options})\n"
    return f"{head}def mine(task, ctx):\n    {indented}\n"


class Side:
    """The daemon's side: a runner, and what it is asked."""

    def __init__(
        self, cluster: Cluster, load_file: Load, make_context: MakeContext
    ) -> None:
        self.cluster = cluster
        self.runner = Runner(cluster=cluster, grace_seconds=0.2)
        self._load = load_file
        self._context = make_context

    def load(self, body: str, options: str = "") -> LoadedStrategy:
        return self.load_source(written(body, options))

    def load_source(self, source: str) -> LoadedStrategy:
        return replace(self._load(source), runner="cluster")

    def be_patient(self) -> None:
        """Wait for workers longer: a new one imports much at its first run."""
        at = self.cluster.address
        self.cluster.address = replace(at, wait_seconds=PATIENCE_SECONDS)

    async def run(
        self,
        loaded: LoadedStrategy | str,
        *,
        seconds: float = PATIENCE_SECONDS,
        **context: object,
    ) -> RunOutcome:
        if isinstance(loaded, str):
            loaded = self.load(loaded)
        return await self.runner.run(
            loaded,
            Task(id=TaskId("t1"), text="a text"),
            self._context(**context),
            timeout_seconds=seconds,
        )


MakeSide = Callable[..., Side]


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[DaskCluster]:
    with DaskCluster(tmp_path / "dask") as cluster:
        yield cluster


@pytest.fixture
def make_side(load_file: Load, make_context: MakeContext) -> MakeSide:
    def make(scheduler: str, **changes: Any) -> Side:  # noqa: ANN401 - as the address has
        given = {"connect_seconds": 60.0, "wait_seconds": PATIENCE_SECONDS} | changes
        address = ClusterAddress(scheduler=scheduler, **given)
        cluster = Cluster(address=address, isolation=Isolation(), grace_seconds=0.2)
        return Side(cluster, load_file, make_context)

    return make


@pytest.fixture
async def side(dask: DaskCluster, make_side: MakeSide) -> AsyncIterator[Side]:
    """A cluster with one worker of two threads."""
    dask.start_worker(threads=2)
    made = make_side(dask.address)
    async with in_one_task(made.runner.running()):
        yield made


async def until(condition: Callable[[], object]) -> None:
    while not condition():  # noqa: ASYNC110 - other processes set no event
        await anyio.sleep(0.02)


async def until_status(
    cluster: Cluster, condition: Callable[[ClusterStatus], bool]
) -> None:
    await until(lambda: condition(cluster.status))


async def test_it_is_run_there_as_it_would_be_here(
    side: Side, make_context: MakeContext, tmp_path: Path
) -> None:
    costs: list[tuple[float, str]] = []
    state: dict[str, Any] = {"n": 1}
    log = make_context().log

    ended = await side.run(
        """
        ctx.log.info("hello", words=3)
        print("printed")
        ctx.state["n"] += 1
        ctx.report_cost(0.25, "tokens")
        (ctx.workspace / "file").write_text("x")
        return Result({"env": dict(os.environ), "cwd": os.getcwd(), "text": task.text})
        """.replace("\n        ", "\n"),
        state=state,
        cost=lambda credits_, note: costs.append((credits_, note)),
    )
    others = [
        await side.run(body)
        for body in (
            "raise Decline('not mine')",
            "raise RetryLater('busy', after=7)",
            "raise Misconfigured('no key', fix='set it')",
            "return 1 / 0",
            "os.kill(os.getpid(), signal.SIGKILL)",
        )
    ]
    late = await side.run("time.sleep(60)", seconds=0.5)

    assert isinstance(ended, Result), ended
    output: Any = ended.output
    assert output["text"] == "a text"
    assert output["cwd"].startswith(str(tmp_path / "dask"))
    assert not [name for name in output["env"] if name.startswith("JOURNEYMAN")]
    assert (state, costs) == ({"n": 2}, [(0.25, "tokens")])
    assert getattr(log, "lines")[:2] == [  # noqa: B009 - the fixture's own type
        ("info", "hello", {"words": 3}),
        ("info", "printed", {"text": "printed"}),
    ]
    decline, later, misconfigured, error, killed = others
    assert isinstance(decline, Decline)
    assert isinstance(later, RetryLater)
    assert later.after == 7
    assert isinstance(misconfigured, Misconfigured)
    assert isinstance(error, StrategyError)
    assert "strategies/mine.py" in error.where
    assert "SIGKILL" in str(killed)
    assert late == TimedOut(0.5)


@pytest.mark.endurance
async def test_a_run_whose_worker_is_killed_is_begun_anew_on_another(
    side: Side, dask: DaskCluster, make_context: MakeContext
) -> None:
    log = make_context().log
    loaded = side.load(
        "ctx.log.info('begun')\n"
        "while '/w0/' in os.getcwd():\n    time.sleep(0.02)\n"
        "return os.getcwd()"
    )
    outcomes: list[RunOutcome] = []

    async with anyio.create_task_group() as group:

        async def run() -> None:
            outcomes.append(await side.run(loaded))

        group.start_soon(run)
        await until(lambda: any(line[1] == "begun" for line in getattr(log, "lines")))  # noqa: B009 - the fixture's own type
        dask.start_worker()
        dask.workers[0].send_signal(signal.SIGKILL)

    (ended,) = outcomes
    assert isinstance(ended, Result), ended
    assert "/w1/" in str(ended.output)
    said = [event for _, event, _ in getattr(log, "lines")]  # noqa: B009 - as above
    assert said == ["begun", "its worker was lost; another one begins anew", "begun"]


@pytest.fixture
def wheels(tmp_path: Path) -> dict[str, str]:
    """What lets an installer find our wheels and nothing else, as variables."""
    folder = tmp_path / "wheels"
    write_wheel(folder, "1.0")
    found = {f"{tool}_FIND_LINKS": str(folder) for tool in ("PIP", "UV")}
    alone = ("PIP_NO_INDEX", "UV_OFFLINE", "PIP_NO_CACHE_DIR", "UV_NO_CACHE")
    return found | dict.fromkeys(alone, "1")


def with_libraries(side: Side, root: Path, wanted: str) -> LoadedStrategy:
    """Return a strategy that names a library, which was installed here."""
    body = "import greeting\nreturn greeting.VERSION"
    source = f'# /// script\n# dependencies = ["{wanted}"]\n# ///\n{written(body)}'
    loaded = side.load_source(source)
    named = named_in(loaded.path, source)
    assert named is not None
    named.folder(root).mkdir(parents=True)
    side.cluster.isolation = replace(side.cluster.isolation, libraries=root)
    return loaded


@pytest.mark.endurance
async def test_its_libraries_are_installed_on_the_worker_that_runs_it(
    dask: DaskCluster, make_side: MakeSide, wheels: dict[str, str], tmp_path: Path
) -> None:
    dask.start_worker(threads=2, env=wheels)
    side = make_side(dask.address)
    async with in_one_task(side.runner.running()):
        loaded = with_libraries(side, tmp_path / "libraries", "greeting<2")
        ended = [await side.run(loaded) for _ in range(2)]
        missing = with_libraries(side, tmp_path / "others", "greeting>=2")
        refused = await side.run(missing)

    assert ended == [Result("1.0"), Result("1.0")]
    assert isinstance(refused, StrategyError)
    assert "its libraries cannot be installed there" in refused.error


@pytest.mark.endurance
async def test_a_cancelled_run_ends_what_installs_its_libraries(
    dask: DaskCluster, make_side: MakeSide, tmp_path: Path
) -> None:
    begun, uv = tmp_path / "begun", tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(
        f"#!/bin/sh\necho $$ > {begun}.new\nmv {begun}.new {begun}\nexec sleep 3600\n"
    )
    uv.chmod(0o755)
    dask.start_worker(threads=2, env={"PATH": f"{uv.parent}:{os.environ['PATH']}"})
    side = make_side(dask.address)
    async with in_one_task(side.runner.running()):
        loaded = with_libraries(side, tmp_path / "libraries", "greeting<2")
        async with anyio.create_task_group() as group:
            group.start_soon(side.run, loaded)
            await until(begun.is_file)
            group.cancel_scope.cancel()

        await until(lambda: not Path(f"/proc/{begun.read_text().strip()}").exists())
        await until(lambda: not list(tmp_path.rglob(".new-*")))


def test_what_a_strategy_needs_is_asked_of_workers_as_resources() -> None:
    plain = ClusterWorker(address="a", threads=4)
    large = ClusterWorker(
        address="b", threads=4, resources={"GPU": 2, "eu": 1, "MEMORY": 3 << 30}
    )
    status = ClusterStatus(problem="", workers=(plain, large))
    needs = Needs(gpus=1, labels={"eu"}, memory_mb=1024)

    wanted = status.resources_for(needs, memory_mb=512)

    assert wanted == {"GPU": 1, "eu": 2**-20, "MEMORY": 1 << 30}
    assert status.room_for(wanted) == 2
    assert status.room_for(status.resources_for(Needs(), memory_mb=1024)) == 3
    assert replace(status, workers=(plain,)).room_for({"GPU": 1}) == 0
    assert replace(status, workers=(plain,)).room_for({}) == 4


@pytest.mark.endurance
async def test_a_cancelled_run_is_ended_on_its_worker(
    side: Side, make_context: MakeContext
) -> None:
    log = make_context().log
    loaded = side.load(
        "ctx.log.info('begun', pid=os.getpid())\nwhile True:\n    time.sleep(0.02)"
    )

    async with anyio.create_task_group() as group:
        group.start_soon(side.run, loaded)
        await until(lambda: getattr(log, "lines"))  # noqa: B009 - the fixture's own type
        group.cancel_scope.cancel()

    pid = getattr(log, "lines")[0][2]["pid"]  # noqa: B009 - as above
    await until(lambda: not Path(f"/proc/{pid}").exists())
    assert side.cluster.busy.total() == 0


@pytest.mark.endurance
async def test_when_the_daemon_dies_its_runs_end(
    dask: DaskCluster, make_side: MakeSide, make_context: MakeContext
) -> None:
    dask.start_worker()
    side, log = make_side(dask.address), make_context().log
    loaded = side.load(
        "ctx.log.info('begun', pid=os.getpid())\nwhile True:\n    time.sleep(0.02)"
    )

    async with side.runner.running(), anyio.create_task_group() as group:
        group.start_soon(side.run, loaded)
        await until(lambda: getattr(log, "lines"))  # noqa: B009 - the fixture's own type
        bridge = side.cluster._bridge
        assert bridge is not None
        bridge.close()  # as the system does to it when the daemon is gone
        pid = getattr(log, "lines")[0][2]["pid"]  # noqa: B009 - as above
        await until(lambda: not Path(f"/proc/{pid}").exists())
        group.cancel_scope.cancel()


@pytest.mark.endurance
async def test_a_scheduler_that_is_started_anew_is_used_again(
    side: Side, dask: DaskCluster, make_context: MakeContext
) -> None:
    log, port = make_context().log, dask.port
    loaded = side.load("ctx.log.info('begun')\ntime.sleep(1e6)")
    outcomes: list[RunOutcome] = []

    async with anyio.create_task_group() as group:

        async def run() -> None:
            outcomes.append(await side.run(loaded))

        group.start_soon(run)
        await until(lambda: getattr(log, "lines"))  # noqa: B009 - the fixture's own type
        dask.scheduler.kill()
        dask.scheduler.wait()

    (lost,) = outcomes
    assert isinstance(lost, RetryLater)
    assert "lost on the cluster" in str(lost)
    await until_status(side.cluster, lambda status: bool(status.problem))
    dask.start_scheduler(port=port)
    dask.start_worker()
    again = await side.run("return 'again'")
    assert isinstance(again, Result)
    assert side.cluster.status.problem == ""


@pytest.mark.endurance
async def test_a_network_that_is_cut_is_noticed_and_used_again(
    dask: DaskCluster, make_side: MakeSide, make_context: MakeContext
) -> None:
    dask.start_worker()
    log = make_context().log
    async with wire_to(dask.port) as wire:
        side = make_side(f"tcp://127.0.0.1:{wire.port}", connect_seconds=4.0)
        loaded = side.load("ctx.log.info('begun')\ntime.sleep(1e6)")
        async with side.runner.running(), anyio.create_task_group() as group:
            outcomes: list[RunOutcome] = []

            async def run() -> None:
                outcomes.append(await side.run(loaded))

            group.start_soon(run)
            await until(lambda: getattr(log, "lines"))  # noqa: B009 - the fixture's own type
            wire.cut()
            await until(lambda: outcomes)
            assert isinstance(outcomes[0], RetryLater)
            assert side.cluster.status.capacity == 0

            wire.mend()
            again = await side.run("return 'again'")
            assert isinstance(again, Result), again


@pytest.mark.endurance
async def test_workers_of_another_version_get_nothing_and_are_told(
    dask: DaskCluster, make_side: MakeSide, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "journeyman-9.9.9.dist-info"
    other.mkdir(parents=True)
    metadata = "Metadata-Version: 2.1\nName: journeyman\nVersion: 9.9.9\n"
    (other / "METADATA").write_text(metadata)
    dask.start_worker(env={"PYTHONPATH": str(other.parent)})
    side = make_side(dask.address, wait_seconds=1.0)

    async with side.runner.running():
        await until_status(side.cluster, lambda status: bool(status.mismatches))
        refused = await side.run("return 1")
        assert side.cluster.status.capacity == 0
        dask.start_worker()
        await until_status(side.cluster, lambda status: status.capacity == 1)
        side.be_patient()
        done = await side.run("return os.getcwd()")

    assert isinstance(refused, RetryLater)
    assert "has journeyman 9.9.9, here is" in str(refused)
    assert isinstance(done, Result)
    assert "/w1/" in str(done.output)


@pytest.mark.endurance
async def test_what_no_worker_offers_is_said_with_the_command_that_would(
    dask: DaskCluster, make_side: MakeSide
) -> None:
    dask.start_worker()
    side = make_side(dask.address, wait_seconds=1.0)
    loaded = side.load("return 'done'", ", needs=Needs(gpus=1, labels={'eu'})")

    async with side.runner.running():
        await until_status(side.cluster, lambda status: status.capacity == 1)
        refused = await side.run(loaded)
        dask.start_worker("--resources", "GPU=1 eu=1")
        await until_status(side.cluster, lambda status: status.capacity == 2)
        side.be_patient()
        done = await side.run(loaded)

    assert isinstance(refused, RetryLater)
    assert '`dask worker --resources "eu=' in str(refused)
    assert isinstance(done, Result)


@pytest.mark.endurance
async def test_a_scheduler_that_is_not_there_is_told(make_side: MakeSide) -> None:
    side = make_side("tcp://127.0.0.1:1", connect_seconds=0.5)
    async with side.runner.running():
        status = await side.cluster.settled()

    assert "127.0.0.1:1" in status.problem


@pytest.mark.endurance
async def test_with_tls_only_who_has_a_certificate_is_let_in(
    tmp_path: Path, make_side: MakeSide
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    issued = authority.issue_cert("127.0.0.1", "localhost")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    stranger = trustme.CA().issue_cert("localhost")
    stranger.private_key_pem.write_to_path(tmp_path / "other-key.pem")
    stranger.cert_chain_pems[0].write_to_path(tmp_path / "other-cert.pem")
    names = {"--tls-ca-file": "ca", "--tls-cert": "cert", "--tls-key": "key"}
    options = [
        word
        for key, name in names.items()
        for word in (key, str(tmp_path / f"{name}.pem"))
    ]
    with DaskCluster(tmp_path / "dask", [*options, "--protocol", "tls"]) as dask:
        dask.start_worker()
        ours = make_side(
            dask.address,
            ca=tmp_path / "ca.pem",
            certificate=tmp_path / "cert.pem",
            key=tmp_path / "key.pem",
        )
        theirs = make_side(
            dask.address,
            ca=tmp_path / "ca.pem",
            certificate=tmp_path / "other-cert.pem",
            key=tmp_path / "other-key.pem",
            connect_seconds=2.0,
        )
        async with ours.runner.running():
            done = await ours.run("return Path(task.text or '/').name")
            key = tmp_path / "key.pem"
            spied = await ours.run(f"return Path({str(key)!r}).read_text()")
        async with theirs.runner.running():
            refused = await theirs.cluster.settled()

    assert isinstance(done, Result), done
    assert isinstance(spied, StrategyError)
    assert refused.problem


@pytest.mark.endurance
@pytest.mark.timeout(300)
@whole_only
async def test_a_thousand_tasks_over_four_workers_are_each_done_once(
    dask: DaskCluster, make_side: MakeSide
) -> None:
    for _ in range(4):
        dask.start_worker(threads=2)
    side = make_side(dask.address, wait_seconds=math.inf)
    loaded = side.load("return os.getpid()")
    outcomes: list[RunOutcome] = []
    limiter = anyio.CapacityLimiter(32)

    async def run() -> None:
        async with limiter:
            outcomes.append(await side.run(loaded))

    async with side.runner.running():
        await until_status(side.cluster, lambda status: status.capacity == 8)
        async with anyio.create_task_group() as group:
            for _ in range(1000):
                group.start_soon(run)

    assert len(outcomes) == 1000
    assert all(isinstance(one, Result) for one in outcomes), outcomes[:3]
    assert side.cluster.busy.total() == 0
