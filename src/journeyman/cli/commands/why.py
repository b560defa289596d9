"""`journeyman why`: why a task went as it did, or why not more is earned."""

from datetime import timedelta
from typing import Annotated, Any

import typer

from journeyman.cli.completion import task_ids
from journeyman.cli.output import plural, print_fields, print_table, print_text
from journeyman.cli.session import Session, command
from journeyman.control.verbs import BUDGET
from journeyman.daemon.owner_tasks import find_task
from journeyman.daemon.story import outlook, story
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import NotRunningError
from journeyman.domain.tasks import TaskId
from journeyman.domain.text import escape, one_line
from journeyman.journal.archives import archive_of
from journeyman.observability.log_file import read_lines

HOURS_BEFORE = 24
LONGEST_MESSAGE = 400
"""In characters, of one step; `--json` has it whole."""
MUCH_LESS = 0.5
"""Below this share of what an hour brought before, it is less than before."""


@command("why", example="journeyman why task_7c1e0a52")
def why(
    session: Session,
    task_id: Annotated[
        str | None,
        typer.Argument(
            metavar="TASK",
            autocompletion=task_ids,
            help="A task's id; none: why not more is earned now.",
        ),
    ] = None,
) -> None:
    """Show a task's way from listing to pay, or why not more is earned now.

    Of a task: what each rule and each strategy said of it, every step with its outcome,
    what it paid and what it cost. Without a task: each cause that keeps the agent from
    earning, the most important first, with what would change it.
    """
    if task_id is None:
        _why_not_more(session)
    else:
        _why(session, TaskId(task_id))


def _why(session: Session, task_id: TaskId) -> None:
    with session.journal() as journal:
        record = find_task(journal, task_id)
        steps = story(journal, record, read_lines(session.directory().log))
        archive = archive_of(journal, session.directory().archives, record)
    data: dict[str, Any] = {
        "task_id": record.task_id,
        "title": record.task.title,
        "state": record.state,
        "strategy": record.strategy,
        "reason": record.reason,
        "steps": [one.as_json() for one in steps],
        "next": outlook(record, SystemClock().now(), _costs(session)),
    }
    data |= {"archive": str(archive)} if archive else {}
    session.answer(data, lambda: _show_story(data))


def _costs(session: Session) -> list[dict[str, Any]]:
    """Return what strategies cost today; nothing, while nothing is claimed anyway."""
    try:
        budget: dict[str, Any] = session.daemon().call(BUDGET)
    except NotRunningError:
        return []
    return list(budget["costs"])


def _show_story(data: dict[str, Any]) -> None:
    state = f"{data['state']} ({data['reason']})".removesuffix(" ()")
    fields = {"task": data["task_id"], "title": data["title"], "state": state}
    days = dict.fromkeys(step["at"][:10] for step in data["steps"])
    fields["day"] = " to ".join([*days][:: max(1, len(days) - 1)])
    print_fields(fields)
    print()
    rows = [
        [one["at"][11:23], one["step"], one_line(one["message"], LONGEST_MESSAGE)]
        for one in data["steps"]
    ]
    print_table(["at (utc)", "step", "what"], rows, texts=["what"])
    print()
    if data["next"]:
        print_text(data["next"])
    if "archive" in data:
        print(f"Archived: journeyman journal archives {escape(data['task_id'])}")
    print(f"Result: journeyman tasks show {escape(data['task_id'])}")
    print(f"Its log: journeyman logs --task {escape(data['task_id'])}")


def _why_not_more(session: Session) -> None:
    status = session.status()
    now = SystemClock().now()
    hour, day = timedelta(hours=1), timedelta(hours=HOURS_BEFORE)
    with session.journal() as journal:
        last = journal.ledger.earned_between(now - hour, now)
        before = journal.ledger.earned_between(now - hour - day, now - hour)
    usual = round(before / HOURS_BEFORE, 1)
    data: dict[str, Any] = {
        "running": status["running"],
        "earned_last_hour": last,
        "earned_an_hour_before": usual,
        "less_than_before": last < usual * MUCH_LESS,
        "causes": status["causes"],
        "in_flight": status["in_flight"],
        "waiting": status["waiting"],
    }
    session.answer(data, lambda: _show_causes(data))


def _show_causes(data: dict[str, Any]) -> None:
    less = ": less than before" if data["less_than_before"] else ""
    print_text(
        f"{data['earned_last_hour']} credits in the last hour, "
        f"{data['earned_an_hour_before']:g} an hour in the day before{less}."
    )
    tasks = "task" if data["in_flight"] == 1 else "tasks"
    print_text(f"{data['in_flight']} {tasks} in flight, {data['waiting']} waiting.")
    print()
    if not data["causes"]:
        print("Nothing that is known keeps the agent from earning.")
        return
    print(f"{plural(len(data['causes']), 'cause')}, the most important first:")
    for number, cause in enumerate(data["causes"], 1):
        stop = "Nothing is claimed: " if cause["stops_all"] else ""
        print()
        print_fields({f"{number}.": f"{stop}{cause['message']}", "  ": cause["fix"]})
