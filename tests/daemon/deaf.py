"""A process whose event loop a strategy's file stops: `deaf.py STACK FILE SECONDS`."""

import runpy
import sys
from pathlib import Path

import anyio

from journeyman.daemon.system import SystemClock
from journeyman.daemon.watchdog import Watchdog


async def main() -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(watchdog.run, Path(sys.argv[1]), SystemClock())
        await anyio.sleep(0.1)
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        runpy.run_path(sys.argv[2])["stop_the_loop"]()
        await anyio.sleep(1)
        group.cancel_scope.cancel()


if __name__ == "__main__":
    silent = float(sys.argv[3])
    with Watchdog(silent_seconds=silent, tick_seconds=silent / 10) as watchdog:
        anyio.run(main)
