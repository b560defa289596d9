"""How answers are named and arranged: the same tasks, in many forms."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import httpx2 as httpx
import pytest

from journeyman.sandbox import SandboxEnvironment, SandboxOptions, create_app

Open = Callable[..., Awaitable[httpx.AsyncClient]]
Join = Callable[[httpx.AsyncClient], Awaitable[httpx.AsyncClient]]
Fields = dict[str, Any]
MARKET = "/functions/v1/public-marketplace"
CLAIM = "/functions/v1/claim-task-public"
SUBMIT = "/functions/v1/submit-task-result-public"
COMPLETE = "/functions/v1/complete-task-public"


class Still(SandboxEnvironment):
    """A machine whose clock stands, so that two sandboxes make equal tasks."""

    def now(self) -> datetime:
        return datetime(2026, 11, 21, tzinfo=UTC)


async def listing(**options: Any) -> Any:  # noqa: ANN401 - options, and a JSON value
    chosen = SandboxOptions(tasks=2, kinds=("word_count",), **options)
    transport = httpx.ASGITransport(create_app(chosen, Still()))
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as visitor:
        return (await visitor.get(MARKET)).json()


@pytest.mark.parametrize("name", ["tasks", "data", "items", "results"])
async def test_tasks_are_under_a_name(name: str) -> None:
    answer = await listing(listing_format=name)

    assert answer.keys() == {"ok", "count", name}
    assert len(answer[name]) == answer["count"] == 2


async def test_tasks_are_in_other_containers() -> None:
    plain = (await listing())["tasks"]

    async def of(container: str) -> Any:  # noqa: ANN401 - a JSON value
        return await listing(listing_format=container)

    assert await of("bare") == plain
    assert (await of("nested"))["data"]["tasks"] == plain
    assert (await of("embedded"))["_embedded"]["tasks"] == plain
    assert (await of("paged"))["content"] == plain
    edges = (await of("edges"))["data"]["marketplace_tasks"]["edges"]
    assert [edge["node"] for edge in edges] == plain
    keyed = (await of("keyed"))["tasks"]
    assert [{"id": name, **task} for name, task in keyed.items()] == plain


@pytest.mark.parametrize(
    ("naming", "expected"),
    [
        ("snake", "created_at"),
        ("camel", "createdAt"),
        ("pascal", "CreatedAt"),
        ("kebab", "created-at"),
    ],
)
async def test_names_are_spelled_alike_everywhere(
    naming: str, expected: str, open_sandbox: Open, join: Join
) -> None:
    visitor = await open_sandbox(tasks=1, kinds=("word_count",), naming=naming)
    member = await join(visitor)
    spelled_tasks = "Tasks" if naming == "pascal" else "tasks"
    (task,) = (await visitor.get(MARKET)).json()[spelled_tasks]
    task_id = task["Id" if naming == "pascal" else "id"]

    claimed = (await member.post(CLAIM, json={"task_id": task_id})).json()
    directory = (await visitor.get("/functions/v1/agents-directory")).json()

    agent = directory["Agents" if naming == "pascal" else "agents"][0]
    assert expected in task
    assert expected in claimed["Task" if naming == "pascal" else "task"]
    assert len({"agent_id", "agentId", "AgentId", "agent-id"} & agent.keys()) == 1


async def test_what_is_in_an_input_keeps_its_names() -> None:
    answer = await listing(naming="pascal")

    assert all(task["Input"].keys() == {"text"} for task in answer["Tasks"])


async def test_names_follow_the_request_format_unless_they_are_chosen() -> None:
    camel = (await listing(request_format="camel"))["tasks"]
    chosen = (await listing(request_format="camel", naming="snake"))["tasks"]

    assert "createdAt" in camel[0]
    assert "created_at" in chosen[0]


async def test_values_are_written_in_other_forms() -> None:
    async def of(values: str) -> Fields:
        task: Fields = (await listing(value_format=values))["tasks"][0]
        return task

    plain, texts = await of("plain"), await of("texts")
    numbers, objects = await of("numbers"), await of("objects")

    assert texts["reward"] == f"{plain['reward']} credits"
    assert texts["tags"] == ", ".join(plain["tags"])
    assert numbers["created_at"] > 1_000_000_000_000
    assert objects["reward"] == {"amount": plain["reward"], "unit": "credits"}
    assert objects["tags"] == [{"name": tag} for tag in plain["tags"]]
    assert objects["poster"] == {"id": plain["poster"]}


async def test_a_record_may_be_wrapped() -> None:
    plain = (await listing())["tasks"][0]
    resource = (await listing(record_format="attributes"))["tasks"][0]
    typed = (await listing(record_format="graphql"))["tasks"][0]

    assert {"id": resource["id"], **resource["attributes"]} == plain
    assert typed == {"__typename": "Task", **plain}


async def test_an_id_that_is_a_number_names_its_task_as_number_and_as_text(
    open_sandbox: Open, join: Join
) -> None:
    visitor = await open_sandbox(tasks=2, kinds=("word_count",), id_format="integer")
    member = await join(visitor)
    first, second = (await visitor.get(MARKET)).json()["tasks"]

    by_number = await member.post(CLAIM, json={"task_id": first["id"]})
    by_text = await member.post(CLAIM, json={"task_id": str(second["id"])})
    posted = await member.post(
        "/functions/v1/write-post-task-public",
        json={"title": "x", "description": "x", "reward": 1},
    )

    assert by_number.json()["task"]["id"] == first["id"]
    assert by_text.json()["task"]["id"] == second["id"]
    assert isinstance(posted.json()["task_id"], int)


async def test_wrapped_answers_are_in_an_envelope(
    open_sandbox: Open, join: Join
) -> None:
    visitor = await open_sandbox(
        tasks=1, kinds=("word_count",), request_format="wrapped"
    )
    member = await join(visitor)
    (task,) = (await visitor.get(MARKET)).json()["data"]["tasks"]

    claimed = (await member.post(CLAIM, json={"task_id": task["id"]})).json()
    wrong = {"task_id": task["id"], "result": -1}
    judged = (await member.post(SUBMIT, json=wrong)).json()

    assert claimed.keys() == {"ok", "data"}
    assert claimed["data"]["task"]["id"] == task["id"]
    assert (judged["ok"], judged["data"]["error"]) == (False, "result_rejected")


async def test_a_silent_sandbox_does_all_and_says_nothing(
    open_sandbox: Open, join: Join
) -> None:
    visitor = await open_sandbox(tasks=1, kinds=("word_count",), empty_answers=True)
    member = await join(visitor)
    (task,) = (await visitor.get(MARKET)).json()["tasks"]
    name = {"task_id": task["id"]}
    result = len(task["input"]["text"].split())

    answers = [
        await member.post(CLAIM, json=name),
        await member.post(SUBMIT, json={**name, "result": result}),
        await member.post(COMPLETE, json=name),
    ]

    assert [(one.status_code, one.json()) for one in answers] == [(200, {})] * 3
    ledger = (await member.get("/sandbox/ledger")).json()
    us = member.headers["X-Agent"]
    earned = {one["agent_id"]: one["earned"] for one in ledger["agents"]}
    assert earned[us] == task["reward"]


async def test_a_repeated_key_gets_the_same_bytes_in_every_form(
    open_sandbox: Open, join: Join
) -> None:
    options = {
        "request_format": "wrapped",
        "naming": "pascal",
        "value_format": "objects",
    }
    visitor = await open_sandbox(tasks=1, kinds=("word_count",), **options)
    member = await join(visitor)
    (task,) = (await visitor.get(MARKET)).json()["Data"]["Tasks"]
    key = {"Idempotency-Key": "k"}

    one, two = [
        await member.post(CLAIM, json={"task": {"id": task["Id"]}}, headers=key)
        for _ in range(2)
    ]

    assert one.content == two.content
    assert one.json()["Data"]["Status"] == "claimed"
