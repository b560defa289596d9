"""All that can happen once in a small run is tried: each crash, stop and fault."""

from dataclasses import replace
from functools import cache
from itertools import count

import pytest
from tests.every import EVERY
from tests.simulation.behaviour import HARDEST, HONEST, NetworkBehaviour
from tests.simulation.faults import FAULTS
from tests.simulation.plan import Chaos, DiskFault, Plan
from tests.simulation.run import RunResult, simulate

HARD = Plan(
    seed=1,
    chaos=Chaos.HARD,
    tasks=1,
    operator_commands=1,
    fault_seconds=60,
    behaviour=HARDEST,
)


@cache
def undisturbed() -> RunResult:
    return simulate(HARD)


@pytest.mark.parametrize(
    ("behaviour", "every"),
    [
        pytest.param(HARDEST, EVERY, marks=pytest.mark.endurance, id="hardest"),
        pytest.param(HONEST, EVERY, marks=pytest.mark.endurance, id="honest"),
        pytest.param(HONEST, 30, id="honest, some"),
    ],
)
def test_a_crash_at_any_point_breaks_no_promise(
    behaviour: NetworkBehaviour, every: int
) -> None:
    plan = replace(HARD, behaviour=behaviour)
    points = simulate(plan).points
    assert points > 30

    for point in range(1, points + 1, every):
        result = simulate(replace(plan, kill_at=frozenset({point})))
        assert result.kills == 1
        assert result.violations == (), f"crash point {point}"


@pytest.mark.parametrize(
    "every", [96, pytest.param(EVERY, marks=pytest.mark.endurance)]
)
@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_a_fault_at_any_request_breaks_no_promise(number: int, every: int) -> None:
    fault = [*FAULTS][number]
    # Each fault begins elsewhere, so that all of them together meet every request.
    for request in range(1 + number % every, undisturbed().requests + 1, every):
        result = simulate(replace(HARD, fault_at={request: fault}))
        assert result.faults[fault] == 1
        assert result.violations == (), f"request {request}"


@pytest.mark.parametrize(
    "every", [24, pytest.param(EVERY, marks=pytest.mark.endurance)]
)
def test_a_stop_at_any_point_breaks_no_promise(every: int) -> None:
    for point in range(1, undisturbed().points + 1, every):
        result = simulate(replace(HARD, stop_at=frozenset({point})))
        assert result.other_events["stops at a point"] == 1
        assert (result.kills, result.violations) == (0, ()), f"point {point}"


@pytest.mark.parametrize(
    "every", [24, pytest.param(EVERY, marks=pytest.mark.endurance)]
)
@pytest.mark.parametrize("fault", [f for f in DiskFault if f is not DiskFault.FULL])
def test_a_disk_that_fails_at_any_commit_loses_nothing(
    fault: DiskFault, every: int
) -> None:
    stops = 0
    for commit in count(1, every):
        result = simulate(replace(HARD, disk_at={commit: fault}))
        assert result.violations == (), f"commit {commit}"
        stops += result.other_events["stops by a failing disk"]
        if not result.other_events[f"disk: {fault}"]:
            break

    assert commit > 10
    assert stops > 0


@pytest.mark.parametrize(
    "commit",
    [12, *(pytest.param(some, marks=pytest.mark.endurance) for some in (4, 40))],
)
def test_a_disk_that_is_full_stops_the_daemon_and_loses_nothing(commit: int) -> None:
    # A few tasks still fit into the pages that the file has; sixty do not.
    full = replace(
        HARD, tasks=60, operator_commands=0, disk_at={commit: DiskFault.FULL}
    )

    result = simulate(replace(full, fault_seconds=1200, behaviour=HONEST))

    assert result.other_events["stops by a failing disk"] == 1
    assert result.violations == ()
    assert result.states == {"completed": 60}
