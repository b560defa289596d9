"""The real world around a command: the machine's clock, its chance, a log."""

import sys
from typing import Literal, TextIO

from journeyman.daemon.agent import World
from journeyman.daemon.system import SystemClock, SystemRandomness
from journeyman.observability.logging import build_log
from journeyman.observability.redaction import Redactor

Format = Literal["auto", "json", "text"]
Level = Literal["debug", "info", "warning", "error"]


def build_world(
    stream: TextIO | None = None,
    format: Format = "text",  # noqa: A002 - the name of the setting
    level: Level = "error",
) -> World:
    """Give a world that logs to `stream`; by default only errors, to stderr."""
    clock, redactor = SystemClock(), Redactor()
    log = build_log(
        stream=stream or sys.stderr,
        format=format,
        level=level,
        now=clock.now,
        secrets=redactor,
    )
    return World(
        clock=clock,
        randomness=SystemRandomness(),
        log=log,
        redactor=redactor,
    )
