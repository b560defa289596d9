"""The daemon as the benchmarks run it: its journal and its log on disk."""

from collections.abc import Callable, Mapping
from pathlib import Path

from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.environment import Environment
from journeyman.daemon.strategies import ready_strategies
from journeyman.daemon.system import (
    SystemClock,
    SystemRandomness,
    collect_garbage_seldom,
)
from journeyman.observability.events import Log
from journeyman.observability.logging import build_log
from journeyman.observability.redaction import Redactor
from journeyman.settings.sources import load_settings


async def daemon(
    url: str,
    folder: Path,
    observe: Callable[[Log], Log],
    settings: Mapping[str, object],
) -> None:
    """Run a daemon until it ends or is cancelled.

    `observe` returns a log that sees each event and hands it on.
    """
    overrides = {
        "network.base_url": url,
        "data.directory": str(folder),
        "strategies.directory": str(ready_strategies()),
        **settings,
    }
    loaded = load_settings(files=(), overrides=overrides, environ={}, cwd=folder)
    clock, redactor = SystemClock(), Redactor()
    with (folder / "daemon.log").open("w") as stream:
        log = build_log(
            stream=stream, format="json", level="info", now=clock.now, secrets=redactor
        )
        environment = Environment(
            clock=clock,
            randomness=SystemRandomness(),
            log=observe(log),
            redactor=redactor,
        )
        collect_garbage_seldom()  # as `journeyman run` does
        await run_daemon(loaded.settings, url, environment)
