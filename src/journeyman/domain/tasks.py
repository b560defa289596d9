"""A task as Journeyman understands it: who it is for, what it is, where it stands."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import NewType, TypeAlias, final

from journeyman.domain.clock import Clock
from journeyman.domain.text import HIDDEN, UntrustedText

AgentId = NewType("AgentId", str)
TaskId = NewType("TaskId", str)
SpendId = NewType("SpendId", str)
"""Our own name for one spend or one checkout; chosen before it is sent."""
IdempotencyKey = NewType("IdempotencyKey", str)
"""Sent with every repeat of one request, so that a network can see a repeat."""


@final
class AccessToken:
    """A bearer token that cannot be printed by accident.

    `str()`, `repr()`, formatting and logging all show a placeholder; only
    `reveal()` gives the secret, and only `network` and `journal` call it. It is no
    dataclass, since `dataclasses.asdict` of whatever holds it would open it.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        """Keep the secret."""
        self._secret = secret

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AccessToken) and other._secret == self._secret

    def __hash__(self) -> int:
        return hash(self._secret)

    def reveal(self) -> str:
        """Return the secret, for the Authorization header or the identity file."""
        return self._secret

    def __repr__(self) -> str:
        return f"AccessToken({HIDDEN})"

    def __str__(self) -> str:
        return HIDDEN


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are on one network: what free registration gave us (contract 2)."""

    agent_id: AgentId
    access_token: AccessToken
    base_url: str
    """The network that issued it; the token is sent to no other."""


JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
"""What reading JSON gives."""
Output: TypeAlias = (
    "bool | int | float | str | Sequence[Output] | Mapping[str, Output] | None"
)
"""What may be written as JSON: also a `list[str]`, which is not a `list[JSON]`."""


@dataclass(frozen=True, kw_only=True, slots=True, init=False)
class Task:
    """A unit of work that a network lists (contract section 2: fields not shown).

    Everything but `id` may be missing from what the network sent; the defaults
    here are what a reader then sees. All of it is untrusted input, and what people
    write freely has a type that says so.
    """

    id: TaskId
    title: UntrustedText
    description: UntrustedText
    kind: str
    """The network's own name for the sort of work, lower case; may be empty."""
    tags: tuple[str, ...]
    reward: int
    """In credits; 0 when the network shows none or shows something unreadable."""
    text: UntrustedText
    """The text to work on; the description where the task has no separate text."""
    input: JSON
    """The structured input, as sent; None where the task has none."""
    status: str
    """The network's own word, lower case; empty when it shows none."""
    deadline: datetime | None
    poster: str | None
    """Who posted it: an agent id, when the network shows one."""
    claimant: str | None
    """Who holds it: an agent id, when the network shows one."""
    raw: Mapping[str, JSON] = field(repr=False)
    """The record exactly as the network sent it."""

    def __init__(  # noqa: PLR0913 - a record with many fields, each by name
        self,
        *,
        id: TaskId,  # noqa: A002 - the field's name
        title: str = "",
        description: str = "",
        kind: str = "",
        tags: tuple[str, ...] = (),
        reward: int = 0,
        text: str = "",
        input: JSON = None,  # noqa: A002 - the field's name
        status: str = "",
        deadline: datetime | None = None,
        poster: str | None = None,
        claimant: str | None = None,
        raw: Mapping[str, JSON] | None = None,
    ) -> None:
        """Take plain strings; what is free text is marked as untrusted."""
        put = object.__setattr__  # one by one: a large market makes many
        put(self, "id", id)
        put(self, "title", UntrustedText(title))
        put(self, "description", UntrustedText(description))
        put(self, "kind", kind)
        put(self, "tags", tags)
        put(self, "reward", reward)
        put(self, "text", UntrustedText(text))
        put(self, "input", input)
        put(self, "status", status)
        put(self, "deadline", deadline)
        put(self, "poster", poster)
        put(self, "claimant", claimant)
        put(self, "raw", {} if raw is None else raw)


@dataclass(frozen=True, kw_only=True, slots=True)
class NewTask:
    """A task that we want to publish (contract endpoint 10)."""

    title: str
    description: str
    reward: int
    """In credits; leaves our balance when the network accepts the post."""
    kind: str = ""
    tags: tuple[str, ...] = ()
    input: JSON = None


@dataclass(frozen=True, slots=True, init=False)
class Result:
    """What a strategy hands in for a task: `Result("4", evidence={"by": "hand"})`."""

    output: JSON
    evidence: Mapping[str, JSON]
    """How it was done, for whoever checks the work; never a secret."""

    def __init__(
        self, output: Output, *, evidence: Mapping[str, Output] | None = None
    ) -> None:
        """Take whatever may be written as JSON; it is checked when `run` returns it."""
        object.__setattr__(self, "output", output)
        object.__setattr__(self, "evidence", {} if evidence is None else evidence)

    @property
    def text(self) -> str:
        """The output as text: itself where it is text, else as JSON."""
        output = self.output
        return output if isinstance(output, str) else json.dumps(output)


Given = Mapping[str, JSON]
"""Values that answers gave for one task, by the action and the way to them, such as
`claim.assignment.id`: a later request of the task may have to repeat them."""
NOTHING_GIVEN: Given = MappingProxyType({})


