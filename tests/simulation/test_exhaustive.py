"""All that can happen once in a small world is tried: every crash, every fault."""

from dataclasses import replace

import pytest

from journeyman.simulation import (
    FAULTS,
    HARDEST,
    HONEST,
    Chaos,
    Personality,
    Plan,
    simulate,
)

HARD = Plan(
    seed=1,
    chaos=Chaos.HARD,
    tasks=1,
    errands=1,
    fault_seconds=60,
    personality=HARDEST,
)


@pytest.mark.parametrize("personality", [HARDEST, HONEST], ids=["hardest", "honest"])
def test_a_crash_at_any_point_breaks_no_promise(personality: Personality) -> None:
    world = replace(HARD, personality=personality)
    points = simulate(world).points
    assert points > 30

    for point in range(1, points + 1):
        outcome = simulate(replace(world, kill_at=frozenset({point})))
        assert outcome.kills == 1
        assert outcome.violations == (), f"crash point {point}"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_request_breaks_no_promise(fault: str) -> None:
    for request in range(1, simulate(HARD).requests + 1):
        outcome = simulate(replace(HARD, fault_at={request: fault}))
        assert outcome.faults[fault] == 1
        assert outcome.violations == (), f"request {request}"
