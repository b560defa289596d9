"""Keeping secrets out of everything that is written: by knowledge and by pattern."""

import math
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from enum import Enum
from json import dumps
from pathlib import PurePath
from typing import TypeGuard
from urllib.parse import quote, quote_plus

from journeyman.domain.tasks import JSON, AccessToken

DEEPEST = 8
"""Levels of nesting that are kept; it also ends a structure that holds itself."""
MOST_ITEMS = 100
"""Items of one list or table that are kept."""
MOST_BITS = 1_024
"""Python refuses to write out much longer whole numbers in decimal."""


def plain(value: object, depth: int = 0) -> JSON:
    """Give the value as JSON: tokens hidden, exceptions named, times in UTC.

    It never raises, whatever a foreign object does when it is looked at.
    """
    try:
        return _plain(value, depth)
    except Exception as error:  # noqa: BLE001 - a foreign __repr__ may raise anything
        return f"<{type(value).__name__} that raised {type(error).__name__}>"


def _plain(value: object, depth: int) -> JSON:
    if isinstance(value, Enum):
        return plain(value.value, depth)
    if _is_scalar(value):
        return value
    if isinstance(value, Mapping):
        return _table(value, depth) if depth < DEEPEST else "..."
    if isinstance(value, list | tuple | AbstractSet):
        return _list(value, depth) if depth < DEEPEST else "..."
    return _text(value)


def _is_scalar(value: object) -> TypeGuard[bool | int | float | str | None]:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return value.bit_length() <= MOST_BITS
    return value is None or isinstance(value, str)


def _table(table: Mapping[object, object], depth: int) -> JSON:
    kept = list(table.items())[:MOST_ITEMS]
    shown: dict[str, JSON] = {
        str(plain(key)): plain(value, depth + 1) for key, value in kept
    }
    if len(table) > MOST_ITEMS:
        shown["..."] = _more(len(table))
    return shown


def _list(items: Iterable[object], depth: int) -> JSON:
    # Sets have no order of their own, and equal records must give equal lines.
    kept = sorted(items, key=repr) if isinstance(items, AbstractSet) else list(items)
    shown = [plain(item, depth + 1) for item in kept[:MOST_ITEMS]]
    return [*shown, _more(len(kept))] if len(kept) > MOST_ITEMS else shown


def _more(count: int) -> str:
    return f"{count - MOST_ITEMS} more"


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}".removesuffix(": ")
    if isinstance(value, bytes | bytearray):
        return f"<{len(value)} bytes>"
    if isinstance(value, int):
        return f"<whole number of {value.bit_length()} bits>"
    return str(value) if isinstance(value, AccessToken | PurePath) else repr(value)


HIDDEN = "***"
SHORTEST_SECRET = 6
"""In characters; hiding shorter ones would tear holes into ordinary words."""

SENSITIVE = (
    r"(?:access|refresh|bearer|auth|api|id|session)[_-]?(?:token|key)"
    r"|client[_-]?secret|password|passwd|authorization|set-cookie|cookie"
)
"""The names, as a pattern, under which secrets are kept."""
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    # RFC 6750, section 2.1: the Authorization header and the token's letters.
    (re.compile(r"\b(bearer)\s+[\w.~+/-]+=*", re.IGNORECASE), rf"\1 {HIDDEN}"),
    # RFC 7519, section 3: three base64url parts; `eyJ` is the start of `{"`.
    (re.compile(r"(?<![\w-])eyJ[\w-]{4,}\.[\w-]+(?:\.[\w-]*)?"), HIDDEN),
    # A user and a password in front of a host.
    (re.compile(r"(://)[^\s/@]+@"), rf"\1{HIDDEN}@"),
    # "access_token": "...", also inside a JSON text that is itself quoted.
    (
        re.compile(
            rf"""((?:{SENSITIVE})\\*["']\s*[:=]\s*(\\*["']))(?:(?!\2).)+""",
            re.IGNORECASE | re.DOTALL,
        ),
        rf"\g<1>{HIDDEN}",
    ),
    # access_token=..., Authorization: Basic ...
    (
        re.compile(
            rf"""\b((?:{SENSITIVE})\s*[:=]\s*(?:basic\s+)?)[^\s"'&;,]+""",
            re.IGNORECASE,
        ),
        rf"\g<1>{HIDDEN}",
    ),
)
_HINT_WORDS = (
    *("token", "key", "secret", "passw", "authorization", "cookie", "bearer"),
    *("eyj", "://"),
)
"""One of these is in every text that a pattern could match; a cheap first look."""
_HINTS = re.compile("|".join(_HINT_WORDS), re.IGNORECASE)
_NAMED = re.compile(rf"(?:{SENSITIVE}|secret|token)", re.IGNORECASE)