class Progress(StrEnum):
    """How far a task has come, as an answer of the network tells."""

    #: It is ours, and no result is known.
    CLAIMED = "claimed"
    #: Somebody or something looks at the result, and has not decided.
    IN_REVIEW = "in review"
    #: Accepted, completed: nothing more is asked of us.
    DONE = "done"
    #: Done, and its credits are ours.
    PAID = "paid"
    #: The work was judged, and found wanting.
    REJECTED = "rejected"
    #: Expired, cancelled, given to somebody else.
    GONE = "gone"


class TaskState(StrEnum):
    """Where a task stands.

    CLAIMING, SUBMITTING and COMPLETING are intents: each is committed before the
    request that it names leaves.
    """

    #: A listing showed it; nothing was decided yet.
    SEEN = "seen"
    #: Not for us, with the reason; looked at again when it changes.
    SKIPPED = "skipped"
    #: A strategy wants it; waits for a slot.
    WANTED = "wanted"
    #: The claim is on its way, or its outcome is unknown.
    CLAIMING = "claiming"
    #: Another agent has it, or it is gone.
    LOST = "lost"
    #: Ours; waits to be worked on.
    CLAIMED = "claimed"
    #: A strategy works on it.
    EXECUTING = "executing"
    #: Claimed, then given up by the strategy or the owner; not a failure.
    DECLINED = "declined"
    #: Claimed, then not done: an error, a time-out, its deadline, or too many attempts.
    FAILED = "failed"
    #: The result is on disk.
    EXECUTED = "executed"
    #: The result is on its way, or its outcome is unknown.
    SUBMITTING = "submitting"
    #: The network refused the result, or payment for it.
    REJECTED = "rejected"
    #: The network has the result.
    SUBMITTED = "submitted"
    #: The completion is on its way, or its outcome is unknown.
    COMPLETING = "completing"
    #: Done and paid, as far as the network tells.
    COMPLETED = "completed"


TRANSITIONS: dict[TaskState, frozenset[TaskState]] = {
    TaskState.SEEN: frozenset({TaskState.SKIPPED, TaskState.WANTED}),
    TaskState.SKIPPED: frozenset({TaskState.SKIPPED, TaskState.WANTED}),
    TaskState.WANTED: frozenset({TaskState.CLAIMING, TaskState.SKIPPED}),
    TaskState.CLAIMING: frozenset(
        # WANTED: the claim was never sent, or was throttled; it may be tried again.
        {TaskState.CLAIMED, TaskState.LOST, TaskState.WANTED}
    ),
    TaskState.CLAIMED: frozenset({TaskState.EXECUTING, TaskState.FAILED}),
    TaskState.EXECUTING: frozenset(
        # CLAIMED: the strategy asked to be tried later, or we were stopped.
        {TaskState.EXECUTED, TaskState.DECLINED, TaskState.FAILED, TaskState.CLAIMED}
    ),
    # FAILED: its deadline passed before the result was first sent.
    TaskState.EXECUTED: frozenset({TaskState.SUBMITTING, TaskState.FAILED}),
    TaskState.SUBMITTING: frozenset(
        {TaskState.SUBMITTED, TaskState.REJECTED, TaskState.FAILED}
    ),
    # COMPLETED: the answer to the result paid for it, or there is no completion to ask.
    TaskState.SUBMITTED: frozenset({TaskState.COMPLETING, TaskState.COMPLETED}),
    TaskState.COMPLETING: frozenset(
        # SUBMITTING: the network says that it has no result, so it is sent again.
        {TaskState.COMPLETED, TaskState.REJECTED, TaskState.SUBMITTING}
    ),
    TaskState.LOST: frozenset(),
    TaskState.DECLINED: frozenset(),
    TaskState.FAILED: frozenset(),
    TaskState.REJECTED: frozenset(),
    TaskState.COMPLETED: frozenset(),
}

#: Nothing more will happen to a task in one of these.
TERMINAL = frozenset(state for state, after in TRANSITIONS.items() if not after)

#: A request is on its way for a task in one of these, or its outcome is unknown.
INTENTS = frozenset({TaskState.CLAIMING, TaskState.SUBMITTING, TaskState.COMPLETING})

#: Nobody asked the network for a task in one of these.
UNCLAIMED = frozenset({TaskState.SEEN, TaskState.SKIPPED, TaskState.WANTED})
#: We owe the network something for a task in one of these: recovery continues it.
IN_FLIGHT = frozenset(TaskState) - TERMINAL - UNCLAIMED


def is_allowed(before: TaskState, after: TaskState) -> bool:
    """Return whether the table has this move."""
    return after in TRANSITIONS[before]


DEADLINE_PASSED = "its deadline or lease has passed"
"""Why a task fails without its result having been sent."""


def has_passed(task: Task, clock: Clock) -> bool:
    """Return whether it is too late to hand in a first result."""
    return task.deadline is not None and task.deadline <= clock.now()


def seconds_left(task: Task, clock: Clock) -> float | None:
    """Return the seconds until its deadline, not below 0; None where it shows none."""
    if task.deadline is None:
        return None
    return max(0.0, (task.deadline - clock.now()).total_seconds())


def earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the earlier of two moments, either of which may be missing."""
    return min((at for at in (one, other) if at is not None), default=None)
