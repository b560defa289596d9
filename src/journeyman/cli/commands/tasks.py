"""`journeyman tasks` and `journeyman tasks show`: what became of each task."""

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from journeyman.cli.completion import states, task_ids
from journeyman.cli.output import print_fields, print_table
from journeyman.cli.owner_pauses import ask, who
from journeyman.cli.session import Session, command
from journeyman.control.verbs import ABANDON, RETRY, TaskRequest
from journeyman.daemon import owner_tasks
from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import TaskId, TaskState
from journeyman.domain.text import escape
from journeyman.journal.archives import archive_of
from journeyman.journal.journal import Journal
from journeyman.journal.profit import profit_of
from journeyman.journal.tasks import TaskRecord

TaskArgument = Annotated[
    str,
    typer.Argument(metavar="ID", autocompletion=task_ids, help="The task's id."),
]
TITLE_LENGTH = 44
REASON_LENGTH = 44


@command("tasks", example="journeyman tasks --state completed --limit 5")
def tasks(
    session: Session,
    context: typer.Context,
    *,
    state: Annotated[
        str | None,
        typer.Option(
            metavar="STATE", autocompletion=states, help="Only tasks in this state."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many, newest first.")] = 20,
) -> None:
    """List the tasks that changed last, and why."""
    if context.invoked_subcommand is not None:
        return
    if state is not None and state not in set(TaskState):
        raise UsageError(
            f"there is no state {state!r}",
            f"The states are {', '.join(TaskState)}.",
        )
    with session.journal() as journal:
        data = [_summary(record) for record in journal.tasks.recent(state, limit)]
    session.answer(data, lambda: _show_list(data))


def _summary(record: TaskRecord) -> dict[str, Any]:
    return {
        "task_id": record.task_id,
        "state": record.state,
        "strategy": record.strategy,
        "reward": record.task.reward,
        "title": record.task.title,
        "kind": record.task.kind,
        "reason": record.reason,
        "updated_at": record.updated_at.isoformat(),
    }


def _show_list(data: list[dict[str, Any]]) -> None:
    rows = [
        [
            *(task[name] for name in ("task_id", "state", "strategy", "reward")),
            escape(task["title"], longest=TITLE_LENGTH),
            escape(task["reason"], longest=REASON_LENGTH),
        ]
        for task in data
    ]
    print_table(
        ["task", "state", "strategy", "reward", "title", "reason"],
        rows,
        titles=["title", "reason"],
        drop=["reason", "title", "reward", "strategy"],
    )


@command("show", example="journeyman tasks show task_7c1e0a52 --raw")
def show_task(
    session: Session,
    task_id: TaskArgument,
    *,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Show the record as the network sent it, and which fields of it were "
            "not understood.",
        ),
    ] = False,
) -> None:
    """Show the history of one task, with its result."""
    with session.journal() as journal:
        record = owner_tasks.find_task(journal, TaskId(task_id))
        data = _details(journal, record, raw=raw)
        archive = archive_of(journal, session.directory().archives, record)
    data |= {"archive": str(archive)} if archive else {}
    session.answer(data, lambda: _show_details(data))


@command("retry", example="journeyman tasks retry task_7c1e0a52")
def retry_task(session: Session, task_id: TaskArgument) -> None:
    """Try a task again now, also one that failed or was given up.

    A task that waits falls due at once. One that its strategy failed, declined, or that
    you abandoned continues where it was, as long as its deadline allows: the network
    may still wait for its result. What the network has decided stays decided.
    """
    request = TaskRequest(by=who(), task_id=task_id)
    answer = ask(session, RETRY, request, owner_tasks.retry)
    shown = f"{task_id} is {answer['state']} and due now. See: journeyman why {task_id}"
    session.answer(answer, lambda: print(escape(shown)))


