"""`journeyman tasks` and `journeyman tasks show`: what became of each task."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, facts, neutral, say, shortened, table
from journeyman.cli.session import Session, command
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import TaskId, TaskState

if TYPE_CHECKING:
    from journeyman.journal.journal import Journal
    from journeyman.journal.tasks import TaskRecord

TITLE_LENGTH = 44
REASON_LENGTH = 44


@command("tasks", example="journeyman tasks --state completed --limit 5")
def tasks(
    session: Session,
    context: typer.Context,
    *,
    state: Annotated[
        str | None, typer.Option(metavar="STATE", help="Only tasks in this state.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many, newest first.")] = 20,
) -> None:
    """List the tasks that moved last, and why."""
    if context.invoked_subcommand is not None:
        return
    _require_state(state)
    with session.journal() as journal:
        records = journal.tasks.recent(state, limit)

    def show() -> None:
        table(
            ["task", "state", "strategy", "reward", "title", "reason"],
            [_row(record) for record in records],
        )

    answer(as_json=session.as_json, data=list(map(_brief, records)), show=show)


@command("show", example="journeyman tasks show task_7c1e0a52 --raw")
def show_task(
    session: Session,
    task_id: Annotated[str, typer.Argument(metavar="ID", help="The task's id.")],
    *,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Show the record as the network sent it, and what of it told us "
            "nothing.",
        ),
    ] = False,
) -> None:
    """Tell the history of one task, with reasons and result."""
    with session.journal() as journal:
        data = _full(journal, TaskId(task_id), raw=raw)
    answer(as_json=session.as_json, data=data, show=lambda: _show_full(data))


def _require_state(state: str | None) -> None:
    if state is not None and state not in set(TaskState):
        raise UsageError(
            f"there is no state {state!r}",
            f"The states are {', '.join(TaskState)}.",
        )


def _row(record: "TaskRecord") -> list[str | int]:
    return [
        record.task_id,
        record.state,
        record.strategy,
        record.task.reward,
        shortened(record.task.title, TITLE_LENGTH),
        shortened(record.reason, REASON_LENGTH),
    ]


def _brief(record: "TaskRecord") -> dict[str, Any]:
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


def _full(journal: "Journal", task_id: TaskId, *, raw: bool) -> dict[str, Any]:
    try:
        record = journal.tasks.get(task_id)
    except KeyError:
        raise UsageError(
            f"no task {neutral(task_id)!r} was ever seen here",
            "`journeyman tasks` lists those that were.",
        ) from None
    result = record.result
    return {
        **_brief(record),
        "description": record.task.description,
        "tags": list(record.task.tags),
        "result": None if result is None else result.output,
        "evidence": None if result is None else dict(result.evidence),
        "history": [
            {
                "at": event.at.isoformat(),
                "before": event.before,
                "after": event.after,
                "reason": event.reason,
            }
            for event in journal.tasks.history(task_id)
        ],
        **(_raw(record) if raw else {}),
    }


def _raw(record: "TaskRecord") -> dict[str, Any]:
    from journeyman.network.records import not_understood

    return {
        "raw": dict(record.task.raw),
        "not_understood": not_understood(record.task.raw),
    }


def _as_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _show_full(data: dict[str, Any]) -> None:
    facts(
        {
            "task": data["task_id"],
            "title": data["title"],
            "kind": data["kind"],
            "tags": ", ".join(data["tags"]),
            "reward": str(data["reward"]),
            "state": f"{data['state']} ({data['reason']})".removesuffix(" ()"),
            "strategy": data["strategy"],
            "wanted": data["description"],
            "result": _as_text(data["result"]),
            "evidence": _as_text(data["evidence"] or None),
            "raw": _as_text(data.get("raw")),
            "not understood": _as_text(data.get("not_understood")),
        },
    )
    say()
    table(
        ["at", "before", "after", "reason"],
        [[e["at"], e["before"], e["after"], e["reason"]] for e in data["history"]],
    )
