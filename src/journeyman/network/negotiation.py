"""Finding out in which shape a network wants an action (decision 0026).

A definite refusal of the body moves to the next candidate, guided by the fields that
it names. What was understood is remembered for the network and used from then on.

- Never after an unknown outcome: its repeat has the same shape and the same key, and
  the answer to that is the caller's to decide on.
- Never on a status that is about something else: 401, 403, 404, 409, 429, any 5xx.
- Never on a verdict about the work, or about a value in a field that was understood.
- One at a time for each action, at most `max_candidates` shapes a day.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

import anyio

from journeyman.domain import outcomes
from journeyman.domain.clock import Clock
from journeyman.domain.tasks import JSON, IdempotencyKey
from journeyman.network import events
from journeyman.network.complaints import RefusedFields, refused_fields_in
from journeyman.network.records import spelling
from journeyman.network.shapes import (
    ACTIONS,
    READY,
    SNAKE,
    ActionShape,
    WritingDialect,
    remembered_shape,
)
from journeyman.observability.events import Log

MENDED = "mended"
"""The name of a shape that is made of a refused one and of what was said about it."""

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "task_id": ("taskid", "id", "taskuuid", "uuid", "taskref", "identifier", "task"),
    "agent_id": ("agentid", "agent", "agentuuid", "workerid", "worker", "claimedby"),
    "result": (
        *("result", "output", "answer", "response", "solution", "submission"),
        *("deliverable", "content"),
    ),
    "evidence": ("evidence", "proof", "notes", "metadata", "meta", "details"),
    "title": ("title", "name", "headline", "subject"),
    "description": ("description", "details", "instructions", "prompt", "body"),
    "reward": (
        *("reward", "rewardcredits", "credits", "bounty", "price", "budget"),
        *("amount", "payout"),
    ),
    "kind": ("kind", "type", "category", "tasktype"),
    "tags": ("tags", "labels", "skills"),
    "input": ("input", "payload", "data", "params"),
}
"""What networks call our values, as `spelling` reduces it. In order: `id` is an
agent's only where the task has a name."""


@dataclass(frozen=True, slots=True)
class ShapeCandidate:
    """A shape with the name that an operator knows it by."""

    name: str
    shape: ActionShape


def candidates_for(
    action: str,
    dialects: Sequence[WritingDialect],
) -> Iterator[ShapeCandidate]:
    """Return the ready shapes of an action, each only once."""
    seen: set[str] = set()
    for dialect in dialects:
        shape = dialect.shapes.get(action)
        if shape is not None and shape.mark not in seen:
            seen.add(shape.mark)
            yield ShapeCandidate(dialect.name, shape)


def next_candidate(
    action: str,
    dialects: Sequence[WritingDialect],
    refused: Collection[str],
    complaint: RefusedFields,
    last: ActionShape | None = None,
) -> ShapeCandidate | None:
    """Return the most promising shape that was not refused; None when there is none.

    `refused` are marks of shapes, `complaint` is all that their refusals named, `last`
    is the one that may be mended. Of equals the first wins, and a mended one is last:
    a whole vocabulary is likelier than a patched one.
    """
    ready = [*candidates_for(action, dialects)]
    if last is not None and complaint.names_fields:
        bases = [last, *(c.shape for c in ready)]
        ready += (
            ShapeCandidate(MENDED, mended(action, base, complaint)) for base in bases
        )
    left = [c for c in ready if c.shape.mark not in refused and _says_enough(action, c)]
    return max(left, key=lambda c: _agreement(c.shape, complaint), default=None)


def mended(action: str, shape: ActionShape, complaint: RefusedFields) -> ActionShape:
    """Return a shape what it is said to lack, and take away what is not known."""
    places = {
        name: place
        for name, place in shape.places.items()
        if not any(_is_named(place, path) for path in complaint.unknown)
    }
    for path in complaint.missing:
        if not replace(shape, places=places).has(path):
            value = _value_called(action, path, places, complaint)
            if value is not None:
                places[value] = path
    # In the order of our names, so that equal shapes have equal bytes.
    ordered = {name: places[name] for name in ACTIONS[action].names if name in places}
    return replace(shape, places=ordered)


