"""The time of a world: one line through all lives, and a wall clock that can be set."""

from journeyman.simulation.clock import SimulatedClock
from journeyman.simulation.loop import SimulationLoop


class Timeline:
    """Knows what time it is, whichever event loop carries it at the moment."""

    def __init__(self, drift: float = 0.0) -> None:
        """Begin; `drift` is the share by which the wall clock runs too fast."""
        self.loop = SimulationLoop()
        self.clock = SimulatedClock(lambda: self.seconds, self._lead)
        self._drift = drift
        self._was_set_by = 0.0
        """Seconds by which the daemon's wall clock was set forward, in all."""
        self.suspended = 0.0
        """For how long the daemon's machine was suspended, in seconds."""

    @property
    def seconds(self) -> float:
        """Simulated seconds since the beginning."""
        return self.loop.time()

    @property
    def network_seconds(self) -> float:
        """The same on the network's machine, which is never suspended."""
        return self.seconds + self.suspended

    def _lead(self) -> float:
        """By how much the daemon's wall clock is ahead of its monotonic one."""
        return self._was_set_by + self._drift * self.seconds

    def set_wall_clock(self, by: float) -> None:
        """Set the daemon's wall clock forward, or back where `by` is negative."""
        self._was_set_by += by

    def suspend(self, seconds: float) -> None:
        """Let the daemon's machine sleep: its monotonic clock stands, all else goes on.

        As Linux does it: CLOCK_MONOTONIC does not count the time of a suspension.
        """
        self.suspended += seconds
        self._was_set_by += seconds

    def next_loop(self) -> SimulationLoop:
        """Go on with a new event loop, at the same moment; gives the one before it.

        A life that was killed is wound up on its old loop, whose time runs on by
        itself and is nobody's any more.
        """
        before, self.loop = self.loop, SimulationLoop(self.seconds)
        return before
