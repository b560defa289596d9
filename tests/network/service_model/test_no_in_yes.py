"""A no in a 200 is told from the yeses of a network, in words that nobody knew."""

import pytest
from tests.network.service_model.strict_network import (
    Store,
    StrictNetwork,
    client_of,
    places,
)

from journeyman.domain.outcomes import Confirmed, Refused
from journeyman.domain.tasks import JSON, IdempotencyKey, Task, TaskId

SNAKE = {"claim": ["task_id"], "submit": ["task_id"], "complete": ["task_id"]}
TASKS = [Task(id=TaskId(f"story-{n}"), title="A story", reward=3) for n in range(4)]
RETURNED: JSON = {
    "Outcome": "Returned",
    "Notes": [{"Entry": "-", "Note": "You hold two tickets already."}],
}


def key(number: int) -> IdempotencyKey:
    return IdempotencyKey(f"claim-{number}")


def granted(number: int) -> JSON:
    return {"Outcome": "Accepted", "Ticket": {"TicketNumber": f"T-{number}"}}


@pytest.mark.parametrize(
    "told",
    [
        {"Ack": "TURNED", "Faults": [{"Element": "Slug", "Text": "Element missing."}]},
        {
            "Outcome": "Returned",
            "Notes": [{"Entry": "Slug", "Note": "Slug is missing"}],
        },
        {"Esito": "KO", "Messaggio": "Campo obbligatorio mancante: 'SlugDellaRiga'."},
        {"went": "badly", "why": 'We need "slug". We have no use for "task_id" here.'},
    ],
)
async def test_a_200_that_misses_a_name_is_a_no(told: JSON) -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [(200, told), (200, granted(1))]

    async with client_of(network) as client:
        claimed = await client.claim(TASKS[0], key(0))

    assert isinstance(claimed, Confirmed)
    assert any("slug" in one.lower() for one in places(network.bodies()[-1]))


async def test_a_flag_that_was_sent_is_not_repeated_by_another() -> None:
    network = StrictNetwork(SNAKE)
    agree: JSON = {"error": "agree must be accepted"}
    missing: JSON = {"Element": "Slug", "Text": "Element missing."}
    network.answers += [(400, agree), (200, {"more": True, "Faults": [missing]})]
    network.answers += [(200, granted(1))]

    async with client_of(network) as client:
        assert isinstance(await client.claim(TASKS[0], key(0)), Confirmed)

    assert network.bodies()[1]["agree"] is True
    assert "slug" in {one.lower() for one in places(network.bodies()[-1])}


async def test_an_answer_that_is_as_a_no_was_is_one_and_outlives_the_process() -> None:
    network, store = StrictNetwork(SNAKE), Store()
    missing: JSON = {"Element": "Slug", "Text": "Element missing."}
    network.answers += [(200, {"Outcome": "Returned", "Notes": [missing]})]
    network.answers += [(200, granted(0)), (200, RETURNED), (200, RETURNED)]

    async with client_of(network, store=store) as client:
        assert isinstance(await client.claim(TASKS[0], key(0)), Confirmed)
        assert isinstance(await client.claim(TASKS[1], key(1)), Refused)
    async with client_of(network, store=Store(store.saved)) as client:
        assert isinstance(await client.claim(TASKS[2], key(2)), Refused)


async def test_a_no_to_one_action_looks_as_one_to_another_does() -> None:
    network = StrictNetwork(SNAKE)
    missing: JSON = {"status": "sorry", "reason": "The field 'slip' is missing."}
    network.answers += [(200, missing), (200, {"status": "ok", "slip": "S-1"})]
    unheard: JSON = {"status": "sorry", "reason": "We cannot tell which one is meant."}
    network.answers += [(200, unheard)] * 20

    async with client_of(network) as client:
        assert isinstance(await client.claim(TASKS[0], key(0)), Confirmed)
        completed = await client.complete(TASKS[0], key(1))

    assert not isinstance(completed, Confirmed)


async def test_an_answer_that_shows_how_far_a_task_has_come_is_a_yes() -> None:
    network = StrictNetwork(SNAKE)
    missing: JSON = {"Outcome": "Returned", "Notes": "The field 'seal_no' is missing."}
    done: JSON = {"Outcome": "Returned", "Notes": "None.", "status": "completed"}
    network.answers += [(200, missing), (200, {}), (200, done)]

    async with client_of(network) as client:
        outcomes = [await client.complete(TASKS[n], key(n)) for n in range(2)]

    assert [type(one) for one in outcomes] == [Confirmed] * 2


@pytest.mark.parametrize(
    "told",
    [
        {"message": "work_item claimed"},
        {"erfolg": True, "weitere": False},
        {"note": "The seal is required on delivery", "task_id": TASKS[0].id},
    ],
)
async def test_what_a_yes_says_is_no_no(told: JSON) -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [(200, told)]

    async with client_of(network) as client:
        assert isinstance(await client.claim(TASKS[0], key(0)), Confirmed)

    assert len(network.bodies()) == 1


@pytest.mark.parametrize("kind", ["order.declined", "claim_rejected", "ClaimFault"])
async def test_an_answer_whose_type_is_a_no_is_one(kind: str) -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [(200, {"type": kind, "data": {"note": "another has it"}})] * 9

    async with client_of(network) as client:
        assert isinstance(await client.claim(TASKS[0], key(0)), Refused)


@pytest.mark.parametrize(
    "told",
    [
        {"type": "order.accepted", "kind": "never declined"},
        {"id": TASKS[0].id, "type": "fault", "status": "claimed"},
        {"claimed": {"task_id": TASKS[0].id, "task_type": "engine_failure"}},
    ],
)
async def test_an_answer_whose_type_tells_no_no_is_a_yes(told: JSON) -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [(200, told)]

    async with client_of(network) as client:
        assert isinstance(await client.claim(TASKS[0], key(0)), Confirmed)

    assert len(network.bodies()) == 1
