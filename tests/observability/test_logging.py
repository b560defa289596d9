"""What reaches the stream, line by line."""

import errno
import io
import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Protocol, TextIO

import pytest

from journeyman.domain.tasks import AccessToken, TaskState
from journeyman.observability.events import (
    Event,
    Level,
    Log,
    UndeclaredEventError,
    UndeclaredFieldError,
    declare,
)
from journeyman.observability.logging import Format, build_log
from journeyman.observability.redaction import Redactor
from journeyman.worker.events import BUG


class Clock(Protocol):
    def now(self) -> datetime: ...
    def move(self, seconds: float) -> None: ...


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class BrokenStream(io.StringIO):
    """A stream whose every write fails, as one to a full disk does."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def write(self, _text: str) -> int:
        raise self.error


class Build(Protocol):
    def __call__(
        self,
        stream: TextIO,
        *,
        form: Format = "json",
        level: Level = "debug",
        secrets: Redactor | None = None,
        strict: bool = False,
        colour: bool | None = None,
    ) -> Log: ...


@pytest.fixture
def build(clock: Clock) -> Build:
    def build(
        stream: TextIO,
        *,
        form: Format = "json",
        level: Level = "debug",
        secrets: Redactor | None = None,
        strict: bool = False,
        colour: bool | None = None,
    ) -> Log:
        return build_log(
            stream=stream,
            format=form,
            level=level,
            now=clock.now,
            secrets=secrets or Redactor(),
            strict=strict,
            colour=colour,
        )

    return build


@pytest.fixture
def claimed() -> Event:
    return declare("test.claimed", "info", "reward note", "A task is ours.")


@pytest.fixture
def slow() -> Event:
    return declare("test.slow", "warning", "status", "It is slow.", "Wait.")


def _records(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def _value(build: Build, event: Event, value: object) -> object:
    stream = io.StringIO()
    build(stream).emit(event, note=value)
    return _records(stream)[0]["note"]


def test_a_json_line_has_time_level_and_event_then_context_then_fields(
    build: Build,
    claimed: Event,
) -> None:
    stream = io.StringIO()

    build(stream).bind(task_id="t_1").emit(claimed, reward=5)

    (record,) = _records(stream)
    assert list(record.items()) == [
        ("time", "2026-11-21T14:03:59.120Z"),
        ("level", "info"),
        ("event", "test.claimed"),
        ("task_id", "t_1"),
        ("reward", 5),
    ]


def test_binding_leaves_the_log_that_was_bound_as_it_was(
    build: Build,
    claimed: Event,
) -> None:
    stream = io.StringIO()
    log = build(stream)

    log.bind(task_id="t_1").bind(strategy="echo").emit(claimed)
    log.emit(claimed)

    first, second = _records(stream)
    assert (first["task_id"], first["strategy"]) == ("t_1", "echo")
    assert "task_id" not in second


def test_less_than_the_level_is_not_written(build: Build, claimed: Event) -> None:
    stream = io.StringIO()

    build(stream, level="warning").emit(claimed)

    assert stream.getvalue() == ""


def test_text_is_one_aligned_line_without_colours_off_a_terminal(
    build: Build,
    claimed: Event,
) -> None:
    stream = io.StringIO()

    log = build(stream, form="text").bind(task_id="t_1")
    log.emit(claimed, reward=5, note="two words")

    assert stream.getvalue() == (
        "2026-11-21 14:03:59Z info    test.claimed     "
        'task_id=t_1 reward=5 note="two words"\n'
    )


def test_auto_is_coloured_text_on_a_terminal_and_json_elsewhere(
    build: Build,
    claimed: Event,
) -> None:
    terminal, file = Terminal(), io.StringIO()

    build(terminal, form="auto").emit(claimed)
    build(file, form="auto").emit(claimed)

    assert "\x1b[32minfo" in terminal.getvalue()
    assert json.loads(file.getvalue())


def test_colours_can_be_turned_off_on_a_terminal(build: Build, claimed: Event) -> None:
    terminal = Terminal()

    build(terminal, form="text", colour=False).emit(claimed)

    assert "\x1b" not in terminal.getvalue()


@pytest.mark.parametrize("form", ["json", "text"])
@pytest.mark.parametrize(
    "evil",
    [
        pytest.param("a\n2026 error forged.line", id="new-line"),
        pytest.param("a\rb", id="carriage-return"),
        pytest.param("\x1b[2J", id="escape"),
        pytest.param("\x9b2J", id="c1-control"),
        pytest.param("\u202egnp.exe", id="right-to-left"),
        pytest.param("a\u2028b", id="line-separator"),
        pytest.param("\ud800", id="lone-surrogate"),
    ],
)
def test_a_task_text_can_neither_forge_a_line_nor_move_the_cursor(
    build: Build,
    claimed: Event,
    evil: str,
    form: Format,
) -> None:
    stream = io.StringIO()

    build(stream, form=form).emit(claimed, note=evil)

    written = stream.getvalue()
    assert written.count("\n") == len(written.splitlines()) == 1
    assert all(letter.isprintable() for letter in written.rstrip("\n"))
    written.encode("utf-8")


def test_json_gives_back_exactly_what_was_logged(build: Build, claimed: Event) -> None:
    assert _value(build, claimed, "a\n\u202eb\x1b") == "a\n\u202eb\x1b"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param(ValueError("no"), "ValueError: no", id="exception"),
        pytest.param(TimeoutError(), "TimeoutError", id="exception-without-words"),
        pytest.param(Path("/data/x"), "/data/x", id="path"),
        pytest.param(TaskState.LOST, "lost", id="enum"),
        pytest.param(AccessToken("s3cret-token"), "***", id="token"),
        pytest.param(b"1234", "<4 bytes>", id="bytes"),
        pytest.param({"b", "a"}, ["a", "b"], id="set"),
        pytest.param((1, None, True), [1, None, True], id="tuple"),
        pytest.param(float("nan"), "nan", id="not-a-number"),
        pytest.param(10**5000, "<whole number of 16610 bits>", id="huge-number"),
        pytest.param(
            datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
            "2026-01-01T00:00:00+00:00",
            id="datetime",
        ),
    ],
)
def test_values_are_written_sensibly(
    build: Build,
    claimed: Event,
    value: object,
    shown: object,
) -> None:
    assert _value(build, claimed, value) == shown


def test_a_long_text_is_cut_with_a_note(build: Build, claimed: Event) -> None:
    shown = _value(build, claimed, ["x" * 5_000])

    assert shown == ["x" * 2_000 + "... (cut; 5000 characters)"]


def test_of_a_long_traceback_the_end_is_kept_which_names_the_exception(
    build: Build,
) -> None:
    stream = io.StringIO()
    trace = "  File ...\n" * 1_000 + "ValueError: too few columns"

    build(stream).emit(BUG, task_id="t1", state="claimed", traceback=trace)

    (line,) = _records(stream)
    assert line["traceback"].startswith(f"(cut; {len(trace)} characters) ...")
    assert line["traceback"].endswith("ValueError: too few columns")


def test_a_long_list_is_cut_with_a_note(build: Build, claimed: Event) -> None:
    shown = _value(build, claimed, list(range(150)))

    assert shown == [*range(100), "50 more"]


def test_a_structure_that_holds_itself_ends(build: Build, claimed: Event) -> None:
    endless: dict[str, object] = {}
    endless["again"] = endless

    assert "..." in json.dumps(_value(build, claimed, endless))


def test_an_object_that_cannot_be_shown_is_named(build: Build, claimed: Event) -> None:
    class Shy:
        def __repr__(self) -> str:
            raise RuntimeError

    assert _value(build, claimed, Shy()) == "<Shy that raised RuntimeError>"


def test_a_secret_at_the_place_of_the_cut_does_not_come_out_in_half(
    build: Build,
    claimed: Event,
) -> None:
    secrets, stream = Redactor(), io.StringIO()
    secrets.add("s3cret-token")

    build(stream, secrets=secrets).emit(claimed, note="x" * 1_995 + "s3cret-token")

    assert "s3c" not in stream.getvalue()


def test_a_secret_learned_later_is_hidden_too(build: Build, claimed: Event) -> None:
    secrets, stream = Redactor(), io.StringIO()
    log = build(stream, secrets=secrets)

    secrets.add("s3cret-token")
    log.bind(run_id="s3cret-token").emit(claimed, note={"s3cret-token": 1})

    assert "s3cret" not in stream.getvalue()


def test_strictly_a_field_that_is_not_declared_raises(
    build: Build,
    claimed: Event,
) -> None:
    log = build(io.StringIO(), strict=True)

    with pytest.raises(UndeclaredFieldError, match=r"test\.claimed.*: oops;"):
        log.emit(claimed, oops=1)
    with pytest.raises(UndeclaredFieldError, match="context"):
        log.bind(oops=1)


def test_strictly_an_event_that_is_not_declared_raises(build: Build) -> None:
    stranger = Event("test.stranger", "info", frozenset(), "Nobody declared it.")

    with pytest.raises(UndeclaredEventError, match=r"test\.stranger"):
        build(io.StringIO(), strict=True).emit(stranger)


def test_otherwise_what_is_not_declared_is_written_apart(
    build: Build,
    claimed: Event,
) -> None:
    stream = io.StringIO()

    build(stream).emit(claimed, reward=1, oops=2)

    (record,) = _records(stream)
    assert record["reward"] == 1
    assert record["undeclared"] == {"oops": 2}


def test_a_context_field_is_allowed_without_declaring_it(
    build: Build,
    claimed: Event,
) -> None:
    build(io.StringIO(), strict=True).emit(claimed, task_id="t_1")


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(BrokenPipeError(errno.EPIPE, "Broken pipe"), id="EPIPE"),
        pytest.param(OSError(errno.ENOSPC, "No space left"), id="ENOSPC"),
        pytest.param(ValueError("I/O operation on closed file"), id="closed"),
    ],
)
def test_a_broken_stream_does_not_stop_the_daemon(
    build: Build,
    claimed: Event,
    error: Exception,
) -> None:
    build(BrokenStream(error)).emit(claimed)


def test_a_stream_that_knows_only_ascii_gets_escapes(
    build: Build,
    claimed: Event,
) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")

    build(stream).emit(claimed, note="naïve 🙂")

    assert json.loads(raw.getvalue())["note"] == "naïve 🙂"


def test_a_repeated_warning_is_written_once_and_then_counted(
    build: Build,
    slow: Event,
    clock: Clock,
) -> None:
    stream = io.StringIO()
    log = build(stream)

    for _ in range(4):
        log.emit(slow, status=503)
    clock.move(31)
    log.emit(slow, status=503)

    first, second = _records(stream)
    assert "repeated" not in first
    assert second["repeated"] == 3


def test_a_warning_with_other_fields_is_not_a_repeat(build: Build, slow: Event) -> None:
    stream = io.StringIO()
    log = build(stream)

    log.emit(slow, status=503)
    log.emit(slow, status=502)
    log.bind(task_id="t_1").emit(slow, status=503)

    assert len(_records(stream)) == 3


def test_only_warnings_and_errors_are_suppressed(build: Build, claimed: Event) -> None:
    stream = io.StringIO()
    log = build(stream)

    for _ in range(3):
        log.emit(claimed, reward=1)

    assert len(_records(stream)) == 3


def test_the_time_is_written_in_utc_whatever_the_clock_shows(
    claimed: Event,
) -> None:
    stream = io.StringIO()
    there = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))

    build_log(
        stream=stream,
        format="json",
        level="info",
        now=lambda: there,
        secrets=Redactor(),
    ).emit(claimed)

    assert _records(stream)[0]["time"] == "2026-01-01T00:00:00.000Z"
    assert there.astimezone(UTC).hour == 0
