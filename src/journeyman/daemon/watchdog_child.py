"""The watchdog's process: `python -I -S watchdog_child.py DAEMON SECONDS TICK`.

It is the standard library's smallest part, and an interpreter of its own: a copy of the
daemon's would keep its memory twice, page by page, as the daemon writes to its own.
"""

import os
import select
import signal
import sys
from typing import NoReturn

FED, ERRORS = 0, 2
"""Descriptors: the daemon's bytes come here; what is said goes there."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
DUMP_SECONDS = 5.0
"""What a process may take to write its stack and to end."""


def main() -> NoReturn:
    """Watch until the daemon has ended."""
    daemon, seconds, tick = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    try:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        ready = select.poll()
        ready.register(FED, select.POLLIN)
        if is_silent(daemon, ready, seconds, tick):
            end(daemon, ready, seconds)
    finally:
        os._exit(0)


def is_silent(daemon: int, ready: select.poll, seconds: float, tick: float) -> bool:
    """Return True when nothing came for so long; False when the daemon has ended.

    What is counted are our own waits: they pass only while this machine runs.
    """
    silent, is_fed = 0.0, False
    while silent < seconds:
        if ready.poll(2000 * tick):
            if not os.read(FED, 4096):
                return False
            silent, is_fed = 0.0, True
        elif is_fed and not is_stopped(daemon):
            silent += 2 * tick
    return os.getppid() == daemon


def is_stopped(daemon: int) -> bool:
    """Return whether a signal or a debugger has stopped it, where Linux tells that."""
    try:
        with open(f"/proc/{daemon}/stat", errors="replace") as file:  # noqa: PTH123 - pathlib is large
            stat = file.read()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] in {"T", "t"}


def end(daemon: int, ready: select.poll, seconds: float) -> None:
    """Have the daemon write its stack and end; if it does not, end it."""
    said = f"journeyman: its event loop did not turn for {seconds:g} s; it is ended\n"
    os.write(ERRORS, said.encode())
    os.kill(daemon, signal.SIGABRT)
    # Its end of the pipe closes with it.
    if not ready.poll(1000 * DUMP_SECONDS):
        os.kill(daemon, signal.SIGKILL)


if __name__ == "__main__":
    main()