class Redactor:
    """Replaces secrets by `***`, in texts and in nested values."""

    def __init__(self) -> None:
        self._forms: set[str] = set()
        self._known: re.Pattern[str] | None = None
        self._names: dict[str, str] = {}

    def add(self, secret: str) -> None:
        """Learn a secret; one shorter than six characters is not looked for."""
        if len(secret) < SHORTEST_SECRET:
            return
        self._forms.update(spellings_of(secret))
        self._names.clear()
        # The longest first: a form may hold a shorter one.
        longest_first = sorted(self._forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, longest_first)))

    def knows(self, text: str) -> bool:
        """Tell whether a learned secret is in the text, however it is spelled."""
        return any(form in text for form in self._forms)

    def clean(self, text: str) -> str:
        """Give the text without secrets."""
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        if not _has_hint(text):
            return text
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
        return text

    def may_hide(self, text: str) -> bool:
        """Tell whether `clean` could change a text; a no is sure, and cheap."""
        return self.knows(text) or _has_hint(text)

    def clean_json(self, value: JSON) -> JSON:
        """Give JSON without secrets, whole: unlike a log's, nothing is left away.

        Raises:
            RecursionError: it is nested too deeply.
        """
        return _walk(value, self.clean)

    def clean_value(self, value: object) -> JSON:
        """Give any value as plain JSON without secrets, also in the names of keys."""
        return _walk(plain(value), self.clean)

    def clean_record(self, record: Mapping[str, object]) -> dict[str, JSON]:
        """Do the same for the fields of a log record."""
        return {
            self._clean_name(name): _entry(name, plain(value), self.clean)
            for name, value in record.items()
        }

    def _clean_name(self, name: str) -> str:
        """Clean the name of a field, once: the same few come with every record."""
        if name not in self._names:
            self._names[name] = self.clean(name)
        return self._names[name]


def _has_hint(text: str) -> bool:
    """Look for a hint; in ASCII by plain search, which is twenty times as fast."""
    if not text.isascii():
        return _HINTS.search(text) is not None
    small = text.lower()
    return any(word in small for word in _HINT_WORDS)


def _walk(value: JSON, clean: Callable[[str], str]) -> JSON:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _entry(key, inner, clean) for key, inner in value.items()}
    if isinstance(value, list):
        return [_walk(inner, clean) for inner in value]
    # A secret can be a number; a number that holds none stays one.
    digits = str(value)
    if len(digits) < SHORTEST_SECRET or clean(digits) == digits:
        return value
    return HIDDEN


def _entry(key: str, value: JSON, clean: Callable[[str], str]) -> JSON:
    if _NAMED.fullmatch(key) and isinstance(value, str) and value:
        return HIDDEN
    return _walk(value, clean)


def spellings_of(secret: str) -> frozenset[str]:
    """Give the ways in which a secret may be written inside a text."""
    return frozenset(_spellings_of(secret))


def _spellings_of(secret: str) -> Iterator[str]:
    yield secret
    for quoted in (quote(secret, safe=""), quote_plus(secret), quote(secret)):
        yield quoted
        yield re.sub("%..", lambda found: found[0].lower(), quoted)
    yield dumps(secret)[1:-1]
    yield dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield from _base64_forms(secret.encode())


def _base64_forms(secret: bytes) -> Iterator[str]:
    """Give what base64 makes of the secret wherever it starts inside a longer text.

    Base64 turns three bytes into four letters (RFC 4648, section 4), so there are
    three ways. Letters that depend on the neighbours too are left out.
    """
    for before in range(3):
        tied_front = -(-before * 8 // 6)
        sure = (before + len(secret)) * 8 // 6
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(b"\0" * before + secret).decode()[tied_front:sure]
