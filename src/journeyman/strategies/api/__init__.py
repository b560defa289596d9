"""The strategy author's API, version 1. Standard library only."""

from journeyman.domain.tasks import NewTask, Result, Task
from journeyman.domain.text import UntrustedText
from journeyman.strategies.api.context import BudgetView, Context, StrategyLog
from journeyman.strategies.api.outcomes import (
    Decline,
    Misconfigured,
    OutcomeName,
    OutcomeReport,
    RetryLater,
)
from journeyman.strategies.api.strategy import (
    API_VERSION,
    STRATEGY_OF,
    Decision,
    Example,
    Needs,
    NeedsError,
    Param,
    ParamError,
    RunnerName,
    Score,
    Skip,
    Strategy,
    param,
    score,
    skip,
    strategy,
)

__all__ = [
    "API_VERSION",
    "STRATEGY_OF",
    "BudgetView",
    "Context",
    "Decision",
    "Decline",
    "Example",
    "Misconfigured",
    "Needs",
    "NeedsError",
    "NewTask",
    "OutcomeName",
    "OutcomeReport",
    "Param",
    "ParamError",
    "Result",
    "RetryLater",
    "RunnerName",
    "Score",
    "Skip",
    "Strategy",
    "StrategyLog",
    "Task",
    "UntrustedText",
    "param",
    "score",
    "skip",
    "strategy",
]
