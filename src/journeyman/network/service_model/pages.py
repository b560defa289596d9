"""How a listing's next page is asked for: read from its answer, else guessed."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import parse_qsl, urljoin, urlsplit

from journeyman.domain.tasks import JSON
from journeyman.network.headers import links_in
from journeyman.network.service_model.naming import word_set, words_of
from journeyman.network.service_model.reading import as_moment, spelling

LARGEST_LIMIT = 1_000
"""Tasks that are asked for at once where nothing else shows more of them."""
USUAL_PAGE_SIZES = frozenset({5, 10, 15, 20, 24, 25, 30, 40, 50, 100, 200, 250, 500})
"""A listing of just so many records may be a page, though nothing says so."""

_DEPTH = 4
_LONGEST_VALUE = 2_000
"""In characters; a longer cursor is something else."""
_MOST_GUESSES = 12
_MOST_LINKS = 20
_MOST_DIGITS = 12
_FIRST_PAGE = 1

_CURSOR_WORDS = word_set(
    "cursor token continuation marker after bookmark scroll key checkpoint"
)
_AHEAD_WORDS = word_set(
    "next end last continuation after more evaluated resume resumption"
)
_PAST_WORDS = word_set("prev previous before start first self access csrf")
_PAGE_WORDS = word_set("next page url uri link href")
_MORE = ("hasmore", "hasnext", "hasnextpage", "more", "moreresults")
_LAST = ("last", "islast", "lastpage", "islastpage")
_NUMBERS = (
    # Spring shows `number` and `pageNumber`, and is asked for `page`.
    *("page", "currentpage", "number", "pageindex", "pagenumber", "pageno", "pagenum"),
    *("pagina", "seite", "strona", "sida", "side", "sayfa", "oldal", "stranka"),
)
_LAST_NUMBERS = (
    *("totalpages", "lastpage", "pagecount", "pages", "numpages", "pagestotal"),
)
_TOTALS = (
    *("total", "totalcount", "totalelements", "totalitems", "totalresults"),
    *("totalrecords", "totalhits", "recordstotal", "count", "xtotalcount", "xtotal"),
)
_TOTAL_HEADERS = ("x-total-count", "x-total", "total-count")
PAGING_HEADERS = ("link", *_TOTAL_HEADERS)
"""Headers, in lower case, that the page after an answer depends on."""
_OFFSETS = ("offset", "skip", "start", "startindex", "startat", "from")
_CURSORS = (
    *("cursor", "after", "start_cursor", "page_token", "pageToken"),
    *("starting_after", "next"),
    *("continuation", "token", "nextToken", "marker"),
)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A way to ask for a page."""

    query: Mapping[str, str]
    """The parameters; our own `limit` is added where they have none."""
    is_guess: bool = False
    """The network did not show the parameter's name."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters: the same way asks by the same names."""
        return tuple(sorted(self.query))


@dataclass(frozen=True, slots=True)
class Paging:
    """How an answer was asked for, and what its headers say."""

    path: str = ""
    """Of the listing's own address."""
    query: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """By their names in lower case."""
    later: int = 0
    """Records of the answer that come in later portions of it."""


class _Field:
    """A field around the records of an answer, or a header."""

    def __init__(self, name: str, value: JSON) -> None:
        self.name, self.value, self.reduced = name, value, spelling(name)
        words = words_of(name)
        is_plain = bool(words) and "has" not in words
        self.is_next = is_plain and "next" in words and words[-1] in _PAGE_WORDS
        is_ahead = len(words) == 1 or not _AHEAD_WORDS.isdisjoint(words)
        is_named = not _CURSOR_WORDS.isdisjoint(words) and is_ahead
        # An offset that is no number is a cursor, as Airtable's is.
        is_token = self.reduced == "offset" and _number(value) is None
        is_named = is_named or (is_token and isinstance(value, str))
        self.is_cursor = is_plain and is_named and _PAST_WORDS.isdisjoint(words)


def next_pages(
    answer: JSON, records: Sequence[JSON], paging: Paging
) -> tuple[PageRequest, ...]:
    """Return the ways to ask for the page after this one; none after the last.

    Only the query of a link is used, and only where it names the listing's own path.
    """
    if not records:
        return ()
    headers = paging.headers
    fields = [_Field(one, headers[one]) for one in _TOTAL_HEADERS if one in headers]
    if isinstance(answer, dict):
        _gather(answer, frozenset(map(id, records)), fields)
    return tuple(_Finder(fields, records, paging).found()[:_MOST_GUESSES])


