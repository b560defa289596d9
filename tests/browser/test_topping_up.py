"""A daemon runs low and asks; a person opens the page, and pays or does not."""

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from journeyman.control.client import ControlClient
from journeyman.control.verbs import STATUS
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import NotRunningError
from journeyman.journal.directory import DataDirectory

PACK = 500
LOW = (
    *("--set", "topup.mode=auto", "--set", "schedule.topup_check_every_seconds=1"),
    # It is short of credits at once, and no longer when a pack has arrived.
    *("--set", "topup.below_credits=450", "--set", "topup.target_credits=450"),
    *("--slots", "1", "--discover-every", "1"),
)
PATIENCE, PAUSE = 120.0, 200.0
"""Seconds, reached only by what never happens, and milliseconds between two looks."""
# Real processes start and stop, and earn credits in between.
pytestmark = pytest.mark.timeout(300)


@dataclass
class Life:
    """A daemon that works in a sandbox of its own, and the people around it."""

    network: httpx.Client
    directory: Path
    window: BrowserContext
    blank: Page

    def told(self, *words: str) -> Any:  # noqa: ANN401 - what the command answers
        done = subprocess.run(  # noqa: S603 - ourselves
            (*_journeyman(*words), "--json", "--data-dir", str(self.directory)),
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    def status(self) -> dict[str, Any]:
        daemon = ControlClient(DataDirectory(self.directory).control_socket)
        try:
            return daemon.call(STATUS)
        except NotRunningError:
            return {"open_top_ups": [], "ledger": {}, "tasks": {}}

    def until(self, is_so: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Wait until the status is as it should be; return it."""
        clock, status = SystemClock(), self.status()
        ends = clock.monotonic() + PATIENCE
        while clock.monotonic() < ends:
            status = self.status()
            if is_so(status):
                return status
            self.blank.wait_for_timeout(PAUSE)
        pytest.fail(f"it never came to that: {status}")

    def asked(self) -> dict[str, Any]:
        """Wait until the daemon has asked for a page; return its top-up."""
        asked = self.until(lambda now: any(one["url"] for one in now["open_top_ups"]))
        (top_up,) = asked["open_top_ups"]
        return dict(top_up)

    def opens(self, top_up: dict[str, Any]) -> Page:
        page = self.window.new_page()
        page.goto(top_up["url"])
        return page

    def works_on(self) -> dict[str, Any]:
        """Wait until two more tasks are completed, each with a look at the balance."""
        before = self.status()["tasks"].get("completed", 0)
        return self.until(lambda now: now["tasks"].get("completed", 0) >= before + 2)

    def bought(self) -> int:
        """Return the credits that the agent was sold; the books must balance."""
        ledger = self.network.get("/sandbox/ledger").json()
        assert ledger["balanced"]
        bought = {one["agent_id"]: int(one["bought"]) for one in ledger["agents"]}
        return bought[self.status()["agent_id"]]

    def asked_in_all(self) -> list[str]:
        return [one["state"] for one in self.told("topup", "list", "--all")]


def _journeyman(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "journeyman", *words)


@contextlib.contextmanager
def _running(*command: str, **streams: Any) -> Iterator[subprocess.Popen[str]]:  # noqa: ANN401 - as Popen takes them
    with subprocess.Popen(command, text=True, **streams) as process:  # noqa: S603 - ourselves
        try:
            yield process
        finally:
            process.terminate()


@pytest.fixture
def live(browser: Browser) -> Iterator[Callable[..., Life]]:
    """Start a sandbox with some options, and a daemon with some settings."""
    with contextlib.ExitStack() as stack:
        # A socket's path is short, and pytest's folders are not.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))

        def started(options: str = "", *settings: str) -> Life:
            (folder / "sandbox.toml").write_text(f"refill = true\n{options}")
            sandbox = stack.enter_context(
                _running(
                    *_journeyman("sandbox", "--json", "--port", "0", "--tasks", "5"),
                    *("--config", str(folder / "sandbox.toml")),
                    stdout=subprocess.PIPE,
                )
            )
            assert sandbox.stdout is not None
            address = json.loads(sandbox.stdout.readline())["base_url"]
            log = stack.enter_context((folder / "log").open("w"))
            stack.enter_context(
                _running(
                    *_journeyman("run", "--base-url", address, *LOW, *settings),
                    *("--data-dir", str(folder / "agent")),
                    stdout=log,
                    stderr=log,
                )
            )
            network = stack.enter_context(
                httpx.Client(base_url=address, trust_env=False)
            )
            window = stack.enter_context(browser.new_context())
            return Life(network, folder / "agent", window, window.new_page())

        yield started


def test_pay_is_clicked_credits_arrive_once_and_work_goes_on(
    live: Callable[..., Life],
) -> None:
    life = live()
    page = life.opens(life.asked())

    page.get_by_role("button", name="Pay $5.00").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Paid")

    paid = life.until(lambda now: now["ledger"].get("top-up"))
    later = life.works_on()
    assert paid["ledger"]["top-up"] == later["ledger"]["top-up"] == PACK
    assert later["open_top_ups"] == []
    assert "adjustment" not in later["ledger"]
    assert life.bought() == PACK
    assert life.asked_in_all() == ["settled"]


def test_two_clicks_buy_once(live: Callable[..., Life]) -> None:
    life = live()
    page = life.opens(life.asked())

    page.get_by_role("button", name="Pay").dblclick()
    expect(page.get_by_role("heading", level=1)).to_have_text("Paid")

    life.until(lambda now: now["ledger"].get("top-up"))
    later = life.works_on()
    assert later["ledger"]["top-up"] == life.bought() == PACK
    assert "adjustment" not in later["ledger"]


def test_cancel_is_clicked_nothing_is_bought_and_nothing_else_is_asked_for(
    live: Callable[..., Life],
) -> None:
    life = live()
    top_up = life.asked()
    page = life.opens(top_up)

    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cancelled")
    life.told("topup", "cancel", top_up["spend_id"])

    later = life.works_on()
    assert "top-up" not in later["ledger"]
    assert later["open_top_ups"] == []
    assert life.asked_in_all() == ["cancelled"]
    assert life.bought() == 0


def test_a_page_that_has_expired_cannot_be_paid_and_still_counts_against_the_cap(
    live: Callable[..., Life],
) -> None:
    # Long enough for those who fund the market, and pay at once.
    life = live("checkout_hours = 0.0003", "--set", "topup.expires_after_hours=0.001")
    page = life.opens(life.asked())
    heading = page.get_by_role("heading", level=1)

    life.until(lambda _: page.reload() and heading.inner_text() == "Expired")
    expect(page.get_by_role("button")).to_have_count(0)

    life.until(lambda now: not now["open_top_ups"])
    later = life.works_on()
    assert "top-up" not in later["ledger"]
    assert life.asked_in_all() == ["expired"]
    assert life.bought() == 0


def test_a_page_that_is_paid_after_it_was_cancelled_is_booked_once_for_what_it_is(
    live: Callable[..., Life],
) -> None:
    life = live()
    top_up = life.asked()
    life.told("topup", "cancel", top_up["spend_id"])
    page = life.opens(top_up)

    page.get_by_role("button", name="Pay").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Paid")

    life.until(lambda now: now["ledger"].get("top-up"))
    later = life.works_on()
    assert later["ledger"]["top-up"] == life.bought() == PACK
    assert "adjustment" not in later["ledger"]
    assert life.asked_in_all() == ["settled"]
