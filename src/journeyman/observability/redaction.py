"""Secrets: how they look, where they are, and how they are kept out of texts."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache
from json import dumps, loads
from pathlib import PurePath
from typing import TypeGuard

from journeyman.domain.tasks import JSON, AccessToken
from journeyman.domain.text import HIDDEN
from journeyman.observability.spellings import Reader, Reading, Span, without_gaps

DEEPEST = 8
"""Levels of nesting that are kept; it also ends a structure that holds itself."""
MOST_ITEMS = 100
"""Items of one list or table that are kept."""
MOST_BITS = 1_024
"""Python refuses to write out much longer whole numbers in decimal."""


def plain(value: object, depth: int = 0) -> JSON:
    """Return the value as JSON: tokens hidden, exceptions named, times in UTC.

    It never raises, whatever a foreign object does when it is looked at.
    """
    if value is None or type(value) is str:
        return value  # as nearly always
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


SHORTEST_SECRET = 6
"""In characters; hiding shorter ones would tear holes into ordinary words."""


class KnownSecrets:
    """Finds certain secrets in a text, however a server has spelled them."""

    def __init__(self, *secrets: str) -> None:
        """Look for these; more may be added."""
        self._secrets: set[str] = set()
        self._reader: Reader | None = None
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Look for this one too, unless it has less than six visible characters."""
        # A text is read without its gaps, so those of the secret do not count either.
        closed = without_gaps(secret)
        if len(closed) >= SHORTEST_SECRET:
            self._secrets.add(closed)
            self._reader = Reader(self._secrets)

    def are_in(self, text: str) -> bool:
        """Return whether the text holds one of them."""
        return self._reading_of(text) is not None

    def may_be_in(self, texts: Iterable[str]) -> bool:
        """Return whether one of some texts may hold one of them.

        They are read as one, which is quicker, and where that takes too long, too.
        """
        reader = self._reader
        is_found = self.are_in("\n".join(texts))
        return is_found or (reader is not None and reader.gave_up)

    def hide(self, text: str) -> str:
        """Return the text without them."""
        while reading := self._reading_of(text):
            places = [
                reading.trace((at, at + len(secret)))
                for secret in self._secrets
                for at in _places(secret, reading.text)
            ]
            for start, end in reversed(_merged(places)):
                text = text[:start] + HIDDEN + text[end:]
        return text

    def _reading_of(self, text: str) -> Reading | None:
        """Return the first reading of a text that shows any of them."""
        if len(text) < SHORTEST_SECRET:
            return None
        for reading in self._reader.readings(text) if self._reader else ():
            if _holds_any(reading.text, self._secrets):
                return reading
        return None

    def hide_in_json(self, value: JSON) -> JSON:
        """Return JSON without them, also in the names of keys."""
        return _walk(value, self.hide, by_name=False)


def _places(part: str, text: str) -> Iterator[int]:
    """Yield where a part begins in a text, each time."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _merged(spans: list[Span]) -> list[Span]:
    """Return spans that share nothing, in order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


SENSITIVE = (
    r"(?:access|refresh|bearer|auth|api|id|session)[_-]?(?:token|key)"
    r"|client[_-]?secret|password|passwd|authorization|set-cookie|cookie"
)
"""The names, as a pattern, under which secrets are kept."""
# RFC 6750, section 2.1: the Authorization header, and whatever is sent as a token.
_BEARER = re.compile(r"\b(bearer)\s+[^\s\"',;\\]+", re.IGNORECASE)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (_BEARER, rf"\1 {HIDDEN}"),
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
            rf"""\b((?:{SENSITIVE})\s*[:=]\s*(?:basic\s+)?)[^\s"'&;,]+""", re.IGNORECASE
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


def hide_bearer_tokens(text: str) -> str:
    """Return a text without what follows the word `Bearer`."""
    return _BEARER.sub(rf"\1 {HIDDEN}", text)


_ALL_SHORT = 10 ** (SHORTEST_SECRET - 2)
"""Whole numbers below it are written shorter than any secret, with a sign, too."""
MOST_CLEANED = 1_000
"""Short texts that are remembered with what was left of them."""
LONGEST_KEPT = 200
"""In characters: a longer text hardly comes again."""


class Redactor:
    """Replaces by `***` the secrets that it knows, and all that looks like one."""

    def __init__(self) -> None:
        self._known = KnownSecrets()
        self._cleaned: dict[str, str] = {}
        self.learned = 0
        """How many secrets were added; what was cleaned before that may hold one."""

    def add(self, secret: str) -> None:
        """Learn a secret; one shorter than six characters is not looked for."""
        self._known.add(secret)
        self._cleaned.clear()
        self.learned += 1

    def knows(self, text: str) -> bool:
        """Return whether a learned secret is in the text, however it is spelled."""
        return self._known.are_in(text)

    def clean(self, text: str) -> str:
        """Return the text without secrets."""
        text = self._known.hide(text)
        if not _has_hint(text):
            return text
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
        return text

    def clean_json_text(self, text: str) -> str:
        """Return a JSON document without secrets; unlike a log's, it is not cut.

        Raises:
            RecursionError: it is nested too deeply.
        """
        if not (_has_hint(text) or self.knows(text)):
            return text
        return dumps(_walk(loads(text), self.clean))

    def clean_json_texts(self, texts: Sequence[str]) -> list[str]:
        """Do the same with several; those of one listing have much in common."""
        if self._known.may_be_in(texts):
            return [*map(self.clean_json_text, texts)]
        return [self.clean_json_text(one) if _has_hint(one) else one for one in texts]

    def hide_in_json_text(self, text: str) -> str:
        """Return a JSON document without the secrets that were learned.

        What only looks like a secret stays: it may be what a result is about.
        """
        if not self.knows(text):
            return text
        return dumps(self._known.hide_in_json(loads(text)))

    def clean_record(self, record: Mapping[str, object]) -> dict[str, JSON]:
        """Return the fields of a log record as plain JSON, names and values cleaned."""
        return {
            self.clean_again(name): self._clean_field(name, value)
            for name, value in record.items()
        }

    def _clean_field(self, name: str, value: object) -> JSON:
        # Most are short texts that came before, or small numbers: of three lines for
        # each task, all else takes more time than all the rest of the log.
        if type(value) is str:
            is_hidden = value and _names_a_secret(name)
            return HIDDEN if is_hidden else self.clean_again(value)
        if type(value) is int and -_ALL_SHORT < value < _ALL_SHORT:
            return value
        return _entry(name, plain(value), self.clean_again)

    def clean_again(self, text: str) -> str:
        """Clean a text, a short one once: names and reasons come again and again."""
        known = self._cleaned.get(text)
        if known is not None:
            return known
        cleaned = self.clean(text)
        if len(text) <= LONGEST_KEPT:
            if len(self._cleaned) >= MOST_CLEANED:
                self._cleaned.clear()
            self._cleaned[text] = cleaned
        return cleaned


