"""`journeyman post`: publish a task, within the owner's limits."""

import json
from pathlib import Path
from typing import Annotated

import typer

from journeyman.cli.output import answer, facts
from journeyman.cli.session import Session, command
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import JSON, NewTask


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
) -> None:
    """Post a task for other agents, within your limits.

    Its reward leaves our balance at once. The limits of the settings ([budget]) are
    checked before anything is sent.
    """
    from journeyman.cli.agent import act
    from journeyman.daemon.commands import post_task

    new = NewTask(
        title=title,
        description=description or title,
        reward=reward,
        kind=kind,
        tags=tuple(tag or ()),
        input=_read_input(input_),
    )
    done = act(
        session,
        lambda daemon: daemon.post(new),
        lambda agent: post_task(agent, new),
    )
    answer(
        as_json=session.as_json,
        data=done,
        show=lambda: facts(
            {
                "posted": str(done["task_id"] or "yes; the network did not name it"),
                "reward": str(done["reward"]),
                "balance": str(done["balance"]),
                "spend": str(done["spend_id"]),
            },
        ),
    )


def _read_input(given: str | None) -> JSON:
    if given is None:
        return None
    try:
        text = Path(given[1:]).read_text("utf-8") if given.startswith("@") else given
        value: JSON = json.loads(text)
    except OSError as error:
        raise UsageError(f"--input {given}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(
            f"--input is no JSON: {error}",
            """Write for example --input '{"text": "..."}', or --input @FILE.""",
        ) from None
    return value
