"""Journeyman processes that we start: they end when we do, however we end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import Process

from journeyman.domain.errors import JourneymanError, TimedOutError

LIFELINE = "--until-stdin-closes"
"""The hidden option of `run` and `sandbox` that a child is started with."""
READY_SECONDS = 30.0
"""A sandbox is ready after about one second; a busy machine may take longer."""
GRACE_SECONDS = 40.0
"""More than a daemon's own grace period (work.grace_seconds)."""
TERMINATED_SECONDS = 5.0


class ChildFailedError(JourneymanError):
    """A process that we started ended before it was of use."""


@asynccontextmanager
async def child(
    arguments: Sequence[str],
    log: Path,
    environment: Mapping[str, str] | None = None,
    *,
    answers: bool = False,
) -> AsyncIterator[Process]:
    """Run `journeyman ARGUMENTS`; stop it at the end.

    Its stdin is a pipe whose other end is ours alone. The kernel closes it when we
    die, even of SIGKILL, and the child stops at that. It is in a session of its own,
    so that Ctrl-C reaches us first. Its stderr, and its stdout unless it `answers`
    through a pipe, is appended to `log`.
    """
    with log.open("ab") as written:
        process = await anyio.open_process(
            [sys.executable, "-m", "journeyman", *arguments, LIFELINE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if answers else written,
            stderr=written,
            env=environment,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            await end(process)


async def end(process: Process) -> int:
    """Cut the lifeline, wait for the process to stop, insist if it does not."""
    if process.stdin is not None:
        await process.stdin.aclose()
    for seconds, insist in (
        (GRACE_SECONDS, process.terminate),
        (TERMINATED_SECONDS, process.kill),
    ):
        with anyio.move_on_after(seconds):
            return await process.wait()
        insist()
    return await process.wait()


@asynccontextmanager
async def sandbox(arguments: Sequence[str], log: Path) -> AsyncIterator[str]:
    """Run a sandbox and wait until it answers; give its address.

    Raises:
        ChildFailedError: it did not start, and what it said is in the message; or it
            ended too early, which also breaks off what is done inside.
        TimedOutError: it was not ready in time.
    """
    async with child(["sandbox", "--json", *arguments], log, answers=True) as process:
        base_url = await _ready(process, log)
        async with anyio.create_task_group() as group:
            group.start_soon(_stay_alive, process, log)
            yield base_url
            group.cancel_scope.cancel()


async def _stay_alive(process: Process, log: Path) -> None:
    code = await process.wait()
    raise ChildFailedError(
        f"the sandbox ended while it was needed, with exit code {code}",
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
    """Repeat what the child said last, which with `--json` is an object."""
    lines = log.read_text(errors="replace").splitlines()
    try:
        said = json.loads(lines[-1])
        return ChildFailedError(
            f"the sandbox did not start: {said['problem']}",
            said["fix"],
        )
    except (IndexError, ValueError, TypeError, KeyError):
        return ChildFailedError("the sandbox did not start", f"Its log is {log}.")


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
