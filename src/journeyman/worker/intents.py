"""Intents: what changes the network is committed before it is sent (design 2)."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Failure, NotSent, Refusal, Refused, Unknown
from journeyman.domain.tasks import IdempotencyKey, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.retry import Backoff

DOUBTFUL_TRIES = 3
"""A single 403 or 404 is never trusted: gateways give them for a service that
restarts. So many in a row are."""

RESULT_DOUBTFUL_TRIES = 100
"""Work that is done is worth more patience: with the longest waits, some hours of a
gateway that says "no such task"."""

DOUBTFUL_PAUSE_SECONDS = 30.0
"""At least so long between two of them: a restart takes its time."""

LONGEST_HOLD_SECONDS = 600.0
"""How long a task waits at most before it is asked again whether its request may go.
A shape that no network takes rests until tomorrow, but not after a restart with
another one; and whatever is held may be let go sooner, because of another request."""

TOKEN_REFUSED = 401
"""This status is about the token itself (RFC 9110, section 15.5.2); `network.pressure`
confirms it and stops everything. A 403 may be about one task only, so it stops that
task and not the daemon; a token that a network refuses by 403 shows at the next look at
the marketplace."""

ENDPOINTS: Mapping[TaskState, str] = MappingProxyType(
    {
        TaskState.CLAIMING: "claim",
        TaskState.SUBMITTING: "submit",
        TaskState.COMPLETING: "complete",
    },
)
"""The endpoint that each intent's request goes to."""

MAY_BE_DONE = frozenset({Refusal.CONFLICT, Refusal.INVALID, Refusal.OTHER})
"""Refusals with which networks answer a repeat of what they have done."""

WAITS = frozenset({Refusal.THROTTLED, Refusal.UNAUTHORIZED})
"""Refusals that say "not now" rather than "never"."""


class Intents:
    """Opens intents, and keeps those whose request did not end clearly."""

    def __init__(
        self,
        *,
        journal: Journal,
        backoff: Backoff,
        clock: Clock,
        log: Log,
        rate_limiter: RateLimiter,
    ) -> None:
        self.journal = journal
        self._backoff = backoff
        self._rate_limiter = rate_limiter
        self._clock = clock
        self._log = log

    async def hold_back(
        self, record: TaskRecord, state: TaskState
    ) -> TaskRecord | None:
        """Put a task off whose request may not go now; None when it may.

        It is no attempt: nothing was sent, and nothing is counted.
        """
        held = self._rate_limiter.held(ENDPOINTS[state])
        if held is None:
            return None
        return await self._put_off(record, held.seconds, held.reason)

    async def open(
        self,
        record: TaskRecord,
        state: TaskState,
    ) -> tuple[TaskRecord, bool]:
        """Commit that the request of `state` may leave now.

        Gives the record, and whether an earlier try may have been processed.
        """
        if record.state is state and record.unsent:
            return replace(record, unsent=False), False
        again = record.state is state
        write = self._repeat if again else self._begin
        opened = await self.journal.commit(lambda: write(record, state))
        return opened, again and record.maybe_sent

    def _begin(self, record: TaskRecord, state: TaskState) -> TaskRecord:
        return self.journal.tasks.move(
            record,
            state,
            attempts=record.attempts + 1,
            doubts=record.doubts,
        )

    def _repeat(self, record: TaskRecord, _state: TaskState) -> TaskRecord:
        return self.journal.tasks.postpone(
            record,
            next_at=0.0,
            attempts=record.attempts + 1,
            doubts=record.doubts,
            reason=record.reason,
            maybe_sent=True,
        )

    async def keep(
        self,
        record: TaskRecord,
        failure: Failure,
        *,
        uncertain: bool,
        back_to: TaskState | None = None,
    ) -> TaskRecord:
        """Keep an intent for a later repeat, or put the task back where it was.

        `back_to` is used only when nothing can have happened. A request that was held
        back at the last moment was no attempt.
        """
        uncertain = uncertain or isinstance(failure, Unknown)
        was_held = isinstance(failure, NotSent) and failure.held_back
        attempts = record.attempts - was_held
        doubts = self._doubts(record, failure)
        wait = self._wait(record, failure)
        next_at = self._clock.now().timestamp() + wait
        tasks, reason = self.journal.tasks, failure.message

        def write() -> TaskRecord:
            if back_to is not None and not uncertain:
                return tasks.move(
                    record,
                    back_to,
                    reason=reason,
                    next_at=next_at,
                    attempts=attempts,
                    doubts=doubts,
                )
            return tasks.postpone(
                record,
                next_at=next_at,
                attempts=attempts,
                doubts=doubts,
                reason=reason,
                maybe_sent=uncertain,
            )

        kept = await self.journal.commit(write)
        if was_held:
            return kept
        self._log.emit(
            events.DELAYED,
            task_id=record.task_id,
            state=record.state,
            message=failure.message,
            attempt=record.attempts,
            retry_in=round(wait, 1),
            uncertain=uncertain,
        )
        return kept

    async def settle(
        self,
        record: TaskRecord,
        state: TaskState,
        reason: str = "",
        *,
        then: TaskState | None = None,
    ) -> TaskRecord:
        """Commit what a clear answer means for a task.

        `then` is the intent that follows at once: it shares the commit, which is what
        a task costs most.
        """

        def write() -> TaskRecord:
            tasks = self.journal.tasks
            if then is None:
                return tasks.move(record, state, reason=reason)
            return tasks.move(record, then, through=state, reason=reason, attempts=1)

        return await self.journal.commit(write)

    def _wait(self, record: TaskRecord, failure: Failure) -> float:
        if isinstance(failure, NotSent) and failure.held_back:
            return self._held_for(failure.retry_after or 0.0)
        wait = self._backoff.seconds(record.attempts, failure)
        return max(wait, DOUBTFUL_PAUSE_SECONDS) if is_doubt(failure) else wait

    def _held_for(self, seconds: float) -> float:
        return self._backoff.spread(min(seconds, LONGEST_HOLD_SECONDS))

    def _doubts(self, record: TaskRecord, failure: Failure) -> int:
        """Count the doubtful refusals in a row; an endpoint that is gone gives none."""
        if isinstance(failure, NotSent) and failure.held_back:
            return record.doubts
        if not is_doubt(failure):
            return 0
        is_absent = self._rate_limiter.is_absent(ENDPOINTS[record.state])
        return record.doubts + (not is_absent)

    async def _put_off(
        self, record: TaskRecord, seconds: float, reason: str
    ) -> TaskRecord:
        next_at = self._clock.now().timestamp() + self._held_for(seconds)
        was_sent = record.maybe_sent and not record.unsent

        def write() -> TaskRecord:
            return self.journal.tasks.postpone(
                record,
                next_at=next_at,
                # Counted when it was committed, and it never left.
                attempts=record.attempts - record.unsent,
                doubts=record.doubts,
                reason=reason,
                maybe_sent=was_sent,
            )

        return await self.journal.commit(write)


