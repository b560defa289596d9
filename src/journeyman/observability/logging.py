"""The real log: structlog, configured here and nowhere globally (design 9).

A record passes through: the check against the catalogue, the removal of secrets,
the cutting of long texts, the folding of repeats, the rendering. What is written
is one line for each event, whatever the values hold.
"""

import json
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, Self, TextIO

import structlog
from structlog.typing import FilteringBoundLogger, Processor, WrappedLogger

from journeyman.domain.tasks import JSON
from journeyman.observability.events import (
    CATALOGUE,
    CONTEXT_FIELDS,
    Event,
    Level,
    Log,
    UndeclaredEventError,
    UndeclaredFieldError,
)
from journeyman.observability.redaction import Redactor

WINDOW_SECONDS = 30.0
MOST_REMEMBERED = 1_000
"""Different lines; beyond that the one not shown for longest is forgotten."""


class RepeatFolder:
    """Lets a line through once in each window, with the number of those held back.

    How often a line came is the sum of 1 + `repeated` over the lines shown. What
    was held back is told by the next such line; if none comes, it is not told.
    """

    def __init__(
        self,
        seconds: Callable[[], float],
        window_seconds: float = WINDOW_SECONDS,
    ) -> None:
        """Take the clock, in seconds, and the length of the window."""
        self._seconds = seconds
        self._window = window_seconds
        self._shown_at: OrderedDict[str, float] = OrderedDict()
        self._held: dict[str, int] = {}

    def offer(self, line: str) -> int | None:
        """Tell whether to show the line: None is no, else how many were held back."""
        now = self._seconds()
        shown_at = self._shown_at.get(line)
        # A clock that was stepped back must not hold a line back for hours.
        if shown_at is not None and 0 <= now - shown_at < self._window:
            self._held[line] = self._held.get(line, 0) + 1
            return None
        self._remember(line, now)
        return self._held.pop(line, 0)

    def _remember(self, line: str, now: float) -> None:
        self._shown_at[line] = now
        self._shown_at.move_to_end(line)
        if len(self._shown_at) > MOST_REMEMBERED:
            oldest, _ = self._shown_at.popitem(last=False)
            self._held.pop(oldest, None)


LONGEST_TEXT = 2_000
"""In characters; more of one value is cut, with a note."""
EVENT_WIDTH = 24
"""In columns: where the fields begin, for nearly all names of events."""

#: Control characters, changes of writing direction, line separators, lone surrogates,
#: and what is not to be seen at all, such as tag characters: in a task's text they
#: could forge lines, move the cursor, or say one thing to people and another to models.
UNSAFE_CHARACTERS: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]",
)
_NON_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_BARE: Final = re.compile(r"[^\s\"'=]+")
_COLOURS: Final = {
    "debug": "\x1b[2m",
    "info": "\x1b[32m",
    "warning": "\x1b[33m",
    "error": "\x1b[31m",
}
_RESET: Final = "\x1b[0m"


