"""The owner watches a daemon in Chromium, and steers it: no page is loaded twice."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

Open = Callable[..., Page]
PAGES = ("/", "/tasks", "/strategies", "/log")
PICTURES = os.environ.get("PICTURES")
"""Where `make picture` wants the pictures of the README; else they are only tried."""
LARGEST_PICTURE = 200_000
UNTIL_IT_EARNS = 60_000
"""In milliseconds; a busy machine takes its time."""
READ_FAINT_TEXTS = """
() => {
  const canvas = document.createElement("canvas").getContext("2d");
  const pixel = (...colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => rgb.map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, index) => sum + one * [0.2126, 0.7152, 0.0722][index], 0);
  return [...document.querySelectorAll("body, body *:not(script, svg, svg *, option)")]
    .filter((element) => element.checkVisibility() && [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
    .map((element) => {
      const grounds = [];
      for (let each = element; each; each = each.parentElement) {
        grounds.unshift(getComputedStyle(each).backgroundColor);
      }
      const ground = pixel("white", ...grounds);
      const ink = pixel("white", ...grounds, getComputedStyle(element).color);
      const [low, high] = [luminance(ground), luminance(ink)].sort((a, b) => a - b);
      return [element.textContent.trim(), (high + 0.05) / (low + 0.05)];
    })
    .filter(([, contrast]) => contrast < 4.5);
}
"""
"""WCAG 2.2, success criterion 1.4.3."""


@contextmanager
def daemon_with_a_page(folder: Path) -> Iterator[str]:
    """Run a daemon on a sandbox of its own; yield the address of its page."""
    log = folder / "log"
    command = [
        sys.executable,
        "-m",
        "journeyman",
        "run",
        "--sandbox",
        "--web",
        "--json",
    ]
    options = ["--set", "web.port=0", "--data-dir", str(folder / "data")]
    with (
        log.open("w") as output,
        subprocess.Popen(  # noqa: S603 - the command is written in this file
            [*command, *options, "--until-stdin-closes"],
            stdin=subprocess.PIPE,
            stdout=output,
            cwd=folder,
        ) as process,
    ):
        yield _address_in(log)
        assert process.stdin is not None
        process.stdin.close()


def _address_in(log: Path) -> str:
    deadline = time.monotonic() + UNTIL_IT_EARNS / 1000  # noqa: TID251 - a real process
    while time.monotonic() < deadline:  # noqa: TID251 - as above
        for line in log.read_text().splitlines():
            if '"event":"web.started"' in line and line.endswith("}"):
                return str(json.loads(line)["address"]).rstrip("/")
        time.sleep(0.05)  # noqa: TID251 - as above
    pytest.fail(f"no page was served:\n{log.read_text()}")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with daemon_with_a_page(tmp_path_factory.mktemp("watched")) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Open]:
    """Open pages; none may ask another host, or be told an error by the browser."""
    requested, complaints, windows = [], [], []

    def opened(path: str, **window: Any) -> Page:  # noqa: ANN401 - as new_context
        context = browser.new_context(base_url=address, **window)
        context.on("request", lambda request: requested.append(request.url))
        windows.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: complaints.append(said.text) if said.type == "error" else None,
        )
        page.goto(path)
        return page

    yield opened
    for context in windows:
        context.close()
    assert [url for url in requested if not url.startswith(address)] == []
    assert complaints == []


def number(page: Page, stage: str) -> int:
    """Return how many tasks are at a stage, as the page shows it."""
    text = page.locator(f".stages li:has-text('{stage}') b").inner_text()
    return int(text.replace(",", ""))


def earned(page: Page) -> Page:
    """Wait until some tasks were paid."""
    stage = page.locator(".stages li:has-text('completed') b")
    expect(stage).not_to_have_text("0", timeout=UNTIL_IT_EARNS)
    return page


def test_a_task_is_watched_until_it_is_paid(visit: Open) -> None:
    page = earned(visit("/"))
    page.evaluate("window.wasLoadedOnce = true")
    before = page.locator(".huge").inner_text()

    expect(page.locator(".huge")).not_to_have_text(before, timeout=UNTIL_IT_EARNS)
    assert page.evaluate("window.wasLoadedOnce")

    page.goto("/tasks?stage=completed")
    link = page.locator(".tasks-list a").first
    link.hover()
    title = link.inner_text()
    link.click()

    expect(page.get_by_role("heading", level=2)).to_have_text(title)
    for step in ("seen", "wanted", "claimed", "submitted", "paid", "completed"):
        expect(page.locator(f".story b:text-is('{step}')")).to_be_visible()


def test_a_list_stands_still_under_the_pointer_until_it_leaves(visit: Open) -> None:
    earned(visit("/"))
    aimed_at, other = (visit("/tasks").locator("#tasks") for _ in range(2))
    aimed_at.locator(".tasks-list a").first.hover()
    shown = aimed_at.inner_text()
    for _ in range(2):  # what is seen twice there, was sent here
        expect(other).not_to_have_text(other.inner_text(), timeout=UNTIL_IT_EARNS)

    assert aimed_at.inner_text() == shown

    aimed_at.page.mouse.move(0, 0)
    expect(aimed_at).not_to_have_text(shown, timeout=UNTIL_IT_EARNS)


def test_it_is_paused_with_a_reason_and_resumed(visit: Open) -> None:
    page = visit("/")
    page.evaluate("window.wasLoadedOnce = true")

    page.locator("summary", has_text="Pause").click()
    page.get_by_label("Why (optional)").fill("a look at the accounts")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".state")).to_contain_text("Paused")
    expect(page.locator(".causes")).to_contain_text("a look at the accounts")

    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".state")).to_contain_text("Working")
    assert page.evaluate("window.wasLoadedOnce")


def test_a_strategy_is_disabled_and_enabled(visit: Open) -> None:
    page = visit("/strategies")
    card = page.locator("#strategy-keywords")

    card.get_by_role("button", name="Disable keywords").click()
    expect(card.locator(".chip")).to_have_text("disabled")
    expect(page.get_by_role("status").last).to_contain_text("Disabled keywords")

    card.get_by_role("button", name="Enable keywords").click()
    expect(card.locator(".chip")).to_have_text("active")


def test_the_keyboard_alone_opens_and_closes_a_menu(visit: Open) -> None:
    page = visit("/")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    expect(page.locator(":focus")).to_have_css("outline-style", "solid")

    page.locator("#menu-more summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Stop now")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")

    expect(page.get_by_role("button", name="Stop now")).to_be_hidden()
    expect(page.locator(":focus")).to_have_text("More")


def test_without_a_script_everything_is_shown_and_works(visit: Open) -> None:
    page = visit("/strategies", java_script_enabled=False)

    page.get_by_role("button", name="Disable links").click()

    card = page.locator("#strategy-links")
    expect(card.locator(".chip")).to_have_text("disabled")
    card.get_by_role("button", name="Enable links").click()
    expect(card.locator(".chip")).to_have_text("active")


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_and_nothing_is_wider_than_the_screen(
    visit: Open, scheme: Literal["light", "dark"], path: str
) -> None:
    screen = {"width": 320, "height": 700}
    page = visit(path, color_scheme=scheme, viewport=screen)

    assert page.evaluate(READ_FAINT_TEXTS) == []
    assert page.evaluate("document.documentElement.scrollWidth") == screen["width"]
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page).to_have_title(re.compile(r"\w{3}.* · Journeyman"))


def test_another_site_cannot_show_the_page_in_a_frame(
    browser: Browser, address: str
) -> None:
    page = browser.new_page()
    page.goto("about:blank")

    page.set_content(f"<iframe src='{address}/'></iframe>")

    page.frames[1].wait_for_url("chrome-error://**")
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_picture_of_the_overview_is_small_enough_for_the_readme(
    visit: Open, tmp_path: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    page = visit("/", color_scheme=scheme, viewport={"width": width, "height": 844})
    earned(page)
    # Highlights of what is new are over in a picture.
    page.emulate_media(reduced_motion="reduce")
    picture = Path(PICTURES or tmp_path) / f"page-{scheme}.png"

    page.screenshot(path=picture, animations="disabled")

    assert 5_000 < picture.stat().st_size < LARGEST_PICTURE


def test_a_stop_ends_the_daemon_and_the_page_tells_it(
    browser: Browser, tmp_path: Path
) -> None:
    with daemon_with_a_page(tmp_path) as address:
        page = browser.new_page(base_url=address)
        page.goto("/")
        page.locator("#menu-more summary").click()
        page.get_by_role("button", name="Stop now").click()

        expect(page.get_by_role("alert")).to_contain_text("does not answer")
        page.close()
