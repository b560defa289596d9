"""Servers that break off, stall, drip, lie or drown us: each ends in an outcome."""

import gzip
import json

import anyio
import pytest
from tests.network.conftest import (
    Behaviour,
    ClientFor,
    ScriptedServer,
    StoppedClock,
    answer,
    drip,
    hang_up,
    identity_at,
    raw,
    reset,
    stall,
)
from tests.raw_http import listening

from journeyman.domain.errors import StateError
from journeyman.domain.outcomes import Confirmed, NotSent, Refusal, Refused, Unknown
from journeyman.domain.tasks import JSON, IdempotencyKey, Task, TaskId
from journeyman.network.client import NetworkClient
from journeyman.network.http import HttpLimits
from journeyman.network.service_model.context import Sent
from journeyman.network.service_model.evidence import Observed
from journeyman.network.service_model.refusals.faults import FieldFault
from journeyman.network.service_model.search import RequestSearch
from journeyman.testing import RecordingLog

KEY = IdempotencyKey("key-1")
TASK = Task(id=TaskId("task-1"))
IMPATIENT = HttpLimits(read_timeout=0.05, total_timeout=5.0)
SHORT = HttpLimits(total_timeout=0.2)
NGINX = b"<!DOCTYPE html><html><head><title>Welcome to nginx!</title></head></html>"
DEEP = b"[" * 100_000


def message_of(outcome: object) -> str:
    assert isinstance(outcome, Unknown), outcome
    return outcome.message


async def test_a_port_where_nobody_listens_means_not_sent(
    client_for: ClientFor,
    log: RecordingLog,
) -> None:
    async with listening(stall) as port:
        pass  # From here on, nobody listens there.

    async with client_for(f"http://127.0.0.1:{port}") as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, NotSent)
    assert outcome.message == "ConnectError: Connection refused"
    assert log.named("network.request_failed")[0]["outcome"] == "not sent"


async def test_a_tls_handshake_that_never_ends_means_not_sent(
    server: ScriptedServer,
    client_for: ClientFor,
) -> None:
    address = server.base_url.replace("http://", "https://")
    limits = HttpLimits(connect_timeout=0.05)

    async with client_for(address, limits=limits) as client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, NotSent)
    assert server.requests == []


@pytest.mark.parametrize("behaviour", [hang_up, reset], ids=lambda b: b.__name__)
async def test_a_connection_lost_before_the_answer_may_have_happened(
    server: ScriptedServer,
    network: NetworkClient,
    behaviour: Behaviour,
) -> None:
    server.will(behaviour)

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Unknown)
    assert len(server.requests) == 1


async def test_a_lost_answer_is_not_repeated_by_the_client_itself(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(200, {}), reset, answer(200, {}))

    outcomes = [await network.claim(TASK, KEY) for _ in range(3)]

    assert [type(outcome) for outcome in outcomes] == [Confirmed, Unknown, Confirmed]
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{}", id="cut-off"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{",
            id="cut-chunk",
        ),
        pytest.param(b"HTTP/1.1 200", id="cut-head"),
        pytest.param(b"\x00\xff garbage\r\n\r\n", id="no-http"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", id="another-protocol"),
    ],
)
async def test_an_answer_that_is_no_whole_http_may_have_happened(
    server: ScriptedServer,
    network: NetworkClient,
    content: bytes,
) -> None:
    server.will(raw(content))

    assert isinstance(await network.claim(TASK, KEY), Unknown)


async def test_a_silent_server_is_given_up_after_the_read_timeout(
    server: ScriptedServer,
    client_for: ClientFor,
) -> None:
    server.will(stall)

    async with client_for(server.base_url, limits=IMPATIENT) as client:
        outcome = await client.claim(TASK, KEY)

    assert "ReadTimeout" in message_of(outcome)


async def test_a_dripping_server_is_stopped_by_the_total_deadline(
    server: ScriptedServer,
    client_for: ClientFor,
) -> None:
    server.will(drip)

    async with client_for(server.base_url, limits=SHORT) as client:
        outcome = await client.claim(TASK, KEY)

    assert message_of(outcome) == "no complete answer within 0.2 s"


async def test_a_silent_server_is_given_up_when_the_whole_call_is_due(
    server: ScriptedServer,
    client_for: ClientFor,
) -> None:
    server.will(stall)

    async with client_for(server.base_url, limits=SHORT) as client:
        with anyio.fail_after(5):  # sooner than the time-out of a read
            outcome = await client.claim(TASK, KEY)

    assert message_of(outcome) == "no complete answer within 0.2 s"


