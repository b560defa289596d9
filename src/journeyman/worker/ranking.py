"""In which order the tasks that wait for a slot are claimed.

A slot is what is scarce: while one task takes it, it is not free for a better one. So
the best task is the one that brings the most credits for each second of a slot, not
the one that pays best or came first.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields

from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal import track_records
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle.quarantine import Quarantine

TRUST = 0.9
"""The share of its promises that a strategy is expected to keep, before it did any."""
USUAL_SECONDS = 10.0
"""What a task is expected to take where nothing at all is known."""
PRIOR_TASKS = 2.0
"""As many tasks' worth of evidence is what is expected beforehand."""
SHORTEST_SECONDS = 0.01
"""Faster work is limited by the requests around it."""

Draws = tuple[float, float]
"""How lucky a group is thought to be with its chance and its time, in standard
deviations; (0, 0) means: as the mean says."""


@dataclass(frozen=True, slots=True)
class _Expected:
    """A group, or a family of them."""

    share: float
    """Of its promises that it keeps, as the mean says."""
    seconds: float


class Forecasts:
    """Forecasts from the track records that it was given."""

    def __init__(
        self, records: Mapping[track_records.Group, track_records.TrackRecord]
    ) -> None:
        self._records = records
        everything = _sum(list(records.values()))
        self._all = _expected(everything, _Expected(TRUST, USUAL_SECONDS))
        self._anybody = _Expected(TRUST, self._all.seconds)
        families: dict[str, list[track_records.TrackRecord]] = {}
        for (strategy, _), record in records.items():
            families.setdefault(strategy, []).append(record)
        self._strategies = {
            strategy: _expected(_sum(family), self._anybody)
            for strategy, family in families.items()
        }

    def forecast(
        self,
        group: track_records.Group,
        *,
        reward: int,
        chance: float,
        cost: float,
        draws: Draws = (0.0, 0.0),
    ) -> track_records.Forecast:
        """Return what a task should bring, in credits, and how long it takes a slot.

        `chance` and `cost` are its strategy's estimate; a strategy that keeps only part
        of its promises is believed only that part.
        """
        record = self._records.get(group, track_records.NOTHING_DONE)
        prior = self._strategies.get(group[0], self._anybody)
        own = _expected(record, prior)
        share = own.share + draws[0] * _doubt(own.share, record)
        paid = min(max(share, 0.0) * chance, 1.0)
        spread = 1 / math.sqrt(PRIOR_TASKS + record.timed)
        return track_records.Forecast(
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


def _expected(record: track_records.TrackRecord, prior: _Expected) -> _Expected:
    promised, timed = record.promised + PRIOR_TASKS, record.timed + PRIOR_TASKS
    return _Expected(
        share=(record.paid + PRIOR_TASKS * prior.share) / promised,
        seconds=(record.seconds + PRIOR_TASKS * prior.seconds) / timed,
    )


def _doubt(share: float, record: track_records.TrackRecord) -> float:
    """Return the standard deviation of a Beta distribution with this mean."""
    known = min(share, 1.0)
    return math.sqrt(known * (1 - known) / (record.timed + PRIOR_TASKS + 1))


def _sum(records: Collection[track_records.TrackRecord]) -> track_records.TrackRecord:
    """Add records up, field by field."""
    return track_records.TrackRecord(
        **{
            field.name: sum(getattr(record, field.name) for record in records)
            for field in fields(track_records.TrackRecord)
        },
    )


READ_AGAIN_AFTER = 1_000
"""Events that taught nothing are noted as read when so many have come."""


class Forecaster:
    """Learns how the tasks of each strategy end, and forecasts how others will."""

    def __init__(self, journal: Journal) -> None:
        """Start from what was learned before."""
        self._journal = journal
        self._forecasts = Forecasts(journal.track_records.all())
        self._read_until = 0

    def learn(self) -> None:
        """Read which tasks ended, and keep that beside what was expected of them."""
        records = self._journal.track_records
        ended, until = records.unread()
        if not ended and until - self._read_until < READ_AGAIN_AFTER:
            return
        # From what was known before: a forecast that knew the end would be none.
        forecasts = [(one, self.forecast(one)) for one in ended]
        # What is lost is read again: it is kept with where to read on.
        with self._journal.tx("track records", waits=False):
            records.learn(forecasts, until)
        self._read_until = until
        self._forecasts = Forecasts(records.all())

    def forecast(
        self,
        one: track_records.Waiting | track_records.EndedTask,
        draws: Draws = (0.0, 0.0),
    ) -> track_records.Forecast:
        """Return what a task should bring."""
        return self._forecasts.forecast(
            one.group,
            reward=one.reward,
            chance=one.chance,
            cost=one.cost,
            draws=draws,
        )


Ranking = Callable[[Sequence[track_records.Waiting]], list[TaskId]]
"""Puts waiting tasks in order: the one to be claimed first at the front."""


def by_reward(waiting: Sequence[track_records.Waiting]) -> list[TaskId]:
    """Order by reward, the highest first."""
    return [one.task_id for one in sorted(waiting, key=lambda w: (-w.reward, w.number))]


def by_age(waiting: Sequence[track_records.Waiting]) -> list[TaskId]:
    """Order by when they were first seen."""
    return [one.task_id for one in sorted(waiting, key=lambda w: w.number)]


@dataclass(eq=False)
class ByExpectation:
    """Puts the task first that should bring the most for each second of a slot.

    What is expected is learned from the journal. A task that is expected to lose
    credits goes last.
    """

    forecaster: Forecaster
    randomness: Randomness
    exploration: float
    """0 always trusts the mean."""

    def rank(self, waiting: Sequence[track_records.Waiting]) -> list[TaskId]:
        """Learn what there is to be learned, then put the tasks in order."""
        self.forecaster.learn()
        # In the order of their names, so that a seed repeats the draws.
        groups = sorted({one.group for one in waiting})
        luck = {group: draw(self.randomness, self.exploration) for group in groups}

        def worth(one: track_records.Waiting) -> tuple[bool, float, int]:
            forecast = self.forecaster.forecast(one, luck[one.group])
            loses = forecast.credits < 0
            return loses, -forecast.credits / forecast.seconds, one.number

        return [one.task_id for one in sorted(waiting, key=worth)]


GOOD_FOR_SECONDS = 5.0
"""How long a ranking is used; so long a better task that was just seen may wait."""
MOST_RANKED = 1_000
"""The best paid so many are ranked; the others wait for the next time."""


def _anywhere(_strategy: str, _claimed: Counter[str]) -> bool:
    """Stand for a machine on which every strategy has room for every task."""
    return True


@dataclass(eq=False)
class Shortlist:
    """Keeps the next tasks to claim."""

    journal: Journal
    ranking: Ranking
    clock: Clock
    quarantine: Quarantine
    has_room: Callable[[str, Counter[str]], bool] = _anywhere
    """Returns whether a strategy can be given one more task, beside those of each that
    are about to be claimed."""
    _line: deque[track_records.Waiting] = field(init=False, default_factory=deque)
    _good_until: float = field(init=False, default=0.0)

    def take(self, limit: int, excluding: Collection[TaskId]) -> list[TaskRecord]:
        """Return the next that may be claimed now, at most `limit`.

        They stay WANTED, and are returned again after the next ranking, unless they
        are in `excluding` or were moved. Those whose kind has not shown enough for
        more at once are passed over.
        """
        if limit <= 0:
            return []
        is_old = self.clock.monotonic() >= self._good_until
        if is_old:
            self._rank(excluding)
        taken = self._next(limit, excluding)
        if not self._line and not is_old:
            self._rank(excluding)
            taken = self._next(limit, excluding)
        return taken

    def _rank(self, excluding: Collection[TaskId]) -> None:
        now = self.clock.now()
        waiting = self.journal.waiting.best_paid(now, MOST_RANKED, excluding)
        by_id = {one.task_id: one for one in waiting}
        ranked = self.ranking(waiting) if waiting else ()
        self._line = deque(by_id[task_id] for task_id in ranked)
        self._good_until = self.clock.monotonic() + GOOD_FOR_SECONDS

    def _next(self, limit: int, excluding: Collection[TaskId]) -> list[TaskRecord]:
        """Return what is next in the line; it stays there until it is moved."""
        taken: list[TaskRecord] = []
        kept: list[track_records.Waiting] = []
        full: set[track_records.Group] = set()
        claimed: Counter[str] = Counter()
        admits, now = self.quarantine.admission(excluding), self.clock.now()
        while self._line and len(taken) < limit:
            waiting = self._line.popleft()
            if waiting.group in full:
                kept.append(waiting)
                continue
            if waiting.task_id in excluding:
                continue
            record = self.journal.tasks.get(waiting.task_id)
            if record.state is not TaskState.WANTED or not record.is_due(now):
                continue
            kept.append(waiting)
            strategy, _ = waiting.group
            if self.has_room(strategy, claimed) and admits(*waiting.group):
                claimed[strategy] += 1
                taken.append(record)
            else:
                full.add(waiting.group)
        self._line.extendleft(reversed(kept))
        return taken
