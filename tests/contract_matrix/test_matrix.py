"""The real daemon, over real HTTP, on networks of 72 manners: `make contract-matrix`.

It earns on each. Where an action is absent, or no shape of a request may be tried any
more, it says precisely why it cannot.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contract_matrix.combinations import Combination, name_of, pairwise
from tests.contract_matrix.conftest import ROW
from tests.contract_matrix.living import TASKS, Life, live

ROWS = pairwise()
MOST_REFUSED = 3 * 6
"""Six bodies may be refused for each of three actions, whatever the tasks."""


def test_there_are_at_least_60_rows_and_no_two_are_the_same() -> None:
    assert len({name_of(row) for row in ROWS}) == len(ROWS) >= 60


@pytest.mark.parametrize("number", range(len(ROWS)), ids=map(name_of, ROWS))
async def test_it_earns(
    number: int,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    row = ROWS[number]

    life = await live(row, tmp_path)

    record_property(ROW, [f"{number:03d}", *_cells(row, life)])
    assert (life.completed, life.why_not) == (TASKS, "")
    assert life.earned == life.booked > 0
    assert life.refused <= MOST_REFUSED


@pytest.mark.parametrize(
    ("absent", "endpoint"),
    # Without completions, an accepted result is the end: `on-submission` tries that.
    [("claim_task", "claim"), ("submit_result", "submit")],
)
async def test_without_an_action_nothing_is_earned_and_the_log_says_why(
    absent: str, endpoint: str, tmp_path: Path
) -> None:
    row = {"absent_endpoints": (absent,)}

    life = await live(row, tmp_path, until="network.endpoint_absent")

    assert life.earned == life.booked == 0
    assert life.why_not.startswith(f"network.endpoint_absent ({endpoint}): 404")


async def test_without_discovery_the_public_marketplace_is_enough(
    tmp_path: Path,
) -> None:
    life = await live({"absent_endpoints": ("discover_tasks",)}, tmp_path)

    assert life.completed == TASKS
    assert life.earned == life.booked > 0


async def test_an_owners_shape_that_is_refused_is_told(tmp_path: Path) -> None:
    row = {"request_format": "camel", "strict": True}
    own = {"contract.requests": {"claim": {"task_id": "task_id"}}}

    life = await live(row, tmp_path, own, until="task.delayed")

    assert life.earned == life.booked == 0
    assert life.why_not.startswith("task.delayed: 422")
    assert "taskId: Field required" in life.why_not


def _cells(row: Combination, life: Life) -> list[str]:
    return [
        name_of(row),
        str(life.earned),
        str(life.requests),
        str(life.refused),
        life.why_not,
    ]
