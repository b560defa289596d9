"""A registration is handed over before anybody reads it, and searched for its agent."""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from json import dumps

import pytest
from tests.network.conftest import ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed, Unknown
from journeyman.domain.tasks import JSON, AccessToken, AgentId, IdempotencyKey
from journeyman.network.call import Arrival
from journeyman.network.client import NetworkClient
from journeyman.network.registration import Registration

KEY = IdempotencyKey("k-1")
BODY = b'{"agent_id": "a-7", "access_token": "t0k3n", "credits": 100}'
READ = Registration(AgentId("a-7"), AccessToken("t0k3n"), 100)
LONG = "V1StGXR8_Z5jdHi6B-myT0k3nQ9xw"
NO_HEADERS: Mapping[str, str] = {}


def jwt(**claims: JSON) -> str:
    parts = [{"alg": "HS256"}, claims]
    coded = [urlsafe_b64encode(dumps(part).encode()).decode() for part in parts]
    return ".".join(part.rstrip("=") for part in (*coded, "c2lnbmF0dXJl"))


async def test_the_bytes_and_headers_of_a_yes_are_kept(
    server: ScriptedServer, network: NetworkClient
) -> None:
    kept: list[Arrival] = []
    server.will(answer(200, {"agent_id": "a-7", "access_token": "t0k3n"}))

    outcome = await network.register(KEY, kept.append)

    assert isinstance(outcome, Confirmed)
    assert kept[-1].is_whole
    assert kept[-1].headers["content-type"] == "application/json"
    read = network.read_registration(kept[-1].body, kept[-1].headers)
    assert read is not None
    assert read.agent_id == "a-7"


async def test_a_yes_that_cannot_be_read_is_kept_all_the_same(
    server: ScriptedServer, network: NetworkClient
) -> None:
    kept: list[Arrival] = []
    server.will(answer(200, {"credential": "t0k3n"}))

    outcome = await network.register(KEY, kept.append)

    assert not isinstance(outcome, Confirmed)
    assert b"t0k3n" in kept[-1].body


@pytest.mark.parametrize("body", [b"", b"your token is t0k3n-of-yours", b"<html>"])
async def test_a_yes_without_json_is_kept_whole_and_never_quoted(
    server: ScriptedServer, network: NetworkClient, body: bytes
) -> None:
    kept: list[Arrival] = []
    server.will(answer(200, body))

    outcome = await network.register(KEY, kept.append)

    assert isinstance(outcome, Unknown)
    assert "t0k3n" not in outcome.message
    assert (kept[-1].body, kept[-1].is_whole) == (body, True)


async def test_a_body_that_ends_within_its_json_is_not_whole(
    server: ScriptedServer, network: NetworkClient
) -> None:
    kept: list[Arrival] = []
    server.will(answer(200, BODY[:-12]))

    await network.register(KEY, kept.append)

    assert not kept[-1].is_whole


async def test_a_no_is_not_kept(server: ScriptedServer, network: NetworkClient) -> None:
    kept: list[Arrival] = []
    server.will(answer(503, {"error": "not now"}))

    await network.register(KEY, kept.append)

    assert kept == []


@pytest.mark.parametrize("body", [BODY, b"\xef\xbb\xbf" + BODY])
async def test_kept_bytes_are_read_as_an_answer_would_be(
    network: NetworkClient, body: bytes
) -> None:
    assert network.read_registration(body, NO_HEADERS) == READ


@pytest.mark.parametrize(
    "body", [b"", BODY[:-9], b"[]", b'{"agent_id": "a-7"}', b"[" * 9999, b"\xff\xfe"]
)
async def test_kept_bytes_without_an_agent_are_none(
    network: NetworkClient, body: bytes
) -> None:
    assert network.read_registration(body, NO_HEADERS) is None


@pytest.mark.parametrize(
    "body",
    [
        {"result": {"agent_id": "a-7", "access_token": LONG}},
        {"data": {"attributes": {"agentId": "a-7"}, "meta": {"authToken": LONG}}},
        {"user": {"id": "a-7", "name": "otter"}, "session": {"bearer": LONG}},
        {"agent": {"slug": "a-7"}, "credentials": [{"type": "api", "apiKey": LONG}]},
        {"agent": "a-7", "secret": LONG},
        {"ok": True, "member": "a-7", "key": LONG, "credits": 100},
        {"operator": "a-7", "bearer": LONG, "account": {"credits": 100}},
        {"reviewer": {"id": "a-7", "credential": {"type": "bearer", "value": LONG}}},
        {"bot_id": "a-7", "key": {"value": LONG}},
        {"x_agent_id": "a-7", "x_access_token": LONG},
        {"uid": "a-7", "token": {"type": "bearer", "plain": LONG}},
        {"agentId": "a-7", "accessToken": {"id": LONG, "ttl": 900, "userId": "a-7"}},
        {"agentId": "a-7", "token": {"id": "tok-0123456789ab", "secret": LONG}},
        {"result": {"sys_id": "a-7", "access_token": LONG, "session_id": "s-1"}},
        {"_id": "a-7", "auth": {"header": "x", "authorization": f"Bearer {LONG}"}},
        {
            "agent": {"uuid": "a-7"},
            "tokens": [
                {"type": "refresh", "token": f"{LONG}2"},
                {"type": "access", "token": LONG},
            ],
        },
        {
            "requestId": "9f86d081884c7d659a2f",
            "expires": "2027-01-01T00:00:00Z",
            "csrfToken": f"{LONG}3",
            "refreshToken": f"{LONG}4",
            "token_type": "bearer",
            "account": {"account_id": "a-7", "accountToken": LONG},
        },
    ],
)
async def test_an_agent_is_found_wherever_it_is(
    network: NetworkClient, body: JSON
) -> None:
    found = network.read_registration(dumps(body).encode(), NO_HEADERS)

    assert found is not None
    assert (found.agent_id, found.access_token.reveal()) == ("a-7", LONG)