def key_for(record: TaskRecord, action: str) -> IdempotencyKey:
    """Name a request so that its every repeat, in any run, carries the same key.

    Hashed, because a task id is the network's text, and a header carries neither every
    letter nor every length. With the moment of the sighting in it, because a network
    may remember keys for all its agents together.
    """
    named = f"{record.seen_at.isoformat()} {record.task_id}"
    digest = hashlib.blake2b(named.encode(), digest_size=16).hexdigest()
    return IdempotencyKey(f"{action}-{digest}")


def is_refused_as(failure: Failure, refusal: Refusal) -> bool:
    """Tell whether a failure is a definite refusal of one kind."""
    return isinstance(failure, Refused) and failure.refusal is refusal


def is_doubt(failure: Failure) -> bool:
    """Tell whether a "no such task" or a "not for you" may be a gateway's mistake."""
    if not isinstance(failure, Refused) or failure.status == TOKEN_REFUSED:
        return False
    return failure.refusal in {Refusal.ABSENT, Refusal.UNAUTHORIZED}


def is_doubtful(
    record: TaskRecord,
    failure: Failure,
    tries: int = DOUBTFUL_TRIES,
) -> bool:
    """Tell whether a refusal was not heard often enough to be believed."""
    return is_doubt(failure) and record.doubts + 1 < tries


def may_be_done(failure: Failure) -> bool:
    """Tell whether a refused repeat may mean that an earlier try of ours was done.

    The contract shows neither how a repeat is answered nor how a refusal looks, so
    that only a refusal which is plainly about something else says no.
    """
    return isinstance(failure, Refused) and failure.refusal in MAY_BE_DONE


def must_wait(failure: Failure) -> bool:
    """Tell whether a failure leaves the question open."""
    return not isinstance(failure, Refused) or failure.refusal in WAITS
