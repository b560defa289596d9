"""What a strategy's process cannot reach, and what it can."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journeyman.domain.tasks import Result, Task, TaskId
from journeyman.strategies.api import Context
from journeyman.strategies.child import confinement as reach
from journeyman.strategies.child import landlock, syscall_filter
from journeyman.strategies.child.confinement import (
    NOT_ENFORCED,
    available_confinement,
    is_named,
)
from journeyman.strategies.child.metadata import remove_folder
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.running.child import Isolation, child_config
from journeyman.strategies.running.runner import Runner

HOLDS = available_confinement()
KEEPS_FILES = pytest.mark.skipif(
    HOLDS["files"] == NOT_ENFORCED, reason="no Landlock here"
)
KEEPS_NETWORK = pytest.mark.skipif(HOLDS["network"] != "seccomp", reason="no filter")

SOURCE = """
import _socket, ctypes, errno, fcntl, os, resource, socket, subprocess, sys
from pathlib import Path
from journeyman import Needs, Strategy

def tried(act):
    try:
        return act()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))

class Mine(Strategy):
    tags, runner, needs = {"x"}, "process", NEEDS

    def run(self, task):
        attempts = eval(task.text)
        return {name: tried(act) for name, act in attempts.items()}
"""

LIBRARY = "ctypes.CDLL(None, use_errno=True)"
ERROR = "errno.errorcode[ctypes.get_errno()]"

Attempt = Callable[..., Any]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return a file in the daemon's own folder, in which the children's homes are."""
    folder = tmp_path / "data"
    (folder / "workspaces").mkdir(parents=True)
    file = folder / "identity.json"
    file.write_text("the token")
    return file


@pytest.fixture
def attempt(
    load_file: Callable[..., LoadedStrategy],
    make_context: Callable[..., Context],
    secret: Path,
) -> Attempt:
    """Run expressions inside a child; give what came of each, errors by name."""

    async def run(needs: str = "Needs()", **expressions: str) -> dict[str, Any]:
        loaded = load_file(SOURCE.replace("NEEDS", needs))
        listing = ", ".join(f"{k!r}: lambda: {v}" for k, v in expressions.items())
        isolation = Isolation(
            homes=secret.parent / "workspaces", private=(secret.parent,)
        )
        runner = Runner(isolation=isolation)
        task = Task(id=TaskId("t1"), text="{" + listing + "}")
        ended = await runner.run(loaded, task, make_context(), timeout_seconds=20)
        assert isinstance(ended, Result), ended
        assert isinstance(ended.output, dict)
        return ended.output

    return run


@KEEPS_NETWORK
async def test_a_strategy_that_names_no_host_has_no_network(attempt: Attempt) -> None:
    out = await attempt(
        polite="socket.create_connection(('127.0.0.1', 9))",
        by_name="socket.create_connection(('example.org', 9))",
        # Past Python: AF_INET, AF_INET6, AF_PACKET, AF_UNIX.
        v4=f"{LIBRARY}.socket(2, 1, 0) < 0 and {ERROR}",
        udp=f"{LIBRARY}.socket(2, 2, 0) < 0 and {ERROR}",
        v6=f"{LIBRARY}.socket(10, 1, 0) < 0 and {ERROR}",
        packets=f"{LIBRARY}.socket(17, 3, 0) < 0 and {ERROR}",
        local=f"{LIBRARY}.socket(1, 1, 0) < 0 and {ERROR}",
        a_program="subprocess.run([sys.executable, '-c', "
        "'import socket; socket.socket()'], stderr=-3).returncode",
        a_pair="len(socket.socketpair())",
    )

    assert out == {
        "polite": "no network access: the needs of 'mine' name no hosts",
        "by_name": "no network access: the needs of 'mine' name no hosts",
        "v4": "EACCES",
        "udp": "EACCES",
        "v6": "EACCES",
        "packets": "EACCES",
        "local": "EACCES",
        "a_program": 1,
        "a_pair": 2,
    }


