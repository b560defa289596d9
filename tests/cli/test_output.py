"""Text and tables that no network can turn against a terminal."""

import pytest

from journeyman.cli.output import (
    counted,
    print_fields,
    print_table,
    table_lines,
)
from journeyman.domain.text import duration, escape


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
    lines = table_lines(["task", "reward"], [["a", 5], ["longer", 10]])

    assert lines == ["TASK    REWARD", "a            5", "longer      10"]


def test_a_table_without_rows_shows_its_headings() -> None:
    assert table_lines(["task", "reward"], []) == ["TASK  REWARD"]


COLUMNS = ["task", "state", "reward", "title"]
TASKS: list[list[str | int]] = [
    ["task_7c1e0a52", "completed", 5, "Count the words of a long passage"],
    ["b5c1b5a0-5f1e-4b1e-9a53-0a8b0b6e5c11", "lost", 12, "日本の本"],
]


def test_a_narrow_table_cuts_titles_then_leaves_columns_out_and_says_which() -> None:
    def fit(width: int) -> list[str]:
        drop = ["state", "title"]
        return table_lines(COLUMNS, TASKS, titles=["title"], drop=drop, width=width)

    assert max(map(len, fit(80))) <= 80
    assert fit(80)[1].endswith("Count the words of a l…")
    assert fit(60)[0].split() == ["TASK", "REWARD", "TITLE"]
    assert fit(60)[-1] == "(no room for: state)"
    assert fit(46)[0].split() == ["TASK", "REWARD"]


def test_an_id_is_whole_where_nothing_has_room() -> None:
    lines = table_lines(
        COLUMNS, TASKS, titles=["title"], drop=["state", "title"], width=10
    )

    assert str(TASKS[1][0]) in lines[2]


def test_a_text_goes_on_between_words_and_keeps_its_addresses_whole() -> None:
    told = "open https://pay.example/checkout/session/0123456789 and pay there"

    lines = table_lines(["what", "do"], [["top-up", told]], texts=["do"], width=30)

    assert "        https://pay.example/checkout/session/0123456789" in lines
    assert lines[1] == "top-up  open"


def test_a_letter_that_takes_two_columns_is_counted_as_two() -> None:
    lines = table_lines(["title", "reward"], [["日本", 5], ["long", 10]])

    assert lines[1] == "日本        5"


def test_a_table_on_a_terminal_shows_what_a_terminal_would_obey(
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
