"""The command line of the simulation: `python -m tests.simulation simulate --help`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import count, product
from statistics import median
from typing import Annotated, Any, Literal

import typer
from tests.simulation.campaign import (
    Batch,
    Campaign,
    CaseBatch,
    SeedBatch,
    find_case,
    run_all,
    sweep_batches,
)
from tests.simulation.growth import BRINGS, POLICIES, GrowthEarnings, try_growth
from tests.simulation.invariants import INVARIANTS
from tests.simulation.plan import Chaos
from tests.simulation.run import RunResult
from tests.simulation.trial import ORDERS, Earnings, draw_market, try_order

from journeyman.cli.app import run_app
from journeyman.cli.output import (
    Cell,
    ReportProgress,
    print_fields,
    print_table,
    progress,
)
from journeyman.cli.session import Session, command
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import UsageError

FAILURES_SHOWN = 3
NAME = "python -m tests.simulation"
COMMAND = f"{NAME} simulate"
EVENTS_SHOWN = 16
WIDTH = 150
"""In characters, of one event."""
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
        int, typer.Option(min=1, help="How many runs, from --seed upwards.")
    ] = 1,
    sweep: Annotated[
        Sweep | None,
        typer.Option(
            help="Try all cases of one kind in a small run, not seeds: every crash "
            "on each of 432 networks, every pair of crashes, every fault with every "
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
        int, typer.Option(min=1, max=256, help="Divide the runs among n processes.")
    ] = 1,
) -> int:
    """Check the invariants of the daemon in simulated time, from a seed.

    The real daemon runs against the real sandbox. It is killed and restarted, and the
    network loses, delays, repeats and garbles messages. The exit code is 1 if an
    invariant was violated; the output then has the command that shows it again.
    """
    if sweep is None:
        _require(not case and every == 1, "--case and --every need a --sweep")
        batches = _from_seeds(range(seed, seed + seeds), days, chaos)
        replay = f"{COMMAND} --days {days:g} --chaos {chaos} --seed"
    else:
        batches = _of_sweep(sweep, case, every)
        replay = f"{COMMAND} --sweep {sweep} --case"
    return _run_and_show(session, batches, jobs, replay)


@command("books", example="python -m tests.simulation books --days 30", settings=False)
def books(
    session: Session,
    *,
    days: Annotated[
        float, typer.Option(min=1, help="Simulated days in which things go wrong.")
    ] = 30.0,
    seed: Annotated[int, typer.Option(help="The same seed makes the same run.")] = 1,
    seeds: Annotated[
        int, typer.Option(min=1, help="How many runs, from --seed upwards.")
    ] = 1,
    jobs: Annotated[
        int, typer.Option(min=1, max=256, help="Divide the runs among n processes.")
    ] = 1,
) -> int:
    """Compare the books of the daemon and of the network each day, in hard chaos.

    Credits move all the time: the daemon tops up by itself, and people pay some of the
    pages that it asks for; the owner posts. Every credit that the network moved has to
    lead back to a request, and no limit may be passed.
    """
    batches: list[Batch] = [
        SeedBatch(number, days, Chaos.HARD, is_about_money=True)
        for number in range(seed, seed + seeds)
    ]
    replay = f"{NAME} books --days {days:g} --seed"
    return _run_and_show(session, batches, jobs, replay)


def _run_and_show(
    session: Session, batches: list[Batch], jobs: int, replay: str
) -> int:
    with progress("simulating", len(batches), shown=not session.as_json) as report:
        campaign, seconds = _run(batches, jobs, replay, report)
    data = _simulation_as_json(campaign, seconds)
    session.answer(data, lambda: _show_simulation(campaign, seconds))
    return VIOLATED if campaign.failed else 0


def _require(is_right: bool, problem: str) -> None:  # noqa: FBT001 - a condition
    if not is_right:
        raise UsageError(problem, f"See: {COMMAND} --help")


def _run(
    batches: list[Batch], jobs: int, replay: str, report: ReportProgress
) -> tuple[Campaign, float]:
    """Run all batches; return the totals, and how many seconds they took."""
    campaign, clock = Campaign(), SystemClock()
    began = clock.monotonic()
    for done, results in enumerate(run_all(batches, jobs, report), 1):
        for name, result in results:
            campaign.add(result, f"{replay} {name}")
        report(done)
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


def _simulation_as_json(campaign: Campaign, seconds: float) -> dict[str, Any]:
    """Return everything; `seconds` is how long it took."""
    return {
        "passed": not campaign.failed,
        "runs": campaign.runs,
        "daemon_hours": round(campaign.hours, 2),
        "seconds": round(seconds, 2),
        "daemon_hours_per_second": round(campaign.hours / seconds, 1),
        "totals": dict(campaign.totals),
        "faults": dict(campaign.faults.most_common()),
        "transitions": dict(campaign.transitions.most_common()),
        "killed_states": dict(campaign.killed_states.most_common()),
        "other_events": dict(campaign.other_events.most_common()),
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


def _show_simulation(campaign: Campaign, seconds: float) -> None:
    """Print a summary; `seconds` is how long it took."""
    pace = campaign.hours / seconds
    print_fields(
        {
            "runs": f"{campaign.runs:,}, {len(campaign.failed)} with a violation",
            "simulated": f"{campaign.hours:,.1f} daemon-hours in {seconds:.1f} s, "
            f"{pace:.1f} in a second",
            **{name: f"{figure:,}" for name, figure in campaign.totals.items()},
            "faults by kind": _counted(campaign.faults),
            "kills with a task": _counted(campaign.killed_states),
            "other events": _counted(campaign.other_events),
            "undecidable": _counted(campaign.undecidable),
        },
    )
    print()
    rows: list[list[Cell]] = [
        [name, campaign.exercised[name], INVARIANTS[name]]
        for name in INVARIANTS
        if campaign.exercised[name]
    ]
    print_table(["invariant", "checked", "statement"], rows)
    if campaign.never_exercised:
        print(f"Never checked: {', '.join(campaign.never_exercised)}")
    for replay, result in campaign.failed[:FAILURES_SHOWN]:
        _show_failure(result, replay)


def _counted(counts: Mapping[str, int]) -> str:
    often_first = sorted(counts.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{name} {times:,}" for name, times in often_first)


def _show_failure(result: RunResult, replay: str) -> None:
    first = result.violations[0]
    print()
    print(f"VIOLATED: {first}")
    for event in first.history[-EVENTS_SHOWN:]:
        print(str(event)[:WIDTH])
    more = len(result.violations) - 1
    print(f"{more} more violations in this run. To see them again: {replay}")


OURS, FIRST, BEST = "expected", "first", "clairvoyant"


@command(
    "trial",
    example="python -m tests.simulation trial --hours 4 --seeds 3",
    settings=False,
)
def trial(
    session: Session,
    *,
    hours: Annotated[
        float, typer.Option(min=0.1, max=168, help="Simulated hours of each trial.")
    ] = 2.0,
    seed: Annotated[int, typer.Option(help="The same seed makes the same market.")] = 1,
    seeds: Annotated[
        int, typer.Option(min=1, help="How many markets, from --seed upwards.")
    ] = 3,
) -> None:
    """Measure what the ranking of tasks is worth, in simulated time.

    Rankings are compared on markets with more tasks than slots. The whole daemon works
    on each market four times: with its own ranking, in the order of appearance, best
    paid first, and with perfect knowledge of how long each task takes and whether its
    result will be accepted.
    """
    numbers = range(seed, seed + seeds)
    earned: dict[int, dict[str, Earnings]] = {}
    total, done = seeds * len(ORDERS), count(1)
    with progress(f"{total} trials", total, shown=not session.as_json) as report:
        for number in numbers:
            offers = draw_market(number, hours)
            earned[number] = {}
            for order in ORDERS:
                earned[number][order] = try_order(order, offers, hours=hours)
                report(next(done))
    session.answer(
        {str(number): _trial_as_json(by_order) for number, by_order in earned.items()},
        lambda: _show_trial(earned),
    )


@command(
    "growth",
    example="python -m tests.simulation growth --days 8 --seeds 3",
    settings=False,
)
def growth(
    session: Session,
    *,
    days: Annotated[
        float, typer.Option(min=1, max=60, help="Simulated days of each trial.")
    ] = 8.0,
    seed: Annotated[int, typer.Option(help="The same seed makes the same market.")] = 1,
    seeds: Annotated[
        int, typer.Option(min=1, help="How many markets, from --seed upwards.")
    ] = 3,
) -> None:
    """Measure what posting for growth is worth, in simulated time.

    The whole daemon works on each market without posts, with a plan that posts at each
    slot, and with one that posts while that is worth its cost: once where posts bring
    nothing, and once where each doubles the tasks of the next six hours.
    """
    tried: list[tuple[float, int, dict[str, GrowthEarnings]]] = []
    total, done = seeds * len(BRINGS) * len(POLICIES), count(1)
    with progress(f"{total} trials", total, shown=not session.as_json) as report:
        for brings, number in product(BRINGS, range(seed, seed + seeds)):
            tried.append((brings, number, {}))
            for policy in POLICIES:
                tried[-1][-1][policy] = try_growth(
                    policy, seed=number, days=days, brings=brings
                )
                report(next(done))
    data = [
        {
            "posts_bring": brings,
            "seed": number,
            **{name: asdict(one) | {"net": one.net} for name, one in by.items()},
        }
        for brings, number, by in tried
    ]
    session.answer({"trials": data}, lambda: _show_growth(data))


def _show_growth(data: list[dict[str, Any]]) -> None:
    print("Credits that work earned, less those that posts cost (posts):")
    print_table(
        ["posts bring", "seed", *POLICIES],
        [
            [
                f"{one['posts_bring']:+.0%} tasks",
                one["seed"],
                *(f"{one[name]['net']} ({one[name]['posts']})" for name in POLICIES),
            ]
            for one in data
        ],
    )


def _trial_as_json(by_order: dict[str, Earnings]) -> dict[str, Any]:
    ours = by_order[OURS].credits
    return {
        "credits_per_hour": {
            order: round(earnings.credits_per_hour, 1)
            for order, earnings in by_order.items()
        },
        "times_first": round(_ratio(ours, by_order[FIRST].credits), 3),
        "share_of_clairvoyant": round(_ratio(ours, by_order[BEST].credits), 3),
        "expected_and_actual": [
            {
                "strategy": strategy,
                "kind": kind,
                "tasks": record.tasks,
                "expected_credits": round(record.expected_credits, 1),
                "credits": record.credits,
                "expected_seconds": round(record.expected_seconds, 1),
                "seconds": round(record.actual_seconds, 1),
            }
            for (strategy, kind), record in by_order[OURS].records.items()
        ],
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _show_trial(earned: dict[int, dict[str, Earnings]]) -> None:
    figures = {number: _trial_as_json(by_order) for number, by_order in earned.items()}
    rows: list[list[Cell]] = [
        [
            number,
            *(round(figure) for figure in one["credits_per_hour"].values()),
            f"{one['times_first']:.2f} x",
            f"{one['share_of_clairvoyant']:.0%}",
        ]
        for number, one in figures.items()
    ]
    orders = list(next(iter(earned.values())))
    print("Credits per hour, by ranking:")
    print_table(["seed", *orders, "of first", "of clairvoyant"], rows)
    print()
    print_fields(
        {
            "median": f"{_median(figures, 'times_first'):.2f} times the order of "
            f"appearance, {_median(figures, 'share_of_clairvoyant'):.0%} of perfect "
            "knowledge",
        },
    )
    last = list(figures.values())[-1]["expected_and_actual"]
    print()
    print("Expected and actual figures of the tasks of the last market:")
    print_table(
        ["kind", "tasks", "expected credits", "credits", "expected seconds", "seconds"],
        [
            [
                one["kind"],
                one["tasks"],
                round(one["expected_credits"]),
                one["credits"],
                round(one["expected_seconds"]),
                round(one["seconds"]),
            ]
            for one in last
        ],
    )


def _median(figures: dict[int, dict[str, Any]], name: str) -> float:
    return float(median(one[name] for one in figures.values()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    for one in (simulate, books, trial, growth):
        epilog = f"Example: {one.example}"
        app.command(one.name, help=one.help, epilog=epilog)(one.entry)
    given = list(sys.argv[1:] if arguments is None else arguments)
    return run_app(app, given or ["--help"], NAME)


if __name__ == "__main__":
    sys.exit(main())
