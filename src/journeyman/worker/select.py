"""Decide about each listed task: wanted by a strategy, or skipped with the reason."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field

from journeyman.domain.clock import Clock
from journeyman.domain.tasks import AgentId, Task, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.lifecycle.recording import Recorder
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

HELD_WORDS = OPEN_WORDS | {"claimed", "assigned", "in_progress", "in progress"}
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


class Select:
    """Applies the gates that hold for every strategy, then asks the strategies."""

    def __init__(
        self,
        *,
        agent_id: AgentId,
        active: ActiveStrategies,
        journal: Journal,
        min_reward: int,
        clock: Clock,
        log: Log,
        recorder: Recorder | None = None,
    ) -> None:
        """Make one; `recorder` is told of each choice, inside its transaction."""
        self._agent_id = agent_id
        self._active = active
        self._journal = journal
        self._min_reward = min_reward
        self._clock = clock
        self._log = log
        self._recorder = recorder

    def decide(self, tasks: tuple[Task, ...]) -> Decision:
        """Decide about a page; all its sightings share one commit."""
        verdict = Decision()
        fresh: dict[TaskId, Task] = {}
        for task in tasks:
            if task.id not in fresh and self._is_news(task):
                fresh[task.id] = task
            else:
                verdict.known += 1
        if fresh:
            with self._journal.tx("sightings"):
                for task in fresh.values():
                    self._decide(task, verdict)
        return verdict

    def _is_news(self, task: Task) -> bool:
        known = self._journal.tasks.sighting(task.id)
        if known is None:
            return True
        state, judged = known
        return state in REVISABLE and judged != self._fingerprint(task)

    def _decide(self, task: Task, verdict: Decision) -> None:
        # As things are now: the task before this one may have changed who is free.
        fingerprint = self._fingerprint(task)
        reason = self._obstacle(task)
        choice = None if reason else self._active.choose(task)
        if choice and self._recorder:
            self._recorder.record(task, choice)
        if choice and choice.strategy:
            verdict.wanted += 1
            self._journal.tasks.sight(
                task,
                TaskState.WANTED,
                reason=choice.reason,
                strategy=choice.strategy.name,
                chance=choice.chance,
                cost=choice.cost,
                fingerprint=fingerprint,
            )
            self._log.emit(
                events.WANTED,
                task_id=task.id,
                strategy=choice.strategy.name,
                reward=task.reward,
                title=task.title,
            )
            return
        verdict.skipped += 1
        reason = reason or (choice.reason if choice else "")
        verdict.reasons[reason] += 1
        self._journal.tasks.sight(
            task,
            TaskState.SKIPPED,
            reason=reason,
            fingerprint=fingerprint,
        )
        self._log.emit(events.SKIPPED, task_id=task.id, reason=reason)

    def _obstacle(self, task: Task) -> str:
        """Why nobody should do it, whatever the strategies say; empty when none."""
        checks = (
            (
                task.poster == self._agent_id or self._journal.spends.is_our_post(task),
                "our own post",
            ),
            (
                task.claimant is not None and not self._is_held_by_us(task),
                "claimed by another agent",
            ),
            (
                task.status not in OPEN_WORDS and not self._is_held_by_us(task),
                f"status is {task.status!r}",
            ),
            (
                task.deadline is not None and task.deadline <= self._clock.now(),
                "past its deadline",
            ),
            (
                task.reward < self._min_reward,
                f"reward below {self._min_reward} (work.min_reward)",
            ),
        )
        return next((reason for applies, reason in checks if applies), "")

    def _is_held_by_us(self, task: Task) -> bool:
        """Find a claim of ours that the journal does not know: it may be restored."""
        return task.claimant == self._agent_id and task.status in HELD_WORDS

    def _fingerprint(self, task: Task) -> str:
        seen = (
            self._active.generation,
            task.status,
            task.claimant,
            task.reward,
            task.title,
            task.tags,
            self._min_reward,
        )
        return hashlib.blake2b(repr(seen).encode(), digest_size=8).hexdigest()
