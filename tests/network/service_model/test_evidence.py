"""What is learned from answers: their shapes, bounded, and never a value."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.conftest import (
    TOKEN,
    ScriptedServer,
    StoppedClock,
    answer,
    hang_up,
    identity_at,
)

from journeyman.domain.tasks import (
    JSON,
    AccessToken,
    IdempotencyKey,
    Result,
    Task,
    TaskId,
)
from journeyman.network.call import Call, Reply
from journeyman.network.client import NetworkClient
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.service_model.evidence import (
    EndpointRecord,
    Observed,
    Observer,
    Shape,
    records_from,
    stored,
)
from journeyman.network.service_model.openapi import openapi_document, schema_of
from journeyman.testing import RecordingLog

NAMES = [endpoint.name for endpoint in ENDPOINTS]
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MARK = "MARK7"
"""In every value and in every key that is data: what must be found nowhere."""
NUMBER = 987654321


def new_observer() -> Observer:
    return Observer(NAMES, lambda: NOW)


def seen(
    body: JSON = None,
    *,
    endpoint: str = "marketplace_tasks",
    status: int | None = 200,
    is_yes: bool = True,
    sent: JSON = None,
    headers: Mapping[str, str] | None = None,
    seconds: float = 0.03,
    problem: str = "",
) -> Observed:
    call = Call(
        name=endpoint,
        method="GET",
        address="http://network",
        path="/",
        query={"limit": "50"},
        content=None if sent is None else json.dumps(sent).encode(),
        body=sent if isinstance(sent, dict) else None,
        token=AccessToken(TOKEN),
    )
    content_type = headers or {"content-type": "application/json"}
    reply = status and Reply(status, content_type, body, json.dumps(body), problem)
    outcome = "confirmed" if is_yes else "refused: invalid"
    return Observed(call, reply or None, seconds, outcome, is_yes, (TOKEN,))


def record_after(*calls: Observed) -> EndpointRecord:
    observer = new_observer()
    for call in calls:
        observer.learn(call)
    return records_from(observer.changed())[calls[0].call.name]


def shape_after(*bodies: JSON) -> Shape:
    return record_after(*map(seen, bodies)).answers["200"].body


def schema_after(*bodies: JSON) -> JSON:
    return schema_of(shape_after(*bodies))


# -- shapes -----------------------------------------------------------------------


def test_the_shape_of_an_answer_is_its_fields_and_their_kinds() -> None:
    assert schema_after({"count": 1, "tasks": [{"id": "t", "reward": 2.5}]}) == {
        "type": "object",
        "required": ["count", "tasks"],
        "properties": {
            "count": {"type": "integer"},
            "tasks": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["id", "reward"],
                    "properties": {
                        "id": {"type": "string"},
                        "reward": {"type": "number"},
                    },
                },
            },
        },
    }


def test_a_field_that_not_every_object_has_is_optional() -> None:
    shape = shape_after({"id": "a", "note": "x"}, {"id": "b"})

    assert shape.required == ("id",)


def test_kinds_that_stood_at_one_place_are_united() -> None:
    assert schema_after({"reward": 1}, {"reward": "1"}, {"reward": None}) == {
        "type": "object",
        "required": ["reward"],
        "properties": {"reward": {"type": ["integer", "null", "string"]}},
    }


def test_items_of_a_long_listing_have_their_turn() -> None:
    listing: list[JSON] = [{"id": "t"} for _ in range(30)]
    listing[17] = {"id": "t", "deadline": "tomorrow"}

    pages: list[JSON] = [{"tasks": listing, "page": page} for page in range(30)]
    shape = shape_after(*pages)

    items = shape.fields["tasks"].items
    assert items is not None
    assert items.required == ("id",)
    assert "deadline" in items.fields


@pytest.mark.parametrize(
    "name",
    [
        *("id", "task_id", "taskId", "TaskID", "task-id", "$schema", "@type", "_links"),
        *("createdAt", "credits_balance", "sha256", "meta.page", "X-Total", "ok"),
    ],
)
def test_the_names_of_fields_are_kept(name: str) -> None:
    assert list(shape_after({name: 1}).fields) == [name]


@pytest.mark.parametrize(
    "key",
    [
        *("t1", "task_7c1e0a52", "2026-11-21", "42", "ann@example.org", "Ann Smith"),
        *("b7e2f1de-5f2c-4a55-9d0e-2b1f0d3a9c11", "Käthe", "", "x" * 41),
        *("QWxhZGRpbjpvcGVuIHNl", "a/b", "qwertyuiopasdfghjklzxcvbnm", TOKEN),
    ],
)
def test_a_key_that_is_data_is_not_kept(key: str) -> None:
    shape = shape_after({key: {"reward": 1}})

    assert shape.fields == {}
    assert shape.entries is not None
    assert list(shape.entries.fields) == ["reward"]


@pytest.mark.parametrize(
    "table",
    [
        {name: {"reward": 1} for name in ("ann", "bob", "cleo", "dora")},
        dict.fromkeys(["the", "quick", "brown", "fox", "jumps", "over", "a", "dog"], 3),
        {f"{first}{last}": "x" for first in "abcd" for last in "wxyz"},
        {"x" * length: None for length in range(1, 41)} | {"more": {}},
        {"t1": 1, "t2": 2, "ann": 3},
    ],
)
def test_an_object_whose_keys_are_words_of_a_table_keeps_none(
    table: dict[str, JSON],
) -> None:
    shape = shape_after(table)

    assert shape.fields == {}
    assert shape.entries is not None


def test_words_that_come_a_few_at_a_time_are_found_out() -> None:
    words = [a + b + c for a in "bcdf" for b in "aeiou" for c in "lmn"]

    bodies: list[JSON] = [{word: 1} for word in words]
    shape = shape_after(*bodies)

    assert shape.fields == {}


def test_the_name_of_an_error_outlives_odd_keys_beside_it() -> None:
    shape = shape_after({"error": "no"}, {"error": "no", "17": 1})

    assert list(shape.fields) == ["error"]
    assert shape.entries is not None


def test_a_key_with_the_token_is_never_kept_however_it_looks() -> None:
    letters = "abcdefghij"
    observer = new_observer()
    observer.learn(seen({f"x{letters}": 1})._replace(secrets=(letters,)))

    assert letters not in json.dumps(observer.changed())


# -- what goes with a shape ------------------------------------------------------------


def test_a_yes_and_a_no_of_one_status_have_shapes_of_their_own() -> None:
    record = record_after(
        seen({"ok": True, "task": {}}), seen({"ok": False, "error": ""}, is_yes=False)
    )

    assert list(record.answers) == ["200", "200 no"]
    assert list(record.answers["200 no"].body.fields) == ["ok", "error"]


def test_only_requests_that_worked_are_learned() -> None:
    record = record_after(
        seen(endpoint="claim", status=422, is_yes=False, sent={"id": "t"}),
        seen(endpoint="claim", sent={"task_id": "t"}),
    )

    assert record.request.worked == record.request.with_token == 1
    assert list(record.request.body.fields) == ["task_id"]


def test_of_a_body_that_was_not_understood_the_names_are_kept() -> None:
    record = record_after(
        seen(endpoint="claim", status=422, is_yes=False, sent={"taskId": "t"})
    )

    assert list(record.request.refused.fields) == ["taskId"]
    assert record.request.worked == 0


def test_the_words_for_states_are_the_only_values_that_are_kept() -> None:
    states = ("open", "IN_REVIEW", 3, "open", MARK, "x" * 40, True, TOKEN)

    bodies: list[JSON] = [{"task": {"taskStatus": state}} for state in states]
    shape = shape_after(*bodies).fields["task"].fields["taskStatus"]

    assert shape.words == ("open", "IN_REVIEW", 3)
    assert schema_of(shape)["enum"] == ["open", "IN_REVIEW", 3]


def test_a_result_is_not_looked_into() -> None:
    sent: JSON = {"submission": {"result": {"secret_plan": [1]}, "task_id": "t"}}

    record = record_after(seen(endpoint="submit", sent=sent))

    assert schema_of(record.request.body) == {
        "type": "object",
        "required": ["submission"],
        "properties": {
            "submission": {
                "type": "object",
                "required": ["result", "task_id"],
                "properties": {
                    "result": {"type": "object"},
                    "task_id": {"type": "string"},
                },
            },
        },
    }


def test_of_headers_only_the_numbers_of_limits_are_kept() -> None:
    headers = {
        "content-type": f"text/{MARK}",
        "retry-after": "30",
        "x-ratelimit-remaining": "7",
        "ratelimit-policy": f'"{MARK}";q=100',
        f"x-limit-{MARK}": "1",
        "set-cookie": f"session={MARK}",
    }

    record = record_after(
        seen({}, headers=headers), seen({}, headers={"retry-after": "5"})
    )

    kept = {name: (one.least, one.most) for name, one in record.headers.items()}
    assert kept == {
        "retry-after": (5, 30),
        "x-ratelimit-remaining": (7, 7),
        "ratelimit-policy": (None, None),
    }
    assert MARK not in json.dumps(stored(record))


def test_latency_is_told_by_bounds_of_a_histogram() -> None:
    fast, slow = seen({}, seconds=0.004), seen({}, seconds=3.0)

    latency = record_after(*[fast] * 19, slow).latency

    assert [latency.quantile(part) for part in (0.5, 0.9, 0.99)] == [0.005, 0.005, 5.0]
    assert record_after(seen({}, seconds=99)).latency.quantile(0.5) is None


def test_a_call_without_an_answer_counts_and_teaches_nothing_else() -> None:
    record = record_after(seen(status=None, is_yes=False))

    assert (record.seen, record.answers, sum(record.latency.counts)) == (1, {}, 0)


def test_a_body_that_is_no_json_is_only_counted() -> None:
    page = seen(headers={"content-type": "text/html; charset=utf-8"}, problem="no JSON")

    found = record_after(page).answers["200"]

    assert (found.unreadable, found.media_types) == (1, {"text/html": 1})
    assert found.body == Shape()


def test_documents_and_strangers_are_not_kept() -> None:
    observer = new_observer()
    observer.learn(seen({}, endpoint="document"))

    assert observer.changed() == {}


# -- bounds, storage, secrecy --------------------------------------------------------


def _hostile() -> list[JSON]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [a + b + c for a in letters for b in letters for c in "xyz"]
    deep: JSON = {}
    for name in letters * 3:
        deep = {name: [deep], "other": 1}
    wide: dict[str, JSON] = {w: {v: 1 for v in words[:30]} for w in words[:39]}  # noqa: C420 - its type is wider
    wide["a"] = None
    return [deep, wide, dict.fromkeys(words), [[[{"a": w} for w in words]]]]


def test_a_hostile_network_does_not_make_a_record_grow() -> None:
    observer = new_observer()
    for status in range(200, 600, 10):
        for body in _hostile():
            observer.learn(seen(body, status=status))

    (record,) = observer.changed().values()
    assert len(json.dumps(record)) < 100_000
    assert records_from({"x": record})["x"].is_cut


def is_news(observer: Observer, body: JSON) -> bool:
    observer.written()
    observer.learn(seen(body))
    assert observer.changed()
    return observer.has_news


def test_only_what_is_new_is_news() -> None:
    observer = new_observer()

    found = [is_news(observer, {"a": value}) for value in (1, 2, None, 3)]

    assert found == [True, False, True, False]


SCALARS = st.sampled_from([MARK, f"x{MARK}y", NUMBER, NUMBER + 0.5, True, None])
KEYS = st.sampled_from(
    ["id", "tasks", "error", "data", "name", MARK, f"{MARK}@x.org", f"Bearer {TOKEN}"],
)
BODIES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=6)
    ),
    max_leaves=25,
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(BODIES, BODIES, st.sampled_from([200, 404])), max_size=4))
def test_no_value_of_a_body_is_found_in_anything_that_was_learned(
    calls: list[tuple[JSON, JSON, int]],
) -> None:
    observer = new_observer()
    for body, sent, status in calls:
        observer.learn(
            seen(body, status=status, is_yes=status == 200, sent={"x": sent})
        )

    kept = observer.changed()
    document = openapi_document(records_from(kept), "http://network")
    told = json.dumps([kept, document])

    assert not any(part in told for part in (MARK, TOKEN, str(NUMBER)))


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(max_size=12), inner, max_size=5)
    ),
    max_leaves=20,
)


@settings(max_examples=30, deadline=None)
@given(st.lists(ANY_JSON, max_size=4))
def test_whatever_comes_is_stored_and_read_back_the_same(bodies: list[JSON]) -> None:
    observer = new_observer()
    for body in bodies:
        observer.learn(seen(body, sent={"task": body}))
    kept = json.loads(json.dumps(observer.changed()))

    again = new_observer()
    again.load(kept)
    for body in bodies[:1]:
        again.learn(seen(body))

    assert {name: stored(one) for name, one in records_from(kept).items()} == kept
    assert all(isinstance(record, dict) for record in again.changed().values())


@settings(max_examples=30, deadline=None)
@given(ANY_JSON)
def test_a_damaged_record_is_begun_anew(damaged: JSON) -> None:
    records = records_from({"claim": damaged})

    assert all(isinstance(one, EndpointRecord) for one in records.values())


# -- through the client --------------------------------------------------------------


async def test_the_client_shows_each_call_to_its_observer(
    server: ScriptedServer, log: RecordingLog
) -> None:
    observer = new_observer()
    client = NetworkClient(
        base_url=server.base_url, log=log, clock=StoppedClock(), observe=observer.learn
    )
    client.identify(identity_at(server.base_url))
    key = IdempotencyKey("k")
    async with client:
        server.will(answer(200, {"tasks": []}))
        await client.marketplace_tasks(5)
        server.will(answer(200, {"ok": True}))
        await client.submit(Task(id=TaskId("t")), Result("4"), key)
        server.will(hang_up)
        await client.complete(Task(id=TaskId("t")), key)
        server.will(answer(200, {}))
        await client.document("/.well-known/agent.json")

    records = records_from(observer.changed())
    assert set(records) == {"marketplace_tasks", "submit", "complete"}
    assert records["marketplace_tasks"].request.query == {"limit": 1}
    assert list(records["submit"].answers) == ["200"]
    assert records["complete"].outcomes == {"unknown": 1}
    assert TOKEN not in json.dumps(observer.changed())
