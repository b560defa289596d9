"""A sandbox as a real process, agents that buy there, and a real Chromium.

These tests run apart from the others, by `make browser`: Chromium comes from the
system, and Playwright's own event loop would be in the way of asynchronous tests.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

NO_CHROMIUM = """\
These tests need Chromium, and none was found.
Install it (on Debian: apt-get install chromium), or name one: CHROMIUM=/path/to/it\
"""
# Chromium's own sandbox refuses to run as root, and nothing here may call a host.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


# A busy machine takes its time, and what never comes is told all the same.
expect.set_options(timeout=60_000)


@dataclass(frozen=True)
class Buyer:
    """An agent with 100 starter credits, that asks for checkouts."""

    agent_id: str
    network: httpx.Client

    def checkout(self, **changes: object) -> str:
        """Ask for 250 credits; gives the address of the payment page."""
        order = {
            "plan": "credit_pack",
            "agent_id": self.agent_id,
            "price_id": "price_custom",
            "requested_credits": 250,
            "amount_cents": 250,
            **changes,
        }
        answer = self.network.post("/functions/v1/create-checkout", json=order)
        return str(answer.raise_for_status().json()["url"])

    def balance(self) -> int:
        """Look the agent up in the sandbox's ledger, which must balance."""
        ledger: dict[str, Any] = self.network.get("/sandbox/ledger").json()
        assert ledger["balanced"]
        return next(
            int(one["balance"])
            for one in ledger["agents"]
            if one["agent_id"] == self.agent_id
        )


@pytest.fixture(scope="session")
def sandbox() -> Iterator[str]:
    """Start a sandbox, which stops when its stdin is closed; gives its address."""
    command = [sys.executable, "-m", "journeyman", "sandbox", "--json", "--port", "0"]
    with subprocess.Popen(  # noqa: S603 - the command is written in this file
        [*command, "--until-stdin-closes"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield str(json.loads(process.stdout.readline())["base_url"])


@pytest.fixture
def buyer(sandbox: str) -> Iterator[Buyer]:
    with httpx.Client(base_url=sandbox, trust_env=False) as network:
        joined = network.post("/functions/v1/create-free-agent-public", json={})
        yield Buyer(joined.raise_for_status().json()["agent_id"], network)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.fail(NO_CHROMIUM, pytrace=False)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Browser, sandbox: str) -> Iterator[Callable[..., Page]]:
    """Open pages, each in a window of its own; none may ask another host."""
    requested: list[str] = []
    windows = []

    def opened(address: str, **window: Any) -> Page:  # noqa: ANN401 - as new_context
        context = browser.new_context(base_url=sandbox, **window)
        context.on("request", lambda request: requested.append(request.url))
        windows.append(context)
        page = context.new_page()
        page.goto(address)
        return page

    yield opened
    for context in windows:
        context.close()
    assert [url for url in requested if not url.startswith(sandbox)] == []
