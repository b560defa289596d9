"""Checks on the way to the network: its name, a connection, TLS."""

import os
import socket
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import SplitResult, urlsplit

import anyio
import httpx2 as httpx
from anyio.abc import ByteStream
from anyio.streams.tls import TLSAttribute

from journeyman.daemon.doctor.finding import Finding, fail, ok, warn
from journeyman.domain import Clock

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
