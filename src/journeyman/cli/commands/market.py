"""`journeyman market`: the tasks that the network lists."""

from itertools import islice
from typing import Annotated, Any

import typer

from journeyman.cli.agent import read
from journeyman.cli.output import print_table
from journeyman.cli.session import Session, command
from journeyman.domain.text import escape

TITLE_LENGTH = 60


@command("market", example="journeyman market --public --limit 10")
def market(
    session: Session,
    *,
    public: Annotated[
        bool,
        typer.Option("--public", help="Read the public list, which needs no identity."),
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
) -> None:
    """List the tasks that the network offers now."""
    listing = read(
        session,
        "the marketplace",
        lambda client, identified: (
            client.public_marketplace()
            if public or not identified
            else client.marketplace_tasks(limit)
        ),
    )
    data = {
        "tasks": [
            {
                "task_id": task.id,
                "kind": task.kind,
                "tags": list(task.tags),
                "reward": task.reward,
                "status": task.status,
                "title": task.title,
            }
            # The public list takes no limit (contract endpoint 3).
            for task in islice(listing.every_task(), limit)
        ],
        "listed": listing.total,
        "unreadable": listing.unreadable,
        "problem": listing.problem,
    }
    session.answer(data, lambda: _show(data))


def _show(data: dict[str, Any]) -> None:
    rows = [
        [
            *(task[name] for name in ("task_id", "kind", "reward", "status")),
            escape(task["title"], longest=TITLE_LENGTH),
        ]
        for task in data["tasks"]
    ]
    print_table(
        ["task", "kind", "reward", "status", "title"],
        rows,
        titles=["title"],
        drop=["status", "kind", "title"],
    )
    print(f"{len(rows)} shown of {data['listed']} listed")
    if data["problem"]:
        print(f"{data['unreadable']} unreadable records: {escape(data['problem'])}")
