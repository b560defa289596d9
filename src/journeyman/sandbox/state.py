"""What a running sandbox consists of."""

import sqlite3
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from journeyman.sandbox.ambient import Ambient
from journeyman.sandbox.material import Material, load_material
from journeyman.sandbox.options import SandboxOptions
from journeyman.sandbox.store import open_database, transaction
from journeyman.sandbox.surface import Endpoint, offered


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """The parts that every operation works on."""

    db: sqlite3.Connection
    options: SandboxOptions
    ambient: Ambient
    material: Material = field(repr=False)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The contract's endpoints that are there."""
        return offered(self.options.absent)

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Begin one; see `store.transaction`."""
        return transaction(self.db)

    def now(self) -> str:
        """The time as the sandbox writes it, such as 2026-11-21T10:00:00Z."""
        return self.ambient.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def new_id(self, prefix: str) -> str:
        """Make an identifier that nobody can guess."""
        return f"{prefix}_{self.ambient.new_token()[:24]}"

    def task_id(self, bits: int) -> str:
        """Make a task's identifier of 48 bits."""
        return str(bits) if self.options.values == "numbers" else f"task_{bits:012x}"

    def new_task_id(self) -> str:
        """Make a task's identifier that nobody can guess."""
        if self.options.values == "numbers":
            return self.task_id(int(self.ambient.new_token()[:12], 16))
        return self.new_id("task")


def open_state(options: SandboxOptions, ambient: Ambient) -> State:
    """Open the data and load the material.

    Raises:
        SandboxError: the data cannot be used.
    """
    return State(
        db=open_database(options.data),
        options=options,
        ambient=ambient,
        material=load_material(),
    )
