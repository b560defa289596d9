"""What a refusal means is found out by trying where its words are not understood."""

from datetime import timedelta
from itertools import count

from tests.network.service_model.strict_network import (
    Complain,
    DayClock,
    Names,
    Store,
    StrictNetwork,
    client_of,
    in_words,
)
from tests.network.service_model.test_search import (
    KEY,
    RESULT,
    SNAKE,
    TASK,
    another,
    wanting,
)

from journeyman.domain.outcomes import Confirmed, Refused
from journeyman.domain.tasks import JSON
from journeyman.network.service_model.search import digest_of


def saying(sentence: str) -> Complain:
    """Refuse with a sentence that has one name in it, whatever is wrong."""

    def complain(missing: Names, unknown: Names) -> tuple[int, JSON]:
        return 400, {"error": sentence.format(*missing, *unknown)}

    return complain


async def bodies_of_a_claim(network: StrictNetwork) -> list[dict[str, JSON]]:
    async with client_of(network) as client:
        assert isinstance(await client.claim(TASK, KEY), Confirmed), network.bodies()
    return network.bodies()


async def test_a_name_that_was_misread_is_taken_back_and_another_word_tried() -> None:
    network = StrictNetwork(
        wanting("jobRef"), saying("slot: required value for {}"), strict=False
    )

    bodies = await bodies_of_a_claim(network)

    assert "slot" in bodies[1]
    assert "slot" not in bodies[2]
    assert bodies[-1]["jobRef"] == "task-1"


async def test_refusals_are_the_same_though_each_has_a_number_and_a_time() -> None:
    refused = count(1)

    def complain(missing: Names, unknown: Names) -> tuple[int, JSON]:
        number = next(refused)
        sentence = "slot: required value for {}".format(*missing, *unknown)
        told = {
            "timestamp": f"2026-11-23T10:00:{number:02}Z",
            "id": f"rq-{number}f9f9f",
        }
        return 400, {"error": sentence, **told}

    network = StrictNetwork(wanting("jobRef"), complain, strict=False)

    bodies = await bodies_of_a_claim(network)

    assert "slot" in bodies[1]
    assert "slot" not in bodies[2]
    assert bodies[-1]["jobRef"] == "task-1"


def test_refusals_with_different_error_codes_are_not_the_same() -> None:
    first, second, again = (
        digest_of({"message": "bad request", "code": code, "request": number})
        for code, number in (
            ("VALIDATION_1001", 7),
            ("VALIDATION_1002", 7),
            ("VALIDATION_1001", 8),
        )
    )

    assert first != second
    assert first == again


async def test_what_is_done_nowhere_at_an_address_is_no_refusal_of_a_body() -> None:
    def complain(_missing: Names, _unknown: Names) -> tuple[int, JSON]:
        return 501, {"message": "Tasks are completed by their reviewer."}

    network = StrictNetwork({"complete": ["anything"]}, complain)

    async with client_of(network) as client:
        outcome = await client.complete(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert len(network.bodies("complete")) == 1


async def test_a_word_that_was_misread_once_is_not_misread_for_another_action() -> None:
    wanted = {**wanting("jobRef"), "complete": ["jobRef", "leaseNote"]}
    network = StrictNetwork(wanted, saying("slot: required value for {}"), strict=False)

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.complete(TASK, KEY)

    assert not any("slot" in body for body in network.bodies("complete"))


async def test_a_word_that_means_something_to_us_is_tried_as_a_name() -> None:
    network = StrictNetwork({**SNAKE, "submit": ["task_id", "deliverable"]})
    network.complain, network.strict = saying("Specify a {}"), False

    async with client_of(network) as client:
        outcome = await client.submit(TASK, RESULT, KEY)

    assert isinstance(outcome, Confirmed)
    assert [body.get("deliverable") for body in network.bodies("submit")] == [
        None,
        "41",
    ]


async def test_a_code_has_the_name_in_it() -> None:
    def complain(missing: Names, _unknown: Names) -> tuple[int, JSON]:
        return 400, {"error": f"{missing[0].upper()}_REQUIRED"}

    network = StrictNetwork(wanting("work_order_id"), complain, strict=False)

    bodies = await bodies_of_a_claim(network)

    assert bodies[1]["work_order_id"] == "task-1"


async def test_a_sentence_in_any_words_is_understood_by_an_earlier_one() -> None:
    wanted = {**wanting("gorev_no"), "submit": ["gorev_no", "yanit"]}
    network = StrictNetwork(wanted, saying("{} yazmayi unuttunuz"), strict=False)

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY)

    assert network.bodies("submit")[1]["yanit"] == "41"


async def test_what_nobody_asked_for_and_is_wrong_is_left_out() -> None:
    network = StrictNetwork(SNAKE)
    fault: JSON = {"errors": {"agent_id": ["n'est pas valable"]}}
    network.answers = [(422, fault), (200, {})]

    bodies = await bodies_of_a_claim(network)

    assert bodies[-1] == {"task_id": "task-1"}


async def test_a_value_is_sent_in_the_address_where_it_is_missed_there() -> None:
    network = StrictNetwork(SNAKE)
    fault: JSON = {
        "type": "missing",
        "loc": ["query", "task_id"],
        "msg": "Field required",
    }
    network.answers = [(422, {"detail": [fault]}), (200, {}), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.complete(TASK, KEY)

    assert [one.get("task_id") for one in network.queries] == [None, "task-1", "task-1"]
    assert not any("task_id" in body for body in network.bodies("complete"))


async def test_a_number_that_nobody_gave_is_one() -> None:
    network = StrictNetwork(SNAKE)
    fault: JSON = {
        "loc": ["body", "confidence"],
        "msg": "Input should be a valid number",
    }
    network.answers = [(422, {"detail": [fault]}), (200, {})]

    assert (await bodies_of_a_claim(network))[-1]["confidence"] == 1


async def test_a_time_that_is_asked_for_is_that_of_the_first_try() -> None:
    network, clock, store = StrictNetwork(SNAKE), DayClock(), Store()
    network.complain = in_words
    network.answers = [(400, {"error": "missing field claimed_at"}), (0, None)]

    async with client_of(network, clock=clock, store=store) as client:
        await client.claim(TASK, KEY)
    clock.at += timedelta(hours=1)
    network.answers = [(200, {}), (200, {})]
    async with client_of(network, clock=clock, store=store) as restarted:
        await restarted.claim(TASK, KEY)
        await restarted.claim(*another(2))

    _, first, repeat, later = (body.get("claimed_at") for body in network.bodies())
    assert first == repeat
    assert isinstance(first, str)
    assert isinstance(later, str)
    assert first < later
