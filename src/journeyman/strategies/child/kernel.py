"""The few calls of the Linux kernel that Python has no name for."""

import ctypes
import os
import sys
from typing import Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_NAME: Final = 15
PR_SET_SECCOMP: Final = 22
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38

IS_LINUX: Final = sys.platform == "linux"

_CAPSET: Final = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3: Final = 0x20080522


def prctl(option: int, value: object = 0, address: object = 0) -> None:
    """Operate on this process (man 2 prctl).

    Raises:
        OSError: the kernel refuses; where there is no Linux, always.
    """
    if not IS_LINUX:
        raise OSError(f"prctl({option}) is a call of Linux")
    library = ctypes.CDLL(None, use_errno=True)
    arguments = (_word(value), _word(address), ctypes.c_ulong(0), ctypes.c_ulong(0))
    if library.prctl(option, *arguments) != 0:
        _raise(f"prctl({option})")


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by its number (man 2 syscall).

    Raises:
        OSError: the kernel refuses, or knows no such call.
    """
    if not IS_LINUX:
        raise OSError(f"system call {number} is one of Linux")
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    given = int(library.syscall(ctypes.c_long(number), *map(_word, arguments)))
    if given < 0:
        _raise(f"system call {number}")
    return given


def drop_capabilities() -> None:
    """Give up every capability, so that root is a user like any other.

    Together with PR_SET_NO_NEW_PRIVS they do not come back (man 7 capabilities).

    Raises:
        OSError: the kernel refuses, or this processor's number is not known.
    """
    number = _CAPSET.get(os.uname().machine)
    if number is None:
        raise OSError("capset has no known number on this processor")
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    syscall(number, ctypes.byref(header), ctypes.byref(nothing))


def _word(value: object) -> object:
    """Pass numbers as full machine words; pointers are words already."""
    return ctypes.c_ulong(value) if isinstance(value, int) else value


def _raise(what: str) -> None:
    code = ctypes.get_errno()
    raise OSError(code, f"{what}: {os.strerror(code)}")
