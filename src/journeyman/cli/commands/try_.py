"""`journeyman try`: one task through one strategy; nothing is sent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, neutral, say
from journeyman.cli.session import Session, command
from journeyman.daemon.environment import SystemClock
from journeyman.daemon.strategies import isolation_of
from journeyman.domain.errors import ConfigurationError, UsageError
from journeyman.domain.tasks import Task, TaskId
from journeyman.domain.text import UntrustedText
from journeyman.journal.directory import DataDirectory
from journeyman.strategies.api import ParamError
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load_class
from journeyman.strategies.loading.validation import params_of
from journeyman.strategies.outcomes import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
    TimedOut,
)
from journeyman.strategies.running.rehearsal import Rehearsal, Stage, rehearse
from journeyman.strategies.running.runner import Runner

if TYPE_CHECKING:
    from journeyman.cli.strategies import StrategyFolder
    from journeyman.domain.outcomes import Outcome
    from journeyman.network.client import NetworkClient
    from journeyman.network.receipts import Listing


@command("try", example='journeyman try count_words --text "to be or not"')
def try_strategy(  # noqa: PLR0913 - each is an option of the command line
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="The strategy.")],
    *,
    text: Annotated[
        str | None,
        typer.Option(help="The text of the task; the rest as the strategy wants it."),
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
        typer.Option(metavar="NAME=VALUE", help="A parameter of it; may be repeated."),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Run it even if it does not want the task.")
    ] = False,
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The strategy files to load.")
    ] = None,
) -> int:
    """Show what a strategy would do with one task; nothing is sent.

    It runs where the strategy says: on the loop, in a thread, or in a process. It
    exits with 1 if the strategy fails, with 4 if it is misconfigured.
    """
    import anyio

    from journeyman.cli.strategies import open_strategies, pick

    shelf = open_strategies(session, strategies)
    loaded = configured(pick(shelf, name), shelf, param or [])
    changes = {"reward": reward, "kind": kind, "tags": tuple(tag) if tag else None}
    wanted = Wanted(text=text, file=task, market_id=from_market, changes=changes)
    found = find_task(session, loaded, wanted)
    trial = partial(run_once, loaded, found, shelf, session.directory(), anyway=anyway)
    rehearsal, seconds = anyio.run(trial)
    data = report(loaded, found, rehearsal, seconds)
    answer(as_json=session.as_json, data=data, show=lambda: _show(data))
    return exit_code(rehearsal)


def _show(data: dict[str, Any]) -> None:
    say(neutral(f"wants    {'yes' if data['wanted'] else 'no':<6}  {data['verdict']}"))
    if data["run"] == "not run":
        say("run      not run; --anyway would run it all the same")
    else:
        _show_run(data)
    if data["cost"]:
        say(f"cost     {data['cost']:.6g} credits outside of the network")
    say(f"would    {data['would']}")


def _show_run(data: dict[str, Any]) -> None:
    spent = f"{data['seconds'] * 1000:.1f} ms ({data['runner']})"
    say(neutral(f"run      {data['run']:<6}  {spent}  {data['reason']}".rstrip()))
    for line in data["traceback"].splitlines()[:-1]:
        say(neutral(f"         {line}"))
    for entry in data["log"]:
        fields = {k: v for k, v in entry.items() if k not in ("level", "event")}
        said = " ".join(f"{name}={value}" for name, value in fields.items())
        say(neutral(f"log      {entry['level']:<6}  {entry['event']} {said}".rstrip()))
    if data["run"] == "ok":
        said = f"  evidence {json.dumps(data['evidence'])}" if data["evidence"] else ""
        say(neutral(f"result   {json.dumps(data['result'])}{said}"))


def configured(
    loaded: LoadedStrategy, shelf: "StrategyFolder", assignments: list[str]
) -> LoadedStrategy:
    """Give the strategy with some of its parameters set from the command line.

    Raises:
        UsageError: one is not NAME=VALUE, is no parameter of it, or is not allowed.
    """
    from journeyman.cli.strategies import refusal

    if not assignments:
        return loaded
    said = dict(_assignment(loaded, text) for text in assignments)
    cls = type(loaded.instance)
    loading = load_class(cls, {**shelf.params_of(loaded.name), **said})
    if loading.problems:
        raise refusal(loading.problems)
    return loading.strategies[0]


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


async def run_once(
    loaded: LoadedStrategy,
    task: Task,
    shelf: "StrategyFolder",
    directory: DataDirectory,
    *,
    anyway: bool,
) -> tuple[Rehearsal, float]:
    """Run it where and as limited as the daemon would; also give the seconds it took.

    A process has its folder in the system's temporary one: a trial leaves nothing in
    the data directory, which it may not read either.
    """
    clock = SystemClock()
    limits = isolation_of(shelf.settings.settings.isolation, directory)
    runner = Runner(clock, isolation=replace(limits, homes=None))
    began = clock.monotonic()
    stage = Stage(now=clock.now)
    rehearsal = await rehearse(loaded, task, stage, anyway=anyway, runner=runner)
    return rehearsal, clock.monotonic() - began


def report(
    loaded: LoadedStrategy, task: Task, rehearsal: Rehearsal, seconds: float
) -> dict[str, Any]:
    """Give all that is to be told, as JSON."""
    word, result, evidence, reason = _told(rehearsal.ended)
    return {
        "strategy": loaded.name,
        "task_id": task.id,
        "wanted": rehearsal.verdict.wanted,
        "verdict": rehearsal.verdict.reason,
        "run": word,
        "runner": loaded.runner,
        "seconds": seconds,
        "reason": reason,
        "traceback": rehearsal.ended.traceback
        if isinstance(rehearsal.ended, Crashed)
        else "",
        "result": result,
        "evidence": evidence,
        "log": [
            {"level": line.level, "event": line.event, **line.fields}
            for line in rehearsal.log
        ],
        "cost": rehearsal.cost,
        "would": _would(task, rehearsal),
    }


def _told(ended: Ended | None) -> tuple[str, Any, dict[str, Any], str]:
    """Give the word for an end, its output, its evidence, and its reason."""
    told: tuple[str, Any, dict[str, Any], str] = ("not run", None, {}, "")
    match ended:
        case Finished(result):
            told = ("ok", result.output, dict(result.evidence), "")
        case Declined(reason):
            told = ("declined", None, {}, reason)
        case Later(reason, after):
            told = ("later", None, {}, f"{reason or 'not ready'}; in {after:g} s")
        case Broken(problem, fix):
            words = f"{problem}; {fix}" if fix else problem
            told = ("misconfigured", None, {}, words)
        case Crashed(error, where):
            told = ("FAILED", None, {}, f"{error}  ({where})")
        case TimedOut(limit):
            told = ("FAILED", None, {}, f"not done within {limit:g} s")
        case None:
            pass
    return told


def _would(task: Task, rehearsal: Rehearsal) -> str:
    if not rehearsal.verdict.wanted:
        return "leave the task to others"
    match rehearsal.ended:
        case Finished():
            unit = "credit" if task.reward == 1 else "credits"
            would = f"submit, complete, +{task.reward} {unit}"
        case Declined():
            would = "give the claim up; not a failure"
        case Later():
            would = "run the same task again, then"
        case Broken():
            would = "rest until its file or its settings change"
        case _:
            would = "fail the task; its errors are counted"
    return would


def exit_code(rehearsal: Rehearsal) -> int:
    """Give 1 for a failure, 4 for a strategy that its owner must set up, else 0."""
    match rehearsal.ended:
        case Crashed() | TimedOut():
            return 1
        case Broken():
            return ConfigurationError.exit_code
        case _:
            return 0


MAX_BYTES = 10_000_000
"""Of a task's file: far more than a network may send."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What was said about the task; exactly one source is wanted."""

    text: str | None
    file: Path | None
    market_id: str | None
    changes: Mapping[str, Any]
    """Fields of the task; None: what the source says."""


