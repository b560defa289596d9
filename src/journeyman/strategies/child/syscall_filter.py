"""A seccomp filter: which system calls a strategy is refused, and by which rule.

It needs no privileges, only PR_SET_NO_NEW_PRIVS, and so works in a default container
too. It holds for everything the process starts, and cannot be taken off (man 2
seccomp). The program is classic BPF, written by hand for two processors.

It refuses a strategy:
- the network: `socket`, except for the families that are allowed; and `io_uring`,
  whose requests seccomp does not see;
- other processes' memory: `ptrace`, `process_vm_*`, `pidfd_getfd`;
- modes, owners, times and attributes of files outside of its folder, which
  `metadata` tells apart, and objects shared by a number or name;
- watching files and folders, which tells what changes where it may not read;
- signals to the daemon and to its own supervisor, also by indirect ways;
- other processes' limits and priorities; namespaces; rarely used parts of the kernel.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from journeyman.strategies.child import kernel

AF_UNIX = 1
AF_INET = 2
AF_INET6 = 10
AF_NETLINK = 16
"""Used by the C library to look names up."""

_SECCOMP_MODE_FILTER = 2
_IS_ACTION_KNOWN = 2
"""SECCOMP_GET_ACTION_AVAIL."""
_ALLOW = 0x7FFF_0000
_ERRNO = 0x0005_0000
_ASK = 0x7FC0_0000
"""SECCOMP_RET_USER_NOTIF: who holds the listener answers (man 2 seccomp_unotify)."""
_KILL_PROCESS = 0x8000_0000
_SET_FILTER = 1
"""SECCOMP_SET_MODE_FILTER, which does what PR_SET_SECCOMP does, and takes flags."""
_WITH_LISTENER = 1 << 3

_LOAD = 0x20
"""BPF_LD | BPF_W | BPF_ABS."""
_IF_EQUAL = 0x15
_IF_AT_LEAST = 0x35
_IF_ANY_BIT = 0x45
_RETURN = 0x06

_OF_NUMBER = 0
_OF_PROCESSOR = 4
_OF_ARGUMENTS = 16

_NEW_NAMESPACES = 0x7E02_0000
"""CLONE_NEWNS to CLONE_NEWNET, for `clone` (man 2 clone)."""
_FOREIGN_CALLS = 0x4000_0000
"""Where the numbers of x32 begin, a second table of calls on x86_64."""
_OWNERS = (8, 10, 15)
"""F_SETOWN, F_SETSIG, F_SETOWN_EX: signals sent by a descriptor."""
_LEASES = (1024, 1026)
"""F_SETLEASE and F_NOTIFY: the one makes others wait that open the file, the daemon
among them, the other sends them signals."""
_DATAGRAM = (2, 2 | 0o4000, 2 | 0o2000000, 2 | 0o4000 | 0o2000000)
"""SOCK_DGRAM, with SOCK_NONBLOCK and SOCK_CLOEXEC or without."""
_FILE_FLAGS = (0x4008_6602, 0x4004_6602, 0x401C_5820, 0x4008_7602, 0x4080_6685)
"""FS_IOC_SETFLAGS, the same of 32 bits, FSSETXATTR, SETVERSION, ENABLE_VERITY: they
change a file that was opened for reading."""
_SOCKET_OWNERS = (0x8901, 0x8902)
"""FIOSETOWN, SIOCSPGRP: the same as ioctls."""


@dataclass(frozen=True, slots=True)
class Processor:
    """What differs between processors: the identifier, and the numbers of calls."""

    audit: int
    calls: dict[str, int]
    seccomp: int
    """The number of the call that tells what the kernel offers (man 2 seccomp)."""
    has_x32: bool = False


_SHARED = {
    "pidfd_send_signal": 424,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "clone3": 435,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "process_mrelease": 448,
    "fchmodat2": 452,
    "setxattrat": 463,
    "removexattrat": 466,
    "file_setattr": 469,
}
_TABLE = """
socket 41 198           socketpair 53 199       kill 62 129
tkill 200 130           tgkill 234 131          rt_sigqueueinfo 129 138
rt_tgsigqueueinfo 297 240                       ptrace 101 117
process_vm_readv 310 270                        process_vm_writev 311 271
bpf 321 280             perf_event_open 298 241 userfaultfd 323 282
add_key 248 217         request_key 249 218     keyctl 250 219
unshare 272 97          setns 308 268           clone 56 220
prlimit64 302 261       setpriority 141 140     fcntl 72 25
ioctl 16 29             truncate 76 45          ioprio_set 251 30
sched_setparam 142 118  sched_setscheduler 144 119
sched_setaffinity 203 122                       sched_setattr 314 274
migrate_pages 256 238   move_pages 279 239
fchmod 91 52            fchmodat 268 53         fchown 93 55
fchownat 260 54         utimensat 280 88
setxattr 188 5          lsetxattr 189 6         fsetxattr 190 7
removexattr 197 14      lremovexattr 198 15     fremovexattr 199 16
shmget 29 194           shmat 30 196            shmctl 31 195
semget 64 190           semop 65 193            semctl 66 191
semtimedop 220 192      msgget 68 186           msgsnd 69 189
msgrcv 70 188           msgctl 71 187           mq_open 240 180
mq_unlink 241 181       inotify_init1 294 26    fanotify_init 300 262
"""
"""Each call, with its number on x86_64 and on aarch64."""
_X86_64_ONLY = {
    "chmod": 90,
    "chown": 92,
    "lchown": 94,
    "utime": 132,
    "utimes": 235,
    "futimesat": 261,
    "inotify_init": 253,
}


def _numbers(column: int) -> dict[str, int]:
    words = _TABLE.split()
    numbers = map(int, words[column::3])
    return dict(zip(words[::3], numbers, strict=True)) | _SHARED


PROCESSORS = {
    "x86_64": Processor(0xC000_003E, _numbers(1) | _X86_64_ONLY, 317, has_x32=True),
    "aarch64": Processor(0xC000_00B7, _numbers(2), 277),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """Refuse a call: always, or by one of its arguments."""

    call: str
    argument: int = 0
    if_in: Collection[int] = ()
    unless_in: Collection[int] = ()
    if_bits: int = 0
    code: int = errno.EPERM
    asks: bool = False
    """Ask the supervisor instead."""


METADATA = "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utimensat"
"""Calls that change a file without opening it for writing, which Landlock ignores. A
filter sees no paths, and a descriptor may stand for any file: the supervisor is asked,
and without one all are refused."""
OLD_METADATA = "utime utimes futimesat file_setattr"
"""The same, but nobody is asked: C libraries of today do not use them."""
ATTRIBUTES = (
    "setxattr lsetxattr fsetxattr setxattrat "
    "removexattr lremovexattr fremovexattr removexattrat"
)
SHARED_OBJECTS = (
    "shmget shmat shmctl semget semop semctl semtimedop "
    "msgget msgsnd msgrcv msgctl mq_open mq_unlink"
)
"""Of System V and POSIX: they belong to no folder."""
WATCHES = "inotify_init inotify_init1 fanotify_init"
"""They tell when files change, and the names of new ones, in folders that Landlock lets
nobody read."""
OF_A_PROCESS = (
    "prlimit64 sched_setparam sched_setscheduler sched_setaffinity sched_setattr "
    "migrate_pages move_pages"
)
"""Calls whose first argument is a process; 0 is the caller."""


def rules(
    families: Collection[int],
    untouchable: Sequence[int],
    *,
    may_truncate: bool = True,
    may_ask: bool = False,
) -> list[Rule]:
    """Return the rules for a strategy.

    Args:
        families: of sockets that it may open.
        untouchable: processes that it must not signal, nor their groups.
        may_truncate: files by their path; False where Landlock does not see it.
        may_ask: there is a supervisor that answers about metadata.
    """
    every = {-1, *untouchable, *(-number for number in untouchable)}
    never = (
        "ptrace process_vm_readv process_vm_writev pidfd_getfd pidfd_send_signal "
        "tkill bpf perf_event_open userfaultfd add_key request_key keyctl unshare "
        "setns io_uring_setup io_uring_enter io_uring_register process_madvise "
        "process_mrelease"
    )
    if not may_truncate:
        never += " truncate"
    refused = f"{OLD_METADATA} {SHARED_OBJECTS} {WATCHES}"
    return [
        Rule("socket", 0, unless_in=families, code=errno.EACCES),
        # One of a pair of datagram sockets can be connected to anybody's socket.
        Rule("socketpair", 1, if_in=_DATAGRAM, code=errno.EACCES),
        *(Rule(call) for call in f"{never} {refused}".split()),
        *(Rule(call, asks=may_ask) for call in METADATA.split()),
        # As on a file system that has none, which programs are used to.
        *(Rule(call, code=errno.ENOTSUP) for call in ATTRIBUTES.split()),
        Rule("ioctl", 1, if_in=_FILE_FLAGS),
        *(Rule(call, 0, if_in=every) for call in ("kill", "tgkill")),
        *(
            Rule(f"rt_{call}info", 0, if_in=every)
            for call in ("sigqueue", "tgsigqueue")
        ),
        Rule("fcntl", 1, if_in=(*_OWNERS, *_LEASES)),
        Rule("ioctl", 1, if_in=_SOCKET_OWNERS),
        *(Rule(call, 0, unless_in=(0,)) for call in OF_A_PROCESS.split()),
        *(Rule(call, 1, unless_in=(0,)) for call in ("setpriority", "ioprio_set")),
        Rule("setpriority", 0, unless_in=(0,)),
        Rule("clone", 0, if_bits=_NEW_NAMESPACES),
        # Its flags lie in memory, which a filter cannot read; as if it were not there,
        # the C library takes `clone` instead.
        Rule("clone3", code=errno.ENOSYS),
    ]


def is_offered() -> bool:
    """Return whether there is a filter for this processor that the kernel accepts."""
    processor = PROCESSORS.get(os.uname().machine)
    if processor is None:
        return False
    action = struct.pack("=I", _ERRNO)
    try:
        return kernel.syscall(processor.seccomp, _IS_ACTION_KNOWN, 0, action) == 0
    except OSError:
        return False


def install(applied: Sequence[Rule]) -> None:
    """Install the filter for this process and all that it will start.

    Raises:
        OSError: the kernel refuses, or has no seccomp.
    """
    _, head, _text = _compiled(applied)
    kernel.prctl(kernel.PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, head)


def install_with_listener(applied: Sequence[Rule]) -> int:
    """Install a filter that asks; return the descriptor that answers.

    Raises:
        OSError: the kernel refuses: it is older than Linux 5.0, or something that
            started us listens already.
    """
    processor, head, _text = _compiled(applied)
    return kernel.syscall(processor.seccomp, _SET_FILTER, _WITH_LISTENER, head)


def _compiled(applied: Sequence[Rule]) -> tuple[Processor, bytes, object]:
    """Return struct sock_fprog, and the program, which must outlive its use."""
    processor = PROCESSORS.get(os.uname().machine)
    if processor is None:
        raise OSError(f"there is no filter for the processor {os.uname().machine}")
    code = b"".join(program(processor, applied))
    text = ctypes.create_string_buffer(code, len(code))
    # How many instructions, and where they are.
    head = struct.pack("@HP", len(code) // 8, ctypes.addressof(text))
    return processor, head, text


def program(processor: Processor, applied: Sequence[Rule]) -> Iterator[bytes]:
    """Yield the instructions; each rule is a block that falls through to the next."""
    yield _do(_LOAD, _OF_PROCESSOR)
    yield _do(_IF_EQUAL, processor.audit, 1, 0)
    yield _do(_RETURN, _KILL_PROCESS)
    if processor.has_x32:
        yield _do(_LOAD, _OF_NUMBER)
        yield _do(_IF_AT_LEAST, _FOREIGN_CALLS, 0, 1)
        yield _do(_RETURN, _ERRNO | errno.ENOSYS)
    for rule in applied:
        if rule.call in _X86_64_ONLY and rule.call not in processor.calls:
            continue  # newer processors never had it
        block = list(_block(rule))
        yield _do(_LOAD, _OF_NUMBER)
        yield _do(_IF_EQUAL, processor.calls[rule.call], 0, len(block))
        yield from block
    yield _do(_RETURN, _ALLOW)


def _block(rule: Rule) -> Iterator[bytes]:
    """Yield what follows if the call's number matches; skipped as a whole if not."""
    refuse = _do(_RETURN, _ASK if rule.asks else _ERRNO | rule.code)
    # The lower half of an argument: those compared here are ints to the kernel.
    load = _do(_LOAD, _OF_ARGUMENTS + 8 * rule.argument)
    compared = sorted(rule.unless_in or rule.if_in)
    if compared or rule.if_bits:
        yield load
    # Each test jumps to the refusal, which follows the last of them, or behind it.
    for left, value in zip(range(len(compared), 0, -1), compared, strict=True):
        if rule.unless_in:
            yield _do(_IF_EQUAL, value, left, 0)
        else:
            yield _do(_IF_EQUAL, value, left - 1, int(left == 1))
    if rule.if_bits:
        yield _do(_IF_ANY_BIT, rule.if_bits, 0, 1)
    yield refuse


def _do(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    """Return one instruction: struct sock_filter."""
    return struct.pack("=HBBI", code, if_so, if_not, value & 0xFFFF_FFFF)
