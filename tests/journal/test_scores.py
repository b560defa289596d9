"""What each strategy wanted, did and earned, as a command shows it."""

from datetime import timedelta

from tests.journal.conftest import brought_to

from journeyman.domain.tasks import TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry
from journeyman.journal.scores import StrategyScore, scoreboard
from journeyman.testing import FakeClock


def test_a_strategy_s_tasks_are_counted_by_how_they_ended(
    journal: Journal, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.COMPLETED, "t1")
    brought_to(journal, TaskState.FAILED, "t2")
    brought_to(journal, TaskState.REJECTED, "t3")
    brought_to(journal, TaskState.WANTED, "t4")
    for key, amount in (("earned:t1", 3), ("spent:p1", -1)):
        with journal.tx("booking"):
            journal.ledger.book(
                NewEntry(
                    key=key,
                    kind=EntryKind.EARNED if amount > 0 else EntryKind.SPENT,
                    amount=amount,
                    confidence=Confidence.CONFIRMED,
                    strategy="count",
                )
            )

    scores = scoreboard(journal, clock.now() - timedelta(days=1))

    assert scores == {
        "count": StrategyScore(wanted=4, completed=1, failed=2, credits=2)
    }


def test_only_what_was_wanted_since_then_counts_as_wanted(
    journal: Journal, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.WANTED, "old")
    clock.advance(3600)
    brought_to(journal, TaskState.WANTED, "new")

    scores = scoreboard(journal, clock.now() - timedelta(minutes=1))

    assert scores["count"].wanted == 1


def test_a_strategy_without_tasks_is_not_on_the_board(
    journal: Journal, clock: FakeClock
) -> None:
    assert scoreboard(journal, clock.now()) == {}