def _gather(
    around: dict[str, JSON],
    records: frozenset[int],
    fields: list[_Field],
    depth: int = 0,
) -> None:
    """Gather the fields around the records; arrays are entered only for links."""
    for name, value in around.items():
        fields.append(_Field(name, value))
        if isinstance(value, dict) and depth < _DEPTH and id(value) not in records:
            _gather(value, records, fields, depth + 1)
        elif isinstance(value, list):
            links = [one for one in value[:_MOST_LINKS] if isinstance(one, dict)]
            ahead = [one for one in links if one.get("rel") == "next"]
            fields += [_Field("next", one) for one in ahead if "href" in one]


class _Finder:
    def __init__(
        self, fields: list[_Field], records: Sequence[JSON], paging: Paging
    ) -> None:
        self.fields, self.records, self.paging = fields, records, paging
        self.shown = len(records) + paging.later
        self.named: dict[str, list[_Field]] = {}
        for one in fields:
            self.named.setdefault(one.reduced, []).append(one)

    def found(self) -> list[PageRequest]:
        """Look for the surest way first; what is told, or is the end, ends it."""
        if (link := self._header_link()) is not None:
            return [link]
        if self._is_last():
            return []
        for search in (self._links, self._cursors, self._numbers, self._offsets):
            ways = search()
            if ways is not None:
                return ways
        return self._guesses()

    # -- what the network shows --------------------------------------------------

    def _header_link(self) -> PageRequest | None:
        links = links_in(self.paging.headers.get("link", ""))
        ahead = next((address for address, rels in links if "next" in rels), None)
        return None if ahead is None else self._link(ahead)

    def _is_last(self) -> bool:
        """Return whether the network says that nothing follows."""
        more, last = self._flags(_MORE), self._flags(_LAST)
        if False in more or True in last:
            return True
        ahead = [one.value for one in self.fields if one.is_next or one.is_cursor]
        is_ended = bool(ahead) and all(one in (None, "", False) for one in ahead)
        return is_ended and not more

    def _flags(self, names: Sequence[str]) -> list[bool]:
        found = [one.value for name in names for one in self.named.get(name, ())]
        letters = {"Y": True, "N": False}
        read = (letters.get(one, one) if isinstance(one, str) else one for one in found)
        return [value for value in read if isinstance(value, bool)]

    def _links(self) -> list[PageRequest] | None:
        ways = [self._linked(one) for one in self.fields if one.is_next]
        return [way for way in ways if way is not None] or self._links_ahead() or None

    def _linked(self, one: _Field) -> PageRequest | None:
        value = one.value
        if isinstance(value, dict):
            value = value.get("href", value.get("url"))
        if isinstance(value, str) and _is_address(value):
            return self._link(value)
        return None

    def _links_ahead(self) -> list[PageRequest]:
        """Find links to a later page of this listing, whatever they are called."""
        found = []
        for one in self.fields:
            way = None if {*words_of(one.name)} & _PAST_WORDS else self._linked(one)
            for name, value in way.query.items() if way else ():
                number = _number(value)
                here = _number(self.paging.query.get(name)) or _FIRST_PAGE
                if way and number is not None and number > here:
                    found.append((number, way))
        return [way for _, way in sorted(found, key=lambda one: one[0])[:1]]

    def _link(self, address: str) -> PageRequest | None:
        """Read a link to the listing itself; another's query would say nothing."""
        try:
            parts = urlsplit(urljoin(f"http://listing{self.paging.path}", address))
            query = dict(parse_qsl(parts.query, keep_blank_values=True))
        except ValueError:
            return None
        own = self.paging.path.rpartition("/")[2]
        is_own = not own or parts.path.rstrip("/").rpartition("/")[2] == own
        return PageRequest(query) if query and is_own else None

    def _cursors(self) -> list[PageRequest] | None:
        ways: list[PageRequest] = []
        for one in self.fields:
            value = _as_parameter(one.value) if one.is_cursor or one.is_next else ""
            is_number = one.reduced in {"next", "nextpage"} and value.isdigit()
            if value and not is_number:
                names = dict.fromkeys((*_cursor_names(one.name), *_CURSORS))
                ways += [PageRequest({name: value}, is_guess=True) for name in names]
        return ways or None

    def _numbers(self) -> list[PageRequest] | None:
        """Read a page's number: the next page's is one more."""
        ahead = self._whole(("nextpage", "next"))
        if ahead is not None:
            return self._numbered("page", ahead[1])
        here = self._whole(_NUMBERS)
        if here is None:
            return None
        is_last = self._is_beyond(here[1])
        return [] if is_last else self._numbered(here[0], here[1] + 1)

    def _numbered(self, name: str, number: int) -> list[PageRequest]:
        short = name if spelling(name) not in {"currentpage", "number"} else "page"
        names = dict.fromkeys((short, "page", name, "pageNumber", "page[number]"))
        return [PageRequest({one: str(number)}, is_guess=True) for one in names]

    def _is_beyond(self, number: int) -> bool:
        """Return whether a page's number is that of the last."""
        last = self._whole(_LAST_NUMBERS)
        if last is not None:
            # Where pages are counted from 0, the number of pages is never reached.
            return number >= max(last[1], 1)
        total = self._total
        return total is not None and total <= self.shown

    def _offsets(self) -> list[PageRequest] | None:
        here, total = self._whole(_OFFSETS), self._total
        if here is None:
            return None
        after = here[1] + self.shown
        if total is not None and total <= after:
            return []
        # Names in answers are spelled as there; those of parameters seldom are.
        names = dict.fromkeys((here[0], here[0].lower()))
        is_guess = len(names) > 1
        return [PageRequest({name: str(after)}, is_guess=is_guess) for name in names]

    # -- what may be tried --------------------------------------------------------

    def _guesses(self) -> list[PageRequest]:
        """Try the usual parameters, where there seems to be more than is shown."""
        shown, query = self.shown, self.paging.query
        if not self._seems_to_go_on():
            return []
        starts = (_number(query.get(name)) for name in _OFFSETS)
        start = next(filter(None, starts), 0)
        page = _number(query.get("page")) or 1
        ways = [*self._ahead()]
        ways += [{"offset": str(start + shown)}, {"page": str(page + 1)}]
        ways += [{name: str(start + shown)} for name in ("from", "skip", "start")]
        if (last := self._last_id()) is not None:
            ways += [{"starting_after": last}, {"after": last}, {"cursor": last}]
        if (_number(query.get("limit")) or 0) < LARGEST_LIMIT:
            ways.append({"limit": str(LARGEST_LIMIT)})
        return [PageRequest(way, is_guess=True) for way in ways]

    def _ahead(self) -> Iterator[dict[str, str]]:
        """Return what may be cursors under names that say no more than "the end"."""
        for one in self.fields:
            words = {*words_of(one.name)}
            is_ahead = words & _AHEAD_WORDS and not words & _PAST_WORDS
            is_text = isinstance(one.value, str) and as_moment(one.value) is None
            if is_ahead and is_text and (value := _as_parameter(one.value)):
                yield from ({name: value} for name in _cursor_names(one.name)[:2])

    def _seems_to_go_on(self) -> bool:
        shown = self.shown
        if self._total is not None and self._total != shown:
            return self._total > shown
        if True in self._flags(_MORE):
            return True
        asked = _number(self.paging.query.get("limit"))
        return shown == asked or (asked is not None and shown in USUAL_PAGE_SIZES)

    def _last_id(self) -> str | None:
        # What a portion ends with is not where the page ends.
        last = None if self.paging.later else self.records[-1]
        value = last.get("id") if isinstance(last, dict) else None
        return _as_parameter(value) or None

    @property
    def _total(self) -> int | None:
        """How many records there are on all pages; a smaller number counts others."""
        for name in _TOTALS:
            for one in self.named.get(name, ()):
                inner = one.value.get("value") if isinstance(one.value, dict) else None
                number = _number(one.value if inner is None else inner)
                if number is not None and number >= self.shown:
                    return number
        return None

    def _whole(self, names: Sequence[str]) -> tuple[str, int] | None:
        """Return the first whole number under these names, with the name as sent."""
        for wanted in names:
            for one in self.named.get(wanted, ()):
                if (number := _number(one.value)) is not None:
                    return one.name, number
        return None


