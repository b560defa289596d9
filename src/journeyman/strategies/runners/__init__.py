"""Where strategies run: on the event loop, in a thread, or in processes."""

from journeyman.strategies.child.confinement import NOT_KEPT
from journeyman.strategies.child.confinement import available as what_holds
from journeyman.strategies.ended import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
    TimedOut,
)
from journeyman.strategies.runners.process import Isolation
from journeyman.strategies.runners.runner import BLOCK_SECONDS, Runner

__all__ = [
    "BLOCK_SECONDS",
    "NOT_KEPT",
    "Broken",
    "Crashed",
    "Declined",
    "Ended",
    "Finished",
    "Isolation",
    "Later",
    "Runner",
    "TimedOut",
    "what_holds",
]
