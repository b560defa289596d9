"""Simulated time and seeded chance, as the daemon and the sandbox are handed them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random

import anyio

START = datetime(2026, 1, 5, tzinfo=UTC)
"""When every simulation begins; a Monday, to be easy on whoever reads a trace."""


class SimulatedClock:
    """The daemon's clock: monotonic time from the loop, wall time that can be set."""

    def __init__(self, seconds: Callable[[], float], step: Callable[[], float]) -> None:
        """Read both from the world.

        Args:
            seconds: simulated seconds since the beginning.
            step: by how much the wall clock is ahead of them, in seconds.
        """
        self._seconds = seconds
        self._step = step

    def monotonic(self) -> float:
        """Seconds since the beginning; never steps back."""
        return self._seconds()

    def now(self) -> datetime:
        """The wall clock as the machine shows it, in UTC."""
        return START + timedelta(seconds=self._seconds() + self._step())

    async def sleep(self, seconds: float) -> None:
        """Wait on the monotonic clock."""
        await anyio.sleep(seconds)


class SeededRandomness:
    """The daemon's chance: the same parts give the same numbers again."""

    def __init__(self, *parts: object) -> None:
        self._random = seeded(*parts)

    def uniform(self, low: float, high: float) -> float:
        """A number between the two."""
        return self._random.uniform(low, high)

    def new_id(self, prefix: str) -> str:
        """An identifier that no other seed gives."""
        return f"{prefix}_{self._random.getrandbits(96):024x}"


class SimulatedAmbient:
    """What the sandbox takes from its machine: a right clock, and seeded tokens.

    `seconds` tells the network's own time.
    """

    def __init__(self, seconds: Callable[[], float], seed: int) -> None:
        self._seconds = seconds
        self._random = seeded(seed, "tokens")

    def now(self) -> datetime:
        """The true time, in UTC; the network's clock is never set."""
        return START + timedelta(seconds=self._seconds())

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await anyio.sleep(seconds)

    def new_token(self) -> str:
        """A text of 64 hexadecimal digits."""
        return f"{self._random.getrandbits(256):064x}"


def seeded(*parts: object) -> Random:
    """Make a generator that the same parts make again, in any process."""
    text = "/".join(map(str, parts))
    return Random(text)  # noqa: S311 - repeatable on purpose
