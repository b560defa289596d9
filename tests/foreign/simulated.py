"""Foreign networks in simulated time: all of them in seconds, to try a change.

The real daemon meets the same backends, without a socket, a process or a wait. Judge by
`make foreign`, where all of these are real.

    make foreign-quick
    make foreign-quick NETWORKS="airtable_base frappe"
"""

import sys
import tempfile
from email.message import Message
from pathlib import Path
from urllib.parse import parse_qsl

import anyio
import httpx2 as httpx
from tests.foreign.backend import Backend, Request
from tests.foreign.capitals import Capitals
from tests.foreign.networks import NETWORKS, module_of, network_named
from tests.foreign.trial import (
    LONGEST_NEWS_SECONDS,
    LONGEST_SECONDS,
    Trial,
    faults,
    report,
    settings_for,
)
from tests.simulation.environment import AMPLE_BYTES
from tests.simulation.loop import ordered_scopes
from tests.simulation.strategies import registry_of
from tests.simulation.virtual_time import (
    SeededRandomness,
    Timeline,
    scheduled_by,
    simulated_in,
)

from journeyman import Context, Result, Strategy, Task
from journeyman.daemon.agent import Agent, open_agent
from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.daemon import Daemon
from journeyman.daemon.environment import Environment
from journeyman.daemon.shutdown import Shutdown
from journeyman.daemon.wiring import Components
from journeyman.observability.events import Log
from journeyman.observability.redaction import Redactor
from journeyman.settings.sources import load_settings
from journeyman.testing import RecordingLog

ADDRESS = "http://127.0.0.1:8099"
TRAVEL_SECONDS = 0.002
LOOK_SECONDS = 0.25


class CapitalsOnTheLoop(Strategy):
    """Does the same as the strategy of a real trial, without a thread."""

    name, api, version = "capitals", 1, "1.0.0"

    def wants(self, task: Task) -> bool:
        return Capitals().wants(task)

    async def run(self, task: Task, ctx: Context) -> Result:
        return Capitals().run(task, ctx)


class BackendTransport(httpx.AsyncBaseTransport):
    """Carries requests to a backend of this process."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        headers = Message()
        for name, value in request.headers.raw:
            headers[name.decode()] = value.decode()
        query = parse_qsl(request.url.query.decode(), keep_blank_values=True)
        await anyio.sleep(TRAVEL_SECONDS)
        try:
            answer = self._backend.handle(
                Request(
                    request.method,
                    request.url.path,
                    dict(query),
                    headers,
                    body,
                    ADDRESS,
                )
            )
        except ConnectionError as error:
            raise httpx.ReadError(str(error), request=request) from error
        content, media_type = answer.encoded()
        await anyio.sleep(TRAVEL_SECONDS)
        return httpx.Response(
            answer.status,
            headers={"Content-Type": media_type, **answer.headers},
            content=content,
            request=request,
        )


def simulate(name: str, directory: Path, seconds: float = LONGEST_SECONDS) -> Trial:
    """Run a daemon on a network until all is paid, or for so long."""
    timeline = Timeline()
    with simulated_in(module_of(name), timeline):
        return simulate_on(network_named(name), directory, timeline, seconds)


def simulate_on(
    backend: Backend, directory: Path, timeline: Timeline, seconds: float
) -> Trial:
    """Run a daemon on this network until all is paid, or for so long."""
    with ordered_scopes(), scheduled_by(timeline.clock.now):
        try:
            log = RecordingLog()
            work = _work(backend, directory, timeline, seconds, log)
            took, earned = timeline.loop.run_until_complete(work)
        finally:
            timeline.loop.close()
    tasks = frozenset(backend.texts())
    lines: list[dict[str, object]] = [{"event": n, **fields} for n, fields in log.lines]
    return Trial(backend.book, tasks, took, earned, lines, errors="")


async def _work(
    backend: Backend,
    directory: Path,
    timeline: Timeline,
    seconds: float,
    log: RecordingLog,
) -> tuple[float, int]:
    """Return after how many seconds all was paid, and what our ledger says then."""
    (directory / "strategies").mkdir(parents=True)
    tables = settings_for(backend, ADDRESS, directory)
    overrides = {
        f"{section}.{name}": value
        for section, table in tables.items()
        for name, value in table.items()
    }
    settings = load_settings(
        files=[], overrides=overrides, environ={}, cwd=directory
    ).settings
    environment = _environment(backend, timeline, log)
    shutdown = Shutdown()
    async with open_agent(
        settings, ADDRESS, environment, stop=shutdown.requested
    ) as agent:
        parts = Components(
            settings=settings,
            agent=agent,
            registry=registry_of((CapitalsOnTheLoop,)),
            environment=environment,
        )
        async with anyio.create_task_group() as group:
            group.start_soon(Daemon(parts, shutdown).run)
            took = await _until_paid(backend, timeline, seconds)
            await _until_heard(backend, agent)
            shutdown.request("the trial is over")
        return took, _earned(agent)


async def _until_paid(backend: Backend, timeline: Timeline, seconds: float) -> float:
    tasks = len(backend.texts())
    while len(backend.book.paid) < tasks and timeline.seconds < seconds:  # noqa: ASYNC110 - a book is no event
        await anyio.sleep(LOOK_SECONDS)
    return timeline.seconds


async def _until_heard(backend: Backend, agent: Agent) -> None:
    with anyio.move_on_after(LONGEST_NEWS_SECONDS):
        while _earned(agent) != sum(backend.book.paid.values()):  # noqa: ASYNC110 - as above
            await anyio.sleep(LOOK_SECONDS)


def _earned(agent: Agent) -> int:
    return agent.journal.ledger.totals().get("earned", 0)


def _environment(
    backend: Backend, timeline: Timeline, log: RecordingLog
) -> Environment:
    return Environment(
        clock=timeline.clock,
        randomness=SeededRandomness("foreign", type(backend).__name__),
        log=log,
        redactor=Redactor(),
        transport=BackendTransport(backend),
        serve_control=_no_control,
        free_bytes=lambda _path: AMPLE_BYTES,
        block_limit=None,
        has_processes=False,
    )


async def _no_control(_path: Path, _commands: OwnerCommands, _log: Log) -> None:
    """Nobody commands a trial."""


def main(names: list[str]) -> int:
    """Try these networks, or all, a line for each; return 1 where one is at fault."""
    if unknown := sorted({*names} - {*NETWORKS}):
        print(f"no such network: {', '.join(unknown)}", file=sys.stderr)
        return 2
    are_good = [_try(name) for name in names or NETWORKS]
    return 0 if all(are_good) else 1


def _try(name: str) -> bool:
    with tempfile.TemporaryDirectory() as directory:
        try:
            trial = simulate(name, Path(directory))
        except Exception as error:  # noqa: BLE001 - the others are tried all the same
            print(f"BAD {name}: {error!r}", flush=True)
            return False
    found = faults(trial)
    print("BAD" if found else "ok ", report(name, trial), flush=True)
    for what in found:
        print(f"    not so: {what}")
    return not found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
