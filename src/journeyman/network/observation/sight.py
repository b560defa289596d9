"""One call and its end, as an observer is shown it."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from journeyman.domain import JSON


class Observed(NamedTuple):
    """A call that has ended; a tuple, because one is made for each call."""

    endpoint: str
    """The endpoint's name, or "document"."""
    query: Mapping[str, str]
    content: bytes | None
    """The body that was sent."""
    has_token: bool
    """Whether the token was sent."""
    status: int | None
    """None: no answer came."""
    headers: Mapping[str, str]
    """Of the answer; names in lower case."""
    body: JSON
    """Of the answer, parsed."""
    text: str
    problem: str
    """Why the answer's body could not be read; empty when it could."""
    seconds: float
    outcome: str
    """How it ended, as the log names it: `confirmed`, `refused: absent`, ..."""
    is_yes: bool
    secrets: tuple[str, ...]
    """What must not be kept, wherever it stands."""


Observe: TypeAlias = Callable[[Observed], None]
"""Is shown each call that has ended; must not raise, and not take long."""
