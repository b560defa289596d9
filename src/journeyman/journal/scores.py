"""What each strategy wanted, did and earned: for a person who compares them."""

from dataclasses import dataclass, replace
from datetime import datetime

from journeyman.domain.tasks import TaskState
from journeyman.journal.codec import load
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import ARCHIVED_TOTAL, STRATEGY_TOTAL


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
    """Return the figures of every strategy that ever wanted a task, by its name.

    It reads the whole history, so it is for commands and not for the daemon.
    """
    rows = journal.database.rows(
        # A task that was wanted since then also moved since then: that has an index.
        "WITH figures (strategy, wanted, credits) AS ("
        "SELECT strategy, count(DISTINCT task_id), 0 "
        "FROM tasks JOIN task_events USING (task_id) "
        "WHERE updated_at >= ?1 AND at >= ?1 AND after = 'wanted' GROUP BY strategy "
        "UNION ALL SELECT strategy, 0, sum(amount) FROM ledger "
        "WHERE account = 'agent' GROUP BY strategy"
        ") "
        "SELECT strategy, sum(wanted) AS wanted, sum(credits) AS credits "
        "FROM figures WHERE strategy != '' GROUP BY strategy",
        since.isoformat(),
    )
    scores = {row["strategy"]: load(StrategyScore, row) for row in rows}
    archived = journal.totals.starting_with(ARCHIVED_TOTAL + STRATEGY_TOTAL)
    # Also of tasks of which the rows are gone.
    for strategy, outcomes in journal.tasks.outcomes_by_strategy().items():
        if strategy:
            score = scores.get(strategy, StrategyScore())
            scores[strategy] = replace(
                score,
                credits=score.credits + archived.get(strategy, 0),
                completed=outcomes.get(TaskState.COMPLETED, 0),
                failed=sum(outcomes.get(state, 0) for state in _FAILED),
            )
    return dict(sorted(scores.items()))


_FAILED = (TaskState.FAILED, TaskState.REJECTED)
