"""Messages over a pipe: four bytes of length, then that much JSON in ASCII."""

import json
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from journeyman.domain.tasks import NewTask, Result, Task
from journeyman.domain.text import storable
from journeyman.strategies import outcomes
from journeyman.strategies.api import Context, Decline, Misconfigured, RetryLater

Message = dict[str, Any]

NEW_TASKS = "journeyman: new tasks"
"""The key of the tasks that `post` returned."""
SKIP = "journeyman: skip"
"""The key of the reason that `on_claim` gave against a task."""

MAX_BYTES = 16 * 1_048_576
"""Of one message: enough for a result, a task and a state of some megabytes."""

_LENGTH = struct.Struct(">I")


class FrameError(ValueError):
    """The other side broke the protocol."""


def pack(message: Message) -> bytes:
    """Return a message as bytes.

    Raises:
        ValueError: it is not JSON, or too large.
        TypeError: it contains what JSON cannot represent.
    """
    body = json.dumps(message).encode("ascii")
    if len(body) > MAX_BYTES:
        raise FrameError(f"a message of {len(body)} bytes is too large")
    return _LENGTH.pack(len(body)) + body


class FrameBuffer:
    """Assembles messages from the pieces in which a pipe delivers them."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, piece: bytes) -> None:
        """Add what was read."""
        self._bytes += piece

    @property
    def missing(self) -> int:
        """How many bytes the first message still lacks, as far as is known.

        Raises:
            FrameError: the message is too large.
        """
        count = _LENGTH.size
        if len(self._bytes) >= count:
            (length,) = _LENGTH.unpack_from(self._bytes)
            if length > MAX_BYTES:
                raise FrameError(f"a message of {length} bytes was announced")
            count += length
        return max(0, count - len(self._bytes))

    @property
    def has_more(self) -> bool:
        """Whether anything is left after the messages that were taken."""
        return bool(self._bytes)

    def take(self) -> Message | None:
        """Return the first message if it is complete.

        Raises:
            FrameError: it is too large, or not a JSON object.
        """
        if self.missing:
            return None
        (length,) = _LENGTH.unpack_from(self._bytes)
        body = bytes(self._bytes[_LENGTH.size : _LENGTH.size + length])
        del self._bytes[: _LENGTH.size + length]
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise FrameError("a message is not valid JSON") from error
        if not isinstance(message, dict):
            raise FrameError("a message is not a JSON object")
        return message


def unpack(packed: bytes) -> Message:
    """Return the one message that these bytes are.

    Raises:
        FrameError: they are not one message.
    """
    buffer = FrameBuffer()
    buffer.add(packed)
    message = buffer.take()
    if message is None or buffer.has_more:
        raise FrameError("not one whole message")
    return message


def read_frame(descriptor: int) -> Message | None:
    """Read one message and nothing more; None when the pipe is closed.

    Raises:
        FrameError: it is too large, or not a JSON object.
        OSError: the pipe cannot be read.
    """
    buffer = FrameBuffer()
    while missing := buffer.missing:
        piece = os.read(descriptor, missing)
        if not piece:
            return None
        buffer.add(piece)
    return buffer.take()


def write_all(descriptor: int, data: bytes) -> None:
    """Write to a blocking pipe until all is written.

    Raises:
        OSError: the other side has closed the pipe.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


MAX_TRACEBACK = 20_000
"""In characters."""


def outcome_message(outcome: outcomes.RunOutcome) -> Message:
    """Return the outcome of a run as JSON."""
    match outcome:
        case Result():
            evidence = dict(outcome.evidence)
            return {"is": "result", "output": outcome.output, "evidence": evidence}
        case Decline():
            details = dict(outcome.details)
            return {"is": "decline", "reason": outcome.reason, "details": details}
        case RetryLater():
            return {"is": "retry", "reason": outcome.reason, "after": outcome.after}
        case Misconfigured():
            texts = {"problem": outcome.problem, "fix": outcome.fix}
            return {"is": "misconfigured", **texts}
        case outcomes.StrategyError():
            return {"is": "error", **asdict(outcome)}
        case outcomes.TimedOut():
            raise ValueError("only the daemon measures the time of a run")


