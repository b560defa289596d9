"""Finding the tasks in whatever a marketplace answers (design 5).

Every array of the answer is a candidate. Its name and its first records are looked
at, and the best wins: an array of agents beside the tasks is not mistaken for them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from journeyman.domain import JSON, Task, TaskId
from journeyman.network.answers import WrongShapeError, kind_of
from journeyman.network.dialect import Dialect
from journeyman.network.fields import spelling
from journeyman.network.reading import Names, RecordReader
from journeyman.network.receipts import Listing

_SAMPLE = 20
"""Records looked at to judge an array."""
_NAMES_SHOWN = 8
"""Field names quoted when no tasks were found."""
_TASK_NAME_WORTH = 20
"""More than the likeness of any record: such a name is authoritative."""
_NEUTRAL_NAME_WORTH = 2


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: tuple[str, ...]
    """Names from the root to the array, reduced by `spelling`."""
    records: list[JSON]


class ListingReader:
    """Reads an answer as a list of tasks."""

    def __init__(self, dialect: Dialect) -> None:
        self._depth = dialect.container_depth
        self._names = Names(dialect)
        self._record = RecordReader(dialect)

    def listing(self, answer: JSON) -> Listing:
        """Give the tasks of an answer; records without an id are only counted.

        Raises:
            WrongShapeError: the answer is neither an array nor an object.
        """
        if not isinstance(answer, list | dict):
            raise WrongShapeError(f"{kind_of(answer)} where a list was expected")
        records = self._find(answer)
        if records is None:
            return Listing((), 0, 0, f"no list of tasks in {_described(answer)}")
        tasks: dict[TaskId, Task] = {}
        unreadable = 0
        for record in records:
            task = self._record.task(record)
            if task is None:
                unreadable += 1
            else:
                tasks.setdefault(task.id, task)
        problem = ""
        if unreadable:
            problem = f"{unreadable} of {len(records)} records have no usable id"
        return Listing(tuple(tasks.values()), unreadable, len(records), problem)

    def _find(self, answer: JSON) -> list[JSON] | None:
        best, best_worth = None, 0.0
        for candidate in self._candidates(answer):
            worth = self._worth(candidate)
            if worth > best_worth:
                best, best_worth = candidate, worth
        return best.records if best else None

    def _candidates(self, answer: JSON) -> Iterator[_Candidate]:
        """Walk the objects, shallow ones first; arrays are not entered."""
        level: list[tuple[tuple[str, ...], JSON]] = [((), answer)]
        for _ in range(self._depth + 1):
            below: list[tuple[tuple[str, ...], JSON]] = []
            for path, value in level:
                if isinstance(value, list):
                    yield _Candidate(path, value)
                elif isinstance(value, dict):
                    below += [((*path, spelling(k)), v) for k, v in value.items()]
            level = below

    def _worth(self, candidate: _Candidate) -> float:
        """Weigh a candidate; 0 is "certainly not the tasks"."""
        name = self._name_worth(candidate.path)
        if name is None:
            return 0
        if not candidate.records:
            return max(name - 1, 0)
        sample = candidate.records[:_SAMPLE]
        likeness = [self._record.likeness(record) for record in sample]
        if not any(likeness):
            return 0.5 if name else 0
        if not name and max(likeness) == 1:
            return 0  # an id alone, under a name that says nothing
        return name + sum(likeness) / len(likeness)

    def _name_worth(self, path: tuple[str, ...]) -> int | None:
        if path and path[-1] in self._names["no_containers"]:
            return None
        if any(name in self._names["task_containers"] for name in path):
            return _TASK_NAME_WORTH
        known = self._names["containers"]
        return _NEUTRAL_NAME_WORTH if not path or path[-1] in known else 0


def _described(answer: JSON) -> str:
    if not isinstance(answer, dict):
        return "the answer (an array without tasks)"
    names = ", ".join(name[:40] for name in list(answer)[:_NAMES_SHOWN])
    return f"the answer (its fields: {names or 'none'})"
