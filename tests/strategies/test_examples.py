"""`journeyman check` runs the examples that a strategy carries."""

from collections.abc import Callable

import anyio

from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.running.dry_run import run_examples

SOURCE = """
    from journeyman import Decline, Example, strategy

    @strategy(tags={"n"}, inputs={"n": int}, examples=[
        Example({"tags": ["n"], "input": {"n": 4}}, expect=2),
        Example({"tags": ["n"], "input": {"n": 4}}, expect=3),
        Example({"tags": ["n"], "input": {"n": -1}}, expect=Decline),
        Example({"tags": ["n"], "input": {"n": 4}}, expect=Decline),
        Example({"tags": ["n"], "input": {"n": -1}}, expect=0),
        Example({"tags": ["n"], "input": {"n": 0}}, expect=0),
        Example({"tags": ["m"]}, expect=0),
    ])
    def half(n, ctx):
        if n < 0:
            raise Decline("negative")
        ctx.workspace.joinpath("note").write_text(str(ctx.now))
        ctx.log.info("halving")
        return n // 2 if n else [][0]
"""
MESSAGES = [
    "ok",
    "expected 3, got 2",
    "ok",
    "expected a Decline, got 2",
    "expected 0, declined: negative",
    "expected 0, IndexError: list index out of range (strategies/mine.py:18 in half)",
    "wants said no: tag 'n' missing",
]


def test_each_example_is_answered_with_what_was_expected_and_what_came(
    load_file: Callable[..., LoadedStrategy],
) -> None:
    outcomes = anyio.run(run_examples, load_file(SOURCE))

    assert [outcome.message for outcome in outcomes] == MESSAGES
    assert [outcome.number for outcome in outcomes if outcome.passed] == [1, 3]


async def test_examples_can_be_run_by_a_running_daemon(
    load_file: Callable[..., LoadedStrategy],
) -> None:
    outcomes = await run_examples(load_file(SOURCE))

    assert [outcome.message for outcome in outcomes] == MESSAGES