def _cursor_names(name: str) -> list[str]:
    """Return parameters that a cursor's own name suggests, the likeliest first.

    `nextPageToken` is asked for by `pageToken`, `endCursor` by `after`.
    """
    words = words_of(name)
    kept = [word for word in words if word not in {"next", "end", "last"}]
    write: list[Callable[[list[str]], str]] = [_camel, "_".join]
    if "_" in name or name.islower():
        write.reverse()
    names = [one(kept) for one in write if kept]
    if "end" in words:
        names.insert(0, "after")
    if "evaluated" in words:
        names.insert(0, "ExclusiveStartKey")
    return [*names, name]


def _camel(words: list[str]) -> str:
    return words[0] + "".join(word.capitalize() for word in words[1:])


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://", "/", "?")) or "?" in text


def _as_parameter(value: JSON) -> str:
    """Write a cursor as a parameter; empty where it is none."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, dict) and value:
        value = json.dumps(value, separators=(",", ":"))
    if not isinstance(value, str | int):
        return ""
    text = str(value)
    return text if len(text) <= _LONGEST_VALUE and not _is_address(text) else ""


def _number(value: JSON) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isdecimal() and len(value) <= _MOST_DIGITS:
        value = int(value)
    return value if isinstance(value, int) and value >= 0 else None
