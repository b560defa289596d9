"""What the loop needs of the network: the subset that it calls, and no more."""

from collections.abc import Callable
from typing import Protocol

from journeyman.domain import IdempotencyKey, Outcome, Result, TaskId
from journeyman.network import (
    Claimed,
    Completed,
    Held,
    Listing,
    Registration,
    Submitted,
)


class Registrar(Protocol):
    """Free registration."""

    async def register(
        self,
        key: IdempotencyKey,
        keep: Callable[[bytes], None],
    ) -> Outcome[Registration]:
        """Contract endpoint 1; `keep` gets the answer's bytes before they are read."""
        ...

    def read_registration(self, body: bytes) -> Registration | None:
        """Read the bytes of such an answer; None when no agent is in it."""
        ...


class Outlook(Protocol):
    """What the network lets us do now."""

    def stopped(self) -> Held | None:
        """Say why nothing at all may be done; None when something may."""
        ...

    def held(self, endpoint: str) -> Held | None:
        """Say why a request to this endpoint must wait; None when it may go."""
        ...

    def is_absent(self, endpoint: str) -> bool:
        """Tell whether the network lacks this endpoint, as far as we know."""
        ...


class _Calm:
    """A network that lets us do everything."""

    def stopped(self) -> Held | None:
        return None

    def held(self, endpoint: str) -> Held | None:
        del endpoint
        return None

    def is_absent(self, endpoint: str) -> bool:
        del endpoint
        return False


CALM: Outlook = _Calm()
"""For parts that are used without a network."""


class Market(Protocol):
    """The four actions of a worker, and the listing that is public."""

    async def public_marketplace(self) -> Outcome[Listing]:
        """Contract endpoint 3: where to look when endpoint 6 is not there."""
        ...

    async def marketplace_tasks(self, limit: int | None) -> Outcome[Listing]:
        """Contract endpoint 6."""
        ...

    async def claim(self, task_id: TaskId, key: IdempotencyKey) -> Outcome[Claimed]:
        """Contract endpoint 7."""
        ...

    async def submit(
        self,
        task_id: TaskId,
        result: Result,
        key: IdempotencyKey,
    ) -> Outcome[Submitted]:
        """Contract endpoint 8."""
        ...

    async def complete(
        self,
        task_id: TaskId,
        key: IdempotencyKey,
    ) -> Outcome[Completed]:
        """Contract endpoint 9."""
        ...
