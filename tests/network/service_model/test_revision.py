"""What words mean that nobody knows shows in what helps against them."""

from dataclasses import replace

import pytest
from tests.network.service_model.strict_network import (
    Names,
    Store,
    StrictNetwork,
    client_of,
)

from journeyman.domain.outcomes import Confirmed, Refused
from journeyman.domain.tasks import (
    JSON,
    IdempotencyKey,
    Progress,
    Result,
    Task,
    TaskId,
)
from journeyman.network.service_model.model import RefusedShape, RequestModel
from journeyman.network.service_model.naming import walk
from journeyman.network.service_model.no_in_yes import misses_names
from journeyman.network.service_model.refusals.faults import Fault
from journeyman.network.service_model.refusals.refusal import read_refusal
from journeyman.network.service_model.request import Placed, RequestShape
from journeyman.network.service_model.search import read_document
from journeyman.network.service_model.writing import Constraints, Wanted

KEY = IdempotencyKey("key-1")
TASK = Task(id=TaskId("t-7"))
DONE = Result(output="A B C D")


def one_by_one(missing: Names, unknown: Names) -> tuple[int, JSON]:
    """Complain in no language, of one name at a time."""
    if unknown:
        return 400, {"error": f'vlork mimsy "{unknown[0]}"'}
    return 400, {"error": f'spab "{missing[0]}"'}


def with_what_is_known(missing: Names, unknown: Names) -> tuple[int, JSON]:
    if unknown:
        listed = ", ".join(f'"{one}"' for one in ("quest", "paper"))
        return 400, {"error": f'vlork "{unknown[0]}", mimsy {listed} at line 1'}
    return 400, {"error": f'spab "{missing[0]}"'}


def in_lists(missing: Names, unknown: Names) -> tuple[int, JSON]:
    told = [f"vlork {_listed(unknown)}"] if unknown else []
    told += [f"spab {_listed(missing)}"] if missing else []
    return 400, {"error": "; ".join(told)}


def _listed(names: Names) -> str:
    return "([" + ", ".join(f'"{one}"' for one in names) + "])"


async def test_a_name_is_left_out_that_no_other_value_helps() -> None:
    network = StrictNetwork({"submit": ["task_id", "outcome"]}, one_by_one)

    async with client_of(network) as client:
        outcome = await client.submit(TASK, DONE, KEY)

    assert isinstance(outcome, Confirmed)
    assert network.bodies("submit")[-1]["outcome"] == "A B C D"
    said = [body["result"] for body in network.bodies("submit") if "result" in body]
    assert len(said) <= 3


async def test_what_has_helped_once_helps_at_once_with_the_same_words() -> None:
    network = StrictNetwork(
        {"claim": ["task_id"], "submit": ["id", "answer"]}, one_by_one
    )

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        outcome = await client.submit(TASK, DONE, KEY)

    assert isinstance(outcome, Confirmed)
    first, second, *_ = network.bodies("submit")
    assert "task_id" in first
    assert "task_id" not in second


async def test_words_are_of_the_value_where_the_name_is_missed_without_it() -> None:
    network = StrictNetwork({"claim": ["task_id", "agent_id"]})
    wrong: JSON = {"error": 'vlork mimsy "agent_id"'}
    lacks: JSON = {"error": 'spab "agent_id"'}
    network.answers += [(400, wrong), (400, lacks), (400, wrong), (200, {})]
    store = Store()

    async with client_of(network, store=store) as client:
        await client.claim(TASK, KEY)

    phrases = read_document(store.saved).model.phrases
    assert phrases['vlork mimsy "#"'] is Fault.VALUE


async def test_what_is_listed_for_a_value_is_names_where_no_value_helps() -> None:
    network = StrictNetwork({"submit": ["quest", "paper"]}, with_what_is_known)

    async with client_of(network) as client:
        outcome = await client.submit(TASK, DONE, KEY)

    assert isinstance(outcome, Confirmed)
    assert network.bodies("submit")[-1] == {"quest": "t-7", "paper": "A B C D"}


