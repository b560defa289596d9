"""The market tape: what was shown of each task, and what was decided about it then.

How a task went on is not written again: it is read from the tables that know it.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from journeyman.journal.database import Database, Now, Row
from journeyman.journal.ledger import EntryKind
from journeyman.journal.records import decode_result, decode_task, to_event
from journeyman.journal.sighting import (
    Ending,
    NewSighting,
    Sighting,
    decode_opinions,
    decode_shown,
)
from journeyman.journal.totals import Totals
from journeyman.journal.track_records import slot_seconds

BYTES_TOTAL: Final = "tape.bytes"
ROW_BYTES: Final = 200
"""About what a row takes beside its texts, with its place in the index."""
LEFT_AFTER_SHRINKING: Final = 0.9
"""Of the limit, so that a tape that is full is not shortened for each new row."""
SHORTENED_BY: Final = 100
"""So many rows are dropped at a time."""


class Tape:
    """The table of decisions: one row for each task, of the last one about it."""

    def __init__(self, database: Database, totals: Totals, now: Now) -> None:
        self._database = database
        self._totals = totals
        self._now = now

    def add(self, new: NewSighting) -> None:
        """Keep a decision, inside its transaction; an earlier one is replaced."""
        self._drop("task_id = ?", new.task_id)
        size = len(new.task) + len(new.opinions) + ROW_BYTES
        self._database.write(
            "INSERT INTO tape (task_id, at, bytes, in_part, strategy, reason, task, "
            "verdicts) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(new.task_id, self._now().isoformat(), size, new.in_part, new.strategy),
            *(new.reason, new.task, new.opinions),
        )
        self._totals.add(BYTES_TOTAL, size)

    def bytes(self) -> int:
        """Give about how much room it takes."""
        return self._totals.get(BYTES_TOTAL)

    def forget_before(self, moment: datetime) -> None:
        """Drop what is older, inside a transaction."""
        self._drop("at < ?", moment.isoformat())

    def shrink(self, most_bytes: int) -> None:
        """Drop the oldest rows of a tape that is longer, inside a transaction."""
        size = self.bytes()
        if size <= most_bytes:
            return
        while size > most_bytes * LEFT_AFTER_SHRINKING:
            dropped = self._drop(
                "number IN (SELECT number FROM tape ORDER BY number LIMIT ?)",
                SHORTENED_BY,
            )
            if not dropped:
                return
            size -= dropped

    def _drop(self, condition: str, value: object) -> int:
        """Delete rows; give how many bytes they took."""
        row = self._database.row(
            f"SELECT sum(bytes) AS size FROM tape WHERE {condition}",  # noqa: S608 - the conditions are ours
            value,
        )
        size = int((row and row["size"]) or 0)
        if size:
            self._database.write(f"DELETE FROM tape WHERE {condition}", value)  # noqa: S608 - as above
            self._totals.add(BYTES_TOTAL, -size)
        return size

    # -- questions ----------------------------------------------------------

    def count(self, since: datetime | None = None) -> int:
        """Give how many decisions it holds, all or since a moment."""
        row = self._database.rows(
            "SELECT count(*) AS n FROM tape WHERE ?1 IS NULL OR at >= ?1",
            since.isoformat() if since else None,
        )[0]
        return int(row["n"])

    def last(self, limit: int, since: datetime | None = None) -> Iterator[Sighting]:
        """Give the last decisions, oldest first; each is read when it is asked for."""
        rows = self._database.rows(
            "SELECT number FROM tape WHERE ?1 IS NULL OR at >= ?1 "
            "ORDER BY number DESC LIMIT ?2",
            since.isoformat() if since else None,
            limit,
        )
        earned = self._earned() if rows else {}
        for row in reversed(rows):
            found = self._database.row(
                "SELECT tape.*, tasks.state AS state, tasks.strategy AS doer, record, "
                "result FROM tape LEFT JOIN tasks USING (task_id) "
                "LEFT JOIN task_texts USING (task_id) WHERE tape.number = ?",
                row["number"],
            )
            if found is not None:
                yield self._sighting(found, earned.get(found["task_id"], 0))

    def _earned(self) -> dict[str, int]:
        """Give what each task brought. It reads the whole ledger, once."""
        rows = self._database.rows(
            "SELECT subject, sum(amount) AS n FROM ledger WHERE kind = ? "
            "GROUP BY subject",
            EntryKind.EARNED,
        )
        return {row["subject"]: row["n"] for row in rows}

    def _sighting(self, row: Row, credits_: int) -> Sighting:
        history = self._database.rows(
            "SELECT before, after, reason, at FROM task_events WHERE task_id = ? "
            "ORDER BY event_id",
            row["task_id"],
        )
        return Sighting(
            task=decode_shown(row["task_id"], row["task"]),
            at=datetime.fromisoformat(row["at"]),
            in_part=bool(row["in_part"]),
            strategy=row["strategy"],
            reason=row["reason"],
            opinions=decode_opinions(row["verdicts"]),
            ending=Ending(
                state=row["state"] or "",
                strategy=row["doer"] or "",
                credits=credits_,
                seconds=slot_seconds(map(to_event, history)),
                result=decode_result(row["result"]) if row["result"] else None,
                task=decode_task(row["record"]) if row["result"] else None,
            ),
        )
