"""The real daemon, over real HTTP, on networks of 70 manners: `make contract-matrix`.

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
MOST_REFUSED = 3 * 3
"""Three dialects may be refused for each of three actions, whatever the tasks."""


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
    [
        ("claim_task", "claim"),
        ("submit_result", "submit"),
        ("complete_task", "complete"),
    ],
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


async def test_a_pinned_dialect_that_is_refused_is_told(tmp_path: Path) -> None:
    row = {"request_format": "camel", "strict": True}
    pinned = {"contract.dialect": "snake"}

    life = await live(row, tmp_path, pinned, until="task.lost")

    assert life.earned == life.booked == 0
    assert life.why_not.startswith("task.lost: 422")
    assert "taskId: Field required" in life.why_not


async def test_a_negotiation_that_may_not_go_on_is_told(tmp_path: Path) -> None:
    row = {"request_format": "wrapped", "strict": True, "error_format": "html"}
    few = {"contract.max_candidates": 2}

    life = await live(row, tmp_path, few, until="network.dialect_exhausted")

    assert life.earned == life.booked == 0
    assert life.why_not.startswith("network.dialect_exhausted (claim): ")


def _cells(row: Combination, life: Life) -> list[str]:
    return [
        row["request_format"],
        "yes" if row["strict"] else "no",
        *(row[name] for name in ("listing_format", "naming", "error_format")),
        *(row[name] for name in ("record_format", "value_format")),
        "yes" if row["empty_answers"] else "no",
        str(life.earned),
        str(life.requests),
        str(life.refused),
        life.why_not,
    ]
