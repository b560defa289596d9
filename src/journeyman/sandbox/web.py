"""What the sandbox serves beside the contract: pages, books and documents."""

import sqlite3
from collections.abc import Awaitable, Callable
from html import escape
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from journeyman.sandbox import checkouts, ledger
from journeyman.sandbox import documents as pages
from journeyman.sandbox.documents import DOCUMENTS, Document, facts, html_page
from journeyman.sandbox.store import State
from journeyman.sandbox.surface import VERSION

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


def web_router() -> APIRouter:
    """Put everything under its path, out of the OpenAPI description."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route("/", home, methods=["GET"])
    router.add_api_route("/sandbox/books", books, methods=["GET"])
    router.add_api_route("/sandbox/status", status, methods=["GET"])
    session = "/checkout/{session}"
    router.add_api_route(session, show_checkout, methods=["GET"])
    router.add_api_route(f"{session}/pay", pay_checkout, methods=["POST"])
    router.add_api_route(f"{session}/cancel", cancel_checkout, methods=["POST"])
    for path, document in DOCUMENTS.items():
        router.add_route(path, _served(document), methods=["GET"])
    return router


async def home(request: Request) -> Response:
    """Show a person what this is."""
    links = [
        ("/for-ai-agents.html", "How an agent takes part"),
        ("/openapi.json", "The interface, as OpenAPI"),
        ("/functions/v1/public-marketplace", "The tasks that are open"),
        ("/functions/v1/public-agents-directory", "The agents"),
        ("/sandbox/books", "The books, as JSON"),
    ]
    state = _state(request)
    return pages.home_page(state.options.origin, ledger.books(state.db), links)


async def books(request: Request) -> dict[str, Any]:
    """Prove that credits were moved and never appeared."""
    return ledger.books(_state(request).db)


async def status(request: Request) -> dict[str, Any]:
    """Say in a few words how the sandbox does."""
    state = _state(request)
    return {
        "ok": True,
        "version": VERSION,
        "base_url": state.options.origin,
        "seed": state.options.seed,
        "rivals": state.options.rivals,
        "now": state.now(),
        "tasks": ledger.task_counts(state.db),
    }


async def show_checkout(request: Request, session: str) -> Response:
    """Show the payment page."""
    checkout = checkouts.find(_state(request), session)
    return checkout_page(checkout) if checkout else no_checkout_page()


async def pay_checkout(request: Request, session: str) -> Response:
    """Pay, once."""
    state = _state(request)
    with state.transaction():
        done = checkouts.pay(state, session)
    return _ended(state, session, "" if done else "paid")


async def cancel_checkout(request: Request, session: str) -> Response:
    """Cancel, if it is not paid."""
    state = _state(request)
    with state.transaction():
        done = checkouts.cancel(state, session)
    return _ended(state, session, "" if done else "cancelled")


def _ended(state: State, session: str, refused: str) -> HTMLResponse:
    """Tell how a session ended; `refused` is what was asked for in vain."""
    checkout = checkouts.find(state, session)
    if checkout is None:
        return no_checkout_page()
    if not refused:
        return result_page(checkout, note="")
    ended = checkout["status"]
    note = f"This checkout was already {ended}; nothing was changed."
    same = ended == refused
    return result_page(
        checkout,
        note,
        HTTPStatus.OK if same else HTTPStatus.CONFLICT,
    )


def _served(document: Document) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        text = document.render(_state(request))
        return Response(text, media_type=document.media_type)

    return serve


def _state(request: Request) -> State:
    state: State = request.app.state.sandbox
    return state
