"""From what author code raised or returned to how the run ended."""

import traceback
from pathlib import Path

from journeyman.strategies.api import Decline, Misconfigured, RetryLater
from journeyman.strategies.ended import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
)
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.result import ResultError, to_result
from journeyman.strategies.watchdog import BlockedError
from journeyman.strategies.wording import describe, printable


def of_return(loaded: Loaded, returned: object, seconds: float) -> Ended:
    """Judge what `run` returned after so many seconds."""
    try:
        return Finished(to_result(returned), seconds)
    except UnicodeEncodeError:
        # What came out broken went in broken: no bug of the strategy.
        return Declined("the result has no UTF-8 form; the task's text has none either")
    except ResultError as error:
        return _crash(loaded, str(error))


def of_exception(
    loaded: Loaded, error: BaseException, block_limit: float | None = None
) -> Ended:
    """Judge what `run` raised; `block_limit` is told of when it was broken."""
    match error:
        case Decline():
            details = {name: _plain(value) for name, value in error.details.items()}
            return Declined(printable(error.reason), details)
        case RetryLater():
            return Later(printable(error.reason), error.after)
        case Misconfigured():
            return Broken(printable(error.problem), printable(error.fix))
        case BlockedError():
            return _blocked(loaded, error, block_limit)
        case _:
            return _crash(loaded, describe(error), error)


def _crash(loaded: Loaded, text: str, error: BaseException | None = None) -> Crashed:
    """Point at the author's own last line, and leave our frames out."""
    frames = traceback.extract_tb(error.__traceback__) if error else []
    own = {str(path) for path in (loaded.path, *loaded.sources)}
    mine = [frame for frame in frames if frame.filename in own]
    path = Path(mine[-1].filename) if mine else loaded.path
    place = f"{mine[-1].lineno} in {mine[-1].name}" if mine else f"{loaded.line} in run"
    return Crashed(
        error=text,
        where=f"{_short(path)}:{place}",
        traceback="".join(traceback.format_list(mine)) + text,
    )


def _blocked(loaded: Loaded, error: BlockedError, limit: float | None) -> Broken:
    """Rest a strategy that stopped everybody: it would do so at its every task."""
    where = _crash(loaded, "", error).where
    return Broken(
        f"blocked the event loop for {limit} s at {where}, and every task with it",
        "use a plain def, which runs in a thread, or await what takes long",
    )


def _plain(value: object) -> bool | int | str | None:
    return value if isinstance(value, bool | int | None) else printable(value)


def _short(path: Path) -> str:
    """Give the folder and the file: enough to find it, the same on every machine."""
    return "/".join(path.parts[-2:])
