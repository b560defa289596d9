"""Finds out how a network wants an action written (decision 0050).

A definite refusal of the body rules out what it contradicts; the likeliest of what is
left is sent next. What was understood is remembered and used from then on.

- Never after an unknown outcome: its repeat has the same shape and the same key, and
  the answer to that is the caller's to decide on.
- Never on a status that is about something else: 401, 403, 409, 429, any 5xx. But a 500
  may be about a name that our body lacks.
- Never on a verdict about the work, or about a value that was understood.
- One at a time for each action. It goes on while refusals teach something, and then
  waits for minutes.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Generic, TypeAlias, TypeVar

import anyio
from pydantic import JsonValue, TypeAdapter, ValidationError

from journeyman.domain import outcomes
from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Refusal
from journeyman.domain.tasks import JSON, IdempotencyKey, Progress, Task
from journeyman.network import events
from journeyman.network.bugs import Contained
from journeyman.network.service_model.context import (
    FORBIDDEN,
    Sent,
    contradicts,
    is_no_in_yes,
    is_of_another,
    is_task,
    meant_by,
    read_in_context,
)
from journeyman.network.service_model.meaning import (
    POST_WORDS,
    is_version,
)
from journeyman.network.service_model.model import (
    Listed,
    RefusedBody,
    RequestModel,
    ServiceModel,
    Suggestion,
    named_in_listing,
)
from journeyman.network.service_model.naming import (
    Path,
    value_at,
    walk,
    word_set,
    words_of,
)
from journeyman.network.service_model.no_in_yes import (
    MOST_NOES,
    Top,
    misses_names,
    top_of,
)
from journeyman.network.service_model.reading import (
    id_name,
    id_path,
)
from journeyman.network.service_model.refusals.faults import Fault, FieldFault
from journeyman.network.service_model.refusals.refusal import (
    read_refusal,
)
from journeyman.network.service_model.refusals.sentences import (
    is_typed,
    seeks_a_function,
)
from journeyman.network.service_model.refusals.unclear import (
    mentioned,
    perhaps_mentioned,
)
from journeyman.network.service_model.refusals.words import (
    names_a_field,
    says_strict,
)
from journeyman.network.service_model.request import (
    GIVEN,
    LONGEST_VALUE,
    RECORD,
    WORDS,
    Placed,
    RequestShape,
    Values,
    is_header,
    leaf_names,
    values_in,
)
from journeyman.network.service_model.suggestions import (
    MOST_CALLS,
    Suggest,
    SuggestionError,
    question_about,
)
from journeyman.observability.events import Log

T = TypeVar("T")

_OVER = frozenset({Progress.DONE, Progress.PAID})
BODY_STATUSES = frozenset({400, 415, 417, 422, 428})
"""Statuses by which services say that they do not understand a request.

417 is Frappe's for what a document lacks.
"""
SERVER_ERROR = 500
MOST_REFUSED_IN_A_ROUND = 10
MOST_UNTAUGHT_IN_A_ROUND = 6
"""Refusals in a round from which nothing was learned."""
SECOND_CHANCES = 3
"""Refused shapes that another round may try again: half of one that learns nothing."""
FIRST_WAIT_SECONDS = 60.0
LONGEST_WAIT_SECONDS = 900.0
"""Between two rounds; it doubles from the first to the longest."""
STRIKES = 3
"""So many refusals in a row that name no field, and a shape that has worked is doubted:
one alone is likelier about its task."""
_AHEAD = timedelta(days=1)
"""When work is promised for that has no deadline, and when what must be to come is."""
MAX_QUOTED = 120
"""Of the end of each refusal, in characters, where several are shown together."""


Send: TypeAlias = Callable[
    [
        Mapping[str, JSON] | str,
        Mapping[str, str],
        Mapping[str, str],
        IdempotencyKey,
    ],
    Awaitable[outcomes.Outcome[T]],
]
"""Sends an action: a body, headers besides our own, a query, and a key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """An action that is to be sent."""

    action: str
    said: Values
    """What it may say, besides what the record of its task shows."""
    key: IdempotencyKey
    task: Task | None = None
    may_have_worked: Callable[[outcomes.Refused], bool] | None = None
    """Whether a refusal leaves a doubt that nothing was done."""

    def values(self, shape: RequestShape | None = None) -> Values:
        """Return what it may say: anything, or what a shape takes."""
        if self.task is None or (shape is not None and not shape.reads_record):
            return self._without_text(self.said)
        listed = values_in(RECORD[:-1], dict(self.task.raw), LONGEST_VALUE)
        return self._without_text({**self.said, **listed})

    def _without_text(self, values: Values) -> Values:
        """Return values without the text to work on: no result repeats that.

        And without what was no so far, such as `completed`: an action changes it.
        """
        values = {
            source: value
            for source, value in values.items()
            if value is not False or not source.startswith((*GIVEN, RECORD))
        }
        task = self.task
        if task is None or self.action != "submit" or task.text not in values.values():
            return values
        return {
            source: value
            for source, value in values.items()
            if not (
                source.startswith((*GIVEN, RECORD))
                and value == task.text
                and value != task.id
            )
        }

    @property
    def listed(self) -> Listed:
        """What the task's record shows of how its network writes."""
        if self.task is None:
            return Listed()
        around = id_path(self.task)[:-1]
        there = value_at(self.task.raw, around) if around else None
        record = there if isinstance(there, dict) else self.task.raw
        empty = tuple(name for name, value in record.items() if value in (None, ""))
        return Listed(tuple(record), id_name(self.task) or "", empty, around)


