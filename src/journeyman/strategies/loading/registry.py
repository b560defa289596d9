"""One generation of strategies: found by name, and asked about each task."""

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Self

from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import Task
from journeyman.domain.text import describe, storable
from journeyman.strategies import watchdog
from journeyman.strategies.api import Score, Skip
from journeyman.strategies.api.strategy import declines_kind, other_kind
from journeyman.strategies.loading.confined import AnswerError
from journeyman.strategies.loading.importing import forget
from journeyman.strategies.loading.loaded import (
    LoadedStrategy,
    ToldBlock,
    place_of,
)
from journeyman.strategies.loading.loader import (
    Described,
    Folders,
    Loading,
    Params,
    load,
)
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.shipped import shipped_names
from journeyman.strategies.loading.source import strategy_stem
from journeyman.strategies.speaker import Speaking

BLOCK_SECONDS = 5.0
"""A `wants` that takes longer is interrupted, because it blocks the daemon."""
MOST_KINDS = 1_000
"""Kinds of tasks of which is remembered who does none of them."""
WATCHED_TASKS = 100
"""For so many tasks each strategy is asked under an alarm of its own, once all of them
together were slow: that may have been another program's doing."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one strategy answered to one task."""

    strategy: str
    wanted: bool
    reason: str
    offer: float | None = None
    """What it expects to earn, in credits; None if it does not want the task."""
    specific: bool = True
    """False if it gave no reason, or the task is not of its kind at all."""
    chance: float = 1.0
    """The likelihood of being paid, 0 to 1, by its own estimate."""
    cost: float = 0.0
    """In credits, by its own estimate."""
    failed: bool = False
    """`wants` raised, took too long, or returned something invalid."""
    blocked: bool = False
    """It took too long, and was not asked to the end."""
    where: str = ""
    """The author's line that failed, such as "strategies/x.py:12 in wants"."""
    unanswered: bool = False
    """Its process was not asked, or could not be, or it said no for now: nothing is
    decided by this."""


class Choice(NamedTuple):
    """Which strategy gets a task, why, and what each of them answered."""

    strategy: LoadedStrategy | None
    reason: str
    verdicts: tuple[Verdict, ...]
    chance: float = 1.0
    """The likelihood of being paid, 0 to 1, by the strategy's estimate."""
    cost: float = 0.0
    """In credits, by the strategy's estimate."""

    @property
    def is_undecided(self) -> bool:
        """Whether nobody wants the task, and somebody has not answered yet."""
        unanswered = [one.unanswered for one in self.verdicts]
        return self.strategy is None and any(unanswered)


