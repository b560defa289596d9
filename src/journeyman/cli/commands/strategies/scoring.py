"""`journeyman strategies scoreboard`: what strategies in shadow would have done."""

from typing import Annotated

import typer

from journeyman.cli.command import command
from journeyman.cli.output import answer, say
from journeyman.cli.session import Session


@command("scoreboard", example="journeyman strategies scoreboard word_count")
def score_shadows(
    session: Session,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="A strategy in shadow; none: all."),
    ] = None,
) -> None:
    """Show what strategies in shadow would have done beside the live ones.

    A strategy is put there by `journeyman run --shadow NAME`, or by the setting
    strategies.shadow. It is asked about each task and given none.
    """
    from journeyman.cli.shadow_sheet import EMPTY, read_scores, row_of, show_score

    scores = read_scores(session, name)

    def show() -> None:
        for number, score in enumerate(scores):
            if number:
                say()
            show_score(score)
        if not scores:
            say(EMPTY)

    answer(as_json=session.as_json, data=list(map(row_of, scores)), show=show)
