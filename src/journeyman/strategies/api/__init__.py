"""The strategy author's API, version 1. Standard library only."""

from journeyman.domain import NewTask, Result, Task, UntrustedText
from journeyman.strategies.api.context import BudgetView, Context, StrategyLog
from journeyman.strategies.api.decisions import Decision, Score, Skip, score, skip
from journeyman.strategies.api.endings import Decline, Misconfigured, RetryLater
from journeyman.strategies.api.example import Example
from journeyman.strategies.api.function import STRATEGY_OF, strategy
from journeyman.strategies.api.needs import Needs, NeedsError
from journeyman.strategies.api.params import Param, ParamError, param
from journeyman.strategies.api.report import OutcomeName, OutcomeReport
from journeyman.strategies.api.strategy import API_VERSION, RunnerName, Strategy

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
