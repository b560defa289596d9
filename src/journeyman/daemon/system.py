"""The real clock and real randomness: the only place that reads either."""

import random
import time
import uuid
from datetime import UTC, datetime

import anyio


class SystemClock:
    """The machine's own clocks."""

    def monotonic(self) -> float:
        """Seconds since some start."""
        return time.monotonic()  # noqa: TID251 - this is the injected Clock

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the injected Clock

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await anyio.sleep(seconds)


class SystemRandomness:
    """The machine's own chance."""

    def __init__(self) -> None:
        self._random = random.SystemRandom()

    def uniform(self, low: float, high: float) -> float:
        """A number between the two."""
        return self._random.uniform(low, high)

    def new_id(self, prefix: str) -> str:
        """An unguessable identifier."""
        return f"{prefix}_{uuid.uuid4().hex}"  # noqa: TID251 - this is the injected Randomness
