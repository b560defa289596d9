"""The bugs themselves: functions that take the place of the daemon's own."""

import asyncio
import copy
import json
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel

from journeyman.daemon.discovery import DiscoverLoop
from journeyman.domain.outcomes import NotSent, Unknown
from journeyman.domain.tasks import AccessToken, Identity, TaskState
from journeyman.economy.posting import Posting
from journeyman.journal.identity import save_identity
from journeyman.journal.ledger import Confidence, EntryKind, Ledger, NewEntry
from journeyman.journal.spends import SpendKind, Spends, SpendState
from journeyman.journal.tasks import Tasks
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.network.call import Reply
from journeyman.network.client import NetworkClient
from journeyman.network.http import HttpClient
from journeyman.strategies.outcomes import TimedOut
from journeyman.strategies.running.runner import run_on_loop
from journeyman.worker import events
from journeyman.worker.claim import Claim
from journeyman.worker.intents import key_for
from journeyman.worker.join import Join

Internal: TypeAlias = Any
"""A part of the daemon's internals, of any type."""

# -- claims and results ----------------------------------------------------------

_claim = Claim.run
_move = Tasks.move
_postpone = Tasks.postpone


class _KnownAnswer:
    """A network that repeats an answer."""

    def __init__(self, outcome: object) -> None:
        self._outcome = outcome

    async def claim(self, *_: object) -> object:
        return self._outcome


async def claim_first(self: Internal, record: Internal) -> Internal:
    outcome = await self.network.claim(record.task, key_for(record, "claim"))
    informed = copy.copy(self)
    informed.network = _KnownAnswer(outcome)
    return await _claim(informed, record)


def result_late(
    self: Internal, record: Internal, after: TaskState, **more: Internal
) -> Internal:
    result = more.pop("result", None)
    if after is TaskState.SUBMITTED:
        return _move(self, record, after, result=record.result, **more)
    moved = _move(self, record, after, **more)
    return replace(moved, result=result or moved.result)


def no_maybe(
    self: Internal, record: Internal, after: TaskState, **more: Internal
) -> Internal:
    moved = _move(self, record, after, **more)
    statement = "UPDATE tasks SET maybe_sent = 0 WHERE task_id = ?"
    self.database.write(statement, record.task_id)
    return replace(moved, maybe_sent=False)


def no_doubt(self: Internal, record: Internal, next_at: float) -> Internal:
    return _postpone(self, replace(record, maybe_sent=False), next_at)


async def booked_apart(
    self: Internal, record: Internal, answered: Internal
) -> Internal:
    journal = self.intents.journal
    with journal.tx("booked apart"):
        journal.ledger.book(
            NewEntry(
                key=f"earned:{record.task_id}:{record.attempts}",
                kind=EntryKind.EARNED,
                amount=answered.credits or record.task.reward,
                confidence=Confidence.ASSUMED,
            ),
        )
    return await journal.commit(lambda: journal.tasks.move(record, TaskState.COMPLETED))


# -- joining ---------------------------------------------------------------------

_joined = Join._joined


async def token_late(self: Internal) -> Internal:
    outcome = await self.network.register(self.intent.open())
    await anyio.lowlevel.checkpoint()
    return self._finish(outcome)


def answer_forgotten_early(self: Internal, registration: Internal) -> Internal:
    identity = Identity(registration.agent_id, registration.access_token, self.base_url)
    self.identity_files.answers.forget()
    self._open_ledger(identity, registration.credits)
    self.identity_files.save(identity)
    return identity


def token_logged(self: Internal, registration: Internal) -> Internal:
    identity = _joined(self, registration)
    self.log.emit(
        events.JOIN_DELAYED,
        message=f"joined with {identity.access_token.reveal()}",
        attempt=1,
        retry_in=0,
    )
    return identity


# -- money -----------------------------------------------------------------------

_not_accepted = Posting._not_accepted
_post_task = NetworkClient.post_task
_book = Ledger.book
_counted_since = Spends.counted_since


