"""Modes, times and owners of files: changed by the supervisor, in the folder only.

Landlock does not see these changes, and a seccomp filter sees no paths. So the filter
lets the worker wait and asks the supervisor (man 2 seccomp_unotify), which finds the
file for itself, and changes it where it lies beneath the worker's folder.

What the supervisor judges, it also changes: it reads the path once, never follows it
out of the folder, and then works on the descriptor that it has opened. Whatever the
worker alters meanwhile, another file cannot take its place.
"""

import errno
import os
import re
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fcntl import ioctl
from functools import partial
from pathlib import Path

from journeyman.strategies.child import kernel, syscall_filter

_RECEIVE, _SEND, _STILL_WAITS = 0xC050_2100, 0xC018_2101, 0x4008_2102
"""SECCOMP_IOCTL_NOTIF_RECV, _SEND and _ID_VALID."""
_QUESTION = struct.Struct("=QIIiIQ6Q")
"""struct seccomp_notif: id, thread, flags; number, processor, address, arguments."""
_ANSWER = struct.Struct("=QqiI")
"""struct seccomp_notif_resp: id, value, error, flags."""

_OPENAT2, _UTIMENSAT = 437, {"x86_64": 280, "aarch64": 88}
_BENEATH = 0x08 | 0x02
"""RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS (man 2 openat2)."""
_AT_FDCWD, _NOFOLLOW, _EMPTY_PATH = -100, 0x100, 0x1000
_MAX_PATH = 4096
_TWO_TIMES = 32
"""Bytes of the times that `utimensat` is given; none stand for now."""
_PERMISSIONS = 0o777
"""Neither set-user-ID nor set-group-ID: a file must not lend its owner's rights."""
_NOBODY = 0xFFFF_FFFF
"""-1, the owner or group that `chown` leaves as it is."""
_OWN_DESCRIPTOR = re.compile(r"/proc/(?:self|thread-self)/fd/(\d+)")


@dataclass(frozen=True, slots=True)
class _Call:
    """Where a call has its arguments; None: it has no such argument."""

    folder: int | None = None
    path: int | None = None
    flags: int | None = None
    mode: int | None = None
    times: int | None = None
    owner: int | None = None
    """Of the user; the group follows."""
    follows: bool = True


CALLS = {
    "chmod": _Call(path=0, mode=1),
    "fchmod": _Call(folder=0, mode=1),
    "fchmodat": _Call(folder=0, path=1, mode=2),
    "fchmodat2": _Call(folder=0, path=1, mode=2, flags=3),
    "utimensat": _Call(folder=0, path=1, times=2, flags=3),
    "chown": _Call(path=0, owner=1),
    "lchown": _Call(path=0, owner=1, follows=False),
    "fchown": _Call(folder=0, owner=1),
    "fchownat": _Call(folder=0, path=1, owner=2, flags=4),
}
"""The calls that are asked about."""


class Metadata:
    """Answers what one worker, and all that it starts, asks."""

    def __init__(self, listener: int, home: str) -> None:
        self._listener = listener
        self._home = home
        self._folder = os.open(home, os.O_PATH | os.O_DIRECTORY)
        numbers = syscall_filter.PROCESSORS[os.uname().machine].calls
        self._calls = {numbers[name]: CALLS[name] for name in CALLS if name in numbers}

    def answer(self) -> None:
        """Answer one question, if there is any."""
        question = bytearray(_QUESTION.size)
        with suppress(OSError):  # who asked is gone
            ioctl(self._listener, _RECEIVE, question)
            number, thread, _, call, _, _, *arguments = _QUESTION.unpack(question)
            try:
                self._change(self._calls[call], number, thread, arguments)
                code = 0
            except OSError as error:
                code = error.errno or errno.EPERM
            except (KeyError, ValueError, OverflowError):
                code = errno.EPERM
            ioctl(self._listener, _SEND, _ANSWER.pack(number, 0, -code, 0))

    def _change(self, call: _Call, number: int, thread: int, given: list[int]) -> None:
        """Do what was asked, if it may be.

        Raises:
            OSError: it may not, or the system refuses.
        """
        times = b""
        if call.times is not None and (address := given[call.times]):
            times = _memory(thread, address, _TWO_TIMES)
        with self._opened(call, thread, given) as target:
            # Only now is it sure that all this was read from who asked, and not from
            # another process that has got its number meanwhile.
            ioctl(self._listener, _STILL_WAITS, struct.pack("=Q", number))
            if call.mode is not None:
                _set_mode(target, given[call.mode] & 0xFFFF)
            elif call.owner is not None:
                _keep_owner(target, *given[call.owner : call.owner + 2])
            else:
                _set_times(target, times)

    @contextmanager
    def _opened(self, call: _Call, thread: int, given: list[int]) -> Iterator[int]:
        """Yield a descriptor of the file that is meant, which is in the folder."""
        opened = self._open(call, thread, given)
        try:
            # The folder itself stays closed for others.
            if Path(self._home) not in _link(opened).readlink().parents:
                raise PermissionError(errno.EPERM, "it is not in the folder")
            yield opened
        finally:
            os.close(opened)

    def _open(self, call: _Call, thread: int, given: list[int]) -> int:
        at = _AT_FDCWD if call.folder is None else _signed(given[call.folder])
        flags = 0 if call.flags is None else given[call.flags]
        path = ""
        if call.path is not None and (address := given[call.path]):
            path = _text(thread, address)
            if not path and not flags & _EMPTY_PATH:
                raise FileNotFoundError(errno.ENOENT, "there is no path")
        if own := _OWN_DESCRIPTOR.fullmatch(path):
            at, path = int(own[1]), ""
        base = f"/proc/{thread}/" + ("cwd" if at == _AT_FDCWD else f"fd/{at}")
        if not path:
            return os.open(base, os.O_PATH | os.O_CLOEXEC)
        if not path.startswith("/"):
            path = f"{Path(base).readlink()}/{path}"
        follows = call.follows and not flags & _NOFOLLOW
        return self._open_beneath(path, follows=follows)

    def _open_beneath(self, path: str, *, follows: bool) -> int:
        if not path.startswith(self._home + "/"):
            raise PermissionError(errno.EPERM, "it is not in the folder")
        inside = os.fsencode(path[len(self._home) :].lstrip("/") or ".")
        flags = os.O_PATH | os.O_CLOEXEC | (0 if follows else os.O_NOFOLLOW)
        # struct open_how: flags, mode, and how the path is resolved.
        how = struct.pack("=QQQ", flags, 0, _BENEATH)
        try:
            return kernel.syscall(_OPENAT2, self._folder, inside, how, len(how))
        except OSError as error:
            if error.errno == errno.EXDEV:
                raise PermissionError(errno.EPERM, "it leads out") from error
            raise


