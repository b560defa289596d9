"""Starting again on a copy of what a killed daemon has left, without a network."""

import shutil
from collections import Counter
from pathlib import Path

import httpx2 as httpx

from journeyman.daemon.agent import World, open_agent
from journeyman.domain import IN_FLIGHT
from journeyman.journal import Journal, load_identity
from journeyman.loop import recover_interrupted
from journeyman.observability.redaction import Redactor
from journeyman.settings import Settings
from journeyman.simulation.clock import SeededRandomness, SimulatedClock
from journeyman.simulation.loop import SimulationLoop
from journeyman.simulation.remains import dump
from journeyman.simulation.trace import TraceLog


class Restarts:
    """Whether a second start changes what a first one leaves, and what was going on."""

    def __init__(
        self,
        left: Path,
        settings: Settings,
        clock: SimulatedClock,
        *,
        compared: bool,
    ) -> None:
        """Look at a copy of the files in `left`, which stay as they are.

        `compared` starts twice on the copy, which costs as much as an hour of life.
        """
        self._settings = settings
        self._clock = clock
        self._copy = left.with_name(f"{left.name}-again")
        shutil.copytree(left, self._copy)
        self.in_flight: Counter[str] = Counter()
        """The tasks in flight at the death, by their state."""
        self.agree = True
        """A later start leaves what the one before it left."""
        self._written = 0
        try:
            self._look()
            if compared and load_identity(self._copy / "identity.json") is not None:
                self._compare()
        finally:
            shutil.rmtree(self._copy)

    def _compare(self) -> None:
        self._start()
        self._start()
        if self._written:
            # It may have written what was there already: only then all is compared.
            once = self._dump()
            self._start()
            self.agree = once == self._dump()

    def _look(self) -> None:
        with self._open() as journal:
            counts = journal.tasks.counts()
        held = sorted(IN_FLIGHT & counts.keys())
        self.in_flight.update({str(state): counts[state] for state in held})

    def _start(self) -> None:
        """Do all that a start does before its first request."""
        loop = SimulationLoop(self._clock.monotonic())
        try:
            loop.run_until_complete(self._open_agent())
        finally:
            loop.close()

    def _dump(self) -> list[str]:
        with self._open() as journal:
            return dump(journal)

    async def _open_agent(self) -> None:
        settings = self._settings.model_copy(
            update={
                "data": self._settings.data.model_copy(
                    update={"directory": self._copy},
                ),
            },
        )
        log = TraceLog(lambda _event, _fields: None)
        world = World(
            clock=self._clock,
            randomness=SeededRandomness("restart"),
            log=log,
            redactor=Redactor(),
            transport=_NoNetwork(),
        )
        base_url = settings.network.base_url or ""
        async with open_agent(settings, base_url, world) as agent:
            recover_interrupted(agent.journal, log)
            row = agent.journal.database.row("SELECT total_changes() AS n")
            self._written = int(row["n"]) if row else 0

    def _open(self) -> Journal:
        return Journal(self._copy / "journal.db", self._clock.now)


class _NoNetwork(httpx.AsyncBaseTransport):
    """Nobody is asked for anything before a start is over."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"a start has sent {request.method} {request.url}")
