"""The kinds of task that the sandbox makes, a module for each family.

What is asked and what is accepted is written in docs/reference/sandbox-tasks.md.
"""

from collections.abc import Mapping
from types import MappingProxyType

from journeyman.sandbox.kinds import (
    arithmetic,
    checksums,
    dates,
    extraction,
    hyperlinks,
    people,
    summary,
    tables,
    words,
)
from journeyman.sandbox.kinds.kind import Draft, Fields, Kind, WrongAnswerError

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for family in (
            words,
            summary,
            tables,
            extraction,
            arithmetic,
            checksums,
            hyperlinks,
            dates,
            people,
        )
        for kind in family.KINDS
    },
)
"""All kinds by name, in the order of the documentation."""

__all__ = ["KINDS", "Draft", "Fields", "Kind", "WrongAnswerError"]
