"""Where strategies run: on the event loop, or in a thread."""

from journeyman.strategies.runners.ended import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
    TimedOut,
)
from journeyman.strategies.runners.runner import BLOCK_SECONDS, Runner

__all__ = [
    "BLOCK_SECONDS",
    "Broken",
    "Crashed",
    "Declined",
    "Ended",
    "Finished",
    "Later",
    "Runner",
    "TimedOut",
]
