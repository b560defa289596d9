"""A clear "no" to Python code that wants the network, before the kernel's terse one.

This is courtesy, not a wall: an audit hook (PEP 578) sees only Python code that plays
by the rules. The wall is the filter of system calls. Where a strategy names hosts, the
network is open to it, and this hook is all that keeps it to those hosts.
"""

import sys
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from socket import AF_UNIX
from typing import Any, Final

from journeyman.strategies.child.orders import Orders

ANYBODY: Final = "*"
_LOCAL: Final = frozenset({AF_UNIX})


def watch_network(orders: Orders) -> None:
    """Refuse Python code in this process, from now on, hosts that are not named."""
    hosts = orders.hosts
    if ANYBODY not in hosts:
        sys.addaudithook(_hook(hosts, f"the needs of {orders.strategy!r}"))


def is_named(host: str, hosts: Sequence[str]) -> bool:
    """Tell whether a host is one of these names; `*.example.com` names those below."""
    host = host.lower().rstrip(".")
    for pattern in hosts:
        name = pattern.partition(":")[0]
        if host == name or (name.startswith("*.") and host.endswith(name[1:])):
            return True
    return False


def _hook(hosts: Sequence[str], needs: str) -> Callable[[str, tuple[Any, ...]], None]:
    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        is_lookup = event == "socket.getaddrinfo" and _is_name(arguments[0])
        is_socket = event == "socket.__new__" and arguments[1] not in _LOCAL
        if not hosts and (is_socket or is_lookup):
            raise PermissionError(f"no network: {needs} name no hosts")
        if is_lookup and not is_named(host := _text(arguments[0]), hosts):
            raise PermissionError(f"no way to {host!r}: {needs} do not name it")

    return hook


def _text(host: object) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)


def _is_name(host: object) -> bool:
    """Tell a name from an address: the names were looked up by somebody before."""
    if not isinstance(host, str | bytes):
        return False
    try:
        ip_address(_text(host))
    except ValueError:
        return True
    return False
