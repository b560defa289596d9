"""What a run has come to."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from journeyman.simulation.findings import Violation
from journeyman.simulation.plan import Plan


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One run, seen from its end."""

    plan: Plan
    violations: tuple[Violation, ...]
    digest: str
    """Of all that happened and of all that was left: the same for the same plan."""
    simulated_seconds: float
    credits: int
    """The balance in the daemon's ledger at the end."""
    states: Mapping[str, int]
    """How many tasks are in each state."""
    requests: int
    points: int
    """Crash points that were passed."""
    fault_points: tuple[int, ...]
    """The crash points after which a fault struck, by their number."""
    lives: int
    kills: int
    faults: Counter[str]
    moves: Counter[str]
    """How often a task went from one state to another, such as "wanted > claiming"."""
    deaths: Counter[str]
    """How many kills found a task in a state, such as "submitting"."""
    happenings: Counter[str]
    """What else happened, such as leases that ended and disks that failed."""
    exercised: Counter[str]
    undecidable: Counter[str]

    @property
    def passed(self) -> bool:
        """Whether every invariant held."""
        return not self.violations
