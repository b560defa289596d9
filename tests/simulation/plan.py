"""The plan of a run: all that will go wrong, drawn from a seed before it starts."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random
from typing import Any

from tests.simulation.behaviour import FORMATS, HONEST, NetworkBehaviour, draw
from tests.simulation.faults import FAULTS
from tests.simulation.market import (
    HOSTILE_IDS,
    PLAIN_MARKET,
    MarketShape,
    draw_market_shape,
)
from tests.simulation.virtual_time import seeded


class DiskFault(StrEnum):
    """How a disk fails."""

    #: SQLITE_FULL by SQLite itself: from this commit on, the file may not grow.
    FULL = "full"
    #: SQLITE_IOERR at this commit.
    IO_ERROR = "io error"
    #: SQLITE_BUSY at this commit: something else holds the file.
    BUSY = "busy"
    #: The identity cannot be saved, the next time.
    IDENTITY = "identity"


HOUR = 3600.0
DAY = 24 * HOUR
QUIET_SECONDS = 3 * HOUR
"""Long enough for every repeat that still waits, and some more."""
STEPS = (-DAY, -8 * HOUR, -HOUR, -90.0, 90.0, HOUR, DAY)
"""By how much a wall clock is set, in seconds. Minus eight hours is what a virtual
machine sees whose wall clock stood while it ran. Summer time is no case of its own:
the daemon reckons in UTC alone."""
SUSPENSIONS = (90.0, HOUR, 8 * HOUR)
"""For how long a machine sleeps, in seconds."""
MANY_TASKS = 500
MANY_ONE_IN = 50
"""Markets with so many tasks are rare: they cost a hundred times as much."""
SLOTS_FOR_MANY = 4
"""Fewer would not do all of them in the quiet period, where some strategies hang."""
NONE_ONE_IN = 40
FLAPS = (0.0, 0.0, 10.0, 45.0)
"""Outages that come and go, in seconds."""
DRIFTS = (0.0, 0.0, 500e-6, -500e-6, 0.02, -0.02)
"""How much faster a wall clock runs than time. Half a thousandth is the most by which
NTP slews one; two hundredths is a virtual machine's at its worst."""
CRASH_LOOP = 50
"""Processes in a row that are killed soon after they started."""
CRASH_LOOP_ONE_IN = 20
LATEST_FAILING_COMMIT = 400
RESERVES = (20, 20, 60, 85)
"""Of 100 starter credits: the last two are reached before the cap of a day."""
ECHO_SHARE, VERIFY_SHARE = 0.25, 0.5


