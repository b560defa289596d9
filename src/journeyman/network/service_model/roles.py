"""Which fields of a listing's records play which role, where no known name says so.

A role is read from what a field does over all records of a listing: an id differs in
every one, a state is one of few words, the text to work on is the longest prose. Names
only weigh in. It is a function of the records, so that the same listing is always read
in the same way.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.naming import (
    FIRST,
    ID_WORDS,
    OTHERS_WORDS,
    Path,
    id_name_score,
    leaves,
    speaks_of,
    word_set,
    words_of,
)
from journeyman.network.service_model.reading import (
    FLAG,
    GENERAL,
    NAMES,
    SCOPE,
    Places,
    RecordReader,
    as_exact_amount,
    as_identifier,
    as_label,
    as_moment,
    as_state,
    as_string,
)
from journeyman.network.service_model.states import Meaning, StateWords

_PARTIES = frozenset({"poster", "claimant", "reward", "deadline", "status", "tags"})
"""Roles of objects in which nothing about the task itself is looked for."""
_NO_WORDS = frozenset({"title", "text", "description", "reward", "input"})
"""Roles of fields that are never a state or a kind, though few words stand in them."""
_NO_ID = frozenset({"reward", "deadline", "tags", "text", "poster", "claimant"})
"""Roles of fields that are never an id."""
_SETTLED = frozenset({"id", "kind", "tags", "poster", "claimant", "status", "deadline"})
"""Roles that a known name settles: such a field has no other."""
_LINK_WORDS = word_set("link links href url uri rel")
SAMPLE = 100
"""Records of a listing that are looked at."""
MOST_FIELDS = 150
"""Fields of a listing that are looked at."""
_WEAK_TEXTS = frozenset({"task", "summary"})
"""Names of texts that say less than a longer one beside them."""
_LONGEST_ID = 128
_LONGEST_CODE = 40
"""In characters, such as of a call number."""
_CLEAR_ID = 5
"""What the name of a field scores that clearly is an id, though others have it, too."""
_MOST_STATES = 8
"""Different words that the states of a listing have, at most."""
_LONGEST_STATE = 32
_FEW = 3
"""Records from which something can be said of all."""

_OPAQUE = re.compile(
    r"[0-9a-fA-F]{8,}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|"
    r"[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}|[A-Za-z]{1,12}[-_#:/.]\w*\d[\w-]*|"
    r"(\d\d|20\d\d)[-/]\d{3,}"
)
"""A UUID, an ObjectId, a ULID, `job_17`, `26-00731`: made to name something."""
_MIXED = re.compile(r"(?i)(?=.*[a-z])(?=.*[0-9])")
_SEGMENT_ENDS = re.compile(r"[/?=&#]+")


MEASURE_WORDS = word_set(
    "count total size length words chars characters bytes priority rank position "
    "index row attempts retries level score version min max minimum maximum seconds "
    "minutes hours days duration timeout ttl votes views difficulty weight age limit "
    "rating confidence certainty probability year usd eur gbp dollars euros cents "
    "percent percentage quantity qty"
)
TIME_WORDS = word_set(
    "at on time date datetime timestamp ts created updated modified posted published"
)
REWARD_WORDS = word_set(
    "reward credit credits bounty payout pay pays payment price fee amount budget "
    "worth compensation prize earn earning earnings points tokens value commission "
    "honorarium royalty stipend wage wages salary rate tariff amt"
)
DEADLINE_WORDS = word_set(
    "deadline due expires expiry expire expiration until before ends end closes close"
)
_RATE = frozenset({"rate"})
_OF_A_RATE = word_set("currency exchange conversion tax vat interest success error")
"""What a rate may be of that is no pay."""
_UNIT_WORDS = word_set("unit units currency")
_CODES = word_set("code name symbol sign id label")
"""What a unit may be told by."""
_CURRENCY_WORDS, _CENTS = frozenset({"currency"}), frozenset({"cents"})
_DOLLARS = frozenset({"usd"})
CLAIM_WORDS = word_set(
    "claim claimed assignment assigned taken held reserved locked lease holder loan "
    "lent borrowed booked allocated"
)
AGENT_WORDS = word_set("by to for id agent holder worker")
STATE_WORDS = word_set("status state phase stage lifecycle availability condition")
KIND_WORDS = word_set(
    "kind type category op operation action skill capability method function class verb"
)
PROSE_WORDS = word_set(
    "text prompt description instructions content body question brief passage message "
    "input source details task sentence phrase"
)

_TEXT_WORDS = word_set("text texto texte testo tekst passage wording source original")
"""Of them and in other languages, those that name what is worked on."""
_ABOUT_WORDS = word_set(
    "instruction instructions help hint guidance alt status title note notes"
)
"""Beside these they do not."""


_MARK_AND_NUMBER = re.compile(r"[A-Z]{1,6} \d{2,12}")
"""A code of two parts, such as "BNSF 471234"."""


class _Column:
    """One field over all records."""

    def __init__(self, path: Path, reader: RecordReader) -> None:
        self.path, self.words = path, words_of(path[-1])
        self.around = frozenset(map(reader.role_of, path[:-1]))
        """The roles that known names give to the objects that it stands in."""
        self.role = reader.role_of(path[-1])
        self.values: dict[int, JSON] = {}
        """By the number of the record; a null counts as missing."""

    @property
    def seen(self) -> Collection[JSON]:
        """What stands in it."""
        return self.values.values()

    def has(self, words: frozenset[str]) -> bool:
        """Return whether one of the words is in its name."""
        return not words.isdisjoint(self.words)

    def ends_in(self, words: frozenset[str]) -> bool:
        """Return whether its name ends in one of the words."""
        return bool(self.words) and self.words[-1] in words

    def read(self, read: Callable[[JSON], object | None]) -> list[object]:
        """Return what can be read of its values."""
        found = (read(value) for value in self.values.values())
        return [value for value in found if value is not None]


def find_roles(
    records: Sequence[JSON], reader: RecordReader, *, has_keys: bool = False
) -> Places:
    """Return where the roles are that no known name shows.

    `has_keys` says that each record was found under a name of its own.
    """
    objects = [one for one in records[:SAMPLE] if isinstance(one, dict)]
    return _Search(objects, reader).found(has_keys=has_keys) if objects else {}


def _is_priced(value: JSON) -> bool:
    """Return whether a value is a number with a unit, such as "5 crowns"."""
    return isinstance(value, str) and bool(_PRICED.fullmatch(value))


_PRICED = re.compile(r"\s*\d[\d.,]{0,12}\s?[^\W\d_]{2,12}\s*")


class _Search:
    def __init__(self, records: list[dict[str, JSON]], reader: RecordReader) -> None:
        self._records, self._reader = records, reader
        self._opened = [reader.open(record) for record in records]
        self._columns = _columns(records, reader)
        self._taken: dict[str, Path] = {}
        self._ambiguous: _Column | None = None

    def found(self, *, has_keys: bool) -> Places:
        """Look for each role that the known names do not show, the surest first."""
        searches: dict[str, Callable[[], _Column | None]] = {
            "id": self._id,
            "reward": self._reward,
            "deadline": self._deadline,
            "status": self._state,
            "claimant": self._claimant,
            "text": self._text,
            "kind": self._kind,
        }
        for role, search in searches.items():
            if self._is_known(role) or (role == "id" and has_keys):
                continue
            column = search()
            is_unnamed = column is not None and id_name_score(column.path) <= 0
            if role == "id" and (column is None or is_unnamed):
                self._taken |= self._scoped_id()
            if role == "id" and column is None and role not in self._taken:
                column = self._last_id()
            if column is not None and role not in self._taken:
                self._taken[role] = column.path
            elif role == "status":
                self._taken |= self._flag()
        return self._taken | self._general()

    def _general(self) -> dict[str, Path]:
        """Find the description that all records have alike."""
        columns = (one for one in self._columns if one.role == "description")
        alike = _first(
            one
            for one in columns
            if len(one.values) >= _FEW and len({*map(repr, one.seen)}) == 1
        )
        return {GENERAL: alike.path} if alike else {}

    def _is_known(self, role: str) -> bool:
        """Return whether known names show a role, and its values do not belie them.

        An id differs in every record, and a text in some.
        """
        if role == "text" and (self._is_named_weakly() or self._spoken_of()):
            return False
        values = self._read(role)
        if not values or 2 * len(values) < len(self._records):
            return False
        if role not in {"id", "text"} or len(values) < _FEW:
            return True
        different = len({repr(value) for value in values})
        return different > (len(values) // 2 if role == "id" else 1)

    def _is_named_weakly(self) -> bool:
        """Return whether nothing is a text but what may as well be a title."""
        strong = (*NAMES["text"], *NAMES["input"], *NAMES["description"])
        names = {name for seen in self._opened for name in seen}
        return names.isdisjoint({*strong} - _WEAK_TEXTS)

    def _read(self, role: str) -> list[object]:
        """Return what known names show of a role."""
        read, own_text = self._reader.read, self._reader.own_text
        if role == "text":
            texts = (own_text(one) or read(one, "description") for one in self._opened)
            return [text for text in texts if text]
        values = (read(one, role) for one in self._opened)
        return [value for value in values if value is not None]

    # -- the roles ----------------------------------------------------------------

    def _id(self) -> _Column | None:
        scored = [(self._id_score(column), column) for column in self._columns]
        least = 1 if len(self._records) > 1 else 2
        likely = [(score, column) for score, column in scored if score >= least]
        return max(likely, key=lambda one: one[0])[1] if likely else None

    def _scoped_id(self) -> dict[str, Path]:
        """Find two fields that name a record together, as a repository and a number."""
        likely = [
            (id_name_score(column.path), column, [str(one) for one in ids])
            for column in self._columns
            if (ids := self._ids_of(column)) and not self._may_change(column)
        ]
        # What is made to name something names one alone: twice, it is listed twice.
        pairs = (
            ((score, other_score), column.path, other.path)
            for score, column, ids in likely
            for other_score, other, scopes in likely
            if score >= _CLEAR_ID and not all(map(_OPAQUE.fullmatch, ids))
            if other is not column and len({*scopes}) > 1
            if len({*zip(scopes, ids, strict=True)}) == self._different
        )
        best = max(pairs, key=lambda one: one[0], default=None)
        return {"id": best[1], SCOPE: best[2]} if best else {}

    def _last_id(self) -> _Column | None:
        """Return what may name the records where nothing looks like an id.

        A call number has spaces in it, and a batch is rather what others belong to.
        """
        likely = [
            (id_name_score(column.path), column)
            for column in self._columns
            if not (self._may_change(column) or column.role in _NO_WORDS)
            if len(self._records) > 1 or id_name_score(column.path) > 0
            if len(names := {as_identifier(one) for one in column.seen})
            == self._different
            and all(map(_is_code, names))
        ]
        return max(likely, key=lambda one: one[0])[1] if likely else None

    def _may_change(self, column: _Column) -> bool:
        """Return whether a field may say something else of the same task later."""
        is_state = column.role == "status" or column.has(STATE_WORDS | CLAIM_WORDS)
        return is_state or _is_something_else(column) or _has_known_state(column)

    def _ids_of(self, column: _Column) -> list[str]:
        """Return what may be ids of the records; empty unless each has one."""
        values = [column.values.get(n) for n in range(len(self._records))]
        ids = [one for one in map(as_identifier, values) if one and _is_token(one)]
        return ids if len(ids) == len(values) else []

    def _id_score(self, column: _Column) -> int:
        """Weigh a field as the id; 0 is "certainly not"."""
        ids = self._ids_of(column)
        is_different = len(set(ids)) == self._different
        if not ids or not is_different or _is_something_else(column):
            return 0
        return (
            id_name_score(column.path)
            + 3 * all(one in self._segments[n] for n, one in enumerate(ids))
            + 2 * all(map(_OPAQUE.fullmatch, ids))
            + (_is_of_numbers(column) and not self._is_lone_number(column))
            + all(map(_MIXED.search, ids))
            + (len(ids) >= _FEW)
        )

    def _is_lone_number(self, column: _Column) -> bool:
        """Return whether no other field has numbers: then it is rather the reward."""
        others = (one for one in self._columns if one is not column)
        return not any(map(_is_of_numbers, others))

    @cached_property
    def _different(self) -> int:
        """Return how many records there are; some networks list one twice."""
        return len({repr(record) for record in self._records})

    @cached_property
    def _segments(self) -> list[set[str]]:
        """Return the parts of the addresses in each record: some name it by its id."""
        segments: list[set[str]] = [set() for _ in self._records]
        for column in self._columns:
            for number, value in column.values.items():
                if _is_address(value):
                    segments[number].update(_SEGMENT_ENDS.split(str(value)))
        return segments

    def _reward(self) -> _Column | None:
        # What stands beside a unit is read with it, or not at all.
        # A `unit-fee` is no unit.
        units = (c for c in self._columns if c.ends_in(_UNIT_WORDS | _CODES))
        with_unit = {c.path[:-1] for c in units if c.has(_UNIT_WORDS)} - {()}
        numbers = [
            column
            for column in self._free()
            if self._is_mostly(column, self._reader.amount)
            and column.path[:-1] not in with_unit
            and not column.has(TIME_WORDS | DEADLINE_WORDS | STATE_WORDS)
            and (
                column.path in with_unit  # as a `total` with its currency
                or not column.has(MEASURE_WORDS)
                or self._is_in_cents(column)
                or _is_total(column)
            )
            and not _names_something(column.path)
            and not (column.ends_in(_RATE) and column.has(_OF_A_RATE))
            and not any(_is_epoch(value) for value in column.values.values())
            and any(column.read(self._reader.amount))  # a flag may be 0 in all
        ]
        named = _first(column for column in numbers if column.has(REWARD_WORDS))
        named = named or _first(filter(_holds_objects, numbers))
        named = named or _first(c for c in numbers if all(map(_is_priced, c.seen)))
        if not named and len(numbers) > 1:  # one of them may number the records
            numbers = [one for one in numbers if not _is_counted(one)]
        if named or len(numbers) != 1:
            return named
        # The only number is the reward, unless that stands there and cannot be read.
        unread = (c for c in self._columns if not c.read(self._reader.amount))
        if any(all(map(_is_priced, c.seen)) for c in unread):
            return None
        roles = {self._reader.role_of(name) for seen in self._opened for name in seen}
        return None if "reward" in roles else numbers[0]

    def _is_in_cents(self, column: _Column) -> bool:
        """Return whether a price is in cents of a US dollar, each worth a credit."""
        others = (one for one in self._columns if one.has(_CURRENCY_WORDS))
        units = {unit for one in others for unit in one.read(as_label)}
        is_price = column.ends_in(_CENTS) and column.has(REWARD_WORDS)
        is_other = column.has(MEASURE_WORDS - _CENTS - _DOLLARS)
        return is_price and not is_other and units <= _DOLLARS

    def _deadline(self) -> _Column | None:
        # By name only: a wrong one would make every task look too late.
        named = (column for column in self._free() if column.has(DEADLINE_WORDS))
        return _first(column for column in named if self._is_mostly(column, as_moment))

    def _state(self) -> _Column | None:
        words = [column for column in self._free() if self._is_of_few_words(column)]
        named = [column for column in words if column.has(STATE_WORDS)]
        named.sort(key=_is_of_numbers)  # such as a code beside what it means
        told = (column for column in words if not column.has(KIND_WORDS))
        said = filter(_has_known_state, told)  # an `action` may be to `complete`
        return _first(named) or _first(said) or self._lone_word(words)

    def _flag(self) -> dict[str, Path]:
        """Find the flag that tells some records from others, where nothing is a state.

        Of several, the one that is true in the fewest.
        """
        flags = [
            (sum(map(bool, column.values.values())), column.path)
            for column in self._columns
            if {*map(repr, column.values.values())} == {"True", "False"}
        ]
        return {FLAG: min(flags)[1]} if flags else {}

    def _lone_word(self, words: list[_Column]) -> _Column | None:
        """Return the only field of few words, which may be a state or a kind.

        It is read as both: a claim will tell of the one, and a strategy of the other.
        """
        rest = [column for column in words if not column.has(KIND_WORDS)]
        rest = [
            column for column in rest if len(set(column.read(as_state))) > 1
        ] or rest
        if len(rest) != 1:
            return None
        if not self._is_known("kind"):
            self._ambiguous = rest[0]
        # Where each record has a flag for whether it is taken, that is the state.
        return None if all(map(self._reader.is_flagged, self._opened)) else rest[0]

    def _kind(self) -> _Column | None:
        named = (column for column in self._free() if column.has(KIND_WORDS))
        return _first(filter(self._is_of_few_words, named)) or self._ambiguous

    def _claimant(self) -> _Column | None:
        other = MEASURE_WORDS | STATE_WORDS
        return _first(
            column
            for column in self._columns
            if column.path not in self._taken.values()  # such as an `assignment_id`
            and column.has(CLAIM_WORDS)
            and not column.has(other)
            and not column.ends_in(TIME_WORDS)
            and all(self._is_agent(column, one) for one in column.values.values())
            and not self._names_all(column)
            and not self._is_of_all(column)
        )

    def _is_of_all(self, column: _Column) -> bool:
        """Return whether all records have the same of a thing, and of no agent's.

        Such as an `assigned_location_id`: no place is claimed by who has all tasks.
        """
        seen = {*map(repr, column.seen)}
        is_alike = len(seen) == 1 and len(column.values) == len(self._records) >= _FEW
        return is_alike and not {*column.words} <= CLAIM_WORDS | AGENT_WORDS

    def _names_all(self, column: _Column) -> bool:
        """Return whether it has another id for each record: that is its own."""
        ids = self._ids_of(column)
        is_different = len({*ids}) == self._different >= _FEW
        return is_different and column.ends_in(ID_WORDS)

    def _is_agent(self, column: _Column, value: JSON) -> bool:
        is_named = isinstance(value, dict) or column.ends_in(AGENT_WORDS)
        return is_named and self._reader.agent(value) is not None

    def _text(self) -> _Column | None:
        prose = [column for column in self._free() if self._is_prose(column)]
        prose = [o for o in prose if not (o.role == "title" and _is_numbered(o))]
        prose = [one for one in prose if not _asks_alike(one)] or prose
        if spoken := self._spoken_of():
            return spoken
        role_of = self._reader.role_of
        given = [column for column in prose if role_of(column.path[0]) == "input"]
        own = given or [column for column in prose if column.role != "title"]
        # A summary is rather a title beside what is named as a text.
        strong = [one for one in own if one.path[-1] not in _WEAK_TEXTS]
        own = strong if any(one.has(PROSE_WORDS) for one in strong) else own
        # A title is all that some networks write; beside a text it is only a title.
        if not own and (self._read("text") or self._read("input")):
            return None
        return max(own or prose, key=_likeness_to_work, default=None)

    def _spoken_of(self) -> _Column | None:
        """Return the only text of which speaks what is said of all tasks alike.

        As in "Write the wording in upper case", of the `wording` of each.
        """
        if len(self._records) < _FEW:
            return None
        said = ([str(one) for one in c.read(as_string)] for c in self._columns)
        alike = chain.from_iterable(map(_said_in_all, said))
        general = [text for text in alike if " " in text]
        spoken = [
            one
            for one in self._free()
            if any(speaks_of(text, one.path[-1]) for text in general)
            and self._is_prose(one)
        ]
        return spoken[0] if len(spoken) == 1 else None

    def _is_prose(self, column: _Column) -> bool:
        texts = [str(text) for text in column.read(as_string)]
        if 2 * len(texts) < len(self._records) or any(map(_is_address, texts)):
            return False
        is_same = len(texts) >= _FEW and len(set(texts)) == 1
        if is_same or all(map(_OPAQUE.fullmatch, texts)):
            return False  # such as the hash of a text
        if all(map(_MARK_AND_NUMBER.fullmatch, texts)):
            return False
        is_known = column.role in {"title", "text"} or (
            # Under `words` there may be a number of words, or the words.
            not column.role
            and all(len(text.split()) >= _FEW and not as_moment(text) for text in texts)
        )
        if column.has(STATE_WORDS) or (not is_known and _is_something_else(column)):
            return False  # such as a `status_text`
        return column.has(PROSE_WORDS) or any(" " in text for text in texts)

    def _is_of_few_words(self, column: _Column) -> bool:
        words = [str(word) for word in column.read(as_state)]
        different = set(words)
        # A number that a few records share may be a length; a code is most of theirs.
        most = len(words) // 2 if _is_of_numbers(column) else len(words) - 1
        repeats = len(different) <= most or column.has(STATE_WORDS | KIND_WORDS)
        return (
            len(words) == len(self._records)
            and repeats
            and len(different) <= _MOST_STATES
            and not any(
                len(one) > _LONGEST_STATE or as_moment(one) for one in different
            )
            and not column.has(MEASURE_WORDS | TIME_WORDS | OTHERS_WORDS)
            and not column.ends_in(ID_WORDS)
            and not _is_aside(column)
        )

    def _is_mostly(self, column: _Column, read: Callable[[JSON], object]) -> bool:
        return 2 * len(column.read(read)) >= len(self._records)

    def _free(self) -> Iterator[_Column]:
        """Return the fields that have no role yet and no known name of another."""
        for column in self._columns:
            is_other = column.role in _SETTLED or not _PARTIES.isdisjoint(column.around)
            if not is_other and column.path not in self._taken.values():
                yield column


def _columns(records: Iterable[dict[str, JSON]], reader: RecordReader) -> list[_Column]:
    columns: dict[Path, _Column] = {}
    for number, record in enumerate(records):
        for path, value in leaves(record):
            if path not in columns and len(columns) < MOST_FIELDS:
                columns[path] = _Column(path, reader)
            if path in columns:
                columns[path].values[number] = value
    for alike in _by_beginning(columns.values()):
        for column, rest in alike:
            column.role = column.role or reader.role_of(rest)
    return list(columns.values())


def _by_beginning(columns: Iterable[_Column]) -> Iterator[list[tuple[_Column, str]]]:
    """Return fields whose names begin alike, each with the rest of its name.

    As `hs_task_body` and `hs_task_subject` do: where a few in an object have the same
    words in front, these say nothing of any.
    """
    begun: dict[tuple[Path, tuple[str, ...]], list[tuple[_Column, str]]] = {}
    for column in columns:
        for i in range(1, len(column.words)):
            rest = "_".join(column.words[i:])
            key = (column.path[:-1], column.words[:i])
            begun.setdefault(key, []).append((column, rest))
    yield from (alike for alike in begun.values() if len(alike) > _FEW)


def _is_something_else(column: _Column) -> bool:
    """Return whether a field is surely no id: another role, a measure, a time."""
    if column.role in _NO_ID or column.has(MEASURE_WORDS | TIME_WORDS):
        return True
    values = column.values.values()
    is_named_pay = column.has(REWARD_WORDS) and not column.ends_in(ID_WORDS)
    if is_named_pay and all(as_exact_amount(one) is not None for one in values):
        return True
    texts = (one for one in values if isinstance(one, str) and not one.isdigit())
    return any(isinstance(one, bool | float) for one in values) or any(
        map(as_moment, texts)
    )


def _is_aside(column: _Column) -> bool:
    """Return whether a field is about something else: a title, a link, a type."""
    is_link = any(not _LINK_WORDS.isdisjoint(words_of(name)) for name in column.path)
    return is_link or column.path[-1].startswith("_") or column.role in _NO_WORDS


def _holds_objects(column: _Column) -> bool:
    """Return whether its amounts are objects, which tell their unit."""
    return FIRST not in column.path and all(
        isinstance(value, dict) for value in column.values.values()
    )


def _asks_alike(column: _Column) -> bool:
    """Return whether all texts end in the same words, which then say what to do.

    As in "Shop window: set this line in capitals", beside the line.
    """
    ends = {tuple(str(text).split()[-_FEW:]) for text in column.read(as_string)}
    return len(column.values) >= _FEW and len(ends) == 1 and len(*ends) == _FEW


_SENTENCE_ENDS = re.compile(r"(?<=[.!?:;])\s+")


def _said_in_all(texts: Sequence[str]) -> list[str]:
    """Return the sentences that all texts have, as "Just the words below."."""
    parts = [{*_SENTENCE_ENDS.split(text[:_LONGEST_SAID])} for text in texts]
    return sorted(set.intersection(*parts)) if parts else []


_LONGEST_SAID = 600


def _is_total(column: _Column) -> bool:
    """Return whether it is the total of what is paid, as in `TotalAmt`."""
    return column.has(REWARD_WORDS) and not column.has(MEASURE_WORDS - {"total"})


_OF_NUMBERS = ("number", "nummer", "numer", "numero", "ref", "reference")


def _names_something(path: Path) -> bool:
    """Return whether a field, or an object around it, has numbers that are names.

    As in `CustomerRef.value`, and in German `blattnummer`; or that count something, as
    in Italian `numero_caratteri`.
    """
    first, *_, last = words_of(path[-1]) * 2 or ("", "")
    is_number = last in ID_WORDS or first in _NUMBER
    return is_number or any(one.lower().endswith(_OF_NUMBERS) for one in path)


_NUMBER = word_set("num number numero nr no")


def _is_of_numbers(column: _Column) -> bool:
    return all(isinstance(value, int) for value in column.values.values())


def _is_counted(column: _Column) -> bool:
    """Return whether it numbers the records one by one."""
    found = [as_identifier(one) or "" for one in column.values.values()]
    numbers = [int(one) for one in found if one.isdecimal()]
    expected = range(numbers[0], numbers[0] + len(numbers)) if numbers else ()
    return len(numbers) == len(found) >= _FEW and numbers == [*expected]


def _is_token(text: str) -> bool:
    """Return whether a value is one short piece, as ids are."""
    return len(text) <= _LONGEST_ID and not any(map(str.isspace, text))


def _is_code(name: str | None) -> bool:
    """Return whether a name is written as codes are: short, with letters and digits."""
    if name is None or len(name) > _LONGEST_CODE or len(name.split()) > _FEW:
        return False
    return bool(_MIXED.search(name))


def _is_address(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("/", "http://", "https://"))


def _is_epoch(value: JSON) -> bool:
    return isinstance(value, int | float) and as_moment(value) is not None


def _likeness_to_work(column: _Column) -> tuple[bool, bool, int, bool]:
    """Return a rank as the text of a task: what differs in a number only is a title."""
    texts = [str(text) for text in column.read(as_string)]
    length = sum(map(len, texts)) // len(texts)
    is_called_so = column.has(_TEXT_WORDS) and not column.has(_ABOUT_WORDS)
    return not _is_numbered(column), is_called_so, length, column.has(PROSE_WORDS)


def _is_numbered(column: _Column) -> bool:
    """Return whether texts differ in a number only, as titles often do."""
    texts = [str(text) for text in column.read(as_string)]
    return len(texts) >= _FEW and len({_DIGITS.sub("#", text) for text in texts}) == 1


_DIGITS = re.compile(r"\d+")


def _has_known_state(column: _Column) -> bool:
    meanings = {StateWords().meaning(str(word)) for word in column.read(as_state)}
    return bool(meanings - {Meaning.UNKNOWN})


def _first(columns: Iterable[_Column]) -> _Column | None:
    return next(iter(columns), None)
