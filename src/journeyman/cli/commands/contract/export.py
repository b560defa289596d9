"""`journeyman contract export`: an OpenAPI document of this network."""

import json
from pathlib import Path
from typing import Annotated

import typer

from journeyman.cli.command import command
from journeyman.cli.commands.contract.records import learned
from journeyman.cli.output import answer, say
from journeyman.cli.session import Session
from journeyman.domain.errors import StateError


@command("export", example="journeyman contract export --output network.openapi.json")
def export_contract(
    session: Session,
    *,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it there, instead of to stdout."),
    ] = None,
) -> None:
    """Write the contract as OpenAPI 3.1, filled in with what was learned.

    What the contract does not show is marked `x-learned`. No value of any body is in
    it, so it can be given to others.
    """
    from journeyman.network import openapi_document

    found = learned(session)
    document = openapi_document(found.records, found.network)
    text = json.dumps(document, indent=2)
    if output is None:
        say(text)
        return
    _write(output, f"{text}\n")
    data = {"file": str(output), "endpoints_seen": len(found.records)}
    answer(
        as_json=session.as_json,
        data=data,
        show=lambda: say(
            f"{output}: 10 endpoints, {len(found.records)} of them seen at work."
        ),
    )


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise StateError(
            f"the document could not be written to {file}: {error.strerror}",
            "Name a file in a directory that this user can write.",
        ) from error
