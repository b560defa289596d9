"""A run: the whole daemon and the sandbox in one world, from a plan to an outcome."""

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

import anyio
import httpx2 as httpx
from tests.simulation.behaviour import ordered_scopes
from tests.simulation.errors import DeadlockError, Killed, LivelockError
from tests.simulation.findings import Findings, Violation
from tests.simulation.loop import (
    SeededRandomness,
    SimulatedClock,
    SimulationLoop,
    Timeline,
    scheduled_by,
    seeded,
)
from tests.simulation.owner import Owner
from tests.simulation.plan import Agenda, FailingDisk, Plan, Weather
from tests.simulation.process import CrashPoints, Fate, Process
from tests.simulation.server import SimulatedNetwork
from tests.simulation.strategies import KIND, ODD, USUAL, registry_of
from tests.simulation.trace import OF_THE_MACHINE, Trace, TraceLog
from tests.simulation.transport import SimulatedTransport
from tests.simulation.verdict import (
    SETTLED,
    Bookkeeper,
    Remains,
    Verdict,
    dump,
    private_folder,
)
from tests.simulation.watch import HOST, Watch

from journeyman.control.server import Desk
from journeyman.daemon.agent import open_agent
from journeyman.daemon.daemon import Daemon
from journeyman.daemon.environment import Environment, JoinInterruptedError
from journeyman.daemon.shutdown import Shutdown
from journeyman.domain.errors import (
    JourneymanError,
    NetworkError,
    SafetyError,
    StateError,
    one_error,
)
from journeyman.domain.tasks import TaskState
from journeyman.journal.identity import load_identity
from journeyman.journal.journal import Journal
from journeyman.observability.events import Log
from journeyman.observability.redaction import Redactor
from journeyman.sandbox import SandboxOptions
from journeyman.sandbox.competitors import Competitor
from journeyman.settings.sections import (
    NetworkSettings,
    ScheduleSettings,
    Settings,
    WorkSettings,
)
from journeyman.worker.recover import recover_interrupted


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One run, seen from its end."""

    plan: Plan
    violations: tuple[Violation, ...]
    digest: str
    """Of all that happened and of all that was left: the same for the same plan."""
    simulated_seconds: float
    credits: int
    """The balance in the daemon's ledger at the end."""
    states: Mapping[str, int]
    """How many tasks are in each state."""
    requests: int
    points: int
    """Crash points that were passed."""
    fault_points: tuple[int, ...]
    """The crash points after which a fault struck, by their number."""
    lives: int
    kills: int
    faults: Counter[str]
    moves: Counter[str]
    """How often a task went from one state to another, such as "wanted > claiming"."""
    deaths: Counter[str]
    """How many kills found a task in a state, such as "submitting"."""
    happenings: Counter[str]
    """What else happened, such as leases that ended and disks that failed."""
    exercised: Counter[str]
    undecidable: Counter[str]

    @property
    def passed(self) -> bool:
        """Whether every invariant held."""
        return not self.violations


BASE_URL = f"http://{HOST}"
BUG_EVENT = "task.bug"
"""The log event of a bug of ours."""
WORK_EVENT = "strategy.log"
"""The log event by which a simulated strategy says that it works."""
AMPLE_BYTES = 1 << 40
"""Of free disk: a run must not depend on the machine's own."""


def settings_for(plan: Plan, directory: Path) -> Settings:
    """Give the settings of a simulated daemon: the defaults, but for what is named."""
    usual = _usual_settings(plan.slots)
    data = usual.data.model_copy(update={"directory": directory})
    return usual.model_copy(update={"data": data})


