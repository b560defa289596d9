"""`journeyman replay`: recorded tasks through a strategy as it is now."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import anyio
import typer

from journeyman.cli.output import (
    Tell,
    answer,
    facts,
    neutral,
    progress,
    say,
    shortened,
    table,
)
from journeyman.cli.session import Session, command
from journeyman.cli.strategies import (
    StrategyFolder,
    near,
    open_strategies,
    pick,
    refusal,
)
from journeyman.daemon.environment import SystemClock
from journeyman.daemon.replay.decisions import (
    Balance,
    Change,
    Fate,
    Part,
    Replayed,
    Then,
    old_version,
    recorded,
    replay_decisions,
)
from journeyman.daemon.replay.rerun import Rerun, rerun
from journeyman.daemon.strategies import isolation_of
from journeyman.domain.errors import StateError, UsageError
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load_class, load_file
from journeyman.strategies.loading.validation import params_of
from journeyman.strategies.running.runner import Runner
from journeyman.worker.ranking import Forecasts

if TYPE_CHECKING:
    from journeyman.journal.journal import Journal


NEW_CODE_FAILS = 1


@command("replay", example="journeyman replay count_words --last 200")
def replay(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="The strategy.")],
    *,
    last: Annotated[
        int, typer.Option(min=1, metavar="N", help="The last so many tasks.")
    ] = 200,
    since: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Only tasks seen since: 7d, 12h or 30m ago."),
    ] = None,
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
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The strategy files to load.")
    ] = None,
) -> int:
    """Show what a strategy would decide about recorded tasks.

    Nothing is sent. The strategy is shown each task as it was when it was decided
    about; what became known later is only used to tell what the difference is worth.
    It exits with 1 if the new code fails at one of the tasks.
    """
    wish = ReplayRequest(
        name=name, last=last, since=since, compare=compare, run=run, folder=strategies
    )
    played = play_recordings(session, wish)
    answer(as_json=session.as_json, data=as_json(played), show=lambda: show(played))
    return NEW_CODE_FAILS if played.has_failed else 0


UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
HOW_IT_FILLS = (
    "A running daemon keeps each task that its strategies are asked about, unless "
    "tape.max_mb is 0: start one with `journeyman run`, and come back later."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayRequest:
    """What was said on the command line."""

    name: str
    last: int
    since: str | None
    compare: Path | None
    run: bool
    folder: Path | None


@dataclass(slots=True)
class Played:
    """All that came of it."""

    strategy: LoadedStrategy
    compared_with: Path | None
    """The file of the other version; None: what was decided then."""
    tasks: list[tuple[Replayed, Rerun | None]] = field(default_factory=list)
    """Oldest first; with what was made of it, where it was done again."""
    balance: Balance = field(default_factory=Balance)
    has_run: bool = False

    @property
    def has_failed(self) -> bool:
        """Tell whether the new code failed anywhere."""
        crashed = any(one and one.word == "failed" for _, one in self.tasks)
        return bool(self.balance.failed) or crashed


def play_recordings(session: Session, wish: ReplayRequest) -> Played:
    """Play the tape to a strategy.

    Raises:
        ConfigurationError: there is no such strategy, or it did not load.
        UsageError: `since` is no age.
        NotRunningError: no agent ever lived in the data directory.
        StateError: nothing is on the tape.
    """
    shelf = open_strategies(session, wish.folder)
    loaded = pick(shelf, wish.name)
    since = moment_of(wish.since, SystemClock().now())
    old = _other_version(wish.compare, loaded, shelf) if wish.compare else None
    played = Played(loaded, wish.compare, has_run=wish.run)
    with session.journal() as journal:
        total = _length(journal, wish.last, since)
        with progress(f"{total} tasks", total, shown=not session.as_json) as tell:
            then = old or recorded(loaded.name, journal.shadows.said(loaded.name))
            forecasts = Forecasts(journal.track_records.all())
            recordings = journal.recordings.last(wish.last, since)
            made = replay_decisions(recordings, loaded, then, forecasts)
            anyio.run(_collect, made, played, _runner(session, shelf), tell)
    if not played.tasks:  # a daemon has just dropped what was counted
        raise StateError("no task is recorded here any more", HOW_IT_FILLS)
    return played


def moment_of(age: str | None, now: datetime) -> datetime | None:
    """Give the moment that is `7d`, `12h`, `30m` or `2w` ago.

    Raises:
        UsageError: it is no such age.
    """
    if age is None:
        return None
    found = re.fullmatch(r"(\d{1,4})([mhdw])", age.strip())
    if found is None:
        raise UsageError(
            f"--since {age!r} is no age", "Write for example 30m, 12h, 7d or 2w."
        )
    return now - timedelta(**{UNITS[found[2]]: int(found[1])})


def _length(journal: "Journal", last: int, since: datetime | None) -> int:
    """Give how many tasks will be played at most."""
    count = journal.recordings.count(since)
    if not count and since is not None and journal.recordings.count():
        raise StateError(
            f"no task was recorded since {since:%Y-%m-%d %H:%M} UTC",
            "Go further back with --since, or leave it out.",
        )
    if not count:
        raise StateError("no task is recorded here yet", HOW_IT_FILLS)
    return min(last, count)


def _other_version(path: Path, loaded: LoadedStrategy, shelf: StrategyFolder) -> Then:
    """Load another version of a strategy, with the same parameters as far as it can."""
    if not path.is_file():
        raise UsageError(
            f"--compare {path} is no file",
            "Name a file with another version of the strategy; from git, say: "
            f"git show HEAD~1:{loaded.path.name} > old.py",
        )
    loading = load_file(path)
    if loading.problems:
        raise refusal(loading.problems)
    found = [one for one in loading.strategies if one.name == loaded.name]
    found = found or list(loading.strategies)
    if len(found) != 1:
        names = ", ".join(one.name for one in loading.strategies)
        raise UsageError(
            f"--compare {path} has no strategy {loaded.name!r}, and several others",
            f"It has {names}. Name a file with one strategy.",
        )
    cls = type(found[0].instance)
    given = shelf.params_of(loaded.name)
    known = {name: given[name] for name in params_of(cls) if name in given}
    again = load_class(cls, known)
    if again.problems:
        raise refusal(again.problems)
    return old_version(again.strategies[0])


def _runner(session: Session, shelf: StrategyFolder) -> Runner:
    """Give the daemon's limits; the data directory is neither read nor written."""
    limits = isolation_of(shelf.settings.settings.isolation, session.directory())
    return Runner(SystemClock(), isolation=replace(limits, homes=None))


