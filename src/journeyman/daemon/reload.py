"""Hot reload: a new generation of strategies, put in force whole or not at all.

A generation is loaded, validated, and has its examples run; only then it takes the
place of the old one, between two steps of the event loop. Work in flight ends on the
generation that began it.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

import anyio

from journeyman.daemon import events
from journeyman.daemon.compose import Staff
from journeyman.daemon.hooks import Hooks
from journeyman.domain import JSON
from journeyman.domain.errors import ConfigurationError, StateError
from journeyman.loop import Bell, Gate, Generation
from journeyman.observability import Log
from journeyman.settings import Settings, StrategySettings
from journeyman.strategies.examples import run_examples
from journeyman.strategies.local_modules import forget
from journeyman.strategies.registry import Registry
from journeyman.strategies.wording import describe

Load = Callable[[StrategySettings], Registry]
Part = Callable[[Registry, StrategySettings], Generation]
"""Parts those that work from those in shadow; may raise ConfigurationError."""

RELOADABLE: Final = frozenset(
    {"directory", "disabled", "installed", "params", "runners", "shadow"}
)
"""Settings of [strategies] that a reload puts in force."""
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
        settings: Settings,
        reread: Callable[[], Settings],
        load: Load,
        part: Part,
        staff: Staff,
        hooks: Hooks,
        gate: Gate,
        wishes: Bell,
        log: Log,
    ) -> None:
        """Compare with `settings`, which the daemon runs by; `reread` gives new ones.

        `reread` may raise ConfigurationError; `wishes` is rung by SIGHUP.
        """
        self._settings = settings
        self._reread = reread
        self._load = load
        self._part = part
        self._staff = staff
        self._hooks = hooks
        self._gate = gate
        self._log = log
        self._turn = anyio.Lock()
        self._wishes = wishes
        self._reason = HANGUP
        self._listeners: list[Callable[[], None]] = []
        self.strategy_settings = settings.strategies
        """Those in force."""

    def on_reload(self, listener: Callable[[], None]) -> None:
        """Call this when a new generation has been put in force."""
        self._listeners.append(listener)

    def wish(self, reason: str) -> None:
        """Reload soon; several wishes at once are one."""
        self._reason = reason
        self._wishes.ring()

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
            await self._hooks.start(self._staff.crew.now.everyone)
            self._hooks.bar_unfit()

    async def reload(self, reason: str) -> Reloaded:
        """Put a new generation in force, or keep the old one and say why.

        Raises:
            StateError: the daemon is stopping.
        """
        async with self._turn:
            self._require_open()
            try:
                settings = self._reread()
                registry = self._load(settings.strategies)
                self._part(registry, settings.strategies)
            except ConfigurationError as error:
                return self._refuse(reason, [str(error)])
            except Exception as error:  # noqa: BLE001 - a reload must not end the daemon
                return self._refuse(reason, [f"it cannot be loaded: {describe(error)}"])
            problems = [*map(str, registry.problems)]
            problems = problems or await _failed_examples(registry)
            if problems:
                _forget(registry)
                return self._refuse(reason, problems)
            self._require_open()
            await self._hooks.start(registry.strategies)
            # Only now: somebody may have been promoted meanwhile.
            generation = self._part(registry, settings.strategies)
            return self._swap(reason, settings, generation)

    def _require_open(self) -> None:
        if self._gate.is_closed:
            raise StateError(
                "the daemon is stopping, and loads nothing more",
                "Start it again: it loads the strategies at its start.",
            )

    def _swap(
        self, reason: str, settings: Settings, generation: Generation
    ) -> Reloaded:
        """Put a generation in force. Nothing is awaited: no task sees half of it."""
        crew = self._staff.crew
        before, after = crew.fingerprints, generation.fingerprints
        for idle in crew.replace(generation):
            self._hooks.retire(idle)
        self._hooks.bar_unfit()
        self.strategy_settings = settings.strategies
        done = Reloaded(
            reloaded=True,
            strategies=tuple(sorted(after)),
            shadow=tuple(sorted(one.name for one in generation.shadows)),
            added=tuple(sorted(after.keys() - before.keys())),
            changed=tuple(
                sorted(n for n in after if n in before and after[n] != before[n])
            ),
            removed=tuple(sorted(before.keys() - after.keys())),
            needs_restart=tuple(needs_restart(self._settings, settings)),
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
            strategies=tuple(sorted(self._staff.crew.fingerprints)),
            problems=tuple(problems),
        )


def needs_restart(running: Settings, wanted: Settings) -> Iterator[str]:
    """Give the dotted names of settings that a reload does not put in force."""
    for section in type(running).model_fields:
        before, after = getattr(running, section), getattr(wanted, section)
        for name in type(before).model_fields:
            is_reloadable = section == "strategies" and name in RELOADABLE
            if not is_reloadable and getattr(before, name) != getattr(after, name):
                yield f"{section}.{name}"


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
