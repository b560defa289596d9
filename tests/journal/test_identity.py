"""Who we are: whole or absent on disk, private, and never replaced by itself."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from journeyman.domain.errors import StateError
from journeyman.domain.tasks import AccessToken, AgentId, Identity
from journeyman.journal.identity import load_identity, load_mark, save_identity

ME = Identity(AgentId("agent-1"), AccessToken("tok-secret"), "http://a.example")
OTHER = Identity(AgentId("agent-2"), AccessToken("tok-other"), "http://b.example")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "identity.json"


def test_an_identity_is_read_back_as_it_was_saved(file: Path) -> None:
    save_identity(file, ME)

    assert load_identity(file) == ME


def test_who_has_never_joined_has_no_identity(file: Path) -> None:
    assert load_identity(file) is None


def test_only_the_owner_can_read_it_whatever_the_umask(file: Path) -> None:
    before = os.umask(0)
    try:
        save_identity(file, ME)
    finally:
        os.umask(before)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("broken", ["fsync", "replace", "write"])
def test_a_disk_that_fails_on_the_way_leaves_the_old_identity(
    file: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    save_identity(file, ME)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os." + broken, fail)
        with pytest.raises(StateError, match="No space left"):
            save_identity(file, OTHER)

    assert load_identity(file) == ME


def test_the_new_name_is_given_only_to_bytes_that_are_on_disk(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def tell_fsync(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append("folder" if is_folder else "content")
        fsync(descriptor)

    def tell_replace(old: Path, new: Path) -> None:
        done.append("name")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", tell_fsync)
    monkeypatch.setattr(os, "replace", tell_replace)
    save_identity(file, ME)

    assert done == ["content", "name", "folder"]


DAMAGED = [
    pytest.param(b"", id="empty"),
    pytest.param(b"\0" * 100, id="zeros"),
    pytest.param(b'{"format": 1, "agent_id": "a"', id="cut"),
    pytest.param(b"[]", id="array"),
    pytest.param(b'{"format": 1}', id="fields-missing"),
    pytest.param(
        b'{"format": 1, "agent_id": "a", "access_token": "", "base_url": "u"}',
        id="empty-token",
    ),
    pytest.param(
        b'{"format": 2, "agent_id": "a", "access_token": "t", "base_url": "u"}',
        id="newer-format",
    ),
    pytest.param(b"\xff\xfe\x00", id="not-text"),
    pytest.param(b"[" * 60_000, id="deep"),
    pytest.param(b" " * 100_000, id="large"),
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_identity_is_refused_and_left_alone(
    file: Path, content: bytes
) -> None:
    file.write_bytes(content)

    with pytest.raises(StateError, match=r"cannot be used[\s\S]*backup"):
        load_identity(file)

    assert file.read_bytes() == content


def test_an_identity_that_cannot_be_read_is_refused(file: Path) -> None:
    file.mkdir()

    with pytest.raises(StateError, match="cannot be used"):
        load_identity(file)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_an_identity_that_is_no_file_is_neither_waited_for_nor_read_for_ever(
    file: Path, make: Callable[[Path], None]
) -> None:
    make(file)

    with pytest.raises(StateError, match="no regular file"):
        load_identity(file)


@pytest.mark.parametrize("number", [-1, 10**30, "many", None])
def test_a_mark_with_numbers_that_none_can_have_is_refused(
    file: Path, number: object
) -> None:
    names = "entries spends posts credits posted cents cents_of_month"
    mark = dict.fromkeys(names.split(), 0) | {"head": "", "at": "2026-11-23T00:00:00Z"}
    save_identity(file, ME)
    known = json.loads(file.read_text())
    file.write_text(json.dumps(known | {"journal": mark}))
    assert load_mark(file)

    file.write_text(json.dumps(known | {"journal": mark | {"spends": number}}))

    with pytest.raises(StateError, match="damaged"):
        load_mark(file)


def test_no_error_tells_the_token(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", _refuse)

    with pytest.raises(StateError) as caught:
        save_identity(file, ME)

    assert "tok-secret" not in f"{caught.value} {caught.value!r} {ME}"


def _refuse(*_: object) -> None:
    raise OSError(13, "Permission denied")
