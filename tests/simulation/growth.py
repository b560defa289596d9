"""A trial of growth: what posting to be seen is worth, where it brings work or not."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.simulation.trial import (
    BASE_URL,
    FUNCTIONS,
    SLOTS,
    Market,
    Offer,
    Reply,
    Trial,
)
from tests.simulation.virtual_time import Timeline, seeded

from journeyman.journal.journal import Journal
from journeyman.journal.ledger import EntryKind
from journeyman.settings.sections import (
    DataSettings,
    GrowthSettings,
    NetworkSettings,
    PlanSettings,
    PostingSettings,
    ScheduleSettings,
    Settings,
    WorkSettings,
)

OFFERS_PER_HOUR: Final = 2
WINDOW_HOURS: Final = 6
"""For how long a post brings work, where it does."""
COST: Final = 10
"""Of one post, as much as one task brings on average."""
POLICIES: Final = ("never", "always", "growth")
"""No posts; a posting plan each six hours; the same, while it is worth its cost."""

BRINGS: Final = (0.0, 1.0)
"""What a post brings for six hours, as a part of the usual tasks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GrowthEarnings:
    """What one policy has earned and spent."""

    earned: int
    spent: int
    posts: int

    @property
    def net(self) -> int:
        """The figure by which policies are compared."""
        return self.earned - self.spent


def _offers(seed: int, name: str, per_hour: float, hours: float) -> Iterator[Offer]:
    random, at, number = seeded(seed, name), 0.0, 0
    while (at := at + random.expovariate(per_hour / 3600)) < hours * 3600:
        number += 1
        yield Offer(
            task_id=f"{name}-{number:05}",
            kind="kind-1",
            reward=random.randint(6, 14),
            appears=at,
            disappears=at + 2 * 3600,
            seconds=60,
            is_accepted=True,
        )


class _SeenMarket(Market):
    """A market on which more tasks appear for a while after a post of ours."""

    def __init__(self, seed: int, days: float, brings: float) -> None:
        usual = tuple(_offers(seed, "usual", OFFERS_PER_HOUR, days * 24))
        more = (
            tuple(_offers(seed, "more", OFFERS_PER_HOUR * brings, days * 24))
            if brings
            else ()
        )
        super().__init__(tuple(sorted((*usual, *more), key=lambda one: one.appears)))
        self._posted: list[float] = []

    def answer(self, path: str, body: bytes, now: float) -> Reply:
        """Answer a request; posts are accepted, and remembered."""
        if path != f"{FUNCTIONS}write-post-task-public":
            return super().answer(path, body, now)
        self._posted.append(now)
        return 200, {"ok": True, "task_id": f"ours-{len(self._posted)}"}

    def _appears(self, offer: Offer) -> bool:
        is_usual = offer.task_id.startswith("usual")
        since = offer.appears - WINDOW_HOURS * 3600
        return is_usual or any(since < at <= offer.appears for at in self._posted)


def try_growth(policy: str, *, seed: int, days: float, brings: float) -> GrowthEarnings:
    """Run the daemon for so many days; equal arguments give equal results.

    Args:
        policy: One of `POLICIES`.
        seed: Of the market.
        days: Simulated.
        brings: What a post brings, as a part of the usual tasks; 0: nothing.
    """
    directory = Path(tempfile.mkdtemp(prefix="journeyman-growth-"))
    timeline = Timeline()
    try:
        Trial(
            market=_SeenMarket(seed, days, brings),
            settings=_settings(policy, directory),
            hours=days * 24,
            timeline=timeline,
        ).run()
        with Journal(directory / "journal.db", timeline.clock.now) as journal:
            totals = journal.ledger.totals()
        spent = -totals.get(EntryKind.SPENT, 0)
        return GrowthEarnings(
            earned=totals.get(EntryKind.EARNED, 0), spent=spent, posts=spent // COST
        )
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _settings(policy: str, directory: Path) -> Settings:
    plan = PlanSettings(
        title="Say hello to us",
        reward=COST,
        per_month_credits=10_000,
        every_seconds=WINDOW_HOURS * 3600,
        growth=policy == "growth",
    )
    return Settings(
        network=NetworkSettings(base_url=BASE_URL, limit=1_000),
        data=DataSettings(directory=directory),
        work=WorkSettings(slots=SLOTS),
        schedule=ScheduleSettings(
            # Seldom, as days are simulated: nothing here is in a hurry.
            discover_every_seconds=1_800,
            discover_max_seconds=1_800,
            deliver_every_seconds=1_800,
            heartbeat_every_seconds=3_600,
            spend_every_seconds=1_800,
            follow_every_seconds=86_400,
            topup_check_every_seconds=86_400,
        ),
        posting=PostingSettings(
            verify_first=False, plan={} if policy == "never" else {"seen": plan}
        ),
        growth=GrowthSettings(enabled=True, window_hours=WINDOW_HOURS),
    )
