"""What a network has proven, and how many tasks may therefore be claimed at once.

Until one task has gone all the way, there is one claim at a time. Then a window opens
as TCP's slow start opens one (RFC 5681): by one with each task that is completed. It
halves when different tasks are refused alike, since that is about the network and not
about a task. What was proven outlasts a restart.
"""

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.outcomes import Refused
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import JSON, TaskId
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord, Workload
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.observability.events import Log
from journeyman.worker import events

UNDELIVERED_PER_SLOT = 4
"""How many claimed tasks may be undelivered, for each that the window allows: a
strategy that wants to retry every task later would otherwise claim the whole market."""
REVIEWS_PER_SLOT = 10
"""How many delivered tasks may wait for a verdict, for each slot."""
LONG_PAUSE_SECONDS = 60.0
"""While results must wait longer than this, hardly anything is claimed."""
SHRINKS_TO = 0.95
SHORTEST_REVIEW = 1.0
"""In seconds; a shorter one is no reason to wait."""
RECENT_SECONDS = 3_600.0
"""How long a yes shows that an action works for those who ask for it."""
ABSENT_SECONDS = 600.0
"""How long an absent action is believed to be absent, before one task asks again."""
LIMITED_SECONDS = 600.0
"""How long a number of tasks is believed to be all that may be held."""
MOST_RELEASED = 100
"""More than the tasks that ended last and are looked at (`claim.RECENTLY_ENDED`)."""
VAIN_REPEATS = 3
"""So many conflicts that stay when fewer tasks are held are enough: they are about the
tasks, and every other one that is lost in a race would cost a request more."""
DELIVERIES = ("submit", "complete")


