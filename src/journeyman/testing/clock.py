"""Time and randomness that a test controls."""

from datetime import UTC, datetime, timedelta
from random import Random

import anyio

START = datetime(2026, 11, 21, 12, tzinfo=UTC)


class FakeClock:
    """A `journeyman.domain.Clock` that stands still until `advance` is called."""

    def __init__(self, start: datetime = START) -> None:
        """Begin at `start`, a moment in UTC."""
        self._now = start
        self._monotonic = 0.0
        self._sleepers: list[tuple[float, anyio.Event]] = []
        self.slept: list[float] = []
        """Every sleep that was asked for, in seconds."""

    def monotonic(self) -> float:
        """Return the seconds since the clock was made; they never step back."""
        return self._monotonic

    def now(self) -> datetime:
        """Return the wall-clock time, in UTC."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has been advanced by so many seconds."""
        self.slept.append(seconds)
        awake = anyio.Event()
        self._sleepers.append((self._monotonic + seconds, awake))
        self._wake()
        await awake.wait()

    def advance(self, seconds: float) -> None:
        """Advance both clocks, and wake whoever has slept long enough.

        Raises:
            ValueError: the number is negative; `step` can set the wall clock back.
        """
        if seconds < 0:
            raise ValueError(f"cannot advance by {seconds} s: use step")
        self._monotonic += seconds
        self.step(seconds)
        self._wake()

    def step(self, seconds: float) -> None:
        """Set the wall clock forward or back, as a correction of it does."""
        self._now += timedelta(seconds=seconds)

    def _wake(self) -> None:
        for due, awake in self._sleepers:
            if due <= self._monotonic:
                awake.set()
        self._sleepers = [one for one in self._sleepers if one[0] > self._monotonic]


class FakeRandomness:
    """A `journeyman.domain.Randomness` drawn from a seed."""

    def __init__(self, seed: int = 0) -> None:
        """Create a generator that is repeatable by its seed."""
        self._random = Random(seed)  # noqa: S311 - repeatable on purpose
        self._made = 0

    def uniform(self, low: float, high: float) -> float:
        """Return a number between the two."""
        return self._random.uniform(low, high)

    def new_id(self, prefix: str) -> str:
        """Return an identifier with a running number: `post_1`, then `post_2`."""
        self._made += 1
        return f"{prefix}_{self._made}"
