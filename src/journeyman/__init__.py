"""Journeyman: an autonomous agent daemon that earns credits by doing tasks.

What a strategy author needs is importable from here. It is imported when it is first
used, so that a command such as `health` starts without it.
"""

from journeyman.domain import __version__

TYPE_CHECKING = False  # what type checkers take for typing.TYPE_CHECKING
if TYPE_CHECKING:
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


def __getattr__(name: str) -> object:
    """Return a name of the strategy API (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from journeyman.strategies import api

    return getattr(api, name)
