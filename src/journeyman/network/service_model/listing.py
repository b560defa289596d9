"""The tasks of a marketplace's answer, gathered by what they are, wherever they are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from types import MappingProxyType

from journeyman.domain.tasks import JSON, Task, TaskId
from journeyman.network.service_model.naming import (
    Path,
    singular,
    type_of,
    value_at,
    word_set,
    words_of,
)
from journeyman.network.service_model.pages import PageRequest, Paging, next_pages
from journeyman.network.service_model.plain import plain
from journeyman.network.service_model.reading import (
    GENERAL,
    NAMES,
    SCOPE,
    Places,
    RecordReader,
    WrongShapeError,
    as_label,
    id_path,
    spelling,
    unquoted,
)
from journeyman.network.service_model.roles import SAMPLE, find_roles
from journeyman.network.service_model.states import Meaning, StateWords
from journeyman.network.service_model.vocabulary import ASSUMED


@dataclass(frozen=True, slots=True)
class Listing:
    """What a marketplace shows, or one page of it."""

    tasks: tuple[Task, ...]
    """In the network's order, each id once."""
    unreadable: int
    """How many records have no usable id."""
    total: int
    """How many records there were."""
    problem: str
    """Why something could not be read; empty when all was well."""
    next: tuple[PageRequest, ...] = ()
    """How the next page may be asked for, the likeliest first; empty on the last."""
    key: object = field(default=None, compare=False)
    """Equal while it would be read as the same tasks; None: that is not known."""
    later: tuple["LaterTasks", ...] = ()
    """Of a long page: what follows after `tasks`. Nobody has read it, so that it is
    in `total` and not in `unreadable`."""

    @property
    def count(self) -> int:
        """How many tasks there are on the whole page."""
        return len(self.tasks) + sum(one.count for one in self.later)

    def portions(self) -> Iterator[tuple[Task, ...]]:
        """Yield the tasks of the whole page, each portion read when it is come to."""
        yield self.tasks
        for one in self.later:
            yield one.read().tasks

    def every_task(self) -> Iterator[Task]:
        """Yield the tasks of the whole page one by one."""
        return chain.from_iterable(self.portions())


@dataclass(frozen=True, slots=True)
class LaterTasks:
    """A portion of a long page that is read when it is needed."""

    key: Callable[[], object]
    """Returns what `Listing.key` is when it is read now."""
    count: int
    read: Callable[[], Listing]


_SAMPLE = 20
"""Records looked at to judge an array."""
_LONGEST_NUMBER = 3
"""Digits of the numbers that PHP gives to the records of a list."""
_MOST_READ = 2_000
"""Tasks that are kept as they were read; what changes in a longer page is told by its
portions."""
_FEW_GROUPS = 2
_MOST_GROUPS = 200
"""Arrays of tasks in one answer, such as one for each category."""
_MOST_VALUES = 200
"""Values on each level of an answer in which a list is looked for."""
_VALUES = ("v", "value")
"""Names of the value in a cell of a table."""
_NAMES_SHOWN = 8
"""Field names quoted when no tasks were found."""
RECORDS = "records"
"""Where the list is, among the owner's places; all others are in a record of it."""
_TASK_NAME_WORTH = 20
"""More than the likeness of any record: such a name is authoritative."""
_NEUTRAL_NAME_WORTH = 2
_TASK_LIKENESS = 3
"""An id and two other features: so many are needed where no array shows them all."""
_SAME_FIELDS = 0.6
"""The share of common field names from which two arrays hold the same things."""

_TASKS_WORDS = word_set(
    "task tasks job jobs gig gigs quest quests bounty bounties assignment assignments "
    "marketplace listings"
)
_OUR_WORDS = word_set("my mine your yours own")
"""In the name of a list: it is of what we have, beside what there is."""
_OTHER_WORDS = word_set(
    "agent agents user users error errors warning warnings link links product products "
    "plan plans tag tags category categories type types kind kinds count counts facet "
    "facets stats statistics schema"
)
_FACET_WORDS = word_set("tag tags category categories type types kind kinds link links")
"""Of them, those that could be what a network has its work done on."""


