"""Many runs, added up."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from types import MappingProxyType
from typing import Protocol, TypeAlias

from tests.simulation.behaviour import HARDEST, every_contract
from tests.simulation.faults import FAULTS
from tests.simulation.findings import ABOUT_SEVERAL_RUNS, INVARIANTS
from tests.simulation.plan import Chaos, Plan, draw_plan
from tests.simulation.run import Outcome, simulate

from journeyman.domain.tasks import TaskState

HOUR = 3600.0


class Campaign:
    """What a number of runs have come to, together."""

    def __init__(self) -> None:
        self.runs = 0
        self.failed: list[tuple[str, Outcome]] = []
        """The runs in which an invariant did not hold, with how to see each again."""
        self.totals: Counter[str] = Counter()
        """Credits, tasks, requests, lives, kills, crash points."""
        self.faults: Counter[str] = Counter()
        self.moves: Counter[str] = Counter()
        self.deaths: Counter[str] = Counter()
        self.happenings: Counter[str] = Counter()
        self.exercised: Counter[str] = Counter()
        self.undecidable: Counter[str] = Counter()
        self.hours = 0.0
        """Simulated hours."""

    def add(self, outcome: Outcome, replay: str = "") -> None:
        """Add a run; `replay` is the command that shows it again."""
        self.runs += 1
        self.hours += outcome.simulated_seconds / HOUR
        self.faults.update(outcome.faults)
        self.moves.update(outcome.moves)
        self.deaths.update(outcome.deaths)
        self.happenings.update(outcome.happenings)
        self.exercised.update(outcome.exercised)
        self.undecidable.update(outcome.undecidable)
        self.totals.update(_figures(outcome))
        if not outcome.passed:
            self.failed.append((replay, outcome))

    @property
    def never_exercised(self) -> list[str]:
        """The invariants that no run has put to the test: holes, and no successes."""
        return [
            name
            for name in INVARIANTS
            if not self.exercised[name] and name not in ABOUT_SEVERAL_RUNS
        ]


def _figures(outcome: Outcome) -> Mapping[str, int]:
    states = outcome.states
    return {
        "credits": outcome.credits,
        "tasks completed": states.get(TaskState.COMPLETED, 0),
        "tasks seen": sum(states.values()),
        "requests": outcome.requests,
        "lives": outcome.lives,
        "kills": outcome.kills,
        "crash points": outcome.points,
        "faults": outcome.faults.total(),
    }


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


Ran: TypeAlias = list[tuple[str, Outcome]]
"""Runs, each with the name by which it can be asked for again."""


Share: TypeAlias = Callable[[float], None]
"""Is told now and then how much of a piece of work is done, from 0 to 1."""


def _to_nobody(_share: float) -> None: ...


class Work(Protocol):
    """Some runs, which can be sent to another process."""

    def run(self, on_share: Share = _to_nobody) -> Ran:
        """Do them."""
        ...


@dataclass(frozen=True, slots=True)
class SeedWork:
    """One run that is drawn from a seed."""

    seed: int
    days: float
    chaos: Chaos

    def run(self, on_share: Share = _to_nobody) -> Ran:
        """Draw it and run it."""
        plan = draw_plan(self.seed, days=self.days, chaos=self.chaos)
        outcome = simulate(plan, lambda seconds: on_share(seconds / plan.end))
        return [(str(self.seed), outcome)]


@dataclass(frozen=True, slots=True)
class FamilyWork:
    """One family of a sweep, or every n-th of its members."""

    family: Family
    every: int
    offset: int

    def run(self, on_share: Share = _to_nobody) -> Ran:  # noqa: ARG002 - soon done
        """Run its base and its members."""
        return run_family(self.family, every=self.every, offset=self.offset)


@dataclass(frozen=True, slots=True)
class CaseWork:
    """One case of a sweep, by its name."""

    sweep: str
    name: str

    def run(self, on_share: Share = _to_nobody) -> Ran:  # noqa: ARG002 - soon done
        """Run it.

        Raises:
            LookupError: the sweep has no such case.
        """
        return [(self.name, simulate(find_case(self.sweep, self.name).plan))]


def sweep_work(sweep: str, every: int) -> list[Work]:
    """Give all families of a sweep; with every n-th of their members, spread evenly."""
    return [
        FamilyWork(family, every, number)
        for number, family in enumerate(SWEEPS[sweep]())
    ]


def do_all(
    components: Sequence[Work], jobs: int, on_progress: Share = _to_nobody
) -> Iterator[Ran]:
    """Do the work in so many processes; give what was run, in the order of the work.

    Where one piece is done at a time, `on_progress` is told how many are done, the one
    under way as a share of one.
    """
    if jobs == 1:
        for number, work in enumerate(components):
            yield work.run(partial(_tell, on_progress, number))
        return
    # Spawned, not forked: a run is the same in any process, and this one may have
    # threads.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(_run, components)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _tell(on_progress: Share, done: int, share: float) -> None:
    on_progress(done + share)


def _run(work: Work) -> Ran:
    return work.run()
