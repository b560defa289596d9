"""Reading and adding up tables that are written as CSV (RFC 4180)."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from random import Random

from journeyman.sandbox.kinds.kind import (
    Answer,
    Draft,
    Fields,
    Kind,
    WrongAnswerError,
    read_list,
    read_number,
    read_object,
    require_length,
    same_json,
)
from journeyman.sandbox.material import Material

_TOLERANCE = Fraction(1, 100)
_OPERATIONS: dict[str, Callable[[list[Decimal]], Decimal]] = {
    "sum": lambda cells: sum(cells, Decimal(0)),
    "mean": lambda cells: sum(cells, Decimal(0)) / len(cells),
    "min": min,
    "max": max,
    "count": lambda cells: Decimal(len(cells)),
}
_GIVEN_FOR_NOTHING = ("sum", "count")
"""Operations whose result over no cells is 0 rather than left out."""


def _written(rows: Iterable[Sequence[str]]) -> str:
    return "".join(",".join(map(_cell, row)) + "\n" for row in rows)


def _cell(text: str) -> str:
    if any(char in text for char in ',"\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _make_aggregate(rng: Random, material: Material) -> Draft:
    make_table = rng.choice((_element_masses, _sales))
    header, group_by, value, cells = make_table(rng, material)
    group, column = header.index(group_by), header.index(value)
    _blank_some(rng, cells, group, column)
    operation = rng.choice(sorted(_OPERATIONS))
    return Draft(
        title=f"The {operation} of {value} by {group_by}",
        description=(
            f"Group the records of `csv` by the column `{group_by}` and give the "
            f"{operation} of the column `{value}` for each group. Empty cells are left "
            "out; a group with none but empty cells is 0 for count and sum, and left "
            "out otherwise. Right to within 0.01. Answer with an object from group to "
            "number."
        ),
        input={
            "csv": _written([header, *cells]),
            "group_by": group_by,
            "value": value,
            "operation": operation,
        },
        reward=rng.randint(5, 7),
        answer=_aggregated(cells, group, column, operation),
    )


_Table = tuple[list[str], str, str, list[list[str]]]


def _element_masses(rng: Random, material: Material) -> _Table:
    chosen = rng.sample(material.elements, rng.randint(15, 40))
    cells = [[one.symbol, one.name, str(one.period), str(one.mass)] for one in chosen]
    return ["symbol", "name", "period", "mass"], "period", "mass", cells


def _sales(rng: Random, material: Material) -> _Table:
    chosen = rng.choices(material.countries, k=rng.randint(15, 40))
    cells = [
        [
            one.capital,
            one.continent,
            str(rng.randint(1, 90)),
            str(Decimal(rng.randint(-5_000, 90_000)) / 100),
        ]
        for one in chosen
    ]
    value = rng.choice(("units", "amount"))
    return ["city", "continent", "units", "amount"], "continent", value, cells


def _blank_some(rng: Random, cells: list[list[str]], group: int, column: int) -> None:
    lost_group = rng.choice(cells)[group] if rng.random() < 1 / 3 else None
    for row in cells:
        if row[group] == lost_group or rng.random() < 1 / 10:
            row[column] = ""


def _aggregated(
    cells: list[list[str]], group: int, column: int, operation: str
) -> dict[str, float]:
    groups: dict[str, list[Decimal]] = {}
    for row in cells:
        values = groups.setdefault(row[group], [])
        if row[column]:
            values.append(Decimal(row[column]))
    return {
        name: float(_OPERATIONS[operation](values))
        for name, values in groups.items()
        if values or operation in _GIVEN_FOR_NOTHING
    }


def _check_aggregate(_input: Fields, answer: Answer, result: object) -> None:
    groups = read_object(result)
    missing, strange = sorted(answer.keys() - groups), sorted(groups - answer.keys())
    if missing:
        raise WrongAnswerError(f"the group {missing[0]!r} is missing")
    if strange:
        raise WrongAnswerError(f"there should be no group {strange[0][:40]!r}")
    for name, value in groups.items():
        if abs(read_number(value) - Fraction(answer[name])) > _TOLERANCE:
            raise WrongAnswerError(f"the group {name!r} is wrong")


def _make_to_json(rng: Random, material: Material) -> Draft:
    chosen = rng.sample(material.countries, rng.randint(5, 15))
    header = ["code", "country", "capital", "note"]
    rows = [[one.alpha3, one.name, one.capital, ""] for one in chosen]
    for row, country in zip(rows, chosen, strict=True):
        row[3] = rng.choice(
            (
                "",
                country.continent,
                f'called "{country.alpha2}" for short',
                f"{country.continent}, {rng.randint(0, 9):03d}",
                f"seen on two\nlines in {country.continent}",
            ),
        )
    return Draft(
        title="Turn a CSV table into JSON",
        description=(
            "Turn the table `csv` (RFC 4180, with a header) into a list with one "
            "object for each record, from column name to the cell's text, unchanged. "
            "Answer with the list."
        ),
        input={"csv": _written([header, *rows])},
        reward=rng.randint(3, 4),
        answer=[dict(zip(header, row, strict=True)) for row in rows],
    )


def _check_to_json(_input: Fields, answer: Answer, result: object) -> None:
    records = read_list(result)
    require_length(records, len(answer))
    for number, (record, right) in enumerate(
        zip(records, answer, strict=True), start=1
    ):
        if not same_json(record, right):
            raise WrongAnswerError(f"record {number} differs from the table")


KINDS = (
    Kind(
        name="csv_aggregate",
        tags=("data", "csv", "aggregate"),
        make=_make_aggregate,
        check=_check_aggregate,
    ),
    Kind(
        name="csv_to_json",
        tags=("data", "csv", "json"),
        make=_make_to_json,
        check=_check_to_json,
    ),
)
