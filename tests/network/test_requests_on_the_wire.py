"""What leaves this machine, to the byte, by the contract."""

from collections.abc import Awaitable, Callable

import pytest
from tests.network.conftest import TOKEN, ClientFor, ScriptedServer, answer

import journeyman
from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import (
    JSON,
    AgentId,
    IdempotencyKey,
    NewTask,
    Result,
    Task,
    TaskId,
)
from journeyman.network.answers import CheckoutRequest
from journeyman.network.client import NetworkClient
from journeyman.network.endpoints import DISCOVERY_DOCUMENTS, ENDPOINTS
from journeyman.network.service_model.vocabulary import ASSUMED

KEY = IdempotencyKey("key-1")
TASK = Task(id=TaskId("task-1"))
CHECKOUT = CheckoutRequest(
    plan="credit_pack",
    agent_id=AgentId("agent-1"),
    price_id="price_100",
    requested_credits=100,
    amount_cents=100,
)
NEW = NewTask(title="Count", description="Count the words", reward=3)

CALLS: dict[str, Callable[[NetworkClient], Awaitable[object]]] = {
    "register": lambda client: client.register(KEY),
    "create_checkout": lambda client: client.create_checkout(CHECKOUT, KEY),
    "public_marketplace": lambda client: client.public_marketplace(),
    "public_agents": lambda client: client.public_agents(),
    "agents_directory": lambda client: client.agents_directory(),
    "marketplace_tasks": lambda client: client.marketplace_tasks(),
    "claim": lambda client: client.claim(TASK, KEY),
    "submit": lambda client: client.submit(TASK, Result(output="41"), KEY),
    "complete": lambda client: client.complete(TASK, KEY),
    "post_task": lambda client: client.post_task(NEW, KEY),
}
BODIES = {
    "register": b"{}",
    "create_checkout": (
        b'{"plan":"credit_pack","agent_id":"agent-1","price_id":"price_100",'
        b'"requested_credits":100,"amount_cents":100}'
    ),
    "claim": b'{"task_id":"task-1","agent_id":"agent-1"}',
    "submit": b'{"task_id":"task-1","agent_id":"agent-1","result":"41"}',
    "complete": b'{"task_id":"task-1","agent_id":"agent-1"}',
    "post_task": (
        b'{"agent_id":"agent-1","title":"Count","description":"Count the words",'
        b'"reward":3}'
    ),
}
CONTRACT = [
    (1, "POST", "/functions/v1/create-free-agent-public", "register"),
    (2, "POST", "/functions/v1/create-checkout", "create_checkout"),
    (3, "GET", "/functions/v1/public-marketplace", "public_marketplace"),
    (4, "GET", "/functions/v1/public-agents-directory", "public_agents"),
    (5, "GET", "/functions/v1/agents-directory", "agents_directory"),
    (6, "GET", "/functions/v1/get-marketplace-tasks", "marketplace_tasks"),
    (7, "POST", "/functions/v1/claim-task-public", "claim"),
    (8, "POST", "/functions/v1/submit-task-result-public", "submit"),
    (9, "POST", "/functions/v1/complete-task-public", "complete"),
    (10, "POST", "/functions/v1/write-post-task-public", "post_task"),
]
PRIVATE = {"marketplace_tasks", "claim", "submit", "complete", "post_task"}


def test_the_table_of_endpoints_is_the_contracts() -> None:
    rows = [(e.number, e.method, e.path, e.name) for e in ENDPOINTS]

    assert rows == CONTRACT
    assert ASSUMED.private == PRIVATE
    assert {e.name for e in ENDPOINTS if e.changes_state} == set(BODIES)
    assert len(DISCOVERY_DOCUMENTS) == len(set(DISCOVERY_DOCUMENTS)) == 12


@pytest.mark.parametrize(("_number", "method", "path", "name"), CONTRACT)
async def test_each_call_has_the_contracts_method_path_and_body(
    server: ScriptedServer,
    network: NetworkClient,
    _number: int,
    method: str,
    path: str,
    name: str,
) -> None:
    await CALLS[name](network)

    (request,) = server.requests
    assert (request.method, request.target) == (method, path)
    assert request.body == BODIES.get(name, b"")


@pytest.mark.parametrize("name", CALLS)
async def test_only_private_endpoints_get_the_token(
    server: ScriptedServer,
    network: NetworkClient,
    name: str,
) -> None:
    await CALLS[name](network)

    sent = server.requests[0].headers.get("authorization")
    assert sent == (f"Bearer {TOKEN}" if name in PRIVATE else None)


@pytest.mark.parametrize("name", CALLS)
async def test_bodies_are_json_and_writes_carry_their_key(
    server: ScriptedServer,
    network: NetworkClient,
    name: str,
) -> None:
    await CALLS[name](network)

    headers = server.requests[0].headers
    writes = name in BODIES
    assert headers.get("content-type") == ("application/json" if writes else None)
    assert headers.get("idempotency-key") == ("key-1" if writes else None)
    assert headers["accept"] == "application/json"
    assert headers["accept-encoding"] == "identity"
    assert headers["user-agent"] == f"journeyman/{journeyman.__version__} (+python)"


