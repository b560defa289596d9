"""Judging strategies by recorded tasks: what they would have earned, and at what cost.

A set is judged as the daemon would use it: the best offer wins each task. Two
strategies are compared as if each were alone. Nothing is sent, and nothing is run.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random
from statistics import fmean, quantiles

from journeyman.daemon.replay import FAILURES, UnrecordedFields
from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal.recordings import RecordedDecision
from journeyman.strategies.loading.registry import Choice, Registry, Verdict
from journeyman.worker.ranking import Forecasts

ENDED = FAILURES | {TaskState.COMPLETED}


class Basis(StrEnum):
    """From what it is known what a task would have brought."""

    #: It ended so: this strategy did it, or another agent was faster.
    KNOWN = "known"
    #: Another strategy here was paid for it, and this one is taken to be, too.
    SAME_PAY = "same_pay"
    #: From how often the strategy's tasks were paid.
    ESTIMATED = "estimated"


@dataclass(frozen=True, kw_only=True, slots=True)
class Worth:
    """What a task brings to the strategy that does it, in credits."""

    earned: float
    cost: float
    """Outside the network, as it was reported, or else as the strategy says."""
    basis: Basis

    @property
    def net(self) -> float:
        """What is left of it."""
        return self.earned - self.cost


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """What a set of strategies would have made of one recorded task."""

    decision: RecordedDecision
    choice: Choice
    worth: Worth | None
    """To the strategy that would have won it; None: nobody wants it."""

    @property
    def winner(self) -> str:
        """The name of the strategy that would have won it; empty: none."""
        return self.choice.strategy.name if self.choice.strategy else ""

    @property
    def net(self) -> float:
        """What it would have brought to the set."""
        return self.worth.net if self.worth else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Judge:
    """Judges sets of strategies by recorded decisions."""

    forecasts: Forecasts
    cost_of: Callable[[TaskId], float]
    """Returns the costs, in credits, that were reported for a task."""

    def judge(self, decision: RecordedDecision, strategies: Registry) -> Judged:
        """Show a set the task as it was when it was decided about."""
        # A copy, so that one set cannot change it for another.
        task = replace(decision.task, raw=UnrecordedFields())
        choice = strategies.choose(task)
        won = choice.strategy and next(
            one for one in choice.verdicts if one.strategy == choice.strategy.name
        )
        worth = self.worth(decision, won) if won else None
        return Judged(decision=decision, choice=choice, worth=worth)

    def worth(self, decision: RecordedDecision, verdict: Verdict) -> Worth:
        """Return what a task would have brought to a strategy that wants it."""
        ending, task = decision.ending, decision.task
        if ending.state == TaskState.LOST:  # whoever had claimed it
            return Worth(earned=0.0, cost=0.0, basis=Basis.KNOWN)
        if ending.strategy == verdict.strategy and ending.state in ENDED:
            cost = self.cost_of(task.id) or verdict.cost
            return Worth(earned=ending.credits, cost=cost, basis=Basis.KNOWN)
        if ending.credits > 0:
            earned = float(ending.credits)
            return Worth(earned=earned, cost=verdict.cost, basis=Basis.SAME_PAY)
        forecast = self.forecasts.forecast(
            (verdict.strategy, task.kind),
            reward=task.reward,
            chance=verdict.chance,
            cost=verdict.cost,
        )
        earned = forecast.credits + verdict.cost
        return Worth(earned=earned, cost=verdict.cost, basis=Basis.ESTIMATED)


@dataclass(slots=True)
class StrategySums:
    """What one strategy of a set wanted and would have won, added up."""

    wanted: int = 0
    won: int = 0
    earned: float = 0.0
    cost: float = 0.0
    errors: int = 0
    """Times that its `wants` failed."""
    bases: Counter[Basis] = field(default_factory=Counter)
    """How many of those that it won are known, and from what."""

    @property
    def net(self) -> float:
        """What is left of what it would have earned."""
        return self.earned - self.cost

    def add(self, verdict: Verdict, worth: Worth | None) -> None:
        """Count its answer to one task; the worth is None where it did not win."""
        self.wanted += verdict.wanted
        self.errors += verdict.failed
        if worth is not None:
            self.won += 1
            self.earned += worth.earned
            self.cost += worth.cost
            self.bases[worth.basis] += 1


def add_up(judged: Sequence[Judged]) -> dict[str, StrategySums]:
    """Add up what each strategy of the set would have done, in the set's order."""
    sums: dict[str, StrategySums] = {}
    for one in judged:
        for verdict in one.choice.verdicts:
            worth = one.worth if verdict.strategy == one.winner else None
            sums.setdefault(verdict.strategy, StrategySums()).add(verdict, worth)
    return sums


RESAMPLES = 2_000
"""Efron and Tibshirani advise 1,000 or more for percentiles."""
CONFIDENCE = 0.95
_FORTIETHS = 40
"""The first and the last of the 39 cuts are at 2.5 and 97.5 %."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """A mean, and where it may lie with a confidence of 95 %."""

    mean: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """1 or -1: the mean is surely above or below 0; 0: neither is proven."""
        return (self.low > 0) - (self.high < 0)


def paired_bootstrap(differences: Sequence[float], random: Random) -> Interval:
    """Return a confidence interval of the mean difference between two strategies.

    This is the paired percentile bootstrap (B. Efron, R. J. Tibshirani: An Introduction
    to the Bootstrap, 1993, chapter 13). The tasks, each with the difference between
    both strategies, are drawn again with replacement, as many as there are; the
    interval is between the 2.5 and 97.5 % points of the means of 2,000 such samples. It
    is paired since both were asked about the same tasks, so that good and bad tasks
    cancel out. It takes the tasks as independent, and with few that differ it is too
    narrow.

    Args:
        differences: one for each task, and at least one.
        random: draws the samples.
    """
    values = list(differences)
    count = len(values)
    means = [fmean(random.choices(values, k=count)) for _ in range(RESAMPLES)]
    low, *_, high = quantiles(means, n=_FORTIETHS, method="inclusive")
    return Interval(mean=fmean(values), low=low, high=high)
