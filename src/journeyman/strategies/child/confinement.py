"""Confining a process by all that the system offers, and reporting what is enforced.

Nothing here needs privileges. What a system does not offer is left out and reported,
not refused: a daemon on an old kernel still works, and its owner sees what is missing.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from socket import AF_UNIX, send_fds, socket
from typing import Any

from journeyman.strategies.child import kernel, landlock, syscall_filter
from journeyman.strategies.child.description import folder_of
from journeyman.strategies.child.limits import set_limits
from journeyman.strategies.child.messages import ChildConfig

SYSTEM = (
    "/bin /sbin /lib /lib32 /lib64 /libx32 /usr /opt /nix/store /proc "
    "/sys/devices/system /sys/fs/cgroup"
)
SETTINGS = (
    "alternatives ca-certificates crypto-policies fonts gai.conf group host.conf hosts "
    "ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf localtime magic "
    "mime.types nsswitch.conf os-release passwd pki protocols resolv.conf services ssl "
    "timezone xdg"
)
"""In /etc; neither `shadow` nor the files of services."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def common_places() -> frozenset[Path]:
    """Return what every child may read: files, and folders with all beneath them.

    The template finds them once, since resolving links takes longer than all else.
    """
    wanted = [
        *map(Path, SYSTEM.split()),
        *(Path("/etc", name) for name in SETTINGS.split()),
        *map(Path, DEVICES),
        *map(Path, {sys.prefix, sys.base_prefix, sys.exec_prefix}),
        *(Path(entry) for entry in sys.path if entry),
    ]
    return frozenset(path.resolve() for path in wanted if path.exists())


def readable(config: ChildConfig, common: Iterable[Path]) -> list[Path]:
    """Return what this child may read."""
    home = folder_of(Path(config.file))
    own = {path.resolve() for path in (home, *map(Path, config.files))}
    private = [Path(path).resolve() for path in config.private]
    places = list(_without(own.union(common), private))
    # It lies in a private folder, of which it is what this child may read.
    return [*places, Path(config.libraries)] if config.libraries else places


def search_path(places: Iterable[Path], given: str) -> str:
    """Return where programs are searched: beside this Python, then in what is readable.

    The folders of `given`, a `PATH`, that are outside of `places` are left out: a
    program there would be found and then refused, instead of one that may run.
    """
    own = str(Path(sys.executable).parent)
    wanted = dict.fromkeys((own, *filter(None, given.split(os.pathsep))))
    allowed = frozenset(places)
    return os.pathsep.join(
        folder
        for folder in wanted
        if not allowed.isdisjoint(((real := Path(folder).resolve()), *real.parents))
    )


def _without(paths: Iterable[Path], private: list[Path]) -> Iterator[Path]:
    """Leave private folders out, and replace each folder around one by its content.

    Landlock only allows, so that everything around a private folder must be named.
    """
    around = {parent for secret in private for parent in secret.parents}
    for path in sorted(paths):
        if not {path, *path.parents}.isdisjoint(private):
            continue
        if path in around and path.is_dir():
            yield from _without(path.iterdir(), private)
        else:
            yield path


NETWORK = (
    syscall_filter.AF_INET,
    syscall_filter.AF_INET6,
    syscall_filter.AF_NETLINK,
)
NOT_ENFORCED = "not enforced"


def available_confinement() -> dict[str, str]:
    """Return by what each restriction would be enforced here, without doing it."""
    version, has_filter = landlock.version(), syscall_filter.is_offered()
    by_landlock = f"Landlock {version}" if version else ""
    by_filter = "seccomp" if has_filter else ""
    only_tcp = f"{by_landlock}, TCP only" if version >= landlock.TCP_FROM else ""
    siblings_open = "seccomp, siblings not" if has_filter else ""
    proc_open = "seccomp, /proc not" if has_filter else ""
    scoped = by_landlock if version >= landlock.SIGNALS_FROM else ""
    return {
        "network": by_filter or only_tcp or NOT_ENFORCED,
        "files": by_landlock or NOT_ENFORCED,
        "signals": scoped or siblings_open or NOT_ENFORCED,
        "memory_of_others": by_landlock or proc_open or NOT_ENFORCED,
    }


def confine(
    config: ChildConfig, common: Iterable[Path], supervisor: socket | None = None
) -> None:
    """Confine this process for good, by all that the system offers.

    Args:
        config: what the strategy needs, and its limits.
        common: what every child may read, from `common_places`.
        supervisor: gets what answers about metadata; None: there is nobody to ask.
    """
    set_limits(config)
    has_network = bool(config.hosts)
    places = readable(config, common)
    os.environ["PATH"] = search_path(places, os.environ.get("PATH", ""))
    with suppress(OSError):
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.drop_capabilities()
    with suppress(OSError):
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    has_landlock = False
    with suppress(OSError):
        landlock.restrict(
            readable=places,
            writable=[Path(config.home).resolve(), Path("/dev/null")],
            has_network=has_network,
        )
        has_landlock = True
    rules = partial(
        syscall_filter.rules,
        NETWORK if has_network else (),
        (*config.untouchable, os.getppid()),
        may_truncate=landlock.version() >= landlock.TRUNCATE_FROM,
    )
    # Without Landlock a file from anywhere can be moved or linked into the folder.
    if has_landlock and supervisor is not None:
        with suppress(OSError):
            listener = syscall_filter.install_with_listener(rules(may_ask=True))
            _hand_over(listener, supervisor)
            return
    with suppress(OSError):
        syscall_filter.install(rules())


def _hand_over(listener: int, supervisor: socket) -> None:
    """Give what answers away: who holds it could allow itself everything."""
    try:
        send_fds(supervisor, [b"L"], [listener])
    finally:
        os.close(listener)


ANYBODY = "*"
_LOCAL = frozenset({AF_UNIX})


def install_host_check(config: ChildConfig) -> None:
    """From now on refuse Python code in this process any host that is not named."""
    hosts = config.hosts
    if ANYBODY not in hosts:
        sys.addaudithook(_hook(hosts, f"the needs of {config.strategy!r}"))


def is_named(host: str, hosts: Sequence[str]) -> bool:
    """Return whether a host is one of these; `*.example.com` stands for those below."""
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
            raise PermissionError(f"no network access: {needs} name no hosts")
        if is_lookup and not is_named(host := _text(arguments[0]), hosts):
            raise PermissionError(f"no access to {host!r}: {needs} do not name it")

    return hook


def _text(host: object) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)


def _is_name(host: object) -> bool:
    """Return whether this is a name; an address comes from an earlier lookup."""
    if not isinstance(host, str | bytes):
        return False
    try:
        ip_address(_text(host))
    except ValueError:
        return True
    return False
