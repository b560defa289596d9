"""What was expected of a strategy's tasks when they were taken, beside what came."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from journeyman.journal import Group, TrackRecord


def foresight(
    records: "Mapping[Group, TrackRecord]", strategy: str
) -> dict[str, Any] | None:
    """Sum up a strategy's kinds; None where none of its tasks has ended."""
    ours = [record for (name, _), record in records.items() if name == strategy]
    if not ours:
        return None
    return {
        "tasks": sum(one.tasks for one in ours),
        "expected_credits": round(sum(one.expected_credits for one in ours), 1),
        "credits": sum(one.credits for one in ours),
        "expected_seconds": round(sum(one.expected_seconds for one in ours), 1),
        "seconds": round(sum(one.actual_seconds for one in ours), 1),
    }


def in_words(figures: dict[str, Any] | None) -> str:
    """Say it in a line; empty where there is nothing to say."""
    if figures is None:
        return ""
    return (
        f"of {figures['tasks']} tasks that ended: "
        f"{figures['expected_credits']:g} credits, {figures['credits']} came · "
        f"{figures['expected_seconds']:g} s, they took {figures['seconds']:g} s"
    )
