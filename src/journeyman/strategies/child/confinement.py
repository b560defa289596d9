"""Shutting a process in, by everything that the system offers, and telling what held.

Nothing here needs privileges. What a system does not offer is left out and reported,
not refused: a daemon on an old kernel still works, and its owner can see what holds.
"""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from journeyman.strategies.child import kernel, landlock, reach, syscall_filter
from journeyman.strategies.child.limits import set_limits
from journeyman.strategies.child.orders import Orders

NETWORK: Final = (
    syscall_filter.AF_INET,
    syscall_filter.AF_INET6,
    syscall_filter.AF_NETLINK,
)
NOT_KEPT: Final = "not kept"


def available() -> dict[str, str]:
    """Tell by what each thing would be kept on this system, without doing it."""
    version, has_filter = landlock.version(), syscall_filter.is_offered()
    return _report(version=version, has_filter=has_filter, has_network=False)


def confine(orders: Orders) -> dict[str, str]:
    """Shut this process in for good, and tell by what each thing is kept."""
    set_limits(orders)
    for harden in (_forget_privileges, _die_with_the_supervisor):
        with suppress(OSError):
            harden()
    has_network = bool(orders.hosts)
    places = reach.readable(orders)
    os.environ["PATH"] = reach.search_path(places, os.environ.get("PATH", ""))
    version = _restrict_files(orders, places, has_network=has_network)
    families = NETWORK if has_network else ()
    untouchable = (*orders.daemon, os.getppid())
    filter_rules = syscall_filter.rules(families, untouchable)
    has_filter = _holds(lambda: syscall_filter.install(filter_rules))
    return _report(version=version, has_filter=has_filter, has_network=has_network)


def _restrict_files(orders: Orders, places: list[Path], *, has_network: bool) -> int:
    try:
        return landlock.restrict(
            readable=places,
            writable=reach.writable(orders),
            has_network=has_network,
        )
    except OSError:
        return 0


def _forget_privileges() -> None:
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities()


def _die_with_the_supervisor() -> None:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _holds(act: Callable[[], None]) -> bool:
    try:
        act()
    except OSError:
        return False
    return True


def _report(*, version: int, has_filter: bool, has_network: bool) -> dict[str, str]:
    landlock_name = f"Landlock {version}"
    if has_network:
        network = "open, as its needs ask"
    elif has_filter:
        network = "seccomp"
    elif version >= landlock.TCP_FROM:
        network = f"{landlock_name}, TCP only"
    else:
        network = NOT_KEPT
    signals = "seccomp, siblings not" if has_filter else NOT_KEPT
    if version >= landlock.SIGNALS_FROM:
        signals = landlock_name
    return {
        "network": network,
        "files": landlock_name if version else NOT_KEPT,
        "signals": signals,
        "memory_of_others": _memory(version=version, has_filter=has_filter),
    }


def _memory(*, version: int, has_filter: bool) -> str:
    if version:
        return f"Landlock {version}"
    return "seccomp, /proc not" if has_filter else NOT_KEPT
