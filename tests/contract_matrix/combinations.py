"""Which networks the matrix tries: pairwise, always the same, in a fixed order."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Any, TypeAlias, get_args

from journeyman.sandbox.errors import ErrorFormatName
from journeyman.sandbox.options import (
    IdFormat,
    IdName,
    ListingFormat,
    Naming,
    Pagination,
    Payment,
    RecordFormat,
    RequestFormat,
    StateWords,
    ValueFormat,
    Wrapper,
)

Combination: TypeAlias = Mapping[str, Any]
"""From an option of the sandbox to its value."""
_Choice: TypeAlias = tuple[str, Any]

FACTORS: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "request_format": get_args(RequestFormat),
        "strict": (False, True),
        "listing_format": get_args(ListingFormat),
        "naming": get_args(Naming),
        "error_format": get_args(ErrorFormatName),
        "empty_answers": (False, True),
        "record_format": get_args(RecordFormat),
        "value_format": get_args(ValueFormat),
        "wrapper": get_args(Wrapper),
        "id_format": get_args(IdFormat),
        "id_name": get_args(IdName),
        "state_words": get_args(StateWords),
        "lists_taken": (False, True),
        "pagination": get_args(Pagination),
        "payment": get_args(Payment),
        "receipts": (False, True),
        "pause_every": (0, 12),
    },
)

SLOW = frozenset({("empty_answers", True), ("payment", "on-submission")})
"""A pair that is left out: without a word of a payment, and with no completion to ask
for, the daemon asks several times, half a minute apart, before it believes its 404."""


def pairwise() -> tuple[Combination, ...]:
    """Return combinations in which every two values of two factors meet once or more.

    The strict request formats with each error format are what the search has to
    get through, so all of these are there, and the other factors are spread on them.
    """
    rows: list[dict[str, Any]] = [
        {"request_format": request_format, "strict": True, "error_format": errors}
        for request_format in FACTORS["request_format"]
        for errors in FACTORS["error_format"]
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
    """Name a combination by its values, those left out that are nothing special."""
    words = (word_for(factor, row[factor]) for factor in FACTORS)
    return "-".join(filter(None, words))


def word_for(factor: str, value: object) -> str:
    """Return a word for a factor's value; empty where it is nothing special."""
    if value in (False, 0, "none") or (factor, value) == ("id_name", "id"):
        return ""
    return factor if isinstance(value, bool | int) else str(value)


def _completed(
    begun: Mapping[str, Any],
    missing: Mapping[tuple[_Choice, _Choice], None],
    uses: Counter[_Choice],
) -> Combination:
    """Choose for each other factor what makes the most missing pairs meet.

    Among equals, what was used least; where none meets, the first, which is plain.
    """
    row = dict(begun)
    for factor, values in FACTORS.items():
        if factor not in row:
            gains = {
                value: sum(
                    pair in missing for pair in _pairs_with((factor, value), row)
                )
                for value in values
                if not any(_is_slow(p) for p in _pairs_with((factor, value), row))
            }
            most = max(gains.values())
            equals = [value for value in gains if gains[value] == most]
            equals = equals if most else equals[:1]
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
                if not _is_slow(((one, first), (two, second))):
                    yield _ordered((one, first), (two, second))


def _is_slow(pair: tuple[_Choice, _Choice]) -> bool:
    return {*pair} == SLOW


def _ordered(one: _Choice, two: _Choice) -> tuple[_Choice, _Choice]:
    order = list(FACTORS)
    return (one, two) if order.index(one[0]) < order.index(two[0]) else (two, one)
