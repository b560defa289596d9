"""Which networks the matrix tries: pairwise, always the same, in a fixed order."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Any, TypeAlias, get_args

from journeyman.sandbox.error_bodies import VocabularyName
from journeyman.sandbox.layouts import ContainerName, Naming, RecordForm, ValueForm
from journeyman.sandbox.requests import DialectName

Combination: TypeAlias = Mapping[str, Any]
"""From an option of the sandbox to its value."""
_Choice: TypeAlias = tuple[str, Any]

FACTORS: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "dialect": get_args(DialectName),
        "strict": (False, True),
        "container": get_args(ContainerName),
        "naming": get_args(Naming),
        "errors": get_args(VocabularyName),
        "silent": (False, True),
        "records": get_args(RecordForm),
        "values": get_args(ValueForm),
    },
)


def pairwise() -> tuple[Combination, ...]:
    """Give combinations in which every two values of two factors meet once or more.

    The strict dialects with each vocabulary of errors are what negotiation has to
    get through, so all of these are there, and the other factors are spread on them.
    """
    rows: list[dict[str, Any]] = [
        {"dialect": dialect, "strict": True, "errors": errors}
        for dialect in FACTORS["dialect"]
        for errors in FACTORS["errors"]
    ]
    missing = dict.fromkeys(_all_pairs())
    uses: Counter[_Choice] = Counter()
    done: list[Combination] = []
    while rows or missing:
        begun = rows.pop(0) if rows else dict(next(iter(missing)))
        row = _completed(begun, missing, uses)
        for pair in _pairs_of(row):
            missing.pop(pair, None)
        uses.update(row.items())
        done.append(row)
    return tuple(done)


def name_of(row: Combination) -> str:
    """Name a combination by what is not the sandbox's default, in a fixed order."""
    words = [row["dialect"], "strict" if row["strict"] else "lenient"]
    words += [row[factor] for factor in ("container", "naming", "errors")]
    words += [row[factor] for factor in ("records", "values")]
    return "-".join([*words, *(["silent"] if row["silent"] else [])])


def _completed(
    begun: Mapping[str, Any],
    missing: Mapping[tuple[_Choice, _Choice], None],
    uses: Counter[_Choice],
) -> Combination:
    """Choose for each other factor what makes the most missing pairs meet.

    Among equals, what was used least.
    """
    row = dict(begun)
    for factor, values in FACTORS.items():
        if factor not in row:
            gains = {
                value: sum(
                    pair in missing for pair in _pairs_with((factor, value), row)
                )
                for value in values
            }
            most = max(gains.values())
            equals = [value for value in values if gains[value] == most]
            row[factor] = min(equals, key=lambda value: uses[factor, value])
    return {factor: row[factor] for factor in FACTORS}


def _pairs_with(
    choice: _Choice, row: Mapping[str, Any]
) -> Iterator[tuple[_Choice, _Choice]]:
    return (_ordered(choice, other) for other in row.items())


def _pairs_of(row: Combination) -> Iterator[tuple[_Choice, _Choice]]:
    return (_ordered(*pair) for pair in combinations(row.items(), 2))


def _all_pairs() -> Iterator[tuple[_Choice, _Choice]]:
    for one, two in combinations(FACTORS, 2):
        for first in FACTORS[one]:
            for second in FACTORS[two]:
                yield _ordered((one, first), (two, second))


def _ordered(one: _Choice, two: _Choice) -> tuple[_Choice, _Choice]:
    order = list(FACTORS)
    return (one, two) if order.index(one[0]) < order.index(two[0]) else (two, one)
