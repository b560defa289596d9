"""Text and tables that no network can turn against a terminal."""

import pytest

from journeyman.cli.output import (
    counted,
    duration,
    plain_table,
    print_fields,
    print_table,
)
from journeyman.domain.text import escape


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain, grün, 日本", "plain, grün, 日本", id="letters"),
        pytest.param("\x1b[2Jgone", "\\x1b[2Jgone", id="clear-screen"),
        pytest.param("a\nb\tc\r", "a\\nb\\tc\\r", id="lines"),
        pytest.param("pay \u202e001", "pay \\u202e001", id="right-to-left"),
        pytest.param("\ud83d", "\\ud83d", id="half-a-letter"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_a_long_text_is_cut_to_its_length() -> None:
    assert escape("abcdef", longest=4) == "abc…"
    assert escape("abcd", longest=4) == "abcd"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.4, "0 s"), (59, "59 s"), (300, "5 min"), (17460, "4 h 51 min")],
)
def test_a_duration_reads_well(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_counts_read_well_also_when_there_are_none() -> None:
    assert counted([("lost", 1), ("failed", 2)]) == "lost 1 · failed 2"
    assert counted([]) == "none"


def test_columns_of_numbers_stand_to_the_right() -> None:
    lines = plain_table(["task", "reward"], [["a", 5], ["longer", 10]])

    assert lines == ["TASK    REWARD", "a            5", "longer      10"]


def test_a_table_without_rows_shows_its_headings() -> None:
    assert plain_table(["task", "reward"], []) == ["TASK  REWARD"]


def test_a_table_on_a_terminal_takes_no_markup_from_its_cells(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)

    print_table(["title", "reward"], [["[red]warm[/red] \x1b[0m", 5]])

    drawn = capsys.readouterr().out
    assert "[red]warm[/red]" in drawn
    assert "\\x1b[0m" in drawn


def test_facts_leave_out_what_is_empty_and_indent_further_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_fields({"a": "one\ntwo", "empty": "", "long": "\x07"})

    assert capsys.readouterr().out == "a     one\n      two\nlong  \\x07\n"
