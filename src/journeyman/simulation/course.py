"""The course of the world: what happens to a daemon from outside, and when."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from journeyman.sandbox.rivals import Rival
from journeyman.simulation.agenda import Agenda
from journeyman.simulation.clock import seeded
from journeyman.simulation.plan import Plan
from journeyman.simulation.server import SimulatedNetwork
from journeyman.simulation.timeline import Timeline
from journeyman.simulation.trace import Trace
from journeyman.simulation.watch import Watch

LOOK_SECONDS = 60.0
"""How often a calm world looks whether all is done."""
LAST_SECONDS = 120.0
"""How long the daemon has to stop at the very end."""
RIVAL_PAUSE = (60.0, 900.0)
"""Seconds between two steps of a rival."""
TICKS = 200
"""How often progress is told."""


class Host(Protocol):
    """Whoever lets the daemon live."""

    def kill(self) -> None:
        """Kill it, now."""
        ...

    def stop(self, reason: str) -> None:
        """Tell it to stop."""
        ...

    def is_all_done(self) -> bool:
        """Tell whether nothing is left to do."""
        ...

    def finish(self) -> None:
        """Let this life be the last."""
        ...

    def give_up(self) -> None:
        """End a life that does not end."""
        ...


class Course:
    """Makes the appointments that a plan names, and keeps them."""

    def __init__(
        self,
        *,
        plan: Plan,
        timeline: Timeline,
        agenda: Agenda,
        network: SimulatedNetwork,
        watch: Watch,
        trace: Trace,
        host: Host,
        on_progress: Callable[[float], None],
    ) -> None:
        self._plan = plan
        self._timeline = timeline
        self._agenda = agenda
        self._network = network
        self._watch = watch
        self._trace = trace
        self._host = host
        self._on_progress = on_progress
        self._chance = seeded(plan.seed, "course")

    def begin(self) -> None:
        """Make all appointments."""
        plan, appoint = self._plan, self._agenda.appoint
        for at in plan.kills:
            appoint(at, self._kill)
        for at in plan.stops:
            appoint(at, partial(self._host.stop, "told to"))
        for at, step in plan.steps:
            appoint(at, partial(self._set_clock, step))
        for at, seconds in plan.suspensions:
            appoint(at, partial(self._suspend, seconds))
        for task_id in self._network.made_tasks():
            at = self._chance.uniform(0, plan.release_seconds)
            self._network.release(task_id, at)
        for number in range(1, plan.rivals + 1):
            rival = self._network.add_rival(number)
            self._later(self._chance.uniform(*RIVAL_PAUSE), partial(self._let, rival))
        self._tick()
        appoint(plan.fault_seconds, self._look)

    def _later(self, seconds: float, act: Callable[[], object]) -> None:
        self._agenda.appoint(self._timeline.seconds + seconds, act)

    def _kill(self) -> None:
        self._trace.add("kill")
        self._host.kill()

    def _set_clock(self, step: float) -> None:
        self._timeline.set_wall_clock(step)
        self._watch.clock_was_set()
        self._trace.add("the clock is set", by=step)

    def _suspend(self, seconds: float) -> None:
        self._timeline.suspend(seconds)
        self._watch.clock_was_set()
        self._trace.add("the machine was suspended", seconds=seconds)

    def _let(self, rival: Rival) -> None:
        """Let a rival take a step, and another one later, until all is calm."""
        rival.step()
        if self._timeline.seconds < self._plan.fault_seconds:
            self._later(self._chance.uniform(*RIVAL_PAUSE), partial(self._let, rival))

    def _tick(self) -> None:
        self._on_progress(self._timeline.seconds)
        self._later(max(self._plan.end / TICKS, LOOK_SECONDS), self._tick)

    def _look(self) -> None:
        """End the run when all is done, or when its time is over."""
        if self._host.is_all_done() or self._timeline.seconds >= self._plan.end:
            self._watch.test_open_calls()
            self._host.finish()
            self._later(LAST_SECONDS, self._host.give_up)
        else:
            self._later(LOOK_SECONDS, self._look)
