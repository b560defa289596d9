"""What a network is like where the contract says nothing: drawn from a seed."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import product
from random import Random
from typing import Any, Literal

from anyio._backends._asyncio import CancelScope
from tests.simulation.loop import START

from journeyman.sandbox.store import State

ClaimRepeat = Literal[200, 409, 400, 403]
Repeat = Literal[200, 409, 400]
OK = 200


class Rejoin(StrEnum):
    """What a second registration gives, where keys are not honoured."""

    SAME = "same"
    CONFLICT = "conflict"
    ANOTHER = "another"


class ErrorBody(StrEnum):
    """What stands in the body of a refusal."""

    JSON = "json"
    TEXT = "text"
    HTML = "html"
    EMPTY = "empty"


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkBehaviour:
    """One of the networks that the contract allows."""

    claim_repeat: ClaimRepeat = 200
    """The status of an agent's repeated claim; so for the two below."""
    submit_repeat: Repeat = 200
    complete_repeat: Repeat = 200
    shows_claimant: bool = True
    """A refused claim names who has the task, if its body is JSON."""
    honours_keys: bool = True
    """A request with a known Idempotency-Key gets the answer of the first."""
    rejoin: Rejoin = Rejoin.ANOTHER
    error_body: ErrorBody = ErrorBody.JSON
    has_bom: bool = False
    """Every body begins with a byte-order mark."""
    lease_seconds: float | None = None
    """How long a claim holds, until its result is handed in; None for ever."""
    deadline_seconds: float | None = None
    """How long a task can be handed in after it came to the market; None for ever."""
    shows_limits: bool = True
    """Claims show their lease, tasks their deadline."""

    @property
    def refuses_repeats(self) -> bool:
        """A repeat that something on the way has made looks like somebody else's."""
        statuses = (self.claim_repeat, self.submit_repeat, self.complete_repeat)
        return not self.honours_keys and any(status != OK for status in statuses)


HONEST = NetworkBehaviour()
"""As the sandbox is by itself."""

HARDEST = NetworkBehaviour(
    claim_repeat=409,
    submit_repeat=409,
    complete_repeat=409,
    shows_claimant=False,
    honours_keys=False,
    rejoin=Rejoin.ANOTHER,
    error_body=ErrorBody.EMPTY,
    has_bom=True,
)
"""Tells an agent nothing about what it did before."""

BOM_ONE_IN = 10
LEASES = (None, None, None, 60.0, 300.0, 3600.0)
"""In seconds."""
DEADLINES = (None, None, None, 300.0, 3600.0, 4 * 3600.0)
"""In seconds; some end while the daemon is down or the network away."""
CLAIM_REPEATS: tuple[ClaimRepeat, ...] = (200, 409, 400, 403)
REPEATS: tuple[Repeat, ...] = (200, 409, 400)


def draw(random: Random) -> NetworkBehaviour:
    """Draw one of them all."""
    return NetworkBehaviour(
        claim_repeat=random.choice(CLAIM_REPEATS),
        submit_repeat=random.choice(REPEATS),
        complete_repeat=random.choice(REPEATS),
        shows_claimant=random.choice((True, False)),
        honours_keys=random.choice((True, False)),
        rejoin=random.choice(list(Rejoin)),
        error_body=random.choice(list(ErrorBody)),
        has_bom=random.randrange(BOM_ONE_IN) == 0,
        lease_seconds=random.choice(LEASES),
        deadline_seconds=random.choice(DEADLINES),
        shows_limits=random.choice((True, True, False)),
    )


def every_contract() -> list[NetworkBehaviour]:
    """Give all 432, with JSON errors: 4 * 3 * 3 * 2 * 2 * 3."""
    return [
        NetworkBehaviour(
            claim_repeat=claim,
            submit_repeat=submit,
            complete_repeat=complete,
            shows_claimant=shows,
            honours_keys=honours,
            rejoin=rejoin,
        )
        for claim, submit, complete, shows, honours, rejoin in product(
            CLAIM_REPEATS, REPEATS, REPEATS, (True, False), (True, False), Rejoin
        )
    ]


