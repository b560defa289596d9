"""The one table that says what an answer means, row by row."""

import inspect
import json
from datetime import UTC, datetime
from http import HTTPStatus

import httpx2 as httpx
import pytest
from tests.network.conftest import TOKEN, ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed, NotSent, Refusal, Refused, Unknown
from journeyman.domain.tasks import (
    JSON,
    IdempotencyKey,
    NewTask,
    Result,
    Task,
    TaskId,
)
from journeyman.network import http as http_module
from journeyman.network.call import Expects, Reply
from journeyman.network.classify import STATUSES, classify, is_success, meaning_of
from journeyman.network.client import NetworkClient
from journeyman.testing import RecordingLog

KEY = IdempotencyKey("key-1")
TASK = Task(id=TaskId("task-1"))
NEW = NewTask(title="Count", description="Count the words", reward=3)
NOW = datetime(2027, 1, 1, tzinfo=UTC)

MEANINGS: dict[int, Refusal | None] = {
    400: Refusal.INVALID,
    401: Refusal.UNAUTHORIZED,
    402: Refusal.UNAFFORDABLE,
    403: Refusal.UNAUTHORIZED,
    404: Refusal.ABSENT,
    405: Refusal.ABSENT,
    408: None,
    409: Refusal.CONFLICT,
    412: Refusal.CONFLICT,
    410: Refusal.ABSENT,
    413: Refusal.INVALID,
    414: Refusal.INVALID,
    415: Refusal.INVALID,
    422: Refusal.INVALID,
    423: Refusal.CONFLICT,
    425: Refusal.PENDING,
    429: Refusal.THROTTLED,
    501: Refusal.ABSENT,
}
STANDARD = {int(status) for status in HTTPStatus} - {100, 101, 102, 103}
NON_STANDARD = {299, 399, 420, 499, 520, 546, 599, 600, 999}


def expected_of(status: int) -> Refusal | None:
    return MEANINGS.get(status, Refusal.OTHER if 400 <= status < 500 else None)


@pytest.mark.parametrize("status", sorted(STANDARD | NON_STANDARD))
async def test_every_status_has_one_meaning(
    server: ScriptedServer,
    network: NetworkClient,
    status: int,
) -> None:
    bodiless = status in (204, 205, 304)
    server.will(answer(status, b"" if bodiless else {}))

    outcome = await network.complete(TASK, KEY)

    if 200 <= status < 300:
        assert isinstance(outcome, Confirmed)
    elif expected_of(status) is None:
        assert isinstance(outcome, Unknown)
        assert outcome.status == status
    else:
        assert isinstance(outcome, Refused)
        assert (outcome.refusal, outcome.status) == (expected_of(status), status)


def test_the_table_has_one_meaning_for_every_status_there_can_be() -> None:
    for status in range(100, 600):
        if not is_success(status):
            assert meaning_of(status) is expected_of(status), status


def test_the_table_names_no_status_that_the_rule_for_its_class_would_give() -> None:
    # An entry that says the same as its class would hide that it was thought about.
    redundant = [
        status
        for status, meaning in STATUSES.items()
        if meaning is (Refusal.OTHER if 400 <= status < 500 else None)
    ]

    assert redundant == []


