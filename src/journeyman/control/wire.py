"""One HTTP exchange over a unix socket, with nothing but the standard library.

`journeyman health` runs every half minute for months, beside a daemon that does almost
nothing meanwhile: an HTTP library would cost it more to import than the daemon uses.
"""

import socket
from pathlib import Path

CONTENT_LENGTH = b"content-length"


class NoListenerError(Exception):
    """Nobody listens: nothing was sent."""


def exchange(
    path: Path, method: str, target: str, body: bytes = b"", *, seconds: float
) -> tuple[int, bytes]:
    """Send one request, and return the status and the body of its answer.

    Each step may take so many `seconds`.

    Raises:
        NoListenerError: there is no listener, so nothing was sent.
        TimeoutError: there is one, and it does not answer in time.
        ConnectionError: it ended before it answered in full.
    """
    head = (
        f"{method} {target} HTTP/1.1\r\nhost: daemon\r\nconnection: close\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        try:
            connection.connect(str(path))
        except TimeoutError:
            raise
        except OSError as error:
            # Also a path that is too long for a socket: no daemon has it open.
            raise NoListenerError(str(error)) from error
        connection.sendall(head.encode() + body)
        return _read_answer(connection)


def _read_answer(connection: socket.socket) -> tuple[int, bytes]:
    with connection.makefile("rb") as answer:
        try:
            status = int(answer.readline().split()[1])
            fields = (line.partition(b":") for line in iter(answer.readline, b"\r\n"))
            lengths = [int(v) for n, _, v in fields if n.lower() == CONTENT_LENGTH]
            body = answer.read(lengths[0])
        except (IndexError, ValueError) as error:
            raise ConnectionError("no whole answer came") from error
    if len(body) < lengths[0]:
        raise ConnectionError("the answer broke off")
    return status, body
