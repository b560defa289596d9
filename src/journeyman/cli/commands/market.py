"""`journeyman market`: the tasks that the network lists."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, neutral, say, shortened, table
from journeyman.cli.session import Session, command

if TYPE_CHECKING:
    from journeyman.domain.outcomes import Outcome
    from journeyman.domain.tasks import Task
    from journeyman.network.client import NetworkClient
    from journeyman.network.receipts import Listing

TITLE_LENGTH = 60


@command("market", example="journeyman market --public --limit 10")
def market(
    session: Session,
    *,
    public: Annotated[
        bool,
        typer.Option("--public", help="Ask the public list, which needs no identity."),
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
) -> None:
    """List the tasks that the network offers now."""
    from journeyman.cli.agent import read

    async def ask(
        client: "NetworkClient",
        identified: bool,  # noqa: FBT001 - the shape of a Question
    ) -> "Outcome[Listing]":
        if public or not identified:
            return await client.public_marketplace()
        return await client.marketplace_tasks(limit)

    listing = read(session, "the marketplace", ask)
    # The public list takes no limit (contract endpoint 3).
    shown = listing.tasks[:limit]
    data = {
        "tasks": list(map(_task, shown)),
        "listed": listing.total,
        "unreadable": listing.unreadable,
        "problem": listing.problem,
    }
    answer(as_json=session.as_json, data=data, show=lambda: _show(data))


def _task(task: "Task") -> dict[str, Any]:
    return {
        "task_id": task.id,
        "kind": task.kind,
        "tags": list(task.tags),
        "reward": task.reward,
        "status": task.status,
        "title": task.title,
    }


def _show(data: dict[str, Any]) -> None:
    table(
        ["task", "kind", "reward", "status", "title"],
        [
            [t["task_id"], t["kind"], t["reward"], t["status"], _title(t)]
            for t in data["tasks"]
        ],
    )
    say(f"{len(data['tasks'])} shown of {data['listed']} listed")
    if data["problem"]:
        say(
            f"{data['unreadable']} records were passed over: {neutral(data['problem'])}"
        )


def _title(task: dict[str, Any]) -> str:
    return shortened(task["title"], TITLE_LENGTH)
