"""The few Linux system calls that Python does not offer."""

import ctypes
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NAME = 15
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

IS_LINUX = sys.platform == "linux"

_LIBRARY = ctypes.CDLL(None, use_errno=True)
"""The C library. Loaded once: finding its functions takes longer than calling them."""
_LIBRARY.syscall.restype = ctypes.c_long

_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522


def prctl(option: int, value: object = 0, address: object = 0) -> None:
    """Operate on this process (man 2 prctl).

    Raises:
        OSError: the kernel refuses, or this is not Linux.
    """
    if not IS_LINUX:
        raise OSError(f"prctl({option}) exists only on Linux")
    arguments = (_word(value), _word(address), ctypes.c_ulong(0), ctypes.c_ulong(0))
    if _LIBRARY.prctl(option, *arguments) != 0:
        _raise(f"prctl({option})")


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by its number (man 2 syscall).

    Raises:
        OSError: the kernel refuses, or does not have the call.
    """
    if not IS_LINUX:
        raise OSError(f"system call {number} exists only on Linux")
    given = int(_LIBRARY.syscall(ctypes.c_long(number), *map(_word, arguments)))
    if given < 0:
        _raise(f"system call {number}")
    return given


def drop_capabilities() -> None:
    """Drop every capability, so that root is a user like any other.

    With PR_SET_NO_NEW_PRIVS they cannot be regained (man 7 capabilities).

    Raises:
        OSError: the kernel refuses, or the processor is unknown.
    """
    number = _CAPSET.get(os.uname().machine)
    if number is None:
        raise OSError("the number of capset is unknown for this processor")
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    syscall(number, ctypes.byref(header), ctypes.byref(nothing))


def _word(value: object) -> object:
    """Return numbers as full machine words; pointers are words already."""
    return ctypes.c_ulong(value) if isinstance(value, int) else value


def _raise(what: str) -> None:
    code = ctypes.get_errno()
    raise OSError(code, f"{what}: {os.strerror(code)}")


PROC = "/proc"
_PAGE = os.sysconf("SC_PAGE_SIZE")


def children_of(process: int) -> list[int]:
    """Return the direct children of a process; none where there is no /proc."""
    found: list[int] = []
    with suppress(OSError):  # it has just ended, or there is no /proc
        for thread in Path(f"{PROC}/{process}/task").iterdir():
            found += map(int, (thread / "children").read_bytes().split())
    return found


def descendants_of(process: int) -> Iterator[int]:
    """Yield all that a process has started, parents before their children."""
    waiting = children_of(process)
    seen: set[int] = set()
    while waiting:
        child = waiting.pop(0)
        if child not in seen:
            seen.add(child)
            yield child
            waiting += children_of(child)


def proportional_bytes(process: int) -> int:
    """Return how much memory a process uses, with its share of shared memory.

    Slower than `resident_bytes`, which counts shared memory for each process.
    """
    with suppress(OSError, ValueError):
        text = Path(PROC, str(process), "smaps_rollup").read_text()
        words = re.search(r"^Pss:\s+(\d+) kB$", text, re.MULTILINE)
        return int(words[1]) * 1024 if words else 0
    return resident_bytes(process)


def resident_bytes(process: int) -> int:
    """Return how much memory a process uses; 0 when it has ended."""
    with suppress(OSError, ValueError, IndexError):
        # statm (man 5 proc): pages of its size, resident, of files and shared, ...
        return int(Path(PROC, str(process), "statm").read_text().split()[1]) * _PAGE
    return 0
