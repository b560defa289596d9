"""Whether the network rejects our token, and since when: kept from run to run.

Results wait while the network rejects the token. That time does not count towards
`work.result_max_age_days`: a result's age begins anew when the token works again, so
that no result is given up because we could not send it (decision 0028).
"""

from dataclasses import dataclass
from datetime import datetime

from journeyman.domain.clock import Clock
from journeyman.domain.tasks import JSON
from journeyman.journal.journal import Journal
from journeyman.network.rate_limit.circuit_breaker import TokenStatus
from journeyman.network.rate_limit.limiter import RateLimiter

TOKEN = "token"  # noqa: S105 - the name of a fact, not a token
"""The fact that holds it."""


@dataclass(frozen=True)
class TokenMemory:
    """Keeps in the journal whether the network accepts the token."""

    journal: Journal
    clock: Clock

    def note(self, status: TokenStatus, message: str) -> None:
        """Note whether the network accepts the token; `message` is what it said.

        The moment of the first refusal is kept, over restarts too.
        """
        fact, now = _fact(self.journal), self.clock.now().isoformat()
        was_rejected = "rejected_since" in fact
        if status is TokenStatus.REJECTED and not was_rejected:
            # When it last worked again still counts for results from before.
            self._put({**fact, "rejected_since": now, "message": message})
        elif status is not TokenStatus.REJECTED and was_rejected:
            self._put({"accepted_at": now})

    def _put(self, fact: dict[str, JSON]) -> None:
        with self.journal.tx("token"):
            self.journal.facts.put(TOKEN, fact)


def remember_token(rate_limiter: RateLimiter, journal: Journal, clock: Clock) -> None:
    """Begin with what an earlier run knew of our token, and keep what this one learns.

    A daemon that is restarted must not begin again to act with a token that is refused.
    """
    if known := rejection(journal):
        rate_limiter.token.suspect(str(known["message"]))
    rate_limiter.token.listeners.append(TokenMemory(journal, clock).note)


def rejection(journal: Journal) -> dict[str, JSON] | None:
    """Return `rejected_since` (ISO 8601) and `message`; None when the token is good."""
    fact = _fact(journal)
    return fact if "rejected_since" in fact else None


def rejected_since(journal: Journal) -> datetime | None:
    """Return when the network began to reject the token; None when it is good."""
    return _moment(journal, "rejected_since")


def accepted_at(journal: Journal) -> datetime | None:
    """Return when the token last worked again after a rejection, if ever."""
    return _moment(journal, "accepted_at")


def _moment(journal: Journal, name: str) -> datetime | None:
    moment = _fact(journal).get(name)
    return datetime.fromisoformat(moment) if isinstance(moment, str) else None


def _fact(journal: Journal) -> dict[str, JSON]:
    fact = journal.facts.get(TOKEN)
    return fact if isinstance(fact, dict) else {}
