"""Whether a second start leaves everything as the first one did."""

import shutil
from pathlib import Path

import httpx2 as httpx
from tests.simulation.final_checks import table_rows
from tests.simulation.loop import SimulationLoop
from tests.simulation.trace import TraceLog
from tests.simulation.virtual_time import SeededRandomness, SimulatedClock

from journeyman.daemon.agent import open_agent
from journeyman.daemon.environment import Environment
from journeyman.journal.journal import Journal
from journeyman.observability.redaction import Redactor
from journeyman.settings.sections import Settings
from journeyman.worker.recover import recover_interrupted


class RestartCheck:
    """Starts a daemon twice on the files that a kill has left."""

    def __init__(self, files: Path, settings: Settings, clock: SimulatedClock) -> None:
        """Start on a copy of `files`, in the data directory of the settings."""
        self._files = files
        self._copy = settings.data.directory
        self._settings = settings
        self._clock = clock
        self._written = 0

    def is_idempotent(self) -> bool:
        """Return whether a second start leaves everything as the first one did."""
        shutil.copytree(self._files, self._copy)
        try:
            return self._compare()
        finally:
            shutil.rmtree(self._copy)

    def _compare(self) -> bool:
        self._start()
        self._start()
        if not self._written:
            return True
        # It may have written equal values: only a comparison of all rows tells.
        once = self._dump()
        self._start()
        return once == self._dump()

    def _start(self) -> None:
        """Do all that a start does before its first request."""
        loop = SimulationLoop(self._clock.monotonic())
        try:
            loop.run_until_complete(self._open_agent())
        finally:
            loop.close()

    def _dump(self) -> list[str]:
        with Journal(self._copy / "journal.db", self._clock.now) as journal:
            return table_rows(journal)

    async def _open_agent(self) -> None:
        log = TraceLog(lambda _event, _fields: None)
        environment = Environment(
            clock=self._clock,
            randomness=SeededRandomness("restart"),
            log=log,
            redactor=Redactor(),
            transport=_NoNetwork(),
        )
        base_url = self._settings.network.base_url or ""
        async with open_agent(self._settings, base_url, environment) as agent:
            recover_interrupted(agent.journal, log)
            row = agent.journal.database.row("SELECT total_changes() AS n")
            self._written = int(row["n"]) if row else 0


class _NoNetwork(httpx.AsyncBaseTransport):
    """Fails: a start sends no request."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"a start has sent {request.method} {request.url}")
