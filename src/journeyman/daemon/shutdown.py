"""Stopping: the first signal drains, the second breaks off, the third exits."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from journeyman.daemon import events
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.observability.events import Log
from journeyman.worker.worker import Worker

HURRIED_EXIT = 1
"""The exit code of the third signal; what is committed is safe all the same."""


@dataclass(eq=False)
class Shutdown:
    """Whether, why and how urgently the daemon should stop."""

    requested: anyio.Event = field(init=False, default_factory=anyio.Event)
    """Claim nothing more, wait for work in flight."""
    forced: anyio.Event = field(init=False, default_factory=anyio.Event)
    """Break off work in flight; it continues at the next start."""
    reason: str = field(init=False, default="")
    _listeners: list[Callable[[], None]] = field(init=False, default_factory=list)

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
        """Turn signals into requests, forever; cancel to stop."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
            async for number in received:
                if self.forced.is_set():
                    os._exit(HURRIED_EXIT)
                self.request(signal.Signals(number).name)


async def drain(
    worker: Worker,
    *,
    grace_seconds: float,
    reason: str,
    forced: anyio.Event,
    attention: Wakeup,
    log: Log,
) -> None:
    """Wait for work in flight: not beyond the grace period, and not when forced."""
    if not worker.in_flight:
        return
    log.emit(
        events.DRAINING,
        reason=reason,
        in_flight=worker.in_flight,
        grace_seconds=grace_seconds,
    )
    with anyio.move_on_after(grace_seconds):
        while worker.in_flight and not forced.is_set():
            await attention.wait(1.0)
    if worker.in_flight:
        log.emit(events.GRACE_OVER, in_flight=worker.in_flight)


TERMINAL = "/dev/tty"
"""Whatever terminal controls this process; it cannot be opened where none does."""


async def listen_for_hangup(
    reload: Callable[[], None], stop: Callable[[str], None]
) -> None:
    """Turn each SIGHUP into a reload, forever; cancel to stop.

    For a daemon without a terminal SIGHUP asks for a reload. In a terminal that was
    closed the same signal means the end of the session, and the daemon ends with it;
    unless it was started to outlive that (`nohup`), which ignores the signal.
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
