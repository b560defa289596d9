"""`journeyman replay`: recorded tasks through a strategy as it is now."""

from pathlib import Path
from typing import Annotated

import typer

from journeyman.cli.command import command
from journeyman.cli.output import answer
from journeyman.cli.session import Session

NEW_CODE_FAILS = 1


@command("replay", example="journeyman replay count_words --last 200")
def replay(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="The strategy.")],
    *,
    last: Annotated[
        int, typer.Option(min=1, metavar="N", help="The last so many tasks.")
    ] = 200,
    since: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Only tasks seen since: 7d, 12h or 30m ago."),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with another version of it, not with what was decided then.",
        ),
    ] = None,
    run: Annotated[
        bool,
        typer.Option(
            "--run",
            help="Also do the tasks again whose result is known, and compare.",
        ),
    ] = False,
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The strategy files to load.")
    ] = None,
) -> int:
    """Show what a strategy would decide about recorded tasks.

    Nothing is sent. The strategy is shown each task as it was when it was decided
    about; what became known later is only used to tell what the difference is worth.
    It exits with 1 if the new code fails at one of the tasks.
    """
    from journeyman.cli.replay_answer import as_json
    from journeyman.cli.replay_sheet import show
    from journeyman.cli.replaying import Wish, play

    wish = Wish(
        name=name, last=last, since=since, compare=compare, run=run, folder=strategies
    )
    played = play(session, wish)
    answer(as_json=session.as_json, data=as_json(played), show=lambda: show(played))
    return NEW_CODE_FAILS if played.has_failed else 0
