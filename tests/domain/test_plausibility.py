"""Money and addresses of a network are believed only where they can be true."""

import pytest

from journeyman.domain.plausibility import (
    MOST_CREDITS,
    believed_pay,
    doubt_about_balance,
    doubt_about_earning,
    doubt_about_fee,
    doubt_about_page,
)

REMOTE, LOCAL = "https://network.example/api", "http://127.0.0.1:8700"


@pytest.mark.parametrize(
    ("credits_", "listed"), [(0, 5), (5, 5), (50, 5), (3, 0), (MOST_CREDITS, 0)]
)
def test_what_a_task_can_have_earned_is_believed(credits_: int, listed: int) -> None:
    assert doubt_about_earning(credits_, listed) == ""


@pytest.mark.parametrize(
    ("credits_", "listed"),
    [
        (-50, 5),
        (-1, 0),
        (51, 5),
        (MOST_CREDITS + 1, 0),
        (2**53, MOST_CREDITS),
        (-5, -5),
    ],
)
def test_what_no_task_can_have_earned_is_doubted(credits_: int, listed: int) -> None:
    assert str(credits_) in doubt_about_earning(credits_, listed)


@pytest.mark.parametrize(
    ("named", "listed", "risen", "booked", "is_proven"),
    [
        (5, 5, None, 5, True),
        (5, 5, 7, 5, True),
        (50, 5, 50, 50, True),
        (3, 0, 3, 3, True),
        (50, 5, None, 5, False),
        (50, 5, 5, 5, False),
        (3, 5, None, 3, False),
        (3, 0, None, 3, False),
        (5.5, 5, None, 5, False),
        (5.5, 5, 5, 5, True),
        (0.5, 0, None, 0, False),
        (3, -5, None, 3, False),
    ],
)
def test_pay_is_proven_by_two_sources_and_else_booked_up_to_the_listing(
    named: float, listed: int, risen: int | None, booked: int, *, is_proven: bool
) -> None:
    pay = believed_pay(named, listed, risen)

    assert (pay.credits, pay.is_proven) == (booked, is_proven)


@pytest.mark.parametrize("fee", [-1, 6, 0.5])
def test_a_fee_that_cannot_be_booked_is_doubted(fee: float) -> None:
    assert str(fee) in doubt_about_fee(fee, 5)


@pytest.mark.parametrize(
    ("shown", "booked", "is_doubted"),
    [
        (0, 100, False),
        (MOST_CREDITS, 0, False),
        (MOST_CREDITS * 9, MOST_CREDITS, False),
        (-1, 100, True),
        (MOST_CREDITS + 1, 100, True),
        (2**53, MOST_CREDITS, True),
    ],
)
def test_a_balance_is_believed_within_bounds(
    shown: int, booked: int, *, is_doubted: bool
) -> None:
    assert bool(doubt_about_balance(shown, booked)) is is_doubted


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("https://pay.example/c/cs_1?x=%20#top", REMOTE),
        ("HTTPS://pay.example:8443/", REMOTE),
        ("http://127.0.0.1:8700/pay/1", LOCAL),
        ("http://localhost:1/pay", "http://[::1]:8700"),
        ("https://pay.example/c", LOCAL),
    ],
)
def test_a_page_that_may_be_opened(address: str, network: str) -> None:
    assert doubt_about_page(address, network) == ""


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "javascript://pay.example/%0aalert(1)",
        "data:text/html,hello",
        "file:///etc/passwd",
        "ftp://pay.example/",
        "pay.example/c",
        "//pay.example/c",
        "https:///c",
        "http://pay.example/c",
        "http://127.0.0.1:8700/pay",
        "https://localhost/pay",
        "https://me:secret@pay.example/",
        "https://pay.example@evil.example/",
        "https://pay.example\\@evil.example/",
        "https://pay.example/\u202egnp.exe",
        "https://pay.example/\x1b[2J",
        "https://pay.example/a b",
        "https://pay.example/\n",
        "https://p\u0430y.example/",
        "https://pay.example:99999/",
        "https://[pay.example/",
        "https://pay.example/" + "x" * 3_000,
        "",
    ],
)
def test_a_page_that_nobody_should_open(address: str) -> None:
    assert doubt_about_page(address, REMOTE) != ""