def shorten(value: JSON) -> JSON:
    """Cut long texts, also those inside lists and tables."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]}... (cut; {len(value)} characters)"
    if isinstance(value, list):
        return [shorten(inner) for inner in value]
    if isinstance(value, dict):
        return {key: shorten(inner) for key, inner in value.items()}
    return value


def as_json(record: dict[str, JSON]) -> str:
    """Write a record as a JSON object on one line, safe to show on a terminal."""
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return UNSAFE_CHARACTERS.sub(_escaped, line)


def as_text(record: dict[str, JSON], *, colour: bool) -> str:
    """Write a record as `14:03:59Z info    task.claimed   task_id=t_1`."""
    rest = dict(record)
    time, level, event = (str(rest.pop(name)) for name in ("time", "level", "event"))
    fields = " ".join(f"{_safe(name)}={_value(value)}" for name, value in rest.items())
    word = f"{level:<7}"
    if colour:
        word = f"{_COLOURS[level]}{word}{_RESET}"
    return f"{time[11:19]}Z {word} {event:<{EVENT_WIDTH}} {fields}".rstrip()


def escape_non_ascii(line: str) -> str:
    """Write a line for a stream that knows only ASCII; JSON stays the same JSON."""
    return _NON_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], line)


def _value(value: JSON) -> str:
    if isinstance(value, str) and _BARE.fullmatch(value):
        return _safe(value)
    return _safe(json.dumps(value, ensure_ascii=False))


def _safe(text: str) -> str:
    return UNSAFE_CHARACTERS.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    """Write a character as JSON does: beyond the first plane, as a pair."""
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


Format = Literal["auto", "json", "text"]
_LEVELS: Mapping[str, int] = logging.getLevelNamesMapping()
_FOLDED = frozenset({"warning", "error"})


def build_log(
    *,
    stream: TextIO,
    format: Format,  # noqa: A002 - the name of the setting
    level: Level,
    now: Callable[[], datetime],
    secrets: Redactor,
    strict: bool = False,
    colour: bool | None = None,
) -> Log:
    """Make a log that writes to a stream.

    Args:
        stream: Where lines go. One that fails loses lines and stops nothing.
        format: `auto` is text on a terminal and JSON elsewhere.
        level: The least that is written.
        now: The wall clock, in UTC.
        secrets: What must never be written; may learn more later.
        strict: Raise at what is not declared, as tests want it. Otherwise it is
            written under `undeclared`.
        colour: None means colours on a terminal only.
    """
    terminal = _is_terminal(stream)
    text = format == "text" or (format == "auto" and terminal)
    colour = terminal if colour is None else colour
    processors: list[Processor] = [
        _Clean(secrets),
        _Fold(RepeatFolder(lambda: now().timestamp())),
        _Arrange(now),
        _Render(
            lambda record: as_text(record, colour=colour) if text else as_json(record)
        ),
    ]
    logger: FilteringBoundLogger = structlog.wrap_logger(
        _LineSink(stream),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level.upper()]),
        context_class=dict,
        cache_logger_on_first_use=False,
    )
    return _StructuredLog(logger.bind(), strict=strict)


class _StructuredLog:
    """The catalogue's guard in front of structlog."""

    def __init__(self, logger: FilteringBoundLogger, *, strict: bool) -> None:
        self._logger = logger
        self._strict = strict

    def emit(self, event: Event, **fields: object) -> None:
        if self._strict and CATALOGUE.get(event.name) is not event:
            raise UndeclaredEventError(event.name)
        declared = self._declared(event.fields | CONTEXT_FIELDS, fields, event.name)
        self._logger.log(_LEVELS[event.level.upper()], event.name, **declared)

    def bind(self, **context: object) -> Self:
        declared = self._declared(CONTEXT_FIELDS, context, "the context")
        return type(self)(self._logger.bind(**declared), strict=self._strict)

    def _declared(
        self,
        allowed: frozenset[str],
        fields: dict[str, object],
        where: str,
    ) -> dict[str, object]:
        strangers = fields.keys() - allowed
        if not strangers:
            return fields
        if self._strict:
            raise UndeclaredFieldError(where, sorted(strangers))
        known = {name: fields[name] for name in fields if name in allowed}
        return {
            **known,
            "undeclared": {name: fields[name] for name in sorted(strangers)},
        }


class _LineSink:
    """The last step: a stream that may be full, closed, or gone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def line(self, text: str) -> None:
        try:
            self._stream.write(f"{text}\n")
            self._stream.flush()
        except UnicodeEncodeError:
            self.line(escape_non_ascii(text))
        except (OSError, ValueError):
            # EPIPE, ENOSPC, or a closed stream: the work matters more than its log.
            return

    #: structlog calls the method that the level names.
    debug = info = warning = error = line


class _Clean:
    """Makes values plain, takes secrets out, then cuts: a half secret is not found."""

    def __init__(self, secrets: Redactor) -> None:
        self._secrets = secrets

    def __call__(
        self,
        _logger: WrappedLogger,
        _level: str,
        record: MutableMapping[str, Any],
    ) -> MutableMapping[str, Any]:
        cleaned = self._secrets.clean_record(record)
        return {name: shorten(value) for name, value in cleaned.items()}


class _Fold:
    """Holds back a warning or an error that was just written."""

    def __init__(self, folder: RepeatFolder) -> None:
        self._folder = folder

    def __call__(
        self,
        _logger: WrappedLogger,
        level: str,
        record: MutableMapping[str, Any],
    ) -> MutableMapping[str, Any]:
        if level not in _FOLDED:
            return record
        repeated = self._folder.offer(json.dumps([level, record], sort_keys=True))
        if repeated is None:
            raise structlog.DropEvent
        return {**record, "repeated": repeated} if repeated else record


class _Arrange:
    """Puts time, level and event first, the context next, the fields last."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def __call__(
        self,
        _logger: WrappedLogger,
        level: str,
        record: MutableMapping[str, Any],
    ) -> MutableMapping[str, Any]:
        time = self._now().astimezone(UTC).isoformat(timespec="milliseconds")
        return {
            "time": time.replace("+00:00", "Z"),
            "level": level,
            "event": record.pop("event"),
            **record,
        }


class _Render:
    """Turns the record into its line."""

    def __init__(self, render: Callable[[dict[str, JSON]], str]) -> None:
        self._render = render

    def __call__(
        self,
        _logger: WrappedLogger,
        _level: str,
        record: MutableMapping[str, Any],
    ) -> str:
        return self._render(dict(record))


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (OSError, ValueError):
        return False
