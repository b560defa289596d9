"""The shape of an action is found by trying, and remembered for the network."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import anyio
import pytest
from tests.network.conftest import identity_at
from tests.network.service_model.strict_network import (
    BASE_URL,
    Complain,
    DayClock,
    Names,
    Store,
    StrictNetwork,
    by_problem,
    by_pydantic,
    by_zod,
    client_of,
    in_words,
    one_column,
    places,
    plainly,
)

from journeyman.domain.outcomes import Confirmed, NotSent, Refusal, Refused, Unknown
from journeyman.domain.tasks import (
    JSON,
    Given,
    IdempotencyKey,
    NewTask,
    Result,
    Task,
    TaskId,
)
from journeyman.network.rate_limit.circuit_breaker import Presence, presence_of
from journeyman.network.service_model.configured import configured_shape
from journeyman.network.service_model.model import RefusedBody, RequestModel
from journeyman.network.service_model.refusals.faults import Fault, FieldFault
from journeyman.network.service_model.request import Placed, RequestShape, values_in
from journeyman.network.service_model.search import (
    FIRST_WAIT_SECONDS,
    LONGEST_WAIT_SECONDS,
    MAX_OPEN,
    MOST_REFUSED_IN_A_ROUND,
    MOST_UNTAUGHT_IN_A_ROUND,
    SECOND_CHANCES,
    STRIKES,
    Learned,
    is_about_shape,
)
from journeyman.testing import RecordingLog

KEY = IdempotencyKey("key-1")
OTHER_KEY = IdempotencyKey("key-2")
TASK = Task(id=TaskId("task-1"))
RESULT = Result(output="41", evidence={"by": "hand"})
NEW = NewTask(title="Count", description="Count the words", reward=3)

SNAKE = {
    "claim": ["task_id", "agent_id"],
    "submit": ["task_id", "agent_id", "result", "evidence"],
    "complete": ["task_id", "agent_id"],
    "post_task": ["agent_id", "title", "description", "reward"],
}
CAMEL = {
    "claim": ["taskId", "agentId"],
    "submit": ["taskId", "agentId", "result", "evidence"],
    "complete": ["taskId", "agentId"],
    "post_task": ["agentId", "title", "description", "reward"],
}
ID_ONLY = {
    "claim": ["id"],
    "submit": ["id", "result"],
    "complete": ["id"],
    "post_task": ["title", "description", "reward"],
}
WRAPPED = {
    "claim": ["task.id", "agent.id"],
    "submit": ["task.id", "agent.id", "submission.result"],
    "complete": ["task.id", "agent.id"],
    "post_task": ["task.title", "task.description", "task.reward"],
}
MANNERS = {"snake": SNAKE, "camel": CAMEL, "id only": ID_ONLY, "wrapped": WRAPPED}


def wanting(*places: str) -> dict[str, list[str]]:
    """Speak snake_case, but for the claim."""
    return {**SNAKE, "claim": [*places]}


EXTRAS = ("weather", "mood", "season")
IMPOSSIBLE = wanting("planet", "planet.colour")
"""One is to have a value and to be around another one."""


def another(number: int) -> tuple[Task, IdempotencyKey]:
    return Task(id=TaskId(f"task-{number}")), IdempotencyKey(f"key-{number}")


@pytest.fixture
def log() -> RecordingLog:
    return RecordingLog()


@pytest.mark.parametrize(
    ("manner", "complain"),
    [
        *(
            (manner, complain)
            for manner in MANNERS
            for complain in (by_pydantic, by_zod, by_problem, in_words)
        ),
        *((flat, one_column) for flat in ("snake", "camel", "id only")),
    ],
)
async def test_each_action_is_understood_in_whatever_manner_a_network_writes(
    manner: str, complain: Complain
) -> None:
    network = StrictNetwork(MANNERS[manner], complain)

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
        (
            ["data.job_id", "data.bot_id"],
            {"data": {"job_id": "task-1", "bot_id": "agent-1"}},
        ),
    ],
)
@pytest.mark.parametrize("complain", [by_pydantic, in_words])
async def test_a_body_that_nobody_has_seen_is_made_of_what_refusals_name(
    places: list[str], body: JSON, complain: Complain
) -> None:
    network = StrictNetwork(wanting(*places), complain)

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert network.bodies()[-1] == body
    assert len(network.requests) <= 7


@pytest.mark.parametrize("complain", [by_pydantic, in_words, plainly])
async def test_no_body_is_sent_twice_under_one_search(complain: Complain) -> None:
    network = StrictNetwork(IMPOSSIBLE, complain)

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    bodies = [str(body) for body in network.bodies()]
    assert 1 < len(bodies) == len({*bodies})


async def test_what_was_understood_is_used_from_then_on_also_after_a_restart() -> None:
    network, store = StrictNetwork(CAMEL), Store()

    async with client_of(network, store=store) as client:
        await client.claim(TASK, KEY)
        await client.claim(*another(2))
    async with client_of(network, store=store) as restarted:
        await restarted.claim(*another(3))

    ids = [body.get("taskId") for body in network.bodies()]
    assert ids == [None, "task-1", "task-2", "task-3"]


async def test_an_action_begins_in_the_manner_in_which_another_works() -> None:
    network = StrictNetwork(WRAPPED)

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.complete(TASK, KEY)

    assert len(network.bodies("complete")) == 1


async def test_the_agent_is_called_as_in_another_action_whatever_is_around_it() -> None:
    parts = {"claim": "lukko", "submit": "lahetys"}
    wanted = {
        action: [f"{around}.toimeksianto_id", f"{around}.tekija_id"]
        for action, around in parts.items()
    }
    wanted["submit"].append("lahetys.vastaus")
    network = StrictNetwork(
        {**SNAKE, **wanted}, lambda names, more: in_words(names[:1], more[:1])
    )

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        outcome = await client.submit(TASK, RESULT, KEY, {"claim.id": "c-77"})

    assert isinstance(outcome, Confirmed), outcome
    assert "c-77" not in str(network.bodies("submit"))


async def test_another_body_has_another_key_and_the_same_body_the_same() -> None:
    network = StrictNetwork(CAMEL)
    network.answers = [(400, {"error": "missing field taskId"}), (0, None), (0, None)]

    async with client_of(network) as client:
        outcome = [await client.claim(TASK, KEY) for _ in range(3)][-1]

    first, *later = network.keys()
    assert isinstance(outcome, Confirmed)
    assert first == KEY
    assert len(later) == 3
    assert len({*later}) == 1
    assert later[0] != KEY
    assert len({str(body) for body in network.bodies()[1:]}) == 1


async def test_a_crash_between_two_tries_changes_no_repeat() -> None:
    network, store = StrictNetwork(CAMEL), Store()
    network.answers = [(400, {"error": "missing field taskId"}), (0, None)]

    async with client_of(network, store=store) as client:
        assert isinstance(await client.claim(TASK, KEY), Unknown)
    async with client_of(network, store=store) as restarted:
        await restarted.claim(TASK, KEY)

    assert network.bodies()[2] == network.bodies()[1] != network.bodies()[0]
    assert network.keys()[2] == network.keys()[1] != network.keys()[0]


async def test_crashes_do_not_renew_the_number_of_tries() -> None:
    network, store = StrictNetwork(IMPOSSIBLE, plainly), Store()
    network.answers = [(400, {}), (0, None)] * 30

    for number in range(30):
        async with client_of(network, store=store) as restarted:
            await restarted.claim(*another(number))

    assert len(network.requests) <= 2 * MOST_UNTAUGHT_IN_A_ROUND


async def test_a_wait_that_a_wrong_clock_began_is_over() -> None:
    network, clock = StrictNetwork(IMPOSSIBLE, plainly), DayClock()

    async with client_of(network, clock=clock) as client:
        await client.claim(TASK, KEY)
        sent = len(network.requests)
        clock.at -= timedelta(days=1)
        await client.claim(TASK, KEY)

    assert len(network.requests) > sent


async def test_an_operator_can_follow_each_step_in_the_log(log: RecordingLog) -> None:
    network = StrictNetwork(CAMEL, in_words)

    async with client_of(network, log=log) as client:
        await client.claim(TASK, KEY)

    (rewritten, *_) = log.named("network.request_rewritten")
    assert rewritten["endpoint"] == "claim"
    assert (rewritten["missing"], rewritten["unknown"]) == ("taskId", "")
    assert rewritten["message"] == "400 Bad Request: missing field taskId"
    (understood,) = log.named("network.request_understood")
    assert understood["fields"] == "agentId, taskId"
    assert understood["refused"] == len(network.bodies()) - 1


async def test_a_result_is_the_same_in_whatever_body_it_is_sent() -> None:
    network = StrictNetwork(WRAPPED)
    result = Result(output={"b": [1, 2.50], "a": "é"}, evidence={})

    async with client_of(network) as client:
        await client.submit(TASK, result, KEY)

    *_, last = network.bodies("submit")
    assert last["submission"] == {"result": result.output}


@pytest.mark.parametrize("status", [401, 404, 405, 409, 429, 413, 502, 503, 408])
async def test_a_status_that_is_about_something_else_tries_no_other_body(
    status: int,
) -> None:
    network = StrictNetwork(CAMEL)
    network.answers = [(status, {"error": "missing field taskId"})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert not isinstance(outcome, Confirmed)
    assert len(network.requests) == 1


async def test_a_rule_of_a_database_may_forbid_a_body_for_what_it_lacks() -> None:
    network = StrictNetwork(CAMEL)
    said: JSON = {
        "error": "forbidden",
        "reason": "the document must have a field jobRef",
    }
    network.answers = [(403, said)]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert network.bodies("claim")[1]["jobRef"] == TASK.id


async def test_words_that_stand_for_who_we_are_give_way_to_our_id() -> None:
    network = StrictNetwork(SNAKE)
    asked = ("reference", "identifiant_intervenant")
    network.answers.append((400, {"errors": [f"{one} is required" for one in asked]}))
    said = "L'identifiant de l'intervenant ne correspond pas au jeton."
    network.answers += [(403, {"libelle": said}), (200, {})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert network.bodies("claim")[-1]["identifiant_intervenant"] == "agent-1"


@pytest.mark.parametrize(
    "said",
    [
        "missing scope tasks",
        "the parameter is not permitted for your role",
        "missing permission field_write",
        "missing header x_api_key",
        "you are not allowed to claim this task",
    ],
)
async def test_a_right_that_is_missing_is_no_field_of_a_body(said: str) -> None:
    network = StrictNetwork(CAMEL)
    network.answers = [(403, {"error": said})]

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
    ],
)
async def test_a_verdict_on_the_work_is_not_about_its_body(
    status: int, body: JSON
) -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [(status, body)]

    async with client_of(network) as client:
        outcome = await client.submit(TASK, RESULT, KEY)

    assert isinstance(outcome, Refused)
    assert len(network.requests) == 1


@pytest.mark.parametrize(
    ("refusals", "forms"),
    [
        ([(422, {"errors": {"result": ["n'est pas valable"]}})], 2),
        (
            [
                (
                    200,
                    {"ok": False, "error": '"A LONG TEX"... is not valid JSON'},
                ),
                (200, {"ok": False, "error": '"[object Object]" is not valid JSON'}),
                (200, {"ok": False, "error": '"[object Object]" is not valid JSON'}),
            ],
            3,
        ),
    ],
)
async def test_a_result_that_is_wrong_where_it_stands_is_sent_in_another_form(
    refusals: list[tuple[int, JSON]], forms: int
) -> None:
    network = StrictNetwork(SNAKE)
    result = Result(output="A LONG TEXT", evidence={})

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        network.answers = [*refusals, (200, {})]
        await client.submit(TASK, result, KEY)

    tried = [json.dumps(body["result"]) for body in network.bodies("submit")]
    text, object_ = '"A LONG TEXT"', '{"text": "A LONG TEXT"}'
    assert [*dict.fromkeys(tried)] == [text, object_, json.dumps(text)][:forms]


async def test_a_500_that_misses_a_name_is_a_refusal_and_any_other_is_unknown() -> None:
    network = StrictNetwork(wanting("work_item"), strict=False)
    fault = "TypeError: claim() missing 1 required positional argument: 'work_item'"
    network.answers = [(500, {"exception": fault})]

    async with client_of(network) as client:
        missing_a_name = await client.claim(TASK, KEY)
        network.answers = [(500, {"exception": "IndexError: list index out of range"})]
        falling_over = await client.claim(TASK, OTHER_KEY)

    assert isinstance(missing_a_name, Confirmed)
    assert network.bodies()[1]["work_item"] == TASK.id
    assert isinstance(falling_over, Unknown)


@pytest.mark.parametrize(("status", "is_told"), [(555, True), (502, False)])
async def test_an_error_of_the_services_own_may_tell_what_a_body_lacks(
    status: int, *, is_told: bool
) -> None:
    network = StrictNetwork(SNAKE)
    cause = "ORA-20101: operator_id must be supplied (the agent_id you were given)"
    network.answers += [(status, {"cause": cause}), (200, {})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    agent_id = identity_at(BASE_URL).agent_id
    assert isinstance(outcome, Confirmed) is is_told
    assert (network.bodies("claim")[-1].get("operator_id") == agent_id) is is_told


async def test_a_500_for_a_post_is_unknown_whatever_it_misses() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [(500, {"error": "missing field budget"})]

    async with client_of(network) as client:
        outcome = await client.post_task(NEW, KEY)

    assert isinstance(outcome, Unknown)
    assert len(network.requests) == 1


async def test_a_yes_that_says_no_to_two_tasks_alike_is_about_the_body() -> None:
    network = StrictNetwork(wanting("data.task_id", "data.agent_id"))
    no: tuple[int, JSON] = (200, {"ok": False, "error": "Das geht so nicht"})
    network.answers = [no, no]

    async with client_of(network) as client:
        first = await client.claim(TASK, KEY)
        second = await client.claim(*another(2))

    assert isinstance(first, Refused)
    assert isinstance(second, Confirmed)


async def test_a_conflict_is_no_reason_to_write_otherwise() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [(409, {"error": "claimed by another agent"})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.CONFLICT
    assert len(network.requests) == 1


async def test_a_yes_that_says_no_for_a_missing_field_is_about_the_body() -> None:
    network = StrictNetwork(CAMEL)
    network.answers = [(200, {"success": False, "error": "Missing field taskId"})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert network.bodies()[1] != network.bodies()[0]


async def test_a_repeat_after_an_unknown_outcome_has_the_same_body_and_key() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [(0, None), (400, {"error": "no"})]

    async with client_of(network) as client:
        first = await client.claim(TASK, KEY)
        repeat = await client.claim(TASK, KEY)

    assert isinstance(first, Unknown)
    assert isinstance(repeat, Refused)
    assert network.bodies()[0] == network.bodies()[1]
    assert network.keys() == [KEY, KEY]


async def test_a_repeat_that_lacks_a_field_is_written_anew() -> None:
    # The body was never understood, so the one without an answer did nothing.
    network = StrictNetwork(CAMEL)
    network.answers = [(0, None)]

    async with client_of(network) as client:
        first = await client.claim(TASK, KEY)
        repeat = await client.claim(TASK, KEY)

    assert isinstance(first, Unknown)
    assert isinstance(repeat, Confirmed)
    assert network.bodies()[0] == network.bodies()[1] != network.bodies()[2]


async def test_a_repeat_that_is_understood_shows_that_its_body_is() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [(0, None)]

    async with client_of(network) as client:
        first = await client.claim(TASK, KEY)
        repeat = await client.claim(TASK, KEY)
        network.answers = [(400, {"error": "no"})]
        later = await client.claim(*another(2))

    assert isinstance(first, Unknown)
    assert isinstance(repeat, Confirmed)
    assert isinstance(later, Refused)
    assert len(network.requests) == 3, "no other body was tried"


async def test_a_repeat_keeps_its_body_though_another_was_learned_meanwhile() -> None:
    network, store = StrictNetwork(CAMEL), Store()
    network.answers = [(0, None)]

    async with client_of(network, store=store) as client:
        await client.claim(TASK, KEY)
        await client.claim(*another(2))
    async with client_of(network, store=store) as restarted:
        repeat = await restarted.claim(TASK, KEY)

    assert isinstance(repeat, Refused)
    assert network.bodies()[-1] == network.bodies()[0]
    assert network.keys()[-1] == network.keys()[0]


async def test_what_waits_for_a_body_says_why_and_until_when(log: RecordingLog) -> None:
    network, clock = StrictNetwork(IMPOSSIBLE, in_words), DayClock()

    async with client_of(network, clock=clock, log=log) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, NotSent)
    assert outcome.paused
    assert outcome.retry_after == FIRST_WAIT_SECONDS
    assert "planet" in outcome.message
    assert "[contract.requests.claim]" in outcome.message
    assert client.search.blocked_actions() == {"claim": outcome.message}
    (told,) = log.named("network.request_not_understood")
    assert (told["endpoint"], told["retry_in"]) == ("claim", FIRST_WAIT_SECONDS)


async def test_a_round_is_bounded_and_nothing_is_sent_while_it_waits() -> None:
    network, store = StrictNetwork(IMPOSSIBLE, by_pydantic), Store()
    clock = DayClock()

    for number in range(3):
        async with client_of(network, store=store, clock=clock) as client:
            outcome = await client.claim(*another(number))
            assert isinstance(outcome, NotSent)

    assert 1 < len(network.requests) <= MOST_REFUSED_IN_A_ROUND


async def test_rounds_wait_for_minutes_and_never_until_tomorrow() -> None:
    network, clock = StrictNetwork(IMPOSSIBLE, plainly), DayClock()
    waits = []

    async with client_of(network, clock=clock) as client:
        for number in range(8):
            outcome = await client.claim(*another(number))
            assert isinstance(outcome, NotSent)
            waits.append(outcome.retry_after)
            clock.at += timedelta(seconds=outcome.retry_after or 0)

    assert waits[:4] == [60.0, 120.0, 240.0, 480.0]
    assert {*waits[4:]} == {LONGEST_WAIT_SECONDS}


async def test_each_round_goes_on_to_bodies_that_are_new_and_tells_what_was_said(
    log: RecordingLog,
) -> None:
    network, clock = StrictNetwork(IMPOSSIBLE, plainly), DayClock()

    async with client_of(network, clock=clock, log=log) as client:
        for number in range(4):
            await client.claim(*another(number))
            clock.at += timedelta(seconds=LONGEST_WAIT_SECONDS)
            told = log.named("network.request_not_understood")[-1]
            assert str(told["message"]).startswith("400")
            assert told["refused"] != 0

    bodies = [str(body) for body in network.bodies()]
    again = len(bodies) - len({*bodies})
    assert again <= 2 * SECOND_CHANCES
    assert len({*bodies}) > 2 * MOST_UNTAUGHT_IN_A_ROUND


async def test_after_two_waits_a_network_that_was_mended_is_understood() -> None:
    network, clock = StrictNetwork(IMPOSSIBLE, in_words), DayClock()

    async with client_of(network, clock=clock) as client:
        await client.claim(TASK, KEY)
        network.wanted = SNAKE
        clock.at += timedelta(seconds=FIRST_WAIT_SECONDS)
        await client.claim(TASK, KEY)
        clock.at += timedelta(seconds=2 * FIRST_WAIT_SECONDS)
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome


async def test_the_owners_shape_is_used_as_it_is() -> None:
    network = StrictNetwork(wanting("job", *EXTRAS), in_words)
    store = Store()
    own = configured_shape(
        "claim", {"task_id": "job", "constants": {**dict.fromkeys(EXTRAS, "fine")}}
    )

    async with client_of(network, store=store) as client:
        await client.claim(*another(2))
    async with client_of(network, store=store, owner={"claim": own}) as restarted:
        outcome = await restarted.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert network.bodies()[-1] == {"job": "task-1", **dict.fromkeys(EXTRAS, "fine")}


async def test_an_owner_may_place_values_in_lists_and_headers() -> None:
    own = configured_shape(
        "submit",
        {
            "claim.lease.token": "header:X-Lease",
            "result": "parts.0.text",
            "constants": {"parts": {"0": {"kind": "text"}}},
        },
    )
    network = StrictNetwork(SNAKE)
    network.answers.append((200, {}))

    async with client_of(network, owner={"submit": own}) as client:
        await client.submit(TASK, RESULT, KEY, {"claim.lease.token": "l-3"})

    ((_, body, headers),) = network.requests
    assert body == {"parts": [{"text": "41", "kind": "text"}]}
    assert headers["x-lease"] == "l-3"


def test_an_owner_may_not_place_a_value_in_a_header_that_is_our_own() -> None:
    with pytest.raises(ValueError, match="Authorization is set by Journeyman itself"):
        configured_shape("claim", {"task_id": "header:Authorization"})


async def test_the_owners_shape_is_never_left_and_other_actions_are_found() -> None:
    network = StrictNetwork(CAMEL)
    own = configured_shape("submit", {"task_id": "t", "result": "r"})

    async with client_of(network, owner={"submit": own}) as client:
        claimed = await client.claim(TASK, KEY)
        submitted = [await client.submit(TASK, RESULT, KEY) for _ in range(3)]

    assert isinstance(claimed, Confirmed)
    assert all(isinstance(one, Refused) for one in submitted)
    assert network.bodies("submit") == [{"t": "task-1", "r": "41"}] * 3


async def test_a_shape_that_has_worked_is_doubted_by_a_contradiction(
    log: RecordingLog,
) -> None:
    network = StrictNetwork(SNAKE)

    async with client_of(network, log=log) as client:
        await client.claim(TASK, KEY)
        network.wanted = CAMEL
        changed = await client.claim(*another(2))

    assert isinstance(changed, Confirmed)
    assert len(log.named("network.request_doubted")) == 1


async def test_a_shape_that_has_worked_stays_where_nothing_else_is_understood(
    log: RecordingLog,
) -> None:
    network, clock = StrictNetwork(SNAKE), DayClock()

    async with client_of(network, clock=clock, log=log) as client:
        await client.claim(TASK, KEY)
        network.wanted = IMPOSSIBLE
        outcomes = [await client.claim(*another(n)) for n in range(3, 9)]
        network.wanted = SNAKE
        again = await client.claim(*another(9))

    assert all(isinstance(outcome, Refused) for outcome in outcomes)
    assert isinstance(again, Confirmed)
    assert len(log.named("network.request_doubted")) == 1
    assert network.bodies()[-1] == {"task_id": "task-9", "agent_id": "agent-1"}


async def test_refusals_without_a_name_doubt_what_has_worked_only_together() -> None:
    network = StrictNetwork(SNAKE)

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        for number in range(2, 6):
            network.answers = [(400, {"error": "level too low"})]
            await client.claim(*another(number))
            assert isinstance(await client.claim(*another(number + 10)), Confirmed)
        alone = len(network.requests)
        network.answers = [(400, {"error": "level too low"})] * STRIKES
        for number in range(20, 20 + STRIKES):
            await client.claim(*another(number))

    assert alone == 9, "each was sent once"
    assert len(network.requests) > alone + STRIKES


async def test_one_search_at_a_time_for_each_action() -> None:
    network = StrictNetwork(CAMEL)

    async with client_of(network) as client, anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(client.claim, *another(number))

    refused = [body for body in network.bodies() if "taskId" not in body]
    assert len(refused) == 1
    assert len(network.bodies()) == 6


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
    network = StrictNetwork(CAMEL)
    network.answers = [(422, body)]

    async with client_of(network) as client:
        outcome = await client.post_task(NEW, KEY)

    assert isinstance(outcome, Refused)
    assert len(network.requests) == 1


async def test_a_post_that_a_yes_refuses_is_not_tried_again() -> None:
    network = StrictNetwork(CAMEL)
    network.answers = [(200, {"ok": False, "error": "missing field agentId"})]

    async with client_of(network) as client:
        await client.post_task(NEW, KEY)

    assert len(network.requests) == 1


def test_posts_that_nobody_ever_answers_are_not_remembered_without_end() -> None:
    learned = Learned()
    shape = configured_shape("claim", {"task_id": "id"})

    for number in range(MAX_OPEN + 50):
        learned.sends(f"post-{number}", shape)

    assert len(learned.open) == MAX_OPEN
    assert f"post-{MAX_OPEN + 49}" in learned.open


@pytest.mark.parametrize(
    "saved",
    [
        5,
        {},
        {"version": 99},
        {"version": 1, "model": 5},
        {"version": 1, "open": {"k": 5}},
        {"version": 1, "waits": {"claim": ["x", None]}},
    ],
)
async def test_what_was_saved_and_cannot_be_read_counts_as_never_learned(
    saved: JSON,
) -> None:
    network = StrictNetwork(SNAKE)

    async with client_of(network, store=Store(saved)) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert len(network.requests) == 1


async def test_a_result_that_json_cannot_say_is_a_mistake_of_ours_and_stays_none() -> (
    None
):
    network = StrictNetwork(SNAKE)

    async with client_of(network) as client:
        with pytest.raises(ValueError, match="JSON"):
            await client.submit(TASK, Result(float("nan")), KEY)
        outcome = await client.submit(TASK, RESULT, KEY)

    assert isinstance(outcome, Confirmed)
    assert len(network.requests) == 1


# -- what is known beforehand ----------------------------------------------------


async def test_a_description_is_used_before_any_guess() -> None:
    network = StrictNetwork(wanting("gig.ref", "bot"))
    schema: JSON = {
        "type": "object",
        "required": ["gig", "bot"],
        "properties": {
            "gig": {
                "type": "object",
                "required": ["ref"],
                "properties": {"ref": {"type": "string"}},
            },
            "bot": {"type": "string"},
        },
    }

    async with client_of(network) as client:
        client.search.describe({"claim": schema})
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert network.bodies() == [{"gig": {"ref": "task-1"}, "bot": "agent-1"}]


@pytest.mark.parametrize(
    ("place", "given", "value"),
    [
        ("claim_id", {"claim.claim.id": "c-7"}, "c-7"),
        ("assignmentId", {"claim.assignment.id": 77}, 77),
        ("lease_token", {"claim.lease.token": "l-3"}, "l-3"),
        ("nonce", {"claim.nonce": "n-5"}, "n-5"),
    ],
)
async def test_a_value_that_an_earlier_answer_gave_is_placed(
    place: str, given: Given, value: JSON
) -> None:
    wanted = {**SNAKE, "submit": [place, "result", "evidence"]}
    network = StrictNetwork(wanted)

    async with client_of(network) as client:
        outcome = await client.submit(TASK, RESULT, KEY, given)

    assert isinstance(outcome, Confirmed), outcome
    assert network.bodies("submit")[-1][place] == value


async def test_a_version_that_the_record_shows_is_placed() -> None:
    network = StrictNetwork(wanting("task_id", "version"))
    task = Task(id=TaskId("task-1"), raw={"id": "task-1", "version": 4})

    async with client_of(network) as client:
        outcome = await client.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert network.bodies()[-1] == {"task_id": "task-1", "version": 4}


async def test_an_id_that_was_listed_as_an_integer_is_sent_as_one() -> None:
    network = StrictNetwork(wanting("task_id"))
    task = Task(id=TaskId("8137"), raw={"id": 8137})

    async with client_of(network) as client:
        await client.claim(task, KEY)

    assert [body["task_id"] for body in network.bodies()] == [8137] * len(
        network.bodies()
    )


async def test_an_example_in_the_record_is_followed() -> None:
    network = StrictNetwork(wanting("claim.work_order"))
    links: JSON = {"claim": {"href": "/x", "body": {"claim": {"work_order": "task-1"}}}}
    task = Task(id=TaskId("task-1"), raw={"id": "task-1", "links": links})

    async with client_of(network) as client:
        outcome = await client.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert {str([*body]) for body in network.bodies()} == {"['claim']"}
    assert network.bodies()[-1] == {"claim": {"work_order": "task-1"}}


def missing(name: str) -> tuple[int, JSON]:
    return 400, {"errors": [{"field": name, "message": "is required"}]}


async def test_work_is_sent_as_a_list_of_objects_where_one_is_wanted() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [
        missing("artifacts"),
        missing("artifacts[0].content"),
        missing("artifacts[0].type"),
        (200, {}),
    ]

    async with client_of(network) as client:
        outcome = await client.submit(TASK, RESULT, KEY)

    assert isinstance(outcome, Confirmed), outcome
    sent = network.bodies("submit")
    assert sent[1]["artifacts"] == ["41"]
    assert sent[2]["artifacts"] == [{"content": "41"}]
    assert sent[3]["artifacts"] == [{"content": "41", "type": "text"}]


async def test_names_in_a_list_are_written_as_the_body_has_them() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [
        missing("Artifacts"),
        missing("Artifacts[0].Content"),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)

    last = network.bodies("submit")[-1]
    assert last["artifacts"] == [{"content": "41"}]
    assert "Artifacts" not in last


async def test_a_name_that_says_nothing_to_us_gets_words_that_may_be_the_result() -> (
    None
):
    network = StrictNetwork(SNAKE)
    network.answers += [(200, {}), missing("finding"), missing("remarks"), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        outcome = await client.submit(TASK, RESULT, KEY)

    assert isinstance(outcome, Confirmed), outcome
    sent = network.bodies("submit")[-1]
    assert (sent["finding"], sent["remarks"]) == ("41", "41")


async def test_words_that_are_too_long_where_they_stand_are_made_short() -> None:
    network = StrictNetwork(SNAKE)
    too_long: JSON = {"error": "mark: 5 characters at most"}
    network.answers += [(200, {}), missing("mark"), (400, too_long), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        outcome = await client.complete(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    first, second = (body["mark"] for body in network.bodies("complete")[1:])
    assert first == "Completed by an autonomous agent"
    assert second == "Done"


async def test_no_words_stand_where_another_task_would_be_meant() -> None:
    network = StrictNetwork(SNAKE)
    wrong: JSON = {"errors": [{"field": "task_id", "message": "is required"}]}
    network.answers += [(400, wrong)] * 10

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    told = {str(body.get("task_id", "task-1")) for body in network.bodies("claim")}
    assert not any(" agent" in one or one == "Done" for one in told)


async def test_a_price_that_is_asked_for_is_the_one_that_was_listed() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("accepted_fee"), (200, {})]
    task = replace(TASK, raw={"id": str(TASK.id), "fee": {"value": 31, "unit": "cr"}})

    async with client_of(network) as client:
        await client.claim(task, KEY)

    assert network.bodies("claim")[-1]["accepted_fee"] == 31


async def test_a_choice_that_is_asked_for_is_one_that_the_record_lists() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("verdict"), (200, {})]
    task = replace(TASK, raw={"id": str(TASK.id), "verdict_choices": ["true", "false"]})

    async with client_of(network) as client:
        await client.submit(task, RESULT, KEY)

    assert network.bodies("submit")[-1]["verdict"] == "true"


async def test_a_choice_that_was_wrong_as_a_value_of_the_task_is_another_one() -> None:
    network = StrictNetwork(SNAKE)
    fault: JSON = {"field": "phase", "message": "An assignee can only close it"}
    network.answers += [missing("phase"), (422, {"errors": [fault]})]
    said = "phase must be one of: open, closed"
    network.answers += [(422, {"error": said}), (200, {})]
    task = replace(TASK, raw={"phase": "open"})

    async with client_of(network) as client:
        await client.complete(task, KEY)

    sent = [body.get("phase") for body in network.bodies("complete")]
    assert sent[1] == "open"
    assert sent[-1] == "closed"


async def test_a_state_that_is_asked_for_is_what_a_task_becomes() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("status"), (200, {})]
    given = {"claim.status": "in_progress"}

    async with client_of(network) as client:
        await client.complete(TASK, KEY, given)

    assert network.bodies("complete")[-1]["status"] == "completed"


async def test_words_for_a_thing_that_is_not_found_give_way_to_its_id() -> None:
    network = StrictNetwork(SNAKE)
    network.answers.append((422, {"message": "Require params: task, run, output."}))
    network.answers += [(404, {"message": "Couldn't find that run."}), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY, {"claim.id": "r-9"})

    assert network.bodies("submit")[-1]["run"] == "r-9"


async def test_a_value_begins_as_it_is_shown_to() -> None:
    network = StrictNetwork(SNAKE)
    said = "that is not the fullname of a link (t3_...)"
    network.answers += [missing("thing"), (400, {"errors": [{"thing": said}]})]
    network.answers.append((200, {}))
    task = replace(TASK, raw={"kind": "link", "fullname": "t3_1k2n7q"})

    async with client_of(network) as client:
        await client.claim(task, KEY)

    assert network.bodies("claim")[-1]["thing"] == "t3_1k2n7q"


async def test_a_choice_of_several_words_may_be_the_only_one() -> None:
    network = StrictNetwork(SNAKE)
    said = "question must be one of: Converted text"
    network.answers += [missing("question"), (400, {"error": said}), (200, {})]

    async with client_of(network) as client:
        await client.complete(TASK, KEY)

    assert network.bodies("complete")[-1]["question"] == "Converted text"


async def test_a_condition_asks_for_what_was_read_last() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("if_seq_no"), (200, {})] * 2
    task = replace(TASK, raw={"_seq_no": 5})

    async with client_of(network) as client:
        await client.claim(task, KEY)
        await client.submit(task, RESULT, KEY, {"claim._seq_no": 7})

    assert network.bodies("claim")[-1]["if_seq_no"] == 5
    assert network.bodies("submit")[-1]["if_seq_no"] == 7


async def test_an_address_of_the_collection_that_is_asked_for_is_sent() -> None:
    network = StrictNetwork(SNAKE)
    address = "https://api.example/event_types/9e8d"
    network.answers += [missing("event_type"), (200, {})]
    task = replace(TASK, raw={"uri": address, "type": "StandardEventType"})

    async with client_of(network) as client:
        await client.claim(task, KEY)

    assert network.bodies("claim")[-1]["event_type"] == address


async def test_of_several_choices_the_next_is_sent_where_the_first_was_wrong() -> None:
    network = StrictNetwork(SNAKE)
    said = "waypoint must be one of: pickup, dropoff"
    later = "the pickup of this delivery is already complete"
    network.answers += [missing("waypoint"), (400, {"error": said})]
    network.answers += [(400, {"params": {"waypoint": later}}), (200, {})]

    async with client_of(network) as client:
        await client.complete(TASK, KEY)

    sent = [body.get("waypoint") for body in network.bodies("complete")]
    assert sent[2:] == ["pickup", "dropoff"]


async def test_an_object_that_the_record_shows_is_sent_as_it_is_there() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("queue"), (200, {})]
    task = replace(TASK, raw={"queue": {"name": "texts", "kind": "sticky"}})

    async with client_of(network) as client:
        await client.claim(task, KEY)

    sent = network.bodies("claim")[-1]["queue"]
    assert sent == {"name": "texts", "kind": "sticky"}


async def test_of_a_range_the_least_is_said_and_of_a_time_what_is_usual() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [
        missing("miles"),
        (400, {"error": "miles must be between 0 and 5000"}),
        missing("eta_minutes"),
        (400, {"error": "eta_minutes must be between 1 and 1440"}),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)

    sent = network.bodies("submit")[-1]
    assert (sent["miles"], sent["eta_minutes"]) == (0, 10)


async def test_a_share_that_is_asked_for_is_a_number() -> None:
    network = StrictNetwork(SNAKE)
    between: JSON = {"error": "share must be between 0.5 and 1"}
    network.answers += [missing("share"), (400, between), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)

    assert network.bodies("submit")[-1]["share"] == 0.5


async def test_a_key_that_has_to_be_a_uuid_is_the_same_one_in_each_repeat() -> None:
    network = StrictNetwork(SNAKE)
    text = "Key: 'Claim.IdempotencyKey' Error:Field validation failed on the 'uuid' tag"
    network.answers += [missing("idempotency_key"), (400, {"error": text})]
    network.answers += [(200, {}), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.claim(TASK, KEY)

    first, again = (body["idempotency_key"] for body in network.bodies("claim")[-2:])
    assert first == again == str(UUID(str(first)))


async def test_a_header_that_has_to_be_a_uuid_is_one() -> None:
    network = StrictNetwork(SNAKE)
    absent, bad = "is missing", "has to be represented by standard 36 char UUID"
    for said in (absent, bad):
        network.answers.append((400, {"text": f"Header 'X-Request-ID' {said}."}))
    network.answers.append((200, {}))

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    _, body, headers = network.requests[-1]
    assert headers["x-request-id"] == str(UUID(headers["x-request-id"]))
    assert "X-Request-ID" not in body


async def test_a_header_has_the_value_that_is_shown_also_where_a_body_has_none() -> (
    None
):
    network = StrictNetwork(SNAKE)
    said = "Set the required header 'OpenAI-Beta: assistants=v2'."
    network.answers.append((400, {"message": said}))
    network.answers.append((400, {"error": "unknown field: task_id"}))
    network.answers += [missing("thread_id"), (200, {})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    bodies = [body for _, body, _ in network.requests]
    assert bodies[2:] == [{}, {"thread_id": TASK.id}]
    assert {h["openai-beta"] for _, _, h in network.requests[1:]} == {"assistants=v2"}


async def test_a_choice_of_numbers_is_a_number() -> None:
    network = StrictNetwork(SNAKE)
    said = "It should be one of these values: '4,5'"
    for code in ("missing_field", "invalid_value"):
        fault: JSON = {"field": "status", "message": said, "code": code}
        network.answers.append((400, {"errors": [fault]}))
    network.answers.append((200, {}))

    async with client_of(network) as client:
        await client.complete(TASK, KEY)

    assert network.bodies("complete")[-1]["status"] == 4


async def test_a_name_with_dots_is_one_name_where_those_of_records_have_them() -> None:
    network = StrictNetwork(SNAKE)
    said = 'argument "record.no" is missing, with no default'
    network.answers += [(400, {"message": said}), (200, {})]
    task = replace(TASK, raw={"record.no": 7, "read.before": "2026-12-12"})

    async with client_of(network) as client:
        await client.claim(task, KEY)

    assert network.bodies("claim")[-1]["record.no"] == 7


async def test_an_object_that_lacks_a_name_stays_where_another_lacks_its_like() -> None:
    network = StrictNetwork(SNAKE)
    inside = ["sys.id", "sys.version", "assignedTo.sys"]
    for said, names in (
        ("is required", ["sys", "assignedTo"]),
        ("is of the wrong type, expected type: Object", ["sys", "assignedTo"]),
        ("is required", inside),
    ):
        errors: list[JSON] = [{"path": one, "message": f"It {said}"} for one in names]
        network.answers.append((422, {"errors": errors}))
    network.answers.append((200, {}))

    async with client_of(network) as client:
        await client.claim(replace(TASK, raw={"version": 3}), KEY)

    sent = network.bodies("claim")[-1]
    assert sent["sys"] == {"id": TASK.id, "version": 3}
    assert sent.keys() == {"assignedTo", "sys"}


async def test_a_header_that_named_the_claim_does_so_again_and_once() -> None:
    network = StrictNetwork(SNAKE)
    network.answers.append((400, {"text": "Header 'Consent-ID' is missing."}))
    network.answers += [(400, {"error": "unknown field: task_id"}), (200, {})]
    network.answers.append((200, {"paid": True}))
    given: dict[str, JSON] = {"claim.consent_id": "c-9"}

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY, given)
        outcome = await client.complete(TASK, KEY, given)

    assert isinstance(outcome, Confirmed)
    assert [headers["consent-id"] for _, _, headers in network.requests[-2:]] == [
        "c-9",
        "c-9",
    ]


async def test_a_uuid_that_is_asked_for_is_the_one_that_the_claim_gave() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("session")]
    network.answers += [(400, {"session": ["Must be a valid UUID."]}), (200, {})]
    made = "3e3075ac-d7ba-41df-ab98-df4e497ae61d"

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY, {"claim.id": made, "claim.task": 16})

    assert network.bodies("submit")[-1]["session"] == made


async def test_a_day_is_written_as_the_network_shows_that_it_wants_it() -> None:
    network = StrictNetwork(SNAKE)
    text = "issue_date must be a date as YYYY-MM-DD"
    network.answers += [missing("issue_date"), (400, {"error": text}), (200, {})]

    async with client_of(network) as client:
        await client.complete(TASK, KEY)

    first, again = (body["issue_date"] for body in network.bodies("complete")[-2:])
    assert again == str(first)[:10]
    assert again != first


async def test_a_time_that_is_refused_without_a_reason_is_sent_as_a_day() -> None:
    network = StrictNetwork(SNAKE)
    wrong: JSON = {"errors": {"issue_date": ["is invalid"]}}
    network.answers += [missing("issue_date"), (422, wrong), (200, {})]

    async with client_of(network) as client:
        await client.complete(TASK, KEY)

    first, again = (body["issue_date"] for body in network.bodies("complete")[-2:])
    assert again == str(first)[:10]


async def test_an_object_that_may_not_be_empty_has_the_result_in_it() -> None:
    network = StrictNetwork(SNAKE)
    blank: JSON = {"errors": ["Placard can't be blank"]}
    network.answers += [
        missing("placard"),
        (422, {"error": "placard must be an object"}),
    ]
    network.answers += [(422, blank)] * 2 + [(200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)

    placard = network.bodies("submit")[-1]["placard"]
    assert isinstance(placard, dict)
    assert RESULT.output in placard.values()


async def test_a_function_that_is_absent_under_these_names_is_one_with_others() -> None:
    network = StrictNetwork(SNAKE)

    def absent(given: str, wanted: str) -> tuple[int, JSON]:
        message = f"Could not find the function public.submit({given}) in the cache"
        hint = f"Perhaps you meant to call the function public.submit({wanted})"
        return 404, {"code": "PGRST202", "message": message, "hint": hint}

    network.answers += [absent("agent_id, result, task_id", "p_claim_id, p_result")]
    network.answers += [(200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY, {"claim.id": "c-1"})

    wanted = {"p_claim_id": "c-1", "p_result": RESULT.output}
    assert network.bodies("submit")[-1] == wanted


async def test_who_does_the_work_is_told_in_a_word_of_the_trade() -> None:
    network = StrictNetwork(SNAKE)
    both: JSON = {"error": "missing fields: carrier, task_id"}
    network.answers += [(400, both), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert network.bodies("claim")[-1]["carrier"] == "agent-1"


async def test_a_word_that_ends_like_a_trade_is_rather_the_task() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("kennziffer"), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert network.bodies("claim")[-1]["kennziffer"] == "task-1"


async def test_a_reference_that_has_to_be_an_iri_is_the_address_of_the_task() -> None:
    network = StrictNetwork(SNAKE)
    text = (
        'The type of the "mission" attribute must be "array" (nested document) or'
        ' "string" (IRI), "integer" given.'
    )
    network.answers += [missing("mission"), (400, {"detail": text}), (200, {})]
    record: dict[str, JSON] = {"@id": "/api/missions/task-1", "id": "task-1"}

    async with client_of(network) as client:
        await client.claim(replace(TASK, raw=record), KEY)

    assert network.bodies("claim")[-1]["mission"] == "/api/missions/task-1"


async def test_what_is_not_found_for_a_task_of_ours_is_sought_under_another_id() -> (
    None
):
    network = StrictNetwork(SNAKE)
    absent: JSON = {"error": {"param": "offer", "message": "No such offer: 'task-1'"}}
    network.answers += [missing("offer"), (404, absent), (200, {})]

    async with client_of(network) as client:
        outcome = await client.submit(TASK, RESULT, KEY, {"claim.code": "of-12"})

    assert isinstance(outcome, Confirmed), outcome
    assert network.bodies("submit")[-1]["offer"] != "task-1"


async def test_an_object_that_an_answer_names_is_known_by_its_id() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("offer"), (200, {})]
    given = values_in("claim", {"id": "of_12", "object": "offer", "gig": "g-1"})

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY, given)

    assert network.bodies("submit")[-1]["offer"] == "of_12"


def in_rails(name: str) -> tuple[int, JSON]:
    return 400, {"error": f"param is missing or the value is empty: {name}"}


async def test_what_is_around_a_claim_may_be_around_what_follows_it() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [in_rails("assignment"), (200, {"assignment": {"id": 1}})]
    network.answers += [in_rails("assignment"), missing("set_text"), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        outcome = await client.submit(TASK, RESULT, KEY, {"claim.assignment.id": 1})

    assert isinstance(outcome, Confirmed), outcome
    (around,) = network.bodies("submit")[-1]
    assert around == "assignment"


async def test_a_name_that_is_missed_since_it_moved_goes_back() -> None:
    network = StrictNetwork(SNAKE)
    for name in ("sign_off", "sign_off", "sign_off", "task_id"):
        told: JSON = {"message": f"{name} is missing."}
        network.answers.append((422, told))
    network.answers.append((200, {}))

    async with client_of(network) as client:
        outcome = await client.complete(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert network.bodies("complete")[-1]["task_id"] == TASK.id


async def test_a_server_that_falls_over_in_plain_words_may_have_worked() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [(500, {"error": "The pool has no sockets."}), (200, {})]

    async with client_of(network) as client:
        outcome = await client.submit(TASK, RESULT, KEY)

    assert isinstance(outcome, Unknown), outcome
    assert len(network.bodies("submit")) == 1


async def test_a_value_of_another_type_is_no_verdict_on_the_work() -> None:
    network = StrictNetwork(SNAKE)
    fault: JSON = {"item": "seal", "problem": "must be a boolean"}
    told: JSON = {"result": "rejected", "problems": [fault]}
    network.answers += [missing("seal"), (400, told), (200, {})]

    async with client_of(network) as client:
        outcome = await client.complete(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert network.bodies("complete")[-1]["seal"] is True


async def test_initials_are_short() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("initials"), (200, {})]

    async with client_of(network) as client:
        await client.complete(TASK, KEY)

    assert network.bodies("complete")[-1]["initials"] == "AI"


async def test_a_field_may_be_missed_in_the_object_that_names_the_task() -> None:
    network = StrictNetwork(SNAKE)
    blank: JSON = {"errors": {"board_copy": ["can't be blank"]}}
    network.answers += [in_rails("print_order"), (200, {})]
    network.answers += [(422, blank), (422, blank), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        outcome = await client.submit(TASK, RESULT, KEY)

    assert isinstance(outcome, Confirmed), outcome
    around = network.bodies("submit")[-1]["print_order"]
    assert isinstance(around, dict)
    assert around["board_copy"] == "41"


async def test_a_way_from_the_root_of_the_body_is_taken_as_that() -> None:
    network = StrictNetwork(SNAKE)
    wanted = {"cue": ["body", "cue", "task_id"], "claim_id": ["body", "claim_id"]}
    told: dict[str, JSON] = {
        name: {"detail": [{"type": "missing", "loc": [*loc], "msg": "Field required"}]}
        for name, loc in wanted.items()
    }
    network.answers += [(422, told["cue"]), (200, {})]
    network.answers += [(422, told["claim_id"]), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY, {"claim.claim_id": "c-1"})

    body = network.bodies("submit")[-1]
    assert body["claim_id"] == "c-1"
    assert "claim_id" not in str(body["cue"])


async def test_several_ids_are_asked_for_as_a_list_of_them() -> None:
    network = StrictNetwork(wanting("skus"))
    task = Task(id=TaskId("KT-1"), raw={"sku": "KT-1", "bounty": 6})
    is_list: JSON = {"errors": {"skus": ["The skus field must be an array."]}}
    network.answers += [missing("skus"), (422, is_list), (200, {})]

    async with client_of(network) as client:
        await client.claim(task, KEY)

    assert network.bodies()[-1]["skus"] == ["KT-1"]


async def test_how_long_a_result_is_may_be_asked_for() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("letters"), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, Result("IN CAPITALS"), KEY)

    assert network.bodies("submit")[-1]["letters"] == len("IN CAPITALS")


async def test_a_constant_that_is_wrong_is_not_said_again() -> None:
    network = StrictNetwork(SNAKE)
    wrong: JSON = {"errors": {"is_final": ["is invalid"]}}
    network.answers += [missing("is_final"), (422, wrong), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)

    first, second = (body["is_final"] for body in network.bodies("submit")[1:])
    assert first is True
    assert second is not True


async def test_an_object_that_should_be_in_a_list_is_put_into_one() -> None:
    network = StrictNetwork(SNAKE)
    is_no_list: JSON = {"field": "answer", "message": "must be an array"}
    network.answers += [missing("answer.text"), (400, is_no_list), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)

    first, second = (body["answer"] for body in network.bodies("submit")[1:])
    assert (first, second) == ({"text": "41"}, [{"text": "41"}])


@pytest.mark.parametrize(
    ("refusal", "header", "given", "value"),
    [
        ((428, {}), "if-match", {"claim.etag": '"v3"'}, '"v3"'),
        ((428, {}), "if-match", {}, "*"),
        (
            (400, {"error": "Missing required header: X-Lease-Token"}),
            "x-lease-token",
            {"claim.lease.token": "l-3"},
            "l-3",
        ),
        (
            (400, {"error": "header X-Step-Nonce is required"}),
            "x-step-nonce",
            {"claim.nonce": "n-4"},
            "n-4",
        ),
        ((400, {"error": "the X-Agent-Id header is missing"}), "x-agent-id", {}, None),
    ],
)
async def test_a_header_that_is_asked_for_is_sent_with_what_belongs_there(
    refusal: tuple[int, JSON], header: str, given: Given, value: str | None
) -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [refusal, (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY, given)

    (_, before, _), (_, body, headers) = network.requests
    assert headers[header] == (value or "agent-1")
    assert body["result"] == before["result"]


async def test_a_form_is_sent_where_a_network_takes_nothing_else() -> None:
    form = "application/x-www-form-urlencoded"
    wanted = {**SNAKE, "submit": ["task_id", "agent_id", "result"]}
    network = StrictNetwork(wanted, headers={"Accept": f"multipart/form-data, {form}"})
    network.answers += [(415, None)]

    async with client_of(network) as client:
        outcome = await client.submit(TASK, Result(output="4 & 1"), KEY)

    assert isinstance(outcome, Confirmed)
    (_, before, _), (_, body, headers) = network.requests
    assert headers["content-type"] == form
    assert body == before


async def test_a_result_is_the_whole_body_where_only_a_text_is_taken() -> None:
    network = StrictNetwork(SNAKE, headers={"Accept-Post": "text/plain"})
    network.answers += [(415, "results are plain text"), (200, {})]

    async with client_of(network) as client:
        outcome = await client.submit(TASK, Result(output="4 & 1"), KEY)

    assert isinstance(outcome, Confirmed)
    _, body, headers = network.requests[1]
    assert headers["content-type"] == "text/plain"
    assert body == {"text": "4 & 1"}
    assert network.queries[1] == {"task_id": "task-1", "agent_id": "agent-1"}


async def test_the_version_that_an_answers_header_shows_is_kept_for_the_next_step() -> (
    None
):
    network = StrictNetwork(SNAKE)

    async with client_of(network) as client:
        network.headers = {"ETag": '"v1"'}
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.given["claim.etag"] == '"v1"'


async def test_the_text_of_a_task_is_never_sent_as_if_it_were_a_result() -> None:
    text = "write this in capital letters"
    task = Task(id=TaskId("task-1"), raw={"id": "task-1", "copy": text})
    network = StrictNetwork(SNAKE)
    network.answers += [missing("copy"), (200, {})]

    async with client_of(network) as client:
        await client.submit(task, RESULT, KEY)

    assert network.bodies("submit")[-1]["copy"] == "41"


@pytest.mark.parametrize("given", [{"claim.job.content": "Two keys"}, {}])
async def test_a_short_text_of_the_task_is_no_result(given: dict[str, JSON]) -> None:
    raw: dict[str, JSON] = {"id": "task-1", "content": "Two keys"}
    network = StrictNetwork(SNAKE)
    network.answers += [missing("content"), (200, {})]

    task = Task(id=TaskId("task-1"), text="Two keys", raw=raw)

    async with client_of(network) as client:
        await client.submit(task, RESULT, KEY, given)

    assert network.bodies("submit")[-1]["content"] == "41"


async def test_what_is_not_found_and_is_no_name_of_the_task_was_a_wrong_guess() -> None:
    task = Task(id=TaskId("task-1"), raw={"id": "task-1", "lot": {"shelf": "A-7"}})
    network = StrictNetwork(SNAKE)
    absent: JSON = {"error": "lot_shelf: not found"}
    network.answers += [missing("lot_shelf"), (404, absent), (200, {})]

    async with client_of(network) as client:
        outcome = await client.claim(task, KEY)

    assert isinstance(outcome, Confirmed), outcome
    asked, wrong, right = (body.get("lot_shelf") for body in network.bodies("claim"))
    assert (asked, wrong, right) == (None, "A-7", "task-1")


async def test_a_task_that_is_not_found_under_its_name_is_not_there() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [(404, {"error": "task_id: not found"})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Refused), outcome
    assert len(network.bodies("claim")) == 1


async def test_names_are_written_as_in_the_body_and_not_as_the_server_has_them() -> (
    None
):
    network = StrictNetwork(SNAKE)
    network.answers += [missing("ClaimRequest.WorkUnitId"), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert network.bodies()[-1]["work_unit_id"] == "task-1"


@pytest.mark.parametrize("name", ["Task__c", "TaskKey"])
async def test_a_name_that_is_written_like_no_other_is_sent_as_it_was_told(
    name: str,
) -> None:
    network = StrictNetwork({**SNAKE, "claim": [name]}, in_words)

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert network.bodies()[-1] == {name: "task-1"}


async def test_a_result_is_left_out_once_its_names_are_refused_to_learn_its_own() -> (
    None
):
    def unknown(name: str) -> tuple[int, JSON]:
        return 400, {"error": f"Property '{name}' is unknown"}

    network = StrictNetwork(SNAKE)
    network.answers += [unknown("result"), unknown("output")]
    network.answers += [missing("ergebnis"), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)

    *_, bare, last = network.bodies("submit")
    assert "41" not in bare.values()
    assert last["ergebnis"] == "41"


# -- the manners of some frameworks ----------------------------------------------


def by_rails(missing: list[str], unknown: list[str]) -> tuple[int, JSON]:
    around, _, name = (missing or unknown)[0].partition(".")
    if any("." not in one for one in unknown):
        said = f"param is missing or the value is empty or invalid: {around}"
        return 400, {"status": 400, "error": said}
    if missing:
        return 422, {"errors": {name: ["can't be blank"]}}
    return 400, {"error": f"found unpermitted parameter: :{name}"}


def by_json_api(missing: list[str], unknown: list[str]) -> tuple[int, JSON]:
    told = dict.fromkeys(missing, "is missing")
    told |= dict.fromkeys(unknown, "is not allowed")
    errors: list[JSON] = [
        {
            "status": "422",
            "source": {"pointer": "/" + place.replace(".", "/")},
            "title": "Invalid member",
            "detail": f"{place.rpartition('.')[2]} {said}",
        }
        for place, said in told.items()
    ]
    return 422, {"errors": errors}


def by_graphql(missing: list[str], unknown: list[str]) -> tuple[int, JSON]:
    got = 'Variable "$order" got invalid value {}; '
    if any("." not in one for one in unknown):
        said = ['Variable "$order" of required type "ClaimInput!" was not provided.']
    else:
        of_type = 'of required type "ID!" was not provided.'
        said = [
            *(f'{got}Field "{one.partition(".")[2]}" {of_type}' for one in missing),
            *(
                f'{got}Field "{one.partition(".")[2]}" is not defined by type'
                ' "ClaimInput".'
                for one in unknown
            ),
        ]
    return 400, {"errors": [{"message": one} for one in said]}


@pytest.mark.parametrize(
    ("complain", "places", "body"),
    [
        (by_rails, ["claim.task_id"], {"claim": {"task_id": "task-1"}}),
        (by_rails, ["booking.job_id"], {"booking": {"job_id": "task-1"}}),
        (
            by_json_api,
            ["data.attributes.task_id", "data.attributes.worker_id"],
            {"data": {"attributes": {"task_id": "task-1", "worker_id": "agent-1"}}},
        ),
        (by_graphql, ["order.taskId"], {"order": {"taskId": "task-1"}}),
        (by_graphql, ["order.gigId"], {"order": {"gigId": "task-1"}}),
    ],
)
async def test_a_framework_is_understood_by_what_it_says(
    complain: Complain, places: list[str], body: JSON
) -> None:
    network = StrictNetwork(wanting(*places), complain)

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert network.bodies()[-1] == body
    assert len(network.requests) <= 7


@pytest.mark.parametrize(
    "places",
    [["job_id"], ["id"], ["task", "worker"], ["work_id", "who"], ["taskId", "agentId"]],
)
async def test_a_network_without_words_that_ignores_what_it_does_not_know_is_understood(
    places: list[str],
) -> None:
    network = StrictNetwork(wanting(*places), plainly, strict=False)
    record: dict[str, JSON] = {"uuid": "task-1", "worker": "", "who": None}

    async with client_of(network) as client:
        outcome = await client.claim(Task(id=TASK.id, raw=record), KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert len(network.requests) == 2
    assert {network.bodies()[-1][name] for name in places[1:]} <= {"agent-1"}


async def test_a_strict_network_without_words_may_write_in_another_case() -> None:
    network = StrictNetwork(wanting("taskId", "agentId"), plainly)

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert len(network.requests) <= 5


async def test_where_all_names_were_taken_the_next_action_begins_with_them() -> None:
    wanted = {**wanting("job_id"), "complete": ["item_id"]}
    network = StrictNetwork(wanted, plainly, strict=False)

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        outcome = await client.complete(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert len(network.bodies("complete")) == 1


async def test_a_network_that_calls_a_name_unknown_is_not_sent_them_all() -> None:
    network = StrictNetwork(wanting("planet"), by_pydantic)

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert all(len(body) <= 3 for body in network.bodies())


async def test_another_identifier_of_the_record_is_tried_where_the_id_is_refused() -> (
    None
):
    network = StrictNetwork(wanting("task"))
    told: JSON = {"error": {"message": "1 relation(s) of type task do not exist"}}
    network.answers = [(400, {"missing": ["task"]}), *[(400, told)] * 5]
    record: dict[str, JSON] = {"id": 7, "documentId": "q7xh2"}

    async with client_of(network) as client:
        await client.claim(Task(id=TaskId("7"), raw=record), KEY)

    assert "q7xh2" in [body.get("task") for body in network.bodies()]


async def test_what_the_record_has_around_its_fields_is_tried_around_a_request() -> (
    None
):
    network = StrictNetwork(wanting("fieldData.TaskID"), plainly, strict=False)
    record: dict[str, JSON] = {"fieldData": {"TaskID": "task-1", "Prompt": "a b"}}

    async with client_of(network) as client:
        outcome = await client.claim(Task(id=TASK.id, raw=record), KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert len(network.requests) <= 4


async def test_another_answer_without_words_says_that_it_was_looked_into() -> None:
    def by_number(_missing: list[str], unknown: list[str]) -> tuple[int, JSON]:
        is_around = not any(name.startswith("fieldData") for name in unknown)
        return 400, {"messages": [{"code": "960" if is_around else "102"}]}

    network = StrictNetwork(wanting("fieldData.TaskID"), by_number)
    record: dict[str, JSON] = {"fieldData": {"TaskID": "task-1", "Prompt": "a b"}}

    async with client_of(network) as client:
        outcome = await client.claim(Task(id=TASK.id, raw=record), KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert len(network.requests) <= 6


async def test_what_is_made_is_named_by_the_key_where_its_maker_has_to_name_it() -> (
    None
):
    network = StrictNetwork(
        wanting("documentId", "data.taskId"), in_words, strict=False
    )
    key = IdempotencyKey("claim-5f0c")

    async with client_of(network) as client:
        outcome = await client.claim(TASK, key)

    assert isinstance(outcome, Confirmed), outcome
    assert network.bodies()[-1]["documentId"] == "5f0c"


async def test_a_network_that_asks_for_how_long_is_told_a_number() -> None:
    network = StrictNetwork(wanting("taskId", "leaseMinutes"), in_words, strict=False)

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    assert isinstance(network.bodies()[-1]["leaseMinutes"], int)


def test_a_text_is_an_object_where_it_is_asked_for_though_it_was_sent() -> None:
    def refused(name: str, *findings: FieldFault) -> RefusedBody:
        shape = RequestShape((Placed((name,), "result"),))
        message = "name the result" if findings else "unreadable"
        return RefusedBody(shape, findings, False, message, 400, answer=message)

    asked = FieldFault(("result",), Fault.MISSING)
    model = RequestModel().refuse("submit", refused("result"))
    model = model.refuse("submit", refused("output", asked))

    wanted = model.constraints.get(("result",))
    assert wanted is not None
    assert wanted.wants == "object"


def unknown(name: str) -> tuple[int, JSON]:
    return 400, {"error": f'json: unknown field "{name}"'}


async def test_where_a_name_too_much_hides_what_is_missing_nothing_is_guessed() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [
        unknown("agent_id"),
        missing("operator"),
        (200, {"slip": "s-1"}),
        unknown("result"),
        missing("slip"),
        missing("copy"),
        (200, {}),
    ]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[1:] == [
        {"task_id": "task-1"},
        {"task_id": "task-1", "slip": "s-1"},
        {"task_id": "task-1", "copy": "41", "slip": "s-1"},
    ]


async def test_numbers_of_words_and_lines_are_counted() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("word_count"), missing("lineCount"), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, Result(output="one two\nthree"), KEY)

    sent = network.bodies("submit")[-1]
    assert (sent["word_count"], sent["lineCount"]) == (3, 2)


async def test_of_an_id_that_is_a_way_the_last_part_may_be_meant() -> None:
    network = StrictNetwork(SNAKE)
    wrong: JSON = {"error": "notice_id must be a document id, not a path"}
    network.answers += [missing("notice_id"), (400, wrong), (200, {})]
    task = replace(TASK, id=TaskId("projects/board/notices/n-1"))

    async with client_of(network) as client:
        await client.claim(task, KEY)

    assert network.bodies("claim")[-1]["notice_id"] == "n-1"


@pytest.mark.parametrize(
    ("name", "task_id"),
    [("task_id", "boards/b-1/task-2"), ("notice_id", "../../task-2")],
)
async def test_the_last_part_of_an_id_is_not_sent_where_it_would_be_another_task(
    name: str, task_id: str
) -> None:
    network = StrictNetwork(SNAKE)
    wrong: JSON = {"error": f"{name} must be a document id, not a path"}
    network.answers += [missing(name), *[(400, wrong)] * 30]

    async with client_of(network) as client:
        for _ in range(3):
            await client.claim(replace(TASK, id=TaskId(task_id)), KEY)

    sent = network.bodies("claim")
    assert sent
    assert not [body for body in sent if "task-2" in body.values()]


async def test_a_form_that_an_answer_shows_is_filled_in() -> None:
    network = StrictNetwork(SNAKE)
    form: JSON = [{"position": 1, "description": "The text of it", "content": None}]
    network.answers += [(200, {"deliverables": form}), missing("deliverables")]
    network.answers += [(200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    sent = network.bodies("submit")[-1]
    assert sent["deliverables"] == [{"content": "41", "position": 1}]


async def test_an_object_that_an_answer_shows_empty_is_filled_in() -> None:
    network = StrictNetwork(SNAKE)
    form: JSON = {"transcript": None, "resolved_at": None}
    network.answers += [(200, {"assignment": {"id": 7, "resolution": form}})]
    network.answers += [missing("resolution"), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    resolution = network.bodies("submit")[-1]["resolution"]
    assert isinstance(resolution, dict)
    assert resolution["transcript"] == "41"


async def test_the_only_object_that_is_wanted_holds_the_result_whatever_its_name() -> (
    None
):
    network = StrictNetwork(SNAKE)
    typed: JSON = {"message": "body/proof must be object"}
    extra: JSON = {"message": "body must NOT have additional properties"}
    network.answers += [missing("proof"), (400, extra), (400, typed), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, Result(output="41", evidence={}), KEY)

    proof = network.bodies("submit")[-1]["proof"]
    assert isinstance(proof, dict)
    assert "41" in proof.values()


async def test_what_was_given_empty_is_never_sent_in_place_of_a_value() -> None:
    network = StrictNetwork(SNAKE)
    whole: JSON = {"lease": {"code": "l-7"}}
    empty: JSON = {"lease": {"code": None}}
    network.answers += [(200, whole), missing("lease_code"), (200, {}), (200, empty)]

    async with client_of(network) as client:
        for _ in range(2):
            claimed = await client.claim(TASK, KEY)
            assert isinstance(claimed, Confirmed)
            network.answers += [missing("lease_code")] * 20
            await client.submit(TASK, RESULT, KEY, claimed.value.given)
            network.answers.clear()
            network.answers.append((200, empty))

    sent = [body for body in network.bodies("submit") if "lease_code" in body]
    assert sent[0]["lease_code"] == "l-7"
    assert None not in [body["lease_code"] for body in sent]


@pytest.mark.parametrize("name", ["id_incarico", "idIncarico"])
async def test_an_id_is_one_also_where_its_name_begins_so(name: str) -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [(200, {"incarico": {"id": "inc-3"}}), missing(name), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[-1][name] == "inc-3"


@pytest.mark.parametrize(
    ("shown", "day"),
    [
        ("erledigtAm ungültig (TT.MM.JJJJ)", "21.11.2026"),
        ("erledigtAm : format JJ/MM/AAAA attendu", "21/11/2026"),
        ("erledigtAm must be MM/DD/YYYY", "11/21/2026"),
        ("erledigtAm moet JJJJ-MM-DD zijn", "2026-11-21"),
    ],
)
async def test_a_day_is_written_as_a_country_writes_it(shown: str, day: str) -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("erledigtAm"), (400, {"fehler": shown}), (200, {})]

    async with client_of(network) as client:
        await client.complete(TASK, KEY)

    assert network.bodies("complete")[-1]["erledigtAm"] == day


@pytest.mark.parametrize("name", ["due_date", "promised_by", "ready_by", "ends_at"])
async def test_a_time_to_come_is_promised_where_one_is_wanted(name: str) -> None:
    network = StrictNetwork(SNAKE)
    late: tuple[int, JSON] = (400, {"error": f"{name} must be in the future"})
    is_unclear = name == "ends_at"
    network.answers += [missing(name), *[late] * is_unclear, (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    sent = datetime.fromisoformat(str(network.bodies("claim")[-1][name]))
    assert sent - DayClock().now() == timedelta(days=1)


async def test_an_id_is_meant_by_the_name_that_it_begins_with() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [(200, {"slip": {"no": "SLP-7", "ref": "REF-9"}})]
    network.answers += [missing("slp"), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[-1]["slp"] == "SLP-7"


@pytest.mark.parametrize(
    ("record", "name", "value"),
    [
        ({"number": "GR-41", "ref": "x"}, "sheet_number", "GR-41"),
        ({"Номер": "ГР-41"}, "НомерЗаказа", "ГР-41"),
    ],
)
async def test_a_code_of_a_record_is_asked_for_with_what_it_is_of(
    record: dict[str, JSON], name: str, value: str
) -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing(name), (200, {})]
    task = replace(TASK, raw={"id": "task-1", **record})

    async with client_of(network) as client:
        await client.complete(task, KEY)

    assert network.bodies("complete")[-1][name] == value


async def test_an_own_field_of_a_record_is_asked_for_by_its_label() -> None:
    network = StrictNetwork(SNAKE)
    text = "Data Policy Exception: The following fields are mandatory: Result"
    network.answers += [(403, {"error": {"detail": text}}), (200, {})]
    task = replace(TASK, raw={"id": "task-1", "u_result": ""})

    async with client_of(network) as client:
        await client.submit(task, RESULT, KEY)

    assert network.bodies("submit")[-1]["u_result"] == "41"


async def test_what_was_given_at_registration_is_sent_where_it_is_wanted() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("workerNumber"), (200, {})]

    async with client_of(network) as client:
        client.identify(identity_at(BASE_URL), {"register.workerNumber": 41})
        await client.claim(TASK, KEY)

    assert network.bodies("claim")[-1]["workerNumber"] == 41


async def test_another_name_of_ours_says_who_we_are_as_well_as_our_id() -> None:
    network = StrictNetwork(SNAKE)
    lacks: JSON = [
        {"message": "Properties not allowed: agent_id.", "path": "/body"},
        {"message": "Missing property.", "path": "/body/member_no"},
        {"message": "Missing property.", "path": "/body/ready_by"},
    ]
    network.answers += [(400, {"errors": lacks}), (200, {})]

    async with client_of(network) as client:
        client.identify(identity_at(BASE_URL), {"register.member_no": "C-141"})
        await client.claim(TASK, KEY)

    claimed = network.bodies("claim")[-1]
    assert claimed["member_no"] == "C-141"
    assert identity_at(BASE_URL).agent_id not in claimed.values()


async def test_an_action_has_a_section_of_its_own_where_others_have_one() -> None:
    network = StrictNetwork(SNAKE)
    lacking, unknown = "SECTION {} NOT PRESENT.", "SECTION {} NOT KNOWN."
    told = [lacking.format("LOAN_RQST"), ""]
    told += [lacking.format("RETURN_RQST"), unknown.format("LOAN_RQST"), ""]
    network.answers += [(400, {"text": one}) if one else (200, {}) for one in told]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY)

    assert [*network.bodies("claim")[-1]] == ["LOAN_RQST"]
    returned = places(network.bodies("submit")[-1])
    assert {"RETURN_RQST.task_id", "RETURN_RQST.result"} <= {*returned}
    assert not any("LOAN_RQST" in place for place in returned)


def told(*sentences: str) -> list[tuple[int, JSON]]:
    """Return refusals of a mainframe, and then a yes."""
    refusals: list[tuple[int, JSON]] = [(400, {"text": one}) for one in sentences]
    return [*refusals, (200, {})]


async def test_what_is_missed_stands_in_the_section_that_was_just_asked_for() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += told("INPUT SEGMENT LOAN_RQST MISSING OR NOT AN OBJECT")
    network.answers += told(
        "INPUT SEGMENT RETURN_RQST MISSING OR NOT AN OBJECT",
        "REQUIRED FIELD POSTREF MISSING",
    )

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.complete(TASK, KEY, {"submit.POSTREF": "P-1"})

    assert network.bodies("complete")[-1]["RETURN_RQST"] == {"POSTREF": "P-1"}


async def test_a_whole_way_that_is_missed_again_begins_in_a_section() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += told("INPUT SEGMENT loan_request MISSING OR NOT AN OBJECT")
    missed = "Mandatory element 'slip/words' missing"
    network.answers += told(
        "INPUT SEGMENT return_request MISSING OR NOT AN OBJECT", missed, missed
    )

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY)

    returned = places(network.bodies("submit")[-1])
    assert "return_request.slip.words" in returned


async def test_the_work_stays_where_it_was_asked_for_when_more_is_asked_for() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += told('You forgot "ticket-no"', 'You forgot "finished-words"')
    network.answers[-1:] = told('You forgot "story" (anything is fine)')

    async with client_of(network) as client:
        await client.submit(TASK, Result(output="41"), KEY)

    assert network.bodies("submit")[-1]["finished-words"] == "41"


async def test_our_id_is_meant_where_words_stand_and_it_was_sent_elsewhere() -> None:
    network = StrictNetwork(SNAKE)
    said = "La matricola non corrisponde al token: usare l'agent_id ricevuto."
    lacking = "Campo obbligatorio mancante: 'matricola_artigiano'."
    network.answers += [missing("codice_task"), (400, {"messaggio": lacking})]
    network.answers += [(400, {"messaggio": said}), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    before, after = network.bodies("claim")[-2:]
    assert before["matricola_artigiano"] == "Claimed by an autonomous agent"
    assert after["matricola_artigiano"] == "agent-1"


async def test_where_nothing_is_found_for_words_an_id_is_wanted() -> None:
    network = StrictNetwork(SNAKE)
    form = "an object under the name 'retainer', stating 'docket', 'agent' and 'check'."
    network.answers += [(400, {"text": f"Papers are presented as {form}"})]
    words = "'Claimed by an autonomous agent'"
    absent: JSON = {"text": f"No matter is entered under docket {words}."}
    network.answers += [(404, absent), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    (retainer,) = network.bodies("claim")[-1].values()
    assert isinstance(retainer, dict)
    assert retainer["docket"] == TASK.id


async def test_no_time_is_promised_behind_the_deadline_of_the_task() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("due_date"), (200, {})]
    task = replace(TASK, deadline=DayClock().now() + timedelta(hours=2))

    async with client_of(network) as client:
        await client.claim(task, KEY)

    sent = datetime.fromisoformat(str(network.bodies("claim")[-1]["due_date"]))
    assert sent == task.deadline


async def test_a_number_that_nobody_knows_is_what_the_claim_made() -> None:
    network = StrictNetwork(SNAKE)
    typed: JSON = {"loan": "loan must be a `number` type"}
    network.answers += [(200, {"data": {"id": 93, "attributes": {"card": 1}}})]
    network.answers += [missing("loan"), (400, {"errors": typed}), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[-1]["loan"] == 93


async def test_what_an_answer_gave_under_a_name_is_meant_by_that_name() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [(200, {"job_card_id": "c-9", "job": {"id": "task-1"}})]
    network.answers += [missing("job_card_id"), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[-1]["job_card_id"] == "c-9"


async def test_a_key_that_is_no_word_of_ours_is_what_the_claim_made() -> None:
    network = StrictNetwork(SNAKE)
    wrong: JSON = {"shift": ["Incorrect type. Expected pk value, received str."]}
    network.answers += [(200, {"id": 700, "headline": 51}), missing("shift")]
    network.answers += [(400, wrong), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[-1]["shift"] == 700


async def test_what_is_missed_where_we_guessed_an_object_is_that_object() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [
        (400, {"error": "param is missing or the value is empty: claim"}),
        (200, {"claim": {"id": 3}}),
        (400, {"error": "param is missing or the value is empty: delivery"}),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY)

    guessed, told = network.bodies("submit")
    assert {*guessed} == {"submission"}
    assert {*told} == {"delivery"}
    assert told["delivery"] == guessed["submission"]


async def test_of_actions_with_objects_of_their_own_each_has_the_one_it_asks_for() -> (
    None
):
    network = StrictNetwork(SNAKE)

    def wanted(name: str) -> tuple[int, JSON]:
        return 400, {"error": f'expected key "{name}" to be present in params'}

    network.answers += [wanted("booking"), (200, {"id": 3}), wanted("proof"), (200, {})]
    network.answers += [wanted("handover"), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY)
        await client.complete(TASK, KEY)

    told = [network.bodies(one)[1] for one in ("claim", "submit", "complete")]
    assert [[*one] for one in told] == [["booking"], ["proof"], ["handover"]]
    assert all("task_id" in str(one) for one in told)


async def test_what_was_sent_in_camel_case_and_is_still_missed_is_in_snake_case() -> (
    None
):
    network = StrictNetwork(SNAKE)
    missed: JSON = [{"name": "workOrderId", "reason": "must not be null"}]
    java: JSON = {"detail": "Invalid request content.", "invalid_params": missed}
    network.answers += [(400, java), (400, java), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert network.bodies("claim")[-1]["work_order_id"] == TASK.id


async def test_a_name_in_a_list_is_that_of_the_list_that_the_record_has() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("outputs"), missing("outputs[0].name"), (200, {})]
    record: dict[str, JSON] = {
        "customer": {"name": "Kestrel Signs"},
        "requestedOutputs": [{"name": "capitals", "mimeType": "text/plain"}],
    }

    async with client_of(network) as client:
        await client.submit(replace(TASK, raw=record), RESULT, KEY)

    assert "capitals" in str(network.bodies("submit")[-1]["outputs"])


async def test_the_number_of_a_ticket_is_its_ticket_number() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [(200, {"ticket": {"number": 7, "ref": TASK.id}})]
    network.answers += [missing("ticketNumber"), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[-1]["ticketNumber"] == 7


@pytest.mark.parametrize("header", ["Idempotency-Key", "idempotency-key"])
async def test_a_key_is_a_uuid_where_that_is_asked_for_and_is_so_again(
    header: str,
) -> None:
    network = StrictNetwork(SNAKE)
    asked: JSON = {"message": f"{header} header must be a valid UUID"}
    network.answers += [(400, asked), (503, {}), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)
        await client.submit(TASK, RESULT, KEY)

    first, *later = network.keys("submit")
    assert first == KEY
    assert len({*later}) == 1
    assert later[0] == str(UUID(later[0]))
    assert network.bodies("submit")[0] == network.bodies("submit")[-1]


async def test_keys_of_two_bodies_are_two_uuids() -> None:
    network = StrictNetwork(SNAKE)
    asked: JSON = {"message": "Idempotency-Key header must be a valid UUID"}
    network.answers += [(400, asked), missing("note"), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)

    _, before, after = network.keys("submit")
    assert UUID(before) != UUID(after)


async def test_what_an_answer_has_first_in_an_object_is_its_id_in_any_language() -> (
    None
):
    network = StrictNetwork(SNAKE)
    vorgang: JSON = {"kennung": "V24-00031", "zustand": "in_arbeit", "frist": "31.12."}
    network.answers += [(200, {"vorgang": vorgang}), missing("vorgang"), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[-1]["vorgang"] == "V24-00031"


async def test_what_an_answer_has_first_is_no_id_of_the_action() -> None:
    network = StrictNetwork(SNAKE)
    answer: JSON = {"status": "success", "response": {"of": "c-7"}}
    network.answers += [(200, answer), missing("claim"), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[-1]["claim"] != "success"


async def test_an_id_in_another_object_than_the_tasks_is_what_the_claim_made() -> None:
    network = StrictNetwork({**SNAKE, "claim": ["gig.id"]})
    task = replace(TASK, raw={"id": TASK.id, "fee": 7})

    async with client_of(network) as client:
        await client.claim(task, KEY)
        network.answers += [missing("engagement.id"), (200, {})]
        await client.submit(task, RESULT, KEY, {"claim.id": "c-9", "claim.by": "x"})

    engagement = network.bodies("submit")[-1]["engagement"]
    assert isinstance(engagement, dict)
    assert engagement["id"] == "c-9"


async def test_of_who_does_the_work_the_truth_is_told() -> None:
    network = StrictNetwork(SNAKE)
    one_of: JSON = {"error": "worker_type must be one of: human, agent, team"}
    network.answers += [missing("worker_type"), (400, one_of), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert network.bodies("claim")[-1]["worker_type"] == "agent"


async def test_what_begins_large_among_small_names_shows_no_case() -> None:
    network = StrictNetwork(SNAKE)
    listed: dict[str, JSON] = {
        "ID": 7,
        "CreatedAt": 1,
        "UpdatedAt": 1,
        "DeletedAt": None,
        "title": "T",
        "state": "open",
        "reward": 5,
        "client_id": 3,
        "text": "x y",
    }
    go = "Key: 'ClaimRequest.JobID' Error:Field validation for 'JobID' failed on the"
    network.answers += [(400, {"error": f"{go} 'required' tag"}), (200, {})]

    async with client_of(network) as client:
        await client.claim(replace(TASK, raw=listed), KEY)

    assert network.bodies("claim")[-1]["job_id"] == TASK.id


async def test_of_names_that_are_all_listed_no_other_is_sent_again() -> None:
    network = StrictNetwork(SNAKE)
    listed: JSON = {
        "error": "unknown field `task_id`, expected `hold_id` or `engraving`"
    }
    network.answers += [(422, listed), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY, {"claim.hold_id": "h-1"})

    assert {*network.bodies("submit")[-1]} <= {"hold_id", "engraving"}


async def test_what_a_submission_made_is_called_as_the_object_that_had_the_work() -> (
    None
):
    network = StrictNetwork(SNAKE)
    missed: JSON = {"claim_id": ["is required"], "evidence": ["is required"]}
    network.answers += [
        (400, {"errors": missed}),
        (400, {"error": "evidence must be an object"}),
        missing("evidence.words"),
        (200, {"id": 9, "booking": 4, "status": "approved"}),
    ]

    async with client_of(network) as client:
        done = await client.submit(TASK, RESULT, KEY, {"claim.id": 4})
        assert isinstance(done, Confirmed)
        network.answers += [missing("evidence"), (200, {})]
        await client.complete(TASK, KEY, {"claim.id": 4, **done.value.given})

    assert network.bodies("complete")[-1]["evidence"] == 9


async def test_a_key_is_what_the_submission_made_or_else_what_the_claim_did() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [
        missing("proof"),
        (400, {"proof": ["Incorrect type. Expected pk value, received str."]}),
        (400, {"proof": ['Invalid pk "9" - object does not exist.']}),
        (200, {}),
    ]
    given: dict[str, JSON] = {"submit.booking": 4, "submit.status": "approved"}

    async with client_of(network) as client:
        await client.complete(TASK, KEY, {"claim.id": 4, "submit.id": 9, **given})

    assert [one.get("proof") for one in network.bodies("complete")[2:]] == [9, 4]


async def test_a_relation_that_must_exist_is_named_by_its_key() -> None:
    network = StrictNetwork(SNAKE)
    lacking: JSON = {"errors": {"assignment": ["must exist"]}}
    network.answers += [(422, lacking), (422, lacking), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert network.bodies("claim")[-1]["assignment_id"] == "task-1"


async def test_a_key_that_is_missed_though_it_was_sent_in_an_object_stands_alone() -> (
    None
):
    network = StrictNetwork(SNAKE)
    lost: JSON = {"error": "Couldn't find Submission without an ID"}
    network.answers += [(200, {"submission": {"id": 5}}), (404, lost), (404, lost)]
    network.answers += [(200, {})]

    async with client_of(network) as client:
        submitted = await client.submit(TASK, RESULT, KEY)
        assert isinstance(submitted, Confirmed)
        outcome = await client.complete(TASK, KEY, submitted.value.given)

    assert isinstance(outcome, Confirmed), outcome
    assert network.bodies("complete")[-1]["id"] == 5


async def test_a_variable_of_graphql_that_is_too_much_at_the_root_is_inside() -> None:
    network = StrictNetwork(SNAKE)
    variable = 'Variable "$input" of required type "ClaimInput!" was not provided.'
    network.answers += [
        (400, {"errors": [{"message": variable}]}),
        (400, {"errors": [{"message": 'Unexpected parameter "input" in the body.'}]}),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert "input" in str(network.bodies("claim")[-1]["variables"])


async def test_our_id_is_never_the_work_whatever_the_words_beside_it_say() -> None:
    network = StrictNetwork(SNAKE)
    told: JSON = {"error": "deliverable is missing: what your agent id stands for"}
    network.answers += [(400, told), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)

    assert network.bodies("submit")[-1]["deliverable"] == "41"


def _pydantic(*faults: tuple[str, str, str]) -> tuple[int, JSON]:
    detail: list[JSON] = [
        {"type": kind, "loc": ["body", *place.split(".")], "msg": said}
        for kind, place, said in faults
    ]
    return 422, {"detail": detail}


async def test_what_a_network_that_tells_all_faults_does_not_mention_stays() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [
        _pydantic(
            ("missing", "task_revision", "Field required"),
            ("missing", "claimant", "Field required"),
            ("extra_forbidden", "agent_id", "Extra inputs are not permitted"),
        ),
        _pydantic(("dict_type", "claimant", "Input should be a valid dictionary")),
        (200, {}),
    ]
    task = replace(TASK, raw={"id": "task-1", "task_revision": 4})

    async with client_of(network) as client:
        await client.claim(task, KEY)

    last = network.bodies()[-1]
    assert (last["task_id"], last["task_revision"]) == ("task-1", 4)
    assert isinstance(last["claimant"], dict)


async def test_work_stays_where_what_lacks_was_told_before_what_is_too_much() -> None:
    network = StrictNetwork(SNAKE)
    missing: JSON = {"message": "body must have required property 'idempotency_key'"}
    unknown: JSON = {
        "message": "body must NOT have additional properties",
        "params": {"additionalProperty": "task_id"},
    }

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        network.answers = [(400, missing), (400, unknown), (200, {})]
        await client.submit(TASK, RESULT, KEY)

    bodies = network.bodies("submit")
    assert len(bodies) == 3
    assert all("result" in body for body in bodies)


async def test_all_names_are_tried_in_an_object_that_is_still_missing() -> None:
    """Rails keeps of an object only what it knows; an empty one is missing."""
    network = StrictNetwork(SNAKE)
    lacks: JSON = {"error": "param is missing or the value is empty: delivery"}

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        network.answers = [(400, lacks), (400, lacks), (200, {})]
        await client.submit(TASK, RESULT, KEY)

    delivery = network.bodies("submit")[-1]["delivery"]
    assert isinstance(delivery, dict)
    assert {"result", "output", "answer", "text"} <= delivery.keys()


async def test_an_object_of_an_answer_is_sent_again_without_what_is_too_much() -> None:
    network = StrictNetwork(SNAKE)
    receipt: JSON = {"id": "r-1", "digest": "d41d8c", "issued_at": "2026-01-05"}
    network.answers = [(200, {"receipt": receipt})]
    told = [
        "receipt: invalid type: string, expected struct ReceiptRef",
        "receipt.issued_at: unknown field `issued_at`, expected `id` or `digest`",
    ]

    async with client_of(network) as client:
        submitted = await client.submit(TASK, RESULT, KEY)
        assert isinstance(submitted, Confirmed)
        network.answers = [missing("receipt"), *((422, one) for one in told), (200, {})]
        await client.complete(TASK, KEY, submitted.value.given)

    *_, whole, last = [body.get("receipt") for body in network.bodies("complete")]
    assert whole == receipt
    assert last == {"id": "r-1", "digest": "d41d8c"}


def holding(**members: JSON) -> dict[str, JSON]:
    """Return the schema of an object that needs each of its members."""
    return {"type": "object", "properties": members, "required": [*members]}


async def test_of_an_object_that_is_described_no_more_is_sent_than_is_described() -> (
    None
):
    """Prism refuses what a resource of the claim's answer had besides."""
    network = StrictNetwork(SNAKE)
    network.answers = [
        (200, {"data": {"id": "91", "attributes": {"status": "claimed"}}}),
        (200, {}),
    ]
    attributes = holding(content={"type": "string"})

    async with client_of(network) as client:
        described = holding(data=holding(attributes=attributes))
        client.search.describe({"submit": described})
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    (sent,) = network.bodies("submit")
    assert sent["data"] == {"attributes": {"content": "41"}}


