"""A whole daemon on a market to order, with its faults."""

from pathlib import Path

import pytest

from journeyman.testing import StrategyNotLoadedError
from journeyman.testing.market import Market

READY = Path(__file__).parents[2] / "strategies"
COUNT = READY / "count_words.py"


@pytest.fixture
def market(tmp_path: Path) -> Market:
    return Market(tmp_path / "market", root=READY.parent)


def test_a_task_of_the_test_s_own_is_done_and_paid(market: Market) -> None:
    market.post("to be or not", kind="word_count", reward=3)
    market.post("draw a cat", kind="drawing", reward=9)

    report = market.work("strategies/count_words.py")

    assert [task.state for task in report.posted] == ["completed", "skipped"]
    assert report.posted[1].reason == "kind 'drawing' is not wanted"
    assert (report.credits, report.completed, report.open) == (103, 1, 0)


def test_only_the_strategy_under_test_is_at_work(market: Market) -> None:
    market.stock(4, "word_count", "keywords")

    report = market.work(COUNT)

    assert report.completed == 2


def test_what_the_sandbox_stocks_is_judged_by_its_graders(market: Market) -> None:
    market.stock(2, "word_count")
    report = market.work(COUNT)

    ledger = market.ledger()

    assert report.completed == 2
    assert ledger["balanced"] is True
    assert report.credits in [agent["balance"] for agent in ledger["agents"]]


@pytest.mark.parametrize(
    ("fault", "call"),
    [
        ("lost_answer", "submit"),
        ("garbage", "complete"),
        ("429", "claim"),
        ("503", "complete"),
    ],
)
def test_a_fault_costs_nothing_but_time(market: Market, fault: str, call: str) -> None:
    market.stock(2, "word_count")
    market.fail(fault, call)

    report = market.work(COUNT)

    assert (report.completed, report.open) == (2, 0)


def test_a_lost_race_is_one_task_less(market: Market) -> None:
    market.stock(2, "word_count")
    market.fail("409", "claim")

    report = market.work(COUNT)

    assert dict(report.counts) == {"completed": 1, "lost": 1}


@pytest.mark.endurance
def test_work_goes_on_where_it_ended(market: Market) -> None:
    market.post("a b", kind="word_count", reward=2)
    market.work(COUNT)
    market.post("c", kind="word_count", reward=1)

    assert market.work(COUNT).credits == 103


def test_a_slip_in_a_test_s_words_is_answered_at_once(market: Market) -> None:
    with pytest.raises(ValueError, match="no fault 'lost'; use one of lost_request"):
        market.fail("lost", "claim")
    with pytest.raises(ValueError, match="no call 'claims'"):
        market.fail("429", "claims")
    with pytest.raises(StrategyNotLoadedError, match="there is no strategy at"):
        market.work("strategies/gone.py")
