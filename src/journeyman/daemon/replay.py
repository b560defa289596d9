"""`journeyman replay`: recorded tasks through new code.

What it would decide now, compared with then; and what it would make of the tasks that
were done. Nothing is sent.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, Never

from journeyman.domain.tasks import JSON, Output, Result, Task, TaskState
from journeyman.journal.recordings import Opinion, RecordedDecision
from journeyman.journal.track_records import Forecast
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Registry, Verdict
from journeyman.strategies.outcomes import RunOutcome, RunWord, summarize
from journeyman.strategies.running.dry_run import DryRunContext, dry_run
from journeyman.strategies.running.runner import Runner
from journeyman.worker.ranking import Forecasts


class UnrecordedFields(Mapping[str, JSON]):
    """Empty, and it notes whether somebody looked."""

    def __init__(self) -> None:
        self.was_read = False

    def __getitem__(self, name: str) -> Never:
        self.was_read = True
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        self.was_read = True
        return iter(())

    def __len__(self) -> int:
        self.was_read = True
        return 0


NOT_THERE = Opinion(wanted=False, reason="it was not asked then")
FAILURES = frozenset({TaskState.FAILED, TaskState.REJECTED, TaskState.DECLINED})


class Change(StrEnum):
    """What became of a decision."""

    #: Wanted then and now.
    KEPT = "kept"
    #: Wanted now only.
    GAINED = "gained"
    #: Wanted then only.
    DROPPED = "dropped"
    #: Wanted neither then nor now.
    LEFT = "left"


class Payment(StrEnum):
    """What is recorded of the task that was decided about."""

    #: This strategy was paid for it.
    PAID = "paid"
    #: This strategy had it, and was not paid.
    FAILED = "failed"
    #: Another strategy was paid for it.
    PAID_TO_ANOTHER = "paid to another"
    #: Nobody here was paid for it, as far as is known: what it brings is not known.
    UNKNOWN = "unknown"


Baseline = Callable[[RecordedDecision], Opinion]
"""Returns what is compared with: the recorded verdict, or an older version's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """One task, decided about twice."""

    decision: RecordedDecision
    then: Opinion
    now: Verdict
    change: Change
    payment: Payment
    estimate: Forecast
    """What it would bring by the strategy's track record; for what is not known."""
    read_raw: bool
    """It looked at `task.raw`, which is not recorded."""


def replay_decisions(
    decisions: Iterable[RecordedDecision],
    loaded: LoadedStrategy,
    then: Baseline,
    forecasts: Forecasts,
) -> Iterator[Replayed]:
    """Show each recorded task to a strategy as it was shown when it was decided about.

    What came later (who claimed it, what its claim showed, how it ended) is not in that
    task.
    """
    registry = Registry([loaded])
    for decision in decisions:
        opinion, (now, read_raw) = then(decision), _ask(registry, decision.task)
        yield Replayed(
            decision=decision,
            then=opinion,
            now=now,
            change=_change(was_wanted=opinion.wanted, is_wanted=now.wanted),
            payment=_payment(decision, loaded.name),
            estimate=forecasts.forecast(
                (loaded.name, decision.task.kind),
                reward=decision.task.reward,
                chance=now.chance,
                cost=now.cost,
            ),
            read_raw=read_raw,
        )


def recorded(name: str, in_shadow: Mapping[str, Opinion]) -> Baseline:
    """Compare with what a strategy of this name said then, at work or in shadow."""

    def look_up(decision: RecordedDecision) -> Opinion:
        said = decision.opinions.get(name) or in_shadow.get(decision.task.id)
        return said or NOT_THERE

    return look_up


def old_version(loaded: LoadedStrategy) -> Baseline:
    """Compare with what another version of the code says now to the same tasks."""
    registry = Registry([loaded])

    def ask(decision: RecordedDecision) -> Opinion:
        said, _ = _ask(registry, decision.task)
        return Opinion(wanted=said.wanted, reason=said.reason, offer=said.offer or 0.0)

    return ask


def _ask(registry: Registry, task: Task) -> tuple[Verdict, bool]:
    """Ask about a copy of a task, so that one version cannot change it for another."""
    unrecorded = UnrecordedFields()
    verdict = registry.choose(replace(task, raw=unrecorded)).verdicts[0]
    return verdict, unrecorded.was_read


