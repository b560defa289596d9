"""How long work that is done has been offered to the network (work.result_max_age)."""

from datetime import datetime, timedelta

from journeyman.domain import TaskState
from journeyman.journal import Journal, TaskRecord
from journeyman.loop.token import accepted_at, rejected_since


def age_since(
    journal: Journal, record: TaskRecord, state: TaskState, now: datetime
) -> timedelta:
    """Give how long ago a task came to a state for the last time.

    The task itself may have waited long before. The time for which its result was
    parked, because the network rejected the token, does not count (decision 0028):
    neither afterwards nor while it lasts, when a result may be the request that asks.
    """
    history = journal.tasks.history(record.task_id)
    moments = [move.at for move in history if move.after == state]
    since = moments[-1] if moments else record.seen_at
    until = rejected_since(journal) or now
    return until - max(since, accepted_at(journal) or since)
