"""A plan for growth posts to learn what that brings, and then while it is worth it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, timedelta

import pytest
from tests.economy.conftest import Economy, posted
from tests.economy.test_plan import DAILY

from journeyman.daemon.schedule import SlotTimes
from journeyman.economy.growth import (
    GrowthPolicy,
    GrowthRule,
    GrowthRules,
    GrowthVerdict,
    GrowthWatch,
)
from journeyman.economy.plan import PostingPlan
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry

HOUR = 3_600
RULES = GrowthRules(enabled=True, share=0.5, trials=3, window=timedelta(hours=4))
PLAN = replace(
    DAILY,
    name="seen",
    times=SlotTimes(UTC, seconds=HOUR),
    growth=True,
    per_month_credits=1_000,
)
Live = Callable[..., Awaitable[int]]


def decide(economy: Economy, rules: GrowthRules = RULES) -> GrowthVerdict:
    policy = GrowthPolicy(rules=rules, plans=[PLAN], journal=economy.journal)
    return policy.decide(PLAN, economy.clock.now())


def earn(economy: Economy, credits_: int) -> None:
    key = f"earned:t{len(economy.journal.ledger.recent(10_000))}"
    with economy.journal.tx("earned"):
        economy.journal.ledger.book(
            NewEntry(
                key=key,
                kind=EntryKind.EARNED,
                amount=credits_,
                confidence=Confidence.CONFIRMED,
                subject=key,
            )
        )


@pytest.fixture
def live(economy: Economy) -> Live:
    """Let hours pass in which work earns, more after a post; return all posts."""

    async def live(
        hours: int, *, usual: int, after_post: int, rules: GrowthRules = RULES
    ) -> int:
        policy = GrowthPolicy(rules=rules, plans=[PLAN], journal=economy.journal)
        watch = GrowthWatch(policy=policy, clock=economy.clock, log=economy.log)
        plan = PostingPlan(
            plans=[PLAN],
            posting=economy.posting,
            journal=economy.journal,
            must_wait=lambda: False,
            is_worth_it=watch.is_worth_it,
            late=timedelta(hours=1),
            zone=UTC,
            clock=economy.clock,
            log=economy.log,
        )
        for number in range(hours):
            economy.network.post_answers = [posted(f"task-{number}")]
            before = len(economy.network.posts)
            await plan.round()
            boosted = len(economy.network.posts) > before
            earn(economy, usual + boosted * after_post)
            economy.clock.advance(HOUR)
        return len(economy.network.posts)

    return live


async def test_a_plan_that_brings_more_than_it_costs_goes_on_after_its_trials(
    economy: Economy, live: Live
) -> None:
    tried = await live(24, usual=10, after_post=30)
    went_on = await live(6, usual=10, after_post=30)

    assert tried == 3
    assert went_on > 6
    assert decide(economy).rule is GrowthRule.WORTH_IT
    assert decide(economy).gains == (30, 30, 30)
    told = [one["rule"] for one in economy.log.named("growth.decided")]
    assert set(told) == {"spacing", "trial", "worth it"}


async def test_a_plan_that_brings_nothing_stops_and_is_tried_again_in_a_month(
    economy: Economy, live: Live
) -> None:
    posts = await live(48, usual=10, after_post=0)
    stopped = decide(economy)
    economy.clock.advance(31 * 24 * HOUR)
    earn(economy, 100)

    assert posts == 3
    assert stopped.rule is GrowthRule.NOT_WORTH_IT
    assert "it costs 5. It is tried again, after 2026-12-21" in stopped.message
    assert decide(economy).rule is GrowthRule.TRIAL


async def test_growth_is_off_until_the_owner_wants_it(
    economy: Economy, live: Live
) -> None:
    off = replace(RULES, enabled=False)

    assert await live(12, usual=10, after_post=30, rules=off) == 0
    assert "growth.enabled is false" in decide(economy, off).message


async def test_growth_spends_no_more_than_its_share_of_what_work_earned(
    economy: Economy, live: Live
) -> None:
    small = replace(RULES, share=0.01, trials=2)

    posts = await live(100, usual=10, after_post=100, rules=small)

    verdict = decide(economy, small)
    assert 0 < posts * 5 <= verdict.allowed == int(0.01 * verdict.earned)
    assert verdict.rule is GrowthRule.SHARE
    assert f"of which {posts * 5} are spent" in verdict.message


async def test_a_post_beside_another_for_growth_is_not_measured(
    economy: Economy, live: Live
) -> None:
    await live(24, usual=10, after_post=30)
    measured = decide(economy).gains
    await live(20, usual=10, after_post=30)

    assert decide(economy).gains == measured


@pytest.mark.parametrize(
    ("gains", "is_sure"),
    [
        pytest.param((9, 10, 11), True, id="each brought more"),
        pytest.param((40, -30, 50), False, id="by chance, as far as anybody can tell"),
        pytest.param((4, 4, 4), False, id="less than the cost"),
    ],
)
def test_what_a_post_brings_must_be_surely_more_than_its_cost(
    gains: tuple[int, ...], *, is_sure: bool
) -> None:
    verdict = GrowthVerdict(
        plan="seen",
        rule=GrowthRule.WORTH_IT,
        cost=5,
        earned=100,
        allowed=10,
        spent=0,
        gains=gains,
        trials=3,
        window=RULES.window,
        changes_at=None,
    )

    assert (verdict.sure_gain >= verdict.cost) is is_sure
