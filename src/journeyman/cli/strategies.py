"""The strategies as a command sees them: loaded, found by name, put in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from journeyman.cli.session import Session
from journeyman.domain.errors import ConfigurationError, StateError

if TYPE_CHECKING:
    from journeyman.journal.scores import StrategyScore
    from journeyman.journal.shadows import ShadowState
    from journeyman.journal.strategy_health import Health
    from journeyman.journal.track_records import Group, TrackRecord
    from journeyman.settings.sources import LoadedSettings
    from journeyman.strategies.loading.loaded import LoadedStrategy
    from journeyman.strategies.loading.problems import Problem
    from journeyman.strategies.loading.registry import Registry


DAY_SECONDS = 24 * 3600


@dataclass(frozen=True, kw_only=True, slots=True)
class StrategyFolder:
    """Every strategy in reach, enabled or not, and the settings about them."""

    settings: "LoadedSettings"
    directory: Path
    registry: "Registry"

    def params_of(self, name: str) -> Mapping[str, object]:
        """Give the parameters that the configuration sets."""
        return self.settings.settings.strategies.params.get(name, {})

    def is_disabled(self, name: str) -> bool:
        """Tell whether the owner gives it no work."""
        return name in self.settings.settings.strategies.disabled

    @property
    def shadows(self) -> frozenset[str]:
        """Those that the configuration puts into the shadow, and that are here."""
        from journeyman.daemon.strategies import shadows_of

        try:
            return shadows_of(self.registry, self.settings.settings.strategies)
        except ConfigurationError:
            # The daemon refuses to start with such a setting, and says why.
            return frozenset()


def open_strategies(session: Session, directory: Path | None) -> StrategyFolder:
    """Load the folder in force, or another one, and the installed ones in force.

    Raises:
        ConfigurationError: a setting is wrong.
    """
    from journeyman.daemon.strategies import strategies_directory, with_runners
    from journeyman.strategies.loading.registry import load_registry

    named = {"strategies.directory": str(directory) if directory else None}
    settings = session.load(named)
    ours = settings.settings.strategies
    folder = strategies_directory(ours)
    loaded = load_registry(folder, ours.params, ours.installed)
    registry = with_runners(loaded, ours.runners, folder)
    return StrategyFolder(settings=settings, directory=folder, registry=registry)


def pick(shelf: StrategyFolder, wanted: str) -> "LoadedStrategy":
    """Find a strategy by name, class, file or path; the path may lead anywhere.

    Raises:
        ConfigurationError: there is none, it did not load, or there are several.
    """
    from journeyman.strategies.loading.loader import load_file
    from journeyman.strategies.loading.registry import Registry

    path = Path(wanted)
    if not path.is_file():
        return shelf.registry.find(wanted)
    loading = load_file(path, shelf.settings.settings.strategies.params)
    if loading.problems:
        raise refusal(loading.problems)
    return Registry(loading.strategies).find(wanted)


def refusal(problems: "tuple[Problem, ...]") -> ConfigurationError:
    """Say why a strategy did not load, each problem with its fix."""
    codes = " ".join(sorted({problem.code for problem in problems}))
    listing = "\n".join(map(str, problems))
    return ConfigurationError(
        f"the strategy did not load:\n{listing}",
        f"`journeyman explain {codes.split()[0]}` says more.",
    )


def near(path: Path) -> Path:
    """Give a path as seen from here, where it is below here."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def problem_row(problem: "Problem") -> dict[str, Any]:
    """Give a problem as JSON."""
    return {
        "code": problem.code,
        "path": str(problem.path),
        "line": problem.line,
        "source_line": problem.source_line,
        "problem": problem.message,
        "fix": problem.fix,
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Past:
    """What the journal says of the strategies; empty where no agent has run."""

    scores: "Mapping[str, StrategyScore]"
    health: "Mapping[str, Health]"
    """Of those that get no work now, as they stand in their files."""
    standing: "ShadowState"
    """Who is in shadow, and who was promoted."""
    records: "Mapping[Group, TrackRecord]"
    """How the tasks of each went, by kind."""


def past(session: Session, shelf: StrategyFolder) -> Past | None:
    """Read the journal, beside a running daemon or without one; None: there is none."""
    from datetime import timedelta

    from journeyman.daemon.environment import SystemClock
    from journeyman.daemon.strategies import generation_of
    from journeyman.journal.scores import scoreboard

    now = SystemClock().now()
    made_of = generation_of(shelf.registry).fingerprints
    try:
        if not session.directory().journal.exists():
            return None
        with session.journal() as journal:
            healths = journal.strategy_health.all()
            standing = journal.shadows.standing()
            records = journal.track_records.all()
            scores = scoreboard(journal, now - timedelta(seconds=DAY_SECONDS))
    except StateError:
        # An unreadable journal must not hide which strategies load; doctor tells.
        return None
    # What was said of another file or of other settings is over, and so is a rest.
    ill = {
        name: health
        for name, health in healths.items()
        if health.fingerprint == made_of.get(name)
        and health.rests_until > now.timestamp()
    }
    return Past(scores=scores, health=ill, standing=standing, records=records)


ENABLED, DISABLED, QUARANTINED = "enabled", "disabled", "QUARANTINED"
SHADOW = "shadow"
LOAD_FAILED, OFF = "LOAD FAILED", "off"
AT_WORK = frozenset({ENABLED})
"""The states in which a strategy may be given tasks."""
CHOSEN = frozenset({DISABLED, SHADOW, OFF})
"""The states in which its owner put it on purpose."""


def state_of(
    loaded: "LoadedStrategy", shelf: "StrategyFolder", past: "Past | None"
) -> str:
    """Give the word for a strategy that was loaded."""
    if shelf.is_disabled(loaded.name):
        return DISABLED
    if loaded.name in in_shadow(shelf, past):
        return SHADOW
    return QUARANTINED if trouble(loaded, past) else ENABLED


def in_shadow(shelf: "StrategyFolder", past: "Past | None") -> frozenset[str]:
    """Give the names of those that are asked and get nothing.

    The daemon may have been told by its command line, which only the journal knows.
    """
    if past is None:
        return shelf.shadows
    standing = past.standing
    return (shelf.shadows | set(standing.shadows)) - standing.promoted.keys()


def trouble(loaded: "LoadedStrategy", past: "Past | None") -> str:
    """Say why the daemon gives it no work now; empty when it does."""
    health = past.health.get(loaded.name) if past else None
    if health is None:
        return ""
    return f"{_until(health.rests_until)}; last: {health.problem}{_at(health)}"


def _until(moment: float) -> str:
    if moment == float("inf"):
        return "it cannot work until its file or its settings change"
    clock = datetime.fromtimestamp(moment, UTC)
    return f"it made too many errors and is tried again at {clock:%H:%M:%S} UTC"


def _at(health: "Health") -> str:
    fix = f"; {health.fix}" if health.fix else ""
    return f" (task {health.task_id}){fix}" if health.task_id else fix


FIGURES = ("completed", "at work", "waiting", "unpaid")


_UNPAID = ("lost", "declined", "failed", "rejected")


def strategy_figures(states: Mapping[str, int]) -> tuple[int, int, int, int]:
    """Count a strategy's tasks by state into `FIGURES`; skipped ones into none."""
    done, waiting = states.get("completed", 0), states.get("wanted", 0)
    unpaid = sum(states.get(name, 0) for name in _UNPAID)
    passed = states.get("skipped", 0)
    at_work = sum(states.values()) - done - waiting - unpaid - passed
    return done, at_work, waiting, unpaid
