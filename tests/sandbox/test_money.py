"""Credits are moved and never appear; a checkout is paid once."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import httpx2 as httpx
import pytest

Open = Callable[..., Awaitable[httpx.AsyncClient]]
Join = Callable[[httpx.AsyncClient], Awaitable[httpx.AsyncClient]]
Fields = dict[str, Any]
CHECKOUT = "/functions/v1/create-checkout"


def order(member: httpx.AsyncClient, **changes: object) -> Fields:
    return {
        "plan": "credit_pack",
        "agent_id": member.headers["X-Agent"],
        "price_id": "price_custom",
        "requested_credits": 250,
        "amount_cents": 250,
        **changes,
    }


async def checkout(member: httpx.AsyncClient, **changes: object) -> str:
    answer = await member.post(CHECKOUT, json=order(member, **changes))
    assert answer.status_code == 200, answer.text
    return str(answer.json()["url"])


async def own_account(member: httpx.AsyncClient) -> Fields:
    ledger = (await member.get("/sandbox/ledger")).json()
    assert ledger["balanced"]
    assert ledger["difference"] == 0
    agents: list[Fields] = ledger["agents"]
    return next(one for one in agents if one["agent_id"] == member.headers["X-Agent"])


async def test_a_checkout_has_the_contracts_answer(member: httpx.AsyncClient) -> None:
    answer = (await member.post(CHECKOUT, json=order(member))).json()

    assert answer.pop("url").endswith(f"/checkout/{answer.pop('sessionId')}")
    assert answer == {
        "ok": True,
        "mode": "payment",
        "agentId": member.headers["X-Agent"],
        "plan": "credit_pack",
    }


async def test_a_subscription_has_its_own_mode(member: httpx.AsyncClient) -> None:
    body = order(
        member,
        plan="subscription",
        price_id="price_monthly_3000",
        requested_credits=3000,
        amount_cents=3000,
    )

    assert (await member.post(CHECKOUT, json=body)).json()["mode"] == "subscription"


async def test_credits_arrive_when_the_page_is_paid_and_once(
    member: httpx.AsyncClient,
) -> None:
    url = await checkout(member)
    before = await own_account(member)

    paid = await member.post(f"{url}/pay")
    after = await own_account(member)
    again = await member.post(f"{url}/pay")

    assert before["balance"] == 100
    assert (paid.status_code, after["balance"], after["bought"]) == (200, 350, 250)
    assert again.status_code == 200
    assert "already paid" in again.text
    assert await own_account(member) == after


async def test_a_cancelled_checkout_cannot_be_paid(member: httpx.AsyncClient) -> None:
    url = await checkout(member)

    cancelled = await member.post(f"{url}/cancel")
    late = await member.post(f"{url}/pay")

    assert "Cancelled" in cancelled.text
    assert late.status_code == 409
    assert (await own_account(member))["balance"] == 100


async def test_a_checkout_that_has_expired_cannot_be_paid(
    open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=0, checkout_hours=1e-9))
    url = await checkout(member)

    page = await member.get(url)
    late = await member.post(f"{url}/pay")

    assert "Expired" in page.text
    assert "<form" not in page.text
    assert (late.status_code, "already expired" in late.text) == (409, True)
    assert (await own_account(member))["balance"] == 100


async def test_a_paid_checkout_cannot_be_cancelled(member: httpx.AsyncClient) -> None:
    url = await checkout(member)
    await member.post(f"{url}/pay")

    late = await member.post(f"{url}/cancel")

    assert late.status_code == 409
    assert (await own_account(member))["balance"] == 350


async def test_the_payment_page_shows_the_order_and_escapes_it(
    member: httpx.AsyncClient,
) -> None:
    url = await checkout(member, product_label="<script>alert('x')</script> & co")

    page = await member.get(url)

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script>" not in page.text
    assert "&lt;script&gt;" in page.text
    assert "$2.50" in page.text
    assert member.headers["X-Agent"] in page.text
    assert page.text.count('<form method="post"') == 2


@pytest.mark.parametrize("action", ["", "/pay", "/cancel"])
async def test_an_unknown_session_is_a_friendly_page(
    action: str, visitor: httpx.AsyncClient
) -> None:
    method = "POST" if action else "GET"

    page = await visitor.request(method, f"/checkout/cs_nothing{action}")

    assert page.status_code == 404
    assert "No such checkout" in page.text


@pytest.mark.parametrize(
    ("changes", "status", "error"),
    [
        pytest.param({"amount_cents": 249}, 422, "wrong_amount", id="not the rate"),
        pytest.param(
            {"requested_credits": 0, "amount_cents": 0}, 422, "wrong_amount", id="none"
        ),
        pytest.param(
            {"requested_credits": 10**30, "amount_cents": 10**30},
            422,
            "wrong_amount",
            id="too many",
        ),
        pytest.param({"price_id": "price_x"}, 422, "unknown_price", id="no price"),
        pytest.param(
            {"price_id": "price_credits_500"}, 422, "wrong_amount", id="other pack"
        ),
        pytest.param({"plan": "subscription"}, 422, "wrong_plan", id="other plan"),
        pytest.param({"agent_id": "agent_x"}, 404, "unknown_agent", id="nobody"),
        pytest.param({"amount_cents": "250"}, 422, "invalid_request", id="a string"),
        pytest.param({"source": 5}, 422, "invalid_request", id="a number"),
    ],
)
async def test_a_wrong_order_is_refused(
    changes: Fields, status: int, error: str, member: httpx.AsyncClient
) -> None:
    answer = await member.post(CHECKOUT, json=order(member, **changes))

    assert (answer.status_code, answer.json()["error"]) == (status, error)


@pytest.mark.parametrize("missing", ["plan", "agent_id", "price_id", "amount_cents"])
async def test_a_required_field_of_an_order_is_required(
    missing: str, member: httpx.AsyncClient
) -> None:
    body = order(member)
    del body[missing]

    answer = await member.post(CHECKOUT, json=body)

    assert answer.status_code == 422
    assert missing in answer.json()["message"]


async def test_posters_paid_for_what_they_post(visitor: httpx.AsyncClient) -> None:
    ledger = (await visitor.get("/sandbox/ledger")).json()

    assert len(ledger["agents"]) == 4
    assert all(one["starter"] == 100 for one in ledger["agents"])
    assert all(one["bought"] >= 1000 for one in ledger["agents"])
    assert ledger["balances"]["escrow"] == sum(one["spent"] for one in ledger["agents"])


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_ledger_balances_after_any_walk(
    seed: int, open_sandbox: Open, join: Join
) -> None:
    rng = Random(seed)  # noqa: S311 - repeatable on purpose
    visitor = await open_sandbox(tasks=8, kinds=("word_count",), refill=True, seed=seed)
    members = [await join(visitor) for _ in range(3)]
    known = [one["id"] for one in await listed(members[0])]

    for _ in range(150):
        member = rng.choice(members)
        if rng.random() < 0.3:
            known += await spend(rng, member)
        else:
            await work(rng, member, rng.choice(known))
        known += [one["id"] for one in (await listed(member))[-1:]]
        await own_account(member)

    counts = (await visitor.get("/sandbox/ledger")).json()["tasks"]
    assert all(counts[state] for state in ("open", "claimed", "completed"))


async def listed(member: httpx.AsyncClient) -> list[Fields]:
    answer = await member.get("/functions/v1/get-marketplace-tasks?limit=200")
    tasks: list[Fields] = answer.json()["tasks"]
    return tasks


async def work(rng: Random, member: httpx.AsyncClient, task_id: str) -> None:
    body: Fields = {"task_id": task_id}
    claim = await member.post("/functions/v1/claim-task-public", json=body)
    if rng.random() < 0.7 and claim.status_code == 200:
        given = claim.json()["task"]["input"]
        result = len(given["text"].split()) if given else "done"
        result = rng.choice((result, result, 0))
        path = "/functions/v1/submit-task-result-public"
        await member.post(path, json={**body, "result": result})
    if rng.random() < 0.7:
        await member.post("/functions/v1/complete-task-public", json=body)


async def spend(rng: Random, member: httpx.AsyncClient) -> list[str]:
    if rng.random() < 0.4:
        action = rng.choice(("pay", "pay", "cancel"))
        await member.post(f"{await checkout(member)}/{action}")
        return []
    new = {"title": "x", "description": "x", "reward": rng.randint(1, 90)}
    answer = await member.post("/functions/v1/write-post-task-public", json=new)
    return [answer.json()["task_id"]] if answer.status_code == 200 else []
