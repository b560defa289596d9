"""`journeyman replay`: recorded tasks through a strategy as it is now."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from journeyman.cli import catalog, output
from journeyman.cli.session import Session, command
from journeyman.cli.spans import SinceOption, time_of
from journeyman.daemon.replay import (
    Change,
    Payment,
    Replayed,
    ReplaySummary,
    Rerun,
    old_version,
    recorded,
    replay_decisions,
    rerun,
)
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import StateError, UsageError
from journeyman.domain.text import escape
from journeyman.journal.journal import Journal
from journeyman.journal.recordings import RecordedDecision
from journeyman.strategies.loading.confined import must_be_asked
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load_file
from journeyman.strategies.loading.validation import params_of
from journeyman.strategies.running.dry_run import DryRunContext
from journeyman.strategies.running.runner import Runner
from journeyman.worker.ranking import Forecasts

STRATEGY_FAILED = 1
HOW_TO_RECORD = (
    "A running daemon records each task that its strategies are asked about, unless "
    "recording.max_mb is 0: start one with `journeyman run`, and try again later."
)


@dataclass(slots=True)
class Replay:
    """Recorded tasks, decided about again."""

    strategy: LoadedStrategy
    compared_with: Path | None
    """The file of the other version; None: what was decided then."""
    has_run: bool
    """Whether tasks with a known result were also done again."""
    tasks: list[tuple[Replayed, Rerun | None]] = field(default_factory=list)
    """Oldest first, each with the result of doing it again."""
    summary: ReplaySummary = field(default_factory=ReplaySummary)

    @property
    def has_failed(self) -> bool:
        """Return whether the strategy failed at any task."""
        crashed = any(again and again.word == "failed" for _, again in self.tasks)
        return bool(self.summary.failed) or crashed

    @property
    def runs(self) -> dict[str, int] | None:
        """How many tasks ended how when they were done again; None: none was."""
        if not self.has_run:
            return None
        return dict(Counter(again.word for _, again in self.tasks if again))


@command("replay", example="journeyman replay count_words --last 200")
def replay(
    session: Session,
    name: catalog.StrategyArgument,
    *,
    last: Annotated[
        int, typer.Option(min=1, metavar="N", help="Only the last N tasks.")
    ] = 200,
    since: SinceOption = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with another version of it, not with what was decided then.",
        ),
    ] = None,
    run: Annotated[
        bool,
        typer.Option(
            "--run",
            help="Also do the tasks again whose result is known, and compare.",
        ),
    ] = False,
    strategies: catalog.StrategiesOption = None,
) -> int:
    """Show what a strategy would decide about recorded tasks.

    Nothing is sent. The strategy sees each task as it was when it was decided about;
    what became known later only shows what the difference is worth. The exit code is 1
    if the strategy fails at a task.
    """
    available = catalog.AvailableStrategies.load(
        session, strategies, [name, *filter(None, [compare])]
    )
    loaded = available.find(name)
    earliest = time_of(since, SystemClock().now())
    old = _other_version(compare, loaded, available) if compare else None
    done = Replay(loaded, compare, has_run=run)
    runner = available.runner(session)
    with session.journal() as journal:
        total = min(last, _require_recordings(journal, earliest))
        with output.progress(
            f"{total} tasks", total, shown=not session.as_json
        ) as report:
            then = (
                old_version(old)
                if old
                else recorded(loaded.name, journal.shadows.opinions_of(loaded.name))
            )
            forecasts = Forecasts(journal.track_records.all())
            recordings = journal.recordings.last(last, earliest)
            decide = partial(
                replay_decisions, loaded=loaded, then=then, forecasts=forecasts
            )
            confined = [one for one in (loaded, old) if one and must_be_asked(one)]
            replayed = _replayed(recordings, decide, confined, runner)
            anyio.run(_collect, replayed, done, runner, report)
    if not done.tasks:  # a daemon has just dropped what was counted
        raise StateError("no task is recorded here any more", HOW_TO_RECORD)
    session.answer(_as_json(done), lambda: _show(done))
    return STRATEGY_FAILED if done.has_failed else 0


def _require_recordings(journal: Journal, earliest: datetime | None) -> int:
    """Return how many recordings there are."""
    count = journal.recordings.count(earliest)
    if not count and earliest is not None and journal.recordings.count():
        raise StateError(
            f"no task was recorded since {earliest:%Y-%m-%d %H:%M} UTC",
            "Choose a longer --since, or omit it.",
        )
    if not count:
        raise StateError("no task is recorded here yet", HOW_TO_RECORD)
    return count


def _other_version(
    path: Path,
    loaded: LoadedStrategy,
    available: catalog.AvailableStrategies,
) -> LoadedStrategy:
    """Load another version of a strategy, with those parameters that it has, too."""
    if not path.is_file():
        raise UsageError(
            f"--compare {path} is not a file",
            "Name a file with another version of the strategy. To get one from git: "
            f"git show HEAD~1:{loaded.path.name} > old.py",
        )
    # Without the configuration's parameters: it may not have them all.
    loading = load_file(path, described=available.described)
    if loading.problems:
        raise catalog.loading_error(loading.problems)
    found = [one for one in loading.strategies if one.name == loaded.name]
    found = found or list(loading.strategies)
    if len(found) != 1:
        names = ", ".join(one.name for one in loading.strategies)
        raise UsageError(
            f"--compare {path} has no strategy {loaded.name!r}, and several others",
            f"It has {names}. Name a file with one strategy.",
        )
    cls = type(found[0].instance)
    given = available.params_of(loaded.name)
    known = {name: given[name] for name in params_of(cls) if name in given}
    return available.configure(found[0], known)


async def _replayed(
    recordings: Iterable[RecordedDecision],
    decide: Callable[[Iterator[RecordedDecision]], Iterator[Replayed]],
    confined: Sequence[LoadedStrategy],
    runner: Runner,
) -> AsyncIterator[Replayed]:
    """Ask the processes about each task just before it is decided about."""
    waiting: list[RecordedDecision] = []
    replayed = decide(iter(waiting.pop, None))
    for recording in recordings:
        for one in confined:
            context = DryRunContext().make(one.name, recording.task, Path())
            await runner.consult(one, [recording.task], context)
        waiting.append(recording)
        yield next(replayed)


async def _collect(
    replayed: AsyncIterator[Replayed],
    done: Replay,
    runner: Runner,
    report: output.ReportProgress,
) -> None:
    async with runner.running():
        if done.has_run:
            runner.serve([done.strategy])
        async for one in replayed:
            again = None
            if done.has_run and one.change in (Change.KEPT, Change.GAINED):
                again = await rerun(one.decision, done.strategy, runner)
            done.summary.add(one)
            done.tasks.append((one, again))
            report(len(done.tasks))


def _as_json(done: Replay) -> dict[str, Any]:
    """Return all sums, and the tasks whose decision or result changed."""
    summary, loaded = done.summary, done.strategy
    return {
        "strategy": loaded.name,
        "version": loaded.version,
        "from": f"{loaded.path}:{loaded.line}",
        "compared_with": str(done.compared_with) if done.compared_with else None,
        "tasks": summary.tasks,
        "first_at": done.tasks[0][0].decision.at.isoformat(),
        "last_at": done.tasks[-1][0].decision.at.isoformat(),
        "wanted": {"then": summary.wanted_then, "now": summary.wanted_now},
        "skipped": {
            "then": summary.tasks - summary.wanted_then,
            "now": summary.tasks - summary.wanted_now,
        },
        "offers_changed": summary.offers_changed,
        "recorded_in_part": summary.in_part,
        "errors": summary.failed,
        "read_raw": summary.read_raw,
        "credits": {
            change.value: {
                payment.value: summary.subtotal(change, payment).as_json()
                for payment in Payment
            }
            for change in Change
            if change is not Change.LEFT
        },
        "run": done.runs,
        "changes": [
            _change_as_json(one, again)
            for one, again in done.tasks
            if one.change in (Change.GAINED, Change.DROPPED)
            or one.now.failed
            or (again is not None and again.word != "same")
        ],
    }


def _change_as_json(one: Replayed, again: Rerun | None) -> dict[str, Any]:
    seen, ending = one.decision, one.decision.ending
    is_estimate = one.now.wanted and one.payment is Payment.UNKNOWN
    return {
        "task_id": seen.task.id,
        "kind": seen.task.kind,
        "reward": seen.task.reward,
        "at": seen.at.isoformat(),
        "change": one.change.value,
        "then": {"wanted": one.then.wanted, "reason": one.then.reason},
        "now": {
            "wanted": one.now.wanted,
            "reason": one.now.reason,
            "failed": one.now.failed,
        },
        "payment": one.payment.value,
        "state": ending.state,
        "done_by": ending.strategy,
        "credits": ending.credits,
        "estimate": round(one.estimate.credits, 1) if is_estimate else None,
        "recorded_in_part": seen.in_part,
        "run": asdict(again) if again else None,
    }


ROWS_SHOWN = 10
"""Of each kind; `--json` prints all."""
REASON_LENGTH = 40
HEADINGS = {
    Change.GAINED: "Wanted now, and not then",
    Change.DROPPED: "Wanted then, and not now",
}


def _show(done: Replay) -> None:
    summary, loaded = done.summary, done.strategy
    first, last = (done.tasks[index][0].decision.at for index in (0, -1))
    output.print_fields(
        {
            "replayed": f"{output.plural(summary.tasks, 'task')}, seen from "
            f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC",
            "through": f"{loaded.name} {loaded.version} "
            f"({catalog.relative_path(loaded.path)})",
            "then means": f"what {catalog.relative_path(done.compared_with)} decides"
            if done.compared_with
            else "what was decided then",
            "note": "\n".join(_notes(summary)),
        }
    )
    print()
    then, now = summary.wanted_then, summary.wanted_now
    output.print_table(
        ["", "then", "now"],
        [
            ["wanted", then, now],
            ["skipped", summary.tasks - then, summary.tasks - now],
        ],
    )
    for change in HEADINGS:
        _show_changes(done, change)
    _show_failures(done)
    _show_runs(done)
    _show_credits(summary)


def _notes(summary: ReplaySummary) -> Iterator[str]:
    if summary.in_part:
        yield (
            f"{output.plural(summary.in_part, 'task')} recorded in part: a long text "
            "was cut, or a secret removed"
        )
    if summary.read_raw:
        yield (
            "it reads task.raw, which is not recorded "
            f"({output.plural(summary.read_raw, 'task')}): with it, it may decide "
            "otherwise"
        )
    if summary.offers_changed:
        yield (
            f"{output.plural(summary.offers_changed, 'task')} wanted then and now, "
            "with another score"
        )


def _show_changes(done: Replay, change: Change) -> None:
    changed = [one for one, _ in done.tasks if one.change is change]
    if not changed:
        return
    print()
    print(f"{HEADINGS[change]}: {output.plural(len(changed), 'task')}")
    output.print_table(
        ["task", "kind", "reward", "then", "now", "outcome"],
        [
            [
                one.decision.task.id,
                escape(one.decision.task.kind, longest=REASON_LENGTH),
                one.decision.task.reward,
                escape(one.then.reason, longest=REASON_LENGTH),
                escape(one.now.reason, longest=REASON_LENGTH),
                _outcome(one),
            ]
            for one in changed[-ROWS_SHOWN:]
        ],
        titles=["kind", "then", "now"],
        drop=["kind", "outcome"],
    )
    _show_rest(len(changed))


def _outcome(one: Replayed) -> str:
    ending = one.decision.ending
    match one.payment:
        case Payment.PAID:
            return f"paid {ending.credits}"
        case Payment.PAID_TO_ANOTHER:
            return f"paid {ending.credits} to {ending.strategy}"
        case Payment.FAILED:
            return f"{ending.state} then"
        case Payment.UNKNOWN if one.now.wanted:
            return f"unknown; about {one.estimate.credits:.1f}"
        case Payment.UNKNOWN:
            return f"{ending.state or 'unknown'}, not paid"


def _show_failures(done: Replay) -> None:
    failed = [one for one, _ in done.tasks if one.now.failed]
    if not failed:
        return
    print()
    print(f"`wants` failed at {output.plural(len(failed), 'task')}")
    for one in failed[-ROWS_SHOWN:]:
        print(escape(f"    {one.decision.task.id}  {one.now.reason}"))
    _show_rest(len(failed))


def _show_runs(done: Replay) -> None:
    if done.runs is None:
        return
    print()
    counts = " · ".join(f"{word} {count}" for word, count in done.runs.items())
    print(f"Done again: {counts or 'no task whose result is known is wanted now'}")
    others = [
        (one, again) for one, again in done.tasks if again and again.word != "same"
    ]
    for one, again in others[-ROWS_SHOWN:]:
        text = again.reason or (
            f"{escape(again.result, longest=REASON_LENGTH)}, and then it was "
            f"{escape(again.recorded, longest=REASON_LENGTH)}"
        )
        print(escape(f"    {one.decision.task.id}  {again.word}: {text}"))
    _show_rest(len(others))


def _show_rest(count: int) -> None:
    if count > ROWS_SHOWN:
        print(f"    and {count - ROWS_SHOWN} earlier ones; --json prints all")


def _show_credits(summary: ReplaySummary) -> None:
    kept = summary.subtotal(Change.KEPT, Payment.PAID)
    won = summary.subtotal(Change.GAINED, Payment.PAID)
    lost = summary.subtotal(Change.DROPPED, Payment.PAID)
    spared = summary.subtotal(Change.DROPPED, Payment.FAILED)
    others = summary.subtotal(Change.GAINED, Payment.PAID_TO_ANOTHER)
    unknown = summary.subtotal(Change.GAINED, Payment.UNKNOWN)
    only_now, gone = "wanted only now", "not wanted any more"
    estimate = f"about {unknown.estimate:.1f} credits by its track record (an estimate)"
    rows = (
        ("kept", kept, f"{kept.credits} paid for", ""),
        ("won", won, f"+{won.credits} paid for", only_now),
        ("lost", lost, f"-{lost.credits} paid for", gone),
        ("spared", spared, "", f"{gone}, that it did and was not paid for"),
        (
            "no gain",
            others,
            "",
            f"{only_now}; others were paid {others.credits} for it",
        ),
        ("unknown", unknown, "", f"{only_now}, and paid to nobody here; {estimate}"),
    )
    shown = {
        f"    {label}": " ".join(
            filter(None, (before, output.plural(subtotal.tasks, "task"), after))
        )
        for label, subtotal, before, after in rows
        if subtotal.tasks
    }
    if shown:
        print()
        print("Credits")
        output.print_fields(shown)
