"""When credits run short, what happens is what the owner allowed."""

from datetime import timedelta

import pytest
from tests.economy.conftest import ME, OPENED, REFUSED, UNKNOWN, Economy

from journeyman.domain.errors import SafetyError
from journeyman.domain.outcomes import Outcome
from journeyman.domain.tasks import SpendId
from journeyman.economy.topup import Opened, TopUpMode, TopUpPolicy, TopUpWatch
from journeyman.journal.owner_pauses import OwnerPause
from journeyman.journal.spends import SpendKind
from journeyman.network.answers import CheckoutSession

FIRST = SpendId("topup_1")
DAY = 86_400
ABOVE, BELOW = 101, 100
"""Thresholds with which 100 credits are short, and are not."""


def shortage(
    economy: Economy, mode: str, below_credits: int, *, is_paused: bool = False
) -> TopUpWatch:
    return TopUpWatch(
        agent_id=ME,
        top_up=economy.top_up,
        journal=economy.journal,
        policy=TopUpPolicy(
            mode=TopUpMode(mode), below_credits=below_credits, target_credits=150
        ),
        is_paused=lambda: is_paused,
        clock=economy.clock,
        log=economy.log,
    )


def events(economy: Economy) -> list[str]:
    return [name for name, _ in economy.log.lines]


async def test_in_mode_auto_a_page_is_asked_for_and_its_address_is_logged(
    economy: Economy,
) -> None:
    economy.network.checkout_answers.append(OPENED)

    await shortage(economy, "auto", ABOVE).check()

    ((request, _),) = economy.network.checkouts
    assert (request.requested_credits, request.amount_cents) == (250, 250)
    ((name, fields),) = economy.log.lines
    assert (name, fields["url"]) == ("topup.opened", "https://pay.example/1")
    assert economy.balance == 100


async def test_nothing_is_asked_for_while_there_is_enough(economy: Economy) -> None:
    await shortage(economy, "auto", BELOW).check()

    assert economy.network.checkouts == []
    assert events(economy) == []


@pytest.mark.parametrize("answer", [OPENED, UNKNOWN], ids=["open", "unknown"])
async def test_while_one_top_up_waits_no_other_is_asked_for_not_even_after_a_restart(
    economy: Economy, answer: Outcome[CheckoutSession]
) -> None:
    economy.network.checkout_answers = [answer, answer]
    await shortage(economy, "auto", ABOVE).check()

    await shortage(economy, "auto", ABOVE).check()

    assert len(economy.network.checkouts) == 1


async def test_a_cancelled_top_up_makes_room_for_the_next(economy: Economy) -> None:
    economy.network.checkout_answers = [OPENED, OPENED]
    watch = shortage(economy, "auto", ABOVE)
    await watch.check()
    economy.top_up.cancel(SpendId("topup_1"))
    await watch.check()
    assert len(economy.network.checkouts) == 1

    economy.clock.advance(DAY)

    await watch.check()

    assert len(economy.network.checkouts) == 2


async def test_a_cap_stops_it_and_is_named(economy: Economy) -> None:
    economy.network.checkout_answers = [OPENED, OPENED]
    watch = shortage(economy, "auto", ABOVE + 10_000)
    for number in (1, 2):
        await watch.check()
        economy.top_up.confirm(SpendId(f"topup_{number}"))

    await watch.check()

    assert len(economy.network.checkouts) == 2
    name, fields = economy.log.lines[-1]
    assert (name, fields["setting"]) == ("topup.over_cap", "topup.per_day_cents")


async def test_in_mode_ask_a_top_up_is_proposed_once_and_nothing_is_sent(
    economy: Economy,
) -> None:
    await shortage(economy, "ask", ABOVE).check()
    await shortage(economy, "ask", ABOVE).check()  # after a restart

    assert economy.network.checkouts == []
    ((name, fields),) = economy.log.lines
    assert (name, fields["credits"], fields["price_id"]) == (
        "topup.proposed",
        250,
        "p1",
    )


