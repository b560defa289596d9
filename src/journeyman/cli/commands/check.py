"""`journeyman check`: load strategies and run their examples, without a network."""

from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from journeyman.cli import catalog
from journeyman.cli.completion import strategy_names
from journeyman.cli.output import plural
from journeyman.cli.session import Session, command
from journeyman.domain.errors import ConfigurationError
from journeyman.domain.text import escape
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import Loading
from journeyman.strategies.running.dry_run import run_examples
from journeyman.strategies.running.runner import Runner


@command("check", example="journeyman check count_words")
def check(
    session: Session,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            autocompletion=strategy_names,
            help="Name, class, file or path; none: all.",
        ),
    ] = None,
    *,
    strategies: catalog.StrategiesOption = None,
) -> int:
    """Load strategies and run their examples; nothing is sent.

    It reports all problems at once, and exits with 4 if there are any.
    """
    available = catalog.AvailableStrategies.load(session, strategies, names or [])
    loading = _load(available, names or [])
    runner = available.runner(session)
    rows = [_row(loaded, runner) for loaded in loading.strategies]
    problems = [catalog.problem_as_json(problem) for problem in loading.problems]
    data = {"checked": rows, "problems": problems}
    session.answer(data, lambda: _show(rows, loading))
    passed = not problems and all(row["passed"] for row in rows)
    return 0 if passed else ConfigurationError.exit_code


def _load(available: catalog.AvailableStrategies, names: list[str]) -> Loading:
    """Load what the names stand for; a file stands for all that it defines."""
    registry = available.registry
    if not names:
        return Loading(registry.strategies, registry.problems)
    found = [
        available.load_file(Path(name))
        if Path(name).is_file()
        else registry.matching(name)
        for name in names
    ]
    return Loading(
        tuple(loaded for one in found for loaded in one.strategies),
        tuple(problem for one in found for problem in one.problems),
    )


def _row(loaded: LoadedStrategy, runner: Runner) -> dict[str, Any]:
    outcomes = anyio.run(run_examples, loaded, runner)
    return {
        "name": loaded.name,
        "version": loaded.version,
        "from": f"{catalog.relative_path(loaded.path)}:{loaded.line}",
        "examples": len(outcomes),
        "passed": all(outcome.passed for outcome in outcomes),
        "failed": [
            {"number": one.number, "example": repr(one.example), "message": one.message}
            for one in outcomes
            if not one.passed
        ],
    }


def _show(rows: list[dict[str, Any]], loading: Loading) -> None:
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        print(escape(f"{row['name']:<{width}}  {_verdict(row)}  {row['from']}"))
        for failed in row["failed"]:
            print(escape(f"    example {failed['number']}: {failed['message']}"))
            print(escape(f"        {failed['example']}"))
    for problem in loading.problems:
        print(escape(problem, keep="\n"))
    bad = sum(not row["passed"] for row in rows) + len(loading.problems)
    if bad:
        codes = sorted(problem.code for problem in loading.problems)
        hint = f"; more: journeyman explain {codes[0]}" if codes else ""
        print(f"{bad} of {len(rows) + len(loading.problems)} failed{hint}")


def _verdict(row: dict[str, Any]) -> str:
    if not row["passed"]:
        return "FAILED"
    if not row["examples"]:
        return "ok, but it has no examples to run"
    return f"ok, {plural(row['examples'], 'example')}"
