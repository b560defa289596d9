"""What is read out of the answers to actions, by method."""

from dataclasses import replace
from typing import TypeVar

import pytest
from tests.network.conftest import ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed, Outcome, Refusal, Refused, Unknown
from journeyman.domain.tasks import (
    JSON,
    AccessToken,
    AgentId,
    IdempotencyKey,
    NewTask,
    Progress,
    Task,
    TaskId,
)
from journeyman.network.answers import (
    CheckoutRequest,
    CheckoutSession,
    Posted,
)
from journeyman.network.client import NetworkClient
from journeyman.network.registration import Registration

T = TypeVar("T")

KEY = IdempotencyKey("key-1")
TASK = Task(id=TaskId("task-1"))
NEW = NewTask(title="Count", description="Count the words", reward=3)
CHECKOUT = CheckoutRequest(
    plan="credit_pack",
    agent_id=AgentId("agent-1"),
    price_id="price_100",
    requested_credits=100,
    amount_cents=100,
)


def value_of(outcome: Outcome[T]) -> T:
    assert isinstance(outcome, Confirmed), outcome
    return outcome.value


@pytest.mark.parametrize(
    "body",
    [
        {"agent_id": "a-7", "access_token": "t0k3n", "credits": 100},
        {"agentId": "a-7", "accessToken": "t0k3n", "credits": "100"},
        {"ok": True, "data": {"agent_id": "a-7", "token": "t0k3n", "balance": 100}},
        {"access_token": "t0k3n", "credits": 100, "agent": {"id": "a-7"}},
    ],
)
async def test_a_registration_is_read_in_several_spellings(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
) -> None:
    server.will(answer(200, body))

    registration = value_of(await network.register(KEY))

    assert registration == Registration(AgentId("a-7"), AccessToken("t0k3n"), 100)


async def test_a_registration_without_credits_is_still_one(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(200, {"agent_id": 7, "access_token": "t0k3n"}))

    registration = value_of(await network.register(KEY))

    assert (registration.agent_id, registration.credits) == ("7", None)


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ({}, "access_token"),
        ({"agent_id": "a-7"}, "access_token"),
        ({"agent_id": "a-7", "access_token": ""}, "access_token"),
        ({"agent_id": "a-7", "access_token": 12345}, "access_token"),
        ({"agent_id": "a-7", "access_token": "two words"}, "access_token"),
        ({"agent_id": "a-7", "access_token": "t\r\nHost: x"}, "access_token"),
        ({"agent_id": "a-7", "access_token": "tök"}, "access_token"),
    ],
)
async def test_a_registration_that_lacks_something_is_unknown_and_says_what(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
    missing: str,
) -> None:
    server.will(answer(200, body))

    outcome = await network.register(KEY)

    assert isinstance(outcome, Unknown)
    assert outcome.message == f"200 OK with a registration without a usable {missing}"


