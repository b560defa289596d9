"""What the pages show, each fact from its one owner: the daemon and its journal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.tasks import IN_FLIGHT

Shown = Mapping[str, Any]
"""What a template is given."""
LEAST_SECONDS: Final = 0.5
SHARE_OF_TIME: Final = 0.05
"""Looking at itself may take the daemon no more of its time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit:
    """What somebody wants to see."""

    token: str
    """For the forms of the page."""
    query: Mapping[str, str] = field(default_factory=dict)
    task_id: str = ""


@dataclass(eq=False)
class Figures:
    """Looks into a running daemon; a method for each section of a page."""

    commands: OwnerCommands
    _glance: Shown = field(init=False, default_factory=dict)
    _fresh_until: float = field(init=False, default=0.0)

    def glance(self) -> Shown:
        """Return the status, read anew only when that costs little."""
        monotonic = self.commands.agent.environment.clock.monotonic
        began = monotonic()
        if began >= self._fresh_until:
            self._glance = self.commands.glance()
            took = monotonic() - began
            self._fresh_until = began + max(LEAST_SECONDS, took / SHARE_OF_TIME)
        return self._glance

    def bar(self, _visit: Visit) -> Shown:
        """Return who it is, whether it works, and what it can be told."""
        status = self.glance()
        return {
            "status": status,
            "network": urlsplit(str(status["base_url"])).netloc,
            "state": _state(status),
        }

    def tiles(self, _visit: Visit) -> Shown:
        """Return the figures that are looked at first."""
        status = self.glance()
        tasks = status["tasks"]
        return {
            "status": status,
            "at_work": sum(tasks.get(state, 0) for state in IN_FLIGHT),
        }


def _state(status: Shown) -> tuple[str, str]:
    """Return in which way it works, and in words."""
    if status["obstacle"] == "stopping":
        return "warning", "Stopping"
    if status["paused"]:
        return "warning", "Paused"
    if status["obstacle"]:
        return "warning", f"Waiting: {status['obstacle']}"
    return "good", "Working"
