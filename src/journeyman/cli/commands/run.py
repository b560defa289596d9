"""`journeyman run`: the daemon itself."""

import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Annotated
from urllib.parse import urlsplit

import anyio
import typer

from journeyman.cli.catalog import StrategiesOption
from journeyman.cli.processes import sandbox as sandbox_process
from journeyman.cli.processes import stop_at_end_of_input, until_free
from journeyman.cli.session import OpenApiOption, Session, command, no_address
from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.environment import Environment, build_environment
from journeyman.daemon.output import captured_output, nothing_afterwards, private_output
from journeyman.daemon.service_manager import ServiceManager
from journeyman.daemon.system import (
    SystemClock,
    collect_garbage_seldom,
    forbid_core_dumps,
)
from journeyman.daemon.turns import LoopTurns
from journeyman.daemon.watchdog import Watchdog
from journeyman.domain.errors import AlreadyRunningError, ConfigurationError, UsageError
from journeyman.journal.directory import DataDirectory
from journeyman.observability.log_file import LogFile
from journeyman.settings.sections import Settings, WebSettings

OLDER_LOG_FILES = 3
ANY_PORT = "0"


@command("run", example="journeyman run --base-url https://network.example --slots 4")
def run(  # noqa: PLR0913 - each is an option of the command line
    session: Session,
    *,
    sandbox: Annotated[
        bool,
        typer.Option("--sandbox", help="Work in a new sandbox, not on a network."),
    ] = False,
    strategies: StrategiesOption = None,
    shadow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Put this strategy in shadow: it is asked about each task and given "
            "none; may be repeated.",
        ),
    ] = None,
    discover_every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="How often to look for tasks."),
    ] = None,
    max_tasks: Annotated[
        int | None, typer.Option(metavar="N", help="Stop when N tasks have ended.")
    ] = None,
    once: Annotated[
        bool | None,
        typer.Option("--once", help="Look for tasks once, do those, and stop."),
    ] = None,
    slots: Annotated[
        int | None, typer.Option(metavar="N", help="How many to work on at once.")
    ] = None,
    paused: Annotated[
        bool,
        typer.Option("--paused", help="Claim nothing until `journeyman resume`."),
    ] = False,
    web: Annotated[
        bool | None,
        typer.Option("--web", help="Serve a page that shows and steers the agent."),
    ] = None,
    openapi: OpenApiOption = None,
    log_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="auto, json or text.")
    ] = None,
    log_level: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="debug, info, warning or error."),
    ] = None,
    until_stdin_closes: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Run the daemon: join, discover, work and earn until stopped.

    It stays in the foreground, and its log goes to stdout. After SIGTERM or Ctrl-C it
    finishes the work in flight, then exits with 0. When it is started again it is the
    same agent and continues where it was. With `--json` the log is JSON.
    """
    stop, watchdog, turns = _prepare_process()
    manager = ServiceManager.from_environment(os.environ)
    _require_one_network(session, sandbox=sandbox)
    overrides: dict[str, object] = {
        "strategies.directory": str(strategies) if strategies else None,
        "strategies.shadow": shadow or None,
        "schedule.discover_every_seconds": discover_every,
        "work.max_tasks": max_tasks,
        "work.once": once,
        "work.slots": slots,
        "contract.openapi": str(openapi) if openapi else None,
        "web.enabled": web,
        "log.format": "json" if session.as_json else log_format,
        "log.level": log_level,
    }

    def read() -> Settings:
        return session.load(overrides).settings

    async def work() -> None:
        settings = read()
        log = settings.log
        with private_output() as output, _log_file(settings) as file:
            environment = build_environment(
                output, log.format, log.level, log.levels, file
            )
            environment = replace(
                environment, turns=turns, watchdog=watchdog, service_manager=manager
            )
            environment = _with_page(environment, settings.web)
            most = settings.isolation.output_bytes
            with nothing_afterwards(), captured_output(environment.log, most):
                await live(settings, environment)

    async def live(settings: Settings, environment: Environment) -> None:
        async with anyio.create_task_group() as group:
            if until_stdin_closes:
                group.start_soon(stop_at_end_of_input)
            async with _network(settings, sandbox=sandbox) as base_url:
                await run_daemon(settings, base_url, environment, read, paused=paused)
            group.cancel_scope.cancel()

    with stop.is_no_failure(), watchdog:
        anyio.run(work, backend_options={"loop_factory": turns.new_loop})


@contextmanager
def _log_file(settings: Settings) -> Iterator[LogFile | None]:
    """Open the log beside the data; yield None where the settings want none."""
    path, most = DataDirectory(settings.data.directory).log, settings.log.file_mb
    if not most:
        yield None
        return
    with closing(LogFile(path, max_mb=most, older_files=OLDER_LOG_FILES)) as file:
        yield file


def _with_page(environment: Environment, settings: WebSettings) -> Environment:
    """Return an environment that serves the page and measures, if that is wanted.

    Raises:
        ConfigurationError: its library is not installed.
    """
    if not settings.enabled:
        return environment
    try:
        from journeyman.web.metrics import (  # noqa: PLC0415 - an extra
            MeteredLog,
            Meters,
        )
        from journeyman.web.server import Place, serve_web  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"the page needs the extra `web`: {error.name} is not installed",
            "pip install 'journeyman[web]', or set web.enabled = false.",
        ) from error
    place = Place(
        host=settings.host,
        port=settings.port,
        names=settings.names,
        password=settings.password,
    )
    meters = Meters(environment.clock)
    return replace(
        environment,
        log=MeteredLog(environment.log, meters),
        serve_web=partial(serve_web, place, meters),
    )


def _require_one_network(session: Session, *, sandbox: bool) -> None:
    if sandbox and session.base_url is not None:
        raise UsageError(
            "--sandbox and --base-url exclude each other",
            "Keep the one that names the network you mean.",
        )


def _prepare_process() -> tuple["_EarlyStop", Watchdog, LoopTurns]:
    """Prepare for a signal, a crash, and an event loop that does not turn."""
    forbid_core_dumps()
    collect_garbage_seldom()
    return _EarlyStop(), Watchdog(), LoopTurns(SystemClock())


class _EarlyStop:
    """Handles SIGTERM until the daemon does: a container's first process ignores it.

    It is passed on as Ctrl-C, which ends everything cleanly; but stopping when told
    to is not a failure.
    """

    def __init__(self) -> None:
        self.requested = False
        signal.signal(signal.SIGTERM, self._handle)

    @contextmanager
    def is_no_failure(self) -> Iterator[None]:
        """Catch the Ctrl-C as which a stop was passed on; it ends what is inside."""
        try:
            yield
        except KeyboardInterrupt:
            if not self.requested:
                raise

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.requested = True
        signal.raise_signal(signal.SIGINT)


@asynccontextmanager
async def _network(settings: Settings, *, sandbox: bool) -> AsyncIterator[str]:
    """Yield the address of the network; a sandbox runs until the end of the block."""
    if not sandbox:
        if settings.network.base_url is None:
            raise no_address()
        yield settings.network.base_url
        return
    directory = DataDirectory(settings.data.directory)
    directory.prepare()
    # A second sandbox would only report that its port is taken.
    if holder := directory.held_by():
        raise AlreadyRunningError(
            f"another journeyman (process {holder}) uses the data directory "
            f"{directory.path}",
            "Stop it first, or give this one its own --data-dir.",
        )
    port = directory.path / "sandbox.port"
    arguments = ["--data", str(directory.path / "sandbox.db"), "--refill"]
    arguments += ["--own-posts", "--post-hours", "24"]
    last = port.read_text().strip() if port.exists() else ANY_PORT
    arguments += ["--port", last]
    if last.isdecimal():
        await until_free(int(last))
    log = directory.path / "sandbox.log"
    async with sandbox_process(arguments, log) as base_url:
        port.write_text(f"{urlsplit(base_url).port}\n")
        yield base_url
