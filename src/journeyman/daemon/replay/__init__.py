"""Recorded tasks through new code: what it would decide, and what it would make."""

from journeyman.daemon.replay.balance import Balance, Part
from journeyman.daemon.replay.decisions import (
    Change,
    Fate,
    Replayed,
    Then,
    old_version,
    recorded,
    replay,
)
from journeyman.daemon.replay.rerun import Rerun, rerun

__all__ = [
    "Balance",
    "Change",
    "Fate",
    "Part",
    "Replayed",
    "Rerun",
    "Then",
    "old_version",
    "recorded",
    "replay",
    "rerun",
]
