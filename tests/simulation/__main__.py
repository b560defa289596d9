"""The simulation as a command: `python -m tests.simulation simulate --help`."""

import sys
from collections.abc import Sequence

import typer
from tests.simulation.command import simulate
from tests.simulation.trial_command import trial

from journeyman.cli.app import run_app

NAME = "python -m tests.simulation"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    for command in (simulate, trial):
        epilog = f"Example: {command.example}"
        app.command(command.name, help=command.help, epilog=epilog)(command.entry)
    given = list(sys.argv[1:] if arguments is None else arguments)
    return run_app(app, given or ["--help"], NAME)


if __name__ == "__main__":
    sys.exit(main())
