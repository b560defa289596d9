"""Promotion: a strategy leaves the shadow, and goes back by itself if it fails."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from typing import Final

from journeyman.domain.clock import Clock
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import JSON, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.shadows import Promoted, ShadowState
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle import events
from journeyman.lifecycle.active import ActiveStrategies, Generation
from journeyman.observability.events import Log
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Registry

FEWEST_FAILURES: Final = 3
"""One or two failed tasks say nothing."""
FAILURES: Final = (TaskState.FAILED, TaskState.REJECTED)
ENDS: Final = frozenset({TaskState.COMPLETED, *FAILURES})


class Promotion:
    """Puts strategies to work out of the shadow, and watches their first tasks."""

    def __init__(
        self,
        *,
        active: ActiveStrategies,
        journal: Journal,
        watch_tasks: int,
        more_failures: float,
        clock: Clock,
        log: Log,
    ) -> None:
        self._active = active
        self._journal = journal
        self._watch_tasks = watch_tasks
        self._more_failures = more_failures
        self._clock = clock
        self._log = log
        self._listeners: list[Callable[[], None]] = []
        self._watched = _watched(journal.shadows.standing())

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call this when a strategy went to work, or back into the shadow."""
        self._listeners.append(listener)

    def settle(self, named: Collection[str]) -> None:
        """Write down who is in shadow; forget promotions that the settings settle.

        Args:
            named: the strategies that the settings name as shadows. One that is not
                among them is active; named again later, it starts in shadow again.
        """
        active, standing = self._active, self._journal.shadows.standing()
        kept = {name: one for name, one in standing.promoted.items() if name in named}
        self._keep(ShadowState(shadows=self._in_shadow(), promoted=kept))
        if active.shadows.strategies:
            self._log.emit(events.IN_SHADOW, strategies=list(self._in_shadow()))

    def promote(self, wanted: str) -> dict[str, JSON]:
        """Put one to work: from the next look at the market on it gets tasks.

        Raises:
            UsageError: it is at work already.
            ConfigurationError: there is none of this name.
        """
        loaded = self._find(wanted)
        standing = self._journal.shadows.standing()
        promoted = Promoted(
            at=self._clock.now().isoformat(), failures_before=self._failures()
        )
        self._put_in_force(self._active.now.with_live(loaded))
        everyone = {**standing.promoted, loaded.name: promoted}
        self._keep(ShadowState(shadows=self._in_shadow(), promoted=everyone))
        self._log.emit(
            events.PROMOTED,
            strategy=loaded.name,
            version=loaded.version,
            watch_tasks=self._watch_tasks,
        )
        self._tell()
        return {"strategy": loaded.name, "promoted": True}

    def watch(self, record: TaskRecord) -> None:
        """Look at a task that has ended; call a failing strategy back."""
        name, known = record.strategy, self._watched.get(record.strategy)
        if known is None or record.state not in ENDS or not self._watch_tasks:
            return
        moment = datetime.fromisoformat(known.at)
        ended, failed = self._journal.shadows.ended_since(name, moment)
        most = known.failures_before + self._more_failures
        if failed >= FEWEST_FAILURES and failed / ended > most:
            self._call_back(name, known, ended, failed)
        elif ended >= self._watch_tasks:
            self._let_be(name, known, ended, failed)

    def _find(self, wanted: str) -> LoadedStrategy:
        loaded = _everyone(self._active).find(wanted)
        if loaded not in self._active.shadows.strategies:
            others = ", ".join(self._in_shadow()) or "none"
            raise UsageError(
                f"the strategy {loaded.name!r} is not in shadow: it is at work",
                f"In shadow: {others}.",
            )
        return loaded

    def _call_back(self, name: str, known: Promoted, ended: int, failed: int) -> None:
        standing = self._journal.shadows.standing()
        for loaded in self._active.registry.strategies:
            if loaded.name == name:
                self._put_in_force(self._active.now.with_shadow(loaded))
        left = {other: one for other, one in standing.promoted.items() if other != name}
        self._keep(ShadowState(shadows=self._in_shadow(), promoted=left))
        self._log.emit(
            events.CALLED_BACK,
            strategy=name,
            ended=ended,
            failed=failed,
            failures_before=round(known.failures_before, 3),
        )
        self._tell()

    def _let_be(self, name: str, known: Promoted, ended: int, failed: int) -> None:
        standing = self._journal.shadows.standing()
        settled = {**standing.promoted, name: replace(known, is_settled=True)}
        self._keep(replace(standing, promoted=settled))
        self._log.emit(events.SETTLED, strategy=name, ended=ended, failed=failed)

    def _put_in_force(self, generation: Generation) -> None:
        # Nobody leaves by this: all of them are in the new generation.
        self._active.replace(generation)

    def _keep(self, standing: ShadowState) -> None:
        if standing != self._journal.shadows.standing():
            with self._journal.tx("shadows"):
                self._journal.shadows.put_standing(standing)
        self._watched = _watched(standing)

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()

    def _in_shadow(self) -> tuple[str, ...]:
        return tuple(sorted(one.name for one in self._active.shadows.strategies))

    def _failures(self) -> float:
        """Give the share of failures among all tasks that have ended, 0 to 1."""
        counts = self._journal.tasks.counts()
        failed = sum(counts.get(state, 0) for state in FAILURES)
        ended = failed + counts.get(TaskState.COMPLETED, 0)
        return failed / ended if ended else 0.0


def _everyone(active: ActiveStrategies) -> Registry:
    return active.registry.of(active.now.everyone)


def _watched(standing: ShadowState) -> dict[str, Promoted]:
    return {n: one for n, one in standing.promoted.items() if not one.is_settled}
