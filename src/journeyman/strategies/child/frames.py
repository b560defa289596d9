"""Messages over a pipe: four bytes of length, then that much JSON in ASCII."""

import json
import os
import struct
from typing import Any, Final, TypeAlias

Message: TypeAlias = dict[str, Any]

MAX_BYTES: Final = 16 * 1_048_576
"""Of one message: a result, a task and a state of some megabytes fit easily."""

_LENGTH: Final = struct.Struct(">I")


class FrameError(ValueError):
    """The other side does not keep to the protocol."""


def pack(message: Message) -> bytes:
    """Write a message.

    Raises:
        ValueError: it is not JSON, or too large.
        TypeError: it holds what JSON cannot say.
    """
    body = json.dumps(message).encode("ascii")
    if len(body) > MAX_BYTES:
        raise FrameError(f"a message of {len(body)} bytes is too large")
    return _LENGTH.pack(len(body)) + body


class FrameBuffer:
    """Puts messages together out of the pieces in which a pipe delivers them."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, piece: bytes) -> None:
        """Add what was read."""
        self._bytes += piece

    def take(self) -> Message | None:
        """Give the first message that is complete; None when more must be read.

        Raises:
            FrameError: it is too large, not JSON, or no object.
        """
        if len(self._bytes) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._bytes)
        if length > MAX_BYTES:
            raise FrameError(f"a message of {length} bytes was announced")
        end = _LENGTH.size + length
        if len(self._bytes) < end:
            return None
        body = bytes(self._bytes[_LENGTH.size : end])
        del self._bytes[:end]
        return _parse(body)


def read_frame(descriptor: int) -> Message | None:
    """Wait for one message; None when the other side has closed the pipe.

    Raises:
        FrameError: it is too large, not JSON, or no object.
        OSError: the pipe cannot be read.
    """
    head = _read(descriptor, _LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > MAX_BYTES:
        raise FrameError(f"a message of {length} bytes was announced")
    body = _read(descriptor, length)
    return None if body is None else _parse(body)


def write_all(descriptor: int, data: bytes) -> None:
    """Write to a blocking pipe until all is written.

    Raises:
        OSError: nobody reads it any more.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read(descriptor: int, count: int) -> bytes | None:
    """Read exactly so many bytes; None when the pipe ends before."""
    pieces = bytearray()
    while len(pieces) < count:
        piece = os.read(descriptor, count - len(pieces))
        if not piece:
            return None
        pieces += piece
    return bytes(pieces)


def _parse(body: bytes) -> Message:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FrameError("a message is not JSON") from error
    if not isinstance(message, dict):
        raise FrameError("a message is no object")
    return message
