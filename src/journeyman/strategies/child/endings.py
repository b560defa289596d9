"""How a run ended, as a message, and back; what comes back is not trusted."""

import math
from typing import Any, Final

from journeyman.domain import Result
from journeyman.strategies.child.frames import FrameError, Message
from journeyman.strategies.ended import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
    TimedOut,
)
from journeyman.strategies.result import ResultError, to_result
from journeyman.strategies.wording import printable

LONGEST_TRACEBACK: Final = 20_000
"""In characters."""


def ended_message(ended: Ended) -> Message:
    """Give an ending as JSON."""
    match ended:
        case Finished(result):
            evidence = dict(result.evidence)
            return {"is": "finished", "output": result.output, "evidence": evidence}
        case Declined(reason, details):
            return {"is": "declined", "reason": reason, "details": dict(details)}
        case Later(reason, after):
            return {"is": "later", "reason": reason, "after": after}
        case Broken(problem, fix):
            return {"is": "broken", "problem": problem, "fix": fix}
        case Crashed(error, where, traceback):
            told = {"error": error, "where": where, "traceback": traceback}
            return {"is": "crashed", **told}
        case TimedOut():
            raise ValueError("only the daemon says that the time is over")


def ended_from(message: Message, seconds: float) -> Ended:
    """Read an ending; a result is checked as any other runner's is.

    Raises:
        FrameError: it is none of the endings.
    """
    match message:
        case {"is": "finished", "output": output, "evidence": dict(evidence)}:
            return _finished(output, evidence, seconds)
        case {"is": "declined", "reason": str(reason), "details": dict(details)}:
            return Declined(printable(reason), _plain(details))
        case {"is": "later", "reason": str(reason), "after": int() | float() as after}:
            return Later(printable(reason), _fair(after))
        case {"is": "broken", "problem": str(problem), "fix": str(fix)}:
            return Broken(printable(problem), printable(fix))
        case {
            "is": "crashed",
            "error": str(error),
            "where": str(where),
            "traceback": str(traceback),
        }:
            trace = traceback[-LONGEST_TRACEBACK:].encode(errors="backslashreplace")
            return Crashed(printable(error), printable(where), trace.decode())
        case _:
            raise FrameError("a run ended in no known way")


def _finished(output: Any, evidence: dict[str, Any], seconds: float) -> Ended:  # noqa: ANN401 - any JSON
    try:
        return Finished(to_result(Result(output, evidence=evidence)), seconds)
    except (ResultError, UnicodeEncodeError) as error:
        raise FrameError(f"a result that was not checked: {error}") from error


def _plain(details: dict[str, Any]) -> dict[str, bool | int | str | None]:
    return {
        printable(name): value
        if isinstance(value, bool | int | None)
        else printable(value)
        for name, value in details.items()
    }


def _fair(after: float) -> float:
    if not (math.isfinite(after) and after >= 0):
        raise FrameError(f"a wait of {after!r} seconds")
    return float(after)
