"""Planted bugs: the simulation itself is tested, by finding each of them.

A mutant replaces a function of the daemon in memory for as long as it is in force; no
file is touched. `make mutants` hunts each in the same way, first by trying everything
that can happen in a tiny world, then by seeds, and prints how it was found.
"""

import copy
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel

import journeyman.daemon.daemon
import journeyman.loop.claim
import journeyman.loop.submit
import journeyman.network.http
from journeyman.domain import Identity, NotSent, TaskState, Unknown
from journeyman.economy import Posting
from journeyman.journal import (
    Confidence,
    EntryKind,
    NewEntry,
    SpendState,
    TaskRecord,
    Tasks,
)
from journeyman.loop import Backoff, Bell, Claim, Complete, Join, Submit, events
from journeyman.loop.intent import key_for
from journeyman.network import NetworkClient
from journeyman.network.http import HttpClient
from journeyman.simulation import (
    FAULTS,
    HARDEST,
    Chaos,
    Outage,
    Outcome,
    Plan,
    draw_plan,
    simulate,
)

Inside: TypeAlias = Any
"""A part of the daemon's insides; a bug does not ask for its type."""

DAY = 86_400.0
SEEDS = range(60)
DAYS = 0.06
"""Of the seeds that are tried when all else has found nothing."""

MICRO = Plan(seed=1, chaos=Chaos.HARD, tasks=1, fault_seconds=60, personality=HARDEST)
"""A world so small that all that can happen in it can be tried."""
PAYING = replace(MICRO, errands=1)
"""One in which the owner posts a task as well."""
STUCK = replace(
    MICRO,
    tasks=3,
    fault_seconds=1200,
    outages=(Outage(begins=10, ends=700, fault="drop_before"),),
)
"""One in which the results must wait."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """A bug: what is replaced, by what, and a run in which it shows."""

    name: str
    where: object
    attribute: str
    planted: Inside
    shows_in: Plan

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Plant it, for as long as this lasts."""
        before = getattr(self.where, self.attribute)
        setattr(self.where, self.attribute, self.planted)
        try:
            yield
        finally:
            setattr(self.where, self.attribute, before)


# -- claims and results ----------------------------------------------------------

_claim = Claim.__call__
_move = Tasks.move
_postpone = Tasks.postpone


class _Told:
    """A market that repeats an answer which was got before."""

    def __init__(self, outcome: object) -> None:
        self._outcome = outcome

    async def claim(self, *_: object) -> object:
        return self._outcome


async def _claim_first(self: Inside, record: Inside) -> Inside:
    outcome = await self._market.claim(record.task_id, key_for(record, "claim"))
    informed = copy.copy(self)
    informed._market = _Told(outcome)
    return await _claim(informed, record)


def _result_late(
    self: Inside, record: Inside, after: TaskState, **more: Inside
) -> Inside:
    result = more.pop("result", None)
    if after is TaskState.SUBMITTED:
        return _move(self, record, after, result=record.result, **more)
    moved = _move(self, record, after, **more)
    return replace(moved, result=result or moved.result)


def _no_maybe(self: Inside, record: Inside, after: TaskState, **more: Inside) -> Inside:
    moved = _move(self, record, after, **more)
    statement = "UPDATE tasks SET maybe_sent = 0 WHERE task_id = ?"
    self._database.write(statement, record.task_id)
    return replace(moved, maybe_sent=False)


def _no_doubt(self: Inside, record: Inside, **more: Inside) -> Inside:
    return _postpone(self, record, **{**more, "maybe_sent": False})


async def _booked_apart(self: Inside, record: Inside, shown: int | None) -> Inside:
    journal = self._intents.journal
    with journal.tx("booked apart"):
        journal.ledger.book(
            NewEntry(
                key=f"earned:{record.task_id}:{record.attempts}",
                kind=EntryKind.EARNED,
                amount=record.task.reward if shown is None else shown,
                confidence=Confidence.ASSUMED,
            ),
        )
    return await journal.commit(lambda: journal.tasks.move(record, TaskState.COMPLETED))


# -- joining ---------------------------------------------------------------------

_joined = Join._joined


async def _token_late(self: Inside) -> Inside:
    outcome = await self._registrar.register(self._open_intent())
    await anyio.lowlevel.checkpoint()
    return self._conclude(outcome)


def _answer_forgotten_early(self: Inside, registration: Inside) -> Inside:
    identity = Identity(
        registration.agent_id, registration.access_token, self._base_url
    )
    self._answers.forget()
    self._open_books(identity, registration.credits)
    self._save(identity)
    return identity


def _token_told(self: Inside, registration: Inside) -> Inside:
    identity = _joined(self, registration)
    self._log.emit(
        events.JOIN_TROUBLE,
        message=f"joined with {identity.access_token.reveal()}",
        attempt=1,
        retry_in=0,
    )
    return identity


# -- money -----------------------------------------------------------------------

_give_back = Posting._give_back
_post_task = NetworkClient.post_task


def _release_unknown(self: Inside, spend: Inside, failure: Inside) -> Inside:
    return _give_back(self, spend, NotSent(failure.message))


def _release_at_recovery(self: Inside) -> None:
    for spend in self._journal.spends.in_state(SpendState.HELD):
        with self._journal.tx("forgotten"):
            self._journal.spends.settle(spend.spend_id, SpendState.RELEASED)


async def _spend_again(self: Inside, new: Inside, key: Inside) -> Inside:
    outcome = await _post_task(self, new, key)
    if isinstance(outcome, Unknown):
        return await _post_task(self, new, key)
    return outcome