@cache
def _usual_settings(slots: int) -> Settings:
    """Read the defaults once: each life needs them, and reading them is slow."""
    return Settings(
        network=NetworkSettings(base_url=BASE_URL),
        work=WorkSettings(slots=slots),
        # A second guard: the worker looks by itself whether something is due, when its
        # wait is over and at least twice a minute (docs/decisions/0024).
        schedule=ScheduleSettings(deliver_every_seconds=300),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Outfitter:
    """Fits out one life after the other."""

    plan: Plan
    timeline: Timeline
    trace: Trace
    findings: Findings
    watch: Watch
    weather: Weather
    network: SimulatedNetwork
    agenda: Agenda
    owner: Owner

    def environment_for(self, process: Process) -> Environment:
        """Give a life everything that simulation replaces."""
        redactor = Redactor()

        def write(event: str, fields: dict[str, Any]) -> None:
            if process.is_alive:
                self._hear(event, fields, redactor)

        return Environment(
            clock=self.timeline.clock,
            randomness=SeededRandomness(self.plan.seed, "life", process.number),
            log=TraceLog(write),
            redactor=redactor,
            transport=self._transport_for(process),
            open_journal=process.open_journal,
            save_identity=process.save_identity,
            serve_control=self._serve_owner,
            free_bytes=lambda _path: AMPLE_BYTES,
            block_limit=None,
            has_processes=False,
        )

    def _transport_for(self, process: Process) -> SimulatedTransport:
        return SimulatedTransport(
            process=process,
            weather=self.weather,
            watch=self.watch,
            handle=self.network.handle,
            call_later=self._call_later,
            suspended=lambda: self.timeline.suspended,
            random=seeded(self.plan.seed, "travel", process.number),
        )

    async def _serve_owner(self, _path: Path, desk: Desk, _log: Log) -> None:
        await self.owner.serve(desk, lambda: self.timeline.seconds)

    def _call_later(self, delay: float, act: Callable[[], object]) -> None:
        self.agenda.appoint(self.timeline.seconds + delay, act)

    def _hear(self, event: str, fields: dict[str, Any], redactor: Redactor) -> None:
        told = {name: v for name, v in fields.items() if name not in OF_THE_MACHINE}
        self.trace.add(event, **told)
        if token := self.watch.token:
            is_told = token in str(fields)
            text = str(redactor.clean_record(fields)) if is_told else ""
            message = f"the token is in the log event {event}"
            self._check("I-16", message, holds=token not in text)
        if event == WORK_EVENT:
            self.watch.worked(str(fields["task_id"]))
        if event == BUG_EVENT:
            bug = f"a bug of ours: {fields.get('traceback')}"
            self._check("I-17", bug, holds=False)

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self.findings.check(invariant, self.timeline.seconds, message, holds=holds)


class Restarts:
    """Whether a second start changes what a first one leaves."""

    def __init__(self, left: Path, settings: Settings, clock: SimulatedClock) -> None:
        """Start on a copy of the files in `left`, which is put where `settings` say."""
        self._left = left
        self._copy = settings.data.directory
        self._settings = settings
        self._clock = clock
        self._written = 0

    def agree(self) -> bool:
        """Start twice, and tell whether the second time has left all as it was."""
        shutil.copytree(self._left, self._copy)
        try:
            return self._compare()
        finally:
            shutil.rmtree(self._copy)

    def _compare(self) -> bool:
        self._start()
        self._start()
        if not self._written:
            return True
        # It may have written what was there already: only then all is compared.
        once = self._dump()
        self._start()
        return once == self._dump()

    def _start(self) -> None:
        """Do all that a start does before its first request."""
        loop = SimulationLoop(self._clock.monotonic())
        try:
            loop.run_until_complete(self._open_agent())
        finally:
            loop.close()

    def _dump(self) -> list[str]:
        with Journal(self._copy / "journal.db", self._clock.now) as journal:
            return dump(journal)

    async def _open_agent(self) -> None:
        log = TraceLog(lambda _event, _fields: None)
        environment = Environment(
            clock=self._clock,
            randomness=SeededRandomness("restart"),
            log=log,
            redactor=Redactor(),
            transport=_NoNetwork(),
        )
        base_url = self._settings.network.base_url or ""
        async with open_agent(self._settings, base_url, environment) as agent:
            recover_interrupted(agent.journal, log)
            row = agent.journal.database.row("SELECT total_changes() AS n")
            self._written = int(row["n"]) if row else 0


class _NoNetwork(httpx.AsyncBaseTransport):
    """Nobody is asked for anything before a start is over."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"a start has sent {request.method} {request.url}")


LOOK_SECONDS = 60.0
"""How often a calm world looks whether all is done."""
LAST_SECONDS = 120.0
"""How long the daemon has to stop at the very end."""
COMPETITOR_PAUSE = (60.0, 900.0)
"""Seconds between two steps of a competitor."""
TICKS = 200
"""How often progress is told."""


class Host(Protocol):
    """Whoever lets the daemon live."""

    def kill(self) -> None:
        """Kill it, now."""
        ...

    def stop(self, reason: str) -> None:
        """Tell it to stop."""
        ...

    def is_all_done(self) -> bool:
        """Tell whether nothing is left to do."""
        ...

    def finish(self) -> None:
        """Let this life be the last."""
        ...

    def give_up(self) -> None:
        """End a life that does not end."""
        ...


class Course:
    """Makes the appointments that a plan names, and keeps them."""

    def __init__(
        self,
        *,
        plan: Plan,
        timeline: Timeline,
        agenda: Agenda,
        network: SimulatedNetwork,
        watch: Watch,
        trace: Trace,
        host: Host,
        on_progress: Callable[[float], None],
    ) -> None:
        self._plan = plan
        self._timeline = timeline
        self._agenda = agenda
        self._network = network
        self._watch = watch
        self._trace = trace
        self._host = host
        self._on_progress = on_progress
        self._chance = seeded(plan.seed, "course")

    def begin(self) -> None:
        """Make all appointments."""
        plan, appoint = self._plan, self._agenda.appoint
        for at in plan.kills:
            appoint(at, self._kill)
        for at in plan.stops:
            appoint(at, partial(self._host.stop, "told to"))
        for at, step in plan.steps:
            appoint(at, partial(self._set_clock, step))
        for at, seconds in plan.suspensions:
            appoint(at, partial(self._suspend, seconds))
        for task_id in self._network.made_tasks():
            at = self._chance.uniform(0, plan.release_seconds)
            self._network.release(task_id, at)
        for number in range(1, plan.competitors + 1):
            competitor = self._network.add_competitor(number)
            self._later(
                self._chance.uniform(*COMPETITOR_PAUSE), partial(self._let, competitor)
            )
        self._tick()
        appoint(plan.fault_seconds, self._look)

    def _later(self, seconds: float, act: Callable[[], object]) -> None:
        self._agenda.appoint(self._timeline.seconds + seconds, act)

    def _kill(self) -> None:
        self._trace.add("kill")
        self._host.kill()

    def _set_clock(self, step: float) -> None:
        self._timeline.set_wall_clock(step)
        self._watch.clock_was_set()
        self._trace.add("the clock is set", by=step)

    def _suspend(self, seconds: float) -> None:
        self._timeline.suspend(seconds)
        self._watch.clock_was_set()
        self._trace.add("the machine was suspended", seconds=seconds)

    def _let(self, competitor: Competitor) -> None:
        """Let a competitor take a step, and another one later, until all is calm."""
        competitor.step()
        if self._timeline.seconds < self._plan.fault_seconds:
            self._later(
                self._chance.uniform(*COMPETITOR_PAUSE), partial(self._let, competitor)
            )

    def _tick(self) -> None:
        self._on_progress(self._timeline.seconds)
        self._later(max(self._plan.end / TICKS, LOOK_SECONDS), self._tick)

    def _look(self) -> None:
        """End the run when all is done, or when its time is over."""
        if self._host.is_all_done() or self._timeline.seconds >= self._plan.end:
            self._watch.test_open_calls()
            self._host.finish()
            self._later(LAST_SECONDS, self._host.give_up)
        else:
            self._later(LOOK_SECONDS, self._look)


LONGEST_PAUSE = 300.0
"""Seconds until a service manager starts the daemon again: one, doubled at each failed
start, up to this."""
GRACE_SECONDS = 30.0
"""After which a daemon that was told to stop cancels what still works."""
STUBBORN_SECONDS = 120.0
"""The same where a strategy resists cancellation for a minute and a half."""
MOST_VIOLATIONS = 50
"""A run that has found so many ends with the life that found the last."""
RESTARTS = 6
"""After so many kills of a run, and then after every so-manieth, it is looked whether a
second start leaves what the first one left."""
EXHAUSTED_EVENT = "network.dialect_exhausted"

Progress = Callable[[float], None]


def simulate(plan: Plan, on_progress: Progress = lambda _seconds: None) -> Outcome:
    """Run a plan to its end; the same plan gives the same outcome, to the byte.

    `on_progress` is told now and then how many seconds were simulated.
    """
    with private_folder() as root:
        return Simulation(plan, root, on_progress).run()


class Simulation:
    """One world; it is run once."""

    def __init__(self, plan: Plan, root: Path, on_progress: Progress) -> None:
        self._plan = plan
        self._root = root
        self._timeline = Timeline(plan.drift)
        self._agenda = Agenda()
        self._trace = Trace(lambda: self._timeline.seconds)
        self._findings = Findings(self._trace.story)
        self._points = CrashPoints(plan, self._trace, lambda: self._timeline.seconds)
        self._weather = Weather(plan, lambda: self._points.passed)
        now = self._timeline.clock.now
        self._watch = Watch(self._findings, self._trace, now, plan.drift)
        self._disk = FailingDisk(plan.disk_at)
        self._network = SimulatedNetwork(
            options=SandboxOptions(tasks=plan.tasks, seed=plan.seed, kinds=(KIND,)),
            personality=plan.personality,
            seconds=lambda: self._timeline.network_seconds,
            load=plan.load,
        )
        self._outfitter = Outfitter(
            plan=plan,
            timeline=self._timeline,
            trace=self._trace,
            findings=self._findings,
            watch=self._watch,
            weather=self._weather,
            network=self._network,
            agenda=self._agenda,
            owner=Owner(plan, self._trace),
        )
        self._books = Bookkeeper(
            findings=self._findings,
            network=self._network,
            settings=settings_for(plan, root),
            seconds=lambda: self._timeline.seconds,
        )
        self._course = self._make_course(on_progress)
        self._stopping_since: float | None = None
        self._happenings: Counter[str] = Counter()
        self._deaths: Counter[str] = Counter()
        self._kills = 0
        self._failed_starts = 0
        self._is_over = False
        self._over = anyio.Event()
        self._shutdown: Shutdown | None = None
        self._process = self._make_process(1)

    def _make_course(self, on_progress: Progress) -> Course:
        return Course(
            plan=self._plan,
            timeline=self._timeline,
            agenda=self._agenda,
            network=self._network,
            watch=self._watch,
            trace=self._trace,
            host=self,
            on_progress=on_progress,
        )

    def run(self) -> Outcome:
        """Live one life after the other, then judge."""
        self._course.begin()
        try:
            with scheduled_by(self._timeline.clock.now), ordered_scopes():
                while not self._is_over and not self._has_failed_enough:
                    self._live()
                    self._process = self._make_process(self._process.number + 1)
                return self._judge()
        finally:
            self._timeline.loop.close()
            self._network.close()

    @property
    def _has_failed_enough(self) -> bool:
        """A daemon that fails at each start would be started ten thousand times."""
        return len(self._findings.violations) >= MOST_VIOLATIONS

    # -- one life ------------------------------------------------------------

    def _live(self) -> None:
        """Let the daemon live once, from its start to its end or to a kill."""
        process, loop = self._process, self._process.loop
        self._disk.heal()
        self._points.begin(process.number)
        self._watch.begin(process)
        main = loop.create_task(self._be_daemon(process))
        self._agenda.attach(loop)
        fault = self._run(loop, main)
        self._agenda.detach()
        self._shutdown = self._stopping_since = None
        if process.is_alive:
            process.end()
        for problem in [*fault, *loop.failures]:
            self._check("I-17", problem, holds=False)
        self._check("I-17", "", holds=True)
        _wind_up(self._timeline.next_loop(), main)
        shutil.rmtree(process.directory, ignore_errors=True)

    def _run(self, loop: SimulationLoop, main: "asyncio.Task[None]") -> list[str]:
        """Run a life; give what was wrong with its end."""
        try:
            loop.run_until_complete(main)
        except Killed:
            self._note_death()
        except (DeadlockError, LivelockError) as error:
            self._is_over = True
            return [str(error)]
        except Exception as error:  # noqa: BLE001 - any error at all is a finding
            return [f"the daemon ended with {error!r}"]
        return []

    async def _be_daemon(self, process: Process) -> None:
        self._over = anyio.Event()
        with anyio.move_on_after(min(2.0**self._failed_starts, LONGEST_PAUSE)):
            await self._over.wait()
            return
        self._trace.add("started", life=process.number)
        self._shutdown = shutdown = Shutdown()
        settings = settings_for(self._plan, process.directory)
        environment = self._outfitter.environment_for(process)
        registry = registry_of(ODD if self._plan.oddities else USUAL)
        stop = shutdown.requested
        try:
            with one_error():
                async with open_agent(
                    settings, BASE_URL, environment, stop=stop
                ) as agent:
                    self._failed_starts = 0
                    await Daemon(settings, agent, registry, environment, shutdown).run()
        except JoinInterruptedError:
            self._trace.add("stopped before it had joined")
        except (NetworkError, SafetyError) as error:
            self._failed_starts += 1
            self._trace.add("could not join", error=error.problem)
        except JourneymanError as error:
            self._failed_starts += 1
            self._note_complaint(error)
        else:
            self._trace.add("stopped")
            self._test_stop()

    def _note_complaint(self, error: JourneymanError) -> None:
        """A daemon gives up only if its disk does, and then says what to do."""
        is_disk = self._disk.has_failed and isinstance(error, StateError)
        self._check("I-17", f"the daemon gave up: {error}", holds=is_disk)
        if is_disk:
            self._trace.add("stopped by its disk")
            named = any(what in error.problem for what in ("journal", "identity"))
            message = f"an unclear complaint about a disk: {error}"
            self._check("I-23", message, holds=named and bool(error.fix))
            self._happenings["stops by a failing disk"] += 1

    def _test_stop(self) -> None:
        if self._stopping_since is None:
            return
        seconds = self._timeline.seconds - self._stopping_since
        longest = STUBBORN_SECONDS if self._plan.oddities else GRACE_SECONDS
        message = f"a stop took {seconds:.1f} s"
        self._check("I-22", message, holds=seconds <= longest + 1)
        self._stopping_since = None

    # -- what the course of the world asks for ---------------------------------

    def kill(self) -> None:
        """Kill the daemon, now.

        Raises:
            Killed: it lived.
        """
        self._process.kill()

    def stop(self, reason: str) -> None:
        """Tell the daemon to stop; where none runs, nothing happens."""
        shutdown = self._shutdown
        if shutdown is None or shutdown.requested.is_set():
            return
        self._stopping_since = self._timeline.seconds
        shutdown.request(reason)

    def finish(self) -> None:
        """Let this life be the last."""
        self._is_over = True
        self._over.set()
        self.stop("the simulation is over")

    def give_up(self) -> None:
        """End a life that does not end.

        Raises:
            Killed: it lived.
        """
        self._check("I-17", "the daemon did not stop when it was told to", holds=False)
        self._process.kill()

    def is_all_done(self) -> bool:
        """Tell whether every task of the market was seen and has ended."""
        journal = self._process.journal
        if journal is None or not self._process.is_alive:
            return False
        counts = journal.tasks.counts()
        seen = sum(counts.values()) >= self._plan.market
        return seen and all(TaskState(state) in SETTLED for state in counts)

    # -- what the daemon does --------------------------------------------------

    def _make_process(self, number: int) -> Process:
        return Process(
            number=number,
            root=self._root,
            loop=self._timeline.loop,
            on_point=self._pass_point,
            on_commit=self._read_books,
            on_token=self._watch.saved_identity,
            disk=self._disk,
        )

    def _pass_point(self, kind: str, about: str) -> bool:
        """Note a crash point; True kills there."""
        if kind == "before file":
            self._watch.saving_identity()
        fate = self._points.decide(kind, about)
        if fate is Fate.STOP:
            self.stop("told to")
        return fate is Fate.KILL

    def _read_books(self, label: str) -> None:
        self._trace.add("commit", label=label)
        if self._process.journal is not None:
            self._books.read(self._process.journal)

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self._findings.check(invariant, self._timeline.seconds, message, holds=holds)

    # -- the end ---------------------------------------------------------------

    def _note_death(self) -> None:
        """Count what was going on; now and then, look what starting again does."""
        self._kills += 1
        self._trace.add("killed", life=self._process.number)
        self._deaths += self._books.in_flight
        left = self._process.heir
        if self._kills <= RESTARTS or self._kills % RESTARTS == 0:
            self._test_restarts(left)

    def _test_restarts(self, left: Path) -> None:
        if load_identity(left / "identity.json") is None:
            return
        settings = settings_for(self._plan, left.with_name(f"{left.name}-again"))
        restarts = Restarts(left, settings, self._timeline.clock)
        message = "a second start changed what the first one had left"
        self._check("I-19", message, holds=restarts.agree())

    def _judge(self) -> Outcome:
        directory = self._process.directory
        journal_file = directory / "journal.db"
        with Journal(journal_file, self._timeline.clock.now) as journal:
            remains = Remains(
                plan=self._plan,
                seconds=self._timeline.seconds,
                network_seconds=self._timeline.network_seconds,
                network=self._network,
                watch=self._watch,
                journal=journal,
                identity=load_identity(directory / "identity.json"),
                shapes_exhausted=self._trace.counts[EXHAUSTED_EVENT],
            )
            verdict = Verdict(remains, self._findings)
            verdict.give()
            for line in dump(journal):
                self._trace.absorb(line)
            return self._outcome(journal)

    def _outcome(self, journal: Journal) -> Outcome:
        return Outcome(
            plan=self._plan,
            violations=tuple(self._findings.violations),
            digest=self._trace.digest,
            simulated_seconds=self._timeline.seconds,
            credits=journal.ledger.balance(),
            states=journal.tasks.counts(),
            requests=self._weather.requests,
            points=self._points.passed,
            fault_points=tuple(self._weather.struck_at),
            lives=self._process.number - 1,
            kills=self._kills,
            faults=self._weather.counts,
            moves=self._books.moves,
            deaths=self._deaths,
            happenings=self._all_happenings(),
            exercised=self._findings.exercised,
            undecidable=self._findings.undecidable,
        )

    def _all_happenings(self) -> Counter[str]:
        plan, end = self._plan, self._timeline.seconds
        told = self._happenings + self._disk.counts + self._network.limits.counts
        told["kills of a crash loop"] += self._points.loop_kills
        told["stops at a point"] += self._points.stops
        told["suspensions"] += sum(at <= end for at, _ in plan.suspensions)
        told["clocks set"] += sum(at <= end for at, _ in plan.steps)
        told["crowds of 10,000 rows"] += self._network.crowds_shown
        told["tasks with hostile ids"] += plan.market - plan.tasks
        return +told


def _wind_up(loop: SimulationLoop, main: "asyncio.Task[None]") -> None:
    """Free what a life held; whatever it does by that is neither seen nor kept."""
    loop.is_crashed = False
    main.cancel()
    try:
        loop.run_until_complete(main)
    except (Exception, asyncio.CancelledError, Killed, BaseExceptionGroup):  # noqa: BLE001, S110 - it is dead
        pass
    finally:
        loop.close()
