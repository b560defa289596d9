"""`journeyman strategies scoreboard` and `promote`: judge a shadow, end its shadow."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from journeyman.cli.completion import strategy_names
from journeyman.cli.output import did_you_mean, plural, print_fields
from journeyman.cli.session import Session, command
from journeyman.control.verbs import PROMOTE, StrategyName
from journeyman.domain.errors import NotRunningError, UsageError
from journeyman.domain.text import escape
from journeyman.journal.shadows import ShadowScore


@command("scoreboard", example="journeyman strategies scoreboard word_count")
def score_shadows(
    session: Session,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            autocompletion=strategy_names,
            help="A strategy in shadow; none: all.",
        ),
    ] = None,
) -> None:
    """Show what strategies in shadow would have done.

    `journeyman run --shadow NAME` or the setting strategies.shadow puts a strategy in
    shadow. It is asked about each task and given none. What it would have done is
    compared with what the active strategies did.
    """
    if name is None:
        with session.journal() as journal:
            scores = journal.shadows.scores()
    else:
        score = shadow_score(session, name)
        scores = [score] if score else []

    def show() -> None:
        for number, score in enumerate(scores):
            if number:
                print()
            _show_score(score)
        if not scores and name is None:
            print("No strategy was ever in shadow here.")
            print("Put one in shadow with `journeyman run --shadow NAME`.")
        elif not scores:
            print(f"{name} was not asked about any task yet.")

    session.answer([asdict(score) for score in scores], show)


@command("promote", example="journeyman strategies promote word_count")
def promote_strategy(
    session: Session,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", autocompletion=strategy_names, help="A strategy in shadow."
        ),
    ],
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the scoreboard; change nothing.")
    ] = False,
) -> None:
    """Promote a strategy from shadow to active.

    Its scoreboard is shown first. The running daemon gives it tasks from now on, also
    after a restart. If more of its first tasks fail than was usual before, it returns
    to shadow by itself.
    """
    score = shadow_score(session, name)
    if not session.as_json and score is not None:
        _show_score(score)
        print()
    data: dict[str, Any] = {"strategy": name, "promoted": False}
    if not dry_run:
        data = _promote(session, name)
    data["scoreboard"] = asdict(score) if score else None
    session.answer(data, lambda: _show_promotion(data))


def _promote(session: Session, name: str) -> dict[str, Any]:
    try:
        return dict(session.daemon().call(PROMOTE, StrategyName(name)))
    except NotRunningError as error:
        raise NotRunningError(
            error.problem,
            f"Start the daemon without `--shadow {escape(name)}`, or remove it from "
            "strategies.shadow: then it is active.",
        ) from None


def _show_promotion(data: dict[str, Any]) -> None:
    name = escape(data["strategy"])
    if data["scoreboard"] is None:
        print(f"{name} was not asked about any task yet: there is nothing to judge.")
    if not data["promoted"]:
        print("Nothing was changed (--dry-run).")
        return
    print(f"{name} is active now, also after a restart.")
    print(f"To make that plain, remove {name} from strategies.shadow in the settings,")
    print("or start the daemon without `--shadow`.")


def shadow_score(session: Session, name: str) -> ShadowScore | None:
    """Return the score of a strategy; None if it was not asked about any task yet.

    Raises:
        NotRunningError: no agent has ever run in the data directory.
        UsageError: the strategy was never in shadow.
    """
    with session.journal() as journal:
        scores = {score.strategy: score for score in journal.shadows.scores()}
        in_shadow = journal.shadows.state().shadows
    if name not in scores and name not in in_shadow:
        hint = did_you_mean(name, scores).strip()
        raise UsageError(
            f"the strategy {name!r} was never in shadow here",
            hint or f"Put it in shadow with `journeyman run --shadow {name}`.",
        )
    return scores.get(name)


def _show_score(score: ShadowScore) -> None:
    if not score.asked:
        print_fields({"shadow": f"{score.strategy}, not asked yet"})
        return
    since = datetime.fromisoformat(score.since)
    print_fields(
        {
            "shadow": f"{score.strategy}, asked about {plural(score.asked, 'task')} "
            f"since {since:%Y-%m-%d %H:%M} UTC",
            "would want": f"{score.wanted}, for {score.expected_credits:g} credits by "
            "its own estimate",
            "agreed": f"{score.agreed} of {score.asked} with the active strategies",
            "alone": f"{score.alone} that no active one wanted",
            "both want": f"{score.wanted - score.alone}; the active ones were paid "
            f"{score.active_credits} credits for {score.active_completed} of these",
            "passes over": f"{score.missed} that an active one wanted, and was "
            f"paid {score.missed_credits} credits for",
            "errors": str(score.errors),
            "wants takes": f"{score.mean_seconds * 1000:.2f} ms, "
            f"{score.longest_seconds * 1000:.2f} ms at most",
            "left out": f"{plural(score.outdated, 'answer')} of earlier versions"
            if score.outdated
            else "",
        }
    )
