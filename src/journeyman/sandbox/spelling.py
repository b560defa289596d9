"""How the names of fields are spelled in answers."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from pydantic.alias_generators import to_camel, to_pascal

Naming = Literal["snake", "camel", "pascal", "kebab"]
Spell: TypeAlias = Callable[[str], str]
"""From a name in snake_case."""


def _as_it_is(name: str) -> str:
    return name


def _to_kebab(name: str) -> str:
    return name.replace("_", "-")


SPELLINGS: Mapping[Naming, Spell] = MappingProxyType(
    {"snake": _as_it_is, "camel": to_camel, "pascal": to_pascal, "kebab": _to_kebab},
)