def _set_mode(target: int, mode: int) -> None:
    if mode & ~_PERMISSIONS:
        raise PermissionError(errno.EPERM, "a file cannot lend rights")
    _link(target).chmod(mode)


def _set_times(target: int, times: bytes) -> None:
    number = _UTIMENSAT[os.uname().machine]
    path = bytes(_link(target))
    kernel.syscall(number, _AT_FDCWD, path, times or None, 0)


def _keep_owner(target: int, user: int, group: int) -> None:
    """Allow what changes nothing, as programs do that restore a file."""
    found = os.stat(target)
    is_same = user & _NOBODY in {_NOBODY, found.st_uid}
    if not (is_same and group & _NOBODY in {_NOBODY, found.st_gid}):
        raise PermissionError(errno.EPERM, "owners do not change")


def _memory(thread: int, address: int, size: int) -> bytes:
    """Return some memory of who asked; less where it ends.

    Raises:
        OSError: there is none at this address, or it may not be read.
    """
    with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        try:
            return memory.read(size)
        except OSError as error:
            raise OSError(errno.EFAULT, "nothing is there") from error


def _text(thread: int, address: int) -> str:
    """Return the path at an address, which ends with a zero byte."""
    found, page = b"", 4096
    while b"\0" not in found:
        if len(found) >= _MAX_PATH:
            raise OSError(errno.ENAMETOOLONG, "the path is too long")
        # Up to the end of its page: the next may not be there.
        found += _memory(thread, address, page - address % page)
        address += page - address % page
    return os.fsdecode(found.partition(b"\0")[0])


def remove_folder(folder: str | Path) -> None:
    """Remove a folder with all beneath it: what is thousands deep, or closed, too."""
    if not os.path.lexists(folder):
        return  # as most often
    _unlock(Path(folder))
    with suppress(OSError):  # it is gone
        _empty(os.open(folder, _FOLDER))
        Path(folder).rmdir()


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _empty(here: int) -> None:
    """Remove what is in a folder, and close it.

    Without recursion, and without paths: both end long before a file system does, so
    that a strategy could otherwise stop whoever cleans up after it.
    """
    above: list[tuple[str, tuple[int, int]]] = []
    stays: list[set[str]] = [set()]
    try:
        while True:
            if name := _first_folder(here, stays[-1]):
                try:
                    below = _open_folder(name, here)
                except OSError:
                    stays[-1].add(name)
                    continue
                above.append((name, _identity(here)))
                stays.append(set())
                here = _instead(here, below)
            elif above:
                name, was = above.pop()
                stays.pop()
                here = _instead(here, os.open("..", _FOLDER, dir_fd=here))
                if _identity(here) != was:
                    return  # somebody has moved it meanwhile
                _remove(partial(os.rmdir, name, dir_fd=here), name, stays[-1])
            else:
                return
    finally:
        os.close(here)


def _first_folder(here: int, stays: set[str]) -> str:
    """Remove files until there is a folder; return its name, or an empty text."""
    with os.scandir(here) as entries:
        for entry in entries:
            if entry.name in stays:
                continue
            if entry.is_dir(follow_symlinks=False):
                return entry.name
            _remove(partial(os.unlink, entry.name, dir_fd=here), entry.name, stays)
    return ""


def _remove(remove: Callable[[], None], name: str, stays: set[str]) -> None:
    try:
        remove()
    except OSError:
        stays.add(name)


def _open_folder(name: str, parent: int) -> int:
    mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IRWXU, dir_fd=parent)
    return os.open(name, _FOLDER, dir_fd=parent)


def _identity(descriptor: int) -> tuple[int, int]:
    seen = os.fstat(descriptor)
    return seen.st_dev, seen.st_ino


def _instead(old: int, new: int) -> int:
    os.close(old)
    return new


def _unlock(folder: Path) -> None:
    if not folder.is_symlink():
        with suppress(OSError):  # it is gone
            folder.chmod(0o700)


def _link(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}")


def _signed(value: int) -> int:
    """Return an argument as the kernel takes it: an int of 32 bits."""
    (number,) = struct.unpack("=i", struct.pack("=I", value & 0xFFFF_FFFF))
    return int(number)
