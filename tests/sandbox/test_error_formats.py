"""How errors are written in each format."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2 as httpx
import pytest

Open = Callable[..., Awaitable[httpx.AsyncClient]]
Join = Callable[[httpx.AsyncClient], Awaitable[httpx.AsyncClient]]
CLAIM = "/functions/v1/claim-task-public"
TYPE = {"Content-Type": "application/json"}
ERROR_FORMATS = ["json", "supabase", "problem-json", "fastapi", "zod", "plain", "html"]

Opened = Callable[[str], Awaitable[httpx.AsyncClient]]


@pytest.fixture
def strict_member(open_sandbox: Open, join: Join) -> Opened:
    """Join a strict sandbox with an error format."""

    async def opened(errors: str) -> httpx.AsyncClient:
        return await join(await open_sandbox(tasks=1, strict=True, error_format=errors))

    return opened


@pytest.mark.parametrize(
    ("errors", "status", "told"),
    [
        (
            "json",
            422,
            {
                "ok": False,
                "error": "invalid_request",
                "message": "task_id: Field required; "
                "taskId: Extra inputs are not permitted",
            },
        ),
        (
            "supabase",
            400,
            {
                "code": "PGRST204",
                "message": "Could not find the 'taskId' column in the schema cache",
                "details": "invalid_request",
                "hint": None,
            },
        ),
        (
            "problem-json",
            422,
            {
                "type": "urn:problem:invalid-request",
                "title": "Invalid request",
                "status": 422,
                "detail": "task_id: Field required; "
                "taskId: Extra inputs are not permitted",
                "errors": [
                    {"detail": "Field required", "pointer": "#/task_id"},
                    {
                        "detail": "Extra inputs are not permitted",
                        "pointer": "#/taskId",
                    },
                ],
            },
        ),
        (
            "fastapi",
            422,
            {
                "detail": [
                    {
                        "type": "missing",
                        "loc": ["body", "task_id"],
                        "msg": "Field required",
                    },
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "taskId"],
                        "msg": "Extra inputs are not permitted",
                    },
                ]
            },
        ),
        (
            "zod",
            400,
            {
                "success": False,
                "error": {
                    "name": "ZodError",
                    "issues": [
                        {
                            "code": "invalid_type",
                            "received": "undefined",
                            "path": ["task_id"],
                            "message": "Required",
                        },
                        {
                            "code": "unrecognized_keys",
                            "keys": ["taskId"],
                            "path": [],
                            "message": "Unrecognized key(s) in object: 'taskId'",
                        },
                    ],
                },
            },
        ),
    ],
)
async def test_a_body_in_another_request_format_is_refused_in_the_error_format(
    errors: str, status: int, told: dict[str, Any], strict_member: Opened
) -> None:
    member = await strict_member(errors)

    answer = await member.post(CLAIM, json={"taskId": "t"})

    assert (answer.status_code, answer.json()) == (status, told)


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        ({}, "23502", 'null value in column "task_id" violates not-null constraint'),
        ({"task_id": None}, "22P02", 'invalid input for column "task_id"'),
    ],
)
async def test_supabase_has_postgresqls_codes(
    body: dict[str, object], code: str, told: str, strict_member: Opened
) -> None:
    member = await strict_member("supabase")

    answer = (await member.post(CLAIM, json=body)).json()

    assert answer["code"] == code
    assert answer["message"].startswith(told)


@pytest.mark.parametrize("errors", ["plain", "html"])
async def test_words_without_a_structure_name_the_field_too(
    errors: str, strict_member: Opened
) -> None:
    member = await strict_member(errors)

    answer = await member.post(CLAIM, json={"taskId": "<b>"})

    assert answer.status_code == 400
    assert "task_id: Field required" in answer.text
    kind = "text/html" if errors == "html" else "text/plain"
    assert answer.headers["content-type"] == f"{kind}; charset=utf-8"


@pytest.mark.parametrize("errors", ERROR_FORMATS)
async def test_statuses_other_than_invalid_are_the_same_in_all(
    errors: str, strict_member: Opened
) -> None:
    member = await strict_member(errors)
    task = {"task_id": "task_nowhere"}
    anyone = {"Authorization": ""}

    answers = [
        await member.post(CLAIM, json=task),
        await member.post(CLAIM, json=task, headers=anyone),
        await member.post(CLAIM, json={**task, "agent_id": "another"}),
        await member.post(CLAIM, content=b"{", headers=TYPE),
        await member.post(CLAIM, content=b"{}", headers={"Content-Type": "text/plain"}),
        await member.get(CLAIM),
        await member.get("/nowhere"),
    ]

    statuses = [answer.status_code for answer in answers]
    assert statuses == [404, 401, 403, 400, 415, 405, 404]
    assert answers[1].headers["WWW-Authenticate"] == "Bearer"
    assert answers[5].headers["Allow"] == "POST"
    media = {one.headers["content-type"].partition(";")[0] for one in answers}
    assert len(media) == 1


@pytest.mark.parametrize("errors", ["html", "problem-json", "zod", "supabase"])
async def test_what_a_client_sent_is_no_markup_and_breaks_no_json(
    errors: str, strict_member: Opened
) -> None:
    member = await strict_member(errors)

    answer = await member.post(CLAIM, json={'<script>"~/\u2028': 1})

    assert answer.status_code in {400, 422}
    assert errors != "html" or "<script>" not in answer.text
    assert errors == "html" or answer.json()
