"""`journeyman simulate`: the whole daemon in simulated time, and what can go wrong."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from journeyman.cli.command import command
from journeyman.cli.output import Cell, answer, facts, say, table
from journeyman.cli.session import Session

if TYPE_CHECKING:
    from journeyman.simulation import Campaign, Outcome, Plan

VIOLATED = 1
FAILURES_SHOWN = 3
EVENTS_SHOWN = 16
WIDTH = 150
"""In characters, of one event."""

Level = Literal["off", "mild", "hard"]
Tell = Callable[[int, float], None]
"""Told of the number of a run and of its simulated seconds."""


@command("simulate", example="journeyman simulate --days 7 --seed 1", settings=False)
def simulate(
    session: Session,
    *,
    days: Annotated[
        float, typer.Option(min=0.01, help="Simulated days in which things go wrong.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="The same seed makes the same run.")] = 1,
    chaos: Annotated[
        Level, typer.Option(help="How badly the network and the machine behave.")
    ] = "mild",
    seeds: Annotated[
        int, typer.Option(min=1, help="So many runs, from --seed upwards.")
    ] = 1,
) -> int:
    """Test the daemon's promises in simulated time, from a seed.

    It is the real daemon against the real sandbox, killed and started again, over a
    network that loses, delays, repeats and garbles. It exits with 1 if a promise was
    broken, and then says which command shows that again.
    """
    from journeyman.daemon.system import SystemClock
    from journeyman.simulation import Campaign, Chaos, draw_plan
    from journeyman.simulation import simulate as simulated

    plans = [
        draw_plan(number, days=days, chaos=Chaos(chaos))
        for number in range(seed, seed + seeds)
    ]
    campaign, clock = Campaign(), SystemClock()
    began = clock.monotonic()
    with _progress(plans, shown=not session.as_json) as tell:
        for number, plan in enumerate(plans):
            campaign.add(simulated(plan, partial(tell, number)))
    seconds = clock.monotonic() - began
    replay = f"journeyman simulate --days {days:g} --chaos {chaos} --seed"
    answer(
        as_json=session.as_json,
        data=_as_json(campaign, seconds, replay),
        show=lambda: _show(campaign, seconds, replay),
    )
    return VIOLATED if campaign.failed else 0


@contextmanager
def _progress(plans: "list[Plan]", *, shown: bool) -> Iterator[Tell]:
    if not (shown and sys.stderr.isatty()):
        yield lambda _run, _seconds: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        whole = sum(plan.end for plan in plans)
        task = progress.add_task(f"{len(plans)} runs", total=whole)

        def tell(run: int, seconds: float) -> None:
            before = sum(plan.end for plan in plans[:run])
            progress.update(task, completed=before + seconds)

        yield tell


def _as_json(campaign: "Campaign", seconds: float, replay: str) -> dict[str, Any]:
    return {
        "passed": not campaign.failed,
        "runs": campaign.runs,
        "daemon_hours": round(campaign.hours, 2),
        "seconds": round(seconds, 2),
        "daemon_hours_per_second": round(campaign.hours / seconds, 1),
        "totals": dict(campaign.totals),
        "faults": dict(campaign.faults.most_common()),
        "exercised": dict(sorted(campaign.exercised.items(), key=_by_number)),
        "never_exercised": campaign.never_exercised,
        "undecidable": dict(campaign.undecidable),
        "failed": [
            {
                "seed": outcome.plan.seed,
                "replay": f"{replay} {outcome.plan.seed}",
                "violations": [str(violation) for violation in outcome.violations],
            }
            for outcome in campaign.failed
        ],
    }


def _by_number(entry: tuple[str, int]) -> int:
    return int(entry[0].partition("-")[2])


def _show(campaign: "Campaign", seconds: float, replay: str) -> None:
    from journeyman.simulation import INVARIANTS

    pace = campaign.hours / seconds
    facts(
        {
            "runs": f"{campaign.runs}, {len(campaign.failed)} with a broken promise",
            "simulated": f"{campaign.hours:,.1f} daemon-hours in {seconds:.1f} s, "
            f"{pace:.1f} in a second",
            **{name: f"{figure:,}" for name, figure in campaign.totals.items()},
            "faults by kind": ", ".join(
                f"{name} {times}" for name, times in campaign.faults.most_common()
            ),
            "undecidable": ", ".join(
                f"{case}: {times}" for case, times in campaign.undecidable.items()
            ),
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
    for outcome in campaign.failed[:FAILURES_SHOWN]:
        _show_failure(outcome, f"{replay} {outcome.plan.seed}")


def _show_failure(outcome: "Outcome", replay: str) -> None:
    first = outcome.violations[0]
    say()
    say(f"BROKEN: {first}")
    for happening in first.story[-EVENTS_SHOWN:]:
        say(str(happening)[:WIDTH])
    more = len(outcome.violations) - 1
    say(f"{more} more in this run. To see it again: {replay}")
