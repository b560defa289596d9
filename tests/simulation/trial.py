"""A trial: what a ranking of tasks earns on a market, by the whole daemon."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio
import httpx2 as httpx
from tests.simulation.loop import ordered_scopes
from tests.simulation.strategies import registry_of
from tests.simulation.trace import TraceLog
from tests.simulation.virtual_time import (
    SeededRandomness,
    Timeline,
    scheduled_by,
    seeded,
)

from journeyman.daemon.agent import open_agent
from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.daemon import Daemon
from journeyman.daemon.environment import Environment
from journeyman.daemon.shutdown import Shutdown
from journeyman.daemon.wiring import Components
from journeyman.domain.tasks import Result, Task, TaskId
from journeyman.journal.journal import Journal
from journeyman.journal.track_records import Group, TrackRecord, Waiting
from journeyman.observability.events import Log
from journeyman.observability.redaction import Redactor
from journeyman.settings.sections import (
    DataSettings,
    NetworkSettings,
    ScheduleSettings,
    Settings,
    WorkSettings,
)
from journeyman.strategies.api.context import Context
from journeyman.strategies.api.strategy import Decision, Strategy
from journeyman.strategies.loading.registry import Registry
from journeyman.worker.ranking import Ranking, by_age, by_reward

KINDS: Final = 8
OFFERS_PER_HOUR: Final = 1_000
"""Four slots do some 400 of the average task in an hour."""
SPREAD_OF_SECONDS: Final = 0.2
SPREAD_OF_REWARDS: Final = 0.4
USUAL_WAIT: Final = 300.0
"""Seconds until another agent takes a task, on average."""

FUNCTIONS = "/functions/v1/"

Reply: TypeAlias = tuple[int, dict[str, Any]]
"""A status, and a JSON object."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """One task, with all that nobody can know beforehand."""

    task_id: str
    kind: str
    reward: int
    appears: float
    """In seconds from the beginning, as the next."""
    disappears: float
    """Another agent takes it then, unless it is claimed."""
    seconds: float
    """That the work takes."""
    is_accepted: bool


@dataclass(frozen=True, slots=True)
class _Kind:
    """What the tasks of one kind have in common."""

    name: str
    seconds: float
    reward: float
    accepted: float
    """The share of results that is."""


def draw_market(seed: int, hours: float) -> tuple[Offer, ...]:
    """Draw the tasks of so many hours, in the order of their appearance."""
    return tuple(_offers(seed, hours * 3600))


def _offers(seed: int, seconds: float) -> Iterator[Offer]:
    random = seeded(seed, "offers")
    kinds = _kinds(seed)
    at, number = 0.0, 0
    while (at := at + random.expovariate(OFFERS_PER_HOUR / 3600)) < seconds:
        kind, number = random.choice(kinds), number + 1
        pay = kind.reward * random.uniform(1 - SPREAD_OF_REWARDS, 1 + SPREAD_OF_REWARDS)
        yield Offer(
            task_id=f"offer-{number:05}",
            kind=kind.name,
            reward=max(1, round(pay)),
            appears=at,
            disappears=at + random.expovariate(1 / USUAL_WAIT),
            seconds=random.lognormvariate(log(kind.seconds), SPREAD_OF_SECONDS),
            is_accepted=random.random() < kind.accepted,
        )


def _kinds(seed: int) -> list[_Kind]:
    """Draw kinds whose pay has little to do with their effort, as on real markets."""
    random = seeded(seed, "kinds")
    return [
        _Kind(
            name=f"kind-{number}",
            seconds=random.choice((5, 10, 20, 40, 80, 160)),
            reward=random.uniform(3, 40),
            accepted=random.choice((0.3, 0.6, 0.9, 0.95, 0.99)),
        )
        for number in range(1, KINDS + 1)
    ]


class Market:
    """The network of such a market, as much of it as a worker needs."""

    def __init__(self, offers: tuple[Offer, ...]) -> None:
        self.offers = {offer.task_id: offer for offer in offers}
        self._shown: dict[str, Offer] = {}
        self._coming = list(reversed(offers))
        self._claimed: set[str] = set()
        self.paid: list[tuple[float, Offer]] = []
        """What was paid for, and when."""

    def answer(self, path: str, body: bytes, now: float) -> Reply:
        """Answer a request at a time, in seconds from the beginning."""
        self._move_on(now)
        action = path.removeprefix(FUNCTIONS)
        if action == "create-free-agent-public":
            return 200, {"agent_id": "agent", "access_token": "token", "credits": 100}
        if action == "get-marketplace-tasks":
            return 200, {"tasks": [_listed(one) for one in self._shown.values()]}
        task_id = str(json.loads(body or b"{}").get("task_id", ""))
        if action == "claim-task-public":
            return self._claim(task_id)
        if task_id not in self._claimed:
            return 409, {"error": "not yours"}
        return self._finish(action, self.offers[task_id], now)

    def _claim(self, task_id: str) -> Reply:
        if self._shown.pop(task_id, None) is None:
            return 409, {"error": "task_taken"}
        self._claimed.add(task_id)
        return 200, {"ok": True}

    def _finish(self, action: str, offer: Offer, now: float) -> Reply:
        if action == "submit-task-result-public":
            accepted = (200, {"ok": True})
            return (
                accepted if offer.is_accepted else (422, {"error": "result_rejected"})
            )
        self.paid.append((now, offer))
        return 200, {"ok": True, "credits_earned": offer.reward}

    def _move_on(self, now: float) -> None:
        while self._coming and self._coming[-1].appears <= now:
            offer = self._coming.pop()
            if self._appears(offer):
                self._shown[offer.task_id] = offer
        for task_id in [i for i, o in self._shown.items() if o.disappears <= now]:
            del self._shown[task_id]

    def _appears(self, _offer: Offer) -> bool:
        """Return whether an offer is made at all."""
        return True


def _listed(offer: Offer) -> dict[str, Any]:
    return {
        "id": offer.task_id,
        "title": f"Work of {offer.kind}",
        "kind": offer.kind,
        "reward": offer.reward,
        "status": "open",
    }


REQUESTS_SECONDS = 0.3
"""That claiming, submitting and completing take, beside the work."""

Offers = Mapping[str, Offer]


def clairvoyant(offers: Offers, waiting: Sequence[Waiting]) -> list[TaskId]:
    """Rank by what each task will really bring a second, and leave failures out."""
    certain = [one for one in waiting if offers[one.task_id].is_accepted]

    def worth(one: Waiting) -> float:
        return one.reward / (offers[one.task_id].seconds + REQUESTS_SECONDS)

    return [one.task_id for one in sorted(certain, key=worth, reverse=True)]


ORDERS: dict[str, Callable[[Offers], Ranking | None]] = {
    "expected": lambda _offers: None,
    "first": lambda _offers: by_age,
    "reward": lambda _offers: by_reward,
    "clairvoyant": lambda offers: partial(clairvoyant, offers),
}
"""By their names; None is what the daemon does by itself."""


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
    """Run the daemon on a market for so many hours; equal arguments give equal results.

    Raises:
        KeyError: there is no such order.
    """
    directory = Path(tempfile.mkdtemp(prefix="journeyman-trial-"))
    market, timeline = Market(offers), Timeline()
    settings = Settings(
        network=NetworkSettings(base_url=BASE_URL, limit=1_000),
        data=DataSettings(directory=directory),
        work=WorkSettings(slots=SLOTS),
        schedule=ScheduleSettings(discover_every_seconds=10),
    )
    try:
        Trial(
            market=market,
            settings=settings,
            hours=hours,
            timeline=timeline,
            order=order,
        ).run()
        with Journal(directory / "journal.db", timeline.clock.now) as journal:
            records = journal.track_records.all()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    paid = [offer for at, offer in market.paid if at <= hours * 3600]
    return Earnings(
        order=order,
        hours=hours,
        credits=sum(offer.reward for offer in paid),
        tasks=len(paid),
        records=records,
    )


class Trial:
    """The whole daemon on one market, for a time."""

    def __init__(
        self,
        *,
        market: Market,
        settings: Settings,
        hours: float,
        timeline: Timeline,
        order: str = "expected",
    ) -> None:
        self._order = order
        self._hours = hours
        self._timeline = timeline
        self._market = market
        self._settings = settings

    def run(self) -> None:
        """Work until the time is over, then let work in flight end."""
        loop = self._timeline.loop
        with scheduled_by(self._timeline.clock.now), ordered_scopes():
            try:
                loop.run_until_complete(self._work())
            finally:
                loop.close()

    async def _work(self) -> None:
        shutdown = Shutdown()
        self._timeline.loop.call_later(
            self._hours * 3600,
            shutdown.request,
            "the trial is over",
        )
        environment = self._environment()
        registry = _workers(self._market.offers)
        async with open_agent(self._settings, BASE_URL, environment) as agent:
            parts = Components(
                settings=self._settings,
                agent=agent,
                registry=registry,
                environment=environment,
            )
            # Orders are compared on a network that is known to pay: all slots are open.
            for _ in range(SLOTS):
                parts.proof.complete()
            await Daemon(parts, shutdown).run()

    def _environment(self) -> Environment:
        return Environment(
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


async def _no_control(_path: Path, _commands: OwnerCommands, _log: Log) -> None:
    """Nobody commands a trial."""
