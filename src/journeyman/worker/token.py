"""What outlives a run of the token's standing: whether it was rejected, and until when.

Results are parked while the network rejects the token. That time does not count
towards `work.result_max_age_days`: a result's age begins anew when the token works
again, so that no result is given up for a silence of ours (decision 0028).
"""

from datetime import datetime, timedelta

from journeyman.domain.clock import Clock
from journeyman.domain.tasks import JSON, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord

TOKEN = "token"  # noqa: S105 - the name of a fact, not a token
"""The fact that holds it."""


class TokenMemory:
    """Keeps the token's standing in the journal."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    @property
    def is_rejected(self) -> bool:
        """An earlier run, or this one, found the token rejected."""
        return rejection(self._journal) is not None

    def rejected(self, message: str) -> None:
        """Keep that the network does not accept the token; `message` is what it said.

        The moment of the first refusal is kept, over restarts too.
        """
        if not self.is_rejected:
            # With when it last worked again: what was parked before counts no more.
            before = accepted_at(self._journal)
            known: dict[str, JSON] = (
                {"accepted_at": before.isoformat()} if before else {}
            )
            now = {"rejected_since": self._now, "message": message}
            self._put({**known, **now})

    def accepted(self) -> None:
        """Keep that it does again, and since when."""
        if self.is_rejected:
            self._put({"accepted_at": self._now})

    @property
    def _now(self) -> str:
        return self._clock.now().isoformat()

    def _put(self, fact: dict[str, JSON]) -> None:
        with self._journal.tx("token's standing"):
            self._journal.facts.put(TOKEN, fact)


def rejection(journal: Journal) -> dict[str, JSON] | None:
    """Give `rejected_since` (ISO 8601) and `message`; None when the token is good."""
    fact = journal.facts.get(TOKEN)
    is_rejected = isinstance(fact, dict) and "rejected_since" in fact
    return fact if is_rejected and isinstance(fact, dict) else None


def rejected_since(journal: Journal) -> datetime | None:
    """Give when the network began to reject the token; None when it is good."""
    return _moment(journal, "rejected_since")


def accepted_at(journal: Journal) -> datetime | None:
    """Give when the token last worked again after a rejection; None: there was none."""
    return _moment(journal, "accepted_at")


def _moment(journal: Journal, name: str) -> datetime | None:
    fact = journal.facts.get(TOKEN)
    moment = fact.get(name) if isinstance(fact, dict) else None
    return datetime.fromisoformat(moment) if isinstance(moment, str) else None


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
