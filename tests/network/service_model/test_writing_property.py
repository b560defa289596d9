"""For networks drawn at random, a body is found within a few refusals."""

import pytest
from tests.network.service_model.distribution import (
    MOST,
    Search,
    all_searches,
    distribution_of,
)
from tests.network.service_model.drawn import STYLES, draw_network

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.refusals.refusal import read_refusal

NETWORKS = 100
"""Each with three actions; `python -m tests.network.service_model.distribution` takes
more."""


@pytest.fixture(scope="module")
def searches() -> list[Search]:
    return all_searches(NETWORKS)


def test_most_bodies_are_found_within_two_refusals(searches: list[Search]) -> None:
    assert distribution_of(searches).median <= 2


def test_nearly_all_bodies_are_found_within_six_refusals(
    searches: list[Search],
) -> None:
    assert distribution_of(searches).p95 <= 6


def test_hardly_any_body_takes_more_than_ten_refusals(searches: list[Search]) -> None:
    late = [one for one in searches if one.problem or one.refused > 10]

    assert len(late) <= 0.03 * len(searches), late
    assert all(len(one.bodies) <= MOST + 1 for one in searches)


def test_what_was_learned_of_one_action_helps_with_the_next(
    searches: list[Search],
) -> None:
    claims = distribution_of([one for one in searches if one.action == "claim"])
    completions = distribution_of([one for one in searches if one.action == "complete"])

    assert completions.median < claims.median


def test_no_body_is_sent_twice(searches: list[Search]) -> None:
    for one in searches:
        bodies = [str(body) for body in one.bodies]
        assert len({*bodies}) >= len(bodies) - 1, one


def test_no_refusal_of_a_body_is_taken_for_one_of_the_task(
    searches: list[Search],
) -> None:
    assert not [one for one in searches if "of the task" in one.problem]


@pytest.mark.parametrize("style", STYLES)
def test_each_style_is_read_as_it_was_meant(style: str) -> None:
    for number in range(60):
        schema = draw_network(number).schemas["submit"]
        is_pascal = schema.fields[0].path[0][:1].isupper()
        names = ("TaskId", "Result") if is_pascal else ("task_id", "result")
        sent: JSON = dict.fromkeys(names, "x")
        for fault in schema.faults(sent):
            _, body, text = STYLES[style]([fault])
            (found,) = read_refusal(text or body, "", sent)

            assert found.path[-1] == fault.path[-1]
            if fault.what in {"missing", "unknown"}:
                assert found.fault == fault.what
            else:
                assert found.wants == fault.what
