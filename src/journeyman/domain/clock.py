"""Time and randomness as things that are handed in, so that both can be simulated."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The only source of time in the daemon."""

    def monotonic(self) -> float:
        """Return seconds that never step back; for durations and time-outs."""
        ...

    def now(self) -> datetime:
        """Return the wall-clock time, in UTC; for what people and machines read."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait on the monotonic clock."""
        ...


class Randomness(Protocol):
    """The only source of chance in the daemon."""

    def uniform(self, low: float, high: float) -> float:
        """Return a number between the two."""
        ...

    def new_id(self, prefix: str) -> str:
        """Return an unguessable identifier, such as `spend_9f2c...`."""
        ...
