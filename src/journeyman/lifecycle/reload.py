"""Hot reload: a new generation of strategies, activated whole or not at all.

A generation is loaded, validated, and has its examples run; only then it takes the
place of the old one, between two steps of the event loop. Work in flight ends on the
generation that began it.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

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
from journeyman.strategies.running.dry_run import run_examples
from journeyman.strategies.running.runner import Runner
from journeyman.strategies.watchdog import SLOW_SECONDS

HANGUP = "SIGHUP"
SHOWN = (
    "strategies",
    "shadow",
    "added",
    "changed",
    "removed",
    "needs_restart",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """Strategies that were loaded, and may replace the active ones."""

    registry: Registry
    generation: Callable[[], Generation]
    """Separates active from shadow strategies; may raise ConfigurationError."""
    needs_restart: tuple[str, ...]
    """Settings whose new values take effect when the daemon starts again."""
    accept: Callable[[], None]
    """Keeps the settings that these strategies were loaded by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reloaded:
    """The result of a reload; all lists are sorted names."""

    reloaded: bool
    strategies: tuple[str, ...]
    """Those that are active now."""
    shadow: tuple[str, ...] = ()
    """Those that are asked and given no work."""
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()
    """Settings whose new values take effect when the daemon starts again."""
    problems: tuple[str, ...] = ()
    """Why the old generation was kept; each a text of a few lines."""

    def as_json(self) -> dict[str, JSON]:
        """Return it for the control socket."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }


@dataclass(kw_only=True, eq=False)
class Reloader:
    """Replaces the active strategies, one reload after the other."""

    load: Callable[[], Awaitable[Candidate]]
    """Loads from the files; may raise ConfigurationError."""
    runner: Runner
    """Runs the examples of a generation before it is activated."""
    lifecycle: Lifecycle
    hooks: Hooks
    gate: Gate
    requested: Wakeup
    """Notified by SIGHUP."""
    log: Log
    _lock: anyio.Lock = field(init=False, default_factory=anyio.Lock)
    _reason: str = field(init=False, default=HANGUP)
    _listeners: list[Callable[[], None]] = field(init=False, default_factory=list)

    def on_reload(self, listener: Callable[[], None]) -> None:
        """Call this when a new generation was activated."""
        self._listeners.append(listener)

    def request(self, reason: str) -> None:
        """Reload soon; several requests at once are one."""
        self._reason = reason
        self.requested.notify()

    async def run(self) -> None:
        """Reload when requested, forever; cancel to stop."""
        while True:
            await self.requested.wait()
            reason, self._reason = self._reason, HANGUP
            if not self.gate.is_closed:
                await self.reload(reason)

    async def start(self) -> None:
        """Call `on_start` of the first generation; a reload waits for that."""
        async with self._lock:
            await self._start_hooks(self.lifecycle.active.current)
            self.hooks.quarantine_misconfigured()

    async def reload(self, reason: str) -> Reloaded:
        """Activate a new generation, or keep the old one and return why.

        Raises:
            StateError: the daemon is stopping.
        """
        async with self._lock:
            self._require_open()
            try:
                candidate = await self.load()
                candidate.generation()
            except ConfigurationError as error:
                return self._refuse(reason, [str(error)])
            except Exception as error:  # noqa: BLE001 - a reload must not end the daemon
                return self._refuse(reason, [f"it cannot be loaded: {describe(error)}"])
            registry = candidate.registry
            problems = [*map(str, registry.problems)]
            problems = problems or await _failed_examples(registry, self.runner)
            if problems:
                _forget(registry)
                return self._refuse(reason, problems)
            self._require_open()
            await self._start_hooks(candidate.generation())
            # Only now: somebody may have been promoted meanwhile.
            return self._swap(reason, candidate)

    async def _start_hooks(self, generation: Generation) -> None:
        """Call `on_start` of all but those that have stopped a daemon before."""
        quarantine, shadows = self.lifecycle.quarantine, generation.shadows
        made = {one: shadows.get(one, "") for one in generation.everyone}
        await self.hooks.start(
            one
            for one, shadow in made.items()
            if quarantine.may_call(
                one.name, generation.fingerprints.get(one.name, shadow)
            )
        )

    def _require_open(self) -> None:
        if self.gate.is_closed:
            raise StateError(
                "the daemon is stopping and does not reload",
                "Start it again: it loads the strategies at its start.",
            )

    def _swap(self, reason: str, candidate: Candidate) -> Reloaded:
        """Activate a generation. Nothing is awaited: no task sees half of it."""
        active, generation = self.lifecycle.active, candidate.generation()
        before, after = active.fingerprints, generation.fingerprints
        for idle in active.replace(generation):
            self.hooks.retire(idle)
        self.hooks.quarantine_misconfigured()
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
        tell_slow_imports(candidate.registry, self.log)
        fields = {name: getattr(done, name) for name in SHOWN}
        self.log.emit(events.RELOADED, reason=reason, **fields)
        for listener in self._listeners:
            listener()
        return done

    def _refuse(self, reason: str, problems: list[str]) -> Reloaded:
        self.log.emit(events.RELOAD_REFUSED, reason=reason, problems=problems)
        return Reloaded(
            reloaded=False,
            strategies=tuple(sorted(self.lifecycle.active.fingerprints)),
            problems=tuple(problems),
        )


async def _failed_examples(registry: Registry, runner: Runner) -> list[str]:
    failed: list[str] = []
    for loaded in registry.strategies:
        for outcome in await run_examples(loaded, runner):
            if not outcome.passed:
                where = f"{loaded.path}:{loaded.line}"
                example = f"example {outcome.number} of {loaded.name}"
                failed.append(f"{where}: {example}: {outcome.message}")
    return failed


def tell_slow_imports(registry: Registry, log: Log) -> None:
    """Log how long the import of each file took that took long."""
    for loaded in registry.strategies:
        seconds = loaded.import_seconds
        if seconds >= SLOW_SECONDS:
            event, name = events.SLOW_IMPORT, loaded.name
            log.emit(event, strategy=name, seconds=round(seconds, 3))


def _forget(registry: Registry) -> None:
    for loaded in registry.strategies:
        forget(loaded.module)


Snapshot = frozenset[tuple[str, int, int]]
"""Each Python file's path, its time of change in nanoseconds, its size in bytes."""


class StrategyWatch:
    """Requests a reload when files have changed, and no longer change."""

    def __init__(
        self, folders: Callable[[], Iterable[Path]], changed: Callable[[], None]
    ) -> None:
        """Watch the folders that are configured at each look."""
        self._folders = folders
        self._changed = changed
        self._known = snapshot(folders())
        self._last = self._known

    def look(self) -> None:
        """Look once. A change is reported when two looks in a row see the same.

        A reload that is refused is not tried again before something changes.
        """
        seen = snapshot(self._folders())
        is_stable, self._last = seen == self._last, seen
        if is_stable and seen != self._known:
            self._known = seen
            self._changed()


def snapshot(folders: Iterable[Path]) -> Snapshot:
    """Return path, time and size of each Python file below any of the folders."""
    return frozenset(
        found
        for folder in folders
        for path in folder.rglob("*.py")
        if (found := _look_at(path)) is not None
    )


def _look_at(path: Path) -> tuple[str, int, int] | None:
    try:
        seen = path.stat()
    except OSError:  # It was removed meanwhile.
        return None
    return str(path), seen.st_mtime_ns, seen.st_size
