"""Strategies as commands see them: loaded, found by name, with their history."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import typer

from journeyman.cli.completion import strategy_names
from journeyman.cli.session import Session
from journeyman.daemon import strategies
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import ConfigurationError, StateError
from journeyman.journal.scores import StrategyScore, scoreboard
from journeyman.journal.shadows import ShadowState
from journeyman.journal.strategy_health import Health, Part
from journeyman.journal.track_records import Group, TrackRecord
from journeyman.settings.sections import Settings
from journeyman.settings.sources import LoadedSettings
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import (
    Described,
    Folders,
    Loading,
    configure,
    load_file,
    strategy_files,
)
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.registry import Registry, load_registry
from journeyman.strategies.loading.source import strategy_stem

if TYPE_CHECKING:
    from journeyman.strategies.running.runner import Runner

StrategiesOption = Annotated[
    Path | None,
    typer.Option("--strategies", metavar="DIR", help="The folder of strategy files."),
]
StrategyArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        autocompletion=strategy_names,
        help="Its name, class, file or path.",
    ),
]


Source = Literal["own", "ready", "installed"]
"""Where a strategy is from: the owner, Journeyman, or an installed package."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AvailableStrategies:
    """Every strategy that loads, enabled or not, and the settings for them."""

    settings: LoadedSettings
    folders: Folders
    registry: Registry
    described: Described
    """What is not trusted, as confined children have described it."""

    @classmethod
    def load(
        cls,
        session: Session,
        directory: Path | None,
        named: Iterable[str | Path] = (),
        *,
        as_daemon: bool = False,
    ) -> Self:
        """Load the configured folders and the installed strategies.

        What the owner does not trust is imported as the daemon does it: confined, in a
        process of its own.

        Args:
            session: the options.
            directory: one to load instead of `strategies.directory`.
            named: names and files that the user gave; the files are described, too.
            as_daemon: load the folders of the daemon that runs, if `directory` is None.

        Raises:
            ConfigurationError: a setting is wrong.
        """
        chosen: dict[str, object] = {}
        if directory is not None:
            chosen = {"strategies.directory": str(directory)}
        elif as_daemon:
            chosen = session.strategies_of_daemon()
        settings = session.load(chosen or None)
        section = settings.settings.strategies
        folders = strategies.strategy_folders(section)
        files = [Path(one) for one in named if Path(one).is_file()]
        described = _described(settings.settings, files)
        registry = load_registry(folders, section.params, section.installed, described)
        registry = strategies.with_configured_runners(
            registry, section.runners, folders.first
        )
        return cls(
            settings=settings,
            folders=folders,
            registry=registry,
            described=described,
        )

    def runner(self, session: Session) -> "Runner":
        """Return a runner with the daemon's limits.

        The folder of a process is a temporary one: nothing is left in the data
        directory, which it may not read either.
        """
        from journeyman.daemon.untrusted import isolation_of
        from journeyman.strategies.running import runner

        section = self.settings.settings.isolation
        limits = isolation_of(section, session.directory())
        return runner.Runner(isolation=replace(limits, homes=None))

    def load_file(self, path: Path) -> Loading:
        """Load a file that was named, with the parameters of the configuration."""
        params = self.settings.settings.strategies.params
        return load_file(path, params, self.described)

    def configure(
        self, loaded: LoadedStrategy, params: Mapping[str, object]
    ) -> LoadedStrategy:
        """Return a strategy with other parameters.

        Raises:
            ConfigurationError: a value is not allowed.
        """
        loading = configure(loaded, params, self.described)
        if loading.problems:
            raise loading_error(loading.problems)
        return loading.strategies[0]

    def params_of(self, name: str) -> Mapping[str, object]:
        """Return the parameters that the configuration sets."""
        return self.settings.settings.strategies.params.get(name, {})

    def find(self, wanted: str) -> LoadedStrategy:
        """Find a strategy by name, class, file or path; the path may lead anywhere.

        Raises:
            ConfigurationError: there is none, it did not load, or there are several.
        """
        path = Path(wanted)
        if not path.is_file():
            return self.registry.find(wanted)
        loading = self.load_file(path)
        if loading.problems:
            raise loading_error(loading.problems)
        return Registry(loading.strategies).find(wanted)

    def source_of(self, loaded: LoadedStrategy) -> Source:
        """Return where a strategy is from."""
        if loaded.distribution:
            return "installed"
        return "ready" if self.folders.within_ready(loaded.path) else "own"

    @property
    def replaced(self) -> list[str]:
        """The names of the ready strategies that have given way to others."""
        if self.folders.ready is None:
            return []
        seen = {one.file or one.path for one in self.registry.strategies}
        seen |= {problem.affected_file for problem in self.registry.problems}
        ready = strategy_files(self.folders.ready)
        return [strategy_stem(file) for file in ready if file not in seen]

    @property
    def shadows(self) -> frozenset[str]:
        """Those that the settings put in shadow, as far as they are here."""
        try:
            return strategies.shadows_of(
                self.registry, self.settings.settings.strategies
            )
        except ConfigurationError:
            # The daemon refuses to start with such a setting, and says why.
            return frozenset()


