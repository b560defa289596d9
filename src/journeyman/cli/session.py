"""One call of the command line: its shared options, and what they lead to.

The settings, the data directory, the running daemon, the journal and the network are
each reached from here. They are imported only when they are needed, so that `status`
and `health` start fast.
"""

from __future__ import annotations

import functools
import gc
import inspect
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer

from journeyman.cli.healthcheck import DATA_VARIABLE
from journeyman.cli.output import OutputClosedError
from journeyman.control.verbs import STATUS
from journeyman.domain.errors import (
    ConfigurationError,
    JourneymanError,
    NotRunningError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from journeyman.control.client import ControlClient
    from journeyman.daemon.agent import Agent
    from journeyman.domain.tasks import Identity
    from journeyman.journal.directory import DataDirectory
    from journeyman.journal.journal import Journal
    from journeyman.network.client import NetworkClient
    from journeyman.settings.sections import Settings
    from journeyman.settings.sources import LoadedSettings

OpenApiOption = Annotated[
    Path | None,
    typer.Option(
        "--openapi", metavar="FILE", help="An OpenAPI description of the network."
    ),
]

CsvOption = Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")]


@dataclass(kw_only=True, eq=False)
class Session:
    """The options that commands share, and access to what they name."""

    config: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A TOML file of settings, instead of the default one; may be "
            "repeated, later ones win.",
        ),
    ] = None
    data_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the agent keeps its state."),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The address of the network."),
    ] = None
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any setting, such as work.slots=4; may be repeated.",
        ),
    ] = None
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs.")
    ] = False

    def answer(self, data: object, show: Callable[[], None]) -> None:
        """Print `data` as one JSON document if that was asked for, else call `show`."""
        if self.as_json:
            print(json.dumps(data, indent=2, default=str))
        else:
            show()

    def require_one_format(self, *, as_csv: bool) -> None:
        """Refuse to print both CSV and JSON.

        Raises:
            UsageError: both were asked for.
        """
        if as_csv and self.as_json:
            raise UsageError("--csv and --json were both given", "Give one of them.")

    # -- settings and data directory ------------------------------------------

    def load(self, more: Mapping[str, object] | None = None) -> LoadedSettings:
        """Read the settings; `more` are options of one command, by dotted key.

        Without any they are read once, with them each time.

        Raises:
            ConfigurationError: a setting is wrong.
            UsageError: a `--set` is not KEY=VALUE.
        """
        return self._loaded if more is None else self._load(more)

    @functools.cached_property
    def _loaded(self) -> LoadedSettings:
        return self._load({})

    def _load(self, more: Mapping[str, object]) -> LoadedSettings:
        from journeyman.settings.sources import load_settings

        overrides: dict[str, object] = dict(map(_assignment, self.assignments or ()))
        options = {
            "network.base_url": self.base_url,
            "data.directory": str(self.data_dir) if self.data_dir else None,
            **more,
        }
        overrides |= {key: value for key, value in options.items() if value is not None}
        return load_settings(
            files=self.config or None,
            overrides=overrides,
            environ=os.environ,
            cwd=Path.cwd(),
        )

    def zone(self) -> ZoneInfo:
        """Return the owner's time zone, in which days are counted.

        Raises:
            ConfigurationError: a setting is wrong.
        """
        return ZoneInfo(self.load().settings.budget.time_zone)

    def directory(self) -> DataDirectory:
        """Return the data directory, without reading settings where it is plain."""
        from journeyman.journal.directory import DataDirectory

        # Both are stronger than a file; this makes `health` twice as fast.
        path = self.data_dir or os.environ.get(DATA_VARIABLE)
        if path and not self.assignments:
            return DataDirectory(Path(path).expanduser())
        return DataDirectory(self.load().settings.data.directory)

    def identity(self) -> Identity | None:
        """Return the agent's identity; None before it has joined."""
        from journeyman.journal.identity import load_identity

        return load_identity(self.directory().identity)

    def journal(self) -> Journal:
        """Open the journal for reading, also while a daemon writes it.

        Raises:
            NotRunningError: there is none, because no agent has run here.
            StateError: it is damaged.
        """
        return self._open_journal(read_only=True)

    @contextmanager
    def writable_journal(self) -> Iterator[Journal]:
        """Open the journal for writing, which no daemon may do meanwhile.

        Raises:
            NotRunningError: there is none, because no agent has run here.
            AlreadyRunningError: a daemon holds the data directory.
            StateError: it is damaged.
        """
        from journeyman.journal.directory import DirectoryLock

        self._require_journal()
        with DirectoryLock(self.directory()), self._open_journal() as journal:
            yield journal

    def _open_journal(self, *, read_only: bool = False) -> Journal:
        from journeyman.daemon.system import SystemClock
        from journeyman.journal.journal import Journal

        self._require_journal()
        now = SystemClock().now
        return Journal(self.directory().journal, now, read_only=read_only)

    def _require_journal(self) -> None:
        directory, identity = self.directory(), self.identity()
        if directory.journal.exists():
            return
        if identity is not None:
            from journeyman.worker.join import missing_journal

            raise missing_journal(identity.agent_id, directory.journal)
        raise NotRunningError(
            f"no agent has ever run in the data directory {directory.path}",
            "Start one with `journeyman run`, or name another --data-dir.",
        )

    # -- the daemon -------------------------------------------------------------

    def daemon(self) -> ControlClient:
        """Return a client for the daemon's socket; its calls fail if none runs."""
        from journeyman.control.client import ControlClient

        return ControlClient(self.directory().control_socket)

    def strategies_of_daemon(self) -> dict[str, object]:
        """Return the settings that lead to the folders of the daemon's strategies.

        They may be no others than ours, or those of its command line. Where no daemon
        answers, or ours were named for this command, they are empty.
        """
        if any(one.startswith("strategies.") for one in self.assignments or ()):
            return {}
        try:
            folders = self.daemon().call(STATUS).get("strategy_folders")
        except JourneymanError:
            return {}
        match folders:
            case {"own": list(own), "ready": str() | None as ready} if own or ready:
                first, *more = own or [ready]
                return {
                    "strategies.directory": first,
                    "strategies.more_directories": more,
                    "strategies.ready": ready is not None,
                }
            case _:
                return {}

    def status(self) -> dict[str, Any]:
        """Return what `journeyman status --json` prints.

        Raises:
            NotRunningError: no daemon runs, and none has ever run here.
            TimedOutError: one runs and does not answer.
        """
        try:
            return self.daemon().call(STATUS)
        except NotRunningError:
            return self._stopped_status()

    def _stopped_status(self) -> dict[str, Any]:
        from journeyman.daemon.causes import Causes, Surroundings
        from journeyman.daemon.earning import network_record
        from journeyman.daemon.owner_pauses import stands_still
        from journeyman.daemon.status import health_of_strategies, journal_status
        from journeyman.daemon.system import SystemClock

        directory, identity = self.directory(), self.identity()
        base_url = identity.base_url if identity else None
        with self.journal() as journal:
            causes = Causes(
                journal=journal,
                record=network_record(journal, base_url or ""),
                now=SystemClock().now(),
                around=Surroundings(held_by=directory.held_by()),
            ).find()
            return {
                "running": False,
                "held_by": directory.held_by(),
                "agent_id": identity.agent_id if identity else None,
                "base_url": base_url,
                "data_directory": str(directory.path),
                **stands_still(journal, SystemClock().now()),
                "strategy_health": health_of_strategies(journal, SystemClock().now()),
                **journal_status(journal, base_url),
                "causes": [one.as_json() for one in causes],
            }

    # -- the network ------------------------------------------------------------

    def address(self, settings: Settings) -> str:
        """Return the address in the settings, else that of the network we joined.

        Raises:
            ConfigurationError: there is neither.
        """
        if settings.network.base_url is not None:
            return settings.network.base_url
        identity = self.identity()
        if identity is None:
            raise no_address()
        return identity.base_url

    @asynccontextmanager
    async def network(self) -> AsyncIterator[tuple[NetworkClient, Identity | None]]:
        """Open a client for reading, with our identity if this network issued it."""
        from journeyman.daemon.environment import build_environment
        from journeyman.daemon.network import build_network

        settings = self.load().settings
        address = self.address(settings)
        identity = self.identity()
        if identity is not None and identity.base_url != address:
            identity = None
        environment = build_environment()
        async with build_network(settings, address, environment) as client:
            if identity is not None:
                environment.redactor.add(identity.access_token.reveal())
            client.identify(identity)
            yield client, identity

    @asynccontextmanager
    async def agent(self) -> AsyncIterator[Agent]:
        """Act as the agent while no daemon does; join first if that is not done yet.

        Raises:
            JourneymanError: see `open_agent`.
        """
        from journeyman.daemon.agent import open_agent
        from journeyman.daemon.environment import build_environment

        settings = self.load().settings
        address = self.address(settings)
        # Warnings of the journal, too: an older one is found by whoever opens it first.
        environment = build_environment(levels={"journal": "warning"})
        async with open_agent(settings, address, environment) as agent:
            yield agent


