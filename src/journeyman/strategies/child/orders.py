"""What a child is told when it starts: which strategy, under which limits."""

from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, kw_only=True, slots=True)
class Orders:
    """All that a child knows of the daemon; paths are absolute texts."""

    strategy: str
    """Its name."""
    file: str
    """Where it is loaded from."""
    distribution: str
    """The installed package that it is loaded from instead; empty: from `file`."""
    params: dict[str, bool | int | float | str]
    home: str
    """The child's own empty folder: working directory, HOME and `ctx.workspace`."""
    private: tuple[str, ...]
    """Folders that it must not reach: the daemon's data directory."""
    files: tuple[str, ...]
    """Paths that its `needs` name."""
    hosts: tuple[str, ...]
    """Hosts that its `needs` name; empty: no network."""
    daemon: tuple[int, ...]
    """The daemon's process and process group, which it must not signal."""
    cpu_seconds: float
    """Of one run."""
    memory_mb: int
    file_mb: int
    open_files: int
    processes: int
    log_bytes: int
    """Of the log, for one run."""

    def as_message(self) -> dict[str, Any]:
        """Give it as JSON."""
        return asdict(self)

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> Self:
        """Read it back."""
        lists = ("private", "files", "hosts", "daemon")
        return cls(**message | {name: tuple(message[name]) for name in lists})
