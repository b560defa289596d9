"""The supervisor: starts the worker, watches what it starts, and leaves nothing behind.

It runs no author code, and lives as long as the worker. The daemon speaks to it over
one pipe: a `T` asks all to end (SIGTERM); its closing, also by the daemon's own death,
ends all at once (SIGKILL). Over another pipe it says in one line how the worker ended,
and that it has closed says that nothing is left.
"""

import json
import os
import select
import shutil
import signal
import sys
from contextlib import suppress
from typing import Final, NoReturn

from journeyman.strategies.child import kernel
from journeyman.strategies.child.kernel import (
    MIB,
    descendants_of,
    own_bytes,
    resident_bytes,
)
from journeyman.strategies.child.messages import Orders, read_frame
from journeyman.strategies.child.worker import work

LOOK_EVERY_MS: Final = 500
"""How often the worker's descendants are counted and their memory is added up."""
KILL_EVERY_MS: Final = 5
"""How soon it looks again for what was started while it killed."""


def supervise(descriptors: list[int]) -> NoReturn:
    """Be the supervisor of one worker, until the worker and all it started are gone.

    Args:
        descriptors: pipes: requests, replies, the daemon's word, our last word.
    """
    requests, replies, control, epitaph = descriptors
    message = read_frame(requests)
    if message is None:
        os._exit(0)
    orders = Orders.from_message(message)
    with suppress(OSError):
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    worker = os.fork()
    if worker == 0:
        os.close(control)
        os.close(epitaph)
        work(orders, requests, replies)
    os.close(requests)
    os.close(replies)
    _let_go_of_output()
    ended = _Watch(worker, control, orders).until_all_is_gone()
    # Here and not in the daemon: a folder of a million files takes its time.
    shutil.rmtree(orders.home, ignore_errors=True)
    os.write(epitaph, json.dumps(ended).encode())
    # Not sys.exit: what lies in buffers was the worker's, and is written already.
    os._exit(0)


def _let_go_of_output() -> None:
    """Leave the output to the worker, so that it ends with the last who writes."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (sys.stdin, sys.stdout, sys.stderr):
        os.dup2(nowhere, descriptor.fileno())


class _Watch:
    """Looks after one worker and everything that descends from it."""

    def __init__(self, worker: int, control: int, orders: Orders) -> None:
        self._worker = worker
        self._control = control
        self._most_processes = orders.processes
        self._most_bytes = orders.memory_mb * MIB
        self._status: int | None = None
        self._reason = ""
        self._is_ending = False
        self._awake, wake = os.pipe()
        os.set_blocking(self._awake, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(self._awake, select.POLLIN)

    def until_all_is_gone(self) -> dict[str, object]:
        """Wait, kill where it must be, and say how the worker ended."""
        while self._reap():
            if self._is_ending:
                self._signal_all(signal.SIGKILL)
            else:
                self._look()
            self._wait(KILL_EVERY_MS if self._is_ending else LOOK_EVERY_MS)
        code = os.waitstatus_to_exitcode(self._status or 0)
        return {"code": code, "reason": self._reason}

    def _wait(self, milliseconds: int) -> None:
        for descriptor, _ in self._poll.poll(milliseconds):
            if descriptor == self._awake:
                with suppress(BlockingIOError):
                    os.read(self._awake, 4096)
            elif os.read(self._control, 16):
                self._signal_all(signal.SIGTERM)
            else:
                self._poll.unregister(self._control)
                self._is_ending = True

    def _reap(self) -> bool:
        """Take leave of what has ended; tell whether anything still lives."""
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    return True
                if process == self._worker:
                    self._status = status
                    # Nobody speaks for the rest any more.
                    self._is_ending = True
        return False

    def _look(self) -> None:
        """End all when there are too many, or when together they hold too much."""
        everybody = list(descendants_of(os.getpid()))
        started = len(everybody) - 1
        if started > self._most_processes:
            self._end(f"{started} processes of its own (limit {self._most_processes})")
        elif sum(map(resident_bytes, everybody)) > self._most_bytes:
            held = sum(map(own_bytes, everybody))
            limit = self._most_bytes // MIB
            if held > self._most_bytes:
                self._end(f"{held // MIB} MiB of memory in all (limit {limit})")

    def _end(self, reason: str) -> None:
        self._reason = reason
        self._is_ending = True
        self._signal_all(signal.SIGKILL)

    def _signal_all(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            # The worker's group first and at once: it cannot fork away from that.
            os.killpg(self._worker, number)
        for process in descendants_of(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)
