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
    """Show the files that were read and the current settings; secrets are hidden."""
    loaded = session.load()
    found = rows(loaded)
    columns = ["setting", "value", "origin"][: 3 if origin else 2]
    cells = [[row.key, row.value, row.origin][: len(columns)] for row in found]

    def show() -> None:
        print("Files read:", ", ".join(map(str, loaded.files)) or "none")
        for path in loaded.ignored_files:
            print(f"Not read: {path}. To read it as well, add --config {path}")
        print_table(columns, cells, texts=["value"], drop=["origin"])

    data = {
        "files": loaded.files,
        "ignored_files": loaded.ignored_files,
        "settings": [asdict(row) for row in found],
    }
    session.answer(data, show)
