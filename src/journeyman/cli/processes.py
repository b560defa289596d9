"""Child processes of Journeyman, which end when we do, however we end."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import Process

from journeyman.domain.errors import JourneymanError, TimedOutError
from journeyman.journal.files import disk_errors

STOP_WITH_PARENT = "--until-stdin-closes"
"""The hidden option of `run` and `sandbox` that a child is started with."""
READY_SECONDS = 30.0
"""A sandbox is ready after about one second; a busy machine may take longer."""
GRACE_SECONDS = 40.0
"""More than a daemon's own grace period (work.grace_seconds)."""
TERMINATED_SECONDS = 5.0
LEAVING_SECONDS = 20.0
"""A sandbox whose daemon was killed ends at once; a busy machine may take longer."""


class ChildFailedError(JourneymanError):
    """A child process ended before its work was done."""


@asynccontextmanager
async def child_process(
    arguments: Sequence[str],
    log: Path,
    environment: Mapping[str, str] | None = None,
    *,
    answers: bool = False,
) -> AsyncIterator[Process]:
    """Run `journeyman ARGUMENTS` until the end of the block.

    Its stdin is a pipe whose other end only we hold. The kernel closes that when we
    die, even of SIGKILL, and then the child stops. It runs in a session of its own, so
    that Ctrl-C reaches us first. Its stderr, and its stdout unless it `answers`
    through a pipe, is appended to `log`.
    """
    with disk_errors(
        f"{log} cannot be written to", "Free some space or give write access."
    ):
        log_file = log.open("ab")
    with log_file:
        process = await anyio.open_process(
            [sys.executable, "-m", "journeyman", *arguments, STOP_WITH_PARENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if answers else log_file,
            stderr=log_file,
            env=environment,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _end(process: Process) -> None:
    """Close its stdin and wait for it to stop; send signals if it does not."""
    if process.stdin is not None:
        await process.stdin.aclose()
    for seconds, send_signal in (
        (GRACE_SECONDS, process.terminate),
        (TERMINATED_SECONDS, process.kill),
    ):
        with anyio.move_on_after(seconds):
            await process.wait()
            return
        send_signal()
    await process.wait()


@asynccontextmanager
async def sandbox(arguments: Sequence[str], log: Path) -> AsyncIterator[str]:
    """Run a sandbox, wait until it answers, and return its address.

    Raises:
        ChildFailedError: it did not start, for the reason in the message; or it ended
            too early, which also cancels the block.
        TimedOutError: it was not ready in time.
    """
    async with child_process(
        ["sandbox", "--json", *arguments], log, answers=True
    ) as process:
        base_url = await _ready(process, log)
        async with anyio.create_task_group() as group:
            group.start_soon(_fail_at_end, process, log)
            yield base_url
            group.cancel_scope.cancel()


async def _fail_at_end(process: Process, log: Path) -> None:
    code = await process.wait()
    raise ChildFailedError(
        f"the sandbox ended too early, with exit code {code}",
        f"Its log is {log}.",
    )


async def _ready(process: Process, log: Path) -> str:
    line, stdout = b"", process.stdout
    if stdout is None:
        raise AssertionError("unreachable: the child answers through a pipe")
    with anyio.move_on_after(READY_SECONDS) as waiting:
        async for part in stdout:
            line += part
            if b"\n" in line:
                return str(json.loads(line)["base_url"])
        await process.wait()
    if waiting.cancelled_caught:
        raise TimedOutError(
            f"the sandbox was not ready within {READY_SECONDS:.0f} s",
            f"Its log is {log}.",
        )
    raise _failure(log)


def _failure(log: Path) -> ChildFailedError:
    """Return the error in the last line of the log, which with `--json` is JSON."""
    lines = log.read_text(errors="replace").splitlines()
    try:
        error = json.loads(lines[-1])
        problem = f"the sandbox did not start: {error['problem']}"
        return ChildFailedError(problem, error["fix"])
    except (IndexError, ValueError, TypeError, KeyError):
        return ChildFailedError("the sandbox did not start", f"Its log is {log}.")


async def until_free(port: int) -> None:
    """Wait a while for the sandbox of a killed daemon to leave its port."""
    with anyio.move_on_after(LEAVING_SECONDS):
        while _is_taken(port):  # noqa: ASYNC110 - a process of somebody else's
            await anyio.sleep(0.05)


def _is_taken(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False


async def stop_at_end_of_input() -> None:
    """Send ourselves SIGTERM when stdin ends."""
    descriptor = sys.stdin.fileno()
    while True:
        await anyio.wait_readable(descriptor)
        if not os.read(descriptor, 4096):
            os.kill(os.getpid(), signal.SIGTERM)
            return
