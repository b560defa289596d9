"""The actions of a worker, and what we have to say in each of them.

The contract names the actions (section 4, endpoints 7 to 10) and shows none of their
bodies. These are our own names for the values; a dialect says where they go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class ActionValues:
    """The values of one action, by our own names."""

    essential: tuple[str, ...]
    """Without these the request says nothing."""
    others: tuple[str, ...] = ()
    """A dialect may leave these away."""
    droppable: frozenset[str] = frozenset()
    """Left out of a request where they are empty."""

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.essential, *self.others)


_TASK_OF_AGENT = ActionValues(("task_id",), ("agent_id",))

ACTIONS: Mapping[str, ActionValues] = MappingProxyType(
    {
        "claim": _TASK_OF_AGENT,
        "submit": ActionValues(
            ("task_id", "result"),
            ("agent_id", "evidence"),
            frozenset({"evidence"}),
        ),
        "complete": _TASK_OF_AGENT,
        "post_task": ActionValues(
            ("title", "description", "reward"),
            ("agent_id", "kind", "tags", "input"),
            frozenset({"kind", "tags", "input"}),
        ),
    },
)
"""By the names of the endpoints."""
