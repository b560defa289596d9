"""The loop around a real journal, with a market that plays a script."""

import textwrap
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from journeyman.domain.outcomes import (
    Confirmed,
    NotSent,
    Outcome,
    Refusal,
    Refused,
    Unknown,
)
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import (
    JSON,
    NOTHING_GIVEN,
    AgentId,
    Given,
    IdempotencyKey,
    Progress,
    Result,
    Task,
    TaskId,
)
from journeyman.economy.bookkeeping import book_starter
from journeyman.economy.reconcile import BalanceWatch
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle.active import ActiveStrategies, Generation
from journeyman.lifecycle.context import StrategyContexts, StrategyMemory
from journeyman.lifecycle.gate import Gate
from journeyman.lifecycle.quarantine import WIDE, Quarantine, QuarantineRule
from journeyman.network.answers import Receipt
from journeyman.network.client import NetworkClient
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.rate_limit.pause import Cause, Pause
from journeyman.network.service_model.listing import Listing
from journeyman.network.service_model.pages import PageRequest
from journeyman.strategies.api.context import BudgetView, Context, StrategyLog
from journeyman.strategies.loading.registry import load_registry
from journeyman.strategies.running.leaks import LeakScan
from journeyman.strategies.running.runner import Runner
from journeyman.testing import FakeClock, FakeRandomness, RecordingLog
from journeyman.worker.claim import Claim
from journeyman.worker.complete import Complete
from journeyman.worker.discover import Discover
from journeyman.worker.endings import Endings
from journeyman.worker.execute import Execute, ExecutionLimits
from journeyman.worker.intents import Intents
from journeyman.worker.proof import Proof
from journeyman.worker.ranking import Shortlist, by_reward
from journeyman.worker.recover import recover_interrupted
from journeyman.worker.select import Select
from journeyman.worker.submit import Submit
from journeyman.worker.unnamed_pay import UnnamedPay
from journeyman.worker.verdicts import VerdictWatch
from journeyman.worker.worker import Worker

ME = AgentId("agent-me")
TOKEN = "secret-token-of-ours"  # noqa: S105 - nobody's

UNKNOWN = Unknown("timed out")
NOT_SENT = NotSent("no connection")
THROTTLED = Refused(Refusal.THROTTLED, "slow down", 429, retry_after=50.0)
UNAUTHORIZED = Refused(Refusal.UNAUTHORIZED, "bad token", 401)
FORBIDDEN = Refused(Refusal.UNAUTHORIZED, "not for you", 403)
ABSENT = Refused(Refusal.ABSENT, "not found", 404)
CONFLICT = Refused(Refusal.CONFLICT, "taken", 409)
INVALID = Refused(Refusal.INVALID, "bad body", 422)
REJECTED = Refused(Refusal.REJECTED, "wrong answer", 200, progress=Progress.REJECTED)

CLAIMED = Confirmed(Receipt())
SUBMITTED = Confirmed(Receipt())
COMPLETED = Confirmed(Receipt())

PUPPET = """
    import time

    import anyio
    from journeyman import Decline, Misconfigured, Result, RetryLater, Strategy


    class Puppet(Strategy):
        \"\"\"Does what the task's text says.\"\"\"

        api, version = 1, "1"
        kinds = frozenset({"puppet", "other puppet"})

        async def run(self, task, ctx):
            ctx.state["runs"] = ctx.state.get("runs", 0) + 1
            match task.text:
                case "decline":
                    raise Decline("not today")
                case "later":
                    raise RetryLater("wait for it", after=600)
                case "raise":
                    raise ValueError("a bug of the author's")
                case "misconfigured":
                    raise Misconfigured("no key", fix="set the key")
                case "block":
                    time.sleep(0.12)
                case "hang":
                    await anyio.sleep_forever()
                case "yield":
                    for _ in range(5):
                        await anyio.lowlevel.checkpoint()
                case "tell":
                    return Result(f"I was told {ctx.canary}")
                case "odd state":
                    ctx.state["odd"] = {1, 2}
            return Result(f"did {task.id}", evidence={"by": "puppet"})
"""


def task(task_id: str = "t1", text: str = "", **fields: Any) -> Task:  # noqa: ANN401 - any field of Task
    given = Task(id=TaskId(task_id), kind="puppet", title="T", reward=3, text=text)
    return replace(given, **fields)


