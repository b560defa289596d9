"""What words mean that nobody knows shows in what helps against them."""

import pytest
from tests.network.service_model.strict_network import (
    Names,
    Store,
    StrictNetwork,
    client_of,
)

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON, IdempotencyKey, Result, Task, TaskId
from journeyman.network.service_model.refusals.faults import Fault
from journeyman.network.service_model.refusals.refusal import read_refusal
from journeyman.network.service_model.search import read_document

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
    assert True in sent


async def test_a_name_that_was_asked_for_is_not_left_out_for_its_value() -> None:
    network = StrictNetwork({"complete": ["task_id", "status"]})
    lacks: JSON = {"error": "status is required"}
    wrong: JSON = {"error": 'vlork mimsy "status"'}
    network.answers += [(400, lacks), *[(400, wrong)] * 4, (200, {})]

    async with client_of(network) as client:
        await client.complete(TASK, KEY)

    assert all("status" in body for body in network.bodies("complete")[1:])


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
        ('vlork (["task_id","agent_id"])', SENT, {"task_id": "", "agent_id": ""}),
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
                "code": "x",
                "inner": {"date": "2026-01-05T00:00:00", "request-id": "a1-b22"},
            },
            SENT,
            {},
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