def no_address() -> ConfigurationError:
    """Return the error of a command that needs a network and has none."""
    from journeyman.settings.sources import files_nearby

    nearby = [
        f"\nNot read, since it is not in this folder: {path} (--config {path} reads it)"
        for path in files_nearby(Path.cwd())
    ]
    return ConfigurationError(
        "no network is named",
        "Name it in one of three ways:\n"
        "  --base-url https://network.example\n"
        "  JOURNEYMAN_NETWORK__BASE_URL=https://network.example\n"
        '  base_url = "https://network.example" under [network] in journeyman.toml\n'
        "To try without a network, on this machine alone: journeyman run --sandbox"
        + "".join(nearby),
    )


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(
            f"--set {text!r} is not KEY=VALUE",
            "Write for example --set work.slots=4.",
        )
    return key.strip(), value


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A function that the command line can call, and how it is shown."""

    name: str
    help: str
    example: str
    entry: Callable[..., int]


def command(
    name: str,
    *,
    example: str,
    settings: bool = True,
    more_options: Sequence[inspect.Parameter] = (),
) -> Callable[[Callable[..., int | None]], Command]:
    """Make a command of a function whose first argument is a `Session`.

    The command gets `--json` and, with `settings`, the options that lead to them;
    `more_options` are handed to the function as its `**` argument. The docstring is
    the help text, and the return value the exit code; None is 0.
    """

    def decorate(function: Callable[..., int | None]) -> Command:
        shared = list(inspect.signature(Session, eval_str=True).parameters.values())
        if not settings:
            shared = [option for option in shared if option.name == "as_json"]
        return Command(
            name=name,
            help=inspect.cleandoc(function.__doc__ or ""),
            example=example,
            entry=_entry(function, shared, more_options),
        )

    return decorate


def _entry(
    function: Callable[..., int | None],
    shared: list[inspect.Parameter],
    more: Sequence[inspect.Parameter],
) -> Callable[..., int]:
    """Return the function with the signature that Typer should see."""
    signature = inspect.signature(function)
    _session, *own = signature.parameters.values()
    if more:
        own = [*own[:-1], *more]

    @functools.wraps(function)
    def entry(**values: Any) -> int:  # noqa: ANN401 - whatever the options' types are
        given = {option.name: values.pop(option.name) for option in shared}
        _collect_garbage()
        try:
            code = function(Session(**given), **values)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise OutputClosedError from error
        return code or 0

    entry.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined] # functions may have one (PEP 362)
    return entry


def _collect_garbage() -> None:
    """Collect it from here on, but not what was imported, which stays."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
