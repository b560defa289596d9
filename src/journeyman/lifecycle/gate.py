"""Whether new work may be claimed, and whether we may act at all."""

from journeyman.network.rate_limit.limiter import RateLimiter


class Gate:
    """Says what the worker may do now, and why not."""

    def __init__(self, rate_limiter: RateLimiter) -> None:
        """Open it; `rate_limiter` knows what the network lets us do."""
        self._rate_limiter = rate_limiter
        self._closed_because = ""
        self._paused = False
        self._lacking = ""

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
        stopped = self._rate_limiter.stopped()
        return stopped.seconds if stopped else 0.0

    @property
    def obstacle(self) -> str:
        """Why nothing new may be claimed; empty when it may."""
        if self._closed_because:
            return self._closed_because
        if self._paused:
            return "paused"
        stopped = self._rate_limiter.stopped()
        return stopped.reason if stopped else self._lacking