# -- time and HTTP -----------------------------------------------------------------


async def _deaf_bell(self: Inside, _timeout: float | None = None) -> bool:
    await self._event.wait()
    self._event = anyio.Event()
    return True


def _due_by_the_clock(self: Inside, now: datetime) -> bool:
    return bool(self.next_at <= now.timestamp())


async def _no_cap(_self: Inside, response: Inside) -> bytes:
    chunks: AsyncIterator[bytes] = response.aiter_raw()
    return b"".join([chunk async for chunk in chunks])


def _unguarded(text: str) -> Inside:
    return json.loads(text)


class _NoDeadline:
    """anyio without time-outs."""

    def __getattr__(self, name: str) -> Inside:
        return getattr(anyio, name)

    def fail_after(self, _seconds: float) -> Inside:
        return nullcontext()


def _never(*_: object) -> bool:
    return False


def _crash(point: int, world: Plan = MICRO) -> Plan:
    return replace(world, kill_at=frozenset({point}))


def _fault(request: int, name: str, world: Plan = MICRO) -> Plan:
    return replace(world, fault_at={request: name})


_PLANTED: tuple[tuple[str, object, str, Inside, Plan], ...] = (
    ("claim_first", Claim, "__call__", _claim_first, MICRO),
    ("result_late", Tasks, "move", _result_late, MICRO),
    ("trust_409", journeyman.loop.claim, "may_be_done", _never, _crash(17)),
    ("no_maybe", Tasks, "move", _no_maybe, MICRO),
    ("no_doubt", Tasks, "postpone", _no_doubt, _crash(15)),
    ("booked_apart", Complete, "_earned", _booked_apart, _crash(30)),
    ("repeat_is_refusal", journeyman.loop.submit, "may_be_done", _never, _crash(24)),
    ("give_up_delivery", Submit, "_is_open", _never, _fault(5, "drop_before")),
    (
        "trust_one_404",
        journeyman.loop.submit,
        "RESULT_DOUBTFUL_TRIES",
        1,
        _fault(5, "spurious_404"),
    ),
    (
        "forget_executing",
        journeyman.daemon.daemon,
        "recover_interrupted",
        _never,
        _crash(19),
    ),
    ("token_late", Join, "_try", _token_late, MICRO),
    ("answer_forgotten_early", Join, "_joined", _answer_forgotten_early, _crash(6)),
    ("token_told", Join, "_joined", _token_told, MICRO),
    (
        "release_unknown",
        Posting,
        "_give_back",
        _release_unknown,
        _fault(5, "reset_after", PAYING),
    ),
    (
        "release_at_recovery",
        Posting,
        "recover",
        _release_at_recovery,
        _crash(24, PAYING),
    ),
    (
        "spend_again",
        NetworkClient,
        "post_task",
        _spend_again,
        _fault(5, "reset_after", PAYING),
    ),
    ("deaf_bell", Bell, "wait", _deaf_bell, replace(STUCK, steps=((300, -DAY),))),
    (
        "spin_after_step",
        TaskRecord,
        "is_due",
        _due_by_the_clock,
        replace(STUCK, steps=((300, -DAY),)),
    ),
    ("no_cap", HttpClient, "_capped", _no_cap, _fault(4, "huge_body")),
    (
        "no_deadline",
        journeyman.network.http,
        "anyio",
        _NoDeadline(),
        _fault(4, "slow_drip"),
    ),
    (
        "unguarded_json",
        journeyman.network.http,
        "parse",
        _unguarded,
        _fault(4, "deep_json"),
    ),
    (
        "no_backoff",
        Backoff,
        "seconds",
        lambda *_: 0.5,
        _fault(4, "unavailable_503"),
    ),
)

MUTANTS = tuple(
    Mutant(name=name, where=where, attribute=attribute, planted=planted, shows_in=plan)
    for name, where, attribute, planted, plan in _PLANTED
)


def hunt(mutant: Mutant) -> tuple[str, int, Outcome | None]:
    """Look for a mutant; give how it was found, in how many runs, and the run."""
    runs = 0
    with mutant.in_force():
        for way, plan in _ways():
            runs += 1
            outcome = simulate(plan)
            if not outcome.passed:
                return way, runs, outcome
    return "not found", runs, None


def _ways() -> Iterator[tuple[str, Plan]]:
    """Give ever larger worlds, the same for every mutant."""
    yield "at once", MICRO
    for world in (MICRO, PAYING):
        for point in range(1, 41):
            yield "single crash", _crash(point, world)
    for world in (MICRO, PAYING):
        for request, name in product(range(1, 9), FAULTS):
            yield "single fault", _fault(request, name, world)
    for step in (-DAY, DAY):
        yield "clock", replace(STUCK, steps=((300, step),))
    for seed in SEEDS:
        yield "seed", draw_plan(seed, days=DAYS, chaos=Chaos.HARD)


def main(names: list[str]) -> int:
    """Hunt all mutants, or those named; give how many were not found."""
    missed = 0
    tell = sys.stdout.write
    tell(f"{'mutant':22}{'found by':16}{'runs':>5}  invariant\n")
    for mutant in MUTANTS:
        if not names or mutant.name in names:
            way, runs, outcome = hunt(mutant)
            missed += outcome is None
            found = str(outcome.violations[0]) if outcome else "none"
            line = f"{mutant.name:22}{way:16}{runs:>5}  {found.splitlines()[0][:90]}"
            tell(f"{line}\n")
            sys.stdout.flush()
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
