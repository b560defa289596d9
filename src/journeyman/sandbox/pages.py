"""Web pages for people: the home page, and the payment pages of checkouts."""

from collections.abc import Iterable, Mapping
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
_EYEBROW = '<p class="eyebrow">Sandbox checkout</p>\n'
_HOME = '<p><a href="/">About this sandbox</a></p>'


def html_document(title: str, body: str) -> str:
    """Return a whole document; `body` is HTML, and `title` plain text."""
    style = (files("journeyman.sandbox") / "data" / "page.css").read_text("utf-8")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def html_page(title: str, body: str, status: int = 200) -> HTMLResponse:
    """Answer with a page that may not load, embed or send anything from elsewhere."""
    return HTMLResponse(html_document(title, body), status, _HEADERS)


def _facts(rows: Iterable[tuple[str, str | int, str]]) -> str:
    """List names with values and details; a detail may be empty."""
    return "<dl>\n" + "".join(_fact(*row) for row in rows) + "</dl>"


def home_page(
    origin: str, ledger: dict[str, Any], links: list[tuple[str, str]]
) -> HTMLResponse:
    """Show what this is, how to start an agent on it, and its ledger.

    Args:
        origin: the address that agents are given.
        ledger: as `/sandbox/ledger` shows it.
        links: addresses with their texts.
    """
    items = "\n".join(
        f'<li><a href="{escape(address)}">{escape(text)}</a></li>'
        for address, text in links
    )
    body = (
        '<p class="eyebrow">Agent Network Service</p>\n<h1>A sandbox</h1>\n'
        "<p>A network for autonomous agents on this machine, to test agents on: it "
        "registers agents, lists tasks, checks their results and pays for them. "
        "No real money is involved.</p>\n<h2>Start an agent on it</h2>\n"
        f"<pre><code>journeyman run --base-url {escape(origin)}</code></pre>\n"
        f"{_tasks(ledger)}\n{_ledger(ledger)}\n"
        f'<h2>More pages</h2>\n<nav aria-label="Pages">\n<ul>\n{items}\n</ul>\n'
        "</nav>"
    )
    return html_page("Agent network sandbox", body)


def _tasks(ledger: dict[str, Any]) -> str:
    rows = [(state.capitalize(), count, "") for state, count in ledger["tasks"].items()]
    return f"<h2>Tasks</h2>\n{_facts(rows)}"


def _ledger(ledger: dict[str, Any]) -> str:
    state = "balances" if ledger["balanced"] else "does not balance"
    created, balances = ledger["created"], ledger["balances"]
    rows = [
        ("Starter credits granted", created["starter_grants"], ""),
        ("Credits bought", created["paid_checkouts"], ""),
        ("Credits of agents", balances["agents"], ""),
        ("Credits in escrow", balances["escrow"], ""),
    ]
    return f"<h2>The ledger {state}</h2>\n{_facts(rows)}"


def _fact(name: str, value: str | int, detail: str) -> str:
    shown = f"{value:,}" if isinstance(value, int) else escape(value)
    second = f"<small>{escape(detail)}</small>" if detail else ""
    return f"<div><dt>{escape(name)}</dt><dd>{shown}{second}</dd></div>\n"


def checkout_page(checkout: Mapping[str, Any]) -> HTMLResponse:
    """Show an open session with its two forms, or how it ended."""
    if checkout["status"] != "open":
        return result_page(checkout, note="")
    action = f"/checkout/{escape(checkout['session'])}"
    price = _dollars(checkout["cents"])
    body = (
        f"{_EYEBROW}<h1>{escape(checkout['label'])}</h1>\n"
        f'<p class="amount">{price}</p>\n{_facts(_order(checkout))}\n'
        '<div class="actions">\n'
        f'<form method="post" action="{action}/pay">'
        f'<button class="pay">Pay {price}</button></form>\n'
        f'<form method="post" action="{action}/cancel">'
        "<button>Cancel</button></form>\n</div>\n"
        '<p class="note">This is a sandbox: no real money is involved.</p>'
    )
    return html_page(f"Pay {price} - sandbox checkout", body)


def result_page(
    checkout: Mapping[str, Any],
    note: str,
    status: int = 200,
) -> HTMLResponse:
    """Show how a session ended; `note` is plain text about this request."""
    heading, badge, text = _ending(checkout)
    hint = f'<p class="notice">{escape(note)}</p>\n' if note else ""
    rows = [
        ("Product", checkout["label"], ""),
        ("Price", _dollars(checkout["cents"]), ""),
        *_order(checkout),
    ]
    body = f"{_EYEBROW}<h1>{heading}</h1>\n{badge}{hint}<p>{escape(text)}</p>\n"
    return html_page(
        f"{heading} - sandbox checkout", f"{body}{_facts(rows)}\n{_HOME}", status
    )


def no_checkout_page() -> HTMLResponse:
    """Show that there is no such session."""
    body = (
        f"{_EYEBROW}<h1>No such checkout</h1>\n"
        "<p>This sandbox has no checkout session with this address. The address may be "
        "incomplete, or the data of its sandbox is gone. Create a new checkout.</p>\n"
        f"{_HOME}"
    )
    return html_page("No such checkout", body, status=404)


def _ending(checkout: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the heading, a badge (HTML) and a sentence about how it ended."""
    if checkout["status"] == "paid":
        return (
            "Paid",
            '<p class="badge">Credits added</p>\n',
            f"{checkout['credits']:,} credits were added to {checkout['name']}.",
        )
    if checkout["status"] == "expired":
        return (
            "Expired",
            '<p class="badge warn">Not charged</p>\n',
            "Nobody paid in time, so nothing was charged. Ask for a new checkout.",
        )
    return (
        "Cancelled",
        '<p class="badge warn">Not charged</p>\n',
        "Nothing was charged, and no credits were added.",
    )


def _order(checkout: Mapping[str, Any]) -> list[tuple[str, str | int, str]]:
    return [
        ("Credits", checkout["credits"], ""),
        ("Plan", checkout["plan"].replace("_", " ").capitalize(), ""),
        ("For agent", checkout["name"], checkout["agent_id"]),
    ]


def _dollars(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"
