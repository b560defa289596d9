"""APScheduler decides when: its jobs only notify a loop, which does the work.

Its jobs are bare tasks that swallow cancellation, and it reads the wall clock; so
nothing of ours runs inside one, and a loop that waits for its job has a limit on
monotonic time as well.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, tzinfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger
from apscheduler.triggers.interval import IntervalTrigger

from journeyman.domain.clock import Clock
from journeyman.lifecycle.wakeup import Wakeup

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Slots at an interval are counted from here, so that a restart moves none."""


class SlotTimes:
    """When the slots of a posting plan are: by the calendar, or at an interval."""

    def __init__(self, zone: tzinfo, *, cron: str = "", seconds: float = 0.0) -> None:
        """Take one of the two.

        Raises:
            ValueError: the `cron` is none.
        """
        self._zone = zone if cron else UTC
        # In UTC, which stands for the clock on the wall: in a zone of its own, the
        # trigger never returns while that clock shows an hour for the second time.
        self._trigger = (
            CronTrigger.from_crontab(cron, timezone=UTC)
            if cron
            else IntervalTrigger(seconds=seconds, start_date=EPOCH, timezone=UTC)
        )

    def latest(self, after: datetime, now: datetime) -> datetime | None:
        """Return the last slot between the two, without the first; None: none is."""
        begin, end = self._on_the_wall(after), self._on_the_wall(now)
        # Near the end first: of a slot each minute, a year has half a million.
        for start in (*(end - width for width in LOOKS_BACK), begin):
            latest, slot = None, self._next(max(begin, start))
            while slot is not None and slot <= end:
                latest, slot = slot, self._next(slot)
            if latest is not None:
                return latest.replace(tzinfo=self._zone).astimezone(UTC)
        return None

    def _on_the_wall(self, at: datetime) -> datetime:
        return at.astimezone(self._zone).replace(tzinfo=UTC, fold=0)

    def _next(self, after: datetime) -> datetime | None:
        found: datetime | None = self._trigger.get_next_fire_time(None, after + TICK)
        return found


TICK = timedelta(microseconds=1)
LOOKS_BACK = (timedelta(hours=1), timedelta(days=1), timedelta(days=31))


class Ticks(IntervalTrigger):  # type: ignore[misc]  # APScheduler has no types
    """Fires at an interval, and once for all that a clock set forward has passed over.

    APScheduler goes from each time to the next, which after a step of some years takes
    it longer than the watchdog waits.
    """

    def get_next_fire_time(
        self, previous_fire_time: datetime | None, now: datetime
    ) -> datetime | None:
        """Return the next time, which is never one that is over."""
        found: datetime | None = super().get_next_fire_time(previous_fire_time, now)
        if found is not None and found <= now:
            found = super().get_next_fire_time(None, now + TICK)
        return found


class Schedule:
    """Notifies loops: once after a while, or at an interval."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._scheduler = AsyncIOScheduler(
            timezone="UTC",
            job_defaults={
                "coalesce": True,
                "max_instances": 1,
                # None: a run that is late (a suspended machine) is run, not dropped.
                "misfire_grace_time": None,
            },
        )

    def start(self) -> None:
        """Begin to notify; needs a running event loop."""
        self._scheduler.start()

    def stop(self) -> None:
        """Notify no more."""
        self._scheduler.shutdown(wait=False)

    def every(self, name: str, seconds: float, notify: Callable[[], None]) -> None:
        """Notify at an interval."""
        self._add(name, Ticks(seconds=seconds, timezone="UTC"), notify)

    def after(self, name: str, seconds: float, notify: Callable[[], None]) -> None:
        """Notify once; a later call of the same name takes its place."""
        at = self._clock.now() + timedelta(seconds=seconds)
        self._add(name, DateTrigger(run_date=at, timezone="UTC"), notify)

    def _add(self, name: str, trigger: object, notify: Callable[[], None]) -> None:
        self._scheduler.add_job(
            _as_job(notify),
            trigger=trigger,
            id=name,
            name=name,
            replace_existing=True,
        )


def _as_job(notify: Callable[[], None]) -> Callable[[], object]:
    async def job() -> None:
        # A plain function would be run in a thread.
        notify()

    return job


async def repeat(
    schedule: Schedule,
    name: str,
    seconds: float,
    action: Callable[[], Awaitable[None] | None],
) -> None:
    """Do something at an interval, forever; cancel to stop."""
    wakeup = Wakeup()
    schedule.every(name, seconds, wakeup.notify)
    while True:
        await wakeup.wait(seconds + SLACK_SECONDS)
        done = action()
        if done is not None:
            await done


SLACK_SECONDS = 5.0
"""How much later than scheduled a loop wakes by itself, should the scheduler, which
reads the wall clock, be stalled by a clock that was set back."""
