"""Intents: what changes the network is committed before the request is sent."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TypeVar

from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.outcomes import (
    Failure,
    NotSent,
    Outcome,
    Refusal,
    Refused,
    Unknown,
)
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import (
    IdempotencyKey,
    Progress,
    TaskId,
    TaskState,
    has_passed,
)
from journeyman.economy.mark import found_older
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord, replaced
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.proof import Proof
from journeyman.worker.token import accepted_at, rejected_since

T = TypeVar("T")

TOKEN_REFUSED = 401
"""This status is about the token itself (RFC 9110, section 15.5.2): the rate limiter
confirms it and stops everything. A 403 may be about one task only, so it stops that
task and not the daemon; a token that a network refuses by 403 shows at the next look at
the marketplace."""

ENDPOINTS: Mapping[TaskState, str] = {
    TaskState.CLAIMING: "claim",
    TaskState.SUBMITTING: "submit",
    TaskState.COMPLETING: "complete",
}
"""The endpoint that each intent's request goes to."""

MAY_BE_DONE = frozenset({Refusal.CONFLICT, Refusal.INVALID, Refusal.OTHER})
"""Refusals with which networks answer a repeat of what they have done."""

PASSED_BY = 3
"""So much sooner a result is given up of which a network says that there is no such
task, while it goes on to take those of other tasks: after an hour and more."""

NOT_NOW = frozenset(
    {Refusal.THROTTLED, Refusal.FULL, Refusal.UNAUTHORIZED, Refusal.PENDING}
)
"""Refusals that mean "not now" rather than "never"."""


