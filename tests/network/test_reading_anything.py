"""Properties of the tolerant reader, over a transport in memory."""

import json
from dataclasses import replace

import httpx2 as httpx
from hypothesis import given
from hypothesis import strategies as st
from tests.network.conftest import StoppedClock, identity_at

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.outcomes import NotSent as NeverSent
from journeyman.domain.tasks import JSON, IdempotencyKey, Identity, Task, TaskId
from journeyman.network.client import NetworkClient
from journeyman.network.service_model.vocabulary import ASSUMED
from journeyman.testing import RecordingLog

BASE_URL = "http://network.invalid"
KEY = IdempotencyKey("key-1")
IDENTITY: Identity = identity_at(BASE_URL)

KNOWN_NAMES = sorted(
    {
        *ASSUMED.id,
        *ASSUMED.title,
        *ASSUMED.reward,
        *ASSUMED.tags,
        *ASSUMED.input,
        *ASSUMED.deadline,
        *ASSUMED.record_wrappers,
        *ASSUMED.task_containers,
        *ASSUMED.containers,
        *ASSUMED.balance,
        *ASSUMED.token,
        *ASSUMED.no_flags,
        *ASSUMED.message_fields,
    },
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
)
names = st.sampled_from(KNOWN_NAMES) | st.text(max_size=8)
documents: st.SearchStrategy[JSON] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner),
    max_leaves=25,
)


def client_answered(status: int, content: bytes) -> NetworkClient:
    transport = httpx.MockTransport(lambda _: httpx.Response(status, content=content))
    client = NetworkClient(
        base_url=BASE_URL,
        log=RecordingLog(),
        clock=StoppedClock(),
        transport=transport,
    )
    client.identify(IDENTITY)
    return client


async def read_every_way(status: int, content: bytes) -> list[object]:
    async with client_answered(status, content) as client:
        return [
            await client.register(KEY),
            await client.public_marketplace(),
            await client.public_agents(),
            await client.claim(Task(id=TaskId("task-1")), KEY),
            await client.complete(Task(id=TaskId("task-1")), KEY),
            await client.document("/.well-known/agent.json"),
            await client.document("/llms.txt"),
        ]


@given(documents, st.sampled_from([200, 200, 400, 409, 503]))
async def test_any_json_as_any_body_ends_in_an_outcome(
    document: JSON,
    status: int,
) -> None:
    outcomes = await read_every_way(status, json.dumps(document).encode())

    assert not any(is_unsent(outcome) for outcome in outcomes)


@given(st.binary(max_size=200), st.sampled_from([200, 400, 500]))
async def test_any_bytes_as_any_body_end_in_an_outcome(
    content: bytes,
    status: int,
) -> None:
    outcomes = await read_every_way(status, content)

    assert not any(is_unsent(outcome) for outcome in outcomes)


def is_unsent(outcome: object) -> bool:
    """Return whether it was not sent, for another reason than a pause."""
    return isinstance(outcome, NeverSent) and not outcome.paused


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def pascal(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))


SPELLINGS = (str, camel, pascal, str.upper, lambda name: name.replace("_", "-"))
words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=10)
lower = words.map(str.lower).filter(str.isalnum)
tags: st.SearchStrategy[JSON] = st.lists(lower, unique=True, max_size=3).map(list)
values: st.SearchStrategy[dict[str, JSON]] = st.fixed_dictionaries(
    {
        "id": words.map("t-{}".format),
        "title": words,
        "description": words,
        "text": words,
        "reward": st.integers(0, 10_000),
        "tags": tags,
        "poster": words,
        # Networks have words and zeros for "nobody".
        "claimant": words.map("a-{}".format),
        "status": st.sampled_from(["open", "available"]),
        "input": st.dictionaries(st.sampled_from(["csv", "path"]), words),
    },
)
junk: st.SearchStrategy[dict[str, JSON]] = st.dictionaries(
    st.text("qxz", min_size=3, max_size=6),
    scalars | st.lists(scalars, max_size=3),
    max_size=3,
)


@st.composite
def layouts(
    draw: st.DrawFn,
    value: dict[str, JSON],
    shown: dict[str, JSON],
    beside: dict[str, JSON],
) -> JSON:
    """Draw a list of one record: as it is, in an object, or under its id."""
    without_id = {n: held for n, held in shown.items() if held != value["id"]}
    has_id_alone = len(without_id) == len(shown) - 1
    possible = ["plain"]
    if "task" not in {name.lower() for name in shown}:
        possible.append("wrapped")
    if has_id_alone:
        possible += ["keyed", "attributes"]
    match draw(st.sampled_from(possible)):
        case "wrapped":
            return [beside | {"task": shown}]
        case "keyed":
            return {str(value["id"]): without_id | beside}
        case "attributes":
            kind: dict[str, JSON] = {"id": value["id"], "type": "tasks"}
            return [kind | {"attributes": without_id} | beside]
        case _:
            return [shown | beside]


@st.composite
def wrapped_tasks(draw: st.DrawFn) -> tuple[dict[str, JSON], JSON]:
    """Draw a task's values, and a listing that shows them in some known way."""
    value = draw(values)
    spell = draw(st.sampled_from(SPELLINGS))
    record: dict[str, JSON] = {
        spell(draw(st.sampled_from(getattr(ASSUMED, field)))): held
        for field, held in value.items()
    }
    shown: dict[str, JSON] = dict(draw(st.permutations([*record.items()])))
    body: JSON = draw(layouts(value, shown, draw(junk)))
    for name in draw(
        st.lists(
            st.sampled_from([*ASSUMED.task_containers, *ASSUMED.containers]),
            max_size=2,
        ),
    ):
        around: dict[str, JSON] = {**draw(junk), spell(name): body}
        body = dict(draw(st.permutations([*around.items()])))
    return value, body


@given(wrapped_tasks())
async def test_a_task_is_found_with_the_same_values_however_it_is_wrapped(
    drawn: tuple[dict[str, JSON], JSON],
) -> None:
    expected, body = drawn

    async with client_answered(200, json.dumps(body).encode()) as client:
        outcome = await client.public_marketplace()

    assert isinstance(outcome, Confirmed), outcome
    (task,) = outcome.value.tasks
    found = {name: getattr(replace(task), name) for name in expected}
    assert found | {"tags": list(found["tags"])} == expected
