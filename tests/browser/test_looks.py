"""Every page can be read by everybody: small screens, dark rooms, screen readers."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

Open = Callable[..., Page]
# `Buyer` lives in conftest.py, which cannot be imported from.
Buyer = Any

LEAST_CONTRAST = 4.5
"""WCAG 2.2, success criterion 1.4.3, for text of any size."""
NARROWEST = 320
"""In CSS pixels: WCAG 2.2, success criterion 1.4.10."""
READ_TEXTS = """
() => [...document.querySelectorAll("main, main *")]
  .filter(element => [...element.childNodes].some(
    node => node.nodeType === Node.TEXT_NODE && node.data.trim()))
  .map(element => {
    let ground = element;
    const paint = () => getComputedStyle(ground).backgroundColor;
    while (paint() === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
    return [element.textContent, getComputedStyle(element).color, paint()];
  })
"""


@pytest.fixture(params=["home", "agents", "open", "paid", "cancelled", "unknown"])
def address(request: pytest.FixtureRequest, buyer: Buyer) -> str:
    """The address of each page, with a label that is hard to lay out."""
    if request.param == "home":
        return "/"
    if request.param == "agents":
        return "/for-ai-agents.html"
    if request.param == "unknown":
        return "/checkout/cs_nothing"
    checkout = str(buyer.checkout(product_label="Creditscreditscredits" * 8))
    if request.param != "open":
        action = {"paid": "pay", "cancelled": "cancel"}[request.param]
        buyer.network.post(f"{checkout}/{action}").raise_for_status()
    return checkout


def test_a_page_has_a_language_a_title_and_one_heading(
    address: str, open_page: Open
) -> None:
    page = open_page(address)

    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page).to_have_title(re.compile(r"\w{3}"))
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_role("main")).to_have_count(1)


def test_a_page_fits_the_narrowest_screen(address: str, open_page: Open) -> None:
    page = open_page(address, viewport={"width": NARROWEST, "height": 600})

    assert page.evaluate("document.documentElement.scrollWidth") == NARROWEST


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_its_ground(
    scheme: Literal["light", "dark"], address: str, open_page: Open
) -> None:
    page = open_page(address, color_scheme=scheme)

    faint = [
        (text, color, ground)
        for text, color, ground in page.evaluate(READ_TEXTS)
        if contrast(color, ground) < LEAST_CONTRAST
    ]

    assert faint == []


def test_what_has_the_focus_shows_it(open_page: Open, buyer: Buyer) -> None:
    page = open_page(buyer.checkout())

    page.keyboard.press("Tab")

    expect(page.locator(":focus")).to_have_css("outline-style", "solid")


def contrast(one: str, other: str) -> float:
    """The ratio of two CSS colours, 1 to 21, as WCAG 2.2 defines it."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: str) -> float:
    """The relative luminance of `rgb(r, g, b)`, 0 to 1, as WCAG 2.2 defines it."""
    red, green, blue = linear_channels(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def linear_channels(color: str) -> Iterator[float]:
    for digits in re.findall(r"\d+", color)[:3]:
        share = int(digits) / 255
        yield share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