class Registry:
    """One generation of strategies and the problems found while loading it."""

    def __init__(
        self,
        strategies: Iterable[LoadedStrategy],
        problems: Iterable[Problem] = (),
        *,
        block_limit: float | None = BLOCK_SECONDS,
    ) -> None:
        """Interrupt `wants` after `block_limit` seconds; None: never."""
        self.strategies = tuple(strategies)
        self.problems = tuple(problems)
        self._block_limit = block_limit
        self._chosen: Counter[str] = Counter()
        self.told: ToldBlock | None = None
        """Is told of a `wants` that was slow."""
        self._watched = 0
        """Tasks for which each is still asked under an alarm of its own."""
        self._blocked: dict[str, Verdict] = {}
        """By strategy that is not asked any more: it would block the daemon again."""
        self._said_to: dict[str, list[tuple[LoadedStrategy, Verdict | None]]] = {}
        """By kind, what each says to all tasks of it; None: that depends on the task.
        """

    def of(self, strategies: Iterable[LoadedStrategy]) -> Self:
        """Return a registry of others that keeps what this one has learned."""
        other = type(self)(strategies, self.problems, block_limit=self._block_limit)
        other._chosen = self._chosen.copy()
        other.told, other._watched = self.told, self._watched
        other._blocked = self._blocked.copy()
        return other

    def find(self, wanted: str) -> LoadedStrategy:
        """Return one by its name, class or function name, file name or path.

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

    def choose(
        self,
        task: Task,
        excluded: Mapping[str, str] = MappingProxyType({}),
        unasked: Collection[str] = (),
    ) -> Choice:
        """Ask every strategy; the best offer wins, equal ones take turns.

        Turns go to whoever was chosen least often, so a new strategy gets
        work at once. `excluded` gives, by name, why a strategy gets no work now; it is
        asked all the same, so that the reason is shown for tasks that it wants, unless
        it is among those `unasked`.
        """
        asked = self._ask_all(task, unasked)
        if excluded:
            asked = [
                (each, _exclude(verdict, excluded.get(each.name, "")))
                for each, verdict in asked
            ]
            asked += [
                (each, _unasked(each.name, excluded[each.name]))
                for each in self.strategies
                if each.name in unasked
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

    def _ask_all(
        self, task: Task, unasked: Collection[str]
    ) -> list[tuple[LoadedStrategy, Verdict]]:
        """Ask all under one alarm, since an alarm costs more than most answers.

        Only when it goes off, or was near to it, is each asked under an alarm of its
        own, to find out which one blocked.
        """
        said = self._said_to_kind(task.kind)

        def ask(limit: float | None) -> list[tuple[LoadedStrategy, Verdict]]:
            return [
                (each, no or self._ask(each, task, limit))
                for each, no in said
                if each.name not in unasked
            ]

        def found_slow(_seconds: float, _stack: watchdog.Stack) -> None:
            self._watched = WATCHED_TASKS

        if self._watched:
            self._watched -= 1
            return ask(self._block_limit)
        try:
            return watchdog.timed(self._block_limit, found_slow, ask, None)
        except watchdog.BlockedError:
            return ask(self._block_limit)

    def _said_to_kind(self, kind: str) -> list[tuple[LoadedStrategy, Verdict | None]]:
        """Return the verdicts that a task's kind decides, without the author's code."""
        if kind not in self._said_to:
            if len(self._said_to) >= MOST_KINDS:
                self._said_to.clear()
            self._said_to[kind] = [
                (each, _declined_kind(each, kind)) for each in self.strategies
            ]
        return self._said_to[kind]

    def _ask(self, loaded: LoadedStrategy, task: Task, limit: float | None) -> Verdict:
        if loaded.name in self._blocked:
            return self._blocked[loaded.name]
        try:
            return self._answer(loaded, task, limit)
        except KeyboardInterrupt:
            raise
        except watchdog.BlockedError as error:
            if limit is None:
                raise
            reason = f"wants took longer than {limit:g} s; it is not asked again"
            verdict = _failed(loaded, reason, error)
            self._blocked[loaded.name] = replace(verdict, blocked=True)
            return self._blocked[loaded.name]
        except AnswerError as error:
            return Verdict(
                loaded.name,
                wanted=False,
                reason=str(error),
                failed=error.is_fault,
                blocked=error.is_blocked,
                where=error.where,
                unanswered=not (error.is_fault or error.is_blocked),
            )
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            return _failed(loaded, f"wants raised {describe(error)}", error)

    def _answer(
        self, loaded: LoadedStrategy, task: Task, limit: float | None
    ) -> Verdict:
        with Speaking(loaded.name, task.id):
            if limit is None:
                answer = loaded.instance.wants(task)
            else:
                told = partial(self.told, loaded) if self.told else None
                answer = watchdog.timed(limit, told, loaded.instance.wants, task)
        return _verdict(loaded.name, answer, task.reward)

    def matching(self, wanted: str) -> Loading:
        """Return what a name stands for: strategies, or the problems of its file.

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
        if wanted in shipped_names():
            fix = (
                "It is a ready strategy, and those are not loaded beside a folder of "
                "your own: set strategies.ready = true, or in the environment "
                "JOURNEYMAN_STRATEGIES__READY=true."
            )
            return ConfigurationError(f"E115 {wanted!r} is not loaded", fix)
        known = sorted(loaded.name for loaded in self.strategies)
        near = difflib.get_close_matches(strategy_stem(Path(wanted)), known, n=1)
        fix = (
            f"Did you mean {near[0]!r} ({self.find(near[0]).path})?"
            if near
            else f"Loaded: {', '.join(known) or 'none'}."
        )
        return ConfigurationError(f"E115 there is no strategy {wanted!r}", fix)

    def forget(self) -> None:
        """Unload the modules of this generation; call it after its last task ended."""
        for loaded in self.strategies:
            forget(loaded.module)


