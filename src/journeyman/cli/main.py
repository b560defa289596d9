"""The entry point: runs a command and turns what goes wrong into one message."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

import typer

from journeyman.cli.app import build_app
from journeyman.cli.command import OutputClosedError
from journeyman.cli.complaint import Complaint, complaint_about

INTERRUPTED = 130
"""128 + SIGINT: what shells expect of a program that Ctrl-C ended."""
DEBUG = "JOURNEYMAN_DEBUG"
"""Set in the environment, it adds the traceback to a message about a bug."""
PIPE_CLOSED = 141
"""128 + SIGPIPE: the reader, such as `head`, had enough."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give its exit code (docs/reference/cli.md lists them)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _survive_odd_encodings()
    try:
        return _run(given or ["--help"])
    except OutputClosedError:
        _forget_stdout()
        return PIPE_CLOSED


def _run(arguments: list[str]) -> int:
    try:
        # Without `standalone_mode`, what a command returns is handed back.
        code = build_app()(arguments, prog_name="journeyman", standalone_mode=False)
    except OutputClosedError:
        raise
    except KeyboardInterrupt:
        code = INTERRUPTED
    except typer.TyperException as error:
        return _tell(Complaint.about_usage(error), arguments)
    except Exception as error:  # noqa: BLE001 - a user gets a message, never a traceback
        return _tell(complaint_about(error), arguments)
    if code == INTERRUPTED:
        return _tell(Complaint.about_interruption(code), arguments)
    return code if isinstance(code, int) else 0


def _tell(complaint: Complaint, arguments: list[str]) -> int:
    """Complain on stderr, so that stdout holds answers and nothing else."""
    if complaint.details and not _wants_traceback(arguments):
        fix = f"{complaint.fix}\nTo see the traceback, set {DEBUG}=1 and run it again."
        complaint = replace(complaint, fix=fix, details="")
    as_json = "--json" in arguments
    print(complaint.as_json() if as_json else complaint.as_text(), file=sys.stderr)
    return complaint.exit_code


def _wants_traceback(arguments: list[str]) -> bool:
    """Spare people tracebacks, but not the log of a daemon: it will not fail again."""
    return bool(os.environ.get(DEBUG)) or arguments[:1] == ["run"]


def _survive_odd_encodings() -> None:
    r"""Write `\u2026` where a terminal has no such character, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """Let the interpreter flush into nothing at its end, where it would complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
