"""A long JSON answer in portions: texts of its own form, each with some of its records.

A market of 100,000 tasks is 20 MB of JSON and ten times as much in Python's objects. So
an answer with one long array is read as many short ones: what stands around the array
stays, and of its records each portion has about a hundred. Each is an answer like any
other to whoever reads it, and nothing else needs to be in memory.

Where a portion ends is decided by the record that ends it, and not by its number: a
record that comes or goes changes the portion that it is in, and hardly ever another.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple
from zlib import crc32

from journeyman.network.json_text import MAX_DEPTH, SPACE, is_deeper, parse_one

SHORTEST_CUT = 65_536
"""Characters of an answer; a shorter one takes no longer than a few milliseconds."""
FIRST_RECORDS = 100
"""Of the first portion at least: from them is learned what the fields mean."""
FEWEST_RECORDS = 50
"""Of a portion of short ones, but the last: what is decided about it shares a commit.
"""
MEAN_RECORDS = 80
MOST_RECORDS = 120
MOST_CHARACTERS = 65_536
"""Of a portion; only a single record may be longer."""
_DEEPEST_ARRAY = 4
"""Objects around the array."""
_MOST_FIELDS = 1_000
"""Of an object around the array; one with more is itself a list, under names."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Some records of an answer, with all that is around them."""

    whole: str
    around: tuple[int, int]
    """Where the array begins and ends."""
    first: int
    """Where these records begin."""
    last: int
    """Where they end."""
    count: int
    """Of the records."""
    digest: bytes
    """Of the records, whatever is around them."""

    @property
    def text(self) -> str:
        """The answer as if it had no other records."""
        opens, closes = self.around
        records = self.whole[self.first : self.last]
        return self.whole[:opens] + records + self.whole[closes:]


_Steps = Generator[None, None, int]


class _Ended(NamedTuple):
    """A portion of which all is known but what is around it."""

    first: int
    last: int
    records: int
    digest: bytes


class _UncuttableError(Exception):
    """It is no JSON, or has no place at which it could be cut."""


class Cutting:
    """Finds the portions of an answer, a piece of it with each step."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[list[Portion]] = []

    def steps(self) -> Iterator[None]:
        """Read the answer to its end; other work may be done between two steps."""
        try:
            end = yield from self._value(self._past_space(0), _DEEPEST_ARRAY)
            if self._past_space(end) != len(self._text):
                self._found.clear()
        except (_UncuttableError, ValueError, IndexError, RecursionError):
            self._found.clear()

    @property
    def portions(self) -> list[Portion]:
        """The portions, once all is read; none where it has to be read at once.

        So is what is no JSON, and what has several long arrays, or none.
        """
        if len(self._found) != 1:
            return []
        opens, closes = self._found[0][0].around
        is_mostly_array = opens + len(self._text) - closes <= MOST_CHARACTERS
        return self._found[0] if is_mostly_array else []

    def _value(self, at: int, depth: int) -> _Steps:
        """Read the value that begins at a place, and return where it ends."""
        sign = self._text[at]
        if depth and sign == "{":
            return (yield from self._object(at, depth))
        if depth and sign == "[":
            return (yield from self._array(at))
        return self._scanned(at)

    def _object(self, at: int, depth: int) -> _Steps:
        at = self._past_space(at + 1)
        if self._text[at] == "}":
            return at + 1
        for _ in range(_MOST_FIELDS):
            self._expect('"', at)
            at = self._expect(":", self._past_space(self._scanned(at)))
            at = yield from self._value(self._past_space(at), depth - 1)
            at = self._past_space(at)
            if self._text[at] == "}":
                return at + 1
            at = self._past_space(self._expect(",", at))
        raise _UncuttableError

    def _array(self, at: int) -> _Steps:
        opens, text = at + 1, self._text
        at = first = self._past_space(opens)
        if text[at] == "]":
            return at + 1
        ended: list[_Ended] = []
        count = 0
        while True:
            end = self._scanned(at)
            count += 1
            last = text[at:end]
            at = self._past_space(end)
            if text[at] == "]":
                break
            at = self._past_space(self._expect(",", at))
            if _ends(last, count, end - first, is_first=not ended):
                ended.append(_Ended(first, end, count, _digest(text[first:end])))
                first, count = at, 0
                yield
        if ended:
            ended.append(_Ended(first, end, count, _digest(text[first:end])))
            around = opens, at
            self._found.append([Portion(text, around, *one) for one in ended])
        return at + 1

    def _scanned(self, at: int) -> int:
        """Return where the value ends that begins at a place, if it is a good one."""
        value, end = parse_one(self._text, at)
        most = MAX_DEPTH - _DEEPEST_ARRAY - 1
        brackets = self._text.count("{", at, end) + self._text.count("[", at, end)
        if brackets > most and is_deeper(value, most):
            raise _UncuttableError
        return end

    def _past_space(self, at: int) -> int:
        found = SPACE(self._text, at)
        return found.end() if found else at

    def _expect(self, sign: str, at: int) -> int:
        if self._text[at] != sign:
            raise _UncuttableError
        return at + 1


def _digest(records: str) -> bytes:
    return blake2b(records.encode(), digest_size=16).digest()


def _ends(record: str, count: int, length: int, *, is_first: bool) -> bool:
    """Return whether a portion ends with this record."""
    if is_first and count < FIRST_RECORDS:
        return False
    if count >= MOST_RECORDS or length >= MOST_CHARACTERS:
        return True
    if count < FEWEST_RECORDS:
        return False
    return crc32(record.encode()) % (MEAN_RECORDS - FEWEST_RECORDS) == 0
