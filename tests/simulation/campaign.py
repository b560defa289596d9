"""A campaign: many runs, of seeds or of a sweep, and their totals."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from types import MappingProxyType
from typing import Protocol, TypeAlias

from tests.simulation.behaviour import HARDEST, every_behaviour
from tests.simulation.faults import FAULTS
from tests.simulation.invariants import ABOUT_SEVERAL_RUNS, INVARIANTS
from tests.simulation.plan import Chaos, Plan, draw_money_plan, draw_plan
from tests.simulation.run import RunResult, simulate

from journeyman.domain.tasks import TaskState

HOUR = 3600.0


class Campaign:
    """The totals of a number of runs."""

    def __init__(self) -> None:
        self.runs = 0
        self.failed: list[tuple[str, RunResult]] = []
        """The runs in which an invariant did not hold, with how to see each again."""
        self.totals: Counter[str] = Counter()
        """Credits, tasks, requests, starts, kills, crash points."""
        self.faults: Counter[str] = Counter()
        self.transitions: Counter[str] = Counter()
        self.killed_states: Counter[str] = Counter()
        self.other_events: Counter[str] = Counter()
        self.exercised: Counter[str] = Counter()
        self.undecidable: Counter[str] = Counter()
        self.hours = 0.0
        """Simulated hours."""

    def add(self, result: RunResult, replay: str = "") -> None:
        """Add a run; `replay` is the command that shows it again."""
        self.runs += 1
        self.hours += result.simulated_seconds / HOUR
        self.faults.update(result.faults)
        self.transitions.update(result.transitions)
        self.killed_states.update(result.killed_states)
        self.other_events.update(result.other_events)
        self.exercised.update(result.exercised)
        self.undecidable.update(result.undecidable)
        self.totals.update(_figures(result))
        if not result.passed:
            self.failed.append((replay, result))

    @property
    def never_exercised(self) -> list[str]:
        """The invariants that no run has checked: gaps, not successes."""
        return [
            name
            for name in INVARIANTS
            if not self.exercised[name] and name not in ABOUT_SEVERAL_RUNS
        ]


def _figures(result: RunResult) -> Mapping[str, int]:
    states = result.states
    return {
        "credits": result.credits,
        "tasks completed": states.get(TaskState.COMPLETED, 0),
        "tasks seen": sum(states.values()),
        "requests": result.requests,
        "starts": result.starts,
        "kills": result.kills,
        "crash points": result.points,
        "faults": result.faults.total(),
    }


SMALL = Plan(
    seed=1,
    chaos=Chaos.HARD,
    tasks=1,
    operator_commands=1,
    fault_seconds=60,
    behaviour=HARDEST,
)
"""One task, one post of the operator's, and a network that reveals nothing."""
POINTS_AFTER_A_FAULT = 6
"""So many crash points after it are tried: its effects have ended by then."""


