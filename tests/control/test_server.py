"""The control server: what each request does, and how a bad one is refused."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import pytest

from journeyman.control.server import build_app
from journeyman.control.verbs import (
    DisableRequest,
    PauseRequest,
    PostRequest,
    StopRequest,
    StrategyName,
    TaskRequest,
    TopUpName,
    TopUpRequest,
    WhoAsks,
)
from journeyman.domain.errors import SafetyError, UsageError
from journeyman.domain.tasks import JSON, NewTask


class RecordedCommands:
    """Handlers that keep what they were asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.healthy = True

    def status(self) -> dict[str, JSON]:
        return {"balance": 100}

    def budget(self) -> dict[str, JSON]:
        return {"limits": []}

    def health(self) -> dict[str, JSON]:
        return {"healthy": self.healthy, "problem": ""}

    def pause(self, request: PauseRequest) -> dict[str, JSON]:
        self.asked.append("pause")
        return {"paused": request.by}

    def resume(self, request: WhoAsks) -> dict[str, JSON]:
        self.asked.append("resume")
        return {"paused": request.by}

    def disable(self, request: DisableRequest) -> dict[str, JSON]:
        return {"strategy": request.name, "disabled": request.hours}

    def enable(self, request: StrategyName) -> dict[str, JSON]:
        return {"strategy": request.name, "disabled": None}

    def acknowledge_journal(self) -> dict[str, JSON]:
        return {"older_journal_found_at": None}

    def stop(self, request: StopRequest) -> None:
        self.asked.append("stop now" if request.now else "stop")

    async def reload(self) -> dict[str, JSON]:
        return {"reloaded": False, "problems": ["E101"]}

    def release(self, request: StrategyName) -> dict[str, JSON]:
        if request.name != "ill one":
            raise UsageError(f"{request.name!r} is not in quarantine")
        return {"strategy": request.name, "released": True}

    def promote(self, request: StrategyName) -> dict[str, JSON]:
        return {"strategy": request.name, "promoted": True}

    def retry(self, request: TaskRequest) -> dict[str, JSON]:
        return {"task_id": request.task_id, "before": "failed", "state": "claimed"}

    async def abandon(self, request: TaskRequest) -> dict[str, JSON]:
        return {"task_id": request.task_id, "before": "claimed", "state": "declined"}

    async def post(self, request: PostRequest) -> dict[str, JSON]:
        self.asked.append(request.task())
        return {"spend_id": "post_1"}

    async def preview_post(self, request: PostRequest) -> dict[str, JSON]:
        return {"cost": request.reward}

    async def top_up(self, request: TopUpRequest) -> dict[str, JSON]:
        if request.credits > 500:
            raise SafetyError("over the cap", "Raise topup.per_day_cents.")
        self.asked.append(request.credits)
        return {"url": "https://pay.example"}

    def approve_top_up(self, request: TopUpName) -> dict[str, JSON]:
        return {"spend_id": request.spend_id, "url": "https://pay.example"}

    def read_packs(self) -> dict[str, JSON]:
        return {"packs": []}

    def confirm_top_up(self, request: TopUpName) -> dict[str, JSON]:
        self.asked.append((request.spend_id, True))
        return {"booked": True}

    def cancel_top_up(self, request: TopUpName) -> dict[str, JSON]:
        self.asked.append((request.spend_id, False))
        return {"booked": False}


@pytest.fixture
def commands() -> RecordedCommands:
    return RecordedCommands()


@pytest.fixture
async def client(commands: RecordedCommands) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(build_app(commands))
    async with httpx.AsyncClient(transport=transport, base_url="http://d") as client:
        yield client


async def test_status_and_health_are_told(client: httpx.AsyncClient) -> None:
    assert (await client.get("/status")).json() == {"balance": 100}
    health = await client.get("/healthz")
    assert (health.status_code, health.json()["healthy"]) == (200, True)


async def test_an_unhealthy_daemon_answers_503(
    client: httpx.AsyncClient, commands: RecordedCommands
) -> None:
    commands.healthy = False

    assert (await client.get("/healthz")).status_code == 503


@pytest.mark.parametrize("command", ["pause", "resume", "stop"])
async def test_a_command_is_a_post_and_nothing_else(
    client: httpx.AsyncClient, commands: RecordedCommands, command: str
) -> None:
    assert (await client.get(f"/{command}")).status_code == 405
    assert commands.asked == []

    assert (await client.post(f"/{command}")).status_code == 200
    assert commands.asked == [command]


