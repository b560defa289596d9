"""The worker: shuts itself in, loads the strategy, and does task after task."""

import os
import sys
import traceback
from contextlib import suppress
from typing import NoReturn

from journeyman.strategies.child import kernel
from journeyman.strategies.child.confinement import confine
from journeyman.strategies.child.frames import read_frame
from journeyman.strategies.child.loading import NotLoadedError, load
from journeyman.strategies.child.network import watch_network
from journeyman.strategies.child.orders import Orders
from journeyman.strategies.child.reporting import Replies
from journeyman.strategies.child.running import Running

NAME_BYTES = 15
"""Of a process's name (man 2 prctl, PR_SET_NAME)."""


def work(orders: Orders, requests: int, replies: int) -> NoReturn:
    """Do tasks until the daemon closes the requests, and never return.

    Whatever goes wrong here ends the process; the supervisor tells the daemon.
    """
    code = 1
    try:
        _settle(orders, (requests, replies))
        _serve(orders, requests, Replies(replies))
        code = 0
    except BaseException:  # noqa: BLE001 - told to the daemon as this process's output
        traceback.print_exc()
    finally:
        # Not sys.exit: no exit handler of the author's is waited for.
        os._exit(code)


def _settle(orders: Orders, pipes: tuple[int, int]) -> None:
    # A session and group of its own: what it signals as "my group" is not us.
    os.setsid()
    os.umask(0o077)
    os.chdir(orders.home)
    for descriptor in pipes:
        os.set_inheritable(descriptor, False)
    with suppress(OSError):
        name = f"jm:{orders.strategy}".encode()[:NAME_BYTES]
        kernel.prctl(kernel.PR_SET_NAME, name)


def _serve(orders: Orders, requests: int, replies: Replies) -> None:
    me, holds = os.getpid(), confine(orders)
    watch_network(orders)
    try:
        loaded = load(orders)
    except NotLoadedError as error:
        replies.send({"refused": str(error)})
        return
    running = Running(orders, loaded, replies)
    replies.send({"ready": holds, "worker": me, "fingerprint": loaded.fingerprint})
    while (message := read_frame(requests)) is not None:
        ended = running.run(message)
        if os.getpid() != me:
            # The author forked, and this is the other one: it must not speak too.
            os._exit(0)
        _flush()
        replies.send(ended)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the author may have closed or replaced it
            stream.flush()
