"""Recover at start: find the unfinished work of an earlier run and go on with it.

Nothing is done here but bookkeeping: from then on recovered work takes the same steps
as new work.
"""

from datetime import UTC, datetime

from journeyman.domain.tasks import IN_FLIGHT, TaskState
from journeyman.journal.journal import Journal
from journeyman.observability.events import Log
from journeyman.worker import events

EVERYTHING = 1_000_000
FOREVER = datetime.max.replace(tzinfo=UTC)


def recover_interrupted(journal: Journal, log: Log) -> int:
    """Return how many tasks are in flight; those that were executing start again.

    Requests that may have left keep their mark, so that their repeat is known to be
    one; waits are kept too, so that a crash loop is not a storm of requests.
    """
    in_flight = journal.tasks.count_in(IN_FLIGHT)
    # Whatever the clock says: one that was set back must leave none behind.
    interrupted = journal.tasks.due({TaskState.EXECUTING}, FOREVER, EVERYTHING)
    if interrupted:
        with journal.tx("recover"):
            for record in interrupted:
                journal.tasks.move(
                    record,
                    TaskState.CLAIMED,
                    reason="interrupted while it was executed",
                )
    if in_flight:
        log.emit(events.RECOVERED, in_flight=in_flight, interrupted=len(interrupted))
    return in_flight
