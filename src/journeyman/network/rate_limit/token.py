"""Whether the network accepts our token: doubted after one refusal, then confirmed.

A gateway that restarts refuses good tokens for a moment, so a single refusal only
lets one private request go at a time. The next refusal confirms it; from then on one
request a minute asks whether the token works again (contract section 5, rule 6:
"Token lifetime and revocation: not shown").
"""

from enum import Enum, auto

from journeyman.network.rate_limit.circuit_breaker import PROBE_WAIT_SECONDS
from journeyman.network.rate_limit.pause import remaining

CONFIRM_AFTER_SECONDS = 2.0
"""Between a refusal and the request that confirms it."""


class Trust(Enum):
    """How our token stands."""

    GOOD = auto()
    DOUBTED = auto()
    REJECTED = auto()


class TokenStanding:
    """The standing of one token; all times are on the monotonic clock, in seconds."""

    def __init__(self, probe_every: float) -> None:
        self._probe_every = probe_every
        self._refused_by: set[str] = set()
        self._probing = False
        self._until = 0.0
        self.trust = Trust.GOOD
        self.message = ""
        """What the network said when it last refused."""

    def suspect(self, message: str) -> None:
        """Begin as an earlier run ended, with what it was told: one request asks."""
        self.trust, self.message = Trust.REJECTED, message

    def wait(self, endpoint: str, now: float, *, is_action: bool) -> float:
        """Give the seconds until a private request may go; 0 when it may now.

        A read that has never refused the token may always go: it tells nothing.
        """
        if self.trust is Trust.GOOD or not self._tells(endpoint, is_action=is_action):
            return 0.0
        return PROBE_WAIT_SECONDS if self._probing else remaining(self._until, now)

    def start(self, endpoint: str, *, is_action: bool) -> bool:
        """Let a private request go; tell whether it is the one that asks."""
        tells = self._tells(endpoint, is_action=is_action)
        is_probe = self.trust is not Trust.GOOD and tells
        self._probing = self._probing or is_probe
        return is_probe

    def note(
        self,
        endpoint: str,
        *,
        accepted: bool | None,
        now: float,
        is_probe: bool,
        is_action: bool,
    ) -> Trust:
        """Take an answer into account; give the standing from now on."""
        self.abandon(is_probe=is_probe)
        if accepted and self._tells(endpoint, is_action=is_action):
            self.trust = Trust.GOOD
            self._refused_by.clear()
        elif accepted is False:
            self._refuse(endpoint, now, is_probe=is_probe)
        elif is_probe:
            self._pause(now)
        return self.trust

    def abandon(self, *, is_probe: bool) -> None:
        """Forget a request that nobody waits for any more."""
        if is_probe:
            self._probing = False

    def _tells(self, endpoint: str, *, is_action: bool) -> bool:
        return is_action or endpoint in self._refused_by

    def _refuse(self, endpoint: str, now: float, *, is_probe: bool) -> None:
        self._refused_by.add(endpoint)
        if self.trust is Trust.GOOD:
            self.trust = Trust.DOUBTED
            self._pause(now)
        elif is_probe:
            self.trust = Trust.REJECTED
            self._pause(now)

    def _pause(self, now: float) -> None:
        wait = self._probe_every
        if self.trust is Trust.DOUBTED:
            wait = min(wait, CONFIRM_AFTER_SECONDS)
        self._until = now + wait
