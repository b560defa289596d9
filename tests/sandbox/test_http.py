"""Whatever is sent, the answer is JSON in one shape, and never a fault."""

import json

import httpx2 as httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

JOIN = "/functions/v1/create-free-agent-public"
ACTIONS = [
    JOIN,
    "/functions/v1/create-checkout",
    "/functions/v1/claim-task-public",
    "/functions/v1/submit-task-result-public",
    "/functions/v1/complete-task-public",
    "/functions/v1/write-post-task-public",
]
TYPE = {"Content-Type": "application/json"}


def assert_error(answer: httpx.Response, status: int, error: str) -> None:
    body = answer.json()
    assert (answer.status_code, body["error"]) == (status, error), answer.text
    assert body.keys() == {"ok", "error", "message"}
    assert body["ok"] is False
    assert body["message"]


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        pytest.param(b"{", 400, "malformed_json", id="cut off"),
        pytest.param(b"\xff\xfe{}", 400, "malformed_json", id="not UTF-8"),
        pytest.param(b'{"a":NaN}', 400, "malformed_json", id="NaN"),
        pytest.param(b'{"a":1e999}', 400, "malformed_json", id="beyond all bounds"),
        pytest.param(b'{"a":"\\ud800"}', 400, "malformed_json", id="half a pair"),
        pytest.param(b"[" * 50_000, 400, "malformed_json", id="too deep to read"),
        pytest.param(
            b"[" * 100 + b"]" * 100, 400, "malformed_json", id="too deep to write"
        ),
        pytest.param(b"9" * 5000, 400, "malformed_json", id="an endless number"),
        pytest.param(b"x" * (1024 * 1024 + 1), 413, "body_too_large", id="too large"),
        pytest.param(b"null", 422, "invalid_request", id="null"),
        pytest.param(b"[]", 422, "invalid_request", id="a list"),
        pytest.param(b"", 422, "invalid_request", id="nothing"),
    ],
)
async def test_a_bad_body_is_refused(
    body: bytes, status: int, error: str, member: httpx.AsyncClient
) -> None:
    for path in ACTIONS:
        answer = await member.post(path, content=body, headers=TYPE)
        assert_error(answer, status, error)


async def test_a_byte_order_mark_is_passed_over(visitor: httpx.AsyncClient) -> None:
    answer = await visitor.post(JOIN, content=b"\xef\xbb\xbf{}", headers=TYPE)

    assert answer.status_code == 200


@pytest.mark.parametrize("media_type", ["text/plain", "application/xml", ""])
async def test_a_body_must_say_that_it_is_json(
    media_type: str, visitor: httpx.AsyncClient
) -> None:
    headers = {"Content-Type": media_type}

    answer = await visitor.post(JOIN, content=b"{}", headers=headers)

    assert_error(answer, 415, "not_json")


async def test_a_charset_beside_the_media_type_is_fine(
    visitor: httpx.AsyncClient,
) -> None:
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}

    assert (await visitor.post(JOIN, content=b"{}", headers=headers)).status_code == 200


@pytest.mark.parametrize("path", ["/nothing", f"{JOIN}/", "/functions/v1/", "/docs"])
async def test_an_unknown_path_is_not_found(
    path: str, visitor: httpx.AsyncClient
) -> None:
    assert_error(await visitor.get(path), 404, "not_found")


async def test_a_wrong_method_says_which_is_right(visitor: httpx.AsyncClient) -> None:
    answer = await visitor.get(JOIN)

    assert_error(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "POST"


async def test_an_endless_idempotency_key_is_refused(
    visitor: httpx.AsyncClient,
) -> None:
    answer = await visitor.post(JOIN, json={}, headers={"Idempotency-Key": "k" * 256})

    assert_error(answer, 422, "invalid_request")


fields = st.sampled_from(
    [
        "task_id",
        "agent_id",
        "result",
        "evidence",
        "title",
        "description",
        "reward",
        "tags",
        "input",
        "plan",
        "price_id",
        "requested_credits",
        "amount_cents",
        "product_label",
    ],
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@pytest.mark.endurance
@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(path=st.sampled_from(ACTIONS), body=st.dictionaries(fields, values))
async def test_no_body_makes_the_sandbox_fail(
    path: str, body: dict[str, object], member: httpx.AsyncClient
) -> None:
    answer = await member.post(path, content=json.dumps(body), headers=TYPE)

    assert answer.status_code < 500
    assert isinstance(answer.json(), dict)


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(slug=st.text(st.characters(exclude_categories=["Cs"])))
async def test_no_address_makes_the_sandbox_fail(
    slug: str, member: httpx.AsyncClient
) -> None:
    for answer in (
        await member.get("/functions/v1/agents-directory", params={"slug": slug}),
        await member.get("/functions/v1/get-marketplace-tasks", params={"limit": slug}),
    ):
        assert answer.status_code in {200, 404, 422}
        assert isinstance(answer.json(), dict)