@dataclass(frozen=True, slots=True)
class _Array:
    """Records that stand together in an answer."""

    path: Path
    records: Sequence[JSON]
    keys: Sequence[str] = ()
    """The names of the records, where they are the values of an object."""
    label: str = ""
    """What the name or the object around them says of them all."""
    around: Mapping[str, JSON] = field(default_factory=dict)
    """The objects around them, by their names: a request may have to name a group."""


@dataclass(eq=False, slots=True)
class _Form:
    """What the listings so far looked like."""

    reader: RecordReader
    places: Places = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    """Of the records' fields."""
    learned_from: int = 0
    """Records."""
    only: _Array | None = None
    """Where the only list of such an answer was."""
    at: Path = ()
    """Where the only object was that has tasks under names of their own."""
    id_path: Path = ()
    """Of the records."""
    read: dict[TaskId, Task] = field(default_factory=dict)
    """What was read last: most of it is listed again, unchanged."""

    def task(self, record: JSON, key: str | None) -> Task | None:
        """Read a record, unless it is the same as before."""
        if not isinstance(record, dict):
            return None
        name = value_at(record, self.id_path) if self.id_path else None
        known = self.read.get(TaskId(str(name)))
        if known is not None and known.raw == record:
            return known
        task = self.reader.task(record, key)
        if task is not None:
            if len(self.read) >= _MOST_READ:
                self.read.clear()
            self.read[task.id] = task
            self.id_path = self.id_path or id_path(task)
        return task


