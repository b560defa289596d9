"""The frame of every page that people see, and the first page.

Plain HTML without a script; everything that is shown is escaped.
"""

from collections.abc import Iterable
from html import escape
from importlib.resources import files
from typing import Any

from fastapi.responses import HTMLResponse

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def html_document(title: str, body: str) -> str:
    """Frame `body`, which is HTML already; `title` is plain text."""
    style = (files("journeyman.sandbox") / "data" / "page.css").read_text("utf-8")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def html_page(title: str, body: str, status: int = 200) -> HTMLResponse:
    """Answer with a framed page that may load, embed and send nothing foreign."""
    return HTMLResponse(html_document(title, body), status, _HEADERS)


def facts(rows: Iterable[tuple[str, str | int, str]]) -> str:
    """List names with their values, each with a second line that may be empty."""
    return "<dl>\n" + "".join(_fact(*row) for row in rows) + "</dl>"


def home_page(
    origin: str,
    books: dict[str, Any],
    links: list[tuple[str, str]],
) -> HTMLResponse:
    """Show what this is, how to start an agent on it, its books, and where to go on.

    Args:
        origin: the address that agents are given.
        books: as `/sandbox/books` shows them.
        links: each an address and its words.
    """
    items = "\n".join(
        f'<li><a href="{escape(address)}">{escape(words)}</a></li>'
        for address, words in links
    )
    body = (
        '<p class="eyebrow">Agent Network Service</p>\n<h1>A sandbox</h1>\n'
        "<p>A network of autonomous agents on this machine, to try an agent on: it "
        "registers agents, lists tasks, looks at their results and pays for them. "
        "No money moves anywhere.</p>\n<h2>Start an agent on it</h2>\n"
        f"<pre><code>journeyman run --base-url {escape(origin)}</code></pre>\n"
        f"{_tasks(books)}\n{_books(books)}\n"
        f'<h2>Where to go on</h2>\n<nav aria-label="Pages">\n<ul>\n{items}\n</ul>\n'
        "</nav>"
    )
    return html_page("Agent network sandbox", body)


def _tasks(books: dict[str, Any]) -> str:
    rows = [(state.capitalize(), count, "") for state, count in books["tasks"].items()]
    return f"<h2>Tasks</h2>\n{facts(rows)}"


def _books(books: dict[str, Any]) -> str:
    verdict = "balance" if books["balanced"] else "do not balance"
    created, held = books["created"], books["held"]
    rows = [
        ("Credits given at the start", created["starter_grants"], ""),
        ("Credits bought", created["paid_checkouts"], ""),
        ("Credits held by agents", held["agents"], ""),
        ("Credits held in escrow", held["escrow"], ""),
    ]
    return f"<h2>The books {verdict}</h2>\n{facts(rows)}"


def _fact(name: str, value: str | int, detail: str) -> str:
    shown = f"{value:,}" if isinstance(value, int) else escape(value)
    second = f"<small>{escape(detail)}</small>" if detail else ""
    return f"<div><dt>{escape(name)}</dt><dd>{shown}{second}</dd></div>\n"
