"""The command line: one file per command under `commands`; parse, call, print."""

import gc
import os
import sys
from collections.abc import Sequence

from journeyman.cli.healthcheck import answer_at_once


def start() -> int:
    """Run one command as a process of its own; return its exit code.

    No garbage is looked for while it imports and at its end, which would take a quarter
    of a short command's time; `Session` has the collector begin before the command.
    """
    gc.disable()
    try:
        return main()
    finally:
        gc.freeze()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code (docs/reference/cli.md lists them)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["health"]:
        code = answer_at_once(given[1:], os.environ)
        if code is not None:
            return code
    from journeyman.cli.app import run_command

    return run_command(given)
