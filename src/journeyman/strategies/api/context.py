"""What a strategy is given beside its task: no token, no client, no settings."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

MOST_COST = 1_000_000
"""Credits of one report: 10,000 US dollars. More is a mistake, and the sum of all that
was ever reported must stay a number that the journal can keep."""
MOST_COSTS = 1_000
"""Costs that one run may report; each is a commit to the disk."""


TRANSCRIPT = "transcript"
"""The level of what a model was told, and what it said."""


class StrategyLog(ABC):
    """A structured log: a constant event and its fields."""

    def debug(self, event: str, /, **fields: object) -> None:
        """Log what helps to find a fault."""
        self.write("debug", event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        """Log what happened."""
        self.write("info", event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        """Log what the owner should know."""
        self.write("warning", event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        """Log what went wrong."""
        self.write("error", event, fields)

    def transcript(self, role: str, said: str) -> None:
        """Keep what was said to or by a model; `journeyman why TASK` shows it.

        Args:
            role: who said it to whom, in a word, such as `told` or `answered`.
            said: the text; the log keeps its first 2,000 characters, without secrets.
        """
        self.write(TRANSCRIPT, role, {"said": said})

    @abstractmethod
    def write(self, level: str, event: str, fields: dict[str, object]) -> None:
        """Write one line; authors use the methods named after the levels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetView:
    """The owner's figures, in credits, as they were when the run first asked."""

    balance: int = 0
    spendable: int = 0
    """What may still be spent now, within every limit."""
    spent_today: int = 0
    cost_today: float = 0.0
    """What this strategy has cost outside of the network today, as it reported."""
    time_zone: str = "UTC"
    """In which a day begins and ends: the owner's `budget.time_zone`."""


class Context:
    """What one run can use. A strategy in a thread uses it from that thread."""

    def __init__(  # noqa: PLR0913 - each is one thing that a run can use
        self,
        *,
        strategy: str,
        log: StrategyLog,
        state: dict[str, Any],
        now: Callable[[], datetime],
        deadline: datetime | None,
        workspace: Callable[[], Path],
        progress: Callable[[float, str], object],
        budget: Callable[[], BudgetView],
        cancelled: Callable[[], bool],
        canary: str = "",
        cost: Callable[[float, str], object] | None = None,
    ) -> None:
        """Create a context, as only the daemon and tests do.

        Args:
            strategy: its name.
            log: already bound to the task and the strategy.
            state: the strategy's own persisted JSON.
            now: the wall clock, in UTC.
            deadline: when the network stops accepting the result, in UTC.
            workspace: makes a fresh folder; called on first use, once.
            progress: called with a fraction (0 to 1) and a note.
            budget: returns read-only figures; called on first use, once.
            cancelled: returns whether the daemon wants the run to stop.
            canary: words that no result may contain; see the attribute.
            cost: called with each cost in credits, and a note.
        """
        self.strategy = strategy
        self.log = log
        self.state = state
        self.deadline = deadline
        self.canary = canary
        """Random words of this run alone, to be put where nothing may leave from, such
        as a system prompt. A result that contains them is not sent: the task talked the
        strategy into revealing its instructions."""
        self._now = now
        self._read_budget = budget
        self._budget: BudgetView | None = None
        self._make_workspace = workspace
        self._workspace: Path | None = None
        self._progress = progress
        self._cost = cost
        self._cost_reports = 0
        self._asked_to_stop = cancelled
        self._is_over = False

    @property
    def now(self) -> datetime:
        """The wall clock, in UTC; simulated in tests."""
        return self._now()

    @property
    def today(self) -> date:
        """The owner's date: the day of `budget.spent_today` and `budget.cost_today`."""
        return self._now().astimezone(ZoneInfo(self.budget.time_zone)).date()

    @property
    def budget(self) -> BudgetView:
        """What may be spent, and has been; read when first asked for."""
        if self._budget is None:
            self._budget = self._read_budget()
        return self._budget

    @property
    def workspace(self) -> Path:
        """A fresh folder for this run; made on first use, removed by the daemon."""
        if self._workspace is None:
            self._workspace = self._make_workspace()
        return self._workspace

    @property
    def cancelled(self) -> bool:
        """True once nobody waits for the result; a cooperative thread then returns."""
        return self._is_over or self._asked_to_stop()

    def progress(self, fraction: float, note: str = "") -> None:
        """Report how far the work is, from 0 to 1."""
        self._progress(min(max(float(fraction), 0.0), 1.0), note)

    def report_cost(self, credits_: float, note: str = "") -> None:
        """Report what the work has just cost outside of the network: tokens, a fee.

        It is booked at once, whatever becomes of the task, and moves no credits: the
        owner sees it in `journeyman ledger --by strategy`. 1 credit is 1 US cent.

        Args:
            credits_: the cost, 0 to 1,000,000; fractions count.
            note: what for, in a few words.

        Raises:
            ValueError: it is not such a number, or there are too many reports.
        """
        if not 0 <= credits_ <= MOST_COST:
            given = f"{credits_!r}"[:40]
            raise ValueError(f"report_cost({given}): give credits, 0 to {MOST_COST:,}")
        self._cost_reports += 1
        if self._cost_reports > MOST_COSTS:
            raise ValueError("report_cost: too often in one run; add small costs up")
        if self._cost is not None:
            self._cost(float(credits_), str(note))


# -- for what runs strategies; on the context itself authors would see it -------------


def report_through(context: Context, call_soon: Callable[..., object]) -> None:
    """Report on the daemon's loop from now on; the thread runner calls it.

    The budget is read now, since the journal can be read on the loop alone.
    """
    _ = context.budget
    progress, book = context._progress, context._cost

    def soon(call: Callable[..., object]) -> Callable[..., object]:
        return lambda amount, note: call_soon(call, amount, note)

    context._progress = soon(progress)
    context._cost = None if book is None else soon(book)


def end_context(context: Context) -> None:
    """Make `cancelled` true from now on; the runner calls it at its limit."""
    context._is_over = True
