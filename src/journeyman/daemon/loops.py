"""The daemon's side loops, each with its own bell and its own limit on waiting."""

from collections.abc import Awaitable, Callable

from journeyman.daemon import events
from journeyman.daemon.agent import Agent
from journeyman.daemon.schedule import Schedule
from journeyman.daemon.wiring import Components
from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.tasks import TaskState
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.observability.events import Log
from journeyman.settings.sections import ScheduleSettings
from journeyman.worker.discover import Poll

SHORTEST_SHARE = 0.1
"""Of the usual pause: no two idle looks come closer together."""


class Pace:
    """Draws the pauses between two looks; all times in seconds."""

    def __init__(self, *, usual: float, longest: float, randomness: Randomness) -> None:
        """Pause for `usual` on average while busy, and at most for `longest`."""
        self._usual = usual
        self._longest = max(usual, longest)
        self._randomness = randomness
        self._ceiling = 0.0
        self.reset()

    def reset(self) -> None:
        """Look as often as usual again."""
        # Twice the usual, because a lot drawn evenly is half of it on average.
        self._ceiling = min(2 * self._usual, self._longest)

    def next_wait(self, poll: Poll | None, *, is_hungry: bool, is_busy: bool) -> float:
        """Give the pause after a look; 0 asks to look again at once.

        Args:
            poll: how the look went; None when there was none.
            is_hungry: more tasks could be worked on than wait.
            is_busy: tasks are being worked on.
        """
        if poll is not None and poll.productive:
            self.reset()
            return 0.0 if is_hungry else self._drawn()
        if poll is not None and poll.retry_in is not None:
            return poll.retry_in
        if is_busy:
            self.reset()
        wait = self._drawn()
        self._ceiling = min(2 * self._ceiling, self._longest)
        return wait

    def _drawn(self) -> float:
        """Draw a pause evenly up to the ceiling: full jitter."""
        shortest = SHORTEST_SHARE * self._usual
        return self._randomness.uniform(shortest, self._ceiling)


SLACK_SECONDS = 5.0
"""How much later than scheduled a loop wakes by itself, should the scheduler, which
reads the wall clock, be stalled by a clock that was set back."""


class DiscoverLoop:
    """Looks for tasks: at an interval with jitter, at once while that gives work."""

    def __init__(
        self,
        *,
        components: Components,
        schedule: Schedule,
        every: ScheduleSettings,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._components = components
        self._schedule = schedule
        self._clock = clock
        self._pace = Pace(
            usual=every.discover_every_seconds,
            longest=every.discover_max_seconds,
            randomness=randomness,
        )
        self._wakeup = Wakeup()
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
            self._schedule.after("discover", wait, self._wakeup.notify)
            await self._wakeup.wait(wait + SLACK_SECONDS)

    async def look(self) -> Poll | None:
        """Look once; None while nothing new may be claimed."""
        self.looked_at = self._clock.monotonic()
        self._components.disk.look()
        if self._components.gate.obstacle:
            return None
        poll = await self._components.discover.look()
        self._was_productive = poll.productive
        self._components.worker.wakeup.notify()
        return poll

    def wake(self) -> None:
        """Look now, however long the pause was meant to be."""
        self._pace.reset()
        self._wakeup.notify()

    def feed(self) -> None:
        """Look again soon, if the last look gave work and more could be done."""
        if self._was_productive and self._components.worker.is_hungry:
            self._wakeup.notify()

    def _next_wait(self, poll: Poll | None) -> float:
        # While nothing may be sent the next look is the probe: it must not be late.
        stopped = self._components.gate.suspended_for
        if stopped:
            return stopped
        worker = self._components.worker
        return self._pace.next_wait(
            poll, is_hungry=worker.is_hungry, is_busy=bool(worker.in_flight)
        )


class Heartbeat:
    """Says now and then that all is well, or why nothing is done."""

    def __init__(
        self, agent: Agent, components: Components, clock: Clock, log: Log
    ) -> None:
        self._agent = agent
        self._components = components
        self._clock = clock
        self._log = log
        self._started = clock.monotonic()

    @property
    def up_seconds(self) -> float:
        """How long this run lasts."""
        return self._clock.monotonic() - self._started

    def beat(self) -> None:
        """Write one line."""
        journal, progress = self._agent.journal, self._components.worker.progress
        tally = self._components.discover.tally
        self._log.emit(
            events.HEARTBEAT,
            up_seconds=round(self.up_seconds),
            obstacle=self._components.gate.obstacle,
            balance=journal.ledger.balance(),
            in_flight=self._components.worker.in_flight,
            waiting=journal.tasks.count_in({TaskState.WANTED}),
            listed=tally.listed,
            wanted=tally.wanted,
            completed=progress.completed,
            ended=progress.ended,
            lost=progress.lost,
            polls=tally.polls,
            failed_polls=tally.failed_polls,
            skipped_because=dict(tally.reasons.most_common(3)),
            quarantined=sorted(self._components.lifecycle.quarantine.obstacles()),
        )


async def repeat(
    schedule: Schedule,
    name: str,
    seconds: float,
    action: Callable[[], Awaitable[None] | None],
) -> None:
    """Do something at an interval, for ever; cancel to stop."""
    wakeup = Wakeup()
    schedule.every(name, seconds, wakeup.notify)
    while True:
        await wakeup.wait(seconds + SLACK_SECONDS)
        done = action()
        if done is not None:
            await done
