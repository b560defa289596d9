"""A shown balance is compared only when nothing else can explain a difference."""

from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from tests.economy.conftest import (
    ME,
    OPENED,
    UNKNOWN,
    USUAL,
    Economy,
    new_task,
    posted,
)

from journeyman.domain.outcomes import Outcome
from journeyman.domain.tasks import SpendId, Task, TaskId, TaskState
from journeyman.economy.bookkeeping import book_delivery, book_starter
from journeyman.economy.following import PostWatch
from journeyman.economy.reconcile import write_off_old
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind
from journeyman.journal.maintenance import ledger_faults
from journeyman.journal.spends import SpendKind, SpendState
from journeyman.network.answers import CheckoutSession
from journeyman.testing import FakeClock

TO = {
    TaskState.CLAIMING: 1,
    TaskState.EXECUTING: 3,
    TaskState.SUBMITTING: 5,
    TaskState.SUBMITTED: 6,
    TaskState.COMPLETING: 7,
    TaskState.COMPLETED: 8,
}
WAY = (
    TaskState.CLAIMING,
    TaskState.CLAIMED,
    TaskState.EXECUTING,
    TaskState.EXECUTED,
    TaskState.SUBMITTING,
    TaskState.SUBMITTED,
    TaskState.COMPLETING,
    TaskState.COMPLETED,
)


def show(economy: Economy, balance: int | None) -> None:
    """Let an answer show a balance while nothing else is on its way."""
    with economy.watch.window() as window:
        economy.watch.observe(window, balance)


def put_task(economy: Economy, state: TaskState) -> None:
    tasks = economy.journal.tasks
    with economy.journal.tx("walk"):
        tasks.record_decision(
            Task(id=TaskId("t")), TaskState.WANTED, reason="", fingerprint="f"
        )
        record = tasks.get(TaskId("t"))
        for after in WAY[: TO[state]]:
            record = tasks.move(record, after)


@pytest.mark.parametrize("shown", [None, 100])
def test_a_balance_that_agrees_or_is_not_shown_books_nothing(
    economy: Economy, shown: int | None
) -> None:
    show(economy, shown)

    assert len(economy.journal.ledger.recent(9)) == 1


@pytest.mark.parametrize("shown", [0, 93, 108])
def test_a_difference_that_nothing_explains_is_booked_as_one(
    economy: Economy, shown: int
) -> None:
    show(economy, shown)
    show(economy, shown)

    entry = economy.journal.ledger.recent(1)[0]
    assert (entry.kind, entry.amount) == (EntryKind.ADJUSTMENT, shown - 100)
    assert entry.confidence is Confidence.OBSERVED
    assert economy.balance == shown
    assert economy.log.names == ["ledger.adjusted"]


@pytest.mark.parametrize("shown", [-1, -50, 1_000_001, 2**53])
def test_a_balance_that_cannot_be_ours_is_kept_and_books_nothing(
    economy: Economy, shown: int
) -> None:
    show(economy, shown)
    show(economy, shown)

    (entry,) = economy.journal.ledger.recent(9)[1:]
    assert (entry.amount, entry.confidence) == (0, Confidence.DOUBTFUL)
    assert str(shown) in entry.note
    assert economy.balance == 100
    assert economy.log.names == ["ledger.doubted"]


@pytest.mark.parametrize("shown", [-100, 2**53])
def test_starter_credits_that_cannot_be_true_are_the_contracts(
    journal_path: Path, clock: FakeClock, shown: int
) -> None:
    with Journal(journal_path, clock.now) as journal:
        with journal.tx("starter"):
            book_starter(journal.ledger, shown)
        (entry,) = journal.ledger.recent(9)

    assert (entry.amount, entry.confidence) == (100, Confidence.CONTRACT)
    assert str(shown) in entry.note


def test_the_same_difference_twice_in_a_row_is_booked_twice(economy: Economy) -> None:
    for shown in (90, 100, 90):
        show(economy, shown)

    assert economy.balance == 90
    assert len(economy.journal.ledger.recent(9)) == 4


def test_requests_that_overlap_spoil_each_others_balance(economy: Economy) -> None:
    with economy.watch.window() as first:
        with economy.watch.window() as second:
            economy.watch.observe(second, 90)
        economy.watch.observe(first, 90)

    assert economy.balance == 100