class Call(NamedTuple):
    """One action as the market saw it."""

    verb: str
    task_id: TaskId
    key: IdempotencyKey
    result: Result | None
    on_disk: str
    """The state of the task in the journal's file when the request arrived."""
    is_marked: bool
    """Whether that row said that the request may have been sent."""


Answer = Outcome[Any] | BaseException | Callable[[TaskId], Outcome[Any]]


class ScriptedMarket(NetworkClient):
    """Answers each verb from its script; a yes when the script has run out."""

    def __init__(self, path: Path) -> None:
        self.script: dict[str, list[Answer]] = defaultdict(list)
        self.calls: list[Call] = []
        self.given: list[dict[str, JSON]] = []
        """What submit and complete were told of earlier answers."""
        self.pages: list[Outcome[Listing]] = []
        self.limits: list[int | None] = []
        """What each look asked for."""
        self.queries: list[dict[str, str]] = []
        """What more each look asked with: that of a page."""
        self.public_pages: list[Outcome[Listing]] = []
        self.public_looks = 0
        self.looks: list[str] = []
        """Where it was looked for what has come of results."""
        self.seen_there: list[Outcome[Receipt] | None] = []
        self._path = path

    async def marketplace_tasks(
        self, limit: int | None = None, page: PageRequest | None = None
    ) -> Outcome[Listing]:
        self.limits.append(limit)
        self.queries.append(dict(page.query) if page else {})
        await anyio.lowlevel.checkpoint()
        return self.pages.pop(0) if self.pages else listing()

    async def public_marketplace(
        self, page: PageRequest | None = None
    ) -> Outcome[Listing]:
        del page
        await anyio.lowlevel.checkpoint()
        self.public_looks += 1
        return self.public_pages.pop(0) if self.public_pages else listing()

    async def claim(self, task: Task, key: IdempotencyKey) -> Outcome[Receipt]:
        return await self._answer("claim", task.id, key, CLAIMED)

    async def submit(
        self,
        task: Task,
        result: Result,
        key: IdempotencyKey,
        given: Given = NOTHING_GIVEN,
    ) -> Outcome[Receipt]:
        self.given.append(dict(given))
        return await self._answer("submit", task.id, key, SUBMITTED, result)

    async def complete(
        self, task: Task, key: IdempotencyKey, given: Given = NOTHING_GIVEN
    ) -> Outcome[Receipt]:
        self.given.append(dict(given))
        return await self._answer("complete", task.id, key, COMPLETED)

    async def look_at_result(self, address: str) -> Outcome[Receipt] | None:
        self.looks.append(address)
        await anyio.lowlevel.checkpoint()
        answer: Outcome[Receipt] | None = self.seen_there.pop(0)
        return answer

    def verbs(self, task_id: str | None = None) -> list[str]:
        return [one.verb for one in self.calls if task_id in (None, one.task_id)]

    async def _answer(
        self,
        verb: str,
        task_id: TaskId,
        key: IdempotencyKey,
        default: Answer,
        result: Result | None = None,
    ) -> Outcome[Any]:
        with Journal(self._path, FakeClock().now, read_only=True) as other:
            row = other.tasks.get(task_id)
        self.calls.append(Call(verb, task_id, key, result, row.state, row.maybe_sent))
        await anyio.lowlevel.checkpoint()
        answer = self.script[verb].pop(0) if self.script[verb] else default
        if isinstance(answer, BaseException):
            raise answer
        return answer(task_id) if callable(answer) else answer


def listing(*tasks: Task, unreadable: int = 0) -> Confirmed[Listing]:
    return Confirmed(Listing(tasks, unreadable, len(tasks) + unreadable, ""))


class CountingContexts(StrategyContexts):
    """Makes contexts, and counts how many runs there are at once."""

    def __init__(self, clock: FakeClock, log: RecordingLog) -> None:
        self.running = 0
        self.peak = 0
        self._clock, self._log = clock, log

    def context(self, record: TaskRecord, state: dict[str, JSON]) -> Context:
        self.running += 1
        self.peak = max(self.peak, self.running)
        return Context(
            strategy=record.strategy,
            log=Silence(),
            state=state,
            now=self._clock.now,
            deadline=record.task.deadline,
            workspace=Path,
            progress=lambda _fraction, _note: None,
            budget=BudgetView,
            cancelled=lambda: False,
            canary="canary_of_this_run",
        )

    def clean_up(self, record: TaskRecord) -> None:
        del record
        self.running -= 1


