"""Requests as hypotheses: what may be the body of an action, the likeliest first.

A body is found by search. Each required name takes a value that it fits, by its words
or by elimination, or is an object around others; values that nobody asked for by name
go where this network has similar ones. Every choice has a cost, and the cheapest body
that contradicts nothing known is the next to send. How services are taught by their
refusals is known from testing them: RESTler (ICSE 2019), ARAT-RL (ASE 2023).
"""

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, product
from typing import TypeAlias, TypeVar

from pydantic import JsonValue

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.meaning import (
    AGENT_NOUNS,
    COMMON_NOUNS,
    ELIMINATED,
    ENVELOPES,
    EVIDENCE_WORDS,
    FAR_FETCHED,
    FITS,
    GENERIC,
    MADE,
    NOUNS,
    POST_WORDS,
    RESULT_WORDS,
    TASK_NOUNS,
    TOO_DEAR,
    VERBS,
    affinity,
    around_all,
    is_of_one_value,
    is_version,
    type_cost,
)
from journeyman.network.service_model.naming import (
    FIRST,
    ID_WORDS,
    NUMERAL,
    OTHERS_WORDS,
    Path,
    singular,
    word_set,
    words_of,
)
from journeyman.network.service_model.plain import TYPE_KEYS
from journeyman.network.service_model.reading import spelling
from journeyman.network.service_model.request import (
    ACTIONS,
    GIVEN,
    MOMENTS,
    OBJECT,
    OF_REGISTRATION,
    QUERY,
    RECORD,
    STATE_OF,
    TASK_TAIL,
    WHOLE,
    WORDS,
    ActionValues,
    Placed,
    RequestShape,
    Values,
    converted,
    is_day,
    is_header,
    is_outside,
    words_for,
)
from journeyman.network.service_model.roles import MEASURE_WORDS

T = TypeVar("T")

_CONSENT = word_set(
    "confirm confirmed agree agreed consent accept accepts terms tos acknowledge "
    "acknowledged attest attested certify certified"
)
"""Names that ask for a yes."""
_ASKING = word_set("is has was can will would should may does did are")
"""What a question begins with to which one says yes or no."""
_DONE = word_set("completed done finished closed resolved")
"""What a task is after its completion."""
_NOES = word_set(
    "conflict conflicts draft dry test sandbox preview partial failed cancel cancelled"
    " decline declined reject rejected refuse refused abandon anonymous"
)
"""Names of what whoever does the work well says no to."""


def _asks_for_a_yes(words: Sequence[str]) -> bool:
    # What is final is a yes; a `final_copy` is a copy.
    is_question = len(words) > 1 and words[0] in _ASKING
    is_done = len(words) == 1 and words[0] in _DONE
    return (
        bool({*words} & _CONSENT) or words[-1:] == ("final",) or is_question or is_done
    )


_GOOD_ENDS = word_set("done success successful succeeded ok yes true text plain final")
_STATE_NAMES = frozenset({"status", "state"})
_PEOPLE = word_set("human humans person people manual")
_MACHINES = word_set("agent ai automated automatic automation bot machine model robot")
"""What an option is called for work that an agent does, beside work that people do."""
_KINDS = frozenset({"type", "kind", "format", "mime"})
_BAD_ENDS = word_set(
    "fail failed failure error reject rejected refused declined no false partial "
    "cancel cancelled canceled abandoned aborted skipped none unknown other"
)
"""Words of values that are not what a worker says who has done the work."""
_DURATIONS = {"seconds": 600, "minutes": 10, "hours": 1, "days": 1}
_DURATIONS |= {"secs": 600, "mins": 10, "hrs": 1}
_DURATIONS |= dict.fromkeys(("ms", "millis", "milliseconds"), 600_000)
"""How long we ask for, of a network that wants to be told for how long."""
_TEN_MINUTES = ("600s", "PT10M", "00:10:00", "00:10", "10m")
"""The same in the forms of Protocol Buffers, of ISO 8601, of clocks and of Go."""
_INSIDE_A_RESULT = ("text", "content", "result", "output", "body", "value", "answer")
"""What a result is called inside of an object that is about it."""

_PLURALS = word_set(
    "artifacts blocks parts items outputs results answers responses solutions"
    " deliverables files messages attachments"
)
"""Names of a result under which there may be several."""

_FOR_A_NAME = frozenset({"variable", "field", "key", "property"})
"""Last words of what tells the name of a value."""
_TYPE_WORDS = ("doctype", "type", "object", "kind", "resourceType")
"""What says in an object which kind of record it is."""

