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
    lives: int
    kills: int
    faults: Counter[str]
    exercised: Counter[str]
    undecidable: Counter[str]

    @property
    def passed(self) -> bool:
        """Whether every invariant held."""
        return not self.violations
