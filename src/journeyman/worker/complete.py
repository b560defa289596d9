"""Complete a task and book what it earned (contract endpoint 9)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Failure, Refusal, Refused
from journeyman.domain.tasks import IdempotencyKey, Progress, TaskId, TaskState
from journeyman.economy.bookkeeping import Answered
from journeyman.economy.reconcile import BalanceWatch, BalanceWindow
from journeyman.journal.tasks import TaskRecord, with_given
from journeyman.network.answers import Receipt, monitor_in
from journeyman.network.client import NetworkClient
from journeyman.network.progress import ACCEPTED, states_in
from journeyman.network.rate_limit.circuit_breaker import Presence, presence_of
from journeyman.network.sightings import Sighting
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.endings import Endings
from journeyman.worker.intents import (
    Intents,
    about,
    is_open,
    key_for,
    may_be_done,
    names_a_time,
)
from journeyman.worker.submit import SAID_DONE, UNDER_REVIEW, UNSURE
from journeyman.worker.unnamed_pay import UnnamedPay

MOST_SUBMISSIONS = 3
"""How often a result is sent that the network accepts and then does not have."""
ABSENT_ANSWERS = {Presence.ABSENT: 2, Presence.UNCLEAR: 3}
"""So many answers of a kind, to one task, show that there is no such endpoint, where it
has never worked."""

NO_COMPLETION = "its result was accepted, and the network has no completions"
SHOWN_DONE = "the listing shows it as done, and the network has no completions"
SHOWN_PAID = "the listing shows it as paid"
SHOWN_REJECTED = "the listing shows it as rejected"
MONITOR_PAID = "the address at which its review can be followed says: paid"
MONITOR_REJECTED = "the address at which its review can be followed says: rejected"
MOST_UNMOVED = 5
"""So many yeses that leave a task where its submission brought it are asked again: an
editor may have it. Then such a yes is one, and the network tells no more."""
UNMOVED = "the answer says yes, and shows the task where the submission brought it: "
NO_END = frozenset({Progress.IN_REVIEW, Progress.REJECTED, Progress.GONE})
"""What a yes to a completion may say that is none."""


@dataclass(kw_only=True, eq=False)
class Complete:
    """SUBMITTED or COMPLETING, to COMPLETED or REJECTED, or back to SUBMITTING."""

    network: NetworkClient
    intents: Intents
    endings: Endings
    watch: BalanceWatch
    unnamed_pay: UnnamedPay
    shown: Mapping[TaskId, Sighting]
    """What listings say of tasks that wait."""
    result_max_age: timedelta
    """How long a clear answer is waited for."""
    clock: Clock
    log: Log
    _final_words: set[str] = field(init=False, default_factory=set)
    """Words for states in which completions leave tasks, as was seen in this run."""

    async def run(self, record: TaskRecord) -> TaskRecord:
        """Ask for the completion once."""
        ended = await self._as_shown(record) or await self._as_monitored(record)
        if ended is not None:
            return ended
        if self.intents.proof.is_absent("complete"):
            return await self._without_completion(record, Answered())
        if record.unsent and (seconds := self.intents.proof.review_seconds):
            return await self.intents.expect_review(record, seconds)
        if paused := await self.intents.postpone_if_paused(
            record, TaskState.COMPLETING
        ):
            return paused
        record, uncertain = await self.intents.open(record, TaskState.COMPLETING)
        return await self._ask(record, uncertain=uncertain)

    async def _as_shown(self, record: TaskRecord) -> TaskRecord | None:
        """End a task as a listing shows it; None where that shows no end."""
        shown = self.shown.get(record.task_id)
        if shown and shown.progress is Progress.PAID:
            paid = Answered(credits=shown.earned)
            return await self.endings.earned(record, paid, reason=SHOWN_PAID)
        if shown and shown.progress is Progress.REJECTED:
            return await self.endings.reject(record, SHOWN_REJECTED)
        is_done = shown is not None and shown.progress is Progress.DONE
        if shown and is_done and self.intents.proof.lacks("complete"):
            done = Answered(credits=shown.earned)
            return await self.endings.earned(record, done, reason=SHOWN_DONE)
        return None

    async def _as_monitored(self, record: TaskRecord) -> TaskRecord | None:
        """End a task as the place shows it at which its review can be followed."""
        where = monitor_in(record.given) if record.reviews else {}
        for address in where.values():
            outcome = await self.network.look_at_result(str(address))
            if isinstance(outcome, Refused) and outcome.progress is Progress.REJECTED:
                return await self.endings.reject(record, outcome.message)
            if not isinstance(outcome, Confirmed):
                continue
            if outcome.value.progress is Progress.PAID:
                paid = Answered(credits=outcome.value.credits_earned)
                return await self.endings.earned(record, paid, reason=MONITOR_PAID)
            if outcome.value.progress is Progress.REJECTED:
                return await self.endings.reject(record, MONITOR_REJECTED)
        return None

    async def _without_completion(
        self, record: TaskRecord, answered: Answered
    ) -> TaskRecord:
        """End a task where nothing can be completed, unless its result is looked at.

        Then nobody has said that it is good. A listing or a balance will.
        """
        if self._submissions(record)[-1] == UNDER_REVIEW:
            said = Refused(Refusal.PENDING, UNDER_REVIEW, ACCEPTED, None)
            return await self._follow(record, said)
        return await self.endings.earned(record, answered, reason=NO_COMPLETION)

    async def _ask(self, record: TaskRecord, *, uncertain: bool) -> TaskRecord:
        with self.watch.window() as window:
            key = key_for(record, "complete", uncertain=uncertain)
            outcome = await self.network.complete(record.task, key, record.given)
            if self.intents.is_blank_yes(record, outcome):
                outcome = Confirmed(Receipt())
            if isinstance(outcome, Confirmed):
                current = None if uncertain else window
                return await self._confirmed(record, outcome.value, key, current)
        return await self._failed(record, outcome, key, uncertain=uncertain)

    async def _confirmed(
        self,
        record: TaskRecord,
        answer: Receipt,
        key: IdempotencyKey,
        window: BalanceWindow | None,
    ) -> TaskRecord:
        """Take an answer for what it says; `window` is None for the answer to a repeat.

        A repeat may be answered by what was said the first time, word for word: its
        balance would undo all that was paid in between.
        """
        self.intents.proof.confirm("complete")
        if answer.progress in NO_END:
            record = with_given(record, monitor_in(answer.given))
            said = f"the answer says: {answer.progress}"
            refused = Refused(Refusal.OTHER, said, 200, None, answer.progress)
            return await self._failed(record, refused, key, uncertain=False)
        if word := self._unmoved(record, answer):
            # Its word, escaped: it goes to a terminal.
            refused = Refused(Refusal.PENDING, f"{UNMOVED}{word!r}", 200, None)
            return await self._follow(record, refused)
        earned = answer.credits_earned
        if earned is None and answer.balance is None:
            is_alone = window is not None and window.alone
            before = {n: v for n, v in record.given.items() if n.startswith("submit.")}
            earned = self.unnamed_pay.read(
                record.task.raw, answer.given, before, is_alone=is_alone
            )
        answered = Answered(
            request=key,
            credits=earned,
            balance=answer.balance if window is not None and window.alone else None,
        )
        record = await self._earned(record, answered)
        if window is not None:
            self.watch.observe(window, answer.balance)
        return record

    def _unmoved(self, record: TaskRecord, answer: Receipt) -> str:
        """Return the network's word for where a task still is, if it is no end.

        One that we know for a claimed task's, or the one that the submission had: the
        answer to the claim had another word there, so that it is the task's state.
        """
        is_claimed = answer.progress is Progress.CLAIMED
        if (answer.progress and not is_claimed) or answer.credits_earned is not None:
            return ""
        claimed, submitted = (
            states_in(record.given, action) for action in ("claim", "submit")
        )
        for name, word in states_in(answer.given, "complete").items():
            was = submitted.get(name)
            is_unmoved = is_claimed or claimed.get(name, word) != word == was
            if is_unmoved and word not in self._final_words:
                if record.reviews < MOST_UNMOVED:
                    return word
                self._final_words.add(word)
        return ""

    async def _failed(
        self,
        record: TaskRecord,
        failure: Failure,
        key: IdempotencyKey,
        *,
        uncertain: bool,
    ) -> TaskRecord:
        if not isinstance(failure, Refused):
            return await self._wait_or_end(record, failure, uncertain=uncertain)
        is_done = failure.progress in {Progress.DONE, Progress.PAID}
        if is_done or (uncertain and may_be_done(failure) and not self._says(failure)):
            # Completed by the submission, or by an attempt whose answer was lost.
            if is_done and not uncertain:
                self.intents.proof.note_needless("complete", record)
            return await self._earned(record, Answered(request=key))
        if failure.progress is Progress.REJECTED:
            return await self.endings.reject(record, failure.message)
        if failure.progress is Progress.IN_REVIEW or names_a_time(failure):
            return await self._follow(record, failure)
        return await self._refused(record, failure, key, uncertain=uncertain)

    def _says(self, refused: Refused) -> bool:
        """Return whether a refusal tells where the task stands, and it is no end."""
        is_told = refused.progress in {*NO_END, Progress.CLAIMED}
        return is_told or names_a_time(refused)

    async def _refused(
        self,
        record: TaskRecord,
        refused: Refused,
        key: IdempotencyKey,
        *,
        uncertain: bool,
    ) -> TaskRecord:
        """Do what a refusal means that does not tell how the task ends."""
        if self._lost_the_result(record, refused):
            return await self._submit_again(record, refused)
        if self._is_missing(record, refused):
            self._note_missing(refused)
            return await self._without_completion(record, Answered(request=key))
        if self.intents.is_contradiction(record, refused):
            self.intents.proof.refuse("complete", record, refused)
        return await self._wait_or_end(record, refused, uncertain=uncertain)

    # -- a result that is being looked at --------------------------------------------

    async def _follow(self, record: TaskRecord, refused: Refused) -> TaskRecord:
        if self.intents.age_since(record, TaskState.SUBMITTED) > self.result_max_age:
            return await self._give_up(record, refused)
        said, wait = refused.message, refused.retry_after
        return await self.intents.follow_review(record, said, wait)

    async def _earned(self, record: TaskRecord, answered: Answered) -> TaskRecord:
        seconds = None
        if record.reviews and record.attempts > 1:
            age = self.intents.age_since(record, TaskState.SUBMITTED)
            seconds = age.total_seconds()
        self.intents.proof.note_review(seconds)
        return await self.endings.earned(record, answered)

    # -- a result that did not arrive ------------------------------------------------

    def _lost_the_result(self, record: TaskRecord, refused: Refused) -> bool:
        """Return whether the network has no result, so that it must be sent again."""
        says_so = refused.progress is Progress.CLAIMED
        if not (says_so or self.intents.is_contradiction(record, refused)):
            return False
        if self.intents.age_since(record, TaskState.EXECUTED) > self.result_max_age:
            return False
        submissions = self._submissions(record)
        if submissions[-1:] == [UNSURE]:
            return True
        accepted = sum(reason != UNSURE for reason in submissions)
        return says_so and accepted < MOST_SUBMISSIONS

    def _submissions(self, record: TaskRecord) -> list[str]:
        """Return why each submission counted as accepted."""
        tasks, state = self.intents.journal.tasks, TaskState.SUBMITTED
        return [move.reason for move in tasks.arrivals(record.task_id, state)]

    async def _submit_again(self, record: TaskRecord, refused: Refused) -> TaskRecord:
        tasks, retry = self.intents.journal.tasks, self.intents.retry
        next_at = self.clock.now().timestamp() + retry.refusal_seconds

        def write() -> TaskRecord:
            moved = tasks.move(record, TaskState.SUBMITTING, reason=refused.message)
            # It was said that nothing is there: what is sent now is no repeat.
            return tasks.postpone(replace(moved, maybe_sent=False), next_at)

        self.log.emit(events.RESULT_MISSING, **about(record), message=refused.message)
        return await self.intents.journal.commit(write)

    # -- an endpoint that is not there -----------------------------------------------

    def _is_missing(self, record: TaskRecord, refused: Refused) -> bool:
        """Return whether this network has no completions, as far as it tells.

        A 404 may be about the task, or come from a gateway in front of a service that
        restarts: it counts where completing has never worked, and more than once.
        """
        proof, limiter = self.intents.proof, self.intents.rate_limiter
        needed = ABSENT_ANSWERS.get(presence_of(refused, record.task_id))
        if needed is None or proof.has("complete"):
            return False
        said = self._submissions(record)[-1]
        if said == UNSURE:
            return False
        is_known = proof.lacks("complete") or limiter.is_absent("complete")
        return is_known or said == SAID_DONE or record.doubts + 1 >= needed

    def _note_missing(self, refused: Refused) -> None:
        if not self.intents.proof.lacks("complete"):
            self.log.emit(events.NO_COMPLETION, message=refused.message)
        self.intents.proof.note_absent("complete")

    # -- no clear answer ---------------------------------------------------------------

    async def _wait_or_end(
        self, record: TaskRecord, failure: Failure, *, uncertain: bool
    ) -> TaskRecord:
        if not (is_open(failure) or self.intents.may_be_mistaken(record, failure)):
            return await self.endings.reject(record, failure.message)
        if self.intents.age_since(record, TaskState.SUBMITTED) > self.result_max_age:
            return await self._give_up(record, failure)
        return await self.intents.keep(record, failure, uncertain=uncertain)

    async def _give_up(self, record: TaskRecord, failure: Failure) -> TaskRecord:
        """End a task of which nobody says whether it was paid; nothing is booked.

        Its reward stays owed. If it was paid, a balance that the network shows tells.
        """
        days = self.result_max_age / timedelta(days=1)
        reason = f"no clear answer in {days:g} days, so perhaps paid: {failure.message}"
        record = await self.intents.close(record, TaskState.REJECTED, reason)
        self.log.emit(
            events.UNSETTLED,
            **about(record),
            reward=record.task.reward,
            message=failure.message,
        )
        return record
