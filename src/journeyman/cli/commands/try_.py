"""`journeyman try`: one task through one strategy; nothing is sent."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from journeyman.cli import catalog
from journeyman.cli.agent import read
from journeyman.cli.session import Session, command
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import ConfigurationError, UsageError
from journeyman.domain.tasks import Result, Task, TaskId
from journeyman.domain.text import UntrustedText, escape
from journeyman.network.service_model.listing import ListingReader
from journeyman.strategies import outcomes
from journeyman.strategies.api import ParamError
from journeyman.strategies.api.outcomes import Decline, Misconfigured, RetryLater
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.validation import params_of
from journeyman.strategies.running.dry_run import DryRun, DryRunContext, dry_run

MAX_BYTES = 10_000_000
"""Of a task's file: far more than a network may send."""
FAILED = 1
"""The exit code of a bug, in `wants` as in `run`."""


@command("try", example='journeyman try count_words --text "to be or not"')
def try_strategy(  # noqa: PLR0913 - each is an option of the command line
    session: Session,
    name: catalog.StrategyArgument,
    *,
    text: Annotated[
        str | None,
        typer.Option(help="The text of a task that otherwise suits the strategy."),
    ] = None,
    task: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A task as JSON, as a network sends it."),
    ] = None,
    from_market: Annotated[
        str | None,
        typer.Option("--from-market", metavar="ID", help="A task of the public list."),
    ] = None,
    reward: Annotated[
        int | None, typer.Option(min=0, help="What the task pays, in credits.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="The kind of the task.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="A tag of the task; may be repeated.")
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="A strategy parameter; may be repeated."
        ),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Run it even if it does not want the task.")
    ] = False,
    strategies: catalog.StrategiesOption = None,
) -> int:
    """Show what a strategy would do with one task; nothing is sent.

    It runs where the strategy declares: on the event loop, in a thread, or in a
    process. The exit code is 1 if the strategy fails, and 4 if it is misconfigured.
    """
    available = catalog.AvailableStrategies.load(session, strategies, [name])
    loaded = _configured(available.find(name), available, param or [])
    found = _task_from(session, loaded, text, task, from_market)
    changes: dict[str, Any] = {
        "reward": reward,
        "kind": kind,
        "tags": tuple(tag) if tag else None,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    found = replace(found, **given)
    run = partial(_run_once, session, loaded, found, available, anyway=anyway)
    done, seconds = anyio.run(run)
    data = _as_json(loaded, found, done, seconds)
    session.answer(data, lambda: _show(data))
    return FAILED if done.verdict.failed else _exit_code(done.outcome)


def _configured(
    loaded: LoadedStrategy,
    available: catalog.AvailableStrategies,
    assignments: list[str],
) -> LoadedStrategy:
    """Return the strategy with the parameters of the command line.

    Raises:
        UsageError: one is not NAME=VALUE, or not a parameter of it.
        ConfigurationError: a value is not allowed.
    """
    if not assignments:
        return loaded
    given = dict(_assignment(loaded, text) for text in assignments)
    return available.configure(loaded, {**available.params_of(loaded.name), **given})


def _assignment(loaded: LoadedStrategy, text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    declared = params_of(type(loaded.instance))
    if not equals or name not in declared:
        raise UsageError(
            f"--param {text!r} sets no parameter of {loaded.name}",
            f"Write NAME=VALUE; its parameters: {', '.join(declared) or 'none'}.",
        )
    try:
        return name, declared[name].parse(value)
    except ParamError as error:
        raise UsageError(f"--param {error}", f"Try another value for {name}.") from None


async def _run_once(
    session: Session,
    loaded: LoadedStrategy,
    task: Task,
    available: catalog.AvailableStrategies,
    *,
    anyway: bool,
) -> tuple[DryRun, float]:
    """Run it with the daemon's runner and limits; also return the seconds it took."""
    clock = SystemClock()
    runner = available.runner(session)
    began = clock.monotonic()
    context = DryRunContext(now=clock.now)
    # One process for both answers, as in the daemon: it is started once.
    async with runner.running():
        done = await dry_run(loaded, task, context, anyway=anyway, runner=runner)
    return done, clock.monotonic() - began


def _exit_code(outcome: outcomes.RunOutcome | None) -> int:
    match outcome:
        case outcomes.StrategyError() | outcomes.TimedOut():
            return FAILED
        case Misconfigured():
            return ConfigurationError.exit_code
        case _:
            return 0


def _as_json(
    loaded: LoadedStrategy, task: Task, done: DryRun, seconds: float
) -> dict[str, Any]:
    outcome = done.outcome
    word, reason = _described(outcome)
    result = outcome if isinstance(outcome, Result) else None
    return {
        "strategy": loaded.name,
        "task_id": task.id,
        "wanted": done.verdict.wanted,
        "wants_failed": done.verdict.failed,
        "verdict": _verdict(done),
        "run": word,
        "runner": loaded.runner,
        "seconds": seconds,
        "reason": reason,
        "traceback": outcome.traceback
        if isinstance(outcome, outcomes.StrategyError)
        else "",
        "result": result.output if result else None,
        "evidence": dict(result.evidence) if result else {},
        "log": [
            {"level": line.level, "event": line.event, **line.fields}
            for line in done.log
        ],
        "cost": done.cost,
        "would": _would(task, done),
        "warning": _told_of_us(result, task) if result else "",
    }


def _told_of_us(result: Result, task: Task) -> str:
    """Return a warning if a result contains what stands in our environment."""
    said, given = json.dumps(result.output), json.dumps([task.text, task.input])
    listing = ", ".join(
        name
        for name, value in sorted(os.environ.items())
        if value and json.dumps(value)[1:-1] not in given
        # As JSON has it, and as `env` prints it.
        if f"{json.dumps(name)}: {json.dumps(value)}" in said
        or json.dumps(f"{name}={value}")[1:-1] in said
    )
    return f"the result contains your environment: {listing}" if listing else ""


def _verdict(done: DryRun) -> str:
    verdict = done.verdict
    return f"{verdict.reason}  ({verdict.where})" if verdict.where else verdict.reason


def _described(outcome: outcomes.RunOutcome | None) -> tuple[str, str]:
    """Return the word for an outcome, and its reason."""
    match outcome:
        case None:
            return "not run", ""
        case Result():
            return "ok", ""
        case RetryLater():
            reason = f"{outcome.reason or 'not ready'}; in {outcome.after:g} s"
        case Misconfigured():
            reason = "; ".join(filter(None, (outcome.problem, outcome.fix)))
        case outcomes.StrategyError() if outcome.where:
            reason = f"{outcome.error}  ({outcome.where})"
        case _:
            reason = str(outcome)
    word, _ = outcomes.summarize(outcome)
    return "FAILED" if word == "failed" else word, reason


def _would(task: Task, done: DryRun) -> str:
    if done.verdict.failed:
        return "leave the task to others; errors in wants are counted"
    if not done.verdict.wanted:
        return "leave the task to others"
    match done.outcome:
        case Result():
            unit = "credit" if task.reward == 1 else "credits"
            would = f"submit, complete, +{task.reward} {unit}"
        case Decline():
            would = "give up the claim; not a failure"
        case RetryLater():
            would = "run the same task again, then"
        case Misconfigured():
            would = "stay in quarantine until its file or its settings change"
        case _:
            would = "fail the task; its errors are counted"
    return would


def _show(data: dict[str, Any]) -> None:
    wants = "yes" if data["wanted"] else "FAILED" if data["wants_failed"] else "no"
    print(escape(f"wants    {wants:<6}  {data['verdict']}"))
    if data["run"] == "not run":
        print("run      not run; use --anyway to run it all the same")
    else:
        _show_run(data)
    if data["cost"]:
        print(f"cost     {data['cost']:.6g} credits outside the network")
    if data["warning"]:
        print(escape(f"warning  {data['warning']}"))
    print(f"would    {data['would']}")


def _show_run(data: dict[str, Any]) -> None:
    spent = f"{data['seconds'] * 1000:.1f} ms ({data['runner']})"
    lines = [f"run      {data['run']:<6}  {spent}  {data['reason']}"]
    lines += [f"         {line}" for line in data["traceback"].splitlines()[:-1]]
    for entry in data["log"]:
        fields = " ".join(
            f"{name}={value}"
            for name, value in entry.items()
            if name not in ("level", "event")
        )
        lines.append(f"log      {entry['level']:<6}  {entry['event']} {fields}")
    if data["run"] == "ok":
        evidence = data["evidence"]
        shown = f"  evidence {json.dumps(evidence)}" if evidence else ""
        lines.append(f"result   {json.dumps(data['result'])}{shown}")
    print("\n".join(escape(line.rstrip()) for line in lines))


def _task_from(
    session: Session,
    loaded: LoadedStrategy,
    text: str | None,
    file: Path | None,
    market_id: str | None,
) -> Task:
    """Make, read or fetch the task.

    Raises:
        UsageError: no source is named, or several, or it does not hold a task.
        NetworkError: the public list cannot be read.
        ConfigurationError: no network is named.
    """
    named = sum(source is not None for source in (text, file, market_id))
    if named != 1:
        raise UsageError(
            "name one task at a time" if named else "name one task to try it on",
            'Give --text "...", or --task FILE.json, or --from-market ID.',
        )
    if file is not None:
        return _task_from_file(file)
    if market_id is not None:
        return _task_from_market(session, market_id)
    return _task_of_text(loaded, text or "")


def _task_of_text(loaded: LoadedStrategy, text: str) -> Task:
    """Make a task that the strategy should want: its first example's, with this text.

    Without examples it has the kind, the tags and the reward that the strategy names.
    """
    if loaded.instance.examples:
        task = loaded.instance.examples[0].task
        given = task.input
        if isinstance(given, Mapping) and "text" in given:
            given = {**given, "text": text}
        return replace(task, text=UntrustedText(text), input=given)
    cls = type(loaded.instance)
    return Task(
        id=TaskId("tried"),
        kind=min(cls.kinds, default=""),
        tags=tuple(sorted(cls.tags)),
        reward=max(1, cls.min_reward),
        text=text,
        description=text,
        input={"text": text} if "text" in cls.inputs else None,
    )


def _task_from_file(path: Path) -> Task:
    record = _read_json(path)
    # What `journeyman tasks show ID --raw --json` prints is welcome, too.
    record = record.get("raw", record) if isinstance(record, dict) else record
    if not isinstance(record, dict):
        raise UsageError(
            f"{path} does not hold a task: it is a {type(record).__name__}, "
            "not an object",
            'Write for example {"kind": "word_count", "text": "to be", "reward": 2}.',
        )
    listing = ListingReader().listing([{"id": "from_file", **record}])
    if not listing.tasks:
        raise UsageError(
            f"{path} does not hold a readable task: {listing.problem}",
            "Compare it with what `journeyman market --json` prints.",
        )
    return listing.tasks[0]


def _read_json(path: Path) -> Any:  # noqa: ANN401 - any JSON
    fix = "Name a file that holds one task as JSON."
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path} is too large for a task", "Name another file.")
        return json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", fix) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not valid JSON: {error}", fix) from error


def _task_from_market(session: Session, task_id: str) -> Task:
    listing = read(
        session,
        "the public marketplace",
        lambda client, _identified: client.public_marketplace(),
    )
    for task in listing.every_task():
        if task.id == task_id:
            return task
    raise UsageError(
        f"the public list has no task {task_id!r}",
        f"It has {listing.count}; `journeyman market --public` shows them.",
    )
