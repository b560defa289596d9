"""A log that writes into memory, on a clock that a test sets."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from journeyman.observability.events import CATALOGUE


class SetClock:
    """A wall clock that moves when it is told to."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 21, 14, 3, 59, 120_000, UTC)

    def now(self) -> datetime:
        return self.time

    def move(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(autouse=True)
def _catalogue_as_it_was() -> Iterator[None]:
    before = dict(CATALOGUE)
    yield
    CATALOGUE.clear()
    CATALOGUE.update(before)
