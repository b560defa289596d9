"""What a strategy is given beside its task: its log, its folder, the figures."""

import hashlib
import json
import shutil
from collections import deque
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.credits import millionths_of
from journeyman.domain.errors import StateError
from journeyman.domain.tasks import JSON, TaskId
from journeyman.economy.bookkeeping import book_cost, cost_today
from journeyman.economy.budget import Limits, standing
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle.events import (
    COST_BOOKED,
    COST_WAITS,
    STRATEGY_DEBUG,
    STRATEGY_SAID,
    STRATEGY_WARNED,
)
from journeyman.observability.events import Event, Log
from journeyman.strategies.api.context import BudgetView, Context

LONGEST_NOTE: Final = 200
"""Characters of a note that are kept."""

_Entry = tuple[str, int, str, str, str]
"""A key, millionths of a credit, the strategy, the task, the note."""


class Costs:
    """Books what strategies report by `ctx.report_cost`.

    A cost that a full disk refuses is kept, and booked together with the next one.
    """

    def __init__(
        self, *, journal: Journal, clock: Clock, randomness: Randomness, log: Log
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._randomness = randomness
        self._log = log
        self._waiting: deque[_Entry] = deque()

    def book(self, strategy: str, subject: str, credits_: float, note: str) -> None:
        """Book a cost in credits; `subject` is the task that it arose from, if any."""
        if credits_ == 0:
            return
        key, note = self._randomness.new_id("cost"), note[:LONGEST_NOTE]
        entry = (key, millionths_of(credits_), strategy, subject, note)
        self._waiting.append(entry)
        about = {"task_id": subject or None, "strategy": strategy, "credits": credits_}
        try:
            self._write()
        except StateError as error:
            self._log.emit(COST_WAITS, **about, error=str(error))
        else:
            self._log.emit(COST_BOOKED, **about, note=note)

    def today(self, strategy: str) -> float:
        """Give what a strategy has cost today (UTC), in credits."""
        return cost_today(self._journal.ledger, strategy, self._clock.now())

    def _write(self) -> None:
        with self._journal.tx("cost of a strategy"):
            for key, cost, strategy, subject, note in self._waiting:
                book_cost(
                    self._journal.ledger,
                    *(key, cost),
                    strategy=strategy,
                    subject=subject,
                    note=note,
                )
        self._waiting.clear()


class DaemonStrategyLog:
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


class StrategyContexts:
    """Makes contexts from the journal, the limits and the data directory."""

    def __init__(
        self,
        *,
        journal: Journal,
        limits: Limits,
        workspaces: Path,
        clock: Clock,
        randomness: Randomness,
        log: Log,
    ) -> None:
        self._journal = journal
        self._limits = limits
        self._workspaces = workspaces
        self._clock = clock
        self._randomness = randomness
        self._log = log
        self._costs = Costs(
            journal=journal, clock=clock, randomness=randomness, log=log
        )

    def context(self, record: TaskRecord, state: dict[str, JSON]) -> Context:
        """Give the context of one run."""
        log = self._log.bind(task_id=record.task_id, strategy=record.strategy)
        folder, deadline = self._folder(record.task_id), record.task.deadline
        book = partial(self._costs.book, record.strategy, record.task_id)
        return self._context(record.strategy, log, state, folder, deadline, book)

    def hook_context(
        self,
        strategy: str,
        state: dict[str, JSON],
        number: int,
        task_id: TaskId | None = None,
    ) -> Context:
        """Give the context of one call of a hook; `number` tells it from all others."""
        log = self._log.bind(task_id=task_id, strategy=strategy)
        folder = self._hook_folder(number)
        book = partial(self._costs.book, strategy, task_id or "")
        return self._context(strategy, log, state, folder, None, book)

    def clean_up(self, record: TaskRecord) -> None:
        """Remove the workspace of a run that ended."""
        shutil.rmtree(self._folder(record.task_id), ignore_errors=True)

    def clean_up_hook(self, number: int) -> None:
        """Remove the workspace of a call that ended."""
        shutil.rmtree(self._hook_folder(number), ignore_errors=True)

    def _context(
        self,
        strategy: str,
        log: Log,
        state: dict[str, JSON],
        folder: Path,
        deadline: datetime | None,
        book: Callable[[float, str], None],
    ) -> Context:
        strategy_log = DaemonStrategyLog(log)
        return Context(
            strategy=strategy,
            log=strategy_log,
            state=state,
            now=self._clock.now,
            deadline=deadline,
            workspace=partial(_make_anew, folder),
            progress=lambda fraction, note: strategy_log.debug(
                "progress",
                fraction=fraction,
                note=note,
            ),
            budget=self._budget(strategy),
            cancelled=lambda: False,
            canary=self._randomness.new_id("canary"),
            cost=book,
        )

    def _budget(self, strategy: str) -> BudgetView:
        now = standing(self._journal, self._clock.now())
        spendable = min(
            now.available - self._limits.reserve_credits,
            self._limits.per_day_credits - now.spent_today,
        )
        return BudgetView(
            balance=now.balance,
            spendable=max(0, spendable),
            spent_today=now.spent_today,
            cost_today=self._costs.today(strategy),
        )

    def _folder(self, task_id: TaskId) -> Path:
        # Hashed: a task id is the network's text and must not name a path.
        name = hashlib.blake2b(task_id.encode(), digest_size=12).hexdigest()
        return self._workspaces / name

    def _hook_folder(self, number: int) -> Path:
        return self._workspaces / f"hook-{number}"


def _make_anew(folder: Path) -> Path:
    # What an interrupted run left must not be taken for this run's work.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    return folder


class StrategyMemory:
    """One living state for each strategy, shared by its runs, saved when it changes."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._states: dict[str, dict[str, JSON]] = {}
        self._saved: dict[str, str] = {}

    def of(self, strategy: str) -> dict[str, JSON]:
        """Give the state; the same object each time, so that no run undoes another."""
        if strategy not in self._states:
            state = self._journal.strategy_states.get(strategy)
            self._states[strategy] = state
            self._saved[strategy] = json.dumps(state)
        return self._states[strategy]

    def fault(self, strategy: str) -> str:
        """Say why a state cannot be saved, and go back to the saved one; else empty."""
        try:
            json.dumps(self.of(strategy), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            del self._states[strategy]
            return f"ctx.state holds what JSON cannot say: {error}"
        return ""

    def has_changed(self, strategy: str) -> bool:
        """Tell whether `save` would write anything."""
        return json.dumps(self.of(strategy)) != self._saved[strategy]

    def save(self, strategy: str) -> None:
        """Write a state that has changed, inside a transaction."""
        written = json.dumps(self.of(strategy))
        if written != self._saved[strategy]:
            self._journal.strategy_states.put(strategy, self._states[strategy])
            self._saved[strategy] = written
