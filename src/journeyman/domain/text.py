"""Text that somebody on a network wrote: data to work on, never words to obey."""

from typing import Final

_NEWLINES: Final = "\n\t"


def neutral(text: str, *, keep: str = "") -> str:
    r"""Write what does not show as itself out, as `\x1b` or `\u202e`, save `keep`."""
    if text.isprintable():
        return str(text)
    return "".join(
        char
        if char.isprintable() or char in keep
        else char.encode("unicode_escape").decode()
        for char in text
    )


class UntrustedText(str):
    """What a stranger wrote. It is a `str`, and may hold anything that one can.

    The type says so to whoever reads a signature: such text must not name a file, a
    command or an address, must not be believed when it gives orders, and belongs
    inside a fence when a language model reads it.
    """

    __slots__ = ()

    def neutral(self) -> str:
        r"""Give it without what a terminal or a page would obey.

        Control characters, changes of writing direction and half surrogate pairs are
        written out as `\x1b` or `\u202e`; line ends and tabs stay.
        """
        return neutral(self, keep=_NEWLINES)

    def fenced(self, mark: str) -> str:
        """Give it between two lines that only the maker of the mark can write.

        Args:
            mark: random words of this run, such as a part of `ctx.canary`; where the
                text holds them all the same, they are taken out of it.
        """
        inside = self.neutral().replace(mark, "") if mark else self.neutral()
        return f"<untrusted {mark}>\n{inside}\n</untrusted {mark}>"


LONGEST: Final = 500
"""Characters; a message that quotes a whole task helps nobody."""


def printable(text: object) -> str:
    """Give a text of fair length that has a UTF-8 form.

    A task may hold half of a surrogate pair (JSON's escapes can say it), and messages
    quote tasks; SQLite and most terminals refuse it.
    """
    try:
        words = str(text)[:LONGEST]
    except Exception:  # noqa: BLE001 - an author's object may be broken itself
        return "(cannot be shown)"
    return words.encode(errors="backslashreplace").decode()


def describe(error: BaseException) -> str:
    """Give `ValueError: the message`, whatever the exception's own `__str__` does."""
    message = printable(error)
    kind = type(error).__name__
    return f"{kind}: {message}" if message else kind
