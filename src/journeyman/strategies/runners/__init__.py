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
from journeyman.strategies.runners.runner import Runner

__all__ = [
    "Broken",
    "Crashed",
    "Declined",
    "Ended",
    "Finished",
    "Later",
    "Runner",
    "TimedOut",
]
