"""One call of the command line: what was said, and what it leads to.

The settings, the data directory, the running daemon, the journal and the network are
each reached from here, and imported only when they are.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from journeyman.domain.errors import (
    ConfigurationError,
    NotRunningError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from journeyman.daemon.agent import Agent, World
    from journeyman.daemon.control_client import ControlClient
    from journeyman.domain import Identity
    from journeyman.journal import DataDirectory, Journal
    from journeyman.network import NetworkClient
    from journeyman.settings import Loaded, Settings

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

    def load(self, more: Mapping[str, object] | None = None) -> Loaded:
        """Read the settings; `more` are options of one command, by dotted key.

        Raises:
            ConfigurationError: a setting is wrong.
            UsageError: a `--set` is not KEY=VALUE.
        """
        from journeyman.settings import load_settings

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
        from journeyman.journal import DataDirectory

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
        from journeyman.daemon.system import SystemClock
        from journeyman.journal import Journal

        directory = self.directory()
        if not directory.journal.exists():
            raise NotRunningError(
                f"no agent has ever run in the data directory {directory.path}",
                "Start one with `journeyman run`, or name another --data-dir.",
            )
        return Journal(directory.journal, SystemClock().now, read_only=True)

    def identity(self) -> Identity | None:
        """Give who we are; None before we have joined."""
        from journeyman.journal import load_identity

        return load_identity(self.directory().identity)

    # -- the running daemon ---------------------------------------------------

    def daemon(self) -> ControlClient:
        """Give a client for the daemon's socket; using it may find that none runs."""
        from journeyman.daemon.control_client import ControlClient

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
        world = self._quiet_world()
        async with build_network(settings, address, world) as client:
            if identity is not None:
                world.redactor.add(identity.access_token.reveal())
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
        async with open_agent(settings, address, self._quiet_world()) as agent:
            yield agent

    def _quiet_world(self) -> World:
        from journeyman.cli.world import build_world

        return build_world()


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
