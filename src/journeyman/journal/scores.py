"""What each strategy wanted, did and earned: for a person who compares them."""

from dataclasses import dataclass
from datetime import datetime

from journeyman.domain.tasks import TaskState
from journeyman.journal.journal import Journal


@dataclass(frozen=True, kw_only=True, slots=True)
class StrategyScore:
    """One strategy's figures."""

    wanted: int = 0
    """Tasks that it wanted since a given moment."""
    completed: int = 0
    """Of all time, as the next two."""
    failed: int = 0
    """Failed, or refused by the network."""
    credits: int = 0
    """What its tasks brought, less what it spent."""


def scoreboard(journal: Journal, since: datetime) -> dict[str, StrategyScore]:
    """Give the figures of every strategy that ever wanted a task, by its name.

    It reads the whole history, so it is for commands and not for the daemon.
    """
    wanted = _wanted(journal, since)
    earned = _credits(journal)
    outcomes = journal.tasks.outcomes_by_strategy()
    names = sorted({*wanted, *earned, *outcomes})
    return {
        name: StrategyScore(
            wanted=wanted.get(name, 0),
            completed=outcomes.get(name, {}).get(TaskState.COMPLETED, 0),
            failed=sum(
                outcomes.get(name, {}).get(state, 0)
                for state in (TaskState.FAILED, TaskState.REJECTED)
            ),
            credits=earned.get(name, 0),
        )
        for name in names
    }


def _wanted(journal: Journal, since: datetime) -> dict[str, int]:
    # A task that was wanted since then also moved since then: that has an index.
    rows = journal.database.rows(
        "SELECT strategy, count(DISTINCT task_id) AS n "
        "FROM tasks JOIN task_events USING (task_id) "
        "WHERE updated_at >= ? AND at >= ? AND after = ? AND strategy != '' "
        "GROUP BY strategy",
        *(since.isoformat(), since.isoformat(), TaskState.WANTED),
    )
    return {row["strategy"]: row["n"] for row in rows}


def _credits(journal: Journal) -> dict[str, int]:
    rows = journal.database.rows(
        "SELECT strategy, sum(amount) AS n FROM ledger WHERE strategy != '' "
        "GROUP BY strategy",
    )
    return {row["strategy"]: row["n"] for row in rows}
