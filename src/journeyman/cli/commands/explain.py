"""`journeyman explain CODE`: what a problem means, why, and what to write instead."""

import re
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from journeyman.cli.output import did_you_mean, print_table, write_reference
from journeyman.cli.session import Session, command
from journeyman.domain.errors import UsageError
from journeyman.strategies.loading import problems

REFERENCE = Path("docs/reference/strategy-errors.md")
WIDTH = 88
"""Characters in a line of prose."""


@command("explain", example="journeyman explain E102", settings=False)
def explain(
    session: Session,
    code: Annotated[
        str, typer.Argument(metavar="CODE", help="Such as E102; none: list them all.")
    ] = "",
    *,
    write: Annotated[
        bool,
        typer.Option("--write", help=f"Write {REFERENCE} (for developers)."),
    ] = False,
) -> None:
    """Explain a problem code of strategies, with an example."""
    if write:
        write_reference(REFERENCE, problems.render_page())
    elif code:
        _explain(session, code)
    else:
        rows = [[each, meaning] for each, meaning in problems.CODES.items()]
        session.answer(
            problems.CODES,
            lambda: print_table(["code", "meaning"], rows, texts=["meaning"]),
        )


def _explain(session: Session, code: str) -> None:
    found = problems.explain(code)
    if found is None:
        hint = did_you_mean(code.upper(), problems.CODES, cutoff=0.5)
        raise UsageError(
            f"there is no problem code {code!r}",
            f"{hint}`journeyman explain` lists them all.",
        )
    data = {"code": found.code, "meaning": found.meaning, "text": found.text}
    text = f"{found.code}: {found.meaning}\n\n{_plain(found.text)}"
    session.answer(data, lambda: print(text))


def _plain(markdown: str) -> str:
    """Make Markdown readable in a terminal: wrap prose and indent code."""
    parts = re.split(r"^```\w*\n(.*?)^```$", markdown, flags=re.MULTILINE | re.DOTALL)
    shown = [
        textwrap.indent(part.rstrip(), "    ") if number % 2 else _wrapped(part)
        for number, part in enumerate(parts)
    ]
    return "\n\n".join(filter(None, shown))


def _wrapped(text: str) -> str:
    paragraphs = (part.removeprefix("## ") for part in text.strip().split("\n\n"))
    return "\n\n".join(textwrap.fill(part, WIDTH) for part in paragraphs)
