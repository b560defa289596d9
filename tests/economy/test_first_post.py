"""The first post on a network is made alone, and looked at before a second."""

from dataclasses import replace

import anyio
import pytest
from tests.economy.conftest import (
    LIMITS,
    NOT_SENT,
    REFUSED,
    RULES,
    UNKNOWN,
    Economy,
    new_task,
    posted,
)

from journeyman.domain.outcomes import Failure
from journeyman.domain.tasks import Task, TaskId
from journeyman.economy.budget import OverBudget
from journeyman.economy.posting import Accepted, NotAccepted
from journeyman.journal.journal import Journal
from journeyman.testing import FakeClock

CAREFUL = replace(RULES, verify_first=True)
OURS = Task(id=TaskId("task-1"), title="Count", reward=5)


@pytest.fixture
def economy(journal: Journal, clock: FakeClock) -> Economy:
    return Economy(journal, clock, LIMITS, CAREFUL)


async def test_a_second_post_waits_until_a_listing_shows_the_first(
    economy: Economy,
) -> None:
    economy.network.post_answers += [posted(), posted("task-2")]
    assert isinstance(await economy.posting.post(new_task()), Accepted)

    refused = await economy.posting.post(new_task())

    assert isinstance(refused, OverBudget)
    assert refused.setting == "posting.verify_first"
    assert "post_1" in refused.message
    assert len(economy.network.posts) == 1
    assert economy.log.names.count("post.first_unseen") == 1
    economy.network.shown = [OURS]
    economy.clock.advance(30)
    assert isinstance(await economy.posting.post(new_task()), Accepted)
    assert economy.log.named("post.first_seen")[0]["how"] == "listing"


async def test_a_first_post_that_is_listed_at_once_lets_the_second_go(
    economy: Economy,
) -> None:
    economy.network.post_answers += [posted(None), posted("task-2")]
    economy.network.shown = [OURS]

    assert isinstance(await economy.posting.post(new_task()), Accepted)
    assert isinstance(await economy.posting.post(new_task()), Accepted)
    assert economy.network.looks == 1


async def test_a_balance_that_moved_as_expected_is_as_good_as_a_listing(
    economy: Economy,
) -> None:
    economy.network.post_answers += [posted(balance=95), posted()]

    assert isinstance(await economy.posting.post(new_task()), Accepted)
    assert isinstance(await economy.posting.post(new_task()), Accepted)
    assert economy.network.looks == 0


async def test_a_balance_that_did_not_move_proves_nothing(economy: Economy) -> None:
    economy.network.post_answers += [posted(balance=100)]

    await economy.posting.post(new_task())

    assert isinstance(await economy.posting.post(new_task()), OverBudget)


async def test_two_first_posts_at_once_are_one(economy: Economy) -> None:
    economy.network.post_answers += [posted(), posted()]
    economy.network.may_answer = anyio.Event()
    ended: list[str] = []

    async def post() -> None:
        ended.append(type(await economy.posting.post(new_task())).__name__)

    async with anyio.create_task_group() as group:
        group.start_soon(post)
        group.start_soon(post)
        await anyio.wait_all_tasks_blocked()
        economy.network.may_answer.set()

    assert sorted(ended) == ["Accepted", "OverBudget"]
    assert len(economy.network.posts) == 1


@pytest.mark.parametrize("failure", [REFUSED, NOT_SENT])
async def test_a_first_post_that_was_not_made_leaves_the_next_one_the_first(
    economy: Economy, failure: Failure
) -> None:
    economy.network.post_answers += [failure, posted()]
    assert isinstance(await economy.posting.post(new_task()), NotAccepted)

    assert isinstance(await economy.posting.post(new_task()), Accepted)
    assert isinstance(await economy.posting.post(new_task()), OverBudget)


async def test_a_first_post_of_unknown_outcome_holds_the_next_one_back(
    economy: Economy,
) -> None:
    economy.network.post_answers += [UNKNOWN, posted("task-2")]
    await economy.posting.post(new_task())
    assert isinstance(await economy.posting.post(new_task()), OverBudget)

    economy.network.shown = [OURS]
    economy.clock.advance(30)

    assert isinstance(await economy.posting.post(new_task()), Accepted)


async def test_a_balance_that_explains_the_unknown_post_lets_the_next_one_go(
    economy: Economy,
) -> None:
    economy.network.post_answers += [UNKNOWN, posted("task-2")]
    await economy.posting.post(new_task())
    with economy.watch.window() as window:
        pass
    economy.watch.observe(window, 95)

    assert isinstance(await economy.posting.post(new_task()), Accepted)


async def test_what_was_seen_outlives_a_restart(
    economy: Economy, journal: Journal, clock: FakeClock
) -> None:
    economy.network.post_answers += [posted(balance=95)]
    await economy.posting.post(new_task())

    again = Economy(journal, clock, LIMITS, CAREFUL)
    again.randomness.new_id("post")  # each run makes names of its own
    again.network.post_answers += [posted("task-2"), posted("task-3")]
    assert isinstance(await again.posting.post(new_task()), Accepted)
    assert isinstance(await again.posting.post(new_task()), Accepted)


async def test_posting_that_is_switched_off_sends_nothing(
    journal: Journal, clock: FakeClock
) -> None:
    economy = Economy(journal, clock, LIMITS, replace(RULES, enabled=False))

    refused = await economy.posting.post(new_task())

    assert isinstance(refused, OverBudget)
    assert refused.setting == "posting.enabled"
    assert economy.network.posts == []
