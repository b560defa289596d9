"""Running the daemon in this process, as `journeyman run` does."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

from journeyman.cli.lifeline import stop_at_end_of_input
from journeyman.cli.own_sandbox import own_sandbox
from journeyman.cli.session import Session, no_address
from journeyman.cli.world import build_world
from journeyman.daemon.daemon import run_daemon
from journeyman.domain.errors import UsageError
from journeyman.journal import DataDirectory
from journeyman.settings import Settings


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
    world = build_world(sys.stdout, settings.log.format, settings.log.level)
    async with anyio.create_task_group() as group:
        if lifeline:
            group.start_soon(stop_at_end_of_input)
        async with _network(settings, sandbox=sandbox) as base_url:
            await run_daemon(settings, base_url, world, read)
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
