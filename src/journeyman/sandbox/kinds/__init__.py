"""The kinds of task that the sandbox generates, a module for each family.

What is asked and what is accepted is written in docs/reference/sandbox-tasks.md.
"""

from collections.abc import Mapping

from journeyman.sandbox.kinds import (
    arithmetic,
    checksums,
    data,
    dates,
    hyperlinks,
    people,
    prose,
    texts,
)
from journeyman.sandbox.kinds.kind import Kind

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for family in (
        *(texts, data, arithmetic, checksums, hyperlinks, dates),
        *(prose, people),
    )
    for kind in family.KINDS
}
"""All kinds by name, in the order of the documentation."""
