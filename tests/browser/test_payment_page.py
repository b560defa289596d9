"""A person pays, or does not, on the hosted payment page."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

Open = Callable[..., Page]
# `Buyer` lives in conftest.py, which cannot be imported from.
Buyer = Any


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name)


def expect_heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def test_a_click_on_pay_adds_the_credits(open_page: Open, buyer: Buyer) -> None:
    page = open_page(buyer.checkout(product_label="A small pack"))
    expect_heading(page, "A small pack")
    expect(page.locator("main")).to_contain_text(buyer.agent_id)
    assert buyer.balance() == 100

    button(page, "Pay $2.50").click()

    expect_heading(page, "Paid")
    expect(page.locator("main")).to_contain_text("250 credits were added")
    assert buyer.balance() == 350


def test_the_keyboard_alone_pays(open_page: Open, buyer: Buyer) -> None:
    page = open_page(buyer.checkout())

    page.keyboard.press("Tab")
    expect(button(page, "Pay")).to_be_focused()
    page.keyboard.press("Enter")

    expect_heading(page, "Paid")
    assert buyer.balance() == 350


def test_the_keyboard_alone_cancels(open_page: Open, buyer: Buyer) -> None:
    page = open_page(buyer.checkout())

    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(button(page, "Cancel")).to_be_focused()
    page.keyboard.press("Enter")

    expect_heading(page, "Cancelled")
    assert buyer.balance() == 100


def test_going_back_from_a_paid_checkout_offers_no_second_payment(
    open_page: Open, buyer: Buyer
) -> None:
    page = open_page(buyer.checkout())
    button(page, "Pay").click()
    expect_heading(page, "Paid")

    page.go_back()

    expect_heading(page, "Paid")
    expect(page.get_by_role("button")).to_have_count(0)
    assert buyer.balance() == 350


def test_sending_the_payment_again_adds_nothing(open_page: Open, buyer: Buyer) -> None:
    page = open_page(buyer.checkout())
    button(page, "Pay").click()
    expect_heading(page, "Paid")

    page.reload()

    expect(page.locator("main")).to_contain_text("already paid; nothing was changed")
    assert buyer.balance() == 350


def test_paying_in_two_windows_adds_the_credits_once(
    open_page: Open, buyer: Buyer
) -> None:
    address = buyer.checkout()
    first, second = open_page(address), open_page(address)

    button(first, "Pay").click()
    expect_heading(first, "Paid")
    button(second, "Pay").click()

    expect_heading(second, "Paid")
    expect(second.locator("main")).to_contain_text("already paid")
    assert buyer.balance() == 350


def test_an_impatient_double_click_pays_once(open_page: Open, buyer: Buyer) -> None:
    page = open_page(buyer.checkout())

    button(page, "Pay").dblclick()

    expect_heading(page, "Paid")
    assert buyer.balance() == 350


def test_a_click_on_cancel_charges_nothing_for_good(
    open_page: Open, buyer: Buyer
) -> None:
    address = buyer.checkout()
    page, late = open_page(address), open_page(address)

    button(page, "Cancel").click()
    expect_heading(page, "Cancelled")
    button(late, "Pay").click()

    expect_heading(late, "Cancelled")
    expect(late.locator("main")).to_contain_text("already cancelled")
    assert buyer.balance() == 100


def test_a_paid_checkout_cannot_be_cancelled_in_another_window(
    open_page: Open, buyer: Buyer
) -> None:
    address = buyer.checkout()
    page, late = open_page(address), open_page(address)

    button(page, "Pay").click()
    expect_heading(page, "Paid")
    button(late, "Cancel").click()

    expect_heading(late, "Paid")
    expect(late.locator("main")).to_contain_text("already paid")
    assert buyer.balance() == 350


def test_an_unknown_checkout_says_so_and_leads_on(open_page: Open) -> None:
    page = open_page("/checkout/cs_nothing")

    expect_heading(page, "No such checkout")
    page.get_by_role("link", name="About this sandbox").click()

    expect_heading(page, "A sandbox")


@pytest.mark.parametrize(
    "label",
    [
        pytest.param("<script>alert(1)</script>", id="script"),
        pytest.param('"><img src=x onerror=alert(1)>', id="image"),
        pytest.param("</title></h1></main><h1>Paid</h1>", id="end-tags"),
        pytest.param("&lt;b&gt; & {{ 7*7 }}", id="entities"),
    ],
)
def test_a_hostile_label_is_shown_as_the_text_it_is(
    label: str, open_page: Open, buyer: Buyer
) -> None:
    page = open_page(buyer.checkout(product_label=label))
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    page.reload()

    expect_heading(page, label)
    button(page, "Pay").click()

    expect_heading(page, "Paid")
    expect(page.get_by_text(label, exact=True)).to_be_visible()
    assert page.locator("script, img").count() == 0
    assert dialogs == []
