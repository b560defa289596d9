"""What a strategy is given beside its task: its log, its folder, the figures."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from journeyman.daemon.events import STRATEGY_DEBUG, STRATEGY_SAID, STRATEGY_WARNED
from journeyman.domain import JSON, Clock
from journeyman.economy import Limits, standing
from journeyman.journal import Journal, TaskRecord
from journeyman.observability import Event, Log
from journeyman.strategies import BudgetView, Context


class StrategyLog:
    """A strategy author's log, as events of ours."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def debug(self, event: str, /, **fields: object) -> None:
        """Write for whoever looks for a fault."""
        self._emit(STRATEGY_DEBUG, "debug", event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        """Write what happened."""
        self._emit(STRATEGY_SAID, "info", event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        """Write what the owner should know."""
        self._emit(STRATEGY_WARNED, "warning", event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        """Write what went wrong."""
        self._emit(STRATEGY_WARNED, "error", event, fields)

    def _emit(
        self,
        kind: Event,
        level: str,
        message: str,
        fields: dict[str, object],
    ) -> None:
        self._log.emit(kind, severity=level, message=str(message), details=fields)


class DaemonSurroundings:
    """Makes contexts from the journal, the limits and the data directory."""

    def __init__(
        self,
        *,
        journal: Journal,
        limits: Limits,
        workspaces: Path,
        clock: Clock,
        log: Log,
    ) -> None:
        self._journal = journal
        self._limits = limits
        self._workspaces = workspaces
        self._clock = clock
        self._log = log

    def context(self, record: TaskRecord, state: dict[str, JSON]) -> Context:
        """Give the context of one run."""
        log = self._log.bind(task_id=record.task_id, strategy=record.strategy)
        strategy_log = StrategyLog(log)
        return Context(
            strategy=record.strategy,
            log=strategy_log,
            state=state,
            now=self._clock.now,
            deadline=record.task.deadline,
            workspace=self._workspace_maker(record),
            progress=lambda fraction, note: strategy_log.debug(
                "progress",
                fraction=fraction,
                note=note,
            ),
            budget=self._budget(),
            cancelled=lambda: False,
        )

    def clean_up(self, record: TaskRecord) -> None:
        """Remove the workspace of a run that ended."""
        shutil.rmtree(self._folder(record), ignore_errors=True)

    def _budget(self) -> BudgetView:
        now = standing(self._journal, self._clock.now())
        spendable = min(
            now.available - self._limits.reserve_credits,
            self._limits.per_day_credits - now.spent_today,
        )
        return BudgetView(
            balance=now.balance,
            spendable=max(0, spendable),
            spent_today=now.spent_today,
        )

    def _workspace_maker(self, record: TaskRecord) -> Callable[[], Path]:
        def make() -> Path:
            folder = self._folder(record)
            # What an interrupted run left must not be taken for this run's work.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True, mode=0o700)
            return folder

        return make

    def _folder(self, record: TaskRecord) -> Path:
        # Hashed: a task id is the network's text and must not name a path.
        name = hashlib.blake2b(record.task_id.encode(), digest_size=12).hexdigest()
        return self._workspaces / name
