"""Of a task that ended long ago its rows go, and it is known all the same."""

import pytest
from tests.journal.conftest import brought_to, sight, task

from journeyman.domain.tasks import TERMINAL, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.maintenance import faults
from journeyman.journal.scores import scoreboard
from journeyman.journal.tasks import PAST_STATES, IllegalMoveError, PastTask
from journeyman.testing import FakeClock

EVER = "9999"
TABLES = ("tasks", "task_texts", "task_events")


def drop(journal: Journal, until: str = EVER) -> None:
    with journal.tx("history"):
        journal.tasks.drop_tasks("", until)


def rows_of(journal: Journal, task_id: str) -> list[str]:
    """Return the tables that have a row of a task."""
    rows = "SELECT 1 FROM {} WHERE task_id = ?"
    return [one for one in TABLES if journal.database.row(rows.format(one), task_id)]


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_a_task_that_ended_leaves_a_number_and_how_it_ended(
    journal: Journal, clock: FakeClock, state: TaskState
) -> None:
    brought_to(journal, state, "old")
    brought_to(journal, TaskState.CLAIMED, "open")
    totals = journal.tasks.counts(), journal.tasks.outcomes_by_strategy()

    drop(journal)

    assert rows_of(journal, "old") == []
    assert rows_of(journal, "open") == list(TABLES)
    month = clock.now().isoformat()[: len("2026-11")]
    assert journal.tasks.past(TaskId("old")) == PastTask(state=state, month=month)
    assert journal.tasks.past(TaskId("open")) is None
    assert (journal.tasks.counts(), journal.tasks.outcomes_by_strategy()) == totals
    # That no pay was booked is another test's concern.
    assert [one for one in faults(journal) if "no pay" not in one] == []


def test_a_task_of_the_past_that_is_listed_again_is_known_and_cannot_be_wanted(
    journal: Journal,
) -> None:
    brought_to(journal, TaskState.COMPLETED, "old")
    brought_to(journal, TaskState.CLAIMED, "open")
    drop(journal)

    known = journal.tasks.last_decisions([TaskId("old"), TaskId("new")])

    assert {one: known[one].state for one in known} == {"old": TaskState.COMPLETED}
    with pytest.raises(IllegalMoveError):
        sight(journal, task("old"))


def test_what_ended_later_keeps_its_rows(journal: Journal, clock: FakeClock) -> None:
    brought_to(journal, TaskState.COMPLETED, "old")
    until = clock.now().isoformat()
    clock.advance(1)
    brought_to(journal, TaskState.COMPLETED, "new")

    drop(journal, until)

    assert rows_of(journal, "old") == []
    assert rows_of(journal, "new") == list(TABLES)


def test_the_number_of_the_last_move_is_not_given_again(journal: Journal) -> None:
    newest = "SELECT max(event_id) FROM task_events"
    brought_to(journal, TaskState.COMPLETED)
    before = journal.database.number(newest)

    drop(journal)

    assert journal.database.number(newest) == before


def test_a_strategy_s_figures_count_tasks_of_the_past(
    journal: Journal, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.COMPLETED, "t1")
    brought_to(journal, TaskState.REJECTED, "t2")
    drop(journal)

    score = scoreboard(journal, clock.now())["count"]

    assert (score.completed, score.failed) == (1, 1)


def test_each_end_has_a_place_that_the_journal_holds() -> None:
    assert set(PAST_STATES) == TERMINAL
