"""What is learned from how tasks went."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from journeyman.domain.tasks import Result, Task, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.track_records import (
    MOST_KINDS,
    OTHER_KINDS,
    Forecast,
    TrackRecord,
)
from journeyman.testing import FakeClock

PAID = (
    TaskState.CLAIMING,
    TaskState.CLAIMED,
    TaskState.EXECUTING,
    TaskState.EXECUTED,
    TaskState.SUBMITTING,
    TaskState.SUBMITTED,
    TaskState.COMPLETING,
    TaskState.COMPLETED,
)
REJECTED = (*PAID[:5], TaskState.REJECTED)
FAILED = (*PAID[:3], TaskState.FAILED)
LOST = (TaskState.CLAIMING, TaskState.LOST)
POSTPONED_THEN_PAID = (*PAID[:3], TaskState.CLAIMED, *PAID[2:])
STEP = 10.0
"""Seconds that each state lasts."""


def live(
    journal: Journal,
    clock: FakeClock,
    moves: Sequence[TaskState],
    *,
    task_id: str = "t1",
    kind: str = "count",
    chance: float = 1.0,
) -> None:
    task = Task(id=TaskId(task_id), kind=kind, reward=7)
    with journal.tx("decision"):
        journal.tasks.record_decision(
            task,
            TaskState.WANTED,
            reason="",
            strategy="counter",
            chance=chance,
            fingerprint="",
        )
    for state in moves:
        clock.advance(STEP)
        record = journal.tasks.get(task.id)
        result = Result("done") if state is TaskState.EXECUTED else None
        with journal.tx("move"):
            journal.tasks.move(record, state, result=result)


def learn(journal: Journal) -> dict[tuple[str, str], TrackRecord]:
    judged, until = journal.track_records.unread()
    with journal.tx("learn"):
        forecast = Forecast(credits=5.0, seconds=15.0)
        journal.track_records.learn([(one, forecast) for one in judged], until)
    return journal.track_records.all()


@pytest.mark.parametrize(
    ("moves", "paid"), [(PAID, 1), (REJECTED, 0), (FAILED, 0), (POSTPONED_THEN_PAID, 1)]
)
def test_an_end_is_learned_from(
    journal: Journal, clock: FakeClock, moves: Sequence[TaskState], paid: int
) -> None:
    live(journal, clock, moves)

    record = learn(journal)["counter", "count"]

    assert (record.paid, record.promised, record.tasks) == (paid, 1, 1)
    assert record.credits == 7 * paid


def test_a_lost_claim_says_nothing_about_a_strategy(
    journal: Journal, clock: FakeClock
) -> None:
    live(journal, clock, LOST)

    assert learn(journal) == {}


def test_only_the_time_in_a_slot_counts(journal: Journal, clock: FakeClock) -> None:
    live(journal, clock, POSTPONED_THEN_PAID)

    # Once claimed and twice executed; the wait between the two holds no slot.
    assert learn(journal)["counter", "count"].seconds == 3 * STEP


def test_a_clock_that_is_set_back_takes_no_time_away(
    journal: Journal, clock: FakeClock
) -> None:
    live(journal, clock, PAID[:3])
    clock.step(-timedelta(days=1).total_seconds())
    record = journal.tasks.get(TaskId("t1"))
    with journal.tx("move"):
        journal.tasks.move(record, TaskState.FAILED)

    assert learn(journal)["counter", "count"].seconds == STEP


def test_nothing_is_learned_twice(journal: Journal, clock: FakeClock) -> None:
    live(journal, clock, PAID)

    assert learn(journal) == learn(journal)


def test_what_was_expected_is_kept_beside_what_came(
    journal: Journal, clock: FakeClock
) -> None:
    live(journal, clock, PAID)

    record = learn(journal)["counter", "count"]

    assert (record.expected_credits, record.credits) == (5.0, 7)
    assert (record.expected_seconds, record.actual_seconds) == (15.0, 2 * STEP)


def test_old_evidence_fades_and_what_was_earned_does_not(
    journal: Journal, clock: FakeClock
) -> None:
    for number in range(50):
        live(journal, clock, PAID, task_id=f"t{number}")

    record = learn(journal)["counter", "count"]

    assert record.tasks == 50
    assert record.credits == 350
    assert 40 < record.paid < 50


@pytest.mark.endurance
def test_a_network_that_gives_each_task_a_kind_of_its_own_fills_no_table(
    journal: Journal, clock: FakeClock
) -> None:
    for number in range(MOST_KINDS + 20):
        live(journal, clock, PAID, task_id=f"t{number}", kind=f"kind-{number}")

    records = learn(journal)

    assert len(records) == MOST_KINDS + 1
    assert records["counter", OTHER_KINDS].tasks == 20
