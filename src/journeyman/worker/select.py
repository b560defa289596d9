"""Decide about each listed task: wanted by a strategy, or skipped with the reason."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from journeyman.domain.clock import Clock
from journeyman.domain.tasks import UNCLAIMED, AgentId, Task, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import FORGOTTEN_TOTAL, Decided, KnownTask
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.lifecycle.recording import DecisionRecording
from journeyman.network.service_model.states import (
    CLAIMED_WORDS,
    Meaning,
    StateWords,
    states_as_json,
    states_from_json,
)
from journeyman.observability.events import Log
from journeyman.strategies import watchdog
from journeyman.strategies.loading.registry import Choice
from journeyman.worker import events

STATE_WORDS = "state_words"
"""The fact that holds what was learned of the network's words for states."""

REVISABLE = frozenset({TaskState.SKIPPED})
"""States in which a task is decided about again when it, or a strategy, changed."""


GATES = {
    "not our own": "our own post",
    "nobody else's": "claimed by another agent",
    "open": "status is",
    "in time": "past its deadline",
    "reward": "reward below",
}
"""The rules that hold whatever strategies say, in their order: the name of each, and
the first words of the reason where it fails."""

FEWEST_ALIKE = 3
"""Tasks in one state, from which on it is doubted that they all are taken."""
MOST_SETTLED = 10_000
"""Pages and portions that are known to be decided: of a million tasks."""
_UNDECIDED = frozenset({TaskState.SEEN, TaskState.WANTED, TaskState.CLAIMING})
"""States of a task whose claim has told nothing yet."""