class Silence(StrategyLog):
    """A strategy's log that goes nowhere."""

    def write(self, level: str, event: str, fields: dict[str, object]) -> None: ...


class ScriptedRateLimiter(RateLimiter):
    """Pauses what a test names, until a moment on the monotonic clock."""

    def __init__(self, clock: FakeClock) -> None:
        self.absent: set[str] = set()
        self._clock = clock
        self._until: dict[str, float] = {}

    def pause_requests(self, what: str, seconds: float) -> None:
        """Pause one endpoint, or with `everything` all of them."""
        self._until[what] = self._clock.monotonic() + seconds

    def general_pause(self) -> Pause | None:
        return self._scripted("everything")

    def pause_for(self, endpoint: str) -> Pause | None:
        return self._scripted(endpoint) or self._scripted("everything")

    def is_absent(self, endpoint: str) -> bool:
        return endpoint in self.absent

    def _scripted(self, what: str) -> Pause | None:
        wait = self._until.get(what, 0.0) - self._clock.monotonic()
        return Pause(Cause.TOKEN, wait, "token rejected") if wait > 0 else None


RULE = QuarantineRule(
    errors=3, window_seconds=600, initial_seconds=60, max_seconds=200, batch=WIDE
)


@dataclass
class LoopOptions:
    """What a test may choose about a loop."""

    slots: int = 4
    max_tasks: int | None = None
    max_attempts: int = 3
    min_reward: int = 0
    timeout_seconds: float = 5.0
    result_max_age_days: float = 7.0
    is_proven: bool = True
    """Whether a task has gone all the way here, so that all slots are open."""
    block_limit: float | None = None
    """Real seconds that one step of a strategy may hold the loop; None: any."""
    rule: QuarantineRule = RULE
    fingerprint: str = "1"
    """Of each strategy: what its file and settings are."""


