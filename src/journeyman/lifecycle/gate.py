"""Whether new work may be claimed, and whether we may act at all."""

from dataclasses import dataclass

from journeyman.network.rate_limit.limiter import RateLimiter


@dataclass(eq=False)
class Gate:
    """Knows whether the worker may begin new work now, and why not."""

    rate_limiter: RateLimiter
    _closed_because: str = ""
    _paused: bool = False
    _lacking: str = ""

    def close(self, reason: str) -> None:
        """Claim nothing more in this run: the daemon drains."""
        self._closed_because = reason

    def pause(self) -> None:
        """Claim nothing until `resume`; work in flight goes on."""
        self._paused = True

    def resume(self) -> None:
        """Claim again."""
        self._paused = False

    def lack(self, what: str) -> None:
        """Claim nothing while something is lacking; empty when it is there again."""
        self._lacking = what

    @property
    def is_closed(self) -> bool:
        """The daemon drains: what waits for a slot waits for the next start."""
        return bool(self._closed_because)

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
        if self._paused:
            return "paused"
        pause = self.rate_limiter.general_pause()
        return pause.reason if pause else self._lacking
