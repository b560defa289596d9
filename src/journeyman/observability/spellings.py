"""Reads a text in every way in which a server may have spelled it by accident.

A reading undoes one spelling: white space and invisible characters inside of words,
full-width letters, the escapes of JSON, HTML and addresses, hex, base64. Readings are
read again, so that spellings may lie on top of each other.
"""

import re
from binascii import a2b_base64
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import unescape
from itertools import accumulate, islice
from math import ceil, floor
from string import ascii_letters, digits
from typing import TypeAlias
from urllib.parse import unquote

DEEPEST_SPELLING = 8
"""So many steps are undone on top of each other."""
MOST_READ = 24
"""All readings of a text are at most so many times as long as it: a hostile text could
otherwise have as many readings as it likes."""
LEAST_READ = 200_000
"""In characters; of a short text so many may be read in any case."""
MOST_REMEMBERED = 2_000
"""Parts of texts in which there was nothing: what many texts have in common is read
once."""
LONGEST_REMEMBERED = 200
"""In characters."""

Span: TypeAlias = tuple[int, int]
"""From the first character to behind the last."""
Origin: TypeAlias = Callable[[Span], Span]
"""Traces a part of a reading to what it was read from."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it was read out of another."""

    text: str
    origin: Origin | None = None
    parent: "Reading | None" = None

    def trace(self, part: Span) -> Span:
        """Return the part of the first text from which a part of this was read."""
        if self.origin is None or self.parent is None:
            return part
        return self.parent.trace(self.origin(part))


def without_gaps(text: str) -> str:
    """Return a text without what may part its letters."""
    if text.isascii():
        return text.encode().translate(None, _SPACE).decode()
    return _GAPS.sub("", "".join(text.split()))


def _without_gaps(reading: Reading) -> Reading:
    text = reading.text
    closed = without_gaps(text)
    if closed == text:
        return reading
    return Reading(closed, _replaced(_GAPS, _nothing, text), reading)


def _part(reading: Reading, part: Span) -> Reading:
    first, last = part

    def origin(inner: Span) -> Span:
        return first + inner[0], first + inner[1]

    return Reading(reading.text[first:last], origin, reading)


