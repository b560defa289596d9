"""The real log: structlog, configured here and nowhere globally.

A record passes through: the check against the catalogue, the removal of secrets,
the cutting of long texts, the folding of repeats, the rendering. As JSON, an event is
one line, whatever its values hold; lines for people may go on, indented.
"""

import json
import logging
import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, Self, TextIO

import structlog
from structlog.typing import FilteringBoundLogger, WrappedLogger

from journeyman.domain.tasks import JSON
from journeyman.domain.text import escape_json
from journeyman.observability import events
from journeyman.observability.log_file import LogFile
from journeyman.observability.redaction import Redactor

Format = Literal["auto", "text", "json"]

LONGEST_TEXT = 2_000
"""In characters; more of one value is cut, with a note."""
TRACEBACK = "traceback"
"""The field whose end is kept, and not its beginning: there the exception is named."""
EVENT_WIDTH = 16
"""In columns: where the fields of the commonest events begin."""
TEXT_WIDTH = 120
"""In columns: lines for people are no longer."""
INDENT = "    "
FOLDING_SECONDS = 30.0
MOST_REMEMBERED = 1_000
"""Different lines; beyond that the one not shown for longest is forgotten."""

_LEVELS: Mapping[str, int] = logging.getLevelNamesMapping()
_FOLDED = frozenset({"warning", "error"})
_UNQUOTED = re.compile(r"[^\s\"'=]+")
_COLOURS = {
    "debug": "\x1b[2m",
    "info": "\x1b[32m",
    "warning": "\x1b[33m",
    "error": "\x1b[31m",
}
_WORDS = frozenset({"message", "text"})
_LINE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_EMPTY: tuple[JSON, ...] = ("", [], {}, None, 0.0)
_RESET = "\x1b[0m"


def build_log(
    *,
    stream: TextIO,
    format: Format,  # noqa: A002 - the name of the setting
    level: events.Level,
    now: Callable[[], datetime],
    secrets: Redactor,
    strict: bool = False,
    colour: bool | None = None,
    levels: Mapping[str, events.Level] = MappingProxyType({}),
    file: LogFile | None = None,
) -> events.Log:
    """Return a log that writes to a stream.

    Args:
        stream: Where lines go. One that fails loses lines and stops nothing.
        format: `auto` is text on a terminal and JSON elsewhere.
        level: The least that is written.
        now: The wall clock, in UTC.
        secrets: What must never be written; may learn more later.
        strict: Raise at what is not declared, as tests want it. Otherwise it is
            written under `undeclared`.
        colour: None means colours on a terminal only.
        levels: The least that is written of an area, the first word of an event's
            name.
        file: Gets the same lines, always as JSON.
    """
    terminal = _is_terminal(stream)
    pipeline = _Pipeline(
        secrets=secrets,
        now=now,
        as_text=format == "text" or (format == "auto" and terminal),
        colour=terminal if colour is None else colour,
    )
    logger: FilteringBoundLogger = structlog.wrap_logger(
        _LineSink(stream, file),
        processors=[pipeline.clean, pipeline.fold, pipeline.arrange, pipeline.render],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        context_class=dict,
        cache_logger_on_first_use=False,
    )
    least = {area: _LEVELS[each.upper()] for area, each in levels.items()}
    thresholds = defaultdict(lambda: _LEVELS[level.upper()], least)
    return _StructuredLog(logger.bind(), thresholds, strict=strict)


class _StructuredLog:
    """The catalogue's guard in front of structlog."""

    def __init__(
        self,
        logger: FilteringBoundLogger,
        thresholds: Mapping[str, int],
        *,
        strict: bool,
    ) -> None:
        self._logger = logger
        self._thresholds = thresholds
        """By area: the least level that is written."""
        self._strict = strict

    def emit(self, event: events.Event, **fields: object) -> None:
        level = _LEVELS[event.level.upper()]
        is_written = level >= self._thresholds[event.name.partition(".")[0]]
        if not (is_written or self._strict):
            return  # Most events are never written: nothing else is done for them.
        if self._strict and events.CATALOGUE.get(event.name) is not event:
            raise events.UndeclaredEventError(event.name)
        declared = self._declared(event.allowed, fields, event.name)
        if is_written:
            self._logger.log(level, event.name, **declared)

    def bind(self, **context: object) -> Self:
        declared = self._declared(events.CONTEXT_FIELDS, context, "the context")
        bound = self._logger.bind(**declared)
        return type(self)(bound, self._thresholds, strict=self._strict)

    def _declared(
        self, allowed: frozenset[str], fields: dict[str, object], where: str
    ) -> dict[str, object]:
        if fields.keys() <= allowed:
            return fields
        undeclared = sorted(fields.keys() - allowed)
        if self._strict:
            raise events.UndeclaredFieldError(where, undeclared)
        known = {name: fields[name] for name in fields if name in allowed}
        return {**known, "undeclared": {name: fields[name] for name in undeclared}}


class _LineSink:
    """The last step: a stream that may be full, closed, or gone; and a file."""

    def __init__(self, stream: TextIO, file: LogFile | None) -> None:
        self._stream = stream
        self._file = file

    def line(self, text: str, as_json: str) -> None:
        if self._file is not None:
            self._file.line(as_json)
        self._write(text)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(f"{text}\n")
            self._stream.flush()
        except UnicodeEncodeError:
            self._write(escape_json(text, ascii_only=True))
        except (OSError, ValueError):
            # EPIPE, ENOSPC, or a closed stream: the work matters more than its log.
            return

    #: structlog calls the method that the level names.
    debug = info = warning = error = line


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (OSError, ValueError):
        return False


