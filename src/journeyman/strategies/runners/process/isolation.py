"""How strategies are kept apart: the limits of one child, and how many wait warm."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Isolation:
    """The owner's limits; a strategy's own `needs` go before where they say so."""

    cpu_seconds: float = 300.0
    """Of one run, for each of its processes."""
    memory_mb: int = 512
    """Of each process, and of all of a child's together; `needs.memory_mb` goes
    before."""
    file_mb: int = 256
    """The largest file that it may write."""
    open_files: int = 256
    processes: int = 32
    """How many it may start beside its own, at once."""
    output_bytes: int = 65_536
    """Of what one run prints, and of its log; the rest is dropped and counted."""
    warm_children: int = 2
    """How many may wait for a task, for each strategy; one is started ahead."""
    tasks_per_child: int = 100
    """After so many a child is replaced, so that what it leaks does not add up."""
    environment: tuple[str, ...] = ()
    """Variables that are passed on, beside the harmless ones."""
    homes: Path | None = None
    """Where children have their folders; None: the system's temporary folder."""
    private: tuple[Path, ...] = ()
    """Folders that no child may reach."""
