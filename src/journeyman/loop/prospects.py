"""What may be expected of a task, from the track record of tasks like it.

The chance of being paid has a Beta distribution: what the group's own tasks have
shown, added to a prior that says what the strategy's other kinds have shown. The time
has one around its mean, wider the less is known. Both are used by their mean to
foretell, and by a draw from them to choose (Thompson, 1933): a group that little is
known of is drawn high now and then, gets a task, and is known better afterwards.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Final, TypeAlias

from journeyman.domain import Randomness
from journeyman.journal import Forecast, Group, TrackRecord

TRUST: Final = 0.9
"""The share of its promises that a strategy is expected to keep, before it did any."""
USUAL_SECONDS: Final = 10.0
"""What a task is expected to take where nothing at all is known."""
PRIOR_TASKS: Final = 2.0
"""As many tasks' worth of evidence is what is expected beforehand."""
SHORTEST_SECONDS: Final = 0.01
"""Faster work is limited by the requests around it."""

Draws: TypeAlias = tuple[float, float]
"""How lucky a group is thought to be with its chance and its time, in standard
deviations; (0, 0) means: as the mean says."""


@dataclass(frozen=True, slots=True)
class _Expected:
    """A group, or a family of them."""

    share: float
    """Of its promises that it keeps, as the mean says."""
    seconds: float


class Prospects:
    """Foretells by the records that it was given."""

    def __init__(self, records: Mapping[Group, TrackRecord]) -> None:
        self._records = records
        everything = _sum(list(records.values()))
        self._all = _expected(everything, _Expected(TRUST, USUAL_SECONDS))
        anybody = _Expected(TRUST, self._all.seconds)
        families: dict[str, list[TrackRecord]] = {}
        for (strategy, _), record in records.items():
            families.setdefault(strategy, []).append(record)
        self._strategies = {
            strategy: _expected(_sum(family), anybody)
            for strategy, family in families.items()
        }

    def forecast(
        self,
        group: Group,
        *,
        reward: int,
        chance: float,
        cost: float,
        draws: Draws = (0.0, 0.0),
    ) -> Forecast:
        """Foretell what a task brings, in credits, and how long it holds a slot.

        `chance` and `cost` are what its strategy says; a strategy that keeps only part
        of its promises is believed only that part.
        """
        record = self._records.get(group, TrackRecord())
        prior = self._strategies.get(group[0], _Expected(TRUST, self._all.seconds))
        own = _expected(record, prior)
        share = own.share + draws[0] * _doubt(own.share, record)
        paid = min(max(share, 0.0) * chance, 1.0)
        spread = 1 / math.sqrt(PRIOR_TASKS + record.timed)
        return Forecast(
            credits=paid * reward - cost,
            seconds=max(own.seconds * math.exp(draws[1] * spread), SHORTEST_SECONDS),
        )


def draw(randomness: Randomness, exploration: float) -> Draws:
    """Draw how lucky a group is thought to be; `exploration` 0 draws the mean."""
    # Box and Muller, 1958: two normal numbers of two uniform ones; 0 has no logarithm.
    radius = math.sqrt(-2 * math.log(randomness.uniform(1e-12, 1)))
    angle = randomness.uniform(0, 2 * math.pi)
    return (
        exploration * radius * math.cos(angle),
        exploration * radius * math.sin(angle),
    )


def _expected(record: TrackRecord, prior: _Expected) -> _Expected:
    promised, timed = record.promised + PRIOR_TASKS, record.timed + PRIOR_TASKS
    return _Expected(
        share=(record.paid + PRIOR_TASKS * prior.share) / promised,
        seconds=(record.seconds + PRIOR_TASKS * prior.seconds) / timed,
    )


def _doubt(share: float, record: TrackRecord) -> float:
    """Give the standard deviation of a Beta distribution with this mean."""
    known = min(share, 1.0)
    return math.sqrt(known * (1 - known) / (record.timed + PRIOR_TASKS + 1))


def _sum(records: Collection[TrackRecord]) -> TrackRecord:
    """Add records up, field by field."""
    return TrackRecord(
        **{
            field.name: sum(getattr(record, field.name) for record in records)
            for field in fields(TrackRecord)
        },
    )
