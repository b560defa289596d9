"""The shape of an action is found by trying, and remembered for the network."""

from datetime import timedelta

import anyio
import pytest
from tests.network.strict_network import (
    Complain,
    DayClock,
    StrictNetwork,
    by_problem,
    by_pydantic,
    by_zod,
    client_of,
    in_words,
    one_column,
    plainly,
)

from journeyman.domain.outcomes import Confirmed, NotSent, Refusal, Refused, Unknown
from journeyman.domain.tasks import JSON, IdempotencyKey, NewTask, Result, TaskId
from journeyman.network.negotiation import MAX_OPEN, PassingMemory, Writing
from journeyman.network.shapes import READY, writing_dialect
from journeyman.testing import RecordingLog

KEY = IdempotencyKey("key-1")
OTHER_KEY = IdempotencyKey("key-2")
TASK = TaskId("task-1")
RESULT = Result(output="41", evidence={"by": "hand"})
NEW = NewTask(title="Count", description="Count the words", reward=3)

READY_PLACES: dict[str, dict[str, list[str]]] = {
    dialect.name: {
        action: [*shape.places.values()] for action, shape in dialect.shapes.items()
    }
    for dialect in READY
}


EMPTY = {"kind", "tags", "input"}
"""What our post leaves away."""


def places_of(dialect: str) -> dict[str, list[str]]:
    """Name the places of a ready dialect that our requests fill."""
    return {
        action: [name for name in places if name.rpartition(".")[2] not in EMPTY]
        for action, places in READY_PLACES[dialect].items()
    }


def wanting(*places: str) -> dict[str, list[str]]:
    """Speak snake_case, but for the claim."""
    return {**places_of("snake"), "claim": [*places]}


@pytest.mark.parametrize("dialect", READY_PLACES)
@pytest.mark.parametrize(
    "complain", [by_pydantic, by_zod, by_problem, in_words, one_column, plainly]
)
async def test_each_action_is_understood_whatever_ready_dialect_a_network_speaks(
    dialect: str, complain: Complain
) -> None:
    network = StrictNetwork(places_of(dialect), complain)

    async with client_of(network) as client:
        outcomes = [
            await client.claim(TASK, KEY),
            await client.submit(TASK, RESULT, KEY),
            await client.complete(TASK, KEY),
            await client.post_task(NEW, KEY),
        ]

    assert all(isinstance(outcome, Confirmed) for outcome in outcomes), outcomes


@pytest.mark.parametrize(
    ("places", "body"),
    [
        (["taskId"], {"taskId": "task-1"}),
        (["task_id"], {"task_id": "task-1"}),
        (["task.id"], {"task": {"id": "task-1"}}),
        (["job.uuid"], {"job": {"uuid": "task-1"}}),
        (["task", "agent"], {"task": "task-1", "agent": "agent-1"}),
        (
            ["taskUuid", "worker.id"],
            {"taskUuid": "task-1", "worker": {"id": "agent-1"}},
        ),
    ],
)
@pytest.mark.parametrize("complain", [by_pydantic, in_words])
async def test_a_shape_that_nobody_has_written_down_is_made_of_what_refusals_name(
    places: list[str], body: JSON, complain: Complain
) -> None:
    network = StrictNetwork(wanting(*places), complain)

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert network.bodies()[-1] == body
    assert len(network.requests) <= 6


@pytest.mark.parametrize(
    ("dialect", "requests"),
    [("snake", 1), ("camel", 2), ("id-only", 2), ("wrapped", 2)],
)
async def test_a_refusal_that_names_the_fields_leads_straight_to_the_right_shape(
    dialect: str, requests: int
) -> None:
    network = StrictNetwork(places_of(dialect), by_pydantic)

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert len(network.requests) == requests


async def test_what_was_understood_is_used_from_then_on_also_after_a_restart() -> None:
    network, memory = StrictNetwork(places_of("camel")), PassingMemory()

    async with client_of(network, memory=memory) as client:
        await client.claim(TASK, KEY)
        await client.claim(TaskId("task-2"), OTHER_KEY)
    async with client_of(network, memory=memory) as restarted:
        await restarted.claim(TaskId("task-3"), IdempotencyKey("key-3"))

    ids = [body.get("taskId") for body in network.bodies()]
    assert ids == [None, "task-1", "task-2", "task-3"]


async def test_an_action_begins_in_the_dialect_in_which_another_works() -> None:
    network = StrictNetwork(places_of("wrapped"))

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.complete(TASK, KEY)

    assert len(network.bodies("complete")) == 1


