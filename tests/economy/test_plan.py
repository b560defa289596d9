"""A posting plan: one post for each slot, whatever happens around it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.economy.conftest import (
    LIMITS,
    NOT_SENT,
    REFUSED,
    UNKNOWN,
    Economy,
    posted,
)

from journeyman.daemon.schedule import SlotTimes
from journeyman.economy.plan import Plan, PostingPlan
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendState
from journeyman.testing import FakeClock

HOUR, DAY = 3_600, 86_400
DAILY = Plan(
    name="daily",
    times=SlotTimes(UTC, cron="30 12 * * *"),
    title="Proofread the notes of $date",
    description="",
    kind="proofreading",
    tags=("text",),
    input={"pages": ["notes/$year/$week", 7]},
    reward=5,
    per_month_credits=100,
    max_posts=None,
    until=None,
)
Planned = Callable[..., PostingPlan]
Changes = dict[str, Any]


def _changed(changes: Changes) -> Plan:
    return replace(DAILY, **changes)


@pytest.fixture
def planned(economy: Economy) -> Planned:
    """Make a plan that is known since noon, 30 minutes before its slot."""

    def make(economy: Economy = economy, **changes: object) -> PostingPlan:
        return PostingPlan(
            plans=[_changed(changes)],
            posting=economy.posting,
            journal=economy.journal,
            must_wait=lambda: False,
            is_worth_it=lambda _plan, _slot: False,
            late=timedelta(hours=1),
            zone=UTC,
            clock=economy.clock,
            log=economy.log,
        )

    return make


async def _live(plan: PostingPlan, economy: Economy, hours: float) -> list[str]:
    """Look each five minutes; return the titles of what was posted."""
    for number in range(round(hours * 12)):
        if not economy.network.post_answers:
            economy.network.post_answers.append(posted(f"task-{number}"))
        await plan.round()
        economy.clock.advance(300)
    return [new.title for new, _ in economy.network.posts]


async def test_each_slot_has_one_post_with_its_dates_filled_in(
    economy: Economy, planned: Planned
) -> None:
    titles = await _live(planned(), economy, 48)

    assert titles == [
        "Proofread the notes of 2026-11-21",
        "Proofread the notes of 2026-11-22",
    ]
    new, _ = economy.network.posts[0]
    assert new.input == {"pages": ["notes/2026/2026-W47", 7]}
    assert {one.strategy for one in economy.journal.spends.recent(9)} == {"plan:daily"}
    assert [one["plan"] for one in economy.log.named("post.planned")] == ["daily"] * 2


async def test_a_slot_before_the_plan_was_known_has_no_post(
    economy: Economy, planned: Planned
) -> None:
    economy.clock.advance(HOUR)

    assert await _live(planned(), economy, 2) == []


async def test_a_lost_answer_brings_no_second_post(
    economy: Economy, planned: Planned
) -> None:
    economy.network.post_answers.append(UNKNOWN)

    assert len(await _live(planned(), economy, 12)) == 1


async def test_a_crash_while_it_is_sent_brings_no_second_post(
    economy: Economy, planned: Planned
) -> None:
    plan = planned()
    await plan.round()
    economy.clock.advance(HOUR / 2)

    async def die() -> None:
        raise KeyboardInterrupt

    economy.network.post_answers.append(posted())
    economy.network._work, work = die, economy.network._work  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        await plan.round()
    economy.network._work = work  # type: ignore[method-assign]

    again = Economy(economy.journal, economy.clock, LIMITS)
    again.posting.recover()
    assert await _live(planned(again), again, 2) == []
    (spend,) = economy.journal.spends.recent(9)
    assert spend.state is SpendState.UNKNOWN


async def test_what_was_certainly_not_posted_is_tried_three_times(
    economy: Economy, planned: Planned
) -> None:
    economy.network.post_answers += [NOT_SENT, REFUSED, NOT_SENT]

    titles = await _live(planned(), economy, 12)

    assert len(titles) == 3
    assert len({key for _, key in economy.network.posts}) == 3


async def test_its_key_is_the_same_again_where_the_journal_is_an_older_one(
    economy: Economy, planned: Planned, journal: Journal
) -> None:
    await _live(planned(), economy, 1)
    with journal.tx("lost"):
        journal.database.write("DELETE FROM spends")
    economy.clock.step(-HOUR / 4)

    await _live(planned(), economy, 0.1)

    first, second = economy.network.posts
    assert first == second


async def test_of_slots_that_were_missed_the_last_is_made_up_for(
    economy: Economy, planned: Planned
) -> None:
    plan = planned(times=SlotTimes(UTC, seconds=600))
    await plan.round()
    economy.clock.advance(3 * HOUR + 60)

    await _live(plan, economy, 0.1)

    (spend,) = economy.journal.spends.recent(9)
    assert spend.slot == "daily:2026-11-21T15:00:00+00:00"


async def test_a_slot_that_is_too_late_is_passed_over(
    economy: Economy, planned: Planned
) -> None:
    plan = planned()
    await plan.round()
    economy.clock.advance(2 * HOUR)

    assert await _live(plan, economy, 1) == []


@pytest.mark.parametrize(
    ("changes", "posts"),
    [
        pytest.param({"max_posts": 1}, 1, id="so many posts"),
        pytest.param({"until": datetime(2026, 11, 22, tzinfo=UTC)}, 1, id="a date"),
        pytest.param({"per_month_credits": 9}, 1, id="its own limit"),
    ],
)
async def test_a_plan_ends(
    economy: Economy, planned: Planned, changes: Changes, posts: int
) -> None:
    assert len(await _live(planned(**changes), economy, 72)) == posts


async def test_what_a_limit_refused_is_posted_when_there_is_room_again(
    journal: Journal, clock: FakeClock, planned: Planned
) -> None:
    economy = Economy(journal, clock, replace(LIMITS, per_hour_credits=5))
    plan = planned(economy, times=SlotTimes(UTC, cron="5,10 * * * *"), max_posts=2)

    await _live(plan, economy, 2)

    slots = [one.slot[-14:-9] for one in journal.spends.recent(9)][::-1]
    assert slots == ["12:05", "12:10"]


async def test_nothing_is_posted_while_posts_must_wait(
    economy: Economy, planned: Planned
) -> None:
    plan = planned()
    plan.must_wait = lambda: True

    assert await _live(plan, economy, 24) == []


async def test_a_clock_that_is_set_back_repeats_no_slot(
    economy: Economy, planned: Planned
) -> None:
    plan = planned()
    await _live(plan, economy, 1)
    for _ in range(3):
        economy.clock.step(-HOUR)
        await _live(plan, economy, 1)

    assert len(economy.network.posts) == 1


async def test_a_clock_that_was_years_ahead_ends_no_plan(
    economy: Economy, planned: Planned
) -> None:
    plan = planned()
    economy.clock.step(10 * 365 * 24 * HOUR)
    await _live(plan, economy, 1)
    economy.clock.step(-10 * 365 * 24 * HOUR)
    posted = len(economy.network.posts)

    await _live(plan, economy, 25)

    assert len(economy.network.posts) == posted + 1


def test_of_many_slots_that_were_missed_the_last_is_found() -> None:
    times = SlotTimes(UTC, cron="* * * * *")
    now = datetime(2026, 11, 23, 12, 30, 30, tzinfo=UTC)

    latest = times.latest(now - timedelta(days=3650), now)

    assert latest == now.replace(second=0)


@pytest.mark.parametrize(
    ("zone", "hour"), [("UTC", 9), ("Europe/Berlin", 8), ("Asia/Kolkata", 3)]
)
def test_slots_are_by_the_owners_calendar(zone: str, hour: int) -> None:
    times = SlotTimes(ZoneInfo(zone), cron="0 9 * * mon")
    day = datetime(2026, 11, 23, tzinfo=UTC)

    slot = times.latest(day - timedelta(days=1), day + timedelta(days=1))

    assert slot is not None
    assert slot.astimezone(UTC).hour == hour


def test_a_day_whose_clock_changes_has_one_slot() -> None:
    times = SlotTimes(ZoneInfo("Europe/Berlin"), cron="30 2 * * *")
    at, slots = datetime(2026, 10, 24, tzinfo=UTC), set()
    while at < datetime(2026, 10, 27, tzinfo=UTC):
        slots.add(times.latest(at - timedelta(hours=1), at))
        at += timedelta(minutes=5)

    keys = {DAILY.key(slot) for slot in slots if slot}
    assert len(keys) == 3
