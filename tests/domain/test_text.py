"""Text of others, cut and written so that it harms nobody who shows it."""

import json

import pytest

from journeyman.domain.text import describe, escape, escape_json, one_line, storable

EVIL = "a\n\x1b[2J\u202eb\U000e0041"


def test_what_does_not_show_as_itself_is_written_out() -> None:
    assert escape(EVIL) == "a\\n\\x1b[2J\\u202eb\\U000e0041"
    assert escape(EVIL, keep="\n").startswith("a\n\\x1b")


def test_a_text_that_is_too_long_ends_in_an_ellipsis() -> None:
    assert escape("abcdef", longest=4) == "abc…"
    assert escape("abcd", longest=4) == "abcd"
    assert one_line("ab  cd\nef", 6) == "ab cd…"


def test_json_stays_the_same_json() -> None:
    line = json.dumps({"text": EVIL + "日本 🙂"}, ensure_ascii=False)

    for ascii_only in (False, True):
        written = escape_json(line, ascii_only=ascii_only)
        assert json.loads(written) == json.loads(line)
        assert written.isprintable()
        assert written.isascii() == ascii_only


def test_one_line_is_words_and_nothing_else() -> None:
    assert one_line("two\r\n  words\x1b\u200b!", 99) == "two words !"


class Broken:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "stored"),
    [("\ud800x", "\\ud800x"), ("x" * 600, "x" * 500), (Broken(), "(cannot be shown)")],
)
def test_what_is_stored_has_a_utf_8_form(value: object, stored: str) -> None:
    assert storable(value) == stored


def test_an_error_is_described_by_its_kind_and_its_message() -> None:
    assert describe(ValueError("no")) == "ValueError: no"
    assert describe(TimeoutError()) == "TimeoutError"
