"""Finding out in which shape a network wants an action (design 5, decision 0026).

A definite refusal of the body moves to the next candidate, guided by the fields that
it names. What was understood is remembered for the network and used from then on.

- Never after an unknown outcome: its repeat has the same shape and the same key, and
  whatever is answered to that is for the caller to judge.
- Never on a status that is about something else: 401, 403, 404, 409, 429, any 5xx.
- Never on a judgement of the work, or of a value in a field that was understood.
- One at a time for each action, at most `max_candidates` shapes a day.
"""

from datetime import datetime, timedelta
from typing import TypeVar

import anyio

from journeyman.domain import (
    Clock,
    Confirmed,
    IdempotencyKey,
    NotSent,
    Outcome,
    Refusal,
    Refused,
    Unknown,
)
from journeyman.network import events
from journeyman.network.dialects import (
    Candidate,
    Complaint,
    candidates_for,
    complaint_in,
    next_candidate,
)
from journeyman.network.negotiation.memory import (
    Learned,
    PassingMemory,
    ShapeMemory,
    TriedShape,
    read_learned,
    write_learned,
)
from journeyman.network.negotiation.trial import Send, Trial, is_about_shape
from journeyman.network.negotiation.writing import Writing, key_for
from journeyman.observability import Log

T = TypeVar("T")

STRIKES = 3
"""So many refusals in a row that name no field, and a shape that has worked is doubted:
one alone is likelier about its task."""

MAX_QUOTED = 120
"""Of the end of each refusal, in characters, where several are told together."""


