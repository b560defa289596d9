"""`journeyman simulate`: the whole daemon in simulated time, and what can go wrong."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from journeyman.cli.command import command
from journeyman.cli.output import answer
from journeyman.cli.progress import Tell, progress
from journeyman.cli.session import Session
from journeyman.cli.simulation_sheet import as_json, show
from journeyman.domain.errors import UsageError

if TYPE_CHECKING:
    from journeyman.simulation import Campaign, Work

VIOLATED = 1
Level = Literal["off", "mild", "hard"]
Sweep = Literal["crashes", "pairs", "fault-crash"]


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
        works = _from_seeds(range(seed, seed + seeds), days, chaos)
        replay = f"journeyman simulate --days {days:g} --chaos {chaos} --seed"
    else:
        works = _of_sweep(sweep, case, every)
        replay = f"journeyman simulate --sweep {sweep} --case"
    with progress("simulating", len(works), shown=not session.as_json) as tell:
        campaign, seconds = _run(works, jobs, replay, tell)
    data = as_json(campaign, seconds)
    answer(as_json=session.as_json, data=data, show=lambda: show(campaign, seconds))
    return VIOLATED if campaign.failed else 0


def _require(is_right: bool, problem: str) -> None:  # noqa: FBT001 - a condition
    if not is_right:
        raise UsageError(problem, "See: journeyman simulate --help")


def _run(
    works: "list[Work]", jobs: int, replay: str, tell: Tell
) -> "tuple[Campaign, float]":
    """Do all the work; give what it came to, and how many seconds it took."""
    from journeyman.daemon.system import SystemClock
    from journeyman.simulation import Campaign, do_all

    campaign, clock = Campaign(), SystemClock()
    began = clock.monotonic()
    for done, ran in enumerate(do_all(works, jobs, tell), 1):
        for name, outcome in ran:
            campaign.add(outcome, f"{replay} {name}")
        tell(done)
    return campaign, clock.monotonic() - began


def _from_seeds(seeds: range, days: float, chaos: Level) -> "list[Work]":
    from journeyman.simulation import Chaos, SeedWork

    return [SeedWork(seed, days, Chaos(chaos)) for seed in seeds]


def _of_sweep(sweep: Sweep, case: str, every: int) -> "list[Work]":
    from journeyman.simulation import CaseWork, find_case, sweep_work

    if not case:
        return sweep_work(sweep, every)
    try:
        find_case(sweep, case)
    except LookupError as error:
        _require(is_right=False, problem=str(error))
    return [CaseWork(sweep, case)]
