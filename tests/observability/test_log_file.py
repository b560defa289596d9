"""The log as a file: bounded, private, the same as on stdout, and never in the way."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from journeyman.observability.events import Event, declare
from journeyman.observability.log_file import LogFile, log_files, read_lines
from journeyman.observability.logging import TEXT_WIDTH, build_log, text_lines
from journeyman.observability.redaction import Redactor

OpenLog = Callable[..., LogFile]
NOW = datetime(2026, 11, 21, 14, 3, 59, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "journeyman.log"


@pytest.fixture
def open_log(path: Path) -> Iterator[Callable[..., LogFile]]:
    """Open the file; it is closed at the end of the test."""
    with ExitStack() as stack:
        yield lambda max_mb=1.0, older_files=1: stack.enter_context(
            closing(LogFile(path, max_mb=max_mb, older_files=older_files))
        )


@pytest.fixture
def told() -> Event:
    return declare("news.told", "info", "note", "Something was told.")


@pytest.fixture
def trouble() -> Event:
    return declare("news.trouble", "warning", "message", "It is bad.", "Mend it now.")


def test_the_file_is_bounded_private_and_keeps_the_newest_lines(
    path: Path, open_log: OpenLog
) -> None:
    path.parent.mkdir()
    file = open_log(max_mb=0.01, older_files=3)

    for number in range(1_000):
        file.line(f"line {number} {'x' * 30}")

    files = log_files(path)
    assert len(files) == 4
    assert sum(one.stat().st_size for one in files) <= 0.01 * 1024 * 1024
    assert {one.stat().st_mode & 0o777 for one in files} == {0o600}
    numbers = [int(line.split()[1]) for line in read_lines(path)]
    assert numbers == list(range(numbers[0], 1_000))


def test_lines_from_before_the_first_start_wait_for_their_folder(
    path: Path, open_log: OpenLog
) -> None:
    file = open_log()
    file.line("joining")
    path.parent.mkdir()

    file.line("joined")

    assert [*read_lines(path)] == ["joining\n", "joined\n"]


def test_a_link_that_somebody_put_there_is_not_written_through(
    path: Path, tmp_path: Path, open_log: OpenLog
) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")

    open_log().line("secret plans")

    assert not (tmp_path / "elsewhere").exists()


def test_the_file_holds_json_without_secrets_where_stdout_shows_text(
    path: Path, told: Event, open_log: OpenLog
) -> None:
    path.parent.mkdir()
    secrets, stream = Redactor(), io.StringIO()
    secrets.add("s3cr3t-t0ken-of-ours")
    log = build_log(
        stream=stream,
        format="text",
        level="info",
        now=lambda: NOW,
        secrets=secrets,
        file=open_log(),
    )

    log.emit(told, note="Bearer s3cr3t-t0ken-of-ours")

    [line] = read_lines(path)
    assert json.loads(line)["event"] == "news.told"
    assert stream.getvalue().startswith("2026-11-21 14:03:59Z info")
    assert "s3cr3t" not in line + stream.getvalue()


def test_an_area_can_be_quieter_or_louder_than_the_rest(
    told: Event, trouble: Event
) -> None:
    stream = io.StringIO()
    other = declare("weather.changed", "info", "", "It rains.")
    log = build_log(
        stream=stream,
        format="json",
        level="info",
        now=lambda: NOW,
        secrets=Redactor(),
        levels={"news": "warning"},
    )

    for event in (told, trouble, other):
        log.emit(event)

    shown = [json.loads(line)["event"] for line in stream.getvalue().splitlines()]
    assert shown == ["news.trouble", "weather.changed"]


def test_lines_for_people_fit_and_a_warning_is_whole_with_what_to_do(
    told: Event, trouble: Event
) -> None:
    first = {"time": "2026-11-21T14:03:59.000Z", "agent_id": "agent_1"}
    words = "word " * 60

    info = text_lines({**first, "level": "info", "event": told.name, "note": words})
    warning = text_lines(
        {**first, "level": "warning", "event": trouble.name, "message": words}
    )

    assert info.endswith("…")
    assert "agent_1" not in info + warning
    assert warning.count("word") == 60
    assert warning.splitlines()[-1] == "    -> Mend it now."
    lines = (info + "\n" + warning).splitlines()
    assert max(map(len, lines)) <= TEXT_WIDTH
    assert all(line.startswith("    ") for line in warning.splitlines()[1:])
