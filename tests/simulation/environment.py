"""The settings and the environment of a simulated daemon."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.simulation.invariants import Checker
from tests.simulation.monitors import HOST, RequestMonitor
from tests.simulation.network import SimulatedNetwork
from tests.simulation.operator import Operator
from tests.simulation.plan import Plan
from tests.simulation.process import Process
from tests.simulation.trace import OF_THE_MACHINE, Trace, TraceLog
from tests.simulation.transport import FaultSchedule, SimulatedTransport
from tests.simulation.virtual_time import EventQueue, SeededRandomness, Timeline, seeded

from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.environment import Environment
from journeyman.observability.events import Log
from journeyman.observability.redaction import Redactor
from journeyman.settings.sections import (
    BudgetSettings,
    NetworkSettings,
    PackSettings,
    PostingSettings,
    ScheduleSettings,
    Settings,
    TopUpSettings,
    WorkSettings,
)

BASE_URL = f"http://{HOST}"


BUG_EVENTS = {"task.bug", "network.bug"}
"""The log events of bugs of the daemon."""


WORK_EVENT = "strategy.log"
"""The log event by which a simulated strategy reports that it works."""


AMPLE_BYTES = 1 << 40
"""Of free disk: a run must not depend on the machine's own."""


def settings_for(plan: Plan, directory: Path) -> Settings:
    """Return the settings of a simulated daemon: mostly the defaults."""
    usual = _usual_settings(plan.slots, plan.reserve_credits, plan.verifies_posts)
    data = usual.data.model_copy(update={"directory": directory})
    if plan.buys:
        seldom = dict.fromkeys(
            ("discover_max_seconds", "heartbeat_every_seconds"), HALF_HOUR
        )
        seldom["follow_every_seconds"] = 4 * HALF_HOUR
        schedule = usual.schedule.model_copy(update=seldom)
        usual = usual.model_copy(update={"topup": BUYING, "schedule": schedule})
    return usual.model_copy(update={"data": data})


HALF_HOUR = 1800.0
"""Between two looks at an idle market, and at what hinders. Posts that it does not show
are looked for every four of them: a month of simulated time
is to pass within minutes."""
BUYING = TopUpSettings(
    # Always short: the caps alone end it.
    mode="auto",
    below_credits=1_000_000,
    target_credits=0,
    packs={"price_custom": PackSettings(credits=200)},
)


@cache
def _usual_settings(
    slots: int,
    reserve_credits: int,
    verifies_posts: bool,  # noqa: FBT001 - a key of the cache
) -> Settings:
    """Read the defaults once: each process needs them, and reading them is slow."""
    return Settings(
        network=NetworkSettings(base_url=BASE_URL),
        work=WorkSettings(slots=slots),
        budget=BudgetSettings(reserve_credits=reserve_credits),
        posting=PostingSettings(verify_first=verifies_posts),
        # A second guard: the worker looks by itself whether something is due, when its
        # wait is over and at least twice a minute (docs/decisions/0024).
        schedule=ScheduleSettings(deliver_every_seconds=300),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentFactory:
    """Builds the environment of each process."""

    plan: Plan
    timeline: Timeline
    trace: Trace
    checker: Checker
    monitor: RequestMonitor
    fault_schedule: FaultSchedule
    network: SimulatedNetwork
    event_queue: EventQueue
    operator: Operator

    def create(self, process: Process) -> Environment:
        """Return what simulation replaces in a process."""
        redactor = Redactor()

        def write(event: str, fields: dict[str, Any]) -> None:
            if process.is_alive:
                self._log_event(event, fields, redactor)

        return Environment(
            clock=self.timeline.clock,
            randomness=SeededRandomness(self.plan.seed, "life", process.number),
            log=TraceLog(write),
            redactor=redactor,
            transport=self._transport_for(process),
            open_journal=process.open_journal,
            save_identity=process.save_identity,
            serve_control=self._serve_operator,
            free_bytes=lambda _path: AMPLE_BYTES,
            block_limit=None,
            has_processes=False,
        )

    def _transport_for(self, process: Process) -> SimulatedTransport:
        return SimulatedTransport(
            process=process,
            fault_schedule=self.fault_schedule,
            monitor=self.monitor,
            handle=self.network.handle,
            call_later=self._call_later,
            suspended=lambda: self.timeline.suspended,
            random=seeded(self.plan.seed, "travel", process.number),
        )

    async def _serve_operator(
        self, _path: Path, commands: OwnerCommands, _log: Log
    ) -> None:
        await self.operator.serve(commands, lambda: self.timeline.seconds)

    def _call_later(self, delay: float, act: Callable[[], object]) -> None:
        self.event_queue.schedule(self.timeline.seconds + delay, act)

    def _log_event(
        self, event: str, fields: dict[str, Any], redactor: Redactor
    ) -> None:
        kept = {name: v for name, v in fields.items() if name not in OF_THE_MACHINE}
        self.trace.add(event, **kept)
        if token := self.monitor.token:
            has_token = token in str(fields)
            text = str(redactor.clean_record(fields)) if has_token else ""
            message = f"the token is in the log event {event}"
            self._check("I-16", message, holds=token not in text)
        if event == WORK_EVENT:
            self.monitor.worked(str(fields["task_id"]))
        if event in BUG_EVENTS:
            bug = f"a bug: {fields.get('traceback')}"
            self._check("I-17", bug, holds=False)

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self.checker.check(invariant, self.timeline.seconds, message, holds=holds)
