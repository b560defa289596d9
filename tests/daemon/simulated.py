"""A whole daemon in simulated time, with strategies in files and a network of lists."""

import json
import textwrap
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
from tests.simulation.loop import SimulationLoop
from tests.simulation.virtual_time import SeededRandomness, SimulatedClock, scheduled_by

from journeyman.daemon.agent import open_agent
from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.daemon import Daemon
from journeyman.daemon.environment import Environment
from journeyman.daemon.shutdown import Shutdown
from journeyman.daemon.strategies import load_strategies
from journeyman.daemon.turns import LoopTurns
from journeyman.daemon.wiring import Components
from journeyman.journal.journal import Journal
from journeyman.observability.events import Log
from journeyman.observability.redaction import Redactor
from journeyman.settings.sections import Settings
from journeyman.settings.sources import load_settings
from journeyman.testing import RecordingLog

URL = "http://network.example"
SECONDS_TO_LIVE = 100_000.0

Script = Callable[[OwnerCommands], Awaitable[None]]
"""What the owner does; when it ends, the daemon is told to stop."""


@dataclass
class SimpleNetwork:
    """Lists tasks, and says yes to everything."""

    tasks: list[dict[str, Any]] = field(default_factory=list)
    offered: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    posted: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    """By the last part of the path, where it is not a yes."""

    def offer(self, count: int, kind: str = "work", **fields: Any) -> None:  # noqa: ANN401 - any field of a task
        """List more tasks."""
        for _ in range(count):
            self.offered += 1
            about = {"id": f"t{self.offered}", "kind": kind, "title": "T", "reward": 2}
            self.tasks.append({**about, **fields})

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        name = request.url.path.rpartition("/")[2]
        self.calls[name] += 1
        await anyio.sleep(0.01)
        body = json.loads(request.content or b"null")
        status, answer = self.answers.get(name, (200, self._yes(name, body)))
        return httpx.Response(status, json=answer)

    def _yes(self, name: str, body: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        match name:
            case "create-free-agent-public":
                return {"agent_id": "a1", "access_token": "tok-123456", "credits": 100}
            case "get-marketplace-tasks":
                return {"tasks": self.tasks}
            case "claim-task-public":
                self.tasks = [t for t in self.tasks if t["id"] != body["task_id"]]
                return {"ok": True}
            case "write-post-task-public":
                self.posted.append(body)
                return {"ok": True, "task_id": f"post-{len(self.posted)}"}
            case _:
                return {"ok": True}


class Household:
    """A data directory, a folder of strategies, a network, and lives lived in turn."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "strategies"
        self.folder.mkdir()
        self.network = SimpleNetwork()
        self.log = RecordingLog()
        self.changes: dict[str, object] = {}
        """Settings, by dotted name; a reload reads them again."""
        self.settings_file_is_gone = False
        self.seconds = 0.0
        """Simulated, since the beginning of the first life."""

    def write(self, name: str, text: str) -> Path:
        """Write a strategy file."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def settings(self) -> Settings:
        if self.settings_file_is_gone:
            raise FileNotFoundError("the settings")
        given = {
            "network.base_url": URL,
            "data.directory": self.root / "data",
            "strategies.directory": self.folder,
            "posting.verify_first": False,
            **self.changes,
        }
        return load_settings(
            files=[], overrides=given, environ={}, cwd=self.root
        ).settings

    def live(self, script: Script) -> None:
        """Run a daemon until the script has ended."""
        loop = SimulationLoop(self.seconds)
        clock = SimulatedClock(loop.time, lambda: 0.0)
        with scheduled_by(clock.now):
            try:
                loop.run_until_complete(self._be(script, clock))
            finally:
                self.seconds = loop.time()
                loop.close()

    async def _be(self, script: Script, clock: SimulatedClock) -> None:
        settings, shutdown = self.settings(), Shutdown()

        async def owner(_path: Path, commands: OwnerCommands, _log: Log) -> None:
            await script(commands)
            shutdown.request("the script has ended")

        environment = Environment(
            clock=clock,
            randomness=SeededRandomness("household", self.seconds),
            log=self.log,
            redactor=Redactor(),
            transport=httpx.MockTransport(self.network),
            serve_control=owner,
            free_bytes=lambda _path: 1 << 40,
            block_limit=None,
            turns=LoopTurns(clock),
            has_processes=False,
        )
        with anyio.fail_after(SECONDS_TO_LIVE):
            async with open_agent(settings, URL, environment) as agent:
                registry = load_strategies(settings.strategies)
                parts = Components(
                    settings=settings,
                    agent=agent,
                    registry=registry,
                    environment=environment,
                    reread=self.settings,
                )
                # These tests are about strategies: the network has proven itself.
                for _ in range(settings.work.slots):
                    parts.proof.complete()
                await Daemon(parts, shutdown).run()

    def journal(self) -> Journal:
        """Open what the last life has left."""
        clock = SimulatedClock(lambda: self.seconds, lambda: 0.0)
        return Journal(self.root / "data" / "journal.db", clock.now, read_only=True)

    def said(self, message: str) -> list[dict[str, Any]]:
        """Return the details of what strategies wrote to their logs under a message."""
        names = ("strategy.log", "strategy.warning")
        lines = [fields for name, fields in self.log.lines if name in names]
        return [
            dict(fields["details"])  # type: ignore[call-overload] # a dict, as written
            for fields in lines
            if fields["message"] == message
        ]
