"""Stopping: the first signal drains, the second breaks off, the third exits."""

import os
import signal
from collections.abc import Callable
from typing import Final

import anyio

HURRIED_EXIT = 1
"""The exit code of the third signal; what is committed is safe all the same."""


class Shutdown:
    """Whether, why and how urgently the daemon should stop."""

    def __init__(self) -> None:
        self.requested = anyio.Event()
        """Claim nothing more, let work in flight end."""
        self.forced = anyio.Event()
        """Break off work in flight; it continues at the next start."""
        self.reason = ""
        self._listeners: list[Callable[[], None]] = []

    def on_request(self, listener: Callable[[], None]) -> None:
        """Call this whenever a stop is requested."""
        self._listeners.append(listener)

    def request(self, reason: str) -> None:
        """Ask for a stop; asked again, break off."""
        if self.requested.is_set():
            self.forced.set()
        else:
            self.reason = reason
            self.requested.set()
        for listener in self._listeners:
            listener()

    async def listen(self) -> None:
        """Turn signals into requests, for ever; cancel to stop."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
            async for number in received:
                if self.forced.is_set():
                    os._exit(HURRIED_EXIT)
                self.request(signal.Signals(number).name)


TERMINAL: Final = "/dev/tty"
"""Whatever terminal controls this process; it cannot be opened where none does."""


async def listen_for_hangup(
    reload: Callable[[], None], stop: Callable[[str], None]
) -> None:
    """Turn each SIGHUP into a reload, for ever; cancel to stop.

    A daemon without a terminal is told so by its owner. In a terminal that was closed
    the same signal means the end of the session, and the daemon ends with it; unless
    it was started to outlive that (`nohup`), which makes it deaf to the signal.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return
    had_terminal = _has_terminal()
    with anyio.open_signal_receiver(signal.SIGHUP) as received:
        async for _ in received:
            if had_terminal and not _has_terminal():
                stop("its terminal was closed")
            else:
                reload()


def _has_terminal() -> bool:
    try:
        os.close(os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
