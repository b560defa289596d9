"""A post is reserved before it leaves, sent once, and settled by its answer."""

import anyio
import pytest
from tests.economy.conftest import (
    LIMITS,
    NOT_SENT,
    REFUSED,
    UNKNOWN,
    Economy,
    new_task,
    posted,
)

from journeyman.domain.outcomes import Outcome
from journeyman.domain.tasks import SpendId, Task, TaskId
from journeyman.economy.budget import OverBudget, usage
from journeyman.economy.posting import Accepted, NotAccepted
from journeyman.journal.spends import Spend, SpendState
from journeyman.network.answers import Posted


def spend_of(economy: Economy) -> Spend:
    (spend,) = economy.journal.spends.recent(9)
    return spend


def reserved(economy: Economy) -> int:
    return usage(economy.journal, economy.clock.now()).reserved


async def test_the_reservation_is_on_disk_before_the_request_leaves(
    economy: Economy,
) -> None:
    economy.network.post_answers.append(posted())

    await economy.posting.post(new_task())

    assert economy.network.states_when_called == [["reserved"]]


async def test_an_accepted_post_is_booked_and_known_as_ours(economy: Economy) -> None:
    economy.network.post_answers.append(posted("task-9"))

    done = await economy.posting.post(new_task(5), "poster")

    assert done == Accepted(SpendId("post_1"), TaskId("task-9"))
    assert spend_of(economy).state is SpendState.SETTLED
    assert (economy.balance, reserved(economy)) == (95, 0)
    (entry,) = economy.journal.ledger.recent(1)
    assert (entry.key, entry.amount, entry.strategy) == ("spent:post_1", -5, "poster")
    assert economy.journal.spends.is_our_post(Task(id=TaskId("task-9")))


async def test_its_name_goes_with_it_as_the_idempotency_key(economy: Economy) -> None:
    economy.network.post_answers.extend([posted("a"), posted("b")])
    for _ in range(2):
        await economy.posting.post(new_task())

    assert [key for _, key in economy.network.posts] == ["post_1", "post_2"]


@pytest.mark.parametrize("answer", [REFUSED, NOT_SENT])
async def test_what_was_certainly_not_done_is_given_back(
    economy: Economy, answer: Outcome[Posted]
) -> None:
    economy.network.post_answers.append(answer)

    done = await economy.posting.post(new_task())

    assert isinstance(done, NotAccepted)
    assert spend_of(economy).state is SpendState.RELEASED
    assert (economy.balance, reserved(economy)) == (100, 0)
    assert economy.log.names == ["post.refused"]


async def test_a_lost_answer_stays_reserved_counts_and_is_not_sent_again(
    economy: Economy,
) -> None:
    economy.network.post_answers.append(UNKNOWN)

    done = await economy.posting.post(new_task(25))
    economy.posting.recover()

    assert isinstance(done, NotAccepted)
    assert spend_of(economy).state is SpendState.UNKNOWN
    assert (economy.balance, reserved(economy)) == (100, 25)
    at = usage(economy.journal, economy.clock.now())
    assert (at.available, at.spent_today, at.posts_today) == (75, 25, 1)
    assert len(economy.network.posts) == 1
    assert economy.log.names == ["post.unknown"]


async def test_two_posts_at_once_cannot_break_a_limit_together(
    economy: Economy,
) -> None:
    economy.network.may_answer = anyio.Event()
    economy.network.post_answers.extend([posted("a"), posted("b")])
    ended: list[str] = []

    async def post() -> None:
        ended.append(type(await economy.posting.post(new_task(25))).__name__)

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(post)
        await anyio.wait_all_tasks_blocked()
        assert ended == [OverBudget.__name__] * 2
        economy.network.may_answer.set()

    assert sorted(ended) == ["Accepted", "Accepted", "OverBudget", "OverBudget"]
    assert economy.balance == 100 - LIMITS.per_day_credits
    assert len(economy.network.posts) == 2


async def test_a_post_whose_answer_is_not_waited_for_stays_reserved_and_is_told_once(
    economy: Economy,
) -> None:
    economy.network.may_answer = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(economy.posting.post, new_task())
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()

    economy.posting.recover()

    assert spend_of(economy).state is SpendState.UNKNOWN
    assert reserved(economy) == 5
    assert economy.log.names == ["post.unknown"]


@pytest.mark.parametrize("answer", [UNKNOWN, posted(None)])
async def test_a_post_that_was_not_named_is_known_by_title_and_reward(
    economy: Economy, answer: Outcome[Posted]
) -> None:
    economy.network.post_answers.append(answer)
    await economy.posting.post(new_task(5, "Ours"))
    spends = economy.journal.spends

    def listed(title: str, reward: int) -> Task:
        return Task(id=TaskId("t"), title=title, reward=reward)

    assert spends.is_our_post(listed("Ours", 5))
    assert not spends.is_our_post(listed("Ours", 6))
    assert not spends.is_our_post(listed("Theirs", 5))


async def test_a_refused_post_makes_no_task_ours(economy: Economy) -> None:
    economy.network.post_answers.append(REFUSED)
    await economy.posting.post(new_task(5, "Ours"))

    listed = Task(id=TaskId("t"), title="Ours", reward=5)

    assert not economy.journal.spends.is_our_post(listed)
