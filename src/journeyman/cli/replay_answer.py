"""What a replay showed, as JSON."""

from collections import Counter
from typing import Any, Final

from journeyman.cli.replaying import Played
from journeyman.daemon.replay import Change, Fate, Replayed, Rerun

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
