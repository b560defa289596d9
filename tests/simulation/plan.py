"""What a run will be like, all of it decided by its seed before it begins."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from tests.simulation.behaviour import HONEST, NetworkBehaviour, draw
from tests.simulation.faults import FAULTS
from tests.simulation.load import HOSTILE_IDS, PLAIN, Load, draw_load
from tests.simulation.loop import SimulationLoop, seeded

from journeyman.journal.database import DiskRefusal
from journeyman.journal.journal import Journal


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


_WORDS = {
    DiskFault.IO_ERROR: "disk I/O error",
    DiskFault.BUSY: "database is locked",
}
"""As SQLite says it."""


class FailingDisk:
    """Fails at the commits that a plan names, counted over all lives."""

    def __init__(self, plan: dict[int, DiskFault]) -> None:
        self._plan = plan
        self._commits = 0
        self._fails_identity = False
        self.has_failed = False
        """In this life, so that it may have to stop."""
        self.counts: Counter[str] = Counter()

    def heal(self) -> None:
        """Begin a new life, with room and a disk that works."""
        self.has_failed = False

    def before_commit(self, journal: Journal) -> None:
        """Count a commit, and let it fail if the plan says so.

        Raises:
            DiskRefusal: it does.
        """
        self._commits += 1
        fault = self._plan.get(self._commits)
        if fault is None:
            return
        self.counts[f"disk: {fault}"] += 1
        if fault is DiskFault.IDENTITY:
            self._fails_identity = True
            return
        self.has_failed = True
        if fault is DiskFault.FULL:
            _fill(journal)
        else:
            raise DiskRefusal(_WORDS[fault])

    def takes_identity(self) -> bool:
        """Tell whether the identity can be saved now."""
        fails, self._fails_identity = self._fails_identity, False
        self.has_failed = self.has_failed or fails
        return not fails


def _fill(journal: Journal) -> None:
    """Let the file grow no more, for as long as this connection is open."""
    pages = journal.database.row("PRAGMA page_count")
    if pages is not None:
        journal.database.row(f"PRAGMA max_page_count = {int(pages[0])}")


HOUR = 3600.0
DAY = 24 * HOUR
CALM_SECONDS = 3 * HOUR
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
"""Fewer would not do all of them in the calm time, where some strategies hang."""
NONE_ONE_IN = 40
FLAPS = (0.0, 0.0, 10.0, 45.0)
"""Outages that come and go, in seconds."""
DRIFTS = (0.0, 0.0, 500e-6, -500e-6, 0.02, -0.02)
"""How much faster a wall clock runs than time. Half a thousandth is the most by which
NTP slews one; two hundredths is a virtual machine's at its worst."""
CRASH_LOOP = 50
"""Lives in a row that end soon after they began."""
CRASH_LOOP_ONE_IN = 20
LATEST_FAILING_COMMIT = 400


