"""What a strategy is given beside its task: log, state, workspace and budget."""

import hashlib
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.credits import millionths_of
from journeyman.domain.errors import StateError
from journeyman.domain.tasks import JSON, TaskId
from journeyman.economy.bookkeeping import book_cost, cost_today
from journeyman.economy.budget import Limits, spendable, usage
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle import events
from journeyman.observability.events import Log
from journeyman.strategies.api.context import (
    TRANSCRIPT,
    BudgetView,
    Context,
    StrategyLog,
)
from journeyman.strategies.child.metadata import remove_folder

LONGEST_NOTE = 200
"""Characters of a note that are kept."""

_Entry = tuple[str, int, str, str, str]
"""A key, millionths of a credit, the strategy, the task, the note."""


@dataclass(kw_only=True, eq=False)
class Costs:
    """Books what strategies report by `ctx.report_cost`.

    A cost that a full disk refuses is kept, and booked together with the next one.
    """

    journal: Journal
    clock: Clock
    randomness: Randomness
    log: Log
    _waiting: deque[_Entry] = field(init=False, default_factory=deque)

    def book(self, strategy: str, subject: str, credits_: float, note: str) -> None:
        """Book a cost in credits; `subject` is the task that it arose from, if any."""
        if credits_ == 0:
            return
        key, note = self.randomness.new_id("cost"), note[:LONGEST_NOTE]
        entry = (key, millionths_of(credits_), strategy, subject, note)
        self._waiting.append(entry)
        about = {"task_id": subject or None, "strategy": strategy, "credits": credits_}
        try:
            self._write()
        except StateError as error:
            self.log.emit(events.COST_WAITS, **about, error=str(error))
        else:
            self.log.emit(events.COST_BOOKED, **about, note=note)

    def _write(self) -> None:
        with self.journal.tx("cost of a strategy"):
            for key, cost, strategy, subject, note in self._waiting:
                book_cost(
                    self.journal.ledger,
                    *(key, cost),
                    strategy=strategy,
                    subject=subject,
                    note=note,
                )
        self._waiting.clear()


