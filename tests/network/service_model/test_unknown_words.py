"""What is refused in words that nobody knows is understood by what it is said of."""

import pytest
from tests.network.service_model.strict_network import (
    Complain,
    StrictNetwork,
    client_of,
)

from journeyman.domain.outcomes import Confirmed, Refused
from journeyman.domain.tasks import JSON, IdempotencyKey, Result, Task, TaskId
from journeyman.network.service_model.model import (
    MOST_PHRASES,
    RefusedBody,
    ServiceModel,
)
from journeyman.network.service_model.refusals.faults import Fault, FieldFault
from journeyman.network.service_model.refusals.refusal import read_refusal
from journeyman.network.service_model.request import RequestShape
from journeyman.network.service_model.search import DOCUMENT, Learned, read_document

SENT: JSON = {"task_id": "t-7", "agent_id": "a-9"}
KEY = IdempotencyKey("key-1")
TASK = Task(id=TaskId("t-7"))


def missing(name: str) -> tuple[int, JSON]:
    return 400, {"error": f"{name} is required"}


def said(body: JSON, sent: JSON = SENT, **known: Fault) -> dict[str, Fault]:
    message = body if isinstance(body, str) else ""
    answer = None if isinstance(body, str) else body
    found = read_refusal(answer, message, sent, phrases=known)
    return {".".join(one.path): one.fault for one in found}


@pytest.mark.parametrize(
    "answer",
    [
        {"errors": {"bounty": ["E17"], "task_id": ["E18"]}},
        {"status": "fail", "data": {"bounty": "E17", "task_id": "E18"}},
        {"zub": {"bounty": "E17", "task_id": "E18"}},
        {"bounty": ["1001"], "task_id": ["1002"]},
        {"e": [{"path": "bounty", "msg": "E17"}, {"path": "task_id", "msg": "E18"}]},
        {"zub": [{"florp": "bounty", "x": "E17"}, {"florp": "task_id", "x": "E18"}]},
        [{"florp": ["bounty"], "x": "E17"}, {"florp": ["task_id"], "x": "E18"}],
        {"zub": [["bounty", "E17"], ["task_id", "E18"]]},
        "bounty: E17; task_id: E18",
        {"error": "bounty: vlork\ntask_id: mimsy"},
    ],
)
def test_what_was_not_sent_is_missing_and_what_was_is_wrong(answer: JSON) -> None:
    assert said(answer) == {"bounty": Fault.MISSING, "task_id": Fault.VALUE}


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": "BAD_REQUEST", "path": "claimTask"}},
        {"error": {"code": "E17", "trace": "4bf92f35"}},
        {"note": "Vlork spab."},
        {"errors": [{"id": 7, "status": "E17"}]},
        {"details": {"received": ["agent_id", "task_id"]}},
        {"input": {"task_id": "t-7", "agent_id": "a-9"}, "code": "E17"},
        "ValueError: vlork",
    ],
)
def test_what_has_no_place_in_a_body_is_said_of_none(answer: JSON) -> None:
    assert said(answer) == {}


def test_ways_begin_in_the_body_whatever_stands_around_what_is_said() -> None:
    sent: JSON = {"claim": {"task_id": "t-7"}}

    assert said({"zub": {"claim": {"bounty": ["E17"]}}}, sent) == {
        "claim.bounty": Fault.MISSING
    }


def test_a_message_is_a_name_where_the_same_is_said_of_it_as_of_others() -> None:
    assert said({"data": {"bounty": "E17", "message": "E17"}}) == {
        "bounty": Fault.MISSING,
        "message": Fault.MISSING,
    }


def test_an_object_that_is_full_of_what_is_not_known_is_none_of_that() -> None:
    told: JSON = {"path": ["claim"], "message": "must NOT have additional properties"}

    assert said([told], {"claim": {"task_id": "t-7"}}) == {}


def test_words_that_once_meant_a_lack_mean_it_of_what_was_sent() -> None:
    told: JSON = {"errors": {"task_id": ["E17"]}}

    assert said(told) == {"task_id": Fault.VALUE}
    assert said(told, E17=Fault.MISSING) == {"task_id": Fault.MISSING}


def test_a_plain_word_where_a_known_phrase_has_a_name_is_one() -> None:
    known = {"vlork # spab": Fault.MISSING}

    assert said({"error": "vlork tide spab"}) == {}
    assert said({"error": "vlork tide spab"}, **known) == {"tide": Fault.MISSING}


@pytest.mark.parametrize(
    ("told", "wants", "options"),
    [
        ("E19 object", "object", ()),
        ("wabe number", "number", ()),
        ("E20 plain, markdown", "", ("plain", "markdown")),
        ("gyre text/plain, text/html", "", ("text/plain", "text/html")),
        ("E20 closed", "", ("closed",)),
        ("E20", "", ()),
        ("is invalid", "", ()),
        ("l'un des choix possibles ici", "", ()),
    ],
)
def test_a_type_or_values_are_read_also_among_unknown_words(
    told: str, wants: str, options: tuple[str, ...]
) -> None:
    (found,) = read_refusal(
        {"errors": {"format": [told]}}, "", {"task_id": "t-7", "format": "words here"}
    )

    assert (found.wants, found.options) == (wants, options)


