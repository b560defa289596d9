"""Pauses of the whole service: what one endpoint refuses, all of them refuse."""

from datetime import datetime, timedelta
from http import HTTPStatus

from journeyman.sandbox.errors import RefusalError

_PAUSE = timedelta(seconds=1)


class Pauses:
    """Counts the requests to all endpoints, and when they may go on."""

    def __init__(self) -> None:
        self._served = 0
        self._until: datetime | None = None
        self.refused = 0
        """How many requests came too early, the one that begins a pause left out."""

    def let_pass(self, every: int, now: datetime) -> None:
        """Count a request; `every` is how many there are between two pauses.

        Raises:
            RefusalError: it begins a pause, or came during one.
        """
        if self._until is not None and now < self._until:
            self.refused += 1
            raise _too_many()
        self._served += 1
        if every and self._served % (every + 1) == 0:
            self._until = now + _PAUSE
            raise _too_many()


def _too_many() -> RefusalError:
    return RefusalError(
        HTTPStatus.TOO_MANY_REQUESTS,
        "rate_limited",
        "the whole service rests for a moment",
        headers={"Retry-After": str(int(_PAUSE.total_seconds()))},
    )
