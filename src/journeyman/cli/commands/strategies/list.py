"""`journeyman strategies list`: what is loaded, what is not, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, neutral, say, table
from journeyman.cli.session import Session, command

if TYPE_CHECKING:
    from journeyman.cli.strategies import Past, StrategyFolder
    from journeyman.journal.scores import StrategyScore
    from journeyman.strategies.loading.installed import Installed
    from journeyman.strategies.loading.loaded import LoadedStrategy
    from journeyman.strategies.loading.problems import Problem

COLUMNS = ("name", "ver", "state", "from")
FIGURES = ("wants/24h", "done", "fail", "credits")
SOME_DO_NOT_RUN = 1


@command("list", example="journeyman strategies list --strategies strategies")
def list_strategies(
    session: Session,
    *,
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The strategy files to load.")
    ] = None,
) -> int:
    """List the strategies, how each fares, and every problem with its fix.

    It exits with 1 if some do not run; the others are in force all the same.
    """
    from journeyman.cli.strategies import open_strategies, past, problem_row
    from journeyman.strategies.loading.installed import installed

    shelf = open_strategies(session, strategies)
    known = past(session, shelf)
    ours = shelf.settings.settings.strategies.installed
    problems = shelf.registry.problems
    data = {
        "directory": str(shelf.directory),
        "strategies": [_row(one, shelf, known) for one in shelf.registry.strategies],
        "problems": list(map(problem_row, problems)),
        "installed": [_offer(one) for one in installed() if one.name not in ours],
    }
    answer(as_json=session.as_json, data=data, show=lambda: _show(data, problems))
    return SOME_DO_NOT_RUN if _idle(data) else 0


def _row(
    loaded: "LoadedStrategy", shelf: "StrategyFolder", known: "Past | None"
) -> dict[str, Any]:
    from journeyman.cli.strategies import near, state_of, trouble

    place = f"{near(loaded.path)}:{loaded.line}"
    return {
        "name": loaded.name,
        "version": loaded.version,
        "state": state_of(loaded, shelf, known),
        "from": f"{loaded.distribution} ({place})" if loaded.distribution else place,
        "runner": loaded.runner,
        "description": loaded.description,
        "trouble": trouble(loaded, known),
        **_figures(known.scores.get(loaded.name) if known else None, known),
    }


def _figures(
    score: "StrategyScore | None", known: "Past | None"
) -> dict[str, int | None]:
    """Give the figures; None where no agent has run, since 0 would be a claim."""
    nothing = 0 if known else None
    return {
        "wants_24h": score.wanted if score else nothing,
        "done": score.completed if score else nothing,
        "failed": score.failed if score else nothing,
        "credits": score.credits if score else nothing,
    }


def _offer(one: "Installed") -> dict[str, str]:
    return {"name": one.name, "from": one.distribution, "target": one.target}


def _idle(data: dict[str, Any]) -> int:
    """Count those that should run and do not."""
    from journeyman.cli.strategies import AT_WORK, CHOSEN

    resting = [
        row for row in data["strategies"] if row["state"] not in AT_WORK | CHOSEN
    ]
    return len(resting) + len({problem["path"] for problem in data["problems"]})


def _show(data: dict[str, Any], problems: "tuple[Problem, ...]") -> None:
    table(
        [*COLUMNS, *(f"{name:>9}" for name in FIGURES)],
        [
            *map(_cells, data["strategies"]),
            *(_failed_cells(problem) for problem in problems),
            *map(_offer_cells, data["installed"]),
        ],
    )
    for row in data["strategies"]:
        if row["trouble"]:
            say()
            say(neutral(f"{row['name']}: {row['trouble']}"))
    for problem in problems:
        say()
        say("\n".join(map(neutral, str(problem).splitlines())))
    say()
    say(_summary(data))


def _cells(row: dict[str, Any]) -> list[str | int]:
    figures = (row["wants_24h"], row["done"], row["failed"])
    earned = "-" if row["credits"] is None else f"{row['credits']:+d}"
    return [
        *(row["name"], row["version"], row["state"], row["from"]),
        *(f"{'-' if figure is None else figure:>9}" for figure in figures),
        f"{earned:>9}",
    ]


def _failed_cells(problem: "Problem") -> list[str | int]:
    from journeyman.cli.strategies import LOAD_FAILED, near
    from journeyman.strategies.loading.source import strategy_stem

    name = strategy_stem(problem.culprit)
    place = f"{near(problem.path)}" + (f":{problem.line}" if problem.line else "")
    return [name, "-", LOAD_FAILED, place, f"{problem.code:>9}", "", "", ""]


def _offer_cells(offer: dict[str, str]) -> list[str | int]:
    from journeyman.cli.strategies import OFF

    return [offer["name"], "-", OFF, f"{offer['from']} (installed)", "", "", "", ""]


def _summary(data: dict[str, Any]) -> str:
    total = len(data["strategies"]) + len({p["path"] for p in data["problems"]})
    said = f"{len(data['strategies'])} loaded from {data['directory']}"
    if idle := _idle(data):
        said += f"; {idle} of {total} do not run"
    if data["installed"]:
        said += "; to load an installed one, list it in strategies.installed"
    return said
