"""What the sandbox serves beside the contract: pages, books and documents."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from journeyman.sandbox import checkouts, ledger, pages, web_checkout
from journeyman.sandbox.documents import DOCUMENTS, Document
from journeyman.sandbox.state import State
from journeyman.sandbox.surface import VERSION


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
    return (
        web_checkout.checkout_page(checkout)
        if checkout
        else web_checkout.no_checkout_page()
    )


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
        return web_checkout.no_checkout_page()
    if not refused:
        return web_checkout.result_page(checkout, note="")
    ended = checkout["status"]
    note = f"This checkout was already {ended}; nothing was changed."
    same = ended == refused
    return web_checkout.result_page(
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