async def test_a_name_missed_and_unknown_at_once_is_written_in_another_case() -> None:
    """Go calls a field as its code does, and not as its JSON does."""
    network = StrictNetwork(SNAKE)
    tag = "Error:Field validation for 'RequestId' failed on the 'required' tag"
    lacks = f"Key: 'Request.RequestId' {tag}"
    network.answers = [
        (400, lacks),
        (400, f'{lacks}\njson: unknown field "request_id"'),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    last = network.bodies()[-1]
    assert UUID(str(last["requestId"])).version == 4
    assert not {"request_id", "RequestId"} & last.keys()


async def test_words_are_sent_as_a_message_and_never_an_id() -> None:
    network = StrictNetwork({**SNAKE, "claim": ["errand", "message"]}, by_pydantic)

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed), outcome
    last = network.bodies()[-1]
    assert last["errand"] == "task-1"
    assert last["message"] not in {"task-1", last.get("agent_id")}


async def test_where_a_value_alone_is_at_fault_the_names_beside_it_are_known() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [
        missing("request_id"),
        missing("lease"),
        (400, {"error": "unknown field: agent_id"}),
        (400, {"error": "lease must be object"}),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert network.bodies()[-1]["task_id"] == "task-1"
    assert isinstance(network.bodies()[-1]["lease"], dict)


async def test_a_key_that_is_asked_for_is_sent_as_a_uuid() -> None:
    network = StrictNetwork({**SNAKE, "claim": ["task_id", "idempotency_key"]})

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert UUID(str(network.bodies()[-1]["idempotency_key"])).version == 4


async def test_a_name_that_is_missed_in_two_objects_is_sought_in_the_outer_one() -> (
    None
):
    network = StrictNetwork(SNAKE)
    network.answers = [
        missing("kuori"),
        (400, {"error": "kuori must be an object"}),
        missing("retki"),
        (400, {"error": "retki must be an object"}),
        missing("id"),
        missing("tekija_id"),
        missing("tekija_id"),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    before, last = (json.dumps(body["kuori"]) for body in network.bodies()[-2:])
    assert '"tekija_id"' in before.partition("}")[0]
    assert '"tekija_id"' in last.partition("}")[2]


async def test_a_task_is_named_where_words_of_ours_were_not_found() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [
        missing("retki"),
        missing("viesti"),
        (404, {"errors": [{"field": "retki", "message": "not found"}]}),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)

    assert network.bodies()[-1]["retki"] == "task-1"


def bare(said: str) -> tuple[int, JSON]:
    return 400, {"error": said}


async def submissions_in_an_object(*refused: tuple[int, JSON]) -> list[JSON]:
    """Return what was sent in `input`, where all that a network wants has to be."""
    network = StrictNetwork(SNAKE)
    network.answers = [missing("input"), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        network.answers = [*refused, (200, {})]
        await client.submit(TASK, RESULT, KEY)

    return [body["input"] for body in network.bodies("submit")]


async def test_an_object_lacks_a_member_of_its_own_name() -> None:
    """Python's jsonschema tells no way, and the value in place of its name."""
    *_, last = await submissions_in_an_object(
        bare("'text' is a required property"),
        bare("'41' is not of type 'object'"),
        bare("'text' is a required property"),
    )

    assert isinstance(last, dict)
    assert last["text"] == {"text": "41"}


async def test_a_name_is_sought_in_the_objects_that_were_asked_for_at_last() -> None:
    too_much = bare("Additional properties are not allowed ('type' was unexpected)")
    *_, last = await submissions_in_an_object(
        missing("answer"),
        bare("answer must be an object"),
        bare("'value' is a required property"),
        bare("'type' is a required property"),
        too_much,
        too_much,
    )

    assert isinstance(last, dict)
    assert last["answer"] == {"type": "text", "value": "41"}


async def test_a_network_that_tells_whole_ways_means_the_root_by_a_bare_name() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [
        missing("answer"),
        (400, {"field": "answer", "error": "expected object, received string"}),
        (400, {"field": "answer.value", "error": "is required"}),
        (400, {"field": "format", "error": 'expected one of "plain"|"html"'}),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY)

    last = network.bodies("submit")[-1]
    assert last["format"] == "plain"


async def test_what_a_claim_said_is_not_said_again_to_who_names_nothing() -> None:
    network = StrictNetwork(SNAKE)
    too_much: JSON = {"message": "body must NOT have additional properties"}
    network.answers = [missing("accept_terms"), (200, {}), (400, too_much), (200, {})]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY)

    assert [("accept_terms" in body) for body in network.bodies("submit")] == [
        True,
        False,
    ]


async def test_an_object_that_stood_in_another_one_is_sought_at_the_root() -> None:
    network = StrictNetwork(SNAKE)
    lacks: JSON = {
        "error": "{ readonly delivery: { readonly result: NonEmptyString } }\n"
        '\u2514\u2500 ["delivery"]\n   \u2514\u2500 is missing'
    }
    network.answers = [
        missing("claim"),
        (200, {}),
        (400, lacks),
        (400, lacks),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY)

    last = network.bodies("submit")[-1]
    assert isinstance(last["delivery"], dict)


async def claimed_with(
    *answers: tuple[int, JSON], task: Task = TASK
) -> list[dict[str, JSON]]:
    """Return the bodies of a claim that was answered so."""
    network = StrictNetwork(SNAKE)
    network.answers = [*answers, (200, {})]

    async with client_of(network) as client:
        await client.claim(task, KEY)

    return network.bodies()


def wrong(name: str, what: str) -> tuple[int, JSON]:
    return 400, {"errors": [{"field": name, "message": what}]}


async def test_a_no_is_said_to_what_speaks_against_us_and_else_a_yes() -> None:
    *_, first = await claimed_with(
        missing("conflict_of_interest"),
        wrong("conflict_of_interest", "expected boolean"),
    )
    *_, second = await claimed_with(
        missing("insured"), wrong("insured", "expected boolean")
    )

    assert first["conflict_of_interest"] is False
    assert second["insured"] is True


async def test_a_yes_that_is_refused_without_a_name_is_soon_a_no() -> None:
    silent: tuple[int, JSON] = 422, {"error": "we take whole offers alone"}

    bodies = await claimed_with(
        missing("subcontracted"),
        wrong("subcontracted", "expected boolean"),
        *3 * (silent,),
    )

    assert False in [body["subcontracted"] for body in bodies[2:]]


async def test_a_name_for_a_trade_is_rather_ours_than_the_tasks_or_a_new_key() -> None:
    for task, trade in ("segment", "translator"), ("workOrderId", "technicianId"):
        lacks: JSON = {"errors": {task: "is required", trade: "is required"}}

        *_, last = await claimed_with((400, lacks))

        assert (last[task], last[trade]) == ("task-1", "agent-1")


async def test_a_value_is_sent_in_the_form_that_is_shown() -> None:
    record: dict[str, JSON] = {
        "uid": "task-1",
        "name": "projects/maps/tasks/7",
        "etag": "e/1/2",
    }
    form = "required; must be of the form projects/{project}/tasks/{task}"

    *_, last = await claimed_with(wrong("parent", form), task=replace(TASK, raw=record))

    assert last["parent"] == "projects/maps/tasks/7"


async def test_the_id_of_a_document_is_the_end_of_its_way_once_that_was_refused() -> (
    None
):
    task = replace(TASK, id=TaskId("databases/main/documents/tasks/89CF"))
    refused = wrong("taskId", "must be a document id, got a path")

    _, whole, end = await claimed_with(missing("taskId"), refused, task=task)

    assert (whole["taskId"], end["taskId"]) == (task.id, "89CF")


async def test_that_there_is_no_result_is_said_of_the_body_that_has_one() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [(400, {"error": "There is no result with it."}), (200, {})]

    async with client_of(network) as client:
        submitted = await client.submit(TASK, Result("A SIGN"), KEY)

    assert isinstance(submitted, Confirmed)
    assert len(network.bodies("submit")) == 2


async def test_how_long_is_asked_for_is_said_in_the_unit_that_a_name_has() -> None:
    *_, minutes = await claimed_with(missing("minutesOnSite"), missing("etaMinutes"))
    *_, duration = await claimed_with(
        wrong("ttl", "required; must be a duration, such as 60s")
    )

    assert (minutes["minutesOnSite"], minutes["etaMinutes"]) == (10, 10)
    assert duration["ttl"] == "600s"


async def test_a_name_that_asks_a_question_is_answered_yes() -> None:
    *_, last = await claimed_with(missing("wouldTakeAgain"))

    assert last["wouldTakeAgain"] is True


async def test_of_several_choices_the_one_that_the_task_has_is_sent() -> None:
    record: dict[str, JSON] = {"id": "task-1", "language": "de"}

    *_, last = await claimed_with(
        wrong("language", 'Invalid option: expected one of "en"|"es"|"de"'),
        task=replace(TASK, raw=record),
    )

    assert last["language"] == "de"


async def test_what_is_missed_beside_what_stands_in_no_object_stands_in_none() -> None:
    network = StrictNetwork(SNAKE)
    network.answers = [
        missing("claim"),
        (200, {"booking": "B-1"}),
        missing("booking"),
        missing("booking"),
        (200, {"lodging": "L-1"}),
        (400, {"errors": {"booking": "is required", "lodging": "is required"}}),
        (200, {}),
    ]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        submitted = await client.submit(TASK, RESULT, KEY, claimed.value.given)
        assert isinstance(submitted, Confirmed)
        given = {**claimed.value.given, **submitted.value.given}
        await client.complete(TASK, KEY, given)

    last = network.bodies("complete")[-1]
    assert (last["booking"], last["lodging"]) == ("B-1", "L-1")


async def test_a_relationship_refers_to_a_resource_by_its_type_and_its_id() -> None:
    record: dict[str, JSON] = {"id": "task-1", "type": "commissions"}
    pointer: JSON = {"pointer": "/data/relationships/commission"}
    lacks: JSON = {"errors": [{"source": pointer, "detail": "Commission must exist"}]}

    *_, last = await claimed_with(
        missing("data"), (422, lacks), task=replace(TASK, raw=record)
    )

    sent = values_in("", last)
    assert sent[".data.relationships.commission.data.type"] == "commissions"
    assert sent[".data.relationships.commission.data.id"] == "task-1"


async def test_of_two_identifiers_one_is_ours() -> None:
    record: dict[str, JSON] = {"kind": "delivery", "id": "task-1", "fee": 36}
    both: JSON = {"delivery_id": "is required.", "courier_id": "is required."}

    *_, last = await claimed_with(
        (400, {"metadata": both}), task=replace(TASK, raw=record)
    )

    assert last["delivery_id"] == "task-1"
    assert last["courier_id"] == "agent-1"


async def test_a_value_in_an_object_of_its_own_is_known_by_the_objects_name() -> None:
    network = StrictNetwork(SNAKE)
    pincode: JSON = {"enabled": True, "value": "1207"}
    network.answers = [(200, {"pincode": pincode}), missing("pincode"), (200, {})]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[-1]["pincode"] == "1207"


async def test_what_is_not_in_a_list_of_all_names_is_left_away() -> None:
    said = "Unknown field 'task_id'; allowed fields: bon, work."
    listed: JSON = {"field": "task_id", "message": said}

    *_, last = await claimed_with(
        missing("bon"), missing("work"), (400, {"error": listed})
    )

    assert {*last} == {"bon", "work"}


def of_method(method: str, *names: str) -> tuple[int, JSON]:
    """Return a refusal that names a method and its parameter before each field."""
    said: JSON = [
        {"message": f"{method}.command.{name}: must not be null"} for name in names
    ]
    return 400, {"_embedded": {"errors": said}}


async def test_what_begins_with_a_method_is_understood_so_from_then_on() -> None:
    network = StrictNetwork(SNAKE)
    both = ("jobId", "workerId")
    network.answers = [
        of_method("claim", *both),
        of_method("claim", *both),
        (200, {}),
        of_method("submit", "output"),
        (200, {}),
    ]

    async with client_of(network) as client:
        await client.claim(TASK, KEY)
        await client.submit(TASK, RESULT, KEY)

    claimed, submitted = network.bodies("claim")[-1], network.bodies("submit")
    assert (claimed["jobId"], claimed["workerId"]) == ("task-1", "agent-1")
    assert [one.get("output") for one in submitted] == [None, "41"]


async def test_a_task_is_not_brought_to_the_state_that_it_is_in() -> None:
    network = StrictNetwork(SNAKE)
    said = "Status cannot be null, must be one of COMPLETED, FAILED, IN_PROGRESS"
    network.answers = [
        (200, {"status": "IN_PROGRESS", "taskId": "task-1"}),
        (400, {"errors": [{"field": "status", "message": said}]}),
        (200, {}),
    ]

    async with client_of(network) as client:
        claimed = await client.claim(TASK, KEY)
        assert isinstance(claimed, Confirmed)
        await client.submit(TASK, RESULT, KEY, claimed.value.given)

    assert network.bodies("submit")[-1]["status"] == "COMPLETED"


async def test_a_day_may_stand_under_a_name_that_sounds_like_ours() -> None:
    *_, last = await claimed_with(
        missing("returnBy"), wrong("returnBy", "must be a date as YYYY-MM-DD")
    )

    assert len(str(last["returnBy"])) == len("2026-01-05")


async def test_an_endpoint_that_has_judged_a_body_is_not_absent() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("note"), (404, {"error": "Not found"})]

    async with client_of(network) as client:
        outcome = await client.complete(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert presence_of(outcome, TASK.id) is Presence.PRESENT


@pytest.mark.parametrize(
    ("source", "is_of_it"),
    [
        ("agent_id", True),
        ("record.self", True),
        ("task_id", False),
        ("claim.id", False),
        ("title", False),
    ],
)
def test_a_404_to_a_body_that_names_no_task_is_about_the_body(
    source: str, *, is_of_it: bool
) -> None:
    refused = Refused(Refusal.ABSENT, "404 Not Found: It does not exist.", 404)
    shape = RequestShape((Placed(("issueIdOrKey",), source),))

    assert is_about_shape(refused, (), shape, is_proven=False) is is_of_it


async def test_names_that_are_told_with_small_letters_are_written_as_the_others() -> (
    None
):
    wanted = {**SNAKE, "claim": ["HITId", "WorkerId"]}
    network = StrictNetwork(wanted, by_aws)
    hit = replace(TASK, raw={"HITId": TASK.id, "Reward": 3})

    async with client_of(network) as client:
        outcome = await client.claim(hit, KEY)

    assert isinstance(outcome, Confirmed)
    assert len(network.bodies("claim")) <= 4


def by_aws(missing: Names, unknown: Names) -> tuple[int, JSON]:
    names = [name[:1].lower() + name[1:] for name in missing or unknown]
    said = "; ".join(
        f"Value null at '{name}' failed to satisfy constraint: Member must not be null"
        for name in names
    )
    return 400, {"__type": "ValidationException", "message": said}


@pytest.mark.parametrize(
    ("place", "is_of_body"),
    [(("data", "relationships", "task"), True), (("data", "answer"), False)],
)
def test_what_is_incorrect_beside_the_work_is_no_verdict_on_it(
    place: tuple[str, ...], *, is_of_body: bool
) -> None:
    said = "400 Bad Request: Incorrect."
    refused = Refused(Refusal.REJECTED, said, 400)
    inner = ("data", "relationships", "task", "data", "id")
    shape = RequestShape(
        (Placed(inner, "task_id"), Placed(("data", "answer"), "result"))
    )
    told = (FieldFault(place, Fault.VALUE),)

    assert is_about_shape(refused, told, shape, is_proven=False) is is_of_body


async def test_a_conflict_asks_for_the_version_that_is_shown_and_was_not_sent() -> None:
    conflict: JSON = {"error": "conflict", "reason": "Document update conflict."}
    record: dict[str, JSON] = {"id": "task-1", "value": {"rev": "1-a"}, "_rev": "1-a"}

    *_, last = await claimed_with((409, conflict), task=replace(TASK, raw=record))

    assert last["_rev"] == "1-a"


async def test_a_conflict_that_is_of_no_version_is_about_the_task() -> None:
    taken: JSON = {"error": "conflict", "reason": "The document has an owner."}
    record: dict[str, JSON] = {"id": "task-1", "_rev": "1-a"}

    bodies = await claimed_with((409, taken), task=replace(TASK, raw=record))

    assert len(bodies) == 1


async def test_rules_for_a_document_are_kept_one_after_the_other() -> None:
    rules = [
        "owner must be the agent_id of the agent that claims.",
        "status of a claimed document must be 'assigned'.",
    ]
    told: list[tuple[int, JSON]] = [(403, {"reason": one}) for one in rules]

    *_, last = await claimed_with(*told)

    assert last["owner"] == identity_at(BASE_URL).agent_id
    assert last["status"] == "assigned"


async def test_the_id_of_a_record_is_meant_by_the_name_of_its_kind() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("allotment"), (200, {})]
    given = {"claim.doctype": "Allotment", "claim.name": "ALT-1", "claim.ref": "R-7"}

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY, given)

    assert network.bodies("submit")[-1]["allotment"] == "ALT-1"


