"""The posting plan: tasks that the owner has posted again and again, by the calendar.

Each slot of a plan has one post. Its key is in the journal before the request leaves,
and unique there; so neither a crash nor an answer that was lost brings a second one. A
slot that comes while the daemon is away is made up for when it is back, if it is not
too late; of several, the last alone.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from string import Template
from typing import Protocol

from journeyman.domain.clock import Clock
from journeyman.domain.tasks import JSON, NewTask, SpendId
from journeyman.economy import events
from journeyman.economy.budget import Limit, Period, Unit
from journeyman.economy.posting import Accepted, NotAccepted, PlannedPost, Posting
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendState
from journeyman.observability.events import Log

FIRST_SEEN = "posting_plans"
"""The fact that says since when each plan is known: it makes up for nothing before."""
MOST_TRIES = 3
"""For one slot; then what refuses it is not asked again."""


class Times(Protocol):
    """When the slots of a plan are."""

    def latest(self, after: datetime, now: datetime) -> datetime | None:
        """Return the last slot between the two, without the first; None: none is."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """One task that is posted at each slot of its own."""

    name: str
    times: Times
    title: str
    description: str
    kind: str
    tags: tuple[str, ...]
    input: JSON
    reward: int
    per_month_credits: int
    """The most that it spends in a month."""
    max_posts: int | None
    """It ends after so many; None: never."""
    until: datetime | None
    """It ends then; None: never."""
    growth: bool = False
    """It posts only while that is worth its cost; see `growth`."""

    @property
    def poster(self) -> str:
        """Who asks for its posts; no strategy has such a name."""
        return f"plan:{self.name}"

    @property
    def limit(self) -> Limit:
        """Its own limit, beside all others."""
        return Limit(
            setting=f"posting.plan.{self.name}.per_month_credits",
            most=self.per_month_credits,
            unit=Unit.CREDITS,
            period=Period.MONTH,
            poster=self.poster,
        )

    def key(self, slot: datetime) -> str:
        """Return what names one slot, in the journal."""
        return f"{self.name}:{slot.astimezone(UTC).isoformat(timespec='seconds')}"

    def task(self, slot: datetime, zone: tzinfo) -> NewTask:
        """Return the task of one slot, with the dates filled in."""
        dates = _dates(slot.astimezone(zone))
        return NewTask(
            title=Template(self.title).substitute(dates),
            description=Template(self.description or self.title).substitute(dates),
            reward=self.reward,
            kind=self.kind,
            tags=self.tags,
            input=_filled(self.input, dates),
        )


def _dates(at: datetime) -> dict[str, str]:
    return {
        "date": f"{at:%Y-%m-%d}",
        "day": f"{at:%d}",
        "month": f"{at:%Y-%m}",
        "time": f"{at:%H:%M}",
        "week": f"{at:%G-W%V}",
        "weekday": f"{at:%A}",
        "year": f"{at:%Y}",
    }


def _filled(value: JSON, dates: Mapping[str, str]) -> JSON:
    if isinstance(value, str):
        return Template(value).substitute(dates)
    if isinstance(value, list):
        return [_filled(one, dates) for one in value]
    if isinstance(value, dict):
        return {name: _filled(one, dates) for name, one in value.items()}
    return value


@dataclass(kw_only=True, eq=False)
class PostingPlan:
    """Posts what is due, one plan after the other."""

    plans: Sequence[Plan]
    posting: Posting
    journal: Journal
    must_wait: Callable[[], bool]
    """Returns whether no post may be sent now."""
    is_worth_it: Callable[[Plan, str], bool]
    """Returns whether a plan for growth may post in a slot."""
    late: timedelta
    """For so long a slot that was missed is made up for."""
    zone: tzinfo
    clock: Clock
    log: Log

    async def round(self) -> None:
        """Post for each plan the slot that is due, if it has no post yet.

        Raises:
            StateError: the disk fails.
        """
        since = self._known_since()
        for plan in self.plans:
            if self.must_wait():
                return
            slot = self.due(plan, since[plan.name])
            if slot is None:
                continue
            if not plan.growth or self.is_worth_it(plan, plan.key(slot)):
                await self._post(plan, slot)

    def due(self, plan: Plan, since: datetime) -> datetime | None:
        """Return the slot of a plan that should have a post now, and has none."""
        now = self.clock.now()
        if plan.until is not None and now >= plan.until:
            return None
        spends = self.journal.spends
        if (
            plan.max_posts is not None
            and spends.posts_of(plan.poster) >= plan.max_posts
        ):
            return None
        slot = plan.times.latest(max(since, now - self.late), now)
        if slot is None:
            return None
        tries = spends.of_slot(plan.key(slot))
        is_free = all(one.state is SpendState.RELEASED for one in tries)
        return slot if is_free and len(tries) < MOST_TRIES else None

    async def _post(self, plan: Plan, slot: datetime) -> None:
        key = plan.key(slot)
        # The same after a crash: a network that keeps keys knows the request again.
        digest = hashlib.blake2b(key.encode(), digest_size=12).hexdigest()
        tries = self.journal.spends.of_slot(key)
        planned = PlannedPost(
            slot=key,
            spend_id=SpendId(f"post_{digest}_{len(tries) + 1}"),
            limit=plan.limit,
        )
        task = plan.task(slot, self.zone)
        done = await self.posting.post(task, plan.poster, planned)
        if isinstance(done, Accepted | NotAccepted):
            self.log.emit(
                events.PLANNED_POST,
                plan=plan.name,
                slot=key,
                spend_id=done.spend_id,
                accepted=isinstance(done, Accepted),
            )

    def _known_since(self) -> dict[str, datetime]:
        """Return since when each plan is known; a new one is, from now on.

        One that was first seen in the future was so by a clock that was wrong.
        """
        now = self.clock.now()
        fact = self.journal.facts.get(FIRST_SEEN)
        kept = fact if isinstance(fact, dict) else {}
        known = {
            plan.name: min(str(kept.get(plan.name, now.isoformat())), now.isoformat())
            for plan in self.plans
        }
        if known != kept:
            with self.journal.tx("posting plans"):
                self.journal.facts.put(FIRST_SEEN, dict[str, JSON](known))
        return {name: datetime.fromisoformat(at) for name, at in known.items()}