def load_registry(
    place: Path | Folders,
    params: Params | None = None,
    installed: Sequence[str] = (),
    described: Described = MappingProxyType({}),
) -> Registry:
    """Load folders, and the installed strategies of these names; see `load`."""
    loading = load(place, params, installed, described)
    return Registry(loading.strategies, loading.problems)


def _own_names(loaded: LoadedStrategy) -> set[str]:
    return {loaded.name, loaded.class_name}


def _file_names(loaded: LoadedStrategy) -> set[str]:
    path = loaded.file or loaded.path
    stem = strategy_stem(path)
    named = path.parent if stem != path.stem else path
    return {stem, named.name, str(named), f"./{named}", str(named.resolve())}


def _concerns(problem: Problem, wanted: str) -> bool:
    return strategy_stem(problem.affected_file) == strategy_stem(Path(wanted))


def _exclude(verdict: Verdict, why: str) -> Verdict:
    """Return a refusal in place of a yes, where the strategy gets no work now."""
    if not why or not verdict.wanted:
        return verdict
    reason = f"{verdict.strategy} wants it, but {why}"
    return Verdict(verdict.strategy, wanted=False, reason=reason)


def _failed(loaded: LoadedStrategy, reason: str, error: BaseException) -> Verdict:
    where = place_of(loaded, error)
    return Verdict(loaded.name, wanted=False, reason=reason, failed=True, where=where)


def _unasked(name: str, why: str) -> Verdict:
    return Verdict(name, wanted=False, reason=f"{name} {why}")


def _declined_kind(loaded: LoadedStrategy, kind: str) -> Verdict | None:
    if not declines_kind(loaded.instance, kind):
        return None
    no = other_kind(kind)
    return _no(loaded.name, storable(no.reason), no.specific, False)


@lru_cache(maxsize=4096)
def _no(name: str, reason: str, is_specific: bool, for_now: bool) -> Verdict:  # noqa: FBT001 - by place: asked for of each task
    """Return a verdict that most tasks of a market get, the same for the same words."""
    return Verdict(
        name,
        wanted=False,
        reason=reason,
        specific=is_specific,
        unanswered=for_now,
    )


def _verdict(name: str, answer: object, reward: int) -> Verdict:
    if isinstance(answer, Skip):
        reason = storable(answer.reason)
        return _no(name, reason, bool(answer.specific), bool(answer.for_now))
    if answer is False:
        return _no(name, "not wanted", False, False)
    if answer is True:
        return _yes(name, reward)
    if isinstance(answer, Score):
        return _offer(name, answer, reward)
    reason = f"wants returned {answer!r}: return True, False, skip(...) or score(...)"
    return Verdict(name, wanted=False, reason=storable(reason), failed=True)


@lru_cache(maxsize=1_000)
def _yes(name: str, reward: int) -> Verdict:
    return Verdict(name, wanted=True, reason=f"reward {reward}", offer=float(reward))


def _offer(name: str, score: Score, reward: int) -> Verdict:
    offer = score.offer(reward)
    sums = f"{score.value:g} x reward {reward} - cost {score.cost:g} = {offer:g}"
    if offer < 0:
        return Verdict(name, wanted=False, reason=f"would lose: {sums}")
    return Verdict(name, True, sums, offer, chance=score.value, cost=score.cost)


def _why_nobody(verdicts: tuple[Verdict, ...]) -> str:
    """Return the one reason that is specific, where there is just one."""
    if not verdicts:
        return "no strategy is active"
    reasons = {verdict.reason for verdict in verdicts if verdict.specific}
    if not reasons and len(verdicts) == 1:
        reasons = {verdicts[0].reason}
    return reasons.pop() if len(reasons) == 1 else "no strategy wants it"
