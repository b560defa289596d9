"""The command `simulate`: the whole daemon in virtual time, with all that can fail."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer
from tests.simulation.campaign import (
    Batch,
    Campaign,
    CaseBatch,
    SeedBatch,
    do_all,
    find_case,
    sweep_batches,
)
from tests.simulation.invariants import INVARIANTS
from tests.simulation.plan import Chaos
from tests.simulation.run import RunResult

from journeyman.cli.output import (
    Cell,
    ReportProgress,
    print_fields,
    print_table,
    progress,
)
from journeyman.cli.session import Session, command
from journeyman.daemon.environment import SystemClock
from journeyman.domain.errors import UsageError

FAILURES_SHOWN = 3
COMMAND = "python -m tests.simulation simulate"
EVENTS_SHOWN = 16
WIDTH = 150
"""In characters, of one event."""


def as_json(campaign: Campaign, seconds: float) -> dict[str, Any]:
    """Give everything; `seconds` is how long it took."""
    return {
        "passed": not campaign.failed,
        "runs": campaign.runs,
        "daemon_hours": round(campaign.hours, 2),
        "seconds": round(seconds, 2),
        "daemon_hours_per_second": round(campaign.hours / seconds, 1),
        "totals": dict(campaign.totals),
        "faults": dict(campaign.faults.most_common()),
        "moves": dict(campaign.transitions.most_common()),
        "deaths": dict(campaign.killed_states.most_common()),
        "happenings": dict(campaign.other_events.most_common()),
        "exercised": dict(sorted(campaign.exercised.items(), key=_by_number)),
        "never_exercised": campaign.never_exercised,
        "undecidable": dict(campaign.undecidable),
        "failed": [
            {
                "seed": result.plan.seed,
                "replay": replay,
                "violations": [str(violation) for violation in result.violations],
            }
            for replay, result in campaign.failed
        ],
    }


def _by_number(entry: tuple[str, int]) -> int:
    return int(entry[0].partition("-")[2])


def show(campaign: Campaign, seconds: float) -> None:
    """Print what a person wants to know; `seconds` is how long it took."""
    pace = campaign.hours / seconds
    print_fields(
        {
            "runs": f"{campaign.runs:,}, {len(campaign.failed)} with a broken promise",
            "simulated": f"{campaign.hours:,.1f} daemon-hours in {seconds:.1f} s, "
            f"{pace:.1f} in a second",
            **{name: f"{figure:,}" for name, figure in campaign.totals.items()},
            "faults by kind": _counted(campaign.faults),
            "killed with a task": _counted(campaign.killed_states),
            "and": _counted(campaign.other_events),
            "undecidable": _counted(campaign.undecidable),
        },
    )
    print()
    rows: list[list[Cell]] = [
        [name, campaign.exercised[name], INVARIANTS[name]]
        for name in INVARIANTS
        if campaign.exercised[name]
    ]
    print_table(["invariant", "tested", "says"], rows)
    if campaign.never_exercised:
        print(f"Never put to the test: {', '.join(campaign.never_exercised)}")
    for replay, result in campaign.failed[:FAILURES_SHOWN]:
        _show_failure(result, replay)


def _counted(counts: Mapping[str, int]) -> str:
    often_first = sorted(counts.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{name} {times:,}" for name, times in often_first)


def _show_failure(result: RunResult, replay: str) -> None:
    first = result.violations[0]
    print()
    print(f"BROKEN: {first}")
    for happening in first.history[-EVENTS_SHOWN:]:
        print(str(happening)[:WIDTH])
    more = len(result.violations) - 1
    print(f"{more} more in this run. To see it again: {replay}")


VIOLATED = 1
Level = Literal["off", "mild", "hard"]
Sweep = Literal["crashes", "pairs", "fault-crash"]


@command(
    "simulate",
    example="python -m tests.simulation simulate --days 7 --seed 1",
    settings=False,
)
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
    sweep: Annotated[
        Sweep | None,
        typer.Option(
            help="Try all of one kind in a tiny world, instead of seeds: every crash "
            "in each of 432 contracts, every pair of crashes, every fault with every "
            "crash after it."
        ),
    ] = None,
    case: Annotated[
        str, typer.Option(metavar="NAME", help="Only this case of the sweep.")
    ] = "",
    every: Annotated[
        int, typer.Option(min=1, help="Only every n-th case of the sweep.")
    ] = 1,
    jobs: Annotated[
        int, typer.Option(min=1, max=256, help="Share the work among n processes.")
    ] = 1,
) -> int:
    """Test the daemon's promises in simulated time, from a seed.

    It is the real daemon against the real sandbox, killed and started again, over a
    network that loses, delays, repeats and garbles. It exits with 1 if a promise was
    broken, and then says which command shows that again.
    """
    if sweep is None:
        _require(not case and every == 1, "--case and --every need a --sweep")
        work = _from_seeds(range(seed, seed + seeds), days, chaos)
        replay = f"{COMMAND} --days {days:g} --chaos {chaos} --seed"
    else:
        work = _of_sweep(sweep, case, every)
        replay = f"{COMMAND} --sweep {sweep} --case"
    with progress("simulating", len(work), shown=not session.as_json) as tell:
        campaign, seconds = _run(work, jobs, replay, tell)
    data = as_json(campaign, seconds)
    session.answer(data, lambda: show(campaign, seconds))
    return VIOLATED if campaign.failed else 0


def _require(is_right: bool, problem: str) -> None:  # noqa: FBT001 - a condition
    if not is_right:
        raise UsageError(problem, f"See: {COMMAND} --help")


def _run(
    work: list[Batch], jobs: int, replay: str, tell: ReportProgress
) -> tuple[Campaign, float]:
    """Do all the work; give what it came to, and how many seconds it took."""
    campaign, clock = Campaign(), SystemClock()
    began = clock.monotonic()
    for done, ran in enumerate(do_all(work, jobs, tell), 1):
        for name, result in ran:
            campaign.add(result, f"{replay} {name}")
        tell(done)
    return campaign, clock.monotonic() - began


def _from_seeds(seeds: range, days: float, chaos: Level) -> list[Batch]:
    return [SeedBatch(seed, days, Chaos(chaos)) for seed in seeds]


def _of_sweep(sweep: Sweep, case: str, every: int) -> list[Batch]:
    if not case:
        return sweep_batches(sweep, every)
    try:
        find_case(sweep, case)
    except LookupError as error:
        _require(is_right=False, problem=str(error))
    return [CaseBatch(sweep, case)]