@pytest.mark.parametrize(
    ("status", "body", "refusal"),
    [
        pytest.param(
            400, {"error": "task_already_claimed"}, Refusal.CONFLICT, id="code"
        ),
        pytest.param(403, {"message": "Already taken"}, Refusal.CONFLICT, id="message"),
        pytest.param(403, {"error": "own_task"}, Refusal.CONFLICT, id="own"),
        pytest.param(422, {"error": {"code": "taken"}}, Refusal.CONFLICT, id="nested"),
        pytest.param(
            409, {"error": "INSUFFICIENT_CREDITS"}, Refusal.UNAFFORDABLE, id="money"
        ),
        pytest.param(
            400,
            {"errors": [{"detail": "Not enough credits"}]},
            Refusal.UNAFFORDABLE,
            id="list",
        ),
        pytest.param(
            422, {"code": "resultRejected"}, Refusal.REJECTED, id="camel-case-code"
        ),
        pytest.param(
            401, {"message": "already expired"}, Refusal.UNAUTHORIZED, id="401-stays"
        ),
        pytest.param(
            404, {"message": "already deleted"}, Refusal.ABSENT, id="404-stays"
        ),
        pytest.param(
            429, {"message": "already asked"}, Refusal.THROTTLED, id="429-stays"
        ),
    ],
)
async def test_words_in_a_refusal_can_say_more_than_its_status(
    server: ScriptedServer,
    network: NetworkClient,
    status: int,
    body: JSON,
    refusal: Refusal,
) -> None:
    server.will(answer(status, body))

    outcome = await network.submit(TASK, Result(output=1), KEY)

    assert isinstance(outcome, Refused)
    assert (outcome.refusal, outcome.status) == (refusal, status)


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"ok": False}, Refusal.REJECTED),
        ({"success": False, "message": "no"}, Refusal.REJECTED),
        ({"ok": 0, "MELDUNG": "Das fehlt."}, Refusal.REJECTED),
        ({"success": "false", "message": "no"}, Refusal.REJECTED),
        ({"ok": True, "accepted": False}, Refusal.REJECTED),
        ({"Status": "REJECTED"}, Refusal.REJECTED),
        ({"data": {"ok": False}}, Refusal.REJECTED),
        ({"error": "something"}, Refusal.REJECTED),
        ({"error": True, "message": "Task already claimed"}, Refusal.CONFLICT),
        ({"ok": False, "error": "already_claimed"}, Refusal.CONFLICT),
        ({"status": "taken"}, Refusal.CONFLICT),
        ({"status": "taken", "message": "too late"}, Refusal.CONFLICT),
        ({"ok": False, "error": "insufficient_credits"}, Refusal.UNAFFORDABLE),
        ({"ok": False, "error": "unauthorized"}, Refusal.UNAUTHORIZED),
        ({"ok": False, "error": "task_not_found"}, Refusal.ABSENT),
        ({"ok": False, "error": "rate_limited"}, Refusal.THROTTLED),
        ({"ok": False, "error": "validation_error"}, Refusal.INVALID),
        ({"statusCode": 404, "message": "no such task"}, Refusal.ABSENT),
        (
            {"CloseResponse": {"Outcome": {"StatusCode": "ERROR", "FaultText": "no"}}},
            Refusal.REJECTED,
        ),
        (
            {"MSG_HDR": {"MSG_REF": "7", "RTN_CD": "E014", "RTN_TXT": "NO SUCH FORM"}},
            Refusal.REJECTED,
        ),
        (
            # The code is the answer; the prose beside it only explains.
            {"accepted": False, "error": "result_rejected", "message": "already no"},
            Refusal.REJECTED,
        ),
    ],
)
async def test_a_success_status_whose_body_says_no_is_a_refusal(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
    refusal: Refusal,
) -> None:
    server.will(answer(200, body))

    outcome = await network.submit(TASK, Result(output=1), KEY)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is refusal


async def test_work_that_looks_like_the_code_of_an_error_is_none(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(answer(200, {"sheet": {"result": "E014", "state": "accepted"}}))

    outcome = await network.submit(TASK, Result(output="E014"), KEY)

    assert isinstance(outcome, Confirmed)


@pytest.mark.parametrize(
    "body",
    [
        {"ok": False, "error": "internal_error"},
        {"status": 500, "error": "oops"},
        {"ok": False, "code": "TIMEOUT"},
    ],
)
async def test_a_success_status_around_a_server_error_may_have_happened(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
) -> None:
    server.will(answer(200, body))

    assert isinstance(await network.submit(TASK, Result(output=1), KEY), Unknown)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ok": True},
        {"ok": True, "error": None},
        {"ok": True, "error": "just a note"},
        {"error": ""},
        {"errors": []},
        {"status": "submitted", "message": "already on its way"},
        {"ok": True, "result": {"status": "rejected", "ok": False}},
        {"claim": {"id": 7, "webhook": {"status": "error"}}},
        {"claim": {"id": 7, "agent": {"success": 0, "failed": 0}}},
    ],
)
async def test_what_does_not_say_no_is_a_yes(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
) -> None:
    server.will(answer(200, body))

    assert isinstance(await network.submit(TASK, Result(output=1), KEY), Confirmed)


