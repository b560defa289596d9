"""The bodies of the actions in every ready request_format, taken strictly and not."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2 as httpx
import pytest
from openapi_spec_validator import validate

Open = Callable[..., Awaitable[httpx.AsyncClient]]
Join = Callable[[httpx.AsyncClient], Awaitable[httpx.AsyncClient]]
Fields = dict[str, Any]
PREFIX = "/functions/v1/"
CLAIM = f"{PREFIX}claim-task-public"
SUBMIT = f"{PREFIX}submit-task-result-public"
COMPLETE = f"{PREFIX}complete-task-public"
POST = f"{PREFIX}write-post-task-public"
REQUEST_FORMATS = ["snake", "camel", "id-only", "wrapped"]


def naming(request_format: str, task_id: str, agent_id: str) -> Fields:
    """Name a task, and the agent where the request_format does."""
    bodies: dict[str, Fields] = {
        "snake": {"task_id": task_id, "agent_id": agent_id},
        "camel": {"taskId": task_id, "agentId": agent_id},
        "id-only": {"id": task_id},
        "wrapped": {"task": {"id": task_id}, "agent": {"id": agent_id}},
    }
    return bodies[request_format]


def handing_in(
    request_format: str, task_id: str, agent_id: str, result: object
) -> Fields:
    body = naming(request_format, task_id, agent_id)
    work = {"result": result, "evidence": {"method": "counted"}}
    return (
        {**body, "submission": work}
        if request_format == "wrapped"
        else {**body, **work}
    )


def posting(request_format: str, agent_id: str, work: Fields) -> Fields:
    bodies: dict[str, Fields] = {
        "snake": {**work, "agent_id": agent_id},
        "camel": {**work, "agentId": agent_id},
        "id-only": work,
        "wrapped": {"task": work, "agent": {"id": agent_id}},
    }
    return bodies[request_format]


async def lived(member: httpx.AsyncClient, request_format: str, task: Fields) -> Fields:
    """Claim, submit and complete; give the last answer."""
    us, result = member.headers["X-Agent"], len(task["input"]["text"].split())
    name = naming(request_format, task["id"], us)
    claimed = await member.post(CLAIM, json=name)
    assert claimed.status_code == 200, claimed.text
    work = handing_in(request_format, task["id"], us, result)
    submitted = await member.post(SUBMIT, json=work)
    assert submitted.status_code == 200, submitted.text
    completed: Fields = (await member.post(COMPLETE, json=name)).json()
    return completed


async def tasks_of(member: httpx.AsyncClient) -> list[Fields]:
    answer = await member.get(f"{PREFIX}get-marketplace-tasks")
    listed: list[Fields] = answer.json()["tasks"]
    return listed


@pytest.mark.parametrize("request_format", REQUEST_FORMATS)
async def test_a_strict_sandbox_takes_its_own_request_format(
    request_format: str, open_sandbox: Open, join: Join
) -> None:
    options = {
        "request_format": request_format,
        "strict": True,
        "listing_format": "items",
    }
    member = await join(await open_sandbox(tasks=1, kinds=("word_count",), **options))
    listed = await member.get(f"{PREFIX}public-marketplace")
    answer = listed.json()
    (task,) = (answer.get("data") or answer)["items"]

    completed = await lived(member, request_format, task)
    us = member.headers["X-Agent"]
    work = {"title": "Say hello", "description": "In any way", "reward": 3}
    posted = await member.post(POST, json=posting(request_format, us, work))

    told = completed.get("data", completed)
    assert task["reward"] in {told.get("credits_earned"), told.get("creditsEarned")}
    assert posted.status_code == 200, posted.text
    assert (await member.get("/sandbox/ledger")).json()["balanced"]


@pytest.mark.parametrize("own", REQUEST_FORMATS)
async def test_a_strict_sandbox_takes_no_other_request_format(
    own: str, open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=1, request_format=own, strict=True))

    async def statuses(request_format: str) -> set[int]:
        bodies = {
            CLAIM: naming(request_format, "t", "a"),
            SUBMIT: handing_in(request_format, "t", "a", 1),
            COMPLETE: naming(request_format, "t", "a"),
        }
        answers = [await member.post(path, json=bodies[path]) for path in bodies]
        return {answer.status_code for answer in answers}

    assert await statuses(own) <= {403, 404}
    for other in set(REQUEST_FORMATS) - {own}:
        assert await statuses(other) == {422}, other


@pytest.mark.parametrize("own", REQUEST_FORMATS)
async def test_without_strictness_every_request_format_is_taken(
    own: str, open_sandbox: Open, join: Join
) -> None:
    member = await join(
        await open_sandbox(tasks=4, kinds=("word_count",), request_format=own)
    )
    answer = (await member.get(f"{PREFIX}get-marketplace-tasks")).json()

    for other, task in zip(
        REQUEST_FORMATS, answer.get("data", answer)["tasks"], strict=True
    ):
        completed = await lived(member, other, task)
        assert completed["ok"] is True


@pytest.mark.parametrize(
    ("request_format", "missing", "unknown"),
    [
        ("snake", "task_id", "x"),
        ("camel", "taskId", "x"),
        ("id-only", "id", "x"),
        ("wrapped", "task", "x"),
    ],
)
async def test_a_strict_refusal_names_what_is_missing_and_what_is_unknown(
    request_format: str, missing: str, unknown: str, open_sandbox: Open, join: Join
) -> None:
    member = await join(
        await open_sandbox(tasks=0, request_format=request_format, strict=True)
    )

    answer = await member.post(CLAIM, json={unknown: 1})

    assert answer.status_code == 422
    assert f"{missing}: Field required" in answer.json()["message"]
    assert f"{unknown}: Extra inputs are not permitted" in answer.json()["message"]


async def test_an_unknown_field_inside_of_a_wrapper_is_refused_too(
    open_sandbox: Open, join: Join
) -> None:
    member = await join(
        await open_sandbox(tasks=0, request_format="wrapped", strict=True)
    )

    answer = await member.post(CLAIM, json={"task": {"id": "t", "kind": "x"}})

    assert "task.kind: Extra inputs" in answer.json()["message"]


@pytest.mark.parametrize("request_format", REQUEST_FORMATS)
async def test_a_lenient_refusal_names_the_place_in_its_own_request_format(
    request_format: str, open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=0, request_format=request_format))
    wanted = {"snake": "task_id", "camel": "taskId", "id-only": "id"}

    answer = await member.post(CLAIM, json={})

    place = wanted.get(request_format, "task.id")
    assert answer.json()["message"] == f"{place}: Field required"


@pytest.mark.parametrize("request_format", REQUEST_FORMATS)
async def test_registration_and_checkout_stay_as_the_contract_shows_them(
    request_format: str, open_sandbox: Open
) -> None:
    visitor = await open_sandbox(
        tasks=0,
        request_format=request_format,
        strict=True,
        error_format="html",
        naming="pascal",
        empty_answers=True,
        value_format="objects",
        record_format="graphql",
    )

    joined = await visitor.post(f"{PREFIX}create-free-agent-public", json={})
    bought = await visitor.post(
        f"{PREFIX}create-checkout",
        json={
            "plan": "credit_pack",
            "agent_id": joined.json()["agent_id"],
            "price_id": "price_custom",
            "requested_credits": 50,
            "amount_cents": 50,
            "source": "a test",
        },
    )

    assert joined.json().keys() == {"agent_id", "access_token", "credits"}
    contract = {"ok", "sessionId", "url", "mode", "agentId", "plan"}
    assert bought.json().keys() == contract


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("request_format", "errors"),
    [
        ("snake", "html"),
        ("camel", "json"),
        ("id-only", "problem-json"),
        ("wrapped", "zod"),
    ],
)
async def test_openapi_is_valid_and_tells_the_names_of_the_request_format(
    request_format: str, errors: str, open_sandbox: Open, *, strict: bool
) -> None:
    visitor = await open_sandbox(
        tasks=0, request_format=request_format, strict=strict, error_format=errors
    )

    described = (await visitor.get("/openapi.json")).json()

    validate(described)
    operation = described["paths"][CLAIM]["post"]
    content = operation["requestBody"]["content"]["application/json"]["schema"]
    name = content["$ref"].rpartition("/")[2]
    schema = described["components"]["schemas"][name]
    assert schema.get("additionalProperties", True) is not strict
    if strict:
        own = naming(request_format, "t", "a")
        assert schema["properties"].keys() == own.keys()
    (media_type,) = operation["responses"]["4XX"]["content"]
    refused = await visitor.post(CLAIM, json={})
    assert refused.headers["content-type"].partition(";")[0] == media_type


@pytest.mark.parametrize("name", ["complete_task", "marketplace", "create"])
async def test_an_absent_endpoint_answers_404_and_no_document_names_it(
    name: str, open_sandbox: Open, join: Join
) -> None:
    if name == "create":
        with pytest.raises(ValueError, match="there is no 'create'"):
            await open_sandbox(tasks=0, absent_endpoints=(name,))
        return
    member = await join(await open_sandbox(tasks=0, absent_endpoints=(name,)))
    path = {"complete_task": COMPLETE, "marketplace": f"{PREFIX}public-marketplace"}
    method = "POST" if name == "complete_task" else "GET"

    answer = await member.request(method, path[name], json={})

    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    for document in ("/.well-known/agent-gateway.json", "/llms.txt", "/openapi.json"):
        assert path[name] not in (await member.get(document)).text
