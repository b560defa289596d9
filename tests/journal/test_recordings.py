"""Recordings: what was shown and decided comes back, and stays within bounds."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.journal.conftest import RESULT, move, sight, task

from journeyman.domain.tasks import Task, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry
from journeyman.journal.maintenance import faults
from journeyman.journal.recordings import (
    NewRecordedDecision,
    Opinion,
    encode_opinions,
    shown,
)
from journeyman.testing import FakeClock


def keep(journal: Journal, one: Task, reason: str = "why", **fields: Any) -> None:  # noqa: ANN401 - fields of a decision
    said = [
        ("count", True, "reward 3", 3.0),
        ("chess", False, "no game", 0.0),
        ("go", False, "no game", 0.0),
    ]
    given: dict[str, Any] = {
        "task_id": one.id,
        "task": json.dumps(shown(one)),
        "in_part": False,
        "strategy": "count",
        "reason": reason,
        "opinions": encode_opinions(said),
        **fields,
    }
    with journal.tx("decision"):
        journal.recordings.add(NewRecordedDecision(**given))


def kept(journal: Journal, limit: int = 100) -> list[str]:
    return [one.task.id for one in journal.recordings.last(limit)]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="hardly anything"),
        pytest.param(
            {"text": "to be", "description": "to be"}, id="a text that repeats"
        ),
        pytest.param({"text": "", "description": "Do it"}, id="no text of its own"),
        pytest.param({"input": []}, id="an empty input"),
        pytest.param({"input": 0, "reward": 0}, id="nothings"),
        pytest.param({"poster": "", "claimant": "a2", "status": "open"}, id="people"),
        pytest.param({"tags": ("a", "b"), "kind": "count", "text": "\ud800"}, id="odd"),
        pytest.param({"deadline": datetime(2026, 1, 2, tzinfo=UTC)}, id="a deadline"),
    ],
)
def test_a_task_comes_back_as_it_was_shown(
    journal: Journal, fields: dict[str, Any]
) -> None:
    one = task(**fields)

    keep(journal, one)

    (back,) = journal.recordings.last(1)
    assert back.task == one
    assert (back.strategy, back.reason, back.in_part) == ("count", "why", False)
    assert back.opinions == {
        "count": Opinion(wanted=True, reason="reward 3", offer=3.0),
        "chess": Opinion(wanted=False, reason="no game"),
        "go": Opinion(wanted=False, reason="no game"),
    }


def test_the_record_as_sent_is_not_kept(journal: Journal) -> None:
    keep(journal, task(raw={"id": "t1", "claimed_by": "somebody"}))

    (back,) = journal.recordings.last(1)

    assert back.task.raw == {}


def test_the_last_decision_about_a_task_is_the_one_that_counts(
    journal: Journal,
) -> None:
    keep(journal, task("t1"), "first")
    keep(journal, task("t2"))
    keep(journal, task("t1", reward=9), "second")

    assert [(one.task.id, one.reason) for one in journal.recordings.last(9)] == [
        ("t2", "why"),
        ("t1", "second"),
    ]
    assert faults(journal) == []


def test_how_a_task_went_on_is_told_beside_what_was_shown(
    journal: Journal, clock: FakeClock
) -> None:
    keep(journal, task("t1"))
    sight(journal, task("t1"))
    record = move(journal, journal.tasks.get(TaskId("t1")), TaskState.CLAIMING)
    with journal.tx("claimed"):
        record = journal.tasks.enrich(record, task("t1", text="told later"), "count")
    record = move(
        journal, move(journal, record, TaskState.CLAIMED), TaskState.EXECUTING
    )
    clock.advance(4)
    move(journal, record, TaskState.EXECUTED)
    with journal.tx("pay"):
        journal.ledger.book(
            NewEntry(
                key="k",
                kind=EntryKind.EARNED,
                amount=3,
                confidence=Confidence.ASSUMED,
                subject="t1",
                strategy="count",
            )
        )

    (back,) = journal.recordings.last(1)

    assert back.task.text == ""
    assert back.ending.task == task("t1", text="told later")
    assert (back.ending.state, back.ending.strategy) == ("executed", "count")
    assert (back.ending.credits, back.ending.seconds) == (3, 4.0)
    assert back.ending.result == RESULT


def test_a_task_that_is_only_recorded_has_an_unknown_end(
    journal: Journal,
) -> None:
    keep(journal, task())

    (back,) = journal.recordings.last(1)

    assert (back.ending.state, back.ending.credits, back.ending.task) == ("", 0, None)


def test_it_gives_the_last_ones_oldest_first(
    journal: Journal, clock: FakeClock
) -> None:
    for number in range(5):
        keep(journal, task(f"t{number}"))
        clock.advance(60)

    since = clock.now() - timedelta(minutes=3)

    assert kept(journal, 2) == ["t3", "t4"]
    assert [one.task.id for one in journal.recordings.last(9, since)] == [
        "t2",
        "t3",
        "t4",
    ]
    assert (journal.recordings.count(), journal.recordings.count(since)) == (5, 3)


def test_recordings_that_grow_too_large_lose_their_oldest(journal: Journal) -> None:
    for number in range(300):
        keep(journal, task(f"t{number}", text="x" * 1_000))
    before = journal.recordings.bytes()

    with journal.tx("trim"):
        journal.recordings.shrink(before // 2)

    assert journal.recordings.bytes() <= before // 2
    assert kept(journal)[-1] == "t299"
    assert 0 < journal.recordings.count() <= 150
    assert faults(journal) == []


def test_recordings_lose_no_more_than_is_too_much(journal: Journal) -> None:
    for number in range(300):
        keep(journal, task(f"t{number}"))

    with journal.tx("trim"):
        journal.recordings.shrink(journal.recordings.bytes() - 1)

    assert 270 < journal.recordings.count() < 300


def test_no_room_at_all_keeps_nothing(journal: Journal) -> None:
    keep(journal, task())

    with journal.tx("trim"):
        journal.recordings.shrink(0)

    assert (journal.recordings.count(), journal.recordings.bytes()) == (0, 0)


def test_what_is_too_old_goes(journal: Journal, clock: FakeClock) -> None:
    keep(journal, task("old"))
    clock.advance(86_400)
    keep(journal, task("new"))

    with journal.tx("trim"):
        journal.recordings.forget_before(clock.now() - timedelta(hours=1))

    assert kept(journal) == ["new"]
    assert faults(journal) == []


def test_a_miscounted_size_of_recordings_is_found_out(journal: Journal) -> None:
    keep(journal, task())
    with journal.tx("damage"):
        journal.totals.add("recordings.bytes", 7)

    assert "recordings" in faults(journal)[0]


def test_a_decision_that_is_undone_is_not_recorded(
    journal: Journal,
) -> None:
    new = NewRecordedDecision(
        task_id=TaskId("t1"),
        task="{}",
        in_part=False,
        strategy="",
        reason="",
        opinions="{}",
    )

    def decide_and_fail() -> None:
        with journal.tx("decision"):
            journal.recordings.add(new)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        decide_and_fail()

    assert journal.recordings.count() == journal.recordings.bytes() == 0
