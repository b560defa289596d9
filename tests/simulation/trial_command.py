"""The command `trial`: what choosing well is worth where slots are scarce."""

from itertools import count
from statistics import median
from typing import Annotated, Any

import typer
from tests.simulation.trial import ORDERS, Earnings, draw_market, try_order

from journeyman.cli.output import Cell, print_fields, print_table, progress
from journeyman.cli.session import Session, command

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
        int, typer.Option(min=1, help="So many markets, from --seed upwards.")
    ] = 3,
) -> None:
    """Measure what choosing well is worth, in simulated time.

    Orders of claiming are compared on markets with more work than slots.
    The whole daemon works on each market four times: in its own order, in the order of
    appearance, best paid first, and as one who knows beforehand how long each task
    takes and whether it will be accepted.
    """
    numbers = range(seed, seed + seeds)
    earned: dict[int, dict[str, Earnings]] = {}
    total, done = seeds * len(ORDERS), count(1)
    with progress(f"{total} trials", total, shown=not session.as_json) as tell:
        for number in numbers:
            offers = draw_market(number, hours)
            earned[number] = {}
            for order in ORDERS:
                earned[number][order] = try_order(order, offers, hours=hours)
                tell(next(done))
    session.answer(
        {str(number): _as_json(by_order) for number, by_order in earned.items()},
        lambda: _show(earned),
    )


def _as_json(by_order: dict[str, Earnings]) -> dict[str, Any]:
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


def _show(earned: dict[int, dict[str, Earnings]]) -> None:
    told = {number: _as_json(by_order) for number, by_order in earned.items()}
    rows: list[list[Cell]] = [
        [
            number,
            *(round(figure) for figure in one["credits_per_hour"].values()),
            f"{one['times_first']:.2f} x",
            f"{one['share_of_clairvoyant']:.0%}",
        ]
        for number, one in told.items()
    ]
    orders = list(next(iter(earned.values())))
    print("Credits per hour, by the order of claiming:")
    print_table(["seed", *orders, "of first", "of clairvoyant"], rows)
    print()
    print_fields(
        {
            "median": f"{_median(told, 'times_first'):.2f} times the order of "
            f"appearance, {_median(told, 'share_of_clairvoyant'):.0%} of what one "
            "earns who knows it all",
        },
    )
    last = list(told.values())[-1]["expected_and_actual"]
    print()
    print("What was expected of the last market's tasks, and what came:")
    print_table(
        ["kind", "tasks", "credits expected", "came", "seconds expected", "took"],
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


def _median(told: dict[int, dict[str, Any]], name: str) -> float:
    return float(median(one[name] for one in told.values()))
