"""The active strategies: which are given work, and which are asked in shadow."""

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Self

from journeyman.domain.clock import Clock
from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import IN_FLIGHT, Task, TaskId
from journeyman.journal.shadows import ShadowVerdict
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle import events
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.strategies.loading.confined import must_be_asked
from journeyman.strategies.loading.loaded import LoadedStrategy, place_in
from journeyman.strategies.loading.registry import Choice, Registry
from journeyman.strategies.watchdog import Stack


class ShadowStrategies:
    """The strategies in shadow of one generation."""

    def __init__(
        self,
        fingerprints: Mapping[LoadedStrategy, str],
        memory: Registry,
        quarantine: Quarantine,
    ) -> None:
        """Take them; `memory` knows whose `wants` has blocked the daemon."""
        self.fingerprints = fingerprints
        """Of the files and the settings of each."""
        self._quarantine = quarantine
        # One for each, since each is timed by itself.
        self._asked = [(one, memory.of([one])) for one in fingerprints]

    @property
    def strategies(self) -> tuple[LoadedStrategy, ...]:
        """All of them."""
        return tuple(self.fingerprints)

    def ask(self, task: Task, active: str, clock: Clock) -> Iterator[ShadowVerdict]:
        """Ask each; `active` is the strategy that got the task, empty for nobody."""
        unasked = self._quarantine.cannot_work()
        for loaded, registry in self._asked:
            if loaded.name in unasked:
                continue
            began = clock.monotonic()
            verdict = registry.choose(task).verdicts[0]
            yield ShadowVerdict(
                strategy=loaded.name,
                fingerprint=self.fingerprints[loaded],
                task_id=task.id,
                active=active,
                wanted=verdict.wanted,
                reason=verdict.reason,
                offer=verdict.offer or 0.0,
                failed=verdict.failed,
                seconds=clock.monotonic() - began,
            )


@dataclass(frozen=True, slots=True)
class Generation:
    """The strategies of one loading, and what each of them was made of."""

    registry: Registry
    fingerprints: Mapping[str, str]
    """By strategy: it changes with its file, what that imports, or its settings."""
    shadows: Mapping[LoadedStrategy, str] = field(default_factory=dict)
    """Strategies that are asked and given no work, with their fingerprints."""

    @property
    def name(self) -> str:
        """Changes with any of the fingerprints."""
        made_of = sorted(self.fingerprints.items())
        made_of += sorted((f"({one.name})", each) for one, each in self.shadows.items())
        text = repr(made_of).encode()
        return hashlib.blake2b(text, digest_size=8).hexdigest()

    @property
    def everyone(self) -> tuple[LoadedStrategy, ...]:
        """Those that are given work, and those in shadow."""
        return (*self.registry.strategies, *self.shadows)

    def with_active(self, loaded: LoadedStrategy) -> Self:
        """Return it with one that leaves the shadow."""
        others = {one: made for one, made in self.shadows.items() if one is not loaded}
        return replace(
            self,
            registry=self.registry.of([*self.registry.strategies, loaded]),
            fingerprints={**self.fingerprints, loaded.name: self.shadows[loaded]},
            shadows=others,
        )

    def with_shadow(self, loaded: LoadedStrategy) -> Self:
        """Return it with one that goes into the shadow."""
        others = [one for one in self.registry.strategies if one is not loaded]
        prints = dict(self.fingerprints)
        made_of = prints.pop(loaded.name)
        return replace(
            self,
            registry=self.registry.of(others),
            fingerprints=prints,
            shadows={**self.shadows, loaded: made_of},
        )


Consult = Callable[[Sequence[LoadedStrategy], Sequence[Task]], Awaitable[None]]


async def ask_nobody(
    _strategies: Sequence[LoadedStrategy], _tasks: Sequence[Task]
) -> None:
    """Stand for the question where no strategy has a process of its own."""


PUT_BACK_KEPT_SECONDS = 3600.0
"""So long a task that was put back is remembered, though it is no longer listed."""


