"""What a journal forgets, so that it does not grow for ever."""

from datetime import timedelta

import pytest
from tests.journal.conftest import WAYS, brought_to, sight, task

from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.maintenance import faults
from journeyman.testing import FakeClock

LATER = timedelta(days=31)


def forget(journal: Journal, clock: FakeClock, most: int = 100) -> int:
    with journal.tx("skipped"):
        return journal.tasks.forget_skipped(clock.now(), most)


def test_a_task_that_was_passed_over_long_ago_leaves_no_row(
    journal: Journal, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.SKIPPED, "old")
    brought_to(journal, TaskState.SKIPPED, "newest")
    clock.advance(LATER.total_seconds())

    assert forget(journal, clock) == 2

    assert journal.database.rows("SELECT * FROM tasks") == []
    assert journal.database.rows("SELECT * FROM task_texts") == []
    assert journal.tasks.counts() == {}
    assert journal.totals.get("tasks.seen") == 2
    assert [*faults(journal)] == []


def test_reasons_of_tasks_that_are_all_forgotten_leave_no_row(
    journal: Journal, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.SKIPPED)
    reasons = "SELECT name FROM totals WHERE name GLOB 'skipped.*'"
    assert journal.database.rows(reasons)
    clock.advance(LATER.total_seconds())

    forget(journal, clock)
    forget(journal, clock)

    assert journal.database.rows(reasons) == []


def test_one_that_was_passed_over_since_is_kept(
    journal: Journal, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.SKIPPED, "old")
    before = clock.now() + timedelta(seconds=1)
    clock.advance(LATER.total_seconds())
    brought_to(journal, TaskState.SKIPPED, "new")

    with journal.tx("skipped"):
        journal.tasks.forget_skipped(before, 100)

    assert journal.tasks.last_decision(TaskId("old")) is None
    assert journal.tasks.last_decision(TaskId("new")) is not None


@pytest.mark.parametrize("state", WAYS)
def test_nothing_else_is_ever_forgotten(
    journal: Journal, clock: FakeClock, state: TaskState
) -> None:
    kept = brought_to(journal, state)
    clock.advance(LATER.total_seconds())

    assert forget(journal, clock) == 0

    assert journal.tasks.get(kept.task_id).state is state
    assert journal.tasks.history(kept.task_id)


def test_one_that_is_still_listed_is_decided_about_as_if_it_were_new(
    journal: Journal, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.SKIPPED)
    clock.advance(LATER.total_seconds())
    forget(journal, clock)

    sight(journal, task())

    assert journal.tasks.get(TaskId("t1")).state is TaskState.WANTED
    assert journal.tasks.counts() == {"wanted": 1}
    assert [*faults(journal)] == []


def test_the_longest_unchanged_go_first(journal: Journal, clock: FakeClock) -> None:
    for name in ("first", "second", "third"):
        brought_to(journal, TaskState.SKIPPED, name)
        clock.advance(60)
    clock.advance(LATER.total_seconds())

    assert forget(journal, clock, most=2) == 2

    assert journal.tasks.last_decision(TaskId("third")) is not None
    assert forget(journal, clock, most=2) == 1


def test_the_number_of_a_move_is_not_given_to_another_one(
    journal: Journal, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.SKIPPED)
    [(last,)] = journal.database.rows("SELECT max(event_id) FROM task_events")
    clock.advance(LATER.total_seconds())
    forget(journal, clock)

    sight(journal, task("another"))

    [(newest,)] = journal.database.rows("SELECT max(event_id) FROM task_events")
    assert newest > last