class DaemonStrategyLog(StrategyLog):
    """A strategy author's log, as events in the daemon's log."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def write(self, level: str, event: str, fields: dict[str, object]) -> None:
        """Emit one line; an error of the author's is a warning of the daemon's."""
        if level == TRANSCRIPT:
            said = str(fields.get("said", ""))
            self._log.emit(events.STRATEGY_TRANSCRIPT, role=str(event), said=said)
            return
        kinds = {"debug": events.STRATEGY_DEBUG, "info": events.STRATEGY_SAID}
        kind = kinds.get(level, events.STRATEGY_WARNED)
        self._log.emit(kind, severity=level, message=str(event), details=fields)


@dataclass(kw_only=True, eq=False)
class StrategyContexts:
    """Makes contexts from the journal, the limits and the data directory."""

    journal: Journal
    limits: Limits
    workspaces: Path
    clock: Clock
    randomness: Randomness
    log: Log
    _costs: Costs = field(init=False)
    _made: set[Path] = field(init=False, default_factory=set)
    """The workspaces that are there, those that a killed daemon left included."""

    def __post_init__(self) -> None:
        with suppress(OSError):  # there is no folder of them yet
            self._made.update(self.workspaces.iterdir())
        self._costs = Costs(
            journal=self.journal,
            clock=self.clock,
            randomness=self.randomness,
            log=self.log,
        )

    def context(self, record: TaskRecord, state: dict[str, JSON]) -> Context:
        """Return the context of one run."""
        task_id, deadline = record.task_id, record.task.deadline
        folder = partial(self._folder, task_id)
        return self._context(record.strategy, task_id, state, folder, deadline)

    def hook_context(
        self,
        strategy: str,
        state: dict[str, JSON],
        number: int,
        task_id: TaskId | None = None,
    ) -> Context:
        """Return the context of one call of a hook; each call has its own `number`."""
        folder = partial(self._hook_folder, number)
        context = self._context(strategy, task_id, state, folder)
        _ = context.budget  # Now: a hook may run in a thread, which has no journal.
        return context

    def clean_up(self, record: TaskRecord) -> None:
        """Remove the workspace of a run that ended, if there is one."""
        if self._made:  # most strategies ask for none
            self._remove(self._folder(record.task_id))

    def clean_up_hook(self, number: int) -> None:
        """Remove the workspace of a call that ended, if there is one."""
        if self._made:
            self._remove(self._hook_folder(number))

    def _remove(self, folder: Path) -> None:
        if folder in self._made:
            self._made.discard(folder)
            remove_folder(folder)

    def _context(
        self,
        strategy: str,
        task_id: TaskId | None,
        state: dict[str, JSON],
        folder: Callable[[], Path],
        deadline: datetime | None = None,
    ) -> Context:
        log = DaemonStrategyLog(self.log.bind(task_id=task_id, strategy=strategy))
        return Context(
            strategy=strategy,
            log=log,
            state=state,
            now=self.clock.now,
            deadline=deadline,
            workspace=partial(self._make_anew, folder),
            progress=lambda fraction, note: log.debug(
                "progress", fraction=fraction, note=note
            ),
            budget=partial(self._budget, strategy),
            cancelled=lambda: False,
            canary=self.randomness.new_id("canary"),
            cost=partial(self._costs.book, strategy, task_id or ""),
        )

    def _budget(self, strategy: str) -> BudgetView:
        limits, now = self.limits, self.clock.now()
        at = usage(self.journal, now, limits.zone)
        return BudgetView(
            balance=at.balance,
            spendable=spendable(limits, self.journal, now, strategy),
            spent_today=at.spent_today,
            cost_today=cost_today(self.journal.ledger, strategy, now, limits.zone),
            time_zone=str(limits.zone),
        )

    def _make_anew(self, place: Callable[[], Path]) -> Path:
        folder = place()
        self._made.add(folder)
        # What an interrupted run left must not be taken for this run's work.
        remove_folder(folder)
        folder.mkdir(parents=True, mode=0o700)
        return folder

    def _folder(self, task_id: TaskId) -> Path:
        # Hashed: a task id is the network's text and must not name a path.
        name = hashlib.blake2b(task_id.encode(), digest_size=12).hexdigest()
        return self.workspaces / name

    def _hook_folder(self, number: int) -> Path:
        return self.workspaces / f"hook-{number}"


@dataclass(eq=False)
class StrategyMemory:
    """The state of each strategy: shared by its runs, saved when it changes."""

    journal: Journal
    _states: dict[str, dict[str, JSON]] = field(init=False, default_factory=dict)
    _saved: dict[str, str] = field(init=False, default_factory=dict)
    """As JSON; what is missing is written with the next step."""

    def __post_init__(self) -> None:
        self.journal.database.after_rollback(self._saved.clear)

    def of(self, strategy: str) -> dict[str, JSON]:
        """Return the state: the same object each time, so no run undoes another."""
        if strategy not in self._states:
            state = self.journal.strategy_states.get(strategy)
            self._states[strategy] = state
            self._saved[strategy] = json.dumps(state)
        return self._states[strategy]

    def fault(self, strategy: str) -> str:
        """Return why a state cannot be saved, and restore the saved one; else empty."""
        try:
            json.dumps(self.of(strategy), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            del self._states[strategy]
            return f"ctx.state cannot be written as JSON: {error}"
        return ""

    def has_changed(self, strategy: str) -> bool:
        """Return whether `save` would write anything."""
        return json.dumps(self.of(strategy)) != self._saved.get(strategy)

    def save(self, strategy: str) -> None:
        """Write a state that has changed, inside a transaction."""
        written = json.dumps(self.of(strategy))
        if written != self._saved.get(strategy):
            self.journal.strategy_states.put(strategy, self._states[strategy])
            self._saved[strategy] = written
