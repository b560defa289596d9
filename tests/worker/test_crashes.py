"""A kill at any instruction: the next run ends what this one began, once.

The network here is the worst that the contract allows: it remembers no keys, shows no
claimant, and says no more than "conflict" to a repeat. A kill is simulated by an error
that nothing may catch, at each request and at each commit, before and after it.
"""

import asyncio
from itertools import product
from random import Random
from typing import Any

import anyio
import pytest
from tests.worker.conftest import (
    ABSENT,
    CLAIMED,
    COMPLETED,
    CONFLICT,
    NOT_SENT,
    SUBMITTED,
    THROTTLED,
    UNAUTHORIZED,
    UNKNOWN,
    Loop,
    MakeLoop,
    task,
)

from journeyman.domain.outcomes import Outcome
from journeyman.domain.tasks import (
    NOTHING_GIVEN,
    Given,
    IdempotencyKey,
    Result,
    Task,
    TaskId,
    TaskState,
)
from journeyman.network.answers import Receipt
from journeyman.network.service_model.listing import Listing
from journeyman.network.service_model.pages import PageRequest

TASKS = tuple(task(f"t{n}", reward=n + 1) for n in range(3))
WORTH = sum(one.reward for one in TASKS)
FAULTS = (
    "kill before",
    "kill after",
    "lost before",
    "lost after",
    "not sent",
    "throttled",
    "no such task",
    "bad token",
)


class Killed(BaseException):
    """The process is gone: nothing may catch this."""


class Server:
    """Does what it is asked; what goes wrong at which request is told beforehand."""

    def __init__(self, faults: dict[int, str]) -> None:
        self.stands: dict[TaskId, str] = {}
        self.results: dict[TaskId, set[str]] = {}
        self.paid = 0
        self.requests = 0
        self._faults = faults

    async def marketplace_tasks(
        self, limit: int | None = None, page: PageRequest | None = None
    ) -> Outcome[Listing]:
        raise NotImplementedError(limit, page)

    async def claim(self, task: Task, key: IdempotencyKey) -> Outcome[Receipt]:
        del key
        return await self._serve(task.id, None, "claimed", CLAIMED)

    async def submit(
        self,
        task: Task,
        result: Result,
        key: IdempotencyKey,
        given: Given = NOTHING_GIVEN,
    ) -> Outcome[Receipt]:
        del key, given
        self.results.setdefault(task.id, set()).add(repr(result))
        return await self._serve(task.id, "claimed", "submitted", SUBMITTED)

    async def complete(
        self, task: Task, key: IdempotencyKey, given: Given = NOTHING_GIVEN
    ) -> Outcome[Receipt]:
        del key, given
        return await self._serve(task.id, "submitted", "completed", COMPLETED)

    async def _serve(
        self, task_id: TaskId, before: str | None, after: str, yes: Outcome[Any]
    ) -> Outcome[Any]:
        self.requests += 1
        fault = self._faults.get(self.requests, "")
        await anyio.lowlevel.checkpoint()
        refused: dict[str, Outcome[Any]] = {
            "lost before": UNKNOWN,
            "not sent": NOT_SENT,
            "throttled": THROTTLED,
            "no such task": ABSENT,
            "bad token": UNAUTHORIZED,
        }
        if fault == "kill before":
            raise Killed
        if fault in refused:
            return refused[fault]
        answer = self._act(task_id, before, after, yes)
        if fault == "kill after":
            raise Killed
        return UNKNOWN if fault == "lost after" else answer

    def _act(
        self, task_id: TaskId, before: str | None, after: str, yes: Outcome[Any]
    ) -> Outcome[Any]:
        if self.stands.get(task_id) != before:
            return CONFLICT
        self.stands[task_id] = after
        if after == "completed":
            self.paid += next(one.reward for one in TASKS if one.id == task_id)
        return yes


async def _survives(loop: Loop) -> bool:
    """Run for a good while; False when the process was killed meanwhile."""
    killed = False
    # asyncio would print what a commit, which runs in a callback, raises.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    try:
        async with loop.running():
            for _ in range(8):
                await loop.later(400)
    except* Killed:
        killed = True
    return not killed