@command("abandon", example="journeyman tasks abandon task_7c1e0a52")
def abandon_task(session: Session, task_id: TaskArgument) -> None:
    """Give up a task in flight; work on it is broken off.

    The contract shows no way to give a task back, so the network may keep it for us
    until its deadline. A result that was sent may still be paid, and would not be
    booked. `tasks retry` takes up again what was claimed.
    """
    request = TaskRequest(by=who(), task_id=task_id)
    answer = ask(session, ABANDON, request, owner_tasks.abandon)
    shown = f"{task_id} was {answer['before']} and is given up: {answer['state']}."
    session.answer(answer, lambda: print(escape(shown)))


def _details(journal: Journal, record: TaskRecord, *, raw: bool) -> dict[str, Any]:
    task, result, task_id = record.task, record.result, record.task_id
    details = {
        **_summary(record),
        **_money(journal, task_id),
        **_posted(journal, task_id),
        "description": task.description,
        "tags": list(task.tags),
        "result": None if result is None else result.output,
        "evidence": None if result is None else dict(result.evidence),
        "history": [
            {**asdict(event), "at": event.at.isoformat()}
            for event in journal.tasks.history(task_id)
        ],
    }
    if raw:
        # Imported here, since lists need none of the network.
        from journeyman.network.service_model.reading import RecordReader

        details["raw"] = dict(task.raw)
        details["not_understood"] = RecordReader().not_understood(task.raw)
    return details


def _posted(journal: Journal, task_id: TaskId) -> dict[str, Any]:
    """Return what became of a task that we posted; nothing for one of others."""
    post = journal.posts.of_task(task_id)
    if post is None:
        return {}
    return {"posted_by": post.strategy, "post": post.state, "came_back": post.result}


def _money(journal: Journal, task_id: TaskId) -> dict[str, Any]:
    """Return what a task paid and cost; None is not known, or not yet."""
    brought = profit_of(journal.database, task_id)
    owed = {one.task_id: one.credits or None for one in journal.ledger.receivables()}
    return {
        "is_paid": bool(brought.tasks),
        "pay": brought.earned if brought.tasks else None,
        "is_owed": task_id in owed,
        "owed": owed.get(task_id),
        "cost": None if brought.cost is None else brought.cost / MILLIONTHS,
        "slot_seconds": brought.slot_seconds,
    }


def _pay(data: dict[str, Any]) -> str:
    if data["is_paid"] and data["pay"] is not None:
        return f"{data['pay']} credits"
    if data["is_owed"]:
        owed = "an unknown amount" if data["owed"] is None else data["owed"]
        return f"none yet; {owed} owed"
    return "unknown: no credible amount was named" if data["is_paid"] else ""


def _cost(data: dict[str, Any]) -> str:
    if data["cost"] is not None:
        return f"{data['cost']:g} credits, outside the network"
    return "none reported" if data["is_paid"] or data["is_owed"] else ""


def _show_details(data: dict[str, Any]) -> None:
    print_fields(
        {
            "task": data["task_id"],
            "title": data["title"],
            "kind": data["kind"],
            "tags": ", ".join(data["tags"]),
            "reward": str(data["reward"]),
            "pay": _pay(data),
            "cost": _cost(data),
            "state": f"{data['state']} ({data['reason']})".removesuffix(" ()"),
            "strategy": data["strategy"],
            "posted by": data.get("posted_by", ""),
            "post": data.get("post", ""),
            "came back": _as_text(data.get("came_back")),
            "wanted": data["description"],
            "result": _as_text(data["result"]),
            "evidence": _as_text(data["evidence"] or None),
            "archived": _archived(data),
            "raw": _as_text(data.get("raw")),
            "not understood": _as_text(data.get("not_understood")),
        },
    )
    print()
    columns = ["at", "before", "after", "reason"]
    rows = [[event[name] for name in columns] for event in data["history"]]
    print_table(columns, rows, texts=["reason"], drop=["before"])
    print()
    print(f"Why it went so: journeyman why {escape(data['task_id'])}")


def _archived(data: dict[str, Any]) -> str:
    if "archive" not in data:
        return ""
    return f"texts and result: journeyman journal archives {escape(data['task_id'])}"


def _as_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
