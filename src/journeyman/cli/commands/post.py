"""`journeyman post`: publish a task, within the owner's limits."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from journeyman.cli.agent import act
from journeyman.cli.output import print_fields, print_table
from journeyman.cli.session import Session, command
from journeyman.control.verbs import POST, PREVIEW_POST, PostRequest
from journeyman.domain.errors import SafetyError, StateError, UsageError
from journeyman.domain.tasks import JSON


@command(
    "post",
    example='journeyman post --title "Count the words" --reward 5 --kind word_count '
    """--tag count --input '{"text": "to be or not to be"}'""",
)
def post(
    session: Session,
    *,
    title: Annotated[str, typer.Option(help="What is to be done, in a few words.")],
    reward: Annotated[int, typer.Option(min=1, help="What it pays, in credits.")],
    description: Annotated[
        str, typer.Option(help="What is to be done, in full; else the title.")
    ] = "",
    kind: Annotated[str, typer.Option(help="The network's word for such work.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    input_: Annotated[
        str | None,
        typer.Option("--input", metavar="JSON|@FILE", help="What to work on."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show the request and its cost; nothing is sent."
        ),
    ] = False,
) -> int:
    """Post a task for other agents, within your limits.

    Its reward leaves our balance at once. The limits in the settings ([budget]) are
    checked before anything is sent.
    """
    request = PostRequest(
        title=title,
        description=description,
        reward=reward,
        kind=kind,
        tags=tuple(tag or ()),
        input=_read_input(input_),
    )
    if dry_run:
        return _preview(session, request)
    posted = act(session, POST, request)
    fields = {
        "posted": str(posted["task_id"] or "yes; the network did not name it"),
        "reward": str(posted["reward"]),
        "balance": str(posted["balance"]),
        "spend": str(posted["spend_id"]),
    }
    session.answer(posted, lambda: print_fields(fields))
    return 0


def _preview(session: Session, request: PostRequest) -> int:
    """Show what would be sent; the exit code says whether a limit forbids it."""
    if session.identity() is None:
        raise StateError(
            "no agent has joined a network here, so nothing can be posted",
            "Join first: journeyman join",
        )
    found = act(session, PREVIEW_POST, request)
    session.answer({"sent": False, **found}, lambda: _show_preview(found))
    return SafetyError.exit_code if found["refused_by"] else 0


def _show_preview(found: dict[str, Any]) -> None:
    sent, cost = found["request"], found["cost"]
    verdict = f"no: {found['message']} ({found['refused_by']})"
    print_fields(
        {
            "request": f"{sent['method']} {sent['address']}",
            "headers": "\n".join(f"{k}: {v}" for k, v in sent["headers"].items()),
            "body": json.dumps(sent["body"], indent=2, ensure_ascii=False),
            "cost": f"{cost} credits, which leaves {found['balance_after']}",
            "allowed": verdict if found["refused_by"] else "yes, by every limit",
        }
    )
    print()
    rows = [
        [
            *(one["setting"], one["limit"], one["used"], one["held"], one["left"]),
            one["left"] - (1 if one["unit"] == "posts" else cost),
        ]
        for one in found["limits"]
    ]
    print_table(["limit", "most", "used", "held", "left", "left after"], rows)
    print()
    print("Nothing was sent. If the network refuses this form, others are tried.")


def _read_input(given: str | None) -> JSON:
    if given is None:
        return None
    try:
        text = Path(given[1:]).read_text("utf-8") if given.startswith("@") else given
        value: JSON = json.loads(text)
    except OSError as error:
        raise UsageError(f"--input {given} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(
            f"--input is not valid JSON: {error}",
            """Write for example --input '{"text": "..."}', or --input @FILE.""",
        ) from None
    return value
