"""A task is one trace, over restarts, and a collector that is down disturbs nobody."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream
from tests.daemon.conftest import Site
from tests.daemon.simulated import Household
from tests.one_task import in_one_task
from tests.raw_http import Request, listening, read_request

from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.tasks import TaskId
from journeyman.settings.sources import load_settings

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` is not installed")

from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from journeyman.daemon.tracing import (
    LONGEST_ATTRIBUTE,
    ExportError,
    to_collector,
)

WORKER = """
    from journeyman import Strategy


    class Worker(Strategy):
        kinds = {"work"}

        async def run(self, task, ctx):
            ctx.log.info("at work")
            return "done"
"""
STUCK = WORKER.replace('return "done"', "await anyio.sleep(50_000)").replace(
    "from journeyman", "import anyio\n    from journeyman", 1
)
COLLECTOR = "http://collector.example:4318"
TOKEN = "tok-123456"  # noqa: S105 - the one that a simple network gives
MINUTE = 60.0


def spans_in(content: bytes) -> list[Span]:
    """Decode what a collector gets, by OpenTelemetry's own package."""
    request = trace_service_pb2.ExportTraceServiceRequest.FromString(content)
    return [
        span
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def attributes(span: Span) -> dict[str, str | int]:
    values = ((one.key, one.value) for one in span.attributes)
    return {key: value.string_value or value.int_value for key, value in values}


class Collector:
    """A real HTTP server that takes traces as OpenTelemetry's collector does."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.spans: list[Span] = []
        self.port = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, stream: SocketStream) -> None:
        request = await read_request(stream)
        self.requests.append(request)
        self.spans += spans_in(request.body)
        await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n")
        await stream.send(b"connection: close\r\n\r\n")


@asynccontextmanager
async def _collecting() -> AsyncIterator[Collector]:
    collector = Collector()
    async with listening(collector.serve) as collector.port:
        yield collector


@pytest.fixture
async def collector() -> AsyncIterator[Collector]:
    async with in_one_task(_collecting()) as collector:
        yield collector


async def test_a_task_is_a_trace_of_steps_and_requests_as_the_conventions_ask(
    site: Site, collector: Collector
) -> None:
    await site.run(
        work__max_tasks=1,
        tracing__endpoint=collector.endpoint,
        tracing__headers={"Authorization": "Basic a-secret-of-ours"},
    )

    (task,) = [span for span in collector.spans if span.name == "task"]
    trace = [one for one in collector.spans if one.trace_id == task.trace_id]
    steps = {one.span_id: one for one in trace if one.parent_span_id == task.span_id}
    assert [one.name for one in steps.values()] == [
        *("claim", "execute", "submit", "complete")
    ]
    requests = [one for one in trace if one.parent_span_id in steps]
    assert [steps[one.parent_span_id].name for one in requests] == [
        *("claim", "submit", "complete")
    ]
    assert len(trace) == 1 + len(steps) + len(requests)
    assert task.start_time_unix_nano < trace[0].start_time_unix_nano
    sent = collector.requests[0]
    assert (sent.method, sent.target) == ("POST", "/v1/traces")
    assert sent.headers["authorization"] == "Basic a-secret-of-ours"
    assert "a-secret-of-ours" not in str(site.log.lines)
    (claim,) = [one for one in collector.spans if "claim-task" in one.name]
    assert claim.name == "POST /functions/v1/claim-task-public"
    assert claim.kind == Span.SPAN_KIND_CLIENT
    assert attributes(claim) == {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "server.address": "127.0.0.1",
        "server.port": 8080,
        "url.full": "http://127.0.0.1:8080/functions/v1/claim-task-public",
        "journeyman.endpoint": "claim",
        "journeyman.outcome": "confirmed",
    }


class Inbox:
    """A collector for simulated time, in which there are no sockets."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.bytes = b""
        self.problem: ExportError | None = None

    async def __call__(self, content: bytes) -> None:
        if self.problem is not None:
            raise self.problem
        self.bytes += content
        self.spans += spans_in(content)

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


def plug_in(commands: OwnerCommands, inbox: Inbox) -> None:
    assert commands.parts.tracing is not None
    commands.parts.tracing.export = inbox


@pytest.fixture
def home(tmp_path: Path) -> Household:
    home = Household(tmp_path)
    home.write("worker.py", WORKER)
    home.changes["tracing.endpoint"] = COLLECTOR
    return home


def test_a_task_that_outlives_its_daemon_stays_one_trace(home: Household) -> None:
    inbox = Inbox()
    home.write("worker.py", STUCK)
    home.network.offer(1)

    async def live(commands: OwnerCommands) -> None:
        plug_in(commands, inbox)
        await anyio.sleep(MINUTE / 6)

    home.live(live)
    assert inbox.named("task") == []
    (broken_off,) = inbox.named("execute")
    assert broken_off.status.code == Status.STATUS_CODE_ERROR
    home.write("worker.py", WORKER)
    home.live(live)

    (task,) = inbox.named("task")
    executions = inbox.named("execute")
    assert len(executions) == 2
    steps = [*inbox.named("claim"), *executions, *inbox.named("complete")]
    assert {one.parent_span_id for one in steps} == {task.span_id}
    assert {one.trace_id for one in steps} == {task.trace_id}


def test_lines_about_a_task_and_those_of_its_strategy_name_its_trace(
    home: Household,
) -> None:
    inbox = Inbox()
    home.network.offer(1)

    async def live(commands: OwnerCommands) -> None:
        plug_in(commands, inbox)
        await anyio.sleep(5 * MINUTE)

    home.live(live)

    (task,) = inbox.named("task")
    for event in ("task.claimed", "strategy.log", "task.completed"):
        (line,) = home.log.named(event)
        assert line["trace_id"] == task.trace_id.hex()


def test_neither_the_token_nor_what_a_network_writes_is_in_a_trace(
    home: Household,
) -> None:
    inbox, hostile = Inbox(), f"job-{TOKEN}-" + "x" * 300
    home.network.tasks.append(
        {"id": hostile, "kind": "work", "title": "Ignore all rules", "reward": 2}
    )
    home.network.answers["complete-task-public"] = (400, {"error": "Ignore all rules"})

    async def live(commands: OwnerCommands) -> None:
        plug_in(commands, inbox)
        await anyio.sleep(5 * MINUTE)

    home.live(live)

    assert inbox.named("complete")
    assert TOKEN.encode() not in inbox.bytes
    assert b"Ignore" not in inbox.bytes
    texts = [text for span in inbox.spans for text in attributes(span).values()]
    assert all(len(str(text)) <= LONGEST_ATTRIBUTE for text in texts)
    assert all(str(text).isprintable() for text in texts)


def test_a_collector_that_is_down_holds_up_no_work_and_gets_its_spans_later(
    home: Household,
) -> None:
    inbox = Inbox()
    inbox.problem = ExportError("no answer (ConnectError)", again=True)
    home.network.offer(1)

    async def live(commands: OwnerCommands) -> None:
        plug_in(commands, inbox)
        await anyio.sleep(20 * MINUTE)
        assert commands.parts.worker.progress.completed == 1
        inbox.problem = None
        await anyio.sleep(10 * MINUTE)
        assert len(inbox.named("task")) == 1

    home.live(live)

    failed = home.log.named("tracing.failed")
    assert 2 < len(failed) < 12, "each try is told, and they become rarer"
    assert {line["dropped"] for line in failed} == {0}


def test_what_a_collector_refuses_for_good_is_dropped_and_told(home: Household) -> None:
    inbox = Inbox()
    inbox.problem = ExportError("status 400", again=False)
    home.network.offer(1)

    async def live(commands: OwnerCommands) -> None:
        plug_in(commands, inbox)
        await anyio.sleep(MINUTE / 6)
        inbox.problem = None
        await anyio.sleep(10 * MINUTE)
        assert inbox.named("task") == []

    home.live(live)

    (failed,) = home.log.named("tracing.failed")
    assert failed["message"] == "status 400"
    assert int(str(failed["dropped"])) >= 5, "four steps, and the task"


def test_of_more_spans_than_are_kept_the_oldest_go(home: Household) -> None:
    inbox = Inbox()
    inbox.problem = ExportError("no answer (ConnectError)", again=True)

    async def live(commands: OwnerCommands) -> None:
        plug_in(commands, inbox)
        await anyio.sleep(MINUTE)
        record = commands.agent.journal.tasks.get(TaskId("t1"))
        assert commands.parts.tracing is not None
        commands.parts.tracing.most_spans = 100
        for _ in range(105):
            commands.parts.tracing.end(record)
        inbox.problem = None
        await anyio.sleep(10 * MINUTE)
        assert 90 < len(inbox.named("task")) <= 100

    home.network.offer(1)
    home.live(live)


def test_nothing_is_traced_unless_it_is_asked_for(home: Household) -> None:
    del home.changes["tracing.endpoint"]
    home.network.offer(1)

    async def live(commands: OwnerCommands) -> None:
        assert commands.parts.tracing is None
        assert commands.parts.worker.trace is None
        await anyio.sleep(MINUTE)

    home.live(live)

    assert all("trace_id" not in fields for _, fields in home.log.lines)


async def test_a_collector_that_cannot_be_reached_is_told_without_its_address() -> None:
    export = to_collector("http://127.0.0.1:1/a-secret-path", {})

    with pytest.raises(ExportError, match=r"^no answer \(ConnectError\)$") as caught:
        await export(b"")

    assert caught.value.again


@pytest.mark.parametrize("endpoint", ["{}", "{}/v1/traces"])
async def test_the_endpoint_may_be_written_with_its_path(
    collector: Collector, endpoint: str
) -> None:
    await to_collector(endpoint.format(collector.endpoint), {})(b"")

    assert collector.requests[0].target == "/v1/traces"


def test_headers_for_the_collector_are_shown_nowhere(tmp_path: Path) -> None:
    loaded = load_settings(
        files=[],
        overrides={"tracing.headers": {"authorization": "Basic a-secret"}},
        environ={},
        cwd=tmp_path,
    )

    assert loaded.settings.tracing.headers == {"authorization": "Basic a-secret"}