async def _collect(
    made: Iterator[Replayed], played: Played, runner: Runner, tell: Tell
) -> None:
    async with runner.running():
        if played.has_run:
            runner.serve([played.strategy])
        for one in made:
            again = None
            if played.has_run and one.change in (Change.KEPT, Change.GAINED):
                again = await rerun(one.sighting, played.strategy, runner)
            played.balance.add(one)
            played.tasks.append((one, again))
            tell(len(played.tasks))


TURNED: Final = frozenset({Change.GAINED, Change.DROPPED})
"""The changes of a decision."""
SAME: Final = "same"


def as_json(played: Played) -> dict[str, Any]:
    """Give everything; of the tasks, those whose decision or result changed."""
    balance, loaded = played.balance, played.strategy
    return {
        "strategy": loaded.name,
        "version": loaded.version,
        "from": f"{loaded.path}:{loaded.line}",
        "compared_with": str(played.compared_with) if played.compared_with else None,
        "tasks": balance.tasks,
        "first_at": played.tasks[0][0].sighting.at.isoformat(),
        "last_at": played.tasks[-1][0].sighting.at.isoformat(),
        "wanted": {"then": balance.wanted_then, "now": balance.wanted_now},
        "skipped": {
            "then": balance.tasks - balance.wanted_then,
            "now": balance.tasks - balance.wanted_now,
        },
        "offers_changed": balance.offers_changed,
        "kept_in_part": balance.in_part,
        "errors": balance.failed,
        "read_raw": balance.read_raw,
        "credits": {
            change.value: {
                fate.value: balance.part(change, fate).as_json() for fate in Fate
            }
            for change in Change
            if change is not Change.LEFT
        },
        "run": runs(played),
        "changes": [
            _row(one, again) for one, again in played.tasks if _is_news(one, again)
        ],
    }


