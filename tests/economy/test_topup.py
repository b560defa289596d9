"""A top-up asks for a page; credits are booked when they are seen or confirmed."""

import anyio
import pytest
from tests.economy.conftest import ME, NOT_SENT, OPENED, PAGE, REFUSED, UNKNOWN, Economy

from journeyman.daemon.status import journal_status, top_up_as_json
from journeyman.domain.errors import SafetyError, UsageError
from journeyman.domain.outcomes import Confirmed, Outcome
from journeyman.domain.tasks import SpendId
from journeyman.economy.budget import OverBudget
from journeyman.economy.topup import NotOpened, Opened
from journeyman.journal.spends import SpendKind, SpendState
from journeyman.network.answers import CheckoutSession

FIRST = SpendId("topup_1")
DAY = 86_400


async def ask(economy: Economy, credits_: int) -> str:
    """Ask for a page; give the setting that refused, or how it ended."""
    economy.network.checkout_answers.append(OPENED)
    asked = await economy.top_up.ask(ME, credits_)
    return asked.setting if isinstance(asked, OverBudget) else type(asked).__name__


def state(economy: Economy) -> SpendState:
    spend = economy.journal.spends.get(FIRST)
    assert spend is not None
    return spend.state


async def test_a_page_is_asked_for_by_the_contract_and_nothing_is_booked(
    economy: Economy,
) -> None:
    economy.network.checkout_answers.append(OPENED)

    asked = await economy.top_up.ask(ME, 250)

    assert asked == Opened(FIRST, PAGE, 250, 250)
    ((request, key),) = economy.network.checkouts
    assert (request.plan, request.agent_id, request.price_id) == ("pack", ME, "p1")
    assert (request.requested_credits, request.amount_cents) == (250, 250)
    assert str(key) == str(FIRST)
    assert economy.network.states_when_called == [["reserved"]]
    assert state(economy) is SpendState.OPEN
    assert economy.balance == 100


@pytest.mark.parametrize("credits_", [0, -5])
async def test_less_than_one_credit_cannot_be_bought(
    economy: Economy, credits_: int
) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        await economy.top_up.ask(ME, credits_)

    assert economy.network.checkouts == []


async def test_the_cap_of_a_day_is_kept_to_the_cent(economy: Economy) -> None:
    assert await ask(economy, 499) == "Opened"
    assert await ask(economy, 2) == "topup.per_day_cents"
    assert await ask(economy, 1) == "Opened"
    assert await ask(economy, 3) == "topup.per_day_cents"
    assert len(economy.network.checkouts) == 2


async def test_the_cap_of_a_month_is_kept_over_its_days(economy: Economy) -> None:
    ended = []
    for _ in range(5):
        ended.append(await ask(economy, 500))
        economy.clock.advance(DAY)

    assert ended == [*["Opened"] * 4, "topup.per_month_cents"]
    economy.clock.advance(7 * DAY)  # from the 21st into the next month
    assert await ask(economy, 500) == "Opened"


@pytest.mark.parametrize(
    ("answer", "ended", "left"),
    [
        (REFUSED, SpendState.RELEASED, 500),
        (NOT_SENT, SpendState.RELEASED, 500),
        (UNKNOWN, SpendState.UNKNOWN, 400),
        (Confirmed(CheckoutSession(ok=True)), SpendState.UNKNOWN, 400),
    ],
)
async def test_a_page_that_may_exist_counts_and_one_that_does_not_is_given_back(
    economy: Economy,
    answer: Outcome[CheckoutSession],
    ended: SpendState,
    left: int,
) -> None:
    economy.network.checkout_answers.append(answer)

    asked = await economy.top_up.ask(ME, 100)

    assert isinstance(asked, NotOpened)
    assert state(economy) is ended
    assert economy.log.names == ["topup.refused"]
    economy.network.checkout_answers.clear()
    assert await ask(economy, left) == "Opened"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "http://pay.example/1",
        "http://127.0.0.1/1",
        "https://a:b@pay.example/",
        "https://pay.example/\x1b[2J",
    ],
)
async def test_a_page_that_nobody_should_open_is_kept_and_not_handed_out(
    economy: Economy, url: str
) -> None:
    economy.network.checkout_answers.append(Confirmed(CheckoutSession(url=url)))

    asked = await economy.top_up.ask(ME, 100)

    assert isinstance(asked, NotOpened)
    assert "doubtful" in asked.failure.message
    assert "\x1b" not in asked.failure.message
    (spend,) = economy.journal.spends.recent(1)
    assert spend.state is SpendState.UNKNOWN
    assert spend.answer == {"url": url, "session_id": None}
    listed = top_up_as_json(spend)
    assert (listed["url"], listed["doubt"]) == (None, asked.failure.message)
    assert journal_status(economy.journal)["open_top_ups"] == [listed]
    assert economy.balance == 100


