"""What a run reports to have cost arrives from wherever it runs."""

from pathlib import Path

import pytest

from journeyman.testing import FakeAgent, task

SPENDER = """
from journeyman import Strategy


class Spender(Strategy):
    kinds = {{"work"}}
    runner = {runner!r}

    {form} run(self, task, ctx):
        ctx.report_cost(0.25, "tokens")
        ctx.report_cost(1, "a fee")
        {then}
        return "done"
"""


def spender(
    folder: Path, runner: str = "loop", then: str = "pass", form: str = "def"
) -> Path:
    path = folder / "spender.py"
    path.write_text(SPENDER.format(runner=runner, then=then, form=form))
    return path


@pytest.mark.parametrize(
    ("runner", "form"), [("loop", "async def"), ("thread", "def"), ("process", "def")]
)
def test_costs_are_told_from_every_runner(
    agent: FakeAgent, tmp_path: Path, runner: str, form: str
) -> None:
    run = agent.run(spender(tmp_path, runner, form=form), task(kind="work"))

    assert (run.outcome, run.cost) == ("completed", 1.25)


@pytest.mark.parametrize(
    ("runner", "form"), [("loop", "async def"), ("process", "def")]
)
def test_a_run_that_fails_has_cost_what_it_cost(
    agent: FakeAgent, tmp_path: Path, runner: str, form: str
) -> None:
    path = spender(tmp_path, runner, "raise ZeroDivisionError", form)

    run = agent.run(path, task(kind="work"))

    assert (run.outcome, run.cost) == ("failed", 1.25)


@pytest.mark.parametrize("cost", ["-1", "float('nan')", "float('inf')", "10**30"])
def test_a_cost_that_is_none_is_refused_where_it_is_written(
    agent: FakeAgent, tmp_path: Path, cost: str
) -> None:
    path = spender(tmp_path, then=f"ctx.report_cost({cost})", form="async def")

    run = agent.run(path, task(kind="work"))

    assert (run.outcome, run.cost) == ("failed", 1.25)
    assert "give credits, 0 to 1,000,000" in run.reason


def test_costs_by_the_thousand_are_to_be_added_up(
    agent: FakeAgent, tmp_path: Path
) -> None:
    flood = "[ctx.report_cost(0.001) for _ in range(2_000)]"

    run = agent.run(spender(tmp_path, "process", flood), task(kind="work"))

    assert run.outcome == "failed"
    assert run.cost == pytest.approx(1.25 + 0.998)
    assert "add small costs up" in run.reason
