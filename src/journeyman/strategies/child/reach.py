"""Which files a strategy can reach: those that programs need, and those it names."""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from journeyman.strategies.child.orders import Orders

SYSTEM: Final = (
    "/bin /sbin /lib /lib32 /lib64 /libx32 /usr /opt /nix/store /proc "
    "/sys/devices/system /sys/fs/cgroup"
)
SETTINGS: Final = (
    "alternatives ca-certificates crypto-policies fonts gai.conf group host.conf hosts "
    "ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf localtime magic "
    "mime.types nsswitch.conf os-release passwd pki protocols resolv.conf services ssl "
    "timezone xdg"
)
"""In /etc; not `shadow`, nor what a service may keep there."""
DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def readable(orders: Orders) -> list[Path]:
    """Give what may be read: files, and folders with all beneath them."""
    strategy = Path(orders.file)
    home = strategy.parent.parent if strategy.name == "__init__.py" else strategy.parent
    wanted = [
        *map(Path, SYSTEM.split()),
        *(Path("/etc", name) for name in SETTINGS.split()),
        *map(Path, DEVICES),
        *_python(),
        home,
        *map(Path, orders.files),
    ]
    private = [Path(path).resolve() for path in orders.private]
    return list(_without({path.resolve() for path in wanted}, private))


def search_path(places: Iterable[Path], given: str) -> str:
    """Give where programs are looked for: beside our Python, then in what is reached.

    Of `given`, a `PATH`, the folders outside of `places` are left out. A program there
    would be found and then refused, in place of one that may run.
    """
    own = str(Path(sys.executable).parent)
    wanted = dict.fromkeys((own, *filter(None, given.split(os.pathsep))))
    reached = tuple(places)

    def is_reached(folder: str) -> bool:
        resolved = Path(folder).resolve()
        return any(resolved.is_relative_to(place) for place in reached)

    return os.pathsep.join(filter(is_reached, wanted))


def writable(orders: Orders) -> list[Path]:
    """Give what may be written."""
    return [Path(orders.home).resolve(), Path("/dev/null")]


def _python() -> Iterator[Path]:
    yield from map(Path, {sys.prefix, sys.base_prefix, sys.exec_prefix})
    yield from (Path(entry) for entry in sys.path if entry)


def _without(paths: Iterable[Path], private: list[Path]) -> Iterator[Path]:
    """Leave private folders out; one that holds such a folder is given piece by piece.

    Landlock only allows, so that what lies around a private folder must be named.
    """
    for path in sorted(paths):
        if any(path.is_relative_to(secret) for secret in private):
            continue
        inside = [secret for secret in private if secret.is_relative_to(path)]
        if inside and path.is_dir():
            yield from _without(path.iterdir(), inside)
        else:
            yield path
