"""What a campaign is made of: pieces of work that processes can share."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Protocol, TypeAlias

from journeyman.simulation.outcome import Outcome
from journeyman.simulation.plan import Chaos, draw_plan
from journeyman.simulation.sweeps import SWEEPS, Family, find_case, run_family
from journeyman.simulation.world import simulate

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
    works: Sequence[Work], jobs: int, on_progress: Share = _to_nobody
) -> Iterator[Ran]:
    """Do the work in so many processes; give what was run, in the order of the work.

    Where one piece is done at a time, `on_progress` is told how many are done, the one
    under way as a share of one.
    """
    if jobs == 1:
        for number, work in enumerate(works):
            yield work.run(partial(_tell, on_progress, number))
        return
    # Spawned, not forked: a run is the same in any process, and this one may have
    # threads.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(_run, works)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _tell(on_progress: Share, done: int, share: float) -> None:
    on_progress(done + share)


def _run(work: Work) -> Ran:
    return work.run()