def _has_hint(text: str) -> bool:
    """Look for a hint; in ASCII by plain search, which is twenty times as fast."""
    if not text.isascii():
        return _HINTS.search(text) is not None
    return _holds_any(text.lower(), _HINT_WORDS)


def _holds_any(text: str, parts: Iterable[str]) -> bool:
    """Return whether one of the parts is in a text; every text comes here."""
    for part in parts:  # noqa: SIM110 - `any` would start a generator each time
        if part in text:
            return True
    return False


def _walk(value: JSON, clean: Callable[[str], str], *, by_name: bool = True) -> JSON:
    """Clean all texts in a value; `by_name` hides what a sensitive key holds, too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {
            clean(key): _entry(key, inner, clean, by_name=by_name)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_walk(inner, clean, by_name=by_name) for inner in value]
    # A secret can be a number; a number that holds none stays one.
    digits = str(value)
    if len(digits) < SHORTEST_SECRET or clean(digits) == digits:
        return value
    return HIDDEN


def _entry(
    key: str, value: JSON, clean: Callable[[str], str], *, by_name: bool = True
) -> JSON:
    if by_name and isinstance(value, str) and value and _names_a_secret(key):
        return HIDDEN
    return _walk(value, clean, by_name=by_name)


@lru_cache(maxsize=1_000)
def _names_a_secret(key: str) -> bool:
    return _NAMED.fullmatch(key) is not None


SHORTEST_RANDOM = 20
"""In characters; what is shorter may well be a word."""
LEAST_ENTROPY = 3.2
"""In bits for each character. English words have about 2.5 to 3, hex digits 4."""


@dataclass(frozen=True, slots=True)
class SecretForm:
    """What a kind of secret looks like."""

    kind: str
    hints: tuple[str, ...]
    """In lower case; one of them is in every text that the pattern could match."""
    pattern: re.Pattern[str]
    """Its only group, if it has one, is the secret."""
    looks_random: bool = False
    """True: what merely has this form counts only if it looks random as well."""


# Each pattern reads a text once: where it may begin is never inside of what it reads.
SECRET_FORMS = (
    # RFC 7468, section 10, and its likes.
    SecretForm(
        "a private key",
        ("private key-----",),
        re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"),
    ),
    # RFC 7519, section 3; `eyJ` is the start of `{"`.
    SecretForm(
        "a JSON web token",
        (".eyj",),
        re.compile(r"(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*"),
    ),
    SecretForm(
        "a service's key",
        ("akia", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "aiza"),
        re.compile(
            r"\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{36,}|github_pat_\w{22,}"
            r"|xox[abpr]-[\w-]{20,}|AIza[\w-]{35})\b"
        ),
    ),
    SecretForm("a service's key", ("sk-",), re.compile(r"\bsk-([\w-]{20,})"), True),
    # RFC 6750, section 2.1.
    SecretForm(
        "a bearer token",
        ("bearer",),
        re.compile(r"\bbearer\s+([\w.~+/-]{20,}=*)", re.IGNORECASE),
        True,
    ),
    # RFC 3986, section 3.2.1: user:password@ before a host.
    SecretForm(
        "a password in an address", ("://",), re.compile(r"://[^\s/:@]+:([^\s/@]{6,})@")
    ),
    SecretForm(
        "a named secret",
        ("token", "key", "secret", "passw", "authorization", "cookie"),
        re.compile(
            rf"""(?:{SENSITIVE})["']?\s*[:=]\s*["']?([^\s"',;]+)""", re.IGNORECASE
        ),
        True,
    ),
)


def secrets_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield what must be a secret in a text, whoever's it is: its kind and itself.

    A pattern alone is not proof: a text about passwords says `password = ...` too. So
    where only the name tells, a value counts only if it looks random.
    """
    low = text.lower()
    for form in SECRET_FORMS:
        if _holds_any(low, form.hints):
            for found in form.pattern.finditer(text):
                secret = found[found.lastindex or 0]
                if not form.looks_random or looks_random(secret):
                    yield form.kind, secret


def looks_random(text: str) -> bool:
    """Return whether a text is more like a key than like words."""
    if len(text) < SHORTEST_RANDOM or not any(char.isdigit() for char in text):
        return False
    counts, length = Counter(text).values(), len(text)
    entropy = -sum(n / length * math.log2(n / length) for n in counts)
    return entropy >= LEAST_ENTROPY
