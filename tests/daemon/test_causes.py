"""Why nothing is earned: one place finds each cause, and what would change it."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.daemon.conftest import URL

from journeyman.daemon.causes import Causes, CauseWatch, EarningCause, Surroundings
from journeyman.daemon.earning import network_record
from journeyman.domain.tasks import Result, Task, TaskId, TaskState
from journeyman.economy.credit_state import CreditState
from journeyman.journal.journal import Journal
from journeyman.journal.owner_pauses import OwnerPause
from journeyman.journal.tasks import TaskRecord
from journeyman.network.service_model.evidence import EndpointRecord, stored
from journeyman.testing import FakeClock, RecordingLog

RUNNING = Surroundings(is_running=True)
Find = Callable[..., list[EarningCause]]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def journal(journal_path: Path, clock: FakeClock) -> Iterator[Journal]:
    with Journal(journal_path, clock.now) as journal:
        yield journal


@pytest.fixture
def find(journal: Journal, clock: FakeClock) -> Find:
    def call(around: Surroundings = RUNNING) -> list[EarningCause]:
        now = clock.now()
        record = network_record(journal, URL)
        return Causes(journal=journal, record=record, now=now, around=around).find()

    return call


def names(found: list[EarningCause]) -> list[str]:
    return [one.name for one in found]


def skip(journal: Journal, reason: str, times: int = 1) -> None:
    with journal.tx("skips"):
        for number in range(times):
            journal.tasks.record_decision(
                Task(id=TaskId(f"{reason} {number}")),
                TaskState.SKIPPED,
                reason=reason,
                fingerprint="",
            )


def want(journal: Journal, task_id: str) -> TaskRecord:
    with journal.tx("wanted"):
        journal.tasks.record_decision(
            Task(id=TaskId(task_id), reward=3),
            TaskState.WANTED,
            reason="",
            strategy="echo",
            fingerprint="",
        )
    return journal.tasks.get(TaskId(task_id))


def carry(journal: Journal, task_id: str, *states: TaskState, reason: str = "") -> None:
    record = want(journal, task_id)
    for state in states:
        result = Result("4") if state is TaskState.EXECUTED else None
        with journal.tx("moved"):
            record = journal.tasks.move(record, state, reason=reason, result=result)


TO_SUBMITTING = (
    *(TaskState.CLAIMING, TaskState.CLAIMED, TaskState.EXECUTING),
    *(TaskState.EXECUTED, TaskState.SUBMITTING),
)


def test_an_agent_that_has_work_has_no_cause(journal: Journal, find: Find) -> None:
    want(journal, "t_1")

    assert find() == []


def test_what_stops_everything_stands_first_with_the_command_that_ends_it(
    journal: Journal, clock: FakeClock, find: Find
) -> None:
    skip(journal, "no strategy wants it")
    with journal.tx("paused"):
        journal.owner_pauses.put(OwnerPause(by="ada", since=clock.now()))

    paused, unmatched = find()

    assert (paused.name, paused.stops_all) == ("paused", True)
    assert "by ada" in paused.message
    assert paused.fix == "journeyman resume"
    assert (unmatched.name, unmatched.stops_all) == ("unmatched", False)


@pytest.mark.parametrize(
    ("around", "cause", "fix"),
    [
        (Surroundings(), "not_running", "journeyman run"),
        (
            Surroundings(is_running=True, free_mb=3, min_free_mb=64),
            "disk_nearly_full",
            "data.min_free_mb",
        ),
        (
            Surroundings(is_running=True, network_pause="5 failures in a row"),
            "network_paused",
            "journeyman doctor",
        ),
        (
            Surroundings(is_running=True, clock_ahead=timedelta(minutes=-5)),
            "clock_skew",
            "clock",
        ),
        (
            Surroundings(is_running=True, strategies=0),
            "no_strategies",
            "strategies.directory",
        ),
        (
            Surroundings(is_running=True, spending_pause="60 credits left"),
            "spending_paused",
            "budget.unexplained_per_day_credits",
        ),
        (
            Surroundings(is_running=True, credit_state=CreditState.CRITICAL),
            "credits_short",
            "journeyman budget",
        ),
        (
            Surroundings(is_running=True, over_cost=["painter"]),
            "over_cost",
            "budget.cost_per_day_credits",
        ),
    ],
)
def test_what_is_wrong_around_the_journal_is_found(
    journal: Journal, find: Find, around: Surroundings, cause: str, fix: str
) -> None:
    want(journal, "t_1")

    [found] = find(around)

    assert found.name == cause
    assert fix in found.fix


def test_tasks_that_are_all_skipped_name_the_commonest_reason_and_its_setting(
    journal: Journal, find: Find
) -> None:
    skip(journal, "claimed by another agent", 9)
    skip(journal, "reward below 5 (work.min_reward)", 3)
    skip(journal, "no strategy wants it")

    [found] = find()

    assert "3 for this reason: reward below 5" in found.message
    assert "work.min_reward" in found.fix


def test_results_that_nobody_takes_or_pays_are_told_after_an_hour(
    journal: Journal, clock: FakeClock, find: Find
) -> None:
    carry(journal, "t_1", *TO_SUBMITTING)
    carry(journal, "t_2", *TO_SUBMITTING, TaskState.SUBMITTED, TaskState.COMPLETING)
    assert find() == []

    clock.advance(2 * 3600)

    assert names(find()) == ["undelivered", "unpaid"]
    assert [one.fix for one in find()] == ["journeyman why t_1", "journeyman why t_2"]


def test_rejections_in_a_row_are_told_until_a_result_is_accepted(
    journal: Journal, find: Find
) -> None:
    for number in range(3):
        no = (*TO_SUBMITTING, TaskState.REJECTED)
        carry(journal, f"t_{number}", *no, reason="wrong checksum")

    assert names(find())[0] == "rejected_in_a_row"
    assert "wrong checksum" in find()[0].message

    yes = (*TO_SUBMITTING, TaskState.SUBMITTED, TaskState.COMPLETED)
    carry(journal, "t_9", *yes)
    assert "rejected_in_a_row" not in names(find())


def test_wanted_tasks_that_are_never_claimed_are_told(
    journal: Journal, clock: FakeClock, find: Find
) -> None:
    want(journal, "t_1")
    clock.advance(601)

    assert names(find()) == ["unclaimed"]


def test_the_log_tells_each_cause_once_and_when_it_is_over(
    journal: Journal, find: Find
) -> None:
    log = RecordingLog()
    watch = CauseWatch(find=find, log=log)
    want(journal, "t_1")
    watch.look()
    assert log.named("earning.hindered") == []

    for name in ("claim", "claim", "complete"):
        record = EndpointRecord(outcomes={"refused: invalid": 1})
        with journal.tx("observations"):
            journal.observations.put(URL, name, stored(record))
        watch.look()
    told = [line["cause"] for line in log.named("earning.hindered")]
    assert told == ["not_claimable", "not_completable"]

    with journal.tx("observations"):
        record = EndpointRecord(outcomes={"confirmed": 1})
        journal.observations.put(URL, "claim", stored(record))
    watch.look()
    over = [line["cause"] for line in log.named("earning.cause_gone")]
    assert over == ["not_claimable"]
