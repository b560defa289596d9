"""Hot reload: a new generation of strategies, put in force whole or not at all.

A generation is loaded, validated, and has its examples run; only then it takes the
place of the old one, between two steps of the event loop. Work in flight ends on the
generation that began it.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeAlias

import anyio

from journeyman.domain.errors import ConfigurationError, StateError
from journeyman.domain.tasks import JSON
from journeyman.domain.text import describe
from journeyman.lifecycle import events
from journeyman.lifecycle.active import Generation
from journeyman.lifecycle.gate import Gate
from journeyman.lifecycle.hooks import Hooks
from journeyman.lifecycle.lifecycle import Lifecycle
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.observability.events import Log
from journeyman.strategies.loading.importing import forget
from journeyman.strategies.loading.registry import Registry
from journeyman.strategies.running.examples import run_examples

HANGUP: Final = "SIGHUP"
SHOWN: Final = (
    "strategies",
    "shadow",
    "added",
    "changed",
    "removed",
    "needs_restart",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """Strategies that were loaded, and may take the place of those in service."""

    registry: Registry
    generation: Callable[[], Generation]
    """Separates active from shadow strategies; may raise ConfigurationError."""
    needs_restart: tuple[str, ...]
    """Settings whose new values are not in force before the daemon starts again."""
    accept: Callable[[], None]
    """Keeps the settings that these strategies were loaded by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reloaded:
    """What came of a reload; lists hold names, sorted."""

    reloaded: bool
    strategies: tuple[str, ...]
    """Those in force now."""
    shadow: tuple[str, ...] = ()
    """Those that are asked and get nothing."""
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()
    """Settings whose new values are not in force before the daemon starts again."""
    problems: tuple[str, ...] = ()
    """Why the old generation was kept; each a text of a few lines."""

    def as_json(self) -> dict[str, JSON]:
        """Give it for the control socket."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }


class Reloader:
    """Replaces the strategies in force, one reload after the other."""

    def __init__(
        self,
        *,
        load: Callable[[], Candidate],
        lifecycle: Lifecycle,
        hooks: Hooks,
        gate: Gate,
        wishes: Wakeup,
        log: Log,
    ) -> None:
        """Load with `load`, which may raise ConfigurationError.

        `wishes` is notified by SIGHUP.
        """
        self._load = load
        self._lifecycle = lifecycle
        self._hooks = hooks
        self._gate = gate
        self._log = log
        self._turn = anyio.Lock()
        self._wishes = wishes
        self._reason = HANGUP
        self._listeners: list[Callable[[], None]] = []

    def on_reload(self, listener: Callable[[], None]) -> None:
        """Call this when a new generation has been put in force."""
        self._listeners.append(listener)

    def wish(self, reason: str) -> None:
        """Reload soon; several wishes at once are one."""
        self._reason = reason
        self._wishes.notify()

    async def run(self) -> None:
        """Fulfil wishes for ever; cancel to stop."""
        while True:
            await self._wishes.wait()
            reason, self._reason = self._reason, HANGUP
            if not self._gate.is_closed:
                await self.reload(reason)

    async def start(self) -> None:
        """Call `on_start` of the first generation; a reload waits for that."""
        async with self._turn:
            await self._hooks.start(self._lifecycle.active.now.everyone)
            self._hooks.bar_unfit()

    async def reload(self, reason: str) -> Reloaded:
        """Put a new generation in force, or keep the old one and say why.

        Raises:
            StateError: the daemon is stopping.
        """
        async with self._turn:
            self._require_open()
            try:
                candidate = self._load()
                candidate.generation()
            except ConfigurationError as error:
                return self._refuse(reason, [str(error)])
            except Exception as error:  # noqa: BLE001 - a reload must not end the daemon
                return self._refuse(reason, [f"it cannot be loaded: {describe(error)}"])
            registry = candidate.registry
            problems = [*map(str, registry.problems)]
            problems = problems or await _failed_examples(registry)
            if problems:
                _forget(registry)
                return self._refuse(reason, problems)
            self._require_open()
            await self._hooks.start(registry.strategies)
            # Only now: somebody may have been promoted meanwhile.
            return self._swap(reason, candidate)

    def _require_open(self) -> None:
        if self._gate.is_closed:
            raise StateError(
                "the daemon is stopping, and loads nothing more",
                "Start it again: it loads the strategies at its start.",
            )

    def _swap(self, reason: str, candidate: Candidate) -> Reloaded:
        """Put a generation in force. Nothing is awaited: no task sees half of it."""
        active, generation = self._lifecycle.active, candidate.generation()
        before, after = active.fingerprints, generation.fingerprints
        for idle in active.replace(generation):
            self._hooks.retire(idle)
        self._hooks.bar_unfit()
        candidate.accept()
        done = Reloaded(
            reloaded=True,
            strategies=tuple(sorted(after)),
            shadow=tuple(sorted(one.name for one in generation.shadows)),
            added=tuple(sorted(after.keys() - before.keys())),
            changed=tuple(
                sorted(n for n in after if n in before and after[n] != before[n])
            ),
            removed=tuple(sorted(before.keys() - after.keys())),
            needs_restart=candidate.needs_restart,
        )
        told = {name: getattr(done, name) for name in SHOWN}
        self._log.emit(events.RELOADED, reason=reason, **told)
        for listener in self._listeners:
            listener()
        return done

    def _refuse(self, reason: str, problems: list[str]) -> Reloaded:
        self._log.emit(events.RELOAD_REFUSED, reason=reason, problems=problems)
        return Reloaded(
            reloaded=False,
            strategies=tuple(sorted(self._lifecycle.active.fingerprints)),
            problems=tuple(problems),
        )


async def _failed_examples(registry: Registry) -> list[str]:
    failed: list[str] = []
    for loaded in registry.strategies:
        for outcome in await run_examples(loaded):
            if not outcome.passed:
                where = f"{loaded.path}:{loaded.line}"
                example = f"example {outcome.number} of {loaded.name}"
                failed.append(f"{where}: {example}: {outcome.message}")
    return failed


def _forget(registry: Registry) -> None:
    for loaded in registry.strategies:
        forget(loaded.module)


Snapshot: TypeAlias = frozenset[tuple[str, int, int]]
"""Each Python file's path, its time of change in nanoseconds, its size in bytes."""


class StrategyWatch:
    """Calls for a reload when files have changed, and have come to rest."""

    def __init__(self, folder: Callable[[], Path], changed: Callable[[], None]) -> None:
        """Watch the folder that is in force at each look."""
        self._folder = folder
        self._changed = changed
        self._known = snapshot(folder())
        self._last = self._known

    def look(self) -> None:
        """Look once. A change is told when two looks in a row see the same of it.

        A reload that is refused is not tried again before something changes.
        """
        seen = snapshot(self._folder())
        is_at_rest, self._last = seen == self._last, seen
        if is_at_rest and seen != self._known:
            self._known = seen
            self._changed()


def snapshot(folder: Path) -> Snapshot:
    """Give what the Python files below a folder look like from outside."""
    return frozenset(
        found for path in folder.rglob("*.py") if (found := _look_at(path)) is not None
    )


def _look_at(path: Path) -> tuple[str, int, int] | None:
    try:
        seen = path.stat()
    except OSError:  # It was taken away meanwhile.
        return None
    return str(path), seen.st_mtime_ns, seen.st_size