async def test_a_checkout_session_is_read_by_the_contracts_names(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    body: JSON = {
        "ok": True,
        "sessionId": "cs_1",
        "url": "https://pay.example/cs_1",
        "mode": "payment",
        "agentId": "agent-1",
        "plan": "credit_pack",
    }
    server.will(answer(200, body), answer(200, {"url": 5}))

    whole = value_of(await network.create_checkout(CHECKOUT, KEY))
    empty = value_of(await network.create_checkout(CHECKOUT, KEY))

    assert whole == CheckoutSession(
        ok=True,
        session_id="cs_1",
        url="https://pay.example/cs_1",
        mode="payment",
        agent_id="agent-1",
        plan="credit_pack",
    )
    assert empty == CheckoutSession()


async def test_a_claim_brings_the_task_that_its_answer_describes(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    record: dict[str, JSON] = {"id": "task-1", "title": "Count", "input": {"text": "x"}}
    server.will(
        answer(200, {"ok": True, "task": record, "new_balance": 98}),
        answer(200, {"data": {"task": record}}),
        answer(200, record),
    )

    claims = [value_of(await network.claim(TASK, KEY)) for _ in range(3)]

    assert [claim.task.title for claim in claims if claim.task] == ["Count"] * 3
    assert [claim.task.text for claim in claims if claim.task] == ["x"] * 3
    assert [claim.balance for claim in claims] == [98, None, None]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ok": True, "task_id": "task-1", "status": "claimed"},
        {"ok": True, "task": {"id": "another", "title": "Not what we claimed"}},
        {"ok": True, "task": "task-1"},
    ],
)
async def test_a_claim_whose_answer_describes_nothing_is_still_a_claim(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
) -> None:
    server.will(answer(200, body))

    claimed = value_of(await network.claim(TASK, KEY))

    assert (claimed.task, claimed.balance) == (None, None)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, {"ok": True, "already_yours": True}),
        (409, {"ok": False, "already_yours": True}),
        (409, {"error": "already_claimed_by_you"}),
        (409, {"error": {"message": "Task already claimed by you."}}),
        (400, {"message": "You have already claimed this task"}),
        (409, {"error": "already_claimed", "claimed_by": "agent-1"}),
        (409, {"error": "conflict", "task": {"claimant": {"id": "agent-1"}}}),
        (200, {"ok": False, "error": "already_claimed", "claimant": "agent-1"}),
        (400, {"ok": False, "error": "repeated", "claimant": "agent-1"}),
    ],
)
async def test_a_task_that_is_ours_already_is_a_claim(
    server: ScriptedServer,
    network: NetworkClient,
    status: int,
    body: JSON,
) -> None:
    server.will(answer(status, body))

    assert isinstance(await network.claim(TASK, KEY), Confirmed)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (409, {"error": "already_claimed"}),
        (409, {"error": "already_claimed", "already_yours": False}),
        (409, {"message": "already claimed, you are too late"}),
        (409, {"error": "already_claimed", "claimed_by": "agent-10"}),
        (409, "agent-1"),
        (409, ["already claimed by you"]),
    ],
)
async def test_a_task_that_another_agent_has_is_not_ours(
    server: ScriptedServer,
    network: NetworkClient,
    status: int,
    body: JSON,
) -> None:
    server.will(answer(status, body))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.CONFLICT


async def test_a_refusal_that_repeats_a_request_does_not_say_whose_the_task_is(
    server: ScriptedServer, network: NetworkClient
) -> None:
    got: JSON = {"claimant": "agent-1", "work": TASK.id}
    server.will(*[answer(400, {"error": "bad", "got": got})] * 20)

    assert not isinstance(await network.claim(TASK, KEY), Confirmed)


@pytest.mark.parametrize(
    ("body", "earned", "balance"),
    [
        ({}, None, None),
        ({"ok": True, "credits_earned": 5, "balance": 105}, 5, 105),
        ({"creditsEarned": "5", "creditBalance": 105.0}, 5, 105),
        ({"data": {"earned": 5}, "agent": {"balance": 105}}, 5, 105),
        ({"reward": "5 credits", "wallet": {"remaining_credits": 1}}, 5, 1),
        ({"result": {"payout": {"amount": "5.00", "currency": "credits"}}}, None, None),
        ({"payout": {"amount": "5.00", "currency": "credits"}}, 5, None),
        ({"envelope": {"amount_paid": "5.00", "new_balance": 105}}, 5, 105),
        ({"data": {"attributes": {"credits-earned": 5.0}}}, 5, None),
        ([{"id": 1, "paid": 5}], 5, None),
        ({"payout": {"amountCents": 150, "currency": "USD"}}, 150, None),
        ({"payout": {"minimum": 20.0, "currency": "credits"}}, 20, None),
        ({"payout": {"id": 99, "code": "CRD", "name": "Credits"}}, None, None),
        ({"payout": {"amountCents": 150, "currency": "EUR"}}, None, None),
        # Nobody's credits: euros; the balance of whoever posted the task.
        ({"paid": {"amount": 5, "currency": "EUR"}}, None, None),
        ({"task": {"poster": {"balance": 900}}}, None, None),
        # A bare `credits` could be either, and the task's own reward is no payment.
        ({"credits": 5, "task": {"reward": 7}}, None, None),
        ({"credits_earned": None, "earned": "lots", "balance": []}, None, None),
        ({"paid": 500, "currency": "USD", "balance": 9}, None, None),
        ({"credits_earned": 5, "paid": 500, "currency": "usd"}, 5, None),
        ({"paid": 500, "devise": "EUR"}, None, None),
        ({"paid_centicredits": 500, "balance": 105}, 5, 105),
        ({"earned": 5, "unit": "sheets"}, 5, None),
        ({"earned": 5, "queue": "ALL", "priority": "TOP"}, 5, None),
        ({"payment": {"fee": 12, "balance": 112}}, 12, 112),
        ({"payment": {"fee": 12, "price": 9}}, None, None),
        ({"payment": {"fee": 12, "currency": "EUR"}}, None, None),
        ({"posting": {"fee": 12}}, None, None),
        (
            {"payment": {"state": "paid", "amount": {"cents": 9, "devise": "USD"}}},
            9,
            None,
        ),
        (
            {"payment": {"state": "paid", "amount": {"cents": 9, "devise": "EUR"}}},
            None,
            None,
        ),
        ({"paid": 5, "currency": "credits"}, 5, None),
        ({"card": {"name": "A"}, "points_awarded": 5}, 5, None),
        ({"honorariumPaid": 13, "creditBalance": 113}, 13, 113),
        ({"data": {"id": 7}, "meta": {"paid_cents": 13}}, 13, None),
        ({"fee_paid": {"amt": "14.00", "unit": "CR"}}, 14, None),
        ({"result": {"u_reward": "7.00", "u_credits_paid": "5.00"}}, 5, None),
        ({"total_earned": 900, "earned_at": 5, "paid": True}, None, None),
    ],
)
async def test_earnings_and_balance_are_read_only_where_they_are_clear(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
    earned: int | None,
    balance: int | None,
) -> None:
    server.will(answer(200, body))

    completed = value_of(await network.complete(TASK, KEY))

    assert (completed.credits_earned, completed.balance) == (earned, balance)


