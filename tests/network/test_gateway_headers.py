"""Headers that a gateway demands: on every request to it, and nowhere else."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx2 as httpx
import pytest
from tests.network.conftest import StoppedClock
from tests.one_task import in_one_task

from journeyman.domain.outcomes import Confirmed, Refused
from journeyman.domain.tasks import (
    AccessToken,
    AgentId,
    IdempotencyKey,
    Identity,
    Task,
    TaskId,
)
from journeyman.network.client import NetworkClient
from journeyman.testing import RecordingLog

URL, PORTAL = "http://network.example", "http://portal.example"
KEY = "k3y-of-the-gateway"
JOINED = {"agent_id": "a-1", "access_token": "t0k3n"}


@dataclass
class Gateway(httpx.AsyncBaseTransport):
    """Lets through what has the key, and repeats the key to the rest."""

    seen: list[httpx.Request] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        if request.headers.get("apikey") == KEY and "claim" not in request.url.path:
            return httpx.Response(200, json=JOINED)
        return httpx.Response(403, json={"message": f"wrong key: not {KEY}"})


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


@pytest.fixture
def log() -> RecordingLog:
    return RecordingLog()


@pytest.fixture
async def client(gateway: Gateway, log: RecordingLog) -> AsyncIterator[NetworkClient]:
    client = NetworkClient(
        base_url=URL,
        portal_url=PORTAL,
        headers={"apikey": KEY},
        log=log,
        clock=StoppedClock(),
        transport=gateway,
    )
    async with in_one_task(client):
        yield client


async def test_they_are_sent_with_registration_and_reads_and_actions(
    client: NetworkClient, gateway: Gateway
) -> None:
    assert isinstance(await client.register(IdempotencyKey("k-1")), Confirmed)
    await client.public_marketplace()
    client.identify(Identity(AgentId("a-1"), AccessToken("t0k3n"), URL))
    await client.claim(Task(id=TaskId("t-1")), IdempotencyKey("k-2"))

    assert len(gateway.seen) >= 3
    assert all(request.headers["apikey"] == KEY for request in gateway.seen)
    assert gateway.seen[-1].headers["authorization"] == "Bearer t0k3n"


async def test_documents_get_them_where_the_service_has_them_only(
    client: NetworkClient, gateway: Gateway
) -> None:
    await client.document("/llms.txt")
    await client.document("/openapi.json", origin=URL)

    at_the_portal, at_the_service = gateway.seen
    assert at_the_portal.url.host == "portal.example"
    assert "apikey" not in at_the_portal.headers
    assert at_the_service.headers["apikey"] == KEY


async def test_an_answer_that_repeats_them_does_not_bring_them_into_the_log(
    client: NetworkClient, log: RecordingLog
) -> None:
    client.identify(Identity(AgentId("a-1"), AccessToken("t0k3n"), URL))

    refused = await client.claim(Task(id=TaskId("t-1")), IdempotencyKey("k-2"))

    assert isinstance(refused, Refused)
    assert "not ***" in refused.message
    assert KEY not in str(log.lines)
