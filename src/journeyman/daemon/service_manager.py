"""Tells systemd that the daemon is up, what it does, and that it is well.

The protocol of `sd_notify(3)`: a datagram with `NAME=value` lines, to the socket that
`NOTIFY_SOCKET` names. With `WatchdogSec=` systemd ends a service from which no
`WATCHDOG=1` came for so long; it is withheld while the daemon is not healthy. The
watchdog beside the process (`daemon/watchdog.py`) strikes when the event loop stands
still; this one also when it turns and no look at the network is made.
"""

import os
import socket
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NoReturn, Self

from journeyman.domain.clock import Clock
from journeyman.domain.text import escape

USUAL_SECONDS = 30.0
"""Between two reports where no watchdog asks for them."""
_VARIABLES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")


def _is_well() -> bool:
    """Return True: a daemon that still joins is healthy."""
    return True


def _joining() -> str:
    return "joining the network"


@dataclass(eq=False)
class ServiceManager:
    """Whoever started this process and wants to know how it fares."""

    address: str
    """Of its socket; one that begins with `@` is no file."""
    watchdog_seconds: float | None = None
    """It ends the daemon after so long without a word; None: never."""
    is_well: Callable[[], bool] = field(init=False, default_factory=lambda: _is_well)
    status: Callable[[], str] = field(init=False, default_factory=lambda: _joining)
    """One line for `systemctl status`."""

    @classmethod
    def from_environment(cls, environ: MutableMapping[str, str]) -> Self | None:
        """Return the one that the environment names, and no child shall speak to."""
        found = {name: environ.pop(name, "") for name in _VARIABLES}
        if not found["NOTIFY_SOCKET"].startswith(("/", "@")):
            return None
        is_for_us = found["WATCHDOG_PID"] in {"", str(os.getpid())}
        usec = found["WATCHDOG_USEC"]
        seconds = int(usec) / 1e6 if usec.isdecimal() and is_for_us else None
        return cls(found["NOTIFY_SOCKET"], seconds or None)

    async def run(self, clock: Clock) -> NoReturn:
        """Say that the daemon is up, and then how it fares, for ever.

        Up is a daemon that still joins, too: a network that is down when a machine
        boots is no reason to end the daemon and start it again.
        """
        self.tell("READY=1")
        every = self.watchdog_seconds / 3 if self.watchdog_seconds else USUAL_SECONDS
        while True:
            self.report()
            await clock.sleep(every)

    def report(self) -> None:
        """Say what the daemon does, and that it is well if that is so."""
        lines = [f"STATUS={escape(self.status())}"]
        lines += ["WATCHDOG=1"] if self.is_well() else []
        self.tell(*lines)

    def tell(self, *lines: str) -> None:
        """Send one message; nobody may be there to hear it."""
        name = self.address
        name = f"\0{name[1:]}" if name.startswith("@") else name
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender,
            suppress(OSError),
        ):
            sender.setblocking(False)
            sender.sendto("\n".join(lines).encode(), name)