@pytest.mark.parametrize(
    "payload",
    [
        {"task": None, "userErrors": [{"field": ["taskId"], "message": "is missing"}]},
        {"ok": False, "message": "taskId is missing"},
        {"errors": {"taskId": ["is missing"]}},
    ],
)
async def test_a_no_counts_wherever_it_stands_in_the_answer_to_an_action(
    server: ScriptedServer, network: NetworkClient, payload: JSON
) -> None:
    server.will(answer(200, {"data": {"completeTask": payload}}))

    outcome = await network.complete(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert "is missing" in outcome.message
    assert outcome.answer == payload


async def test_what_stands_beside_a_header_that_says_no_is_told(
    server: ScriptedServer, network: NetworkClient
) -> None:
    header: JSON = {"messageId": "m-1", "status": "ERROR"}
    why: JSON = {"errors": [{"code": 1102, "text": "The order is closed"}]}
    whole: JSON = {"header": header, "body": why}
    server.will(answer(200, whole))

    outcome = await network.complete(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.answer == whole


async def test_a_flag_that_is_true_in_listings_and_false_in_an_answer_is_a_no(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(
        answer(200, {"erfolg": True, "tasks": []}),
        answer(200, {"erfolg": False, "meldung": "nein"}),
        answer(200, {"erfolg": True}),
    )
    await network.marketplace_tasks(5)

    refused = await network.complete(TASK, KEY)
    done = await network.complete(TASK, KEY)

    assert isinstance(refused, Refused)
    assert isinstance(done, Confirmed)


async def test_a_flag_in_a_header_is_one_of_that_header(
    server: ScriptedServer, network: NetworkClient
) -> None:
    head: JSON = {"geslaagd": True, "berichtnummer": 1}
    no: JSON = {"geslaagd": False, "berichtnummer": 2}
    server.will(
        answer(200, {"kop": head, "orders": []}),
        answer(200, {"kop": no, "fout": {"omschrijving": "Te laat."}}),
        answer(200, {"kop": head, "bon": {"geslaagd": False}}),
    )
    await network.marketplace_tasks(5)

    refused = await network.complete(TASK, KEY)
    done = await network.complete(TASK, KEY)

    assert isinstance(refused, Refused)
    assert isinstance(done, Confirmed)


@pytest.mark.parametrize(
    ("told", "meaning"),
    [
        ({"status": "sorry", "reason": "We cannot tell which one."}, Refused),
        ({"status": "received", "note": "Thank you, we have it."}, Confirmed),
        ({"status": "paid", "note": "Thank you, that was it."}, Confirmed),
        ({"status": "lodged", "note": "It is with us.", "slip": "S-1"}, Confirmed),
        ({"status": "lodged"}, Confirmed),
    ],
)
async def test_a_sentence_beside_another_word_than_that_of_a_yes_is_a_no(
    server: ScriptedServer, network: NetworkClient, told: JSON, meaning: type
) -> None:
    server.will(answer(200, {"status": "ok", "tasks": []}), answer(200, told))
    await network.marketplace_tasks(5)

    assert isinstance(await network.complete(TASK, KEY), meaning)


async def test_a_post_is_never_a_no_for_a_word_that_nobody_knows(
    server: ScriptedServer, network: NetworkClient
) -> None:
    told: JSON = {"status": "up", "note": "It is on the board now."}
    server.will(answer(200, {"status": "ok", "tasks": []}), answer(200, told))
    await network.marketplace_tasks(5)

    assert isinstance(await network.post_task(NEW, KEY), Confirmed)


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ({"hdr": {"sys": "RAD", "rc": 0}}, {"hdr": {"sys": "RAD", "rc": 20}}),
        ({"outcome": "ok"}, {"outcome": "declined", "editors-note": "No byline."}),
        ({"Esito": "OK"}, {"Esito": "KO", "Messaggio": "Manca la lettera."}),
        ({"CodiceErrore": 0}, {"CodiceErrore": 101, "Messaggio": "Manca."}),
        ({"RTN_CD": "000"}, {"RTN_CD": "117", "RTN_TXT": "NO SUCH FORM"}),
    ],
)
async def test_another_code_than_that_of_a_listing_is_a_no(
    server: ScriptedServer, network: NetworkClient, yes: JSON, no: JSON
) -> None:
    assert isinstance(yes, dict)
    server.will(
        answer(200, {**yes, "tasks": []}), answer(200, no), answer(200, {**yes, "n": 7})
    )
    await network.marketplace_tasks(5)

    refused = await network.complete(TASK, KEY)
    done = await network.complete(TASK, KEY)

    assert isinstance(refused, Refused)
    assert isinstance(done, Confirmed)


async def test_a_state_beside_the_code_of_a_yes_is_no_code_of_a_no(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(
        answer(200, {"status": "ok", "code": 200, "page": 0, "tasks": []}),
        answer(200, {"status": "completed", "code": 201, "page": 3}),
    )
    await network.marketplace_tasks(5)

    assert isinstance(await network.complete(TASK, KEY), Confirmed)


async def test_a_false_flag_beside_a_true_one_is_no_no(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(
        answer(200, {"erfolg": True, "weitere": True, "tasks": []}),
        answer(200, {"erfolg": True, "weitere": False}),
    )
    await network.marketplace_tasks(5)

    assert isinstance(await network.complete(TASK, KEY), Confirmed)


@pytest.mark.parametrize(
    ("status", "location"),
    [
        (201, ""),
        (202, ""),
        (303, "/cards/task-1"),
    ],
)
async def test_some_statuses_say_without_a_body_that_it_is_done(
    server: ScriptedServer, network: NetworkClient, status: int, location: str
) -> None:
    server.will(answer(status, b"", {"location": location}))

    assert isinstance(await network.complete(TASK, KEY), Confirmed)


async def test_a_text_that_is_the_id_of_the_task_is_a_yes(
    server: ScriptedServer, network: NetworkClient
) -> None:
    text = {"content-type": "text/plain"}
    server.will(answer(200, f"{TASK.id}\n".encode(), text), answer(200, b"ok", text))

    assert isinstance(await network.complete(TASK, KEY), Confirmed)
    assert isinstance(await network.complete(TASK, KEY), Unknown)


@pytest.mark.parametrize(
    "location", ["", "/", "/login?next=x", "https://elsewhere.example/cards/1", "//["]
)
async def test_a_redirect_to_another_place_or_to_a_sign_in_says_nothing(
    server: ScriptedServer, network: NetworkClient, location: str
) -> None:
    server.will(answer(303, b"", {"location": location}))

    assert isinstance(await network.complete(TASK, KEY), Unknown)


async def test_a_status_inside_data_is_somebodys_and_no_refusal(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    manifest: JSON = {"agent_id": "a", "status": "unavailable"}
    server.will(answer(200, manifest))

    assert await network.agents_directory("a") == Confirmed(manifest)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        ("1.5", 1.5),
        ("999999999999999999999", 3600.0),
        ("Sat, 21 Nov 2026 12:01:30 GMT", 90.0),
        ("Tue, 01 Jan 2099 00:00:00 GMT", 3600.0),
        ("Sat, 21 Nov 2026 11:59:00 GMT", None),
        ("-5", None),
        ("1e99", None),
        ("soon", None),
        ("", None),
        ("5, 6", None),
        (None, None),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_seconds_or_a_date_and_capped(
    server: ScriptedServer,
    network: NetworkClient,
    status: int,
    value: str | None,
    seconds: float | None,
) -> None:
    headers = {} if value is None else {"retry-after": value}
    server.will(answer(status, {}, headers))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused | Unknown)
    assert outcome.retry_after == seconds


async def test_a_message_is_cut_cleaned_and_holds_no_token(
    server: ScriptedServer,
    network: NetworkClient,
    log: RecordingLog,
) -> None:
    text = f"bad\x1b[2J token {TOKEN} in Bearer abc.def\u202e\u200b" + " y" * 1000
    server.will(answer(500, {"error": {"message": text}}))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Unknown)
    assert len(outcome.message) == 300
    assert outcome.message.isprintable()
    assert TOKEN not in outcome.message
    assert "abc.def" not in outcome.message
    assert outcome.message.startswith("500 Internal Server Error: bad [2J token ***")
    assert TOKEN not in repr(log.lines)


async def test_the_log_has_each_request_and_each_failure(
    server: ScriptedServer,
    network: NetworkClient,
    log: RecordingLog,
) -> None:
    server.will(answer(200, {}), answer(409, {}), answer(503, {}))

    for _ in range(3):
        await network.claim(TASK, KEY)

    told = [fields["outcome"] for fields in log.named("network.request")]
    assert told == ["confirmed", "refused: conflict", "unknown"]
    (failure,) = log.named("network.request_failed")
    assert failure["status"] == 503
    assert failure["endpoint"] == "claim"


#: Raised by nothing that the client does, with the reason.
NEVER_RAISED: dict[type[Exception], str] = {
    httpx.HTTPError: "abstract: the parent of the two below",
    httpx.HTTPStatusError: "only raise_for_status() raises it",
    httpx.TooManyRedirects: "redirects are not followed",
    httpx.InvalidURL: "addresses are checked when the client is made",
    httpx.CookieConflict: "cookies are not kept",
    httpx.StreamError: "abstract: the parent of the four below",
    httpx.StreamConsumed: "a body is read once",
    httpx.StreamClosed: "a body is read while the response is open",
    httpx.ResponseNotRead: "a body is only read as a stream",
    httpx.SSEError: "event streams are not read",
    httpx.RequestNotRead: "requests have their bytes in memory",
}
RAISED: set[type[Exception]] = {
    thing
    for thing in vars(httpx).values()
    if inspect.isclass(thing)
    and issubclass(thing, Exception)
    and not issubclass(thing, Warning)
} - set(NEVER_RAISED)
MAPPED = (*http_module.NEVER_SENT, *http_module.MAYBE_SENT)


def test_every_exception_of_the_http_library_is_mapped_or_explained() -> None:
    assert {error for error in RAISED if not issubclass(error, MAPPED)} == set()


@pytest.mark.parametrize(
    "error",
    sorted(RAISED | set(MAPPED), key=str),
    ids=lambda error: error.__name__,
)
async def test_every_mapped_exception_ends_in_an_outcome(
    error: type[Exception],
    log: RecordingLog,
) -> None:
    class Failing(httpx.AsyncBaseTransport):
        async def handle_async_request(self, _: httpx.Request) -> httpx.Response:
            raise error("broken") if issubclass(error, httpx.HTTPError) else error

    client = http_module.HttpClient(http_module.HttpLimits(), Failing())
    outcome = await client.send("GET", "http://host.invalid/", headers={})
    await client.close()

    is_known_unsent = error in http_module.NEVER_SENT
    assert isinstance(outcome, NotSent if is_known_unsent else Unknown)
    assert error.__name__ in outcome.message
    assert log.lines == []


@pytest.mark.parametrize("status", [400, 403, 409, 422])
@pytest.mark.parametrize(
    "body",
    [
        {"error": "you have 2 items on lease, annotate those first"},
        {"error": "Too many open assignments"},
        {"error": "A contractor may hold at most 3 claims"},
        {"message": "You already hold a sheet, complete it first"},
        {"errors": {"base": ["You have 3 running assignments, the limit is 3"]}},
        {"errors": {"base": ["agent has 3 claims that are not closed"]}},
        {"detail": "worker holds 2 of 2 leases"},
        {"errors": {"base": ["Agent can't have more than 3 active claims"]}},
        {"errors": {"agent_id": ["already has an active claim"]}},
    ],
)
async def test_that_as_many_tasks_are_held_as_may_be_is_about_no_task_and_no_body(
    server: ScriptedServer, network: NetworkClient, status: int, body: JSON
) -> None:
    server.will(answer(status, body))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.FULL
    assert len(server.requests) == 1


async def test_a_yes_that_says_no_may_count_what_we_hold(
    server: ScriptedServer, network: NetworkClient
) -> None:
    error: JSON = {"message": "You can hold at most 2 active leases", "code": 429}
    server.will(answer(200, {"data": None, "errors": [{"extensions": error}]}))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.FULL


async def test_a_payment_that_is_still_to_come_is_no_refusal(
    server: ScriptedServer, network: NetworkClient
) -> None:
    payment: JSON = {"amount": 45, "currency": "CREDITS", "successful": False}
    server.will(answer(201, {"resource": {"status": "active", "payment": payment}}))

    assert isinstance(await network.claim(TASK, KEY), Confirmed)


async def test_a_conflict_may_count_what_we_hold_whatever_it_is_called(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(answer(409, {"error": "You have 2 parcels in transit."}))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.FULL


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("worker holds 2 of 2 leases, complete one first", Refusal.FULL),
        ("Complete one of your 3 leases first", Refusal.FULL),
        ("Too many tasks claimed in the last minute", Refusal.THROTTLED),
    ],
)
async def test_a_429_is_about_the_rate_unless_it_counts_what_is_held(
    server: ScriptedServer, network: NetworkClient, said: str, meaning: Refusal
) -> None:
    server.will(answer(429, {"error": said}))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is meaning


@pytest.mark.parametrize("status", [400, 409, 422])
@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("Somebody else was faster.", Refusal.CONFLICT),
        ("The plate is out with somebody else.", Refusal.CONFLICT),
        ("That one is not free any more.", Refusal.CONFLICT),
        ("You are too late.", Refusal.CONFLICT),
        ("It is spoken for.", Refusal.CONFLICT),
        ("The review is not finished.", Refusal.PENDING),
        ("Nobody has looked at it yet.", Refusal.PENDING),
        ("The proof is not dry yet.", Refusal.PENDING),
        ("Still with the editor.", Refusal.PENDING),
        ("Please come back in a minute.", Refusal.PENDING),
        ("Not yet.", Refusal.PENDING),
        ("The editor declined it.", Refusal.REJECTED),
        ("It did not pass the check.", Refusal.REJECTED),
    ],
)
def test_a_sentence_under_any_key_tells_what_a_vague_status_does_not(
    status: int, text: str, meaning: Refusal
) -> None:
    body: JSON = {"desk": text}
    reply = Reply(status, {}, body, json.dumps(body))

    refused = classify(reply, Expects.RECEIPT, NOW)

    assert isinstance(refused, Refused)
    assert refused.refusal is meaning


