"""OpenTelemetry: a trace of each task, with a span for each step and each request.

The ids of a task's trace are made from its own id, so that the spans of a daemon that
was killed and those of the next one are of one trace. Nothing that a network chooses
becomes an attribute, except a task's id, cleaned and cut.

Spans are encoded by OpenTelemetry's libraries, and posted from the event loop by our
own HTTP client: the exporter of theirs brings a thread, which wakes while nothing
happens, and at the end waits for a collector that is down.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NoReturn, Self
from urllib.parse import urlsplit

import anyio
import httpx2 as httpx
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import (
    ReadableSpan,
    SpanLimits,
    SpanProcessor,
    TracerProvider,
)
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE
from opentelemetry.semconv.attributes.http_attributes import (
    HTTP_REQUEST_METHOD,
    HTTP_RESPONSE_STATUS_CODE,
)
from opentelemetry.semconv.attributes.server_attributes import (
    SERVER_ADDRESS,
    SERVER_PORT,
)
from opentelemetry.semconv.attributes.url_attributes import URL_FULL
from opentelemetry.trace import SpanKind, Status, StatusCode

from journeyman.daemon import events
from journeyman.daemon.environment import Environment
from journeyman.domain import __version__
from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.tasks import Identity, TaskState
from journeyman.domain.text import escape
from journeyman.journal.tasks import TaskRecord
from journeyman.network.call import Call
from journeyman.network.endpoints import DISCOVERY_DOCUMENTS, ENDPOINTS
from journeyman.observability.events import Event, Log

PATH = "/v1/traces"
"""Where OTLP over HTTP wants traces, below the endpoint."""
AGENT, TASK, STRATEGY, STATE = (
    f"journeyman.{name}" for name in ("agent.id", "task.id", "strategy", "task.state")
)
ENDPOINT, OUTCOME = "journeyman.endpoint", "journeyman.outcome"
FAILED = frozenset({TaskState.FAILED, TaskState.REJECTED})
LONGEST_ATTRIBUTE = 200
MOST_SPANS = 2_048
"""Kept while the collector is down; the oldest go first."""
MOST_AT_ONCE = 256
"""Encoded in one turn of the event loop."""
GATHER_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 300.0
SEND_SECONDS = 10.0
LAST_SECONDS = 2.0
"""For what is left when the daemon stops."""
TRY_AGAIN = frozenset({429, 502, 503, 504})
"""The statuses for which OTLP wants the same spans again."""
_KNOWN_PATHS = {*(one.path for one in ENDPOINTS), *DISCOVERY_DOCUMENTS}


class ExportError(Exception):
    """The collector did not take spans; the text says why."""

    def __init__(self, message: str, *, again: bool) -> None:
        """Note whether it may take them later."""
        super().__init__(message)
        self.again = again


Export = Callable[[bytes], Awaitable[None]]
"""Sends encoded spans. Raises ExportError."""


def to_collector(endpoint: str, headers: Mapping[str, str]) -> Export:
    """Return what posts spans to a collector (OTLP over HTTP, protobuf)."""
    address = endpoint.removesuffix(PATH) + PATH
    sent = {**headers, "content-type": "application/x-protobuf"}

    async def export(content: bytes) -> None:
        try:
            async with (
                httpx.AsyncClient(timeout=SEND_SECONDS) as client,
                client.stream("POST", address, content=content, headers=sent) as answer,
            ):
                status = answer.status_code  # the body, of any length, is not read
        except httpx.HTTPError as error:
            raise ExportError(
                f"no answer ({type(error).__name__})", again=True
            ) from error
        if not httpx.codes.is_success(status):
            raise ExportError(f"status {status}", again=status in TRY_AGAIN)

    return export


class _Ids(IdGenerator):
    """Random ids, except where a task's own are laid ready."""

    def __init__(self, randomness: Randomness) -> None:
        self._randomness = randomness
        self.ready: trace.SpanContext | None = None

    def generate_trace_id(self) -> int:
        return self.ready.trace_id if self.ready else self._random(16)

    def generate_span_id(self) -> int:
        return self.ready.span_id if self.ready else self._random(8)

    def _random(self, size: int) -> int:
        return _number(self._randomness.new_id("span"), size)


