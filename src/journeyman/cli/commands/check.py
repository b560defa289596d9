"""`journeyman check`: are strategies fit to run? It needs no network, no pytest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, neutral, say
from journeyman.cli.session import Session, command
from journeyman.domain.errors import ConfigurationError

if TYPE_CHECKING:
    from journeyman.cli.strategies import StrategyFolder
    from journeyman.strategies.loading.loaded import LoadedStrategy
    from journeyman.strategies.loading.loader import Loading


@command("check", example="journeyman check count_words")
def check(
    session: Session,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Name, class, file or path; none: all."
        ),
    ] = None,
    *,
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The strategy files to load.")
    ] = None,
) -> int:
    """Load strategies and run their examples; nothing is sent.

    It tells every problem at once, and exits with 4 if there is one.
    """
    from journeyman.cli.strategies import open_strategies, problem_row

    shelf = open_strategies(session, strategies)
    loading = _load(shelf, names or [])
    rows = [_row(loaded) for loaded in loading.strategies]
    data = {"checked": rows, "problems": list(map(problem_row, loading.problems))}
    answer(as_json=session.as_json, data=data, show=lambda: _show(rows, loading))
    is_fine = not loading.problems and all(row["passed"] for row in rows)
    return 0 if is_fine else ConfigurationError.exit_code


def _load(shelf: "StrategyFolder", names: list[str]) -> "Loading":
    """Give what the names stand for; a file stands for all that it defines."""
    from journeyman.strategies.loading.loader import Loading, load_file

    if not names:
        return Loading(shelf.registry.strategies, shelf.registry.problems)
    params = shelf.settings.settings.strategies.params
    found = [
        load_file(Path(name), params)
        if Path(name).is_file()
        else shelf.registry.matching(name)
        for name in names
    ]
    return Loading(
        tuple(loaded for one in found for loaded in one.strategies),
        tuple(problem for one in found for problem in one.problems),
    )


def _row(loaded: "LoadedStrategy") -> dict[str, Any]:
    from journeyman.cli.strategies import near
    from journeyman.strategies.running.examples import check_examples

    outcomes = check_examples(loaded)
    return {
        "name": loaded.name,
        "version": loaded.version,
        "from": f"{near(loaded.path)}:{loaded.line}",
        "examples": len(outcomes),
        "passed": all(outcome.passed for outcome in outcomes),
        "failed": [
            {"number": one.number, "example": repr(one.example), "message": one.message}
            for one in outcomes
            if not one.passed
        ],
    }


def _show(rows: list[dict[str, Any]], loading: "Loading") -> None:
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        say(neutral(f"{row['name']:<{width}}  {_verdict(row)}  {row['from']}"))
        for failed in row["failed"]:
            say(neutral(f"    example {failed['number']}: {failed['message']}"))
            say(neutral(f"        {failed['example']}"))
    for problem in loading.problems:
        say("\n".join(map(neutral, str(problem).splitlines())))
    bad = sum(not row["passed"] for row in rows) + len(loading.problems)
    if bad:
        codes = sorted({problem.code for problem in loading.problems})
        hint = f"; more: journeyman explain {codes[0]}" if codes else ""
        say(f"{bad} of {len(rows) + len(loading.problems)} are not fit to run{hint}")


def _verdict(row: dict[str, Any]) -> str:
    if not row["passed"]:
        return "FAILED"
    count = row["examples"]
    if not count:
        return "ok, but it has no examples to run"
    return f"ok, {count} example{'s' if count > 1 else ''}"
