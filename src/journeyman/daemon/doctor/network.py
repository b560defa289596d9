"""Checks on the way to the network: its name, a connection, TLS."""

import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import SplitResult, urlsplit

import anyio
import httpx2 as httpx
from anyio.abc import ByteStream
from anyio.streams.tls import TLSAttribute

from journeyman.daemon.doctor.finding import Finding, fail, ok, skip, warn
from journeyman.daemon.environment import Environment
from journeyman.daemon.network import build_network
from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Outcome, Refusal, Refused
from journeyman.domain.tasks import Identity
from journeyman.network.client import NetworkClient
from journeyman.network.discovery.comparison import Agreement, Expectations
from journeyman.network.discovery.survey import Survey, survey
from journeyman.network.observation import Observed
from journeyman.settings.sections import Settings

PORTS: Mapping[str, int] = {"http": 80, "https": 443}
PATIENCE = 5.0
"""In seconds, for one step."""
SOON = timedelta(days=14)
"""A certificate that ends within this is told."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def check_address(address: str) -> Finding:
    """Look whether the token would travel in the open."""
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        return warn(
            f"{address} is plain http: who is on the way can read the token",
            "Use https:// if the service has it.",
        )
    return ok(address)


async def check_name(address: str) -> Finding:
    """Ask for the addresses of the host's name."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    try:
        with anyio.fail_after(PATIENCE):
            found = await anyio.getaddrinfo(host, _port(parts), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "no answer in time"
        return fail(
            f"the name {host} leads nowhere: {reason}",
            "Check base_url, and that this machine has a name server.",
        )
    addresses = sorted({str(one[4][0]) for one in found})
    return ok(f"{host} is {', '.join(addresses[:4])}")


async def check_connection(address: str, clock: Clock) -> Finding:
    """Open a connection and close it; with TLS, check the certificate as we do."""
    parts = urlsplit(address)
    try:
        with anyio.fail_after(PATIENCE):
            stream = await _connected(parts)
    except ssl.SSLError as error:
        return fail(
            f"no TLS with {parts.hostname}: {_tls_reason(error)}",
            "Check base_url and this machine's clock and root certificates. The token "
            "is not sent over a connection that cannot be trusted.",
        )
    except (OSError, anyio.EndOfStream, anyio.BrokenResourceError) as error:
        return fail(
            f"no connection to {parts.hostname} port {_port(parts)}: {_reason(error)}",
            "Check that the service runs, and that no firewall is in between.",
        )
    async with stream:
        return _about(parts, stream, clock.now())


async def _connected(parts: SplitResult) -> ByteStream:
    host, port = parts.hostname or "", _port(parts)
    if parts.scheme == "https":
        return await anyio.connect_tcp(
            host,
            port,
            # With the roots of the network client, whatever the environment names.
            ssl_context=httpx.create_ssl_context(trust_env=False),
            tls_standard_compatible=False,
        )
    return await anyio.connect_tcp(host, port)


def _about(parts: SplitResult, stream: ByteStream, now: datetime) -> Finding:
    if parts.scheme != "https":
        return ok(f"port {_port(parts)} answers; no TLS, as the address is http")
    version = stream.extra(TLSAttribute.tls_version, "TLS")  # noqa: S610  # not Django's
    certificate = stream.extra(TLSAttribute.peer_certificate, None)  # noqa: S610  # not Django's
    ends = _end_of(certificate or {})
    if ends is None:
        return ok(version)
    told = f"{version}, certificate until {ends:%Y-%m-%d}"
    if ends - now < SOON:
        return warn(told, "The service should renew its certificate soon.")
    return ok(told)


def _end_of(certificate: Mapping[str, object]) -> datetime | None:
    ends = certificate.get("notAfter")
    if not isinstance(ends, str):
        return None
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(ends), UTC)


def _port(parts: SplitResult) -> int:
    return parts.port or PORTS.get(parts.scheme, 80)


def _tls_reason(error: ssl.SSLError) -> str:
    return str(getattr(error, "verify_message", "") or error.reason or error)


def _reason(error: BaseException) -> str:
    """Find the system's word for it below anyio's `All connection attempts failed`."""
    inner = error.__cause__ or error
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    if isinstance(inner, TimeoutError):
        return f"no answer in {PATIENCE:g} s"
    if isinstance(inner, OSError) and inner.errno:
        return os.strerror(inner.errno)
    return str(inner) or type(inner).__name__


SKEW_WARN = timedelta(seconds=10)
"""From here on, deadlines and waits that the network names are noticeably wrong."""
SKEW_FAIL = timedelta(minutes=5)
"""From here on, TLS and tokens with a time in them begin to fail."""

T = TypeVar("T")
Ask = Callable[[NetworkClient], Awaitable[Finding | None]]
"""Asks one endpoint; gives what went wrong, or None."""


