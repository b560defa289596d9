"""Running the examples that a strategy carries: no network, no credits, no clock."""

from dataclasses import dataclass

import anyio

from journeyman.domain.tasks import Result
from journeyman.strategies.api import Decline, Example
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome
from journeyman.strategies.running.rehearsal import rehearse


@dataclass(frozen=True, slots=True)
class ExampleOutcome:
    """How one example went."""

    number: int
    """From 1."""
    example: Example
    passed: bool
    message: str
    """What went wrong; "ok" otherwise."""


def check_examples(loaded: LoadedStrategy) -> list[ExampleOutcome]:
    """Run a strategy's examples, from a thread that runs no event loop."""
    return anyio.run(run_examples, loaded)


async def run_examples(loaded: LoadedStrategy) -> list[ExampleOutcome]:
    """Run a strategy's examples, each as a task of its own: first `wants`, then `run`.

    They run in its own runner; a failed one stops none of the others.
    """
    outcomes = []
    for number, example in enumerate(loaded.instance.examples, start=1):
        message = await _run(loaded, example)
        outcomes.append(ExampleOutcome(number, example, message == "ok", message))
    return outcomes


async def _run(loaded: LoadedStrategy, example: Example) -> str:
    rehearsal = await rehearse(loaded, example.task)
    if rehearsal.outcome is None:
        return f"wants said no: {rehearsal.verdict.reason}"
    return _compare(rehearsal.outcome, example)


def _compare(outcome: RunOutcome, example: Example) -> str:
    match outcome:
        case Result():
            got: object = outcome.output
            message = f"got {got!r}"
        case Decline():
            got, message = Decline, f"declined: {outcome}"
        case _:
            got, message = outcome, str(outcome)
    expected = "a Decline" if example.expect is Decline else repr(example.expect)
    return "ok" if got == example.expect else f"expected {expected}, {message}"
