"""One source of values, with the place that each value came from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from journeyman.settings.knobs import Key, Knob

DEFAULT = "default"
"""The origin of what nobody wrote."""


@dataclass(slots=True)
class Layer:
    """What one source says: a file, the environment, or the command line."""

    values: dict[Key, object] = field(default_factory=dict)
    origins: dict[Key, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, key: Key, value: object, origin: str) -> None:
        """Take a value in, and remember where it stood."""
        self.values[key] = value
        self.origins[key] = origin

    def tree(self) -> dict[str, Any]:
        """Give the values nested, as the settings model wants them."""
        root: dict[str, Any] = {}
        for key, value in self.values.items():
            _put(root, key, value)
        return root


def _put(table: dict[str, Any], key: Key, value: object) -> None:
    for part in key[:-1]:
        inner = table.setdefault(part, {})
        if not isinstance(inner, dict):
            # A plain value stands where a table must be: the model will say so.
            return
        table = inner
    table[key[-1]] = value


def leaves(
    table: Mapping[str, object], above: Key = ()
) -> Iterator[tuple[Key, object]]:
    """Walk nested tables; an empty one is a leaf, so that it can be judged too."""
    for name, value in table.items():
        key = (*above, name)
        if isinstance(value, Mapping) and value:
            yield from leaves(value, key)
        else:
            yield key, value


def is_section(key: Key, known: Mapping[Key, Knob]) -> bool:
    """Tell whether settings stand below this key."""
    return any(len(name) > len(key) and name[: len(key)] == key for name in known)


def refusal(key: Key, known: Mapping[Key, Knob]) -> str:
    """Say why no setting has this key; empty when one has it."""
    if _knob_of(key, known) is not None:
        return ""
    dotted = ".".join(key)
    if is_section(key, known):
        return f"{dotted}: is a section, wanted a table of settings below [{dotted}]"
    near = _suggestion(key, known)
    return f"{dotted}: no such setting" + (f"; did you mean {near}?" if near else "")


def _knob_of(key: Key, known: Mapping[Key, Knob]) -> Knob | None:
    """Find the setting that a value belongs to, also one deep inside its tables."""
    knob = known.get(key[:2])
    if knob is None or (len(key) > len(knob.key) and knob.kind != "object"):
        return None
    return knob


def _suggestion(key: Key, known: Mapping[Key, Knob]) -> str:
    if len(key) == 1:
        found = get_close_matches(key[0], {name[0] for name in known}, n=1)
        if found:
            return f"[{found[0]}]"
    names = {".".join(name): name for name in known}
    same = [dotted for dotted, name in names.items() if name[-1] == key[-1]]
    if len(same) == 1:
        return same[0]
    close = get_close_matches(".".join(key), names, n=1, cutoff=0.6)
    return close[0] if close else ""
