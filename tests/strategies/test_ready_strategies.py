"""The strategies that come along: right on their examples, unmoved by bad input."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from journeyman.domain.tasks import Result, Task, TaskId
from journeyman.strategies.api import Context
from journeyman.strategies.api.outcomes import Decline
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Registry, load_registry
from journeyman.strategies.outcomes import RunOutcome
from journeyman.strategies.running.dry_run import run_examples
from journeyman.strategies.running.runner import Runner

REGISTRY = load_registry(Path(__file__).parents[2] / "strategies")
NEED_AN_OWNER = {"ask_llm", "run_command"}
"""These do nothing until they are configured; they have tests of their own."""
NAMES = [one.name for one in REGISTRY.strategies if one.name not in NEED_AN_OWNER]
KINDS = {
    "word_count", "keywords", "summary", "csv_aggregate", "csv_to_json", "json_path",
    "arithmetic", "checksum", "links", "date_zone", "date_calendar",
}  # fmt: skip

SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(width=32)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)
BY_TYPE: dict[type, st.SearchStrategy[Any]] = {
    str: st.text() | st.text("aA<>=/\"'#.:-+*() 012345,\n$@[]?"),
    int: st.integers(),
    list: st.lists(st.text()) | st.lists(JSON),
    object: JSON,
}


def run(
    runner: Runner, loaded: LoadedStrategy, context: Context, given_input: object
) -> RunOutcome:
    task = Task(id=TaskId("t1"), input=given_input)  # type: ignore[arg-type]  # any JSON

    async def once() -> RunOutcome:
        return await runner.run(loaded, task, context, timeout_seconds=20)

    return anyio.run(once)


def test_all_of_them_load_and_there_is_one_for_each_kind() -> None:
    kinds = [set(REGISTRY.find(name).instance.kinds) for name in NAMES]

    assert REGISTRY.problems == ()
    assert {one.name for one in REGISTRY.strategies} == {*NAMES, *NEED_AN_OWNER}
    assert set().union(*kinds) == KINDS
    assert len(kinds) == len(KINDS)


@pytest.mark.parametrize("name", NAMES)
def test_its_examples_hold(name: str) -> None:
    outcomes = anyio.run(run_examples, REGISTRY.find(name))

    assert outcomes
    assert [outcome.message for outcome in outcomes if not outcome.passed] == []


@pytest.mark.parametrize("kind", ["translation", "drawing", "", "WORD_COUNT"])
def test_work_for_a_person_is_passed_over(kind: str) -> None:
    choice = REGISTRY.choose(Task(id=TaskId("t"), kind=kind, input={"text": "x"}))

    assert (choice.strategy, choice.reason) == (None, "no strategy wants it")


@pytest.mark.parametrize("name", sorted(NEED_AN_OWNER))
def test_what_needs_an_owner_wants_nothing_and_says_what_to_set(name: str) -> None:
    (verdict,) = Registry([REGISTRY.find(name)]).choose(Task(id=TaskId("t"))).verdicts

    assert not verdict.wanted
    assert f"set strategies.params.{name}." in verdict.reason


@pytest.mark.parametrize("name", NAMES)
def test_its_first_example_is_recognised_by_kind_or_by_tags_alone(name: str) -> None:
    loaded = REGISTRY.find(name)
    task = loaded.instance.examples[0].task
    untold = Task(id=task.id, input=task.input, tags=tuple(loaded.instance.tags))

    for seen in (task, untold):
        choice = Registry(REGISTRY.strategies).choose(seen)
        assert choice.strategy is loaded


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_no_input_makes_it_crash(
    name: str,
    data: st.DataObject,
    make_context: Callable[..., Context],
    runner: Runner,
) -> None:
    loaded = REGISTRY.find(name)
    typed = {key: BY_TYPE[kind] for key, kind in loaded.instance.inputs.items()}
    given_input = data.draw(st.fixed_dictionaries(typed) | JSON)
    task = Task(id=TaskId("t1"), kind=name, input=given_input)

    verdict = Registry([loaded]).choose(task)
    ended = run(runner, loaded, make_context(), given_input)

    assert "raised" not in verdict.reason
    assert isinstance(ended, Result | Decline)


HOSTILE = [
    ("count_words", {"text": "a " * 100_001}, "the text is too long"),
    ("keywords", {"text": "x" * 500_001, "count": 1, "stop_words": []}, "too long"),
    ("keywords", {"text": "word", "count": 1, "stop_words": [{}, ["a"]]}, None),
    ("summary", {"sentences": [[1]], "count": 1, "stop_words": []}, "is not a text"),
    ("summary", {"sentences": ["a"], "count": 2, "stop_words": []}, "sentences"),
    ("csv_to_json", {"csv": "a,a\n1,2\n"}, "same name"),
    ("csv_to_json", {"csv": "a" * 10_000 + "\n" + "1\n" * 10_000}, "too large"),
    ("csv_to_json", {"csv": "a\n\ud800\n"}, "not valid UTF-8"),
    ("checksum", {"text": "\ud800", "algorithm": "md5"}, "not valid UTF-8"),
    ("checksum", {"text": "", "algorithm": "md4"}, "unknown algorithm"),
    ("arithmetic", {"expression": "(" * 500}, ""),
    ("arithmetic", {"expression": "-" * 990 + "1"}, ""),
    ("arithmetic", {"expression": "(-1) ** (10 ** 500)"}, None),
    ("arithmetic", {"expression": "2 ** (1 / 2)"}, "no exact value"),
    ("arithmetic", {"expression": "1(2)"}, "not an expression"),
    ("arithmetic", {"expression": "0 ** -1"}, "divides by zero"),
    ("json_path", {"document": {"a": "x" * 100_001}, "path": "$"}, "too large"),
    ("json_path", {"document": [float("nan")], "path": "$"}, "cannot be followed"),
    ("json_path", {"document": [0], "path": "$" + "[0]" * 400}, "too long"),
    ("links", {"html": "<a href='http://[x'>", "base": "http://a.example"}, None),
    ("links", {"html": "<![x", "base": ""}, None),
    ("links", {"html": "<?xml version='1.0'?><a/>", "base": ""}, None),
    ("links", {"html": "<div>" * 20_000, "base": ""}, None),
    ("date_zone", {"datetime": "0001-01-01", "from": "Asia/Tokyo", "to": "UTC"}, "end"),
    ("date_zone", {"datetime": "2020-01-01", "from": "../x", "to": "UTC"}, "zone"),
    ("date_zone", {"datetime": "2020-01-01", "from": "Europe", "to": "UTC"}, "zone"),
    ("date_zone", {"datetime": "2020-01-01T00Z", "from": "UTC", "to": "UTC"}, "offset"),
    ("date_calendar", {"date": "0000-01-01", "to": "julian"}, "not an ISO 8601 date"),
]


@pytest.mark.parametrize(
    ("name", "given_input", "reason"),
    HOSTILE,
    ids=[f"{name}-{reason}-{index}" for index, (name, _, reason) in enumerate(HOSTILE)],
)
def test_hostile_input_is_declined_or_borne(
    name: str,
    given_input: object,
    reason: str | None,
    make_context: Callable[..., Context],
    runner: Runner,
) -> None:
    ended = run(runner, REGISTRY.find(name), make_context(), given_input)

    if reason is None:
        assert isinstance(ended, Result)
    else:
        assert isinstance(ended, Decline)
        assert reason in ended.reason


def aggregate(**changes: str) -> dict[str, str]:
    table = {"csv": "g,v\na,1\nb,\nb,\n", "group_by": "g", "value": "v"}
    return table | changes


@pytest.mark.parametrize(
    ("given_input", "output"),
    [
        (aggregate(operation="count"), {"a": 1, "b": 0}),
        (aggregate(operation="sum"), {"a": 1, "b": 0}),
        (aggregate(operation="max"), {"a": 1}),
        (aggregate(operation="min", csv="v,g\n2,a\n-1.5,a\n"), {"a": -1.5}),
        (aggregate(operation="median"), None),
        (aggregate(operation="sum", value="w"), None),
        (aggregate(operation="sum", csv="g,v\na,x\n"), None),
        (aggregate(operation="sum", csv="g,v\na,nan\n"), None),
        (aggregate(operation="sum", csv="g,v\na,1e99\n"), None),
        (aggregate(operation="sum", csv=""), None),
    ],
)
def test_a_table_is_aggregated_by_the_letter_or_declined(
    given_input: dict[str, str],
    output: object,
    make_context: Callable[..., Context],
    runner: Runner,
) -> None:
    ended = run(runner, REGISTRY.find("csv_aggregate"), make_context(), given_input)

    found = ended.output if isinstance(ended, Result) else None
    assert found == output