async def test_another_shape_has_another_key_and_the_same_shape_the_same() -> None:
    network = StrictNetwork(places_of("camel"))
    network.answers = [(400, {"error": "Bad Request"}), (0, None), (0, None)]

    async with client_of(network) as client:
        outcome = [await client.claim(TASK, KEY) for _ in range(3)][-1]

    snake, *camel = network.keys()
    assert isinstance(outcome, Confirmed)
    assert snake == KEY
    assert len(camel) == 3
    assert len({*camel}) == 1
    assert camel[0] != KEY


async def test_an_operator_can_follow_each_step_in_the_log(log: RecordingLog) -> None:
    network = StrictNetwork(places_of("camel"), in_words)

    async with client_of(network, log=log) as client:
        await client.claim(TASK, KEY)

    (tried,) = log.named("network.dialect_tried")
    assert tried["endpoint"] == "claim"
    assert (tried["instead_of"], tried["dialect"]) == ("snake", "camel")
    assert (tried["missing"], tried["unknown"]) == ("taskId", "")
    assert tried["message"] == "400 Bad Request: missing field taskId"
    (learned,) = log.named("network.dialect_learned")
    assert (learned["dialect"], learned["refused"]) == ("camel", 1)


async def test_a_result_is_the_same_to_the_byte_in_whatever_shape_it_is_sent() -> None:
    network = StrictNetwork(places_of("wrapped"), plainly)
    result = Result(output={"b": [1, 2.50], "a": "é"}, evidence={"by": 1})

    async with client_of(network) as client:
        await client.submit(TASK, result, KEY)

    *_, last = network.bodies("submit")
    assert last["submission"] == {"result": result.output, "evidence": {"by": 1}}
    assert [str(body) for body in network.bodies("submit")[:1]] == [
        str(
            {"task_id": "task-1", "agent_id": "agent-1", "result": result.output}
            | {"evidence": {"by": 1}}
        )
    ]


@pytest.mark.parametrize("status", [401, 403, 404, 405, 409, 429, 413, 500, 503, 408])
async def test_a_status_that_is_about_something_else_tries_no_other_shape(
    status: int,
) -> None:
    network = StrictNetwork(places_of("camel"))
    network.answers = [(status, {"error": "missing field taskId"})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert not isinstance(outcome, Confirmed)
    assert len(network.requests) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (422, {"error": "result_rejected", "message": "wrong answer"}),
        (400, {"error": {"code": "wrong_answer"}}),
        (200, {"ok": False, "message": "the answer is wrong"}),
        (422, {"detail": [{"loc": ["body", "result"], "msg": "not a number"}]}),
        (400, {"errors": {"result": ["can't be blank"]}}),
    ],
)
async def test_a_verdict_on_the_work_is_not_about_its_shape(
    status: int, body: JSON
) -> None:
    network = StrictNetwork(places_of("snake"))
    network.answers = [(status, body)]

    async with client_of(network) as client:
        outcome = await client.submit(TASK, RESULT, KEY)

    assert isinstance(outcome, Refused)
    assert len(network.requests) == 1


async def test_a_yes_that_says_no_for_a_missing_field_is_about_the_shape() -> None:
    network = StrictNetwork(places_of("camel"))
    network.answers = [(200, {"success": False, "error": "Missing field taskId"})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert len(network.requests) == 2


async def test_a_repeat_after_an_unknown_outcome_is_not_negotiated() -> None:
    network = StrictNetwork(places_of("snake"))
    network.answers = [(0, None), (400, {"error": "missing field taskId"})]

    async with client_of(network) as client:
        first = await client.claim(TASK, KEY)
        repeat = await client.claim(TASK, KEY)

    assert isinstance(first, Unknown)
    assert isinstance(repeat, Refused)
    assert network.bodies()[0] == network.bodies()[1]
    assert network.keys() == [KEY, KEY]


async def test_a_repeat_that_is_understood_shows_that_its_shape_is() -> None:
    network = StrictNetwork(places_of("snake"))
    network.answers = [(0, None)]

    async with client_of(network) as client:
        first = await client.claim(TASK, KEY)
        repeat = await client.claim(TASK, KEY)
        network.answers = [(400, {"error": "no"})]
        another = await client.claim(TaskId("task-2"), OTHER_KEY)

    assert isinstance(first, Unknown)
    assert isinstance(repeat, Confirmed)
    assert isinstance(another, Refused)
    assert len(network.requests) == 3, "no other shape was tried"


async def test_a_repeat_keeps_its_shape_though_another_was_learned_meanwhile() -> None:
    network, memory = StrictNetwork(places_of("camel")), PassingMemory()
    network.answers = [(0, None)]

    async with client_of(network, memory=memory) as client:
        await client.claim(TASK, KEY)
        await client.claim(TaskId("task-2"), OTHER_KEY)
    async with client_of(network, memory=memory) as restarted:
        repeat = await restarted.claim(TASK, KEY)

    assert isinstance(repeat, Refused)
    assert network.bodies()[-1] == network.bodies()[0]
    assert network.keys()[-1] == network.keys()[0]


@pytest.fixture
def log() -> RecordingLog:
    return RecordingLog()


async def test_no_more_is_tried_in_a_day_than_the_owner_allows(
    log: RecordingLog,
) -> None:
    network, memory, clock = (
        StrictNetwork(wanting("x"), plainly),
        PassingMemory(),
        DayClock(),
    )
    writing = Writing(max_candidates=3)

    for _ in range(2):
        async with client_of(
            network, writing=writing, memory=memory, clock=clock, log=log
        ) as client:
            outcomes = [await client.claim(TASK, KEY) for _ in range(3)]
            assert all(isinstance(outcome, NotSent) for outcome in outcomes)

    assert len(network.requests) == 3
    (told,) = log.named("network.dialect_exhausted")
    assert (told["endpoint"], told["dialect"], told["refused"]) == ("claim", None, 3)


async def test_what_waits_for_a_shape_says_why_and_until_when() -> None:
    network, clock = StrictNetwork(wanting("nonce"), in_words), DayClock()

    async with client_of(network, clock=clock) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, NotSent)
    assert outcome.paused
    assert outcome.retry_after == timedelta(hours=12).total_seconds()
    assert "missing field nonce" in outcome.message
    assert "[contract.dialects]" in outcome.message
    assert client.blocked_actions() == {"claim": outcome.message}


