"""Text that somebody else wrote, made fit for a log, a terminal or a database."""

import json
from itertools import groupby

HIDDEN = "***"
"""Stands in the place of a secret."""
LONGEST_MESSAGE = 500
"""Characters; a message that quotes a whole task helps nobody."""


def escape(text: object, *, keep: str = "", longest: int | None = None) -> str:
    r"""Return a text with what does not show as itself written as `\x1b` or `\u202e`.

    Control characters could move a terminal's cursor or forge lines, changes of writing
    direction reorder them, and invisible characters say one thing to people and another
    to language models. Those in `keep` stay; beyond `longest` it ends in an ellipsis.
    """
    shown = str(text)
    if not shown.isprintable():
        shown = "".join(
            char
            if char.isprintable() or char in keep
            else char.encode("unicode_escape").decode()
            for char in shown
        )
    return shown if longest is None else _cut(shown, longest)


def escape_json(line: str, *, ascii_only: bool = False) -> str:
    r"""Return a line with such characters written as JSON does: `\u001b`.

    JSON stays the same JSON. `ascii_only` writes all that is not ASCII in this way.
    """
    if line.isprintable() and not ascii_only:
        return line
    return "".join(
        "".join(run) if is_shown else json.dumps("".join(run))[1:-1]
        for is_shown, run in groupby(
            line, lambda char: char.isprintable() and (char.isascii() or not ascii_only)
        )
    )


def one_line(text: str, longest: int) -> str:
    """Return a text as one line of words, without what does not show as itself."""
    shown = (char if char.isprintable() else " " for char in text)
    return _cut(" ".join("".join(shown).split()), longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def duration(seconds: float) -> str:
    """Return `3 s`, `5 min` or `4 h 51 min`."""
    minutes = int(seconds) // 60
    if minutes < 1:
        return f"{int(seconds)} s"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"


def storable(text: object) -> str:
    """Return a text of fair length that has a UTF-8 form.

    A task may hold half of a surrogate pair (JSON's escapes can write one), and
    messages quote tasks; SQLite and most terminals refuse it.
    """
    try:
        shown = str(text)[:LONGEST_MESSAGE]
    except Exception:  # noqa: BLE001 - an author's object may be broken itself
        return "(cannot be shown)"
    if shown.isascii():
        return shown  # as nearly all are
    return shown.encode(errors="backslashreplace").decode()


def describe(error: BaseException) -> str:
    """Return `ValueError: the message`, whatever the exception's own `__str__` does."""
    message = storable(error)
    kind = type(error).__name__
    return f"{kind}: {message}" if message else kind


class UntrustedText(str):
    """What somebody unknown wrote. It is a `str`, and may hold anything that one can.

    The type says so to whoever reads a signature: such text must not name a file, a
    command or an address, must not be believed when it gives orders, and belongs
    inside a fence when a language model reads it.
    """

    __slots__ = ()

    def escaped(self) -> str:
        r"""Return it without what a terminal, a page or a model could be misled by.

        Control characters, changes of writing direction and half surrogate pairs are
        written as `\x1b` or `\u202e`; line ends and tabs stay.
        """
        return escape(self, keep="\n\t")

    def fenced(self, mark: str) -> str:
        """Return it between two lines that only the maker of the mark can write.

        Args:
            mark: random words of this run, such as a part of `ctx.canary`; where the
                text holds them all the same, they are taken out of it.
        """
        inside = self.escaped().replace(mark, "") if mark else self.escaped()
        return f"<untrusted {mark}>\n{inside}\n</untrusted {mark}>"
