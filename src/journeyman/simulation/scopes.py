"""Cancel scopes that sets hold in an order which a seed repeats.

anyio keeps the scopes inside a scope in a set, and cancels them in its order, which is
that of their addresses in memory: no function of a seed.
"""

from collections.abc import Iterator
from contextlib import contextmanager

# The public name is a factory; what the sets hold is this.
from anyio._backends._asyncio import CancelScope


@contextmanager
def ordered_scopes() -> Iterator[None]:
    """Let the order depend on what was done alone, for as long as this lasts.

    All have the same hash meanwhile, so that a set's order follows from that of the
    additions and removals; the sets are small. Scopes of an event loop around this one
    are not looked up meanwhile: it stands still.
    """
    before = CancelScope.__hash__
    CancelScope.__hash__ = _same_for_all  # type: ignore[assignment, method-assign] # a hash of ours
    try:
        yield
    finally:
        CancelScope.__hash__ = before  # type: ignore[method-assign] # as it was


def _same_for_all(_scope: CancelScope) -> int:
    return 0