def _value_called(
    action: str,
    path: str,
    places: Mapping[str, str],
    complaint: RefusedFields,
) -> str | None:
    """Return the value that a network calls so, unless it is where it should be."""
    *around, last = path.split(".")
    called = {spelling(last), spelling("".join([*around[-1:], last]))}
    for name in ACTIONS[action].names:
        is_settled = places.get(name) in complaint.missing
        if called & {*OTHER_NAMES[name]} and not is_settled:
            return name
    return None


def _says_enough(action: str, candidate: ShapeCandidate) -> bool:
    placed = candidate.shape.places
    places = [*placed.values()]
    whole = all(name in placed for name in ACTIONS[action].essential)
    nested = any(a != b and b.startswith(f"{a}.") for a in places for b in places)
    return whole and len({*places}) == len(places) and not nested


def _agreement(shape: ActionShape, complaint: RefusedFields) -> int:
    there = sum(shape.has(path) for path in complaint.missing)
    not_there = sum(not shape.has(path) for path in complaint.unknown)
    return there + not_there


def _is_named(place: str, path: str) -> bool:
    return place == path or place.startswith(f"{path}.")


MAX_OPEN = 300
"""Requests whose outcome is unknown, for each action; the oldest are forgotten."""


class ShapeMemory(Protocol):
    """Keeps one JSON value for one network, through restarts."""

    def load(self) -> JSON:
        """Return what was saved last; None when nothing ever was."""
        ...

    def save(self, learned: JSON) -> None:
        """Keep it durably before returning."""
        ...


class PassingMemory:
    """Remembers only as long as it lives: for clients that act for a moment."""

    def __init__(self, learned: JSON = None) -> None:
        self._learned = learned

    def load(self) -> JSON:
        """Return what was saved last."""
        return self._learned

    def save(self, learned: JSON) -> None:
        """Keep it."""
        self._learned = learned


@dataclass(frozen=True, slots=True)
class TriedShape:
    """A shape that the network refused today."""

    candidate: ShapeCandidate
    names_fields: bool
    """Whether the refusal said which fields there should be."""
    message: str
    status: int


@dataclass(slots=True)
class Learned:
    """What is known about the shape of one action."""

    current: ShapeCandidate | None = None
    """What the next request looks like; None begins with the first candidate."""
    works: bool = False
    """Whether the network has understood it."""
    since: str = ""
    """When it was first understood, in UTC."""
    day: str = ""
    """The UTC day that the rest is about."""
    refused: list[TriedShape] = field(default_factory=list)
    complaint: RefusedFields = field(default_factory=RefusedFields)
    """All that the refusals named."""
    closed: bool = False
    """No other shape is tried any more that day."""
    open: dict[str, ShapeCandidate] = field(default_factory=dict)
    """By idempotency key: what was sent and has no definite answer yet."""

    def begin(self, day: str) -> None:
        """Forget what was tried on another day."""
        self.day, self.closed = day, False
        self.refused, self.complaint = [], RefusedFields()
        if not self.works:
            self.current = None

    @property
    def marks(self) -> set[str]:
        """The shapes that were refused that day."""
        return {tried.candidate.shape.mark for tried in self.refused}

    def sends(self, key: str, candidate: ShapeCandidate) -> None:
        """Note what is sent under a key, until there is a definite answer to it."""
        self.open.pop(key, None)
        self.open[key] = candidate
        if len(self.open) > MAX_OPEN:
            # A post of unknown outcome is never repeated, so its key would stay.
            del self.open[next(iter(self.open))]

    def as_json(self) -> dict[str, JSON]:
        """Return it as JSON."""
        return {
            "current": _as_json(self.current),
            "works": self.works,
            "since": self.since,
            "day": self.day,
            "refused": [
                {
                    "candidate": _as_json(tried.candidate),
                    "names_fields": tried.names_fields,
                    "message": tried.message,
                    "status": tried.status,
                }
                for tried in self.refused
            ],
            "missing": list(self.complaint.missing),
            "unknown": list(self.complaint.unknown),
            "closed": self.closed,
            "open": {key: _as_json(candidate) for key, candidate in self.open.items()},
        }


def read_learned(saved: JSON) -> dict[str, Learned]:
    """Read what was saved; what cannot be read counts as never learned."""
    known = saved.get("actions") if isinstance(saved, dict) else None
    known = known if isinstance(known, dict) else {}
    return {action: _learned(action, known.get(action)) for action in ACTIONS}