class Reader:
    """Reads texts for secrets."""

    def __init__(self, secrets: Collection[str]) -> None:
        """Look for these, at least one; they have no gaps."""
        self._shortest = shortest = min(map(len, secrets))
        letters = ceil(shortest * _LETTERS_PER_BYTE)
        self._base64 = re.compile(f"[A-Za-z0-9+/_-]{{{letters},}}")
        self._hex = re.compile(f"[0-9A-Fa-f]{{{shortest * _DIGITS_PER_BYTE},}}")
        self._texts = re.compile(f"{_CHARACTER}{{{shortest},}}".encode())
        used = _ALPHABET + "-_" + _USED_BY_ESCAPES + "".join(secrets)
        self._used = _marking(_in_ascii(_narrow(used)))
        self._read_in_vain: set[str] = set()
        """Short parts of texts that were read to the end."""
        self.gave_up = False
        """The last text had more readings than were made of it."""

    def readings(self, text: str) -> Iterator[Reading]:
        """Yield what may hold a secret, then what can be read from that, and so on.

        What certainly holds none is passed over: every spelling, without its gaps, is
        at least as long as the secret, and uses only some characters. Punctuation ends
        most runs of them.

        Whoever finds a secret must stop there: a part of which all readings were asked
        for holds none, and is passed over when it comes again.
        """
        self.gave_up = False
        if len(text) < self._shortest:
            return
        level = self._parts(text)
        if not level:
            return  # as nearly always
        parts = [one.text for one in level]
        seen = {*parts}
        budget = max(LEAST_READ, MOST_READ * len(text))
        for _ in range(DEEPEST_SPELLING):
            below: list[Reading] = []
            for reading in level:
                yield reading
                for new in map(_without_gaps, self._read(reading)):
                    budget -= len(new.text)
                    if new.text not in seen and budget >= 0:
                        seen.add(new.text)
                        below.append(new)
            level = below
        self.gave_up = budget < 0
        if not self.gave_up:
            self._remember(parts)

    def _parts(self, text: str) -> list[Reading]:
        """Return the parts of a text that may hold a secret, in any spelling."""
        closed = without_gaps(text)
        marked = _in_ascii(_narrow(closed)).translate(self._used)
        # A listing says many things again for each task: they are read once.
        new = {
            part: (start, end)
            for start, end in _runs(marked, self._shortest)
            if (part := closed[start:end]) not in self._read_in_vain
        }
        if not new:
            return []
        whole = _without_gaps(Reading(text))
        return [_part(whole, place) for place in new.values()]

    def _remember(self, parts: list[str]) -> None:
        """Note parts of a text in which there was nothing to find."""
        if len(self._read_in_vain) >= MOST_REMEMBERED:
            self._read_in_vain.clear()
        short = (one for one in parts if len(one) <= LONGEST_REMEMBERED)
        self._read_in_vain.update(islice(short, MOST_REMEMBERED))

    def _read(self, reading: Reading) -> Iterator[Reading]:
        """Undo each kind of spelling that the text may have, once."""
        text = reading.text
        narrow = _narrow(text)
        if narrow != text:
            yield Reading(narrow, _unmoved, reading)
        for sign, escapes in _ESCAPES.items():
            if sign in text:
                meant = escapes.sub(_meant, text)
                yield Reading(meant, _replaced(escapes, _meant, text), reading)
        if "+" in text:
            # A form writes a space so (WHATWG URL, section 5.1).
            closed = text.replace("+", "")
            yield Reading(closed, _replaced(_PLUS, _nothing, text), reading)
        for found in self._hex.finditer(text):
            yield from self._from_hex(reading, found)
        if self._base64.search(text):
            yield from self._from_base64(reading)

    def _from_hex(self, parent: Reading, found: re.Match[str]) -> Iterator[Reading]:
        for start in range(found.start(), found.start() + _DIGITS_PER_BYTE):
            length = (found.end() - start) // _DIGITS_PER_BYTE * _DIGITS_PER_BYTE
            raw = bytes.fromhex(parent.text[start : start + length])
            yield from self._from_bytes(parent, raw, start, Fraction(_DIGITS_PER_BYTE))

    def _from_base64(self, parent: Reading) -> Iterator[Reading]:
        """Read the whole text as base64 that may begin at any of its letters.

        What is no letter is read as the first one. At the borders of a run that changes
        only bits that do not belong to it.
        """
        letters = _in_ascii(parent.text).translate(_LETTERS)
        for start in range(_GROUP):
            group = letters[start:] + b"A" * (-(len(letters) - start) % _GROUP)
            yield from self._from_bytes(
                parent, a2b_base64(group), start, _LETTERS_PER_BYTE
            )

    def _from_bytes(
        self, parent: Reading, raw: bytes, start: int, per_byte: Fraction
    ) -> Iterator[Reading]:
        """Yield the texts within bytes; chance hardly ever makes a long one."""
        for run in _runs(raw.translate(_IN_TEXTS), self._shortest):
            for found in self._texts.finditer(raw, *run):
                text = found[0].decode()
                origin = _decoded(text, found.start(), start, per_byte)
                yield Reading(text, origin, parent)


_DIGITS_PER_BYTE = 2
_LETTERS_PER_BYTE = Fraction(4, 3)
"""In base64 (RFC 4648, section 4)."""
_GROUP = 4
_ALPHABET = ascii_letters + digits + "+/"
_LETTERS = bytes(
    ord(letter if letter in _ALPHABET else {"-": "+", "_": "/"}.get(letter, "A"))
    for letter in map(chr, range(256))
)
"""Makes one alphabet of the two (RFC 4648, section 5)."""
_CHARACTER = (
    r"(?:[\t\n\r\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    r"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf])"
)
"""In UTF-8 (RFC 3629, section 4), of at most three bytes; no control character."""
_MARK, _NO_MARK = b"*", b"\0"


