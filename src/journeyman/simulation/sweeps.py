"""Sweeps: everything of one kind that can happen in a tiny world, case by case.

Durable state changes only at a commit, and the network only where a request is
processed; between two such points all moments of a crash are alike. So a crash at each
of them is a crash at every moment (docs/reference/invariants.md).

A sweep is made of families. The first run of a family shows what there is to vary, and
each member varies one thing. Families are independent of each other, so that several
processes can share a sweep.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from journeyman.simulation.faults import FAULTS
from journeyman.simulation.outcome import Outcome
from journeyman.simulation.personality import HARDEST, every_contract
from journeyman.simulation.plan import Chaos, Plan
from journeyman.simulation.world import simulate

MICRO = Plan(
    seed=1,
    chaos=Chaos.HARD,
    tasks=1,
    errands=1,
    fault_seconds=60,
    personality=HARDEST,
)
"""One task, one post of the owner's, and a network that tells nothing."""
POINTS_AFTER_A_FAULT = 6
"""So many crash points after it are tried: what it left open has ended by then."""


@dataclass(frozen=True, slots=True)
class Family:
    """A world, and what of it is varied."""

    name: str
    """Its part of a case's name, such as `17` or `5+reset_after`."""
    base: Plan
    points: Callable[[Outcome], range]
    """The crash points at which its members are killed, after its base was run."""


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a sweep."""

    name: str
    """Unique in its sweep, such as `17:23`."""
    plan: Plan


def _all_points(outcome: Outcome) -> range:
    return range(1, outcome.points + 1)


def _later_points(outcome: Outcome) -> range:
    """Those after the first kill: the second one hits the recovery, or what follows."""
    return range(max(outcome.plan.kill_at) + 1, outcome.points + 1)


def _points_after_the_fault(outcome: Outcome) -> range:
    first = outcome.fault_points[0] + 1 if outcome.fault_points else 1
    return range(first, min(first + POINTS_AFTER_A_FAULT, outcome.points + 1))


def _crashes() -> Iterator[Family]:
    for number, personality in enumerate(every_contract(), 1):
        yield Family(str(number), replace(MICRO, personality=personality), _all_points)


def _pairs() -> Iterator[Family]:
    for point in _all_points(simulate(MICRO)):
        base = replace(MICRO, kill_at=frozenset({point}))
        yield Family(str(point), base, _later_points)


def _fault_crashes() -> Iterator[Family]:
    for request in range(1, simulate(MICRO).requests + 1):
        for fault in FAULTS:
            base = replace(MICRO, fault_at={request: fault})
            yield Family(f"{request}+{fault}", base, _points_after_the_fault)


SWEEPS: Mapping[str, Callable[[], Iterator[Family]]] = MappingProxyType(
    {"crashes": _crashes, "pairs": _pairs, "fault-crash": _fault_crashes},
)
"""By name: every crash point of each of the 432 contracts; every pair of crash points;
every fault at every request with a crash at each of the points that follow."""


def cases(family: Family, base: Outcome, *, every: int, offset: int) -> Iterator[Case]:
    """Give the members of a family, or every n-th of them, from the offset on."""
    for point in family.points(base):
        if (point + offset) % every == 0:
            kills = family.base.kill_at | {point}
            plan = replace(family.base, kill_at=kills)
            yield Case(f"{family.name}:{point}", plan)


def find_case(sweep: str, name: str) -> Case:
    """Give a case by its name, or the base of a family by the family's.

    Raises:
        LookupError: the sweep has no such case.
    """
    of_family, _, point = name.partition(":")
    for family in SWEEPS[sweep]():
        if family.name == of_family and (point.isdecimal() or not point):
            kills = {int(point)} if point else frozenset[int]()
            plan = replace(family.base, kill_at=family.base.kill_at | kills)
            return Case(name, plan)
    raise LookupError(f"the sweep {sweep!r} has no case {name!r}")


def run_family(family: Family, *, every: int, offset: int) -> list[tuple[str, Outcome]]:
    """Run a family: its base, named as the family, then its members."""
    base = simulate(family.base)
    members = cases(family, base, every=every, offset=offset)
    return [(family.name, base), *((one.name, simulate(one.plan)) for one in members)]
