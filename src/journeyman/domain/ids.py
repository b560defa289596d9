"""Identifiers, each its own type, so that one cannot stand in for another."""

from dataclasses import dataclass
from typing import NewType, final

AgentId = NewType("AgentId", str)
TaskId = NewType("TaskId", str)
SpendId = NewType("SpendId", str)
"""Our own name for one spend or one checkout; chosen before it is sent."""
IdempotencyKey = NewType("IdempotencyKey", str)
"""Sent with every repeat of one request, so that a network can see a repeat."""


@final
class AccessToken:
    """A bearer token that cannot be printed by accident.

    `str()`, `repr()`, formatting and logging all show a placeholder; only
    `reveal()` gives the secret, and only `network` and `journal` call it. It is no
    dataclass, since `dataclasses.asdict` of whatever holds it would open it.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        """Keep the secret."""
        self._secret = secret

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AccessToken) and other._secret == self._secret

    def __hash__(self) -> int:
        return hash(self._secret)

    def reveal(self) -> str:
        """Give the secret itself, for the Authorization header or the identity file."""
        return self._secret

    def __repr__(self) -> str:
        return "AccessToken(***)"

    def __str__(self) -> str:
        return "***"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are on one network: what free registration gave us (contract 2)."""

    agent_id: AgentId
    access_token: AccessToken
    base_url: str
    """The network that issued it; the token is sent to no other."""
