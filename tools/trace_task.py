"""Follows one task from listing to completion: which files and functions it enters.

    python tools/trace_task.py [--files] [--functions]

The real daemon works in a sandbox in the same process, one task after the other. What
is counted is one whole round, from the completion of a task to the completion of the
next: the listing, the choice, the claim, the run, the submission, the completion. A
coroutine that is resumed counts again. The sandbox's own code does not count.
"""

import argparse
import io
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType

import anyio
import httpx2 as httpx

import journeyman
from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.environment import Environment
from journeyman.daemon.system import SystemClock, SystemRandomness
from journeyman.observability.events import Event, Log
from journeyman.observability.logging import build_log
from journeyman.observability.redaction import Redactor
from journeyman.sandbox import SandboxOptions, create_app
from journeyman.settings.sources import load_settings

PACKAGE = Path(journeyman.__file__).parent
STRATEGIES = PACKAGE.parents[1] / "strategies"
URL = "http://sandbox.test"
WARM_UP = 20
"""Tasks that are completed first, so that the start is over."""


class Trace:
    """Counts calls between two completions of tasks."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self._completed = 0

    def on_completed(self) -> None:
        """Begin and end with the completion of a task."""
        self._completed += 1
        if self._completed == WARM_UP:
            sys.setprofile(self._count)
        elif self._completed == WARM_UP + 1:
            sys.setprofile(None)

    def _count(self, frame: FrameType, kind: str, _argument: object) -> None:
        if kind != "call":
            return
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(PACKAGE) and "sandbox" not in file.parts:
            place = str(file.relative_to(PACKAGE))
            self.calls[place, frame.f_code.co_qualname] += 1


class TracingLog:
    """The real log, which tells a trace when a task is completed."""

    def __init__(self, log: Log, trace: Trace) -> None:
        self._log, self._trace = log, trace

    def bind(self, **context: object) -> "TracingLog":
        """Return a log whose every line has this context."""
        return TracingLog(self._log.bind(**context), self._trace)

    def emit(self, event: Event, **fields: object) -> None:
        """Write the line, then look which event it was."""
        self._log.emit(event, **fields)
        if event.name == "task.completed":
            self._trace.on_completed()


async def follow(folder: Path) -> Trace:
    """Run a daemon for a few tasks, and return the trace of the last one."""
    trace, redactor, clock = Trace(), Redactor(), SystemClock()
    log = build_log(
        stream=io.StringIO(),
        format="json",
        level="info",
        now=clock.now,
        secrets=redactor,
    )
    app = create_app(SandboxOptions(tasks=1, kinds=("word_count",), refill=True))
    settings = load_settings(
        environ={},
        cwd=folder,
        overrides={
            "data.directory": str(folder / "data"),
            "network.base_url": URL,
            "strategies.directory": str(STRATEGIES),
            "work.slots": "1",
            "work.max_tasks": str(WARM_UP + 1),
            "schedule.discover_every_seconds": "1",
        },
    ).settings
    environment = Environment(
        clock=clock,
        randomness=SystemRandomness(),
        log=TracingLog(log, trace),
        redactor=redactor,
        transport=httpx.ASGITransport(app),
    )
    async with app.router.lifespan_context(app):
        with anyio.fail_after(60):
            await run_daemon(settings, URL, environment)
    return trace


def main() -> None:
    """Print how many files, functions and calls; and which, if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="list the files")
    parser.add_argument("--functions", action="store_true", help="list the functions")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trace = anyio.run(follow, Path(folder))
    by_file: Counter[str] = Counter()
    for (file, _), calls in trace.calls.items():
        by_file[file] += calls
    print(
        f"{len(by_file)} files, {len(trace.calls)} functions, "
        f"{trace.calls.total()} calls"
    )
    if wanted.files:
        for file, calls in by_file.most_common():
            print(f"{calls:6} {file}")
    if wanted.functions:
        for (file, name), calls in trace.calls.most_common():
            print(f"{calls:6} {file} {name}")


if __name__ == "__main__":
    main()
