"""The sandbox of `journeyman run --sandbox`: it lives in the daemon's data directory.

Its port is chosen once and kept, since an agent belongs to one address for ever.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from journeyman.cli.processes import sandbox
from journeyman.domain.errors import AlreadyRunningError
from journeyman.journal import DataDirectory

ANY_PORT = "0"


@asynccontextmanager
async def own_sandbox(directory: DataDirectory) -> AsyncIterator[str]:
    """Run the sandbox that belongs to a data directory; give its address.

    Raises:
        AlreadyRunningError: a daemon holds the data directory, and its sandbox.
        StateError: the data directory cannot be used.
        ChildFailedError: the sandbox did not start.
    """
    directory.prepare()
    _require_free(directory)
    port = directory.path / "sandbox.port"
    arguments = ["--data", str(directory.path / "sandbox.db"), "--refill"]
    arguments += ["--port", port.read_text().strip() if port.exists() else ANY_PORT]
    async with sandbox(arguments, directory.path / "sandbox.log") as base_url:
        port.write_text(f"{urlsplit(base_url).port}\n")
        yield base_url


def _require_free(directory: DataDirectory) -> None:
    """Refuse here: a second sandbox would only say that its port is taken."""
    holder = directory.held_by()
    if holder is not None:
        raise AlreadyRunningError(
            f"another journeyman (process {holder}) uses the data directory "
            f"{directory.path}",
            "Stop it first, or give this one its own --data-dir.",
        )