def write_learned(learned: Mapping[str, Learned], configured: str) -> JSON:
    """Return all actions as JSON; `configured` says which candidates there were."""
    actions: dict[str, JSON] = {name: one.as_json() for name, one in learned.items()}
    return {"configured": configured, "actions": actions}


def _learned(action: str, saved: JSON) -> Learned:
    if not isinstance(saved, dict):
        return Learned()
    current = _candidate(action, saved.get("current"))
    opened = saved.get("open")
    read = {
        key: _candidate(action, one)
        for key, one in (opened if isinstance(opened, dict) else {}).items()
    }
    return Learned(
        current=current,
        works=saved.get("works") is True and current is not None,
        since=str(saved.get("since") or ""),
        day=str(saved.get("day") or ""),
        refused=[
            tried
            for one in _list(saved.get("refused"))
            if (tried := _tried(action, one)) is not None
        ],
        complaint=RefusedFields(
            tuple(map(str, _list(saved.get("missing")))),
            tuple(map(str, _list(saved.get("unknown")))),
        ),
        closed=saved.get("closed") is True,
        open={key: one for key, one in read.items() if one is not None},
    )


def _tried(action: str, saved: JSON) -> TriedShape | None:
    if not isinstance(saved, dict):
        return None
    candidate = _candidate(action, saved.get("candidate"))
    if candidate is None:
        return None
    status = saved.get("status")
    return TriedShape(
        candidate,
        saved.get("names_fields") is True,
        str(saved.get("message") or ""),
        status if isinstance(status, int) else 0,
    )


def _candidate(action: str, saved: JSON) -> ShapeCandidate | None:
    if not isinstance(saved, dict):
        return None
    shape = remembered_shape(action, saved.get("shape"))
    return ShapeCandidate(str(saved.get("dialect")), shape) if shape else None


def _as_json(candidate: ShapeCandidate | None) -> JSON:
    if candidate is None:
        return None
    return {"dialect": candidate.name, "shape": candidate.shape.as_table()}


def _list(saved: JSON) -> Sequence[JSON]:
    return saved if isinstance(saved, list) else ()


S = TypeVar("S")

BODY_STATUSES = frozenset({400, 422})
"""Statuses by which services say that they do not understand a body."""
_UNDERSTOOD = frozenset(
    {
        outcomes.Refusal.CONFLICT,
        outcomes.Refusal.UNAFFORDABLE,
        outcomes.Refusal.REJECTED,
    }
)
"""Refusals of a request whose body was understood: it is about its task."""


@dataclass(frozen=True, slots=True)
class Sent(Generic[S]):
    """A request that was sent, and its outcome."""

    outcome: outcomes.Outcome[S]
    body: JSON
    """Of a refusal; None when it was not JSON."""
    is_final: bool = False
    """Whether the answer leaves a doubt that nothing was done."""


Send = Callable[[ActionShape, IdempotencyKey], Awaitable[Sent[S]]]
"""Sends an action in one shape, under this key."""


@dataclass(frozen=True, slots=True)
class Attempt(Generic[S]):
    """One shape that was tried."""

    candidate: ShapeCandidate
    outcome: outcomes.Outcome[S]
    complaint: RefusedFields
    is_about_shape: bool

    @property
    def was_understood(self) -> bool:
        """Whether the network knew what was asked, whatever it said to it."""
        if isinstance(self.outcome, outcomes.Refused) and not self.is_about_shape:
            return self.outcome.refusal in _UNDERSTOOD
        return isinstance(self.outcome, outcomes.Confirmed)


def is_about_shape(sent: Sent[S], complaint: RefusedFields, shape: ActionShape) -> bool:
    """Return whether a request was refused for the shape of its body.

    Never for a verdict on the work, nor on a value in a field that was understood.
    """
    refused = sent.outcome
    if not isinstance(refused, outcomes.Refused) or sent.is_final:
        return False
    if refused.status in BODY_STATUSES:
        is_body = refused.refusal is outcomes.Refusal.INVALID
        return is_body and not _is_about_values(complaint, shape)
    # A no in a 2xx is about the shape only if it says so in as many words.
    in_yes = 200 <= refused.status < 300  # noqa: PLR2004  # the class of a status
    may_be = refused.refusal in {outcomes.Refusal.INVALID, outcomes.Refusal.REJECTED}
    return in_yes and may_be and _contradicts(complaint, shape)