async def test_what_else_names_the_agent_is_kept_and_no_secret(
    network: NetworkClient,
) -> None:
    body: JSON = {
        "agent_id": "a-7",
        "access_token": LONG,
        "workerNumber": 41,
        "reference": "Device/a-7",
        "cardCode": "a-7",
        "greeting": "Welcome, a-7",
        "refresh_id": "r-1",
        "session_id": "s-1",
        "seal_id": f"{LONG}5",
    }

    found = network.read_registration(dumps(body).encode(), NO_HEADERS)

    assert found is not None
    assert dict(found.given) == {
        "register.workerNumber": 41,
        "register.reference": "Device/a-7",
        "register.cardCode": "a-7",
    }


@pytest.mark.parametrize(
    "headers",
    [
        {"x-access-token": LONG},
        {"authorization": f"Bearer {LONG}"},
        {"x-api-key": LONG, "set-cookie": "session_token=3f9a8b7c6d5e4f3a2b1c"},
    ],
)
async def test_a_token_may_stand_in_a_header(
    network: NetworkClient, headers: Mapping[str, str]
) -> None:
    body = b'{"agent": {"id": "a-7", "credits": 50}}'

    found = network.read_registration(body, headers)

    assert found is not None
    assert found.access_token.reveal() == LONG
    assert (found.agent_id, found.credits) == ("a-7", 50)


async def test_the_id_may_stand_in_the_address_of_what_was_made(
    network: NetworkClient,
) -> None:
    headers = {"location": "http://network.example/v1/agents/a-7"}
    found = network.read_registration(dumps({"token": LONG}).encode(), headers)

    assert found is not None
    assert found.agent_id == "a-7"


@pytest.mark.parametrize("name", ["sub", "agent_id", "uid"])
async def test_the_id_may_stand_in_the_token(network: NetworkClient, name: str) -> None:
    token = jwt(iss="network", **{name: "a-7"})

    for body in (dumps({"access_token": token}), dumps(token), token):
        found = network.read_registration(body.encode(), NO_HEADERS)

        assert found is not None
        assert (found.agent_id, found.access_token.reveal()) == ("a-7", token)


@pytest.mark.parametrize(
    "body", [f"agent_id=a-7&access_token={LONG}", f"agent id: a-7\nToken: {LONG}\n"]
)
async def test_a_form_and_a_plain_text_are_read(
    network: NetworkClient, body: str
) -> None:
    found = network.read_registration(body.encode(), NO_HEADERS)

    assert found is not None
    assert (found.agent_id, found.access_token.reveal()) == ("a-7", LONG)


@pytest.mark.parametrize(
    "body",
    [
        {"agent_id": "a-7", "refresh_token": LONG},
        {"agent_id": "a-7", "token_type": "bearer", "token_url": "http://x.example"},
        {"agent_id": "a-7", "key": "otter"},
        {"ok": True, "id": 1, "message": "welcome"},
    ],
)
async def test_what_has_no_token_is_no_agent(
    network: NetworkClient, body: JSON
) -> None:
    assert network.read_registration(dumps(body).encode(), NO_HEADERS) is None


async def test_an_agent_without_an_id_is_always_called_the_same(
    network: NetworkClient,
) -> None:
    body = {"status": "ok-1", "access_token": LONG, "order": {"id": 7}}
    first, again = (
        network.read_registration(dumps(body).encode(), NO_HEADERS) for _ in range(2)
    )

    assert first is not None
    assert first == again
    assert first.agent_id.startswith("agent-")
    assert LONG not in first.agent_id


@pytest.mark.parametrize(
    ("body", "is_guess"),
    [
        ({"result": {"agent_id": "a-7", "access_token": LONG}}, False),
        ({"agent": {"id": "a-7", "credentials": {"authToken": LONG}}}, False),
        ({"agent_id": "a-7", "secret": LONG}, True),
        ({"agent_id": "a-7", "apiToken": LONG, "sessionToken": f"{LONG}2"}, True),
    ],
)
async def test_a_token_without_a_clear_name_is_a_guess(
    network: NetworkClient,
    body: JSON,
    is_guess: bool,  # noqa: FBT001 - a case
) -> None:
    found = network.read_registration(dumps(body).encode(), NO_HEADERS)

    assert found is not None
    assert found.is_guess is is_guess


def test_the_only_value_that_looks_like_a_token_is_one_whatever_its_name(
    network: NetworkClient,
) -> None:
    body = dumps({"lecteur": {"carte": "L-4400", "solde": "100", "jeton": LONG}})

    found = network.read_registration(body.encode(), NO_HEADERS)

    assert found is not None
    assert found.access_token.reveal() == LONG
    assert found.is_guess


@pytest.mark.parametrize(
    "secret", ["ddc9af4bb0aafdb9cf9c9c29", "012f393afe1b05d3", "FrxcChL-BnUjVLjCikYjmg"]
)
def test_a_random_key_with_many_letters_alike_is_still_a_token(
    network: NetworkClient, secret: str
) -> None:
    body = dumps({"member": "volunteer61", "key": secret, "credits": 100})

    found = network.read_registration(body.encode(), NO_HEADERS)

    assert found is not None
    assert found.access_token.reveal() == secret