def runs(played: Played) -> dict[str, int] | None:
    """Count what came of doing tasks again; None: none was to be done."""
    if not played.has_run:
        return None
    return dict(Counter(again.word for _, again in played.tasks if again))


def _is_news(one: Replayed, again: Rerun | None) -> bool:
    has_changed = one.change in TURNED or one.now.failed
    return has_changed or (again is not None and again.word != SAME)


def _row(one: Replayed, again: Rerun | None) -> dict[str, Any]:
    seen, ending = one.sighting, one.sighting.ending
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
        "fate": one.fate.value,
        "state": ending.state,
        "done_by": ending.strategy,
        "credits": ending.credits,
        "estimate": round(one.estimate.credits, 1) if _is_open(one) else None,
        "kept_in_part": seen.in_part,
        "run": None if again is None else _run(again),
    }


def _run(again: Rerun) -> dict[str, Any]:
    return {
        "word": again.word,
        "reason": again.reason,
        "result": again.result,
        "recorded": again.recorded,
    }


def _is_open(one: Replayed) -> bool:
    """Tell whether what a task brings can only be estimated."""
    return one.now.wanted and one.fate is Fate.UNKNOWN


ROWS_SHOWN: Final = 10
"""Of each kind; `--json` gives all."""
REASON_LENGTH: Final = 40
HEADINGS: Final = {
    Change.GAINED: "Wanted now, and not then",
    Change.DROPPED: "Wanted then, and not now",
}


def show(played: Played) -> None:
    """Print it."""
    balance, loaded = played.balance, played.strategy
    first, last = (played.tasks[index][0].sighting.at for index in (0, -1))
    facts(
        {
            "replayed": f"{_tasks(balance.tasks)}, seen from "
            f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC",
            "through": f"{loaded.name} {loaded.version} ({near(loaded.path)})",
            "then means": f"what {near(played.compared_with)} decides"
            if played.compared_with
            else "what was decided then",
            "note": "\n".join(_notes(balance)),
        }
    )
    say()
    table(
        ["", "then", "now"],
        [
            ["wanted", balance.wanted_then, balance.wanted_now],
            [
                "skipped",
                balance.tasks - balance.wanted_then,
                balance.tasks - balance.wanted_now,
            ],
        ],
    )
    for change in HEADINGS:
        _show_changes(played, change)
    _show_failures(played)
    _show_runs(played)
    _show_credits(balance)


def _notes(balance: Balance) -> list[str]:
    notes = []
    if balance.in_part:
        notes.append(
            f"{_tasks(balance.in_part)} kept in part: a long text was cut, or a secret "
            "taken out"
        )
    if balance.read_raw:
        notes.append(
            f"it looks at task.raw, which is not kept ({_tasks(balance.read_raw)}): "
            "with it, it may decide otherwise"
        )
    if balance.offers_changed:
        notes.append(
            f"{_tasks(balance.offers_changed)} wanted then and now, for another offer"
        )
    return notes


def _show_changes(played: Played, change: Change) -> None:
    changed = [one for one, _ in played.tasks if one.change is change]
    if not changed:
        return
    say()
    say(f"{HEADINGS[change]}: {_tasks(len(changed))}")
    table(
        ["task", "kind", "reward", "then", "now", "came of it"],
        [_cells(one) for one in changed[-ROWS_SHOWN:]],
    )
    _show_rest(len(changed))