Record = MutableMapping[str, Any]


class _Pipeline:
    """What structlog passes each record through, in this order."""

    def __init__(
        self,
        *,
        secrets: Redactor,
        now: Callable[[], datetime],
        as_text: bool,
        colour: bool,
    ) -> None:
        self._secrets = secrets
        self._now = now
        self._as_text = as_text
        self._colour = colour
        self._folder = RepeatFolder(lambda: now().timestamp())

    def clean(self, _logger: WrappedLogger, _level: str, record: Record) -> Record:
        """Make values plain, take secrets out, then cut: half a secret is not found."""
        cleaned: Record = self._secrets.clean_record(record)
        for name, value in cleaned.items():
            if not isinstance(value, str) or len(value) > LONGEST_TEXT:
                cleaned[name] = _shorten(value, name)
        return cleaned

    def fold(self, _logger: WrappedLogger, level: str, record: Record) -> Record:
        """Suppress a warning or an error that was just written."""
        if level not in _FOLDED:
            return record
        repeated = self._folder.offer(json.dumps([level, record], sort_keys=True))
        if repeated is None:
            raise structlog.DropEvent
        return {**record, "repeated": repeated} if repeated else record

    def arrange(self, _logger: WrappedLogger, level: str, record: Record) -> Record:
        """Put time, level and event first, the context next, the fields last."""
        time = self._now().astimezone(UTC).isoformat(timespec="milliseconds")
        first = {"time": time.replace("+00:00", "Z"), "level": level}
        return {**first, "event": record.pop("event"), **record}

    def render(
        self, _logger: WrappedLogger, _level: str, record: Record
    ) -> tuple[tuple[str, str], dict[str, Any]]:
        """Write the record as it is shown, and as JSON; both safe on a terminal."""
        as_json = escape_json(_LINE.encode(record))
        if self._as_text:
            return (text_lines(dict(record), colour=self._colour), as_json), {}
        return (as_json, as_json), {}


@dataclass(eq=False)
class RepeatFolder:
    """Shows a line once in each window, with the number of those suppressed.

    How often a line came is the sum of 1 + `repeated` over the lines shown. What
    was suppressed is told by the next such line; if none comes, it is not told.
    """

    seconds: Callable[[], float]
    """The clock, in seconds."""
    window_seconds: float = FOLDING_SECONDS
    shown_at: OrderedDict[str, float] = field(init=False, default_factory=OrderedDict)
    suppressed: dict[str, int] = field(init=False, default_factory=dict)

    def offer(self, line: str) -> int | None:
        """Return None to suppress a line, else how many like it were suppressed."""
        now = self.seconds()
        shown_at = self.shown_at.get(line)
        # A clock that was stepped back must not suppress a line for hours.
        if shown_at is not None and 0 <= now - shown_at < self.window_seconds:
            self.suppressed[line] = self.suppressed.get(line, 0) + 1
            return None
        self.shown_at[line] = now
        self.shown_at.move_to_end(line)
        if len(self.shown_at) > MOST_REMEMBERED:
            oldest, _ = self.shown_at.popitem(last=False)
            self.suppressed.pop(oldest, None)
        return self.suppressed.pop(line, 0)


def _shorten(value: JSON, name: str = "") -> JSON:
    """Cut long texts, also those inside lists and tables."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        note = f"(cut; {len(value)} characters)"
        if name == TRACEBACK:
            return f"{note} ...{value[-LONGEST_TEXT:]}"
        return f"{value[:LONGEST_TEXT]}... {note}"
    if isinstance(value, list):
        return [_shorten(inner, name) for inner in value]
    if isinstance(value, dict):
        return {key: _shorten(inner, key) for key, inner in value.items()}
    return value


def text_lines(record: dict[str, JSON], *, colour: bool = False) -> str:
    """Return a record as people read it: `2026-11-22 14:03:59Z info task.claimed ...`.

    The agent's own id, which every line has, is left out, and so is what is empty.
    What is informed of is cut to one line of `TEXT_WIDTH` columns, unless somebody's
    words are in it. A warning or an error is told whole, in further lines that are
    indented, with what to do.
    """
    time, level, name = (str(record.pop(key)) for key in ("time", "level", "event"))
    event = events.CATALOGUE.get(name)
    if event is None or "agent_id" not in event.fields:
        record.pop("agent_id", None)
    parts = [
        f"{key}={escape_json(_value(value))}"
        for key, value in record.items()
        if value not in _EMPTY or isinstance(value, int)
    ]
    head = f"{time[:10]} {time[11:19]}Z {level:<7} {name:<{EVENT_WIDTH}}"
    lines = _fill(head, parts)
    if level not in _FOLDED and not record.keys() & _WORDS:
        lines = lines[:1] if len(lines) == 1 else [f"{lines[0]} …"]
    elif event is not None and event.action:
        lines += _fill(f"{INDENT}->", event.action.split())
    if colour:
        lines[0] = lines[0].replace(level, f"{_COLOURS[level]}{level}{_RESET}", 1)
    return "\n".join(lines)


def _fill(head: str, parts: Iterable[str]) -> list[str]:
    """Return words in lines of `TEXT_WIDTH` columns; a longer word breaks none."""
    lines, line = [], head
    for part in parts:
        words = part.split(" ")
        for word in words:
            if len(line) + 1 + len(word) > TEXT_WIDTH - 2 and line.strip():
                lines.append(line.rstrip())
                line = f"{INDENT}  {word}"
            else:
                line = f"{line} {word}"
    return [*lines, line.rstrip()]


def _value(value: JSON) -> str:
    if isinstance(value, str) and _UNQUOTED.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)
