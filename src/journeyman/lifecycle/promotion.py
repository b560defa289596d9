"""Promotion: a strategy leaves the shadow, and is demoted if it fails too often."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import datetime

from journeyman.domain.clock import Clock
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import JSON, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.shadows import PromotedStrategy, ShadowState
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle import events
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.observability.events import Log
from journeyman.strategies.loading.loaded import LoadedStrategy

FEWEST_FAILURES = 3
"""One or two failed tasks say nothing."""
FAILURES = (TaskState.FAILED, TaskState.REJECTED)
ENDS = frozenset({TaskState.COMPLETED, *FAILURES})


@dataclass(kw_only=True, eq=False)
class Promotion:
    """Activates strategies that were in shadow, and watches their first tasks."""

    active: ActiveStrategies
    journal: Journal
    watch_tasks: int
    more_failures: float
    clock: Clock
    log: Log
    _watched: dict[str, PromotedStrategy] = field(init=False)
    _listeners: list[Callable[[], None]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._watched = _watched(self.journal.shadows.state())

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call this when a strategy was promoted or demoted."""
        self._listeners.append(listener)

    def note_shadows(self, named: Collection[str]) -> None:
        """Note who is in shadow; forget promotions that the settings made final.

        Args:
            named: the strategies that the settings name as shadows. One that is not
                among them is active; named again later, it starts in shadow again.
        """
        standing = self.journal.shadows.state()
        kept = {name: one for name, one in standing.promoted.items() if name in named}
        self._keep(ShadowState(shadows=self._in_shadow(), promoted=kept))
        if self.active.shadows.strategies:
            self.log.emit(events.IN_SHADOW, strategies=list(self._in_shadow()))

    def promote(self, wanted: str) -> dict[str, JSON]:
        """Activate one: it gets tasks from the next look at the marketplace on.

        Raises:
            UsageError: it is active already.
            ConfigurationError: there is none of this name.
        """
        loaded = self._find(wanted)
        standing = self.journal.shadows.state()
        promoted = PromotedStrategy(
            at=self.clock.now().isoformat(), failures_before=self._failures()
        )
        # Nobody leaves by this: all of them are in the new generation.
        self.active.replace(self.active.current.with_active(loaded))
        everyone = {**standing.promoted, loaded.name: promoted}
        self._keep(ShadowState(shadows=self._in_shadow(), promoted=everyone))
        self.log.emit(
            events.PROMOTED,
            strategy=loaded.name,
            version=loaded.version,
            watch_tasks=self.watch_tasks,
        )
        self._notify()
        return {"strategy": loaded.name, "promoted": True}

    def watch(self, record: TaskRecord) -> None:
        """Look at a task that has ended; demote a strategy that fails too often."""
        name, known = record.strategy, self._watched.get(record.strategy)
        if known is None or record.state not in ENDS or not self.watch_tasks:
            return
        moment = datetime.fromisoformat(known.at)
        ended, failed = self.journal.shadows.ended_since(name, moment)
        most = known.failures_before + self.more_failures
        if failed >= FEWEST_FAILURES and failed / ended > most:
            self._demote(name, known, ended, failed)
        elif ended >= self.watch_tasks:
            self._confirm(name, known, ended, failed)

    def _find(self, wanted: str) -> LoadedStrategy:
        everyone = self.active.registry.of(self.active.current.everyone)
        loaded = everyone.find(wanted)
        if loaded not in self.active.shadows.strategies:
            others = ", ".join(self._in_shadow()) or "none"
            raise UsageError(
                f"the strategy {loaded.name!r} is not in shadow: it is active",
                f"In shadow: {others}.",
            )
        return loaded

    def _demote(
        self, name: str, known: PromotedStrategy, ended: int, failed: int
    ) -> None:
        standing = self.journal.shadows.state()
        for loaded in self.active.registry.strategies:
            if loaded.name == name:
                self.active.replace(self.active.current.with_shadow(loaded))
        left = {other: one for other, one in standing.promoted.items() if other != name}
        self._keep(ShadowState(shadows=self._in_shadow(), promoted=left))
        self.log.emit(
            events.DEMOTED,
            strategy=name,
            ended=ended,
            failed=failed,
            failures_before=round(known.failures_before, 3),
        )
        self._notify()

    def _confirm(
        self, name: str, known: PromotedStrategy, ended: int, failed: int
    ) -> None:
        standing = self.journal.shadows.state()
        settled = {**standing.promoted, name: replace(known, is_settled=True)}
        self._keep(replace(standing, promoted=settled))
        self.log.emit(
            events.PROMOTION_CONFIRMED, strategy=name, ended=ended, failed=failed
        )

    def _keep(self, standing: ShadowState) -> None:
        if standing != self.journal.shadows.state():
            with self.journal.tx("shadows"):
                self.journal.shadows.put_state(standing)
        self._watched = _watched(standing)

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()

    def _in_shadow(self) -> tuple[str, ...]:
        return tuple(sorted(one.name for one in self.active.shadows.strategies))

    def _failures(self) -> float:
        """Return the share of failures among all tasks that have ended, 0 to 1."""
        counts = self.journal.tasks.counts()
        failed = sum(counts.get(state, 0) for state in FAILURES)
        ended = failed + counts.get(TaskState.COMPLETED, 0)
        return failed / ended if ended else 0.0


def _watched(standing: ShadowState) -> dict[str, PromotedStrategy]:
    return {n: one for n, one in standing.promoted.items() if not one.is_settled}
