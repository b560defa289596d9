"""Running the examples that a strategy carries: no network, no credits, no clock."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from journeyman.strategies.api import BudgetView, Context, Decline, Example
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.registry import Registry
from journeyman.strategies.runners import (
    Crashed,
    Declined,
    Ended,
    Finished,
    Runner,
)

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""What `ctx.now` says in an example, so that it answers the same on every day."""
TIMEOUT_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class ExampleOutcome:
    """How one example went."""

    number: int
    """From 1."""
    example: Example
    passed: bool
    message: str
    """What went wrong; "ok" otherwise."""


def check_examples(loaded: Loaded) -> list[ExampleOutcome]:
    """Run a strategy's examples, from a thread that runs no event loop."""
    return anyio.run(run_examples, loaded)


async def run_examples(loaded: Loaded) -> list[ExampleOutcome]:
    """Run a strategy's examples, each as a task of its own: first `wants`, then `run`.

    They run in its own runner; a failed one stops none of the others.
    """
    runner = Runner(_ExampleClock())
    outcomes = []
    for number, example in enumerate(loaded.instance.examples, start=1):
        message = await _run(loaded, runner, example)
        outcomes.append(ExampleOutcome(number, example, message == "ok", message))
    return outcomes


async def _run(loaded: Loaded, runner: Runner, example: Example) -> str:
    choice = Registry([loaded]).choose(example.task)
    if choice.strategy is None:
        return f"wants said no: {choice.reason}"
    with _context(loaded) as context:
        ended = await runner.run(
            loaded, example.task, context, timeout_seconds=TIMEOUT_SECONDS
        )
    return _compare(ended, example)


def _compare(ended: Ended, example: Example) -> str:
    match ended:
        case Finished():
            got: object = ended.result.output
            message = f"got {got!r}"
        case Declined():
            got, message = Decline, f"declined: {ended.reason}"
        case Crashed():
            got, message = ended, f"{ended.error} ({ended.where})"
        case _:
            got, message = ended, str(ended)
    expected = "a Decline" if example.expect is Decline else repr(example.expect)
    return "ok" if got == example.expect else f"expected {expected}, {message}"


@contextmanager
def _context(loaded: Loaded) -> Iterator[Context]:
    with tempfile.TemporaryDirectory(prefix="journeyman-example-") as folder:
        yield Context(
            strategy=loaded.name,
            log=_Silence(),
            state={},
            now=lambda: NOW,
            deadline=None,
            workspace=partial(Path, folder),
            progress=lambda _fraction, _note: None,
            budget=BudgetView(),
            cancelled=lambda: False,
        )


class _Silence:
    """A log that nobody reads."""

    def debug(self, event: str, /, **fields: object) -> None: ...
    def info(self, event: str, /, **fields: object) -> None: ...
    def warning(self, event: str, /, **fields: object) -> None: ...
    def error(self, event: str, /, **fields: object) -> None: ...


class _ExampleClock:
    """Stands still: how long an example takes is of no interest."""

    def monotonic(self) -> float:
        return 0.0

    def now(self) -> datetime:
        return NOW

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)