async def test_the_next_day_it_is_tried_again() -> None:
    network, clock = StrictNetwork(wanting("x"), plainly), DayClock()

    async with client_of(network, clock=clock) as client:
        await client.claim(TASK, KEY)
        before = len(network.requests)
        clock.at += timedelta(days=1)
        network.wanted = places_of("camel")
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert len(network.requests) > before


async def test_a_shape_of_the_operators_is_tried_at_once_after_a_restart() -> None:
    network, memory = StrictNetwork(wanting("nonce", "job"), in_words), PassingMemory()
    own = writing_dialect(
        "acme", {"claim": {"task_id": "job", "constants": {"nonce": 1}}}
    )

    async with client_of(network, memory=memory) as client:
        assert isinstance(await client.claim(TASK, KEY), NotSent)
    writing = Writing(dialects=(own, *READY))
    async with client_of(network, memory=memory, writing=writing) as restarted:
        outcome = await restarted.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert network.bodies()[-1] == {"job": "task-1", "nonce": 1}


async def test_a_pinned_dialect_is_never_left() -> None:
    network = StrictNetwork(places_of("snake"))

    async with client_of(network, writing=Writing(pinned="camel")) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert len(network.requests) == 1


async def test_an_action_that_the_pinned_dialect_leaves_open_is_negotiated() -> None:
    network = StrictNetwork(places_of("camel"))
    own = writing_dialect("acme", {"submit": {"task_id": "t", "result": "r"}})

    async with client_of(
        network, writing=Writing(dialects=(own, *READY), pinned="acme")
    ) as client:
        claimed = await client.claim(TASK, KEY)
        submitted = await client.submit(TASK, RESULT, KEY)

    assert isinstance(claimed, Confirmed)
    assert isinstance(submitted, Refused)
    assert network.bodies("submit") == [{"t": "task-1", "r": "41"}]


async def test_a_shape_that_has_worked_is_doubted_once_a_day(
    log: RecordingLog,
) -> None:
    network, clock = StrictNetwork(places_of("snake")), DayClock()

    async with client_of(network, clock=clock, log=log) as client:
        await client.claim(TASK, KEY)
        network.wanted = places_of("camel")
        changed = await client.claim(TaskId("task-2"), OTHER_KEY)
        network.wanted = wanting("nothing-we-know")
        outcomes = [
            await client.claim(TaskId(f"task-{n}"), IdempotencyKey(f"key-{n}"))
            for n in range(3, 9)
        ]

    assert isinstance(changed, Confirmed)
    assert all(isinstance(outcome, Refused) for outcome in outcomes)
    # Its own refusal, those of the other shapes, and then one for each task.
    assert len(log.named("network.dialect_doubted")) == 2
    assert len(log.named("network.dialect_exhausted")) == 1
    assert network.bodies()[-1] == {"taskId": "task-8", "agentId": "agent-1"}


