"""The invariants by number, and the checks of a run."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType

from tests.simulation.trace import TraceEvent

INVARIANTS: MappingProxyType[str, str] = MappingProxyType(
    {
        "I-1": "A token that was saved stays, to the byte, and nothing is "
        "registered while one is held.",
        "I-2": "A token is saved in the same turn of the event loop in which "
        "it is read.",
        "I-3": "There is one agent, and at most one more for each registration "
        "whose outcome is unknown.",
        "I-4": "A task that the network gave us is in the journal, and not lost there.",
        "I-5": "Before a request that changes the network is sent, its intent "
        "is on disk; before a spend is sent, the identity file has "
        "counted it.",
        "I-6": "What the journal calls completed or submitted, the network calls so.",
        "I-7": "Every submission of a task is the result in the journal, to the byte.",
        "I-8": "No result is sent without a claim, no completion without a result.",
        "I-9": "A spend is charged at most once.",
        "I-10": "What was charged is covered by what the journal holds or has booked.",
        "I-11": "What is reserved and spent is within every budget.",
        "I-12": "A task only changes its state as the table of transitions "
        "allows, and its history ends in the state that it has.",
        "I-13": "No call lasts longer than its total time-out.",
        "I-14": "Failing requests are repeated slowly, and a wait that the "
        "network names is kept.",
        "I-15": "No more of an answer is read than the cap allows.",
        "I-16": "The token is sent to the network alone, and is never in the "
        "log or the journal. No result contains a secret.",
        "I-17": "No error goes unnoticed: no bug of ours, no asyncio task that "
        "died, no deadlock.",
        "I-18": "When nothing has gone wrong for a while, every task has ended, "
        "in the journal and on the network.",
        "I-19": "Recovering twice has the same result as recovering once.",
        "I-20": "A run is a function of its seed, to the byte.",
        "I-21": "Leases and deadlines are kept: no result is sent for the first "
        "time after them, and work that came too late is reported.",
        "I-22": "A daemon that is told to stop stops within its grace period.",
        "I-23": "A disk that fails stops the daemon with a clear message.",
        "I-24": "A strategy works on a task only while the journal says so.",
        "I-25": "A strategy whose results are all rejected is given a batch, "
        "and then one task after each of ever longer pauses.",
        "I-26": "On each day our ledger and the network's differ by what the journal "
        "names as of unknown outcome, and by nothing else; every credit leads back to "
        "a request, none is unexplained, and in the end both are equal.",
    },
)
ABOUT_SEVERAL_RUNS = frozenset({"I-20"})
"""Tested by the tests, since no single run can."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """An invariant that did not hold."""

    invariant: str
    at: float
    """In simulated seconds."""
    message: str
    history: tuple[TraceEvent, ...] = field(repr=False)
    """What led to it: the last that happened to what the message names."""

    def __str__(self) -> str:
        return f"{self.invariant} at {self.at:.3f} s: {self.message}"


class Checker:
    """Counts the checks of each invariant in a run, and keeps the violations."""

    def __init__(self, history: Callable[[str], tuple[TraceEvent, ...]]) -> None:
        """`history` returns what led to that which a message is about."""
        self._history = history
        self.violations: list[Violation] = []
        self.exercised: Counter[str] = Counter()
        """How often each invariant was really checked."""
        self.undecidable: Counter[str] = Counter()
        """Cases in which the network shows nothing that could decide."""

    def check(self, invariant: str, at: float, message: str, *, holds: bool) -> None:
        """Note one check of an invariant; `message` is what is wrong if it fails."""
        self.exercised[invariant] += 1
        if not holds:
            self.violations.append(
                Violation(
                    invariant=invariant,
                    at=at,
                    message=message,
                    history=self._history(message),
                ),
            )

    def skip(self, case: str) -> None:
        """Note a case that nobody could decide (docs/reference/invariants.md)."""
        self.undecidable[case] += 1
