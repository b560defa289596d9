"""`journeyman explain CODE`: what a problem means, why, and what to write instead."""

import difflib
import re
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from journeyman.cli.output import answer, say, table, write_reference
from journeyman.cli.session import Session, command
from journeyman.domain.errors import UsageError

REFERENCE = Path("docs/reference/strategy-errors.md")
WIDTH = 88
"""Characters in a line of prose."""


@command("explain", example="journeyman explain E102", settings=False)
def explain(
    session: Session,
    code: Annotated[
        str, typer.Argument(metavar="CODE", help="Such as E102; none lists them all.")
    ] = "",
    *,
    write: Annotated[
        bool,
        typer.Option("--write", help=f"Write {REFERENCE} (for developers)."),
    ] = False,
) -> None:
    """Explain a problem code of strategies, with an example."""
    from journeyman.strategies.loading.problems import render_page

    if write:
        write_reference(REFERENCE, render_page())
    elif code:
        _explain(session, code)
    else:
        _list(session)


def _explain(session: Session, code: str) -> None:
    from journeyman.strategies.loading import problems as explaining
    from journeyman.strategies.loading.problems import CODES

    found = explaining.explain(code)
    if found is None:
        near = difflib.get_close_matches(code.upper(), CODES, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise UsageError(
            f"there is no problem code {code!r}",
            f"{hint}`journeyman explain` lists them all.",
        )
    data = {"code": found.code, "meaning": found.meaning, "text": found.text}

    def show() -> None:
        say(f"{found.code}: {found.meaning}")
        say()
        say(_plain(found.text))

    answer(as_json=session.as_json, data=data, show=show)


def _plain(text: str) -> str:
    """Make Markdown readable in a terminal: lines of fair length, code indented."""
    parts = re.split(r"^```\w*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    prose, code = parts[::2], parts[1::2]
    told = [_wrapped(part) for part in prose]
    shown = [*(textwrap.indent(part.rstrip(), "    ") for part in code), ""]
    both = zip(told, shown, strict=True)
    return "\n\n".join(part for pair in both for part in pair if part)


def _wrapped(text: str) -> str:
    paragraphs = (part.removeprefix("## ") for part in text.strip().split("\n\n"))
    return "\n\n".join(textwrap.fill(part, WIDTH) for part in paragraphs)


def _list(session: Session) -> None:
    from journeyman.strategies.loading.problems import CODES

    answer(
        as_json=session.as_json,
        data=CODES,
        show=lambda: table(["code", "meaning"], list(map(list, CODES.items()))),
    )