@dataclass(frozen=True, slots=True)
class Service:
    """The network as the settings name it, and who we are there."""

    settings: Settings
    address: str
    identity: Identity | None
    environment: Environment


class Answers:
    """What the service's answers showed beside their bodies."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.ahead: list[timedelta] = []
        """By how much the service's clock was ahead of ours, answer by answer."""
        self.milliseconds: dict[str, float] = {}
        """How long each endpoint took."""

    def __call__(self, seen: Observed) -> None:
        """Note the time that it took, and the `Date` (RFC 9110, section 6.6.1)."""
        self.milliseconds[seen.endpoint] = seen.seconds * 1000
        try:
            date = parsedate_to_datetime(seen.headers.get("date", ""))
        except ValueError:
            return
        zoned = date if date.tzinfo else date.replace(tzinfo=UTC)
        # It was cut to a second, and half of the call's time lies behind it.
        said = zoned + timedelta(seconds=0.5 + seen.seconds / 2)
        self.ahead.append(said - self._clock.now())


async def check_service(service: Service) -> list[tuple[str, Finding]]:
    """Ask the public endpoints, ours with the token, and compare the clocks."""
    answers = Answers(service.environment.clock)
    found: dict[str, Finding] = {}
    async with build_network(
        service.settings, service.address, service.environment, answers
    ) as client:
        client.identify(service.identity)

        async def look(name: str, ask: Ask) -> None:
            failure = await ask(client)
            took = answers.milliseconds.get(name, 0.0)
            found[name] = failure or ok(f"answers, in {took:.0f} ms")

        async with anyio.create_task_group() as group:
            for name, ask in _PUBLIC.items():
                group.start_soon(look, name, ask)
            if service.identity is not None:
                group.start_soon(look, OURS, _our_tasks)
    found.setdefault(OURS, skip("not joined yet: it is asked with the token"))
    rows = [(f"endpoint {name}", found[name]) for name in (*_PUBLIC, OURS)]
    return [("clock", _clock(answers)), *rows]


async def check_documents(service: Service) -> Finding:
    """Read the discovery documents, and say whether `discover` has more to tell."""
    settings = service.settings
    portal = settings.network.portal_url or service.address
    async with build_network(settings, service.address, service.environment) as client:
        found = await survey(client, Expectations(service.address, portal))
    return _documents(found)


def _documents(found: Survey) -> Finding:
    read = [page for page in found.pages if page.found == "yes"]
    told = [f"{len(read)} of {len(found.pages)} could be read"]
    odd = sum(bool(page.problem) for page in read)
    drifts = sum(row.verdict in _NOT_OURS for row in found.compared)
    told += [f"{odd} of them are odd"] if odd else []
    told += [f"{drifts} statements are not the contract's"] if drifts else []
    if odd or drifts or len(read) < len(found.pages):
        more = "`journeyman discover` tells more. The daemon works without them."
        return warn("; ".join(told), more)
    return ok(told[0])


_NOT_OURS = frozenset({Agreement.DRIFT, Agreement.ELSEWHERE})


async def _public_tasks(client: NetworkClient) -> Finding | None:
    return _trouble(await client.public_marketplace())


async def _public_agents(client: NetworkClient) -> Finding | None:
    return _trouble(await client.public_agents())


async def _directory(client: NetworkClient) -> Finding | None:
    return _trouble(await client.agents_directory())


async def _our_tasks(client: NetworkClient) -> Finding | None:
    return _trouble(await client.marketplace_tasks(1))


_PUBLIC: dict[str, Ask] = {
    "public_marketplace": _public_tasks,
    "public_agents": _public_agents,
    "agents_directory": _directory,
}
OURS = "marketplace_tasks"


def _trouble(outcome: Outcome[T]) -> Finding | None:
    if isinstance(outcome, Confirmed):
        return None
    if isinstance(outcome, Refused) and outcome.refusal is Refusal.ABSENT:
        return warn(
            f"not there: {outcome.message}",
            "Check base_url. The daemon goes on with the endpoints that are there.",
        )
    if isinstance(outcome, Refused) and outcome.refusal is Refusal.UNAUTHORIZED:
        return fail(
            f"refuses us: {outcome.message}",
            "The token may have ended. Keep the data directory, and ask whoever runs "
            "the service.",
        )
    return fail(outcome.message, "Try again later; check that the service runs.")


def _clock(answers: Answers) -> Finding:
    if not answers.ahead:
        return skip("no answer told the time")
    ahead = min(answers.ahead, key=abs)
    word = "behind" if ahead > timedelta() else "ahead of"
    told = f"our clock is {abs(ahead).total_seconds():.0f} s {word} the service's"
    fix = "Set this machine's clock, for example by NTP."
    if abs(ahead) >= SKEW_FAIL:
        return fail(told, fix)
    if abs(ahead) >= SKEW_WARN:
        return warn(told, fix)
    return ok(f"within {max(1.0, abs(ahead).total_seconds()):.0f} s of the service's")