def outcome_from(message: Message) -> outcomes.RunOutcome:
    """Read an outcome; what the child sends is checked here, whatever it checked.

    Raises:
        FrameError: it is not a valid outcome.
    """
    match message:
        case {"is": "result", "output": output, "evidence": dict(evidence)}:
            return _result(output, evidence)
        case {"is": "decline", "reason": str(reason), "details": dict(details)}:
            decline = Decline(reason)
            decline.details = details
            return outcomes.storable_copy(decline)
        case {"is": "retry", "reason": str(reason), "after": int() | float() as after}:
            return _retry_later(reason, after)
        case {"is": "misconfigured", "problem": str(problem), "fix": str(fix)}:
            return outcomes.storable_copy(Misconfigured(problem, fix=fix))
        case {
            "is": "error",
            "error": str(error),
            "where": str(where),
            "traceback": str(traceback),
        }:
            trace = traceback[-MAX_TRACEBACK:].encode(errors="backslashreplace")
            return outcomes.StrategyError(
                storable(error), storable(where), trace.decode()
            )
        case _:
            raise FrameError("a run ended in an unknown way")


def _result(output: Any, evidence: dict[str, Any]) -> Result:  # noqa: ANN401 - any JSON
    try:
        return outcomes.to_result(Result(output, evidence=evidence))
    except (outcomes.ResultError, UnicodeEncodeError) as error:
        raise FrameError(f"an invalid result: {error}") from error


def _retry_later(reason: str, after: float) -> outcomes.RunOutcome:
    try:
        return outcomes.storable_copy(RetryLater(reason, after=float(after)))
    except (ValueError, OverflowError) as error:
        raise FrameError(str(error)) from error


def task_message(task: Task) -> dict[str, Any]:
    """Return a task as JSON."""
    # Not asdict, which would copy the whole input and the record of the network.
    message = {field.name: getattr(task, field.name) for field in fields(Task)}
    return message | {
        "deadline": _text(task.deadline),
        "tags": list(task.tags),
        "raw": dict(task.raw),
    }


def task_from(message: dict[str, Any]) -> Task:
    """Return the task of a message."""
    deadline, tags = moment_from(message["deadline"]), tuple(message["tags"])
    return Task(**message | {"deadline": deadline, "tags": tags})


def new_task_from(message: Mapping[str, Any]) -> NewTask:
    """Return the task to post that `asdict` made a message of."""
    return NewTask(**{**message, "tags": tuple(message["tags"])})


def run_message(context: Context, **asked: object) -> dict[str, Any]:
    """Return what a child is asked to do, with the values of the context, as JSON."""
    return {
        **asked,
        "state": context.state,
        "now": context.now.isoformat(),
        "deadline": _text(context.deadline),
        "budget": asdict(context.budget),
        "canary": context.canary,
    }


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def moment_from(text: str | None) -> datetime | None:
    """Return the moment that a text stands for; None for None."""
    return None if text is None else datetime.fromisoformat(text)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessLimits:
    """What a run may use in a process of its own."""

    cpu_seconds: float = 300.0
    """Of one run, for each of its processes."""
    memory_mb: int = 512
    """Of each process, and of all of a child's together."""
    file_mb: int = 256
    """The largest file that it may write."""
    open_files: int = 256
    processes: int = 32
    """How many it may start beside its own, at once."""
    output_bytes: int = 65_536
    """Of what one run prints, and of its log; the rest is left out and counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChildConfig(ProcessLimits):
    """All that a child knows of the daemon; paths are absolute."""

    strategy: str
    """Its name; empty: describe all that is in `file`, then end."""
    file: str
    """Where it is loaded from."""
    entry_point: str = ""
    """The name of the entry point to describe, instead of `file`."""
    distribution: str
    """The installed package that it is loaded from instead; empty: from `file`."""
    libraries: str = ""
    """The folder with the libraries that the file names; empty: there is none."""
    params: dict[str, bool | int | float | str]
    home: str
    """The child's own empty folder: working directory, HOME and `ctx.workspace`."""
    private: Sequence[str]
    """Folders that it must not access: the daemon's data directory."""
    files: Sequence[str]
    """Paths that its `needs` name."""
    hosts: Sequence[str]
    """Hosts that its `needs` name; empty: no network."""
    untouchable: Sequence[int]
    """The daemon's process and process group, which it must not signal; the supervisor
    adds the template."""
