"""A JSON object looked at by any of several names, however they are spelled."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

from journeyman.domain import JSON

T = TypeVar("T")

_SEPARATORS = str.maketrans("", "", "_-. ")
_LONGEST_KNOWN = 64
"""In characters."""


def spelling(name: str) -> str:
    """Reduce a name to what all its spellings share: `taskId` to `taskid`."""
    # A hostile answer may have names of any length, which are not worth keeping.
    return _known(name) if len(name) <= _LONGEST_KNOWN else _reduced(name)


def _reduced(name: str) -> str:
    return name.translate(_SEPARATORS).lower()


_known = lru_cache(maxsize=4096)(_reduced)
"""The names in a network's answers are few, and come again and again."""


def spellings(names: Iterable[str]) -> tuple[str, ...]:
    """Reduce several names, keeping their order."""
    return tuple(spelling(name) for name in names)


class Fields:
    """One or more JSON objects read as one; earlier objects hide later ones.

    A null counts as absent. All names that are asked for are reduced by `spelling`.
    """

    def __init__(self, *layers: Mapping[str, JSON]) -> None:
        self._values: dict[str, JSON] = {}
        for layer in layers:
            for name, value in layer.items():
                if value is not None:
                    self._values.setdefault(spelling(name), value)

    def get(self, name: str) -> JSON:
        """Give the value of one name; None when it is absent."""
        return self._values.get(name)

    def value(self, names: Iterable[str]) -> JSON:
        """Give the first value under these names, whatever it is."""
        return next((self._values[n] for n in names if n in self._values), None)

    def has(self, names: Iterable[str]) -> bool:
        """Tell whether one of the names is there."""
        return any(name in self._values for name in names)

    def has_some(self, names: frozenset[str]) -> bool:
        """Tell the same of many names at once, faster."""
        return not names.isdisjoint(self._values)

    def pick(
        self,
        names: Iterable[str],
        read: Callable[[JSON], T | None],
    ) -> T | None:
        """Give the first value under these names that `read` can use."""
        for name in names:
            if name in self._values:
                value = read(self._values[name])
                if value is not None:
                    return value
        return None

    def find(
        self,
        names: Iterable[str],
        read: Callable[[JSON], T | None],
    ) -> str | None:
        """Give the name whose value `pick` gives."""
        there = (name for name in names if name in self._values)
        return next((n for n in there if read(self._values[n]) is not None), None)

    def objects(self, names: Iterable[str]) -> dict[str, dict[str, JSON]]:
        """Give the values under these names that are objects."""
        found = {name: self._values.get(name) for name in names}
        return {name: v for name, v in found.items() if isinstance(v, dict)}

    def without(self, names: Iterable[str]) -> "Fields":
        """Give the same fields less these."""
        rest = Fields()
        rest._values = dict(self._values)
        for name in names:
            rest._values.pop(name, None)
        return rest

    def under(self, *layers: Mapping[str, JSON]) -> "Fields":
        """Give the same fields with these objects laid over them."""
        together = Fields(*layers)
        for name, value in self._values.items():
            together._values.setdefault(name, value)
        return together
