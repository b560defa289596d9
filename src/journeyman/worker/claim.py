"""Claim a task (contract endpoint 7)."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http import HTTPStatus

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import (
    Confirmed,
    Failure,
    NotSent,
    Outcome,
    Refusal,
    Refused,
)
from journeyman.domain.tasks import (
    IN_FLIGHT,
    Progress,
    Task,
    TaskId,
    TaskState,
    earlier,
    has_passed,
)
from journeyman.domain.text import UntrustedText
from journeyman.journal.tasks import TaskRecord, with_given
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.network.answers import Receipt
from journeyman.network.client import NetworkClient
from journeyman.observability.events import Log
from journeyman.strategies.api import Skip
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.worker import events
from journeyman.worker.intents import (
    NOT_NOW,
    Intents,
    about,
    is_doubtful,
    is_open,
    key_for,
    may_be_done,
)
from journeyman.worker.submit import complete_paid

GONE = 410
"""A status. That a task is gone no gateway says by mistake (RFC 9110, 15.5.11)."""

PUT_BACK_SECONDS = 60.0
"""Until a task that was refused for now is decided about again: a strategy that wants
it each time, and refuses it each time, must not keep the network busy."""

LONGEST_APPLICATION = timedelta(days=7)
"""A claim that is still to be accepted after so long counts as lost."""
RECENTLY_ENDED, LONGEST_CONFLICT = 20, 1_000
"""Of the tasks that ended last, and of the letters of a refusal, so many are looked at
for one that the network still counts as held."""
IN_REVIEW = "the answer to the claim says: under review"
_GIVEN = "given for the claim of another task"
LONG_UNCERTAIN = 12
"""So many refusals of a claim that may have arrived mean that it did."""


AskClaim = Callable[[LoadedStrategy, Task], Awaitable[Skip | None]]
"""Asks a strategy just before a claim; None: claim it."""


TakeBackClaim = Callable[[TaskRecord], Awaitable[None]]
"""Tells a strategy that a claim it was asked about was not made after all."""


async def ask_nobody(_strategy: LoadedStrategy, _task: Task) -> Skip | None:
    """Stand for the question where no strategy wants to be asked."""
    return None


async def tell_nobody(_record: TaskRecord) -> None:
    """Stand for the news where no strategy wants to hear it."""


@dataclass(kw_only=True, eq=False)
class Claim:
    """WANTED or CLAIMING, to EXECUTING, LOST or SKIPPED."""

    network: NetworkClient
    intents: Intents
    active: ActiveStrategies
    clock: Clock
    log: Log
    ask: AskClaim = ask_nobody
    take_back: TakeBackClaim = tell_nobody
    _given: set[TaskId] = field(init=False, default_factory=set)
    """Tasks that were given for the claim of another, while their own was under way."""

    async def run(self, record: TaskRecord) -> TaskRecord:
        """Claim once, if the task is still worth it."""
        is_new = record.state is TaskState.WANTED
        if is_new and has_passed(record.task, self.clock):
            return await self._skip(record, Skip("past its deadline"))
        strategy = await self.active.find_for(record) if is_new else None
        if is_new and strategy is None:
            return await self._skip(record, Skip(self.active.absence(record)))
        paused = await self.intents.postpone_if_paused(record, TaskState.CLAIMING)
        if paused is not None:
            return paused
        # Last of all: what it reserves for the task is for a claim that leaves.
        refusal = await self.ask(strategy, record.task) if strategy else None
        if refusal is not None:
            return await self._skip(record, refusal)
        record = await self._claim(record)
        if record.state is TaskState.WANTED:
            await self.take_back(record)
        return record

    async def _claim(self, record: TaskRecord) -> TaskRecord:
        record, uncertain = await self.intents.open(record, TaskState.CLAIMING)
        uncertain = uncertain or bool(record.reviews)
        outcome = await self.network.claim(record.task, key_for(record, "claim"))
        if record.task_id in self._given:
            if isinstance(outcome, Confirmed):
                await self._took(outcome.value)
            return self._as_given(record)
        return await self._answered(record, outcome, uncertain=uncertain)

    async def _answered(
        self, record: TaskRecord, outcome: Outcome[Receipt], *, uncertain: bool
    ) -> TaskRecord:
        if isinstance(outcome, Confirmed):
            return await self._confirmed(record, outcome.value)
        if self.intents.is_blank_yes(record, outcome):
            return await self._won(record, outcome.message, None)
        is_repeat = _is_answered_as_a_repeat(record, outcome)
        # To a repeat, a conflict may be with our own earlier claim.
        is_full = not uncertain and await self._may_be_full(record, outcome)
        is_worth_it = is_full or self._is_open(record, outcome)
        if is_worth_it and not (uncertain and is_repeat):
            self._hold(outcome)
            return await self.intents.keep(
                record,
                outcome,
                uncertain=uncertain,
                back_to=TaskState.WANTED,
            )
        if uncertain and (is_repeat or may_be_done(outcome) or is_doubtful(outcome)):
            # The agent that has it may be us: an earlier claim may have arrived.
            # Working in vain costs less than a claim that we forgot, so it is
            # treated as ours, and the submission decides.
            return await self._won(
                record, "taken, perhaps by our own earlier claim", None
            )
        return await self._lost(record, outcome.message)

    async def _confirmed(self, record: TaskRecord, claimed: Receipt) -> TaskRecord:
        self.intents.proof.confirm("claim")
        if claimed.progress is Progress.IN_REVIEW:
            return await self._follow(record)
        if claimed.progress is Progress.GONE:
            return await self._lost(record, "the answer to the claim says it is gone")
        if await self._took(claimed):
            if record.task_id in self._given:
                return self._as_given(record)
            said = f"the network gave {claimed.instead} in its place"
            given = Refused(Refusal.CONFLICT, said, HTTPStatus.OK)
            back = TaskState.WANTED
            return await self.intents.keep(record, given, uncertain=False, back_to=back)
        return await self._won(record, "", claimed)

    def _is_open(self, record: TaskRecord, failure: Failure) -> bool:
        """Return whether a claim is worth repeating."""
        if isinstance(failure, Refused) and failure.status == GONE:
            return False
        is_answer = is_doubtful(failure) or not is_open(failure)
        if not is_answer or self.intents.may_be_mistaken(record, failure):
            return True
        return self._is_about_us(record, failure)

    async def _may_be_full(self, record: TaskRecord, failure: Failure) -> bool:
        """Return whether a refusal may be about the tasks that we hold.

        Networks say in too many ways that an agent has as many as it may have. The next
        claim, when fewer are held, tells, whatever the words. Where none is held as far
        as we know, it may be one that was paid, and is to be completed all the same.
        """
        if not isinstance(failure, Refused):
            return False
        proof = self.intents.proof
        is_conflict = failure.refusal is Refusal.CONFLICT
        if failure.refusal is Refusal.FULL:
            await self._make_room(failure)
            return True
        if not (is_conflict or _may_be_of_a_limit(failure)):
            return False
        others = self.intents.journal.tasks.count_in(IN_FLIGHT) - 1
        held = None if others else self._paid_and_held(failure)
        is_possible = bool(others) or held is not None
        if not is_possible or not proof.may_be_full(record.task_id, max(others, 1)):
            return False
        if held is not None:
            await self._complete_paid(held)
        return True

    async def _make_room(self, full: Refused) -> None:
        """Complete a task that was paid and is still held, or claim no more for now."""
        proof, tasks = self.intents.proof, self.intents.journal.tasks
        at_work = tasks.count_in(IN_FLIGHT - {TaskState.CLAIMING})
        held = None if at_work else self._paid_and_held(full)
        if held is not None:
            await self._complete_paid(held)
            return
        # Of claims that left at once, nobody knows yet which were taken.
        said = str(full.answer)[:LONGEST_CONFLICT]
        told = [int(one) for one in re.findall(r"(?<![\w.-])\d{1,3}(?![\w.-])", said)]
        if limit := at_work or max(told, default=0):
            proof.limit_to(limit)
        proof.hold_claims()

    async def _complete_paid(self, held: TaskRecord) -> None:
        self.intents.proof.note_paid_is_held()
        await complete_paid(self.network, self.intents.proof, held)

    def _paid_and_held(self, conflict: Refused) -> TaskRecord | None:
        """Return a task that was paid for its result, and that a refusal is about.

        It names the task, or says that we have as many as we may: then the oldest.
        """
        tasks = self.intents.journal.tasks
        named = {*re.findall(r"[\w.:-]*\w", str(conflict.answer)[:LONGEST_CONFLICT])}
        ended = tasks.recent(TaskState.COMPLETED, RECENTLY_ENDED)
        held = [one for one in ended if not self._was_completed(one)]
        if conflict.refusal is Refusal.CONFLICT:
            held = [one for one in reversed(held) if one.task_id in named]
        return held[-1] if held else None

    def _was_completed(self, record: TaskRecord) -> bool:
        if self.intents.proof.is_released(record.task_id):
            return True
        tasks = self.intents.journal.tasks
        return bool(tasks.arrivals(record.task_id, TaskState.COMPLETING))

    def _is_about_us(self, record: TaskRecord, failure: Failure) -> bool:
        """Return whether other tasks are refused alike, and no claim ever went well.

        That no task can be claimed is no reason to give this one up.
        """
        proof = self.intents.proof
        if proof.has("claim") or not isinstance(failure, Refused):
            return False
        return failure.refusal is not Refusal.CONFLICT and proof.refuse(
            "claim", record, failure
        )

    def _hold(self, failure: Failure) -> None:
        """Try no other task for a while, where no claim was ever understood."""
        proof = self.intents.proof
        is_no = isinstance(failure, Refused) and failure.refusal not in NOT_NOW
        if is_no and not proof.has("claim"):
            proof.hold_claims()

    async def _skip(self, record: TaskRecord, why: Skip) -> TaskRecord:
        tasks = self.intents.journal.tasks

        def write() -> TaskRecord:
            if why.for_now:
                tasks.forget_decision(record.task_id)
            return tasks.move(record, TaskState.SKIPPED, reason=why.reason)

        self.intents.proof.note_repeat(record.task_id, is_won=None)
        record = await self.intents.journal.commit(write)
        if why.for_now:
            until = self.clock.monotonic() + PUT_BACK_SECONDS
            self.active.put_back_until(record.task_id, until)
        self.log.emit(events.SKIPPED, task_id=record.task_id, reason=why.reason)
        return record

    async def _follow(self, record: TaskRecord) -> TaskRecord:
        """Repeat an application later: its answer then says what became of it."""
        age = self.intents.age_since(record, TaskState.CLAIMING)
        if age > LONGEST_APPLICATION or has_passed(record.task, self.clock):
            return await self._lost(record, "nobody has accepted the claim in time")
        return await self.intents.follow_review(record, IN_REVIEW)

    async def _won(
        self,
        record: TaskRecord,
        reason: str,
        claimed: Receipt | None,
    ) -> TaskRecord:
        tasks, now = self.intents.journal.tasks, self.clock.now()

        def write() -> TaskRecord:
            task = as_claimed(record.task, claimed, now) if claimed else record.task
            shown = tasks.enrich(record, task, record.strategy)
            shown = with_given(shown, claimed.given if claimed else {})
            # Work begins at once, since a slot is taken: one commit for both.
            begun, through = TaskState.EXECUTING, TaskState.CLAIMED
            return tasks.move(shown, begun, through=through, reason=reason)

        self.intents.proof.note_repeat(record.task_id, is_won=True)
        record = await self.intents.journal.commit(write)
        self.log.emit(events.CLAIMED, **about(record), reward=record.task.reward)
        if claimed and (until := _over_already(claimed, now)):
            self.log.emit(events.LEASE_OVER, task_id=record.task_id, until=until)
        return record

    async def _took(self, claimed: Receipt) -> bool:
        """Take another task that was given, if it is one that we want; else do nothing.

        Else it would be held until its time is over, and nobody would work on it.
        """
        if (task_id := claimed.instead) is None:
            return False
        tasks, now = self.intents.journal.tasks, self.clock.now()

        def write() -> TaskRecord | None:
            try:
                other = tasks.get(task_id)
            except KeyError:
                return None
            if other.state not in {TaskState.WANTED, TaskState.CLAIMING}:
                return None
            task = as_claimed(other.task, claimed, now)
            shown = with_given(tasks.enrich(other, task, other.strategy), claimed.given)
            if shown.state is TaskState.CLAIMING:
                self._given.add(task_id)  # its own claim is still to be answered
            else:
                shown = tasks.move(shown, TaskState.CLAIMING, reason=_GIVEN)
            return tasks.move(shown, TaskState.CLAIMED, reason=_GIVEN)

        record = await self.intents.journal.commit(write)
        if record is not None:
            reward = record.task.reward
            self.log.emit(events.CLAIMED, **about(record), reward=reward)
        return record is not None

    def _as_given(self, record: TaskRecord) -> TaskRecord:
        """Return a task that another claim was given as it stands since."""
        self._given.discard(record.task_id)
        return self.intents.journal.tasks.get(record.task_id)

    async def _lost(self, record: TaskRecord, message: str) -> TaskRecord:
        self.intents.proof.note_repeat(record.task_id, is_won=False)
        record = await self.intents.close(record, TaskState.LOST, message)
        self.log.emit(events.LOST, task_id=record.task_id, message=message)
        return record


def _is_answered_as_a_repeat(record: TaskRecord, failure: Failure) -> bool:
    """Return whether a claim that may have arrived is refused again and again.

    Some networks answer a repeat as if its body were wrong. A claim that is ours would
    be refused in every shape, and be tried until the end of time.
    """
    if isinstance(failure, NotSent):
        return failure.not_understood
    return record.attempts >= LONG_UNCERTAIN and may_be_done(failure)


def _over_already(claimed: Receipt, now: datetime) -> datetime | None:
    """Return until when a task was given, where that was over when it was given."""
    ends = (claimed.lease_until, claimed.task.deadline if claimed.task else None)
    return next((end for end in ends if end and not _ahead(end, now)), None)


def as_claimed(listed: Task, claimed: Receipt, now: datetime) -> Task:
    """Return a task with what the claim's answer adds: the work, and the lease.

    A network that gives a task has not given it until a moment that is over: its clock
    is another than ours, or the moment means something else. The submission decides.
    """
    task, shown = listed, claimed.task
    if shown:
        task = replace(
            listed,
            description=listed.description or shown.description,
            reward=listed.reward or shown.reward,
            text=listed.text or shown.text,
            input=shown.input if listed.input is None else listed.input,
            deadline=_ahead(shown.deadline, now) or listed.deadline,
        )
    if claimed.text:
        task = replace(task, text=UntrustedText(claimed.text))
    deadline = earlier(task.deadline, _ahead(claimed.lease_until, now))
    return task if deadline == task.deadline else replace(task, deadline=deadline)


def _ahead(end: datetime | None, now: datetime) -> datetime | None:
    return end if end is not None and end > now else None


def _may_be_of_a_limit(refused: Refused) -> bool:
    """Return whether a refusal that is no conflict may be about what we hold."""
    is_forbidden = refused.status == HTTPStatus.FORBIDDEN
    return is_forbidden or refused.refusal is Refusal.REJECTED
