"""`journeyman run`: the daemon itself."""

import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated
from urllib.parse import urlsplit

import anyio
import typer

from journeyman.cli.processes import sandbox, stop_at_end_of_input
from journeyman.cli.session import Session, command, no_address
from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.environment import build_environment
from journeyman.domain.errors import AlreadyRunningError, UsageError
from journeyman.journal.directory import DataDirectory
from journeyman.settings.sections import Settings


@command("run", example="journeyman run --base-url https://network.example --slots 4")
def run(  # noqa: PLR0913 - each is an option of the command line
    session: Session,
    *,
    sandbox: Annotated[
        bool,
        typer.Option("--sandbox", help="Work in a sandbox of its own, not a network."),
    ] = False,
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The strategy files to load.")
    ] = None,
    shadow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Ask this strategy about each task, and give it none; may be "
            "repeated.",
        ),
    ] = None,
    discover_every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="How often to look for tasks."),
    ] = None,
    max_tasks: Annotated[
        int | None, typer.Option(metavar="N", help="Stop when so many have ended.")
    ] = None,
    once: Annotated[
        bool | None,
        typer.Option("--once", help="Look for tasks once, do those, and stop."),
    ] = None,
    slots: Annotated[
        int | None, typer.Option(metavar="N", help="How many to work on at once.")
    ] = None,
    log_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="auto, json or text.")
    ] = None,
    log_level: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="debug, info, warning or error."),
    ] = None,
    until_stdin_closes: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Run the daemon: join, discover, work, earn, until stopped.

    It stays in the foreground, and its log goes to stdout. SIGTERM or Ctrl-C lets work
    in flight end, then it exits with 0. Started again it is the same agent and goes on
    where it was. With `--json` the log is JSON.
    """
    stop = _EarlyStop()
    try:
        said: dict[str, object] = {
            "strategies.directory": str(strategies) if strategies else None,
            "strategies.shadow": shadow or None,
            "schedule.discover_every_seconds": discover_every,
            "work.max_tasks": max_tasks,
            "work.once": once,
            "work.slots": slots,
            "log.format": "json" if session.as_json else log_format,
            "log.level": log_level,
        }
        work(
            session,
            lambda: session.load(said).settings,
            sandbox=sandbox,
            lifeline=until_stdin_closes,
        )
    except KeyboardInterrupt:
        if not stop.heard:
            raise


class _EarlyStop:
    """Hears SIGTERM before the daemon does: a container's first process is deaf to it.

    It is passed on as Ctrl-C, which everything knows how to end from; but being told
    to stop, and stopping, is no failure.
    """

    def __init__(self) -> None:
        self.heard = False
        signal.signal(signal.SIGTERM, self._hear)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self.heard = True
        signal.raise_signal(signal.SIGINT)


ANY_PORT = "0"


@asynccontextmanager
async def own_sandbox(directory: DataDirectory) -> AsyncIterator[str]:
    """Run the sandbox that belongs to a data directory; give its address.

    Raises:
        AlreadyRunningError: a daemon holds the data directory, and its sandbox.
        StateError: the data directory cannot be used.
        ChildFailedError: the sandbox did not start.
    """
    directory.prepare()
    _require_free(directory)
    port = directory.path / "sandbox.port"
    arguments = ["--data", str(directory.path / "sandbox.db"), "--refill"]
    arguments += ["--port", port.read_text().strip() if port.exists() else ANY_PORT]
    async with sandbox(arguments, directory.path / "sandbox.log") as base_url:
        port.write_text(f"{urlsplit(base_url).port}\n")
        yield base_url


def _require_free(directory: DataDirectory) -> None:
    """Refuse here: a second sandbox would only say that its port is taken."""
    holder = directory.held_by()
    if holder is not None:
        raise AlreadyRunningError(
            f"another journeyman (process {holder}) uses the data directory "
            f"{directory.path}",
            "Stop it first, or give this one its own --data-dir.",
        )


def work(
    session: Session,
    read: Callable[[], Settings],
    *,
    sandbox: bool,
    lifeline: bool,
) -> None:
    """Run the daemon until it is told to stop, or has done what it should.

    Args:
        session: what was said on the command line.
        read: reads the settings, now and at each reload.
        sandbox: work in a sandbox of its own.
        lifeline: stop when the standard input ends.

    Raises:
        JourneymanError: it cannot start, or the disk fails.
    """
    if sandbox and session.base_url is not None:
        raise UsageError(
            "--sandbox and --base-url exclude each other",
            "Keep the one that names the network you mean.",
        )
    anyio.run(_work, read, sandbox, lifeline)


async def _work(read: Callable[[], Settings], sandbox: bool, lifeline: bool) -> None:  # noqa: FBT001 - anyio.run passes no keywords
    settings = read()
    environment = build_environment(sys.stdout, settings.log.format, settings.log.level)
    async with anyio.create_task_group() as group:
        if lifeline:
            group.start_soon(stop_at_end_of_input)
        async with _network(settings, sandbox=sandbox) as base_url:
            await run_daemon(settings, base_url, environment, read)
        group.cancel_scope.cancel()


@asynccontextmanager
async def _network(settings: Settings, *, sandbox: bool) -> AsyncIterator[str]:
    if sandbox:
        directory = DataDirectory(settings.data.directory)
        async with own_sandbox(directory) as base_url:
            yield base_url
        return
    if settings.network.base_url is None:
        raise no_address()
    yield settings.network.base_url