_MEANT = 1.0
"""What a name costs at most that means a value."""
_REPEATABLE = frozenset({"", OBJECT, WORDS})
"""Sources that may stand in several places of a body."""
_OF_KEYS = frozenset({"integer", "number", "id", "uuid"})
"""Types of what stands for a record. JavaScript has no integers of their own."""
_SCALARS = frozenset({"string", "integer", "number", "boolean", "objectid"})
_EMPTY: tuple[JSON, ...] = (None, "", [], {})
_EMPTY_ABLE = frozenset({"evidence", "kind", "tags", "input"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """A name that the network has said it knows."""

    path: Path
    is_required: bool = True
    wants: str = ""
    """The JSON type that it wants there."""
    options: tuple[str, ...] = ()
    example: JsonValue = None
    """What a description shows there; None shows nothing."""
    means: str = ""
    """The source that a refusal describes, as in "your agent id"."""
    form: str = ""
    """An expression that the value matches."""


_AS_IT_IS = "it is"


def form_of(one: Placed) -> str:
    """Name a value in the form that it has, as it stands among the misfits."""
    if not one.source:
        return f"the value {one.constant!r}"
    return f"{one.source} as {one.kind or _AS_IT_IS}"


@dataclass(frozen=True, slots=True)
class Constraints:
    """What refusals and descriptions say of one action's body."""

    wanted: tuple[Wanted, ...] = ()
    unknown: tuple[Path, ...] = ()
    """Nothing may stand here."""
    misfits: tuple[tuple[Path, str], ...] = ()
    """Sources that do not belong there."""
    respelled: tuple[Path, ...] = ()
    """Names that were missed though they were sent, and how they were written then."""
    closed: tuple[Path, ...] = ()
    """Objects in which nothing may stand that is not wanted."""
    is_strict: bool = False
    """It refuses what it does not know, without saying what that is."""
    stops_at_unknown: bool = False
    """It has refused a name that it does not know, and told nothing that it lacks."""
    tells_ways: bool = False
    """It has told the whole way to a value in an object: a lone name is in none."""
    tells_several: bool = False
    """It has told several faults at once: what it does not mention is none."""
    fitting: tuple[tuple[Path, str], ...] = ()
    """Sources that stood there, and were not mentioned by a network that tells all."""

    def is_refused_as(self, one: Placed) -> bool:
        """Return whether a value was found wrong there, in the form that it has."""
        return (one.path, form_of(one)) in self.misfits

    def get(self, path: Path) -> Wanted | None:
        """Return what is wanted at a path."""
        return next((one for one in self.wanted if one.path == path), None)

    def allows(self, shape: RequestShape) -> bool:
        """Return whether a shape contradicts nothing of it."""
        return all(map(self.allows_at, shape.placed))

    def allows_at(self, one: Placed) -> bool:
        """Return whether a value may stand where it does."""
        is_misfit = (one.path, one.source) in self.misfits
        return not (is_misfit or self.is_unknown(one.path))

    def is_unknown(self, path: Path) -> bool:
        """Return whether nothing may stand there."""
        if self.get((WHOLE,)) is not None and not is_outside(path):
            return True
        return any(path[: len(banned)] == banned for banned in self.unknown) or any(
            path[: len(above)] == above and not self._has(path[: len(above) + 1])
            for above in self.closed
            if len(path) > len(above)
        )

    def _has(self, path: Path) -> bool:
        return any(one.path[: len(path)] == path for one in self.wanted)


@dataclass(frozen=True, slots=True)
class Style:
    """How this network writes, as far as it is known when a request is made."""

    case: str = "snake"
    noun: str = "task"
    """What it calls a task."""
    id_name: str = ""
    """What its records call their identifier."""
    around: tuple[str, ...] = ()
    """The objects that it has around the records of a listing."""
    paths: Mapping[str, Path] = field(default_factory=dict)
    """Where its other actions have a value, by source."""
    work: Path = ()
    """Where its submission has the work."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """The types in which its other actions have a value."""
    omits: frozenset[str] = frozenset()
    """Values that an action does without that could have them."""
    is_enforced: bool = False
    """It has said of a body that something is missing: what it wants, it asks for."""
    constants: Mapping[Path, JSON] = field(default_factory=dict)
    """What its other actions say besides values, such as JSON:API's `type`."""
    empty: tuple[str, ...] = ()
    """Fields of its records that have nothing: actions fill them, as a `worker`."""
    wrappers: frozenset[str] = frozenset()
    """Objects that its other actions have around values."""
    given: Mapping[Path, str] = field(default_factory=dict)
    """What its other actions say of what answers gave, by its place."""
    is_lenient: bool = False
    """It has taken a body with values under names that it does not know."""
    is_picky: bool = False
    """It has refused a body for a name that it does not know."""
    other_case: str = ""
    """How else it may write, where nothing that it wrote shows the case."""

    @property
    def envelope(self) -> Path:
        """Return the objects that its other actions have around everything."""
        placed = tuple(Placed(path, source) for source, path in self.paths.items())
        around = RequestShape(placed).envelope if placed else ()
        while around and is_of_one_value(around[-1:], "", self.paths):
            around = around[:-1]
        return around

    def without_constants_but(self, paths: Iterable[Path]) -> "Style":
        """Return it with no other constants than those at these places."""
        there = {path: self.constants[path] for path in paths if path in self.constants}
        return replace(self, constants=there)

    def write(self, name: str) -> str:
        """Return one of our names as this network would write it."""
        words = words_of(name)
        match self.case:
            case "camel":
                return words[0] + "".join(map(str.capitalize, words[1:]))
            case "pascal":
                return "".join(map(str.capitalize, words))
            case "kebab":
                return "-".join(words)
            case _:
                return "_".join(words)


def cheapest(
    lists: Sequence[Sequence[tuple[float, T]]], most: int
) -> Iterator[tuple[float, tuple[T, ...]]]:
    """Return combinations of one item of each list, in the order of their cost."""
    ordered = [sorted(one, key=lambda item: item[0]) for one in lists]
    if not all(ordered):
        return
    start = (0,) * len(ordered)
    heap = [(sum(one[0][0] for one in ordered), start)]
    seen = {start}
    while heap and most > 0:
        cost, at = heapq.heappop(heap)
        yield cost, tuple(one[i][1] for one, i in zip(ordered, at, strict=True))
        most -= 1
        for place, i in enumerate(at):
            after = (*at[:place], i + 1, *at[place + 1 :])
            if i + 1 < len(ordered[place]) and after not in seen:
                seen.add(after)
                more = ordered[place][i + 1][0] - ordered[place][i][0]
                heapq.heappush(heap, (cost + more, after))


_NOTES = word_set("note notes comment comments remark remarks feedback")


def _is_of_prose(path: Path) -> bool:
    """Return whether a name asks for words, and for nothing else that we have."""
    return not _NOTES.isdisjoint(words_of(path[-1])[-1:])


def _is_measure(wanted: Wanted) -> bool:
    """Return whether a name asks for how much or how many."""
    return not (MEASURE_WORDS | _DURATIONS.keys()).isdisjoint(words_of(wanted.path[-1]))


def _is_of_a_moment(path: Path) -> bool:
    """Return whether a name asks for what each change changes: what is known last."""
    return words_of(path[-1])[:1] == _CONDITION or is_version(path[-1])


def _may_recur(one: Placed) -> bool:
    """Return whether what a record shows may stand in several objects: no id does."""
    is_id = not ID_WORDS.isdisjoint(words_of(one.path[-1]))
    is_shown = one.source.startswith((*GIVEN, RECORD)) and len(one.path) > 1
    return is_shown and not is_id


def _has_form(value: JSON, form: str) -> bool:
    shown = str(value) if isinstance(value, str | int) else ""
    return len(shown) <= _LONGEST_OF_A_FORM and bool(re.fullmatch(form, shown))


def _is_where_it_stood(wanted: Wanted, source: str) -> bool:
    """Return whether a state was told before: an action brings a task to another."""
    words = words_of(wanted.path[-1])
    is_state = _STATE_NAMES.issuperset(words[-1:]) and _BEFORE.isdisjoint(words)
    return is_state and source.startswith((*GIVEN, RECORD))


def _unit_of(wanted: Wanted) -> str:
    """Return the unit of time that a name begins or ends with; empty for none."""
    words = words_of(wanted.path[-1])
    return next((one for one in (*words[-1:], *words[:1]) if one in _DURATIONS), "")


def _told(wanted: Wanted) -> tuple[str, ...]:
    """Return what may be chosen, unless that is what an action does."""
    verbs = frozenset[str]().union(*VERBS.values())
    words = {word for one in wanted.options for word in words_of(one)}
    return wanted.options if verbs.isdisjoint(words) else ()


def _is_among(value: JSON, options: tuple[str, ...]) -> bool:
    """Return whether a value is one of these, or between two numbers."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and len(options) == 2 and all(map(NUMERAL.fullmatch, options)):  # noqa: PLR2004 - a range has two ends
        return float(options[0]) <= float(str(value)) <= float(options[1])
    return str(value) in options


def _cost_of_choice(options: tuple[str, ...], value: JSON, cost: float) -> float:
    """Return what it costs to send a value where one of these is wanted, or any."""
    if options and not _is_among(value, options):
        return cost + 4
    is_one = bool(options) and cost <= _MEANT
    return min(cost, 0.1) if is_one else cost  # the one that is the task's


def _other_kinds(source: str, wants: str) -> tuple[str, ...]:
    """Return how else a value may be written where a type is wanted."""
    if source == "result" and wants in {"", "string"}:
        return ("json",)
    is_moment = source in MOMENTS and wants in {"", "string", "datetime"}
    return ("date",) if is_moment else ()


def _begins_as_named(value: JSON, path: Path) -> bool:
    """Return whether an id begins with the name that it is sent under.

    Such as "OPR30501" under `OPR_ID`, and "tkt-9" under `tkt`; or an address of the
    collection that has it, as in `.../event_types/9e8d`.
    """
    collection = _COLLECTION.search(value) if isinstance(value, str) else None
    if collection and spelling(collection[1]).rstrip("s") == spelling(path[-1]):
        return path[-1].lower() not in TASK_NOUNS | AGENT_NOUNS
    begins = _BEGINNING.match(value) if isinstance(value, str) else None
    start = begins[1].lower() if begins else ""
    word = words_of(path[-1])[0] if words_of(path[-1]) else ""
    is_usual = start in TASK_NOUNS | AGENT_NOUNS  # which tells nothing new
    is_code = begins is not None and begins[1].isupper()
    is_part = is_code and len(start) >= _CLEAR_START and word.startswith(start)
    return bool(start) and (start == word or is_part) and not is_usual


_BEGINNING = re.compile(r"([^\W\d_]{2,8})[-_/]?\d[\w/-]*$")
_LANGUAGE = re.compile(r"[a-z]{2}[-_][A-Z]{2}")
"""A tag of a language and a region (RFC 5646), as texts in several have them."""
_CONDITION = ("if",)
_BEFORE = frozenset({"from", "current", "previous", "old", "expected", "if"})
"""Words of the names of a state that is changed, and not of what it becomes."""
_COLLECTION = re.compile(r"(?:://.*|/documents(?:/.*)?)/([\w-]{1,40})/[\w-]+/?$")
_CLEAR_START = 3
"""In letters, of a word, as in "ISP-201" under `Ispolnitel`."""


def _is_part_of(path: Path, source: str, value: JSON) -> bool:
    """Return whether a name asks for a code that a record has under one of its words.

    Such as an `order_number` for the `number` of a listed order.
    """
    leaf = words_of(source.rpartition(".")[2])
    is_code = isinstance(value, str) and bool(_CODE_LIKE.fullmatch(value))
    is_listed = source.startswith(RECORD) and source.count(".") == 1 == len(leaf)
    words = words_of(path[-1])
    is_of_any = {*leaf} <= _OF_ANY_RECORD
    return is_listed and is_code and leaf[0] in words[1:] + words[:-1] and not is_of_any


_OF_ANY_RECORD = word_set("id pk key uuid guid uid oid ulid")
_OF_ONE_RECORD = (ID_WORDS | {"iid"}) - _OF_ANY_RECORD
_OF_ANOTHER = AGENT_NOUNS | OTHERS_WORDS | NOUNS["claim"] | NOUNS["submit"]
_CODE_LIKE = re.compile(r"(?=.*\d)[^\W_][\w/-]{1,40}")


def _way_to_one(wanted: Wanted) -> Path:
    """Return what one item of a list is called: `quest`, of `quests`.

    And a value with its type, as Firestore has it: `note.stringValue` is a `note`.
    """
    path = wanted.path
    if path[1:] and path[-1] in TYPE_KEYS:
        return path[:-1]
    if path[1:] and path[-1] == FIRST:
        path = path[:-1]
    elif wanted.wants != "array":
        return path
    *above, name = path
    return (*above, singular(name))


def _is_prose(value: JSON) -> bool:
    return isinstance(value, str) and len(value.split()) > _MOST_WORDS


_MOST_WORDS = 3
"""Of a text that a request may repeat."""
_LONGEST_OF_A_FORM = 120
"""In letters: the expression is a stranger's, and takes the square of these."""
Choice = tuple[float, Placed | None]
"""What it costs to send a value at a place, or not at all."""


@dataclass(frozen=True)
class _Room:
    """What a body has already, when the other values are put into it."""

    placed: tuple[Placed, ...]
    wrappers: tuple[Path, ...]
    """Objects that are there to be around others."""
    around: Path
    """The objects around everything."""

    @cached_property
    def taken(self) -> frozenset[str]:
        """The values that have a place."""
        return frozenset(one.source for one in self.placed)


_Weighed: TypeAlias = tuple[float, float, RequestShape]
"""A body: what it costs, never less than the one before; what it costs beside that."""
_OMITTED, _KNOWN_PLACE, _LISTED_NAME = -0.5, -0.3, -0.2
"""What evidence speaks for costs less than nothing; all else costs at least 0."""
_MOST_ASSIGNMENTS = 40
_MOST_TRIED = 400
"""Of them, those in which one value would stand in two places included."""
_MOST_BODIES = 400


@dataclass(frozen=True)
class Writer:
    """Makes the bodies of one action that may be right, given what is known."""

    action: str
    known: Constraints
    values: Values
    style: Style
    is_silent: bool = False
    """The last refusal has taught nothing."""

    def shapes(self) -> Iterator[RequestShape]:
        """Return shapes that contradict nothing, the likeliest first."""
        allowed = filter(self.known.allows, self._by_cost())
        found = [*islice(allowed, 1)]
        if found and self._may_be_lenient():
            found.insert(0, self._under_all_names(found[0]))
        is_asked = any(not is_outside(one.path) for one in self.known.wanted)
        if self.known.unknown and not is_asked and self.action != "post_task":
            # A network that only says what it does not know says what it wants of
            # a body that has nothing.
            is_idle = self._is_refused("task_id", self.style.envelope)
            found.insert(not is_idle, self._nothing(found))
        seen: set[str] = set()
        for shape in chain(found, allowed):
            if shape.mark not in seen:
                seen.add(shape.mark)
                yield shape

    def _by_cost(self) -> Iterator[RequestShape]:
        """Return shapes, the cheapest first; made as they are asked for.

        Hundreds may be possible, of which one is sent: making all of them takes tens
        of milliseconds, in which nothing else is done.
        """
        sources = [*self._sources()]
        # What comes next of a source costs at least what it stands at in the heap.
        heap: list[tuple[float, int, int, RequestShape | None]] = [
            (least, number, 0, None) for number, (least, _) in enumerate(sources)
        ]
        heapq.heapify(heap)
        while heap:
            _, number, place, shape = heapq.heappop(heap)
            if shape is not None:
                yield shape
            elif (weighed := next(sources[number][1], None)) is not None:
                least, extra, shape = weighed
                heapq.heappush(heap, (least + extra, number, place, shape))
                heapq.heappush(heap, (least, number, place + 1, None))

    def _sources(self) -> Iterator[tuple[float, Iterator[_Weighed]]]:
        """Return bodies by what they have in common, and what each costs at least."""
        for price, writer in self._in_each_case():
            for cost, placed, wrappers in writer._assignments():
                envelopes = [*writer._envelopes(placed, wrappers)]
                most = _MOST_BODIES // len(envelopes)
                for more, around in envelopes:
                    room = _Room(placed, wrappers, around)
                    least = price + cost + more
                    bodies = writer._completed(room, least, most)
                    yield least + writer._cheapest_homes(room), bodies

    def _in_each_case(self) -> Iterator[tuple[float, "Writer"]]:
        """Return who writes in each case that the network may use, and at what cost."""
        yield 0.0, self
        if self.style.other_case:
            style = replace(self.style, case=self.style.other_case)
            yield 1.0, replace(self, style=style)

    def _may_be_lenient(self) -> bool:
        """Return whether all names are to be tried, since there is nothing to learn.

        Not where something was refused as too much, nor of a post, which costs credits.
        """
        known = self.known
        is_picky = known.unknown or known.closed or known.is_strict
        is_due = self.is_silent or self.style.is_lenient
        return is_due and not is_picky and self.action != "post_task"

    def _under_all_names(self, likeliest: RequestShape) -> RequestShape:
        """Return a body with each value under every name that it may have.

        Most networks ignore what they do not know, and take it whatever they call
        things: where a refusal says nothing, it tests all those names at once.
        """
        placed = {one.path: one for one in likeliest.placed}
        # Beside a value, too, that stands in an object that was asked for: as such, or
        # by a name under which no value was ever wrong.
        filled = {one.path[:-1] for one in likeliest.placed if one.path[-1] != FIRST}
        wrong = {path for path, _ in self.known.misfits}
        asked = [
            one.path
            for one in self.known.wanted
            if one.path in filled and (one.wants == "object" or one.path not in wrong)
        ]
        around = [likeliest.envelope, *asked]
        written = [pair for _, one in self._in_each_case() for pair in one._all_names()]
        for above, (source, name) in product(dict.fromkeys(around), written):
            path = (*above, name)
            is_taken = any(one[: len(path)] == path for one in placed)
            if not is_taken and (path, source) not in self.known.misfits:
                placed[path] = self._typed(source, path, "")
        return RequestShape(tuple(placed.values()))

    def _all_names(self) -> Iterator[tuple[str, str]]:
        """Return the values with the names that each may have."""
        for source in (*self._core.essential, *self._core.optional):
            if self.values.get(source) in _EMPTY:
                continue
            yield from ((source, name) for _, name in self._names(source, is_own=False))
        for source in self.values:
            verb, _, way = source.partition(".")
            leaf = way.rpartition(".")[2]
            if (
                f"{verb}." in GIVEN
                and not leaf.isdigit()
                and self.values[source] is not None
            ):
                made = (verb, MADE.get(verb, verb)) if leaf in ID_WORDS else ()
                names = [self.style.write(f"{one}_{leaf}") for one in made]
                yield from ((source, name) for name in names or [leaf])

    def _nothing(self, likeliest: Sequence[RequestShape]) -> RequestShape:
        """Return a body without values: only what goes around them on this network.

        Its headers are those of the likeliest.
        """
        outside = (
            one for shape in likeliest for one in shape.placed if is_outside(one.path)
        )
        constants = self._inherited_constants(())
        around = self.style.envelope
        empty = (Placed(around, constant={}),) if around else ()
        return RequestShape((*constants, *empty, *outside))

    @property
    def _core(self) -> ActionValues:
        return ACTIONS[self.action]

    def _assignments(
        self,
    ) -> Iterator[tuple[float, tuple[Placed, ...], tuple[Path, ...]]]:
        """Return ways to give each required name its value, or make it an object."""
        free = [one for one in self.known.wanted if self._is_free(one)]
        free.sort(key=lambda one: not one.is_required)
        options = [self._choices(one) for one in free]
        left = _MOST_ASSIGNMENTS
        for cost, found in cheapest(options, _MOST_TRIED):
            chosen = [one for one in found if one is not None]
            valued = [
                one
                for one in chosen
                if one.source not in _REPEATABLE and not is_header(one.path)
            ]
            # Each of two links may say of what `type` it is, as the record's do.
            again = {(one.source, one.path[-1]) for one in valued if _may_recur(one)}
            sources = [
                *(one.source for one in valued if not _may_recur(one)),
                *(source for source, _ in again),
            ]
            if left and len({*sources}) == len(sources):
                left -= 1
                wrappers = tuple(one.path for one in chosen if one.source == OBJECT)
                placed = tuple(one for one in chosen if one.source != OBJECT)
                # As long as the task has no name, a name is rather that.
                filled = 0 if self._is_named(sources) else self._fillers_in(chosen)
                named = self._names_again(sources)
                yield cost + 1.5 * filled + 2.0 * named, placed, wrappers

    def _names_again(self, sources: Sequence[str]) -> int:
        """Count names that the task has beside its first, while the agent has none.

        A `courier_id` beside the `delivery_id` of a delivery is rather ours.
        """
        task_id = self.values.get("task_id")
        named = [one for one in sources if self.values.get(one) == task_id]
        return 0 if "agent_id" in sources else max(len(named) - 1, 0)

    def _is_named(self, sources: Iterable[str]) -> bool:
        """Return whether the network has said what it calls the task."""
        known, own = {*sources, *self.style.paths}, self.style.id_name
        is_needed = "task_id" in self._core.essential
        # Records have a name of their own for it, which nobody has refused, and nobody
        # wants an object in which it would stand.
        is_telling = bool({*words_of(own)} - ID_WORDS - {"name", "title"})
        is_flat = all(len(one.path) == 1 for one in self.known.wanted)
        has_own = is_telling and is_flat and not self.known.is_unknown((own,))
        return not is_needed or has_own or "task_id" in known or self._is_told(known)

    def _fillers_in(self, chosen: Iterable[Placed]) -> int:
        """Count values that stand only where nothing better is known."""
        return sum(
            one.source == WORDS
            or (
                one.source == "agent_id"
                and self.cost_of(one.path, one.source) > ELIMINATED
            )
            for one in chosen
        )

    def _is_free(self, one: Wanted) -> bool:
        """Return whether a value may stand there: not around what is required."""
        is_around = any(
            other.is_required and other.path[: len(one.path)] == one.path
            for other in self.known.wanted
            if other.path != one.path
        )
        return not (self.known.is_unknown(one.path) or (one.is_required and is_around))

    def _choices(self, wanted: Wanted) -> Sequence[Choice]:
        """Return what may stand at a name, the likeliest first.

        Where it is not required, only a value that fits it well, or nothing.
        """
        path, is_required = wanted.path, wanted.is_required
        options = [*self._value_options(wanted)]
        if is_required:
            options += self._constant_options(wanted)
            options += self._fillers(wanted)
            options.append((self._wrap_cost(wanted), Placed(path, OBJECT)))
            if wanted.wants == "array":
                options.append((2.0, Placed((*path, FIRST), OBJECT)))
            elif self._kind_of_plural(path) and not wanted.wants:
                options.append((3.0, Placed((*path, FIRST), OBJECT)))
        limit, most = (FAR_FETCHED, 7) if is_required else (FITS, 3)
        likely = [
            (cost, one)
            for cost, one in sorted(options, key=lambda item: item[0])
            if cost < limit and not self._is_misfit(one)
        ][:most]
        if not is_required:
            return [*likely, (0.9, None)]
        return likely or [(TOO_DEAR, Placed(path, OBJECT))]

    def _is_misfit(self, one: Placed) -> bool:
        """Return whether a value was found not to belong there."""
        is_constant = not one.source and self.known.is_refused_as(one)
        return is_constant or (one.path, one.source) in self.known.misfits

    def _value_options(self, wanted: Wanted) -> Iterator[tuple[float, Placed]]:
        wants = wanted.wants or self._kind_of_plural(wanted.path)
        wrong = self._wrong_at(wanted.path)
        for source, value in self.values.items():
            if is_header(wanted.path) and source in {"result", "evidence"}:
                continue
            if value is None:
                continue
            if source == TASK_TAIL and not self._may_be_tail(wanted):
                continue
            is_shown = source.startswith((*GIVEN, RECORD)) and source != wanted.means
            if is_shown and _is_prose(value):
                continue  # work to do: as a result it would be accepted for one
            is_uuid = source == "key" and wanted.wants == "uuid"
            is_date = source in MOMENTS and is_day(wanted.wants)
            misfit = 0.0 if is_uuid or is_date else type_cost(value, wanted.wants)
            cost = self._cost_of_value(wanted, source, value)
            kind = wants if wants in _SCALARS | {"array"} or is_date else ""
            if source == "key":
                # A UUID where it is sure to be meant, too: many ask for one next.
                kind = "uuid" if is_uuid or cost <= _MEANT else "id"
            forms = [(cost + misfit, Placed(wanted.path, source, kind))]
            forms += [
                (cost + 1.5, Placed(wanted.path, source, other))
                for other in _other_kinds(source, wanted.wants)
            ]
            for price, one in forms:
                yield price + 4.0 * ((repr(value), one.kind) in wrong), one

    def _is_id_for_work(self, wanted: Wanted, value: JSON) -> bool:
        """Return whether what was done is asked for, and this is an id.

        Whatever else was called so: in an answer, our id was the `contents` of a state.
        """
        ids = (self.values.get("task_id"), self.values.get("agent_id"))
        words = {word.rstrip("s") for word in words_of(wanted.path[-1])}
        is_work = self.action == "submit" and words.issubset(RESULT_WORDS)
        return is_work and value in ids

    def _may_be_tail(self, wanted: Wanted) -> bool:
        """Return whether the last part of the task's id may be meant.

        It may be another task's whole id: so only where that was found wrong, and
        under the names that mean the task's id itself only if it is one of tasks by
        its way, as in `documents/tasks/89CF`.
        """
        refused = {
            form.partition(" as ")[0]
            for path, form in self.known.misfits
            if path == wanted.path
        }
        is_usual = words_of(wanted.path[-1]) == ("task", "id")
        *_, around, _ = ("", "", *str(self.values.get("task_id")).split("/"))
        is_of_tasks = around.lower().rstrip("s") in TASK_NOUNS
        return "task_id" in refused and (is_of_tasks or not is_usual)

    def _cost_of_value(self, wanted: Wanted, source: str, value: JSON) -> float:
        """Return what it costs to believe that a name means a value, by what it is."""
        cost = self._cost_as_meant(wanted, source, value)
        # Of two answers the later one knows better, such as of a revision.
        cost -= 0.05 * source.startswith("submit.")
        # Where tasks are known by their `documentId`, claims are so, too.
        cost -= 0.3 * (source.rpartition(".")[2] in self._id_leaves)
        cost = min(cost, self._cost_by_form(wanted, source, value, cost))
        cost = _cost_of_choice(wanted.options, value, cost)
        cost += 1.0 * (_is_of_a_moment(wanted.path) and self._is_told_anew(source))
        is_old = _is_where_it_stood(wanted, source)
        cost += 4.0 * (is_old or self._is_id_for_work(wanted, value))
        is_meant = source == wanted.means
        cost += 3.0 * (not is_meant and self._is_other_id(wanted.path[-1], source))
        cost += 1.5 * self._was_listed(wanted.path[-1], source, value)
        if source in _EMPTY_ABLE and value in _EMPTY:
            cost += 2 if wanted.wants == "object" else 5
        return cost + self._cost_of_strange(wanted.path, source, value)

    def _cost_as_meant(self, wanted: Wanted, source: str, value: JSON) -> float:
        """Return what it costs by the name, and by what is said of it."""
        ways = (wanted.path, _way_to_one(wanted))
        cost = min(self.cost_of(path, source) for path in ways)
        if wanted.means and self._may_mean(wanted):
            cost = min(cost, 0.3) if source == wanted.means else cost + 2.0
        if self._names_the_task(source, value):
            cost = min(cost, self.cost_of(wanted.path, "task_id") + 1.5)
        is_its_id = source == "task_id" and self._is_no_claim(wanted)
        if is_its_id or _is_part_of(wanted.path, source, value):
            cost = min(cost, 1.0)
        is_key = wanted.wants in _OF_KEYS and not _is_measure(wanted)
        made = self._made_by(source)
        if is_key and made:
            cost = min(cost, 3.5)  # whatever this network calls a claim or a submission
        if made == "submit" and wanted.path[-1] in self._around_work:
            cost = min(cost, 0.4)
        if made and self._is_of_another_thing(wanted.path):
            cost = min(cost, 0.8)
        cost = min(cost, *(self._cost_as_named(path, source, value) for path in ways))
        is_said_so = self._is_said_so(wanted, source, value)
        is_said_so = is_said_so or (wanted.path, source) in self.known.fitting
        return min(cost, -0.2) if is_said_so else cost

    def _cost_by_form(
        self, wanted: Wanted, source: str, value: JSON, cost: float
    ) -> float:
        """Return what it costs at most where the value has what is wanted."""
        is_listed = source.startswith(RECORD)
        if wanted.wants == "uuid" and source.startswith((*GIVEN, RECORD)):
            # Whatever it is called: of what an answer gave, little is a UUID. Of what a
            # record has, one of ours is rather meant that was made for this.
            return 4.3 if is_listed else 1.5 + cost / 10
        if wanted.wants == "iri" and self._names_the_task(source, value):
            return 1.5 + cost / 10  # whatever this network calls a task
        # One that may be chosen is meant, whatever the record calls it.
        return _MEANT if is_listed and value in _told(wanted) else cost

    def _cost_as_named(self, path: Path, source: str, value: JSON) -> float:
        """Return what it costs at most where the name itself tells the value."""
        is_so_named = source != "key" and _begins_as_named(value, path)
        words, leaf = words_of(path[-1]), source.rpartition(".")[2]
        # As `if_seq_no` asks for the `_seq_no` that was read last.
        is_read = words[:1] == _CONDITION and words_of(leaf) == words[1:]
        if is_read or is_so_named or self._is_same_way(path, source):
            return 0.1
        return 0.4 if self._is_of_the_thing(path, source) else TOO_DEAR

    def _cost_of_strange(self, path: Path, source: str, value: JSON) -> float:
        """Return what it costs more to send what is hardly meant there."""
        if self._is_of_the_work(path) and source not in {"result", WORDS}:
            return TOO_DEAR
        is_id_for_words = _is_of_prose(path) and not _is_prose(value)
        is_twice = source == "task_id" and self._is_at_home(path)
        # A header that a gateway asks for is hardly the place where the task is named.
        affinity_ = self.cost_of(path, source) if is_header(path) else 0.0
        is_moved = source == "task_id" and affinity_ > _MEANT
        is_elsewhere = source == "task_id" and self._is_of_the_record(path, value)
        is_of_another = source == "task_id" and self._is_of_another_thing(path)
        doubts = (is_twice, is_moved, is_elsewhere, is_of_another)
        return 5.0 * is_id_for_words + 3.0 * sum(doubts)

    def _is_of_another_thing(self, path: Path) -> bool:
        """Return whether an id is that of another thing than the task elsewhere is.

        As in `{"engagement": {"id"}}`, where a claim has said `{"gig": {"id"}}`.
        """
        known = self.style.paths.get("task_id", ())
        is_inside = len(known) > 1 and len(path) > 1 and path[-1] == known[-1]
        is_inside = is_inside and ID_WORDS.issuperset(words_of(path[-1]))
        is_usual = is_inside and bool({*words_of(path[-2])} & TASK_NOUNS)
        return is_inside and path[-2] != known[-2] and not is_usual

    def _is_of_the_record(self, path: Path, value: JSON) -> bool:
        """Return whether the record has another value under this name of an id."""
        listed = self.values.get(RECORD + path[-1])
        is_id = not ID_WORDS.isdisjoint(words_of(path[-1])[-1:])
        return is_id and listed is not None and listed != value

    def _is_of_the_work(self, path: Path) -> bool:
        """Return whether a `value` is that of the result: no other one is work.

        So is what stands under the tag of a language there, such as `en-US`.
        """
        is_value = path[-1] == "value" or bool(_LANGUAGE.fullmatch(path[-1]))
        around = words_of(path[-2]) if is_value and path[1:] else ()
        return self.action == "submit" and bool({*around} & {*RESULT_WORDS})

    def _is_at_home(self, path: Path) -> bool:
        """Return whether the task stood under the listing's own name, and fitted there.

        Then what else is wanted is rather another value.
        """
        named = ((self.style.id_name,), "task_id")
        is_id = not ID_WORDS.isdisjoint(words_of(path[-1])[-1:])
        return is_id and named in self.known.fitting and path != named[0]

    def _is_of_the_thing(self, path: Path, source: str) -> bool:
        """Return whether a name is a record's with the noun before: `issue_iid`."""
        *noun, last = words_of(path[-1]) or ("",)
        is_number = last in _OF_ONE_RECORD and source == RECORD + last
        return is_number and bool(noun) and _OF_ANOTHER.isdisjoint(noun)

    def _is_said_so(self, wanted: Wanted, source: str, value: JSON) -> bool:
        """Return whether it has the form that was shown, or is known by its name.

        As another action has it there, or as an answer had this name.
        """
        if wanted.form and _has_form(value, wanted.form):
            return True
        is_there = self.style.given.get(wanted.path) == source
        is_there = is_there and not self._is_told_anew(source)
        return is_there or self._is_same_word(wanted.path[-1], source, value)

    def _is_no_claim(self, wanted: Wanted) -> bool:
        """Return whether a claim cannot be meant, since there is none yet."""
        is_scalar = wanted.wants in {"integer", "string", "id", "uuid"}
        name = _way_to_one(wanted)[-1]
        is_made = {*words_of(name)} <= NOUNS["claim"] | ID_WORDS
        return self.action == "claim" and is_made and is_scalar

    def _may_mean(self, wanted: Wanted) -> bool:
        """Return whether a value may be meant: our id never stands for the work."""
        is_ours = wanted.means == "agent_id"
        return not is_ours or self.cost_of(wanted.path, "agent_id") < TOO_DEAR

    @cached_property
    def _around_work(self) -> Path:
        """Return the object that a submission has the work in, such as a `proof`.

        The next action asks for the one that was made of it by the same name.
        """
        return self.style.work[-2:-1]

    def _made_by(self, source: str) -> str:
        """Return the action that made what a value is the identifier of, or ""."""
        verb, *way = source.split(".")
        around = {word for name in way[:-1] for word in words_of(name)}
        is_bare = way[-1:] == ["id"] and around.isdisjoint(TASK_NOUNS | AGENT_NOUNS)
        is_ours = self.values.get(source) == self.values.get("task_id")
        is_near = len(way) <= 2  # noqa: PLR2004 - in one object at most
        is_made = verb in {"claim", "submit"} and is_near and is_bare and not is_ours
        return verb if is_made else ""

    def _is_same_way(self, path: Path, source: str) -> bool:
        """Return whether a value stands in just such a list of records.

        As `strings.0.key` does, which is wanted in `strings`, of a listed task; and as
        `requestedOutputs.0.name`, which is wanted in `outputs`.
        """
        inner = path[path.index(FIRST) - 1 :] if FIRST in path[1:] else ()
        way = source.split(".")[-len(inner) :] if inner else []
        is_within = way[1:] == [*inner[1:]] and bool(way)
        is_alike = is_within and words_of(way[0])[-1:] == words_of(inner[0])[-1:]
        return is_alike and source.startswith((*GIVEN, RECORD))

    def _is_told_anew(self, source: str) -> bool:
        """Return whether a later answer gave something under the same name."""
        leaf = source.rpartition(".")[2]
        later = ("submit.",) if source.startswith("claim.") else ("claim.", "submit.")
        return not source.startswith("submit.") and any(
            one.startswith(later) and one.rpartition(".")[2] == leaf
            for one in self.values
        )

    def _is_same_word(self, name: str, source: str, value: JSON) -> bool:
        """Return whether an answer gave something of its own under just this name.

        Such as a `jobCardId`, which is no name for the job, or the `number` of a
        `ticket` as a `ticketNumber`.
        """
        every = words_of(name)
        words = {*every} - ID_WORDS
        *_, around, leaf = "", *source.split(".")
        is_so_named = leaf == name or (*words_of(around), *words_of(leaf)) == every
        is_given = source.startswith(GIVEN) and is_so_named
        is_ours = value in (self.values.get("task_id"), self.values.get("agent_id"))
        is_of_us = source.startswith(OF_REGISTRATION)
        is_ours = is_ours and not is_of_us
        known = (frozenset() if is_of_us else AGENT_NOUNS) | {"task", self.style.noun}
        is_telling = not words <= known if words else len(every) > 1
        return is_given and not is_ours and is_telling

    def cost_of(self, path: Path, source: str) -> float:
        """Return what it costs to believe that a name means a value: 0 is certain."""
        own, telling = self.style.id_name, source
        above, _, name = source.rpartition(".")
        if source.startswith(GIVEN) and own and name == own:
            telling = f"{above}.id"  # what this network calls an identifier
        cost = affinity(self.action, path, telling, self.style.noun)
        if self._is_id_of(path[-1], source):
            return 0.0
        if self._begins(path[-1], source):
            return min(cost, 0.6)
        is_own = source == "task_id" and path[-1] in {own, f"{own}s"}
        if is_own and cost < TOO_DEAR - 1:
            return min(cost, 0.5)  # the network's own name for it, or for several
        known = self.style.paths.get(source)
        if known == path:
            return min(cost, 0.0)  # it stands there in another action
        is_telling = bool({*words_of(path[-1])} - ID_WORDS - {"value"})
        is_id = source in {"task_id", "agent_id"}
        if known and is_id and known[-1] == path[-1] and is_telling:
            cost = min(cost, 0.1)  # it is called so there
        words = words_of(known[-1]) if known else ()
        is_other = known is not None and words != words_of(path[-1])
        has_own_word = bool({*words} - ID_WORDS) and TASK_NOUNS.isdisjoint(words)
        # Another action calls the task otherwise: then this is rather something else.
        is_else = is_other and (cost >= 1 or has_own_word)
        return cost + 2.0 * (source == "task_id" and is_else)

    def _is_id_of(self, name: str, source: str) -> bool:
        """Return whether an answer has given it as the id of what is called so.

        Frappe has an "Allotment" as the `doctype` of an object, and its id as `name`.
        """
        above, _, leaf = source.rpartition(".")
        is_id = source.startswith(GIVEN) and {*words_of(leaf)} <= ID_WORDS | {"name"}
        kinds = (self.values.get(f"{above}.{word}") for word in _TYPE_WORDS)
        return is_id and any(spelling(str(k)) == spelling(name) for k in kinds if k)

    def _begins(self, name: str, source: str) -> bool:
        """Return whether it is what an answer has first in an object called so.

        Records begin with their id, in whatever language: `{"vorgang": {"kennung"}}`.
        """
        above = source.rpartition(".")[0]
        *action, around = above.split(".")
        is_given = bool(action) and source.startswith(GIVEN) and around == name
        inside = (one for one in self.values if one.rpartition(".")[0] == above)
        ours = (self.values.get("task_id"), self.values.get("agent_id"))
        value = self.values.get(source)
        is_word = isinstance(value, str | int) and " " not in str(value)
        return is_given and is_word and next(inside) == source and value not in ours

    def _was_listed(self, name: str, source: str, value: JSON) -> bool:
        """Return whether an answer only repeats what the record has, for another name.

        Such as a `pool_id`, which no claim has made.
        """
        leaf = source.rpartition(".")[2]
        is_repeated = self.values.get(RECORD + leaf) == value
        is_other = ID_WORDS.isdisjoint([leaf]) and leaf != name
        return is_repeated and is_other and source.startswith(GIVEN)

    def _is_other_id(self, name: str, source: str) -> bool:
        """Return whether records call the task so, and the value is none of it.

        A bare `id` says nothing, and nor does a `value`.
        """
        words = {*words_of(name)}
        is_telling = bool(words & ID_WORDS and words - ID_WORDS)
        is_named = is_telling and name == self.style.id_name
        return is_named and source != "task_id" and not source.startswith(RECORD)

    @cached_property
    def _id_leaves(self) -> frozenset[str]:
        """Return the names of fields in records by which other actions know a task."""
        named = (source for source in self.style.paths if source.startswith(RECORD))
        return frozenset(source.rpartition(".")[2] for source in named)

    def _kind_of_plural(self, path: Path) -> str:
        """Return what a name in the plural asks for: there may be several results."""
        words = words_of(path[-1])
        return "array" if self.action == "submit" and {*words} & _PLURALS else ""

    def _names_the_task(self, source: str, value: JSON) -> bool:
        """Return whether a field of the record names the task, too.

        It may be the way to it, as an IRI is, or another identifier.
        """
        way = source.removeprefix(RECORD)
        if way == source or not isinstance(value, str):
            return False
        words, task_id = words_of(way), str(self.values.get("task_id"))
        is_id = words[-1:] and words[-1] in ID_WORDS and OTHERS_WORDS.isdisjoint(words)
        is_own = is_id and "." not in way and value != task_id
        # Django's addresses end in a stroke.
        return is_own or value.rstrip("/").endswith(("/" + task_id, ":" + task_id))

    def _constant_options(self, wanted: Wanted) -> Iterator[tuple[float, Placed]]:
        words, path = words_of(wanted.path[-1]), wanted.path
        if wanted.example is not None:
            yield ELIMINATED + 1, Placed(path, constant=wanted.example)
        if wanted.options:
            left = self._not_refused(wanted)
            best = self._best_option(left, words[-1] if words else "")
            yield 0.2, Placed(path, constant=converted(best, wanted.wants))
        elif wanted.wants == "boolean":
            is_no = not _NOES.isdisjoint(words)
            yield 0.2, Placed(path, constant=not is_no)
            yield 0.9, Placed(path, constant=is_no)
        elif words[-2:] == ("if", "match"):
            yield 2.0, Placed(path, constant="*")
        elif _asks_for_a_yes(words) and wanted.wants not in {"integer", "number"}:
            yield (
                2.0,
                Placed(path, constant=[True] if wanted.wants == "array" else True),
            )
        elif path in self.style.constants:
            yield 0.5, Placed(path, constant=self.style.constants[path])
        elif words == ("type",) and self._has_attributes(path[:-1]):
            yield 0.5, Placed(path, constant=f"{MADE[self.action]}s")
        else:
            yield from self._named_constants(wanted, words[-1] if words else "")

    def _named_constants(
        self, wanted: Wanted, word: str
    ) -> Iterator[tuple[float, Placed]]:
        """Return constants that a name asks for, such as a state or a format."""
        if word in _STATE_NAMES | {"action", "event", "operation"}:
            yield 2.5, Placed(wanted.path, constant=STATE_OF[self.action])
        elif (unit := _unit_of(wanted)) and wanted.wants in {"", "integer", "number"}:
            is_clear = word == unit  # `etaMinutes` is no moment
            yield (
                0.45 if is_clear else 1.0,
                Placed(wanted.path, constant=_DURATIONS[unit]),
            )
        elif word in _KINDS and wanted.wants in {"", "string"}:
            is_mime = {"content", "mime", "media"} & {*words_of(wanted.path[-1])}
            yield 3.0, Placed(wanted.path, constant="text/plain" if is_mime else "text")
        elif wanted.wants == "duration":
            yield from _ten_minutes(wanted)
        elif word in {"language", "lang", "locale"}:
            yield 3.0, Placed(wanted.path, constant="en")
        elif word == "initials" and wanted.wants in {"", "string"}:
            yield 1.0, Placed(wanted.path, constant="AI")
        if wanted.wants in {"integer", "number"} and word not in ID_WORDS:
            yield 4.5, Placed(wanted.path, constant=1)  # a share, a rating, a count

    def _fillers(self, wanted: Wanted) -> Iterator[tuple[float, Placed]]:
        """Return what may stand under a name that says nothing to us.

        Words, of which the result is the best: it is no mistake under any name that may
        mean it, such as a `summary`. Never under what means the task or the agent, or
        another one would be meant.
        """
        own = [self.cost_of(wanted.path, source) for source in ("task_id", "agent_id")]
        is_time = wanted.wants == "datetime" or is_day(wanted.wants)
        if min(own) <= _MEANT and not is_time:
            return
        is_id = not ID_WORDS.isdisjoint(words_of(wanted.path[-1])[-1:])
        if is_outside(wanted.path) or wanted.options or WORDS not in self.values:
            return
        if wanted.wants in {"", "string", "array"}:
            kind = wanted.wants or "string"
            was_refused = any(
                path == wanted.path and self._is_text(form)
                for path, form in self.known.misfits
            )
            is_unlikely = is_id or (was_refused and not wanted.wants)
            cost = (
                ELIMINATED + 0.2 + 2.0 * is_unlikely + 0.5 * (own[1] < ELIMINATED + 1)
            )
            yield cost, Placed(wanted.path, WORDS, kind)
            is_number = not MEASURE_WORDS.isdisjoint(words_of(wanted.path[-1])[-1:])
            if is_number and not wanted.wants:
                yield ELIMINATED + 0.1, Placed(wanted.path, constant=1)
            if (wanted.path, WORDS) in self.known.misfits:
                yield from self._other_fillers(wanted)
        elif is_time:
            kind = wanted.wants if is_day(wanted.wants) else ""
            yield ELIMINATED + 0.2, Placed(wanted.path, "now", kind)
            yield ELIMINATED + 0.25, Placed(wanted.path, "ahead", kind)

    def _other_fillers(self, wanted: Wanted) -> Iterator[tuple[float, Placed]]:
        """Return what may stand where words were too short, too long, or no words."""
        said = words_for(self.action, {})
        if said != self.values[WORDS]:
            yield ELIMINATED + 0.25, Placed(wanted.path, constant=said)
        yield ELIMINATED + 0.3, Placed(wanted.path, constant="Done")
        if not wanted.wants:
            yield ELIMINATED + 0.32, Placed(wanted.path, constant=1)
            yield ELIMINATED + 0.34, Placed(wanted.path, constant=True)
        yield ELIMINATED + 0.4, Placed(wanted.path, constant="AI")

    def _is_text(self, form: str) -> bool:
        """Return whether a misfit was a text; what is no number may be one."""
        value = self.values.get(form.partition(" as ")[0])
        return not isinstance(value, int | float)

    def _has_attributes(self, above: Path) -> bool:
        """Return whether an object is one of JSON:API's."""
        inside = (*above, "attributes")
        return any(one.path[: len(inside)] == inside for one in self.known.wanted)

    def _not_refused(self, wanted: Wanted) -> tuple[str, ...]:
        """Return what may be chosen and was not wrong, be it as a value of the task."""
        path, wrong = wanted.path, {value for value, _ in self._wrong_at(wanted.path)}
        chosen = (
            Placed(path, constant=converted(one, wanted.wants))
            for one in wanted.options
            if repr(one) not in wrong
        )
        left = (one for one in chosen if not self.known.is_refused_as(one))
        return tuple(str(one.constant) for one in left) or wanted.options

    def _wrong_at(self, path: Path) -> frozenset[tuple[str, str]]:
        """Return the values that were found wrong somewhere, and their types there."""
        forms = (
            form.partition(" as ") for at, form in self.known.misfits if at == path
        )
        return frozenset(
            (repr(self.values[source]), kind.removeprefix(_AS_IT_IS))
            for source, _, kind in forms
            if source in self.values
        )

    def _best_option(self, options: tuple[str, ...], word: str) -> str:
        if (usual := _DURATIONS.get(word)) and all(one.isdigit() for one in options):
            return str(min(max(usual, int(options[0])), int(options[-1])))
        if any({*words_of(one)} & _PEOPLE for one in options):
            # Of who does the work, only what we are is true, whatever is taken.
            ours = [one for one in options if {*words_of(one)} & _MACHINES]
            options = tuple(ours) or options
        nouns = NOUNS[self.action] | {STATE_OF[self.action]} | _GOOD_ENDS
        nouns |= VERBS[self.action]
        told = [one for one in options if {*words_of(one)} & nouns]
        fair = [one for one in options if _BAD_ENDS.isdisjoint(words_of(one))]
        return (told or fair or [*options])[0]

    def _wrap_cost(self, wanted: Wanted) -> float:
        """Return what it costs to believe that a name is an object around others."""
        if wanted.wants or is_outside(wanted.path):
            return 0.0 if wanted.wants == "object" else TOO_DEAR
        is_used = len(wanted.path) == 1 and wanted.path[0] in self.style.wrappers
        words = words_of(wanted.path[-1])
        is_used |= len(words) > 1 and words[-1] == "request"  # `DeliveryRequest`
        return -0.2 if is_used else self._wrap_cost_by_name(wanted)

    def _wrap_cost_by_name(self, wanted: Wanted) -> float:
        words = words_of(wanted.path[-1])
        head = {*words[-1:]}
        if {*words} & (ID_WORDS | {"version", "token"} | _DURATIONS.keys()):
            return TOO_DEAR
        if self.known.is_refused_as(Placed(wanted.path, "result")):
            return 1.0  # the value itself was found wrong there
        is_known = bool(head & (ENVELOPES | TASK_NOUNS | AGENT_NOUNS))
        is_result = self.action == "submit" and bool(head & {*RESULT_WORDS})
        # Of several names that are missed beside each other, each is rather a value.
        is_inner = is_result and len(wanted.path) > 1
        if self._has_neighbours(wanted.path) and (is_inner or not is_known):
            return ELIMINATED + 1.5
        if head & NOUNS[self.action] and not _DONE.issuperset(words):
            # A submission's `result` or `answer` is rather the result itself.
            is_plain = self.action != "submit" or head & {"submission", "submit"}
            return 0.4 if is_plain else 1.2
        return 1.5 if is_known or is_result else ELIMINATED + 1.5

    def _completed(self, room: _Room, least: float, most: int) -> Iterator[_Weighed]:
        """Put the values that have no place yet where they may belong."""
        constants = self._inherited_constants(room.placed)
        empty = tuple(Placed(path, constant={}) for path in room.wrappers)
        hull = (Placed(room.around, constant={}),) if room.around else ()
        for cost, chosen in cheapest(self._all_homes(room), most):
            more = tuple(one for one in chosen if one is not None)
            everything = self._ordered(
                (*room.placed, *more), (*constants, *empty, *hull)
            )
            if everything is not None:
                hollow = 4.0 * self._hollow(room.wrappers, everything)
                yield least + cost, hollow, RequestShape(everything)

    def _hollow(self, wrappers: tuple[Path, ...], placed: tuple[Placed, ...]) -> int:
        """Count objects that are around nothing, though nobody asked for an object.

        None where the body says nothing that the action needs: it is to be refused
        with the names that belong there.
        """
        needed = (*GIVEN, *self._core.essential)
        if not any(one.source.startswith(needed) for one in placed):
            return 0
        asked = {
            one.path
            for one in self.known.wanted
            if one.wants == "object"
            and not self.known.is_refused_as(Placed(one.path, constant={}))
        }
        kept = [one for one in placed if one.source not in self._core.optional]
        inner = {one.path[:i] for one in kept for i in range(len(one.path))}
        return len({*wrappers} - asked - inner)

    def _envelopes(
        self, placed: tuple[Placed, ...], wrappers: tuple[Path, ...]
    ) -> Iterator[tuple[float, Path]]:
        """Return objects that may be around everything."""
        asked = [path for path in wrappers if path[0] in self.style.wrappers]
        usual = asked[0] if len(asked) == 1 else self.style.envelope
        inside = [one.path for one in placed if one.path[1:]]
        filled = {path[:-1] for path in inside if path[-1] != FIRST}
        told = [path for path in filled if self.known.get(path) is not None]
        usual = usual or (told[0] if len(told) == 1 else ())
        sources = {one.source for one in placed if one.source}
        around = RequestShape(placed).envelope if sources else usual
        sources = sources or {*self.style.paths}
        around = around_all(around, self.action, sources) or around
        is_about_one = is_of_one_value(around, self.action, sources)
        yield (2.5 if is_about_one else 0.0), around
        if around:
            yield (0.0 if is_about_one else 2.5), ()
        if self.known.wanted or around:
            return
        likely = ("data", MADE[self.action], "input", "payload", "body")
        for rank, name in enumerate((*likely, "params", "request")):
            yield 1.2 + 0.3 * rank, (self.style.write(name),)
        for name in self.style.around:
            yield 0.15, (name,)

    def _all_homes(self, room: _Room) -> list[list[Choice]]:
        essential, optional = self._homeless(room)
        return [
            *(self._essential_homes(source, room) for source in essential),
            *(self._optional_homes(source, room) for source in optional),
        ]

    def _homeless(self, room: _Room) -> tuple[list[str], list[str]]:
        """Return the values that have no place yet: those it needs, and the others."""
        core, values = self._core, self.values
        # What another action was asked for is said here, too.
        asked = (name for name in core.on_demand if name in self.style.paths)
        others = (one for one in (*core.optional, *asked) if one not in room.taken)
        return (
            [one for one in core.essential if one in values and one not in room.taken],
            [one for one in others if values.get(one) not in _EMPTY],
        )

    def _cheapest_homes(self, room: _Room) -> float:
        """Return what the values without a place cost at least, without a look at each.

        Most forms are dearer than the one that is sent, and so are never made.
        """
        essential, optional = self._homeless(room)
        may_be_omitted = bool(self.known.wanted) or self._is_asked_first
        least = _KNOWN_PLACE if self.style.paths else _LISTED_NAME
        each = _OMITTED if may_be_omitted else least
        return each * len(essential) + least * len(optional)

    def _essential_homes(self, source: str, room: _Room) -> list[Choice]:
        """Return where a value may go; nowhere, too, once guessing has become idle.

        A body that only lacks it is refused with the name that it should have, by a
        network that asks for what it wants; a post is never sent without its words.
        """
        if source == "task_id" and TASK_TAIL in self.style.paths:
            source = TASK_TAIL
        homes: list[Choice] = [*self._homes(source, room)]
        best = homes[0][1] if homes else None
        above = best.path[:-1] if best is not None else ()
        is_idle = self._is_refused(source, above) and self.action != "post_task"
        if self._is_asked_first and source == "result":
            homes.append((_OMITTED, None))
        elif is_idle and (self.style.is_enforced or source == "result"):
            homes.append((0.3 if self.style.is_enforced else 1.0, None))
        if source == "task_id" and self.known.wanted and self._is_told(room.taken):
            # The claim's or the submission's id says which task it is.
            is_refused = self._is_refused("task_id", room.around)
            is_omitted = "task_id" in self.style.omits
            is_unwanted = self.known.is_strict or is_refused or is_omitted
            homes = [(cost + 1.5 * is_unwanted, one) for cost, one in homes]
            homes.append((_OMITTED if is_unwanted else 0.8, None))
        return homes

    @property
    def _is_asked_first(self) -> bool:
        """Whether only what the network asks for is sent, until it asks no more."""
        is_told = self.known.stops_at_unknown and self.style.is_enforced
        return is_told and not self.is_silent and self.action != "post_task"

    def _is_told(self, taken: Iterable[str]) -> bool:
        """Return whether a value that an earlier answer gave can name the task."""
        task_id = self.values.get("task_id")
        return any(
            source.startswith((*GIVEN, TASK_TAIL))
            or (source.startswith(RECORD) and self.values.get(source) == task_id)
            for source in taken
        )

    def _is_refused(self, source: str, above: Path) -> bool:
        """Return whether the network does not know what a value was called there."""
        elsewhere = self.style.paths.get(source)
        return any(
            path[:-1] == above
            and (
                path == elsewhere
                or affinity(self.action, path, source, self.style.noun) < ELIMINATED / 2
            )
            for path in self.known.unknown
        )

    def _homes(self, source: str, room: _Room) -> list[Choice]:
        kind = self.style.kinds.get(source, "")
        homes: dict[Path, float] = {}
        for price, path in self._paths_for(source, room):
            is_unnamed = self._names_all(path[:-1]) and not self.known.get(path)
            cost = price + 4.0 * is_unnamed
            if not self.known.is_unknown(path) and cost < homes.get(path, TOO_DEAR):
                homes[path] = cost
        ranked = sorted(homes.items(), key=lambda item: item[1])[:14]
        return [(cost, self._typed(source, path, kind)) for path, cost in ranked]

    def _names_all(self, above: Path) -> bool:
        """Return whether the network has listed the names that an object may have."""
        return any(
            not one.is_required and one.path[:-1] == above for one in self.known.wanted
        )

    def _typed(self, source: str, path: Path, kind: str) -> Placed:
        known = self.known.get(path)
        wants = known.wants if known and known.wants in _SCALARS else kind
        return Placed(path, source, wants)

    def _optional_homes(self, source: str, room: _Room) -> list[Choice]:
        homes = self._homes(source, room)[:2]
        usual = self.style.paths.get(source)
        was_refused = any(
            path == usual or affinity(self.action, path, source, self.style.noun) < 1
            for path in self.known.unknown
        )
        is_used = source in self.style.paths  # by another action
        is_picky = self.known.is_strict or (bool(self.known.unknown) and not is_used)
        is_unasked = (
            was_refused
            or is_picky
            or source in self.style.omits
            or (self._is_asked_first and source in self._core.optional)
        )
        # It is left out before it is tried under a second name.
        more = enumerate((c + (3 if is_unasked else 0), one) for c, one in homes)
        # Another name of ours, which the registration gave, says who we are as well.
        is_said = source == "agent_id" and any(
            one.startswith(OF_REGISTRATION) for one in room.taken
        )
        none = 0.0 if is_said else 1.0
        return [*((c + 1.1 * rank, one) for rank, (c, one) in more), (none, None)]

    def _paths_for(self, source: str, room: _Room) -> Iterator[tuple[float, Path]]:
        known = self.style.paths.get(source)
        if known is not None:
            yield _KNOWN_PLACE, known
        for path, stood in self.known.fitting:
            if stood == source:
                yield _LISTED_NAME, path
        if self.known.get((WHOLE,)) is not None:
            names = self._names(source, is_own=False)
            yield from ((cost, (QUERY + name,)) for cost, name in names)
        named = (one.path for one in self.known.wanted if not one.is_required)
        yield from ((self.cost_of(path, source), path) for path in named)
        for cost, container, is_own in self._containers(source, room):
            for more, name in self._names(source, is_own=is_own):
                if (name,) != container[-1:]:
                    yield cost + more, (*container, name)

    def _containers(
        self, source: str, room: _Room
    ) -> Iterator[tuple[float, Path, bool]]:
        """Return objects that may hold a value, and whether each is about it alone."""
        wrappers, around = room.wrappers, room.around
        inner = {
            one.path[:-1]
            for one in self.known.wanted
            if len(one.path) > 1 and one.path[-1] != FIRST  # a list holds no names
        }
        for path in (*wrappers, *sorted(inner - {around, ()})):
            yield self._wrapper_cost(source, path)
        is_around = any({*words_of(path[-1])} <= ENVELOPES for path in wrappers)
        yield (3.0 if is_around else 1.6 if wrappers else 0.0), around, False
        if source == "task_id" and not wrappers and not self.known.wanted:
            yield 1.5, (*around, self.style.write(self.style.noun)), True

    def _wrapper_cost(self, source: str, path: Path) -> tuple[float, Path, bool]:
        """Judge whether a value belongs inside of an object with this name."""
        name = next((one for one in reversed(path) if one != FIRST), "")
        words = {*words_of(name)}
        own = {
            "task_id": TASK_NOUNS | {self.style.noun},
            "agent_id": AGENT_NOUNS,
            "result": frozenset(RESULT_WORDS),
            "evidence": EVIDENCE_WORDS,
        }.get(source, frozenset())
        other = (TASK_NOUNS | AGENT_NOUNS | EVIDENCE_WORDS) - NOUNS[self.action]
        if words & NOUNS[self.action] and source != "result":
            return 0.5, path, False
        is_around = words <= ENVELOPES and not self._has_neighbours(path)
        if words & own and not (source == "result" and is_around):
            return 0.0, path, True
        if source == "result" and words & EVIDENCE_WORDS and self._is_only_home(path):
            return 0.0, path, True
        if words & other or (
            self.action == "submit" and words & {"result", "output", "answer"}
        ):
            return 4.0, path, False
        return 0.1, path, False

    def _is_only_home(self, path: Path) -> bool:
        """Return whether nothing that is wanted outside of an object may be the result.

        Such as where a `proof` is wanted, and a `claim_id`: the work is the proof.
        """
        others = (one.path for one in self.known.wanted if one.is_required)
        outside = (one for one in others if one[: len(path)] != path)
        return all(self.cost_of(one, "result") >= ELIMINATED for one in outside)

    def _has_neighbours(self, path: Path) -> bool:
        """Return whether something is wanted beside an object, not inside of it."""
        return any(
            one.is_required and one.path[:-1] == path[:-1] and one.path != path
            for one in self.known.wanted
        )

    def _names(self, source: str, *, is_own: bool) -> Iterator[tuple[float, str]]:
        """Return what a value may be called, as this network writes names."""
        for cost, name in self._plain_names(source, is_own=is_own):
            is_listed = name == self.style.id_name
            yield cost, name if is_listed else self.style.write(name)
        for name in self.style.empty:
            cost = affinity(self.action, (name,), source, self.style.noun)
            if cost <= 1:
                yield 0.1 + cost / 2, name

    def _plain_names(self, source: str, *, is_own: bool) -> Iterator[tuple[float, str]]:
        match source:
            case "task_id":
                yield from self._task_names(is_own=is_own)
            case "agent_id":
                yield from self._agent_names(is_own=is_own)
            case "result":
                usual = _INSIDE_A_RESULT if is_own else RESULT_WORDS[:9]
                names = dict.fromkeys((*self._told_names, *usual))
                yield from ((0.6 * i, name) for i, name in enumerate(names))
            case _ if source in POST_WORDS:
                likely = POST_WORDS[source][:4]
                yield from ((0.9 * i, name) for i, name in enumerate(likely))
            case _:
                yield 0.0, source

    @property
    def _told_names(self) -> Iterator[str]:
        """Yield what a task says that its result is called: a `resultVariable`."""
        for source, value in self.values.items():
            *what, kind = words_of(source.rpartition(".")[2]) or ("",)
            is_told = kind in _FOR_A_NAME and {*what} & {"result", "output", "answer"}
            if is_told and re.fullmatch(r"[A-Za-z]\w{2,40}", str(value)):
                yield str(value)

    def _agent_names(self, *, is_own: bool) -> Iterator[tuple[float, str]]:
        words = words_of(self.style.id_name)
        suffix = words[-1] if len(words) > 1 and words[-1] in ID_WORDS else "id"
        if is_own:
            yield from ((0.0, suffix), (0.8, "agent_id"))
            return
        yield 0.0, f"agent_{suffix}"
        yield 2.5, f"worker_{suffix}"

    def _task_names(self, *, is_own: bool) -> Iterator[tuple[float, str]]:
        style = self.style
        listed = style.id_name
        is_telling = bool(listed) and spelling(listed) not in GENERIC
        if is_own:
            yield (
                0.0,
                listed if listed and not is_telling and listed[0] != "_" else "id",
            )
            yield 0.8, f"{style.noun}_id"
            return
        if is_telling:
            yield _LISTED_NAME, listed
        yield 0.0, f"{style.noun}_id"
        yield from (
            (3.0 + 0.2 * i, f"{noun}_id") for i, noun in enumerate(COMMON_NOUNS)
        )
        if listed and not is_telling and spelling(listed) != "id":
            word = words_of(listed)[-1] if words_of(listed) else "id"
            yield 1.1, f"{style.noun}_{word}"
            yield 1.3, listed
        yield 1.6, "id"
        if style.noun != "task":
            yield 1.4, "task_id"
        yield 2.0, style.noun

    def _inherited_constants(self, placed: tuple[Placed, ...]) -> tuple[Placed, ...]:
        """Return what this network wanted said beside the values of other actions."""
        there = {one.path for one in placed}
        return tuple(
            Placed(path, constant=value)
            for path, value in self.style.constants.items()
            if path not in there and self._is_said_again(path)
        )

    def _is_said_again(self, path: Path) -> bool:
        """Return whether what another action was asked for is said unasked here.

        A network that refuses what it does not know asks for what it wants beside the
        values. What stands around them is its protocol's.
        """
        is_beside = path[:-1] == self.style.envelope and self.known.get(path) is None
        is_refused = self.known.is_unknown(path)
        is_picky = self.style.is_picky or self.known.is_strict
        return not is_refused and not (is_beside and is_picky)

    def _ordered(
        self, placed: tuple[Placed, ...], constants: tuple[Placed, ...]
    ) -> tuple[Placed, ...] | None:
        """Put values in the order of our names; None when two are in one's way."""
        names = [*self._core.names, *self.values]
        ranked = sorted(
            placed, key=lambda one: names.index(one.source) if one.source else -1
        )
        paths = [one.path for one in ranked]
        if len({*paths}) < len(paths):
            return None
        nested = any(a != b and b[: len(a)] == a for a in paths for b in paths)
        if nested:
            return None
        there = {path[:i] for path in paths for i in range(1, len(path) + 1)}
        extra = tuple(one for one in constants if one.path not in there)
        return (*ranked, *extra)


def _ten_minutes(wanted: Wanted) -> Iterator[tuple[float, Placed]]:
    """Return the ways to write how long it takes, the one that was shown first."""
    for rank, written in enumerate(_TEN_MINUTES):
        is_shown = bool(wanted.form) and _has_form(written, wanted.form)
        cost = 0.0 if is_shown else 0.2 + 0.3 * rank
        yield cost, Placed(wanted.path, constant=written)
