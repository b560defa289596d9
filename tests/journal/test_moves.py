"""Every pair of states: an allowed move is made, any other is refused."""

from dataclasses import replace
from itertools import product

import pytest
from tests.journal.conftest import RESULT, WAYS, Open, brought_to, move, sight, task

from journeyman.domain.tasks import INTENTS, Result, TaskId, TaskState, is_allowed
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import IllegalMoveError, StaleMoveError, TaskRecord
from journeyman.testing import FakeClock

STORED = sorted({*WAYS, TaskState.SKIPPED})
ALLOWED = [pair for pair in product(STORED, TaskState) if is_allowed(*pair)]
FORBIDDEN = {
    before: [after for after in TaskState if not is_allowed(before, after)]
    for before in STORED
}


@pytest.mark.parametrize(("before", "after"), ALLOWED)
def test_an_allowed_move_is_made_and_told(
    journal: Journal, before: TaskState, after: TaskState
) -> None:
    record = brought_to(journal, before)

    move(journal, record, after, reason="because")

    assert journal.tasks.get(record.task_id).state is after
    last = journal.tasks.history(record.task_id)[-1]
    assert (last.before, last.after, last.reason) == (before, after, "because")


@pytest.mark.parametrize("before", STORED)
def test_a_move_that_the_table_does_not_have_is_refused_and_leaves_no_trace(
    journal: Journal, before: TaskState
) -> None:
    record = brought_to(journal, before)
    told = journal.tasks.history(record.task_id)
    counts = journal.tasks.counts()

    for after in FORBIDDEN[before]:
        with pytest.raises(IllegalMoveError, match="cannot go from"):
            move(journal, record, after)

        assert journal.tasks.get(record.task_id) == replace(record, unsent=False)
        assert journal.tasks.history(record.task_id) == told
        assert journal.tasks.counts() == counts


def test_a_move_from_where_the_task_no_longer_stands_is_refused(
    journal: Journal,
) -> None:
    stale = brought_to(journal, TaskState.CLAIMING)
    move(journal, stale, TaskState.CLAIMED)

    with pytest.raises(StaleMoveError, match="no longer claiming"):
        move(journal, stale, TaskState.LOST)

    assert journal.tasks.get(stale.task_id).state is TaskState.CLAIMED
    assert journal.tasks.counts() == {"claimed": 1}


def test_a_task_that_was_moved_meanwhile_cannot_be_postponed(journal: Journal) -> None:
    stale = brought_to(journal, TaskState.CLAIMING)
    move(journal, stale, TaskState.CLAIMED)

    with pytest.raises(StaleMoveError), journal.tx("postpone"):
        journal.tasks.postpone(replace(stale, attempts=9, reason="late"), 9.0)

    assert journal.tasks.get(stale.task_id).attempts == 0


def test_the_history_of_a_task_is_told_in_order(
    journal: Journal, clock: FakeClock
) -> None:
    sight(journal, task())
    record = journal.tasks.get(TaskId("t1"))
    for after in WAYS[TaskState.COMPLETED]:
        clock.step(-60)  # a clock that is set back changes no order
        record = move(journal, record, after)

    told = journal.tasks.history(record.task_id)

    assert [event.after for event in told] == ["wanted", *WAYS[TaskState.COMPLETED]]
    assert [event.before for event in told[1:]] == [event.after for event in told[:-1]]


@pytest.mark.parametrize("intent", sorted(INTENTS))
def test_an_intent_counts_as_sent_from_the_moment_it_is_on_disk(
    journal: Journal, intent: TaskState
) -> None:
    record = brought_to(journal, intent)

    assert record.unsent
    stored = journal.tasks.get(record.task_id)
    assert stored.maybe_sent
    assert not stored.unsent


def test_a_result_is_written_once_and_read_back_the_same(
    journal: Journal, open_journal: Open
) -> None:
    record = brought_to(journal, TaskState.EXECUTING)
    odd = Result(
        {
            "text": "ä\u2028\x00🙂",
            "float": 0.1,
            "big": 2**60,
            "none": None,
            "deep": [[]],
        },
        evidence={"b": 1, "a": 2},
    )
    with journal.tx("executed"):
        moved = journal.tasks.move(record, TaskState.EXECUTED, result=odd)

    again = open_journal().tasks.get(record.task_id).result

    assert moved.result == again == odd
    assert again is not None
    assert list(again.evidence) == ["b", "a"]


def test_a_later_result_does_not_replace_the_first(journal: Journal) -> None:
    record = brought_to(journal, TaskState.EXECUTED)
    with journal.tx("submit"):
        journal.tasks.move(record, TaskState.SUBMITTING, result=Result("other"))

    assert journal.tasks.get(record.task_id).result == RESULT


def test_a_copy_of_the_record_that_lacks_the_result_does_not_replace_it(
    journal: Journal,
) -> None:
    record = replace(brought_to(journal, TaskState.EXECUTED), result=None)
    with journal.tx("submit"):
        journal.tasks.move(record, TaskState.SUBMITTING, result=Result("other"))

    assert journal.tasks.get(record.task_id).result == RESULT


def test_every_execution_is_counted_also_one_that_is_broken_off(
    journal: Journal,
) -> None:
    record: TaskRecord = brought_to(journal, TaskState.EXECUTING)
    record = move(journal, record, TaskState.CLAIMED)
    record = move(journal, record, TaskState.EXECUTING)

    assert journal.tasks.get(record.task_id).executions == 2
