"""The life of a task as data: its states and the moves between them (design 2)."""

from enum import StrEnum


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
    #: Claimed, then given up by the strategy; not a failure.
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
        {TaskState.CLAIMED, TaskState.LOST, TaskState.WANTED},
    ),
    TaskState.CLAIMED: frozenset({TaskState.EXECUTING, TaskState.FAILED}),
    TaskState.EXECUTING: frozenset(
        # CLAIMED: the strategy asked to be tried later, or we were stopped.
        {
            TaskState.EXECUTED,
            TaskState.DECLINED,
            TaskState.FAILED,
            TaskState.CLAIMED,
        },
    ),
    # FAILED: its deadline passed before the result was first sent.
    TaskState.EXECUTED: frozenset({TaskState.SUBMITTING, TaskState.FAILED}),
    TaskState.SUBMITTING: frozenset(
        {TaskState.SUBMITTED, TaskState.REJECTED, TaskState.FAILED},
    ),
    TaskState.SUBMITTED: frozenset({TaskState.COMPLETING}),
    TaskState.COMPLETING: frozenset({TaskState.COMPLETED, TaskState.REJECTED}),
    TaskState.LOST: frozenset(),
    TaskState.DECLINED: frozenset(),
    TaskState.FAILED: frozenset(),
    TaskState.REJECTED: frozenset(),
    TaskState.COMPLETED: frozenset(),
}

#: Nothing more will happen to a task in one of these.
TERMINAL = frozenset(state for state, after in TRANSITIONS.items() if not after)

#: A request is on its way for a task in one of these, or its outcome is unknown.
INTENTS = frozenset(
    {TaskState.CLAIMING, TaskState.SUBMITTING, TaskState.COMPLETING},
)

#: We owe the network something for a task in one of these: recovery continues it.
IN_FLIGHT = (
    frozenset(TaskState)
    - TERMINAL
    - {
        TaskState.SEEN,
        TaskState.SKIPPED,
        TaskState.WANTED,
    }
)


def is_allowed(before: TaskState, after: TaskState) -> bool:
    """Tell whether the table has this move."""
    return after in TRANSITIONS[before]
