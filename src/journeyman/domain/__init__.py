"""The words of the trade: tasks, states, outcomes, ids. Standard library only."""

from journeyman.domain.actions import ACTIONS, ActionValues
from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.credits import (
    CREDITS_PER_USD,
    MILLIONTHS,
    STARTER_CREDITS,
    cents_for,
    millionths_of,
)
from journeyman.domain.ids import (
    AccessToken,
    AgentId,
    IdempotencyKey,
    Identity,
    SpendId,
    TaskId,
)
from journeyman.domain.outcome import (
    Confirmed,
    Failure,
    NotSent,
    Outcome,
    Refusal,
    Refused,
    Unknown,
)
from journeyman.domain.states import (
    IN_FLIGHT,
    INTENTS,
    TERMINAL,
    TRANSITIONS,
    TaskState,
    is_allowed,
)
from journeyman.domain.task import JSON, NewTask, Result, Task
from journeyman.domain.untrusted import UntrustedText, neutral

__all__ = [
    "ACTIONS",
    "CREDITS_PER_USD",
    "INTENTS",
    "IN_FLIGHT",
    "JSON",
    "MILLIONTHS",
    "STARTER_CREDITS",
    "TERMINAL",
    "TRANSITIONS",
    "AccessToken",
    "ActionValues",
    "AgentId",
    "Clock",
    "Confirmed",
    "Failure",
    "IdempotencyKey",
    "Identity",
    "NewTask",
    "NotSent",
    "Outcome",
    "Randomness",
    "Refusal",
    "Refused",
    "Result",
    "SpendId",
    "Task",
    "TaskId",
    "TaskState",
    "Unknown",
    "UntrustedText",
    "cents_for",
    "is_allowed",
    "millionths_of",
    "neutral",
]
