"""A network that is away for a day, and a daemon that is killed three times meanwhile.

In simulated time: the real daemon and its real journal, seconds instead of a day.
"""

from collections.abc import Callable

import pytest
from tests.simulation.plan import Outage, Plan
from tests.simulation.run import simulate

HOUR = 3600.0
DAY = 24 * HOUR
BEGINS = 10.0
"""By then the first tasks are claimed; their results wait from then on."""
TASKS = 4
"""As many as there are slots, so that each of them is held when the outage begins."""


@pytest.mark.parametrize("fault", ["drop_before", "timeout_after", "unavailable_503"])
def test_every_result_is_delivered_after_a_day_of_outage_and_three_kills(
    fault: str, figure: Callable[[str, object], None]
) -> None:
    outcome = simulate(
        Plan(
            seed=1,
            tasks=TASKS,
            slots=TASKS,
            fault_seconds=DAY + 2 * HOUR,
            outages=(Outage(begins=BEGINS, ends=BEGINS + DAY, fault=fault),),
            kills=(6 * HOUR, 12 * HOUR, 18 * HOUR),
        )
    )

    completed = outcome.states.get("completed", 0)
    figure(f"24 h of {fault}", f"{outcome.kills} kills, {completed} of {TASKS} paid")
    assert outcome.violations == ()
    assert (outcome.kills, outcome.starts) == (3, 4)
    assert outcome.faults[fault] > 10
    assert outcome.states == {"completed": TASKS}