def test_a_window_that_was_never_alone_stays_so(economy: Economy) -> None:
    with economy.watch.window() as first:
        with economy.watch.window():
            pass
        economy.watch.observe(first, 90)
    show(economy, 95)

    assert economy.balance == 95


@pytest.mark.parametrize(
    ("state", "compared"),
    [
        (TaskState.CLAIMING, True),
        (TaskState.EXECUTING, True),
        (TaskState.SUBMITTING, False),
        (TaskState.SUBMITTED, False),
        (TaskState.COMPLETING, False),
        (TaskState.COMPLETED, True),
    ],
)
def test_a_payment_that_may_have_arrived_is_waited_for(
    economy: Economy, state: TaskState, *, compared: bool
) -> None:
    put_task(economy, state)

    show(economy, 103)

    assert economy.balance == (103 if compared else 100)


async def test_an_open_top_up_whose_credits_are_seen_is_booked_once(
    economy: Economy,
) -> None:
    economy.network.checkout_answers.append(OPENED)
    await economy.top_up.ask(ME, 250)

    show(economy, 350)
    show(economy, 350)

    (spend,) = economy.journal.spends.recent(9)
    assert spend.state is SpendState.SETTLED
    assert economy.journal.ledger.totals() == {"starter": 100, "top-up": 250}


@pytest.mark.parametrize("answer", [OPENED, UNKNOWN], ids=["open", "unknown"])
async def test_a_top_up_that_was_given_up_and_paid_after_all_is_booked_once(
    answer: Outcome[CheckoutSession], economy: Economy
) -> None:
    economy.network.checkout_answers.append(answer)
    await economy.top_up.ask(ME, 250)
    economy.top_up.cancel(SpendId("topup_1"))

    show(economy, 350)
    show(economy, 350)

    assert economy.journal.ledger.totals() == {"starter": 100, "top-up": 250}


async def test_two_pages_that_were_paid_before_a_balance_is_shown_are_both_booked(
    economy: Economy,
) -> None:
    economy.network.checkout_answers += [OPENED, OPENED]
    await economy.top_up.ask(ME, 200)
    await economy.top_up.ask(ME, 250)

    show(economy, 550)

    assert economy.journal.ledger.totals() == {"starter": 100, "top-up": 450}


async def test_pages_that_were_paid_and_posts_that_were_taken_are_told_apart_by_sums(
    economy: Economy,
) -> None:
    _open_pages(economy, [174, 200, 308])
    economy.network.post_answers += [UNKNOWN, UNKNOWN]
    for reward in (4, 8):
        await economy.posting.post(new_task(reward))

    show(economy, 100 + 174 + 308 - 4 - 8)

    assert economy.journal.ledger.totals() == {
        "starter": 100,
        "top-up": 174 + 308,
        "spent": -12,
    }


async def test_a_sum_that_several_explain_alike_says_so(economy: Economy) -> None:
    economy.network.checkout_answers += [UNKNOWN, UNKNOWN]
    await economy.top_up.ask(ME, 250)
    economy.top_up.cancel(SpendId("topup_1"))
    await economy.top_up.ask(ME, 250)

    show(economy, 350)

    entry = economy.journal.ledger.recent(1)[0]
    assert entry.subject == "topup_2"
    assert entry.note.endswith("explanations that would do as well: 1")


@pytest.mark.parametrize(("open_", "explained"), [(1, True), (9, True), (18, False)])
async def test_the_more_is_open_the_fewer_are_taken_together(
    economy: Economy, open_: int, *, explained: bool
) -> None:
    """Of many numbers, some four add up to almost anything."""
    _open_pages(economy, [1, 10, 100, 1000])
    _open_pages(economy, [10_000] * (open_ - 1))

    show(economy, 100 + 1111)

    assert ("adjustment" not in economy.journal.ledger.totals()) is explained


@pytest.mark.parametrize(("newer", "explained"), [(19, True), (20, False)])
async def test_only_the_newest_pages_are_taken_to_be_paid(
    economy: Economy, newer: int, *, explained: bool
) -> None:
    _open_pages(economy, [7])
    _open_pages(economy, [50] * newer)

    show(economy, 107)

    assert ("top-up" in economy.journal.ledger.totals()) is explained


