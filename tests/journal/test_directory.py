"""The data directory: private, writable, and one process's alone."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from journeyman.domain.errors import AlreadyRunningError, StateError
from journeyman.journal.directory import DataDirectory, DirectoryLock

HOLD = """
import sys
from pathlib import Path
from journeyman.journal.directory import DataDirectory, DirectoryLock
with DirectoryLock(DataDirectory(Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def _holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start another process that holds the lock until it is killed."""
    with subprocess.Popen(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    return DataDirectory(tmp_path / "deep" / "data")


def test_it_is_made_for_its_owner_alone(directory: DataDirectory) -> None:
    directory.prepare()
    directory.prepare()

    assert stat.S_IMODE(directory.path.stat().st_mode) == 0o700
    assert list(directory.path.iterdir()) == []


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StateError, match=r"cannot be written[\s\S]*--data-dir"):
        DataDirectory(tmp_path / "file" / "data").prepare()


def test_a_directory_that_cannot_be_written_is_refused(
    directory: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As root, which tests may run as, no mode keeps one out.
    def refuse(*_: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)

    with pytest.raises(StateError, match="Read-only file system"):
        directory.prepare()


def test_a_second_process_is_refused_and_told_who_holds_it(
    directory: DataDirectory,
) -> None:
    directory.prepare()

    with _holder(directory.path) as other, pytest.raises(AlreadyRunningError) as caught:
        DirectoryLock(directory).__enter__()

    assert f"process {other.pid}" in caught.value.problem
    assert caught.value.exit_code == 6


def test_a_killed_process_leaves_no_lock(directory: DataDirectory) -> None:
    directory.prepare()
    with _holder(directory.path) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()

    with DirectoryLock(directory):
        assert directory.lock.read_text() == str(os.getpid())


def test_a_lock_that_was_given_back_can_be_taken_again(
    directory: DataDirectory,
) -> None:
    directory.prepare()
    lock = DirectoryLock(directory)

    for _ in range(2):
        with lock, pytest.raises(AlreadyRunningError):
            DirectoryLock(directory).__enter__()


def test_a_lock_file_that_cannot_be_opened_is_a_clear_error(
    directory: DataDirectory,
) -> None:
    directory.prepare()
    directory.lock.mkdir()

    with pytest.raises(StateError, match="cannot be locked"):
        DirectoryLock(directory).__enter__()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_files_of_another_user_are_left_alone(directory: DataDirectory) -> None:
    directory.prepare()
    directory.identity.write_text("{}")
    os.chown(directory.identity, 12_345, 12_345)

    with pytest.raises(StateError, match="belongs to user 12345") as refused:
        directory.prepare()

    assert "docker run --user 12345" in refused.value.fix
    assert [path.name for path in directory.path.iterdir()] == ["identity.json"]
