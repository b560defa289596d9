"""The gate: whether new work may be claimed, and whether we may act at all."""

from journeyman.domain import Clock


class Gate:
    """Says what the loop may do now, and why not."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._closed_because = ""
        self._paused = False
        self._suspended_until = 0.0
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

    def suspend(self, seconds: float) -> None:
        """Send nothing for a while: the network does not accept our token."""
        self._suspended_until = self._clock.monotonic() + seconds

    @property
    def is_closed(self) -> bool:
        """The daemon drains: what waits for a slot waits for the next start."""
        return bool(self._closed_because)

    @property
    def suspended_for(self) -> float:
        """Seconds until we may act again; 0 when we may."""
        return max(0.0, self._suspended_until - self._clock.monotonic())

    @property
    def obstacle(self) -> str:
        """Why nothing new may be claimed; empty when it may."""
        if self._closed_because:
            return self._closed_because
        if self._paused:
            return "paused"
        return "token rejected" if self.suspended_for else self._lacking