@dataclass(eq=False)
class ActiveStrategies:
    """Finds the strategy for a task among those that may work."""

    current: Generation
    quarantine: Quarantine
    consult: Consult = ask_nobody
    """Has the processes of strategies decide about tasks, before `choose`."""
    put_back: dict[TaskId, float] = field(init=False, default_factory=dict)
    """Tasks that were wanted and then refused for now, each with the monotonic time
    from which on it is decided about again."""
    shadows: ShadowStrategies = field(init=False)
    """Those that are asked and given no work."""
    _told: set[str] = field(init=False, default_factory=set)
    """Strategies, with what they were made of, that were told to block the loop."""
    _name: str = field(init=False)
    _at_work: Counter[LoadedStrategy] = field(init=False, default_factory=Counter)
    _leave_listeners: list[Callable[[LoadedStrategy], None]] = field(
        init=False, default_factory=list
    )

    def __post_init__(self) -> None:
        self._activate(self.current)

    @property
    def registry(self) -> Registry:
        """The active strategies."""
        return self.current.registry

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """What each active strategy is made of, by its name."""
        return self.current.fingerprints

    @property
    def generation(self) -> str:
        """Changes whenever a task that was skipped should be looked at again."""
        return " ".join([self._name, *sorted(self.quarantine.obstacles)])

    def replace(self, generation: Generation) -> list[LoadedStrategy]:
        """Activate a new generation; return those that left and are idle.

        Whoever is at work ends that work; then the listeners of `on_leave` are called.
        """
        before = self.current.everyone
        self._activate(generation)
        gone = [one for one in before if not self.is_current(one)]
        return [loaded for loaded in gone if not self._at_work[loaded]]

    def _activate(self, generation: Generation) -> None:
        self.current, self._name = generation, generation.name
        generation.registry.told = self.note_block
        self.shadows = ShadowStrategies(
            generation.shadows, generation.registry, self.quarantine
        )
        shadows = {one.name: made for one, made in generation.shadows.items()}
        self.quarantine.use({**shadows, **generation.fingerprints})

    def on_leave(self, listener: Callable[[LoadedStrategy], None]) -> None:
        """Call this when a strategy of an old generation has ended its last work."""
        self._leave_listeners.append(listener)

    def is_current(self, loaded: LoadedStrategy) -> bool:
        """Return whether it is of the current generation, active or in shadow."""
        return any(one is loaded for one in self.current.everyone)

    @contextmanager
    def at_work(self, loaded: LoadedStrategy) -> Iterator[None]:
        """Count a strategy as working inside the block."""
        self._at_work[loaded] += 1
        try:
            yield
        finally:
            self._at_work[loaded] -= 1
            if not self._at_work[loaded]:
                self._leave(loaded)

    def choose(self, task: Task) -> Choice:
        """Return the strategy that should do a task, or the reason why none does."""
        excluded = self.quarantine.obstacles_to(task.kind)
        choice = self.registry.choose(task, excluded, self.quarantine.cannot_work())
        if choice.strategy is not None:
            # In a trial run a strategy gets this task and no other.
            self.quarantine.may_begin(choice.strategy.name, task)
        return choice

    def put_back_until(self, task_id: TaskId, until: float) -> None:
        """Have a task decided about again from then on; forget those long gone."""
        old = until - PUT_BACK_KEPT_SECONDS
        self.put_back = {one: at for one, at in self.put_back.items() if at > old}
        self.put_back[task_id] = until

    def note_block(self, loaded: LoadedStrategy, seconds: float, stack: Stack) -> None:
        """Log, once for each version of a strategy, that it has blocked the loop."""
        version = f"{loaded.name} {loaded.fingerprint}"
        if version not in self._told:
            self._told.add(version)
            self.quarantine.log.emit(
                events.BLOCKS,
                strategy=loaded.name,
                seconds=round(seconds, 3),
                where=place_in(loaded, stack),
            )

    def count_faults(self, task: Task, choice: Choice) -> None:
        """Count errors in `wants` like those in `run`, inside a transaction."""
        quarantine = self.quarantine
        for verdict in [one for one in choice.verdicts if one.failed]:
            name, problem = verdict.strategy, verdict.reason
            if quarantine.contains(name):
                continue
            fields = {"strategy": name, "task_id": task.id, "where": verdict.where}
            quarantine.log.emit(events.WANTS_FAILED, **fields, problem=problem)
            if verdict.blocked:
                fix = "do in run what takes long"
                quarantine.mark_misconfigured(name, problem, fix, task.id)
                quarantine.report(name)
            else:
                quarantine.count_error(name, problem, task.id)

    @property
    def to_consult(self) -> list[LoadedStrategy]:
        """Those, also in shadow, whose own process must be asked before a decision."""
        return [one for one in self.current.everyone if must_be_asked(one)]

    async def find_for(self, record: TaskRecord) -> LoadedStrategy | None:
        """Find the strategy that wanted a task, else one that wants it now.

        Its file may have been renamed or removed since, or it may be in quarantine.
        """
        wanted = self._find(record.strategy)
        is_ours = record.state in IN_FLIGHT
        may_work = is_ours or record.strategy not in self.quarantine.disabled()
        if wanted and may_work and self.quarantine.may_begin(wanted.name, record.task):
            return wanted
        await self.consult(self.to_consult, [record.task])
        return self.choose(record.task).strategy

    def is_in_quarantine(self, record: TaskRecord) -> bool:
        """Return whether a task's strategy is there, and could do it later."""
        strategy, kind = record.strategy, record.task.kind
        is_there = self._find(strategy) is not None
        return is_there and self.quarantine.delays(strategy, kind)

    def absence(self, record: TaskRecord) -> str:
        """Return why a task's strategy does not do it."""
        strategy, kind = record.strategy, record.task.kind
        is_whole = self.quarantine.contains(strategy)
        where = "in quarantine" if self._find(strategy) else "gone"
        if strategy in self.quarantine.disabled():
            where = "disabled by its owner"
        if any(one.name == strategy for one in self.current.shadows):
            where = "in shadow"
        elif self.quarantine.delays(strategy, kind) and not is_whole:
            where = f"in quarantine for kind {kind!r}"
        return f"its strategy {strategy!r} is {where}, and no other wants it"

    def _find(self, strategy: str) -> LoadedStrategy | None:
        for loaded in self.registry.strategies:
            if loaded.name == strategy:
                return loaded
        try:
            return self.registry.find(strategy)
        except ConfigurationError:
            return None

    def _leave(self, loaded: LoadedStrategy) -> None:
        del self._at_work[loaded]
        if not self.is_current(loaded):
            for listener in self._leave_listeners:
                listener(loaded)
