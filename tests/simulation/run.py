"""A run: the whole daemon against the simulated network, from a plan to a result."""

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from tests.memory_disk import memory_disk
from tests.simulation.books import Books
from tests.simulation.environment import BASE_URL, EnvironmentFactory, settings_for
from tests.simulation.final_checks import SETTLED, FinalChecks, FinalState, table_rows
from tests.simulation.invariants import Checker, Violation
from tests.simulation.loop import (
    DeadlockError,
    Killed,
    LivelockError,
    SimulationLoop,
    ordered_scopes,
)
from tests.simulation.monitors import JournalMonitor, RequestMonitor
from tests.simulation.network import SimulatedNetwork
from tests.simulation.operator import Operator
from tests.simulation.plan import DAY, Plan
from tests.simulation.process import CrashPoints, FailingDisk, PointAction, Process
from tests.simulation.restarts import RestartCheck
from tests.simulation.strategies import (
    ALWAYS_WRONG,
    KIND,
    RELIABLE,
    UNRELIABLE,
    registry_of,
)
from tests.simulation.trace import Trace
from tests.simulation.transport import FaultSchedule
from tests.simulation.virtual_time import EventQueue, Timeline, scheduled_by, seeded

from journeyman.daemon.agent import open_agent
from journeyman.daemon.daemon import Daemon
from journeyman.daemon.environment import JoinInterruptedError
from journeyman.daemon.shutdown import Shutdown
from journeyman.daemon.wiring import Components
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
from journeyman.sandbox import SandboxOptions
from journeyman.sandbox.competitors import Competitor

LONGEST_RESTART_SECONDS = 300.0
"""Until a service manager starts the daemon again: one, doubled at each failed start,
up to this."""
GRACE_SECONDS = 30.0
"""After which a daemon that was told to stop cancels the work in flight."""
STUBBORN_SECONDS = 120.0
"""The same where a strategy resists cancellation for a minute and a half."""
MOST_VIOLATIONS = 50
"""A run with so many ends with the process that had the last."""
RESTART_CHECKS = 6
"""The first so many kills are followed by a check of the recovery, and then each
so-manieth."""
NOT_UNDERSTOOD_EVENT = "network.request_not_understood"

END_CHECK_SECONDS = 60.0
"""How often the quiet period checks whether everything is done."""
SHUTDOWN_SECONDS = 120.0
"""How long the daemon has to stop at the very end."""
PAYING_PAUSE = (600.0, 36 * 3600.0)
"""Seconds between two visits of the people who pay: some pages expire before."""
PAID_SHARE = 0.7
CALM_PAUSE = 600.0
"""Seconds between two tasks of the quiet period: each shows a balance by itself."""
COMPETITOR_PAUSE = (60.0, 900.0)
"""Seconds between two steps of a competitor."""
PROGRESS_REPORTS = 200
"""In one run."""

