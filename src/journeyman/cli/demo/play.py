"""Run a demo: start a sandbox and a daemon, watch, compare their ledgers, stop both."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2 as httpx
from anyio.abc import Process

from journeyman.cli.demo.summary import DemoDirectory, DemoSummary, summarise
from journeyman.cli.demo.view import SilentView
from journeyman.cli.processes import child_process, sandbox
from journeyman.control import verbs
from journeyman.control.client import ControlClient
from journeyman.domain.errors import JourneymanError, NetworkError, TimedOutError
from journeyman.domain.tasks import JSON

POLL_SECONDS = 0.2
NO_MODEL = {"JOURNEYMAN_STRATEGIES__DISABLED": "ask_llm"}
OPEN_TASKS = 40
"""How many the sandbox offers at all times."""
TIMEOUT_SECONDS = 120.0
TIMEOUT_PER_TASK_SECONDS = 3.0
TASK = verbs.PostRequest(
    title="Say in one sentence what an agent network is",
    description="Answer with one English sentence of at most 30 words.",
    reward=5,
    kind="writing",
    tags=("text", "writing"),
)
TOP_UP = verbs.TopUpRequest(credits=200)


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoPlan:
    """How large a demo is."""

    tasks: int
    """How many tasks must have ended."""
    slots: int
    seed: int
    competitors: int
    latency_seconds: float
    """The sandbox answers this much later, so that a person can watch."""

    @property
    def timeout_seconds(self) -> float:
        """How long it may take before something must be wrong."""
        return TIMEOUT_SECONDS + self.tasks * TIMEOUT_PER_TASK_SECONDS


@dataclass(kw_only=True, slots=True)
class OwnerRequests:
    """What the owner asks of the daemon: to post one task, and to top up once."""

    post: dict[str, JSON] = field(default_factory=dict)
    """The daemon's answer, or `problem`; empty before the request."""
    top_up: dict[str, JSON] = field(default_factory=dict)

    def send_next(self, daemon: ControlClient) -> None:
        """Send one that was not sent yet, if any is left."""
        if not self.post:
            try:
                self.post = daemon.call(verbs.POST, TASK)
            except JourneymanError as error:
                self.post = {"problem": error.problem}
        elif not self.top_up:
            try:
                self.top_up = daemon.call(verbs.TOP_UP, TOP_UP)
            except JourneymanError as error:
                self.top_up = {"problem": error.problem}

    def lines(self) -> list[str]:
        """Return their results, for people."""
        lines = []
        if self.post:
            done = f"posted a task for {TASK.reward} credits"
            lines.append(_result(self.post, done))
        if self.top_up:
            usd = int(str(self.top_up.get("cents", 0))) / 100
            done = f"asked for a payment page for USD {usd:.2f}; nobody has paid it"
            lines.append(_result(self.top_up, done))
            lines += [str(url) for url in [self.top_up.get("url")] if url]
        return lines


def _result(answer: dict[str, JSON], done: str) -> str:
    return f"not done: {answer['problem']}" if "problem" in answer else done


async def play(
    plan: DemoPlan, directory: DemoDirectory, view: SilentView
) -> DemoSummary:
    """Run a sandbox and a daemon until the daemon has ended; stop both in any case.

    Raises:
        JourneymanError: a process did not start, or the daemon did not end.
    """
    requests = OwnerRequests()
    async with sandbox(
        _sandbox_options(plan, directory), directory.sandbox_log
    ) as base_url:
        directory.configure(base_url, plan.slots)
        arguments = ["run", "--config", str(directory.config)]
        arguments += ["--max-tasks", str(plan.tasks), "--log-format", "json"]
        async with child_process(
            arguments, directory.daemon_log, _clean_environment()
        ) as daemon:
            with anyio.move_on_after(plan.timeout_seconds) as waiting, view:
                await _watch(daemon, directory, view, requests)
            if waiting.cancelled_caught:
                raise TimedOutError(
                    f"the daemon was not done after {plan.timeout_seconds:.0f} s",
                    f"Its log is {directory.daemon_log}.",
                )
            exit_code = await daemon.wait()
        if not directory.data.journal.exists():
            raise _never_worked(directory, exit_code)
        sandbox_ledger = await _sandbox_ledger(base_url)
    return summarise(
        directory,
        sandbox_ledger,
        exit_code,
        {"post": requests.post, "top_up": requests.top_up},
        requests.lines(),
    )


def _sandbox_options(plan: DemoPlan, directory: DemoDirectory) -> list[str]:
    options = {
        "--port": 0,
        "--data": directory.sandbox_data,
        "--tasks": OPEN_TASKS,
        "--seed": plan.seed,
        "--competitors": plan.competitors,
        "--latency": plan.latency_seconds,
    }
    pairs = [str(part) for option in options.items() for part in option]
    return [*pairs, "--refill"]


def _clean_environment() -> dict[str, str]:
    """Return the environment without settings that are meant for a real daemon.

    Nor does a demonstration spend its owner's money on a language model.
    """
    others = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("JOURNEYMAN_")
    }
    return others | NO_MODEL


async def _watch(
    daemon: Process, directory: DemoDirectory, view: SilentView, requests: OwnerRequests
) -> None:
    client = ControlClient(directory.data.control_socket)
    while daemon.returncode is None:
        # It may not have joined yet, or be just leaving.
        with suppress(JourneymanError):
            status = client.call(verbs.STATUS)
            requests.send_next(client)
            view.show(status, requests.lines())
        await anyio.sleep(POLL_SECONDS)


async def _sandbox_ledger(base_url: str) -> dict[str, Any]:
    try:
        async with httpx.AsyncClient(base_url=base_url, trust_env=False) as client:
            response = await client.get("/sandbox/ledger")
            return dict(response.raise_for_status().json())
    except (httpx.HTTPError, ValueError) as error:
        raise NetworkError(
            f"the sandbox's ledger could not be read: {error}"
        ) from error


def _never_worked(directory: DemoDirectory, exit_code: int) -> JourneymanError:
    lines = directory.daemon_log.read_text(errors="replace").splitlines()
    return JourneymanError(
        f"the daemon ended at once, with exit code {exit_code}",
        "\n".join(["The end of its log:", *lines[-5:]]),
    )
