"""Tasks that were passed over: all that a journal may forget, and does.

Nothing was ever done for them. One that is forgotten and still listed is decided about
again, as if it were new.
"""

from datetime import datetime

from journeyman.domain import TaskState
from journeyman.journal.database import Database
from journeyman.journal.tasks import STATE_TOTAL
from journeyman.journal.totals import Totals

FORGOTTEN_TOTAL = "tasks.forgotten"

_OLDEST = (
    "SELECT task_id FROM tasks WHERE state = 'skipped' AND updated_at < ? "
    "ORDER BY updated_at, task_id LIMIT ?"
)
_NEWEST = "(SELECT max(event_id) FROM task_events)"
_LEFT_IN_TURN = (
    # The tasks last: by them the others are found.
    f"DELETE FROM task_texts WHERE task_id IN ({_OLDEST})",  # noqa: S608 - ours
    # Its number would be given again to a later event, which then counts as read.
    f"DELETE FROM task_events WHERE event_id < {_NEWEST} AND task_id IN ({_OLDEST})",  # noqa: S608 - ours
    f"DELETE FROM tasks WHERE task_id IN ({_OLDEST})",  # noqa: S608 - ours
)


class PassedOver:
    """The skipped ones among the tasks."""

    def __init__(self, database: Database, totals: Totals) -> None:
        self._database = database
        self._totals = totals

    def forget_before(self, moment: datetime, most: int) -> int:
        """Drop those that nothing has changed since then, inside a transaction.

        Gives how many they were: at most `most`, those that are longest unchanged.
        """
        forgotten = 0
        for statement in _LEFT_IN_TURN:
            forgotten = self._database.write(statement, moment.isoformat(), most)
        self._totals.add(STATE_TOTAL + TaskState.SKIPPED, -forgotten)
        self._totals.add(FORGOTTEN_TOTAL, forgotten)
        return forgotten
