"""Finding the tasks in whatever a marketplace answers (design 5).

Every array of the answer is a candidate, and so is every object whose values look like
tasks (`{"t1": {...}, "t2": {...}}`). Its name and its first records are looked at, and
the best wins: an array of agents beside the tasks is not mistaken for them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from journeyman.domain import JSON, Task, TaskId
from journeyman.network.answers import WrongShapeError, kind_of
from journeyman.network.dialect import Dialect
from journeyman.network.fields import spelling
from journeyman.network.json_text import UnreadableJSONError, parse
from journeyman.network.reading import RecordReader, names_of
from journeyman.network.receipts import Listing

_SAMPLE = 20
"""Records looked at to judge an array."""
_NAMES_SHOWN = 8
"""Field names quoted when no tasks were found."""
_TASK_NAME_WORTH = 20
"""More than the likeness of any record: such a name is authoritative."""
_NEUTRAL_NAME_WORTH = 2
_TASK_LIKENESS = 3
"""An id and two other signs: so much must show where no array says "these are all"."""

_Path = tuple[str, ...]
"""Names from the root to a value, reduced by `spelling`."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: _Path
    records: Sequence[JSON]
    keys: Sequence[str] = ()
    """The names of the records, where they are the values of an object."""


class ListingReader:
    """Reads an answer as a list of tasks."""

    def __init__(self, dialect: Dialect) -> None:
        self._depth = dialect.container_depth
        self._names = names_of(dialect)
        self._record = RecordReader(dialect)
        names = ("task_containers", "containers", "no_containers", "record_wrappers")
        more = ("record_wrappers_without_id", "account_wrappers", "message_fields")
        self._no_keys = {n for field in (*names, *more) for n in self._names[field]}

    def listing(self, answer: JSON) -> Listing:
        """Give the tasks of an answer; records without an id are only counted.

        Raises:
            WrongShapeError: the answer is neither an array nor an object.
        """
        answer = _unquoted(answer)
        if not isinstance(answer, list | dict):
            raise WrongShapeError(f"{kind_of(answer)} where a list was expected")
        found = self._find(answer)
        if found is None:
            return Listing((), 0, 0, f"no list of tasks in {_described(answer)}")
        tasks: dict[TaskId, Task] = {}
        unreadable = 0
        for record, key in zip_longest(found.records, found.keys):
            task = self._record.task(record, key)
            if task is None:
                unreadable += 1
            else:
                tasks.setdefault(task.id, task)
        problem = ""
        if unreadable:
            problem = f"{unreadable} of {len(found.records)} records have no usable id"
        return Listing(tuple(tasks.values()), unreadable, len(found.records), problem)

    def _find(self, answer: JSON) -> _Candidate | None:
        best, best_worth = None, 0.0
        has_list = False
        for candidate in self._candidates(answer):
            has_list = has_list or self._name_worth(candidate.path) is not None
            worth = self._worth(candidate)
            if worth > best_worth:
                best, best_worth = candidate, worth
        return best if best or has_list else self._single(answer)

    def _single(self, answer: JSON) -> _Candidate | None:
        """Find one task that stands alone, where nothing is a list."""
        for path, value in self._walk(answer):
            if self._name_worth(path) is None:
                continue
            is_task = self._record.likeness(value) >= _TASK_LIKENESS
            if is_task and self._record.promises_reward(value):
                return _Candidate(path, [value])
        return None

    def _candidates(self, answer: JSON) -> Iterator[_Candidate]:
        for path, value in self._walk(answer):
            if isinstance(value, list):
                yield _Candidate(path, value)
            elif isinstance(value, dict) and self._is_keyed(path, value):
                yield _Candidate(path, [*value.values()], [*value])

    def _walk(self, answer: JSON) -> Iterator[tuple[_Path, JSON]]:
        """Walk the objects, shallow ones first; arrays are not entered."""
        level: list[tuple[_Path, JSON]] = [((), answer)]
        for _ in range(self._depth + 1):
            below: list[tuple[_Path, JSON]] = []
            for path, value in level:
                yield path, value
                if isinstance(value, dict) and not self._is_keyed(path, value):
                    below += [((*path, spelling(k)), v) for k, v in value.items()]
            level = below

    def _is_keyed(self, path: _Path, value: dict[str, JSON]) -> bool:
        """Tell whether an object is a list of tasks, each under a name of its own."""
        sample = [*value.items()][:_SAMPLE]
        if not sample or any(spelling(key) in self._no_keys for key, _ in sample):
            return False
        likeness = [self._record.likeness(record, key) for key, record in sample]
        if min(likeness) < _TASK_LIKENESS:
            return False
        is_named = self._name_worth(path) == _TASK_NAME_WORTH
        return is_named or any(self._record.promises_reward(r) for _, r in sample)

    def _worth(self, candidate: _Candidate) -> float:
        """Weigh a candidate; 0 is "certainly not the tasks"."""
        name = self._name_worth(candidate.path)
        if name is None:
            return 0
        if not candidate.records:
            return max(name - 1, 0)
        sample = zip_longest(candidate.records[:_SAMPLE], candidate.keys[:_SAMPLE])
        likeness = [self._record.likeness(record, key) for record, key in sample]
        if not any(likeness):
            return 0.5 if name else 0
        if not name and max(likeness) == 1:
            return 0  # an id alone, under a name that says nothing
        return name + sum(likeness) / len(likeness)

    def _name_worth(self, path: _Path) -> int | None:
        if path and path[-1] in self._names["no_containers"]:
            return None
        if any(name in self._names["task_containers"] for name in path):
            return _TASK_NAME_WORTH
        known = self._names["containers"]
        return _NEUTRAL_NAME_WORTH if not path or path[-1] in known else 0


def _unquoted(answer: JSON) -> JSON:
    """Give the list out of a text that is itself JSON: some services encode twice."""
    if not isinstance(answer, str) or not answer.lstrip().startswith(("[", "{")):
        return answer
    try:
        return parse(answer)
    except UnreadableJSONError:
        return answer


def _described(answer: JSON) -> str:
    if not isinstance(answer, dict):
        return "the answer (an array without tasks)"
    names = ", ".join(name[:40] for name in list(answer)[:_NAMES_SHOWN])
    return f"the answer (its fields: {names or 'none'})"
