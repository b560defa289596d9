"""Four rows of the matrix; `make contract-matrix` runs all of it.

Here, since the formats of the sandbox matter only if a daemon meets them.
"""

from pathlib import Path

import pytest
from tests.contract_matrix.combinations import FACTORS, Combination
from tests.contract_matrix.living import TASKS, live

pytestmark = pytest.mark.endurance

PLAIN: Combination = {factor: values[0] for factor, values in FACTORS.items()}
ACTIONS = 3


@pytest.mark.parametrize(
    ("row", "most_refused"),
    [
        pytest.param({}, 0, id="the default"),
        pytest.param(
            {
                "request_format": "camel",
                "listing_format": "nested",
                "error_format": "supabase",
            },
            2 * ACTIONS,
            id="camel",
        ),
        pytest.param(
            {
                "request_format": "id-only",
                "error_format": "html",
                "empty_answers": True,
            },
            3 * ACTIONS,
            id="id-only",
        ),
        pytest.param(
            {
                "request_format": "wrapped",
                "error_format": "problem-json",
                "naming": "pascal",
            },
            3 * ACTIONS,
            id="wrapped",
        ),
    ],
)
async def test_a_daemon_earns_on_a_strict_network_that_it_has_never_seen(
    row: Combination, most_refused: int, tmp_path: Path
) -> None:
    life = await live({**PLAIN, "strict": True, **row}, tmp_path)

    assert (life.completed, life.why_not) == (TASKS, "")
    assert life.earned == life.booked > 0
    assert life.refused <= most_refused