def _number(text: str, size: int) -> int:
    """Return a number of so many bytes; OpenTelemetry does not allow 0."""
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=size).digest()
    return int.from_bytes(digest) or 1


@dataclass(kw_only=True, eq=False)
class Tracing:
    """Makes spans, and sends them from time to time."""

    identity: Identity
    service_name: str
    export: Export
    clean: Callable[[str], str]
    """Hides secrets."""
    clock: Clock
    randomness: Randomness
    log: Log
    most_spans: int = MOST_SPANS
    _spans: deque[ReadableSpan] = field(init=False, default_factory=deque)
    _dropped: int = field(init=False, default=0)
    _some: anyio.Event = field(init=False, default_factory=anyio.Event)
    """Set while there are spans to send."""

    def __post_init__(self) -> None:
        self._ids = _Ids(self.randomness)
        resource = {
            "service.name": self.service_name,
            "service.version": __version__,
            "service.instance.id": escape(self.identity.agent_id, longest=100),
        }
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=Resource(resource),
            shutdown_on_exit=False,
            id_generator=self._ids,
            span_limits=SpanLimits(
                max_span_attributes=20, max_span_attribute_length=LONGEST_ATTRIBUTE
            ),
        )
        provider.add_span_processor(_Keeping(self._keep))
        self._tracer = provider.get_tracer("journeyman", __version__)

    def in_log(self, environment: Environment) -> Environment:
        """Return an environment whose log names the trace in each line of a task."""
        return replace(environment, log=TracedLog(environment.log, self.trace_id))

    # -- spans ------------------------------------------------------------------

    def trace_id(self, task_id: str) -> str:
        """Return the id of a task's trace as it is usually written."""
        return trace.format_trace_id(self._root(task_id).trace_id)

    def _root(self, task_id: str) -> trace.SpanContext:
        """Return the ids of a task's trace, and of the span that holds all others."""
        whose = f"{self.identity.base_url}\n{self.identity.agent_id}\n{task_id}"
        return trace.SpanContext(
            trace_id=_number(f"trace\n{whose}", 16),
            span_id=_number(f"span\n{whose}", 8),
            is_remote=False,
            trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
        )

    @contextmanager
    def step(
        self, name: str, record: TaskRecord
    ) -> Iterator[Callable[[TaskRecord], TaskRecord]]:
        """Trace one step of a task; yield what is told how it ended."""
        parent = trace.NonRecordingSpan(self._root(record.task_id))
        span = self._tracer.start_span(
            name,
            context=trace.set_span_in_context(parent, Context()),
            start_time=self._now(),
            attributes={TASK: self._safe(record.task_id)},
        )

        def ended(after: TaskRecord) -> TaskRecord:
            self._describe(span, after)
            return after

        try:
            with trace.use_span(
                span, record_exception=False, set_status_on_exception=False
            ):
                yield ended
        except BaseException as error:
            # Not its message, which may quote anything.
            span.set_attribute(ERROR_TYPE, type(error).__qualname__)
            span.set_status(Status(StatusCode.ERROR))
            raise
        finally:
            span.end(self._now())

    def request(
        self, call: Call, status: int | None, outcome: str, seconds: float
    ) -> None:
        """Trace a request that has ended, below the step that it was made for."""
        parts, is_known = urlsplit(call.address), call.path in _KNOWN_PATHS
        path = call.path if is_known else "/REDACTED"
        attributes: dict[str, str | int] = {
            HTTP_REQUEST_METHOD: call.method,
            SERVER_ADDRESS: parts.hostname or "",
            SERVER_PORT: parts.port or {"http": 80}.get(parts.scheme, 443),
            URL_FULL: call.address + path,  # no query: a cursor is the network's word
            ENDPOINT: call.name,
            OUTCOME: outcome,
        }
        if status is not None:
            attributes[HTTP_RESPONSE_STATUS_CODE] = status
        now = self._now()
        span = self._tracer.start_span(
            f"{call.method} {path}" if is_known else call.method,
            kind=SpanKind.CLIENT,
            start_time=now - round(seconds * 1e9),
            attributes=attributes,
        )
        if status is None or status >= httpx.codes.BAD_REQUEST:
            problem = str(status or outcome.replace(" ", "_"))
            span.set_attribute(ERROR_TYPE, problem)
            span.set_status(Status(StatusCode.ERROR))
        span.end(now)

    def end(self, record: TaskRecord) -> None:
        """Trace a task that has ended, from when it was first seen."""
        self._ids.ready = self._root(record.task_id)
        try:
            span = self._tracer.start_span(
                "task",
                context=Context(),
                start_time=round(record.seen_at.timestamp() * 1e9),
                attributes={
                    AGENT: self._safe(self.identity.agent_id),
                    TASK: self._safe(record.task_id),
                    "journeyman.task.executions": record.executions,
                },
            )
        finally:
            self._ids.ready = None
        self._describe(span, record)
        span.end(self._now())

    def _describe(self, span: trace.Span, record: TaskRecord) -> None:
        span.set_attributes({STATE: record.state.value, STRATEGY: record.strategy})
        if record.state in FAILED:
            span.set_attribute(ERROR_TYPE, record.state.value)
            span.set_status(Status(StatusCode.ERROR))

    def _safe(self, text: str) -> str:
        return escape(self.clean(text), longest=LONGEST_ATTRIBUTE)

    def _now(self) -> int:
        return round(self.clock.now().timestamp() * 1e9)

    # -- sending ----------------------------------------------------------------

    def _keep(self, span: ReadableSpan) -> None:
        while len(self._spans) >= self.most_spans:
            self._spans.popleft()
            self._dropped += 1
        self._spans.append(span)
        self._some.set()

    async def run(self) -> NoReturn:
        """Send what there is, a while after it came; nothing wakes without spans."""
        pause = GATHER_SECONDS
        try:
            while True:
                await self._some.wait()
                await self.clock.sleep(pause)
                is_taken = await self._send()
                pause = GATHER_SECONDS if is_taken else pause * 2
                pause = min(pause, LONGEST_PAUSE_SECONDS)
        finally:
            with anyio.move_on_after(LAST_SECONDS, shield=True):
                await self._send(is_last=True)

    async def _send(self, *, is_last: bool = False) -> bool:
        """Return whether the collector took what there was."""
        while self._spans:
            size = min(len(self._spans), MOST_AT_ONCE)
            batch = [self._spans.popleft() for _ in range(size)]
            try:
                await self.export(encode_spans(batch).SerializeToString())
            except ExportError as error:
                if error.again and not is_last:
                    self._put_back(batch)
                else:
                    self._dropped += size
                lost, self._dropped = self._dropped, 0
                self.log.emit(events.SPANS_NOT_TAKEN, message=str(error), dropped=lost)
                return False
        self._some = anyio.Event()
        return True

    def _put_back(self, batch: list[ReadableSpan]) -> None:
        room = max(0, self.most_spans - len(self._spans))
        kept = batch[max(0, len(batch) - room) :]
        self._dropped += len(batch) - len(kept)
        self._spans.extendleft(reversed(kept))


class _Keeping(SpanProcessor):
    """Hands on each span that has ended."""

    def __init__(self, keep: Callable[[ReadableSpan], None]) -> None:
        self._keep = keep

    def on_end(self, span: ReadableSpan) -> None:
        self._keep(span)


@dataclass(frozen=True, eq=False, slots=True)
class TracedLog:
    """A log whose lines about a task name its trace."""

    log: Log
    trace_id: Callable[[str], str]

    def emit(self, event: Event, **fields: object) -> None:
        """Write one event, and the trace that it belongs to."""
        self.log.emit(event, **self._traced(fields))

    def bind(self, **context: object) -> Self:
        """Return a log whose every event has these fields."""
        return type(self)(self.log.bind(**self._traced(context)), self.trace_id)

    def _traced(self, fields: dict[str, object]) -> dict[str, object]:
        task_id = fields.get("task_id")
        if not isinstance(task_id, str):
            return fields
        return {**fields, "trace_id": self.trace_id(task_id)}