class Negotiation:
    """Decides in which shape each action is sent."""

    def __init__(
        self,
        *,
        writing: Writing,
        memory: ShapeMemory | None = None,
        clock: Clock,
        log: Log,
    ) -> None:
        self._writing = writing
        self._memory = memory or PassingMemory()
        self._clock = clock
        self._log = log
        self._learned = self._recall()
        self._locks = {action: anyio.Lock() for action in self._learned}
        self._strikes = dict.fromkeys(self._learned, 0)

    def report_to(self, log: Log) -> None:
        """Log there from now on."""
        self._log = log

    async def run(self, action: str, key: IdempotencyKey, send: Send[T]) -> Outcome[T]:
        """Send an action in the shape that this network wants, as far as is known."""
        pinned = self._writing.pinned_for(action)
        if pinned is not None:
            return (await send(pinned, key_for(action, pinned, key))).outcome
        held = self._held(action)
        if key in held.open:
            return await self._repeat(action, held.open[key], key, send)
        if not held.works:
            async with self._locks[action]:
                if not held.works:
                    return await self._find(action, key, send)
        return await self._use(action, key, send)

    def resting(self) -> dict[str, str]:
        """Tell which actions are taken in no shape, so that they wait, and why."""
        blocked = (
            action
            for action in self._learned
            if (held := self._held(action)).closed and held.in_force is None
        )
        return {action: self._blocked(action).message for action in blocked}

    async def _repeat(
        self, action: str, candidate: Candidate, key: IdempotencyKey, send: Send[T]
    ) -> Outcome[T]:
        """Send again what has no definite answer yet, in the same shape."""
        trial = await self._try(action, candidate, key, send)
        if trial.was_understood and not self._held(action).works:
            self._settle_on(action, candidate)
        return trial.outcome

    async def _use(self, action: str, key: IdempotencyKey, send: Send[T]) -> Outcome[T]:
        """Send in the shape that has worked."""
        held = self._held(action)
        if held.in_force is None:
            raise LookupError(f"no shape of {action} has worked")
        trial = await self._try(action, held.in_force, key, send)
        if not self._is_doubtful(action, trial) or held.closed:
            return trial.outcome
        async with self._locks[action]:
            return await self._rethink(action, key, send, trial)

    async def _rethink(
        self, action: str, key: IdempotencyKey, send: Send[T], trial: Trial[T]
    ) -> Outcome[T]:
        """Look for another shape than the one that has worked."""
        held = self._held(action)
        if held.in_force is not None and held.in_force != trial.candidate:
            # Somebody found another while we waited.
            return (await self._try(action, held.in_force, key, send)).outcome
        if held.closed:
            return trial.outcome
        self._log.emit(
            events.NETWORK_DIALECT_DOUBTED,
            endpoint=action,
            dialect=trial.candidate.name,
            message=_message(trial.outcome),
        )
        found = await self._search(action, key, send, after=trial)
        return found or self._keep(action, trial)

    def _is_doubtful(self, action: str, trial: Trial[T]) -> bool:
        if trial.was_understood:
            self._strikes[action] = 0
        if not trial.is_about_shape:
            return False
        self._strikes[action] += 1
        return trial.complaint.names_fields or self._strikes[action] >= STRIKES

    async def _find(
        self, action: str, key: IdempotencyKey, send: Send[T]
    ) -> Outcome[T]:
        """Send in the likeliest shape, and in others where that is refused."""
        held = self._held(action)
        if held.closed:
            if held.in_force is None:
                return self._blocked(action)
            trial = await self._try(action, held.in_force, key, send)
            if trial.was_understood:
                self._settle_on(action, trial.candidate)
            return trial.outcome
        found = await self._search(action, key, send)
        return found or self._give_up(action)

    async def _search(
        self,
        action: str,
        key: IdempotencyKey,
        send: Send[T],
        after: Trial[T] | None = None,
    ) -> Outcome[T] | None:
        """Try candidates, until one is understood or an answer is about something else.

        None: all were refused. Each is on disk before it is sent, so that a crash
        neither changes the shape of a repeat nor renews the number of tries.
        """
        trial = after
        while True:
            candidate = self._next(action, trial)
            if candidate is None:
                return None
            held = self._held(action)
            held.sends(key, candidate)
            if not held.works:
                held.in_force = candidate
            self._save()
            trial = await self._try(action, candidate, key, send)
            if trial.was_understood:
                self._settle_on(action, candidate)
            elif not trial.is_about_shape:
                self._save()
            if not trial.is_about_shape:
                return trial.outcome

    def _next(self, action: str, trial: Trial[T] | None) -> Candidate | None:
        """Note a refusal, and choose what is tried after it."""
        held = self._held(action)
        if trial is None:
            return held.in_force or self._first(action)
        self._note(held, trial)
        if len(held.refused) >= self._writing.max_candidates:
            return None
        candidate = next_candidate(
            action,
            self._writing.dialects,
            held.marks,
            held.complaint,
            trial.candidate.shape,
        )
        if candidate is not None:
            self._log.emit(
                events.NETWORK_DIALECT_TRIED,
                endpoint=action,
                dialect=candidate.name,
                instead_of=trial.candidate.name,
                missing=", ".join(trial.complaint.missing),
                unknown=", ".join(trial.complaint.unknown),
                message=_message(trial.outcome),
            )
        return candidate

    def _first(self, action: str) -> Candidate | None:
        """Give what is tried first: the dialect in which another action works."""
        ready = [*candidates_for(action, self._writing.dialects)]
        known = [held.in_force for held in self._learned.values() if held.works]
        names = {candidate.name for candidate in known if candidate}
        alike = (candidate for candidate in ready if candidate.name in names)
        return next(alike, ready[0] if ready else None)

    def _note(self, held: Learned, trial: Trial[T]) -> None:
        if trial.candidate.shape.mark not in held.marks:
            message = _message(trial.outcome) + _fields(trial.complaint)
            named = trial.complaint.names_fields
            status = getattr(trial.outcome, "status", 0)
            held.refused.append(TriedShape(trial.candidate, named, message, status))
        held.complaint = held.complaint.and_also(trial.complaint)

    async def _try(
        self, action: str, candidate: Candidate, key: IdempotencyKey, send: Send[T]
    ) -> Trial[T]:
        """Send once, and remember the key as long as there is no definite answer."""
        held = self._held(action)
        was_open = key in held.open and held.open[key] == candidate
        held.sends(key, candidate)
        try:
            sent = await send(candidate.shape, key_for(action, candidate.shape, key))
        except (ValueError, TypeError):
            held.open.pop(key, None)  # JSON cannot say it: nothing was sent
            raise
        is_unclear = isinstance(sent.outcome, Unknown) or (
            was_open and isinstance(sent.outcome, NotSent)
        )
        if not is_unclear:
            held.open.pop(key, None)
        complaint = Complaint()
        if isinstance(sent.outcome, Refused):
            complaint = complaint_in(sent.body, sent.outcome.message)
        about = is_about_shape(sent, complaint, candidate.shape)
        return Trial(candidate, sent.outcome, complaint, about)

    def _settle_on(self, action: str, candidate: Candidate) -> None:
        """Remember a shape that was understood."""
        held = self._held(action)
        held.in_force, held.works = candidate, True
        held.since = self._clock.now().isoformat()
        self._strikes[action] = 0
        self._save()
        self._log.emit(
            events.NETWORK_DIALECT_LEARNED,
            endpoint=action,
            dialect=candidate.name,
            refused=len(held.refused),
        )

    def _keep(self, action: str, trial: Trial[T]) -> Outcome[T]:
        """Stay with a shape that has worked: no other does."""
        held = self._held(action)
        held.closed = True
        self._save()
        self._tell_exhausted(action, held)
        return trial.outcome

    def _give_up(self, action: str) -> Outcome[T]:
        """End the tries of a day in which nothing was understood.

        If some shapes were refused for their fields and another one was not, then that
        one was likely understood, and refused for its task.
        """
        held = self._held(action)
        unnamed = [tried for tried in held.refused if not tried.names_fields]
        is_telling = 0 < len(unnamed) < len(held.refused)
        held.in_force = unnamed[0].candidate if is_telling else None
        held.closed = True
        self._save()
        self._tell_exhausted(action, held)
        if is_telling:
            likeliest = unnamed[0]
            return Refused(Refusal.INVALID, likeliest.message, likeliest.status)
        return self._blocked(action)

    def _tell_exhausted(self, action: str, held: Learned) -> None:
        self._log.emit(
            events.NETWORK_DIALECT_EXHAUSTED,
            endpoint=action,
            dialect=held.in_force.name if held.in_force else None,
            refused=len(held.refused),
            message=_summary(held),
        )

    def _blocked(self, action: str) -> NotSent:
        now = self._clock.now()
        return NotSent(
            f"the network takes no {action} in any shape that we know"
            f" ({_summary(self._held(action))}); tried again tomorrow (UTC), or when"
            " its shape is described under [contract.dialects]",
            retry_after=_seconds_to_midnight(now),
            held_back=True,
        )

    def _held(self, action: str) -> Learned:
        """Give what is known, as of today."""
        held, today = self._learned[action], self._clock.now().date().isoformat()
        if held.day != today:
            held.begin(today)
        return held

    def _recall(self) -> dict[str, Learned]:
        saved = self._memory.load()
        learned = read_learned(saved)
        configured = saved.get("configured") if isinstance(saved, dict) else None
        if configured != self._writing.mark:
            # The operator has changed something: what failed is worth another try.
            for action, held in learned.items():
                held.begin(held.day)
                self._redefine(action, held)
        return learned

    def _redefine(self, action: str, held: Learned) -> None:
        """Take the operator's word for what a dialect of that name means now."""
        named = (
            candidate
            for candidate in candidates_for(action, self._writing.dialects)
            if held.in_force and candidate.name == held.in_force.name
        )
        now_means = next(named, held.in_force)
        if now_means != held.in_force:
            held.in_force, held.works = now_means, False

    def _save(self) -> None:
        self._memory.save(write_learned(self._learned, self._writing.mark))


def _message(outcome: Outcome[T]) -> str:
    return "" if isinstance(outcome, Confirmed) else outcome.message


def _fields(complaint: Complaint) -> str:
    """Give ` (missing task.id; unknown task_id)`, or nothing."""
    said = (("missing", complaint.missing), ("unknown", complaint.unknown))
    told = "; ".join(f"{word} {', '.join(names)}" for word, names in said if names)
    return f" ({told})" if told else ""


def _summary(held: Learned) -> str:
    return "; ".join(
        f"{tried.candidate.name}: {_end_of(tried.message)}" for tried in held.refused
    )


def _end_of(message: str) -> str:
    return message if len(message) <= MAX_QUOTED else f"…{message[1 - MAX_QUOTED :]}"


def _seconds_to_midnight(now: datetime) -> float:
    midnight = (now + timedelta(days=1)).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    return (midnight - now).total_seconds()