@dataclass(frozen=True, slots=True)
class Attempt(Generic[T]):
    """One shape that was tried."""

    shape: RequestShape
    outcome: outcomes.Outcome[T]
    refused: RefusedBody | None = None
    """Where it was refused for its shape."""


VERSION = 1
"""Of the document; another one is not read, and everything is learned again."""
MAX_OPEN = 300
"""Requests of unknown outcome; the oldest are forgotten."""


@dataclass(slots=True)
class Learned:
    """What was learned of one network's requests: a document that outlives us."""

    version: int = VERSION
    model: ServiceModel = field(default_factory=ServiceModel)
    open: dict[str, RequestShape] = field(default_factory=dict)
    """By idempotency key: what was sent and has no definite answer yet."""
    waits: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By action: rounds without success, and until when nothing is tried; in seconds
    since 1970."""
    refusals: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By action: those of the round that goes on, and of them those that taught
    nothing."""
    moments: dict[str, str] = field(default_factory=dict)
    """By idempotency key: the time that a request tells, at each repeat the same."""
    described: dict[str, JsonValue] = field(default_factory=dict)
    """By action: the schema that a description showed last."""
    noes_in_yes: dict[str, tuple[Top, ...]] = field(default_factory=dict)
    """By action: what stood at the top of those in the 2xx."""

    def sends(self, key: str, shape: RequestShape) -> None:
        """Note what is sent under a key, until there is a definite answer to it."""
        self.open.pop(key, None)
        self.open[key] = shape
        if len(self.open) > MAX_OPEN:
            # A post of unknown outcome is never repeated, so its key would stay.
            self.open.pop(next(iter(self.open)))
        while len(self.moments) > MAX_OPEN:
            self.moments.pop(next(iter(self.moments)))


DOCUMENT: TypeAdapter[Learned] = TypeAdapter(Learned)
MODEL_FACT = "service model {base_url}"
"""The fact that holds what is known of a network's requests."""


def read_document(saved: JSON) -> Learned:
    """Read what was saved; what cannot be read counts as never learned."""
    try:
        learned = DOCUMENT.validate_python(saved)
    except ValidationError:
        return Learned()
    return learned if learned.version == VERSION else Learned()


_NUMBERED = re.compile(r"\b(?:\d[\w.:+-]*|(?=[\w-]*\d[\w-]*\d)[\w-]{8,})")
"""A number, a time, or an id: `42`, `2026-11-23T10:00:00Z`, `req_8fA21k`."""


