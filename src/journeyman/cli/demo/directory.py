"""The demo's folder: made afresh each time, and only if a demo made it before."""

import json
import shutil
from pathlib import Path

from journeyman.domain.errors import AlreadyRunningError, SafetyError, StateError
from journeyman.journal.directory import DataDirectory

MARKER = ".journeyman-demo"
MARKER_TEXT = "`journeyman demo` made this folder, and empties it at each start.\n"


class DemoDirectory:
    """The files in the demo's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = DataDirectory(path / "data")
        self.config = path / "journeyman.toml"
        self.daemon_log = path / "daemon.log"
        self.sandbox_log = path / "sandbox.log"
        self.sandbox_data = path / "sandbox.db"

    def prepare(self) -> None:
        """Make it, or remove what the previous run left in it.

        Raises:
            SafetyError: the folder is not empty, and no demo made it.
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
                "Nothing was changed. Name another one with --directory.",
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
