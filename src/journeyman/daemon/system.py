"""The real clock and real randomness: the only place that reads either."""

import gc
import random
import resource
import time
import uuid
from datetime import UTC, datetime

import anyio


def forbid_core_dumps() -> None:
    """Forbid crashes to write our memory, and so the token, to a file.

    It holds for its children, too, and cannot be undone.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


_OBJECTS_UNTIL_COLLECTION = 10_000
"""Python's own 700 are made by every other task; hardly any of them is garbage that
only the collector finds."""


def collect_garbage_seldom() -> None:
    """Look for garbage less often, and never among what is imported: that stays.

    To look through all of it would stop the loop each time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS_UNTIL_COLLECTION)


class SystemClock:
    """The machine's own clocks."""

    def monotonic(self) -> float:
        """Return the seconds since some start."""
        return time.monotonic()  # noqa: TID251 - this is the injected Clock

    def now(self) -> datetime:
        """Return the wall-clock time, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the injected Clock

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await anyio.sleep(seconds)


class SystemRandomness:
    """The machine's own chance."""

    def __init__(self) -> None:
        self._random = random.SystemRandom()

    def uniform(self, low: float, high: float) -> float:
        """Return a number between the two."""
        return self._random.uniform(low, high)

    def new_id(self, prefix: str) -> str:
        """Return an unguessable identifier."""
        return f"{prefix}_{uuid.uuid4().hex}"  # noqa: TID251 - this is the injected Randomness