async def test_optional_checkout_fields_are_sent_only_when_set(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    request = CheckoutRequest(
        plan="credit_pack",
        agent_id=AgentId("agent-1"),
        price_id="price_100",
        requested_credits=100,
        amount_cents=100,
        product_label="100 credits",
        source="journeyman",
    )

    await network.create_checkout(request, KEY)

    assert server.requests[0].json == {
        "plan": "credit_pack",
        "agent_id": "agent-1",
        "price_id": "price_100",
        "requested_credits": 100,
        "amount_cents": 100,
        "product_label": "100 credits",
        "source": "journeyman",
    }


async def test_a_slug_and_a_limit_are_sent_only_when_given(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    await network.agents_directory("a b&c")
    await network.marketplace_tasks(50)

    targets = [request.target.partition("?")[2] for request in server.requests]
    assert targets == ["slug=a+b%26c", "limit=50"]


async def test_a_whole_result_and_a_whole_post_are_sent(
    server: ScriptedServer, client_for: ClientFor
) -> None:
    result = Result(output={"count": 0}, evidence={"method": "whitespace"})
    new = NewTask(
        title="T",
        description="D",
        reward=2,
        kind="word_count",
        tags=("text",),
        input={"text": "é"},
    )

    async with client_for(server.base_url, owner={}) as network:
        await network.submit(TASK, result, KEY)
        await network.post_task(new, KEY)

    assert server.requests[0].json == {
        "task_id": "task-1",
        "agent_id": "agent-1",
        "result": {"count": 0},
        "evidence": {"method": "whitespace"},
    }
    assert server.requests[1].json == {
        "agent_id": "agent-1",
        "title": "T",
        "description": "D",
        "reward": 2,
        "kind": "word_count",
        "tags": ["text"],
        "input": {"text": "é"},
    }


@pytest.mark.parametrize("output", [None, "", 0, [], {}, False])
async def test_an_empty_result_is_sent_all_the_same(
    server: ScriptedServer,
    network: NetworkClient,
    output: JSON,
) -> None:
    await network.submit(TASK, Result(output=output), KEY)

    sent = server.requests[0].json
    assert isinstance(sent, dict)
    assert sent["result"] == output


async def test_half_a_surrogate_pair_in_a_result_can_be_sent(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    await network.submit(TASK, Result(output="\ud800"), KEY)

    assert b"\\ud800" in server.requests[0].body


async def test_a_result_that_json_cannot_say_is_refused_before_it_is_sent(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    with pytest.raises(ValueError, match="JSON"):
        await network.submit(TASK, Result(output=float("nan")), KEY)

    assert server.requests == []


async def test_a_redirect_is_not_followed_and_takes_no_token_along(
    server: ScriptedServer,
    other_server: ScriptedServer,
    network: NetworkClient,
) -> None:
    target = f"{other_server.base_url}/elsewhere?session=1"
    server.will(answer(307, {}, {"location": target}))

    outcome = await network.claim(TASK, KEY)

    assert other_server.requests == []
    assert not isinstance(outcome, Confirmed)
    assert "is not followed" in outcome.message
    assert "session" not in outcome.message


async def test_cookies_are_not_kept(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(200, {}, {"set-cookie": "track=1; Path=/"}))

    await network.public_agents()
    await network.public_agents()

    assert all("cookie" not in request.headers for request in server.requests)


async def test_documents_come_from_the_portal_and_never_get_the_token(
    server: ScriptedServer,
    other_server: ScriptedServer,
    client_for: ClientFor,
) -> None:
    portal = f"{other_server.base_url}/portal/"

    async with client_for(server.base_url, portal_url=portal) as client:
        for path in DISCOVERY_DOCUMENTS:
            await client.document(path)

    asked = [request.target for request in other_server.requests]
    assert asked == [f"/portal{path}" for path in DISCOVERY_DOCUMENTS]
    assert all("authorization" not in r.headers for r in other_server.requests)
    assert server.requests == []


async def test_a_base_address_with_a_path_is_kept(
    server: ScriptedServer,
    client_for: ClientFor,
) -> None:
    async with client_for(f"{server.base_url}/net/") as client:
        await client.public_agents()

    target = server.requests[0].target
    assert target == "/net/functions/v1/public-agents-directory"


@pytest.mark.parametrize("name", ["claim", "submit", "complete", "post_task"])
async def test_an_action_without_an_identity_is_a_mistake_of_ours(
    server: ScriptedServer,
    client_for: ClientFor,
    name: str,
) -> None:
    async with client_for(server.base_url, identified=False) as client:
        with pytest.raises(ValueError, match="identity"):
            await CALLS[name](client)

    assert server.requests == []


async def test_discovering_without_an_identity_sends_no_token(
    server: ScriptedServer,
    client_for: ClientFor,
) -> None:
    async with client_for(server.base_url, identified=False) as client:
        await client.marketplace_tasks()

    assert "authorization" not in server.requests[0].headers


async def test_a_key_that_no_header_can_carry_is_refused(
    network: NetworkClient,
) -> None:
    with pytest.raises(ValueError, match="visible ASCII"):
        await network.register(IdempotencyKey("a\r\nX-Evil: 1"))
