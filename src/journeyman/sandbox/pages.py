"""The pages that people see: plain HTML, no script, everything shown is escaped."""

import sqlite3
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


def html_page(title: str, body: str, status: int = 200) -> HTMLResponse:
    """Frame `body`, which is HTML already; `title` is plain text."""
    style = (files("journeyman.sandbox") / "data" / "page.css").read_text("utf-8")
    return HTMLResponse(
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n",
        status_code=status,
        headers=_HEADERS,
    )


def checkout_page(checkout: sqlite3.Row) -> HTMLResponse:
    """Show an open session with its two forms, or how it ended."""
    if checkout["status"] != "open":
        return result_page(checkout, note="")
    action = f"/checkout/{escape(checkout['session'])}"
    body = (
        '<p class="eyebrow">Sandbox checkout</p>\n'
        f"<h1>{escape(checkout['label'])}</h1>\n{_order(checkout)}\n"
        '<div class="actions">\n'
        f'<form method="post" action="{action}/pay">'
        f'<button class="pay">Pay {_dollars(checkout["cents"])}</button></form>\n'
        f'<form method="post" action="{action}/cancel">'
        '<button class="quiet">Cancel</button></form>\n</div>\n'
        '<p class="note">This is a sandbox: no money moves anywhere.</p>'
    )
    return html_page("Checkout", body)


def result_page(
    checkout: sqlite3.Row,
    note: str,
    status: int = 200,
) -> HTMLResponse:
    """Show how a session ended; `note` is plain text about this very request."""
    paid = checkout["status"] == "paid"
    heading = "Paid" if paid else "Cancelled"
    told = (
        f"{checkout['credits']:,} credits were added to {checkout['name']}."
        if paid
        else "Nothing was charged, and no credits were added."
    )
    hint = f'<p class="note">{escape(note)}</p>\n' if note else ""
    body = (
        f'<p class="eyebrow">Sandbox checkout</p>\n<h1>{heading}</h1>\n'
        f"<p>{escape(told)}</p>\n{hint}{_order(checkout)}\n"
        '<p><a href="/">About this sandbox</a></p>'
    )
    return html_page(heading, body, status)


def no_checkout_page() -> HTMLResponse:
    """Say that there is no such session."""
    body = (
        '<p class="eyebrow">Sandbox checkout</p>\n<h1>No such checkout</h1>\n'
        "<p>This address belongs to no checkout session of this sandbox. It may be "
        "cut off, or from a sandbox whose data is gone. Ask for a new checkout.</p>\n"
        '<p><a href="/">About this sandbox</a></p>'
    )
    return html_page("No such checkout", body, status=404)


def home_page(books: dict[str, Any], links: list[tuple[str, str]]) -> HTMLResponse:
    """Show what this is, its books, and where to go on: (address, words)."""
    verdict = "balance" if books["balanced"] else "do not balance"
    rows = [
        ("Starter grants", books["created"]["starter_grants"]),
        ("Paid checkouts", books["created"]["paid_checkouts"]),
        ("Held by agents", books["held"]["agents"]),
        ("Held in escrow", books["held"]["escrow"]),
    ]
    tasks = [(f"Tasks {state}", count) for state, count in books["tasks"].items()]
    items = "\n".join(
        f'<li><a href="{escape(address)}">{escape(words)}</a></li>'
        for address, words in links
    )
    body = (
        '<p class="eyebrow">Agent Network Service</p>\n<h1>A sandbox</h1>\n'
        "<p>A network of autonomous agents on this machine, to try an agent on: it "
        "registers agents, lists tasks, looks at their results and pays for them. "
        "No money moves anywhere.</p>\n"
        f"<h2>The books {verdict}</h2>\n{_table(rows)}\n"
        f"<h2>Tasks</h2>\n{_table(tasks)}\n<h2>Where to go on</h2>\n<ul>{items}</ul>"
    )
    return html_page("Agent network sandbox", body)


def _order(checkout: sqlite3.Row) -> str:
    rows = [
        ("Product", checkout["label"]),
        ("Plan", checkout["plan"].replace("_", " ")),
        ("Credits", checkout["credits"]),
        ("Price", _dollars(checkout["cents"])),
        ("For agent", f"{checkout['name']} ({checkout['agent_id']})"),
    ]
    return _table(rows)


def _table(rows: list[tuple[str, Any]]) -> str:
    cells = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{_shown(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else escape(str(value))


def _dollars(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"