def _described(settings: Settings, more_files: Iterable[Path]) -> Described:
    """Return what children say of all that is not trusted, here or in `more_files`."""
    files, names = strategies.untrusted(settings.strategies, more_files)
    if not files and not names:
        return {}
    from journeyman.daemon.untrusted import described_by_children

    return described_by_children(settings, files, names)


def loading_error(problems: tuple[Problem, ...]) -> ConfigurationError:
    """Return the error of a strategy that did not load, with each problem and fix."""
    listing = "\n".join(map(str, problems))
    return ConfigurationError(
        f"the strategy did not load:\n{listing}",
        f"`journeyman explain {min(one.code for one in problems)}` explains it.",
    )


def relative_path(path: Path) -> Path:
    """Return a path relative to the current directory if it is below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def problem_as_json(problem: Problem) -> dict[str, Any]:
    """Return a problem for `--json`."""
    return {
        "code": problem.code,
        "path": str(problem.path),
        "line": problem.line,
        "source_line": problem.source_line,
        "problem": problem.message,
        "fix": problem.fix,
    }


ACTIVE, DISABLED, QUARANTINED = "active", "disabled", "QUARANTINED"
SHADOW = "shadow"
LOAD_FAILED, OFF = "LOAD FAILED", "off"
CHOSEN = frozenset({ACTIVE, DISABLED, SHADOW, OFF})
"""The states that are as the owner wants them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StrategyHistory:
    """What the journal knows of the available strategies."""

    available: AvailableStrategies
    has_journal: bool = False
    """False: no agent has run here, and everything below is empty."""
    scores: Mapping[str, StrategyScore] = field(default_factory=dict)
    disabled: Collection[str] = ()
    """Those that their owner disabled by a command."""
    quarantined: Mapping[Part, Health] = field(default_factory=dict)
    """What is in quarantine now, with the files and settings it has now."""
    shadow_state: ShadowState = field(default_factory=ShadowState)
    track_records: Mapping[Group, TrackRecord] = field(default_factory=dict)
    """How the tasks of each went, by kind."""

    @classmethod
    def read(cls, session: Session, available: AvailableStrategies) -> Self:
        """Read the journal, whether or not a daemon runs."""
        now = SystemClock().now()
        try:
            if not session.directory().journal.exists():
                return cls(available=available)
            with session.journal() as journal:
                fingerprints = {
                    one.name: strategies.fingerprint_of(one)
                    for one in available.registry.strategies
                }
                return cls(
                    available=available,
                    has_journal=True,
                    scores=scoreboard(journal, now - timedelta(days=1)),
                    disabled=journal.owner_pauses.current(now).keys(),
                    # Time ends a quarantine, and so does a change of what failed.
                    quarantined={
                        part: health
                        for part, health in journal.strategy_health.all().items()
                        if health.fingerprint == fingerprints.get(health.strategy)
                        and health.quarantined_until > now.timestamp()
                    },
                    shadow_state=journal.shadows.state(),
                    track_records=journal.track_records.all(),
                )
        except StateError:
            # Strategies load all the same; `doctor` reports the journal.
            return cls(available=available)

    def state_of(self, loaded: LoadedStrategy) -> str:
        """Return the word for a strategy that was loaded."""
        named = self.available.settings.settings.strategies.disabled
        if loaded.name in {*named, *self.disabled}:
            return DISABLED
        if loaded.name in self.in_shadow:
            return SHADOW
        return QUARANTINED if (loaded.name, "") in self.quarantined else ACTIVE

    @property
    def in_shadow(self) -> frozenset[str]:
        """The names of those that are asked about tasks and given none.

        Some may be named on the command line of the daemon, which only the journal
        knows.
        """
        state = self.shadow_state
        shadows = self.available.shadows | set(state.shadows)
        return shadows - state.promoted.keys()

    def quarantine_reason(self, loaded: LoadedStrategy) -> str:
        """Return why it, or some of its work, is in quarantine, and until when.

        Empty if it is not.
        """
        found = self.quarantined.values()
        return "; ".join(_reason(one) for one in found if one.strategy == loaded.name)

    def figures(self, name: str) -> dict[str, int] | None:
        """Return what a strategy did; None if it has done nothing."""
        score = self.scores.get(name)
        if score is None:
            return None
        return {
            "wants_24h": score.wanted,
            "done": score.completed,
            "failed": score.failed,
            "credits": score.credits,
        }


def _reason(health: Health) -> str:
    until = "it cannot work until its file or its settings change"
    if health.quarantined_until != float("inf"):
        clock = datetime.fromtimestamp(health.quarantined_until, UTC)
        why = f"no more tasks of kind {health.kind!r}" if health.kind else ""
        why = why or "too many errors"
        until = f"{why}; it is tried again at {clock:%H:%M:%S} UTC"
    task = f" (task {health.task_id})" if health.task_id else ""
    fix = f"; {health.fix}" if health.fix else ""
    return f"{until}; last: {health.problem}{task}{fix}"
