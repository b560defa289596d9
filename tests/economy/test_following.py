"""What a listing, or a balance, shows of our posts ends their escrow, once."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.economy.conftest import Economy, new_task, posted

from journeyman.domain.tasks import Task, TaskId
from journeyman.economy.following import PostWatch
from journeyman.journal.ledger import Confidence, EntryKind
from journeyman.journal.maintenance import faults
from journeyman.journal.posts import FollowedPost, PostState

DAY = 86_400
RESULT = {"words": 7}


@pytest.fixture
def follow(economy: Economy) -> PostWatch:
    return PostWatch(
        network=economy.network,
        journal=economy.journal,
        watch=economy.watch,
        days=30,
        clock=economy.clock,
        log=economy.log,
    )


@pytest.fixture(autouse=True)
async def one_post_is_out(economy: Economy) -> None:
    economy.network.post_answers.append(posted())
    await economy.posting.post(new_task(5), "asker")


def show(status: str = "", **fields: Any) -> Task:  # noqa: ANN401 - any JSON
    record = {"id": "task-1", "status": status, **fields}
    return Task(id=TaskId("task-1"), status=status, raw=record)


def balance_is(economy: Economy, balance: int) -> None:
    with economy.watch.window() as window:
        economy.watch.observe(window, balance)


def the_post(economy: Economy) -> FollowedPost:
    (spend,) = economy.journal.spends.recent_posts(1)
    post = economy.journal.posts.get(spend.spend_id)
    assert post is not None
    return post


def escrow(economy: Economy) -> int:
    return economy.journal.ledger.accounts().get("escrow", 0)


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        pytest.param(show("open"), PostState.LISTED, id="open"),
        pytest.param(show("quux"), PostState.LISTED, id="a word that nobody knows"),
        pytest.param(show("claimed"), PostState.IN_WORK, id="claimed"),
        pytest.param(show("in_review"), PostState.IN_WORK, id="in review"),
        pytest.param(show("expired"), PostState.OVER, id="expired"),
        pytest.param(show("cancelled"), PostState.OVER, id="cancelled"),
        pytest.param(show("rejected"), PostState.OVER, id="rejected"),
        pytest.param(show("", result="done"), PostState.LISTED, id="no state"),
    ],
)
def test_what_does_not_move_credits_is_kept_and_books_nothing(
    economy: Economy, follow: PostWatch, shown: Task, state: PostState
) -> None:
    follow.note([shown])

    assert the_post(economy).state is state
    assert (economy.balance, escrow(economy)) == (95, 5)


def test_a_post_that_was_done_is_paid_out_of_its_escrow_with_its_result(
    economy: Economy, follow: PostWatch
) -> None:
    for _ in range(2):
        follow.note([show("completed", result=RESULT)])

    entry = economy.journal.ledger.recent(1)[0]
    assert (entry.kind, entry.amount, entry.cause) == ("paid-out", 5, "listing")
    assert (entry.account, entry.confidence) == ("payments", Confidence.ASSUMED)
    assert (economy.balance, escrow(economy)) == (95, 0)
    assert the_post(economy).result == RESULT
    assert economy.log.names.count("post.changed") == 1
    assert faults(economy.journal) == []


def test_a_result_that_is_shown_later_is_kept_too(
    economy: Economy, follow: PostWatch
) -> None:
    follow.note([show("completed")])
    follow.note([show("completed", result=RESULT)])

    assert the_post(economy).result == RESULT
    assert escrow(economy) == 0


@pytest.mark.parametrize(
    ("fields", "amount", "confidence"),
    [
        ({"refunded_credits": 5}, 5, Confidence.CONFIRMED),
        ({"refundAmount": 3}, 3, Confidence.CONFIRMED),
        ({"refunded": True}, 5, Confidence.ASSUMED),
        ({"refunded_credits": 5_000}, 5, Confidence.ASSUMED),
    ],
)
def test_a_refund_that_a_listing_names_is_booked_and_never_more_than_the_reward(
    economy: Economy,
    follow: PostWatch,
    fields: dict[str, Any],
    amount: int,
    confidence: Confidence,
) -> None:
    for _ in range(2):
        follow.note([show("expired", **fields)])

    entry = economy.journal.ledger.recent(1)[0]
    assert (entry.kind, entry.amount) == (EntryKind.REFUNDED, amount)
    assert (entry.confidence, entry.cause) == (confidence, "listing")
    assert (economy.balance, escrow(economy)) == (95 + amount, 5 - amount)
    assert the_post(economy).state is PostState.REFUNDED
    assert faults(economy.journal) == []


@pytest.mark.parametrize("status", ["open", "expired"])
def test_a_balance_shows_the_refund_of_a_post(
    economy: Economy, follow: PostWatch, status: str
) -> None:
    follow.note([show(status)])

    balance_is(economy, 100)
    follow.note([show("expired", refunded_credits=5)])

    entry = economy.journal.ledger.recent(1)[0]
    assert (entry.kind, entry.amount) == (EntryKind.REFUNDED, 5)
    assert (entry.confidence, entry.observed) == (Confidence.OBSERVED, 100)
    assert (economy.balance, escrow(economy)) == (100, 0)
    assert the_post(economy).state is PostState.REFUNDED
    assert "ledger.adjusted" not in economy.log.names


def test_no_difference_is_explained_by_a_post_that_was_done(
    economy: Economy, follow: PostWatch
) -> None:
    follow.note([show("completed")])

    balance_is(economy, 100)

    assert economy.journal.ledger.recent(1)[0].kind is EntryKind.ADJUSTMENT


def test_a_refund_makes_a_balance_that_is_on_its_way_say_nothing(
    economy: Economy, follow: PostWatch
) -> None:
    with economy.watch.window() as window:
        follow.note([show("expired", refunded=True)])
        economy.watch.observe(window, 95)

    assert economy.balance == 100


async def test_the_listings_are_asked_only_while_a_post_is_open_and_not_shown(
    economy: Economy, follow: PostWatch
) -> None:
    looks = economy.network.looks
    follow.note([show("open")])
    await follow.look()
    shown_by_discovery = economy.network.looks - looks
    economy.network.shown = [show("completed", result=RESULT)]
    await follow.look()
    await follow.look()

    assert shown_by_discovery == 0
    assert economy.network.looks - looks == 1
    assert the_post(economy).state is PostState.DONE


async def test_a_post_that_no_listing_shows_stays_in_escrow_and_is_given_up(
    economy: Economy, follow: PostWatch
) -> None:
    await follow.look()
    looks = economy.network.looks
    economy.clock.advance(31 * DAY)
    await follow.look()

    assert the_post(economy).state is PostState.ABSENT
    assert economy.network.looks == looks
    assert escrow(economy) == 5


async def test_an_end_that_was_seen_stays_when_the_listing_drops_the_post(
    economy: Economy, follow: PostWatch
) -> None:
    follow.note([show("expired")])
    await follow.look()
    await follow.look()

    assert the_post(economy).state is PostState.OVER


@pytest.fixture
def answer_with_fee(economy: Economy) -> Callable[[int, int | None], Any]:
    async def post(fee: int, balance: int | None) -> None:
        answer = posted("task-2", balance)
        object.__setattr__(answer.value, "fee", fee)
        economy.network.post_answers.append(answer)
        await economy.posting.post(new_task(5, title="Sum"), "asker")

    return post


@pytest.mark.parametrize(
    ("fee", "balance", "booked"),
    [
        pytest.param(2, None, 2, id="named"),
        pytest.param(2, 88, 2, id="named and taken"),
        pytest.param(2, 90, 0, id="a part of the reward, as the balance says"),
        pytest.param(50, None, 0, id="more than the reward cannot be true"),
        pytest.param(-3, None, 0, id="below nothing cannot be true"),
    ],
)
async def test_a_fee_that_the_answer_names_is_booked_and_weighs_on_the_limits(
    economy: Economy,
    answer_with_fee: Callable[[int, int | None], Any],
    fee: int,
    balance: int | None,
    booked: int,
) -> None:
    await answer_with_fee(fee, balance)

    assert economy.journal.ledger.accounts().get("fees", 0) == booked
    assert economy.balance == 90 - booked
    assert economy.journal.spends.posted_credits() == 10 + booked
    assert faults(economy.journal) == []
