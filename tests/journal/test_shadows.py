"""What strategies in shadow said, added up beside what the active ones did."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from tests.journal.conftest import brought_to

from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry
from journeyman.journal.shadows import (
    PromotedStrategy,
    ShadowScore,
    ShadowState,
    ShadowVerdict,
)
from journeyman.testing import FakeClock


def verdict(task_id: str, **fields: Any) -> ShadowVerdict:  # noqa: ANN401 - any field of it
    given: dict[str, Any] = {
        "strategy": "new",
        "fingerprint": "2",
        "active": "old",
        "wanted": True,
        "reason": "reward 3",
        "offer": 3.0,
        **fields,
    }
    if not given["wanted"]:
        given["offer"] = 0.0
    return ShadowVerdict(task_id=TaskId(task_id), **given)


def say(journal: Journal, verdicts: Iterable[ShadowVerdict]) -> None:
    with journal.tx("decisions"):
        journal.shadows.add(verdicts)


def pay(journal: Journal, task_id: str, amount: int, strategy: str = "old") -> None:
    with journal.tx("pay"):
        journal.ledger.book(
            NewEntry(
                key=f"k-{task_id}",
                kind=EntryKind.EARNED,
                amount=amount,
                confidence=Confidence.ASSUMED,
                subject=task_id,
                strategy=strategy,
            )
        )


def test_the_score_tells_what_it_would_have_done_and_what_others_earned(
    journal: Journal,
) -> None:
    say(
        journal,
        [
            verdict("both", seconds=0.002),
            verdict("alone", active="", offer=5.0, seconds=0.004),
            verdict("passed over", wanted=False),
            verdict("neither", wanted=False, active=""),
            verdict("broken", wanted=False, active="", failed=True),
            verdict("other's", strategy="another"),
        ],
    )
    pay(journal, "both", 4)
    pay(journal, "passed over", 6)
    pay(journal, "unheard of", 50)

    another, score = journal.shadows.scores()

    assert another.strategy == "another"
    assert score == ShadowScore(
        strategy="new",
        asked=5,
        since=score.since,
        wanted=2,
        agreed=3,
        alone=1,
        missed=1,
        expected_credits=8.0,
        active_completed=1,
        active_credits=4,
        missed_credits=6,
        errors=1,
        mean_seconds=score.mean_seconds,
        longest_seconds=0.004,
    )


def test_what_an_earlier_version_said_is_left_out(journal: Journal) -> None:
    say(journal, [verdict("t1", fingerprint="1"), verdict("t2", fingerprint="1")])
    say(journal, [verdict("t2"), verdict("t3")])

    (score,) = journal.shadows.scores()

    assert (score.asked, score.outdated) == (2, 1)
    assert journal.shadows.scores({"new": "1"})[0].asked == 1


def test_old_verdicts_go(journal: Journal, clock: FakeClock) -> None:
    say(journal, [verdict("t1")])
    clock.advance(3_600)
    say(journal, [verdict("t2")])

    with journal.tx("trim"):
        journal.shadows.forget_before(clock.now() - timedelta(minutes=1))

    assert journal.shadows.opinions_of("new").keys() == {"t2"}


def test_who_is_in_shadow_is_remembered(journal: Journal) -> None:
    assert journal.shadows.state() == ShadowState()
    standing = ShadowState(
        shadows=("a", "b"),
        promoted={
            "c": PromotedStrategy(at="2026-01-01T00:00:00+00:00", failures_before=0.1)
        },
    )

    with journal.tx("standing"):
        journal.shadows.put_state(standing)

    assert journal.shadows.state() == standing


def test_only_what_ended_paid_or_failed_since_then_counts(
    journal: Journal, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.FAILED, "before")
    clock.advance(1)
    since = clock.now()
    for state in (
        TaskState.COMPLETED,
        TaskState.FAILED,
        TaskState.REJECTED,
        TaskState.DECLINED,
        TaskState.LOST,
        TaskState.EXECUTING,
    ):
        brought_to(journal, state, f"t-{state}")

    assert journal.shadows.ended_since("count", since) == (3, 2)
    assert journal.shadows.ended_since("another", since) == (0, 0)
