"""Taking values out of a JSON document by a JSONPath (RFC 9535).

Each path is written together with the plain Python look-up that finds the same
values, so that no JSONPath engine is needed to know the answer.
"""

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from journeyman.sandbox.kinds.kind import (
    Answer,
    Draft,
    Fields,
    Kind,
    read_list,
    require_same,
)
from journeyman.sandbox.material import Element, Material

_Found: TypeAlias = tuple[str, list[Any]]
"""A path, and the values that it finds."""


def _make_json_path(rng: Random, material: Material) -> Draft:
    document, (path, found) = rng.choice((_atlas, _laboratory))(rng, material)
    return Draft(
        title="Extract values from a JSON document",
        description=(
            f"Give the values that the JSONPath `{path}` (RFC 9535) finds in "
            "`document`, in order. Answer with a list."
        ),
        input={"document": document, "path": path},
        reward=rng.randint(4, 6),
        answer=found,
    )


def _atlas(rng: Random, material: Material) -> tuple[Fields, _Found]:
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


def _every_capital(_rng: Random, continents: list[Fields]) -> _Found:
    found = [one["capital"] for each in continents for one in each["countries"]]
    # All capitals lie equally deep, so that every order the RFC allows is this one.
    return "$..capital", found


def _one_continent(rng: Random, continents: list[Fields]) -> _Found:
    wanted = rng.choice(continents)
    path = f"$.continents[?@.name=='{wanted['name']}'].countries[*].code"
    return path, [one["code"] for one in wanted["countries"]]


def _long_names(rng: Random, continents: list[Fields]) -> _Found:
    size = rng.randint(6, 8)
    path = f"$.continents[*].countries[?length(@.name) > {size}].name"
    names = [one["name"] for each in continents for one in each["countries"]]
    return path, [name for name in names if len(name) > size]


def _first_of_each(_rng: Random, continents: list[Fields]) -> _Found:
    path = "$.continents[*]['countries'][0]['name']"
    return path, [each["countries"][0]["name"] for each in continents]


def _laboratory(rng: Random, material: Material) -> tuple[Fields, _Found]:
    """Elements in a list, the group left out where there is none."""
    chosen = rng.sample(material.elements, rng.randint(10, 24))
    elements = [_element(one) for one in chosen]
    questions: tuple[Callable[[Random, list[Fields]], _Found], ...]
    questions = (_slice, _last, _heavy, _period_and_group, _with_group)
    found = rng.choice(questions)(rng, elements)
    return {"source": "periodic table", "elements": elements}, found


def _element(one: Element) -> Fields:
    record: Fields = {
        "number": one.number,
        "symbol": one.symbol,
        "period": one.period,
        "mass": float(one.mass),
    }
    if one.group is not None:
        record["group"] = one.group
    return record


def _slice(rng: Random, elements: list[Fields]) -> _Found:
    start, step = rng.randint(0, 4), rng.randint(1, 3)
    end = rng.randint(start + 2, len(elements))
    found = [one["symbol"] for one in elements[start:end:step]]
    return f"$.elements[{start}:{end}:{step}].symbol", found


def _last(rng: Random, elements: list[Fields]) -> _Found:
    first, back = rng.randint(0, 3), rng.randint(1, 4)
    found = [elements[first]["mass"], elements[-back]["mass"]]
    return f"$.elements[{first},-{back}].mass", found


def _heavy(rng: Random, elements: list[Fields]) -> _Found:
    limit = rng.choice((40, 100, 150, 200))
    found = [one["symbol"] for one in elements if one["mass"] > limit]
    return f"$.elements[?@.mass > {limit}].symbol", found


def _period_and_group(rng: Random, elements: list[Fields]) -> _Found:
    period, group = rng.randint(4, 6), rng.randint(3, 9)
    found = [
        one["number"]
        for one in elements
        if one["period"] >= period and one.get("group", 0) > group
    ]
    return f"$.elements[?@.period >= {period} && @.group > {group}].number", found


def _with_group(_rng: Random, elements: list[Fields]) -> _Found:
    found = [one["symbol"] for one in elements if "group" in one]
    return "$.elements[?@.group].symbol", found


def _check_json_path(_input: Fields, answer: Answer, result: object) -> None:
    require_same(read_list(result), answer)


KINDS = (
    Kind(
        name="json_path",
        tags=("data", "json", "extract"),
        make=_make_json_path,
        check=_check_json_path,
    ),
)