class Chaos(StrEnum):
    """How badly the world behaves."""

    #: Nothing goes wrong.
    OFF = "off"
    #: A bad week: now and then a fault, an outage, a kill.
    MILD = "mild"
    #: Far worse than any real network or machine.
    HARD = "hard"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outage:
    """A time in which every request meets the same fault; in seconds."""

    begins: float
    ends: float
    fault: str
    flaps: float = 0.0
    """It comes and goes: this long it is there, as long it is not. 0: it stays."""

    def strikes(self, seconds: float) -> bool:
        """Tell whether a request that leaves now meets it."""
        is_on = self.begins <= seconds < self.ends
        is_away = self.flaps and (seconds - self.begins) // self.flaps % 2
        return is_on and not is_away


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the course of a run that stays where it is when code around it grows.

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
    calm_seconds: float = CALM_SECONDS
    """How long nothing does, afterwards."""
    tasks: int = 20
    release_seconds: float = 0.0
    """Over how long the market shows them; 0 shows all at once."""
    personality: NetworkBehaviour = HONEST
    fault_rate: float = 0.0
    """The share of requests that meet a fault."""
    faults: tuple[str, ...] = ()
    """The kinds that this run draws from."""
    outages: tuple[Outage, ...] = ()
    kill_rate: float = 0.0
    """The chance of a kill at each crash point."""
    kills: tuple[float, ...] = ()
    """When the daemon is killed, whatever it does."""
    stops: tuple[float, ...] = ()
    """When the daemon is told to stop, and started again after."""
    steps: tuple[tuple[float, float], ...] = ()
    """When the wall clock is set, and by how much."""
    drift: float = 0.0
    """By how much the wall clock runs too fast, as a share of one; or too slow."""
    suspensions: tuple[tuple[float, float], ...] = ()
    """When the daemon's machine is suspended, and for how long."""
    crash_loop: int = 0
    """So many lives, from the first on, are killed at one of their first points."""
    stop_rate: float = 0.0
    """The chance at each crash point that the daemon is told to stop there."""
    stop_at: frozenset[int] = frozenset()
    """Crash points at which it is told so, by their number."""
    disk_at: dict[int, DiskFault] = field(default_factory=dict)
    """How the disk fails at which commit, by its number."""
    load: Load = PLAIN
    competitors: int = 0
    errands: int = 0
    """How many tasks the owner posts, and top-ups asked for, over the run."""
    errands_at_once: int = 1
    """How many of them the owner asks for at one moment."""
    oddities: bool = False
    """Some strategies raise, decline, hang or answer rubbish."""
    slots: int = 4
    fault_at: dict[int, str] = field(default_factory=dict)
    """A fault for one request, by its number; 1 is the first of the run."""
    fault_on: Spot | None = None
    """A fault for one request, by its path."""
    kill_at: frozenset[int] = frozenset()
    """Crash points at which the daemon is killed, by their number."""
    kill_on: Spot | None = None
    """A crash point at which it is killed, by what happens there."""

    @property
    def market(self) -> int:
        """How many tasks the market has, odd ones included."""
        return self.tasks + min(self.load.hostile, len(HOSTILE_IDS))

    @property
    def end(self) -> float:
        """When the run is over at the latest."""
        return self.fault_seconds + self.calm_seconds


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
    rates = (0.05, 0.2, 0.5) if is_hard else (0.01, 0.05)
    kill_rates = (0.0, 0.002, 0.01, 0.05) if is_hard else (0.0, 0.001)
    return Plan(
        seed=seed,
        chaos=chaos,
        fault_seconds=seconds,
        tasks=tasks,
        release_seconds=random.choice((0.0, seconds / 2, seconds)),
        personality=draw(random),
        fault_rate=random.choice(rates),
        faults=tuple(kinds),
        outages=_outages(random, seconds, kinds, 6 if is_hard else 2),
        kill_rate=random.choice(kill_rates),
        kills=_moments(random, seconds, 6 if is_hard else 2),
        stops=_moments(random, seconds, 2),
        steps=tuple(
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
        load=draw_load(random, seconds),
        competitors=random.choice((0, 0, 1, 3)),
        errands=random.randint(0, 12),
        errands_at_once=random.choice((1, 1, 6)),
        oddities=random.random() < 0.7,
        slots=_slots(random, tasks),
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


Act = Callable[[], object]


@dataclass(slots=True)
class _Appointment:
    at: float
    act: Act
    handle: asyncio.TimerHandle | None = None


class Agenda:
    """Appointments that outlive the event loop on which they are waited for."""

    def __init__(self) -> None:
        self._open: dict[int, _Appointment] = {}
        self._made = 0
        self._loop: SimulationLoop | None = None

    def appoint(self, at: float, act: Act) -> None:
        """Do something at a time, in simulated seconds; now if that has passed."""
        self._made += 1
        self._open[self._made] = _Appointment(at, act)
        if self._loop is not None:
            self._wait_for(self._made, self._loop)

    def attach(self, loop: SimulationLoop) -> None:
        """Wait for all that is open on this loop."""
        self._loop = loop
        for number in self._open:
            self._wait_for(number, loop)

    def detach(self) -> None:
        """Wait for nothing, until another loop is attached."""
        self._loop = None
        for appointment in self._open.values():
            if appointment.handle is not None:
                appointment.handle.cancel()

    def _wait_for(self, number: int, loop: SimulationLoop) -> None:
        appointment = self._open[number]
        at = max(appointment.at, loop.time())
        appointment.handle = loop.call_at(at, self._keep, number)

    def _keep(self, number: int) -> None:
        # Taken out first: an act may kill the daemon, and is not done twice.
        self._open.pop(number).act()


class Weather:
    """Decides about each request of a run, in the order in which they leave."""

    def __init__(self, plan: Plan, point: Callable[[], int]) -> None:
        """Begin; `point` gives the number of the last crash point."""
        self._plan = plan
        self._point = point
        self._passed = 0
        self._random = seeded(plan.seed, "weather")
        self.requests = 0
        """How many have left so far."""
        self.counts: Counter[str] = Counter()
        """How often each fault has struck."""
        self.struck_at: list[int] = []
        """After which crash point each of them struck."""

    def over(self, seconds: float, path: str) -> str:
        """Name the fault that the request which leaves now will meet; or none."""
        self.requests += 1
        planned = self._plan.fault_at.get(self.requests, "") or self._on_spot(path)
        name = planned or self._by_chance(seconds)
        if name:
            self.counts[name] += 1
            self.struck_at.append(self._point())
        return name

    def _on_spot(self, path: str) -> str:
        spot = self._plan.fault_on
        if spot is None or spot.about not in path:
            return ""
        self._passed += 1
        return spot.kind if self._passed == spot.number else ""

    def _by_chance(self, seconds: float) -> str:
        plan = self._plan
        if seconds >= plan.fault_seconds:
            return ""
        for outage in plan.outages:
            if outage.strikes(seconds):
                return outage.fault
        if plan.faults and self._random.random() < plan.fault_rate:
            return self._random.choice(plan.faults)
        return ""
