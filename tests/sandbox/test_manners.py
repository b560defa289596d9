"""Manners of the sandbox beyond the forms of bodies: ids, pages, payment, pauses."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2 as httpx
import pytest

from journeyman.sandbox import SandboxEnvironment, SandboxOptions, create_app

Open = Callable[..., Awaitable[httpx.AsyncClient]]
Join = Callable[[httpx.AsyncClient], Awaitable[httpx.AsyncClient]]
Fields = dict[str, Any]
PREFIX = "/functions/v1/"
LISTING = f"{PREFIX}get-marketplace-tasks"
CLAIM = f"{PREFIX}claim-task-public"
SUBMIT = f"{PREFIX}submit-task-result-public"
COMPLETE = f"{PREFIX}complete-task-public"
ONE = {"tasks": 1, "kinds": ("word_count",)}


class SetTime(SandboxEnvironment):
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 21, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


async def first_task(member: httpx.AsyncClient) -> Fields:
    listed = (await member.get(LISTING)).json()
    task: Fields = listed["tasks"][0]
    return task


def answer_to(task: Fields) -> int:
    return len(task["input"]["text"].split())


# -- ids and bodies ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrapper", "names"),
    [
        ("data", ("data", "data", "data")),
        ("input", ("input", "input", "input")),
        ("action", ("claim", "submission", "completion")),
    ],
)
async def test_bodies_are_inside_of_one_more_object(
    wrapper: str, names: tuple[str, str, str], open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(wrapper=wrapper, strict=True, **ONE))
    task = await first_task(member)
    name = {"task_id": task["id"]}
    claim, submission, completion = names

    bare = await member.post(CLAIM, json=name)
    claimed = await member.post(CLAIM, json={claim: name})
    work = {submission: {**name, "result": answer_to(task)}}
    submitted = await member.post(SUBMIT, json=work)
    completed = await member.post(COMPLETE, json={completion: name})

    assert bare.status_code == 422
    assert f"{claim}: Field required" in bare.json()["message"]
    assert claimed.status_code == submitted.status_code == 200
    assert completed.json()["credits_earned"] == task["reward"]


@pytest.mark.parametrize(
    ("request_format", "id_name", "body"),
    [
        ("snake", "job_id", lambda task: {"job_id": task}),
        ("camel", "job_id", lambda task: {"jobId": task}),
        ("id-only", "pk", lambda task: {"pk": task}),
        ("wrapped", "pk", lambda task: {"task": {"pk": task}}),
        ("snake", "task_id", lambda task: {"task_id": task}),
    ],
)
async def test_a_strict_sandbox_calls_an_id_as_it_lists_it(
    request_format: str,
    id_name: str,
    body: Callable[[str], Fields],
    open_sandbox: Open,
    join: Join,
) -> None:
    options = {
        "request_format": request_format,
        "id_name": id_name,
        "naming": "snake",
        "strict": True,
    }
    member = await join(await open_sandbox(**options, **ONE))
    listed = (await member.get(LISTING)).json()
    (task,) = listed.get("data", listed)["tasks"]

    claimed = await member.post(CLAIM, json=body(task[id_name]))

    assert claimed.status_code == 200, claimed.text
    assert "id" not in task


async def test_a_strict_sandbox_takes_an_integer_only_as_one(
    open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(id_format="integer", strict=True, **ONE))
    task = await first_task(member)

    as_text = await member.post(CLAIM, json={"task_id": str(task["id"])})
    as_number = await member.post(CLAIM, json={"task_id": task["id"]})

    assert (as_text.status_code, as_number.status_code) == (422, 200)


async def test_ids_may_be_uuids(open_sandbox: Open, join: Join) -> None:
    member = await join(await open_sandbox(id_format="uuid", **ONE))
    task = await first_task(member)

    claimed = await member.post(CLAIM, json={"task_id": task["id"]})

    assert [len(part) for part in task["id"].split("-")] == [8, 4, 4, 4, 12]
    assert claimed.json()["task"]["id"] == task["id"]


@pytest.mark.parametrize("empty_answers", [False, True])
async def test_receipts_are_given_and_asked_for(
    open_sandbox: Open, join: Join, *, empty_answers: bool
) -> None:
    options = {"receipts": True, "empty_answers": empty_answers}
    member = await join(await open_sandbox(**options, **ONE))
    task = await first_task(member)
    work = {"task_id": task["id"], "result": answer_to(task)}

    claim = (await member.post(CLAIM, json={"task_id": task["id"]})).json()
    without = await member.post(SUBMIT, json=work)
    wrong = await member.post(SUBMIT, json={**work, "claim_id": "claim_x"})
    work["claim_id"] = claim["claim_id"]
    submission = (await member.post(SUBMIT, json=work)).json()
    end = {"task_id": task["id"], "submission_id": submission["submission_id"]}
    completed = await member.post(COMPLETE, json=end)

    assert without.status_code == 422
    assert (wrong.status_code, wrong.json()["error"]) == (404, "unknown_claim")
    assert completed.status_code == 200
    assert (await member.get("/sandbox/ledger")).json()["balanced"]


# -- states and pages ----------------------------------------------------------------


async def test_states_have_other_words_and_taken_tasks_are_listed(
    open_sandbox: Open, join: Join
) -> None:
    options = {"state_words": "german", "lists_taken": True}
    member = await join(await open_sandbox(tasks=2, kinds=("word_count",), **options))
    task = await first_task(member)

    claimed = await member.post(CLAIM, json={"task_id": task["id"]})
    listed = (await member.get(LISTING)).json()["tasks"]

    assert claimed.json()["status"] == "vergeben"
    assert [one["status"] for one in listed] == ["vergeben", "offen"]


NEXT: dict[str, Callable[[Fields], Fields | None]] = {
    "cursor": lambda a: a["next_cursor"] and {"cursor": a["next_cursor"]},
    "page": lambda a: {"page": a["page"] + 1} if a["page"] < a["total_pages"] else None,
    "offset": lambda a: (
        {"offset": a["offset"] + 3} if a["offset"] + 3 < a["total"] else None
    ),
}


@pytest.mark.parametrize("pagination", NEXT)
async def test_pages_hold_each_task_once(
    pagination: str, open_sandbox: Open, join: Join
) -> None:
    options = {"tasks": 8, "pagination": pagination, "page_size": 3}
    member = await join(await open_sandbox(**options))
    query: Fields | None = {}
    seen: list[str] = []

    while query is not None:
        answer = (await member.get(LISTING, params=query)).json()
        seen += [task["id"] for task in answer["tasks"]]
        assert len(answer["tasks"]) <= 3
        query = NEXT[pagination](answer)

    assert len(seen) == len(set(seen)) == 8


@pytest.mark.parametrize(
    ("pagination", "listing_format"), [("link", "items"), ("cursor", "bare")]
)
async def test_a_link_leads_to_the_next_page(
    pagination: str, listing_format: str, open_sandbox: Open, join: Join
) -> None:
    forms = {"pagination": pagination, "listing_format": listing_format}
    member = await join(await open_sandbox(tasks=5, page_size=3, **forms))

    first = await member.get(LISTING)
    address = first.headers["link"].partition(">")[0].removeprefix("<")
    second = await member.get(address)

    assert 'rel="next"' in first.headers["link"]
    assert "link" not in second.headers
    rest = second.json() if listing_format == "bare" else second.json()["items"]
    assert len(rest) == 2


@pytest.mark.parametrize(
    ("pagination", "query"),
    [
        ("cursor", {"cursor": "never shown"}),
        ("page", {"page": "0"}),
        ("offset", {"offset": "-1"}),
        ("link", {"page": "9" * 30}),
    ],
)
async def test_a_page_that_no_answer_has_shown_is_refused(
    pagination: str, query: Fields, open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(tasks=3, pagination=pagination))

    answer = await member.get(LISTING, params=query)

    assert answer.status_code == 422
    assert next(iter(query)) in answer.json()["message"]


# -- payment -------------------------------------------------------------------------


async def test_a_submission_may_pay_and_be_the_end(
    open_sandbox: Open, join: Join
) -> None:
    member = await join(await open_sandbox(payment="on-submission", **ONE))
    task = await first_task(member)
    await member.post(CLAIM, json={"task_id": task["id"]})
    work = {"task_id": task["id"], "result": answer_to(task)}

    paid = (await member.post(SUBMIT, json=work)).json()
    again = (await member.post(SUBMIT, json=work)).json()
    absent = await member.post(COMPLETE, json={"task_id": task["id"]})

    assert (paid["status"], paid["credits_earned"]) == ("completed", task["reward"])
    assert again["balance"] == paid["balance"] == 100 + task["reward"]
    assert absent.status_code == 404
    assert COMPLETE not in (await member.get("/openapi.json")).text


async def test_a_completion_is_pending_until_its_review(join: Join) -> None:
    time = SetTime()
    chosen = SandboxOptions(payment="after-review", review_seconds=60, **ONE)  # type: ignore[arg-type] # as pydantic takes it
    transport = httpx.ASGITransport(create_app(chosen, time))
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as visitor:
        member = await join(visitor)
        task = await first_task(member)
        name = {"task_id": task["id"]}
        await member.post(CLAIM, json=name)
        await member.post(SUBMIT, json={**name, "result": answer_to(task)})

        async def asked(key: str) -> httpx.Response:
            headers = {"Idempotency-Key": key}
            return await member.post(COMPLETE, json=name, headers=headers)

        pending = await asked("first")
        time.time += timedelta(seconds=60)
        repeated, paid = await asked("first"), await asked("second")

    assert (pending.status_code, pending.json()["status"]) == (202, "in_review")
    assert repeated.status_code == 202
    assert (paid.status_code, paid.json()["credits_earned"]) == (200, task["reward"])


# -- pauses --------------------------------------------------------------------------


async def test_a_pause_is_of_all_endpoints(join: Join) -> None:
    time = SetTime()
    transport = httpx.ASGITransport(create_app(SandboxOptions(pause_every=3), time))
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as visitor:
        member = await join(visitor)
        statuses = [(await member.get(LISTING)).status_code for _ in range(3)]
        refused = await visitor.get(f"{PREFIX}public-agents-directory")
        time.time += timedelta(seconds=1)
        after = await member.get(LISTING)
        status = (await visitor.get("/sandbox/status")).json()

    assert statuses == [200, 200, 429]
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert after.status_code == 200
    assert status["refused_by_pauses"] == 1
