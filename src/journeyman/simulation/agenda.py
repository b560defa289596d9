"""What happens at which time, whether the daemon lives then or not."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from journeyman.simulation.loop import SimulationLoop

Act = Callable[[], object]


@dataclass(slots=True)
class _Appointment:
    at: float
    act: Act
    handle: asyncio.TimerHandle | None = None


class Agenda:
    """Appointments that outlive the event loop on which they are waited for."""

    def __init__(self) -> None:
        self._open: dict[int, _Appointment] = {}
        self._made = 0
        self._loop: SimulationLoop | None = None

    def appoint(self, at: float, act: Act) -> None:
        """Do something at a time, in simulated seconds; now if that has passed."""
        self._made += 1
        self._open[self._made] = _Appointment(at, act)
        if self._loop is not None:
            self._wait_for(self._made, self._loop)

    def attach(self, loop: SimulationLoop) -> None:
        """Wait for all that is open on this loop."""
        self._loop = loop
        for number in self._open:
            self._wait_for(number, loop)

    def detach(self) -> None:
        """Wait for nothing, until another loop is attached."""
        self._loop = None
        for appointment in self._open.values():
            if appointment.handle is not None:
                appointment.handle.cancel()

    def _wait_for(self, number: int, loop: SimulationLoop) -> None:
        appointment = self._open[number]
        at = max(appointment.at, loop.time())
        appointment.handle = loop.call_at(at, self._keep, number)

    def _keep(self, number: int) -> None:
        # Taken out first: an act may kill the daemon, and is not done twice.
        self._open.pop(number).act()
