"""What the model may cost: decided before each request, booked after it.

While a request is under way its worst case is reserved, and so is that of the first
request of each task that is about to be claimed or waits: tasks that run at the same
time cannot exceed a limit together, and none is claimed that nothing is left for. A
request of unknown outcome (out of time, cut off) is booked at its worst case: the
provider may have charged it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date

from journeyman import Context, Decline

DUST = 1e-9
"""Credits; less than that is a rounding error and breaks no limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Credits for 1000 tokens; 1 credit is 1 US cent."""

    read: float
    written: float
    source: str = "as configured"

    def cost(self, read: int, written: int) -> float:
        """Return the credits for so many tokens read and written by the model."""
        return (read * self.read + written * self.written) / 1_000


@dataclass(slots=True)
class Bill:
    """One request: its worst case, until it is known what it cost."""

    credits: float
    note: str = "outcome unknown, worst case"


class DayBudget:
    """What was spent today by all tasks of one strategy, and what is reserved."""

    def __init__(self) -> None:
        self.reserved = 0.0
        """For requests that are under way."""
        self._first: dict[str, float] = {}
        """Reserved by task, for its first request, which was not made yet."""
        self._spent = 0.0
        self._day: date | None = None
        self._today: Callable[[], date] | None = None

    def open(self, ctx: Context) -> None:
        """Start with the daemon's clock, and what it has booked for today."""
        self._today = lambda: ctx.today
        self.turn_over()
        self._spent = max(self._spent, ctx.budget.cost_today)

    def turn_over(self) -> None:
        """Start again when a day has passed."""
        today = self._today() if self._today else None
        if today != self._day:
            self._day, self._spent = today, 0.0

    def taken(self, *, besides: str = "") -> float:
        """Return the credits that are spent or reserved, but for one task, today."""
        self.turn_over()
        first = sum(self._first.values()) - self._first.get(besides, 0.0)
        return self._spent + self.reserved + first

    def reserve(self, task_id: str, worst: float) -> None:
        """Reserve what the first request of a task may cost."""
        self._first[task_id] = worst

    def release(self, task_id: str) -> None:
        """Reserve nothing more for it: its request is made, or the task has ended."""
        self._first.pop(task_id, None)

    def spend(self, credits_: float) -> None:
        """Count what a request has cost."""
        self.turn_over()
        self._spent += credits_


class Purse:
    """What one task may cost."""

    def __init__(
        self,
        task_id: str,
        ctx: Context,
        day: DayBudget,
        *,
        per_task: float,
        per_day: float,
    ) -> None:
        """Set the limits, in credits."""
        self.spent = 0.0
        self._task_id = task_id
        self._ctx = ctx
        self._day = day
        self._per_task = per_task
        self._per_day = per_day

    def affords(self, worst: float) -> bool:
        """Return whether a request of this worst case keeps to every limit."""
        return self._excess(worst) is None

    @contextmanager
    def request(self, worst: float) -> Iterator[Bill]:
        """Reserve the worst case of a request while it is made, then book its cost.

        Raises:
            Decline: a limit could be exceeded; nothing was sent.
        """
        self._check(worst)
        bill = Bill(worst)
        self._day.reserved += worst
        self._day.release(self._task_id)
        try:
            yield bill
        finally:
            self._day.reserved -= worst
            self._day.spend(bill.credits)
            self.spent += bill.credits
            self._ctx.report_cost(bill.credits, bill.note)

    def _check(self, worst: float) -> None:
        if excess := self._excess(worst):
            raise Decline(excess)

    def _excess(self, worst: float) -> str | None:
        """Return which limit a request could exceed, in words."""
        limits = (
            ("credits_per_task", self.spent, self._per_task),
            (
                "credits_per_day",
                self._day.taken(besides=self._task_id),
                self._per_day,
            ),
        )
        for setting, taken, limit in limits:
            if taken + worst > limit + DUST:
                return (
                    f"over budget: {taken:.3g} credits taken, a request may cost "
                    f"{worst:.3g} more, and {setting} is {limit:g}"
                )
        return None