async def test_names_in_lists_lack_or_are_too_much_whatever_is_said_of_them() -> None:
    network = StrictNetwork({"submit": ["quest_id", "outcome"]}, in_lists)

    async with client_of(network) as client:
        outcome = await client.submit(TASK, DONE, KEY)

    assert isinstance(outcome, Confirmed)
    assert len(network.bodies("submit")) <= 3


async def test_words_for_what_lacks_are_of_the_value_where_one_is_sent() -> None:
    network = StrictNetwork({"complete": ["task_id", "own_deed"]})
    wrong: JSON = {"errors": {"own_deed": ["vlork mimsy"]}}
    network.answers += [*[(422, wrong)] * 6, (200, {})]

    async with client_of(network) as client:
        await client.complete(TASK, KEY)

    sent = [body.get("own_deed") for body in network.bodies("complete")]
    assert len({*map(str, sent)}) == len(sent), "each time another value"
    assert {type(one) for one in sent[1:]} == {str, dict, int}, "of several types"


async def test_a_name_that_was_asked_for_is_not_left_out_for_its_value() -> None:
    network = StrictNetwork({"complete": ["task_id", "status"]})
    lacks: JSON = {"error": "status is required"}
    wrong: JSON = {"error": 'vlork mimsy "status"'}
    network.answers += [(400, lacks), *[(400, wrong)] * 4, (200, {})]

    async with client_of(network) as client:
        await client.complete(TASK, KEY)

    assert all("status" in body for body in network.bodies("complete")[1:])


async def test_headers_that_one_action_had_to_have_are_sent_with_the_others() -> None:
    network = StrictNetwork({"claim": [], "submit": []}, strict=False)
    lacks: JSON = {"message": "Missing sentAt in the request header"}
    network.answers += [(400, lacks), (200, {}), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, DONE, KEY)

    (_, claim, _), (_, submission, headers) = network.requests[-2:]
    assert headers["sentat"]
    assert claim["task_id"] == submission["task_id"] == "t-7"


async def test_what_was_made_is_named_by_the_end_of_its_address() -> None:
    network = StrictNetwork(
        {"submit": [], "complete": ["fulfillment_id"]}, strict=False
    )
    network.headers = {"Location": "https://network.invalid/fulfillments/F-77?x=1"}
    network.answers += [(201, {})]

    async with client_of(network) as client:
        submitted = await client.submit(TASK, DONE, KEY)

    assert isinstance(submitted, Confirmed)
    assert submitted.value.given["submit.location.id"] == "F-77"


async def test_what_was_no_so_far_is_not_sent_again() -> None:
    network = StrictNetwork({"complete": ["task_id", "completed"]})
    network.answers += [(400, {"error": "completed is required"}), (200, {})]
    task = replace(TASK, raw={"completed": False})

    async with client_of(network) as client:
        await client.complete(task, KEY)

    assert network.bodies("complete")[-1]["completed"] is True


