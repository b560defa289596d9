"""One call from end to end: send, classify, read, log."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from journeyman.domain import (
    JSON,
    AccessToken,
    Clock,
    Confirmed,
    Failure,
    IdempotencyKey,
    NotSent,
    Outcome,
    Refused,
    Unknown,
)
from journeyman.network.answers import WrongShapeError
from journeyman.network.classify import EMPTY_STATUSES, Expects, Reading, classify
from journeyman.network.dialect import Dialect
from journeyman.network.events import NETWORK_REQUEST, NETWORK_TROUBLE
from journeyman.network.http import HttpClient, Reply, TransportFailure
from journeyman.network.wording import phrase_of, safe_line
from journeyman.observability import Log

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
    ) -> None:
        self._http = http
        self._dialect = dialect
        self._clock = clock
        self._log = log
        self.secrets: tuple[str, ...] = ()
        """What no message may repeat."""

    async def run(
        self,
        call: Call,
        read: Callable[[Reply], T],
        rescue: Callable[[Refused, JSON], T | None] = lambda _refused, _body: None,
    ) -> Outcome[T]:
        """Make a call.

        `read` gives the value of a yes, or raises WrongShapeError. `rescue` may
        find a yes in a refusal ("it is yours already").
        """
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
        outcome = self._judge(call, answer, read)
        if isinstance(outcome, Refused) and isinstance(answer, Reply):
            rescued = rescue(outcome, answer.body)
            outcome = outcome if rescued is None else Confirmed(rescued)
        self._tell(call, answer, outcome, seconds)
        return outcome

    def _headers(self, call: Call) -> dict[str, str]:
        headers = {"Accept": "application/json" if call.wants_json else "*/*"}
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