class ListingReader:
    """Reads an answer as a list of tasks.

    Where the tasks are, and what their fields mean, is found out once: again only where
    there are more records than it was learned from, or fields that were not there.
    """

    def __init__(self, owner: Places = MappingProxyType({})) -> None:
        """Read as the owner's places say, where there are any, and find the others."""
        self._owner = {role: path for role, path in owner.items() if role != RECORDS}
        self._at = owner.get(RECORDS, ())
        self._unseen = {*self._owner}
        """Those of the owner's places that no record had so far."""
        self._record = RecordReader(self._owner)
        names = ("task_containers", "containers", "no_containers", "record_wrappers")
        more = ("record_wrappers_without_id", "account_wrappers", "message_fields")
        self._no_keys = {n for field in (*names, *more) for n in NAMES[field]}
        self._form: _Form | None = None

    @property
    def form(self) -> object:
        """What is known of the form of listings: another object when more is known."""
        return self._form

    @property
    def describes_all_alike(self) -> bool:
        """Whether the listings so far had one description for all tasks."""
        return self._form is not None and GENERAL in self._form.places

    def listing(self, answer: JSON, paging: Paging | None = None) -> Listing:
        """Return the tasks of an answer; records without an id are only counted.

        `paging` tells how the answer was asked for, which its next page depends on.

        Raises:
            WrongShapeError: the answer is neither an array nor an object.
        """
        answer = plain(unquoted(answer))
        if not isinstance(answer, list | dict):
            raise WrongShapeError(f"a JSON {type_of(answer)} where a list was expected")
        groups, form = self._as_before(answer), self._form
        if not groups or form is None:
            groups = self._find(answer)
            if form is not None and _is_no_task(groups, form):
                groups = [*_arrays_at(answer, form.at, form.at)] if form.at else []
            if (mistake := self._misplaced(groups)) is not None:
                return mistake
            form = self._learn(answer, groups)
        if not groups:
            said = "no list of tasks in"
            if self._at:
                said = f"contract.listing.records: no list at {'.'.join(self._at)!r} in"
            problem = "" if self._is_empty(answer) else f"{said} {_described(answer)}"
            return Listing((), 0, 0, problem)
        records = [record for group in groups for record in group.records]
        tasks, unreadable = self._tasks(groups, form)
        problem = ""
        if unreadable:
            problem = f"{unreadable} of {len(records)} records have no usable id"
        pages = next_pages(answer, records, paging or Paging())
        return Listing(tuple(tasks.values()), unreadable, len(records), problem, pages)

    def _tasks(
        self, groups: list[_Array], form: _Form
    ) -> tuple[dict[TaskId, Task], int]:
        tasks: dict[TaskId, Task] = {}
        unreadable = 0
        for group in groups:
            for record, key in zip_longest(group.records, group.keys):
                task = form.task(_in_group(record, group.around), key)
                if task is None:
                    unreadable += 1
                elif task.id not in tasks:
                    tasks[task.id] = _labelled(task, group.label)
        return tasks, unreadable

    def _misplaced(self, groups: list[_Array]) -> Listing | None:
        """Return what is told of a place of the owner's that no record has ever had.

        Then nothing is read, rather than something else than the owner means.
        """
        every = [record for group in groups for record in group.records]
        records = [record for record in every if isinstance(record, dict)]
        self._unseen -= {
            role
            for role in self._unseen
            if any(_has_place(record, self._owner[role]) for record in records)
        }
        if not (records and self._unseen):
            return None
        role = min(self._unseen)
        told = (
            f"contract.listing.{role}: none of {len(records)} records has "
            f"{'.'.join(self._owner[role])!r} (fields: {_names_in(records[0])})"
        )
        return Listing((), len(every), len(every), told)

    # -- what is known from the listings so far --------------------------------------

    def _as_before(self, answer: JSON) -> list[_Array]:
        """Return the tasks where they were before, if nothing about them is new."""
        form, lists = self._form, self._lists(answer)
        if form is None or form.only is None or len(lists) != 1:
            return []
        ((path, records),) = lists
        is_more = len(records) > form.learned_from and form.learned_from < SAMPLE
        is_known = path == form.only.path and all(
            isinstance(one, dict) and form.names.issuperset(one) for one in records
        )
        return [replace(form.only, records=records)] if is_known and not is_more else []

    def _lists(self, answer: JSON) -> list[tuple[Path, list[JSON]]]:
        walk = self._walk(answer, with_keyed=False)
        return [(path, value) for path, value, _ in walk if isinstance(value, list)]

    def _learn(self, answer: JSON, groups: list[_Array]) -> _Form:
        """Find roles; of few records, where they were when there were more of them."""
        records = [
            _in_group(record, group.around)
            for group in groups
            for record in group.records
        ]
        if not records:
            return _Form(self._record)
        has_keys = any(map(_has_own_keys, groups))
        places = find_roles(records, self._record, has_keys=has_keys)
        if self._form and len(records) <= self._form.learned_from:
            # On another page, all may be in one state, and say less of what it is.
            kept = self._form.places.items()
            places = {**places, **{r: p for r, p in kept if _all_have(records, p)}}
            if len(records) < self._form.learned_from:
                # What few records show is for them alone.
                return _Form(self._record.at(places))
        if self._form and SCOPE in self._form.places:
            # On this page the ids may differ by themselves, and mean the same.
            places = {**places, **{r: self._form.places[r] for r in ("id", SCOPE)}}
        is_only = self._lists(answer) == [(one.path, one.records) for one in groups]
        only = replace(groups[0], records=()) if is_only else None
        at = groups[0].path if len(groups) == 1 and groups[0].keys else ()
        names, reader = _field_names(records), self._record.at(places)
        if self._form:
            # Each portion of a page has only some of them.
            names |= self._form.names
        self._form = _Form(reader, places, names, len(records), only, at)
        return self._form

    # -- which arrays hold the tasks ------------------------------------------------

    def _find(self, answer: JSON) -> list[_Array]:
        if self._at:
            return [*_arrays_at(answer, self._at, self._at)]
        return self._found_in(list(self._arrays(answer)), answer)

    def _found_in(self, arrays: list[_Array], answer: JSON) -> list[_Array]:
        is_alone = _are_of_one_kind(arrays[:_MOST_GROUPS])
        weighed = [(self._worth(one, is_alone=is_alone), one) for one in arrays]
        worth, best = max(weighed, key=lambda one: one[0], default=(0, None))
        if worth and best is not None:
            groups = self._alike(best, arrays)
            if _say_the_same(groups):
                others = [one for one in arrays if one not in groups]
                return self._found_in(others, answer)
            return [self._labelled(group, groups) for group in groups]
        if any(self._name_worth(one.path) is not None for one in arrays):
            return []
        return self._named_as_facets(arrays) or self._single(answer)

    def _named_as_facets(self, arrays: list[_Array]) -> list[_Array]:
        """Return tasks under the name of what is usually said of tasks.

        A shop's shelf tags are tasks where each has all that a task has, and nothing
        else is a list.
        """
        return [
            one
            for one in arrays[:1]
            if one.path
            and not _FACET_WORDS.isdisjoint(words_of(one.path[-1])[-1:])
            and one.records
            and min(_likenesses(one, self._reader_of(one))) >= _TASK_LIKENESS
            and all(map(self._record.promises_reward, one.records[:_SAMPLE]))
        ]

    def _alike(self, best: _Array, arrays: list[_Array]) -> list[_Array]:
        """Return the arrays that hold the same things as the best, in order."""
        if not best.records:
            return [best]
        names = _field_names(best.records[:_SAMPLE])
        return [
            one
            for one in arrays[:_MOST_GROUPS]
            if one is best
            or (
                one.records
                and self._name_worth(one.path) is not None
                and _likeness(names, _field_names(one.records[:_SAMPLE]))
                >= _SAME_FIELDS
            )
        ]

    def _is_empty(self, answer: JSON) -> bool:
        """Return whether an answer without a list may be one without tasks.

        Some write an empty list as null or as an empty object, or leave it out.
        """
        if self._form and isinstance(answer, dict):
            return not any(records for _, records in self._lists(answer))
        return any(
            value in (None, {})
            for path, value, _ in self._walk(answer)
            if path and self._is_of_tasks(path[-1])
        )

    def _single(self, answer: JSON) -> list[_Array]:
        """Find one task that stands alone, where nothing is a list."""
        for path, value, _ in self._walk(answer):
            if self._name_worth(path) is None:
                continue
            is_task = self._record.likeness(value) >= _TASK_LIKENESS
            if is_task and self._record.promises_reward(value):
                return [_Array(path, [value])]
        return []

    def _arrays(self, answer: JSON) -> Iterator[_Array]:
        tables: set[Path] = set()
        for path, value, is_keyed in self._walk(answer):
            if path[:-1] in tables:
                continue
            if isinstance(value, list):
                array = _Array(path, _flat(value, ASSUMED.container_depth))
                yield array
                yield from self._inside(array)
            elif isinstance(value, dict) and is_keyed:
                yield _Array(path, [*value.values()], [*value])
            elif isinstance(value, dict) and (rows := _table(value)):
                tables.add(path)
                yield _Array(path, rows)

    def _inside(
        self, array: _Array, levels: int = ASSUMED.container_depth
    ) -> Iterator[_Array]:
        """Find the arrays in an array's objects, where those are groups of tasks."""
        likeness = _likenesses(array, self._record)
        is_tasks = sum(likeness) > _TASK_LIKENESS * len(likeness)
        groups = [one for one in array.records[:_MOST_GROUPS] if isinstance(one, dict)]
        inside = [
            (group, name, value)
            for group in groups
            for name, value in group.items()
            if isinstance(value, list) and _has_objects(value)
        ]
        names = {name for _, name, _ in inside}
        parts = {name for name in names if self._is_part(groups[:_SAMPLE], name)}
        for group, name, value in inside:
            if name in parts:
                continue
            is_named = not _TASKS_WORDS.isdisjoint(words_of(name))
            if not is_tasks or is_named or self._tells_states(value, group):
                label = array.label or self._word_for(group)
                around = {**array.around, **_described_alone(array.path, group)}
                inner = _Array((*array.path, name), value, label=label, around=around)
                yield inner
                if levels > 1:
                    yield from self._inside(inner, levels - 1)

    def _tells_states(self, inside: list[JSON], group: dict[str, JSON]) -> bool:
        """Return whether things in a group have states of their own, as tasks have."""
        states = (self._record.state_of(one) for one in inside[:_SAMPLE])
        return self._record.state_of(group) is None and None not in {*states}

    def _is_part(self, groups: list[dict[str, JSON]], name: str) -> bool:
        """Return whether each of several tasks has one thing in it, which is no task.

        As Toloka's suites have, which are paid as a whole: `{"tasks": [{"id": ...}]}`.
        """
        told = (group.get(name) for group in groups)
        inside = [one[0] for one in told if isinstance(one, list) and len(one) == 1]
        if not len(inside) == len(groups) >= _FEW_GROUPS:
            return False
        around, inner = (self._reader_of(_Array((), one)) for one in (groups, inside))
        is_paid = all(map(around.promises_reward, groups))
        return is_paid and not any(map(inner.promises_reward, inside))

    def _walk(
        self, answer: JSON, *, with_keyed: bool = True
    ) -> Iterator[tuple[Path, JSON, bool]]:
        """Walk the objects, shallow ones first; arrays are not entered.

        Each comes with whether it is a list of tasks under names of their own.
        """
        level: list[tuple[Path, JSON]] = [((), answer)]
        for _ in range(ASSUMED.container_depth + 1):
            below: list[tuple[Path, JSON]] = []
            for path, sent in level[:_MOST_VALUES]:
                value = unquoted(sent) if isinstance(sent, str) else sent
                is_object = isinstance(value, dict)
                is_keyed = with_keyed and is_object and self._is_keyed(path, value)
                yield path, value, is_keyed
                if isinstance(value, dict) and not is_keyed:
                    below += [((*path, k), v) for k, v in value.items()]
            level = below

    def _is_keyed(self, path: Path, value: JSON) -> bool:
        """Return whether an object is a list of tasks, each under a name of its own."""
        sample = dict([*value.items()][:_SAMPLE]) if isinstance(value, dict) else {}
        if not sample or any(spelling(key) in self._no_keys for key in sample):
            return False
        if not _are_alike([*sample.values()]):
            return False
        array = _Array(path, [*sample.values()], [*sample])
        reader = self._reader_of(array)
        if min(_likenesses(array, reader)) < _TASK_LIKENESS:
            return False
        is_named = self._name_worth(path) == _TASK_NAME_WORTH
        if is_named or any(map(reader.promises_reward, array.records)):
            (first, *others) = array.records
            below = first.values() if isinstance(first, dict) else ()
            is_page = any(map(_holds_objects, (first, *below)))
            return bool(others) or is_named or not is_page
        return False

    def _worth(self, array: _Array, *, is_alone: bool) -> float:
        """Weigh an array, perhaps the only one; 0 is "certainly not the tasks"."""
        name = self._name_worth(array.path)
        if name is None:
            return 0
        if not array.records:
            return max(name - 1, 0)
        likeness = _likenesses(array, self._reader_of(array))
        if not any(likeness):
            return 0.5 if name else 0
        is_known = any(_likenesses(array, self._record))
        is_clear = is_known or is_alone
        if not name and max(likeness) <= (1 if is_clear else _TASK_LIKENESS - 1):
            return 0  # an id alone, under a name that says nothing
        # Of groups and what is in them, alike as tasks, the groups are none.
        holds_groups = any(map(_holds_objects, array.records[:_SAMPLE]))
        holds_tasks = any(map(self._holds_tasks, array.records[:_SAMPLE]))
        doubts = 3.0 * holds_tasks + 0.25 * holds_groups
        return max(name + sum(likeness) / len(likeness) - doubts, 0.5)

    def _holds_tasks(self, record: JSON) -> bool:
        """Return whether a record has a list of things with states of their own."""
        group = record if isinstance(record, dict) else {}
        lists = (one for one in group.values() if isinstance(one, list))
        return any(
            _has_objects(one) and self._tells_states(one, group) for one in lists
        )

    def _reader_of(self, array: _Array) -> RecordReader:
        sample, has_keys = _without_groups(array.records[:_SAMPLE]), bool(array.keys)
        return self._record.at(find_roles(sample, self._record, has_keys=has_keys))

    def _name_worth(self, path: Path) -> int | None:
        if path and self._is_other(path[-1]):
            return None
        if any(self._is_of_tasks(name) for name in path):
            is_ours = not _OUR_WORDS.isdisjoint(words_of(path[-1]))
            return 0 if is_ours else _TASK_NAME_WORTH
        known = NAMES["containers"]
        is_neutral = not path or spelling(path[-1]) in known
        return _NEUTRAL_NAME_WORTH if is_neutral else 0

    def _is_other(self, name: str) -> bool:
        """Return whether a name is that of other things than tasks."""
        is_listed = spelling(name) in NAMES["no_containers"]
        is_other = words_of(name)[-1:] and words_of(name)[-1] in _OTHER_WORDS
        return is_listed or (bool(is_other) and name != "type")

    def _is_of_tasks(self, name: str) -> bool:
        is_listed = spelling(name) in NAMES["task_containers"]
        return is_listed or not _TASKS_WORDS.isdisjoint(words_of(name))

    # -- what a group says of its tasks -----------------------------------------------

    def _labelled(self, group: _Array, groups: list[_Array]) -> _Array:
        """Return a group with the word that its name has for all its tasks."""
        if group.label or not group.path:
            return group
        *above, name = group.path
        is_container = spelling(name) in NAMES["containers"]
        is_one_of_several = len({one.path for one in groups}) > 1
        is_in_tasks = any(map(self._is_of_tasks, above))
        if is_container or self._is_of_tasks(name):
            return group
        if not (is_one_of_several or is_in_tasks):
            return group
        told = next((word for word in above if _is_state(word)), name)
        return replace(group, label=as_label(told) or "")

    def _word_for(self, group: Mapping[str, JSON]) -> str:
        seen = self._record.open(dict(group))
        words = (self._record.read(seen, role) for role in ("kind", "title"))
        return as_label(str(next(filter(None, words), ""))) or ""


