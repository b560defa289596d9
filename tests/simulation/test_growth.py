"""What posting for growth is worth, on markets where it brings work and where not."""

import pytest
from tests.every import whole_only
from tests.simulation.growth import POLICIES, GrowthEarnings, try_growth

pytestmark = [pytest.mark.endurance, whole_only]

DAYS = 8


def tried(brings: float) -> dict[str, GrowthEarnings]:
    return {
        policy: try_growth(policy, seed=1, days=DAYS, brings=brings)
        for policy in POLICIES
    }


def test_where_posts_bring_nothing_growth_costs_its_trials_alone() -> None:
    earnings = tried(0.0)

    assert earnings["growth"].posts == 5
    assert earnings["always"].net < earnings["growth"].net < earnings["never"].net


def test_where_posts_bring_work_growth_earns_more_than_none() -> None:
    earnings = tried(1.0)

    assert earnings["growth"].posts > 5
    assert earnings["growth"].net > 1.1 * earnings["never"].net
