"""What can go wrong on purpose, by name, and how often."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

ChaosLevel = Literal["off", "mild", "hard"]
Trouble = Literal[
    "latency",
    "throttled",
    "throttled_silently",
    "unavailable",
    "error_before",
    "error_after",
    "dropped_before",
    "dropped_after",
    "truncated",
    "malformed",
    "page",
    "byte_order_mark",
    "expired_token",
    "lost_lease",
]
TROUBLES: tuple[Trouble, ...] = get_args(Trouble)
LASTING: frozenset[Trouble] = frozenset({"expired_token", "lost_lease"})
"""They outlive their request, so they come a quarter as often as the others."""
SHARES: Mapping[ChaosLevel, float] = MappingProxyType(
    {"off": 0.0, "mild": 0.05, "hard": 0.3},
)
"""Of the requests to the contract's endpoints, how many meet a trouble."""
