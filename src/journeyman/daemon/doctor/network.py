"""Checks on the way to the network: its name, a connection, TLS."""

import os
import socket
import ssl
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import SplitResult, urlsplit

import anyio
import httpx2 as httpx
from anyio.abc import ByteStream
from anyio.streams.tls import TLSAttribute

from journeyman.daemon.doctor.finding import Finding, fail, ok, skip, warn
from journeyman.daemon.environment import Environment
from journeyman.daemon.network import build_network
from journeyman.daemon.service_clock import SKEW_WARN, ServiceClock
from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Outcome, Refusal, Refused, Unknown
from journeyman.domain.tasks import Identity
from journeyman.network.advice import CHECK_CERTIFICATE, advice_for
from journeyman.network.discovery.comparison import Agreement, Expectations
from journeyman.network.discovery.survey import Survey, survey
from journeyman.network.endpoints import same_network
from journeyman.network.service_model.evidence import Observed
from journeyman.network.service_model.listing import Listing
from journeyman.settings.sections import Settings

PORTS: Mapping[str, int] = {"http": 80, "https": 443}
PATIENCE = 5.0
"""Seconds, for one step."""
SOON = timedelta(days=14)
"""A certificate that ends within this is reported."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def check_address(address: str) -> Finding:
    """Check that the token would not travel unencrypted."""
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
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
    except (ssl.SSLError, anyio.EndOfStream, anyio.BrokenResourceError) as error:
        return fail(
            f"no TLS with {parts.hostname}: {_tls_reason(error)}",
            CHECK_CERTIFICATE,
        )
    except OSError as error:
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


def _tls_reason(error: Exception) -> str:
    if not isinstance(error, ssl.SSLError):
        return "it hung up during the handshake"
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
    service_clock: ServiceClock = field(init=False)
    milliseconds: dict[str, float] = field(init=False, default_factory=dict)
    """How long each endpoint took."""

    def __post_init__(self) -> None:
        self.service_clock = ServiceClock(self.clock)

    def note(self, seen: Observed) -> None:
        """Note the time that it took, and the network's clock."""
        self.milliseconds[seen.call.name] = seen.seconds * 1000
        self.service_clock.note(seen)


OURS = "marketplace_tasks"


@dataclass(eq=False)
class Look:
    """What the service's endpoints answered."""

    clock: Finding
    endpoints: dict[str, Finding]
    """By name, in the order of asking."""
    outcomes: dict[str, Outcome[Any]]

    @property
    def rows(self) -> list[tuple[str, Finding]]:
        """Return a row for each check."""
        named = [(f"endpoint {name}", found) for name, found in self.endpoints.items()]
        return [("clock", self.clock), *named, ("market", self._market())]

    @property
    def is_of_no_service(self) -> bool:
        """Whether something answers there, and nothing as an endpoint would."""
        return all(_is_no_endpoint(outcome) for outcome in self.outcomes.values())

    def _market(self) -> Finding:
        """Judge what was listed: a market that answers may still show nothing."""
        listings = [
            outcome.value
            for outcome in self.outcomes.values()
            if isinstance(outcome, Confirmed) and isinstance(outcome.value, Listing)
        ]
        if not listings:
            return skip("no marketplace has answered")
        largest = max(listings, key=lambda listing: listing.count)
        read = largest.count
        problem = next((one.problem for one in listings if one.problem), "")
        if not read and problem:
            return fail(
                f"it answers, and 0 tasks were read: {problem}",
                "Run the daemon for a minute; `journeyman contract` then prints "
                "settings that say where the tasks are.",
            )
        if not read:
            return ok("it answers, and lists no task now")
        on = " on the first page" if largest.next else ""
        return ok(f"{read} {'task was' if read == 1 else 'tasks were'} read{on}")


def _is_no_endpoint(outcome: Outcome[Any]) -> bool:
    if isinstance(outcome, Refused):
        return outcome.status in _NOT_THERE
    # A page where JSON was expected.
    return isinstance(outcome, Unknown) and outcome.status in range(200, 300)


def _is_refused_there(outcome: Outcome[Any]) -> bool:
    return isinstance(outcome, Refused) and not _is_no_endpoint(outcome)


_NOT_THERE = frozenset({404, 405, 410, 501})


