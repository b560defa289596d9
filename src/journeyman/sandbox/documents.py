"""The twelve discovery documents (contract section 4), each true of this sandbox.

Everything in them is taken from the tables that the sandbox itself works by.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from html import escape
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.sax.saxutils import escape as xml_escape

from fastapi.responses import HTMLResponse

from journeyman.sandbox import agents, checkouts, tasks
from journeyman.sandbox.checkouts import CREDITS_PER_USD
from journeyman.sandbox.error_bodies import VOCABULARIES
from journeyman.sandbox.kinds import KINDS
from journeyman.sandbox.ledger import STARTER_CREDITS
from journeyman.sandbox.store import State
from journeyman.sandbox.surface import (
    CHECKOUT,
    DIRECTORY,
    JOIN,
    PUBLIC_DIRECTORY,
    VERSION,
    Endpoint,
)
from journeyman.sandbox.wire import LARGEST_BODY

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


def llms_text(state: State) -> str:
    """Tell a language model how to take part."""
    lines = [
        f"- {one.method} {state.options.origin}{one.path}: {one.purpose}"
        f"{' (bearer token)' if one.private else ''}"
        for one in state.endpoints
    ]
    return (
        "# Agent network sandbox\n\n"
        "> A local network on which autonomous agents register, do tasks and earn "
        "credits.\n\n"
        f"Registration is free, instant, and gives {STARTER_CREDITS} credits. "
        f"1 USD is {CREDITS_PER_USD} credits. Send the token as "
        "`Authorization: Bearer <ACCESS_TOKEN>`.\n\n"
        "The loop: join, authenticate, discover, claim, execute, submit, complete.\n\n"
        "## Endpoints\n\n" + "\n".join(lines) + "\n"
    )


def for_agents(state: State) -> str:
    """The same as a web page."""
    items = "\n".join(
        f"<li><code>{one.method} {escape(state.options.origin + one.path)}</code><br>"
        f"{escape(one.purpose)}{' (bearer token)' if one.private else ''}</li>"
        for one in state.endpoints
    )
    body = (
        '<p class="eyebrow">Agent network sandbox</p>\n<h1>For AI agents</h1>\n'
        f"<p>Register for free and at once; you get {STARTER_CREDITS} credits and a "
        f"bearer token. 1 USD is {CREDITS_PER_USD} credits. Send the token as "
        "<code>Authorization: Bearer &lt;ACCESS_TOKEN&gt;</code>.</p>\n"
        f"<h2>Endpoints</h2>\n<ul>\n{items}\n</ul>"
    )
    return html_document("For AI agents", body)


def robots_text(state: State) -> str:
    """Let crawlers read the documents and leave payment pages alone."""
    return (
        "User-agent: *\nAllow: /\nDisallow: /checkout/\n\n"
        f"Sitemap: {state.options.origin}/sitemap.xml\n"
    )


def sitemap(origin: str, paths: list[str]) -> str:
    """List pages that answer a GET without a token."""
    urls = "\n".join(
        f"  <url><loc>{xml_escape(origin + path)}</loc></url>" for path in paths
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{urls}\n</urlset>\n"
    )


class Document(NamedTuple):
    """One discovery document."""

    media_type: str
    render: Callable[[State], str]


def _described(origin: str, endpoint: Endpoint) -> dict[str, Any]:
    return {
        "name": endpoint.name,
        "method": endpoint.method,
        "url": f"{origin}{endpoint.path}",
        "purpose": endpoint.purpose,
        "auth": "bearer_token" if endpoint.private else "none",
    }


def _authentication(state: State) -> dict[str, Any]:
    return {
        "method": "bearer_token",
        "header": "Authorization: Bearer <ACCESS_TOKEN>",
        "private_endpoints": [one.path for one in state.endpoints if one.private],
    }


def _economy() -> dict[str, Any]:
    return {
        "credits_per_usd": checkouts.CREDITS_PER_USD,
        "starter_credits": STARTER_CREDITS,
        "free_entry_price_usd": 0,
        "activation": "instant",
        "products": [_product(one) for one in checkouts.CATALOGUE],
    }


def _product(product: checkouts.Product) -> dict[str, Any]:
    """Describe a product; the one of any size has no price of its own."""
    described = product._asdict()
    if product.credits is not None:
        described["price_usd"] = product.credits / checkouts.CREDITS_PER_USD
    return described


def _limits() -> dict[str, Any]:
    return {
        "default_page": tasks.DEFAULT_LIMIT,
        "largest_page": tasks.LARGEST_LIMIT,
        "largest_body_bytes": LARGEST_BODY,
        "requests_per_minute": None,
    }


def _agent(state: State) -> dict[str, Any]:
    origin = state.options.origin
    return {
        "name": "Agent network sandbox",
        "description": "A local network on which agents can be tried.",
        "version": VERSION,
        "url": origin,
        "authentication": _authentication(state),
        "openapi": f"{origin}/openapi.json",
    }


def _open_registration(state: State) -> dict[str, Any]:
    return {
        "open": True,
        "price_usd": 0,
        "activation": "instant",
        "starter_credits": STARTER_CREDITS,
        "request": {"headers": {"Content-Type": "application/json"}, "body": {}},
        "response_fields": ["agent_id", "access_token", "credits"],
        "endpoint": _described(state.options.origin, JOIN),
    }


def _gateway(state: State) -> dict[str, Any]:
    return {
        "base_url": state.options.origin,
        "version": VERSION,
        "endpoints": [
            _described(state.options.origin, endpoint) for endpoint in state.endpoints
        ],
        "authentication": _authentication(state),
        "limits": _limits(),
    }


def _network(state: State) -> dict[str, Any]:
    origin = state.options.origin
    return {
        "name": "Agent network sandbox",
        "base_url": origin,
        "portal_url": origin,
        "loop": [
            "join",
            "authenticate",
            "discover",
            "claim",
            "execute",
            "earn",
            "spend",
            "upgrade",
            "repeat",
        ],
        "economy": _economy(),
        "checkout": _described(origin, CHECKOUT),
        "documents": [f"{origin}{path}" for path in DOCUMENTS],
    }


def _directory(state: State) -> dict[str, Any]:
    origin = state.options.origin
    return {
        "public": _described(origin, PUBLIC_DIRECTORY),
        "live": _described(origin, DIRECTORY),
        "manifest": f"{origin}{DIRECTORY.path}?slug={{slug}}",
    }


def _agents(state: State) -> dict[str, Any]:
    listed = agents.directory(state)
    return {"count": listed["count"], "agents": listed["agents"]}


def _capabilities(state: State) -> dict[str, Any]:
    return {
        "actions": [one.name for one in state.endpoints],
        "idempotency": "Idempotency-Key",
        "task_kinds": [
            {"kind": kind.name, "tags": kind.tags, "for_people": kind.for_people}
            for kind in KINDS.values()
        ],
        "limits": _limits(),
    }


def _protocol(state: State) -> dict[str, Any]:
    return {
        "protocol": "agent-network-service",
        "version": VERSION,
        "transport": "JSON over HTTP",
        "success_status": 200,
        "error_type": VOCABULARIES[state.options.errors].media_type,
        "error_body": VOCABULARIES[state.options.errors].fields,
        "task_states": ["open", "claimed", "submitted", "completed"],
        "openapi": f"{state.options.origin}/openapi.json",
    }


def _json(content: Callable[[State], dict[str, Any]]) -> Document:
    def render(state: State) -> str:
        return json.dumps(content(state), ensure_ascii=False, indent=2) + "\n"

    return Document("application/json", render)


def _sitemap(state: State) -> str:
    return sitemap(state.options.origin, ["/", *DOCUMENTS, "/openapi.json"])


DOCUMENTS: Mapping[str, Document] = MappingProxyType(
    {
        "/.well-known/agent.json": _json(_agent),
        "/.well-known/open-registration.json": _json(_open_registration),
        "/.well-known/agent-gateway.json": _json(_gateway),
        "/.well-known/ai-network.json": _json(_network),
        "/.well-known/agent-directory.json": _json(_directory),
        "/.well-known/agents.json": _json(_agents),
        "/.well-known/capabilities.json": _json(_capabilities),
        "/.well-known/agent-protocol.json": _json(_protocol),
        "/llms.txt": Document("text/plain", llms_text),
        "/for-ai-agents.html": Document("text/html", for_agents),
        "/robots.txt": Document("text/plain", robots_text),
        "/sitemap.xml": Document("application/xml", _sitemap),
    },
)
"""By path, in the contract's order."""
