"""Checks on the way to the network: its name, a connection, TLS."""

import os
import socket
import ssl
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
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
from journeyman.network.discovery.comparison import Agreement, Expectations
from journeyman.network.discovery.survey import Survey, survey
from journeyman.network.observation import Observed
from journeyman.settings.sections import Settings

PORTS: Mapping[str, int] = {"http": 80, "https": 443}
PATIENCE = 5.0
"""Seconds, for one step."""
SOON = timedelta(days=14)
"""A certificate that ends within this is reported."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def check_address(address: str) -> Finding:
    """Check that the token would not travel unencrypted."""
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        return warn(
            f"{address} is plain http: anyone on the way can read the token",
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
            f"the name {host} cannot be resolved: {reason}",
            "Check base_url and the name server of this machine.",
        )
    addresses = sorted({str(one[4][0]) for one in found})
    return ok(f"{host} is {', '.join(addresses[:4])}")


async def check_connection(address: str, clock: Clock) -> Finding:
    """Open a connection and close it; with TLS, check its certificate too."""
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
    message = f"{version}, certificate until {ends:%Y-%m-%d}"
    if ends - now < SOON:
        return warn(message, "The service should renew its certificate soon.")
    return ok(message)


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
    """Return the system's reason, below anyio's `All connection attempts failed`."""
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


@dataclass(frozen=True, slots=True)
class Service:
    """The network as the settings name it, and who we are there."""

    settings: Settings
    address: str
    identity: Identity | None
    environment: Environment


@dataclass(eq=False)
class Answers:
    """What the service's answers showed beside their bodies."""

    clock: Clock
    ahead: list[timedelta] = field(init=False, default_factory=list)
    """By how much the service's clock was ahead of ours, answer by answer."""
    milliseconds: dict[str, float] = field(init=False, default_factory=dict)
    """How long each endpoint took."""

    def note(self, seen: Observed) -> None:
        """Note the time that it took, and the `Date` (RFC 9110, section 6.6.1)."""
        self.milliseconds[seen.endpoint] = seen.seconds * 1000
        try:
            date = parsedate_to_datetime(seen.headers.get("date", ""))
        except ValueError:
            return
        zoned = date if date.tzinfo else date.replace(tzinfo=UTC)
        # It was cut to a second, and half of the call's time lies behind it.
        shown = zoned + timedelta(seconds=0.5 + seen.seconds / 2)
        self.ahead.append(shown - self.clock.now())


OURS = "marketplace_tasks"


async def check_service(service: Service) -> list[tuple[str, Finding]]:
    """Ask the public endpoints, ours with the token, and compare the clocks."""
    answers = Answers(service.environment.clock)
    found: dict[str, Finding] = {}
    async with build_network(
        service.settings, service.address, service.environment, answers.note
    ) as client:
        client.identify(service.identity)
        questions: dict[str, Awaitable[Outcome[Any]]] = {
            "public_marketplace": client.public_marketplace(),
            "public_agents": client.public_agents(),
            "agents_directory": client.agents_directory(),
        }
        if service.identity is not None:
            questions[OURS] = client.marketplace_tasks(1)

        async def ask(name: str, question: Awaitable[Outcome[Any]]) -> None:
            failure = _failure(await question)
            took = answers.milliseconds.get(name, 0.0)
            found[name] = failure or ok(f"answers, in {took:.0f} ms")

        async with anyio.create_task_group() as group:
            for name, question in questions.items():
                group.start_soon(ask, name, question)
    rows = [(f"endpoint {name}", found[name]) for name in questions]
    if service.identity is None:
        rows.append((f"endpoint {OURS}", skip("not joined yet: it needs the token")))
    return [("clock", _clock(answers)), *rows]


async def check_documents(service: Service) -> Finding:
    """Read the discovery documents, and count what is wrong with them."""
    settings = service.settings
    portal = settings.network.portal_url or service.address
    async with build_network(settings, service.address, service.environment) as client:
        found = await survey(client, Expectations(service.address, portal))
    return _documents(found)


def _documents(found: Survey) -> Finding:
    read = [page for page in found.pages if page.found == "yes"]
    message = [f"{len(read)} of {len(found.pages)} could be read"]
    odd = sum(bool(page.problem) for page in read)
    drifts = sum(row.verdict in _NOT_OURS for row in found.compared)
    message += [f"{odd} of them have problems"] if odd else []
    message += [f"{drifts} statements differ from the contract"] if drifts else []
    if odd or drifts or len(read) < len(found.pages):
        more = "`journeyman discover` shows more. The daemon works without them."
        return warn("; ".join(message), more)
    return ok(message[0])


_NOT_OURS = frozenset({Agreement.DRIFT, Agreement.ELSEWHERE})


def _failure(outcome: Outcome[Any]) -> Finding | None:
    if isinstance(outcome, Confirmed):
        return None
    if isinstance(outcome, Refused) and outcome.refusal is Refusal.ABSENT:
        return warn(
            f"does not exist: {outcome.message}",
            "Check base_url. The daemon works with the endpoints that exist.",
        )
    if isinstance(outcome, Refused) and outcome.refusal is Refusal.UNAUTHORIZED:
        return fail(
            f"refuses us: {outcome.message}",
            "The token may have expired. Keep the data directory, and ask the operator "
            "of the service.",
        )
    return fail(outcome.message, "Try again later; check that the service runs.")


def _clock(answers: Answers) -> Finding:
    if not answers.ahead:
        return skip("no answer had a date")
    ahead = min(answers.ahead, key=abs)
    word = "behind" if ahead > timedelta() else "ahead of"
    message = f"our clock is {abs(ahead).total_seconds():.0f} s {word} the service's"
    fix = "Set this machine's clock, for example by NTP."
    if abs(ahead) >= SKEW_FAIL:
        return fail(message, fix)
    if abs(ahead) >= SKEW_WARN:
        return warn(message, fix)
    return ok(f"within {max(1.0, abs(ahead).total_seconds()):.0f} s of the service's")
