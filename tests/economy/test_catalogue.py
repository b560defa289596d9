"""The smallest pack that suffices is asked for, at the price that was read."""

from dataclasses import replace

import anyio
import pytest
from tests.economy.conftest import LIMITS, ME, OPENED, USUAL, Economy

from journeyman.domain.errors import NetworkError
from journeyman.domain.tasks import SpendId
from journeyman.economy.catalogue import Offers, Pack, PriceDoubted, packs_in
from journeyman.economy.topup import TopUpMode, TopUpPolicy, TopUpWatch
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendKind
from journeyman.network.discovery.products import Product
from journeyman.testing import FakeClock

FIRST = SpendId("topup_1")
SMALL, MIDDLE, LARGE = (
    Pack(price_id=f"price_{credits_}", credits=credits_, cents=credits_, plan="pack")
    for credits_ in (50, 200, 400)
)
PRODUCT = Product(
    label="200 credits",
    price_id="price_200",
    plan="pack",
    credits=200,
    cents=200,
    period="",
    checkout="",
    path="/.well-known/agent.json",
)
DEARER = replace(PRODUCT, credits=100, cents=100)
SUBSCRIPTION = replace(PRODUCT, price_id="price_monthly", period="month")


@pytest.fixture
def economy(journal: Journal, clock: FakeClock) -> Economy:
    return Economy(journal, clock, LIMITS, packs=(LARGE, SMALL, MIDDLE))


@pytest.fixture
def read_from_documents(journal: Journal, clock: FakeClock) -> Economy:
    """An economy whose owner has configured no pack."""
    economy = Economy(journal, clock, LIMITS)
    economy.offers = Offers((PRODUCT, SUBSCRIPTION), is_whole=True)
    return economy


def watch(economy: Economy, mode: str = "auto", target: int = 150) -> TopUpWatch:
    return TopUpWatch(
        agent_id=ME,
        top_up=economy.top_up,
        journal=economy.journal,
        policy=TopUpPolicy(
            mode=TopUpMode(mode), below_credits=101, target_credits=target
        ),
        is_paused=lambda: False,
        clock=economy.clock,
        log=economy.log,
    )


@pytest.mark.parametrize(
    ("target", "asked"),
    [(149, [50]), (150, [200]), (299, [200]), (300, [400]), (500, [])],
)
async def test_the_smallest_pack_that_lifts_100_credits_over_the_target_is_asked_for(
    target: int, asked: list[int], economy: Economy
) -> None:
    economy.network.checkout_answers.append(OPENED)

    await watch(economy, target=target).check()

    requests = [request for request, _ in economy.network.checkouts]
    assert [one.requested_credits for one in requests] == asked
    assert [one.price_id for one in requests] == [f"price_{one}" for one in asked]
    assert (economy.log.names == ["topup.no_pack"]) == (not asked)


async def test_no_document_is_read_where_the_owner_has_configured_packs(
    economy: Economy,
) -> None:
    economy.network.checkout_answers.append(OPENED)

    await watch(economy).check()

    assert economy.times_read == 0


def test_a_product_that_is_no_single_payment_at_a_known_price_is_no_pack() -> None:
    odd = (
        replace(PRODUCT, plan="pro_subscription"),
        replace(PRODUCT, price_id=""),
        replace(PRODUCT, credits=None),
        replace(PRODUCT, cents=None),
        replace(PRODUCT, cents=180),
        SUBSCRIPTION,
    )

    assert packs_in(odd, "pack") == []
    assert [pack.credits for pack in packs_in([PRODUCT], "pack")] == [200]


async def test_documents_are_read_on_the_owners_word_alone_and_their_packs_kept(
    read_from_documents: Economy,
) -> None:
    economy = read_from_documents
    packs = economy.top_up.catalogue.packs
    assert packs.all() == [USUAL]

    await economy.top_up.catalogue.read()

    assert [pack.price_id for pack in packs.all()] == ["price_200"]


async def test_a_pack_of_the_documents_is_asked_for_at_the_price_that_was_read(
    read_from_documents: Economy,
) -> None:
    economy = read_from_documents
    economy.network.checkout_answers.append(OPENED)
    await economy.top_up.catalogue.read()

    await watch(economy).check()

    ((request, _),) = economy.network.checkouts
    assert (request.price_id, request.amount_cents) == ("price_200", 200)
    assert economy.times_read == 2


@pytest.mark.parametrize("now", [(DEARER,), ()], ids=["changed", "gone"])
async def test_a_price_that_changed_since_it_was_read_stops_it(
    now: tuple[Product, ...], read_from_documents: Economy
) -> None:
    economy = read_from_documents
    await economy.top_up.catalogue.read()
    economy.offers = Offers(now, is_whole=True)
    looking = watch(economy)

    await looking.check()
    economy.clock.advance(3_600)
    await looking.check()

    assert economy.network.checkouts == []
    assert economy.journal.spends.recent(9) == []
    assert economy.log.names == ["topup.price_changed", "topup.no_pack"]


async def test_a_price_that_cannot_be_read_again_is_tried_again_later(
    read_from_documents: Economy,
) -> None:
    economy = read_from_documents
    economy.network.checkout_answers.append(OPENED)
    offers = economy.offers
    await economy.top_up.catalogue.read()
    economy.offers = Offers((), is_whole=False)
    looking = watch(economy)

    await looking.check()
    assert economy.network.checkouts == []
    assert economy.log.names == ["topup.price_unread"]

    economy.offers = offers
    economy.clock.advance(3_600)
    await looking.check()
    assert len(economy.network.checkouts) == 1


async def test_a_price_that_changed_before_the_owner_approved_withdraws_the_proposal(
    read_from_documents: Economy,
) -> None:
    economy = read_from_documents
    await economy.top_up.catalogue.read()
    await watch(economy, "ask").check()
    economy.offers = Offers((DEARER,), is_whole=True)

    asked = await economy.top_up.approve(FIRST)

    assert isinstance(asked, PriceDoubted)
    assert "100 credits" in asked.message
    assert economy.network.checkouts == []
    assert economy.journal.spends.unsettled(SpendKind.TOP_UP) == []


async def test_what_was_proposed_at_an_older_configuration_is_not_asked_for(
    economy: Economy, journal: Journal, clock: FakeClock
) -> None:
    await watch(economy, "ask").check()
    dearer = Economy(journal, clock, LIMITS, packs=(replace(MIDDLE, cents=300),))

    assert isinstance(await dearer.top_up.approve(FIRST), PriceDoubted)
    assert dearer.network.checkouts == []


async def test_an_owner_who_asks_while_the_price_is_read_makes_it_one_page(
    read_from_documents: Economy,
) -> None:
    economy = read_from_documents
    economy.network.checkout_answers.append(OPENED)
    await economy.top_up.catalogue.read()
    (pack,) = economy.top_up.catalogue.packs.all()

    async with anyio.create_task_group() as group:
        group.start_soon(economy.top_up.ask, ME, 200)
        group.start_soon(economy.top_up.ask_by_itself, ME, pack)

    assert economy.times_read == 3
    assert len(economy.network.checkouts) == 1


async def test_documents_that_cannot_be_read_leave_what_was_kept(
    read_from_documents: Economy,
) -> None:
    economy = read_from_documents
    await economy.top_up.catalogue.read()
    economy.offers = Offers((), is_whole=False)

    with pytest.raises(NetworkError, match="could not be read"):
        await economy.top_up.catalogue.read()

    assert len(economy.top_up.catalogue.packs.all()) == 1
