"""The task flow: list, post, claim, submit, complete (contract endpoints 3, 6-10)."""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from http import HTTPStatus
from random import Random
from typing import Any, NamedTuple

from journeyman.sandbox import ledger
from journeyman.sandbox.errors import RefusalError
from journeyman.sandbox.kinds import KINDS
from journeyman.sandbox.kinds.kind import WrongAnswerError
from journeyman.sandbox.store import State

DEFAULT_LIMIT = 50
LARGEST_LIMIT = 200
IN_REVIEW = "in_review"
"""The status of a task whose result nobody has looked at yet."""


class NewTask(NamedTuple):
    """A task to be published."""

    task_id: str
    kind: str
    title: str
    description: str
    tags: Sequence[str]
    input: Any
    reward: int
    poster: str
    series_number: int | None = None
    """Its number in the generated series; None for a client's task."""
    answer: Any = None
    """The right answer, which the check of its kind knows; only if generated."""


class Start(NamedTuple):
    """Where a listing begins."""

    after: int = 0
    """After this task, by its sequence."""
    skipped: int = 0
    """And after so many more."""


_BEGINNING = Start()


class TaskRecords(NamedTuple):
    """A part of the list of tasks."""

    records: list[dict[str, Any]]
    total: int
    """How many tasks all parts have."""
    last: int
    """The last one's sequence; 0 without any."""


def listing(
    state: State, limit: int, start: Start = _BEGINNING, viewer: str = ""
) -> TaskRecords:
    """List the open tasks, or all of them, the oldest first.

    `viewer` is the agent that asks, where that is known: it may see what became of its
    own posts.
    """
    expire(state)
    viewer = viewer if state.options.own_posts else ""
    which, seen_by = "status = 'open'", tuple[str, ...]()
    if state.options.lists_taken:
        which = "TRUE"
    elif viewer:
        which, seen_by = "(status = 'open' OR poster = ?)", (viewer,)
    (total,) = state.db.execute(
        f"SELECT count(*) FROM tasks WHERE {which}",  # noqa: S608 - ours
        seen_by,
    ).fetchone()
    rows = state.db.execute(
        f"SELECT * FROM tasks WHERE {which} AND sequence > ?"  # noqa: S608 - ours
        " ORDER BY sequence LIMIT ? OFFSET ?",
        (*seen_by, start.after, limit, start.skipped),
    ).fetchall()
    last = rows[-1]["sequence"] if rows else 0
    records = [_record(row) | _outcome(row, viewer) for row in rows]
    return TaskRecords(records, total, last)


def expire(state: State) -> None:
    """Close the posts of clients that nobody claimed in time; their rewards go back."""
    if not state.options.post_hours:
        return
    age = timedelta(hours=state.options.post_hours)
    query = (
        "SELECT * FROM tasks WHERE status = 'open' AND series_number IS NULL "
        "AND created_at <= ?"
    )
    late = state.written(state.environment.now() - age)
    for task in state.db.execute(query, (late,)).fetchall():
        with state.transaction():
            ledger.move(
                state.db,
                reason="refund",
                reference=task["task_id"],
                source=ledger.ESCROW,
                target=task["poster"],
                amount=task["reward"],
                at=state.now(),
            )
            state.db.execute(
                "UPDATE tasks SET status = 'expired' WHERE task_id = ?",
                (task["task_id"],),
            )


def post(state: State, new: NewTask) -> dict[str, Any]:
    """Publish a task; its reward goes from the poster into escrow."""
    balance = ledger.balance_of(state.db, new.poster)
    fee = state.options.post_fee if new.series_number is None else 0
    cost = new.reward + fee
    if balance < cost:
        beside = f", the fee {fee}" if fee else ""
        raise RefusalError(
            HTTPStatus.PAYMENT_REQUIRED,
            "insufficient_credits",
            f"the reward is {new.reward} credits{beside} and the balance is {balance}",
        )
    now = state.now()
    state.db.execute(
        "INSERT INTO tasks (task_id, kind, title, description, tags, input, reward,"
        " poster, created_at, series_number,"
        " answer) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *new[:4],
            _json(list(new.tags)),
            _json(new.input),
            new.reward,
            new.poster,
            now,
            new.series_number,
            None if new.series_number is None else _json(new.answer),
        ),
    )
    for account, amount in ((ledger.ESCROW, new.reward), (ledger.FEES, fee)):
        if amount:
            ledger.move(
                state.db,
                reason=account,
                reference=new.task_id,
                source=new.poster,
                target=account,
                amount=amount,
                at=now,
            )
    return {
        "ok": True,
        "task_id": new.task_id,
        "task": _record(_task(state, new.task_id)),
        "balance": balance - cost,
        **({"fee": fee} if fee else {}),
    }


