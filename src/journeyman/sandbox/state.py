"""What a running sandbox consists of."""

import sqlite3
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from journeyman.sandbox.ambient import Ambient
from journeyman.sandbox.material import Material, load_material
from journeyman.sandbox.options import SandboxOptions
from journeyman.sandbox.store import open_database, transaction


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """The parts that every operation works on."""

    db: sqlite3.Connection
    options: SandboxOptions
    ambient: Ambient
    material: Material = field(repr=False)

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Begin one; see `store.transaction`."""
        return transaction(self.db)

    def now(self) -> str:
        """The time as the sandbox writes it, such as 2026-11-21T10:00:00Z."""
        return self.ambient.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def new_id(self, prefix: str) -> str:
        """Make an identifier that nobody can guess."""
        return f"{prefix}_{self.ambient.new_token()[:24]}"


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