async def test_how_many_milliseconds_is_a_number_at_once() -> None:
    *_, last = await claimed_with(missing("elapsedMs"))

    assert last["elapsedMs"] == 600_000


async def test_an_id_of_ours_is_not_sent_as_the_work_whatever_it_was_called() -> None:
    network = StrictNetwork(SNAKE)
    network.answers += [missing("contents"), (200, {})]
    given: dict[str, JSON] = {"claim.stage.contents": identity_at(BASE_URL).agent_id}

    async with client_of(network) as client:
        await client.submit(TASK, RESULT, KEY, given)

    assert network.bodies("submit")[-1]["contents"] == RESULT.output


async def test_an_error_that_lists_what_a_value_may_be_is_a_refusal() -> None:
    network = StrictNetwork(SNAKE)
    said = 'Error in match.arg(rigour, c("low", "high")): \'arg\' must be NULL'
    network.answers += [missing("rigour"), (500, {"message": said}), (200, {})]

    async with client_of(network) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert network.bodies("claim")[-1]["rigour"] == "low"


async def test_a_task_may_tell_what_its_result_is_called() -> None:
    network = StrictNetwork(SNAKE)
    record: dict[str, JSON] = {"id": "task-1", "resultVariable": "upperText"}
    object_: JSON = {"errors": {"modifications": "must be an object"}}
    network.answers += [missing("modifications"), (422, object_), (200, {})]

    async with client_of(network) as client:
        await client.submit(replace(TASK, raw=record), RESULT, KEY)

    sent = network.bodies("submit")[-1]["modifications"]
    assert isinstance(sent, dict)
    assert sent["upperText"] == RESULT.output


async def test_a_task_keeps_the_name_of_its_records_when_another_name_is_missed() -> (
    None
):
    task = replace(TASK, raw={"sheet": "task-1", "copy": "canal tours"})

    *_, last = await claimed_with(missing("pace"), task=task)

    assert last["sheet"] == "task-1"
    assert last["pace"] != "task-1"


async def test_words_that_stood_in_for_something_are_changed_where_they_do_not_do() -> (
    None
):
    network = StrictNetwork(SNAKE)
    told = "String must contain at least 10 character(s)"
    short: JSON = {"issues": [{"message": told, "path": ["remark"]}]}
    network.answers += [missing("remark"), (200, {}), (400, short), (200, {})]

    async with client_of(network) as client:
        await client.submit(TASK, Result(output="A LONGER RESULT"), KEY)
        other = replace(TASK, id=TaskId("task-2"))
        outcome = await client.submit(other, Result(output="ANNA"), OTHER_KEY)

    sent = [body["remark"] for body in network.bodies("submit")[1:]]
    assert isinstance(outcome, Confirmed)
    assert sent == ["A LONGER RESULT", "ANNA", "Submitted by an autonomous agent"]
    assert network.bodies("submit")[-1]["result"] == "ANNA"
