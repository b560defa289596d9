"""Every kind of task, solved here by the usual libraries and judged by the sandbox."""

import ast
import csv
import hashlib
import io
import json
import operator
import re
import statistics
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import date, datetime
from fractions import Fraction
from typing import Any
from urllib.parse import urldefrag, urljoin
from zoneinfo import ZoneInfo

import httpx2 as httpx
import jsonpath
import pytest
from bs4 import BeautifulSoup
from tests import prose

Open = Callable[..., Awaitable[httpx.AsyncClient]]
Join = Callable[[httpx.AsyncClient], Awaitable[httpx.AsyncClient]]
Fields = dict[str, Any]


def significant(text: str, stop_words: list[str]) -> list[str]:
    words = re.findall(r"[a-z]{4,}", text.lower())
    return [word for word in words if word not in stop_words]


def keywords(task: Fields) -> list[str]:
    counted = Counter(significant(task["text"], task["stop_words"]))
    ranked = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return [word for word, _ in ranked[: task["count"]]]


def summary(task: Fields) -> list[str]:
    sentences, stop_words = task["sentences"], task["stop_words"]
    weight = Counter(significant(" ".join(sentences), stop_words))
    covered: set[str] = set()
    chosen: list[int] = []
    for _ in range(task["count"]):
        gains = [
            -1
            if place in chosen
            else sum(weight[w] for w in set(significant(one, stop_words)) - covered)
            for place, one in enumerate(sentences)
        ]
        best = gains.index(max(gains))
        chosen.append(best)
        covered |= set(significant(sentences[best], stop_words))
    return [sentences[place] for place in sorted(chosen)]


def csv_aggregate(task: Fields) -> dict[str, float]:
    operations: dict[str, Callable[[list[float]], float]] = {
        "sum": sum,
        "mean": statistics.fmean,
        "min": min,
        "max": max,
        "count": len,
    }
    groups: dict[str, list[float]] = {}
    for row in csv.DictReader(io.StringIO(task["csv"])):
        values = groups.setdefault(row[task["group_by"]], [])
        values += [float(row[task["value"]])] if row[task["value"]] else []
    needs_values = task["operation"] in {"mean", "min", "max"}
    return {
        group: operations[task["operation"]](values)
        for group, values in groups.items()
        if values or not needs_values
    }


def arithmetic(task: Fields) -> str:
    operators: dict[type, Callable[[Fraction, Fraction], Any]] = {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.Pow: operator.pow,
    }

    def value(node: ast.AST) -> Fraction:
        if isinstance(node, ast.BinOp):
            apply = operators[type(node.op)]
            return Fraction(apply(value(node.left), value(node.right)))
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        assert isinstance(node, ast.Constant)
        assert isinstance(node.value, int)
        return Fraction(node.value)

    return str(value(ast.parse(task["expression"], mode="eval").body))


def checksum(task: Fields) -> str:
    data, name = task["text"].encode(), task["algorithm"]
    if name in {"crc32", "adler32"}:
        return f"{getattr(zlib, name)(data):08x}"
    return hashlib.new(name, data).hexdigest()


def links(task: Fields) -> list[str]:
    anchors = BeautifulSoup(task["html"], "html.parser").find_all("a", href=True)
    targets = [
        urldefrag(urljoin(task["base"], str(anchor["href"]))).url for anchor in anchors
    ]
    return list(dict.fromkeys(url for url in targets if url.startswith("http")))


def date_zone(task: Fields) -> str:
    local = datetime.fromisoformat(task["datetime"])
    there = local.replace(tzinfo=ZoneInfo(task["from"]))
    return there.astimezone(ZoneInfo(task["to"])).isoformat()


def date_calendar(task: Fields) -> str:
    day = date.fromisoformat(task["date"])
    if task["to"] == "iso_week":
        year, week, weekday = day.isocalendar()
        return f"{year}-W{week:02d}-{weekday}"
    # Fliegel and Van Flandern's formula for the Julian day, and Richards' for the
    # Julian calendar (Explanatory Supplement to the Astronomical Almanac, ch. 15).
    shift = (14 - day.month) // 12
    year, month = day.year + 4800 - shift, day.month + 12 * shift - 3
    days = day.day + (153 * month + 2) // 5 + 365 * year
    number = days + year // 4 - year // 100 + year // 400 - 32045
    if task["to"] == "julian_day":
        return str(number)
    e = 4 * (number + 1401) + 3
    h = 5 * (e % 1461 // 4) + 2
    julian_month = (h // 153 + 2) % 12 + 1
    julian_year = e // 1461 - 4716 + (14 - julian_month) // 12
    return f"{julian_year:04d}-{julian_month:02d}-{h % 153 // 5 + 1:02d}"


SOLVERS: dict[str, Callable[[Fields], Any]] = {
    "word_count": lambda task: len(task["text"].split()),
    "keywords": keywords,
    "summary": summary,
    "csv_aggregate": csv_aggregate,
    "csv_to_json": lambda task: list(csv.DictReader(io.StringIO(task["csv"]))),
    "json_path": lambda task: jsonpath.findall(task["path"], task["document"]),
    "arithmetic": arithmetic,
    "checksum": checksum,
    "links": links,
    "date_zone": date_zone,
    "date_calendar": date_calendar,
    **prose.SOLVERS,
}
WRONG: list[Any] = [None, "", [], {}, "nonsense", -1, 10**12, True, ["x"], {"x": 1}]


async def open_tasks(member: httpx.AsyncClient) -> list[Fields]:
    path = "/functions/v1/get-marketplace-tasks?limit=200"
    tasks: list[Fields] = (await member.get(path)).json()["tasks"]
    return tasks


async def hand_in(member: httpx.AsyncClient, task: Fields, result: object) -> Fields:
    body = {"task_id": task["id"]}
    await member.post("/functions/v1/claim-task-public", json=body)
    answer = await member.post(
        "/functions/v1/submit-task-result-public",
        json={**body, "result": result},
    )
    assert answer.status_code == 200, answer.text
    verdict: Fields = answer.json()
    return verdict


@pytest.mark.parametrize(
    "seed",
    [2026, *(pytest.param(seed, marks=pytest.mark.endurance) for seed in (1, 7))],
)
@pytest.mark.parametrize("kind", SOLVERS)
async def test_a_right_answer_is_accepted(
    kind: str, seed: int, open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=25, kinds=(kind,), seed=seed))

    for task in await open_tasks(member):
        verdict = await hand_in(member, task, SOLVERS[kind](task["input"]))
        assert verdict["accepted"], (task, verdict)


@pytest.mark.parametrize("kind", SOLVERS)
async def test_an_answer_may_come_as_a_string_that_holds_the_json(
    kind: str, open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=3, kinds=(kind,)))

    for task in await open_tasks(member):
        written = json.dumps(SOLVERS[kind](task["input"]))
        assert (await hand_in(member, task, written))["accepted"]