def _change(*, was_wanted: bool, is_wanted: bool) -> Change:
    if is_wanted:
        return Change.KEPT if was_wanted else Change.GAINED
    return Change.DROPPED if was_wanted else Change.LEFT


def _payment(decision: RecordedDecision, name: str) -> Payment:
    ending = decision.ending
    if ending.credits > 0:
        return Payment.PAID if ending.strategy == name else Payment.PAID_TO_ANOTHER
    if ending.strategy == name and ending.state in FAILURES:
        return Payment.FAILED
    return Payment.UNKNOWN


@dataclass(slots=True)
class Subtotal:
    """The tasks with one change and one payment."""

    tasks: int = 0
    credits: int = 0
    """Booked for them."""
    estimate: float = 0.0
    """Credits that they would bring, by the strategy's track record."""

    def as_json(self) -> dict[str, int | float]:
        """Return it for JSON."""
        return {
            "tasks": self.tasks,
            "credits": self.credits,
            "estimate": round(self.estimate, 1),
        }


@dataclass(slots=True)
class ReplaySummary:
    """Adds replayed tasks up."""

    tasks: int = 0
    in_part: int = 0
    """Kept with a text cut, or a secret taken out."""
    failed: int = 0
    """Times that the new code's `wants` raised, or gave no verdict."""
    read_raw: int = 0
    """Times that it looked at `task.raw`, which is not kept."""
    offers_changed: int = 0
    """Wanted then and now, for another offer."""
    subtotals: dict[tuple[Change, Payment], Subtotal] = field(default_factory=dict)

    def add(self, one: Replayed) -> None:
        """Count one task."""
        self.tasks += 1
        self.in_part += one.decision.in_part
        self.failed += one.now.failed
        self.read_raw += one.read_raw
        is_kept = one.change is Change.KEPT
        self.offers_changed += is_kept and one.then.offer != one.now.offer
        subtotal = self.subtotals.setdefault((one.change, one.payment), Subtotal())
        subtotal.tasks += 1
        subtotal.credits += one.decision.ending.credits
        subtotal.estimate += one.estimate.credits if one.now.wanted else 0.0

    def subtotal(self, change: Change, payment: Payment) -> Subtotal:
        """Return the tasks with one change and one payment."""
        return self.subtotals.get((change, payment), Subtotal())

    def count(self, *changes: Change) -> int:
        """Return how many tasks have one of these changes."""
        return sum(
            subtotal.tasks
            for (one, _), subtotal in self.subtotals.items()
            if one in changes
        )

    @property
    def wanted_then(self) -> int:
        """Tasks that were wanted then."""
        return self.count(Change.KEPT, Change.DROPPED)

    @property
    def wanted_now(self) -> int:
        """Tasks that are wanted now."""
        return self.count(Change.KEPT, Change.GAINED)


Word = Literal["same", "different"] | RunWord


@dataclass(frozen=True, kw_only=True, slots=True)
class Rerun:
    """What the new code made of one recorded task."""

    word: Word
    reason: str = ""
    """Why there is no result."""
    result: Output = None
    recorded: Output = None


async def rerun(
    decision: RecordedDecision, loaded: LoadedStrategy, runner: Runner
) -> Rerun | None:
    """Run the task that was done then, with an empty `ctx.state`, at that moment.

    None: the journal has no result of it to compare with.
    """
    done = decision.ending
    if done.result is None or done.task is None:
        return None
    again = await dry_run(
        loaded,
        done.task,
        DryRunContext(now=lambda: decision.at),
        anyway=True,
        runner=runner,
    )
    return _compare(again.outcome, done.result.output)


def _compare(outcome: RunOutcome | None, before: Output) -> Rerun:
    if outcome is None:
        return Rerun(word="failed", reason="it did not run", recorded=before)
    word, reason = summarize(outcome)
    if not isinstance(outcome, Result):
        return Rerun(word=word, reason=reason, recorded=before)
    is_same = _plain(outcome.output) == _plain(before)
    return Rerun(
        word="same" if is_same else "different", result=outcome.output, recorded=before
    )


def _plain(value: object) -> str:
    """Return it as it would be sent, so that a tuple equals a list."""
    return json.dumps(value, sort_keys=True)