def _is_about_values(complaint: RefusedFields, shape: ActionShape) -> bool:
    """Return whether a complaint names nothing but what was there, and understood."""
    if _contradicts(complaint, shape):
        return False
    named = (*complaint.missing, *complaint.wrong)
    return bool(named) and all(shape.value_at(place) for place in named)


def _contradicts(complaint: RefusedFields, shape: ActionShape) -> bool:
    """Return whether a complaint can be about this shape: it lacks or has the field."""
    lacks = any(not shape.says(place) for place in complaint.missing)
    return lacks or any(shape.has(place) for place in complaint.unknown)


@dataclass(frozen=True, kw_only=True, slots=True)
class Writing:
    """What the operator says about how requests are written."""

    dialects: tuple[WritingDialect, ...] = READY
    """The candidates, in order."""
    pinned: str | None = None
    """The name of the one that is used without negotiation; None: negotiate."""
    max_candidates: int = 6
    """How many shapes of an action may be refused in a day (UTC)."""

    def pinned_for(self, action: str) -> ActionShape | None:
        """Return the shape that the operator wants, where there is one."""
        named = (one for one in self.dialects if one.name == self.pinned)
        return next((one.shapes.get(action) for one in named), None)

    @property
    def mark(self) -> str:
        """Changes with the candidates."""
        shapes = (
            f"{action}={shape.mark}"
            for dialect in self.dialects
            for action, shape in dialect.shapes.items()
        )
        return f"{self.max_candidates} {' '.join(shapes)}"


def key_for(action: str, shape: ActionShape, key: IdempotencyKey) -> IdempotencyKey:
    """Return the key of one shape: networks may refuse one key with two bodies.

    It depends on nothing but the shape, so that a repeat has it again in any run.
    """
    if shape.mark == SNAKE.shapes[action].mark:
        return key
    return IdempotencyKey(f"{key}-{shape.mark}")


T = TypeVar("T")

STRIKES = 3
"""So many refusals in a row that name no field, and a shape that has worked is doubted:
one alone is likelier about its task."""