@dataclass(slots=True)
class Decision:
    """What was decided about one page of tasks."""

    wanted: int = 0
    skipped: int = 0
    known: int = 0
    undecided: int = 0
    """Tasks that are decided about at the next look."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why tasks were skipped."""

    def add(self, more: "Decision") -> None:
        """Add what was decided about other tasks of the page."""
        self.wanted += more.wanted
        self.skipped += more.skipped
        self.known += more.known
        self.undecided += more.undecided
        self.reasons.update(more.reasons)

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
    """Called with the choices of a page, inside their transaction."""
    states: StateWords = field(init=False)
    _settled: dict[object, object] = field(init=False, default_factory=dict)
    """By key, pages and portions of which all was decided, and what that depends on."""
    _askable: frozenset[str] = field(init=False, default=frozenset())
    """Unknown words for states that a task of this page may be claimed to learn."""

    def __post_init__(self) -> None:
        self.states = states_from_json(self.journal.facts.get(STATE_WORDS))

    # -- pages that come again unchanged ------------------------------------------

    def settled(self) -> object:
        """Return what decisions about listed tasks depend on, beside the tasks.

        While it is equal, a page of which all was decided has nothing to decide.
        """
        return (
            self.active.generation,
            *self.active.put_back,
            self.states,
            self.min_reward,
            # Until a claim goes well, each lost one may change what to ask.
            self._has_claimed() or self.journal.tasks.counts().get(TaskState.LOST, 0),
            self.journal.totals.get(FORGOTTEN_TOTAL),
        )

    def is_settled(self, key: object, on: object) -> bool:
        """Return whether all was decided of the page, or portion, of this key.

        `on` is `settled` of just now.
        """
        return not self.states.asked and self._settled.get(key) == on

    def settle(self, key: object, on: object) -> None:
        """Note that all of a page was decided; `on` is `settled` from before that."""
        if len(self._settled) >= MOST_SETTLED:
            self._settled.clear()
        if key is not None:
            self._settled[key] = on

    async def consult(self, tasks: tuple[Task, ...]) -> None:
        """Have those strategies that have a process look at the tasks that are new."""
        strategies = self.active.to_consult
        if strategies:
            self._look_at_states(tasks)
        known = self._known(tasks) if strategies else {}
        new = [task for task in tasks if self._is_new(task, known.get(task.id))]
        if strategies and new:
            await self.active.consult(strategies, new)

    def decide(self, tasks: tuple[Task, ...]) -> Decision:
        """Decide about a page; all its decisions share one commit."""
        self._look_at_states(tasks)
        decision, known = Decision(), self._known(tasks)
        fresh: dict[TaskId, Task] = {}
        for task in tasks:
            if task.id not in fresh and self._is_new(task, known.get(task.id)):
                fresh[task.id] = task
            else:
                decision.known += 1
                decision.undecided += task.id in self.active.put_back
        if fresh:
            # A decision that is lost is made again, and what is begun by it waits.
            with self.journal.tx("decisions", waits=False), watchdog.prepared():
                chosen = [
                    (task, choice)
                    for task in fresh.values()
                    if (choice := self._decide(task, known.get(task.id), decision))
                ]
                if self.recording and chosen:
                    self.recording.record(chosen)
        return decision

    def _look_at_states(self, tasks: tuple[Task, ...]) -> None:
        self._learn_states({task.id: task.status for task in tasks})
        self._doubt_states(tasks)
        self._askable = self._worth_asking(tasks)

    def _doubt_states(self, tasks: tuple[Task, ...]) -> None:
        """Doubt that all of a market is taken, as long as no claim has gone well."""
        words = {task.status for task in tasks}
        is_alike = len(words) == 1 and len(tasks) >= FEWEST_ALIKE
        if is_alike and all(one.claimant is None for one in tasks):
            states = self.states.doubt(*words)
            if states is not self.states and not self._has_claimed():
                with self.journal.tx("state words"):
                    self._keep_states(states)

    def _known(self, tasks: tuple[Task, ...]) -> dict[TaskId, KnownTask]:
        return self.journal.tasks.last_decisions([task.id for task in tasks])

    def _is_new(self, task: Task, known: KnownTask | None) -> bool:
        if known is None:
            return True
        if known.state not in REVISABLE:
            return False
        put_back_until = self.active.put_back.get(task.id, 0.0)
        is_same = known.fingerprint == self._fingerprint(task)
        return not is_same and put_back_until <= self.clock.monotonic()

    def _decide(
        self, task: Task, known: KnownTask | None, decision: Decision
    ) -> Choice | None:
        """Decide about one task; return what strategies said, if that decided."""
        # As things are now: the task before this one may have changed who is free.
        fingerprint = self._fingerprint(task)
        reason = self._obstacle(task)
        choice = None if reason else self.active.choose(task)
        if choice:
            self.active.count_faults(task, choice)
        if choice and choice.is_undecided:
            decision.undecided += 1
            return None  # The next look at the market decides.
        self.active.put_back.pop(task.id, None)
        if choice and choice.strategy:
            decision.wanted += 1
            if self._asks(task):
                self._keep_states(self.states.ask(task.status, task.id))
            self.journal.tasks.record_decided(
                Decided(
                    task=task,
                    state=TaskState.WANTED,
                    reason=choice.reason,
                    strategy=choice.strategy.name,
                    chance=choice.chance,
                    cost=choice.cost,
                    fingerprint=fingerprint,
                ),
                known,
            )
            self.log.emit(
                events.WANTED,
                task_id=task.id,
                strategy=choice.strategy.name,
                reward=task.reward,
                title=task.title,
            )
            return choice
        decision.skipped += 1
        reason = reason or (choice.reason if choice else "")
        decision.reasons[reason] += 1
        skipped = TaskState.SKIPPED
        self.journal.tasks.record_decided(
            Decided(task=task, state=skipped, reason=reason, fingerprint=fingerprint),
            known,
        )
        self.log.emit(events.SKIPPED, task_id=task.id, reason=reason)
        return choice

    def _learn_states(self, shown: Mapping[TaskId, str]) -> None:
        """Learn what words mean from the claims that were to tell.

        A refused task that is still shown in the same state was not lost in a race.
        """
        states = self.states
        for word, task_id in self.states.asked.items():
            state = self._state_of(task_id)
            if state not in _UNDECIDED:
                is_claimed = self._is_claimed(state)
                if state is TaskState.LOST and word in states.doubted:
                    is_claimed = False  # as the word says
                is_same = shown.get(TaskId(task_id)) == word
                states = states.learn(word, is_claimed=is_claimed, is_sure=is_same)
                meaning = states.meaning(word)
                self.log.emit(events.STATE_LEARNED, word=word, meaning=meaning)
        if states is not self.states:
            with self.journal.tx("state words"):
                self._keep_states(states)

    @property
    def has_answers(self) -> bool:
        """Return whether a claim has told what a word means, which is not yet used."""
        asked = self.states.asked.values()
        return any(self._state_of(task_id) not in _UNDECIDED for task_id in asked)

    def _state_of(self, task_id: str) -> TaskState:
        known = self.journal.tasks.last_decision(TaskId(task_id))
        return known[0] if known else TaskState.SKIPPED

    def _is_claimed(self, state: TaskState) -> bool | None:
        """Return whether a claim went well; None when it tells nothing."""
        if state is TaskState.SKIPPED:
            return None
        if state is TaskState.LOST:
            # Before the first claim that went well, a refusal may be about its form.
            return False if self._has_claimed() else None
        return True

    def _has_claimed(self) -> bool:
        """Return whether any claim on this network ever went well."""
        never = {*UNCLAIMED, TaskState.CLAIMING, TaskState.LOST}
        return not never.issuperset(self.journal.tasks.counts())

    def _worth_asking(self, tasks: tuple[Task, ...]) -> frozenset[str]:
        """Return the unknown words; before the first claim, only the commonest.

        Not even that while others are surely open: their claims show how one is made.
        """
        words = Counter(t.status for t in tasks if self.states.may_ask(t.status))
        if not words or self._has_claimed():
            return frozenset(words)
        if any(map(self._is_surely_open, tasks)):
            return frozenset()
        return (
            frozenset()
            if self.states.asked
            else frozenset({max(words, key=words.__getitem__)})
        )

    def _is_surely_open(self, task: Task) -> bool:
        is_open = self.states.meaning(task.status) is Meaning.OPEN
        is_open = is_open and task.claimant is None
        return is_open and self._state_of(task.id) is not TaskState.LOST

    def _asks(self, task: Task) -> bool:
        """Return whether a claim of this task would tell what its state means."""
        return task.status in self._askable and self.states.may_ask(task.status)

    def _keep_states(self, states: StateWords) -> None:
        self.states = states
        self.journal.facts.put(STATE_WORDS, states_as_json(states))

    def _obstacle(self, task: Task) -> str:
        """Return why it is skipped, whatever strategies say; empty when it is not."""
        if task.poster == self.agent_id or self.journal.spends.is_our_post(task):
            return GATES["not our own"]
        if not self._is_ours(task) and (why := self._closed(task)):
            return why
        if task.deadline is not None and task.deadline <= self.clock.now():
            return GATES["in time"]
        if task.reward < self.min_reward:
            return f"{GATES['reward']} {self.min_reward} (work.min_reward)"
        return ""

    def _closed(self, task: Task) -> str:
        """Return why nobody can claim it; empty where somebody may be able to."""
        if task.claimant is not None:
            return GATES["nobody else's"]
        if not self._may_be_open(task):
            return f"{GATES['open']} {task.status!r}"
        return ""

    def _may_be_open(self, task: Task) -> bool:
        """Return whether a claim makes sense, if only to learn what a word means."""
        if self.states.meaning(task.status) is Meaning.OPEN:
            return True
        return task.claimant is None and self._asks(task)

    def _is_ours(self, task: Task) -> bool:
        """Return whether it is claimed by us: a restored journal may not know that."""
        return task.claimant == self.agent_id and task.status in CLAIMED_WORDS

    def _fingerprint(self, task: Task) -> str:
        seen = (
            self.active.generation,
            task.status,
            self._may_be_open(task),
            task.claimant,
            task.reward,
            task.title,
            task.tags,
            self.min_reward,
        )
        return hashlib.blake2b(repr(seen).encode(), digest_size=8).hexdigest()
