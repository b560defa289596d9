"""`journeyman replay`: recorded tasks through strategies as they are now."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from journeyman.cli import catalog, output
from journeyman.cli.completion import strategy_names
from journeyman.cli.recordings import (
    IN_WORDS,
    STRATEGY_FAILED,
    Chosen,
    LastOption,
    asked,
    judge_recordings,
    require_some,
    seen_from,
    span,
    sums_as_json,
)
from journeyman.cli.session import Session, command
from journeyman.cli.spans import SinceOption, time_of
from journeyman.daemon.backtest import Basis, Judged, add_up
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
from journeyman.domain.errors import UsageError
from journeyman.domain.text import escape
from journeyman.journal.recordings import RecordedDecision
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load_file
from journeyman.strategies.loading.registry import Registry
from journeyman.strategies.loading.validation import params_of
from journeyman.strategies.running.runner import Runner
from journeyman.worker.ranking import Forecasts


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
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            autocompletion=strategy_names,
            help="Its name, class, file or path; several are a set; none: all.",
        ),
    ] = None,
    *,
    last: LastOption = 200,
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
    """Show what strategies would decide about recorded tasks.

    Of one strategy it shows what differs from what was decided then. Of several, or of
    all, it shows who would have won each task, and what they would have earned and
    cost.

    Nothing is sent. A strategy sees each task as it was when it was decided about; what
    became known later only shows what the difference is worth. The exit code is 1 if a
    strategy fails at a task.
    """
    given = names or []
    if len(given) != 1 and (compare or run):
        raise UsageError(
            f"{'--compare' if compare else '--run'} takes one strategy",
            "Name it: journeyman replay NAME --compare FILE",
        )
    available = catalog.AvailableStrategies.load(
        session, strategies, [*given, *filter(None, [compare])]
    )
    chosen = Chosen(
        last=last, earliest=time_of(since, SystemClock().now(), session.zone())
    )
    if len(given) != 1:
        return _replay_set(session, available, given, chosen)
    loaded = available.find(given[0])
    old = _other_version(compare, loaded, available) if compare else None
    done = Replay(loaded, compare, has_run=run)
    runner = available.runner(session)
    with session.journal() as journal, chosen.progress(session, journal) as report:
        then = (
            old_version(old)
            if old
            else recorded(loaded.name, journal.shadows.opinions_of(loaded.name))
        )
        forecasts = Forecasts(journal.track_records.all())
        decide = partial(
            replay_decisions, loaded=loaded, then=then, forecasts=forecasts
        )
        both = [loaded, *filter(None, [old])]
        replayed = _replayed(asked(chosen.read(journal), both, runner), decide)
        anyio.run(_collect, replayed, done, runner, report)
    require_some(done.tasks)
    session.answer(_as_json(done), lambda: _show(done))
    return STRATEGY_FAILED if done.has_failed else 0


def _replay_set(
    session: Session,
    available: catalog.AvailableStrategies,
    names: Sequence[str],
    chosen: Chosen,
) -> int:
    """Judge several strategies together, or all that would be active."""
    if not names and available.registry.problems:
        raise catalog.loading_error(available.registry.problems)
    disabled = available.settings.settings.strategies.disabled
    idle = {*disabled, *available.shadows}
    everyone = [one for one in available.registry.strategies if one.name not in idle]
    strategies = [available.find(name) for name in names] or everyone
    _require_set(strategies)
    sets = [Registry(strategies)]
    judged = judge_recordings(session, available, sets, chosen)
    data = _set_as_json(judged)
    session.answer(data, lambda: _show_set(data, judged))
    return STRATEGY_FAILED if any(one["errors"] for one in data["strategies"]) else 0


def _require_set(strategies: Sequence[LoadedStrategy]) -> None:
    if not strategies:
        raise UsageError("no strategy is active", "Name those to be judged.")
    names = Counter(one.name for one in strategies)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise UsageError(
            f"{twice[0]!r} is named twice",
            "Two versions of one strategy: journeyman strategies compare A B",
        )


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
    recordings: AsyncIterator[RecordedDecision],
    decide: Callable[[Iterator[RecordedDecision]], Iterator[Replayed]],
) -> AsyncIterator[Replayed]:
    """Decide about each task once it was asked about."""
    waiting: list[RecordedDecision] = []
    replayed = decide(iter(waiting.pop, None))
    async for recording in recordings:
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
            "replayed": seen_from(summary.tasks, first, last),
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


# -- a set -------------------------------------------------------------------------


def _set_as_json(judged: Sequence[tuple[Judged, ...]]) -> dict[str, Any]:
    tasks = [one for (one,) in judged]
    return {
        **span(judged),
        "strategies": [
            {"name": name, **sums_as_json(sums)} for name, sums in add_up(tasks).items()
        ],
        "wanted_by_nobody": sum(not one.winner for one in tasks),
        "then": {
            "paid": sum(one.decision.ending.credits > 0 for one in tasks),
            "earned": sum(one.decision.ending.credits for one in tasks),
        },
        "judged": [_judged_as_json(one) for one in tasks],
    }


def _judged_as_json(one: Judged) -> dict[str, Any]:
    ending, worth = one.decision.ending, one.worth
    return {
        "task_id": one.decision.task.id,
        "kind": one.decision.task.kind,
        "reward": one.decision.task.reward,
        "then": {
            "strategy": one.decision.strategy,
            "state": ending.state,
            "credits": ending.credits,
        },
        "now": {"strategy": one.winner, "reason": one.choice.reason},
        "earned": round(worth.earned, 3) if worth else 0,
        "cost": round(worth.cost, 3) if worth else 0,
        "basis": worth.basis.value if worth else None,
    }


SET_COLUMNS = ("wanted", "won", "earned", "cost", "net")


def _show_set(data: dict[str, Any], judged: Sequence[tuple[Judged, ...]]) -> None:
    tasks = [one for (one,) in judged]
    first, last = (tasks[index].decision.at for index in (0, -1))
    rows = data["strategies"]
    total = {column: sum(row[column] for row in rows) for column in SET_COLUMNS}
    output.print_fields(
        {
            "judged by": seen_from(len(tasks), first, last),
            "then": f"{output.plural(data['then']['paid'], 'task')} paid, "
            f"{data['then']['earned']} credits",
            "now": f"{output.plural(total['won'], 'task')} won, "
            f"{total['net']:.1f} credits, {_bases(rows)}",
        }
    )
    print()
    output.print_table(
        ["strategy", *SET_COLUMNS, "errors"],
        [
            *([row["name"], *_set_cells(row), row["errors"] or "-"] for row in rows),
            ["nobody", "-", data["wanted_by_nobody"], *["-"] * 4],
        ],
        drop=("errors", "wanted"),
    )
    _show_other_winners(tasks)


def _set_cells(row: Mapping[str, Any]) -> list[str | int]:
    sums = (f"{row[column]:.1f}" for column in ("earned", "cost", "net"))
    return [row["wanted"], row["won"], *sums]


def _bases(rows: Sequence[Mapping[str, Any]]) -> str:
    sums = {basis: sum(row["basis"][basis.value] for row in rows) for basis in Basis}
    return ", ".join(
        f"{output.plural(count, 'task')} {IN_WORDS[basis]}"
        for basis, count in sums.items()
        if count
    )


def _show_other_winners(tasks: Sequence[Judged]) -> None:
    others = [one for one in tasks if one.winner != one.decision.strategy]
    if not others:
        return
    print()
    print(f"Won by another than then: {output.plural(len(others), 'task')}")
    output.print_table(
        ["task", "kind", "reward", "then", "now", "brings"],
        [
            [
                one.decision.task.id,
                escape(one.decision.task.kind, longest=REASON_LENGTH),
                one.decision.task.reward,
                one.decision.strategy or "nobody",
                one.winner or "nobody",
                f"{one.net:.1f}",
            ]
            for one in others[-ROWS_SHOWN:]
        ],
        titles=["kind"],
        drop=["kind"],
    )
    _show_rest(len(others))