def claim(state: State, agent_id: str, task_id: str) -> dict[str, Any]:
    """Assign an open task to one agent; a repeat by that agent changes nothing."""
    task = _task(state, task_id)
    if task["poster"] == agent_id:
        raise RefusalError(HTTPStatus.FORBIDDEN, "own_task", "this is your own task")
    if task["claimant"] == agent_id:
        return {
            "ok": True,
            "status": task["status"],
            "already_yours": True,
            "task": _record(task),
            **_receipt(state, "claim", task_id, agent_id),
        }
    _refuse_after_rejection(state, agent_id, task_id)
    if task["status"] != "open":
        raise RefusalError(
            HTTPStatus.CONFLICT, "already_claimed", "another agent has claimed it"
        )
    state.db.execute(
        "UPDATE tasks SET status = 'claimed', claimant = ? WHERE task_id = ?",
        (agent_id, task_id),
    )
    return {
        "ok": True,
        "status": "claimed",
        "task": _record(_task(state, task_id)),
        **_receipt(state, "claim", task_id, agent_id),
    }


def submit(state: State, agent_id: str, task_id: str, result: object) -> dict[str, Any]:
    """Check a result at once; a wrong one opens the task again for others."""
    task = _claimed_task(state, agent_id, task_id)
    if task["status"] == "claimed":
        try:
            _check(task, result)
        except WrongAnswerError as wrong:
            return _reject(state, agent_id, task_id, str(wrong))
        reviewed_at = state.environment.now() + _review_time(state)
        state.db.execute(
            "UPDATE tasks SET status = 'submitted', result = ?, reviewed_at = ?"
            " WHERE task_id = ?",
            (_json(result), reviewed_at.isoformat(timespec="microseconds"), task_id),
        )
    if state.options.payment == "on-submission":
        return {"accepted": True, **complete(state, agent_id, task_id)}
    return {
        "ok": True,
        "accepted": True,
        "status": "submitted",
        "task_id": task_id,
        **_receipt(state, "submission", task_id, agent_id),
    }


def complete(state: State, agent_id: str, task_id: str) -> dict[str, Any]:
    """Pay the reward of an accepted task, once, or say that it is still reviewed."""
    task = _claimed_task(state, agent_id, task_id)
    if task["status"] == "claimed":
        raise RefusalError(
            HTTPStatus.CONFLICT,
            "not_submitted",
            "submit a result first; it must be accepted before the task is completed",
        )
    if task["status"] == "submitted":
        now = state.environment.now().isoformat(timespec="microseconds")
        if now < task["reviewed_at"]:
            return {"ok": True, "status": IN_REVIEW, "task_id": task_id}
        _pay(state, task)
    answer = {
        "ok": True,
        "status": "completed",
        "task_id": task_id,
        "credits_earned": task["reward"],
        "balance": ledger.balance_of(state.db, agent_id),
    }
    repeated = task["status"] == "completed"
    return {**answer, "already_completed": True} if repeated else answer


def require_receipt(
    action: str, given: str | None, task_id: str, agent_id: str
) -> None:
    """Refuse what no answer to that action gave; None was not asked for."""
    if given not in (None, _receipt_id(action, task_id, agent_id)):
        raise RefusalError(
            HTTPStatus.NOT_FOUND,
            f"unknown_{action}",
            f"this task has no {action} {given[:80]!r} of yours",
        )


def _receipt(state: State, action: str, task_id: str, agent_id: str) -> dict[str, str]:
    if not state.options.receipts:
        return {}
    return {f"{action}_id": _receipt_id(action, task_id, agent_id)}


