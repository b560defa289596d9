"""Decide about each listed task: wanted by a strategy, or skipped with the reason."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field

from journeyman.domain.clock import Clock
from journeyman.domain.tasks import AgentId, Task, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.lifecycle.recording import DecisionRecording
from journeyman.observability.events import Log
from journeyman.worker import events

OPEN_WORDS = frozenset(
    {
        *("", "open", "available", "new", "pending", "published", "active"),
        *("claimable", "listed", "live", "posted", "ready", "unassigned", "unclaimed"),
    }
)
"""Words for a task that may be claimed. The contract shows none, so an empty status
counts as open, and any other word does not."""

CLAIMED_WORDS = OPEN_WORDS | {"claimed", "assigned", "in_progress", "in progress"}
"""Words for a task that its claimant still works on."""

REVISABLE = frozenset({TaskState.SKIPPED})
"""States in which a task is decided about again when it, or a strategy, changed."""


@dataclass(slots=True)
class Decision:
    """What was decided about one page of tasks."""

    wanted: int = 0
    skipped: int = 0
    known: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Why tasks were skipped."""

    @property
    def new(self) -> int:
        """Tasks that were decided about just now."""
        return self.wanted + self.skipped


@dataclass(kw_only=True, eq=False)
class Select:
    """Applies the rules that hold for every strategy, then asks the strategies."""

    agent_id: AgentId
    active: ActiveStrategies
    journal: Journal
    min_reward: int
    clock: Clock
    log: Log
    recording: DecisionRecording | None = None
    """Called with each choice, inside its transaction."""

    def decide(self, tasks: tuple[Task, ...]) -> Decision:
        """Decide about a page; all its decisions share one commit."""
        decision = Decision()
        fresh: dict[TaskId, Task] = {}
        for task in tasks:
            if task.id not in fresh and self._is_new(task):
                fresh[task.id] = task
            else:
                decision.known += 1
        if fresh:
            with self.journal.tx("decisions"):
                for task in fresh.values():
                    self._decide(task, decision)
        return decision

    def _is_new(self, task: Task) -> bool:
        known = self.journal.tasks.last_decision(task.id)
        if known is None:
            return True
        state, fingerprint = known
        return state in REVISABLE and fingerprint != self._fingerprint(task)

    def _decide(self, task: Task, decision: Decision) -> None:
        # As things are now: the task before this one may have changed who is free.
        fingerprint = self._fingerprint(task)
        reason = self._obstacle(task)
        choice = None if reason else self.active.choose(task)
        if choice and self.recording:
            self.recording.record(task, choice)
        if choice and choice.strategy:
            decision.wanted += 1
            self.journal.tasks.record_decision(
                task,
                TaskState.WANTED,
                reason=choice.reason,
                strategy=choice.strategy.name,
                chance=choice.chance,
                cost=choice.cost,
                fingerprint=fingerprint,
            )
            self.log.emit(
                events.WANTED,
                task_id=task.id,
                strategy=choice.strategy.name,
                reward=task.reward,
                title=task.title,
            )
            return
        decision.skipped += 1
        reason = reason or (choice.reason if choice else "")
        decision.reasons[reason] += 1
        self.journal.tasks.record_decision(
            task,
            TaskState.SKIPPED,
            reason=reason,
            fingerprint=fingerprint,
        )
        self.log.emit(events.SKIPPED, task_id=task.id, reason=reason)

    def _obstacle(self, task: Task) -> str:
        """Return why it is skipped, whatever strategies say; empty when it is not."""
        checks = (
            (
                task.poster == self.agent_id or self.journal.spends.is_our_post(task),
                "our own post",
            ),
            (
                task.claimant is not None and not self._is_ours(task),
                "claimed by another agent",
            ),
            (
                task.status not in OPEN_WORDS and not self._is_ours(task),
                f"status is {task.status!r}",
            ),
            (
                task.deadline is not None and task.deadline <= self.clock.now(),
                "past its deadline",
            ),
            (
                task.reward < self.min_reward,
                f"reward below {self.min_reward} (work.min_reward)",
            ),
        )
        return next((reason for applies, reason in checks if applies), "")

    def _is_ours(self, task: Task) -> bool:
        """Return whether it is claimed by us: a restored journal may not know that."""
        return task.claimant == self.agent_id and task.status in CLAIMED_WORDS

    def _fingerprint(self, task: Task) -> str:
        seen = (
            self.active.generation,
            task.status,
            task.claimant,
            task.reward,
            task.title,
            task.tags,
            self.min_reward,
        )
        return hashlib.blake2b(repr(seen).encode(), digest_size=8).hexdigest()
