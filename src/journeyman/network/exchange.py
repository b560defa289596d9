"""One call from end to end: admit, send, classify, read, log."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import (
    Confirmed,
    Failure,
    NotSent,
    Outcome,
    Refused,
    Unknown,
)
from journeyman.domain.tasks import JSON, AccessToken, IdempotencyKey
from journeyman.network.answers import WrongShapeError
from journeyman.network.classify import EMPTY_STATUSES, Expects, Reading, classify
from journeyman.network.dialect import Dialect
from journeyman.network.events import NETWORK_REQUEST, NETWORK_TROUBLE
from journeyman.network.http import HttpClient, Reply, TransportFailure
from journeyman.network.observation import Observe, Observed
from journeyman.network.rate_limit.evidence import read_evidence
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.rate_limit.pause import Pause
from journeyman.network.wording import phrase_of, safe_line
from journeyman.observability.events import Log
from journeyman.observability.redaction import HIDDEN, spellings_of

_ESCAPED = "\\u00"
"""How JSON writes a plain letter that wants to hide (RFC 8259, section 7)."""
_BROKEN = r"(?:\s|\\[nrt])*"
"""What may stand between two letters: a line's end, also as JSON writes it."""


class Echo:
    """Finds certain secrets in answers, in any spelling, and broken across lines."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {form for secret in secrets for form in spellings_of(secret)}
        self._spellings = sorted(spellings, key=lambda form: (-len(form), form))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Made when a network first repeats a secret: hardly any ever does."""
        patterns = (_BROKEN.join(map(re.escape, form)) for form in self._spellings)
        return re.compile("|".join(patterns))

    def hidden_from(self, reply: Reply) -> Reply:
        """Give a reply without them; the same one where it has none."""
        if not self._spellings:
            return reply
        headers = reply.headers
        if any(map(self._may_be_in, headers.values())):
            headers = {name: self._clean(value) for name, value in headers.items()}
            reply = replace(reply, headers=headers)
        if not self._may_be_in(reply.text):
            return reply
        return replace(
            reply,
            body=self._clean_value(reply.body),
            text=self._clean(reply.text),
            problem=self._clean(reply.problem),
        )

    def _may_be_in(self, text: str) -> bool:
        """Look quickly: nearly all answers have nothing to hide."""
        if _ESCAPED in text:
            return True
        whole = "".join(text.replace("\\n", "").replace("\\r", "").split())
        return any(form in whole for form in self._spellings)

    def _clean(self, text: str) -> str:
        return self._pattern.sub(HIDDEN, text)

    def _clean_value(self, value: JSON) -> JSON:
        if isinstance(value, str):
            return self._clean(value)
        if isinstance(value, list):
            return [self._clean_value(item) for item in value]
        if isinstance(value, dict):
            return {self._clean(k): self._clean_value(v) for k, v in value.items()}
        return value


