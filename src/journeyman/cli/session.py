"""One call of the command line: what was said, and what it leads to.

The settings, the data directory, the running daemon, the journal and the network are
each reached from here, and imported only when they are.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import OutputClosedError
from journeyman.domain.errors import ConfigurationError, NotRunningError, UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from journeyman.control.client import ControlClient
    from journeyman.daemon.agent import Agent
    from journeyman.daemon.environment import Environment
    from journeyman.domain.tasks import Identity
    from journeyman.journal.directory import DataDirectory
    from journeyman.journal.journal import Journal
    from journeyman.network.client import NetworkClient
    from journeyman.settings.sections import Settings
    from journeyman.settings.sources import LoadedSettings


DATA_VARIABLE = "JOURNEYMAN_DATA__DIRECTORY"


class Session:
    """What was said on the command line, and the doors that it opens."""

    def __init__(
        self,
        *,
        as_json: bool = False,
        config: list[Path] | None = None,
        data_dir: Path | None = None,
        base_url: str | None = None,
        assignments: list[str] | None = None,
    ) -> None:
        self.as_json = as_json
        self.base_url = base_url
        self._config = config
        self._data_dir = data_dir
        self._assignments = assignments or []

    # -- settings -----------------------------------------------------------

    def load(self, more: Mapping[str, object] | None = None) -> LoadedSettings:
        """Read the settings; `more` are options of one command, by dotted key.

        Raises:
            ConfigurationError: a setting is wrong.
            UsageError: a `--set` is not KEY=VALUE.
        """
        from journeyman.settings.sources import load_settings

        said: dict[str, object] = dict(map(_assignment, self._assignments))
        options = {
            "network.base_url": self.base_url,
            "data.directory": self._data_text,
            **(more or {}),
        }
        said |= {key: value for key, value in options.items() if value is not None}
        return load_settings(
            files=self._config or None,
            overrides=said,
            environ=os.environ,
            cwd=Path.cwd(),
        )

    @property
    def _data_text(self) -> str | None:
        return None if self._data_dir is None else str(self._data_dir)

    def directory(self) -> DataDirectory:
        """Give the data directory, without reading settings where it is plain."""
        from journeyman.journal.directory import DataDirectory

        # In this order of strength anyway; it makes `health` twice as fast.
        near = self._data_text or os.environ.get(DATA_VARIABLE)
        if near and not self._assignments:
            return DataDirectory(Path(near).expanduser())
        return DataDirectory(self.load().settings.data.directory)

    # -- what the agent left on disk ----------------------------------------

    def journal(self) -> Journal:
        """Open the journal for reading, also while a daemon writes it.

        Raises:
            NotRunningError: there is none: no agent ever lived here.
            StateError: it is damaged.
        """
        from journeyman.daemon.environment import SystemClock
        from journeyman.journal.journal import Journal

        directory = self.directory()
        if not directory.journal.exists():
            raise NotRunningError(
                f"no agent has ever run in the data directory {directory.path}",
                "Start one with `journeyman run`, or name another --data-dir.",
            )
        return Journal(directory.journal, SystemClock().now, read_only=True)

    def identity(self) -> Identity | None:
        """Give who we are; None before we have joined."""
        from journeyman.journal.identity import load_identity

        return load_identity(self.directory().identity)

    # -- the running daemon ---------------------------------------------------

    def daemon(self) -> ControlClient:
        """Give a client for the daemon's socket; using it may find that none runs."""
        from journeyman.control.client import ControlClient

        return ControlClient(self.directory().control_socket)

    # -- the network ----------------------------------------------------------

    def address(self, settings: Settings) -> str:
        """Give the network's address: the settings', else the one we joined.

        Raises:
            ConfigurationError: neither is there.
        """
        if settings.network.base_url is not None:
            return settings.network.base_url
        identity = self.identity()
        if identity is None:
            raise no_address()
        return identity.base_url

    @asynccontextmanager
    async def network(self) -> AsyncIterator[tuple[NetworkClient, Identity | None]]:
        """Open a client for reading, with our identity where the network issued it."""
        from journeyman.daemon.agent import build_network

        settings = self.load().settings
        address = self.address(settings)
        identity = self.identity()
        if identity is not None and identity.base_url != address:
            identity = None
        environment = self._quiet_environment()
        async with build_network(settings, address, environment) as client:
            if identity is not None:
                environment.redactor.add(identity.access_token.reveal())
            client.identify(identity)
            yield client, identity

    @asynccontextmanager
    async def agent(self) -> AsyncIterator[Agent]:
        """Be the agent for a moment, where no daemon is; join if we never did.

        Raises:
            JourneymanError: see `open_agent`.
        """
        from journeyman.daemon.agent import open_agent

        settings = self.load().settings
        address = self.address(settings)
        async with open_agent(settings, address, self._quiet_environment()) as agent:
            yield agent

    def _quiet_environment(self) -> Environment:
        from journeyman.daemon.environment import build_environment

        return build_environment()


def no_address() -> ConfigurationError:
    """Say that no network was named."""
    return ConfigurationError(
        "no network is named",
        "Name it in one of three ways:\n"
        "  --base-url https://network.example\n"
        "  JOURNEYMAN_NETWORK__BASE_URL=https://network.example\n"
        '  base_url = "https://network.example" under [network] in '
        "config/journeyman.toml\n"
        "To try without a network, on this machine alone: journeyman run --sandbox",
    )


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(
            f"--set {text!r} is not KEY=VALUE",
            "Write for example --set work.slots=4.",
        )
    return key.strip(), value


_JSON = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]
_CONFIG = Annotated[
    list[Path] | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A TOML file of settings, instead of the default one; may be repeated, "
        "later ones are stronger.",
    ),
]
_DATA_DIR = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Where the agent keeps its state."),
]
_BASE_URL = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="The address of the network."),
]
_SET = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any setting, such as work.slots=4; may be repeated.",
    ),
]
_SETTINGS_OPTIONS: dict[str, object] = {
    "config": _CONFIG,
    "data_dir": _DATA_DIR,
    "base_url": _BASE_URL,
    "assignments": _SET,
}


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
) -> Callable[[Callable[..., int | None]], Command]:
    """Make a command of a function whose first argument is a `Session`.

    It gets `--json`, and with `settings` the options that lead to the settings. Its
    docstring is its help text. It gives its exit code; None is 0.
    """

    def decorate(function: Callable[..., int | None]) -> Command:
        return Command(
            name=name,
            help=inspect.cleandoc(function.__doc__ or ""),
            example=example,
            entry=_entry(function, _shared_options(settings=settings)),
        )

    return decorate


def _shared_options(*, settings: bool) -> list[inspect.Parameter]:
    def option(name: str, kind: object, default: object) -> inspect.Parameter:
        return inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=kind,
        )

    several = _SETTINGS_OPTIONS.items() if settings else ()
    options = [option(name, kind, None) for name, kind in several]
    return [*options, option("as_json", _JSON, default=False)]


def _entry(
    function: Callable[..., int | None],
    shared: list[inspect.Parameter],
) -> Callable[..., int]:
    """Give the function the signature that Typer should see."""
    signature = inspect.signature(function)
    _session, *own = signature.parameters.values()

    @functools.wraps(function)
    def entry(**values: Any) -> int:  # noqa: ANN401 - whatever the options' types are
        said = {option.name: values.pop(option.name) for option in shared}
        try:
            code = function(Session(**said), **values)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise OutputClosedError from error
        return code or 0

    entry.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined] # functions may have one (PEP 362)
    return entry
