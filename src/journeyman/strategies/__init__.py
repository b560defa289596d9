"""Strategies: plugins that say which tasks they want, and do them (design 6).

This door gives the author's API only, so that it stays light. The daemon imports its
side as modules: `registry`, `loader`, `runners`, `examples`.
"""

from journeyman.strategies.api import (
    BudgetView,
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
    "BudgetView",
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
    "param",
    "score",
    "skip",
    "strategy",
]
