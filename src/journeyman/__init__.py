"""Journeyman: an autonomous agent daemon that earns credits by doing tasks.

What a strategy author needs is importable from here, and nothing heavy comes with it.
"""

from journeyman.domain import __version__
from journeyman.strategies.api import (
    Context,
    Decision,
    Decline,
    Example,
    Misconfigured,
    Needs,
    NewTask,
    OutcomeReport,
    Result,
    RetryLater,
    Strategy,
    Task,
    UntrustedText,
    param,
    score,
    skip,
    strategy,
)

__all__ = [
    "Context",
    "Decision",
    "Decline",
    "Example",
    "Misconfigured",
    "Needs",
    "NewTask",
    "OutcomeReport",
    "Result",
    "RetryLater",
    "Strategy",
    "Task",
    "UntrustedText",
    "__version__",
    "param",
    "score",
    "skip",
    "strategy",
]
