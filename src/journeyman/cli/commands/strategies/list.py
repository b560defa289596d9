"""`journeyman strategies list`: what is loaded, what is not, and why."""

from pathlib import Path
from typing import Any

from journeyman.cli import catalog
from journeyman.cli.output import print_table
from journeyman.cli.session import Session, command
from journeyman.domain.text import escape
from journeyman.strategies.loading.definitions import installed_strategies
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import Folders
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.source import strategy_stem

COLUMNS = ("name", "ver", "state", "from")
FIGURE_KEYS = ("wants_24h", "done", "failed", "credits")
FIGURES = ("wants/24h", "done", "fail", "credits")
SOME_DO_NOT_RUN = 1


@command("list", example="journeyman strategies list --strategies strategies")
def list_strategies(
    session: Session, *, strategies: catalog.StrategiesOption = None
) -> int:
    """List the strategies, their results, and every problem.

    Beside a running daemon they are those of its folders, unless --strategies names
    one.

    The exit code is 1 if some do not run; the others are active all the same.
    """
    available = catalog.AvailableStrategies.load(session, strategies, as_daemon=True)
    history = catalog.StrategyHistory.read(session, available)
    listed = available.settings.settings.strategies.installed
    registry = available.registry
    data = {
        "directories": [*map(str, available.folders)],
        "strategies": [_row(loaded, history) for loaded in registry.strategies],
        "replaced": available.replaced,
        "problems": [catalog.problem_as_json(problem) for problem in registry.problems],
        "installed": [
            {"name": one.name, "from": one.distribution, "target": one.target}
            for one in installed_strategies()
            if one.name not in listed
        ],
    }
    session.answer(data, lambda: _show(data, available))
    return SOME_DO_NOT_RUN if _count_idle(data) else 0


def _row(loaded: LoadedStrategy, history: catalog.StrategyHistory) -> dict[str, Any]:
    place = f"{catalog.relative_path(loaded.path)}:{loaded.line}"
    # Where no agent has run they are None, since 0 would be a claim.
    no_figures = dict.fromkeys(FIGURE_KEYS, 0 if history.has_journal else None)
    return {
        "name": loaded.name,
        "version": loaded.version,
        "state": history.state_of(loaded),
        "source": history.available.source_of(loaded),
        "from": f"{loaded.distribution} ({place})" if loaded.distribution else place,
        "runner": loaded.runner,
        "description": loaded.description,
        "quarantine_reason": history.quarantine_reason(loaded),
        **(history.figures(loaded.name) or no_figures),
    }


def _count_idle(data: dict[str, Any]) -> int:
    """Count those that should run and do not."""
    idle = [row for row in data["strategies"] if row["state"] not in catalog.CHOSEN]
    return len(idle) + len({problem["path"] for problem in data["problems"]})


def _show(data: dict[str, Any], available: catalog.AvailableStrategies) -> None:
    problems = available.registry.problems
    installed = (
        [one["name"], "-", catalog.OFF, f"{one['from']} (installed)", *["-"] * 4]
        for one in data["installed"]
    )
    print_table(
        (*COLUMNS, *FIGURES),
        [
            *(_cells(row, available.folders) for row in data["strategies"]),
            *map(_problem_cells, problems),
            *installed,
        ],
        drop=("from", "ver", "wants/24h"),
    )
    for row in data["strategies"]:
        if row["quarantine_reason"]:
            print()
            print(escape(f"{row['name']}: {row['quarantine_reason']}"))
    for problem in problems:
        print()
        print(escape(problem, keep="\n"))
    print()
    if data["replaced"]:
        print(f"Yours, in place of the ready ones: {', '.join(data['replaced'])}")
    print(_summary(data, available.folders))


def _cells(row: dict[str, Any], folders: Folders) -> list[str | int]:
    *figures, earned = ("-" if row[key] is None else row[key] for key in FIGURE_KEYS)
    place = row["from"]
    if within := folders.within_ready(Path(place).absolute()):
        place = f"{within} (ready)"  # the whole path may lead deep into an environment
    return [
        *(row["name"], row["version"], row["state"], place),
        *figures,
        earned if earned == "-" else f"{earned:+d}",
    ]


def _problem_cells(problem: Problem) -> list[str | int]:
    name = strategy_stem(problem.affected_file)
    line = f":{problem.line}" if problem.line else ""
    place = f"{catalog.relative_path(problem.path)}{line}"
    state = f"{catalog.LOAD_FAILED} {problem.code}"
    return [name, "-", state, place, *["-"] * len(FIGURES)]


def _summary(data: dict[str, Any], folders: Folders) -> str:
    total = len(data["strategies"]) + len({p["path"] for p in data["problems"]})
    summary = f"{len(data['strategies'])} loaded from {folders}"
    if idle := _count_idle(data):
        summary += f"; {idle} of {total} do not run"
    if data["installed"]:
        summary += "; to load an installed one, list it in strategies.installed"
    return summary
