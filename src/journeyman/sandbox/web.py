"""What the sandbox serves beside the contract: pages, its ledger and the documents."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from journeyman.sandbox import checkouts, ledger, pages
from journeyman.sandbox.contract import VERSION
from journeyman.sandbox.documents import DOCUMENTS, Document
from journeyman.sandbox.store import State

WEB_ROUTER = APIRouter(include_in_schema=False)
"""These routes, which the OpenAPI description leaves out."""


@WEB_ROUTER.get("/")
async def home(request: Request) -> Response:
    """Show what this is, to people."""
    links = [
        ("/for-ai-agents.html", "How an agent takes part"),
        ("/openapi.json", "The interface, as OpenAPI"),
        ("/functions/v1/public-marketplace", "The tasks that are open"),
        ("/functions/v1/public-agents-directory", "The agents"),
        ("/sandbox/ledger", "The ledger, as JSON"),
    ]
    state = _state(request)
    if state.options.undescribed:
        links = [link for link in links if link[0] != "/openapi.json"]
    return pages.home_page(state.options.origin, ledger.summary(state.db), links)


@WEB_ROUTER.get("/sandbox/ledger")
async def ledger_summary(request: Request) -> dict[str, Any]:
    """Show that credits were only moved, and none appeared."""
    return ledger.summary(_state(request).db)


@WEB_ROUTER.get("/sandbox/status")
async def status(request: Request) -> dict[str, Any]:
    """Show the state of the sandbox in a few figures."""
    state = _state(request)
    return {
        "ok": True,
        "version": VERSION,
        "base_url": state.options.origin,
        "seed": state.options.seed,
        "competitors": state.options.competitors,
        "now": state.now(),
        "tasks": ledger.task_counts(state.db),
        "refused_by_pauses": state.pauses.refused,
    }


@WEB_ROUTER.get("/checkout/{session}")
async def show_checkout(request: Request, session: str) -> Response:
    """Show the payment page."""
    checkout = checkouts.find(_state(request), session)
    if checkout is None:
        return pages.no_checkout_page()
    return pages.checkout_page(checkout)


@WEB_ROUTER.post("/checkout/{session}/pay")
async def pay_checkout(request: Request, session: str) -> Response:
    """Pay, once only."""
    state = _state(request)
    with state.transaction():
        done = checkouts.pay(state, session)
    return _ended(state, session, "" if done else "paid")


@WEB_ROUTER.post("/checkout/{session}/cancel")
async def cancel_checkout(request: Request, session: str) -> Response:
    """Cancel, unless it is paid."""
    state = _state(request)
    with state.transaction():
        done = checkouts.cancel(state, session)
    return _ended(state, session, "" if done else "cancelled")


def _ended(state: State, session: str, refused: str) -> HTMLResponse:
    """Show how a session ended; `refused` is what could not be done."""
    checkout = checkouts.find(state, session)
    if checkout is None:
        return pages.no_checkout_page()
    if not refused:
        return pages.result_page(checkout, note="")
    ended = checkout["status"]
    note = f"This checkout was already {ended}; nothing was changed."
    status = HTTPStatus.OK if ended == refused else HTTPStatus.CONFLICT
    return pages.result_page(checkout, note, status)


def _served(document: Document) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        text = document.render(_state(request))
        return Response(text, media_type=document.media_type)

    return serve


for _path, _document in DOCUMENTS.items():
    WEB_ROUTER.add_route(_path, _served(_document), methods=["GET"])


def _state(request: Request) -> State:
    state: State = request.app.state.sandbox
    return state