class Chaos(StrEnum):
    """How badly the network and the machine behave."""

    #: Nothing goes wrong.
    OFF = "off"
    #: A bad week: now and then a fault, an outage, a kill.
    MILD = "mild"
    #: Far worse than any real network or machine.
    HARD = "hard"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outage:
    """A time in which every request has the same fault; in seconds."""

    begins: float
    ends: float
    fault: str
    flaps: float = 0.0
    """It comes and goes: this long it is on, as long it is off. 0: it stays."""

    def is_active(self, seconds: float) -> bool:
        """Return whether a request that leaves now has the fault."""
        is_on = self.begins <= seconds < self.ends
        is_away = self.flaps and (seconds - self.begins) // self.flaps % 2
        return is_on and not is_away


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An occurrence of something in a run, the n-th one, however the code changes.

    For a crash point, `kind` is such as "before answer", and `about` the path of the
    request or the label of the commit. For a fault it is the fault, and the path.
    """

    kind: str
    about: str
    """Or a part of it."""
    number: int = 1
    """Which time, from 1 on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """One run; all times in simulated seconds from its beginning."""

    seed: int
    chaos: Chaos = Chaos.OFF
    fault_seconds: float = DAY
    """How long things may go wrong."""
    quiet_seconds: float = QUIET_SECONDS
    """How long nothing does, afterwards: the quiet period."""
    tasks: int = 20
    release_seconds: float = 0.0
    """Over how long the market shows them; 0 shows all at once."""
    behaviour: NetworkBehaviour = HONEST
    formats: dict[str, Any] = field(default_factory=dict)
    """Options of the sandbox besides."""
    fault_rate: float = 0.0
    """The share of requests that have a fault."""
    faults: tuple[str, ...] = ()
    """The kinds that this run draws from."""
    outages: tuple[Outage, ...] = ()
    kill_rate: float = 0.0
    """The chance of a kill at each crash point."""
    kills: tuple[float, ...] = ()
    """When the daemon is killed, whatever it does."""
    stops: tuple[float, ...] = ()
    """When the daemon is told to stop, and started again after."""
    clock_steps: tuple[tuple[float, float], ...] = ()
    """When the wall clock is set, and by how much."""
    drift: float = 0.0
    """By how much the wall clock runs too fast, as a share of one; or too slow."""
    suspensions: tuple[tuple[float, float], ...] = ()
    """When the daemon's machine is suspended, and for how long."""
    crash_loop: int = 0
    """So many processes, from the first on, are killed at one of their first points."""
    stop_rate: float = 0.0
    """The chance at each crash point that the daemon is told to stop there."""
    stop_at: frozenset[int] = frozenset()
    """Crash points at which it is told so, by their number."""
    disk_at: dict[int, DiskFault] = field(default_factory=dict)
    """How the disk fails at which commit, by its number."""
    market_shape: MarketShape = PLAIN_MARKET
    competitors: int = 0
    operator_commands: int = 0
    """How many tasks the operator posts, and top-ups asked for, over the run."""
    operator_commands_at_once: int = 1
    """How many of them the operator gives at one moment."""
    calm_tasks: int = 0
    """How many tasks of the market appear in the quiet period."""
    buys: bool = False
    """The daemon tops up by itself, and people pay its pages, late or not at all; each
    day the books of both sides are compared."""
    reserve_credits: int = 20
    """The owner's floor: the higher, the sooner posts come to it."""
    verifies_posts: bool = True
    """The first post has to be seen before another is sent."""
    odd_strategies: bool = False
    """Some strategies raise, decline, hang or return garbage."""
    wrong_results: bool = False
    """The only strategy there is wants everything, and all its results are wrong."""
    slots: int = 4
    fault_at: dict[int, str] = field(default_factory=dict)
    """A fault for one request, by its number; 1 is the first of the run."""
    fault_on: Occurrence | None = None
    """A fault for one request, by its path."""
    kill_at: frozenset[int] = frozenset()
    """Crash points at which the daemon is killed, by their number."""
    kill_on: Occurrence | None = None
    """A crash point at which it is killed, by what happens there."""

    @property
    def market_tasks(self) -> int:
        """How many tasks the market has, those with hostile ids included."""
        return self.tasks + min(self.market_shape.hostile, len(HOSTILE_IDS))

    @property
    def end(self) -> float:
        """When the run is over at the latest."""
        return self.fault_seconds + self.quiet_seconds


CALM_TASKS = 8
PAGES = "https://pay.invalid"
"""Where the network's payment pages are: one on this machine would be doubted."""


def draw_money_plan(seed: int, *, days: float) -> Plan:
    """Draw a run in which credits move all the time, on a network that keeps keys.

    One that ignored them would charge twice what was sent twice on the way, which no
    agent could prevent.
    """
    drawn = draw_plan(seed, days=days, chaos=Chaos.HARD)
    random = seeded(seed, "money")
    seconds = days * DAY
    return replace(
        drawn,
        buys=True,
        behaviour=HONEST,
        formats={"base_url": PAGES},
        market_shape=PLAIN_MARKET,
        tasks=round(days * 4) + CALM_TASKS,
        calm_tasks=CALM_TASKS,
        release_seconds=seconds,
        kills=_moments_of(random, seconds, round(days)),
        clock_steps=(),
        drift=0.0,
        kill_rate=0.002,
        fault_rate=0.1,
        competitors=0,
        operator_commands=round(days * 2),
        slots=2,
    )


def _moments_of(random: Random, seconds: float, count: int) -> tuple[float, ...]:
    return tuple(sorted(random.uniform(0, seconds) for _ in range(count)))


