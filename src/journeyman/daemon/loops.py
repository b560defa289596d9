"""The daemon's side loops, each with its own bell and its own limit on waiting."""

from collections.abc import Awaitable, Callable

from journeyman.daemon import events
from journeyman.daemon.agent import Agent
from journeyman.daemon.compose import Works
from journeyman.daemon.pace import Pace
from journeyman.daemon.schedule import Schedule
from journeyman.domain import Clock, Randomness, TaskState
from journeyman.loop import Bell, Poll
from journeyman.observability import Log
from journeyman.settings import ScheduleSettings

SLACK_SECONDS = 5.0
"""How much later than scheduled a loop wakes by itself, should the scheduler, which
reads the wall clock, be stalled by a clock that was set back."""


class DiscoverLoop:
    """Looks for tasks: at an interval with jitter, at once while that gives work."""

    def __init__(
        self,
        *,
        works: Works,
        schedule: Schedule,
        every: ScheduleSettings,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._works = works
        self._schedule = schedule
        self._clock = clock
        self._pace = Pace(
            usual=every.discover_every_seconds,
            longest=every.discover_max_seconds,
            randomness=randomness,
        )
        self._bell = Bell()
        self._was_productive = False
        self.looked_at = clock.monotonic()
        """When it last looked, on the monotonic clock."""
        self.next_look_at = clock.monotonic()
        """When it means to look again; much later than that, it must be stuck."""

    async def run(self) -> None:
        """Look for ever; cancel to stop."""
        while True:
            wait = self._next_wait(await self.look())
            if not wait:
                continue
            self.next_look_at = self._clock.monotonic() + wait
            self._schedule.after("discover", wait, self._bell.ring)
            await self._bell.wait(wait + SLACK_SECONDS)

    async def look(self) -> Poll | None:
        """Look once; None while nothing new may be claimed."""
        self.looked_at = self._clock.monotonic()
        self._works.disk.look()
        if self._works.gate.obstacle:
            return None
        poll = await self._works.discover()
        self._was_productive = poll.productive
        self._works.worker.bell.ring()
        return poll

    def wake(self) -> None:
        """Look now, however long the pause was meant to be."""
        self._pace.reset()
        self._bell.ring()

    def feed(self) -> None:
        """Look again soon, if the last look gave work and more could be done."""
        if self._was_productive and self._works.worker.is_hungry:
            self._bell.ring()

    def _next_wait(self, poll: Poll | None) -> float:
        # While nothing may be sent the next look is the probe: it must not be late.
        stopped = self._works.gate.suspended_for
        if stopped:
            return stopped
        worker = self._works.worker
        return self._pace.next_wait(
            poll, is_hungry=worker.is_hungry, is_busy=bool(worker.in_flight)
        )


class Heartbeat:
    """Says now and then that all is well, or why nothing is done."""

    def __init__(self, agent: Agent, works: Works, clock: Clock, log: Log) -> None:
        self._agent = agent
        self._works = works
        self._clock = clock
        self._log = log
        self._started = clock.monotonic()

    @property
    def up_seconds(self) -> float:
        """How long this run lasts."""
        return self._clock.monotonic() - self._started

    def beat(self) -> None:
        """Write one line."""
        journal, progress = self._agent.journal, self._works.worker.progress
        tally = self._works.discover.tally
        self._log.emit(
            events.HEARTBEAT,
            up_seconds=round(self.up_seconds),
            obstacle=self._works.gate.obstacle,
            balance=journal.ledger.balance(),
            in_flight=self._works.worker.in_flight,
            waiting=journal.tasks.count_in({TaskState.WANTED}),
            listed=tally.listed,
            wanted=tally.wanted,
            completed=progress.completed,
            ended=progress.ended,
            lost=progress.lost,
            polls=tally.polls,
            failed_polls=tally.failed_polls,
            skipped_because=dict(tally.reasons.most_common(3)),
            quarantined=sorted(self._works.staff.quarantine.obstacles()),
        )


async def repeat(
    schedule: Schedule,
    name: str,
    seconds: float,
    action: Callable[[], Awaitable[None] | None],
) -> None:
    """Do something at an interval, for ever; cancel to stop."""
    bell = Bell()
    schedule.every(name, seconds, bell.ring)
    while True:
        await bell.wait(seconds + SLACK_SECONDS)
        done = action()
        if done is not None:
            await done
