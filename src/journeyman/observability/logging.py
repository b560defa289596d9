"""The real log: structlog, configured here and nowhere globally (design 9).

A record passes through: the check against the catalogue, the removal of secrets,
the cutting of long texts, the folding of repeats, the rendering. What is written
is one line for each event, whatever the values hold.
"""

import json
import logging
from collections.abc import Callable, Mapping, MutableMapping
from datetime import UTC, datetime
from typing import Any, Literal, Self, TextIO

import structlog
from structlog.typing import FilteringBoundLogger, Processor, WrappedLogger

from journeyman.domain import JSON
from journeyman.observability.catalogue import CATALOGUE, Event, Level
from journeyman.observability.folding import RepeatFolder
from journeyman.observability.log import (
    CONTEXT_FIELDS,
    Log,
    UndeclaredEventError,
    UndeclaredFieldError,
)
from journeyman.observability.redaction import Redactor
from journeyman.observability.rendering import (
    as_json,
    as_text,
    escape_non_ascii,
    shorten,
)

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
