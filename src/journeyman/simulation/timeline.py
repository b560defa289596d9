"""The time of a world: one line through all lives, and a wall clock that can be set."""

from journeyman.simulation.clock import SimulatedClock
from journeyman.simulation.loop import SimulationLoop


class Timeline:
    """Knows what time it is, whichever event loop carries it at the moment."""

    def __init__(self) -> None:
        self.loop = SimulationLoop()
        self.clock = SimulatedClock(lambda: self.seconds, lambda: self._wall_error)
        self._wall_error = 0.0

    @property
    def seconds(self) -> float:
        """Simulated seconds since the beginning."""
        return self.loop.time()

    def set_wall_clock(self, by: float) -> None:
        """Set the daemon's wall clock forward, or back where `by` is negative."""
        self._wall_error += by

    def next_loop(self) -> SimulationLoop:
        """Go on with a new event loop, at the same moment; gives the one before it.

        A life that was killed is wound up on its old loop, whose time runs on by
        itself and is nobody's any more.
        """
        before, self.loop = self.loop, SimulationLoop(self.seconds)
        return before
