"""Landlock: which files a strategy can reach, and whom it can signal (man 7 landlock).

It needs no privileges. What the kernel's version does not support is left out, and
reported: files from version 1 (Linux 5.13), signals from version 6 (Linux 6.12).
"""

import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from journeyman.strategies.child import kernel

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION = 1
_BENEATH = 1

SIGNALS_FROM = 6
"""The first version that can restrict signals."""

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_DEVICES = 1 << 6 | 1 << 11
"""Creating device nodes."""
_RIGHTS_OF_FILES = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many rights each version has; 16 since version 5."""
TRUNCATE_FROM = 3
"""The first version that sees a file truncated by its path."""
TCP_FROM = 4
_TCP = 0b11
"""Binding and connecting."""
_SIGNALS_AND_SOCKETS = 0b11


_RULESET = struct.Struct("=QQQ")
"""struct landlock_ruleset_attr: rights on files, on the network, and what is scoped."""
_BENEATH_PATH = struct.Struct("=Qi")
"""struct landlock_path_beneath_attr: rights, and a descriptor of the path."""


def version() -> int:
    """Return the version that the kernel offers; 0 for none."""
    try:
        return kernel.syscall(_CREATE, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def restrict(
    *, readable: Iterable[Path], writable: Iterable[Path], has_network: bool
) -> int:
    """Restrict this process to these paths and what is beneath them.

    Paths that do not exist are passed over. PR_SET_NO_NEW_PRIVS must be set.

    Returns:
        The version that is used.

    Raises:
        OSError: the kernel refuses, or has no Landlock.
    """
    found = version()
    if not found:
        raise OSError("this kernel offers no Landlock")
    handled = (1 << _RIGHTS_OF_FILES.get(found, 16)) - 1
    ruleset = _RULESET.pack(
        handled,
        _TCP if found >= TCP_FROM and not has_network else 0,
        _SIGNALS_AND_SOCKETS if found >= SIGNALS_FROM else 0,
    )
    size = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}.get(found, 24)
    descriptor = kernel.syscall(_CREATE, ruleset, size, 0)
    try:
        for path in readable:
            _allow(descriptor, path, handled & _READ)
        for path in writable:
            _allow(descriptor, path, handled & ~_DEVICES)
        kernel.syscall(_RESTRICT, descriptor, 0)
    finally:
        os.close(descriptor)
    return found


def _allow(descriptor: int, path: Path, rights: int) -> None:
    with suppress(OSError):  # it does not exist, or may not be opened
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(place).st_mode):
                rights &= _OF_FILES
            rule = _BENEATH_PATH.pack(rights, place)
            kernel.syscall(_ADD, descriptor, _BENEATH, rule, 0)
        finally:
            os.close(place)