def settled_only(
    self: Internal, kind: Internal, since: datetime, strategy: str | None = None
) -> Internal:
    if kind is not SpendKind.POST:
        return _counted_since(self, kind, since, strategy)
    row = self.database.rows(
        "SELECT count(*), coalesce(sum(credits), 0), coalesce(sum(cents), 0) "
        "FROM spends WHERE kind = ? AND at >= ? "
        "AND state = 'settled' AND (?3 IS NULL OR strategy = ?3)",
        *(kind, since.isoformat(), strategy),
    )[0]
    return tuple(row)


def without_unknown(self: Internal) -> int:
    held = self.in_state(SpendState.RESERVED)
    return sum(spend.credits for spend in held if spend.kind is SpendKind.POST)


def release_unknown(self: Internal, spend: Internal, failure: Internal) -> Internal:
    return _not_accepted(self, spend, NotSent(failure.message))


def release_at_recovery(self: Internal) -> None:
    for spend in self.journal.spends.in_state(SpendState.RESERVED):
        with self.journal.tx("forgotten"):
            self.journal.spends.move(spend.spend_id, SpendState.RELEASED)


async def spend_again(self: Internal, new: Internal, key: Internal) -> Internal:
    outcome = await _post_task(self, new, key)
    if isinstance(outcome, Unknown):
        return await _post_task(self, new, key)
    return outcome


# -- strategies --------------------------------------------------------------------


def bounded_by_nothing(_self: Internal, *_about: object) -> None:
    """Learn nothing from how a result was judged."""


# -- time and HTTP -----------------------------------------------------------------

_run_on_loop = run_on_loop
AGES = 1e9


async def raced(
    loaded: Internal, call: Internal, *, limit: float, **more: Internal
) -> Internal:
    running = asyncio.get_running_loop().create_task(
        _run_on_loop(loaded, call, limit=AGES, **more)
    )
    try:
        return await asyncio.wait_for(asyncio.shield(running), limit)
    except TimeoutError:
        return TimedOut(limit)


_wait = Wakeup.wait


async def missed_wakeup(self: Internal, _timeout: float | None = None) -> bool:
    return await _wait(self)


def due_by_the_clock(self: Internal, now: datetime) -> bool:
    return bool(self.next_at <= now.timestamp())


async def no_cap(_self: Internal, chunks: Internal, *_: Internal) -> bytes:
    return b"".join([chunk async for chunk in chunks])


def unguarded(text: str) -> Internal:
    return json.loads(text)


class NoDeadline:
    """anyio without time-outs."""

    def __getattr__(self, name: str) -> Internal:
        return getattr(anyio, name)

    def move_on_after(self, _seconds: float) -> Internal:
        return nullcontext()


def as_it_came(reply: Internal, _known: Internal) -> Internal:
    return reply


def never(*_: object, **__: object) -> bool:
    return False


async def run_without_rate_limits(
    self: Internal, call: Internal, read: Internal, rescue: Internal = None
) -> Internal:
    return await self._make(call, read, rescue)


def without_reserved(
    self: Internal, kind: Internal, since: datetime, strategy: str | None = None
) -> Internal:
    number, credits_, cents = _counted_since(self, kind, since, strategy)
    reserved = self.in_state(SpendState.RESERVED) if kind is SpendKind.POST else []
    return (
        number - len(reserved),
        credits_ - sum(spend.credits for spend in reserved),
        cents,
    )


def zero(*_: object) -> int:
    return 0


def nothing_below(*_: object, **_more: object) -> None:
    """Find no floor that a post would go below."""


_send = HttpClient.send


async def following(
    self: Internal, method: Internal, url: Internal, **more: Internal
) -> Internal:
    reply = await _send(self, method, url, **more)
    target = reply.headers.get("location") if isinstance(reply, Reply) else None
    return await _send(self, method, target, **more) if target else reply


_look = DiscoverLoop.look


async def look_until_it_fails(self: Internal) -> Internal:
    poll = await _look(self)
    if poll is not None and poll.failure is not None:
        await anyio.sleep_forever()
    return poll


_save = save_identity


def save_another_token(path: Internal, identity: Internal) -> None:
    _save(path, replace(identity, access_token=AccessToken("another")))


def book_anew(self: Internal, new: Internal) -> Internal:
    return _book(self, replace(new, key=f"{new.key}:{self.balance()}"))
