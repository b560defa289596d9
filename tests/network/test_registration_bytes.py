"""The bytes of a registration are handed over before anybody reads them."""

import pytest
from tests.network.conftest import ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import AccessToken, AgentId, IdempotencyKey
from journeyman.network.answers import Registration
from journeyman.network.client import NetworkClient

KEY = IdempotencyKey("k-1")
BODY = b'{"agent_id": "a-7", "access_token": "t0k3n", "credits": 100}'
READ = Registration(AgentId("a-7"), AccessToken("t0k3n"), 100)


async def test_the_bytes_of_a_yes_are_kept(
    server: ScriptedServer, network: NetworkClient
) -> None:
    kept: list[bytes] = []
    server.will(answer(200, {"agent_id": "a-7", "access_token": "t0k3n"}))

    outcome = await network.register(KEY, kept.append)

    assert isinstance(outcome, Confirmed)
    read = network.read_registration(kept[-1])
    assert read is not None
    assert read.agent_id == "a-7"


async def test_a_yes_that_cannot_be_read_is_kept_all_the_same(
    server: ScriptedServer, network: NetworkClient
) -> None:
    kept: list[bytes] = []
    server.will(answer(200, {"credential": "t0k3n"}))

    outcome = await network.register(KEY, kept.append)

    assert not isinstance(outcome, Confirmed)
    assert b"t0k3n" in kept[-1]


async def test_a_no_is_not_kept(server: ScriptedServer, network: NetworkClient) -> None:
    kept: list[bytes] = []
    server.will(answer(503, {"error": "not now"}))

    await network.register(KEY, kept.append)

    assert kept == []


@pytest.mark.parametrize("body", [BODY, b"\xef\xbb\xbf" + BODY])
async def test_kept_bytes_are_read_as_an_answer_would_be(
    network: NetworkClient, body: bytes
) -> None:
    assert network.read_registration(body) == READ


@pytest.mark.parametrize(
    "body", [b"", BODY[:-9], b"[]", b'{"agent_id": "a-7"}', b"[" * 9999, b"\xff\xfe"]
)
async def test_kept_bytes_without_an_agent_are_none(
    network: NetworkClient, body: bytes
) -> None:
    assert network.read_registration(body) is None
