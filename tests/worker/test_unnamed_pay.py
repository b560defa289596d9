"""Pay is booked under whatever name it has, where the balance beside it proves it."""

from dataclasses import replace

import pytest
from tests.worker.conftest import UNKNOWN, Loop, MakeLoop, ScriptedMarket, task

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON, Task
from journeyman.journal.ledger import Confidence
from journeyman.network.answers import Receipt


def listed(number: int, **raw: JSON) -> Task:
    """Return a task of which no reward was understood."""
    return replace(task(f"t{number}", reward=0), raw={"lfd_Nr": number, **raw})


def says(**shown: JSON) -> Confirmed[Receipt]:
    given = {f"complete.{name}": value for name, value in shown.items()}
    return Confirmed(Receipt(given=given))


async def test_what_makes_the_balance_what_it_is_was_paid(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [says(Gutschrift=9, KontoStand=109)]

    await loop.work(listed(1, Verguetung=9))

    (entry,) = (e for e in loop.journal.ledger.recent(9) if e.key == "earned:t1")
    assert (entry.amount, entry.confidence) == (9, Confidence.CLAIMED)
    assert loop.journal.ledger.balance() == 109


async def test_pay_that_the_answer_to_the_result_shows_is_booked_in_the_end(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [
        Confirmed(Receipt(given={"submit.bodova": pay, "submit.stanje": after}))
        for pay, after in ((9, 109), (4, 200))
    ]

    await loop.work(listed(1, naknada=9))
    await loop.work(listed(2, naknada=4))

    assert loop.journal.ledger.balance() == 113


async def test_a_mainframe_fills_its_amounts_up_and_a_code_is_none(
    loop: Loop, market: ScriptedMarket
) -> None:
    shown: dict[str, JSON] = {"STATCD": "9", "CRAMT": "0009", "CRBAL": "0000109"}
    market.script["complete"] = [says(**shown)]

    await loop.work(listed(1, CRAMT="0000009"))

    assert loop.journal.ledger.balance() == 109


async def test_its_name_is_known_from_then_on_and_after_a_start(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop()
    market.script["complete"] = [
        says(Gutschrift=9, KontoStand=109),
        says(Gutschrift=4, KontoStand=900),
        says(Gutschrift=5, KontoStand=118),
    ]

    await loop.work(listed(1, Verguetung=9))
    await loop.work(listed(2, Verguetung=4))
    restarted = make_loop()
    await restarted.work(listed(3, Verguetung=5))

    assert restarted.journal.ledger.balance() == 118


async def test_an_answer_that_was_lost_is_booked_when_it_is_given_again(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [
        says(Gutschrift=9, KontoStand=109),
        UNKNOWN,
        says(Gutschrift=4, KontoStand=113),
    ]

    await loop.work(listed(1, Verguetung=9))
    await loop.work(listed(2, Verguetung=4))
    loop.clock.advance(3600)
    await loop.work()

    assert loop.journal.ledger.balance() == 113


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        pytest.param({"Blatt": 7}, {"Gutschrift": 9, "Stand": 109}, id="not listed"),
        pytest.param({"Lohn": 9}, {"Gutschrift": 9, "Stand": 108}, id="no sum"),
        pytest.param({"Lohn": 7}, {"id": 7, "nummer_id": 107}, id="identifiers"),
        pytest.param(
            {"Lohn": 9, "Blatt": 9}, {"Gutschrift": 9, "Stand": 109}, id="two meanings"
        ),
    ],
)
async def test_nothing_is_booked_on_less_evidence(
    loop: Loop,
    market: ScriptedMarket,
    raw: dict[str, JSON],
    shown: dict[str, JSON],
) -> None:
    market.script["complete"] = [says(**shown)]

    await loop.work(listed(1, **raw))

    assert loop.journal.ledger.balance() == 100
