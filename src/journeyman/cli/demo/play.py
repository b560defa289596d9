"""Plays the demo: starts both processes, watches, asks, compares, stops."""

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2 as httpx
from anyio.abc import Process

from journeyman.cli.demo.agent import ControlRequests, DemoDirectory
from journeyman.cli.demo.summary import Summary, summarise
from journeyman.cli.demo.view import View
from journeyman.cli.processes import child, sandbox
from journeyman.control.client import ControlClient
from journeyman.domain.errors import JourneymanError, NetworkError, TimedOutError

LOOK_SECONDS = 0.2
OPEN_TASKS = 40
"""How many the sandbox offers at all times."""
PATIENCE_SECONDS = 120.0
PATIENCE_PER_TASK_SECONDS = 3.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """How large a demo."""

    tasks: int
    """It ends when so many have ended."""
    slots: int
    seed: int
    competitors: int
    latency_seconds: float
    """The sandbox answers this much later, so that a person can watch."""

    @property
    def patience_seconds(self) -> float:
        """How long it may take before something must be wrong."""
        return PATIENCE_SECONDS + self.tasks * PATIENCE_PER_TASK_SECONDS


async def play(
    plan: Plan,
    directory: DemoDirectory,
    view: View,
    errands: ControlRequests,
) -> Summary:
    """Run a sandbox and a daemon until the daemon has ended; stop both in any case.

    Raises:
        JourneymanError: a process did not start, or the daemon never ended.
    """
    async with sandbox(_offer(plan, directory), directory.sandbox_log) as base_url:
        directory.configure(base_url, plan.slots)
        async with child(
            _work(plan, directory),
            directory.daemon_log,
            _clean_environment(),
        ) as daemon:
            with anyio.move_on_after(plan.patience_seconds) as waiting, view:
                await _watch(daemon, directory, view, errands)
            if waiting.cancelled_caught:
                raise TimedOutError(
                    f"the daemon was not done after {plan.patience_seconds:.0f} s",
                    f"Its log is {directory.daemon_log}.",
                )
            exit_code = await daemon.wait()
        if not directory.data.journal.exists():
            raise _never_worked(directory, exit_code)
        books = await _books(base_url)
    return summarise(directory, books, errands, exit_code)


def _offer(plan: Plan, directory: DemoDirectory) -> list[str]:
    arguments = ["--port", "0", "--data", str(directory.sandbox_data), "--refill"]
    arguments += ["--tasks", str(OPEN_TASKS), "--seed", str(plan.seed)]
    arguments += ["--competitors", str(plan.competitors)]
    return [*arguments, "--latency", str(plan.latency_seconds)]


def _work(plan: Plan, directory: DemoDirectory) -> list[str]:
    arguments = ["run", "--config", str(directory.config)]
    return [*arguments, "--max-tasks", str(plan.tasks), "--log-format", "json"]


def _clean_environment() -> dict[str, str]:
    """Keep settings that are meant for a real daemon away from the demo's."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("JOURNEYMAN_")
    }


async def _watch(
    daemon: Process,
    directory: DemoDirectory,
    view: View,
    errands: ControlRequests,
) -> None:
    with ControlClient(directory.data.control_socket) as client:
        while daemon.returncode is None:
            # It may not have joined yet, or be just leaving.
            with suppress(JourneymanError):
                status = client.status()
                errands.run_next(client)
                view.show(status, errands)
            await anyio.sleep(LOOK_SECONDS)


async def _books(base_url: str) -> dict[str, Any]:
    try:
        async with httpx.AsyncClient(base_url=base_url, trust_env=False) as client:
            response = await client.get("/sandbox/ledger")
            return dict(response.raise_for_status().json())
    except (httpx.HTTPError, ValueError) as error:
        raise NetworkError(f"the sandbox's books could not be read: {error}") from error


def _never_worked(directory: DemoDirectory, exit_code: int) -> JourneymanError:
    lines = directory.daemon_log.read_text(errors="replace").splitlines()
    return JourneymanError(
        f"the daemon ended at once, with exit code {exit_code}",
        "\n".join(["Its last words:", *lines[-5:]]),
    )
