"""Profit: what work brought and cost, and what of it nobody knows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.journal.conftest import WAYS, brought_to, move, sight, task
from tests.journal.test_ledger import book, cost, entry

from journeyman.domain.tasks import TaskId, TaskState
from journeyman.economy.bookkeeping import book_explained
from journeyman.economy.budget import Period, start_of
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, SumBy
from journeyman.journal.profit import Profit, ProfitBy, profits, unexplained
from journeyman.journal.tasks import slot_seconds
from journeyman.testing import FakeClock

MILLION = 1_000_000


def only(journal: Journal, by: ProfitBy | None = None) -> Profit:
    (one,) = profits(journal.database, by)
    return one


def test_profit_is_what_was_paid_less_posts_and_reported_costs(
    journal: Journal,
) -> None:
    book(
        journal,
        entry("starter", 100, EntryKind.STARTER),
        entry("earned:t1", 9),
        entry("spent:p1", -3, EntryKind.SPENT),
        cost("cost:c1", MILLION // 2),
        replace(entry("earned:t2", 4), strategy="sums"),
    )

    found = {one.group: one for one in profits(journal.database, ProfitBy.STRATEGY)}

    count, sums = found["count"], found["sums"]
    assert (count.tasks, count.earned, count.spent) == (1, 9, 3)
    assert (count.cost, count.credits) == (MILLION // 2, 5.5)
    assert (sums.cost, sums.credits) == (None, 4)
    assert Profit.of_all([count, sums]) == only(journal)


def test_a_cost_that_nobody_reported_is_unknown_and_not_0(journal: Journal) -> None:
    book(journal, entry("earned:t1", 9))
    assert only(journal).cost is None

    book(journal, cost("cost:c1", 0))
    assert only(journal).cost == 0


@pytest.mark.parametrize("how", [Confidence.ASSUMED, Confidence.DOUBTFUL])
def test_pay_that_nobody_named_is_unknown_and_not_0(
    journal: Journal, how: Confidence
) -> None:
    book(journal, replace(entry("earned:t1", 0), confidence=how))

    alone = only(journal)
    assert (alone.tasks, alone.pay_unknown) == (1, 1)
    assert (alone.earned, alone.credits) == (None, None)

    book(journal, entry("earned:t2", 4))
    assert (only(journal).pay_unknown, only(journal).earned) == (1, 4)


def test_a_pay_of_0_that_the_network_named_is_known(journal: Journal) -> None:
    book(journal, entry("earned:t1", 0))

    assert (only(journal).pay_unknown, only(journal).earned) == (0, 0)


EDGES = {
    "a day of 25 hours, when summer time ends": (
        ("2026-10-24T21:59:59", "2026-10-24"),
        ("2026-10-24T22:00:00", "2026-10-25"),
        ("2026-10-25T01:30:00", "2026-10-25"),
        ("2026-10-25T22:59:59", "2026-10-25"),
        ("2026-10-25T23:00:00", "2026-10-26"),
    ),
    "a day of 23 hours, when it begins": (
        ("2026-03-28T22:59:59", "2026-03-28"),
        ("2026-03-28T23:00:00", "2026-03-29"),
        ("2026-03-29T21:59:59", "2026-03-29"),
        ("2026-03-29T22:00:00", "2026-03-30"),
    ),
}


@pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES)
def test_days_are_the_owners_in_each_report_and_as_of_the_limits(
    journal: Journal, clock: FakeClock, edges: Sequence[tuple[str, str]]
) -> None:
    berlin, days = ZoneInfo("Europe/Berlin"), Counter[str]()
    for number, (at, day) in enumerate(edges):
        moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
        clock.step((moment - clock.now()).total_seconds())
        book(journal, entry(f"earned:t{number}", 1))
        days[day] += 1
        assert start_of(Period.DAY, moment, berlin).astimezone(berlin).date() == (
            date.fromisoformat(day)
        )
    long_ago = clock.now() - timedelta(days=99)

    profit = profits(journal.database, ProfitBy.DAY, zone=berlin)
    sums = journal.ledger.sums(SumBy.DAY, zone=berlin)
    drawn = journal.ledger.earned_by_day(long_ago, 99, berlin)

    assert {one.group: one.tasks for one in profit} == days
    assert {one.group: one.received for one in sums} == days
    assert {one.day: one.earned for one in drawn} == days


def test_a_time_includes_its_beginning_and_not_its_end(
    journal: Journal, clock: FakeClock
) -> None:
    day = timedelta(days=1)
    begin = clock.now()
    for number in range(3):
        book(journal, entry(f"earned:t{number}", number + 1))
        clock.step(day.total_seconds())

    middle = profits(journal.database, None, begin + day, begin + 2 * day)
    days = profits(journal.database, ProfitBy.DAY)

    assert [one.earned for one in middle] == [2]
    assert [one.earned for one in days] == [1, 2, 3]
    assert days[1].group == (begin + day).date().isoformat()
    assert profits(journal.database, None, until=begin) == []


def ended(journal: Journal, clock: FakeClock, name: str, end: TaskState) -> float:
    """Bring a task to its end, with time in its slot; return how long it had one."""
    record = brought_to(journal, TaskState.CLAIMED, name)
    clock.step(7)  # it waits, without a slot
    record = move(journal, record, TaskState.EXECUTING)
    clock.step(90)
    way = WAYS[end]
    for after in way[way.index(TaskState.EXECUTING) + 1 :]:
        record = move(journal, record, after)
    history = journal.tasks.history(TaskId(name))
    return slot_seconds((one.after, one.at) for one in history)


def test_an_hour_of_slot_counts_failed_work_too(
    journal: Journal, clock: FakeClock
) -> None:
    held = ended(journal, clock, "t1", TaskState.COMPLETED)
    held += ended(journal, clock, "t2", TaskState.FAILED)
    book(journal, entry("earned:t1", 5), entry("earned:other", 70))

    found = only(journal)

    assert held == pytest.approx(180)
    assert found.slot_seconds == pytest.approx(held, abs=0.01)
    # Of the other task the journal has no times, so what it brought is left out.
    assert found.credits_per_slot_hour == pytest.approx(100, rel=0.001)


def test_without_times_the_pay_of_an_hour_is_unknown(journal: Journal) -> None:
    book(journal, entry("earned:t1", 5))

    assert only(journal).slot_seconds is None
    assert only(journal).credits_per_slot_hour is None


def test_work_is_told_apart_by_the_kind_that_was_listed(
    journal: Journal,
) -> None:
    sight(journal, task("t1", kind="essay"))
    book(journal, entry("earned:t1", 5), replace(entry("earned:x", 2), subject="x"))

    found = {one.group: one.earned for one in profits(journal.database, ProfitBy.KIND)}

    assert found == {"essay": 5, "": 2}


def test_differences_that_nothing_explains_are_added_up(journal: Journal) -> None:
    first = replace(entry("starter", 100, EntryKind.ADJUSTMENT), cause="owner")
    book(journal, first, entry("adjustment:1:97", -3, EntryKind.ADJUSTMENT))

    assert unexplained(journal.database) == -3
    (difference,) = journal.ledger.unexplained()
    with journal.tx("explained"):
        book_explained(journal.ledger, difference, "a lost post", shown=0)
    assert unexplained(journal.database) == 0
    assert unexplained(journal.database, datetime(2100, 1, 1, tzinfo=UTC)) == 0
    assert profits(journal.database, None) == []
