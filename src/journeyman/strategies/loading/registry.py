"""The strategies that are in force: found by name, and asked for each task."""

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import Task
from journeyman.domain.text import describe, storable
from journeyman.strategies import watchdog
from journeyman.strategies.api import Score, Skip
from journeyman.strategies.loading.importing import forget
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import Loading, Params, load
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.source import strategy_stem

NOBODY: Final = "no strategy wants it"
NO_ONE: Final[Mapping[str, str]] = MappingProxyType({})
BLOCK_SECONDS: Final = 5.0
"""A `wants` that thinks longer holds up the daemon; it is interrupted."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one strategy says to one task."""

    strategy: str
    wanted: bool
    reason: str
    offer: float | None = None
    """What it expects to earn, in credits; None for a no."""
    specific: bool = True
    """False for a no without a reason, or "not my kind of task"."""
    chance: float = 1.0
    """Of being paid, 0 to 1, as it says."""
    cost: float = 0.0
    """In credits, as it says."""
    failed: bool = False
    """A no, since `wants` raised, took too long, or gave no verdict."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Who gets a task, why, and what each of them said."""

    strategy: LoadedStrategy | None
    reason: str
    verdicts: tuple[Verdict, ...]
    chance: float = 1.0
    """Of being paid, 0 to 1, as the strategy says."""
    cost: float = 0.0
    """In credits, as the strategy says."""


class Registry:
    """One generation of strategies and the problems found while loading it."""

    def __init__(
        self,
        strategies: Iterable[LoadedStrategy],
        problems: Iterable[Problem] = (),
        *,
        block_limit: float | None = BLOCK_SECONDS,
    ) -> None:
        """Hold them; `block_limit` (seconds) None lets `wants` think forever."""
        self.strategies = tuple(strategies)
        self.problems = tuple(problems)
        self._block_limit = block_limit
        self._chosen: Counter[str] = Counter()
        # Why a strategy is not asked any more: each time would hold the daemon up.
        self._blocked: dict[str, str] = {}

    def of(self, strategies: Iterable[LoadedStrategy]) -> Self:
        """Give a registry of others that knows what this one has learned of them."""
        other = type(self)(strategies, self.problems, block_limit=self._block_limit)
        other._chosen = self._chosen.copy()
        other._blocked = self._blocked.copy()
        return other

    def find(self, wanted: str) -> LoadedStrategy:
        """Find one by its name, class or function name, file name or path.

        Raises:
            ConfigurationError: there is none, or its file has a problem.
        """
        for names in (_own_names, _file_names):
            same = [loaded for loaded in self.strategies if wanted in names(loaded)]
            if len(same) == 1:
                return same[0]
            if same:
                listing = ", ".join(loaded.name for loaded in same)
                message = f"{wanted!r} stands for several strategies: {listing}."
                raise ConfigurationError(message, "Give one of these names.")
        raise self._not_found(wanted)

    def choose(self, task: Task, kept_out: Mapping[str, str] = NO_ONE) -> Choice:
        """Ask every strategy; the best offer wins, equal ones take turns.

        Turns go to whoever was chosen least often, so a file that was just dropped
        in gets work at once. `kept_out` says, by name, why a strategy gets nothing
        now; it is asked all the same, so that the reason is told where it matters.
        """
        asked = [
            (each, _kept_out(verdict, kept_out.get(each.name, "")))
            for each, verdict in self._ask_all(task)
        ]
        verdicts = tuple(verdict for _, verdict in asked)
        willing = [(loaded, v) for loaded, v in asked if v.wanted]
        if not willing:
            return Choice(None, _why_nobody(verdicts), verdicts)
        chosen, verdict = min(
            willing,
            key=lambda pair: (
                -(pair[1].offer or 0.0),
                self._chosen[pair[0].name],
                pair[0].name,
            ),
        )
        self._chosen[chosen.name] += 1
        return Choice(
            chosen,
            f"{chosen.name} wants it: {verdict.reason}",
            verdicts,
            chance=verdict.chance,
            cost=verdict.cost,
        )

    def _ask_all(self, task: Task) -> list[tuple[LoadedStrategy, Verdict]]:
        """Ask under one alarm for all, since an alarm costs more than most answers.

        Only when it rings is each asked under an alarm of its own, to find out whose
        fault it was.
        """

        def ask(limit: float | None) -> list[tuple[LoadedStrategy, Verdict]]:
            return [(each, self._ask(each, task, limit)) for each in self.strategies]

        try:
            return watchdog.call(self._block_limit, ask, None)
        except watchdog.BlockedError:
            return ask(self._block_limit)

    def _ask(self, loaded: LoadedStrategy, task: Task, limit: float | None) -> Verdict:
        if loaded.name in self._blocked:
            reason = self._blocked[loaded.name]
            return Verdict(loaded.name, wanted=False, reason=reason, failed=True)
        try:
            answer = watchdog.call(limit, loaded.instance.wants, task)
            return _verdict(loaded.name, answer, task.reward)
        except KeyboardInterrupt:
            raise
        except watchdog.BlockedError:
            if limit is None:
                raise
            reason = f"wants took longer than {limit:g} s; it is not asked again"
            self._blocked[loaded.name] = reason
        except BaseException as error:  # noqa: BLE001 - any failure of a plugin is "no"
            reason = f"wants raised {describe(error)}"
        return Verdict(loaded.name, wanted=False, reason=reason, failed=True)

    def matching(self, wanted: str) -> Loading:
        """Give what a name stands for: strategies, or the problems of its file.

        Raises:
            ConfigurationError: it stands for nothing here, or for several strategies.
        """
        broken = tuple(one for one in self.problems if _concerns(one, wanted))
        fine = tuple(one for one in self.strategies if wanted in _file_names(one))
        return Loading(fine, broken) if broken else Loading((self.find(wanted),), ())

    def _not_found(self, wanted: str) -> ConfigurationError:
        broken = [problem for problem in self.problems if _concerns(problem, wanted)]
        if broken:
            listing = "\n".join(map(str, broken))
            return ConfigurationError(f"strategy {wanted!r} did not load:\n{listing}")
        known = sorted(loaded.name for loaded in self.strategies)
        near = difflib.get_close_matches(_stem(wanted), known, n=1)
        fix = (
            f"Did you mean {near[0]!r} ({self.find(near[0]).path})?"
            if near
            else f"Loaded: {', '.join(known) or 'none'}."
        )
        return ConfigurationError(f"E115 there is no strategy {wanted!r}", fix)

    def forget(self) -> None:
        """Drop the modules of this generation; call it after its last task ended."""
        for loaded in self.strategies:
            forget(loaded.module)


