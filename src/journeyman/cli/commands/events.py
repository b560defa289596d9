"""`journeyman events`: the catalogue of log events."""

import importlib
from pathlib import Path
from typing import Annotated

import typer

import journeyman
from journeyman.cli.output import print_table, write_reference
from journeyman.cli.session import Session, command
from journeyman.observability.events import CATALOGUE, render_reference

REFERENCE = Path("docs/reference/events.md")


@command("events", example="journeyman events", settings=False)
def events(
    session: Session,
    *,
    write: Annotated[
        bool,
        typer.Option("--write", help=f"Write {REFERENCE} (for developers)."),
    ] = False,
) -> None:
    """List every event that the daemon can log."""
    fill_catalogue()
    if write:
        write_reference(REFERENCE, render_reference())
        return
    found = [CATALOGUE[name] for name in sorted(CATALOGUE)]
    data = [
        {
            "event": event.name,
            "level": event.level,
            "fields": sorted(event.fields),
            "meaning": event.meaning,
            "action": event.action,
        }
        for event in found
    ]
    rows = [[event.name, event.level, event.meaning] for event in found]
    session.answer(
        data,
        lambda: print_table(
            ["event", "level", "meaning"], rows, texts=["meaning"], drop=["level"]
        ),
    )


def fill_catalogue() -> None:
    """Import each package's `events.py`, which declares its events."""
    source = Path(journeyman.__file__).parent
    for file in sorted(source.rglob("events.py")):
        parts = file.relative_to(source).with_suffix("").parts
        importlib.import_module(".".join(("journeyman", *parts)))
