"""A shape drawn as text: `{ id: string, deadline?: string | null }`, over lines."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from journeyman.cli.text import neutral

if TYPE_CHECKING:
    from journeyman.network import Shape

STEP = "  "


def drawn(shape: "Shape") -> list[str]:
    """Give lines; none where nothing was seen.

    `?` marks a field that not every object had, `*` keys that are data, and `...`
    what was empty or not looked into.
    """
    return _joined("", shape) if shape.kinds else []


def _joined(head: str, shape: "Shape") -> list[str]:
    """Write what may stand here behind `head`, one form after another."""
    plain = sorted(kind for kind in shape.kinds if kind not in _OPENED)
    lines = [head + " | ".join(plain)]
    for kind, inside in (("object", _fields), ("array", _items)):
        if kind in shape.kinds:
            lines[-1] += " | " if lines != [head] else ""
            first, *more = inside(shape)
            lines[-1] += first
            lines += more
    return lines


_OPENED = frozenset({"object", "array"})


def _fields(shape: "Shape") -> Iterator[str]:
    inner = [
        (f"{neutral(name)}{'?' if shape.is_optional(name) else ''}: ", field)
        for name, field in sorted(shape.fields.items())
    ]
    inner += [("*: ", shape.entries)] if shape.entries is not None else []
    if not inner:
        yield "{}" if shape.opened else "{...}"
        return
    yield "{"
    for head, field in inner:
        yield from (STEP + line for line in _joined(head, field))
    yield "}"


def _items(shape: "Shape") -> Iterator[str]:
    if shape.items is None or not shape.items.kinds:
        yield "[...]"
        return
    lines = _joined("", shape.items)
    if len(lines) == 1:
        yield f"[{lines[0]}]"
        return
    yield f"[{lines[0]}"
    yield from lines[1:-1]
    yield f"{lines[-1]}]"