def test_a_forbidden_claim_of_a_task_that_another_has_is_lost() -> None:
    body: JSON = {"desk": "This card is with another scribe."}

    refused = classify(Reply(403, {}, body, json.dumps(body)), Expects.RECEIPT, NOW)

    assert isinstance(refused, Refused)
    assert refused.refusal is Refusal.CONFLICT


@pytest.mark.parametrize(
    ("text", "expects"),
    [
        ("Another client has this account.", Expects.DATA),
        ("Your agent is not approved yet.", Expects.RECEIPT),
    ],
)
def test_what_is_forbidden_to_us_is_still_forbidden(
    text: str, expects: Expects
) -> None:
    body: JSON = {"message": text}

    refused = classify(Reply(403, {}, body, json.dumps(body)), expects, NOW)

    assert isinstance(refused, Refused)
    assert refused.refusal is Refusal.UNAUTHORIZED


@pytest.mark.parametrize(
    "text",
    [
        "Somebody has to approve it first.",
        "Someone has not looked at it yet.",
        "Another field is required.",
    ],
)
def test_whom_a_sentence_names_need_not_have_the_task(text: str) -> None:
    body: JSON = {"message": text}

    refused = classify(Reply(400, {}, body, json.dumps(body)), Expects.RECEIPT, NOW)

    assert isinstance(refused, Refused)
    assert refused.refusal is not Refusal.CONFLICT
