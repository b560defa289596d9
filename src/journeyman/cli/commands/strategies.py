"""`journeyman strategies list`: what is loaded, what is not, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.command import command
from journeyman.cli.output import answer, say, table
from journeyman.cli.session import Session
from journeyman.cli.text import neutral
from journeyman.domain.errors import ConfigurationError

if TYPE_CHECKING:
    from journeyman.strategies.loaded import Loaded
    from journeyman.strategies.problems import Problem


@command("list", example="journeyman strategies list --strategies strategies")
def list_strategies(
    session: Session,
    *,
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The strategy files to load.")
    ] = None,
) -> int:
    """List what is loaded, and each problem with its fix.

    It exits with 4 if a file was refused; the others are in force all the same.
    """
    from journeyman.daemon.strategies import strategies_directory
    from journeyman.strategies.registry import load_registry

    named = {"strategies.directory": str(strategies) if strategies else None}
    settings = session.load(named).settings.strategies
    directory = strategies_directory(settings)
    registry = load_registry(directory, settings.params)
    data = {
        "directory": str(directory),
        "strategies": [_row(s, settings.disabled) for s in registry.strategies],
        "problems": list(map(_problem, registry.problems)),
    }
    answer(
        as_json=session.as_json,
        data=data,
        show=lambda: _show(data, registry.problems),
    )
    return ConfigurationError.exit_code if registry.problems else 0


def _row(loaded: "Loaded", disabled: tuple[str, ...]) -> dict[str, Any]:
    return {
        "name": loaded.name,
        "version": loaded.version,
        "state": "disabled" if loaded.name in disabled else "enabled",
        "from": f"{_near(loaded.path)}:{loaded.line}",
        "runner": loaded.runner,
        "description": loaded.description,
    }


def _near(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _problem(problem: "Problem") -> dict[str, Any]:
    return {
        "code": problem.code,
        "path": str(problem.path),
        "line": problem.line,
        "source_line": problem.source_line,
        "problem": problem.message,
        "fix": problem.fix,
    }


def _show(data: dict[str, Any], problems: "tuple[Problem, ...]") -> None:
    rows = [list(row.values()) for row in data["strategies"]]
    table(["name", "version", "state", "from", "runner", "description"], rows)
    for problem in problems:
        say()
        say("\n".join(map(neutral, str(problem).splitlines())))
    say()
    say(f"{len(rows)} loaded from {data['directory']}, {len(problems)} problems")
