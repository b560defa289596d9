"""`journeyman events`: the catalogue of log events."""

import importlib
from pathlib import Path
from typing import Annotated

import typer

from journeyman.cli.output import answer, table, write_reference
from journeyman.cli.session import Session, command

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
    from journeyman.observability.events import CATALOGUE, render_reference

    _import_all()
    if write:
        write_reference(REFERENCE, render_reference())
        return
    found = [CATALOGUE[name] for name in sorted(CATALOGUE)]
    answer(
        as_json=session.as_json,
        data=[
            {
                "event": event.name,
                "level": event.level,
                "fields": sorted(event.fields),
                "meaning": event.meaning,
                "action": event.action,
            }
            for event in found
        ],
        show=lambda: table(
            ["event", "level", "meaning"],
            [[event.name, event.level, event.meaning] for event in found],
        ),
    )


def _import_all() -> None:
    """Fill the catalogue: each package declares its events in its `events.py`."""
    import journeyman

    source = Path(journeyman.__file__).parent
    for file in sorted(source.rglob("events.py")):
        parts = file.relative_to(source).with_suffix("").parts
        importlib.import_module(".".join(("journeyman", *parts)))
