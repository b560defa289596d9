"""The scoreboard of a strategy in shadow: read from the journal, put in words."""

import difflib
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from journeyman.cli.output import facts
from journeyman.cli.session import Session
from journeyman.domain.errors import JourneymanError, UsageError

if TYPE_CHECKING:
    from journeyman.journal import ShadowScore

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
