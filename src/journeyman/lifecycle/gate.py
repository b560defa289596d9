"""Whether new work may be claimed, and whether we may act at all."""

from dataclasses import dataclass

from journeyman.domain.clock import Clock
from journeyman.journal.owner_pauses import ALL_WORK, OwnerPause, OwnerPauses
from journeyman.network.rate_limit.limiter import RateLimiter


@dataclass(eq=False)
class Gate:
    """Knows whether the worker may begin new work now, and why not."""

    rate_limiter: RateLimiter
    owner_pauses: OwnerPauses
    clock: Clock
    _closed_because: str = ""
    _lacking: str = ""

    def close(self, reason: str) -> None:
        """Claim nothing more in this run: the daemon drains."""
        self._closed_because = reason

    def lack(self, what: str) -> None:
        """Claim nothing while something is lacking; empty when it is there again."""
        self._lacking = what

    @property
    def is_closed(self) -> bool:
        """The daemon drains: what waits for a slot waits for the next start."""
        return bool(self._closed_because)

    @property
    def owner_pause(self) -> OwnerPause | None:
        """What the owner wants: while it is there nothing is claimed."""
        return self.owner_pauses.current(self.clock.now()).get(ALL_WORK)

    @property
    def suspended_for(self) -> float:
        """Seconds until we may act again; 0 when we may.

        The network is down, or refuses our token.
        """
        pause = self.rate_limiter.general_pause()
        return pause.seconds if pause else 0.0

    @property
    def obstacle(self) -> str:
        """Why nothing new may be claimed; empty when it may."""
        if self._closed_because:
            return self._closed_because
        if paused := self.owner_pause:
            return f"paused {paused}"
        pause = self.rate_limiter.general_pause()
        return pause.reason if pause else self._lacking