def _receipt_id(action: str, task_id: str, agent_id: str) -> str:
    named = f"{action}/{task_id}/{agent_id}".encode()
    return f"{action}_{hashlib.sha256(named).hexdigest()[:16]}"


def _review_time(state: State) -> timedelta:
    is_reviewed = state.options.payment == "after-review"
    return timedelta(seconds=state.options.review_seconds if is_reviewed else 0)


def lose_a_claim(state: State, random: Random) -> None:
    """Open one claimed task again, chosen at random, as if its lease had ended."""
    query = "SELECT task_id FROM tasks WHERE status = 'claimed' ORDER BY sequence"
    claimed = [row["task_id"] for row in state.db.execute(query)]
    if claimed:
        _open_again(state, random.choice(claimed))


def _pay(state: State, task: sqlite3.Row) -> None:
    ledger.move(
        state.db,
        reason="reward",
        reference=task["task_id"],
        source=ledger.ESCROW,
        target=task["claimant"],
        amount=task["reward"],
        at=state.now(),
    )
    state.db.execute(
        "UPDATE tasks SET status = 'completed' WHERE task_id = ?",
        (task["task_id"],),
    )


def _check(task: sqlite3.Row, result: object) -> None:
    if task["series_number"] is not None:
        kind = KINDS[task["kind"]]
        kind.check(json.loads(task["input"]), json.loads(task["answer"]), result)
    elif result in (None, "", [], {}) or not str(result).strip():
        raise WrongAnswerError("the result is empty")


def _reject(state: State, agent_id: str, task_id: str, reason: str) -> dict[str, Any]:
    _open_again(state, task_id)
    state.db.execute(
        "INSERT INTO rejections (task_id, agent_id, reason) VALUES (?, ?, ?)",
        (task_id, agent_id, reason),
    )
    return {
        "ok": False,
        "accepted": False,
        "status": "rejected",
        "task_id": task_id,
        "error": "result_rejected",
        "message": reason,
    }


def _open_again(state: State, task_id: str) -> None:
    query = "UPDATE tasks SET status = 'open', claimant = NULL WHERE task_id = ?"
    state.db.execute(query, (task_id,))


def _task(state: State, task_id: str) -> sqlite3.Row:
    query = "SELECT * FROM tasks WHERE task_id = ?"
    row: sqlite3.Row | None = state.db.execute(query, (task_id,)).fetchone()
    if row is None:
        raise RefusalError(
            HTTPStatus.NOT_FOUND,
            "unknown_task",
            f"there is no task {task_id[:80]!r}",
        )
    return row


def _claimed_task(state: State, agent_id: str, task_id: str) -> sqlite3.Row:
    """Find a task that this agent has claimed."""
    task = _task(state, task_id)
    if task["claimant"] != agent_id:
        _refuse_after_rejection(state, agent_id, task_id)
        raise RefusalError(
            HTTPStatus.CONFLICT,
            "not_claimant",
            "claim the task first; it is not yours",
        )
    return task


def _refuse_after_rejection(state: State, agent_id: str, task_id: str) -> None:
    query = "SELECT reason FROM rejections WHERE task_id = ? AND agent_id = ?"
    row = state.db.execute(query, (task_id, agent_id)).fetchone()
    if row is not None:
        raise RefusalError(
            HTTPStatus.CONFLICT,
            "result_rejected",
            f"your result for this task was rejected: {row['reason']}",
        )


def _record(task: sqlite3.Row) -> dict[str, Any]:
    """Return a task as docs/reference/sandbox-tasks.md describes it."""
    return {
        "id": task["task_id"],
        "title": task["title"],
        "description": task["description"],
        "kind": task["kind"],
        "tags": json.loads(task["tags"]),
        "reward": task["reward"],
        "input": json.loads(task["input"]),
        "status": task["status"],
        "poster": task["poster"],
        "created_at": task["created_at"],
        "deadline": None,
    }


def _outcome(task: sqlite3.Row, viewer: str) -> dict[str, Any]:
    """Return what only its poster sees of a task: what came back."""
    if task["poster"] != viewer:
        return {}
    match task["status"]:
        case "completed":
            return {"result": json.loads(task["result"])}
        case "expired":
            return {"refunded_credits": task["reward"]}
        case _:
            return {}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