class Loop:
    """One run of the loop: as the daemon composes it, with time standing still."""

    def __init__(
        self,
        journal: Journal,
        market: NetworkClient,
        clock: FakeClock,
        folder: Path,
        options: LoopOptions,
    ) -> None:
        self.journal, self.market, self.clock = journal, market, clock
        self.blocked: dict[str, str] = {}
        """Actions that the network takes in no form that we know."""
        self.log = RecordingLog()
        self.rate_limiter = ScriptedRateLimiter(clock)
        self.gate = Gate(self.rate_limiter, journal.owner_pauses, clock)
        self.contexts = CountingContexts(clock, self.log)
        retry, randomness = RetryPolicy(), FakeRandomness()
        registry = load_registry(folder)
        prints = {one.name: options.fingerprint for one in registry.strategies}
        self.quarantine = Quarantine(
            journal=journal, rule=options.rule, clock=clock, log=self.log
        )
        self.active = ActiveStrategies(Generation(registry, prints), self.quarantine)
        memory = StrategyMemory(journal)
        self.proof = Proof(
            journal=journal,
            base_url="https://network.example",
            blocked_actions=lambda: self.blocked,
            rate_limiter=self.rate_limiter,
            slots=options.slots,
            retry=retry,
            clock=clock,
            randomness=randomness,
            log=self.log,
        )
        if options.is_proven:
            for action in ("claim", "submit", "complete"):
                self.proof.confirm(action)
            for _ in range(options.slots):
                self.proof.complete()
        intents = Intents(
            journal=journal,
            proof=self.proof,
            retry=retry,
            rate_limiter=self.rate_limiter,
            clock=clock,
            randomness=randomness,
            log=self.log,
        )
        self.select = Select(
            agent_id=ME,
            active=self.active,
            journal=journal,
            min_reward=options.min_reward,
            clock=clock,
            log=self.log,
        )
        self.verdicts = VerdictWatch(agent_id=ME, journal=journal)
        self.discover = Discover(
            network=market,
            select=self.select,
            retry=retry,
            randomness=randomness,
            clock=clock,
            rate_limiter=self.rate_limiter,
            limit=50,
            on_page=lambda _tasks: False,
            log=self.log,
        )
        claim = Claim(
            network=market,
            intents=intents,
            active=self.active,
            clock=clock,
            log=self.log,
        )
        execute = Execute(
            active=self.active,
            quarantine=self.quarantine,
            memory=memory,
            contexts=self.contexts,
            runner=Runner(
                block_limit=options.block_limit,
                told=self.active.note_block,
                grace_seconds=0.01,
            ),
            leaks=LeakScan(lambda text: TOKEN in text),
            journal=journal,
            limits=ExecutionLimits(
                timeout_seconds=options.timeout_seconds,
                max_attempts=options.max_attempts,
                max_wait_seconds=3600,
            ),
            retry=retry,
            clock=clock,
            log=self.log,
        )
        endings = Endings(intents=intents, quarantine=self.quarantine, log=self.log)
        submit = Submit(
            network=market,
            intents=intents,
            endings=endings,
            result_max_age=timedelta(days=options.result_max_age_days),
            clock=clock,
        )
        complete = Complete(
            shown=self.verdicts.sightings,
            network=market,
            intents=intents,
            endings=endings,
            watch=BalanceWatch(journal, self.log),
            unnamed_pay=UnnamedPay(journal),
            result_max_age=timedelta(days=options.result_max_age_days),
            clock=clock,
            log=self.log,
        )
        self.worker = Worker(
            journal=journal,
            claim=claim,
            execute=execute,
            submit=submit,
            complete=complete,
            gate=self.gate,
            proof=self.proof,
            shortlist=Shortlist(journal, by_reward, clock, self.quarantine),
            slots=options.slots,
            max_tasks=options.max_tasks,
            retry=retry,
            clock=clock,
            log=self.log,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Recover, then let the worker run until the end of the block."""
        recover_interrupted(self.journal, self.log)
        async with anyio.create_task_group() as group:
            group.start_soon(self.worker.run, group)
            await self.quiet()
            yield
            group.cancel_scope.cancel()

    async def quiet(self) -> None:
        """Wait until nothing more happens without time passing."""
        calm, before = 0, None
        while calm < 40:
            await anyio.lowlevel.checkpoint()
            now = (
                self.journal.database._connection.total_changes,
                len(self.log.lines),
                self.worker.in_flight,
            )
            calm, before = (calm + 1 if now == before else 0), now

    async def later(self, seconds: float) -> None:
        """Let time pass, and all that follows happen."""
        self.clock.advance(seconds)
        self.worker.wakeup.notify()
        await self.quiet()

    async def work(self, *tasks: Task) -> None:
        """Want these tasks, and carry them as far as they go now."""
        self.select.decide(tasks)
        async with self.running():
            pass

    async def see(self, *tasks: Task) -> None:
        """Look at a listing with these tasks, and do what follows from it."""
        self.verdicts.note(tasks, self.worker.is_busy_with)
        async with self.running():
            pass

    def record(self, task_id: str = "t1") -> TaskRecord:
        return self.journal.tasks.get(TaskId(task_id))

    def path(self, task_id: str = "t1") -> list[str]:
        """Return the states that a task went through."""
        return [move.after for move in self.journal.tasks.history(TaskId(task_id))]

    def wait(self, task_id: str = "t1") -> float:
        """Return the seconds until a task is touched again."""
        return self.record(task_id).next_at - self.clock.now().timestamp()

    @property
    def earned(self) -> int:
        return self.journal.ledger.totals().get("earned", 0)


MakeLoop = Callable[..., Loop]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(journal_path: Path) -> Path:
    return journal_path


@pytest.fixture
def market(path: Path) -> ScriptedMarket:
    return ScriptedMarket(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of strategies, with the puppet in it."""
    made = tmp_path / "strategies"
    made.mkdir()
    (made / "puppet.py").write_text(textwrap.dedent(PUPPET))
    return made


@pytest.fixture
def make_loop(
    path: Path, market: ScriptedMarket, clock: FakeClock, folder: Path
) -> Iterator[MakeLoop]:
    """Make a loop; made again, it is the next run on the same data directory."""
    journals: list[Journal] = []

    def make(market: NetworkClient = market, **options: Any) -> Loop:  # noqa: ANN401 - fields of LoopOptions
        for journal in journals:
            journal.close()
        journals.append(Journal(path, clock.now))
        with journals[-1].tx("starter"):
            book_starter(journals[-1].ledger, None)
        return Loop(journals[-1], market, clock, folder, LoopOptions(**options))

    yield make
    for journal in journals:
        journal.close()


@pytest.fixture
def loop(make_loop: MakeLoop) -> Loop:
    return make_loop()