def draw_plan(seed: int, *, days: float, chaos: Chaos) -> Plan:
    """Draw a run of so many days.

    Each seed draws its own selection of faults and its own rates, so that rare
    combinations are not drowned by common ones.
    """
    random = seeded(seed, "plan")
    seconds = days * DAY
    tasks = _tasks(random, days)
    if chaos is Chaos.OFF:
        return Plan(
            seed=seed, fault_seconds=seconds, tasks=tasks, release_seconds=seconds / 2
        )
    is_hard = chaos is Chaos.HARD
    kinds = random.sample(sorted(FAULTS), random.randint(3, len(FAULTS)))
    # A stream of its own, so that what was drawn before stays as it was.
    owner = seeded(seed, "owner's settings")
    rates = (0.05, 0.2, 0.5) if is_hard else (0.01, 0.05)
    kill_rates = (0.0, 0.002, 0.01, 0.05) if is_hard else (0.0, 0.001)
    return Plan(
        seed=seed,
        chaos=chaos,
        fault_seconds=seconds,
        tasks=tasks,
        release_seconds=random.choice((0.0, seconds / 2, seconds)),
        behaviour=replace(draw(random), echoes_token=owner.random() < ECHO_SHARE),
        fault_rate=random.choice(rates),
        faults=tuple(kinds),
        outages=_outages(random, seconds, kinds, 6 if is_hard else 2),
        kill_rate=random.choice(kill_rates),
        kills=_moments(random, seconds, 6 if is_hard else 2),
        stops=_moments(random, seconds, 2),
        clock_steps=tuple(
            (at, random.choice(STEPS))
            for at in _moments(random, seconds, 4 if is_hard else 1)
        ),
        suspensions=tuple(
            (at, random.choice(SUSPENSIONS))
            for at in _moments(random, seconds, 2 if is_hard else 1)
        ),
        drift=random.choice(DRIFTS),
        crash_loop=_crash_loop(random) if is_hard else 0,
        stop_rate=random.choice((0.0, 0.0, 0.002)) if is_hard else 0.0,
        disk_at=_disk(random, 3 if is_hard else 1),
        market_shape=draw_market_shape(random, seconds),
        competitors=random.choice((0, 0, 1, 3)),
        operator_commands=random.randint(0, 12),
        operator_commands_at_once=random.choice((1, 1, 6)),
        reserve_credits=owner.choice(RESERVES),
        verifies_posts=owner.random() < VERIFY_SHARE,
        odd_strategies=random.random() < 0.7,
        slots=_slots(random, tasks),
        formats=random.choice(FORMATS),
    )


def _tasks(random: Random, days: float) -> int:
    if random.randrange(MANY_ONE_IN) == 0:
        return MANY_TASKS
    if random.randrange(NONE_ONE_IN) == 0:
        return 0
    return max(4, round(days * random.uniform(10, 60)))


def _slots(random: Random, tasks: int) -> int:
    slots = random.choice((1, 2, 4, 8))
    return max(slots, SLOTS_FOR_MANY) if tasks == MANY_TASKS else slots


def _disk(random: Random, most: int) -> dict[int, DiskFault]:
    """Draw failing commits; early ones are likelier, since all runs have those."""
    count = random.choice((0, random.randint(0, most)))
    return {
        round(LATEST_FAILING_COMMIT ** random.random()): random.choice(list(DiskFault))
        for _ in range(count)
    }


def _crash_loop(random: Random) -> int:
    return CRASH_LOOP if random.randrange(CRASH_LOOP_ONE_IN) == 0 else 0


def _outages(
    random: Random,
    seconds: float,
    kinds: list[str],
    most: int,
) -> tuple[Outage, ...]:
    return tuple(
        Outage(
            begins=at,
            ends=at + random.uniform(60, 1800),
            fault=random.choice(kinds),
            flaps=random.choice(FLAPS),
        )
        for at in _moments(random, seconds, most)
    )


def _moments(random: Random, seconds: float, most: int) -> tuple[float, ...]:
    count = random.randint(0, most)
    return tuple(sorted(random.uniform(0, seconds) for _ in range(count)))