T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request, before it is sent."""

    name: str
    """The endpoint's name, or "document"."""
    method: str
    address: str
    """Where the path is put behind."""
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    """The JSON body, encoded; None sends no body."""
    token: AccessToken | None = None
    key: IdempotencyKey | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent besides our own, which are stronger."""
    expects: Expects = Expects.RECEIPT
    wants_json: bool = True
    """False leaves the body as text."""
    keep: Callable[[bytes], None] | None = None
    """Gets the bytes of a 2xx as they arrive, all so far each time."""


class Exchange:
    """Makes calls and turns their answers into outcomes."""

    def __init__(
        self,
        http: HttpClient,
        *,
        dialect: Dialect,
        clock: Clock,
        log: Log,
        observe: Observe | None = None,
        rate_limiter: RateLimiter | None = None,
    ) -> None:
        """Make one; `pressure` None holds nothing back, as for a single command."""
        self._http = http
        self._dialect = dialect
        self._clock = clock
        self._log = log
        self._observe = observe
        self._rate_limiter = rate_limiter
        self.secrets: tuple[str, ...] = ()
        """What no message may repeat."""
        self._echo = Echo()

    def keep_secret(self, *secrets: str) -> None:
        """Hide these wherever an answer repeats them, and in all messages."""
        self.secrets = secrets
        self._echo = Echo(secrets)

    def report_to(self, log: Log) -> None:
        """Log there from now on."""
        self._log = log

    async def run(
        self,
        call: Call,
        read: Callable[[Reply], T],
        rescue: Callable[[Refused, JSON], T | None] = lambda _refused, _body: None,
    ) -> Outcome[T]:
        """Make a call, unless it is held back.

        `read` gives the value of a yes, or raises WrongShapeError. `rescue` may
        find a yes in a refusal ("it is yours already").
        """
        if self._rate_limiter is None:
            return (await self._make(call, read, rescue))[0]
        passed = await self._rate_limiter.admit(call.name)
        if isinstance(passed, Pause):
            why = f"held back: {passed.reason}"
            return NotSent(why, retry_after=passed.seconds, held_back=True)
        with passed:
            outcome, answer = await self._make(call, read, rescue)
            sign = read_evidence(
                outcome,
                timed_out=isinstance(answer, TransportFailure) and answer.timed_out,
                is_read=call.expects is not Expects.RECEIPT,
            )
            passed.tell(sign, call.key or str(passed.began))
        return outcome

    async def _make(
        self,
        call: Call,
        read: Callable[[Reply], T],
        rescue: Callable[[Refused, JSON], T | None],
    ) -> tuple[Outcome[T], Reply | TransportFailure]:
        started = self._clock.monotonic()
        answer = await self._http.send(
            call.method,
            call.address + call.path,
            headers=self._headers(call),
            query=call.query,
            content=call.content,
            wants_json=call.wants_json,
            keep=call.keep,
        )
        seconds = self._clock.monotonic() - started
        if isinstance(answer, Reply):
            answer = self._echo.hidden_from(answer)
        outcome = self._judge(call, answer, read)
        if isinstance(outcome, Refused) and isinstance(answer, Reply):
            rescued = rescue(outcome, answer.body)
            outcome = outcome if rescued is None else Confirmed(rescued)
        self._tell(call, answer, outcome, seconds)
        if self._observe is not None:
            self._observe(self._observed(call, answer, outcome, seconds))
        return outcome, answer

    def _headers(self, call: Call) -> dict[str, str]:
        headers = dict(call.headers)
        headers["Accept"] = "application/json" if call.wants_json else "*/*"
        if call.content is not None:
            headers["Content-Type"] = "application/json"
        if call.token is not None:
            headers["Authorization"] = f"Bearer {call.token.reveal()}"
        if call.key is not None:
            headers[self._dialect.idempotency_header] = call.key
        return headers

    def _judge(
        self,
        call: Call,
        answer: Reply | TransportFailure,
        read: Callable[[Reply], T],
    ) -> Outcome[T]:
        reading = Reading(
            dialect=self._dialect,
            now=self._clock.now(),
            secrets=self.secrets,
            expects=call.expects,
        )
        failure = classify(answer, reading)
        if isinstance(answer, TransportFailure) or failure is not None:
            return failure or Unknown("no answer")
        if answer.status in EMPTY_STATUSES:
            answer = Reply(answer.status, answer.headers, {}, "")
        try:
            return Confirmed(read(answer))
        except WrongShapeError as error:
            message = f"{phrase_of(answer.status)} with {error}"
            return Unknown(safe_line(message, self.secrets), answer.status)

    def _observed(
        self,
        call: Call,
        answer: Reply | TransportFailure,
        outcome: Confirmed[T] | Failure,
        seconds: float,
    ) -> Observed:
        came = answer if isinstance(answer, Reply) else None
        return Observed(
            endpoint=call.name,
            query=call.query,
            content=call.content,
            has_token=call.token is not None,
            status=came.status if came else None,
            headers=came.headers if came else {},
            body=came.body if came else None,
            text=came.text if came else "",
            problem=came.problem if came else "",
            seconds=seconds,
            outcome=_word_for(outcome),
            is_yes=isinstance(outcome, Confirmed),
            secrets=self.secrets,
        )

    def _tell(
        self,
        call: Call,
        answer: Reply | TransportFailure,
        outcome: Confirmed[T] | Failure,
        seconds: float,
    ) -> None:
        status = answer.status if isinstance(answer, Reply) else None
        what = {
            "endpoint": call.name,
            "path": call.path,
            "status": status,
            "outcome": _word_for(outcome),
        }
        self._log.emit(
            NETWORK_REQUEST,
            **what,
            method=call.method,
            seconds=round(seconds, 4),
        )
        if isinstance(outcome, NotSent | Unknown):
            self._log.emit(NETWORK_TROUBLE, **what, message=outcome.message)


def _word_for(outcome: Confirmed[T] | Failure) -> str:
    match outcome:
        case Confirmed():
            return "confirmed"
        case Refused(refusal=refusal):
            return f"refused: {refusal}"
        case NotSent():
            return "not sent"
        case Unknown():
            return "unknown"
