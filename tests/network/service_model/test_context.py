"""What a refusal means in the light of a task's record, and of what answers gave."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from tests.network.conftest import identity_at
from tests.network.service_model.strict_network import (
    BASE_URL,
    StrictNetwork,
    client_of,
)
from tests.network.service_model.test_refusals import BODIES
from tests.network.service_model.test_search import (
    KEY,
    RESULT,
    SNAKE,
    TASK,
    claimed_with,
    missing,
)

from journeyman.domain.outcomes import Refusal, Refused
from journeyman.domain.tasks import JSON
from journeyman.network.service_model.context import Sent, read_in_context
from journeyman.network.service_model.model import ServiceModel
from journeyman.network.service_model.refusals.faults import Fault
from journeyman.network.service_model.request import Placed, RequestShape, values_in

STALE = "Version mismatch error. The version you specified was incorrect."


async def submitted_with(
    *answers: tuple[int, JSON],
    given: Mapping[str, JSON],
    record: Mapping[str, JSON] | None = None,
) -> list[dict[str, JSON]]:
    """Return the bodies of a submission that was answered so."""
    network = StrictNetwork(SNAKE)
    network.answers = [*answers, (200, {})]

    async with client_of(network) as client:
        await client.submit(replace(TASK, raw=record or {}), RESULT, KEY, given)

    return network.bodies("submit")


async def test_what_a_claim_told_is_sent_where_a_refusal_has_its_name_and_value() -> (
    None
):
    said: JSON = {"error": "fence: got 0, lease ls-1 was granted with 70315"}

    *_, last = await submitted_with((412, said), given={"claim.fence": 70315})

    assert last["fence"] == 70315


async def test_a_value_of_a_claim_says_nothing_where_its_name_was_sent() -> None:
    said: JSON = {"error": "status must be one of: in_progress, done"}

    *_, last = await submitted_with(
        missing("status"), (400, said), given={"claim.status": "in_progress"}
    )

    assert last["status"] == "done"


async def test_what_an_answer_repeats_in_its_other_fields_is_not_asked_for() -> None:
    answer: JSON = {"error": "The code is wrong.", "batch": "B-77"}

    *_, last = await submitted_with(
        missing("code"), (400, answer), given={"claim.batch": "B-77"}
    )

    assert "batch" not in last


async def test_another_version_is_sent_where_the_first_was_of_something_else() -> None:
    conflict: JSON = {"message": STALE, "details": {"currentVersion": 4}}

    bodies = await submitted_with(
        missing("version"),
        (409, conflict),
        given={"claim.version": 1},
        record={"version": 4},
    )

    assert [one.get("version") for one in bodies] == [None, 1, 4]


async def test_an_incorrect_version_is_no_verdict_on_the_work() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [(409, {"message": STALE})]

    async with client_of(network) as client:
        refused = await client.submit(TASK, RESULT, KEY)

    assert isinstance(refused, Refused)
    assert refused.refusal is Refusal.CONFLICT


async def test_of_a_version_the_last_answer_knows_better_than_the_listing() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [missing("expected_version"), (200, {}), (200, {})]
    task = replace(TASK, raw={"version": 3})

    async with client_of(network) as client:
        await client.claim(task, KEY)
        await client.submit(task, RESULT, KEY, {"claim.version": 4})

    assert network.bodies("claim")[-1]["expected_version"] == 3
    assert network.bodies("submit")[-1]["expected_version"] == 4


async def test_a_key_and_a_version_that_one_action_had_to_have_the_next_has_too() -> (
    None
):
    network = StrictNetwork(SNAKE)
    network.answers = [missing("_id"), missing("_rev"), (200, {}), (200, {})]
    task = replace(TASK, raw={"_id": "task-1", "_rev": "1-a"})

    async with client_of(network) as client:
        await client.claim(task, KEY)
        await client.submit(task, RESULT, KEY, {"claim.rev": "2-b"})

    (body,) = network.bodies("submit")
    assert (body["_id"], body["_rev"]) == ("task-1", "2-b")


async def test_a_document_id_is_asked_for_by_the_name_that_the_record_has() -> None:
    said: JSON = {"reason": "Document id must not be empty"}
    record: dict[str, JSON] = {"id": "task-1", "doc": {"_id": "task-1", "fee": 3}}

    *_, last = await claimed_with((400, said), task=replace(TASK, raw=record))

    assert last["_id"] == "task-1"


async def test_a_document_id_that_is_written_as_a_name_is_called_so() -> None:
    said: JSON = {"message": 'Param "documentId" is not optional.'}
    record: dict[str, JSON] = {"_id": "task-1"}

    *_, last = await claimed_with((400, said), task=replace(TASK, raw=record))

    assert last["documentId"] == "task-1"


async def test_a_state_that_a_document_has_to_go_to_is_sent() -> None:
    rule: JSON = {"reason": 'status must go from "open" to "taken", not "open"'}

    *_, last = await claimed_with(
        (403, rule), task=replace(TASK, raw={"status": "open"})
    )

    assert last["status"] == "taken"


async def test_an_id_of_an_answer_that_is_not_found_gives_way_to_another() -> None:
    lost: JSON = {"message": "Not found.", "details": {"type": "Lease", "id": "c-1"}}

    bodies = await submitted_with(
        missing("lease_id"), (404, lost), given={"claim.id": "c-1"}
    )

    assert [one.get("lease_id") for one in bodies[:2]] == [None, "c-1"]
    assert bodies[2]["lease_id"] != "c-1"


@pytest.mark.parametrize(
    ("record", "price"),
    [
        ({"asking": {"amount_minor": 900, "currency": "CRD"}}, "object"),
        ({"budget": {"minimum": 9, "maximum": 9}}, "scalar"),
    ],
)
async def test_a_price_is_money_with_its_currency_where_the_record_has_that(
    record: dict[str, JSON], price: str
) -> None:
    *_, last = await claimed_with(missing("price"), task=replace(TASK, raw=record))

    asked = last["price"]
    assert (asked == record.get("asking")) is (price == "object")
    assert isinstance(asked, dict) is (price == "object")


async def test_an_id_is_that_of_the_record_that_an_answer_showed_under_its_name() -> (
    None
):
    given: dict[str, JSON] = {"claim.offer.id": "of-1", "claim.order.id": "or-1"}

    *_, last = await submitted_with(missing("order_id"), given=given)

    assert last["order_id"] == "or-1"


async def test_an_id_that_the_listing_had_is_not_what_a_claim_has_made() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [missing("pool_id"), (200, {}), missing("assignment_id")]
    network.answers.append((200, {}))
    task = replace(TASK, raw={"pool_id": "p-1"})
    given: dict[str, JSON] = {"claim.id": "a-1", "claim.pool_id": "p-1"}

    async with client_of(network) as client:
        await client.claim(task, KEY)
        await client.submit(task, RESULT, KEY, given)

    assert network.bodies("submit")[-1]["assignment_id"] == "a-1"


async def test_our_id_is_meant_in_whatever_object_of_ours_an_id_is() -> None:
    lacks: JSON = {
        "errors": [
            {"path": ["assignedTo", "sys", name], "message": "is required"}
            for name in ("id", "type")
        ]
    }
    record: dict[str, JSON] = {
        "sys": {"id": "task-1", "type": "Entry", "space": {"sys": {"id": "space-1"}}}
    }

    bodies = await claimed_with(
        missing("assignedTo"), (422, lacks), task=replace(TASK, raw=record)
    )

    (to,) = (one["assignedTo"] for one in bodies[-1:])
    assert isinstance(to, dict)
    assert isinstance(to["sys"], dict)
    assert to["sys"]["id"] == identity_at(BASE_URL).agent_id


async def test_work_of_another_type_is_not_understood_and_never_rejected() -> None:
    told: JSON = {
        "path": ["text"],
        "message": "The type of text is incorrect, expected type: Object",
    }

    bodies = await submitted_with(missing("text"), (422, {"errors": [told]}), given={})

    assert isinstance(bodies[-1]["text"], dict)


async def test_the_work_stands_under_the_tag_of_a_language_that_is_asked_for() -> None:
    record: dict[str, JSON] = {"title": {"en-US": "Whale hall"}}

    *_, last = await submitted_with(
        missing("text"), missing("text.en-US"), given={}, record=record
    )

    assert last["text"] == {"en-US": RESULT.output}


async def test_two_links_may_be_of_the_same_type() -> None:
    links: JSON = {
        "errors": [
            {"path": [link, name], "message": "is required"}
            for link in ("entry", "owner")
            for name in ("type", "linkType", "id")
        ]
    }
    record: dict[str, JSON] = {
        "id": "task-1",
        "tag": {"type": "Link", "linkType": "Tag", "id": "t-1"},
    }

    *_, last = await claimed_with(
        missing("entry"), (422, links), task=replace(TASK, raw=record)
    )

    kinds = [one["type"] for one in last.values() if isinstance(one, dict)]
    assert kinds == ["Link", "Link"]


async def test_what_was_refused_is_not_sent_again_as_made_of_other_values() -> None:
    given: dict[str, JSON] = {"claim.id": "c-1", "claim.lease.id": "c-1"}

    bad: JSON = {"message": "Bad."}

    bodies = await submitted_with(missing("claim_id"), *[(400, bad)] * 5, given=given)

    sent = [json.dumps(one, sort_keys=True) for one in bodies]
    assert len({*sent}) == len(sent)


async def test_a_role_may_not_write_what_stands_in_for_something() -> None:
    told: JSON = {"errors": [{"field": "comment", "message": "may not be this"}]}

    bodies = await claimed_with(missing("comment"), (403, told))

    assert len(bodies) == 3


async def test_a_value_that_is_named_is_sent_as_the_last_answer_has_it() -> None:
    said: JSON = {"error": "signed_by: must be the scribe_name of the engagement"}
    given: dict[str, JSON] = {
        "claim.scribe_name": "Odo",
        "claim.engagement.scribe_name": "Odo",
    }

    *_, last = await submitted_with(
        missing("signed_by"), (422, said), given=given, record={"scribe_name": "none"}
    )

    assert last["signed_by"] == "Odo"


@pytest.mark.parametrize(("longer", "is_meant"), [("", True), ("42", False)])
async def test_our_id_is_meant_where_a_sentence_has_it_beside_what_was_sent(
    *, longer: str, is_meant: bool
) -> None:
    ours = identity_at(BASE_URL).agent_id
    strict: JSON = {
        "motif": "champ_inconnu",
        "champ": "task_id",
        "message": "Champ inconnu : task_id. Champs admis : numero, membre.",
    }
    told: JSON = {
        "motif": "autre_membre",
        "champ": "membre",
        "message": f"Ce jeton est celui de {ours}{longer}, pas de Done.",
    }

    bodies = await claimed_with(
        (400, {"erreur": strict}),
        missing("membre"),
        (403, {"erreur": told}),
        task=replace(TASK, raw={"numero": "task-1"}),
    )

    assert (bodies[3].get("membre") == ours) is is_meant


async def test_an_object_with_the_task_and_the_agent_is_around_everything() -> None:
    network = StrictNetwork(
        {
            "claim": ["ticket.id", "ticket.agent_id"],
            "submit": ["ticket.id", "ticket.agent_id", "ticket.result"],
        }
    )

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY)

    first, *_ = network.bodies("submit")
    assert first.keys() == {"ticket"}


@pytest.mark.parametrize(("wanted", "is_root"), [("2", True), ("3", False)])
def test_a_count_that_is_right_inside_is_missed_at_the_root(
    wanted: str, *, is_root: bool
) -> None:
    placed = (
        Placed(("task_id",), "task_id"),
        Placed(("work", "text"), "result"),
        Placed(("work", "count"), "length"),
    )
    known: dict[str, JSON] = {"task_id": "task-1", "result": "41", "length": 2}
    shape = RequestShape(placed)
    told: JSON = {"errors": {"Count": [f"'Count' must be equal to '{wanted}'."]}}
    refused = Refused(Refusal.INVALID, "", 400, answer=told)

    body = shape.body(known)
    sent = Sent(action="submit", shape=shape, body=body, record={}, known=known)

    (found,) = read_in_context(refused, sent, ServiceModel())

    assert found.is_root is is_root
    assert found.fault is (Fault.MISSING if is_root else Fault.VALUE)


async def test_a_task_is_known_by_its_address_where_that_is_asked_for() -> None:
    said = 'The type of the "plaque" attribute must be "array" (nested document) or '
    wrong: JSON = {"detail": f'{said}"string" (IRI), "int" given.'}
    record: dict[str, JSON] = {"@id": "/api/plaques/task-1", "id": "task-1"}

    *_, last = await claimed_with(
        (400, {"detail": 'Extra attributes ("task_id", "agent_id" are unknown).'}),
        missing("plaque"),
        (400, wrong),
        task=replace(TASK, raw=record),
    )

    assert last["plaque"] == "/api/plaques/task-1"


async def test_what_a_claim_has_made_is_known_by_its_type_and_address() -> None:
    made: JSON = {"@type": "Commission", "@id": "/api/commissions/9", "state": "open"}

    *_, last = await submitted_with(
        missing("commission"), given=values_in("claim", made)
    )

    assert last["commission"] == "/api/commissions/9"


async def test_of_work_that_has_to_be_a_list_the_form_is_wrong_and_not_the_work() -> (
    None
):
    bad: JSON = {"errors": [{"field": "rows", "message": "must be a list"}]}

    *_, last = await submitted_with(missing("rows"), (400, bad), given={})

    assert last["rows"] == [RESULT.output]


async def test_an_amount_is_asked_for_by_itself_where_money_has_one() -> None:
    record: dict[str, JSON] = {"asking": {"amount": 900, "currency": "CRD"}}

    *_, last = await claimed_with(missing("amount"), task=replace(TASK, raw=record))

    assert last["amount"] == 900


async def test_a_uuid_of_the_record_is_less_than_one_of_ours_that_was_made() -> None:
    record: dict[str, JSON] = {"stall": "8f14e45f-ceea-467f-ab10-0123456789ab"}
    bad: JSON = {"errors": [{"field": "berth", "message": "must be a uuid"}]}

    *_, last = await claimed_with(
        missing("berth"), (400, bad), task=replace(TASK, raw=record)
    )

    assert last["berth"] == record["stall"]


async def test_what_may_be_chosen_is_as_the_record_has_it() -> None:
    bad: JSON = {
        "errors": [{"field": "trade", "message": "must be one of: GAS, WATER, POWER"}]
    }

    *_, last = await claimed_with(
        missing("trade"), (400, bad), task=replace(TASK, raw={"branch": "POWER"})
    )

    assert last["trade"] == "POWER"


async def test_of_events_an_action_is_the_one_that_is_called_so() -> None:
    network = StrictNetwork(SNAKE)
    told = "is not an event of a card (reserve, deliver, settle)"
    bad: JSON = {"errors": [{"field": "event", "message": told}]}
    network.answers = [missing("event"), (400, bad), (200, {}), (200, {}), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY)
        await client.complete(TASK, KEY)

    sent = [network.bodies(one)[-1] for one in ("claim", "submit", "complete")]
    assert [one["event"] for one in sent] == ["reserve", "deliver", "settle"]


async def test_an_id_that_is_not_found_may_be_a_list_of_them() -> None:
    lost: JSON = {"message": "Not found."}

    bodies = await submitted_with(
        missing("lease_id"), (404, lost), given={"claim.id": ["c-1"]}
    )

    assert bodies[1]["lease_id"] == ["c-1"]


NAMES = st.sampled_from(["id", "name", "version", "status", "type", "amount", "a", "b"])
GIVEN = st.sampled_from(["claim.id", "claim.a", "claim.version", "claim.lease.id"])
NOES = st.lists(
    st.tuples(st.sampled_from([200, 400, 404, 409, 412, 422]), BODIES), max_size=5
)


@settings(deadline=None)
@for_all(NOES, st.dictionaries(NAMES, BODIES), st.dictionaries(GIVEN, BODIES))
async def test_whatever_a_network_says_about_a_task_ends_in_an_outcome(
    noes: list[tuple[int, JSON]], record: dict[str, JSON], given: dict[str, JSON]
) -> None:
    bodies = await submitted_with(*noes, given=given, record=record)

    assert bodies
