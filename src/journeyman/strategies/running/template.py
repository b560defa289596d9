"""The template as the daemon sees it: started when first needed, asked to fork."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

_SCRIPT = Path(__file__).parents[1] / "child" / "__main__.py"
HARMLESS = ("PATH", "LANG", "LANGUAGE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables that every child gets; and `LC_*`."""
STUCK_SECONDS = 5.0
"""A template that takes no request for so long is given up."""


def environment_for(
    passed_on: Sequence[str], environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the harmless variables and those of the owner's; never the daemon's."""
    wanted = {*HARMLESS, *passed_on}
    return {
        name: value
        for name, value in environ.items()
        if (name in wanted or name.startswith("LC_"))
        and not name.startswith("JOURNEYMAN_")
    }


@dataclass(eq=False)
class Template:
    """The process that children are forked from; it never runs an author's code.

    It is a fresh interpreter: a fork of the daemon would hold the token.
    """

    passed_on: Sequence[str] = ()
    """Variables of our environment that children get beside the harmless ones."""
    is_for_one: bool = False
    """One child is all that it will fork: it does not warm up."""
    _process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)
    _socket: socket.socket | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def fork(self, descriptors: Sequence[int]) -> None:
        """Fork a child with these ends of its pipes; start the template if need be.

        Raises:
            OSError: the system has no process or descriptor left.
        """
        try:
            self._request(descriptors)
        except (BrokenPipeError, ConnectionResetError):
            # Somebody killed it. One that dies again is reported by the caller.
            self.close()
            self._request(descriptors)

    def close(self) -> None:
        """End the template; children that it forked are not touched."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def pid(self) -> int | None:
        """Its process; None while there is none."""
        return self._process.pid if self._process is not None else None

    def _request(self, descriptors: Sequence[int]) -> None:
        connection = self._socket or self._start()
        socket.send_fds(connection, [b"F"], descriptors)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.settimeout(STUCK_SECONDS)
        # Isolated (-I), without bytecode (-B), with unbuffered output (-u).
        python = [sys.executable, "-I", "-B", "-u", str(_SCRIPT)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and our own file
                [
                    *python,
                    str(theirs.fileno()),
                    "cold" if self.is_for_one else "warm",
                    *filter(os.path.isabs, sys.path),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment_for(self.passed_on, os.environ),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._socket = ours
        return ours