def _arrays_at(value: JSON, way: Path, path: Path) -> Iterator[_Array]:
    """Return the lists at the end of a way; a list on it is one of groups."""
    value = unquoted(value)
    if way and isinstance(value, list):
        for one in value:
            yield from _arrays_at(one, way, path)
    elif way:
        if isinstance(value, dict) and way[0] in value:
            yield from _arrays_at(value[way[0]], way[1:], path)
    elif isinstance(value, dict):
        yield _Array(path, [*value.values()], [*value])
    elif isinstance(value, list | None):
        yield _Array(path, _flat(value or [], ASSUMED.container_depth))


def _is_no_task(groups: list[_Array], form: _Form) -> bool:
    """Return whether a lone record has nothing of those that were tasks.

    When but one is left, what is around it may look like one, too.
    """
    records = [record for group in groups for record in group.records]
    names = _field_names(records)
    return len(records) == 1 and bool(form.names) and form.names.isdisjoint(names)


def _has_place(record: dict[str, JSON], path: Path) -> bool:
    """Return whether a record has a field, be it null."""
    *above, name = path
    inside = value_at(record, tuple(above)) if above else record
    is_there = isinstance(inside, dict) and name in inside
    return is_there or value_at(record, path) is not None


def _likenesses(array: _Array, reader: RecordReader) -> list[int]:
    """Return how much of a task each of some records shows."""
    pairs = zip_longest(array.records[:_SAMPLE], array.keys[:_SAMPLE])
    return [reader.likeness(record, key) for record, key in pairs]


