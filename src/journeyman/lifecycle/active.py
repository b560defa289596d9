"""The crew: the strategies in force, and which of them are given work."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Self

from journeyman.domain.clock import Clock
from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import Task
from journeyman.journal.shadows import ShadowVerdict
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Choice, Registry


class ShadowStrategies:
    """The strategies in shadow of one generation."""

    def __init__(
        self, fingerprints: Mapping[LoadedStrategy, str], memory: Registry
    ) -> None:
        """Hold them; `memory` knows whose `wants` has held the daemon up."""
        self.fingerprints = fingerprints
        """Of the files and the settings of each."""
        # One for each, since each is timed by itself.
        self._asked = [(one, memory.of([one])) for one in fingerprints]

    @property
    def strategies(self) -> tuple[LoadedStrategy, ...]:
        """All of them."""
        return tuple(self.fingerprints)

    def judge(self, task: Task, live: str, clock: Clock) -> Iterator[ShadowVerdict]:
        """Ask each; `live` is the strategy that got the task, empty for nobody."""
        for loaded, registry in self._asked:
            began = clock.monotonic()
            verdict = registry.choose(task).verdicts[0]
            yield ShadowVerdict(
                strategy=loaded.name,
                fingerprint=self.fingerprints[loaded],
                task_id=task.id,
                live=live,
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
    """Strategies that are asked and get nothing, and what each was made of."""

    @property
    def name(self) -> str:
        """Changes with any of the fingerprints."""
        made_of = sorted(self.fingerprints.items())
        made_of += sorted((f"({one.name})", each) for one, each in self.shadows.items())
        text = repr(made_of).encode()
        return hashlib.blake2b(text, digest_size=8).hexdigest()

    @property
    def everyone(self) -> tuple[LoadedStrategy, ...]:
        """Those that work, and those in shadow."""
        return (*self.registry.strategies, *self.shadows)

    def with_live(self, loaded: LoadedStrategy) -> Self:
        """Give it with one that leaves the shadow."""
        others = {one: made for one, made in self.shadows.items() if one is not loaded}
        return replace(
            self,
            registry=self.registry.of([*self.registry.strategies, loaded]),
            fingerprints={**self.fingerprints, loaded.name: self.shadows[loaded]},
            shadows=others,
        )

    def with_shadow(self, loaded: LoadedStrategy) -> Self:
        """Give it with one that goes into the shadow."""
        others = [one for one in self.registry.strategies if one is not loaded]
        prints = dict(self.fingerprints)
        made_of = prints.pop(loaded.name)
        return replace(
            self,
            registry=self.registry.of(others),
            fingerprints=prints,
            shadows={**self.shadows, loaded: made_of},
        )


class ActiveStrategies:
    """Finds the strategy for a task among those that may work."""

    def __init__(self, generation: Generation, quarantine: Quarantine) -> None:
        self._quarantine = quarantine
        self._at_work: Counter[LoadedStrategy] = Counter()
        self._leavers: list[Callable[[LoadedStrategy], None]] = []
        self._put_in_force(generation)

    @property
    def registry(self) -> Registry:
        """The strategies in force."""
        return self._now.registry

    @property
    def now(self) -> Generation:
        """The generation in force."""
        return self._now

    @property
    def shadows(self) -> ShadowStrategies:
        """Those that are asked and get nothing."""
        return self._shadows

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """What each strategy in force is made of, by its name."""
        return self._now.fingerprints

    @property
    def generation(self) -> str:
        """Changes whenever a task that was passed over should be looked at again."""
        return " ".join([self._name, *sorted(self._quarantine.obstacles())])

    def replace(self, generation: Generation) -> list[LoadedStrategy]:
        """Put a new generation in force; give those that left it and are idle.

        Whoever is at work ends that work; then the listeners of `on_leave` are told.
        """
        before = self._now.everyone
        self._put_in_force(generation)
        gone = [one for one in before if not self.is_current(one)]
        return [loaded for loaded in gone if not self._at_work[loaded]]

    def _put_in_force(self, generation: Generation) -> None:
        self._now, self._name = generation, generation.name
        self._shadows = ShadowStrategies(generation.shadows, generation.registry)
        shadows = {one.name: made for one, made in generation.shadows.items()}
        self._quarantine.enforce({**shadows, **generation.fingerprints})

    def on_leave(self, listener: Callable[[LoadedStrategy], None]) -> None:
        """Call this when a strategy of an old generation has ended its last work."""
        self._leavers.append(listener)

    def is_current(self, loaded: LoadedStrategy) -> bool:
        """Tell whether it is of the generation in force, at work or in shadow."""
        return any(one is loaded for one in self._now.everyone)

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
        """Name the strategy that should do a task, or the reason why none does."""
        choice = self.registry.choose(task, self._quarantine.obstacles())
        if choice.strategy is not None:
            # One that is on trial gets this task and no other.
            self._quarantine.may_begin(choice.strategy.name, task.id)
        return choice

    def find_for(self, record: TaskRecord) -> LoadedStrategy | None:
        """Find the strategy that wanted a task, else one that wants it now.

        Its file may have been renamed or taken away since, or it may rest.
        """
        wanted = self._find(record.strategy)
        if wanted and self._quarantine.may_begin(wanted.name, record.task_id):
            return wanted
        return self.choose(record.task).strategy

    def is_held(self, strategy: str) -> bool:
        """Tell whether a strategy is there, and could do a task later."""
        return self._find(strategy) is not None and self._quarantine.holds(strategy)

    def absence(self, strategy: str) -> str:
        """Say why a task's strategy does not do it."""
        where = "in quarantine" if self._find(strategy) else "gone"
        if any(one.name == strategy for one in self._now.shadows):
            where = "in shadow"
        return f"its strategy {strategy!r} is {where}, and no other wants it"

    def _find(self, strategy: str) -> LoadedStrategy | None:
        try:
            return self.registry.find(strategy)
        except ConfigurationError:
            return None

    def _leave(self, loaded: LoadedStrategy) -> None:
        del self._at_work[loaded]
        if not self.is_current(loaded):
            for listener in self._leavers:
                listener(loaded)