def test_a_model_hears_of_what_was_not_sent_and_keeps_so_many_phrases() -> None:
    model = ServiceModel()
    for n in range(2 * MOST_PHRASES):
        missed = FieldFault(("bounty",), Fault.MISSING, phrase=f"E{n}")
        wrong = FieldFault(("x",), Fault.VALUE, phrase="F")
        told = RefusedBody(
            RequestShape(()), (missed, wrong), is_strict=False, message="", status=400
        )
        model = model.hear("claim", told)

    assert len(model.phrases) == MOST_PHRASES
    assert {*model.phrases.values()} == {Fault.MISSING}


def in_codes(missing: list[str], unknown: list[str]) -> tuple[int, JSON]:
    """Complain in numbers, of everything at once."""
    told: dict[str, JSON] = {name: ["1001"] for name in missing}
    told |= {name: ["1002"] for name in unknown}
    return 422, {"errors": told}


def one_code(missing: list[str], unknown: list[str]) -> tuple[int, JSON]:
    name, code = (missing[0], "1001") if missing else (unknown[0], "1002")
    return 422, {"zub": [{"florp": name, "snark": code}]}


@pytest.mark.parametrize("complain", [in_codes, one_code])
@pytest.mark.parametrize(
    "places",
    [
        ["bounty_id"],
        ["bounty_id", "worker_id"],
        ["bounty.id"],
        ["claim.bounty_id", "claim.worker_id"],
    ],
)
async def test_a_claim_is_understood_that_is_refused_in_numbers(
    places: list[str], complain: Complain
) -> None:
    network = StrictNetwork({"claim": places}, complain)

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), network.bodies()
    assert len(network.requests) <= 8


async def test_a_stand_in_that_is_forbidden_was_a_wrong_guess() -> None:
    network = StrictNetwork({"claim": ["bounty_id", "kuka"]})
    is_not: JSON = {"error": "kuka is not the agent of this token"}
    network.answers += [
        missing("bounty_id"),
        missing("kuka"),
        (403, is_not),
        (200, {}),
    ]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    *_, forbidden, understood = (body.get("kuka") for body in network.bodies())
    assert (forbidden, understood) == ("Claimed by an autonomous agent", "agent-1")


async def test_who_is_not_let_in_is_not_let_in_under_another_name() -> None:
    network = StrictNetwork({"claim": ["task_id", "agent_id"]})
    network.answers += [(403, {"error": "agent_id is suspended"})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Refused), outcome
    assert len(network.requests) == 1


def in_ways(missing: list[str], unknown: list[str]) -> tuple[int, JSON]:
    """Complain of the first fault, in numbers, with the whole way."""
    way, code = (missing[0], "1001") if missing else (unknown[0], "1002")
    return 422, {"errors": [{"path": [*way.split(".")], "message": code}]}


async def test_where_whole_ways_are_told_a_lone_name_is_in_no_object() -> None:
    network = StrictNetwork({"claim": ["bounty.id", "note"]}, in_ways)

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), network.bodies()
    assert network.bodies()[-1].keys() == {"bounty", "note"}


async def test_the_only_word_that_differs_from_an_earlier_refusal_is_a_name() -> None:
    network = StrictNetwork({"claim": ["task_id"]})
    network.answers += [
        (400, {"error": "Vlork tide spab"}),
        (400, {"error": "Vlork ebb spab"}),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert "ebb" in network.bodies()[-1]


async def test_the_id_of_a_task_is_sent_in_a_list_of_what_the_network_calls_it() -> (
    None
):
    network = StrictNetwork({"claim": ["quests"]})
    wrong: JSON = {"error": "quests must be an array"}
    network.answers += [missing("quests"), (400, wrong), (200, {})]

    async with client_of(network) as client:
        await client.claim(Task(id=TaskId("t-7"), raw={"quest_id": "t-7"}), KEY)

    assert network.bodies()[-1]["quests"] == ["t-7"]


async def test_an_array_that_may_be_no_list_is_an_object_as_in_php() -> None:
    network = StrictNetwork({"submit": ["task_id", "work"]})
    wrong: JSON = {"errors": {"work": ["This value should be of type array."]}}
    lacks: JSON = {"errors": {"work.text": ["This value should not be blank."]}}
    network.answers += [missing("work"), *[(422, wrong)] * 3, (422, lacks), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, Result(output="A B C D"), KEY)

    assert network.bodies("submit")[-1]["work"] == {"text": "A B C D"}


async def test_the_number_of_a_request_that_differs_each_time_is_no_name() -> None:
    network = StrictNetwork({"claim": ["task_id"]})
    numbers = ("a81f", "c07b", "e5d2")
    for number in numbers:
        told: JSON = {"error": f"vlork spab {number}"}
        network.answers.append((400, told))
    network.answers.append((200, {}))

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    named = {name for body in network.bodies() for name in body}
    assert named.isdisjoint(numbers)


def test_phrases_outlive_a_restart() -> None:
    learned = Learned(model=ServiceModel(phrases={"E17": Fault.MISSING}))

    again = read_document(DOCUMENT.dump_python(learned, mode="json"))

    assert again.model.phrases == {"E17": Fault.MISSING}