# The public name is a factory; what the sets hold is this.


@contextmanager
def ordered_scopes() -> Iterator[None]:
    """Let the order depend on what was done alone, for as long as this lasts.

    All have the same hash meanwhile, so that a set's order follows from that of the
    additions and removals; the sets are small. Scopes of an event loop around this one
    are not looked up meanwhile: it stands still.
    """
    before = CancelScope.__hash__
    CancelScope.__hash__ = _same_for_all  # type: ignore[assignment, method-assign] # a hash of ours
    try:
        yield
    finally:
        CancelScope.__hash__ = before  # type: ignore[method-assign] # as it was


def _same_for_all(_scope: CancelScope) -> int:
    return 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Expired:
    """A claim that was taken back."""

    task_id: str
    agent_id: str
    at: float
    """In simulated seconds."""


class TimeLimits:
    """Knows until when each claim holds, and takes back those that are over."""

    def __init__(
        self,
        state: State,
        personality: NetworkBehaviour,
        seconds: Callable[[], float],
        released_at: Callable[[str], float],
    ) -> None:
        """Begin without claims; `released_at` says when a task came to the market."""
        self._db = state.db
        self._lease = personality.lease_seconds
        self._deadline = personality.deadline_seconds
        self._shown = personality.shows_limits
        self._seconds = seconds
        self._released_at = released_at
        self._until: dict[str, tuple[str, float]] = {}
        self.expired: list[Expired] = []
        self.counts: Counter[str] = Counter()
        """How often a lease ended, a deadline passed, a late claim was refused."""

    @property
    def exist(self) -> bool:
        """Whether this network has any limit at all."""
        return self._lease is not None or self._deadline is not None

    def claimed(self, task_id: str, agent_id: str) -> None:
        """Note a claim that was granted, unless it only repeats one."""
        until = self.until(task_id)
        if until is not None:
            self._until[task_id] = agent_id, until

    def until(self, task_id: str) -> float | None:
        """Give when a claim that is made now ends, or one that was made."""
        if task_id in self._until:
            return self._until[task_id][1]
        ends = [self.deadline(task_id)]
        ends += [] if self._lease is None else [self._seconds() + self._lease]
        return min((end for end in ends if end is not None), default=None)

    def deadline(self, task_id: str) -> float | None:
        """Give when a task can no longer be handed in; None if at any time."""
        if self._deadline is None:
            return None
        return self._released_at(task_id) + self._deadline

    def is_too_late(self, task_id: str) -> bool:
        """Tell whether a task may no longer be claimed."""
        deadline = self.deadline(task_id)
        is_late = deadline is not None and deadline <= self._seconds()
        self.counts["late claim"] += is_late
        return is_late

    def shown(self, name: str, at: float | None) -> dict[str, Any]:
        """Give a field that shows a moment, where this network shows such things."""
        if at is None or not self._shown:
            return {}
        return {name: moment(at)}

    def enforce(self) -> None:
        """Take back every claim whose time is over, unless its result came in time."""
        now = self._seconds()
        over = [task for task, (_, until) in self._until.items() if until <= now]
        for task_id in over:
            agent_id, until = self._until.pop(task_id)
            taken = self._db.execute(
                "UPDATE tasks SET status = 'open', claimant = NULL "
                "WHERE task_id = ? AND status = 'claimed' AND claimant = ?",
                (task_id, agent_id),
            )
            if taken.rowcount:
                deadline = self.deadline(task_id)
                is_deadline = deadline is not None and until >= deadline
                self.counts["deadline passed" if is_deadline else "lease ended"] += 1
                self.expired.append(
                    Expired(task_id=task_id, agent_id=agent_id, at=until)
                )


def moment(seconds: float) -> str:
    """Write a moment of the network's time as the sandbox does, to the millisecond."""
    at = datetime.fromtimestamp(START.timestamp() + seconds, UTC)
    return at.isoformat(timespec="milliseconds")
