"""How far a task has come, and what must be repeated later, read from any answer."""

import pytest
from tests.network.conftest import ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed, Refusal, Refused, Unknown
from journeyman.domain.tasks import JSON, IdempotencyKey, Progress, Result, Task, TaskId
from journeyman.network.client import NetworkClient
from journeyman.network.service_model.request import (
    LONGEST_GIVEN,
    MOST_VALUES,
    values_in,
)

KEY, TASK = IdempotencyKey("k-1"), Task(id=TaskId("t1"))
WORK = Result({"status": "rejected"}, evidence={"paid": True})


@pytest.mark.parametrize(
    ("status", "body", "progress"),
    [
        (200, {"status": "paid"}, Progress.PAID),
        (200, {"ok": True, "is_paid": True}, Progress.PAID),
        (200, {"task": {"id": 1, "paid_at": "2027-01-02T03:04:05Z"}}, Progress.PAID),
        (200, {"data": {"attributes": {"state": "COMPLETED"}}}, Progress.DONE),
        (
            200,
            {"thing": {"submission": {"status": "PendingReview"}}},
            Progress.IN_REVIEW,
        ),
        (200, {"message": "Your submission is awaiting review."}, Progress.IN_REVIEW),
        (200, {"approved": False}, Progress.IN_REVIEW),
        (200, {"case": {"caseState": "QUALITY_CONTROL"}}, Progress.IN_REVIEW),
        (200, {"name": "operations/7", "done": False}, Progress.IN_REVIEW),
        (200, {"status": "second_reading"}, Progress.IN_REVIEW),
        (200, {"status": "mounted", "seconds_left": 6}, Progress.IN_REVIEW),
        (200, {"order": {"status": "done", "paid": False}}, Progress.DONE),
        (202, {"status": "accepted"}, Progress.IN_REVIEW),
        (202, {}, Progress.IN_REVIEW),
        (202, {"status": "completed"}, Progress.DONE),
        (200, [{"id": 7, "status": "queued"}], Progress.IN_REVIEW),
        (200, {"submission": {"verdict": "incorrect"}}, Progress.REJECTED),
        (200, {"claim": {"status": "expired"}}, Progress.GONE),
        (200, {"assignment": {"status": "in_progress"}}, Progress.CLAIMED),
        # The outer word counts, and a word nobody knows counts for nothing.
        (200, {"status": "completed", "review": {"status": "pending"}}, Progress.DONE),
        (200, {"status": "ok", "review": {"status": "pending"}}, Progress.IN_REVIEW),
        (200, {"status": "frobnicated"}, None),
        (200, {"payment_status": "pending"}, None),
        # What only repeats our work says nothing.
        (200, {"task_id": "t1", "result": {"status": "rejected"}}, None),
        (200, {}, None),
    ],
)
async def test_an_answer_tells_how_far_a_task_has_come(
    server: ScriptedServer,
    network: NetworkClient,
    status: int,
    body: JSON,
    progress: Progress | None,
) -> None:
    server.will(answer(status, body))

    outcome = await network.complete(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.progress is progress


@pytest.mark.parametrize(
    "body",
    [
        {"received": {"status": "rejected"}},
        {"result": {"status": "rejected"}, "evidence": {"paid": True}},
        {"data": {"echo": {"output": {"status": "rejected"}}}},
    ],
)
async def test_our_own_result_is_never_taken_for_a_verdict(
    server: ScriptedServer, network: NetworkClient, body: JSON
) -> None:
    server.will(answer(200, body))

    outcome = await network.submit(TASK, WORK, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.progress is None


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ("must be accepted, is in_review", Refusal.PENDING),
        ("must be one of in_review, accepted", Refusal.INVALID),
    ],
)
async def test_a_state_that_is_told_beside_what_it_must_be_is_a_state(
    server: ScriptedServer, network: NetworkClient, said: str, refusal: Refusal
) -> None:
    server.will(answer(422, {"errors": {"state": [said]}}))

    outcome = await network.complete(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is refusal


async def test_a_submission_is_not_in_review_because_the_task_is_not_done(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(answer(200, {"task": {"id": 7, "completed": False, "paid": False}}))

    outcome = await network.submit(TASK, WORK, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.progress is None


@pytest.mark.parametrize(
    ("body", "earned"),
    [
        ({"completion": {"id": 7, "state": "paid", "amount_cents": 35}}, 35),
        ({"state": "paid", "amount": {"amount": "0.35", "currency": "USD"}}, 35),
        ({"status": "settled", "amount": "12.00", "currency": "credits"}, 12),
        ({"status": "paid", "amount": 12, "currency": "EUR"}, None),
        ({"status": "pending", "amount_cents": 35}, None),
        ({"status": "unheard-of", "amount_cents": 35}, None),
    ],
)
async def test_an_amount_is_paid_where_the_answer_says_paid(
    server: ScriptedServer, network: NetworkClient, body: JSON, earned: float | None
) -> None:
    server.will(answer(200, body))

    outcome = await network.complete(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.credits_earned == earned


async def test_a_submission_may_pay(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(
        answer(200, {"payment": {"amount_paid": "4.00"}, "task": {"reward": 9}}),
        answer(200, {"accepted": True, "task": {"reward": 9}}),
    )

    paid = await network.submit(TASK, WORK, KEY)
    accepted = await network.submit(TASK, WORK, KEY)

    assert isinstance(paid, Confirmed)
    assert (paid.value.credits_earned, paid.value.progress) == (4, Progress.PAID)
    assert isinstance(accepted, Confirmed)
    assert (accepted.value.credits_earned, accepted.value.progress) == (None, None)


@pytest.mark.parametrize(
    ("status", "body", "refusal", "progress"),
    [
        (409, {"error": "review_pending"}, Refusal.PENDING, Progress.IN_REVIEW),
        (422, {"message": "not yet approved"}, Refusal.PENDING, Progress.IN_REVIEW),
        (
            400,
            {"Message": "This operation can be called with a status of: Approved"},
            Refusal.PENDING,
            Progress.IN_REVIEW,
        ),
        (425, {}, Refusal.PENDING, Progress.IN_REVIEW),
        (409, "still rendering, try again in 3 s", Refusal.PENDING, Progress.IN_REVIEW),
        (
            400,
            "Reviews take a second; try again then",
            Refusal.PENDING,
            Progress.IN_REVIEW,
        ),
        (400, {"review": "pending"}, Refusal.PENDING, Progress.IN_REVIEW),
        (409, {"say": "Try again shortly."}, Refusal.PENDING, Progress.IN_REVIEW),
        (409, {"error": "Ann is still working on it"}, Refusal.CONFLICT, None),
        (409, {"error": "the cover is still missing"}, Refusal.CONFLICT, None),
        (409, "job 3 has no output", Refusal.CONFLICT, Progress.CLAIMED),
        (422, {"error": "no result was submitted"}, Refusal.CONFLICT, Progress.CLAIMED),
        (409, {"error": "task already completed"}, Refusal.CONFLICT, Progress.DONE),
        (409, {"state": "paid"}, Refusal.CONFLICT, Progress.PAID),
        (
            422,
            {"error": "The answer is incorrect."},
            Refusal.REJECTED,
            Progress.REJECTED,
        ),
        (410, {"error": "the claim has expired"}, Refusal.ABSENT, Progress.GONE),
        (409, {"error": "completed by another agent"}, Refusal.CONFLICT, None),
        (422, {"error": "status must be one of pending, done"}, Refusal.INVALID, None),
        (400, {"error": "field 'pending' is not allowed"}, Refusal.INVALID, None),
        (400, {"error": "request rejected"}, Refusal.INVALID, None),
        (404, {"error": "not found"}, Refusal.ABSENT, None),
    ],
)
async def test_a_refusal_tells_it_too(
    server: ScriptedServer,
    network: NetworkClient,
    status: int,
    body: JSON,
    refusal: Refusal,
    progress: Progress | None,
) -> None:
    server.will(
        answer(status, body.encode()) if isinstance(body, str) else answer(status, body)
    )

    outcome = await network.complete(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert (outcome.refusal, outcome.progress) == (refusal, progress)


@pytest.mark.parametrize(
    ("body", "is_blank"),
    [
        (b"", True),
        (b"OK", True),
        (b"<html><body>hi</body></html>", False),
        (b"{", False),
    ],
)
async def test_a_yes_without_content_differs_from_a_page(
    server: ScriptedServer, network: NetworkClient, body: bytes, *, is_blank: bool
) -> None:
    server.will(answer(200, body))

    outcome = await network.complete(TASK, KEY)

    assert isinstance(outcome, Unknown)
    assert outcome.is_blank_yes is is_blank


async def test_the_row_that_a_database_refuses_tells_no_state(
    server: ScriptedServer, network: NetworkClient
) -> None:
    row = "Failing row contains (b3e58e1e, null, rejected as late, pending)."
    message = 'null value in column "claim_id" violates not-null constraint'
    server.will(answer(400, {"code": "23502", "details": row, "message": message}))

    outcome = await network.submit(TASK, Result("rejected as late"), KEY)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.INVALID
    assert outcome.progress is None


async def test_what_an_answer_gave_is_kept_by_action_and_path(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(
        answer(200, {"assignment": {"id": 77, "note": None}, "nonce": "x", "fee": 0.5})
    )

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.given == {
        "claim.nonce": "x",
        "claim.fee": 0.5,
        "claim.assignment.id": 77,
    }


def test_of_a_large_answer_the_outer_short_values_are_kept() -> None:
    many: JSON = {f"n{n}": {"deep": n} for n in range(100)}
    body: JSON = {"many": many, "text": "x" * (LONGEST_GIVEN + 1), "version": 3}

    given = values_in("submit", body)

    assert len(given) == MOST_VALUES
    assert given["submit.version"] == 3
    assert "submit.text" not in given


async def test_what_went_wrong_while_a_request_was_processed_is_not_in_review(
    server: ScriptedServer, network: NetworkClient
) -> None:
    said = "Something went wrong while processing your request."
    blank: JSON = {"code": "validation_required", "message": "Cannot be blank."}
    server.will(answer(400, {"data": {"bounty": blank}, "message": said}))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert (outcome.refusal, outcome.progress) == (Refusal.INVALID, None)
