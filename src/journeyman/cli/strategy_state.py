"""In which state a strategy is, in one word and one sentence."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from journeyman.cli.strategy_shelf import Past, Shelf
    from journeyman.journal import Health
    from journeyman.strategies.loaded import Loaded

ENABLED, DISABLED, QUARANTINED = "enabled", "disabled", "QUARANTINED"
SHADOW = "shadow"
LOAD_FAILED, OFF = "LOAD FAILED", "off"
AT_WORK = frozenset({ENABLED})
"""The states in which a strategy may be given tasks."""
CHOSEN = frozenset({DISABLED, SHADOW, OFF})
"""The states in which its owner put it on purpose."""


def state_of(loaded: "Loaded", shelf: "Shelf", past: "Past | None") -> str:
    """Give the word for a strategy that was loaded."""
    if shelf.is_disabled(loaded.name):
        return DISABLED
    if loaded.name in in_shadow(shelf, past):
        return SHADOW
    return QUARANTINED if trouble(loaded, past) else ENABLED


def in_shadow(shelf: "Shelf", past: "Past | None") -> frozenset[str]:
    """Give the names of those that are asked and get nothing.

    The daemon may have been told by its command line, which only the journal knows.
    """
    if past is None:
        return shelf.shadows
    standing = past.standing
    return (shelf.shadows | set(standing.shadows)) - standing.promoted.keys()


def trouble(loaded: "Loaded", past: "Past | None") -> str:
    """Say why the daemon gives it no work now; empty when it does."""
    health = past.health.get(loaded.name) if past else None
    if health is None:
        return ""
    return f"{_until(health.rests_until)}; last: {health.problem}{_at(health)}"


def _until(moment: float) -> str:
    if moment == float("inf"):
        return "it cannot work until its file or its settings change"
    clock = datetime.fromtimestamp(moment, UTC)
    return f"it made too many errors and is tried again at {clock:%H:%M:%S} UTC"


def _at(health: "Health") -> str:
    fix = f"; {health.fix}" if health.fix else ""
    return f" (task {health.task_id}){fix}" if health.task_id else fix
