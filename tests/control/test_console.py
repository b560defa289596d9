"""The console over ASGI: what each request does, and how a bad one is refused."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import pytest

from journeyman.control.server import build_app
from journeyman.domain.errors import SafetyError, UsageError
from journeyman.domain.tasks import JSON, NewTask, SpendId


class RecordingDesk:
    """A desk that keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.healthy = True

    def status(self) -> dict[str, JSON]:
        return {"balance": 100}

    def health(self) -> dict[str, JSON]:
        return {"healthy": self.healthy, "problem": ""}

    def pause(self) -> None:
        self.asked.append("pause")

    def resume(self) -> None:
        self.asked.append("resume")

    def stop(self) -> None:
        self.asked.append("stop")

    async def reload(self) -> dict[str, JSON]:
        return {"reloaded": False, "problems": ["E101"]}

    def release(self, strategy: str) -> dict[str, JSON]:
        if strategy != "ill one":
            raise UsageError(f"{strategy!r} is not in quarantine")
        return {"strategy": strategy, "released": True}

    def promote(self, strategy: str) -> dict[str, JSON]:
        return {"strategy": strategy, "promoted": True}

    async def post(self, new: NewTask) -> dict[str, JSON]:
        self.asked.append(new)
        return {"spend_id": "post_1"}

    async def top_up(self, credits_: int) -> dict[str, JSON]:
        if credits_ > 500:
            raise SafetyError("over the cap", "Raise topup.per_day_cents.")
        self.asked.append(credits_)
        return {"url": "https://pay.example"}

    def settle_top_up(self, spend_id: SpendId, *, paid: bool) -> dict[str, JSON]:
        self.asked.append((spend_id, paid))
        return {"booked": paid}


@pytest.fixture
def desk() -> RecordingDesk:
    return RecordingDesk()


@pytest.fixture
async def console(desk: RecordingDesk) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(build_app(desk))
    async with httpx.AsyncClient(transport=transport, base_url="http://d") as client:
        yield client


async def test_status_and_health_are_told(console: httpx.AsyncClient) -> None:
    assert (await console.get("/status")).json() == {"balance": 100}
    health = await console.get("/healthz")
    assert (health.status_code, health.json()["healthy"]) == (200, True)


async def test_an_unhealthy_daemon_answers_503(
    console: httpx.AsyncClient, desk: RecordingDesk
) -> None:
    desk.healthy = False

    assert (await console.get("/healthz")).status_code == 503


@pytest.mark.parametrize("command", ["pause", "resume", "stop"])
async def test_a_command_is_a_post_and_nothing_else(
    console: httpx.AsyncClient, desk: RecordingDesk, command: str
) -> None:
    assert (await console.get(f"/{command}")).status_code == 405
    assert desk.asked == []

    assert (await console.post(f"/{command}")).json() == {"ok": True}
    assert desk.asked == [command]


async def test_a_task_is_posted_as_described(
    console: httpx.AsyncClient, desk: RecordingDesk
) -> None:
    body = {"title": "T", "reward": 3, "tags": ["a"], "kind": "k", "input": {"x": 1}}

    await console.post("/posts", json=body)

    assert desk.asked == [
        NewTask(
            title="T", description="T", reward=3, kind="k", tags=("a",), input={"x": 1}
        )
    ]


BAD_BODIES = [
    ("/posts", b"", "no JSON"),
    ("/posts", b"\xff\xfe{", "no JSON"),
    ("/posts", b"[" * 100_000, "no JSON"),
    ("/posts", b"[]", "JSON object"),
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
    console: httpx.AsyncClient, desk: RecordingDesk, path: str, body: bytes, about: str
) -> None:
    answer = await console.post(path, content=body)

    assert answer.status_code == 409
    assert about in answer.json()["problem"]
    assert answer.json()["exit_code"] == 2
    assert desk.asked == []


async def test_a_refusal_of_the_daemons_is_passed_on_whole(
    console: httpx.AsyncClient,
) -> None:
    answer = await console.post("/top-ups", json={"credits": 501})

    assert answer.json() == {
        "problem": "over the cap",
        "fix": "Raise topup.per_day_cents.",
        "exit_code": 6,
    }


@pytest.mark.parametrize(("verdict", "paid"), [("confirm", True), ("cancel", False)])
async def test_a_top_up_is_settled_by_its_name(
    console: httpx.AsyncClient, desk: RecordingDesk, verdict: str, *, paid: bool
) -> None:
    await console.post(f"/top-ups/topup_1/{verdict}")

    assert desk.asked == [("topup_1", paid)]


async def test_a_verdict_that_is_misspelt_settles_nothing(
    console: httpx.AsyncClient, desk: RecordingDesk
) -> None:
    answer = await console.post("/top-ups/topup_1/confrim")

    assert answer.status_code == 404
    assert desk.asked == []


async def test_a_reload_that_is_refused_is_an_answer_and_no_error(
    console: httpx.AsyncClient,
) -> None:
    answer = await console.post("/reload")

    assert answer.status_code == 200
    assert answer.json() == {"reloaded": False, "problems": ["E101"]}


async def test_a_strategy_is_released_by_its_name(console: httpx.AsyncClient) -> None:
    done = await console.post("/strategies/ill%20one/release")
    refused = await console.post("/strategies/sound/release")

    assert done.json()["released"]
    assert (refused.status_code, refused.json()["exit_code"]) == (409, 2)


async def test_a_strategy_is_promoted_by_its_name(console: httpx.AsyncClient) -> None:
    done = await console.post("/strategies/word%20count/promote")

    assert done.json() == {"strategy": "word count", "promoted": True}
