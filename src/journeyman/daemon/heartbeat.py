"""The heartbeat: what was seen, wanted and done since the last, and why not more."""

from dataclasses import dataclass

from journeyman.daemon import events
from journeyman.domain.clock import Clock
from journeyman.domain.tasks import TaskState
from journeyman.journal.journal import Journal
from journeyman.lifecycle.gate import Gate
from journeyman.lifecycle.lifecycle import Lifecycle
from journeyman.observability.events import Log
from journeyman.worker.discover import Discover
from journeyman.worker.worker import Worker


@dataclass(kw_only=True, eq=False)
class Heartbeat:
    """Logs now and then that all is well, or why nothing is done."""

    journal: Journal
    lifecycle: Lifecycle
    discover: Discover
    worker: Worker
    gate: Gate
    started: float
    """When the daemon started, on the monotonic clock."""
    clock: Clock
    log: Log

    @property
    def up_seconds(self) -> float:
        """How long this run lasts."""
        return self.clock.monotonic() - self.started

    def beat(self) -> None:
        """Write one line."""
        progress, tally = self.worker.progress, self.discover.tally
        quarantine = self.lifecycle.quarantine
        disabled = quarantine.disabled().keys()
        self.log.emit(
            events.HEARTBEAT,
            up_seconds=round(self.up_seconds),
            obstacle=self.gate.obstacle,
            balance=self.journal.ledger.balance(),
            in_flight=self.worker.in_flight,
            waiting=self.journal.tasks.count_in({TaskState.WANTED}),
            listed=tally.listed,
            wanted=tally.wanted,
            completed=progress.completed,
            ended=progress.ended,
            lost=progress.lost,
            polls=tally.polls,
            failed_polls=tally.failed_polls,
            skipped_because=dict(tally.reasons.most_common(3)),
            quarantined=sorted(quarantine.obstacles.keys() - disabled),
            disabled=sorted(disabled),
        )