async def test_a_confirmed_top_up_is_booked_once(economy: Economy) -> None:
    await ask(economy, 250)

    economy.top_up.confirm(FIRST)

    assert (economy.balance, state(economy)) == (350, SpendState.SETTLED)
    with pytest.raises(SafetyError, match="already settled"):
        economy.top_up.confirm(FIRST)
    assert economy.balance == 350


async def test_a_cancelled_top_up_is_given_back_and_booked_if_it_is_paid_after_all(
    economy: Economy,
) -> None:
    await ask(economy, 500)

    economy.top_up.cancel(FIRST)

    assert (economy.balance, state(economy)) == (100, SpendState.CANCELLED)
    assert await ask(economy, 499) == "Opened"
    economy.top_up.confirm(FIRST)
    assert economy.balance == 600
    assert await ask(economy, 1) == "topup.per_day_cents"


async def test_the_same_asked_for_again_is_the_page_that_waits(
    economy: Economy,
) -> None:
    economy.network.checkout_answers.append(OPENED)

    first = await economy.top_up.ask(ME, 250)
    again = await economy.top_up.ask(ME, 250)

    assert isinstance(first, Opened)
    assert again == first
    assert len(economy.network.checkouts) == 1


async def test_the_same_is_not_asked_for_again_while_its_outcome_is_unknown(
    economy: Economy,
) -> None:
    economy.network.checkout_answers.append(UNKNOWN)
    await economy.top_up.ask(ME, 250)

    with pytest.raises(SafetyError, match="asked for already"):
        await economy.top_up.ask(ME, 250)

    assert len(economy.network.checkouts) == 1


async def test_a_page_for_a_subscription_is_handed_out_only_if_one_was_chosen(
    economy: Economy,
) -> None:
    page = Confirmed(CheckoutSession(url=PAGE, mode="subscription"))
    economy.network.checkout_answers += [page, page]

    asked = await economy.top_up.ask(ME, 100)
    chosen = await economy.top_up.ask(ME, 101, subscription=True)

    assert isinstance(asked, NotOpened)
    assert "subscription" in asked.failure.message
    assert isinstance(chosen, Opened)


def test_an_unknown_name_is_refused(economy: Economy) -> None:
    with pytest.raises(SafetyError, match=r"not known[\s\S]*topup list"):
        economy.top_up.confirm(SpendId("topup_99"))


def test_a_post_cannot_be_confirmed_as_a_top_up(economy: Economy) -> None:
    from_post = SpendId("post_1")
    with economy.journal.tx("post"):
        economy.journal.spends.reserve(
            from_post,
            SpendKind.POST,
            credits_=5,
            cents=0,
            strategy="owner",
            request={},
        )

    with pytest.raises(SafetyError):
        economy.top_up.confirm(from_post)

    assert economy.balance == 100


async def test_a_top_up_whose_answer_is_on_the_way_cannot_be_settled(
    economy: Economy,
) -> None:
    economy.network.may_answer = anyio.Event()
    economy.network.checkout_answers.append(OPENED)

    async with anyio.create_task_group() as group:
        group.start_soon(economy.top_up.ask, ME, 100)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(SafetyError, match="already reserved"):
            economy.top_up.cancel(FIRST)
        economy.network.may_answer.set()

    assert state(economy) is SpendState.OPEN


async def test_a_top_up_whose_answer_is_not_waited_for_counts_and_can_be_cancelled(
    economy: Economy,
) -> None:
    economy.network.may_answer = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(economy.top_up.ask, ME, 500)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()

    economy.posting.recover()

    assert state(economy) is SpendState.UNKNOWN
    assert economy.log.names == ["topup.refused"]
    assert await ask(economy, 1) == "topup.per_day_cents"
    economy.top_up.cancel(FIRST)
    economy.network.may_answer.set()
    assert await ask(economy, 1) == "Opened"
