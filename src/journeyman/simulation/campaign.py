"""Many runs, added up."""

from collections import Counter
from collections.abc import Mapping

from journeyman.domain import TaskState
from journeyman.simulation.findings import ABOUT_SEVERAL_RUNS, INVARIANTS
from journeyman.simulation.outcome import Outcome

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