async def test_a_stopped_call_leaves_the_client_usable(
    server: ScriptedServer,
    client_for: ClientFor,
) -> None:
    server.will(drip, answer(200, {"ok": True}))
    limits = HttpLimits(total_timeout=0.2, max_connections=1)

    async with client_for(server.base_url, limits=limits) as client:
        await client.claim(TASK, KEY)
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)


async def test_ten_megabytes_are_not_read(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(200, b"[" + b" " * 10_000_000 + b"]"))

    outcome = await network.public_marketplace()

    assert "a body of more than 1048576 bytes" in message_of(outcome)


async def test_a_huge_error_body_does_not_hide_a_definite_no(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(409, b"x" * 10_000_000))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.CONFLICT


async def test_a_compressed_body_is_not_unpacked(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    bomb = gzip.compress(b" " * 1_000_000)
    server.will(answer(200, bomb, {"content-encoding": "gzip"}))

    outcome = await network.public_marketplace()

    assert "a compressed body (gzip)" in message_of(outcome)


async def test_a_byte_order_mark_is_no_obstacle(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    body = b"\xef\xbb\xbf" + json.dumps({"balance": 7}).encode()
    server.will(answer(200, body, {"content-type": "text/plain"}))

    outcome = await network.complete(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.balance == 7


async def test_an_html_page_is_named_and_asked_about(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(200, NGINX, {"content-type": "text/html; charset=utf-8"}))

    outcome = await network.public_marketplace()

    assert message_of(outcome) == (
        "200 OK with an HTML page (text/html, 'Welcome to nginx!'), not JSON:"
        " is base_url right?"
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "an empty body where JSON was expected"),
        (b"  \n", "an empty body where JSON was expected"),
        (b"pong", "a text (application/json, 'pong'), not JSON"),
        (b'{"a": ', "not JSON (Expecting value at line 1, column 7)"),
        (b'{"a": NaN}', "JSON with NaN, which is not a JSON number"),
        (b"[1e999]", "JSON with a number beyond all bounds"),
        (b"[" + b"9" * 5000 + b"]", "JSON with a number of too many digits"),
        (DEEP, "JSON nested deeper than 64 levels"),
        (b'[{"a":' * 50_000, "JSON nested deeper than 64 levels"),
        (b"[]", "a JSON array where an object was expected"),
        (b"null", "a JSON null where an object was expected"),
        (b'"ok"', "a JSON string where an object was expected"),
        (b"true", "a JSON boolean where an object was expected"),
        (b"1", "a JSON integer where an object was expected"),
    ],
    ids=lambda value: repr(value[:12]),
)
async def test_an_unusable_answer_to_an_action_is_unknown_and_says_what_came(
    server: ScriptedServer,
    network: NetworkClient,
    body: bytes,
    words: str,
) -> None:
    server.will(answer(200, body))

    assert words in message_of(await network.claim(TASK, KEY))


async def test_brackets_inside_strings_do_not_count_as_depth(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    body: JSON = {"a": "[" * 500, "b": '\\"[{' * 100, "c": [[]] * 100}
    server.will(answer(200, body))

    assert await network.public_agents() == Confirmed(body)


async def test_half_a_surrogate_pair_becomes_a_replacement_character(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(200, b'{"\\udc00": ["a\\ud800", "\\ud83d\\ude00"]}'))

    outcome = await network.public_agents()

    assert outcome == Confirmed({"\ufffd": ["a\ufffd", "\U0001f600"]})


async def test_a_list_is_no_number(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(200, b"5"))

    outcome = await network.public_marketplace()

    assert "a JSON integer where a list was expected" in message_of(outcome)


async def test_an_answer_without_content_is_a_yes(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(raw(b"HTTP/1.1 204 No Content\r\n\r\n"))

    assert isinstance(await network.claim(TASK, KEY), Confirmed)


async def test_a_page_that_refuses_is_quoted_with_what_it_says_below(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    page = (
        b"<!DOCTYPE html><html><title>Gone</title><p>It was &quot;withdrawn&quot;.</p>"
    )
    server.will(answer(410, page, {"content-type": "text/html"}))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.message.endswith("(text/html, 'Gone'): It was \"withdrawn\".")


async def test_an_error_page_is_quoted_by_its_title(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    page = b"<html><h1>Bad gateway</h1>" + b"<p>x</p>" * 1000
    server.will(answer(502, page, {"content-type": "text/html"}))

    outcome = await network.claim(TASK, KEY)

    assert message_of(outcome) == (
        "502 Bad Gateway: an HTML page (text/html, 'Bad gateway')"
    )


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        (
            b"<!doctype html>\n<title>No</title>\n<p>Bad.<br>Key: &#39;job&#39;</p>\n",
            ["Bad.", "Key: 'job'"],
        ),
        (
            b"<html><style>b {color:white}</style><p>No <b>job</b>  given</p></html>",
            ["No job given"],
        ),
        (b"<html><head><script>if (a<b) x</script><body>1 &lt; 2", ["1 < 2"]),
        (b"<html><!-- <p>job: \xe2\x80\xa6</p> --><li>No</li><!-- <p>hid", ["No"]),
        (b"<html><p>" + b"<em>a</em><" * 9, ["a<" * 9]),
    ],
)
async def test_a_page_that_refuses_is_read_line_by_line(
    server: ScriptedServer, network: NetworkClient, page: bytes, lines: list[str]
) -> None:
    server.will(answer(409, page, {"content-type": "text/html"}))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.answer == lines


async def test_a_refusal_without_a_body_is_read_from_its_headers(
    server: ScriptedServer, network: NetworkClient
) -> None:
    told = {"X-Error-Code": "taken", "X-Error-Detail": "somebody has it", "X-Id": "4"}
    server.will(answer(409, b"", told))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.answer == {"code": "taken", "detail": "somebody has it"}
    assert "somebody has it" in outcome.message


class Stumbling(RequestSearch):
    """Has a bug, as any code may that reads what it has never seen."""

    def look_at(self, body: JSON) -> None:
        raise ZeroDivisionError(f"ours, over {body}")

    def findings_in(self, refused: Refused, sent: Sent) -> tuple[FieldFault, ...]:
        raise ZeroDivisionError(f"ours, over {refused.answer} to {sent.body}")


async def test_after_a_bug_in_reading_a_refusal_the_request_is_written_otherwise(
    server: ScriptedServer, log: RecordingLog
) -> None:
    server.will(answer(422, {"error": "pad is missing"}), answer(200, {}))
    search = Stumbling(owner={}, clock=StoppedClock(), log=log)
    client = NetworkClient(
        base_url=server.base_url, log=log, clock=StoppedClock(), search=search
    )
    client.identify(identity_at(server.base_url))

    async with client:
        outcome = await client.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    (told,) = log.named("network.bug")
    assert told["doing"] == "reading a refusal of claim"


async def test_a_bug_in_reading_an_answer_makes_its_outcome_unknown_and_is_told(
    server: ScriptedServer, log: RecordingLog
) -> None:
    server.will(answer(200, {"tasks": []}))
    search = Stumbling(owner={}, clock=StoppedClock(), log=log)
    client = NetworkClient(
        base_url=server.base_url, log=log, clock=StoppedClock(), search=search
    )

    async with client:
        outcome = await client.marketplace_tasks()

    assert "a bug in Journeyman" in message_of(outcome)
    (told,) = log.named("network.bug")
    assert told["doing"] == "reading an answer of marketplace_tasks"
    assert "ZeroDivisionError: ours" in str(told["traceback"])


async def test_a_bug_in_learning_from_an_answer_leaves_its_outcome(
    server: ScriptedServer, log: RecordingLog
) -> None:
    def stumble(seen: Observed) -> None:
        raise ZeroDivisionError(seen.outcome)

    server.will(answer(200, {"tasks": []}))
    client = NetworkClient(
        base_url=server.base_url, log=log, clock=StoppedClock(), observe=stumble
    )

    async with client:
        outcome = await client.marketplace_tasks()

    assert isinstance(outcome, Confirmed)
    (told,) = log.named("network.bug")
    assert told["doing"] == "learning from an answer of marketplace_tasks"


async def test_a_disk_that_fails_while_an_answer_is_learned_from_is_not_a_bug(
    server: ScriptedServer, log: RecordingLog
) -> None:
    def fail(seen: Observed) -> None:
        raise StateError(f"the disk is full, after {seen.outcome}")

    client = NetworkClient(
        base_url=server.base_url, log=log, clock=StoppedClock(), observe=fail
    )

    async with client:
        with pytest.raises(StateError):
            await client.marketplace_tasks()