async def test_what_was_proposed_is_asked_for_when_the_owner_approves(
    economy: Economy,
) -> None:
    economy.network.checkout_answers.append(OPENED)
    await shortage(economy, "ask", ABOVE).check()

    asked = await economy.top_up.approve(FIRST)
    await shortage(economy, "ask", ABOVE).check()

    assert isinstance(asked, Opened)
    ((request, key),) = economy.network.checkouts
    assert (request.requested_credits, str(key)) == (250, FIRST)
    with pytest.raises(SafetyError, match="already open"):
        await economy.top_up.approve(FIRST)


async def test_what_the_owner_declines_is_not_proposed_again_before_it_would_expire(
    economy: Economy,
) -> None:
    watch = shortage(economy, "ask", ABOVE)
    await watch.check()
    economy.top_up.cancel(FIRST)

    await watch.check()
    assert events(economy) == ["topup.proposed"]

    economy.clock.advance(DAY)
    await watch.check()
    assert events(economy) == ["topup.proposed"] * 2


async def test_a_proposal_that_nobody_approves_in_time_is_made_anew(
    economy: Economy,
) -> None:
    watch = shortage(economy, "ask", ABOVE)
    await watch.check()

    economy.clock.advance(DAY)
    await watch.check()

    assert events(economy) == ["topup.proposed", "topup.expired", "topup.proposed"]
    with pytest.raises(SafetyError, match="already released"):
        await economy.top_up.approve(FIRST)


async def test_a_page_that_nobody_pays_expires_and_still_counts_against_the_caps(
    economy: Economy,
) -> None:
    economy.network.checkout_answers += [OPENED] * 9
    watch = shortage(economy, "auto", ABOVE)

    for _ in range(9):
        await watch.check()
        economy.clock.advance(DAY)

    assert len(economy.network.checkouts) == 8  # of 250 cents: the cap of a month
    assert events(economy)[-2:] == ["topup.expired", "topup.over_cap"]


async def test_a_request_whose_answer_was_lost_waits_for_the_owner_for_ever(
    economy: Economy,
) -> None:
    economy.network.checkout_answers.append(UNKNOWN)
    watch = shortage(economy, "auto", ABOVE)

    for _ in range(5):
        await watch.check()
        economy.clock.advance(DAY)

    assert len(economy.network.checkouts) == 1
    assert economy.journal.spends.unsettled(SpendKind.TOP_UP) != []


async def test_in_mode_off_nothing_happens(economy: Economy) -> None:
    await shortage(economy, "off", ABOVE).check()

    assert economy.network.checkouts == []
    assert events(economy) == []


async def test_a_refused_request_is_not_made_again_at_each_look(
    economy: Economy,
) -> None:
    economy.network.checkout_answers += [REFUSED, OPENED]
    short = shortage(economy, "auto", ABOVE)

    await short.check()
    economy.clock.advance(300)
    await short.check()
    assert len(economy.network.checkouts) == 1

    economy.clock.advance(3_600)
    await short.check()
    assert len(economy.network.checkouts) == 2


async def test_while_the_network_takes_no_request_none_is_made(
    economy: Economy,
) -> None:
    await shortage(economy, "auto", ABOVE, is_paused=True).check()

    assert economy.network.checkouts == []
    assert economy.journal.spends.recent(10) == []


async def test_what_the_owner_has_paused_asks_for_nothing_until_that_is_over(
    economy: Economy,
) -> None:
    economy.network.checkout_answers.append(OPENED)
    until = economy.clock.now() + timedelta(hours=1)
    with economy.journal.tx("pause"):
        economy.journal.owner_pauses.put(
            OwnerPause(by="me", since=economy.clock.now(), until=until)
        )
    watch = shortage(economy, "auto", ABOVE)

    await watch.check()
    assert economy.network.checkouts == []

    economy.clock.advance(3_600)
    await watch.check()
    assert len(economy.network.checkouts) == 1