Progress = Callable[[float], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """One run, seen from its end."""

    plan: Plan
    violations: tuple[Violation, ...]
    digest: str
    """Of all that happened and of the final state: the same for the same plan."""
    simulated_seconds: float
    credits: int
    """The balance in the daemon's ledger at the end."""
    states: Mapping[str, int]
    """How many tasks are in each state."""
    requests: int
    points: int
    """Crash points that were passed."""
    points_with_faults: tuple[int, ...]
    """The crash points after which a fault occurred, by their number."""
    starts: int
    """Of the daemon, restarts after kills included."""
    kills: int
    faults: Counter[str]
    transitions: Counter[str]
    """How often a task went from one state to another, such as "wanted > claiming"."""
    killed_states: Counter[str]
    """How many kills found a task in a state, such as "submitting"."""
    other_events: Counter[str]
    """What else happened, such as leases that ended and disks that failed."""
    exercised: Counter[str]
    undecidable: Counter[str]

    @property
    def passed(self) -> bool:
        """Whether every invariant held."""
        return not self.violations


def simulate(plan: Plan, on_progress: Progress = lambda _seconds: None) -> RunResult:
    """Run a plan to its end; the same plan gives the same result, to the byte.

    `on_progress` is told now and then how many seconds were simulated.
    """
    with private_folder() as root:
        return Simulation(plan, root, on_progress).run()


@contextmanager
def private_folder() -> Iterator[Path]:
    """Yield a new folder, in memory if possible, which is removed afterwards."""
    root = Path(tempfile.mkdtemp(prefix="journeyman-simulation-", dir=memory_disk()))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


class Simulation:
    """One run of a plan."""

    def __init__(self, plan: Plan, root: Path, on_progress: Progress) -> None:
        self._plan = plan
        self._root = root
        self._timeline = Timeline(plan.drift)
        self._event_queue = EventQueue()
        self._trace = Trace(lambda: self._timeline.seconds)
        self._checker = Checker(self._trace.history)
        self._points = CrashPoints(plan, self._trace, lambda: self._timeline.seconds)
        self._fault_schedule = FaultSchedule(plan, lambda: self._points.passed)
        now = self._timeline.clock.now
        self._monitor = RequestMonitor(self._checker, self._trace, now, plan.drift)
        self._disk = FailingDisk(plan.disk_at)
        self._network = SimulatedNetwork(
            options=SandboxOptions(
                tasks=plan.tasks, seed=plan.seed, kinds=(KIND,), **plan.formats
            ),
            behaviour=plan.behaviour,
            seconds=lambda: self._timeline.network_seconds,
            market_shape=plan.market_shape,
        )
        self._environments = EnvironmentFactory(
            plan=plan,
            timeline=self._timeline,
            trace=self._trace,
            checker=self._checker,
            monitor=self._monitor,
            fault_schedule=self._fault_schedule,
            network=self._network,
            event_queue=self._event_queue,
            operator=Operator(plan, self._trace),
        )
        self._journal_monitor = JournalMonitor(
            checker=self._checker,
            network=self._network,
            settings=settings_for(plan, root),
            seconds=lambda: self._timeline.seconds,
        )
        self._on_progress = on_progress
        self._random = seeded(plan.seed, "course")
        self._stopping_since: float | None = None
        self._other_events: Counter[str] = Counter()
        self._killed_states: Counter[str] = Counter()
        self._kills = 0
        self._failed_starts = 0
        self._is_over = False
        self._over = anyio.Event()
        self._shutdown: Shutdown | None = None
        self._process = self._make_process(1)

    def run(self) -> RunResult:
        """Run one process after the other, then check the final state."""
        self._schedule_plan()
        try:
            with scheduled_by(self._timeline.clock.now), ordered_scopes():
                while not self._is_over and not self._has_failed_enough:
                    self._run_process()
                    self._process = self._make_process(self._process.number + 1)
                return self._check_final_state()
        finally:
            self._timeline.loop.close()
            self._network.close()

    @property
    def _has_failed_enough(self) -> bool:
        """Whether to give up: a daemon may fail at each of ten thousand starts."""
        return len(self._checker.violations) >= MOST_VIOLATIONS

    # -- one process ---------------------------------------------------------

    def _run_process(self) -> None:
        """Run the daemon once, from its start to its end or to a kill."""
        process, loop = self._process, self._process.loop
        self._disk.repair()
        self._points.begin(process.number)
        self._monitor.begin(process)
        main = loop.create_task(self._run_daemon(process))
        self._event_queue.attach(loop)
        problems = self._run_until_end(loop, main)
        self._event_queue.detach()
        self._shutdown = self._stopping_since = None
        if process.is_alive:
            process.end()
        for problem in [*problems, *loop.failures]:
            self._check("I-17", problem, holds=False)
        self._check("I-17", "", holds=True)
        _clean_up(self._timeline.next_loop(), main)
        shutil.rmtree(process.directory, ignore_errors=True)

    def _run_until_end(
        self, loop: SimulationLoop, main: "asyncio.Task[None]"
    ) -> list[str]:
        """Run a process; return what was wrong with its end."""
        try:
            loop.run_until_complete(main)
        except Killed:
            self._after_kill()
        except (DeadlockError, LivelockError) as error:
            self._is_over = True
            return [str(error)]
        except Exception as error:  # noqa: BLE001 - any error at all violates I-17
            return [f"the daemon ended with {error!r}"]
        return []

    async def _run_daemon(self, process: Process) -> None:
        self._over = anyio.Event()
        with anyio.move_on_after(
            min(2.0**self._failed_starts, LONGEST_RESTART_SECONDS)
        ):
            await self._over.wait()
            return
        self._trace.add("started", start=process.number)
        self._shutdown = shutdown = Shutdown()
        settings = settings_for(self._plan, process.directory)
        environment = self._environments.create(process)
        strategies = UNRELIABLE if self._plan.odd_strategies else RELIABLE
        registry = registry_of(ALWAYS_WRONG if self._plan.wrong_results else strategies)
        stop = shutdown.requested
        try:
            with one_error():
                async with open_agent(
                    settings, BASE_URL, environment, stop=stop
                ) as agent:
                    self._failed_starts = 0
                    parts = Components(
                        settings=settings,
                        agent=agent,
                        registry=registry,
                        environment=environment,
                    )
                    await Daemon(parts, shutdown).run()
        except JoinInterruptedError:
            self._trace.add("stopped before it had joined")
        except (NetworkError, SafetyError) as error:
            self._failed_starts += 1
            self._trace.add("could not join", error=error.problem)
        except JourneymanError as error:
            self._failed_starts += 1
            self._check_disk_error(error)
        else:
            self._trace.add("stopped")
            self._test_stop()

    def _check_disk_error(self, error: JourneymanError) -> None:
        """Check that the daemon ended because its disk failed, with a clear error."""
        is_disk = self._disk.has_failed and isinstance(error, StateError)
        self._check("I-17", f"the daemon ended with an error: {error}", holds=is_disk)
        if is_disk:
            self._trace.add("stopped by its disk")
            named = any(what in error.problem for what in ("journal", "identity"))
            message = f"an unclear error about a disk: {error}"
            self._check("I-23", message, holds=named and bool(error.fix))
            self._other_events["stops by a failing disk"] += 1

    def _test_stop(self) -> None:
        if self._stopping_since is None:
            return
        seconds = self._timeline.seconds - self._stopping_since
        longest = STUBBORN_SECONDS if self._plan.odd_strategies else GRACE_SECONDS
        message = f"a stop took {seconds:.1f} s"
        self._check("I-22", message, holds=seconds <= longest + 1)
        self._stopping_since = None

    # -- the events of the plan ----------------------------------------------------

    def _schedule_plan(self) -> None:
        """Schedule all events of the plan."""
        plan, schedule = self._plan, self._event_queue.schedule
        for at in plan.kills:
            schedule(at, self._kill)
        for at in plan.stops:
            schedule(at, partial(self._stop, "told to"))
        for at, step in plan.clock_steps:
            schedule(at, partial(self._set_clock, step))
        for at, seconds in plan.suspensions:
            schedule(at, partial(self._suspend, seconds))
        self._release_tasks()
        for number in range(1, plan.competitors + 1):
            competitor = self._network.add_competitor(number)
            pause = self._random.uniform(*COMPETITOR_PAUSE)
            self._schedule_in(pause, partial(self._step_competitor, competitor))
        if plan.buys:
            self._let_people_pay()
            self._schedule_in(DAY, self._compare_books)
        self._report_progress()
        calm = plan.calm_tasks and (plan.calm_tasks + 1) * CALM_PAUSE
        schedule(plan.fault_seconds + calm, self._end_if_done)

    def _release_tasks(self) -> None:
        plan, tasks = self._plan, self._network.generated_tasks()
        for number, task_id in enumerate(tasks, plan.calm_tasks - len(tasks) + 1):
            at = self._random.uniform(0, plan.release_seconds)
            is_calm = number > 0
            calm = plan.fault_seconds + number * CALM_PAUSE
            self._network.release(task_id, calm if is_calm else at)

    def _schedule_in(self, seconds: float, action: Callable[[], object]) -> None:
        self._event_queue.schedule(self._timeline.seconds + seconds, action)

    def _kill(self) -> None:
        self._trace.add("kill")
        self._process.kill()

    def _stop(self, reason: str) -> None:
        """Request the daemon to stop, if one runs."""
        shutdown = self._shutdown
        if shutdown is None or shutdown.requested.is_set():
            return
        self._stopping_since = self._timeline.seconds
        shutdown.request(reason)

    def _set_clock(self, step: float) -> None:
        self._timeline.set_wall_clock(step)
        self._monitor.clock_was_set()
        self._trace.add("the clock is set", by=step)

    def _suspend(self, seconds: float) -> None:
        self._timeline.suspend(seconds)
        self._monitor.clock_was_set()
        self._trace.add("the machine was suspended", seconds=seconds)

    def _step_competitor(self, competitor: Competitor) -> None:
        """Step a competitor, and schedule its next step."""
        competitor.step()
        if self._timeline.seconds < self._plan.fault_seconds:
            pause = self._random.uniform(*COMPETITOR_PAUSE)
            self._schedule_in(pause, partial(self._step_competitor, competitor))

    def _let_people_pay(self) -> None:
        """Open the pages that wait, and pay some of them, now and at other times."""
        if self._timeline.seconds >= self._plan.fault_seconds:
            return
        for session in self._network.open_checkouts():
            if self._random.random() < PAID_SHARE:
                self._other_events["pages paid"] += self._network.pay(session)
        self._schedule_in(self._random.uniform(*PAYING_PAUSE), self._let_people_pay)

    def _compare_books(self) -> None:
        """Compare the books of both sides, each day; a dead daemon's, once it lives."""
        journal = self._process.journal
        if journal is None or not self._process.is_alive:
            self._schedule_in(END_CHECK_SECONDS, self._compare_books)
            return
        self._schedule_in(DAY, self._compare_books)
        agent = journal.facts.get("agent")
        if not agent:
            return
        found = Books(journal, self._network, str(agent)).compare()
        self._other_events["days of books compared"] += 1
        message = f"{found.here} here, {found.there} there, {found.open} are open"
        self._check("I-26", message, holds=found.balances)
        for fault in found.faults:
            self._check("I-26", fault, holds=False)

    def _report_progress(self) -> None:
        self._on_progress(self._timeline.seconds)
        seconds = max(self._plan.end / PROGRESS_REPORTS, END_CHECK_SECONDS)
        self._schedule_in(seconds, self._report_progress)

    def _end_if_done(self) -> None:
        """End the run when everything is done, or when its time is over."""
        if not self._is_all_done() and self._timeline.seconds < self._plan.end:
            self._schedule_in(END_CHECK_SECONDS, self._end_if_done)
            return
        self._monitor.test_open_calls()
        self._is_over = True
        self._over.set()
        self._stop("the simulation is over")
        self._schedule_in(SHUTDOWN_SECONDS, self._give_up)

    def _give_up(self) -> None:
        """Kill a daemon that does not stop."""
        self._check("I-17", "the daemon did not stop when it was told to", holds=False)
        self._process.kill()

    def _is_all_done(self) -> bool:
        """Return whether every task of the market was seen and has ended."""
        journal = self._process.journal
        if journal is None or not self._process.is_alive:
            return False
        counts = journal.tasks.counts()
        seen = sum(counts.values()) >= self._plan.market_tasks
        return seen and all(TaskState(state) in SETTLED for state in counts)

    # -- what the daemon does --------------------------------------------------

    def _make_process(self, number: int) -> Process:
        return Process(
            number=number,
            root=self._root,
            loop=self._timeline.loop,
            on_point=self._on_point,
            on_commit=self._after_commit,
            on_token=self._monitor.saved_identity,
            disk=self._disk,
        )

    def _on_point(self, kind: str, about: str) -> bool:
        """Count a crash point; return whether to kill the daemon there."""
        if kind == "before file":
            self._monitor.saving_identity()
        action = self._points.decide(kind, about)
        if action is PointAction.STOP:
            self._stop("told to")
        return action is PointAction.KILL

    def _after_commit(self, label: str) -> None:
        self._trace.add("commit", label=label)
        if self._process.journal is not None:
            self._journal_monitor.read(self._process.journal)

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self._checker.check(invariant, self._timeline.seconds, message, holds=holds)

    # -- the end ---------------------------------------------------------------

    def _after_kill(self) -> None:
        """Count the tasks in flight; now and then, check the recovery."""
        self._kills += 1
        self._trace.add("killed", start=self._process.number)
        self._killed_states += self._journal_monitor.in_flight
        if self._kills <= RESTART_CHECKS or self._kills % RESTART_CHECKS == 0:
            self._check_restart(self._process.next_directory)

    def _check_restart(self, left: Path) -> None:
        if load_identity(left / "identity.json") is None:
            return
        settings = settings_for(self._plan, left.with_name(f"{left.name}-again"))
        restarts = RestartCheck(left, settings, self._timeline.clock)
        message = "a second start changed what the first one had left"
        self._check("I-19", message, holds=restarts.is_idempotent())

    def _check_final_state(self) -> RunResult:
        directory = self._process.directory
        journal_file = directory / "journal.db"
        with Journal(journal_file, self._timeline.clock.now) as journal:
            final = FinalState(
                plan=self._plan,
                seconds=self._timeline.seconds,
                network_seconds=self._timeline.network_seconds,
                network=self._network,
                monitor=self._monitor,
                journal=journal,
                identity=load_identity(directory / "identity.json"),
                requests_not_understood=self._trace.counts[NOT_UNDERSTOOD_EVENT],
            )
            FinalChecks(final, self._checker).run()
            for line in table_rows(journal):
                self._trace.include(line)
            return self._result(journal)

    def _result(self, journal: Journal) -> RunResult:
        return RunResult(
            plan=self._plan,
            violations=tuple(self._checker.violations),
            digest=self._trace.digest,
            simulated_seconds=self._timeline.seconds,
            credits=journal.ledger.balance(),
            states=journal.tasks.counts(),
            requests=self._fault_schedule.requests,
            points=self._points.passed,
            points_with_faults=tuple(self._fault_schedule.points_with_faults),
            starts=self._process.number - 1,
            kills=self._kills,
            faults=self._fault_schedule.counts,
            transitions=self._journal_monitor.transitions,
            killed_states=self._killed_states,
            other_events=self._count_other_events(),
            exercised=self._checker.exercised,
            undecidable=self._checker.undecidable,
        )

    def _count_other_events(self) -> Counter[str]:
        plan, end = self._plan, self._timeline.seconds
        counts = self._other_events + self._disk.counts + self._network.limits.counts
        counts["kills of a crash loop"] += self._points.loop_kills
        counts["stops at a point"] += self._points.stops
        counts["suspensions"] += sum(at <= end for at, _ in plan.suspensions)
        counts["clocks set"] += sum(at <= end for at, _ in plan.clock_steps)
        counts["crowds of 10,000 rows"] += self._network.crowds_shown
        counts["tasks with hostile ids"] += plan.market_tasks - plan.tasks
        return +counts


def _clean_up(loop: SimulationLoop, main: "asyncio.Task[None]") -> None:
    """Free what a process holds; nothing that it does meanwhile is seen or kept."""
    loop.is_crashed = False
    main.cancel()
    try:
        loop.run_until_complete(main)
    except (Exception, asyncio.CancelledError, Killed, BaseExceptionGroup):  # noqa: BLE001, S110 - it was killed
        pass
    finally:
        loop.close()
