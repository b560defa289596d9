"""`journeyman strategies promote`: out of the shadow, to work."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.command import command
from journeyman.cli.output import answer, say
from journeyman.cli.session import Session
from journeyman.cli.text import neutral
from journeyman.domain.errors import NotRunningError

if TYPE_CHECKING:
    from journeyman.journal import ShadowScore


@command("promote", example="journeyman strategies promote word_count")
def promote_strategy(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A strategy in shadow.")],
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the scoreboard; change nothing.")
    ] = False,
) -> None:
    """Give a strategy work that was in shadow; its scoreboard is shown first.

    The running daemon gives it tasks from now on, without a restart, and remembers it.
    Should more of its first tasks fail than was usual before, it goes back by itself.
    """
    from journeyman.cli.shadow_sheet import row_of, score_of

    score = score_of(session, name)
    if not session.as_json and score is not None:
        _show(score)
    done: dict[str, Any] = {"strategy": name, "promoted": False}
    if not dry_run:
        done = _promote(session, name)
    data = {**done, "scoreboard": row_of(score) if score else None}
    answer(as_json=session.as_json, data=data, show=lambda: _conclude(data))


def _promote(session: Session, name: str) -> dict[str, Any]:
    try:
        with session.daemon() as daemon:
            return dict(daemon.promote(name))
    except NotRunningError as error:
        raise NotRunningError(
            error.problem,
            "There is nobody to tell. Start the daemon without `--shadow` "
            f"{neutral(name)}, or take it out of strategies.shadow: then it works.",
        ) from None


def _show(score: "ShadowScore") -> None:
    from journeyman.cli.shadow_sheet import show_score

    show_score(score)
    say()


def _conclude(data: dict[str, Any]) -> None:
    name = neutral(data["strategy"])
    if data["scoreboard"] is None:
        say(f"{name} was asked for no task yet: there is nothing to judge it by.")
    if not data["promoted"]:
        say("Nothing was changed (--dry-run).")
        return
    say(f"{name} is at work now; a restart keeps it so.")
    say(f"To make it plain, take {name} out of strategies.shadow in the configuration,")
    say("or start the daemon without `--shadow`: whoever is not named there is live.")