def find_task(session: Session, loaded: "LoadedStrategy", wanted: Wanted) -> Task:
    """Make, read or fetch the task.

    Raises:
        UsageError: no source is named, or several, or it holds no task.
        NetworkError: the public list cannot be read.
        ConfigurationError: no network is named.
    """
    sources = (wanted.text, wanted.file, wanted.market_id)
    named = [source for source in sources if source is not None]
    if len(named) != 1:
        raise UsageError(
            "name one task to try it on" if not named else "one task at a time",
            'Give --text "...", or --task FILE.json, or --from-market ID.',
        )
    task = _from_source(session, loaded, wanted)
    said = {name: value for name, value in wanted.changes.items() if value is not None}
    return replace(task, **said)


def _from_source(session: Session, loaded: "LoadedStrategy", wanted: Wanted) -> Task:
    if wanted.file is not None:
        return _from_file(wanted.file)
    if wanted.market_id is not None:
        return _from_market(session, wanted.market_id)
    return of_text(loaded, wanted.text or "")


def of_text(loaded: "LoadedStrategy", text: str) -> Task:
    """Make a task that the strategy should want: its first example's, with this text.

    Without examples it has the kind, the tags and the reward that the strategy names.
    """
    cls = type(loaded.instance)
    examples = loaded.instance.examples
    if examples:
        task = examples[0].task
        given = _with_text(task.input, text)
        return replace(task, text=UntrustedText(text), input=given)
    return Task(
        id=TaskId("tried"),
        kind=min(cls.kinds, default=""),
        tags=tuple(sorted(cls.tags)),
        reward=max(1, cls.min_reward),
        text=text,
        description=text,
        input={"text": text} if "text" in cls.inputs else None,
    )


def _with_text(given: Any, text: str) -> Any:  # noqa: ANN401 - a task's input is any JSON
    if isinstance(given, Mapping) and "text" in given:
        return {**given, "text": text}
    return given


def _from_file(path: Path) -> Task:
    from journeyman.network.answers import ListingReader
    from journeyman.network.dialect import Dialect

    record = _json(path)
    # What `journeyman tasks show ID --raw --json` prints is welcome, too.
    record = record.get("raw", record) if isinstance(record, dict) else record
    if not isinstance(record, dict):
        raise UsageError(
            f"{path} holds no task: {type(record).__name__} where an object was wanted",
            'Write for example {"kind": "word_count", "text": "to be", "reward": 2}.',
        )
    listing = ListingReader(Dialect()).listing([{"id": "from_file", **record}])
    if not listing.tasks:
        raise UsageError(
            f"{path} holds no task that can be read: {listing.problem}",
            "Compare it with what `journeyman market --json` prints.",
        )
    return listing.tasks[0]


def _json(path: Path) -> Any:  # noqa: ANN401 - any JSON
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path} is too large for a task", "Name another file.")
        return json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}",
            "Name a file that holds one task as JSON.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} is not JSON: {error}", "Name a file that holds one task as JSON."
        ) from error


def _from_market(session: Session, task_id: str) -> Task:
    from journeyman.cli.agent import read

    async def ask(
        client: "NetworkClient",
        _identified: bool,  # noqa: FBT001 - the shape of a Question
    ) -> "Outcome[Listing]":
        return await client.public_marketplace()

    listing = read(session, "the public marketplace", ask)
    for task in listing.tasks:
        if task.id == task_id:
            return task
    raise UsageError(
        f"the public list has no task {task_id!r}",
        f"It has {len(listing.tasks)}; `journeyman market --public` shows them.",
    )