def _open_pages(economy: Economy, credits_: list[int]) -> None:
    spends = economy.journal.spends
    with economy.journal.tx("pages"):
        for one in credits_:
            spend = spends.reserve(
                SpendId(f"topup_{spends.recorded() + 1}"),
                SpendKind.TOP_UP,
                credits_=one,
                cents=one,
                strategy="owner",
                request={},
            )
            spends.move(spend.spend_id, SpendState.OPEN)


async def test_an_unexplained_difference_names_what_is_of_unknown_outcome(
    economy: Economy,
) -> None:
    economy.network.post_answers.append(UNKNOWN)
    await economy.posting.post(new_task(5))

    show(economy, 60)

    assert economy.journal.ledger.recent(1)[0].note.endswith("then: post_1")


async def test_a_difference_is_taken_back_when_its_cause_is_booked(
    economy: Economy,
) -> None:
    economy.network.checkout_answers.append(OPENED)
    await economy.top_up.ask(ME, 250)
    show(economy, 349)
    economy.top_up.confirm(SpendId("topup_1"))
    assert economy.balance == 599

    show(economy, 350)

    assert economy.balance == 350
    assert economy.journal.ledger.totals()["adjustment"] == 0
    assert economy.journal.ledger.unexplained() == []
    assert economy.log.names[-1] == "ledger.explained"


async def test_a_loss_that_is_explained_later_stops_no_spending(
    economy: Economy,
) -> None:
    show(economy, 40)
    since = economy.clock.now() - timedelta(days=1)
    assert economy.journal.ledger.unexplained_losses(since) == 60

    show(economy, 100)

    assert economy.journal.ledger.unexplained_losses(since) == 0


def test_a_task_that_was_given_up_and_paid_is_booked_when_its_credits_are_seen(
    economy: Economy,
) -> None:
    _deliver(economy, TaskState.REJECTED)
    journal = economy.journal

    show(economy, 103)
    show(economy, 103)

    entry = journal.ledger.recent(1)[0]
    assert (entry.kind, entry.amount, entry.request) == ("earned", 3, "submit-1")
    assert journal.ledger.accounts()["receivable"] == 0
    assert ledger_faults(journal) == []


def _deliver(economy: Economy, after: TaskState) -> None:
    put_task(economy, TaskState.COMPLETING)
    journal = economy.journal
    with journal.tx("delivered"):
        book_delivery(
            journal.ledger, TaskId("t"), strategy="s", listed=3, request="submit-1"
        )
        if after is not TaskState.COMPLETING:
            journal.tasks.move(journal.tasks.get(TaskId("t")), after)


def _write_off(economy: Economy, days: float) -> None:
    economy.clock.advance(days * 86_400)
    while write_off_old(economy.journal, economy.log, economy.clock.now(), 90):
        pass


def test_work_that_was_given_up_is_written_off_after_three_months_once(
    economy: Economy,
) -> None:
    _deliver(economy, TaskState.REJECTED)

    _write_off(economy, days=89)
    assert economy.journal.ledger.accounts()["receivable"] == 3
    _write_off(economy, days=2)
    _write_off(economy, days=100)

    entry = economy.journal.ledger.recent(1)[0]
    assert (entry.key, entry.amount) == ("written-off:t", -3)
    assert "nobody said in 90 days" in entry.note
    assert economy.journal.ledger.accounts()["receivable"] == 0
    assert economy.journal.ledger.receivables() == []
    assert economy.log.names == ["ledger.written_off"]
    assert ledger_faults(economy.journal) == []


def test_work_that_is_waited_for_still_is_not_written_off(economy: Economy) -> None:
    _deliver(economy, TaskState.COMPLETING)

    _write_off(economy, days=100)

    assert economy.journal.ledger.accounts()["receivable"] == 3


# -- posts whose answer was lost, and that are listed ----------------------------------


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


def listed(task_id: str, *, title: str = "Count") -> Task:
    return Task(
        id=TaskId(task_id), title=title, description="Count the words", reward=5
    )


