"""Injected faults, over real HTTP: what the client sees, and what was done."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import anyio
import httpx2 as httpx
import pytest

from journeyman.sandbox import SandboxEnvironment, SandboxOptions, create_app, serving

JOIN = "/functions/v1/create-free-agent-public"
DISCOVER = "/functions/v1/get-marketplace-tasks"
CLAIM = "/functions/v1/claim-task-public"
POSTERS = 4
REQUESTS = 12
WITHOUT_EFFECT = {
    "throttled": "429 and wait",
    "throttled_silently": "429",
    "unavailable": "503 and wait",
    "error_before": "500",
    "dropped_before": "dropped",
    "page": "a page",
}
AFTER_EFFECT = {
    "error_after": "500",
    "dropped_after": "dropped",
    "truncated": "cut off",
    "malformed": "malformed",
    "byte_order_mark": "marked",
}


class Watched(SandboxEnvironment):
    """An environment whose time passes only by sleeping; it counts the sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.clock = datetime(2026, 11, 21, tzinfo=UTC)
        self._tokens = 0

    def now(self) -> datetime:
        return self.clock

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock += timedelta(seconds=seconds)

    def new_token(self) -> str:
        self._tokens += 1
        return f"{self._tokens:024x}".ljust(64, "0")


async def seen(client: httpx.AsyncClient) -> str:
    """Register once; say in a word what came of it."""
    try:
        answer = await client.post(JOIN, json={})
    except httpx.RemoteProtocolError as error:
        return "cut off" if "complete message body" in str(error) else "dropped"
    if answer.status_code != 200:
        waits = " and wait" if "retry-after" in answer.headers else ""
        return f"{answer.status_code}{waits}"
    return content_of(answer)


def content_of(answer: httpx.Response) -> str:
    if answer.content.startswith(b"\xef\xbb\xbf"):
        return "marked"
    if answer.headers["content-type"] != "application/json":
        return "a page"
    try:
        json.loads(answer.content)
    except ValueError:
        return "malformed"
    return "fine"


class Came(NamedTuple):
    """What a few registrations came to."""

    looks: Counter[str]
    agents: int
    """That the sandbox has now, besides its posters."""
    is_balanced: bool


async def registered(fault: str, came: dict[str, Came]) -> None:
    options = SandboxOptions(tasks=0, chaos="hard", faults=(fault,))
    async with (
        serving(options) as base_url,
        httpx.AsyncClient(base_url=base_url, trust_env=False) as client,
    ):
        looks = Counter([await seen(client) for _ in range(REQUESTS)])
        ledger = (await client.get("/sandbox/ledger")).json()
    came[fault] = Came(looks, len(ledger["agents"]) - POSTERS, ledger["balanced"])


@pytest.mark.endurance
async def test_a_fault_looks_like_itself_and_has_its_effect_or_none(
    capfd: pytest.CaptureFixture[str],
) -> None:
    came: dict[str, Came] = {}

    # All at once: a server takes most of a second to stop.
    async with anyio.create_task_group() as group:
        for fault in (*WITHOUT_EFFECT, *AFTER_EFFECT):
            group.start_soon(registered, fault, came)

    for fault, look in WITHOUT_EFFECT.items():
        assert came[fault].looks.keys() == {"fine", look}, fault
        assert came[fault].agents == came[fault].looks["fine"], fault
    for fault, look in AFTER_EFFECT.items():
        assert came[fault].looks.keys() == {"fine", look}, fault
        assert came[fault].agents == REQUESTS, fault
    assert all(one.is_balanced for one in came.values())
    assert capfd.readouterr().err == "", "the server takes none for a fault of its own"


async def test_the_same_seed_injects_the_same_faults() -> None:
    runs = []
    for seed in (1, 1, 2):
        options = SandboxOptions(tasks=0, chaos="hard", seed=seed)
        async with in_process(options, Watched()) as client:
            runs.append([await seen_in_process(client) for _ in range(40)])

    assert runs[0] == runs[1] != runs[2]
    assert len(set(runs[0])) > 3


async def test_without_chaos_nothing_goes_wrong() -> None:
    environment = Watched()
    async with in_process(SandboxOptions(tasks=0), environment) as client:
        assert {await seen_in_process(client) for _ in range(40)} == {"fine"}
    assert environment.slept == []


async def test_mild_is_rarer_than_hard_and_naming_a_fault_injects_it() -> None:
    faulty = {}
    for chaos in ("off", "mild", "hard"):
        options = SandboxOptions(tasks=0, chaos=chaos, faults=("error_before",))
        async with in_process(options, Watched()) as client:
            came = [await seen_in_process(client) for _ in range(200)]
            faulty[chaos] = came.count("500")

    assert 0 < faulty["off"] == faulty["mild"] < faulty["hard"] / 2


async def test_latency_is_seconds_at_most() -> None:
    environment = Watched()
    options = SandboxOptions(tasks=0, chaos="hard", faults=("latency",))
    async with in_process(options, environment) as client:
        for _ in range(20):
            assert await seen_in_process(client) == "fine"

    assert environment.slept
    assert all(0 < seconds <= 3 for seconds in environment.slept)


async def test_a_token_expires_for_a_while_on_private_endpoints_only() -> None:
    environment = Watched()
    options = SandboxOptions(tasks=0, chaos="hard", faults=("expired_token",))
    async with in_process(options, environment) as client:
        token = (await client.post(JOIN, json={})).json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        while (await client.get(DISCOVER)).status_code == 200:
            pass
        during = await client.get(DISCOVER)
        public = await client.get("/functions/v1/public-marketplace")
        environment.clock += timedelta(seconds=11)
        after = {(await client.get(DISCOVER)).status_code for _ in range(3)}

    assert (during.status_code, during.json()["error"]) == (401, "token_expired")
    assert public.status_code == 200
    assert 200 in after


async def test_a_lost_lease_opens_a_claimed_task_again() -> None:
    options = SandboxOptions(tasks=3, chaos="hard", faults=("lost_lease",))
    async with in_process(options, Watched()) as client:
        token = (await client.post(JOIN, json={})).json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        (task, *_) = (await client.get(DISCOVER)).json()["tasks"]
        await client.post(CLAIM, json={"task_id": task["id"]})
        looks = 0
        while (await client.get("/sandbox/ledger")).json()["tasks"]["claimed"]:
            looks += 1
            await client.get(DISCOVER)
        late = await client.post(
            "/functions/v1/submit-task-result-public",
            json={"task_id": task["id"], "result": 1},
        )
        ledger = (await client.get("/sandbox/ledger")).json()

    assert 0 < looks < 20
    assert (late.status_code, late.json()["error"]) == (409, "not_claimant")
    assert ledger["balanced"]


def in_process(options: SandboxOptions, environment: Watched) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(options, environment))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080")


async def seen_in_process(client: httpx.AsyncClient) -> str:
    try:
        return await seen(client)
    except ConnectionResetError:
        return "dropped"
