"""The table of a task's life: complete, closed, and with a way to an end."""

import pytest

from journeyman.domain.tasks import (
    IN_FLIGHT,
    INTENTS,
    TERMINAL,
    TRANSITIONS,
    TaskState,
    is_allowed,
)


def _reachable(start: TaskState) -> set[TaskState]:
    found, todo = {start}, [start]
    while todo:
        new = TRANSITIONS[todo.pop()] - found
        found |= new
        todo += new
    return found


def test_every_state_is_in_the_table() -> None:
    assert set(TRANSITIONS) == set(TaskState)


def test_every_state_can_be_reached_from_the_first() -> None:
    assert _reachable(TaskState.SEEN) == set(TaskState)


@pytest.mark.parametrize("state", TaskState)
def test_every_state_has_a_way_to_an_end(state: TaskState) -> None:
    assert _reachable(state) & TERMINAL


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_nothing_leaves_an_end(state: TaskState) -> None:
    assert not any(is_allowed(state, after) for after in TaskState)


@pytest.mark.parametrize("state", sorted(IN_FLIGHT))
def test_what_is_ours_is_never_forgotten(state: TaskState) -> None:
    # Only a claim that was certainly not made goes back to where nothing is owed.
    forgets = {TaskState.SEEN, TaskState.SKIPPED, TaskState.WANTED}
    allowed = {TaskState.WANTED} if state is TaskState.CLAIMING else set()

    assert TRANSITIONS[state] & forgets == allowed


def test_an_intent_is_a_state_of_its_own_before_each_answer() -> None:
    assert {state for state in TaskState if state.endswith("ing")} == INTENTS | {
        TaskState.EXECUTING
    }
    for answered, intents in (
        (TaskState.CLAIMED, {TaskState.CLAIMING}),
        (TaskState.SUBMITTED, {TaskState.SUBMITTING}),
        # The answer to a submission may complete the task as well.
        (TaskState.COMPLETED, {TaskState.COMPLETING, TaskState.SUBMITTED}),
    ):
        before = {state for state in TaskState if answered in TRANSITIONS[state]}
        assert before - {TaskState.EXECUTING} == intents


def test_nothing_is_submitted_that_was_not_executed_and_stored() -> None:
    before = {
        state for state in TaskState if TaskState.SUBMITTING in TRANSITIONS[state]
    }

    # COMPLETING: it was submitted before, and the network does not have it.
    assert before == {TaskState.EXECUTED, TaskState.COMPLETING}
