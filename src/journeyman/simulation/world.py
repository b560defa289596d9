"""A run: the whole daemon and the sandbox in one world, from a plan to an outcome."""

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import anyio

from journeyman.daemon.agent import JoinInterruptedError, open_agent
from journeyman.daemon.daemon import Daemon
from journeyman.daemon.shutdown import Shutdown
from journeyman.daemon.unwrapping import one_error
from journeyman.domain import TaskState
from journeyman.domain.errors import (
    JourneymanError,
    NetworkError,
    SafetyError,
    StateError,
)
from journeyman.journal import Journal, load_identity
from journeyman.sandbox import SandboxOptions
from journeyman.simulation.agenda import Agenda
from journeyman.simulation.bookkeeper import Bookkeeper
from journeyman.simulation.course import Course
from journeyman.simulation.disk import FailingDisk
from journeyman.simulation.errors import DeadlockError, Killed, LivelockError
from journeyman.simulation.findings import Findings
from journeyman.simulation.folder import private_folder
from journeyman.simulation.loop import SimulationLoop
from journeyman.simulation.outcome import Outcome
from journeyman.simulation.outfit import BASE_URL, Outfitter, settings_for
from journeyman.simulation.owner import Owner
from journeyman.simulation.plan import Plan
from journeyman.simulation.points import CrashPoints, Fate
from journeyman.simulation.process import Process
from journeyman.simulation.remains import Remains, dump
from journeyman.simulation.restart import Restarts
from journeyman.simulation.schedule import scheduled_by
from journeyman.simulation.scopes import ordered_scopes
from journeyman.simulation.server import SimulatedNetwork
from journeyman.simulation.strategies import KIND, ODD, USUAL, registry_of
from journeyman.simulation.timeline import Timeline
from journeyman.simulation.trace import Trace
from journeyman.simulation.verdict import SETTLED, Verdict
from journeyman.simulation.watch import Watch
from journeyman.simulation.weather import Weather

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
        world = self._outfitter.world_for(process)
        registry = registry_of(ODD if self._plan.oddities else USUAL)
        stop = shutdown.requested
        try:
            with one_error():
                async with open_agent(settings, BASE_URL, world, stop=stop) as agent:
                    self._failed_starts = 0
                    await Daemon(settings, agent, registry, world, shutdown).run()
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