@pytest.mark.parametrize("kind", [*SOLVERS, "translation", "drawing"])
async def test_wrong_work_is_rejected_with_a_reason(
    kind: str, open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=len(WRONG), kinds=(kind,)))

    for task, wrong in zip(await open_tasks(member), WRONG, strict=True):
        verdict = await hand_in(member, task, wrong)

        assert verdict["error"] == "result_rejected", (task, wrong)
        assert verdict["ok"] is verdict["accepted"] is False
        assert verdict["message"]


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("Kept only.", "2 words, not 6"),
        ("the passage tells of {0} and {1}.", "capital letter"),
        ("The passage tells of {0} and {1}", "full stop"),
        ("It is short. The passage tells of {0} and {1}.", "full stop"),
        ("The passage tells of {0} and nothing else.", "is missing"),
        ("The passage tells of {0}, {1} and {2}.", "is in it"),
    ],
)
async def test_a_rewriting_is_judged_by_what_the_task_states(
    result: str, reason: str, open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=1, kinds=("rewriting",)))
    (task,) = await open_tasks(member)
    given = task["input"]

    verdict = await hand_in(
        member, task, result.format(*given["keep"], given["avoid"][0])
    )

    assert not verdict["accepted"]
    assert reason in verdict["message"]


async def test_a_fact_that_was_extracted_wrongly_is_named(
    open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=1, kinds=("extraction",)))
    (task,) = await open_tasks(member)

    verdict = await hand_in(
        member, task, prose.extraction(task["input"]) | {"contact": "Nobody Atall"}
    )

    assert verdict["message"].endswith("wrong: contact")


@pytest.mark.parametrize("kind", ["keywords", "links", "csv_to_json", "summary"])
async def test_the_right_things_in_the_wrong_order_are_rejected(
    kind: str, open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=5, kinds=(kind,)))

    for task in await open_tasks(member):
        backwards = SOLVERS[kind](task["input"])[::-1]
        assert not (await hand_in(member, task, backwards))["accepted"]


async def test_a_reason_does_not_give_the_answer_away(
    open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=26))

    for task in await open_tasks(member):
        verdict = await hand_in(member, task, "nonsense")
        if task["kind"] in {"word_count", "arithmetic", "checksum", "date_zone"}:
            right = str(SOLVERS[task["kind"]](task["input"]))
            assert right not in verdict["message"].split()


async def test_a_summary_is_accepted_from_four_fifths_of_the_greedy_worth(
    open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=20, kinds=("summary",)))
    accepted = []
    for task in await open_tasks(member):
        given = task["input"]
        first = given["sentences"][: given["count"]]
        weight = Counter(significant(" ".join(given["sentences"]), given["stop_words"]))
        best, reached = (
            sum(
                weight[word]
                for word in set(significant(" ".join(choice), given["stop_words"]))
            )
            for choice in (summary(given), first)
        )

        verdict = await hand_in(member, task, first)

        accepted.append(verdict["accepted"])
        assert verdict["accepted"] == (reached * 100 >= 80 * best)
    assert {True, False} == set(accepted)


async def test_the_same_seed_makes_the_same_tasks(
    open_sandbox: Open, join: Join
) -> None:
    one, same, different = [
        [
            (task["id"], task["kind"], task["input"], task["reward"])
            for task in await open_tasks(await join(await open_sandbox(seed=seed)))
        ]
        for seed in (5, 5, 6)
    ]

    assert one == same
    assert one != different


async def test_a_deck_of_tasks_has_every_kind_and_some_work_for_people(
    open_sandbox: Open, join: Join
) -> None:
    tasks = await open_tasks(await join(await open_sandbox(tasks=170)))

    kinds = Counter(task["kind"] for task in tasks)

    assert set(kinds) == {*SOLVERS, "translation", "drawing"}
    assert set(kinds.values()) == {10}
    assert all(2 <= task["reward"] <= 12 for task in tasks)
