"""Descriptions in YAML, read into what JSON could say, and without trust (0063).

The library is imported when there is one: few networks have any, and it takes 4 MB.
"""

import math
from collections.abc import Mapping
from datetime import date

from journeyman.domain.tasks import JSON

LARGEST = 256 * 1024
"""In characters: what is larger would take the reader, which is slow, many seconds."""
MOST_ALIASES = 200
MOST_VALUES = 100_000
"""With everything that aliases repeat."""
DEEPEST = 64


class UnreadableYAMLError(ValueError):
    """The text is not YAML, or is more than we read."""


def parse_yaml(text: str) -> JSON:
    """Parse a YAML 1.2 text; it takes seconds, so call it in a thread on an event loop.

    Raises:
        UnreadableYAMLError: it is no YAML, is too large, repeats too much by aliases,
            or holds what JSON cannot say.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if len(text) > LARGEST:
        raise UnreadableYAMLError(f"YAML of more than {LARGEST // 1024} KiB")
    try:
        _check_events(text)
        value = YAML(typ="safe", pure=True).load(text)
        return _Plain().plain(value)
    except YAMLError as error:
        place = getattr(error, "problem_mark", None)
        where = f" at line {place.line + 1}" if place else ""
        told = getattr(error, "problem", None) or type(error).__name__
        raise UnreadableYAMLError(f"not YAML ({told}{where})") from None
    except UnreadableYAMLError:
        raise
    except (ValueError, TypeError) as error:  # such as a date that does not exist
        raise UnreadableYAMLError(f"not YAML ({error})") from None


def _check_events(text: str) -> None:
    """Refuse what could unfold to any size before it is built."""
    from ruamel.yaml import YAML
    from ruamel.yaml.events import (
        AliasEvent,
        CollectionEndEvent,
        CollectionStartEvent,
        ScalarEvent,
    )

    aliases = depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        aliases += isinstance(event, AliasEvent)
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            raise UnreadableYAMLError(f"YAML nested deeper than {DEEPEST} levels")
        if aliases > MOST_ALIASES:
            raise UnreadableYAMLError(f"YAML with more than {MOST_ALIASES} aliases")
        if isinstance(event, ScalarEvent) and event.value == "<<":
            raise UnreadableYAMLError("YAML with merge keys (<<), which are not read")


class _Plain:
    """Copies values into those of JSON, up to a number of them."""

    def __init__(self) -> None:
        self._left = MOST_VALUES

    def plain(self, value: object, depth: int = 0) -> JSON:
        """Return a value as JSON has it.

        Raises:
            UnreadableYAMLError: it is too large, too deep, or none of JSON's.
        """
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            raise UnreadableYAMLError("YAML that is too large or too deep in all")
        if isinstance(value, Mapping):
            return {
                str(name): self.plain(inner, depth + 1) for name, inner in value.items()
            }
        if isinstance(value, list):
            return [self.plain(inner, depth + 1) for inner in value]
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, float) and not math.isfinite(value):
            raise UnreadableYAMLError("YAML with a number that is not finite")
        if value is None or isinstance(value, str | int | float):
            return value
        raise UnreadableYAMLError(f"YAML with a {type(value).__name__}")
