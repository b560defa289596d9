"""Starting again on a copy of what a killed daemon has left, without a network."""

import shutil
from pathlib import Path

import httpx2 as httpx

from journeyman.daemon.agent import World, open_agent
from journeyman.journal import Journal
from journeyman.loop import recover_interrupted
from journeyman.observability.redaction import Redactor
from journeyman.settings import Settings
from journeyman.simulation.clock import SeededRandomness, SimulatedClock
from journeyman.simulation.loop import SimulationLoop
from journeyman.simulation.remains import dump
from journeyman.simulation.trace import TraceLog


class Restarts:
    """Whether a second start changes what a first one leaves."""

    def __init__(self, left: Path, settings: Settings, clock: SimulatedClock) -> None:
        """Start on a copy of the files in `left`, which is put where `settings` say."""
        self._left = left
        self._copy = settings.data.directory
        self._settings = settings
        self._clock = clock
        self._written = 0

    def agree(self) -> bool:
        """Start twice, and tell whether the second time has left all as it was."""
        shutil.copytree(self._left, self._copy)
        try:
            return self._compare()
        finally:
            shutil.rmtree(self._copy)

    def _compare(self) -> bool:
        self._start()
        self._start()
        if not self._written:
            return True
        # It may have written what was there already: only then all is compared.
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
            return dump(journal)

    async def _open_agent(self) -> None:
        log = TraceLog(lambda _event, _fields: None)
        world = World(
            clock=self._clock,
            randomness=SeededRandomness("restart"),
            log=log,
            redactor=Redactor(),
            transport=_NoNetwork(),
        )
        base_url = self._settings.network.base_url or ""
        async with open_agent(self._settings, base_url, world) as agent:
            recover_interrupted(agent.journal, log)
            row = agent.journal.database.row("SELECT total_changes() AS n")
            self._written = int(row["n"]) if row else 0


class _NoNetwork(httpx.AsyncBaseTransport):
    """Nobody is asked for anything before a start is over."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"a start has sent {request.method} {request.url}")
