"""What choosing well is worth, on a market with several times more work than slots."""

import pytest
from tests.simulation.trial import ORDERS, Earnings, draw_market, try_order

pytestmark = pytest.mark.endurance

HOURS = 0.5


@pytest.fixture(scope="module")
def earnings() -> dict[str, Earnings]:
    offers = draw_market(3, HOURS)
    return {order: try_order(order, offers, hours=HOURS) for order in ORDERS}


def test_the_expected_order_earns_much_more_than_the_order_of_appearance(
    earnings: dict[str, Earnings],
) -> None:
    assert earnings["expected"].credits >= 1.3 * earnings["first"].credits


def test_the_expected_order_earns_more_than_taking_the_best_paid(
    earnings: dict[str, Earnings],
) -> None:
    assert earnings["expected"].credits > earnings["reward"].credits


def test_it_comes_near_one_who_knows_how_every_task_will_end(
    earnings: dict[str, Earnings],
) -> None:
    # On six such markets it was 0.79 to 1.02 of that, and 0.90 on the average.
    assert earnings["expected"].credits >= 0.8 * earnings["clairvoyant"].credits


def test_what_was_expected_is_kept_beside_what_came(
    earnings: dict[str, Earnings],
) -> None:
    records = earnings["expected"].records.values()

    judged = sum(record.tasks for record in records)
    expected = sum(record.expected_credits for record in records)
    came = sum(record.credits for record in records)
    assert judged >= earnings["expected"].tasks
    assert 0.5 * came < expected < 1.5 * came


def test_the_same_market_worked_twice_earns_the_same() -> None:
    offers = draw_market(1, 0.2)

    once, twice = (try_order("expected", offers, hours=0.2) for _ in range(2))

    assert once == twice
