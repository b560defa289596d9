"""The verbs of the control socket: the one table that server and client follow.

A new verb is a row here and a method of its name in `OwnerCommands` (or, if it needs
no running daemon, in `AgentCommands`).
"""

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import NewTask, SpendId


@dataclass(frozen=True, slots=True)
class VerbRequest:
    """What a verb is asked with."""


@dataclass(frozen=True, slots=True)
class StrategyName(VerbRequest):
    """Which strategy."""

    name: str


@dataclass(frozen=True, slots=True)
class WhoAsks(VerbRequest):
    """Who wants it."""

    by: str = "the owner"


@dataclass(frozen=True, slots=True)
class PauseRequest(WhoAsks):
    """Who wants it, why, and for how long."""

    reason: str = ""
    hours: float | None = None
    """None: until it is taken back."""

    def __post_init__(self) -> None:
        if self.hours is not None and not 0 < self.hours <= MOST_HOURS:
            raise UsageError(
                f"cannot pause for {self.hours:g} hours",
                f"Name more than 0 and at most {MOST_HOURS:g}; or no hours: then it "
                "lasts until it is taken back.",
            )


@dataclass(frozen=True, slots=True)
class StopRequest(VerbRequest):
    """How urgently."""

    now: bool = False
    """Break off work in flight; it continues at the next start."""


@dataclass(frozen=True, slots=True)
class DisableRequest(PauseRequest):
    """Which strategy; the rest as of a pause."""

    name: str = ""

    def __post_init__(self) -> None:
        PauseRequest.__post_init__(self)
        if not self.name:
            raise UsageError("name the strategy to disable")


@dataclass(frozen=True, slots=True)
class TaskRequest(WhoAsks):
    """Who wants it, and which task."""

    task_id: str = ""

    def __post_init__(self) -> None:
        if not self.task_id:
            raise UsageError("name the task")


@dataclass(frozen=True, slots=True)
class PostRequest(VerbRequest):
    """A task to publish."""

    title: str
    reward: int
    description: str = ""
    """Empty: the same as the title."""
    kind: str = ""
    tags: tuple[str, ...] = ()
    input: Any = None

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise UsageError("a post needs a title")
        if self.reward < 1:
            raise UsageError("a post needs a reward of at least 1 credit")

    def task(self) -> NewTask:
        """Return the task as the network is asked to publish it."""
        return NewTask(
            title=self.title,
            description=self.description or self.title,
            reward=self.reward,
            kind=self.kind,
            tags=self.tags,
            input=self.input,
        )


@dataclass(frozen=True, slots=True)
class TopUpRequest(VerbRequest):
    """How many credits to ask for."""

    credits: int
    subscription: bool = False
    """A page that would be paid again and again is wanted."""


@dataclass(frozen=True, slots=True)
class TopUpName(VerbRequest):
    """Which top-up."""

    spend_id: SpendId


Asked = TypeVar("Asked", bound=VerbRequest | None)

MOST_HOURS = 24.0 * 366
FROM_MEMORY = 5.0
"""Seconds: a healthy daemon answers from memory, in a few milliseconds."""
FROM_NETWORK = 120.0
"""Seconds: the daemon waits for the network, which has time-outs of its own."""


@dataclass(frozen=True)
class Verb(Generic[Asked]):
    """A row of the table."""

    name: str
    """Also that of its handler."""
    method: Literal["GET", "POST"]
    path: str
    """The request's fields are in it, in braces; else they are the JSON body."""
    request: type[Asked] | None = None
    """None: it is asked without anything."""
    answer: str = "ok"
    """The names in its answer, a JSON object."""
    seconds: float = FROM_MEMORY
    """How long to wait for the answer."""


STATUS = Verb[None](
    "status",
    "GET",
    "/status",
    None,
    "running paused disabled_strategies version pid agent_id base_url data_directory "
    "up_seconds obstacle event_loop cluster pauses slots carried this_run "
    "blocked_actions loaded_strategies strategy_folders older_journal_found_at "
    "shadow_strategies strategy_problems strategy_runners isolation strategy_health "
    "strategy_status credit_state can_earn registration_unknown token_rejected "
    "balance ledger reserved_credits owed_credits tasks_seen tasks in_flight waiting "
    "strategies skipped_because open_top_ups causes",
)
BUDGET = Verb[None](
    *("budget", "GET", "/budget", None),
    "balance held available reserve_credits credit_state spendable per_post_credits "
    "time_zone worst_case_credits worst_case_cents limits costs unexplained plans",
)
HEALTH = Verb[None](
    *("health", "GET", "/healthz", None),
    "healthy problem last_look_seconds_ago obstacle reasons paused",
)
PAUSE = Verb("pause", "POST", "/pause", PauseRequest, "paused")
RESUME = Verb("resume", "POST", "/resume", WhoAsks, "paused")
STOP = Verb("stop", "POST", "/stop", StopRequest)
RELOAD = Verb[None](
    "reload",
    "POST",
    "/reload",
    None,
    "reloaded problems strategies shadow added changed removed needs_restart",
    FROM_NETWORK,
)
RELEASE = Verb(
    "release", "POST", "/strategies/{name}/release", StrategyName, "strategy released"
)
DISABLE = Verb(
    "disable", "POST", "/strategies/disable", DisableRequest, "strategy disabled"
)
ENABLE = Verb(
    "enable", "POST", "/strategies/{name}/enable", StrategyName, "strategy disabled"
)
PROMOTE = Verb(
    "promote", "POST", "/strategies/{name}/promote", StrategyName, "strategy promoted"
)
RETRY = Verb("retry", "POST", "/tasks/retry", TaskRequest, "task_id before state")
ABANDON = Verb(
    "abandon",
    "POST",
    "/tasks/abandon",
    TaskRequest,
    "task_id before state",
    FROM_NETWORK,
)
POST = Verb(
    "post",
    "POST",
    "/posts",
    PostRequest,
    "spend_id task_id reward balance",
    FROM_NETWORK,
)
PREVIEW_POST = Verb(
    "preview_post",
    "POST",
    "/posts/preview",
    PostRequest,
    "request cost balance_after refused_by message limits",
)
TOP_UP = Verb(
    "top_up",
    "POST",
    "/top-ups",
    TopUpRequest,
    "spend_id url credits cents",
    FROM_NETWORK,
)
APPROVE_TOP_UP = Verb(
    "approve_top_up",
    "POST",
    "/top-ups/{spend_id}/approve",
    TopUpName,
    "spend_id url credits cents",
    FROM_NETWORK,
)
READ_PACKS = Verb[None](
    "read_packs",
    "POST",
    "/top-ups/packs",
    None,
    "packs passed_over are_used",
    FROM_NETWORK,
)
CONFIRM_TOP_UP = Verb(
    "confirm_top_up",
    "POST",
    "/top-ups/{spend_id}/confirm",
    TopUpName,
    "spend_id credits booked balance",
)
CANCEL_TOP_UP = Verb(
    "cancel_top_up",
    "POST",
    "/top-ups/{spend_id}/cancel",
    TopUpName,
    "spend_id credits booked balance",
)

ACKNOWLEDGE_JOURNAL = Verb[None](
    *("acknowledge_journal", "POST", "/journal/acknowledge", None),
    "older_journal_found_at",
)

VERBS = tuple(row for row in list(globals().values()) if isinstance(row, Verb))