async def test_a_pause_says_who_and_without_a_word_it_was_the_owner(
    client: httpx.AsyncClient,
) -> None:
    named = await client.post("/pause", json={"by": "ann"})
    unnamed = await client.post("/pause")
    refused = await client.post("/strategies/disable", json={"name": "x", "hours": 0})

    assert (named.json(), unnamed.json()) == (
        {"paused": "ann"},
        {"paused": "the owner"},
    )
    assert (refused.status_code, refused.json()["exit_code"]) == (409, 2)


async def test_a_task_is_posted_as_described(
    client: httpx.AsyncClient, commands: RecordedCommands
) -> None:
    body = {"title": "T", "reward": 3, "tags": ["a"], "kind": "k", "input": {"x": 1}}

    await client.post("/posts", json=body)

    assert commands.asked == [
        NewTask(
            title="T", description="T", reward=3, kind="k", tags=("a",), input={"x": 1}
        )
    ]


BAD_BODIES = [
    ("/posts", b"", "title"),
    ("/posts", b"\xff\xfe{", "Invalid JSON"),
    ("/posts", b"[" * 100_000, "Invalid JSON"),
    ("/posts", b"[]", "object"),
    ("/posts", b"{}", "title"),
    ("/posts", b'{"title": " ", "reward": 1}', "title"),
    ("/posts", b'{"title": "T"}', "reward"),
    ("/posts", b'{"title": "T", "reward": 0}', "reward"),
    ("/posts", b'{"title": "T", "reward": true}', "reward"),
    ("/posts", b'{"title": "T", "reward": "3"}', "reward"),
    ("/posts", b'{"title": "T", "reward": 1.5}', "reward"),
    ("/posts", b'{"title": "T", "reward": 1, "tags": "a"}', "tags"),
    ("/top-ups", b"{}", "credits"),
    ("/top-ups", b'{"credits": "5"}', "credits"),
    ("/top-ups", b'{"credits": true}', "credits"),
]


@pytest.mark.parametrize(("path", "body", "about"), BAD_BODIES)
async def test_a_bad_body_is_refused_with_the_reason(
    client: httpx.AsyncClient,
    commands: RecordedCommands,
    path: str,
    body: bytes,
    about: str,
) -> None:
    answer = await client.post(path, content=body)

    assert answer.status_code == 409
    assert about in answer.json()["problem"]
    assert answer.json()["exit_code"] == 2
    assert commands.asked == []


async def test_a_refusal_of_the_daemons_is_passed_on_whole(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.post("/top-ups", json={"credits": 501})

    assert answer.json() == {
        "problem": "over the cap",
        "fix": "Raise topup.per_day_cents.",
        "exit_code": 6,
    }


@pytest.mark.parametrize(("verdict", "paid"), [("confirm", True), ("cancel", False)])
async def test_a_top_up_is_settled_by_its_name(
    client: httpx.AsyncClient, commands: RecordedCommands, verdict: str, *, paid: bool
) -> None:
    await client.post(f"/top-ups/topup_1/{verdict}")

    assert commands.asked == [("topup_1", paid)]


async def test_a_verdict_that_is_misspelt_settles_nothing(
    client: httpx.AsyncClient, commands: RecordedCommands
) -> None:
    answer = await client.post("/top-ups/topup_1/confrim")

    assert answer.status_code == 404
    assert commands.asked == []


async def test_a_reload_that_is_refused_is_an_answer_and_no_error(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.post("/reload")

    assert answer.status_code == 200
    assert answer.json() == {"reloaded": False, "problems": ["E101"]}


async def test_a_strategy_is_released_by_its_name(client: httpx.AsyncClient) -> None:
    done = await client.post("/strategies/ill%20one/release")
    refused = await client.post("/strategies/sound/release")

    assert done.json()["released"]
    assert (refused.status_code, refused.json()["exit_code"]) == (409, 2)


async def test_a_strategy_is_promoted_by_its_name(client: httpx.AsyncClient) -> None:
    done = await client.post("/strategies/word%20count/promote")

    assert done.json() == {"strategy": "word count", "promoted": True}


async def test_a_stop_may_be_asked_for_at_once(
    client: httpx.AsyncClient, commands: RecordedCommands
) -> None:
    await client.post("/stop", json={"now": True})

    assert commands.asked == ["stop now"]