@KEEPS_NETWORK
async def test_a_strategy_that_names_hosts_has_a_network_but_no_local_sockets(
    attempt: Attempt,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        out = await attempt(
            "Needs(hosts={'localhost', '*.example.com'})",
            named=f"socket.create_connection(('localhost', {port})).close() or 'yes'",
            another="socket.getaddrinfo('example.org', 80)",
            local="_socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
        )

    assert out["named"] == "yes"
    assert out["another"].startswith("no access to 'example.org'")
    assert out["local"] == "EACCES"


@KEEPS_NETWORK
async def test_the_side_doors_are_shut(attempt: Attempt) -> None:
    daemon, io_uring_setup = os.getpid(), 425
    out = await attempt(
        rings=f"{LIBRARY}.syscall({io_uring_setup}, 8, None) and {ERROR}",
        namespaces=f"{LIBRARY}.unshare(0x10000000) and {ERROR}",
        trace=f"{LIBRARY}.ptrace(16, {daemon}, 0, 0) and {ERROR}",
        limits=f"resource.prlimit({daemon}, resource.RLIMIT_CPU, (1, 1))",
        niceness=f"os.setpriority(os.PRIO_PROCESS, {daemon}, 19)",
        signals_by_a_file=f"{LIBRARY}.fcntl(0, 8, {daemon}) and {ERROR}",
        all_signals="os.kill(-1, 0)",
        watches=f"{LIBRARY}.inotify_init1(0) < 0 and {ERROR}",
        watches_of_files=f"{LIBRARY}.fanotify_init(0x200, 0) < 0 and {ERROR}",
        more_memory=f"{LIBRARY}.setrlimit(2, (ctypes.c_ulong * 2)(-1, -1)) and {ERROR}",
    )

    assert out == dict.fromkeys(out, "EPERM")


@KEEPS_FILES
async def test_it_reads_what_programs_need_and_not_what_is_the_daemons(
    attempt: Attempt, secret: Path, tmp_path: Path
) -> None:
    named = tmp_path / "named"
    named.write_text("for it")
    beside = tmp_path / "strategies" / "words.txt"
    beside.parent.mkdir(exist_ok=True)
    beside.write_text("beside it")
    out = await attempt(
        f"Needs(files={{{str(named)!r}}})",
        token=f"Path({str(secret)!r}).read_text()",
        data=f"os.listdir({str(secret.parent)!r})",
        neighbours=f"os.listdir({str(secret.parent / 'workspaces')!r})",
        shadow="Path('/etc/shadow').read_text()",
        daemon=f"Path('/proc/{os.getpid()}/environ').read_bytes()",
        memory=f"open('/proc/{os.getpid()}/mem', 'rb')",
        temporary="Path('/tmp/left-by-a-child').write_text('x')",
        overwrite=f"Path({str(beside)!r}).write_text('x')",
        named=f"Path({str(named)!r}).read_text()",
        beside=f"Path({str(beside)!r}).read_text()",
        own="Path('note').write_text('x')",
        library="bool(__import__('zoneinfo').ZoneInfo('Europe/Berlin'))",
        program="subprocess.run(['/bin/true']).returncode",
    )

    denied = [
        "token",
        "data",
        "neighbours",
        "shadow",
        "daemon",
        "memory",
        "temporary",
        "overwrite",
    ]
    assert {name: out.pop(name) for name in denied} == dict.fromkeys(denied, "EACCES")
    assert out == {
        "named": "for it",
        "beside": "beside it",
        "own": 1,
        "library": True,
        "program": 0,
    }


METADATA = {
    "chmod": "os.chmod(HERE, 0o777)",
    "fchmod": "os.fchmod(os.open(HERE, os.O_RDONLY), 0o777)",
    "utime": "os.utime(HERE, (1, 1))",
    "futimens": "os.utime(os.open(HERE, os.O_RDONLY), (1, 1))",
    "chown": "os.chown(HERE, os.getuid(), os.getgid())",
    "lchown": "os.lchown(HERE, os.getuid(), os.getgid())",
    "setxattr": "os.setxattr(HERE, 'user.mark', b'x')",
    "removexattr": "os.removexattr(HERE, 'user.mark')",
    # FS_IOC_SETFLAGS with FS_NODUMP_FL, on a file that is open for reading.
    "flags": "fcntl.ioctl(os.open(HERE, os.O_RDONLY), 0x40086602, b'@' + bytes(7))",
    # A lease, for which whoever opens the file would wait: the daemon, too.
    "lease": "fcntl.fcntl(os.open(HERE, os.O_RDONLY), 1024, 0)",
    "truncate": "os.truncate(HERE, 0)",
    "rename": "os.rename(HERE, HERE + '2')",
    "link": "os.link(HERE, 'mine')",
    "unlink": "os.unlink(HERE)",
    "write": "open(HERE, 'a')",
}
"""Every way to change a file of which only the path, or a descriptor, is known."""


@KEEPS_FILES
async def test_it_changes_nothing_of_a_file_outside_its_folder(
    attempt: Attempt, tmp_path: Path
) -> None:
    # Beside the strategy, where it may read; and the token, where it may not.
    readable, private = tmp_path / "strategies" / "list.txt", tmp_path / "data"
    readable.write_text("words")
    kept = (private / "identity.json", readable)
    before = [one.stat() for one in kept]
    tried = {
        f"{name}_{number}": way.replace("HERE", repr(str(file)))
        for number, file in enumerate(kept)
        for name, way in METADATA.items()
    }

    out = await attempt(**tried)

    assert [one.stat() for one in kept] == before
    assert set(out.values()) <= {"EACCES", "EPERM", "ENOTSUP", "EXDEV"}, out


@KEEPS_FILES
async def test_it_changes_modes_and_times_in_its_own_folder(attempt: Attempt) -> None:
    out = await attempt(
        chmod="Path('a').write_text('x') and os.chmod('a', 0o640)",
        mode="oct(os.stat('a').st_mode)",
        fchmod="os.fchmod(os.open('a', os.O_RDONLY), 0o755)",
        new_mode="oct(os.stat(Path('a').resolve()).st_mode)",
        by_a_folder="os.chmod('a', 0o600, dir_fd=os.open('.', os.O_RDONLY))",
        by_its_number=(
            "os.chmod('/proc/self/fd/%d' % os.open('a', os.O_RDONLY), 0o600)"
        ),
        utime="os.utime('a', (1, 2))",
        times="[os.stat('a').st_atime, os.stat('a').st_mtime]",
        touch="Path('a').touch() or os.stat('a').st_mtime > 2",
        futimens="os.utime(os.open('a', os.O_RDONLY), (1, 1))",
        of_a_link="os.symlink('/etc', 'l') or os.utime('l', (1, 1), "
        "follow_symlinks=False)",
        same_owner="os.chown('a', os.getuid(), -1)",
        copy2="__import__('shutil').copy2('/etc/hosts', 'hosts')",
        by_a_program="subprocess.run(['chmod', '-R', 'u=rwX', 'a']).returncode",
        from_beneath="os.mkdir('b') or os.chdir('b') or os.chmod('../a', 0o600)",
    )

    assert {name: out[name] for name in out if out[name] is not None} == {
        "mode": "0o100640",
        "new_mode": "0o100755",
        "times": [1, 2],
        "touch": True,
        "copy2": "hosts",
        "by_a_program": 0,
    }


@KEEPS_FILES
async def test_no_way_leads_from_its_folder_to_the_metadata_of_others(
    attempt: Attempt, tmp_path: Path
) -> None:
    beside = tmp_path / "strategies" / "list.txt"
    beside.write_text("words")
    before = beside.stat()
    outside = f"Path({str(beside)!r})"
    folder = f"os.open({str(beside.parent)!r}, os.O_RDONLY)"
    out = await attempt(
        made=f"os.symlink({str(beside)!r}, 'link')",
        by_a_link="os.chmod('link', 0o777)",
        times_by_a_link="os.utime('link', (1, 1))",
        by_dots=f"os.chmod(Path.cwd() / ('../' * 40 + str({outside})[1:]), 0o777)",
        by_a_folder=f"os.chmod('list.txt', 0o777, dir_fd={folder})",
        by_a_link_of_proc=(
            f"os.chmod('/proc/self/fd/%d' % os.open({outside}, os.O_RDONLY), 0o777)"
        ),
        by_root="os.chmod(f'/proc/self/root{Path.cwd()}/link', 0o777)",
        by_a_program="subprocess.run(['chmod', '777', 'link'], stderr=-3).returncode",
        its_folder_itself="os.chmod('.', 0o777)",
        by_its_path="os.chmod(Path.cwd(), 0o777)",
        lending_rights="Path('mine').touch() or os.chmod('mine', 0o4755)",
        of_another="os.chown('mine', 1, 1)",
        no_path=f"{LIBRARY}.chmod(1, 0o777) and {ERROR}",
        a_pipe="os.fchmod(os.pipe()[0], 0o777)",
    )

    assert beside.stat() == before
    assert out.pop("made") is None
    assert out.pop("by_a_program") == 1
    assert out.pop("no_path") == "EFAULT"
    assert out == dict.fromkeys(out, "EPERM")


RACE = """
from contextlib import suppress
import os, threading
from journeyman import strategy

@strategy(tags={"x"}, runner="process")
def racing(task):
    ends = threading.Event()
    os.mkdir("real")
    open("real/list.txt", "w").close()
    os.symlink(task.text, "out")
    os.symlink("real", "way")

    def swap():
        while not ends.is_set():
            for name in ("out", "real"):
                os.symlink(name, "next")
                os.rename("next", "way")

    swapping = threading.Thread(target=swap)
    swapping.start()
    allowed = refused = 0
    while allowed + refused < 200 or not (allowed and refused):
        try:
            os.chmod("way/list.txt", 0o600 if allowed % 2 else 0o640)
            allowed += 1
        except PermissionError:
            refused += 1
    ends.set()
    swapping.join()
    return {"allowed": allowed, "refused": refused}
"""


@KEEPS_FILES
async def test_a_path_that_is_changed_while_it_is_judged_leads_nowhere(
    load_file: Callable[..., LoadedStrategy],
    make_context: Callable[..., Context],
) -> None:
    loaded = load_file(RACE)
    beside = loaded.path.parent / "list.txt"
    beside.write_text("words")
    before = beside.stat()
    task = Task(id=TaskId("t1"), text=str(beside.parent))

    ended = await Runner().run(loaded, task, make_context(), timeout_seconds=30)

    assert isinstance(ended, Result), ended
    assert isinstance(ended.output, dict)
    assert all(ended.output.values()), ended.output
    assert beside.stat() == before


@KEEPS_NETWORK
async def test_it_reaches_nobody_by_what_has_no_path(attempt: Attempt) -> None:
    out = await attempt(
        datagram_pair="socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
        memory=f"{LIBRARY}.shmget(1, 4096, 0o1666) and {ERROR}",
        semaphores=f"{LIBRARY}.semget(1, 1, 0o1666) and {ERROR}",
        messages=f"{LIBRARY}.msgget(1, 0o1666) and {ERROR}",
        niceness=f"os.sched_setaffinity({os.getpid()}, {{0}})",
        own="socket.socketpair()[0].fileno() > 0",
    )

    assert out["own"] is True
    del out["own"]
    assert set(out.values()) <= {"EACCES", "EPERM"}, out


def test_a_folder_that_holds_a_private_one_is_given_piece_by_piece(
    load_file: Callable[..., LoadedStrategy],
) -> None:
    loaded = load_file(SOURCE.replace("NEEDS", "Needs()"))
    around = loaded.path.parent
    (around / "data" / "workspaces" / "child-1").mkdir(parents=True)
    (around / "lists").mkdir()
    isolation = Isolation(private=(around / "data",))

    paths = reach.readable(child_config(loaded, isolation), set())

    assert around not in paths
    assert {around / "lists", loaded.path} <= set(paths)
    assert not any(path.is_relative_to(around / "data") for path in paths)


@pytest.mark.parametrize("name", ["x86_64", "aarch64"])
def test_the_filter_is_a_valid_program_for_each_processor(name: str) -> None:
    processor = syscall_filter.PROCESSORS[name]
    rules = syscall_filter.rules((), (1, 2), may_ask=True)

    code = list(syscall_filter.program(processor, rules))

    assert all(len(one) == 8 for one in code)
    for at, one in enumerate(code):
        operation, if_so, if_not = one[0], one[2], one[3]
        if operation & 7 == 5:  # BPF_JMP: only ever forward, and inside
            assert at + max(if_so, if_not) + 1 < len(code)
    assert code[-1][0] == 6


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("api.example.com", True),
        ("API.example.com.", True),
        ("deep.api.example.org", True),
        ("example.org", False),
        ("api.example.com.evil.net", False),
        ("notexample.org", False),
    ],
)
def test_hosts_are_named_whole_or_by_what_is_below_them(
    host: str, *, expected: bool
) -> None:
    assert is_named(host, ("api.example.com:443", "*.example.org")) is expected


