"""The other end of a lifeline: a child process that stops when its parent is gone."""

import os
import signal
import sys

import anyio


async def stop_at_end_of_input() -> None:
    """Wait until stdin comes to its end, then ask ourselves to stop, by SIGTERM.

    Cancel to stop waiting.
    """
    descriptor = sys.stdin.fileno()
    while True:
        await anyio.wait_readable(descriptor)
        if not os.read(descriptor, 4096):
            os.kill(os.getpid(), signal.SIGTERM)
            return
