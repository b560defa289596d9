"""`journeyman logs`: the daemon's log, filtered, as it is kept beside the data."""

import json
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from journeyman.cli.commands.events import fill_catalogue
from journeyman.cli.completion import strategy_names, task_ids
from journeyman.cli.session import Session, command
from journeyman.cli.spans import SinceOption, time_of
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import NotRunningError
from journeyman.observability.log_file import log_files, read_lines
from journeyman.observability.logging import text_lines

LOOK_EVERY_SECONDS = 0.3


class Level(StrEnum):
    """The levels of a log, the least first."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@command("logs", example="journeyman logs --level warning --since 1h")
def logs(
    session: Session,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is logged now.")
    ] = False,
    task: Annotated[
        str | None,
        typer.Option(metavar="ID", autocompletion=task_ids, help="Only of this task."),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", autocompletion=strategy_names, help="Only of this one."
        ),
    ] = None,
    level: Annotated[
        Level, typer.Option(help="Only of this level or a higher one.")
    ] = Level.DEBUG,
    since: SinceOption = None,
    limit: Annotated[int, typer.Option(min=1, help="How many, the newest.")] = 200,
) -> None:
    """Show the log of this and of earlier runs.

    It is kept in the data directory, where `log.file_mb` bounds it; secrets were taken
    out before it was written. With --json it is a list, and with --follow one object a
    line.
    """
    chosen = Filter(
        task_id=task,
        strategy=strategy,
        level=level,
        since=time_of(since, SystemClock().now(), session.zone()),
    )
    path = session.directory().log
    if not log_files(path) and not follow:
        raise NotRunningError(
            f"there is no log at {path}",
            "`journeyman run` writes it, unless log.file_mb is 0; or name another "
            "--data-dir.",
        )
    fill_catalogue()
    found = list(deque(chosen.records(read_lines(path)), maxlen=limit))
    if follow:
        for record in found:
            _show(record, as_json=session.as_json)
        anyio.run(_follow, path, chosen, session.as_json)
    else:
        session.answer(found, lambda: _show_all(found))


@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """Which lines are wanted."""

    task_id: str | None
    strategy: str | None
    level: Level
    since: datetime | None

    def records(self, lines: Iterator[str]) -> Iterator[dict[str, Any]]:
        """Yield the wanted ones; a line that a crash cut short is left out."""
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and self._wants(record):
                yield record

    def _wants(self, record: dict[str, Any]) -> bool:
        levels = logging.getLevelNamesMapping()
        wanted = (
            (self.task_id, record.get("task_id")),
            (self.strategy, record.get("strategy")),
        )
        at = self.since.isoformat()[:19] if self.since else ""
        return (
            all(want in (None, is_) for want, is_ in wanted)
            and levels[record["level"].upper()] >= levels[self.level.upper()]
            and record["time"] >= at
        )


def _show_all(found: list[dict[str, Any]]) -> None:
    for record in found:
        _show(record, as_json=False)
    if not found:
        print("No line of the log is like this.")


def _show(record: dict[str, Any], *, as_json: bool) -> None:
    # Never a colour: what is piped must stay plain, and a terminal has its width.
    text = json.dumps(record) if as_json else text_lines(dict(record))
    print(text, flush=True)


async def _follow(path: Path, chosen: Filter, as_json: bool) -> None:  # noqa: FBT001 - anyio passes it by place
    async for line in _new_lines(path):
        for record in chosen.records(iter([line])):
            _show(record, as_json=as_json)


async def _new_lines(path: Path) -> AsyncIterator[str]:
    """Yield what is appended from now on, also after the file was replaced."""
    clock, position, rest = SystemClock(), _size(path), ""
    inode = _inode(path)
    while True:
        await clock.sleep(LOOK_EVERY_SECONDS)
        if inode != (now := _inode(path)):
            # What was written just before it was replaced is in the newest older one.
            older = path.with_name(f"{path.name}.1")
            rest += _read(older, position) if inode == _inode(older) else ""
            inode, position = now, 0
        text = _read(path, position)
        position += len(text.encode())
        *lines, rest = (rest + text).split("\n")
        for line in lines:
            yield line


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None


def _read(path: Path, position: int) -> str:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            file.seek(position)
            return file.read()
    except FileNotFoundError:
        return ""
