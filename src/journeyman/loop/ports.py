"""What the loop needs of the network: the subset that it calls, and no more."""

from collections.abc import Callable
from typing import Protocol

from journeyman.domain import IdempotencyKey, Outcome, Result, TaskId
from journeyman.network import Claimed, Completed, Listing, Registration, Submitted


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


class Market(Protocol):
    """The four actions of a worker."""

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
