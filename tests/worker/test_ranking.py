"""Which of the tasks that wait for a slot is claimed first."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.worker.conftest import RULE

from journeyman.domain.tasks import Task, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.track_records import EndedTask, Forecast, Group, Waiting
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.testing import FakeClock, FakeRandomness, RecordingLog
from journeyman.worker.ranking import (
    ByExpectation,
    Forecaster,
    Ranking,
    Shortlist,
    by_age,
    by_reward,
)

QUICK: Group = ("counter", "quick")
SLOW: Group = ("counter", "slow")
RISKY: Group = ("guesser", "risky")
NOTHING = Forecast(credits=0.0, seconds=0.0)


def waiting(
    name: str, group: Group = QUICK, reward: int = 10, **told: float
) -> Waiting:
    return Waiting(
        task_id=TaskId(name),
        group=group,
        reward=reward,
        chance=told.get("chance", 1.0),
        cost=told.get("cost", 0.0),
        number=int(told.get("number", 0)),
    )


def remember(
    journal: Journal, group: Group, *, seconds: float, paid: int, failed: int = 0
) -> None:
    outcomes = [True] * paid + [False] * failed
    forecaster = [
        EndedTask(
            group=group,
            chance=1.0,
            cost=0.0,
            reward=10,
            is_paid=is_paid,
            seconds=seconds,
        )
        for is_paid in outcomes
    ]
    with journal.tx("learn"):
        journal.track_records.learn([(one, NOTHING) for one in forecaster], 0)


@pytest.fixture
def journal(tmp_path: Path, clock: FakeClock) -> Iterator[Journal]:
    with Journal(tmp_path / "journal.db", clock.now) as opened:
        yield opened


@pytest.fixture
def ranking(journal: Journal) -> ByExpectation:
    remember(journal, QUICK, seconds=2, paid=100)
    remember(journal, SLOW, seconds=60, paid=100)
    remember(journal, RISKY, seconds=2, paid=10, failed=90)
    return ByExpectation(Forecaster(journal), FakeRandomness(), 0.0)


def test_quick_work_goes_before_slow_work_that_pays_more(
    ranking: ByExpectation,
) -> None:
    slow, quick = waiting("slow", SLOW, reward=100), waiting("quick", reward=10)

    assert ranking.rank([slow, quick]) == ["quick", "slow"]


def test_likely_work_goes_before_work_that_mostly_fails(
    ranking: ByExpectation,
) -> None:
    risky, quick = waiting("risky", RISKY, reward=30), waiting("quick", reward=10)

    assert ranking.rank([risky, quick]) == ["quick", "risky"]


def test_a_strategys_own_doubt_counts(ranking: ByExpectation) -> None:
    doubtful, sure = waiting("doubtful", chance=0.2), waiting("sure")

    assert ranking.rank([doubtful, sure]) == ["sure", "doubtful"]


def test_work_that_is_expected_to_lose_credits_goes_last(
    ranking: ByExpectation,
) -> None:
    losing = waiting("losing", reward=10, cost=11)

    assert ranking.rank([losing, waiting("slow", SLOW, reward=1)]) == ["slow", "losing"]


def test_of_equal_tasks_the_one_that_was_seen_first_goes_first(
    ranking: ByExpectation,
) -> None:
    assert ranking.rank([waiting("b", number=2), waiting("a", number=1)]) == ["a", "b"]


@pytest.mark.usefixtures("ranking")
def test_an_unknown_kind_of_a_known_strategy_is_judged_by_its_other_kinds(
    journal: Journal,
) -> None:
    new = ("guesser", "new")

    forecast = Forecaster(journal).forecast(waiting("new", new, reward=10))

    assert forecast.credits < 3


def test_a_strategy_of_which_nothing_is_known_is_mostly_believed(
    journal: Journal,
) -> None:
    assert 8 < Forecaster(journal).forecast(waiting("new", reward=10)).credits < 10


def test_exploration_now_and_then_tries_what_looks_worse_by_little_evidence(
    journal: Journal,
) -> None:
    remember(journal, QUICK, seconds=5, paid=100)
    remember(journal, RISKY, seconds=5, paid=0, failed=1)
    tasks = [waiting("quick"), waiting("risky", RISKY)]

    def firsts(exploration: float) -> set[str]:
        ranking = ByExpectation(Forecaster(journal), FakeRandomness(), exploration)
        return {ranking.rank(tasks)[0] for _ in range(100)}

    assert firsts(0.0) == {"quick"}
    assert firsts(1.0) == {"quick", "risky"}


@pytest.mark.parametrize(
    ("ranking", "expected"), [(by_reward, ["b", "a"]), (by_age, ["a", "b"])]
)
def test_the_simple_orders_look_at_one_thing(
    ranking: Ranking, expected: list[str]
) -> None:
    tasks = [waiting("b", reward=9, number=2), waiting("a", reward=1, number=1)]

    assert ranking(tasks) == expected


# -- the shortlist ----------------------------------------------------------------


def want(journal: Journal, *names: str, reward: int = 5) -> None:
    with journal.tx("decision"):
        for name in names:
            journal.tasks.record_decision(
                Task(id=TaskId(name), reward=reward),
                TaskState.WANTED,
                reason="",
                strategy="counter",
                fingerprint="",
            )


class Counting:
    """An order of appearance that counts how often it was asked for."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, tasks: Sequence[Waiting]) -> list[TaskId]:
        self.times += 1
        return by_age(tasks)


