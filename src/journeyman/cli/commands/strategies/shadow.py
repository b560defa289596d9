"""`journeyman strategies promote`: out of the shadow, to work."""

import difflib
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, facts, neutral, say
from journeyman.cli.session import Session, command
from journeyman.domain.errors import JourneymanError, NotRunningError, UsageError

if TYPE_CHECKING:
    from journeyman.journal.shadows import ShadowScore


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
    scores = read_scores(session, name)

    def show() -> None:
        for number, score in enumerate(scores):
            if number:
                say()
            show_score(score)
        if not scores:
            say(EMPTY)

    answer(as_json=session.as_json, data=list(map(row_of, scores)), show=show)


EMPTY = (
    "No strategy was ever in shadow here.\n"
    "Put one there with `journeyman run --shadow NAME`."
)


def read_scores(session: Session, name: str | None) -> "list[ShadowScore]":
    """Read the scores of all that were ever in shadow, or of one of them.

    Raises:
        NotRunningError: no agent ever lived in the data directory.
        UsageError: this one was never in shadow.
    """
    with session.journal() as journal:
        scores = journal.shadows.scores()
    if name is None:
        return scores
    found = [score for score in scores if score.strategy == name]
    if found:
        return found
    known = [score.strategy for score in scores]
    near = difflib.get_close_matches(name, known, n=1)
    raise UsageError(
        f"the strategy {name!r} was never in shadow here",
        f"Did you mean {near[0]!r}?"
        if near
        else f"Put it there with `journeyman run --shadow {name}`.",
    )


def score_of(session: Session, name: str) -> "ShadowScore | None":
    """Give its score; None where it is in shadow and was asked for no task yet.

    Raises:
        NotRunningError: no agent ever lived in the data directory.
        UsageError: it is not in shadow, and never was.
    """
    with session.journal() as journal:
        is_new = name in journal.shadows.standing().shadows
        known = {score.strategy: score for score in journal.shadows.scores()}
    return known.get(name) if is_new else read_scores(session, name)[0]


def brief(session: Session, name: str) -> "ShadowScore | None":
    """Give the score of a strategy that may never have been in shadow."""
    try:
        return score_of(session, name)
    except JourneymanError:
        return None


def row_of(score: "ShadowScore") -> dict[str, Any]:
    """Give a score as JSON."""
    return asdict(score)


def show_score(score: "ShadowScore") -> None:
    """Print a score."""
    if not score.asked:
        facts({"shadow": f"{score.strategy}, not asked yet"})
        return
    since = datetime.fromisoformat(score.since)
    facts(
        {
            "shadow": f"{score.strategy}, asked for {_tasks(score.asked)} "
            f"since {since:%Y-%m-%d %H:%M} UTC",
            "would want": f"{score.wanted}, for {score.expected_credits:g} credits by "
            "its own word",
            "agreed": f"{score.agreed} of {score.asked} with the live strategies",
            "alone": f"{score.alone} that no live one wanted",
            "both want": f"{score.wanted - score.alone}; of these the live ones were "
            f"paid {score.live_credits} credits for {score.live_completed}",
            "passes over": f"{score.passed_over} that a live one wanted, and was paid "
            f"{score.passed_over_credits} credits for",
            "errors": str(score.errors),
            "wants takes": f"{score.mean_seconds * 1000:.2f} ms, "
            f"{score.longest_seconds * 1000:.2f} ms at most",
            "left out": f"{score.outdated} answers of earlier versions"
            if score.outdated
            else "",
        }
    )


def _tasks(count: int) -> str:
    return "1 task" if count == 1 else f"{count} tasks"
