"""Crash points: which of them kill the daemon, and which tell it to stop."""

from collections.abc import Callable
from enum import Enum, auto

from journeyman.simulation.clock import seeded
from journeyman.simulation.plan import Plan
from journeyman.simulation.trace import Trace

SOON = 24
"""Of its first points, one ends a life in a crash loop."""


class Fate(Enum):
    """What happens at a point."""

    #: Nothing.
    LIVE = auto()
    #: The daemon is told to stop, as by SIGTERM, and goes on until it has.
    STOP = auto()
    #: It is killed, as by SIGKILL.
    KILL = auto()


class CrashPoints:
    """Counts the points of a run, over all lives, and decides about each."""

    def __init__(self, plan: Plan, trace: Trace, seconds: Callable[[], float]) -> None:
        self._plan = plan
        self._trace = trace
        self._seconds = seconds
        self._kill_chance = seeded(plan.seed, "kills")
        self._stop_chance = seeded(plan.seed, "stops")
        self._loop_chance = seeded(plan.seed, "crash loop")
        self._fatal = 0
        """The point at which a life of a crash loop ends."""
        self._spots = 0
        self.passed = 0
        """How many there were: the last one's number."""
        self.stops = 0
        """At how many the daemon was told to stop."""
        self.loop_kills = 0
        """At how many it was killed because it is in a crash loop."""

    def begin(self, life: int) -> None:
        """Begin a life; 1 is the first."""
        is_in_loop = life <= self._plan.crash_loop
        soon = self._loop_chance.randint(1, SOON)
        self._fatal = self.passed + soon if is_in_loop else 0

    def decide(self, kind: str, about: str) -> Fate:
        """Count a point, and say what happens there."""
        self.passed += 1
        plan = self._plan
        if self.passed in plan.kill_at or self._is_the_spot(kind, about):
            self._trace.add("kill", point=self.passed, kind=kind, about=about)
            return Fate.KILL
        if self.passed == self._fatal:
            self.loop_kills += 1
            return Fate.KILL
        is_calm = self._seconds() >= plan.fault_seconds
        if not is_calm and self._kill_chance.random() < plan.kill_rate:
            return Fate.KILL
        stops_by_chance = self._stop_chance.random() < plan.stop_rate and not is_calm
        if self.passed in plan.stop_at or stops_by_chance:
            self._trace.add("told to stop", point=self.passed, kind=kind, about=about)
            self.stops += 1
            return Fate.STOP
        return Fate.LIVE

    def _is_the_spot(self, kind: str, about: str) -> bool:
        spot = self._plan.kill_on
        if spot is None or spot.kind != kind or spot.about not in about:
            return False
        self._spots += 1
        return self._spots == spot.number
