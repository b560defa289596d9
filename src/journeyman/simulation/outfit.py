"""What a daemon is handed in simulation, and what is heard of it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from journeyman.console import Desk
from journeyman.daemon.agent import World
from journeyman.observability import Log
from journeyman.observability.redaction import Redactor
from journeyman.settings import (
    NetworkSettings,
    ScheduleSettings,
    Settings,
    WorkSettings,
)
from journeyman.simulation.agenda import Agenda
from journeyman.simulation.clock import SeededRandomness, seeded
from journeyman.simulation.findings import Findings
from journeyman.simulation.owner import Owner
from journeyman.simulation.plan import Plan
from journeyman.simulation.process import Process
from journeyman.simulation.server import SimulatedNetwork
from journeyman.simulation.timeline import Timeline
from journeyman.simulation.trace import OF_THE_MACHINE, Trace, TraceLog
from journeyman.simulation.transport import SimulatedTransport
from journeyman.simulation.watch import HOST, Watch
from journeyman.simulation.weather import Weather

BASE_URL = f"http://{HOST}"
BUG_EVENT = "task.bug"
"""The log event of a bug of ours."""
WORK_EVENT = "strategy.log"
"""The log event by which a simulated strategy says that it works."""
AMPLE_BYTES = 1 << 40
"""Of free disk: a run must not depend on the machine's own."""


def settings_for(plan: Plan, directory: Path) -> Settings:
    """Give the settings of a simulated daemon: the defaults, but for what is named."""
    usual = _usual_settings(plan.slots)
    data = usual.data.model_copy(update={"directory": directory})
    return usual.model_copy(update={"data": data})


@cache
def _usual_settings(slots: int) -> Settings:
    """Read the defaults once: each life needs them, and reading them is slow."""
    return Settings(
        network=NetworkSettings(base_url=BASE_URL),
        work=WorkSettings(slots=slots),
        # A second guard: the worker looks by itself whether something is due, when its
        # wait is over and at least twice a minute (docs/decisions/0024).
        schedule=ScheduleSettings(deliver_every_seconds=300),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Outfitter:
    """Fits out one life after the other."""

    plan: Plan
    timeline: Timeline
    trace: Trace
    findings: Findings
    watch: Watch
    weather: Weather
    network: SimulatedNetwork
    agenda: Agenda
    owner: Owner

    def world_for(self, process: Process) -> World:
        """Give a life everything that simulation replaces."""
        redactor = Redactor()

        def write(event: str, fields: dict[str, Any]) -> None:
            if process.is_alive:
                self._hear(event, fields, redactor)

        return World(
            clock=self.timeline.clock,
            randomness=SeededRandomness(self.plan.seed, "life", process.number),
            log=TraceLog(write),
            redactor=redactor,
            transport=self._transport_for(process),
            open_journal=process.open_journal,
            save_identity=process.save_identity,
            serve_control=self._serve_owner,
            free_bytes=lambda _path: AMPLE_BYTES,
            block_limit=None,
            has_processes=False,
        )

    def _transport_for(self, process: Process) -> SimulatedTransport:
        return SimulatedTransport(
            process=process,
            weather=self.weather,
            watch=self.watch,
            handle=self.network.handle,
            call_later=self._call_later,
            suspended=lambda: self.timeline.suspended,
            random=seeded(self.plan.seed, "travel", process.number),
        )

    async def _serve_owner(self, _path: Path, desk: Desk, _log: Log) -> None:
        await self.owner.serve(desk, lambda: self.timeline.seconds)

    def _call_later(self, delay: float, act: Callable[[], object]) -> None:
        self.agenda.appoint(self.timeline.seconds + delay, act)

    def _hear(self, event: str, fields: dict[str, Any], redactor: Redactor) -> None:
        told = {name: v for name, v in fields.items() if name not in OF_THE_MACHINE}
        self.trace.add(event, **told)
        if token := self.watch.token:
            is_told = token in str(fields)
            text = str(redactor.clean_record(fields)) if is_told else ""
            message = f"the token is in the log event {event}"
            self._check("I-16", message, holds=token not in text)
        if event == WORK_EVENT:
            self.watch.worked(str(fields["task_id"]))
        if event == BUG_EVENT:
            bug = f"a bug of ours: {fields.get('traceback')}"
            self._check("I-17", bug, holds=False)

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self.findings.check(invariant, self.timeline.seconds, message, holds=holds)
