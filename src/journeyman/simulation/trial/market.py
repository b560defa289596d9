"""A market in which everything is decided before the first task is shown.

When a task appears, when another agent takes it, how long it takes and whether its
result is accepted: all of it is drawn from the seed, so that every order of working
meets the same world, and one that knew it all can be compared with.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import Any, Final, TypeAlias

from journeyman.simulation.clock import seeded

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
        if action == "submit-task-result-public" and not offer.is_accepted:
            return 422, {"error": "result_rejected"}
        if action == "complete-task-public":
            self.paid.append((now, offer))
        return 200, {"ok": True, "credits_earned": offer.reward}

    def _move_on(self, now: float) -> None:
        while self._coming and self._coming[-1].appears <= now:
            offer = self._coming.pop()
            self._shown[offer.task_id] = offer
        for task_id in [i for i, o in self._shown.items() if o.disappears <= now]:
            del self._shown[task_id]


def _listed(offer: Offer) -> dict[str, Any]:
    return {
        "id": offer.task_id,
        "title": f"Work of {offer.kind}",
        "kind": offer.kind,
        "reward": offer.reward,
        "status": "open",
    }
