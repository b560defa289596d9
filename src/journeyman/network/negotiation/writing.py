"""What the operator says about writing, and the keys that requests carry."""

from dataclasses import dataclass

from journeyman.domain import IdempotencyKey
from journeyman.network.dialects import READY, SNAKE, ActionShape, WritingDialect


@dataclass(frozen=True, kw_only=True, slots=True)
class Writing:
    """What the operator says about how requests are written."""

    dialects: tuple[WritingDialect, ...] = READY
    """The candidates, in order."""
    pinned: str | None = None
    """The name of the one that is used without negotiation; None: negotiate."""
    max_candidates: int = 6
    """How many shapes of an action may be refused in a day (UTC)."""

    def pinned_for(self, action: str) -> ActionShape | None:
        """Give the shape that the operator wants, where there is one."""
        named = (one for one in self.dialects if one.name == self.pinned)
        return next((one.shapes.get(action) for one in named), None)

    @property
    def mark(self) -> str:
        """Changes with the candidates."""
        shapes = (
            f"{action}={shape.mark}"
            for dialect in self.dialects
            for action, shape in dialect.shapes.items()
        )
        return f"{self.max_candidates} {' '.join(shapes)}"


def key_for(action: str, shape: ActionShape, key: IdempotencyKey) -> IdempotencyKey:
    """Give the key of one shape: networks may refuse one key with two bodies.

    It depends on nothing but the shape, so that a repeat has it again in any run.
    """
    if shape.mark == SNAKE.shapes[action].mark:
        return key
    return IdempotencyKey(f"{key}-{shape.mark}")
