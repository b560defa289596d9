"""Everything that simulation replaces, and the real environment."""

import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self, TextIO

from journeyman.control.server import serve_control
from journeyman.daemon.disk import FreeBytes, free_bytes
from journeyman.daemon.service_manager import ServiceManager
from journeyman.daemon.system import SystemClock, SystemRandomness
from journeyman.daemon.turns import LoopTurns
from journeyman.daemon.watchdog import Watchdog
from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.errors import JourneymanError
from journeyman.domain.tasks import Identity
from journeyman.journal.identity import save_identity
from journeyman.journal.journal import Journal
from journeyman.network.http import Transport
from journeyman.observability.events import Log
from journeyman.observability.log_file import LogFile
from journeyman.observability.logging import build_log
from journeyman.observability.redaction import Redactor
from journeyman.strategies.running.runner import BLOCK_SECONDS
from journeyman.worker.ranking import Ranking


class JoinInterruptedError(JourneymanError):
    """A stop was requested before we had joined; nothing is lost."""

    exit_code = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """Everything that simulation replaces, and where the log goes."""

    clock: Clock
    randomness: Randomness
    log: Log
    redactor: Redactor
    transport: Transport | None = None
    """None: real sockets."""
    open_journal: Callable[[Path, Callable[[], datetime]], Journal] = Journal
    """Opens the file, given what tells the time."""
    save_identity: Callable[[Path, Identity], None] = save_identity
    serve_control: Callable[[Path, Any, Log], Coroutine[Any, Any, None]] = serve_control
    """Serves `OwnerCommands` at a socket of this path, until cancelled."""
    serve_web: Callable[[Any], Coroutine[Any, Any, None]] | None = None
    """Serves the page of `OwnerCommands`, until cancelled; None: there is none."""
    free_bytes: FreeBytes = free_bytes
    """Returns how much space the disk has."""
    ranking: Ranking | None = None
    """Puts the tasks that wait for a slot in order; None: as the settings say."""
    block_limit: float | None = BLOCK_SECONDS
    """Real seconds that one step of a strategy may hold the loop; None: any."""
    turns: LoopTurns | None = None
    """Measures the turns of the event loop; None: nobody does."""
    watchdog: Watchdog | None = None
    """Ends this process when its event loop no longer turns; None: nobody does."""
    service_manager: ServiceManager | None = None
    """Is told how the daemon fares; None: nobody wants to know."""
    has_processes: bool = True
    """Strategies may run in separate processes; simulated time has none."""

    def with_agent(self, identity: Identity) -> Self:
        """Return the same environment, with a log whose every line names the agent."""
        return replace(self, log=self.log.bind(agent_id=identity.agent_id))


Format = Literal["auto", "json", "text"]


Level = Literal["debug", "info", "warning", "error"]


def build_environment(
    stream: TextIO | None = None,
    format: Format = "text",  # noqa: A002 - the name of the setting
    level: Level = "error",
    levels: Mapping[str, Level] = MappingProxyType({}),
    file: LogFile | None = None,
) -> Environment:
    """Return an environment that logs to `stream`; by default errors, to stderr.

    `levels` are those of areas, and `file` gets the same lines as JSON.
    """
    clock, redactor = SystemClock(), Redactor()
    log = build_log(
        stream=stream or sys.stderr,
        format=format,
        level=level,
        now=clock.now,
        secrets=redactor,
        levels=levels,
        file=file,
    )
    return Environment(
        clock=clock,
        randomness=SystemRandomness(),
        log=log,
        redactor=redactor,
    )