async def test_a_post_whose_answer_was_lost_is_settled_when_it_is_listed(
    economy: Economy, follow: PostWatch
) -> None:
    economy.network.post_answers.append(UNKNOWN)
    await economy.posting.post(new_task(5))

    follow.note([listed("t9", title="Another")])
    assert economy.balance == 100
    follow.note([listed("t1")])
    follow.note([listed("t1")])

    (entry,) = economy.journal.ledger.recent(9)[1:]
    assert (entry.amount, entry.cause, entry.request) == (-5, "listing", "post_1")
    spend = economy.journal.spends.get(SpendId("post_1"))
    assert spend is not None
    assert (spend.state, spend.task_id) == (SpendState.SETTLED, "t1")
    assert "post.accepted" in economy.log.names


async def test_a_post_whose_answer_was_lost_is_looked_for_in_the_listings(
    economy: Economy, follow: PostWatch
) -> None:
    economy.network.post_answers.append(UNKNOWN)
    await economy.posting.post(new_task(5))
    economy.network.shown = [listed("t1")]

    await follow.look()

    assert economy.journal.ledger.totals()["spent"] == -5


async def test_of_two_posts_alike_each_needs_a_task_of_its_own(
    economy: Economy, follow: PostWatch
) -> None:
    economy.network.post_answers += [posted(None), UNKNOWN]
    await economy.posting.post(new_task(5))
    await economy.posting.post(new_task(5))

    follow.note([listed("t1")])
    assert economy.journal.ledger.totals()["spent"] == -5
    follow.note([listed("t1"), listed("t2")])
    assert economy.journal.ledger.totals()["spent"] == -10


async def test_a_listed_post_whose_answer_is_on_the_way_is_not_taken_for_a_lost_one(
    economy: Economy, follow: PostWatch
) -> None:
    economy.network.post_answers += [UNKNOWN, posted("t1")]
    await economy.posting.post(new_task(5))
    economy.network.may_answer = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(economy.posting.post, new_task(5))
        await anyio.wait_all_tasks_blocked()
        follow.note([listed("t1")])
        economy.network.may_answer.set()
    follow.note([listed("t1")])

    assert economy.journal.ledger.totals()["spent"] == -5


async def test_a_post_whose_answer_is_not_kept_is_of_unknown_outcome_at_once(
    economy: Economy,
) -> None:
    with pytest.raises(IndexError):  # the script has no answer: any failure does
        await economy.posting.post(new_task(5))

    spend = economy.journal.spends.get(SpendId("post_1"))
    assert spend is not None
    assert spend.state is SpendState.UNKNOWN


async def test_credits_are_not_taken_for_a_top_up_that_was_only_proposed(
    economy: Economy,
) -> None:
    economy.top_up.propose(ME, USUAL)
    show(economy, 350)
    economy.top_up.cancel(SpendId("topup_1"))
    show(economy, 600)

    assert economy.journal.ledger.totals() == {"starter": 100, "adjustment": 500}


async def test_other_credits_are_not_taken_for_a_top_up(economy: Economy) -> None:
    economy.network.checkout_answers.append(OPENED)
    await economy.top_up.ask(ME, 250)

    show(economy, 349)

    (spend,) = economy.journal.spends.recent(9)
    assert spend.state is SpendState.OPEN
    assert economy.journal.ledger.totals() == {"starter": 100, "adjustment": 249}


async def test_a_post_of_unknown_outcome_that_has_left_the_balance_is_settled(
    economy: Economy,
) -> None:
    economy.network.post_answers.append(UNKNOWN)
    await economy.posting.post(new_task(25))

    show(economy, 75)

    spend = economy.journal.spends.get(SpendId("post_1"))
    assert spend is not None
    assert spend.state is SpendState.SETTLED
    assert economy.journal.ledger.totals() == {"starter": 100, "spent": -25}
    assert economy.journal.spends.reserved_credits() == 0


async def test_the_balance_in_a_posts_own_answer_is_compared_after_its_booking(
    economy: Economy,
) -> None:
    economy.network.post_answers.extend([posted("a", 95), posted("b", 88)])

    await economy.posting.post(new_task(5))
    assert economy.journal.ledger.totals() == {"starter": 100, "spent": -5}

    await economy.posting.post(new_task(5))
    assert economy.journal.ledger.totals()["adjustment"] == -2
