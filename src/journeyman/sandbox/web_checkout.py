"""The hosted payment page, and how a checkout ended."""

import sqlite3
from html import escape

from fastapi.responses import HTMLResponse

from journeyman.sandbox.pages import facts, html_page

_EYEBROW = '<p class="eyebrow">Sandbox checkout</p>\n'
_HOME = '<p><a href="/">About this sandbox</a></p>'


def checkout_page(checkout: sqlite3.Row) -> HTMLResponse:
    """Show an open session with its two forms, or how it ended."""
    if checkout["status"] != "open":
        return result_page(checkout, note="")
    action = f"/checkout/{escape(checkout['session'])}"
    price = _dollars(checkout["cents"])
    body = (
        f"{_EYEBROW}<h1>{escape(checkout['label'])}</h1>\n"
        f'<p class="amount">{price}</p>\n{facts(_order(checkout))}\n'
        '<div class="actions">\n'
        f'<form method="post" action="{action}/pay">'
        f'<button class="pay">Pay {price}</button></form>\n'
        f'<form method="post" action="{action}/cancel">'
        "<button>Cancel</button></form>\n</div>\n"
        '<p class="note">This is a sandbox: no money moves anywhere.</p>'
    )
    return html_page(f"Pay {price} - sandbox checkout", body)


def result_page(
    checkout: sqlite3.Row,
    note: str,
    status: int = 200,
) -> HTMLResponse:
    """Show how a session ended; `note` is plain text about this very request."""
    heading, badge, told = _ending(checkout)
    hint = f'<p class="notice">{escape(note)}</p>\n' if note else ""
    rows = [
        ("Product", checkout["label"], ""),
        ("Price", _dollars(checkout["cents"]), ""),
        *_order(checkout),
    ]
    body = f"{_EYEBROW}<h1>{heading}</h1>\n{badge}{hint}<p>{escape(told)}</p>\n"
    return html_page(
        f"{heading} - sandbox checkout", f"{body}{facts(rows)}\n{_HOME}", status
    )


def no_checkout_page() -> HTMLResponse:
    """Say that there is no such session."""
    body = (
        f"{_EYEBROW}<h1>No such checkout</h1>\n"
        "<p>This address belongs to no checkout session of this sandbox. It may be "
        "cut off, or from a sandbox whose data is gone. Ask for a new checkout.</p>\n"
        f"{_HOME}"
    )
    return html_page("No such checkout", body, status=404)


def _ending(checkout: sqlite3.Row) -> tuple[str, str, str]:
    """Say how it ended: the heading, a badge (HTML) and a sentence."""
    if checkout["status"] == "paid":
        return (
            "Paid",
            '<p class="badge">Credits added</p>\n',
            f"{checkout['credits']:,} credits were added to {checkout['name']}.",
        )
    return (
        "Cancelled",
        '<p class="badge warn">Not charged</p>\n',
        "Nothing was charged, and no credits were added.",
    )


def _order(checkout: sqlite3.Row) -> list[tuple[str, str | int, str]]:
    return [
        ("Credits", checkout["credits"], ""),
        ("Plan", checkout["plan"].replace("_", " ").capitalize(), ""),
        ("For agent", checkout["name"], checkout["agent_id"]),
    ]


def _dollars(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"
