"""The invariants about requests and commits, checked while the daemon runs."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tests.simulation.faults import NEVER_LEFT
from tests.simulation.invariants import Checker
from tests.simulation.network import (
    CHECKOUT,
    CLAIM,
    COMPLETE,
    OK,
    POST,
    REGISTER,
    SUBMIT,
    NetworkRequest,
    SimulatedNetwork,
)
from tests.simulation.process import Process
from tests.simulation.strategies import LEAKED
from tests.simulation.trace import Trace

from journeyman.domain.tasks import IN_FLIGHT, SpendId, TaskId, TaskState, is_allowed
from journeyman.journal.identity import load_identity, load_mark
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendKind, SpendState
from journeyman.settings.sections import Settings

HOST = "network.invalid"
"""The address of the simulated network; the name is reserved (RFC 2606, section 2)."""
LONGEST_CALL = 31.0
"""Seconds: the total time-out of 30, and a little for what follows it."""
LARGEST_READ = 2 * 1024 * 1024
MINUTE = 60.0
MOST_FAILURES_A_MINUTE = 12
"""Of one request: its waits double from half a second, so 12 are far above chance."""
EARLY = 0.01
"""Seconds by which a named wait may be missed: clocks have a resolution."""
PERSISTED_SECONDS = 1.0
"""So long after an answer it is surely on disk, unless its reader was killed."""
THROTTLED, UNAVAILABLE = 429, 503
INTENT_STATES = {
    CLAIM: TaskState.CLAIMING,
    SUBMIT: TaskState.SUBMITTING,
    COMPLETE: TaskState.COMPLETING,
}


_About = tuple[str, str]
"""A path, and what the request is about."""


@dataclass(frozen=True, slots=True)
class _Wait:
    """What a network asked for by `Retry-After`."""

    named_at: float
    until: float


@dataclass(slots=True)
class _Call:
    """A request that has left."""

    request: NetworkRequest
    began: float
    bytes_read: int = 0


class RequestMonitor:
    """Checks each request, and what is read of its answer."""

    def __init__(
        self,
        checker: Checker,
        trace: Trace,
        now: Callable[[], datetime],
        drift: float = 0.0,
    ) -> None:
        """`begin` names the process that is monitored.

        `now` is the wall clock of the daemon's machine, which runs too fast by a share
        of `drift`.
        """
        self._drift = abs(drift)
        self._checker = checker
        self._trace = trace
        self._wall = now
        self.claimed: set[str] = set()
        """Tasks for which a claim has left, whether it arrived or not."""
        self._submitted: set[str] = set()
        """Tasks whose result may have arrived."""
        self._tries: Counter[str] = Counter()
        """How often this process has tried to submit each of the others."""
        self._process: Process
        self._calls: dict[int, _Call] = {}
        self._number = 0
        self._failures: defaultdict[_About, deque[float]] = defaultdict(deque)
        self._waits: dict[_About, _Wait] = {}
        self._turn_of_answer: int | None = None
        self.token = ""
        """The token that was saved first; empty before."""
        self.registrations = 0
        """How often a registration has left."""
        self.replayed: set[str] = set()
        """What was sent twice on the way: tasks by their id, requests by their key."""

    def begin(self, process: Process) -> None:
        """Monitor a new process; what the one before it waited for is over."""
        self._process = process
        self._turn_of_answer = None
        self._calls.clear()
        self._tries.clear()
        # Waits about a task are kept in the journal. A new process lists the market, or
        # tries to join, at once: that wait is not kept, and the service manager has its
        # own pauses. How often a registration may be repeated is I-3's.
        for key in [key for key in self._failures if not key[1] or key[0] == REGISTER]:
            del self._failures[key]
        self._waits = {
            key: wait
            for key, wait in self._waits.items()
            # One that was just named was lost with the process that had read it.
            if key[1]
            and key[0] != REGISTER
            and wait.named_at < self._now - PERSISTED_SECONDS
        }

    def clock_was_set(self) -> None:
        """Forget waits: they are kept by the wall clock, and setting it ends them."""
        self._waits.clear()

    @property
    def _now(self) -> float:
        return self._process.loop.time()

    @property
    def _identity(self) -> Path:
        return self._process.directory / "identity.json"

    # -- one request -----------------------------------------------

    def sent(self, request: NetworkRequest, host: str, fault: str) -> int:
        """Note that a request leaves; return its number."""
        self._number += 1
        about = request.task_id
        self._trace.add("request", path=request.path, about=about, fault=fault)
        self._calls[self._number] = _Call(request, self._now)
        if fault == "replay":
            self.replayed |= {about, request.header("idempotency-key")}
        if request.path == CLAIM:
            self.claimed.add(about)
        if request.path == REGISTER:
            self._test_registration()
        self._test_token_stays_home(request, host)
        self._test_result(request)
        self._test_intent(request)
        self._test_limits(request, fault)
        self._test_wait(request)
        return self._number

    def answered(self, number: int, status: int, headers: Mapping[str, str]) -> None:
        """Note that the head of an answer has arrived."""
        request = self._calls[number].request
        self._trace.add("answer", path=request.path, status=status)
        self._turn_of_answer = self._process.loop.turns
        if status != OK:
            self._note_failure(request, status, headers.get("retry-after", ""))

    def read(self, number: int, count: int) -> None:
        """Note that a piece of a body was read."""
        self._turn_of_answer = self._process.loop.turns
        if call := self._calls.get(number):
            call.bytes_read += count
            self._check(
                "I-15",
                f"{call.bytes_read} bytes of one answer were read",
                holds=call.bytes_read <= LARGEST_READ,
            )

    def failed(self, number: int, error: str) -> None:
        """Note that a request ended without an answer."""
        request = self._calls[number].request
        self._trace.add("no answer", path=request.path, error=error)
        self._note_failure(request, 0, "")
        self.closed(number)

    def closed(self, number: int) -> None:
        """Note that the daemon is done with a request."""
        call = self._calls.pop(number, None)
        if call is not None:
            self._test_length(call)

    def test_open_calls(self) -> None:
        """Test those that are still under way: one that hangs never ends."""
        for call in self._calls.values():
            self._test_length(call)

    def saving_identity(self) -> None:
        """Note that an identity is about to be saved."""
        if self._turn_of_answer is None:
            # Read from the disk, where the answer to an earlier process was kept.
            return
        turns = self._process.loop.turns - self._turn_of_answer
        self._check(
            "I-2", f"{turns} turns passed before the token was saved", holds=turns == 0
        )

    def saved_identity(self, token: str) -> None:
        """Note that an identity was saved."""
        self._check(
            "I-1",
            "another token took the first one's place",
            holds=self.token in ("", token),
        )
        self.token = self.token or token

    def worked(self, task_id: str) -> None:
        """Note that a strategy says that it works on a task."""
        journal = self._process.journal
        if journal is not None:
            state = journal.tasks.get(TaskId(task_id)).state
            message = f"a strategy works on {task_id}, which is {state}"
            self._check("I-24", message, holds=state is TaskState.EXECUTING)

    # -- the checks -----------------------------------------------------------------

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self._checker.check(invariant, self._now, message, holds=holds)

    def _test_registration(self) -> None:
        self.registrations += 1
        held = load_identity(self._identity)
        self._check(
            "I-1", "a registration left while a token is held", holds=held is None
        )

    def _test_token_stays_home(self, request: NetworkRequest, host: str) -> None:
        if request.header("authorization"):
            self._check("I-16", f"the token went to {host}", holds=host == HOST)

    def _test_result(self, request: NetworkRequest) -> None:
        if request.path == SUBMIT:
            message = f"the result of {request.task_id} tells a secret"
            is_leak = LEAKED.encode() in request.body
            self._check("I-16", message, holds=not is_leak)

    def _test_intent(self, request: NetworkRequest) -> None:
        journal = self._process.journal
        if journal is None or request.method != "POST":
            return
        problem = _missing_intent(journal, request, self._identity)
        self._check("I-5", f"{request.path}: {problem}", holds=not problem)

    def _test_limits(self, request: NetworkRequest, fault: str) -> None:
        """A result that leaves for the first time leaves in time.

        One whose intent an earlier process had opened may have left then.
        """
        task_id, journal = request.task_id, self._process.journal
        if request.path != SUBMIT or journal is None or task_id in self._submitted:
            return
        self._tries[task_id] += 1
        if fault not in NEVER_LEFT:
            self._submitted.add(task_id)
        try:
            record = journal.tasks.get(TaskId(task_id))
        except KeyError:
            return  # I-5 reports it.
        until = record.task.deadline
        if until is not None and record.attempts == self._tries[task_id]:
            message = f"the result of {task_id} left after {until}"
            self._check("I-21", message, holds=self._wall() < until)

    def _test_wait(self, request: NetworkRequest) -> None:
        key = (request.path, request.subject)
        wait = self._waits.pop(key, None)
        if wait is not None:
            early = wait.until - self._now
            # It is kept by the wall clock, and nobody knows that this one is wrong.
            allowed = EARLY + self._drift * (wait.until - wait.named_at)
            self._check(
                "I-14",
                f"{request.path} came {early:.3f} s before the wait was over",
                holds=early <= allowed,
            )

    def _note_failure(
        self, request: NetworkRequest, status: int, retry_after: str
    ) -> None:
        key = (request.path, request.subject)
        if status in (THROTTLED, UNAVAILABLE) and retry_after.isdigit():
            self._waits[key] = _Wait(self._now, self._now + int(retry_after))
        recent = self._failures[key]
        recent.append(self._now)
        while recent[0] < self._now - MINUTE:
            recent.popleft()
        self._check(
            "I-14",
            f"{request.path} failed {len(recent)} times within a minute",
            holds=len(recent) <= MOST_FAILURES_A_MINUTE,
        )

    def _test_length(self, call: _Call) -> None:
        seconds = self._now - call.began
        self._check(
            "I-13",
            f"a call of {call.request.path} has lasted {seconds:.1f} s",
            holds=seconds <= LONGEST_CALL,
        )


def _missing_intent(journal: Journal, request: NetworkRequest, identity: Path) -> str:
    """Return what the disk lacks for a request to leave; empty if nothing."""
    if request.path == REGISTER:
        intent = journal.facts.get("registration")
        is_there = isinstance(intent, dict) and bool(intent.get("key"))
        return "" if is_there else "no registration intent"
    if request.path in (POST, CHECKOUT):
        # Where another shape than the usual one is tried, its mark follows the spend's.
        spend_id, _, _ = request.header("idempotency-key").partition("-")
        spend = journal.spends.get(SpendId(spend_id))
        if spend is None or spend.state is not SpendState.RESERVED:
            return "no spend is held for it"
        mark, spent = load_mark(identity), journal.spends.recorded()
        is_marked = mark is not None and mark.spends == spent
        return "" if is_marked else "the mark of the identity does not know it"
    wanted = INTENT_STATES.get(request.path)
    return _missing_task_intent(journal, request, wanted) if wanted else ""


def _missing_task_intent(
    journal: Journal, request: NetworkRequest, wanted: TaskState
) -> str:
    try:
        record = journal.tasks.get(TaskId(request.task_id))
    except KeyError:
        return "the journal does not know the task"
    if record.state is not wanted:
        return f"the task is {record.state}"
    if not record.maybe_sent:
        return "it is not marked as maybe sent"
    lacks_result = wanted is TaskState.SUBMITTING and record.result is None
    return "its result is not stored" if lacks_result else ""


FIRST = TaskState.SEEN


class JournalMonitor:
    """Checks the journal after each commit."""

    def __init__(
        self,
        *,
        checker: Checker,
        network: SimulatedNetwork,
        settings: Settings,
        seconds: Callable[[], float],
    ) -> None:
        self._checker = checker
        self._network = network
        self._budget = settings.budget
        self._cents = settings.topup.per_day_cents
        self._seconds = seconds
        self._last_event = 0
        self._last_spend = 0
        self._states: dict[str, str] = {}
        self._results: dict[str, str] = {}
        self.transitions: Counter[str] = Counter()
        """How often each move was committed, such as "wanted > claiming"."""
        self.in_flight: Counter[str] = Counter()
        """How many tasks are in each state of work, as of the last commit."""

    def read(self, journal: Journal) -> None:
        """Test what the last commit has changed."""
        moved = self._read_moves(journal)
        if moved:
            self._read_results(journal, moved)
        self._read_money(journal)

    def _read_moves(self, journal: Journal) -> list[str]:
        rows = journal.database.rows(
            "SELECT event_id, task_id, before, after FROM task_events "
            "WHERE event_id > ? ORDER BY event_id",
            self._last_event,
        )
        for row in rows:
            task_id, before, after = row["task_id"], row["before"], row["after"]
            known = self._states.get(task_id, FIRST)
            if before == FIRST and known == TaskState.SKIPPED:
                known = FIRST  # It was forgotten, and is still listed.
            legal = is_allowed(TaskState(before), TaskState(after))
            self._check(
                "I-12",
                f"{task_id} went from {before} ({known} before) to {after}",
                holds=legal and known == before,
            )
            self.transitions[f"{before} > {after}"] += 1
            self._states[task_id] = after
            self.in_flight[known] -= known in IN_FLIGHT
            self.in_flight[after] += after in IN_FLIGHT
            self._last_event = row["event_id"]
        return [row["task_id"] for row in rows]

    def _read_results(self, journal: Journal, task_ids: list[str]) -> None:
        for task_id in task_ids:
            row = journal.database.row(
                "SELECT state, result FROM full_tasks WHERE task_id = ?", task_id
            )
            if row is None or row["result"] is None:
                continue
            first = self._results.setdefault(task_id, row["result"])
            self._check(
                "I-7", f"the result of {task_id} changed", holds=first == row["result"]
            )

    def _read_money(self, journal: Journal) -> None:
        for row in journal.database.rows(
            "SELECT kind, substr(at, 1, 10) AS day, count(*) AS n, "
            "sum(credits) AS credits, sum(cents) AS cents FROM spends "
            "WHERE state != 'released' GROUP BY kind, day ORDER BY kind, day",
        ):
            is_post = row["kind"] == SpendKind.POST
            within = (
                row["credits"] <= self._budget.per_day_credits
                and row["n"] <= self._budget.posts_per_day
                if is_post
                else row["cents"] <= self._cents
            )
            what = f"{row['n']} of {row['kind']}, {row['credits']} credits"
            self._check("I-11", f"{what} on {row['day']}", holds=within)
        self._test_floor(journal)
        self._compare_posts(journal)

    def _test_floor(self, journal: Journal) -> None:
        """Check what is left by posts that were just decided."""
        rows = journal.database.rows(
            "SELECT rowid, credits, state FROM spends WHERE kind = 'post' "
            "AND (rowid > ? OR state IN ('reserved', 'unknown')) ORDER BY rowid",
            self._last_spend,
        )
        if rows and rows[-1]["rowid"] > self._last_spend:
            self._last_spend = rows[-1]["rowid"]
            held = sum(
                row["credits"]
                for row in rows
                if row["state"] in {"reserved", "unknown"}
            )
            left = journal.ledger.balance() - held
            message = f"{left} credits are left after what is held"
            floor = self._budget.reserve_credits
            self._check("I-11", message, holds=left >= floor)

    def _compare_posts(self, journal: Journal) -> None:
        agent = journal.facts.get("agent")
        charged = self._network.charged(str(agent)) if agent else 0
        if charged:
            row = journal.database.row(
                "SELECT coalesce(sum(credits), 0) AS held FROM spends "
                "WHERE kind = 'post' AND state != 'released'",
            )
            held = int(row["held"]) if row else 0
            self._check(
                "I-10",
                f"{charged} credits were charged and {held} are accounted for",
                holds=charged <= held,
            )

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self._checker.check(invariant, self._seconds(), message, holds=holds)
