"""Whether the network accepts our token: doubted after one refusal, then confirmed.

A gateway that restarts refuses good tokens for a moment, so after a single refusal
private requests are sent one at a time. The next refusal confirms it; from then on one
request a minute checks whether the token works again (contract section 5, rule 6:
"Token lifetime and revocation: not shown").
"""

from dataclasses import dataclass, field
from enum import Enum, auto

from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.rate_limit.evidence import Evidence
from journeyman.network.rate_limit.pause import RateLimits, remaining

_ACTIONS = frozenset(one.name for one in ENDPOINTS if one.changes_state)


class TokenStatus(Enum):
    """What the network thinks of our token."""

    ACCEPTED = auto()
    DOUBTED = auto()
    REJECTED = auto()


@dataclass(kw_only=True, eq=False)
class TokenMonitor:
    """The status of one token; all times are on the monotonic clock, in seconds."""

    private: frozenset[str]
    """The endpoints that take the token."""
    options: RateLimits
    status: TokenStatus = field(default=TokenStatus.ACCEPTED, init=False)
    message: str = field(default="", init=False)
    """What the network said when it last refused."""
    _refused_by: set[str] = field(default_factory=set, init=False)
    _is_probing: bool = field(default=False, init=False)
    _wait_until: float = field(default=0.0, init=False)

    def suspect(self, message: str) -> None:
        """Begin with a token that an earlier run found rejected: one request checks."""
        self.status, self.message = TokenStatus.REJECTED, message

    def wait(self, now: float) -> float:
        """Return the seconds until the token may be checked; 0 when it may be now."""
        if self.status is TokenStatus.ACCEPTED:
            return 0.0
        if self._is_probing:
            return self.options.retry.probe_seconds
        return remaining(self._wait_until, now)

    def is_checked_by(self, endpoint: str) -> bool:
        """Return whether an answer of this endpoint shows if the token is accepted.

        A read that has never refused the token does not: it may not look at it.
        """
        return endpoint in self.private and (
            endpoint in _ACTIONS or endpoint in self._refused_by
        )

    def start(self, endpoint: str) -> bool:
        """Note that a request is sent; return whether it is the one that checks."""
        if self.status is TokenStatus.ACCEPTED or not self.is_checked_by(endpoint):
            return False
        self._is_probing = True
        return True

    def record(
        self, endpoint: str, evidence: Evidence, now: float, *, is_probe: bool
    ) -> None:
        """Take an outcome into account."""
        self.abandon(is_probe=is_probe)
        accepted = evidence.token_accepted
        if accepted is False and endpoint in self.private:
            self.message = evidence.message
            self._refuse(endpoint, now, is_probe=is_probe)
        elif self.status is TokenStatus.ACCEPTED:
            return
        elif accepted and self.is_checked_by(endpoint):
            self.status = TokenStatus.ACCEPTED
            self._refused_by.clear()
        elif is_probe:
            self._pause(now)

    def abandon(self, *, is_probe: bool) -> None:
        """Forget a request whose end nobody saw."""
        if is_probe:
            self._is_probing = False

    def _refuse(self, endpoint: str, now: float, *, is_probe: bool) -> None:
        self._refused_by.add(endpoint)
        if self.status is TokenStatus.ACCEPTED:
            self.status = TokenStatus.DOUBTED
            self._pause(now)
        elif is_probe:
            self.status = TokenStatus.REJECTED
            self._pause(now)

    def _pause(self, now: float) -> None:
        wait = self.options.probe_every
        if self.status is TokenStatus.DOUBTED:
            wait = min(wait, self.options.retry.token_seconds)
        self._wait_until = now + wait
