"""SIGHUP: load the strategies anew; or stop, when the terminal we ran in is gone."""

import os
import signal
from collections.abc import Callable
from typing import Final

import anyio

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
