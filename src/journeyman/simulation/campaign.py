"""Many runs, added up."""

from collections import Counter
from collections.abc import Mapping

from journeyman.domain import TaskState
from journeyman.simulation.findings import INVARIANTS
from journeyman.simulation.outcome import Outcome

HOUR = 3600.0


class Campaign:
    """What a number of runs have come to, together."""

    def __init__(self) -> None:
        self.runs = 0
        self.failed: list[Outcome] = []
        """The runs in which an invariant did not hold."""
        self.totals: Counter[str] = Counter()
        """Credits, tasks, requests, lives, kills, crash points."""
        self.faults: Counter[str] = Counter()
        self.exercised: Counter[str] = Counter()
        self.undecidable: Counter[str] = Counter()
        self.hours = 0.0
        """Simulated hours."""

    def add(self, outcome: Outcome) -> None:
        """Add a run."""
        self.runs += 1
        self.hours += outcome.simulated_seconds / HOUR
        self.faults.update(outcome.faults)
        self.exercised.update(outcome.exercised)
        self.undecidable.update(outcome.undecidable)
        self.totals.update(_figures(outcome))
        if not outcome.passed:
            self.failed.append(outcome)

    @property
    def never_exercised(self) -> list[str]:
        """The invariants that no run has put to the test: holes, and no successes.

        The last one is about several runs, and is tested by the tests.
        """
        return [name for name in INVARIANTS if not self.exercised[name]][:-1]


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
