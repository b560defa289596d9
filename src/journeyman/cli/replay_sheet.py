"""What a replay showed, as a sheet for people."""

from typing import Final

from journeyman.cli.output import facts, say, table
from journeyman.cli.replay_answer import SAME, runs
from journeyman.cli.replaying import Played
from journeyman.cli.strategy_shelf import near
from journeyman.cli.text import neutral, shortened
from journeyman.daemon.replay import Balance, Change, Fate, Part, Replayed

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