@dataclass(frozen=True, kw_only=True, slots=True)
class Proven:
    """What one network has shown."""

    confirmed: frozenset[str] = frozenset()
    """The actions to which it has said yes."""
    lacks: frozenset[str] = frozenset()
    """The actions that it does not have."""
    ignores_keys: bool = False
    """It answered the repeat of a request as a new one."""
    holds_paid: bool = False
    """It counts a task that it has paid as held, until it is completed."""
    window: int = 0
    """How many tasks may be worked on at once; 0: none has gone all the way, so one."""

    def opened(self, most: int) -> "Proven":
        """Return what holds after a task has gone all the way."""
        window = min(max(self.window, 1) + 1, most)
        return self if window == self.window else replace(self, window=window)

    def halved(self) -> "Proven":
        """Return what holds after tasks have failed alike."""
        return replace(self, window=self.window // 2)

    def as_json(self) -> JSON:
        """Return it as it is stored."""
        return {
            "confirmed": [*sorted(self.confirmed)],
            "lacks": [*sorted(self.lacks)],
            "ignores_keys": self.ignores_keys,
            "holds_paid": self.holds_paid,
            "window": self.window,
        }


def read_proven(stored: JSON) -> Proven:
    """Read what `as_json` has written; nothing is proven by anything else."""
    if not isinstance(stored, dict):
        return Proven()
    window = stored.get("window")
    return Proven(
        confirmed=_names(stored.get("confirmed")),
        lacks=_names(stored.get("lacks")),
        ignores_keys=stored.get("ignores_keys") is True,
        holds_paid=stored.get("holds_paid") is True,
        window=window if isinstance(window, int) else 0,
    )


def _names(stored: JSON) -> frozenset[str]:
    listed = stored if isinstance(stored, list) else []
    return frozenset(one for one in listed if isinstance(one, str))


@dataclass(kw_only=True, eq=False)
class Proof:
    """Remembers what a network has proven, and answers how much may be claimed."""

    journal: Journal
    base_url: str
    blocked_actions: Callable[[], Mapping[str, str]]
    """Which actions the network takes in no form that we know."""
    rate_limiter: RateLimiter
    slots: int
    retry: RetryPolicy
    clock: Clock
    randomness: Randomness
    log: Log
    review_seconds: float = field(init=False, default=0.0)
    """How long to wait before a task is first asked about, where reviews take long."""
    _proven: Proven = field(init=False)
    _refusals: dict[str, tuple[str, set[TaskId]]] = field(
        init=False, default_factory=dict
    )
    """The last words of refusal for each action, and for which tasks in a row."""
    _reviews_begin_when_asked: bool = field(init=False, default=False)
    _yes_at: dict[str, float] = field(init=False, default_factory=dict)
    """When the network said yes to each action last, in this run."""
    _needless: set[TaskId] = field(init=False, default_factory=set)
    _holds: int = field(init=False, default=0)
    _held_until: float = field(init=False, default=0.0)
    _absent_until: float = field(init=False, default=0.0)
    _conflicts: set[TaskId] = field(init=False, default_factory=set)
    """Tasks of which a claim was refused, perhaps since others are held."""
    _limit: int = field(init=False, default=0)
    """So many may be held, as such a refusal says; 0: none has said so lately."""
    _limited_until: float = field(init=False, default=0.0)
    _vain_repeats: int = field(init=False, default=0)
    _released: deque[TaskId] = field(
        init=False, default_factory=partial(deque, maxlen=MOST_RELEASED)
    )
    """The last tasks that were paid, still held, and had a completion answered."""

    def __post_init__(self) -> None:
        self._proven = read_proven(self.journal.facts.get(self._fact))

    # -- how much may be claimed --------------------------------------------------

    @property
    def window(self) -> int:
        """How many tasks may be worked on at once."""
        return min(max(self._proven.window, 1), self.slots)

    def room(self, others: Workload, running: int) -> int:
        """Return how many more tasks may be claimed, besides those that are running."""
        is_lost = "claim" in self.blocked_actions() and not self.has("claim")
        if self.held_seconds or is_lost:
            # An intent without a request would look like a claim after a crash.
            return 0
        has_proven = bool(self._proven.window)
        reviews = others.in_review if has_proven else others.in_long_review
        if reviews >= REVIEWS_PER_SLOT * self.slots:
            return 0
        undelivered = others.in_flight - reviews + running
        put_off = others.put_off
        if not has_proven and not self._refusals:
            put_off += others.in_long_doubt
        room = self._bound(put_off) - undelivered
        if self._limit and self.clock.monotonic() < self._limited_until:
            # The network counts those in review, too.
            room = min(room, self._limit - others.in_flight - running)
        return room

    def _bound(self, put_off: int) -> int:
        """Return how many undelivered tasks there may be.

        Before anything was proven, those count for little that a strategy has put off:
        what the network makes of them is not asked yet, and another task can ask. Nor
        do those that were asked about often, without an answer that ends them.
        """
        if any(map(self._is_stopped, DELIVERIES)):
            return 1
        most = UNDELIVERED_PER_SLOT * self.window
        return most if self._proven.window else min(1 + put_off, most)

    def _is_stopped(self, action: str) -> bool:
        if action in self._proven.lacks:
            return False
        pause = self.rate_limiter.pause_for(action)
        is_paused = pause is not None and pause.seconds > LONG_PAUSE_SECONDS
        return is_paused or action in self.blocked_actions()

    @property
    def held_seconds(self) -> float:
        """How long nothing is claimed, since no claim was understood yet."""
        return max(0.0, self._held_until - self.clock.monotonic())

    def hold_claims(self) -> None:
        """Claim nothing for a while, longer each time, until a claim is confirmed."""
        self._holds += 1
        wait = self.retry.backoff(self._holds, self.randomness)
        self._held_until = self.clock.monotonic() + wait

    def may_be_full(self, task_id: TaskId, held: int) -> bool:
        """Return whether a conflict may be with the tasks held, not about this one.

        It is believed of each task once, so that its next claim tells: when fewer are
        held. Where some of those were refused, too, conflicts are about the tasks.
        """
        if task_id in self._conflicts or self._vain_repeats >= VAIN_REPEATS:
            return False
        self._conflicts.add(task_id)
        self.limit_to(held)
        return True

    def limit_to(self, held: int) -> None:
        """Hold no more tasks than these for a while, since the network said so."""
        self._limit = min(held, self._limit or held)
        self._limited_until = self.clock.monotonic() + LIMITED_SECONDS

    def note_repeat(self, task_id: TaskId, *, is_won: bool | None) -> None:
        """Note how the claim after such a conflict ended; None: there was none."""
        if task_id not in self._conflicts:
            return
        self._conflicts.discard(task_id)
        if is_won is not None:
            self._vain_repeats = 0 if is_won else self._vain_repeats + 1
        if not is_won:
            self._limit = 0

    # -- what was proven ----------------------------------------------------------

    def has(self, action: str) -> bool:
        """Return whether the network has ever said yes to this action."""
        return action in self._proven.confirmed

    def says_yes(self, action: str) -> bool:
        """Return whether the network has said yes to this action in the last hour."""
        at = self._yes_at.get(action)
        return at is not None and self.clock.monotonic() - at < RECENT_SECONDS

    def confirm(self, action: str) -> None:
        """Note that the network has said yes to this action."""
        self._yes_at[action] = self.clock.monotonic()
        if action == "claim":
            self._holds, self._held_until = 0, 0.0
        known = self._proven
        if action in known.confirmed and action not in known.lacks:
            return
        confirmed, lacks = known.confirmed | {action}, known.lacks - {action}
        self._keep(replace(known, confirmed=confirmed, lacks=lacks))

    def complete(self) -> None:
        """Note that a task has gone all the way."""
        self._refusals.clear()
        self._keep(self._proven.opened(self.slots))

    def refuse(self, action: str, record: TaskRecord, refused: Refused) -> bool:
        """Note a refusal that does not judge the work; halve the window if it is alike.

        Returns whether other tasks were refused in the same words, and nothing went
        well since.
        """
        said = _pattern(refused.message, record.task_id)
        before = self._refusals.get(action)
        alike = before[1] if before and before[0] == said else set()
        is_another = bool(alike) and record.task_id not in alike
        self._refusals[action] = said, {*alike, record.task_id}
        if is_another:
            self._slow_down(action, refused.message)
        return len(self._refusals[action][1]) > 1

    def _slow_down(self, action: str, message: str) -> None:
        before = self.window
        self._keep(self._proven.halved())
        if self.window < before:
            window = self.window
            self.log.emit(
                events.CLAIMS_SLOWED, action=action, window=window, message=message
            )

    def note_review(self, seconds: float | None) -> None:
        """Note how long a review took; None: a first question was answered with a yes.

        The wait before a first question follows what was seen, and shrinks by itself,
        so that it finds out when reviews become shorter.
        """
        if seconds is not None:
            # Twice as long after a wait: the review begins with the first question.
            if 0 < 2 * self.review_seconds < seconds:
                self._reviews_begin_when_asked = True
            waits = not self._reviews_begin_when_asked
            self.review_seconds = min(seconds, self.retry.max_seconds) if waits else 0.0
        elif self.review_seconds:
            shorter = SHRINKS_TO * self.review_seconds
            self.review_seconds = shorter if shorter >= SHORTEST_REVIEW else 0.0

    # -- what is not there ----------------------------------------------------------

    @property
    def ignores_keys(self) -> bool:
        """Whether the network answered the repeat of a request as a new one."""
        return self._proven.ignores_keys

    def note_ignored_key(self) -> None:
        """Note that a repeat was answered as a new request."""
        self._keep(replace(self._proven, ignores_keys=True))

    @property
    def holds_paid(self) -> bool:
        """Whether a task that is paid is still to be completed."""
        return self._proven.holds_paid

    def note_paid_is_held(self) -> None:
        """Note that a task that was paid was still held."""
        self._keep(replace(self._proven, holds_paid=True))

    def is_released(self, task_id: TaskId) -> bool:
        """Return whether a paid task has had its completion answered, in this run."""
        return task_id in self._released

    def note_released(self, task_id: TaskId) -> None:
        """Note that a task that was paid is held no more."""
        self._released.append(task_id)

    def lacks(self, action: str) -> bool:
        """Return whether the network was found not to have this action."""
        return action in self._proven.lacks

    def is_absent(self, action: str) -> bool:
        """Return whether it lacks this action, and need not be asked again yet."""
        return self.lacks(action) and self.clock.monotonic() < self._absent_until

    def note_needless(self, action: str, record: TaskRecord) -> None:
        """Note that an action was done already, by the one before it.

        Where it is so for two tasks and was never otherwise, it is not asked for.
        """
        self._needless.add(record.task_id)
        if len(self._needless) > 1 and not self.has(action):
            self.note_absent(action)

    def note_absent(self, action: str) -> None:
        """Note that the network does not have this action."""
        self._absent_until = self.clock.monotonic() + ABSENT_SECONDS
        self._keep(replace(self._proven, lacks=self._proven.lacks | {action}))

    def _keep(self, proven: Proven) -> None:
        if proven == self._proven:
            return
        self._proven = proven
        with self.journal.tx("proof"):
            self.journal.facts.put(self._fact, proven.as_json())

    @property
    def _fact(self) -> str:
        return f"proof {self.base_url.rstrip('/')}"


def _pattern(message: str, task_id: TaskId) -> str:
    """Reduce a message to what it has in common with those about other tasks."""
    plain = message.replace(task_id, "#")
    return re.sub(r"[0-9a-fA-F-]{8,}|\d+", "#", plain).lower()
