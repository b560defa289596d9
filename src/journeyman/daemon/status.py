"""What an agent looks like at one moment, as JSON; read from the journal alone.

The same reader serves a running daemon and a command that looks at a stopped one.
"""

from journeyman.domain import IN_FLIGHT, JSON, TaskState
from journeyman.journal import Journal, SpendState
from journeyman.loop import is_registration_unknown, rejection

REASONS_SHOWN = 8


def journal_status(journal: Journal) -> dict[str, JSON]:
    """Give balance, tasks by state and by strategy, and what waits."""
    counts = journal.tasks.counts()
    return {
        "registration_unknown": is_registration_unknown(journal),
        "token_rejected": rejection(journal),
        "balance": journal.ledger.balance(),
        "ledger": dict(journal.ledger.totals()),
        "held_credits": journal.spends.held_credits(),
        "tasks_seen": journal.totals.get("tasks.seen"),
        "tasks": dict(counts),
        "in_flight": sum(counts.get(state, 0) for state in IN_FLIGHT),
        "waiting": counts.get(TaskState.WANTED, 0),
        "strategies": {
            name: dict(states)
            for name, states in journal.tasks.outcomes_by_strategy().items()
        },
        "skipped_because": dict(journal.tasks.skip_reasons(REASONS_SHOWN)),
        "open_top_ups": [
            {
                "spend_id": spend.spend_id,
                "credits": spend.credits,
                "cents": spend.cents,
                "url": spend.answer.get("url"),
            }
            for spend in journal.spends.in_state(SpendState.OPEN)
        ],
    }