def load_registry(
    directory: Path, params: Params | None = None, installed: Sequence[str] = ()
) -> Registry:
    """Load a folder, and the installed strategies of these names.

    `params` are the settings by strategy, then by parameter.
    """
    loading = load(directory, params, installed)
    return Registry(loading.strategies, loading.problems)


def _own_names(loaded: LoadedStrategy) -> set[str]:
    return {loaded.name, loaded.class_name}


def _file_names(loaded: LoadedStrategy) -> set[str]:
    path = loaded.file or loaded.path
    stem = strategy_stem(path)
    named = path.parent if stem != path.stem else path
    return {stem, named.name, str(named), f"./{named}", str(named.resolve())}


def _stem(wanted: str) -> str:
    return strategy_stem(Path(wanted))


def _concerns(problem: Problem, wanted: str) -> bool:
    return strategy_stem(problem.culprit) == _stem(wanted)


def _kept_out(verdict: Verdict, why: str) -> Verdict:
    """Make a no of a yes, where something keeps the strategy from working."""
    if not why or not verdict.wanted:
        return verdict
    reason = f"{verdict.strategy} wants it, but {why}"
    return Verdict(verdict.strategy, wanted=False, reason=reason)


def _verdict(name: str, answer: object, reward: int) -> Verdict:
    if isinstance(answer, Skip):
        reason = storable(answer.reason)
        return Verdict(name, wanted=False, reason=reason, specific=answer.specific)
    if answer is False:
        return Verdict(name, wanted=False, reason="not wanted", specific=False)
    if answer is True:
        return Verdict(
            name, wanted=True, reason=f"reward {reward}", offer=float(reward)
        )
    if isinstance(answer, Score):
        return _offer(name, answer, reward)
    reason = f"wants returned {answer!r}: return True, False, skip(...) or score(...)"
    return Verdict(name, wanted=False, reason=storable(reason), failed=True)


def _offer(name: str, score: Score, reward: int) -> Verdict:
    offer = score.offer(reward)
    sums = f"{score.value:g} x reward {reward} - cost {score.cost:g} = {offer:g}"
    if offer < 0:
        return Verdict(name, wanted=False, reason=f"would lose: {sums}")
    return Verdict(
        name,
        wanted=True,
        reason=sums,
        offer=offer,
        chance=score.value,
        cost=score.cost,
    )


def _why_nobody(verdicts: tuple[Verdict, ...]) -> str:
    """Give the one reason that tells something, where there is just one."""
    if not verdicts:
        return "no strategy is loaded"
    told = {verdict.reason for verdict in verdicts if verdict.specific}
    if not told and len(verdicts) == 1:
        told = {verdicts[0].reason}
    return told.pop() if len(told) == 1 else NOBODY
