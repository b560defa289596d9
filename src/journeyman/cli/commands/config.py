"""`journeyman config show`: every setting, and where its value came from."""

from dataclasses import asdict
from typing import Annotated

import typer

from journeyman.cli.output import print_table
from journeyman.cli.session import Session, command
from journeyman.settings.describe import rows


@command("show", example="journeyman config show --origin")
def show_config(
    session: Session,
    *,
    origin: Annotated[
        bool,
        typer.Option("--origin", help="Show where each value came from."),
    ] = False,
) -> None:
    """Show the current settings; secrets are hidden."""
    found = rows(session.load())
    columns = ["setting", "value", "origin"][: 3 if origin else 2]
    cells = [[row.key, row.value, row.origin][: len(columns)] for row in found]
    data = [asdict(row) for row in found]
    session.answer(data, lambda: print_table(columns, cells))