def _marking(marked: bytes) -> bytes:
    """Return a table for `bytes.translate` that marks these bytes."""
    table = bytearray(256)
    for byte in marked:
        table[byte] = _MARK[0]
    return bytes(table)


def _runs(marked: bytes, shortest: int) -> Iterator[Span]:
    """Yield the runs of marks that are long enough; a pattern takes twice as long."""
    least = _MARK * shortest
    start = marked.find(least)
    while start >= 0:
        end = marked.find(_NO_MARK, start)
        end = len(marked) if end < 0 else end
        yield start, end
        start = marked.find(least, end)


_IN_TEXTS = _marking(bytes([*b"\t\n\r", *range(0x20, 0x7F), *range(0x80, 0xF0)]))
_USED_BY_ESCAPES = "\\%&#;{}"


def _in_ascii(text: str) -> bytes:
    """Return one byte for each character; a question mark for those beyond ASCII."""
    return text.encode("ascii", "replace")


def _decoded(text: str, before: int, start: int, per_byte: Fraction) -> Origin:
    """Trace letters of a text to what encoded them.

    `before` is how many bytes came first; `start` is where the encoding begins.
    """

    def origin(part: Span) -> Span:
        ends = [before, *accumulate((len(c.encode()) for c in text), initial=before)]
        first, last = ends[part[0] + 1], ends[part[1] + 1]
        return start + floor(first * per_byte), start + ceil(last * per_byte)

    return origin


_PLUS = re.compile(r"\+")
_GAPS = re.compile(
    r"[\s\xad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff]+"
)
"""What may part letters: white space, and characters without a width of their own."""
_SPACE = "".join(filter(str.isspace, map(chr, range(128)))).encode()
"""In ASCII."""


def _nothing(_found: re.Match[str]) -> str:
    return ""


_FULL_WIDTH = re.compile(r"[\uff01-\uff5e]")
"""The ASCII letters in the same order (Unicode, block FF00)."""
_WIDER_BY = 0xFF01 - ord("!")


def _narrow(text: str) -> str:
    if text.isascii():
        return text
    return _FULL_WIDTH.sub(lambda found: chr(ord(found[0]) - _WIDER_BY), text)


def _unmoved(part: Span) -> Span:
    return part


_ESCAPES = {
    # Of JSON (RFC 8259, section 7), and of languages like it.
    "\\": re.compile(
        r"\\(?:u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}"
        r"|[\"'\\/bfnrt])"
    ),
    # Of addresses (RFC 3986, section 2.1).
    "%": re.compile(r"%u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*"),
    # Of HTML.
    "&": re.compile(r"&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,31});?"),
}
"""By what they begin with."""
_GAP_LETTERS = "bfnrt"
_LAST_CODE = 0x10FFFF


def _meant(found: re.Match[str]) -> str:
    """Return what an escape stands for; nothing, if that is white space."""
    escape = found[0]
    if escape[0] == "&":
        return unescape(escape)
    if escape[0] == "%" and escape[1] != "u":
        return unquote(escape)
    digits = escape[2:].strip("{}")
    if digits:
        code = int(digits, 16)
        return chr(code) if code <= _LAST_CODE else ""
    return "" if escape[1] in _GAP_LETTERS else escape[1]


def _replaced(
    pattern: re.Pattern[str], instead: Callable[[re.Match[str]], str], text: str
) -> Origin:
    """Trace letters of a text with replacements to the text before them."""

    def origin(part: Span) -> Span:
        spans: list[Span] = []
        at = 0
        for found in pattern.finditer(text):
            spans += [(n, n + 1) for n in range(at, found.start())]
            spans += [found.span()] * len(instead(found))
            at = found.end()
        spans += [(n, n + 1) for n in range(at, len(text))]
        return spans[part[0]][0], spans[part[1] - 1][1]

    return origin
