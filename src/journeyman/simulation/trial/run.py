"""One trial: the whole daemon works on a market for some hours, in one order."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import httpx2 as httpx

from journeyman.console import Desk
from journeyman.daemon.agent import World, open_agent
from journeyman.daemon.daemon import Daemon
from journeyman.daemon.shutdown import Shutdown
from journeyman.domain import Result, Task
from journeyman.journal import Group, Journal, TrackRecord
from journeyman.observability import Log
from journeyman.observability.redaction import Redactor
from journeyman.settings import (
    DataSettings,
    NetworkSettings,
    ScheduleSettings,
    Settings,
    WorkSettings,
)
from journeyman.simulation.clock import SeededRandomness
from journeyman.simulation.schedule import scheduled_by
from journeyman.simulation.scopes import ordered_scopes
from journeyman.simulation.strategies import registry_of
from journeyman.simulation.timeline import Timeline
from journeyman.simulation.trace import TraceLog
from journeyman.simulation.trial.market import Market, Offer
from journeyman.simulation.trial.orders import ORDERS
from journeyman.strategies import Context, Decision, Strategy
from journeyman.strategies.registry import Registry

BASE_URL = "http://market.invalid"
SLOTS = 4
LONGEST_SECONDS = 3600.0
"""That a strategy may work on one task."""
TRAVEL_SECONDS = 0.05
"""Of a request, and again of its answer."""
AMPLE_BYTES = 1 << 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Earnings:
    """What an order has earned on a market."""

    order: str
    hours: float
    credits: int
    """That were paid within the time."""
    tasks: int
    """That were paid."""
    records: Mapping[Group, TrackRecord]
    """What was expected and what came, by strategy and kind."""

    @property
    def credits_per_hour(self) -> float:
        """The figure by which orders are compared."""
        return self.credits / self.hours


def try_order(order: str, offers: tuple[Offer, ...], *, hours: float) -> Earnings:
    """Let the daemon work on a market for so many hours; the same gives the same.

    Raises:
        KeyError: there is no such order.
    """
    directory = Path(tempfile.mkdtemp(prefix="journeyman-trial-"))
    try:
        return _Trial(order, offers, hours, directory).run()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


class _Trial:
    def __init__(
        self,
        order: str,
        offers: tuple[Offer, ...],
        hours: float,
        directory: Path,
    ) -> None:
        self._order = order
        self._hours = hours
        self._directory = directory
        self._timeline = Timeline()
        self._market = Market(offers)
        self._settings = Settings(
            network=NetworkSettings(base_url=BASE_URL, limit=1_000),
            data=DataSettings(directory=directory),
            work=WorkSettings(slots=SLOTS),
            schedule=ScheduleSettings(discover_every_seconds=10),
        )

    def run(self) -> Earnings:
        """Work until the time is over, then let work in flight end."""
        loop = self._timeline.loop
        with scheduled_by(self._timeline.clock.now), ordered_scopes():
            try:
                loop.run_until_complete(self._work())
            finally:
                loop.close()
        end = self._hours * 3600
        paid = [offer for at, offer in self._market.paid if at <= end]
        return Earnings(
            order=self._order,
            hours=self._hours,
            credits=sum(offer.reward for offer in paid),
            tasks=len(paid),
            records=self._records(),
        )

    async def _work(self) -> None:
        shutdown = Shutdown()
        self._timeline.loop.call_later(
            self._hours * 3600,
            shutdown.request,
            "the trial is over",
        )
        world = self._world()
        registry = _workers(self._market.offers)
        async with open_agent(self._settings, BASE_URL, world) as agent:
            await Daemon(self._settings, agent, registry, world, shutdown).run()

    def _world(self) -> World:
        return World(
            clock=self._timeline.clock,
            randomness=SeededRandomness("trial", self._order),
            log=TraceLog(lambda _event, _fields: None),
            redactor=Redactor(),
            transport=_MarketTransport(self._market, self._timeline),
            serve_control=_no_control,
            free_bytes=lambda _path: AMPLE_BYTES,
            ranking=ORDERS[self._order](self._market.offers),
            block_limit=None,
        )

    def _records(self) -> dict[Group, TrackRecord]:
        with Journal(
            self._directory / "journal.db", self._timeline.clock.now
        ) as journal:
            return journal.track_records.all()


class _MarketTransport(httpx.AsyncBaseTransport):
    """Carries requests to the market; nothing is lost on the way."""

    def __init__(self, market: Market, timeline: Timeline) -> None:
        self._market = market
        self._timeline = timeline

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        await anyio.sleep(TRAVEL_SECONDS)
        status, content = self._market.answer(
            request.url.path,
            body,
            self._timeline.seconds,
        )
        await anyio.sleep(TRAVEL_SECONDS)
        return httpx.Response(
            status,
            headers={"content-type": "application/json"},
            content=json.dumps(content).encode(),
            request=request,
        )


def _workers(offers: Mapping[str, Offer]) -> Registry:
    """Make a strategy for each kind of task, without a limit on its time."""
    kinds = sorted({offer.kind for offer in offers.values()})
    loaded = registry_of(tuple(_worker_for(kind, offers) for kind in kinds))
    patient = [replace(one, timeout=LONGEST_SECONDS) for one in loaded.strategies]
    return Registry(patient, block_limit=None)


def _worker_for(kind: str, offers: Mapping[str, Offer]) -> type[Strategy]:
    """Make a strategy that takes as long as each task takes, and knows it only then."""

    class Worker(Strategy):
        """Does any work of its kind, as well as it goes."""

        name = f"worker-{kind}"

        def wants(self, task: Task) -> Decision:
            """Take what is of its kind."""
            return task.kind == kind

        async def run(self, task: Task, ctx: Context) -> Result:  # noqa: ARG002 - as called
            """Take the time that it takes."""
            await anyio.sleep(offers[task.id].seconds)
            return Result("done")

    return Worker


async def _no_control(_path: Path, _desk: Desk, _log: Log) -> None:
    """Nobody commands a trial."""
