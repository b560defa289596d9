"""The log as a file beside the data: the last lines, within a bounded size."""

import os
from collections import deque
from collections.abc import Iterator
from io import TextIOWrapper
from logging import LogRecord, makeLogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path

PRIVATE = 0o600
MEBIBYTE = 1024 * 1024
MOST_WAITING = 1_000
"""Lines that wait until the data directory is there."""


class LogFile(RotatingFileHandler):
    """A file of lines that is replaced before it grows too large.

    What cannot be written is lost: the work matters more than its log.
    """

    def __init__(self, path: Path, *, max_mb: float, older_files: int) -> None:
        """Write to `path`, and keep so many older files: `path.1` is the newest."""
        size = int(max_mb * MEBIBYTE) // (older_files + 1)
        super().__init__(
            path,
            maxBytes=max(1, size),
            backupCount=older_files,
            encoding="utf-8",
            errors="backslashreplace",
            delay=True,
        )
        self._folder = path.parent
        self._waiting: deque[str] = deque(maxlen=MOST_WAITING)

    def line(self, text: str) -> None:
        """Write a line; before the first start has made its folder, it waits."""
        self._waiting.append(text)
        if self.stream is None and not self._folder.is_dir():
            return
        while self._waiting:
            self.handle(makeLogRecord({"msg": self._waiting.popleft()}))

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self.baseFilename, flags, PRIVATE)
        return os.fdopen(
            descriptor, "a", encoding=self.encoding, errors=self.errors, newline="\n"
        )

    def handleError(self, record: LogRecord) -> None:  # noqa: N802 - the name in logging
        """Lose the line, where the disk is full or the folder is gone."""


def log_files(path: Path) -> list[Path]:
    """Return the files of a log that are there, the oldest first."""
    older = sorted(
        (
            file
            for file in path.parent.glob(f"{path.name}.*")
            if file.suffix[1:].isdigit()
        ),
        key=lambda file: -int(file.suffix[1:]),
    )
    return [file for file in (*older, path) if file.is_file()]


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a log, the oldest first."""
    for file in log_files(path):
        try:
            with file.open(encoding="utf-8", errors="backslashreplace") as lines:
                yield from lines
        except FileNotFoundError:  # It was replaced meanwhile.
            continue


def last_lines(path: Path, most_bytes: int) -> list[str]:
    """Return the last whole lines of a log's newest file, the oldest first."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most_bytes))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return []
    lines = text.splitlines()
    return lines[1:] if size > most_bytes else lines
