"""The life of a task on the sandbox, and everything that can be asked wrongly."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2 as httpx
import pytest

Open = Callable[..., Awaitable[httpx.AsyncClient]]
Join = Callable[[httpx.AsyncClient], Awaitable[httpx.AsyncClient]]
Fields = dict[str, Any]
CLAIM = "/functions/v1/claim-task-public"
SUBMIT = "/functions/v1/submit-task-result-public"
COMPLETE = "/functions/v1/complete-task-public"
POST = "/functions/v1/write-post-task-public"
DISCOVER = "/functions/v1/get-marketplace-tasks"


async def first_task(member: httpx.AsyncClient) -> Fields:
    task: Fields = (await member.get(DISCOVER)).json()["tasks"][0]
    return task


def solved(task: Fields) -> Fields:
    return {"task_id": task["id"], "result": len(task["input"]["text"].split())}


async def test_registration_gives_an_identity_and_100_credits(
    visitor: httpx.AsyncClient,
) -> None:
    answer = await visitor.post("/functions/v1/create-free-agent-public", json={})

    assert answer.status_code == 200
    assert answer.json().keys() == {"agent_id", "access_token", "credits"}
    assert answer.json()["credits"] == 100


async def test_a_task_goes_from_open_to_paid(member: httpx.AsyncClient) -> None:
    task = await first_task(member)
    body = {"task_id": task["id"], "agent_id": member.headers["X-Agent"]}

    claimed = (await member.post(CLAIM, json=body)).json()
    submitted = (await member.post(SUBMIT, json=solved(task))).json()
    completed = (await member.post(COMPLETE, json=body)).json()

    assert claimed == {
        "ok": True,
        "status": "claimed",
        "task": {**task, "status": "claimed"},
    }
    assert submitted == {
        "ok": True,
        "accepted": True,
        "status": "submitted",
        "task_id": task["id"],
    }
    assert completed == {
        "ok": True,
        "status": "completed",
        "task_id": task["id"],
        "credits_earned": task["reward"],
        "balance": 100 + task["reward"],
    }


async def test_a_repeat_of_each_step_changes_nothing(
    member: httpx.AsyncClient,
) -> None:
    task = await first_task(member)
    body = {"task_id": task["id"]}

    await member.post(CLAIM, json=body)
    again = (await member.post(CLAIM, json=body)).json()
    submitted = (await member.post(SUBMIT, json=solved(task))).json()
    resubmitted = (await member.post(SUBMIT, json=solved(task))).json()
    paid = (await member.post(COMPLETE, json=body)).json()
    repaid = (await member.post(COMPLETE, json=body)).json()

    assert again["already_yours"] is True
    assert resubmitted == submitted
    assert repaid == {**paid, "already_completed": True}


async def test_a_claimed_task_is_listed_no_more(member: httpx.AsyncClient) -> None:
    task = await first_task(member)

    await member.post(CLAIM, json={"task_id": task["id"]})

    listed = (await member.get(DISCOVER)).json()["tasks"]
    assert task["id"] not in [one["id"] for one in listed]


async def test_another_agents_claim_is_refused(
    member: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    task = await first_task(member)
    await member.post(CLAIM, json={"task_id": task["id"]})

    claim = await other.post(CLAIM, json={"task_id": task["id"]})
    submit = await other.post(SUBMIT, json=solved(task))
    complete = await other.post(COMPLETE, json={"task_id": task["id"]})

    assert (claim.status_code, claim.json()["error"]) == (409, "already_claimed")
    assert (submit.status_code, submit.json()["error"]) == (409, "not_claimant")
    assert (complete.status_code, complete.json()["error"]) == (409, "not_claimant")


async def test_wrong_work_opens_the_task_for_others_only(
    member: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    task = await first_task(member)
    await member.post(CLAIM, json={"task_id": task["id"]})

    await member.post(SUBMIT, json={"task_id": task["id"], "result": -3})

    again = await member.post(CLAIM, json={"task_id": task["id"]})
    assert (again.status_code, again.json()["error"]) == (409, "result_rejected")
    assert (await member.post(SUBMIT, json=solved(task))).status_code == 409
    taken = await other.post(CLAIM, json={"task_id": task["id"]})
    assert taken.json()["status"] == "claimed"
    assert (await other.post(SUBMIT, json=solved(task))).json()["accepted"]


async def test_completion_needs_an_accepted_result(member: httpx.AsyncClient) -> None:
    task = await first_task(member)
    await member.post(CLAIM, json={"task_id": task["id"]})

    early = await member.post(COMPLETE, json={"task_id": task["id"]})

    assert (early.status_code, early.json()["error"]) == (409, "not_submitted")


async def test_a_posted_task_is_paid_by_its_poster(
    member: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    new = {"title": "Say hello", "description": "In any language", "reward": 30}

    posted = (await member.post(POST, json={**new, "tags": ["hello"]})).json()
    body = {"task_id": posted["task_id"]}
    own = await member.post(CLAIM, json=body)
    await other.post(CLAIM, json=body)
    empty = (await other.post(SUBMIT, json={**body, "result": "  "})).json()

    assert posted["balance"] == 70
    assert posted["task"]["tags"] == ["hello"]
    assert posted["task"]["poster"] == member.headers["X-Agent"]
    assert (own.status_code, own.json()["error"]) == (403, "own_task")
    assert empty["error"] == "result_rejected"


async def test_the_first_real_result_of_a_posted_task_is_accepted(
    member: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    new = {"title": "Say hello", "description": "In any language", "reward": 30}
    body = {"task_id": (await member.post(POST, json=new)).json()["task_id"]}
    await other.post(CLAIM, json=body)

    judged = (await other.post(SUBMIT, json={**body, "result": "Tere!"})).json()
    paid = (await other.post(COMPLETE, json=body)).json()

    assert judged["accepted"]
    assert paid["balance"] == 130


async def test_own_posts_are_listed_to_their_poster(member: httpx.AsyncClient) -> None:
    new = {"title": "Say hello", "description": "In any language", "reward": 1}
    task_id = (await member.post(POST, json=new)).json()["task_id"]

    listed = (await member.get(DISCOVER)).json()["tasks"]
    assert task_id in [task["id"] for task in listed]


@pytest.mark.parametrize(
    ("reward", "status"),
    [(101, 402), (0, 422), (-5, 422), ("ten", 422), (1.5, 422), (10**30, 422)],
)
async def test_a_post_needs_a_reward_that_can_be_paid(
    reward: object, status: int, member: httpx.AsyncClient
) -> None:
    new = {"title": "Say hello", "description": "In any language", "reward": reward}

    answer = await member.post(POST, json=new)

    assert answer.status_code == status
    assert (await member.get("/sandbox/ledger")).json()["balanced"]


@pytest.mark.parametrize("path", [CLAIM, SUBMIT, COMPLETE])
async def test_an_unknown_task_is_not_found(
    path: str, member: httpx.AsyncClient
) -> None:
    answer = await member.post(path, json={"task_id": "task_nowhere", "result": 1})

    assert (answer.status_code, answer.json()["error"]) == (404, "unknown_task")


@pytest.mark.parametrize("path", [CLAIM, SUBMIT, COMPLETE, POST])
async def test_an_agent_cannot_act_for_another(
    path: str, member: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    task = await first_task(member)
    body = {
        "task_id": task["id"],
        "result": 1,
        "title": "x",
        "description": "x",
        "reward": 1,
        "agent_id": other.headers["X-Agent"],
    }

    answer = await member.post(path, json=body)

    assert (answer.status_code, answer.json()["error"]) == (403, "wrong_agent")


@pytest.mark.parametrize("path", [CLAIM, SUBMIT, COMPLETE, POST, DISCOVER])
@pytest.mark.parametrize("header", [None, "Bearer stolen", "Basic eDp5", "Bearer", ""])
async def test_private_actions_need_the_token(
    path: str, header: str | None, visitor: httpx.AsyncClient
) -> None:
    headers = {} if header is None else {"Authorization": header}
    method = "GET" if path == DISCOVER else "POST"

    answer = await visitor.request(method, path, headers=headers)

    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("limit", ["0", "-1", "201", "many", "1.5", ""])
async def test_a_bad_limit_is_refused(limit: str, member: httpx.AsyncClient) -> None:
    answer = await member.get(DISCOVER, params={"limit": limit})

    assert answer.status_code == 422
    assert answer.json()["message"].startswith("limit: ")


async def test_a_limit_bounds_the_list(open_sandbox: Open, join: Join) -> None:
    member = await join(await open_sandbox(tasks=210))

    sizes = [
        (await member.get(DISCOVER + query)).json()["count"]
        for query in ("", "?limit=3", "?limit=200")
    ]

    assert sizes == [50, 3, 200]


async def test_the_public_lists_need_no_token(visitor: httpx.AsyncClient) -> None:
    market = (await visitor.get("/functions/v1/public-marketplace")).json()
    public = (await visitor.get("/functions/v1/public-agents-directory")).json()
    live = (await visitor.get("/functions/v1/agents-directory")).json()

    assert market["count"] == len(market["tasks"]) == 6
    assert public == live
    assert "token" not in str(public)


async def test_a_slug_resolves_to_the_agents_manifest(
    visitor: httpx.AsyncClient, member: httpx.AsyncClient
) -> None:
    path = "/functions/v1/agents-directory"
    listed = (await visitor.get(path)).json()["agents"]
    me = next(one for one in listed if one["agent_id"] == member.headers["X-Agent"])

    found = await visitor.get(path, params={"slug": me["slug"]})
    unknown = await visitor.get(path, params={"slug": "nobody"})

    assert found.json()["manifest"].items() >= me.items()
    assert (unknown.status_code, unknown.json()["error"]) == (404, "unknown_agent")


@pytest.mark.parametrize("step", ["join", "claim", "submit", "complete", "post"])
async def test_a_repeated_idempotency_key_gets_the_same_answer(
    step: str, member: httpx.AsyncClient
) -> None:
    task = await first_task(member)
    steps: dict[str, tuple[str, Fields]] = {
        "join": ("/functions/v1/create-free-agent-public", {}),
        "claim": (CLAIM, {"task_id": task["id"]}),
        "submit": (SUBMIT, solved(task)),
        "complete": (COMPLETE, {"task_id": task["id"]}),
        "post": (POST, {"title": "x", "description": "x", "reward": 10}),
    }
    for before in ("claim", "submit", "complete"):
        if before == step or step in {"join", "post"}:
            break
        path, body = steps[before]
        await member.post(path, json=body)
    path, body = steps[step]

    one, two = [
        await member.post(path, json=body, headers={"Idempotency-Key": "k-1"})
        for _ in range(2)
    ]
    ledger = (await member.get("/sandbox/ledger")).json()

    assert one.status_code == 200
    assert one.content == two.content
    assert ledger["balanced"]
    assert len(ledger["agents"]) == 4 + 1 + (step == "join")


async def test_a_key_is_the_agents_own(
    member: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    task = await first_task(member)
    key = {"Idempotency-Key": "the same"}

    await member.post(CLAIM, json={"task_id": task["id"]}, headers=key)
    late = await other.post(CLAIM, json={"task_id": task["id"]}, headers=key)

    assert late.status_code == 409


async def test_a_refused_request_is_looked_at_again(
    member: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    task = await first_task(member)
    key = {"Idempotency-Key": "k"}
    await member.post(CLAIM, json={"task_id": task["id"]})
    refused = await other.post(CLAIM, json={"task_id": task["id"]}, headers=key)
    await member.post(SUBMIT, json={"task_id": task["id"], "result": 0})

    granted = await other.post(CLAIM, json={"task_id": task["id"]}, headers=key)

    assert (refused.status_code, granted.status_code) == (409, 200)


async def test_who_does_one_kind_of_task_never_runs_out_of_it(
    open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=15, refill=True))

    for _ in range(40):
        listed = (await member.get(DISCOVER)).json()["tasks"]
        assert len(listed) == 15
        task = next(one for one in listed if one["kind"] == "word_count")
        await member.post(CLAIM, json={"task_id": task["id"]})


async def test_a_refilled_market_stays_full_of_work_that_can_be_done(
    open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=34, refill=True))

    for _ in range(60):
        listed = (await member.get(DISCOVER)).json()["tasks"]
        people = [one for one in listed if one["kind"] in {"translation", "drawing"}]
        assert (len(listed), len(people)) == (34, 4)
        task = next(one for one in listed if one not in people)
        await member.post(CLAIM, json={"task_id": task["id"]})

    assert (await member.get("/sandbox/ledger")).json()["balanced"]
