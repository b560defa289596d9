"""`journeyman config show`: every setting, and where its value came from."""

from dataclasses import asdict
from typing import Annotated

import typer

from journeyman.cli.output import answer, table
from journeyman.cli.session import Session, command


@command("show", example="journeyman config show --origin")
def show_config(
    session: Session,
    *,
    origin: Annotated[
        bool,
        typer.Option("--origin", help="Tell where each value came from."),
    ] = False,
) -> None:
    """Show the settings in force; secrets are hidden."""
    from journeyman.settings.describe import rows

    found = rows(session.load())
    columns = ["setting", "value", *(["origin"] if origin else [])]

    def show() -> None:
        cells = [[row.key, row.value, row.origin][: len(columns)] for row in found]
        table(columns, cells)

    answer(as_json=session.as_json, data=list(map(asdict, found)), show=show)