async def check_service(service: Service) -> Look:
    """Ask the public endpoints, and ours with the token if any; compare the clocks."""
    answers = Answers(service.environment.clock)
    outcomes: dict[str, Outcome[Any]] = {}
    async with build_network(
        service.settings, service.address, service.environment, answers.note
    ) as client:
        client.identify(service.identity)
        questions: dict[str, Awaitable[Outcome[Any]]] = {
            "public_marketplace": client.public_marketplace(),
            "public_agents": client.public_agents(),
            "agents_directory": client.agents_directory(),
            # Before we have joined, a refusal shows that it is there.
            OURS: client.marketplace_tasks(1),
        }

        async def ask(name: str, question: Awaitable[Outcome[Any]]) -> None:
            outcomes[name] = await question

        async with anyio.create_task_group() as group:
            for name, question in questions.items():
                group.start_soon(ask, name, question)
    is_there = any(isinstance(one, Confirmed) for one in outcomes.values())
    found = {
        name: _absence(outcomes[name], is_there=is_there)
        or _failure(outcomes[name], has_token=name == OURS)
        or ok(f"answers, in {answers.milliseconds.get(name, 0.0):.0f} ms")
        for name in questions
    }
    if service.identity is None and _is_refused_there(outcomes[OURS]):
        found[OURS] = skip("not joined yet: it needs the token")
    return Look(_clock(answers), found, outcomes)


async def read_documents(service: Service) -> Survey:
    """Read the discovery documents."""
    settings = service.settings
    portal = settings.network.portal_url or service.address
    async with build_network(settings, service.address, service.environment) as client:
        return await survey(client, Expectations(service.address, portal))


def check_place(address: str, look: Look, found: Survey) -> Finding:
    """Recognise a base address that is really the portal's, and name the service's."""
    if not look.is_of_no_service:
        return ok(f"{address} answers as a service does")
    message = f"{address} answers, and has none of the service's endpoints"
    if any(page.found == "yes" for page in found.pages):
        message += ": it serves documents, so it is the portal"
    others = other_services(address, found)
    if not others:
        return fail(message, "Ask the network's operator for the service's address.")
    return fail(
        f"{message}; its documents name {others[0]}",
        f"If you trust them, set network.base_url to {others[0]}, and "
        f"network.portal_url to {address}.",
    )


def other_services(address: str, found: Survey) -> list[str]:
    """Return the base addresses that the documents name, but for our own."""
    return [one for one in found.services if not same_network(one, address)]


def check_documents(found: Survey) -> Finding:
    """Count what is wrong with the discovery documents."""
    read = [page for page in found.pages if page.found == "yes"]
    message = [f"{len(read)} of {len(found.pages)} could be read"]
    odd = sum(bool(page.problem) for page in read)
    drifts = sum(row.verdict in _NOT_OURS for row in found.compared)
    message += [f"{odd} of them have problems"] if odd else []
    message += [f"{drifts} statements differ from the contract"] if drifts else []
    message += ["one describes the service"] if found.description else []
    if odd or drifts or len(read) < len(found.pages):
        more = "`journeyman discover` shows more. The daemon works without them."
        return warn("; ".join(message), more)
    return ok("; ".join(message))


_NOT_OURS = frozenset({Agreement.DRIFT, Agreement.ELSEWHERE})


def _absence(outcome: Outcome[Any], *, is_there: bool) -> Finding | None:
    """Judge an endpoint that is missing, where another one `is_there` or none is."""
    if not (isinstance(outcome, Refused) and outcome.refusal is Refusal.ABSENT):
        return None
    more = "Nothing: others answer, and the daemon works with those that exist."
    return warn(
        f"does not exist: {outcome.message}", more if is_there else "Check base_url."
    )


def _failure(outcome: Outcome[Any], *, has_token: bool) -> Finding | None:
    match outcome:
        case Confirmed():
            return None
        case Refused():
            return _refusal(outcome, has_token=has_token)
        case _:
            return fail(outcome.message, advice_for(outcome, has_token=has_token))


def _refusal(refused: Refused, *, has_token: bool) -> Finding:
    """Return what a definite no means; none of them ends by itself but a pause."""
    message = refused.message
    match refused.refusal:
        case Refusal.UNAUTHORIZED:
            more = advice_for(refused, has_token=has_token)
            return fail(f"refuses us: {message}", more)
        case Refusal.THROTTLED:
            return warn(message, "Nothing: the daemon waits for as long as it says.")
        case _:
            return fail(
                f"refuses the request: {message}",
                "Check base_url, and ask the operator of the service what it means.",
            )


def _clock(answers: Answers) -> Finding:
    if not answers.service_clock.seen:
        return skip("no answer had a date")
    ahead = answers.service_clock.ahead
    word = "behind" if ahead > timedelta() else "ahead of"
    message = f"our clock is {abs(ahead).total_seconds():.0f} s {word} the service's"
    fix = "Set this machine's clock, for example by NTP."
    if abs(ahead) >= SKEW_FAIL:
        return fail(message, fix)
    if abs(ahead) >= SKEW_WARN:
        return warn(message, fix)
    return ok(f"within {max(1.0, abs(ahead).total_seconds()):.0f} s of the service's")
