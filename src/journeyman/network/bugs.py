"""A bug of ours is told with its traceback, and ends only what it interrupted."""

import traceback
from dataclasses import dataclass
from types import TracebackType

from journeyman.domain.errors import JourneymanError
from journeyman.network.events import BUG
from journeyman.observability.events import Log


@dataclass(frozen=True, slots=True)
class Contained:
    """A context in which a bug is logged, after which it goes on.

    For where others' words are read: no test knows all that a network may say, and what
    it says again at each start would end each. What its owner must hear about, such as
    a full disk, is raised.
    """

    log: Log
    doing: str

    def __enter__(self) -> None:
        """Begin what may be interrupted."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Return whether it was a bug, which is logged."""
        if not isinstance(error, Exception) or isinstance(error, JourneymanError):
            return False
        written = "".join(traceback.format_exception(error))
        self.log.emit(BUG, doing=self.doing, traceback=written)
        return True