def names(shortlist: Shortlist, limit: int, *carried: str) -> list[str]:
    return [one.task_id for one in shortlist.take(limit, {TaskId(c) for c in carried})]


def shortlist_of(journal: Journal, clock: FakeClock, ranking: Ranking) -> Shortlist:
    quarantine = Quarantine(journal=journal, rule=RULE, clock=clock, log=RecordingLog())
    return Shortlist(journal, ranking, clock, quarantine)


def test_what_is_taken_and_not_begun_is_given_again(
    journal: Journal, clock: FakeClock
) -> None:
    want(journal, "a", "b", "c")
    shortlist = shortlist_of(journal, clock, by_age)

    assert names(shortlist, 2) == ["a", "b"]
    assert names(shortlist, 2) == ["a", "b"]
    assert names(shortlist, 2, "a") == ["b", "c"]


def test_a_task_that_was_moved_is_not_given(journal: Journal, clock: FakeClock) -> None:
    want(journal, "a", "b")
    shortlist = shortlist_of(journal, clock, by_age)
    names(shortlist, 1)
    with journal.tx("move"):
        journal.tasks.move(journal.tasks.get(TaskId("a")), TaskState.CLAIMING)

    assert names(shortlist, 2) == ["b"]


def test_a_thousand_slots_that_fall_free_cause_few_rankings(
    journal: Journal, clock: FakeClock
) -> None:
    want(journal, *(f"t{number}" for number in range(200)))
    counting = Counting()
    shortlist = shortlist_of(journal, clock, counting)
    carried: list[str] = []

    for _ in range(100):
        carried += names(shortlist, 1, *carried)

    assert len(carried) == 100
    assert counting.times == 1


def test_a_new_task_is_ranked_once_the_old_ranking_is_stale(
    journal: Journal, clock: FakeClock
) -> None:
    want(journal, "old")
    shortlist = shortlist_of(journal, clock, by_reward)
    names(shortlist, 1)
    want(journal, "better", reward=50)

    clock.advance(10)

    assert names(shortlist, 1) == ["better"]


def test_an_empty_line_is_looked_up_at_once(journal: Journal, clock: FakeClock) -> None:
    shortlist = shortlist_of(journal, clock, by_age)
    assert names(shortlist, 1) == []

    want(journal, "new")

    assert names(shortlist, 1) == ["new"]
