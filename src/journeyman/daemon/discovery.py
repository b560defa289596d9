"""The discover loop: when the network is asked for tasks again, with jitter."""

from dataclasses import dataclass, field

from journeyman.daemon.disk import DiskWatch
from journeyman.daemon.schedule import SLACK_SECONDS, Schedule
from journeyman.domain.clock import Clock, Randomness
from journeyman.lifecycle.gate import Gate
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.worker.discover import Discover, Poll
from journeyman.worker.worker import Worker

SHORTEST_SHARE = 0.1
"""Of the usual pause: no two idle looks come closer together."""


@dataclass(kw_only=True, eq=False)
class Pace:
    """Draws the pauses between two looks; all times in seconds."""

    usual: float
    """The mean while busy."""
    longest: float
    randomness: Randomness
    _ceiling: float = field(init=False)

    def __post_init__(self) -> None:
        self.longest = max(self.usual, self.longest)
        self.reset()

    def reset(self) -> None:
        """Look as often as usual again."""
        # Twice the usual, because an even draw is half of it on average.
        self._ceiling = min(2 * self.usual, self.longest)

    def next_wait(self, poll: Poll | None, *, has_room: bool, is_busy: bool) -> float:
        """Return the pause after a look; 0 asks to look again at once.

        Args:
            poll: how the look went; None when there was none.
            has_room: more tasks could be worked on than wait.
            is_busy: tasks are being worked on.
        """
        if poll is not None and poll.productive:
            self.reset()
            return 0.0 if has_room else self._drawn()
        if poll is not None and poll.retry_in is not None:
            return poll.retry_in
        if is_busy:
            self.reset()
        wait = self._drawn()
        if poll is not None and poll.more_in is not None:
            # What is left to read may hold work; the rate limiter sets the pace.
            return min(wait, max(poll.more_in, self._shortest))
        self._ceiling = min(2 * self._ceiling, self.longest)
        return wait

    def _drawn(self) -> float:
        """Draw a pause evenly up to the ceiling: full jitter."""
        return self.randomness.uniform(self._shortest, self._ceiling)

    @property
    def _shortest(self) -> float:
        return SHORTEST_SHARE * self.usual


@dataclass(kw_only=True, eq=False)
class DiscoverLoop:
    """Looks for tasks: at an interval with jitter, at once while that gives work."""

    discover: Discover
    worker: Worker
    gate: Gate
    disk: DiskWatch
    schedule: Schedule
    pace: Pace
    clock: Clock
    looked_at: float = field(init=False)
    """When it last looked, on the monotonic clock."""
    next_look_at: float = field(init=False)
    """When it means to look again; much later than that, it must be stuck."""
    _wakeup: Wakeup = field(init=False, default_factory=Wakeup)
    _may_have_more: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.looked_at = self.next_look_at = self.clock.monotonic()

    async def run(self) -> None:
        """Look forever; cancel to stop."""
        while True:
            wait = self._next_wait(await self.look())
            if not wait:
                continue
            self.next_look_at = self.clock.monotonic() + wait
            self.schedule.after("discover", wait, self._wakeup.notify)
            await self._wakeup.wait(wait + SLACK_SECONDS)

    async def look(self) -> Poll | None:
        """Look once; None while nothing new may be claimed."""
        self.looked_at = self.clock.monotonic()
        self.disk.look()
        if self.gate.obstacle:
            return None
        poll = await self.discover.look(has_room=self.worker.has_room)
        # What is claimed makes room on the first pages for what no look has seen.
        self._may_have_more = poll.productive or (
            self._may_have_more and self.worker.in_flight > 0
        )
        self.worker.wakeup.notify()
        return poll

    def wake(self) -> None:
        """Look now, however long the pause was meant to be."""
        self.pace.reset()
        self._wakeup.notify()

    def feed(self) -> None:
        """Look again soon, if a look gave work and more could be done.

        Also when a claim has told what a state means, so that more tasks are open.
        """
        is_worth_it = self._may_have_more or self.discover.select.has_answers
        if is_worth_it and self.worker.has_room:
            self._wakeup.notify()

    def _next_wait(self, poll: Poll | None) -> float:
        # While nothing may be sent the next look is the probe: it must not be late.
        stopped = self.gate.suspended_for
        if stopped:
            return stopped
        worker = self.worker
        return self.pace.next_wait(
            poll, has_room=worker.has_room, is_busy=bool(worker.in_flight)
        )