async def _run_until_done(make_loop: MakeLoop, server: Server) -> Loop:
    """Start again after each kill, until one run is not killed."""
    for _ in range(15):
        loop = make_loop(market=server, slots=2)
        if not loop.journal.totals.get("tasks.seen"):
            loop.select.decide(TASKS)
        if await _survives(loop):
            return loop
    raise AssertionError("it never came to rest")


def _check(loop: Loop, server: Server) -> None:
    """Nothing forgotten, nothing twice."""
    assert loop.journal.tasks.counts() == {"completed": len(TASKS)}
    assert set(server.stands.values()) == {"completed"}
    assert server.paid == loop.earned == WORTH
    assert loop.journal.ledger.first_fault() is None
    assert all(len(sent) == 1 for sent in server.results.values())


@pytest.mark.parametrize(("number", "fault"), [*product(range(1, 10), FAULTS)])
async def test_one_fault_at_any_request_changes_nothing_in_the_end(
    make_loop: MakeLoop, number: int, fault: str
) -> None:
    server = Server({number: fault})

    loop = await _run_until_done(make_loop, server)

    _check(loop, server)


@pytest.mark.parametrize("seed", range(40))
async def test_many_faults_in_a_row_change_nothing_in_the_end(
    make_loop: MakeLoop, seed: int
) -> None:
    chance = Random(seed)  # noqa: S311 - repeatable on purpose
    faults = {n: chance.choice(FAULTS) for n in range(1, 25) if chance.random() < 0.4}
    # Three in a row are believed: that task is really not there.
    faults = {n: f for n, f in faults.items() if f != "no such task" or n % 7 == 0}
    server = Server(faults)

    loop = await _run_until_done(make_loop, server)

    _check(loop, server)


class DeathAtACommit:
    """Kills the process at its n-th commit, just before it or just after."""

    def __init__(self, number: int, *, committed: bool) -> None:
        self._left, self._committed = number, committed
        self.has_struck = False

    def before(self, label: str) -> None:
        del label
        self._left -= 1
        # Once dead, nothing more is written.
        if self._left < 0 or (self._left == 0 and not self._committed):
            self.has_struck = True
            raise Killed

    def after(self, label: str) -> None:
        del label
        if self._left == 0:
            self.has_struck = True
            raise Killed


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("number", range(1, 11))
async def test_a_kill_at_any_commit_changes_nothing_in_the_end(
    make_loop: MakeLoop, number: int, *, committed: bool
) -> None:
    server = Server({})
    loop = make_loop(market=server, slots=2)
    loop.select.decide(TASKS)
    death = DeathAtACommit(number, committed=committed)
    loop.journal.database.observe(death)
    await _survives(loop)
    assert death.has_struck

    _check(await _run_until_done(make_loop, server), server)


async def test_recovery_starts_what_was_being_executed_again_whatever_the_clock_says(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop()
    loop.select.decide((task(text="hang"),))
    async with loop.running():
        assert loop.record().state is TaskState.EXECUTING
    loop.clock.step(-86_400)

    restarted = make_loop()
    async with restarted.running():
        assert restarted.record().executions == 2

    assert restarted.log.named("recover.continued") == [
        {"in_flight": 1, "interrupted": 1}
    ]


async def test_waits_outlive_a_restart_so_that_a_crash_loop_is_no_storm(
    make_loop: MakeLoop,
) -> None:
    server = Server({2: "lost before", 3: "lost before"})
    make_loop(market=server).select.decide(TASKS[:1])

    for _ in range(10):
        await make_loop(market=server).work()

    assert server.requests == 2


async def test_two_restarts_without_work_leave_the_same_journal_as_one(
    make_loop: MakeLoop,
) -> None:
    server = Server({4: "lost after"})
    await make_loop(market=server).work(*TASKS)
    loops = []
    for _ in range(2):
        loop = make_loop(market=server)
        await loop.work()
        loops.append([loop.record(one.id) for one in TASKS])

    assert loops[0] == loops[1]
