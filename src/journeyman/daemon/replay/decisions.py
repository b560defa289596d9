"""Decide anew about recorded tasks, and compare with what was decided then."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from journeyman.daemon.replay.unkept import Unkept
from journeyman.domain import Task, TaskState
from journeyman.journal import Forecast, Opinion, Sighting
from journeyman.loop import Prospects
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.registry import Registry, Verdict

NOT_THERE = Opinion(wanted=False, reason="it was not asked then")
FAILURES = frozenset({TaskState.FAILED, TaskState.REJECTED, TaskState.DECLINED})


class Change(StrEnum):
    """What became of a decision."""

    #: Wanted then and now.
    KEPT = "kept"
    #: Wanted now only.
    GAINED = "gained"
    #: Wanted then only.
    DROPPED = "dropped"
    #: Wanted neither then nor now.
    LEFT = "left"


class Fate(StrEnum):
    """What is recorded of the task that was decided about."""

    #: This strategy was paid for it.
    PAID = "paid"
    #: This strategy had it, and was not paid.
    FAILED = "failed"
    #: Another strategy was paid for it.
    PAID_TO_ANOTHER = "paid to another"
    #: Nobody here was paid for it, as far as is known: what it brings is not known.
    UNKNOWN = "unknown"


Then: TypeAlias = Callable[[Sighting], Opinion]
"""Gives what is compared with: the recorded word, or an older version's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """One task, decided about twice."""

    sighting: Sighting
    then: Opinion
    now: Verdict
    change: Change
    fate: Fate
    estimate: Forecast
    """What it would bring by the strategy's track record; for what is not known."""
    read_raw: bool
    """It looked at `task.raw`, which the tape does not keep."""


def replay(
    sightings: Iterable[Sighting], loaded: Loaded, then: Then, prospects: Prospects
) -> Iterator[Replayed]:
    """Show each recorded task to a strategy as it was shown when it was decided about.

    What came later (who claimed it, what its claim told, how it ended) is not in that
    task.
    """
    registry = Registry([loaded])
    for sighting in sightings:
        opinion, (now, read_raw) = then(sighting), _ask(registry, sighting.task)
        yield Replayed(
            sighting=sighting,
            then=opinion,
            now=now,
            change=_change(was_wanted=opinion.wanted, is_wanted=now.wanted),
            fate=_fate(sighting, loaded.name),
            estimate=prospects.forecast(
                (loaded.name, sighting.task.kind),
                reward=sighting.task.reward,
                chance=now.chance,
                cost=now.cost,
            ),
            read_raw=read_raw,
        )


def recorded(name: str, in_shadow: Mapping[str, Opinion]) -> Then:
    """Compare with what a strategy of this name said then, at work or in shadow."""

    def look_up(sighting: Sighting) -> Opinion:
        said = sighting.opinions.get(name) or in_shadow.get(sighting.task.id)
        return said or NOT_THERE

    return look_up


def old_version(loaded: Loaded) -> Then:
    """Compare with what another version of the code says now to the same tasks."""
    registry = Registry([loaded])

    def ask(sighting: Sighting) -> Opinion:
        said, _ = _ask(registry, sighting.task)
        return Opinion(wanted=said.wanted, reason=said.reason, offer=said.offer or 0.0)

    return ask


def _ask(registry: Registry, task: Task) -> tuple[Verdict, bool]:
    """Ask about a task of its own, so that one version cannot change it for another."""
    unkept = Unkept()
    verdict = registry.choose(replace(task, raw=unkept)).verdicts[0]
    return verdict, unkept.was_read


def _change(*, was_wanted: bool, is_wanted: bool) -> Change:
    if is_wanted:
        return Change.KEPT if was_wanted else Change.GAINED
    return Change.DROPPED if was_wanted else Change.LEFT


def _fate(sighting: Sighting, name: str) -> Fate:
    ending = sighting.ending
    if ending.credits > 0:
        return Fate.PAID if ending.strategy == name else Fate.PAID_TO_ANOTHER
    if ending.strategy == name and ending.state in FAILURES:
        return Fate.FAILED
    return Fate.UNKNOWN
