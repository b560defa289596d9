"""One call from end to end: rate limit, send, redact, classify, read, log, observe."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from journeyman.domain import outcomes
from journeyman.domain.clock import Clock
from journeyman.network.bugs import Contained
from journeyman.network.call import (
    CONTENT_TYPE,
    JSON_TYPE,
    Call,
    Expects,
    LaterReply,
    Reply,
)
from journeyman.network.classify import (
    YesMarks,
    as_answered,
    as_no,
    classify,
    is_empty_yes,
    is_success,
    only_says_otherwise,
    yes_marks,
)
from journeyman.network.endpoints import STEPS
from journeyman.network.events import NETWORK_REQUEST, NETWORK_REQUEST_FAILED
from journeyman.network.http import HttpClient
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.rate_limit.pause import Pause, RateLimits
from journeyman.network.service_model.evidence import Observe, Observed
from journeyman.network.service_model.no_in_yes import NoInYesError
from journeyman.network.service_model.reading import WrongShapeError
from journeyman.network.service_model.vocabulary import ASSUMED
from journeyman.network.wording import phrase_of, safe_line
from journeyman.observability.events import Log
from journeyman.observability.redaction import KnownSecrets

T = TypeVar("T")

_WORDS = {
    outcomes.Confirmed: "confirmed",
    outcomes.Refused: "refused",
    outcomes.NotSent: "not sent",
    outcomes.Unknown: "unknown",
}
"""For the log, and for what is learned."""

_BUG = "which a bug in Journeyman kept from being read; the log has its traceback"

TraceRequest = Callable[[Call, int | None, str, float], None]
"""Is told a call that has ended, its status, how it ended, and the seconds it took."""


@dataclass(frozen=True, slots=True)
class Before(Generic[T]):
    """What an answer of certain bytes was read as."""

    digest: bytes
    """Empty: nothing is known yet."""
    value: T


@dataclass(kw_only=True, eq=False)
class Exchange:
    """Makes calls and turns their answers into outcomes."""

    http: HttpClient
    clock: Clock
    log: Log
    observe: Observe | None = None
    """Is shown each call that has ended."""
    rate_limiter: RateLimiter | None = None
    """None sends everything at once, as for a single command."""
    trace: TraceRequest | None = field(default=None, init=False)
    """None: nobody wants traces."""
    secrets: tuple[str, ...] = field(default=(), init=False)
    """What no message may repeat."""
    _known: KnownSecrets = field(default_factory=KnownSecrets, init=False)
    _yes_marks: YesMarks = field(default=YesMarks(), init=False)
    """What this network sets in its listings and its answer to the registration."""

    def keep_secret(self, *secrets: str) -> None:
        """Hide these wherever an answer repeats them, and in all messages."""
        self.secrets, self._known = secrets, KnownSecrets(*secrets)

    async def run(
        self,
        call: Call,
        read: Callable[[Reply], T],
        before: Before[T] | None = None,
    ) -> outcomes.Outcome[T]:
        """Make a call when the rate limiter allows it.

        `read` returns the value of a success, or raises WrongShapeError, or
        NoInYesError. `before` is the value of an answer that is not read again if it
        comes again.
        """
        if self.rate_limiter is None:
            return await self._make(call, read, before)
        permit = await self.rate_limiter.acquire(call.name, call.task_id)
        if isinstance(permit, Pause):
            message = f"paused: {permit.reason}"
            return outcomes.NotSent(message, retry_after=permit.seconds, paused=True)
        outcome = None
        try:
            outcome = await self._make(call, read, before)
        finally:
            self.rate_limiter.release(permit, outcome)
        return outcome

    async def _make(
        self,
        call: Call,
        read: Callable[[Reply], T],
        before: Before[T] | None = None,
    ) -> outcomes.Outcome[T]:
        outcome: outcomes.Outcome[T]
        started = self.clock.monotonic()
        answer = await self.http.send(
            call.method,
            call.address + call.path,
            headers=self._headers(call),
            query=call.query,
            content=call.content,
            wants_json=call.wants_json,
            keep=call.keep,
            known=before.digest if before else None,
        )
        seconds = self.clock.monotonic() - started
        if isinstance(answer, Reply) and answer.is_known and before:
            self._log_request(call, answer.status, "confirmed", seconds)
            return outcomes.Confirmed(before.value)
        if isinstance(answer, Reply):
            answer = without_secrets(answer, self._known)
            status = answer.status
            outcome = outcomes.Unknown(f"{phrase_of(status)}, {_BUG}", status)
            with Contained(self.log, f"reading an answer of {call.name}"):
                outcome = self._read(call, answer, read)
        else:
            message = safe_line(self._known.hide(answer.message))
            outcome = replace(answer, message=message)
        self._report(call, answer, outcome, seconds)
        return outcome

    def _headers(self, call: Call) -> dict[str, str]:
        headers = dict(call.headers)
        headers["Accept"] = "application/json" if call.wants_json else "*/*"
        if call.content is not None:
            headers.setdefault(CONTENT_TYPE, JSON_TYPE)
        if call.token is not None:
            headers["Authorization"] = f"Bearer {call.token.reveal()}"
        if call.key is not None:
            headers[ASSUMED.idempotency_header] = call.key
        return headers

    def _read(
        self,
        call: Call,
        answer: Reply,
        read: Callable[[Reply], T],
    ) -> outcomes.Outcome[T]:
        if call.method == "POST":
            answer = as_answered(answer, call.address, call.task_id)
        if failure := self._failure(call, answer):
            return _unquoted(failure) if call.keep else failure
        if is_empty_yes(answer):
            answer = Reply(answer.status, answer.headers, {}, "")
        try:
            value = read(answer)
            if call.keep or call.expects is Expects.DATA:
                self._yes_marks |= yes_marks(answer.body)
            return outcomes.Confirmed(value)
        except NoInYesError:
            return as_no(answer, self.clock.now())
        except WrongShapeError as error:
            message = f"{phrase_of(answer.status)} with {error}"
            return outcomes.Unknown(safe_line(message), answer.status)

    def _failure(self, call: Call, answer: Reply) -> outcomes.Failure | None:
        """Return why an answer is no success, with a pause no longer than allowed."""
        marks, now = self._yes_marks, self.clock.now()
        failure = classify(answer, call.expects, now, marks)
        if failure is not None:
            limits = self.rate_limiter.options if self.rate_limiter else RateLimits()
            return limits.cap(failure)
        # A post may have been paid for, and a registration is made once.
        is_no = call.name in STEPS and only_says_otherwise(answer.body, marks)
        return as_no(answer, now) if is_no else None

    def _report(
        self,
        call: Call,
        answer: Reply | outcomes.Failure,
        outcome: outcomes.Confirmed[T] | outcomes.Failure,
        seconds: float,
    ) -> None:
        """Log a call that has ended, and show it to the observer."""
        came = answer if isinstance(answer, Reply) else None
        word = _WORDS[type(outcome)]
        if isinstance(outcome, outcomes.Refused):
            word = f"{word}: {outcome.refusal}"
        what = self._log_request(call, came.status if came else None, word, seconds)
        if isinstance(outcome, outcomes.NotSent | outcomes.Unknown):
            self.log.emit(NETWORK_REQUEST_FAILED, **what, message=outcome.message)
        if self.observe is None:
            return
        is_yes = isinstance(outcome, outcomes.Confirmed)
        with Contained(self.log, f"learning from an answer of {call.name}"):
            self.observe(Observed(call, came, seconds, word, is_yes, self.secrets))

    def _log_request(
        self, call: Call, status: int | None, word: str, seconds: float
    ) -> dict[str, object]:
        what: dict[str, object] = {"endpoint": call.name, "path": call.path}
        what |= {"status": status, "outcome": word}
        if self.trace is not None:
            self.trace(call, status, word, seconds)
        took = round(seconds, 4)
        self.log.emit(NETWORK_REQUEST, **what, method=call.method, seconds=took)
        return what


def _unquoted(failure: outcomes.Failure) -> outcomes.Failure:
    """Return a failure that does not quote a success, which may be a token."""
    if not (isinstance(failure, outcomes.Unknown) and is_success(failure.status or 0)):
        return failure
    said = f"{phrase_of(failure.status or 0)} with a body that cannot be read as JSON"
    return replace(failure, message=said)


def without_secrets(reply: Reply, known: KnownSecrets) -> Reply:
    """Return a reply in which the network repeats no secret; the same if it did not.

    What a later portion of it repeats is taken out when that is read.
    """
    if reply.rest:
        reply = replace(reply, rest=tuple(_guarded(one, known) for one in reply.rest))
    if not known.are_in("\n".join((*reply.headers.values(), reply.text))):
        return reply
    return replace(
        reply,
        headers={name: known.hide(value) for name, value in reply.headers.items()},
        body=known.hide_in_json(reply.body),
        text=known.hide(reply.text),
        problem=known.hide(reply.problem),
    )


def _guarded(later: LaterReply, known: KnownSecrets) -> LaterReply:
    return replace(later, read=lambda: without_secrets(later.read(), known))
