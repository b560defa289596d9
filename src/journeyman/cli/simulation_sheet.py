"""What `journeyman simulate` says of a campaign."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from journeyman.cli.output import Cell, facts, say, table

if TYPE_CHECKING:
    from journeyman.simulation import Campaign, Outcome

FAILURES_SHOWN = 3
EVENTS_SHOWN = 16
WIDTH = 150
"""In characters, of one event."""


def as_json(campaign: "Campaign", seconds: float) -> dict[str, Any]:
    """Give everything; `seconds` is how long it took."""
    return {
        "passed": not campaign.failed,
        "runs": campaign.runs,
        "daemon_hours": round(campaign.hours, 2),
        "seconds": round(seconds, 2),
        "daemon_hours_per_second": round(campaign.hours / seconds, 1),
        "totals": dict(campaign.totals),
        "faults": dict(campaign.faults.most_common()),
        "moves": dict(campaign.moves.most_common()),
        "deaths": dict(campaign.deaths.most_common()),
        "happenings": dict(campaign.happenings.most_common()),
        "exercised": dict(sorted(campaign.exercised.items(), key=_by_number)),
        "never_exercised": campaign.never_exercised,
        "undecidable": dict(campaign.undecidable),
        "failed": [
            {
                "seed": outcome.plan.seed,
                "replay": replay,
                "violations": [str(violation) for violation in outcome.violations],
            }
            for replay, outcome in campaign.failed
        ],
    }


def _by_number(entry: tuple[str, int]) -> int:
    return int(entry[0].partition("-")[2])


def show(campaign: "Campaign", seconds: float) -> None:
    """Print what a person wants to know; `seconds` is how long it took."""
    from journeyman.simulation import INVARIANTS

    pace = campaign.hours / seconds
    facts(
        {
            "runs": f"{campaign.runs:,}, {len(campaign.failed)} with a broken promise",
            "simulated": f"{campaign.hours:,.1f} daemon-hours in {seconds:.1f} s, "
            f"{pace:.1f} in a second",
            **{name: f"{figure:,}" for name, figure in campaign.totals.items()},
            "faults by kind": _counted(campaign.faults),
            "killed with a task": _counted(campaign.deaths),
            "and": _counted(campaign.happenings),
            "undecidable": _counted(campaign.undecidable),
        },
    )
    say()
    rows: list[list[Cell]] = [
        [name, campaign.exercised[name], INVARIANTS[name]]
        for name in INVARIANTS
        if campaign.exercised[name]
    ]
    table(["invariant", "tested", "says"], rows)
    if campaign.never_exercised:
        say(f"Never put to the test: {', '.join(campaign.never_exercised)}")
    for replay, outcome in campaign.failed[:FAILURES_SHOWN]:
        _show_failure(outcome, replay)


def _counted(counts: Mapping[str, int]) -> str:
    often_first = sorted(counts.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{name} {times:,}" for name, times in often_first)


def _show_failure(outcome: "Outcome", replay: str) -> None:
    first = outcome.violations[0]
    say()
    say(f"BROKEN: {first}")
    for happening in first.story[-EVENTS_SHOWN:]:
        say(str(happening)[:WIDTH])
    more = len(outcome.violations) - 1
    say(f"{more} more in this run. To see it again: {replay}")
