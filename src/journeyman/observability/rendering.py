"""One log record as one line: JSON for machines, text for people."""

import json
import re
from typing import Final

from journeyman.domain import JSON

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