async def test_that_a_task_is_completed_already_is_no_fault_of_a_body() -> None:
    network = StrictNetwork({"complete": ["task_id"]})
    network.answers += [(422, {"errors": {"state": ["is already completed"]}})]

    async with client_of(network) as client:
        outcome = await client.complete(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.progress is Progress.DONE
    assert len(network.bodies("complete")) == 1


async def test_beside_the_listings_own_name_of_a_task_another_id_is_not_the_tasks() -> (
    None
):
    network = StrictNetwork({"claim": ["vorgangId", "bearbeiterId"]}, strict=False)
    lacks: JSON = {"errors": {"bearbeiterId": ["fehlt"], "deadline": ["fehlt"]}}
    network.answers += [(400, lacks), (200, {})]
    task = replace(TASK, raw={"vorgangId": "t-7", "eintragungstext": "a b c"})

    async with client_of(network) as client:
        await client.claim(task, KEY)

    last = network.bodies()[-1]
    assert (last["vorgangId"], last["bearbeiterId"]) == ("t-7", "agent-1")


async def test_under_the_names_of_the_record_stands_what_the_record_has() -> None:
    network = StrictNetwork({"claim": []}, strict=False)
    lacks: JSON = {"error": "project_id is missing, issue_iid is missing"}
    network.answers += [(400, lacks), (200, {})]
    task = Task(id=TaskId("90713"), raw={"id": 90713, "iid": 41, "project_id": 318})

    async with client_of(network) as client:
        await client.claim(task, KEY)

    last = network.bodies()[-1]
    assert (last["project_id"], last["issue_iid"]) == (318, 41)


async def test_the_id_in_an_object_is_the_value_that_stood_there() -> None:
    network = StrictNetwork({"submit": []}, strict=False)
    wrong = "schema mismatch for Work.claim; expected Pointer<Claim> but got String"
    network.answers += [(400, {"error": "claim is required"})]
    network.answers += [(400, {"error": wrong}), (200, {})]
    task = Task(id=TaskId("n5tMVox7PD"), raw={"objectId": "n5tMVox7PD"})

    async with client_of(network) as client:
        await client.submit(task, DONE, KEY, {"claim.objectId": "hqMaonuEHy"})

    pointer = {"__type": "Pointer", "className": "Claim", "objectId": "hqMaonuEHy"}
    assert network.bodies("submit")[-1]["claim"] == pointer


async def test_where_one_of_two_is_told_with_its_whole_way_the_other_is_so_too() -> (
    None
):
    network = StrictNetwork({"submit": []}, strict=False)
    wrong: JSON = {"errors": {"result": ["must be an object"]}}
    null: list[JSON] = ["must not be null"]
    lacks: JSON = {"errors": {"claimId": null, "result.content": null}}
    network.answers += [(400, wrong), (400, lacks), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, DONE, KEY, {"claim.claimId": 10482})

    shape = dict(walk(network.bodies("submit")[-1]))
    assert shape["claimId",] == 10482
    assert shape["result", "content"] == "A B C D"


def listed_for(scope: str, *names: JSON) -> tuple[int, JSON]:
    details: JSON = {"scope": scope, "permitted": [*names]}
    return 400, {"message": "ikwuytakkuk: :task_id, :result", "details": details}


async def test_a_name_that_was_listed_for_an_object_lacks_there() -> None:
    network = StrictNetwork({"claim": [], "submit": []}, strict=False)
    network.answers += [(400, {"param": "claim", "message": "tazzakn: claim"})]
    network.answers += [listed_for("claim", "order_id"), (200, {"id": 310})]
    network.answers += [listed_for("submission", "claim_id", "lines_attributes")]
    network.answers += [
        (400, {"errors": {"lines_attributes": ["jok'k ku ksokr"]}}),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, DONE, KEY, {"claim.id": 310})

    last = network.bodies("submit")[-1]
    assert set(last) == {"submission"}
    assert ("submission", "lines_attributes") in dict(walk(last))


async def test_a_note_is_words_and_no_number_of_an_answer() -> None:
    network = StrictNetwork(
        {"claim": [], "complete": ["completion_note"]}, strict=False
    )
    network.answers += [(200, {"assignment_id": 50412})]
    network.answers += [(400, {"error": "completion_note is required"}), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.complete(TASK, KEY, claimed.value.given)

    assert network.bodies("complete")[-1]["completion_note"] != 50412


async def test_no_other_value_stands_for_the_value_of_a_result() -> None:
    network = StrictNetwork({"submit": []}, strict=False)
    lacks: JSON = {"errors": [{"path": "resultMemo.value", "message": "is required"}]}
    network.answers += [(400, lacks), (200, {})]
    task = replace(TASK, raw={"taskId": "t-7", "customerRef": {"value": "58"}})

    async with client_of(network) as client:
        given = {"claim.customerRef.value": "58"}
        await client.submit(task, DONE, KEY, given)

    assert network.bodies("submit")[-1]["resultMemo"] == {"value": "A B C D"}


async def test_a_text_that_should_be_a_longer_one_is_another_one_then() -> None:
    network = StrictNetwork({"claim": ["reason"]}, strict=False)
    wrong: JSON = {"error": "reason must be a string with a minimum length of 10"}
    network.answers += [(400, {"error": "reason is required"}), (400, wrong), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    first, second = (body["reason"] for body in network.bodies()[1:])
    assert first != second


def test_a_text_in_a_yes_is_no_complaint_about_a_field() -> None:
    gives: JSON = {"order_no": "QL5D23", "text": "fragile glass inside", "created": 17}
    answer: JSON = {"code": 0, "msg": "ok", "data": gives}

    assert not misses_names(answer, {"job_no": 4107, "worker": "w-1"})
    assert misses_names({"notes": [{"entry": "text", "note": "left out"}]}, {"a": 1})


def test_what_leaves_no_body_is_learned_again_without_those_that_were_refused() -> None:
    shape = RequestShape((Placed(("task_id",), "task_id"),))
    wanted = Constraints(wanted=(Wanted(("quest",)),), unknown=(("task_id",),))
    refused = RefusedShape(shape, "vlork", 400, has_taught=True)
    known = RequestModel(constraints=wanted, refused=(refused,))

    again = known.begin_again()

    assert again.constraints == Constraints()
    assert again.marks == {shape.mark}


SENT: JSON = {"task_id": "t-7", "result": "A B C D", "agent_id": "a-9"}
INSIDE: JSON = {"task_id": "t-7", "output": {"text": "A B C D"}}


@pytest.mark.parametrize(
    ("answer", "sent", "means"),
    [
        ('output: spab "format" at line 1', INSIDE, {"output.format": Fault.MISSING}),
        ('spab "format" at line 22', INSIDE, {"format": Fault.MISSING}),
        ("vlork: task_id, annotation, ways", SENT, {"annotation": "", "ways": ""}),
        (
            'vlork "agent_id" (2: "task_id", "version")',
            SENT,
            {"agent_id": Fault.UNKNOWN, "task_id": "", "version": ""},
        ),
        (
            'vlork (["task_id","agent_id"])',
            SENT,
            {"task_id": Fault.UNKNOWN, "agent_id": Fault.UNKNOWN},
        ),
        ("body/output/text vlork number", INSIDE, {"output.text": Fault.TYPE}),
        ("vlork X-Step-Nonce mimsy", SENT, {"header:X-Step-Nonce": Fault.MISSING}),
        (
            {"detail": [{"loc": ["header", "x-agent"], "msg": "vlork spab"}]},
            SENT,
            {"header:x-agent": Fault.MISSING},
        ),
        (
            {"errors": [{"data": "media_type", "e": "vlork", "path": ["output"]}]},
            INSIDE,
            {"output.media_type": Fault.MISSING},
        ),
        (
            {"m": {"obj.answer": [{"msg": ["vlork.spab"], "args": []}]}},
            SENT,
            {"answer": Fault.MISSING},
        ),
        (
            {
                "error": {
                    "code": "Bad",
                    "message": "Vlork 'agent_id' spab.",
                    "inner": {
                        "date": "2026-01-05T00:00:00",
                        "request-id": "d866c104-05cd-4752-b852-842f35dce7a8",
                    },
                }
            },
            SENT,
            {"agent_id": ""},
        ),
        ({"reasons": ["typist_id vlork"]}, SENT, {"typist_id": Fault.MISSING}),
        ("vlork text/plain, text/html", SENT, {}),
    ],
)
def test_unknown_words_are_read_by_what_stands_beside_them(
    answer: JSON, sent: JSON, means: dict[str, Fault | str]
) -> None:
    message = answer if isinstance(answer, str) else ""
    body = None if isinstance(answer, str) else answer
    known = {'spab "#" at line 9': Fault.MISSING}

    found = read_refusal(body, message, sent, phrases=known)

    told = {".".join(one.path): one.fault for one in found}
    assert told.keys() == means.keys()
    assert all(told[name] is fault for name, fault in means.items() if fault)


@pytest.mark.parametrize("said", ['vlork "2.0"', "vlork [2.0]", 'mimsy (vlork "2.0")'])
def test_the_only_value_that_is_shown_is_sent(said: str) -> None:
    body: JSON = {"errors": [{"field": "jsonrpc", "message": said}]}

    (found,) = read_refusal(body, "", {"jsonrpc": "t-7"})

    assert found.options == ("2.0",)


def test_what_is_shown_never_stands_for_the_work() -> None:
    body: JSON = {"errors": [{"field": "content", "message": 'vlork "claim"'}]}

    (found,) = read_refusal(body, "", SENT)

    assert not found.options