def digest_of(answer: JSON) -> str:
    """Return what tells an answer from others.

    What may differ each time, such as the number of the request or where in our body
    a parser stopped, does not. The number of an error does.
    """
    said = [
        (way, value if way and "code" in words_of(way[-1]) else _common(value, way))
        for way, value in walk(answer)
        if not isinstance(value, dict | list)
    ]
    text = json.dumps(sorted(said, key=repr))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _written(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _deadline_of(request: Request) -> datetime | None:
    return request.task.deadline if request.task else None


def _common(value: JSON, way: Path) -> str:
    """Return what a value may have in common with that of another answer."""
    names = {*words_of(way[-1])} if way else set()
    is_lone = " " not in str(value) and bool(names & _OF_ONE_ANSWER)
    return "0" if is_lone else _NUMBERED.sub("0", str(value))


_OF_ONE_ANSWER = word_set("id uuid trace incident correlation nonce time timestamp")
"""Words of names under which each answer has another value."""


class RequestSearch:
    """Decides how each action is written."""

    def __init__(
        self,
        *,
        owner: Mapping[str, RequestShape],
        clock: Clock,
        log: Log,
        saved: JSON = None,
        write: Callable[[JSON], None] | None = None,
        suggest: Suggest | None = None,
    ) -> None:
        """Begin with what was saved; `owner` has the configured shapes.

        `write` keeps what was learned durably before it returns. `suggest` is asked
        about refusals from which nothing was learned.
        """
        self._suggest = suggest
        self.log = log
        self._owner = owner
        self._clock = clock
        self._saved, self._write = saved, write
        self._learned = read_document(saved)
        self._locks: dict[str, anyio.Lock] = {}
        self._strikes: dict[str, int] = {}
        self._noes: dict[str, tuple[str, str]] = {}
        """By action: the first no in a 2xx, and the task that it was given to."""

    @property
    def model(self) -> ServiceModel:
        """What is known."""
        return self._learned.model

    def _know(self, action: str, request: RequestModel) -> None:
        self._learned.model = self.model.know(action, request)

    def describe(self, requests: Mapping[str, JSON]) -> None:
        """Learn the JSON schemas of request bodies, by action, from a description."""
        for action, schema in requests.items():
            if self._learned.described.get(action) != schema:
                self._learned.described[action] = schema
                self._know(action, self.model.of(action).describe(schema))
        self._save()

    def look_at(self, listing: JSON) -> None:
        """Learn how a listing names its tasks."""
        noun, around = named_in_listing(listing)
        if (noun or self.model.noun, around) != (self.model.noun, self.model.around):
            self._learned.model = self.model.name(noun, around)
            self._save()

    async def run(self, request: Request, send: Send[T]) -> outcomes.Outcome[T]:
        """Send an action as this network wants it, as far as is known."""
        action = request.action
        owner = self._owner.get(action)
        if owner is not None:
            return await _sent(self._telling_time(request, owner), owner, send)
        repeated, attempt = self._learned.open.get(request.key), None
        shape = repeated or self._proven(request)
        if shape is not None:
            attempt = await self._try(request, shape, send)
            if not self._is_doubtful(action, attempt, is_repeat=repeated is not None):
                return attempt.outcome
        async with self._locks.setdefault(action, anyio.Lock()):
            return await self._find(self._dated(request), send, attempt)

    def next_shape(self, request: Request) -> RequestShape | None:
        """Return the shape that would be sent first now; None where none is left."""
        action, request = request.action, self._dated(request)
        return (
            self._owner.get(action)
            or self._proven(request)
            or self.model.next_shape(action, request.values(), request.listed)
        )

    def _dated(self, request: Request) -> Request:
        """Return a request that may tell the time of its first try."""
        at = self._learned.moments.get(request.key, _written(self._clock.now()))
        now, deadline = datetime.fromisoformat(at), _deadline_of(request)
        tomorrow = (now + _AHEAD).replace(minute=0, second=0)
        ends = [tomorrow, *([deadline] if deadline and deadline > now else [])]
        said = {**request.said, "now": at, "ahead": _written(min(ends))}
        return replace(request, said=said)

    def _telling_time(self, request: Request, shape: RequestShape) -> Request:
        """Return a request with the time, if it tells that, and keep it for repeats."""
        if not shape.tells_time:
            return request
        dated = self._dated(request)
        if dated.key not in self._learned.moments:
            self._learned.moments[dated.key] = str(dated.said["now"])
            self._save()
        return dated

    def blocked_actions(self) -> dict[str, str]:
        """Return which actions wait because they are taken in no shape, and why."""
        return {
            action: self._blocked(action).message
            for action in self._learned.waits
            if self._seconds_blocked(action) > 0
        }

    def _proven(self, request: Request) -> RequestShape | None:
        """Return the shape that has worked, if there is all that it needs."""
        shape = self.model.of(request.action).proven
        is_used = shape is not None and shape.fits(request.values(shape))
        return shape if is_used else None

    def _is_doubtful(
        self, action: str, attempt: Attempt[T], *, is_repeat: bool
    ) -> bool:
        """Return whether a shape that was used is to be left for another.

        Of a repeat: if it is refused for its shape, then so was the one without an
        answer; but a shape that has worked once may have done so then.
        """
        refused = attempt.refused
        if refused is None:
            self._strikes[action] = 0
            return False
        if is_repeat:
            is_denied = any(contradicts(o, attempt.shape) for o in refused.findings)
            return is_denied and self.model.of(action).proven is None
        self._strikes[action] = self._strikes.get(action, 0) + 1
        return bool(refused.findings) or self._strikes[action] >= STRIKES

    async def _find(
        self, request: Request, send: Send[T], after: Attempt[T] | None
    ) -> outcomes.Outcome[T]:
        """Look for a shape; without another, stay with the one that has worked."""
        action, proven = request.action, self._proven(request)
        if proven is not None and (after is None or after.shape != proven):
            # Found while this one waited.
            return (await self._try(request, proven, send)).outcome
        refused = after.outcome if proven is not None and after is not None else None
        if self._seconds_blocked(action) > 0:
            return refused or self._blocked(action)
        if isinstance(refused, outcomes.Refused):
            told = refused.message
            self.log.emit(events.REQUEST_DOUBTED, endpoint=action, message=told)
        before = self.model
        last = after.refused if after is not None else None
        found = await self._search(request, send, last)
        if found is not None:
            return found
        if refused is not None:
            self._learned.model = before
        shape = self.model.next_shape(action, request.values(), request.listed)
        self._wait(action, is_contradictory=shape is None)
        if refused is not None:
            return refused
        self.log.emit(
            events.REQUEST_NOT_UNDERSTOOD,
            endpoint=action,
            refused=len(self.model.of(action).refused),
            retry_in=round(self._seconds_blocked(action)),
            message=self._summary(action),
        )
        return self._blocked(action)

    async def _search(
        self, request: Request, send: Send[T], last: RefusedBody | None
    ) -> outcomes.Outcome[T] | None:
        """Try shapes until one is understood, or an answer is about something else.

        None: all were refused. Each is on disk before it is sent, so that a crash
        neither changes the shape of a repeat nor renews the number of tries.
        """
        values, listed, action = request.values(), request.listed, request.action
        refused, untaught = self._learned.refusals.get(action, (0, 0))
        while True:
            if last is not None:
                refused += 1
                has_taught = self._has_taught(action, last)
                has_idea = await self._ask(request, last)
                untaught += not (has_taught or has_idea)
                self._learned.refusals[action] = refused, untaught
            is_over = (
                refused >= MOST_REFUSED_IN_A_ROUND
                or untaught >= MOST_UNTAUGHT_IN_A_ROUND
            )
            shape = None if is_over else self.model.next_shape(action, values, listed)
            if shape is None:
                self._save()
                return None
            if last is not None:
                self._tell(action, last)
            self._learned.sends(request.key, shape)
            self._save()
            is_search = last is not None
            attempt = await self._try(request, shape, send, is_search=is_search)
            last = attempt.refused
            if last is None:
                return attempt.outcome

    def _has_taught(self, action: str, fact: RefusedBody) -> bool:
        """Learn from a refusal, and return whether there was anything to learn."""
        before = self.model.of(action)
        fact = self.model.reconsider(action, fact)
        self._learned.model = self.model.hear(action, fact)
        self._know(action, before.refuse(action, fact))
        return self.model.of(action).constraints != before.constraints

    async def _ask(self, request: Request, refused: RefusedBody) -> bool:
        """Ask what an unreadable refusal may mean; return whether there is an idea."""
        action = request.action
        asked = len(self.model.of(action).suggestions)
        # That a value is wrong is also read where a refusal only repeats our body.
        is_clear = any(
            one.fault is not Fault.VALUE or one.options for one in refused.findings
        )
        if self._suggest is None or is_clear or asked >= MOST_CALLS:
            return False
        task = request.task
        question = question_about(
            action,
            refused.message,
            refused.shape.body(request.values(refused.shape)),
            dict(task.raw) if task else {},
        )
        findings: tuple[FieldFault, ...] = ()
        problem = ""
        try:
            findings = await self._suggest(question)
        except SuggestionError as error:
            problem = str(error)
        # A call that failed counts, too: the bound is on what the owner may pay for.
        suggestion = Suggestion(question.said, findings)
        self._know(action, self.model.of(action).suggest(suggestion))
        self._save()
        self.log.emit(
            events.REQUEST_SUGGESTED,
            endpoint=action,
            names=", ".join(".".join(one.path) for one in findings),
            message=problem,
        )
        return bool(findings)

    async def _try(
        self,
        request: Request,
        shape: RequestShape,
        send: Send[T],
        *,
        is_search: bool = False,
    ) -> Attempt[T]:
        """Send once, and remember the key as long as there is no definite answer."""
        key, learned = request.key, self._learned
        was_open = learned.open.get(key) == shape
        learned.sends(key, shape)
        request = self._telling_time(request, shape)
        try:
            outcome = await _sent(request, shape, send)
        except (ValueError, TypeError):
            learned.open.pop(key)  # JSON cannot say it: nothing was sent
            raise
        outcome = self._judged(request, shape, outcome)
        outcome = self._seen(request.action, outcome)
        is_unclear = isinstance(outcome, outcomes.Unknown) or (
            was_open and isinstance(outcome, outcomes.NotSent)
        )
        if not is_unclear:
            learned.open.pop(key, None)
        if was_open:
            if isinstance(outcome, outcomes.Confirmed):
                self._note_success(request.action, shape)
            self._save()
        refused = self._refused(request, shape, outcome, is_search=is_search)
        return Attempt(shape, outcome, refused)

    def _note_success(self, action: str, shape: RequestShape) -> None:
        known = self.model.of(action)
        self._learned.waits.pop(action, None)
        self._learned.refusals.pop(action, None)
        if known.proven == shape:
            return
        now = self._clock.now().isoformat()
        self._learned.model = self.model.accept(action, shape, now)
        self.log.emit(
            events.REQUEST_UNDERSTOOD,
            endpoint=action,
            refused=len(known.refused),
            fields=", ".join(sorted({".".join(one.path) for one in shape.placed})),
        )

    def _read(
        self, request: Request, shape: RequestShape, body: JSON, said: outcomes.Refused
    ) -> tuple[FieldFault, ...]:
        """Return what a refusal says; nothing where a bug of ours keeps it from us."""
        sent = Sent(
            action=request.action,
            shape=shape,
            body=body,
            record=request.task.raw if request.task else {},
            known=request.values(),
        )
        with Contained(self.log, f"reading a refusal of {request.action}"):
            return self.findings_in(said, sent)
        return ()

    def findings_in(
        self, refused: outcomes.Refused, sent: Sent
    ) -> tuple[FieldFault, ...]:
        """Return what a refusal says of what was sent."""
        return read_in_context(refused, sent, self.model)

    def _refused(
        self,
        request: Request,
        shape: RequestShape,
        outcome: outcomes.Outcome[T],
        *,
        is_search: bool,
    ) -> RefusedBody | None:
        """Return what a refusal says of a shape; None where it is not about that."""
        if not isinstance(outcome, outcomes.Refused) or outcome.is_of_method:
            return None
        may_have_worked = request.may_have_worked
        if outcome.refusal is Refusal.FULL or (
            may_have_worked and may_have_worked(outcome)
        ):
            return None
        answer, message = outcome.answer, outcome.message
        is_proven = self.model.of(request.action).proven == shape
        body = shape.body(request.values(shape))
        findings = self._read(request, shape, body, outcome)
        if outcome.progress in _OVER and all(one.phrase for one in findings):
            return None  # as in "state: is already completed"
        is_doubted = is_search or self._is_hardly_about_task(request, outcome)
        if not is_about_shape(
            outcome,
            findings,
            shape,
            is_proven=is_proven,
            is_doubted=is_doubted,
            is_before_work=request.action in {"claim", "post_task"},
            is_handing_in=request.action == "submit",
        ):
            return None
        is_strict = says_strict(answer, message) or is_typed(answer)
        ours = leaf_names(body)
        alike = (one for one in self.model.names_in(message) if one not in ours)
        mentions = dict.fromkeys([*alike, *mentioned(answer, body)])
        if not (findings or mentions):
            mentions = dict.fromkeys(perhaps_mentioned(answer or message, body))
        told, names, status = digest_of(answer or message), (*mentions,), outcome.status
        fact = RefusedBody(
            shape,
            findings,
            is_strict,
            message,
            status,
            names,
            told,
            self.model.paths_beside(request.action),
        )
        return fact.without(self.model.misread)

    def denies(self, action: str, answer: JSON, sent: JSON, *, shows: bool) -> bool:
        """Return whether a 2xx is a no, and remember what it looks like.

        `shows`: it tells how far the task has come, so that it is none. A post's never
        is: what it costs may have been paid by then. What a no to another action looks
        like, one to this action does.
        """
        if shows or action == "post_task":
            return False
        noes = self._learned.noes_in_yes.get(action, ())
        known = [*chain.from_iterable(self._learned.noes_in_yes.values())]
        if known and top_of(answer) in known:
            return True
        is_new = self.model.of(action).proven is None
        is_no = is_new and misses_names(answer, sent)
        if is_no and (top := top_of(answer)).words:
            self._learned.noes_in_yes[action] = (*noes, top)[-MOST_NOES:]
            self._save()
        return is_no

    def _judged(
        self, request: Request, shape: RequestShape, outcome: outcomes.Outcome[T]
    ) -> outcomes.Outcome[T]:
        """Return an error as a refusal where it says that the body lacks a name.

        Or which values it would take. Code that falls over what is not there has not
        done what it is asked for. A post is never judged so: what it costs may have
        been paid by then.
        """
        is_post = request.action == "post_task"
        if not isinstance(outcome, outcomes.Unknown) or is_post or not outcome.answer:
            return outcome
        body = shape.body(request.values(shape))
        findings = read_refusal(outcome.answer, "", body, is_prose_read=False)
        is_chosen = any(one.options and meant_by(one, shape) for one in findings)
        if not (is_chosen or _lacks(findings, shape)):
            return outcome
        return outcomes.Refused(
            Refusal.INVALID,
            outcome.message,
            outcome.status or SERVER_ERROR,
            answer=outcome.answer,
        )

    def _seen(self, action: str, outcome: outcomes.Outcome[T]) -> outcomes.Outcome[T]:
        """Return an outcome with what is known of its endpoint: it has judged a body.

        Then a 404 is about the task, or about what we call it, and the action exists.
        """
        if not isinstance(outcome, outcomes.Refused):
            return outcome
        is_there = any(
            one.status in BODY_STATUSES and one.has_taught
            for one in self.model.of(action).refused
        )
        return replace(outcome, is_there=is_there)

    def _is_hardly_about_task(
        self, request: Request, refused: outcomes.Refused
    ) -> bool:
        """Return whether a no in a 2xx was given to another task in the same words.

        A submission's is about a task that is ours: no other agent can have it.
        """
        task = request.task.id if request.task else ""
        said = refused.message.replace(task or "\n", "#")
        before = self._noes.setdefault(request.action, (said, task))
        is_other = before[0] == said and before[1] != task
        return request.action == "submit" or is_other

    def _tell(self, action: str, refused: RefusedBody) -> None:
        def named(fault: Fault) -> str:
            there = (one for one in refused.findings if one.fault is fault)
            return ", ".join(".".join(one.path) for one in there)

        self.log.emit(
            events.REQUEST_REWRITTEN,
            endpoint=action,
            missing=named(Fault.MISSING),
            unknown=named(Fault.UNKNOWN),
            message=refused.message,
        )

    def _wait(self, action: str, *, is_contradictory: bool) -> None:
        """Rest, for longer each time; from the second on, some shapes may return.

        What is known is `contradictory` where it leaves no shape: something of it was
        misunderstood, and is learned again, with what words mean by now.
        """
        rounds, _ = self._learned.waits.get(action, (0, 0.0))
        seconds = min(FIRST_WAIT_SECONDS * 2**rounds, LONGEST_WAIT_SECONDS)
        until = self._clock.now().timestamp() + seconds
        self._learned.waits[action] = (min(rounds + 1, 10), until)
        self._learned.refusals.pop(action, None)
        known = replace(self.model.of(action), misread=())
        is_again = known.proven is None and rounds
        if is_contradictory and known.proven is None:
            known = known.begin_again()
        self._know(action, known.forgive(SECOND_CHANCES) if is_again else known)
        self._save()

    def _seconds_blocked(self, action: str) -> float:
        _, until = self._learned.waits.get(action, (0, 0.0))
        seconds = until - self._clock.now().timestamp()
        # A longer wait is of a clock that was wrong then (decision 0023).
        return seconds if seconds <= LONGEST_WAIT_SECONDS else 0.0

    def _blocked(self, action: str) -> outcomes.NotSent:
        return outcomes.NotSent(
            f"the network accepts no {action} in any shape that was tried"
            f" ({self._summary(action)}); other shapes are tried in some minutes, or"
            f" when its request is described under [contract.requests.{action}]",
            retry_after=max(self._seconds_blocked(action), 1.0),
            paused=True,
            not_understood=True,
        )

    def _summary(self, action: str) -> str:
        told = [one.message for one in self.model.of(action).refused]
        return "; ".join(_end_of(one) for one in dict.fromkeys(told[-5:]))

    def _save(self) -> None:
        """Keep what was learned, if it has changed."""
        document: JSON = DOCUMENT.dump_python(self._learned, mode="json")
        if document != self._saved:
            self._saved = document
            if self._write is not None:
                self._write(document)


async def _sent(
    request: Request, shape: RequestShape, send: Send[T]
) -> outcomes.Outcome[T]:
    values = request.values(shape)
    body, headers = shape.body(values), shape.headers_for(values)
    query, key = shape.query_for(values), shape.key_for(request.key)
    return await send(body, headers, query, key)


def is_about_shape(
    refused: outcomes.Refused,
    findings: tuple[FieldFault, ...],
    shape: RequestShape,
    *,
    is_proven: bool,
    is_doubted: bool = False,
    is_before_work: bool = False,
    is_handing_in: bool = False,
) -> bool:
    """Return whether a request was refused for the shape of its body.

    Never for a verdict on the work. Of a shape that is proven only a contradiction
    counts: a name that it lacks, or that it has and should not. `is_doubted` says that
    a no in a 2xx is hardly about the task, `is_before_work` that nothing was handed in
    and the task is not ours, `is_handing_in` that the work is in the body.
    """
    is_missed = is_handing_in and refused.progress is Progress.CLAIMED
    is_denied = any(contradicts(one, shape) for one in findings)
    in_body = refused.status in BODY_STATUSES
    if refused.status >= SERVER_ERROR:
        return True  # only what lacks a name is a refusal
    if in_body and refused.refusal in {Refusal.INVALID, Refusal.OTHER}:
        # Words that stand for something differ with the task, and were ours to choose.
        sources = {one.source for one in shape.placed}
        words = {WORDS, "result"} if WORDS in sources else set()
        is_ours = any(one.source in words for one in _all_meant(findings, shape))
        return not is_proven or is_denied or not findings or is_ours
    if not is_proven and _tells_of_shape(
        refused, findings, shape, is_before_work=is_before_work
    ):
        return True
    if not is_proven and refused.refusal is Refusal.CONFLICT:
        return is_missed and in_body  # "There is no result": not in the body
    is_value = any(one.fault is Fault.VALUE for one in findings)
    is_told = is_denied or (not is_proven and (is_value or is_doubted))
    return is_told and is_no_in_yes(refused)


def _tells_of_shape(
    refused: outcomes.Refused,
    findings: tuple[FieldFault, ...],
    shape: RequestShape,
    *,
    is_before_work: bool,
) -> bool:
    """Return whether a refusal that sounds otherwise is about a shape never taken."""
    is_denied = any(contradicts(one, shape) for one in findings)
    in_body = refused.status in BODY_STATUSES
    wrong = [
        one
        for told in findings
        if told.fault in {Fault.VALUE, Fault.TYPE}
        for one in (*meant_by(told, shape), *_inside(told, shape))
    ]
    # Work of another type is not understood, in whatever words that is told.
    is_typed = in_body and any(
        told.fault is Fault.TYPE and told.wants and meant_by(told, shape)
        for told in findings
    )
    is_value = is_typed or any(one.source != "result" for one in wrong)
    if refused.status == FORBIDDEN:
        return _forbids_value(refused, findings, shape, wrong)
    match refused.refusal:
        case Refusal.REJECTED:  # a body is meant, where it is not about the work
            is_body = is_before_work and is_denied
            return in_body and (is_body or is_value or _lacks(findings, shape))
        case Refusal.ABSENT:  # perhaps what we took for the claim of a task of ours
            is_missing = any(one.fault is Fault.MISSING for one in findings)
            is_of_ours = not is_before_work and (is_value or is_missing)
            is_guess = any(is_of_another(one, shape) for one in findings)
            is_of_function = is_denied and seeks_a_function(refused.message)
            is_of_none = not any(map(_is_known_by, shape.placed))
            return is_of_ours or is_guess or is_of_function or is_of_none
        case Refusal.CONFLICT:
            # JSON:API has 409 for a wrong `type`; elsewhere it is about the task. And
            # in a 400 "work is missing" may name a field.
            is_type = any(one.is_exact and one.options for one in findings)
            is_exact = any(
                one.is_exact or is_header(one.path) or is_version(one.path[-1])
                for one in findings
            )
            is_lacking = is_exact and _lacks(findings, shape)
            is_stale = any(is_version(one.path[-1]) for one in wrong)
            is_told = is_type or is_lacking or is_stale
            return is_told or (is_denied and in_body)
        case _:
            return False


def _forbids_value(
    refused: outcomes.Refused,
    findings: tuple[FieldFault, ...],
    shape: RequestShape,
    wrong: list[Placed],
) -> bool:
    """Return whether a 403 is about a value of the body.

    Where a rule of a database judges a document, as CouchDB's do, or a role may not
    write a field, which is as good as none. `wrong`: the values that it speaks of.
    """
    is_lacking = _lacks(findings, shape)
    is_of_field = "field" in refused.message and any(
        one.fault is Fault.UNKNOWN and contradicts(one, shape) for one in findings
    )
    is_of_field |= any(
        told.options and (meant_by(told, shape) or _lacks((told,), shape))
        for told in findings
    )
    is_of_field |= is_lacking and names_a_field(refused.message)
    is_of_field |= any(_is_twice(one, shape) or _stands_in(one) for one in wrong)
    is_ours = any(one.means == "agent_id" for one in findings) and not any(
        one.source == "agent_id" for one in wrong
    )
    is_value = any(one.source != "result" for one in wrong)
    return is_of_field or (is_ours and (is_value or is_lacking))


def _is_twice(placed: Placed, shape: RequestShape) -> bool:
    """Return whether the task stands under another name, too: this is another's id."""
    others = (one for one in shape.placed if one.path != placed.path)
    return is_task(placed) and any(one.source == placed.source for one in others)


def _stands_in(placed: Placed) -> bool:
    """Return whether a value stands only where nothing better is known."""
    return placed.source in {"", WORDS}


def _inside(finding: FieldFault, shape: RequestShape) -> list[Placed]:
    """Return the values in an object that a finding names with all of its way."""
    path = finding.path if finding.is_exact and len(finding.path) > 1 else ("",)
    return [one for one in shape.placed if one.path[: len(path)] == path != one.path]


def _all_meant(
    findings: tuple[FieldFault, ...], shape: RequestShape
) -> Iterator[Placed]:
    """Return the values that any of these findings may be about."""
    return chain.from_iterable(meant_by(one, shape) for one in findings)


def _is_known_by(placed: Placed) -> bool:
    """Return whether a value tells the service which task is meant, or makes a new one.

    A 404 to a body without any is about that, and about no task.
    """
    is_given = placed.source.startswith(GIVEN)
    return is_given or placed.source in POST_WORDS or is_task(placed)


def _lacks(findings: tuple[FieldFault, ...], shape: RequestShape) -> bool:
    """Return whether a name is missed that a shape does not have."""
    return any(
        one.fault is Fault.MISSING and contradicts(one, shape) for one in findings
    )


def _end_of(message: str) -> str:
    return message if len(message) <= MAX_QUOTED else f"…{message[1 - MAX_QUOTED :]}"
