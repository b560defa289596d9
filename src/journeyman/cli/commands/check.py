"""`journeyman check`: load strategies and run their examples, without a network."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from journeyman.cli import catalog
from journeyman.cli.completion import strategy_names
from journeyman.cli.output import plural
from journeyman.cli.session import Session, command
from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import Result, Task
from journeyman.domain.text import escape
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import Loading
from journeyman.strategies.outcomes import StrategyError, TimedOut
from journeyman.strategies.running.dry_run import (
    DryRunContext,
    ExampleOutcome,
    ask_wants,
    dry_run,
    run_examples,
)
from journeyman.strategies.running.odd_tasks import tasks_for
from journeyman.strategies.running.runner import Runner
from journeyman.strategies.watchdog import SLOW_SECONDS

LONGEST_EXAMPLE = 200
"""In characters: a longer one is not proposed."""


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
    outcomes = anyio.run(_run_examples, loaded, runner)
    instead: dict[str, Any] = {}
    if not outcomes:
        try_out = _ask if _why_not_run(loaded) else _rehearse
        instead = anyio.run(try_out, loaded, runner)
    return {
        "name": loaded.name,
        "version": loaded.version,
        "from": f"{catalog.relative_path(loaded.path)}:{loaded.line}",
        "examples": len(outcomes),
        "passed": all(outcome.passed for outcome in outcomes),
        "import_seconds": round(loaded.import_seconds, 3),
        "not_run": "" if outcomes else _why_not_run(loaded),
        "answer": instead.get("answer", ""),
        "proposed": instead.get("proposed", ""),
        "odd_failures": instead.get("odd_failures", []),
        "failed": [
            {"number": one.number, "example": repr(one.example), "message": one.message}
            for one in outcomes
            if not one.passed
        ],
    }


async def _run_examples(loaded: LoadedStrategy, runner: Runner) -> list[ExampleOutcome]:
    async with runner.running():
        return await run_examples(loaded, runner)


def _why_not_run(loaded: LoadedStrategy) -> str:
    """Return why it is not run on tasks that nobody gave; empty: it reaches nobody."""
    if loaded.needs.hosts:
        return "it may reach a network, and cost something there"
    return "" if loaded.is_confined else "it is trusted and not isolated"


async def _ask(loaded: LoadedStrategy, runner: Runner) -> dict[str, Any]:
    """Ask a strategy about a task that fits it, and about odd ones.

    Returns:
        what it answers to the first, and how it failed to answer.
    """
    answer = ""
    failures: list[dict[str, str]] = []
    async with runner.running():
        for name, task in tasks_for(loaded):
            verdict = await ask_wants(loaded, task, DryRunContext(), runner)
            word = "yes" if verdict.wanted else "no"
            answer = answer or f"{word}, {verdict.reason}"
            if verdict.failed:
                failures.append({"task": name, "error": verdict.reason})
    return {"answer": answer, "odd_failures": failures}


async def _rehearse(loaded: LoadedStrategy, runner: Runner) -> dict[str, Any]:
    """Run a strategy on a task that fits it, and on odd ones.

    Returns:
        an example made of the first, and how it failed on the others.
    """
    proposed = ""
    failures: list[dict[str, str]] = []
    async with runner.running():
        for number, (name, task) in enumerate(tasks_for(loaded)):
            done = await dry_run(loaded, task, runner=runner)
            outcome = done.outcome
            if number == 0 and isinstance(outcome, Result):
                proposed = _example(task, outcome)
            if isinstance(outcome, StrategyError | TimedOut):
                failures.append({"task": name, "error": str(outcome)})
            elif done.verdict.failed:
                failures.append({"task": name, "error": done.verdict.reason})
    return {"proposed": proposed, "odd_failures": failures}


def _example(task: Task, outcome: Result) -> str:
    given: dict[str, object] = {"kind": task.kind, "tags": list(task.tags)}
    given |= {"text": task.text, "input": task.input}
    said = {name: value for name, value in given.items() if value}
    example = f"examples = [Example({said!r}, expect={outcome.output!r})]"
    return example if len(example) <= LONGEST_EXAMPLE else ""


def _show(rows: list[dict[str, Any]], loading: Loading) -> None:
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        print(escape(f"{row['name']:<{width}}  {_verdict(row)}  {row['from']}"))
        for failed in row["failed"]:
            print(escape(f"    example {failed['number']}: {failed['message']}"))
            print(escape(f"        {failed['example']}"))
        for line in _remarks(row):
            print(escape(f"    {line}"))
    for problem in loading.problems:
        print(escape(problem, keep="\n"))
    bad = sum(not row["passed"] for row in rows) + len(loading.problems)
    if bad:
        codes = sorted(problem.code for problem in loading.problems)
        hint = f"; more: journeyman explain {codes[0]}" if codes else ""
        print(f"{bad} of {len(rows) + len(loading.problems)} failed{hint}")


def _remarks(row: dict[str, Any]) -> Iterator[str]:
    """Yield what is no problem, and better known before it earns."""
    if row["import_seconds"] >= SLOW_SECONDS:
        yield f"importing it takes {row['import_seconds']:.1f} s, at each start"
    if row["not_run"]:
        yield (
            f"not run, since {row['not_run']}; asked about a task that fits it: "
            f"{row['answer']}"
        )
        yield f"`journeyman try {row['name']} --text ...` runs it on a task of yours"
    if row["proposed"]:
        yield f"correct, and add: {row['proposed']}"
    alike: dict[str, list[dict[str, str]]] = {}
    for failed in row["odd_failures"]:
        alike.setdefault(re.sub(r"\d+", "0", failed["error"]), []).append(failed)
    for first, *others in alike.values():
        more = f", and {plural(len(others), 'other task')}" if others else ""
        yield f"fails on {first['task']}{more}: {first['error']}"


def _verdict(row: dict[str, Any]) -> str:
    if not row["passed"]:
        return "FAILED"
    if not row["examples"]:
        # What fails on tasks that nobody gave is loaded, and no more is known of it.
        word = "loads" if row["odd_failures"] else "ok"
        return f"{word}, but it has no examples to run"
    return f"ok, {plural(row['examples'], 'example')}"
