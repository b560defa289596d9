"""Text that comes from a network, made harmless for a terminal."""

from collections.abc import Iterable

from journeyman import domain


def neutral(text: object) -> str:
    r"""Give one line without control characters.

    What a terminal would obey, such as escape sequences, and what would reorder a
    line, such as bidirectional overrides, is written out as `\x1b` or `\u202e`.
    """
    return domain.neutral(str(text))


def shortened(text: object, length: int) -> str:
    """Give a neutral text of at most `length` characters."""
    line = neutral(text)
    return line if len(line) <= length else f"{line[: length - 1]}…"


def duration(seconds: float) -> str:
    """Give `3 s`, `5 min` or `4 h 51 min`."""
    minutes = int(seconds) // 60
    if minutes < 1:
        return f"{int(seconds)} s"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"


def counted(pairs: Iterable[tuple[str, int]]) -> str:
    """Give `completed 20 · lost 1`."""
    return " · ".join(f"{neutral(name)} {count}" for name, count in pairs) or "none"
