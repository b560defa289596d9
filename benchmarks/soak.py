"""Let the daemon work for a while, and see whether anything of it grows.

It works at full speed on the benchmark's network; every so often its memory, its open
files and the bytes that its journal has for each task are printed.

    make soak
    .venv/bin/python benchmarks/soak.py --seconds 300 --every 30
"""

import argparse
import tempfile
from pathlib import Path

import anyio
from daemons import daemon  # type: ignore[import-not-found] # beside this file
from throughput import server  # type: ignore[import-not-found] # beside this file

from journeyman.observability.events import Event, Log

PAGE = 200


class CountingLog:
    """A log that counts the tasks that were completed."""

    def __init__(self, log: Log, done: list[int]) -> None:
        self._log, self._done = log, done

    def emit(self, event: Event, **fields: object) -> None:
        """Write one event, and count it if it is an end."""
        self._done[0] += event.name == "task.completed"
        self._log.emit(event, **fields)

    def bind(self, **context: object) -> "CountingLog":
        """Return a log that adds these fields, and counts with this one."""
        return CountingLog(self._log.bind(**context), self._done)


async def soak(url: str, seconds: float, every: float) -> None:
    """Work so long, and print how it stands every so often."""
    with tempfile.TemporaryDirectory() as name:
        folder, done = Path(name), [0]
        async with anyio.create_task_group() as group:
            group.start_soon(
                daemon,
                url,
                folder,
                lambda log: CountingLog(log, done),
                {"network.limit": PAGE},
            )
            print("| s | tasks | tasks/s | memory, MB | open files | KB a task |")
            print("|---|---|---|---|---|---|")
            for number in range(1, int(seconds / every) + 1):
                before = done[0]
                await anyio.sleep(every)
                rate = (done[0] - before) / every
                print(row(folder, number * every, done[0], rate), flush=True)
            group.cancel_scope.cancel()


def row(folder: Path, passed: float, done: int, rate: float) -> str:
    """Return one line of the table."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len([*Path("/proc/self/fd").iterdir()])
    size = sum(one.stat().st_size for one in folder.glob("journal.db*"))
    figures = f"{passed:.0f} | {done} | {rate:.0f} | {pages * 4096 / 1e6:.0f}"
    return f"| {figures} | {files} | {size / 1000 / max(done, 1):.1f} |"


def main() -> None:
    """Read the command line, and work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--every", type=float, default=30)
    chosen = parser.parse_args()
    with server() as url:
        anyio.run(soak, url, chosen.seconds, chosen.every)


if __name__ == "__main__":
    main()