@pytest.mark.parametrize(
    ("version", "has_filter", "expected"),
    [
        (7, True, ("seccomp", "Landlock 7", "Landlock 7", "Landlock 7")),
        (4, True, ("seccomp", "Landlock 4", "seccomp, siblings not", "Landlock 4")),
        (
            0,
            True,
            ("seccomp", NOT_ENFORCED, "seccomp, siblings not", "seccomp, /proc not"),
        ),
        (4, False, ("Landlock 4, TCP only", "Landlock 4", NOT_ENFORCED, "Landlock 4")),
        (0, False, (NOT_ENFORCED, NOT_ENFORCED, NOT_ENFORCED, NOT_ENFORCED)),
    ],
)
def test_what_holds_is_told_for_each_kind_of_system(
    monkeypatch: pytest.MonkeyPatch,
    version: int,
    *,
    has_filter: bool,
    expected: tuple[str, ...],
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: version)
    monkeypatch.setattr(syscall_filter, "is_offered", lambda: has_filter)

    told = available_confinement()

    names = ("network", "files", "signals", "memory_of_others")
    assert told == dict(zip(names, expected, strict=True))


def test_a_folder_is_removed_however_deep_and_closed_it_is(tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    closed = home / "closed" / "within"
    closed.mkdir(parents=True)
    (closed / "file").touch()
    closed.chmod(0)
    closed.parent.chmod(0o500)
    kept.touch()
    (home / "link").symlink_to(tmp_path)
    here = os.open(home, os.O_RDONLY)
    for _ in range(3_000):  # beyond Python's recursion, and the longest path
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)

    try:
        remove_folder(home)

        assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    finally:  # pytest itself could not remove it
        subprocess.run(["rm", "-rf", str(home)], check=True)  # noqa: S603, S607 - coreutils


def test_programs_are_looked_for_only_where_they_may_run(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    given = f"/usr/bin:{outside}::/usr/bin"

    found = reach.search_path([Path("/usr"), Path(sys.prefix)], given).split(":")

    assert found == [str(Path(sys.executable).parent), "/usr/bin"]
