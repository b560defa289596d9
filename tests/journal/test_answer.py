"""The raw answer to a registration, as it lies on disk."""

from pathlib import Path

import pytest

from journeyman.domain.errors import StateError
from journeyman.journal.identity import AnswerFile, RegistrationAnswer

URL = "https://network.example"


@pytest.fixture
def file(tmp_path: Path) -> AnswerFile:
    return AnswerFile(tmp_path / "registration.answer")


@pytest.mark.parametrize("body", [b"", b'{"a": 1}', b"two\nlines\r\n", b"\xff\x00\n"])
def test_the_bytes_come_back_as_they_were(file: AnswerFile, body: bytes) -> None:
    file.keep(RegistrationAnswer(URL, body))

    assert file.load() == RegistrationAnswer(URL, body)


def test_headers_and_wholeness_come_back_too(file: AnswerFile) -> None:
    answer = RegistrationAnswer(URL, b"{}", {"x-access-token": "t0k3n"}, is_whole=True)
    file.keep(answer)

    assert file.load() == answer
    assert "t0k3n" not in repr(file.load())


def test_a_file_of_an_earlier_version_can_be_read(file: AnswerFile) -> None:
    file.path.write_bytes(URL.encode() + b'\n{"agent_id": "a"}')

    assert file.load() == RegistrationAnswer(URL, b'{"agent_id": "a"}')


def test_only_its_owner_can_read_it(file: AnswerFile) -> None:
    file.keep(RegistrationAnswer(URL, b"token"))

    assert file.path.stat().st_mode & 0o777 == 0o600


def test_the_last_one_is_kept(file: AnswerFile) -> None:
    file.keep(RegistrationAnswer(URL, b"first"))
    file.keep(RegistrationAnswer(URL, b"second"))

    assert file.load() == RegistrationAnswer(URL, b"second")


def test_what_is_forgotten_is_gone(file: AnswerFile) -> None:
    file.keep(RegistrationAnswer(URL, b"token"))
    file.forget()
    file.forget()

    assert file.load() is None


def test_its_body_is_not_printed(file: AnswerFile) -> None:
    file.keep(RegistrationAnswer(URL, b"t0k3n"))

    assert "t0k3n" not in repr(file.load())


def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    file = AnswerFile(tmp_path / "nowhere" / "registration.answer")

    with pytest.raises(StateError, match="cannot be written"):
        file.keep(RegistrationAnswer(URL, b"token"))
    (tmp_path / "a").mkdir()
    with pytest.raises(StateError, match=r"cannot be read[\s\S]*Do not delete"):
        AnswerFile(tmp_path / "a").load()
