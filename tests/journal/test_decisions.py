"""What is remembered of a listed task, and which tasks are due."""

from datetime import UTC, datetime

import pytest
from tests.journal.conftest import brought_to, sight, task

from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.maintenance import faults
from journeyman.journal.tasks import IllegalMoveError
from journeyman.testing import FakeClock

WANTED = frozenset({TaskState.WANTED})


def test_a_wanted_task_is_kept_whole(journal: Journal) -> None:
    listed = task(
        tags=("a", "b"),
        text="ein Täßchen",
        input={"n": [1, None]},
        deadline=datetime(2026, 12, 1, tzinfo=UTC),
        raw={"odd": {"key": "🙂"}},
    )
    sight(journal, listed)

    assert journal.tasks.get(listed.id).task == listed


def test_a_skipped_task_is_kept_without_its_bulk(journal: Journal) -> None:
    sight(journal, task(text="long " * 1000, raw={"x": 1}), TaskState.SKIPPED)

    kept = journal.tasks.get(TaskId("t1"))

    assert (kept.task.title, kept.task.text, kept.task.raw) == ("Count", "", {})


def test_a_skipped_task_may_be_wanted_later(journal: Journal) -> None:
    sight(journal, task(), TaskState.SKIPPED)
    sight(journal, task(reward=9), TaskState.WANTED)

    assert journal.tasks.get(TaskId("t1")).task.reward == 9
    assert journal.tasks.counts() == {"wanted": 1}
    assert journal.totals.get("tasks.seen") == 1


def test_a_task_that_is_skipped_again_and_again_fills_no_history(
    journal: Journal,
) -> None:
    for strategies in ("f1", "f2", "f3"):
        with journal.tx("decision"):
            journal.tasks.record_decision(
                task(),
                TaskState.SKIPPED,
                reason="no strategy wants it",
                fingerprint=strategies,
            )
    with journal.tx("decision"):
        journal.tasks.record_decision(
            task(), TaskState.SKIPPED, reason="past its deadline", fingerprint="f4"
        )

    told = [event.reason for event in journal.tasks.history(TaskId("t1"))]
    assert told == ["no strategy wants it", "past its deadline"]
    assert journal.tasks.last_decision(TaskId("t1")) == (TaskState.SKIPPED, "f4")
    assert journal.tasks.counts() == {"skipped": 1}
    assert faults(journal) == []


@pytest.mark.parametrize("state", [TaskState.CLAIMING, TaskState.COMPLETED])
def test_a_task_that_is_under_way_is_not_decided_about_again(
    journal: Journal, state: TaskState
) -> None:
    brought_to(journal, state)

    with pytest.raises(IllegalMoveError):
        sight(journal, task(), TaskState.SKIPPED)

    assert journal.tasks.get(TaskId("t1")).state is state


def _sight_page(journal: Journal, *names: str) -> None:
    with journal.tx("page"):
        for name in names:
            journal.tasks.record_decision(
                task(name), TaskState.SKIPPED, reason="", fingerprint="f"
            )


def test_one_bad_decision_undoes_its_whole_page(journal: Journal) -> None:
    brought_to(journal, TaskState.CLAIMING, "busy")

    with pytest.raises(IllegalMoveError):
        _sight_page(journal, "new", "busy")

    assert journal.tasks.last_decision(TaskId("new")) is None
    assert journal.tasks.counts() == {"claiming": 1}


def test_the_best_paid_due_tasks_come_first_and_those_named_are_left_out(
    journal: Journal, clock: FakeClock
) -> None:
    for number in range(6):
        sight(journal, task(f"t{number}", reward=number % 3))

    due = journal.tasks.due(WANTED, clock.now(), 3, excluding=[TaskId("t2")])

    assert [record.task_id for record in due] == ["t5", "t1", "t4"]


def test_a_task_is_not_due_before_its_time(journal: Journal, clock: FakeClock) -> None:
    record = brought_to(journal, TaskState.CLAIMING)
    later = clock.now().timestamp() + 10
    with journal.tx("wait"):
        journal.tasks.postpone(record, later)
    claiming = frozenset({TaskState.CLAIMING})

    assert journal.tasks.due(claiming, clock.now(), 1) == []
    assert journal.tasks.workload(clock.now()).next_at == later
    clock.advance(10)
    assert [one.task_id for one in journal.tasks.due(claiming, clock.now(), 1)] == [
        "t1"
    ]


def test_a_task_that_was_never_seen_is_a_key_error(journal: Journal) -> None:
    with pytest.raises(KeyError, match="nobody"):
        journal.tasks.get(TaskId("nobody"))


def test_reports_tell_outcomes_by_strategy_and_the_commonest_reasons(
    journal: Journal,
) -> None:
    brought_to(journal, TaskState.COMPLETED, "done")
    brought_to(journal, TaskState.FAILED, "bad")
    sight(journal, task("passed"), TaskState.SKIPPED)

    assert journal.tasks.outcomes_by_strategy()["count"] == {
        "completed": 1,
        "failed": 1,
        "skipped": 1,
    }
    assert journal.tasks.skip_reasons(5) == {"why": 1}
    assert [one.task_id for one in journal.tasks.recent(None, 2)] == ["passed", "bad"]
    assert [one.task_id for one in journal.tasks.recent("completed", 2)] == ["done"]