MAX_QUOTED = 120
"""Of the end of each refusal, in characters, where several are shown together."""


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
        self.log = log
        self._learned = self._recall()
        self._locks = {action: anyio.Lock() for action in self._learned}
        self._strikes = dict.fromkeys(self._learned, 0)

    async def run(
        self, action: str, key: IdempotencyKey, send: Send[T]
    ) -> outcomes.Outcome[T]:
        """Send an action in the shape that this network wants, as far as is known."""
        pinned = self._writing.pinned_for(action)
        if pinned is not None:
            return (await send(pinned, key_for(action, pinned, key))).outcome
        state = self._state(action)
        if key in state.open:
            return await self._repeat(action, state.open[key], key, send)
        if not state.works:
            async with self._locks[action]:
                if not state.works:
                    return await self._find(action, key, send)
        return await self._use(action, key, send)

    def blocked_actions(self) -> dict[str, str]:
        """Return which actions wait because they are taken in no shape, and why."""
        blocked = (
            action
            for action in self._learned
            if (state := self._state(action)).closed and state.current is None
        )
        return {action: self._blocked(action).message for action in blocked}

    async def _repeat(
        self, action: str, candidate: ShapeCandidate, key: IdempotencyKey, send: Send[T]
    ) -> outcomes.Outcome[T]:
        """Send again what has no definite answer yet, in the same shape."""
        attempt = await self._try(action, candidate, key, send)
        if attempt.was_understood and not self._state(action).works:
            self._settle_on(action, candidate)
        return attempt.outcome

    async def _use(
        self, action: str, key: IdempotencyKey, send: Send[T]
    ) -> outcomes.Outcome[T]:
        """Send in the shape that has worked."""
        state = self._state(action)
        if state.current is None:
            raise LookupError(f"no shape of {action} has worked")
        attempt = await self._try(action, state.current, key, send)
        if not self._is_doubtful(action, attempt) or state.closed:
            return attempt.outcome
        async with self._locks[action]:
            return await self._rethink(action, key, send, attempt)

    async def _rethink(
        self, action: str, key: IdempotencyKey, send: Send[T], attempt: Attempt[T]
    ) -> outcomes.Outcome[T]:
        """Look for another shape than the one that has worked."""
        state = self._state(action)
        if state.current is not None and state.current != attempt.candidate:
            # Somebody found another while we waited.
            return (await self._try(action, state.current, key, send)).outcome
        if state.closed:
            return attempt.outcome
        self.log.emit(
            events.NETWORK_DIALECT_DOUBTED,
            endpoint=action,
            dialect=attempt.candidate.name,
            message=_message(attempt.outcome),
        )
        found = await self._search(action, key, send, after=attempt)
        return found or self._keep(action, attempt)

    def _is_doubtful(self, action: str, attempt: Attempt[T]) -> bool:
        if attempt.was_understood:
            self._strikes[action] = 0
        if not attempt.is_about_shape:
            return False
        self._strikes[action] += 1
        return attempt.complaint.names_fields or self._strikes[action] >= STRIKES

    async def _find(
        self, action: str, key: IdempotencyKey, send: Send[T]
    ) -> outcomes.Outcome[T]:
        """Send in the likeliest shape, and in others where that is refused."""
        state = self._state(action)
        if state.closed:
            if state.current is None:
                return self._blocked(action)
            attempt = await self._try(action, state.current, key, send)
            if attempt.was_understood:
                self._settle_on(action, attempt.candidate)
            return attempt.outcome
        found = await self._search(action, key, send)
        return found or self._give_up(action)

    async def _search(
        self,
        action: str,
        key: IdempotencyKey,
        send: Send[T],
        after: Attempt[T] | None = None,
    ) -> outcomes.Outcome[T] | None:
        """Try candidates, until one is understood or an answer is about something else.

        None: all were refused. Each is on disk before it is sent, so that a crash
        neither changes the shape of a repeat nor renews the number of tries.
        """
        attempt = after
        while True:
            candidate = self._next(action, attempt)
            if candidate is None:
                return None
            state = self._state(action)
            state.sends(key, candidate)
            if not state.works:
                state.current = candidate
            self._save()
            attempt = await self._try(action, candidate, key, send)
            if attempt.was_understood:
                self._settle_on(action, candidate)
            elif not attempt.is_about_shape:
                self._save()
            if not attempt.is_about_shape:
                return attempt.outcome

    def _next(self, action: str, attempt: Attempt[T] | None) -> ShapeCandidate | None:
        """Note a refusal, and choose what is tried after it."""
        state = self._state(action)
        if attempt is None:
            return state.current or self._first(action)
        self._note(state, attempt)
        if len(state.refused) >= self._writing.max_candidates:
            return None
        candidate = next_candidate(
            action,
            self._writing.dialects,
            state.marks,
            state.complaint,
            attempt.candidate.shape,
        )
        if candidate is not None:
            self.log.emit(
                events.NETWORK_DIALECT_TRIED,
                endpoint=action,
                dialect=candidate.name,
                instead_of=attempt.candidate.name,
                missing=", ".join(attempt.complaint.missing),
                unknown=", ".join(attempt.complaint.unknown),
                message=_message(attempt.outcome),
            )
        return candidate

    def _first(self, action: str) -> ShapeCandidate | None:
        """Return what is tried first: the dialect in which another action works."""
        ready = [*candidates_for(action, self._writing.dialects)]
        known = [state.current for state in self._learned.values() if state.works]
        names = {candidate.name for candidate in known if candidate}
        alike = (candidate for candidate in ready if candidate.name in names)
        return next(alike, ready[0] if ready else None)

    def _note(self, state: Learned, attempt: Attempt[T]) -> None:
        if attempt.candidate.shape.mark not in state.marks:
            message = _message(attempt.outcome) + _fields(attempt.complaint)
            named = attempt.complaint.names_fields
            status = getattr(attempt.outcome, "status", 0)
            state.refused.append(TriedShape(attempt.candidate, named, message, status))
        state.complaint = state.complaint.and_also(attempt.complaint)

    async def _try(
        self, action: str, candidate: ShapeCandidate, key: IdempotencyKey, send: Send[T]
    ) -> Attempt[T]:
        """Send once, and remember the key as long as there is no definite answer."""
        state = self._state(action)
        was_open = key in state.open and state.open[key] == candidate
        state.sends(key, candidate)
        try:
            sent = await send(candidate.shape, key_for(action, candidate.shape, key))
        except (ValueError, TypeError):
            state.open.pop(key, None)  # JSON cannot say it: nothing was sent
            raise
        is_unclear = isinstance(sent.outcome, outcomes.Unknown) or (
            was_open and isinstance(sent.outcome, outcomes.NotSent)
        )
        if not is_unclear:
            state.open.pop(key, None)
        complaint = RefusedFields()
        if isinstance(sent.outcome, outcomes.Refused):
            complaint = refused_fields_in(sent.body, sent.outcome.message)
        about = is_about_shape(sent, complaint, candidate.shape)
        return Attempt(candidate, sent.outcome, complaint, about)

    def _settle_on(self, action: str, candidate: ShapeCandidate) -> None:
        """Remember a shape that was understood."""
        state = self._state(action)
        state.current, state.works = candidate, True
        state.since = self._clock.now().isoformat()
        self._strikes[action] = 0
        self._save()
        self.log.emit(
            events.NETWORK_DIALECT_LEARNED,
            endpoint=action,
            dialect=candidate.name,
            refused=len(state.refused),
        )

    def _keep(self, action: str, attempt: Attempt[T]) -> outcomes.Outcome[T]:
        """Stay with a shape that has worked: no other does."""
        state = self._state(action)
        state.closed = True
        self._save()
        self._tell_exhausted(action, state)
        return attempt.outcome

    def _give_up(self, action: str) -> outcomes.Outcome[T]:
        """End the tries of a day in which nothing was understood.

        If some shapes were refused for their fields and another one was not, then that
        one was likely understood, and refused for its task.
        """
        state = self._state(action)
        unnamed = [tried for tried in state.refused if not tried.names_fields]
        is_telling = 0 < len(unnamed) < len(state.refused)
        state.current = unnamed[0].candidate if is_telling else None
        state.closed = True
        self._save()
        self._tell_exhausted(action, state)
        if is_telling:
            likeliest = unnamed[0]
            return outcomes.Refused(
                outcomes.Refusal.INVALID, likeliest.message, likeliest.status
            )
        return self._blocked(action)

    def _tell_exhausted(self, action: str, state: Learned) -> None:
        self.log.emit(
            events.NETWORK_DIALECT_EXHAUSTED,
            endpoint=action,
            dialect=state.current.name if state.current else None,
            refused=len(state.refused),
            message=_summary(state),
        )

    def _blocked(self, action: str) -> outcomes.NotSent:
        now = self._clock.now()
        return outcomes.NotSent(
            f"the network accepts no {action} in any shape that we know"
            f" ({_summary(self._state(action))}); it is tried again tomorrow (UTC), or"
            " when its shape is described under [contract.dialects]",
            retry_after=_seconds_to_midnight(now),
            paused=True,
        )

    def _state(self, action: str) -> Learned:
        """Return what is known, as of today."""
        state, today = self._learned[action], self._clock.now().date().isoformat()
        if state.day != today:
            state.begin(today)
        return state

    def _recall(self) -> dict[str, Learned]:
        saved = self._memory.load()
        learned = read_learned(saved)
        configured = saved.get("configured") if isinstance(saved, dict) else None
        if configured != self._writing.mark:
            # The operator has changed something: what failed is worth another try.
            for action, state in learned.items():
                state.begin(state.day)
                self._redefine(action, state)
        return learned

    def _redefine(self, action: str, state: Learned) -> None:
        """Adopt what the operator says a dialect of that name means now."""
        named = (
            candidate
            for candidate in candidates_for(action, self._writing.dialects)
            if state.current and candidate.name == state.current.name
        )
        now_means = next(named, state.current)
        if now_means != state.current:
            state.current, state.works = now_means, False

    def _save(self) -> None:
        self._memory.save(write_learned(self._learned, self._writing.mark))


def _message(outcome: outcomes.Outcome[T]) -> str:
    return "" if isinstance(outcome, outcomes.Confirmed) else outcome.message


def _fields(complaint: RefusedFields) -> str:
    """Return ` (missing task.id; unknown task_id)`, or nothing."""
    said = (("missing", complaint.missing), ("unknown", complaint.unknown))
    told = "; ".join(f"{word} {', '.join(names)}" for word, names in said if names)
    return f" ({told})" if told else ""


def _summary(state: Learned) -> str:
    return "; ".join(
        f"{tried.candidate.name}: {_end_of(tried.message)}" for tried in state.refused
    )


def _end_of(message: str) -> str:
    return message if len(message) <= MAX_QUOTED else f"…{message[1 - MAX_QUOTED :]}"


def _seconds_to_midnight(now: datetime) -> float:
    midnight = (now + timedelta(days=1)).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    return (midnight - now).total_seconds()