@dataclass(kw_only=True, eq=False)
class Intents:
    """Opens intents, keeps those whose request did not end clearly, closes the rest."""

    journal: Journal
    proof: Proof
    retry: RetryPolicy
    rate_limiter: RateLimiter
    clock: Clock
    randomness: Randomness
    log: Log
    _began: datetime = field(init=False)
    _begun: float = field(init=False)
    """When this run began, by either clock."""

    def __post_init__(self) -> None:
        self._began, self._begun = self.clock.now(), self.clock.monotonic()

    async def postpone_if_paused(
        self, record: TaskRecord, state: TaskState
    ) -> TaskRecord | None:
        """Postpone a task whose request may not be sent now; None when it may.

        It is not an attempt: nothing was sent, and nothing is counted.
        """
        pause = self.rate_limiter.pause_for(ENDPOINTS[state])
        if pause is None:
            return None
        next_at = self._now() + self._pause_seconds(pause.seconds)
        waiting = replaced(
            record,
            # Counted when it was committed, and it was never sent.
            attempts=record.attempts - record.unsent,
            reason=pause.reason,
            maybe_sent=record.maybe_sent and not record.unsent,
        )
        postpone = self.journal.tasks.postpone
        return await self.journal.commit(lambda: postpone(waiting, next_at))

    async def open(
        self,
        record: TaskRecord,
        state: TaskState,
    ) -> tuple[TaskRecord, bool]:
        """Commit that the request of `state` may be sent now.

        Returns the record, and whether an earlier attempt may have been processed.
        """
        was_done = state is not TaskState.CLAIMING and self._may_be_done_before(record)
        if record.state is state and record.unsent:
            return replaced(record, unsent=False), was_done
        is_repeat = record.state is state

        def write() -> TaskRecord:
            tasks, attempts = self.journal.tasks, record.attempts + 1
            if not is_repeat:
                return tasks.move(
                    record, state, attempts=attempts, doubts=record.doubts
                )
            again = replaced(record, attempts=attempts, maybe_sent=True)
            return tasks.postpone(again, next_at=0.0)

        is_uncertain = was_done or (is_repeat and record.maybe_sent)
        return await self.journal.commit(write), is_uncertain

    def _may_be_done_before(self, record: TaskRecord) -> bool:
        """Return whether a backup had the task in flight: it may have gone further."""
        carried_at = found_older(self.journal)
        if carried_at is None:
            return False
        history = self.journal.tasks.history(record.task_id)
        claims = (one.at for one in history if one.after == TaskState.CLAIMING)
        return min(claims, default=self.clock.now()) <= datetime.fromisoformat(
            carried_at
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

        `back_to` is used only when nothing can have happened. A request that was
        paused at the last moment was not an attempt.
        """
        uncertain = uncertain or isinstance(failure, Unknown)
        is_paused = isinstance(failure, NotSent) and failure.paused
        attempts = record.attempts - is_paused
        doubts = self._doubts(record, failure)
        wait = self._wait(record, failure)
        next_at = self._now() + wait
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
            waiting = replaced(
                record,
                attempts=attempts,
                doubts=doubts,
                reason=reason,
                maybe_sent=uncertain,
            )
            return tasks.postpone(waiting, next_at)

        kept = await self.journal.commit(write)
        if not is_paused:
            self.log.emit(
                events.DELAYED,
                task_id=record.task_id,
                state=record.state,
                message=reason,
                attempt=record.attempts,
                retry_in=round(wait, 1),
                uncertain=uncertain,
            )
        return kept

    async def follow_review(
        self, record: TaskRecord, reason: str, retry_after: float | None = None
    ) -> TaskRecord:
        """Ask again later, since the network looks at the work; nothing has failed.

        It was a clear answer, so that the next request is a new one, with a new key:
        under the old one a network may repeat this answer forever.
        """
        reviews = record.reviews + 1
        wait = self.retry.review_wait(reviews, self.randomness)
        next_at = self._now() + max(wait, retry_after or 0.0)
        waiting = replaced(
            record, reviews=reviews, doubts=0, maybe_sent=False, reason=reason
        )
        postpone = self.journal.tasks.postpone
        if not record.reviews:
            self.log.emit(events.IN_REVIEW, **about(record), message=reason)
        return await self.journal.commit(lambda: postpone(waiting, next_at))

    async def expect_review(self, record: TaskRecord, seconds: float) -> TaskRecord:
        """Postpone a first question, since reviews take so long here."""
        waiting = replaced(record, attempts=0, maybe_sent=False, reviews=1)
        next_at, postpone = self._now() + seconds, self.journal.tasks.postpone
        return await self.journal.commit(lambda: postpone(waiting, next_at))

    async def close(
        self, record: TaskRecord, state: TaskState, reason: str = ""
    ) -> TaskRecord:
        """Commit what a clear answer means for a task."""
        move = self.journal.tasks.move
        return await self.journal.commit(lambda: move(record, state, reason=reason))

    def may_be_mistaken(self, record: TaskRecord, failure: Failure) -> bool:
        """Return whether a refusal came too seldom to be believed.

        One of a body that was never understood here is about how we write it, and is
        not believed at all.
        """
        if self.is_about_writing(record, failure):
            return True
        if self.is_contradiction(record, failure):
            return record.doubts + 1 < self.retry.contradictions
        is_patient = record.state is not TaskState.CLAIMING and not (
            # Nobody waits for a result whose time is over.
            record.state is TaskState.SUBMITTING and has_passed(record.task, self.clock)
        )
        retry = self.retry
        enough = retry.result_refusals if is_patient else retry.claim_refusals
        if record.state is TaskState.SUBMITTING and self.proof.says_yes("submit"):
            # It is about this task: others get through.
            enough = max(enough // PASSED_BY, retry.claim_refusals)
        return is_doubtful(failure) and record.doubts + 1 < enough

    def is_about_writing(self, record: TaskRecord, failure: Failure) -> bool:
        """Return whether a body was refused in a form that was never accepted here."""
        return (
            isinstance(failure, Refused)
            and failure.refusal is Refusal.INVALID
            and not self.proof.has(ENDPOINTS[record.state])
        )

    def is_contradiction(self, record: TaskRecord, failure: Failure) -> bool:
        """Return whether finished work was refused without being judged."""
        return (
            isinstance(failure, Refused)
            and record.state is not TaskState.CLAIMING
            and failure.refusal not in NOT_NOW
            and failure.progress is not Progress.REJECTED
            and not is_doubtful(failure)
        )

    def is_blank_yes(self, record: TaskRecord, outcome: Outcome[T]) -> bool:
        """Return whether a network says yes again and again, and never says more.

        Where it has said more to the same action, an empty answer is an accident.
        """
        is_blank = isinstance(outcome, Unknown) and outcome.is_blank_yes
        enough = record.doubts + 1 >= self.retry.claim_refusals
        return is_blank and enough and not self.proof.has(ENDPOINTS[record.state])

    def age_since(self, record: TaskRecord, state: TaskState) -> timedelta:
        """Return how long ago a task came to a state for the last time.

        By the clock that says less, that on the wall or that of this run: one that is
        set, or stands still while the machine sleeps, makes no result old.

        The task itself may have waited long before. The time for which its result was
        kept because the network rejected the token does not count: neither afterwards
        nor while it lasts, when a result may be the request that asks.
        """
        arrivals = self.journal.tasks.arrivals(record.task_id, state)
        since = arrivals[-1].at if arrivals else record.seen_at
        steady = self._began + timedelta(seconds=self.clock.monotonic() - self._begun)
        now = min(self.clock.now(), steady)
        until = rejected_since(self.journal) or now
        return until - max(since, accepted_at(self.journal) or since)

    def _now(self) -> float:
        return self.clock.now().timestamp()

    def _wait(self, record: TaskRecord, failure: Failure) -> float:
        if isinstance(failure, NotSent) and failure.paused:
            return self._pause_seconds(failure.retry_after or 0.0)
        wait = self.retry.wait_after(record.attempts, failure, self.randomness)
        if self.is_about_writing(record, failure):
            return wait
        if self.is_contradiction(record, failure):
            return max(wait, self.retry.contradiction_seconds)
        return max(wait, self.retry.refusal_seconds) if is_doubtful(failure) else wait

    def _pause_seconds(self, seconds: float) -> float:
        seconds = min(seconds, self.retry.paused_seconds)
        return self.retry.with_jitter(seconds, self.randomness)

    def _doubts(self, record: TaskRecord, failure: Failure) -> int:
        """Return the doubtful answers in a row; an absent endpoint's do not count."""
        if isinstance(failure, NotSent) and failure.paused:
            return record.doubts
        is_blank = isinstance(failure, Unknown) and failure.is_blank_yes
        is_counted = is_doubtful(failure) or self.is_contradiction(record, failure)
        if not (is_blank or is_counted) or self.is_about_writing(record, failure):
            return 0
        is_absent = self.rate_limiter.is_absent(ENDPOINTS[record.state])
        return record.doubts + (not is_absent)


SAME_KEY_REFUSALS = 3
"""So many clear refusals in a row may be given to one key, before another is tried."""


def key_for(
    record: TaskRecord, action: str, *, uncertain: bool = True
) -> IdempotencyKey:
    """Return the idempotency key of a request: the same for every repeat, in any run.

    After an answer that work is being looked at, the next request is a new one. So it
    is after some clear refusals in a row that cannot be believed, such as 404: to a key
    a network may repeat what it said first, long after it has found the task.
    `uncertain` says that an earlier one may have been processed: it keeps its key.

    Hashed, because a task id is the network's text, and a header carries neither every
    letter nor every length. It includes when the task was first seen, because a network
    may remember keys for all its agents together.
    """
    digest = _digest(record.seen_at, record.task_id)
    again = f"-{record.reviews}" if record.reviews else ""
    if not uncertain and record.doubts >= SAME_KEY_REFUSALS:
        again += f"-again-{record.doubts}"
    return IdempotencyKey(f"{action}-{digest}{again}")


@lru_cache(maxsize=256)
def _digest(seen_at: datetime, task_id: TaskId) -> str:
    """Return what stands for a task in its keys; each is sent at least three times."""
    named = f"{seen_at.isoformat()} {task_id}"
    return hashlib.blake2b(named.encode(), digest_size=16).hexdigest()


def is_doubtful(failure: Failure) -> bool:
    """Return whether a 404 or a 403 may be a gateway's mistake."""
    if not isinstance(failure, Refused) or failure.status == TOKEN_REFUSED:
        return False
    return failure.refusal in {Refusal.ABSENT, Refusal.UNAUTHORIZED}


def may_be_done(failure: Failure) -> bool:
    """Return whether a refused repeat may mean that an earlier attempt succeeded.

    The contract shows neither how a repeat is answered nor how a refusal looks, so
    that only a refusal which is plainly about something else rules it out.
    """
    return isinstance(failure, Refused) and failure.refusal in MAY_BE_DONE


def is_open(failure: Failure) -> bool:
    """Return whether a failure leaves the question open."""
    return not isinstance(failure, Refused) or failure.refusal in NOT_NOW


def names_a_time(failure: Failure) -> bool:
    """Return whether a refusal says when to ask again, so that it is not the last word.

    Retry-After tells how long to wait before a follow-up request (RFC 9110, section
    10.2.3): whoever is done with a task names none.
    """
    return (
        isinstance(failure, Refused)
        and failure.retry_after is not None
        and failure.progress in {None, Progress.IN_REVIEW}
        and failure.refusal in {Refusal.CONFLICT, Refusal.OTHER, Refusal.UNAUTHORIZED}
        and failure.status != TOKEN_REFUSED
    )


def about(record: TaskRecord) -> dict[str, str]:
    """Return the fields that tell which task an event is about."""
    return {"task_id": record.task_id, "strategy": record.strategy}
