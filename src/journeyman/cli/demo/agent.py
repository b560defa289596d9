"""The demo's folder: made fresh each time, and only if it is ours."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from journeyman.control.client import ControlClient
from journeyman.domain.errors import (
    AlreadyRunningError,
    JourneymanError,
    SafetyError,
    StateError,
)
from journeyman.domain.tasks import JSON, NewTask
from journeyman.journal.directory import DataDirectory

MARKER = ".journeyman-demo"
MARKER_TEXT = "`journeyman demo` made this folder, and empties it at each start.\n"


class DemoDirectory:
    """The names of what lies in the demo's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = DataDirectory(path / "data")
        self.config = path / "journeyman.toml"
        self.daemon_log = path / "daemon.log"
        self.sandbox_log = path / "sandbox.log"
        self.sandbox_data = path / "sandbox.db"

    def prepare(self) -> None:
        """Make it, or empty it of the former run.

        Raises:
            SafetyError: the folder holds something, and no demo made it.
            AlreadyRunningError: a demo is running in it.
            StateError: it cannot be written.
        """
        try:
            self._require_ours()
            if holder := self.data.held_by():
                raise AlreadyRunningError(
                    f"a demo is running in {self.path} (process {holder})",
                    "Wait for it, stop it, or name another --directory.",
                )
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / MARKER).write_text(MARKER_TEXT)
        except OSError as error:
            raise StateError(
                f"the folder {self.path} cannot be used: {error.strerror}",
                "Name another one with --directory.",
            ) from error

    def _require_ours(self) -> None:
        if not self.path.exists() or (self.path / MARKER).exists():
            return
        if any(self.path.iterdir()):
            raise SafetyError(
                f"the folder {self.path} is not empty, and no demo made it",
                "Nothing was touched. Name another one with --directory.",
            )

    def configure(self, base_url: str, slots: int) -> None:
        """Write the daemon's settings, so that it can be started again by hand."""
        # JSON's texts are TOML's basic strings.
        base, data = json.dumps(base_url), json.dumps(str(self.data.path))
        self.config.write_text(
            "# Made by `journeyman demo`.\n"
            f"[network]\nbase_url = {base}\n\n"
            f"[data]\ndirectory = {data}\n\n"
            f"[work]\nslots = {slots}\n\n"
            "[schedule]\ndiscover_every_seconds = 1\n",
        )


TASK = NewTask(
    title="Say in one sentence what an agent network is",
    description="Answer with one English sentence of at most 30 words.",
    reward=5,
    kind="writing",
    tags=("text", "writing"),
)
TOP_UP_CREDITS = 200


@dataclass
class ControlRequests:
    """One posted task and one top-up; each is asked for once."""

    post: dict[str, JSON] = field(default_factory=dict)
    """The daemon's answer, or `problem`; empty until it was asked."""
    top_up: dict[str, JSON] = field(default_factory=dict)

    def run_next(self, daemon: ControlClient) -> None:
        """Run the next errand, if one is left."""
        if not self.post:
            self.post = _ask(lambda: daemon.post(TASK))
        elif not self.top_up:
            self.top_up = _ask(lambda: daemon.top_up(TOP_UP_CREDITS))

    def lines(self) -> list[str]:
        """Say what came of them."""
        told: list[str] = []
        if self.post:
            told.append(_told(self.post, f"posted a task for {TASK.reward} credits"))
        if self.top_up:
            usd = int(str(self.top_up.get("cents", 0))) / 100
            page = f"page for USD {usd:.2f}; nobody has paid it"
            told.append(_told(self.top_up, f"asked for a payment {page}"))
            told.extend(str(url) for url in [self.top_up.get("url")] if url)
        return told


def _ask(errand: Callable[[], dict[str, JSON]]) -> dict[str, JSON]:
    try:
        return errand()
    except JourneymanError as error:
        return {"problem": error.problem}


def _told(answer: dict[str, JSON], well: str) -> str:
    return f"not done: {answer['problem']}" if "problem" in answer else well
