"""What every strategy owes, and how each breach of it is told."""

# mypy: disable-error-code="mutable-override"
# Narrowing a class attribute is how authors declare.

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from journeyman import Example, Misconfigured, Strategy, Task, param
from journeyman.testing import StrategyNotLoadedError, assert_strategy_conforms

READY = Path(__file__).parents[2] / "strategies"
WELL_BEHAVED = ("count_words", "keywords", "checksum")
"""One for each form and runner; all ready ones are run by their own tests."""

Wants = Callable[..., Any]


@pytest.mark.parametrize("name", WELL_BEHAVED)
def test_a_ready_strategy_conforms(name: str) -> None:
    assert_strategy_conforms(READY / f"{name}.py")


def make(run: Callable[..., Any], **attributes: object) -> type[Strategy]:
    given: dict[str, object] = {"kinds": {"odd"}, "run": run, **attributes}
    return type("Odd", (Strategy,), given)


def faults_of(cls: type[Strategy]) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_strategy_conforms(cls)
    return str(caught.value)


async def fine(_self: Strategy, task: Task) -> str:
    return task.text[:10]


async def naive(_self: Strategy, task: Task) -> str:
    return task.text.split()[0]


async def greedy(_self: Strategy, task: Task) -> str:
    if isinstance(task.input, dict):
        task.input.clear()
    return "x"


async def hoarding(_self: Strategy, ctx: Any) -> str:  # noqa: ANN401 - read by its name
    ctx.state["set"] = {1, 2}
    return "x"


async def stubborn(_self: Strategy) -> str:
    try:
        await checkpoint()
    finally:
        if anyio.current_effective_deadline() < 0:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(1.2)
    return "x"


async def unready(_self: Strategy) -> str:
    raise Misconfigured("no key")


def test_one_that_fails_on_odd_texts_is_told_which() -> None:
    told = faults_of(make(naive))

    assert "run fails: on an empty text, in a usual task: IndexError" in told
    assert "on white space only, in a usual task" in told


def test_one_that_changes_its_task_is_told() -> None:
    example = Example({"kind": "odd", "input": {"text": "x"}}, expect="x")

    assert "run changes the task" in faults_of(make(greedy, examples=[example]))


def test_one_that_leaves_no_json_in_its_state_is_told() -> None:
    assert "the state is not valid JSON" in faults_of(make(hoarding))


def test_one_that_cannot_work_is_told_to_be_set_up() -> None:
    assert "no key; pass the parameters that it needs" in faults_of(make(unready))


def test_one_whose_examples_fail_is_told() -> None:
    example = Example({"kind": "odd", "text": "abc"}, expect="z")

    assert "an example fails: number 1: expected 'z', got 'abc'" in faults_of(
        make(fine, examples=[example])
    )


def test_one_that_changes_its_mind_or_raises_in_wants_is_told() -> None:
    turns = itertools.count()

    def moody(_self: Strategy, task: Task) -> bool:
        if not task.text:
            raise ValueError("no text")
        return next(turns) % 2 == 0

    told = faults_of(make(fine, wants=moody))

    assert "wants changes its mind" in told
    assert "wants fails: on an empty text: wants raised ValueError: no text" in told


@pytest.mark.endurance
def test_one_that_goes_on_when_it_is_cancelled_is_told() -> None:
    assert "run continues after it is cancelled" in faults_of(make(stubborn))


def test_one_whose_status_is_no_text_is_told() -> None:
    told = faults_of(make(fine, status=lambda _self: 3))

    assert "status returns neither text nor a JSON object: 3" in told


def test_parameters_are_given_to_it_and_a_broken_one_is_not_loaded() -> None:
    class Keyed(Strategy):
        kinds = {"odd"}  # noqa: RUF012 - the base class says ClassVar
        key: str = param("")

        async def run(self) -> str:
            if not self.key:
                raise Misconfigured("no key")
            return "x"

    assert_strategy_conforms(Keyed, key="k")
    with pytest.raises(StrategyNotLoadedError, match="E108"):
        assert_strategy_conforms(Keyed, lock="k")