async def test_one_refusal_without_a_name_does_not_doubt_what_has_worked() -> None:
    network = StrictNetwork(places_of("snake"))

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        network.answers = [(400, {"error": "level too low"})]
        refused = await client.claim(TaskId("task-2"), OTHER_KEY)
        yes = await client.claim(TaskId("task-3"), IdempotencyKey("key-3"))

    assert isinstance(refused, Refused)
    assert isinstance(yes, Confirmed)
    assert len(network.requests) == 3


async def test_a_shape_that_alone_was_refused_without_a_name_was_understood() -> None:
    network = StrictNetwork(places_of("snake"), in_words)
    network.answers = [(400, {"error": "level too low"})]

    async with client_of(network) as client:
        refused = await client.claim(TASK, KEY)
        yes = await client.claim(TaskId("task-2"), OTHER_KEY)

    assert isinstance(refused, Refused)
    assert refused.refusal is Refusal.INVALID
    assert "level too low" in refused.message
    assert isinstance(yes, Confirmed)
    assert network.bodies()[-1] == {"task_id": "task-2", "agent_id": "agent-1"}


async def test_many_at_once_try_each_shape_only_once() -> None:
    network = StrictNetwork(places_of("wrapped"), plainly)
    outcomes: list[object] = []

    async with client_of(network) as client, anyio.create_task_group() as group:

        async def claim(number: int) -> None:
            key = IdempotencyKey(f"key-{number}")
            outcomes.append(await client.claim(TaskId(f"task-{number}"), key))

        for number in range(8):
            group.start_soon(claim, number)

    assert all(isinstance(outcome, Confirmed) for outcome in outcomes)
    assert len(network.requests) == 3 + 8


async def test_a_conflict_shows_that_the_shape_was_understood(
    log: RecordingLog,
) -> None:
    network = StrictNetwork(places_of("snake"))
    network.answers = [(409, {"error": "taken"})]

    async with client_of(network, log=log) as client:
        await client.claim(TASK, KEY)

    (learned,) = log.named("network.dialect_learned")
    assert learned["dialect"] == "snake"


@pytest.mark.parametrize(
    "body",
    [
        {"error": "missing field kind", "task_id": "task-9"},
        {"error": "missing field kind", "balance": 97},
        {"error": "missing field kind", "data": {"taskId": "task-9"}},
    ],
)
async def test_a_refused_post_that_may_have_been_paid_is_not_tried_again(
    body: JSON,
) -> None:
    network = StrictNetwork(places_of("camel"))
    network.answers = [(422, body)]

    async with client_of(network) as client:
        outcome = await client.post_task(NEW, KEY)

    assert isinstance(outcome, Refused)
    assert len(network.requests) == 1


async def test_posts_that_nobody_ever_answers_are_not_remembered_without_end(
    log: RecordingLog,
) -> None:
    network, memory = StrictNetwork(places_of("snake")), PassingMemory()
    async with client_of(network, memory=memory, log=log) as client:
        assert isinstance(await client.claim(TASK, KEY), Confirmed)
        network.answers = [(0, None)] * (MAX_OPEN + 50)
        for number in range(MAX_OPEN + 50):
            key = IdempotencyKey(f"post-{number}")
            assert isinstance(await client.post_task(NEW, key), Unknown)

        kept = client._negotiation._learned["post_task"].open

    assert len(kept) == MAX_OPEN
    assert f"post-{MAX_OPEN + 49}" in kept


async def test_a_post_that_a_yes_refuses_is_not_tried_again() -> None:
    network = StrictNetwork(places_of("camel"))
    network.answers = [(200, {"ok": False, "error": "missing field agentId"})]

    async with client_of(network) as client:
        await client.post_task(NEW, KEY)

    assert len(network.requests) == 1


@pytest.mark.parametrize(
    "saved",
    [
        5,
        {},
        {"actions": 5},
        {"actions": {"claim": 5}},
        {"actions": {"claim": {"current": {"dialect": "x", "shape": {"task_id": 5}}}}},
        {"actions": {"claim": {"works": True, "refused": [5, {}], "open": {"k": 5}}}},
        {"actions": {"claim": {"refused": 5, "missing": 5, "open": [], "day": 5}}},
    ],
)
async def test_a_memory_that_cannot_be_read_counts_as_none(saved: JSON) -> None:
    network = StrictNetwork(places_of("snake"))

    async with client_of(network, memory=PassingMemory(saved)) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert len(network.requests) == 1


async def test_a_result_that_json_cannot_say_is_a_mistake_of_ours_and_stays_none() -> (
    None
):
    network = StrictNetwork(places_of("snake"))

    async with client_of(network) as client:
        with pytest.raises(ValueError, match="JSON"):
            await client.submit(TASK, Result(float("nan")), KEY)
        outcome = await client.submit(TASK, RESULT, KEY)

    assert isinstance(outcome, Confirmed)
    assert len(network.requests) == 1