def _described_alone(path: Path, group: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a group by what its list calls it, without the lists in it."""
    name = singular(path[-1]) if path else "group"
    return {name: {n: one for n, one in group.items() if not isinstance(one, list)}}


def _in_group(record: JSON, around: Mapping[str, JSON]) -> JSON:
    """Return a record with the objects around it, as far as it has no such fields."""
    if not (around and isinstance(record, dict)):
        return record
    return {**record, **{n: one for n, one in around.items() if n not in record}}


def _has_own_keys(array: _Array) -> bool:
    """Return whether the records' names are ids, and not just their numbers."""
    return not all(key.isdigit() and len(key) <= _LONGEST_NUMBER for key in array.keys)


def _is_state(word: str) -> bool:
    return StateWords().meaning(word) is not Meaning.UNKNOWN


def _labelled(task: Task, label: str) -> Task:
    """Return a task with its group's word as its state or kind, if it has none."""
    if not label:
        return task
    if _is_state(label):
        return task if task.status else replace(task, status=label)
    return task if task.kind else replace(task, kind=label)


def _holds_objects(record: JSON) -> bool:
    """Return whether an object has a list of others, as the page of a listing has.

    Or several that are alike, each under a name of its own.
    """
    inner = record.values() if isinstance(record, dict) else ()
    members = ([*one.values()] for one in inner if isinstance(one, dict) and one)
    is_of_alike = any(len(one) > 1 and _are_alike(one) for one in members)
    return is_of_alike or any(
        isinstance(one, list) and _has_objects(one) for one in inner
    )


def _without_groups(records: Sequence[JSON]) -> Sequence[JSON]:
    """Return records without their lists of several objects: those are no fields."""
    groups = {
        name
        for one in records
        if isinstance(one, dict)
        for name, held in one.items()
        if isinstance(held, list) and len(held) > 1 and _has_objects(held)
    }
    if not groups:
        return records
    return [
        {name: held for name, held in one.items() if name not in groups}
        for one in records
        if isinstance(one, dict)
    ]


def _has_objects(array: list[JSON]) -> bool:
    return any(isinstance(one, dict) for one in array[:_SAMPLE])


def _all_have(records: Sequence[JSON], path: Path) -> bool:
    objects = [record for record in records if isinstance(record, dict)]
    return all(value_at(record, path) is not None for record in objects)


def _flat(array: list[JSON], depth: int) -> list[JSON]:
    """Return an array with what the arrays in it hold, as far as those hold objects."""
    for _ in range(depth):
        if not any(isinstance(one, list) for one in array):
            break
        array = [
            inner
            for one in array
            for inner in (one if isinstance(one, list) and one else [one])
        ]
    return array


def _table(value: dict[str, JSON]) -> list[JSON]:
    """Return the records of a table: one array has the names, another the rows."""
    arrays = [one for one in value.values() if isinstance(one, list) and one]
    for names in arrays:
        heads = [name for name in map(as_label, names) if name]
        if len(heads) == 1 or len(set(heads)) < len(names):
            continue
        for array in arrays:
            rows = [cells for cells in map(_cells, array) if cells]
            if len(rows) == len(array) and {*map(len, rows)} == {len(heads)}:
                return [dict(zip(heads, row, strict=True)) for row in rows]
    return []


def _cells(row: JSON) -> list[JSON]:
    """Return a table's row, also where it and its cells are objects around values."""
    if isinstance(row, dict) and len(row) == 1:
        (row,) = row.values()
    return [*map(_cell, row)] if isinstance(row, list) else []


def _cell(cell: JSON) -> JSON:
    held = cell if isinstance(cell, dict) else {}
    value = next((held[name] for name in _VALUES if name in held), cell)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _say_the_same(groups: list[_Array]) -> bool:
    """Return whether there are fewer records than lists of them, as of categories.

    Each task of a market may list the same skills, by their ids and names.
    """
    if len(groups) == 1:
        return False  # of one list there is nothing to compare
    different = {repr(one) for group in groups for one in group.records[:_SAMPLE]}
    return 0 < len(different) < len(groups)


def _are_alike(records: list[JSON]) -> bool:
    """Return whether values are records of one kind: objects with the same fields.

    One that holds nothing but objects and arrays is rather an object around records.
    """
    names = [frozenset(one) for one in records if isinstance(one, dict)]
    if len(names) < len(records):
        return False
    if len(names) == 1 and isinstance(records[0], dict):
        return not all(isinstance(v, dict | list) for v in records[0].values())
    return all(_likeness(names[0], others) >= _SAME_FIELDS / 2 for others in names)


def _are_of_one_kind(arrays: Sequence[_Array]) -> bool:
    """Return whether arrays hold the same things, as far as they hold any."""
    names = [_field_names(one.records[:_SAMPLE]) for one in arrays if one.records]
    first = names[0] if names else frozenset()
    return all(_likeness(first, others) >= _SAME_FIELDS for others in names)


def _field_names(records: Sequence[JSON]) -> frozenset[str]:
    return frozenset(n for one in records if isinstance(one, dict) for n in one)


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of names that both have."""
    return len(one & other) / max(len(one | other), 1)


def _described(answer: JSON) -> str:
    if not isinstance(answer, dict):
        return "the answer (an array without tasks)"
    return f"the answer (its fields: {_names_in(answer)})"


def _names_in(record: Mapping[str, JSON]) -> str:
    return ", ".join(name[:40] for name in list(record)[:_NAMES_SHOWN]) or "none"
