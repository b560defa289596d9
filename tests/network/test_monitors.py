"""A review is followed where the network says that it can be seen."""

import pytest
from tests.network.conftest import ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON, IdempotencyKey, Progress, Task, TaskId
from journeyman.network.answers import monitor_in
from journeyman.network.client import NetworkClient

KEY, TASK = IdempotencyKey("k-1"), Task(id=TaskId("t1"))
AT = "/operations/7?code=1"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({}, {"Location": AT}),
        ({"statusQueryGetUri": AT}, {}),
        ({"state": "in-countersignature", "links": {"self": AT}}, {}),
        ({"_links": {"self": {"href": AT}}}, {}),
    ],
)
async def test_an_answer_that_goes_on_says_where_it_can_be_followed(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
    headers: dict[str, str],
) -> None:
    server.will(answer(202, body, headers))

    outcome = await network.complete(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert [*monitor_in(outcome.value.given).values()] == [AT]


def test_what_is_no_address_is_no_place_to_look() -> None:
    assert monitor_in({"submit.status": "paid", "claim.self": AT}) == {}


@pytest.mark.parametrize(
    ("status", "body", "progress", "earned"),
    [
        (200, {"state": "decided", "credits-paid": "12"}, Progress.PAID, 12),
        (
            200,
            {"instanceId": "7", "status": "Completed", "output": {"CreditsPaid": 5}},
            Progress.PAID,
            5,
        ),
        (202, {"instanceId": "7", "status": "Running"}, Progress.IN_REVIEW, None),
        (200, {"state": "returned-to-clerk"}, Progress.REJECTED, None),
        (200, {"state": "decided"}, None, None),
    ],
)
async def test_what_is_seen_there_is_read_as_an_answer(
    server: ScriptedServer,
    network: NetworkClient,
    status: int,
    body: JSON,
    progress: Progress | None,
    earned: float | None,
) -> None:
    server.will(answer(status, body))

    outcome = await network.look_at_result(f"{server.base_url}{AT}")

    assert isinstance(outcome, Confirmed)
    assert (outcome.value.progress, outcome.value.credits_earned) == (progress, earned)
    assert [(one.method, one.target) for one in server.requests] == [("GET", AT)]


@pytest.mark.parametrize(
    "address",
    [
        "http://elsewhere.example/7",
        "//elsewhere.example/7",
        "ftp:/7",
        "http://[",
        "/ a",
    ],
)
async def test_the_token_goes_nowhere_else(
    server: ScriptedServer, network: NetworkClient, address: str
) -> None:
    assert await network.look_at_result(address) is None
    assert server.requests == []