def _cells(one: Replayed) -> list[str | int]:
    task = one.sighting.task
    return [
        task.id,
        shortened(task.kind, REASON_LENGTH),
        task.reward,
        shortened(one.then.reason, REASON_LENGTH),
        shortened(one.now.reason, REASON_LENGTH),
        _came(one),
    ]


def _came(one: Replayed) -> str:
    ending = one.sighting.ending
    match one.fate:
        case Fate.PAID:
            return f"paid {ending.credits}"
        case Fate.PAID_TO_ANOTHER:
            return f"paid {ending.credits} to {ending.strategy}"
        case Fate.FAILED:
            return f"{ending.state} then"
        case Fate.UNKNOWN if one.now.wanted:
            return f"unknown; about {one.estimate.credits:.1f}"
        case Fate.UNKNOWN:
            return f"{ending.state or 'unknown'}, not paid"


def _show_failures(played: Played) -> None:
    failed = [one for one, _ in played.tasks if one.now.failed]
    if not failed:
        return
    say()
    say(f"`wants` failed at {_tasks(len(failed))}")
    for one in failed[-ROWS_SHOWN:]:
        say(neutral(f"    {one.sighting.task.id}  {one.now.reason}"))
    _show_rest(len(failed))


def _show_runs(played: Played) -> None:
    counts = runs(played)
    if counts is None:
        return
    say()
    told = " · ".join(f"{word} {count}" for word, count in counts.items())
    say(f"Done again: {told or 'no task whose result is known is wanted now'}")
    others = [
        (one, again) for one, again in played.tasks if again and again.word != SAME
    ]
    for one, again in others[-ROWS_SHOWN:]:
        said = again.reason or (
            f"{shortened(again.result, REASON_LENGTH)}, and then it was "
            f"{shortened(again.recorded, REASON_LENGTH)}"
        )
        say(neutral(f"    {one.sighting.task.id}  {again.word}: {said}"))
    _show_rest(len(others))


def _show_rest(count: int) -> None:
    if count > ROWS_SHOWN:
        say(f"    and {count - ROWS_SHOWN} before these; --json gives all")


def _show_credits(balance: Balance) -> None:
    def part(change: Change, fate: Fate) -> Part:
        return balance.part(change, fate)

    kept = part(Change.KEPT, Fate.PAID)
    won, lost = part(Change.GAINED, Fate.PAID), part(Change.DROPPED, Fate.PAID)
    spared = part(Change.DROPPED, Fate.FAILED)
    others = part(Change.GAINED, Fate.PAID_TO_ANOTHER)
    unknown = part(Change.GAINED, Fate.UNKNOWN)
    only_now, gone = "wanted only now", "not wanted any more"
    guess = f"about {unknown.estimate:.1f} credits by its track record (an estimate)"
    texts = (
        f"{kept.credits} paid for {_tasks(kept.tasks)}",
        f"+{won.credits} paid for {_tasks(won.tasks)} {only_now}",
        f"-{lost.credits} paid for {_tasks(lost.tasks)} {gone}",
        f"{_tasks(spared.tasks)} {gone}, that it had and was not paid for",
        f"{_tasks(others.tasks)} {only_now}; others were paid {others.credits} for it",
        f"{_tasks(unknown.tasks)} {only_now}, and paid to nobody here; {guess}",
    )
    labels = ("kept", "won", "lost", "spared", "no gain", "unknown")
    parts = (kept, won, lost, spared, others, unknown)
    rows = zip(labels, parts, texts, strict=True)
    shown = {f"    {label}": text for label, one, text in rows if one.tasks}
    if shown:
        say()
        say("Credits")
        facts(shown)


def _tasks(count: int) -> str:
    return "1 task" if count == 1 else f"{count} tasks"
