"""Addresses are checked before anything is sent, and the token keeps to its own."""

import pytest
from tests.network.conftest import StoppedClock

from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import AccessToken, AgentId, Identity
from journeyman.network.client import NetworkClient
from journeyman.testing import RecordingLog


def client_of(base_url: str, portal_url: str | None = None) -> NetworkClient:
    return NetworkClient(
        base_url=base_url,
        portal_url=portal_url,
        log=RecordingLog(),
        clock=StoppedClock(),
    )


def identity_of(base_url: str, token: str = "tok-1") -> Identity:  # noqa: S107  # of no real service
    return Identity(AgentId("agent-1"), AccessToken(token), base_url)


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("", "must begin with http:// or https://"),
        ("network.example", "must begin with http:// or https://"),
        ("ftp://network.example", "must begin with http:// or https://"),
        ("http://", "no usable host name"),
        ("http:///path", "no usable host name"),
        ("http://a b.example", "no usable host name"),
        ("http://network.example:http", "not a valid address"),
        ("http://network.example:99999", "not a valid address"),
        ("http://[::1", "not a valid address"),
        ("https://network.example?key=1", "must not carry a query"),
        ("https://network.example#top", "must not carry a fragment"),
        ("https://me:hunter2@network.example", "must not carry a user name"),
    ],
)
def test_an_unusable_address_is_refused_with_a_fix(address: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        client_of(address)

    assert problem in caught.value.problem
    assert caught.value.problem.startswith("network.base_url is ")
    assert "https://network.example" in caught.value.fix
    assert "hunter2" not in str(caught.value)


def test_the_portal_address_is_checked_under_its_own_name() -> None:
    with pytest.raises(ConfigurationError, match=r"network\.portal_url is 'portal'"):
        client_of("https://network.example", "portal")


@pytest.mark.parametrize(
    "address",
    [
        "https://network.example/",
        "HTTPS://Network.Example:443",
        " https://network.example ",
    ],
)
def test_an_identity_of_the_same_network_is_used_however_it_is_spelled(
    address: str,
) -> None:
    client_of("https://network.example").identify(identity_of(address))


@pytest.mark.parametrize(
    "address",
    [
        "http://network.example",
        "https://network.example:8443",
        "https://network.example.evil.test",
        "https://network.example/other",
    ],
)
def test_an_identity_of_another_network_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="its token is not sent"):
        client_of("https://network.example").identify(identity_of(address))


def test_a_token_that_no_header_can_carry_is_refused_unseen() -> None:
    identity = identity_of("https://network.example", "tok\r\nHost: evil")

    with pytest.raises(ValueError, match="no header can carry") as caught:
        client_of("https://network.example").identify(identity)

    assert "evil" not in str(caught.value)