@pytest.mark.parametrize(
    ("body", "posted"),
    [
        ({}, Posted(None, None)),
        ({"ok": True, "task_id": "t-9", "balance": 97}, Posted(TaskId("t-9"), 97)),
        ({"task": {"id": 9}}, Posted(TaskId("9"), None)),
        ({"data": {"taskId": "t-9"}}, Posted(TaskId("t-9"), None)),
        ({"id": "t-9", "title": "Count"}, Posted(TaskId("t-9"), None)),
        ({"id": "t-9", "feeCredits": 2}, Posted(TaskId("t-9"), None, 2)),
        ({"id": "t-9", "fee": {"amount": 2, "unit": "EUR"}}, Posted(TaskId("t-9"))),
    ],
)
async def test_a_post_tells_the_new_tasks_id_where_it_can(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
    posted: Posted,
) -> None:
    server.will(answer(200, body))

    assert value_of(await network.post_task(NEW, KEY)) == posted


async def test_the_task_of_a_claim_keeps_its_record_verbatim(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    record: dict[str, JSON] = {"id": "task-1", "title": "Count", "odd": [1, {"x": 2}]}
    server.will(answer(200, {"task": record}))

    task = value_of(await network.claim(TASK, KEY)).task

    assert isinstance(task, Task)
    assert task.raw == record


@pytest.mark.parametrize(
    ("body", "instead"),
    [
        ({"job": {"id": "task-2", "reward": 3, "worker": "a"}}, TaskId("task-2")),
        ({"id": "task-2", "reward": 3}, TaskId("task-2")),
        ({"job": {"id": "task-1", "reward": 3, "worker": "a"}}, None),
        ({"claim": {"id": "c-7", "worker": "agent-1"}}, None),
        ({"jobs": [{"id": f"task-{n}", "reward": 3} for n in (2, 3)]}, None),
        ({"ok": True, "next_job": {"id": "task-2", "reward": 3}}, None),
        ({"ok": True}, None),
    ],
)
async def test_a_claim_may_be_answered_with_another_task(
    server: ScriptedServer, network: NetworkClient, body: JSON, instead: TaskId | None
) -> None:
    asked = replace(TASK, raw={"id": "task-1", "reward": 3})
    server.will(answer(200, body))

    assert value_of(await network.claim(asked, KEY)).instead == instead


async def test_a_reward_named_while_the_work_is_looked_at_is_not_paid(
    server: ScriptedServer, network: NetworkClient
) -> None:
    told: JSON = {"claim": "c-1", "state": "in_review", "reward": 22}
    server.will(answer(202, told), answer(200, {"state": "completed", "reward": 22}))

    waiting = value_of(await network.complete(TASK, KEY))
    paid = value_of(await network.complete(TASK, KEY))

    assert (waiting.credits_earned, waiting.progress) == (None, Progress.IN_REVIEW)
    assert (paid.credits_earned, paid.progress) == (22, Progress.PAID)


async def test_a_reward_named_beside_a_task_that_goes_on_is_not_paid(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(answer(200, {"id": 7, "status": "in_progress", "payout": 31}))

    waiting = value_of(await network.complete(TASK, KEY))

    assert (waiting.credits_earned, waiting.progress) == (None, Progress.CLAIMED)