@dataclass(frozen=True, slots=True)
class SweepGroup:
    """A plan, and the crash points at which it is run again."""

    name: str
    """Its part of a case's name, such as `17` or `5+reset_after`."""
    base: Plan
    points: Callable[[RunResult], range]
    """The crash points at which its of_group are killed, after its base was run."""


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a sweep."""

    name: str
    """Unique in its sweep, such as `17:23`."""
    plan: Plan


def _all_points(result: RunResult) -> range:
    return range(1, result.points + 1)


def _later_points(result: RunResult) -> range:
    """Those after the first kill: the second one hits the recovery, or what follows."""
    return range(max(result.plan.kill_at) + 1, result.points + 1)


def _points_after_the_fault(result: RunResult) -> range:
    first = result.points_with_faults[0] + 1 if result.points_with_faults else 1
    return range(first, min(first + POINTS_AFTER_A_FAULT, result.points + 1))


def _crashes() -> Iterator[SweepGroup]:
    for number, behaviour in enumerate(every_behaviour(), 1):
        yield SweepGroup(str(number), replace(SMALL, behaviour=behaviour), _all_points)


def _pairs() -> Iterator[SweepGroup]:
    for point in _all_points(simulate(SMALL)):
        base = replace(SMALL, kill_at=frozenset({point}))
        yield SweepGroup(str(point), base, _later_points)


def _fault_crashes() -> Iterator[SweepGroup]:
    for request in range(1, simulate(SMALL).requests + 1):
        for fault in FAULTS:
            base = replace(SMALL, fault_at={request: fault})
            yield SweepGroup(f"{request}+{fault}", base, _points_after_the_fault)


SWEEPS: Mapping[str, Callable[[], Iterator[SweepGroup]]] = MappingProxyType(
    {"crashes": _crashes, "pairs": _pairs, "fault-crash": _fault_crashes},
)
"""By name: every crash point of each of the 432 contracts; every pair of crash points;
every fault at every request with a crash at each of the points that follow."""


def cases(
    group: SweepGroup, base: RunResult, *, every: int, offset: int
) -> Iterator[Case]:
    """Yield the cases of a group, or every n-th of them, from the offset on."""
    for point in group.points(base):
        if (point + offset) % every == 0:
            kills = group.base.kill_at | {point}
            plan = replace(group.base, kill_at=kills)
            yield Case(f"{group.name}:{point}", plan)


def find_case(sweep: str, name: str) -> Case:
    """Return a case by its name, or the base of a group by the group's.

    Raises:
        LookupError: the sweep has no such case.
    """
    group_name, _, point = name.partition(":")
    for group in SWEEPS[sweep]():
        if group.name == group_name and (point.isdecimal() or not point):
            kills = {int(point)} if point else frozenset[int]()
            plan = replace(group.base, kill_at=group.base.kill_at | kills)
            return Case(name, plan)
    raise LookupError(f"the sweep {sweep!r} has no case {name!r}")


def run_group(
    group: SweepGroup, *, every: int, offset: int
) -> list[tuple[str, RunResult]]:
    """Run a group: its base, named as the group, then its cases."""
    base = simulate(group.base)
    of_group = cases(group, base, every=every, offset=offset)
    return [(group.name, base), *((one.name, simulate(one.plan)) for one in of_group)]


NamedResults: TypeAlias = list[tuple[str, RunResult]]
"""Runs, each with the name by which it can be asked for again."""


Progress: TypeAlias = Callable[[float], None]
"""Called now and then with the share of a batch that is done, from 0 to 1."""


def _ignore(_share: float) -> None: ...


class Batch(Protocol):
    """Some runs, which can be sent to another process."""

    def run(self, on_progress: Progress = _ignore) -> NamedResults:
        """Do them."""
        ...


@dataclass(frozen=True, slots=True)
class SeedBatch:
    """One run that is drawn from a seed."""

    seed: int
    days: float
    chaos: Chaos
    is_about_money: bool = False

    def run(self, on_progress: Progress = _ignore) -> NamedResults:
        """Draw it and run it."""
        if self.is_about_money:
            plan = draw_money_plan(self.seed, days=self.days)
        else:
            plan = draw_plan(self.seed, days=self.days, chaos=self.chaos)
        result = simulate(plan, lambda seconds: on_progress(seconds / plan.end))
        return [(str(self.seed), result)]


@dataclass(frozen=True, slots=True)
class GroupBatch:
    """One group of a sweep, or every n-th of its cases."""

    group: SweepGroup
    every: int
    offset: int

    def run(self, on_progress: Progress = _ignore) -> NamedResults:  # noqa: ARG002 - soon done
        """Run its base and its cases."""
        return run_group(self.group, every=self.every, offset=self.offset)


@dataclass(frozen=True, slots=True)
class CaseBatch:
    """One case of a sweep, by its name."""

    sweep: str
    name: str

    def run(self, on_progress: Progress = _ignore) -> NamedResults:  # noqa: ARG002 - soon done
        """Run it.

        Raises:
            LookupError: the sweep has no such case.
        """
        return [(self.name, simulate(find_case(self.sweep, self.name).plan))]


def sweep_batches(sweep: str, every: int) -> list[Batch]:
    """Return all groups of a sweep; with every n-th of their cases, spread evenly."""
    return [
        GroupBatch(group, every, number) for number, group in enumerate(SWEEPS[sweep]())
    ]


def run_all(
    batches: Sequence[Batch], jobs: int, on_progress: Progress = _ignore
) -> Iterator[NamedResults]:
    """Run batches in so many processes; yield their results, in order.

    With one process, `on_progress` is called with how many batches are done, the one
    that is running as a share of one.
    """
    if jobs == 1:
        for number, batch in enumerate(batches):
            yield batch.run(partial(_report, on_progress, number))
        return
    # Spawned, not forked: a run is the same in any process, and this one may have
    # threads.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(_run, batches)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _report(on_progress: Progress, done: int, share: float) -> None:
    on_progress(done + share)


def _run(batch: Batch) -> NamedResults:
    return batch.run()
