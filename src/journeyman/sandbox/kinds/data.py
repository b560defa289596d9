"""Tables that are written as CSV (RFC 4180), and values taken out of a JSON document.

A JSONPath (RFC 9535) is written together with the plain Python look-up that finds the
same values, so that no JSONPath engine is needed to know the answer.
"""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

from journeyman.sandbox.kinds import kind
from journeyman.sandbox.material import Element, Material

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


def _make_aggregate(rng: Random, material: Material) -> kind.Draft:
    make_table = rng.choice((_element_masses, _sales))
    header, group_by, value, cells = make_table(rng, material)
    group, column = header.index(group_by), header.index(value)
    _blank_some(rng, cells, group, column)
    operation = rng.choice(sorted(_OPERATIONS))
    return kind.Draft(
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


def _check_aggregate(_input: kind.Fields, answer: kind.Answer, result: object) -> None:
    groups = kind.read_object(result)
    missing, strange = sorted(answer.keys() - groups), sorted(groups - answer.keys())
    if missing:
        raise kind.WrongAnswerError(f"the group {missing[0]!r} is missing")
    if strange:
        raise kind.WrongAnswerError(f"there should be no group {strange[0][:40]!r}")
    for name, value in groups.items():
        if abs(kind.read_number(value) - Fraction(answer[name])) > _TOLERANCE:
            raise kind.WrongAnswerError(f"the group {name!r} is wrong")


def _make_to_json(rng: Random, material: Material) -> kind.Draft:
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
    return kind.Draft(
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


def _check_to_json(_input: kind.Fields, answer: kind.Answer, result: object) -> None:
    records = kind.read_list(result)
    kind.require_length(records, len(answer))
    for number, (record, right) in enumerate(
        zip(records, answer, strict=True), start=1
    ):
        if not kind.same_json(record, right):
            raise kind.WrongAnswerError(f"record {number} differs from the table")


_Found = tuple[str, list[Any]]
"""A path, and the values that it finds."""


def _make_json_path(rng: Random, material: Material) -> kind.Draft:
    document, (path, found) = rng.choice((_atlas, _laboratory))(rng, material)
    return kind.Draft(
        title="Extract values from a JSON document",
        description=(
            f"Give the values that the JSONPath `{path}` (RFC 9535) finds in "
            "`document`, in order. Answer with a list."
        ),
        input={"document": document, "path": path},
        reward=rng.randint(4, 6),
        answer=found,
    )


def _atlas(rng: Random, material: Material) -> tuple[kind.Fields, _Found]:
    """Countries under their continents."""
    chosen = rng.sample(material.countries, rng.randint(12, 24))
    continents = [
        {
            "name": continent,
            "countries": [
                {"code": one.alpha2, "name": one.name, "capital": one.capital}
                for one in chosen
                if one.continent == continent
            ],
        }
        for continent in sorted({one.continent for one in chosen})
    ]
    questions = (_every_capital, _one_continent, _long_names, _first_of_each)
    return {"continents": continents}, rng.choice(questions)(rng, continents)


def _every_capital(_rng: Random, continents: list[kind.Fields]) -> _Found:
    found = [one["capital"] for each in continents for one in each["countries"]]
    # All capitals lie equally deep, so that every order the RFC allows is this one.
    return "$..capital", found


def _one_continent(rng: Random, continents: list[kind.Fields]) -> _Found:
    wanted = rng.choice(continents)
    path = f"$.continents[?@.name=='{wanted['name']}'].countries[*].code"
    return path, [one["code"] for one in wanted["countries"]]


def _long_names(rng: Random, continents: list[kind.Fields]) -> _Found:
    size = rng.randint(6, 8)
    path = f"$.continents[*].countries[?length(@.name) > {size}].name"
    names = [one["name"] for each in continents for one in each["countries"]]
    return path, [name for name in names if len(name) > size]


def _first_of_each(_rng: Random, continents: list[kind.Fields]) -> _Found:
    path = "$.continents[*]['countries'][0]['name']"
    return path, [each["countries"][0]["name"] for each in continents]


def _laboratory(rng: Random, material: Material) -> tuple[kind.Fields, _Found]:
    """Elements in a list, the group left out where there is none."""
    chosen = rng.sample(material.elements, rng.randint(10, 24))
    elements = [_element(one) for one in chosen]
    questions: tuple[Callable[[Random, list[kind.Fields]], _Found], ...]
    questions = (_slice, _last, _heavy, _period_and_group, _with_group)
    found = rng.choice(questions)(rng, elements)
    return {"source": "periodic table", "elements": elements}, found


def _element(one: Element) -> kind.Fields:
    record: kind.Fields = {
        "number": one.number,
        "symbol": one.symbol,
        "period": one.period,
        "mass": float(one.mass),
    }
    if one.group is not None:
        record["group"] = one.group
    return record


def _slice(rng: Random, elements: list[kind.Fields]) -> _Found:
    start, step = rng.randint(0, 4), rng.randint(1, 3)
    end = rng.randint(start + 2, len(elements))
    found = [one["symbol"] for one in elements[start:end:step]]
    return f"$.elements[{start}:{end}:{step}].symbol", found


def _last(rng: Random, elements: list[kind.Fields]) -> _Found:
    first, back = rng.randint(0, 3), rng.randint(1, 4)
    found = [elements[first]["mass"], elements[-back]["mass"]]
    return f"$.elements[{first},-{back}].mass", found


def _heavy(rng: Random, elements: list[kind.Fields]) -> _Found:
    limit = rng.choice((40, 100, 150, 200))
    found = [one["symbol"] for one in elements if one["mass"] > limit]
    return f"$.elements[?@.mass > {limit}].symbol", found


def _period_and_group(rng: Random, elements: list[kind.Fields]) -> _Found:
    period, group = rng.randint(4, 6), rng.randint(3, 9)
    found = [
        one["number"]
        for one in elements
        if one["period"] >= period and one.get("group", 0) > group
    ]
    return f"$.elements[?@.period >= {period} && @.group > {group}].number", found


def _with_group(_rng: Random, elements: list[kind.Fields]) -> _Found:
    found = [one["symbol"] for one in elements if "group" in one]
    return "$.elements[?@.group].symbol", found


def _check_json_path(_input: kind.Fields, answer: kind.Answer, result: object) -> None:
    kind.require_same(kind.read_list(result), answer)


KINDS = (
    kind.Kind(
        "csv_aggregate", ("data", "csv", "aggregate"), _make_aggregate, _check_aggregate
    ),
    kind.Kind("csv_to_json", ("data", "csv", "json"), _make_to_json, _check_to_json),
    kind.Kind(
        "json_path", ("data", "json", "extract"), _make_json_path, _check_json_path
    ),
)
