"""The supervisor: starts the worker, watches what it starts, and leaves nothing behind.

It runs none of the author's code, and lives as long as the worker. Over one pipe the
daemon controls it: a `T` asks everything to end (SIGTERM); closing it, which the
daemon's own death does too, ends everything at once (SIGKILL). Over another pipe it
reports who the worker is and how it ended; when that pipe closes, nothing is left.
Between the two, it changes modes and times of files in the folder for the worker, which
may not do so itself: see `metadata`.
"""

import os
import select
import signal
import socket
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from journeyman.strategies.child import kernel
from journeyman.strategies.child.kernel import (
    descendants_of,
    proportional_bytes,
    resident_bytes,
)
from journeyman.strategies.child.limits import MIB
from journeyman.strategies.child.messages import (
    ChildConfig,
    pack,
    read_frame,
    write_all,
)
from journeyman.strategies.child.metadata import Metadata, remove_folder
from journeyman.strategies.child.worker import work

CHECK_EVERY_MS = 500
"""How often the worker's descendants are counted and their memory is added up."""
KILL_EVERY_MS = 5
"""How soon it looks again for processes that were started meanwhile."""


def supervise(descriptors: Sequence[int], common: Iterable[Path]) -> NoReturn:
    """Supervise one worker, until the worker and all it started are gone.

    Args:
        descriptors: pipes: requests, replies, control, report, output.
        common: what every child may read.
    """
    requests, replies, control, report, output = descriptors
    _print_to(output)
    os.setsid()
    message = read_frame(requests)
    if message is None:
        os._exit(0)
    config = ChildConfig(**message)
    os.chdir(config.home)
    os.environ |= {"HOME": config.home, "TMPDIR": config.home}
    with suppress(OSError):
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    template = os.getppid()
    ours, theirs = socket.socketpair()
    worker = os.fork()
    if worker == 0:
        os.close(control)
        os.close(report)
        ours.close()
        config = replace(config, untouchable=(*config.untouchable, template))
        work(config, common, (requests, replies), theirs)
    theirs.close()
    os.close(requests)
    os.close(replies)
    _close_output()
    # Told here and not by the worker, which runs code that could tell anything.
    write_all(report, pack({"supervisor": os.getpid(), "worker": worker}))
    ended = _Watch(worker, control, ours, config).until_all_is_gone()
    # First: the daemon is not patient with a supervisor that has not reported.
    write_all(report, pack(ended))
    # Here and not in the daemon: a folder of a million files takes its time.
    remove_folder(config.home)
    # Not sys.exit: the buffers were copied by the fork, and belong to the worker.
    os._exit(0)


def _print_to(output: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        os.dup2(output, stream.fileno())
    os.close(output)


def _close_output() -> None:
    """Leave the output to the worker, so that it closes with its last writer."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (sys.stdin, sys.stdout, sys.stderr):
        os.dup2(null, descriptor.fileno())


class _Watch:
    """Watches one worker and all its descendants."""

    def __init__(
        self, worker: int, control: int, asks: socket.socket, config: ChildConfig
    ) -> None:
        self._worker = worker
        self._control = control
        self._asks = asks
        self._metadata: dict[int, Metadata] = {}
        """What answers about metadata, by the descriptor that it listens on."""
        self._home = config.home
        self._most_processes = config.processes
        self._most_bytes = config.memory_mb * MIB
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
        self._poll.register(asks, select.POLLIN)
        self._poll.register(self._awake, select.POLLIN)

    def until_all_is_gone(self) -> dict[str, object]:
        """Wait, kill where necessary, and return how the worker ended."""
        try:
            while self._reap():
                if self._is_ending:
                    self._signal_all(signal.SIGKILL)
                else:
                    self._check_limits()
                self._wait(KILL_EVERY_MS if self._is_ending else CHECK_EVERY_MS)
        except Exception as error:  # noqa: BLE001 - unreported, it would pass for a kill
            self._end(f"a mistake of its supervisor: {error!r}")
        code = os.waitstatus_to_exitcode(self._status or 0)
        return {"code": code, "reason": self._reason}

    def _wait(self, milliseconds: int) -> None:
        for descriptor, events in self._poll.poll(milliseconds):
            if descriptor in self._metadata:
                self._answer(descriptor, events)
            elif descriptor == self._asks.fileno():
                self._listen()
            elif descriptor == self._awake:
                with suppress(BlockingIOError):
                    os.read(self._awake, 4096)
            elif os.read(self._control, 16):
                self._signal_all(signal.SIGTERM)
            else:
                self._poll.unregister(self._control)
                self._is_ending = True

    def _listen(self) -> None:
        """Take over what answers about metadata; the worker sends it, or nothing."""
        _, descriptors, _, _ = socket.recv_fds(self._asks, 1, 1)
        self._poll.unregister(self._asks)
        for listener in descriptors:
            self._metadata[listener] = Metadata(listener, self._home)
            self._poll.register(listener, select.POLLIN)

    def _answer(self, listener: int, events: int) -> None:
        if events & select.POLLIN:
            self._metadata[listener].answer()
        else:  # nobody is left who could ask
            self._poll.unregister(listener)

    def _reap(self) -> bool:
        """Reap what has ended; return whether anything still runs."""
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    return True
                if process == self._worker:
                    self._status = status
                    # What it started has no purpose any more.
                    self._is_ending = True
        return False

    def _check_limits(self) -> None:
        """End everything if there are too many processes, or they use much memory."""
        everybody = list(descendants_of(os.getpid()))
        started = len(everybody) - 1
        if started > self._most_processes:
            self._end(f"{started} child processes (limit {self._most_processes})")
        elif sum(map(resident_bytes, everybody)) > self._most_bytes:
            used = sum(map(proportional_bytes, everybody))
            limit = self._most_bytes // MIB
            if used > self._most_bytes:
                self._end(f"{used // MIB} MiB of memory in total (limit {limit})")

    def _end(self, reason: str) -> None:
        self._reason = reason
        self._is_ending = True
        self._signal_all(signal.SIGKILL)

    def _signal_all(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            # The worker's group first and at once: a fork cannot escape that.
            os.killpg(self._worker, number)
        for process in descendants_of(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)
