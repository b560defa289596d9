"""Watches a living daemon: what leaves it, and what comes back to it."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from tests.simulation.faults import NEVER_LEFT
from tests.simulation.findings import Findings
from tests.simulation.process import Process
from tests.simulation.server import (
    CHECKOUT,
    CLAIM,
    COMPLETE,
    OK,
    POST,
    REGISTER,
    SUBMIT,
    Asked,
)
from tests.simulation.trace import Trace

from journeyman.domain.tasks import SpendId, TaskId, TaskState
from journeyman.journal.identity import load_identity
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendState

HOST = "network.invalid"
"""Where the simulated network lives; the name is reserved (RFC 2606, section 2)."""
LONGEST_CALL = 31.0
"""Seconds: the total time-out of 30, and a little for what follows it."""
LARGEST_READ = 2 * 1024 * 1024
MINUTE = 60.0
MOST_FAILURES_A_MINUTE = 12
"""Of one request: its waits double from half a second, so 12 are far above chance."""
EARLY = 0.01
"""Seconds by which a named wait may be missed: clocks have a resolution."""
MEMORY_SECONDS = 1.0
"""So long after an answer it is surely on disk, if its reader lived."""
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

    asked: Asked
    began: float
    bytes_read: int = 0


class Watch:
    """Tests, request by request, the invariants about what is sent and read."""

    def __init__(
        self,
        findings: Findings,
        trace: Trace,
        now: Callable[[], datetime],
        drift: float = 0.0,
    ) -> None:
        """Note what it finds; `begin` names the life that it is about.

        `now` is the wall clock of the daemon's machine, which runs too fast by a share
        of `drift`.
        """
        self._drift = abs(drift)
        self._findings = findings
        self._trace = trace
        self._wall = now
        self.claimed: set[str] = set()
        """Tasks for which a claim has left, whether it arrived or not."""
        self._handed_in: set[str] = set()
        """Tasks whose result may have arrived."""
        self._tries: Counter[str] = Counter()
        """How often this life has tried to hand in each of the others."""
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
        """Watch a new life; what the one before it waited for is over."""
        self._process = process
        self._turn_of_answer = None
        self._calls.clear()
        self._tries.clear()
        # Waits about a task are kept in the journal. A new life looks at the market, or
        # tries to join, at once: nobody remembers that wait, and the service manager
        # has its own pauses. How often a registration may be repeated is I-3's.
        for key in [key for key in self._failures if not key[1] or key[0] == REGISTER]:
            del self._failures[key]
        self._waits = {
            key: wait
            for key, wait in self._waits.items()
            # One that was just named died with the life that had read it.
            if key[1]
            and key[0] != REGISTER
            and wait.named_at < self._now - MEMORY_SECONDS
        }

    def clock_was_set(self) -> None:
        """Waits are kept by the wall clock, so that one that is set ends them."""
        self._waits.clear()

    @property
    def _now(self) -> float:
        return self._process.loop.time()

    # -- the course of a request -----------------------------------------------

    def sent(self, asked: Asked, host: str, fault: str) -> int:
        """Note that a request leaves; gives its number."""
        self._number += 1
        about = asked.task_id
        self._trace.add("request", path=asked.path, about=about, fault=fault)
        self._calls[self._number] = _Call(asked, self._now)
        if fault == "replay":
            self.replayed |= {about, asked.header("idempotency-key")}
        if asked.path == CLAIM:
            self.claimed.add(about)
        if asked.path == REGISTER:
            self._test_registration()
        self._test_token_stays_home(asked, host)
        self._test_intent(asked)
        self._test_limits(asked, fault)
        self._test_wait(asked)
        return self._number

    def answered(self, number: int, status: int, headers: Mapping[str, str]) -> None:
        """Note that the head of an answer has arrived."""
        asked = self._calls[number].asked
        self._trace.add("answer", path=asked.path, status=status)
        self._turn_of_answer = self._process.loop.turns
        if status != OK:
            self._note_failure(asked, status, headers.get("retry-after", ""))

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
        asked = self._calls[number].asked
        self._trace.add("no answer", path=asked.path, error=error)
        self._note_failure(asked, 0, "")
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
            # Read from the disk, where the answer of an earlier life was kept.
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

    # -- the tests -----------------------------------------------------------------

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self._findings.check(invariant, self._now, message, holds=holds)

    def _test_registration(self) -> None:
        self.registrations += 1
        held = load_identity(self._process.directory / "identity.json")
        self._check(
            "I-1", "a registration left while a token is held", holds=held is None
        )

    def _test_token_stays_home(self, asked: Asked, host: str) -> None:
        if asked.header("authorization"):
            self._check("I-16", f"the token went to {host}", holds=host == HOST)

    def _test_intent(self, asked: Asked) -> None:
        journal = self._process.journal
        if journal is None or asked.method != "POST":
            return
        problem = _missing_intent(journal, asked)
        self._check("I-5", f"{asked.path}: {problem}", holds=not problem)

    def _test_limits(self, asked: Asked, fault: str) -> None:
        """A result that leaves for the first time leaves in time.

        One whose intent an earlier life had opened may have left then, for all that
        anybody knows; it is followed.
        """
        task_id, journal = asked.task_id, self._process.journal
        if asked.path != SUBMIT or journal is None or task_id in self._handed_in:
            return
        self._tries[task_id] += 1
        if fault not in NEVER_LEFT:
            self._handed_in.add(task_id)
        try:
            record = journal.tasks.get(TaskId(task_id))
        except KeyError:
            return  # I-5 has told it.
        until = record.task.deadline
        if until is not None and record.attempts == self._tries[task_id]:
            message = f"the result of {task_id} left after {until}"
            self._check("I-21", message, holds=self._wall() < until)

    def _test_wait(self, asked: Asked) -> None:
        key = (asked.path, asked.subject)
        wait = self._waits.pop(key, None)
        if wait is not None:
            early = wait.until - self._now
            # It is kept by the wall clock, and nobody knows that this one is wrong.
            allowed = EARLY + self._drift * (wait.until - wait.named_at)
            self._check(
                "I-14",
                f"{asked.path} came {early:.3f} s before the wait was over",
                holds=early <= allowed,
            )

    def _note_failure(self, asked: Asked, status: int, retry_after: str) -> None:
        key = (asked.path, asked.subject)
        if status in (THROTTLED, UNAVAILABLE) and retry_after.isdigit():
            self._waits[key] = _Wait(self._now, self._now + int(retry_after))
        recent = self._failures[key]
        recent.append(self._now)
        while recent[0] < self._now - MINUTE:
            recent.popleft()
        self._check(
            "I-14",
            f"{asked.path} failed {len(recent)} times within a minute",
            holds=len(recent) <= MOST_FAILURES_A_MINUTE,
        )

    def _test_length(self, call: _Call) -> None:
        seconds = self._now - call.began
        self._check(
            "I-13",
            f"a call of {call.asked.path} has lasted {seconds:.1f} s",
            holds=seconds <= LONGEST_CALL,
        )


def _missing_intent(journal: Journal, asked: Asked) -> str:
    """Say what the journal lacks for a request to leave; empty when nothing."""
    if asked.path == REGISTER:
        intent = journal.facts.get("registration")
        is_there = isinstance(intent, dict) and bool(intent.get("key"))
        return "" if is_there else "no registration intent"
    if asked.path in (POST, CHECKOUT):
        # Where another shape than the usual one is tried, its mark follows the spend's.
        spend_id, _, _ = asked.header("idempotency-key").partition("-")
        spend = journal.spends.get(SpendId(spend_id))
        held = spend is not None and spend.state is SpendState.RESERVED
        return "" if held else "no spend is held for it"
    wanted = INTENT_STATES.get(asked.path)
    return _missing_task_intent(journal, asked, wanted) if wanted else ""


def _missing_task_intent(journal: Journal, asked: Asked, wanted: TaskState) -> str:
    try:
        record = journal.tasks.get(TaskId(asked.task_id))
    except KeyError:
        return "the journal does not know the task"
    if record.state is not wanted:
        return f"the task is {record.state}"
    if not record.maybe_sent:
        return "it is not marked as maybe sent"
    lacks_result = wanted is TaskState.SUBMITTING and record.result is None
    return "its result is not stored" if lacks_result else ""
