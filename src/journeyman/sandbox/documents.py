"""The twelve discovery documents (contract section 4), each true of this sandbox.

Everything in them comes from the tables that the sandbox itself uses.
"""

import json
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, NamedTuple
from xml.sax.saxutils import escape as xml_escape

from journeyman.sandbox import agents, checkouts, contract, tasks
from journeyman.sandbox.checkouts import CREDITS_PER_USD
from journeyman.sandbox.errors import ERROR_FORMATS
from journeyman.sandbox.kinds import KINDS
from journeyman.sandbox.ledger import STARTER_CREDITS
from journeyman.sandbox.pages import html_document
from journeyman.sandbox.requests import LARGEST_BODY
from journeyman.sandbox.store import State


class Document(NamedTuple):
    """One discovery document."""

    media_type: str
    render: Callable[[State], str]


def _described(origin: str, endpoint: contract.Endpoint) -> dict[str, Any]:
    return {
        "name": endpoint.name,
        "method": endpoint.method,
        "url": f"{origin}{endpoint.path}",
        "purpose": endpoint.purpose,
        "auth": "bearer_token" if endpoint.private else "none",
    }


def _description(state: State) -> dict[str, str]:
    address = f"{state.options.origin}/openapi.json"
    return {} if state.options.undescribed else {"openapi": address}


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
    """Describe a product; one of any size has no fixed price."""
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
        "description": "A local network to test agents on.",
        "version": contract.VERSION,
        "url": origin,
        "authentication": _authentication(state),
        **_description(state),
    }


def _open_registration(state: State) -> dict[str, Any]:
    return {
        "open": True,
        "price_usd": 0,
        "activation": "instant",
        "starter_credits": STARTER_CREDITS,
        "request": {"headers": {"Content-Type": "application/json"}, "body": {}},
        "response_fields": ["agent_id", "access_token", "credits"],
        "endpoint": _described(state.options.origin, contract.REGISTER),
    }


def _gateway(state: State) -> dict[str, Any]:
    return {
        "base_url": state.options.origin,
        "version": contract.VERSION,
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
        "checkout": _described(origin, contract.CHECKOUT),
        "documents": [f"{origin}{path}" for path in DOCUMENTS],
    }


def _directory(state: State) -> dict[str, Any]:
    origin = state.options.origin
    return {
        "public": _described(origin, contract.PUBLIC_DIRECTORY),
        "live": _described(origin, contract.DIRECTORY),
        "manifest": f"{origin}{contract.DIRECTORY.path}?slug={{slug}}",
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
        "version": contract.VERSION,
        "transport": "JSON over HTTP",
        "success_status": 200,
        "error_type": ERROR_FORMATS[state.options.error_format].media_type,
        "error_body": ERROR_FORMATS[state.options.error_format].fields,
        "task_states": ["open", "claimed", "submitted", "completed"],
        **_description(state),
    }


def _json(content: Callable[[State], dict[str, Any]]) -> Document:
    def render(state: State) -> str:
        return json.dumps(content(state), ensure_ascii=False, indent=2) + "\n"

    return Document("application/json", render)


def _llms_text(state: State) -> str:
    """Describe for a language model how to take part."""
    lines = [
        f"- {one.method} {state.options.origin}{one.path}: {one.purpose}"
        f"{' (bearer token)' if one.private else ''}"
        for one in state.endpoints
    ]
    return (
        "# Agent network sandbox\n\n"
        "> A local network where autonomous agents register, do tasks and earn "
        "credits.\n\n"
        f"Registration is free and instant, and gives {STARTER_CREDITS} credits. "
        f"1 USD is {CREDITS_PER_USD} credits. Send the token as "
        "`Authorization: Bearer <ACCESS_TOKEN>`.\n\n"
        "The loop: join, authenticate, discover, claim, execute, submit, complete.\n\n"
        "## Endpoints\n\n" + "\n".join(lines) + "\n"
    )


def _for_agents(state: State) -> str:
    """Describe the same as a web page."""
    items = "\n".join(
        f"<li><code>{one.method} {escape(state.options.origin + one.path)}</code><br>"
        f"{escape(one.purpose)}{' (bearer token)' if one.private else ''}</li>"
        for one in state.endpoints
    )
    body = (
        '<p class="eyebrow">Agent network sandbox</p>\n<h1>For AI agents</h1>\n'
        f"<p>Registration is free and instant; you get {STARTER_CREDITS} credits and a "
        f"bearer token. 1 USD is {CREDITS_PER_USD} credits. Send the token as "
        "<code>Authorization: Bearer &lt;ACCESS_TOKEN&gt;</code>.</p>\n"
        f"<h2>Endpoints</h2>\n<ul>\n{items}\n</ul>"
    )
    return html_document("For AI agents", body)


def _robots_text(state: State) -> str:
    """Allow crawlers everything but the payment pages."""
    return (
        "User-agent: *\nAllow: /\nDisallow: /checkout/\n\n"
        f"Sitemap: {state.options.origin}/sitemap.xml\n"
    )


def _sitemap(state: State) -> str:
    """List pages that answer a GET without a token."""
    described = [] if state.options.undescribed else ["/openapi.json"]
    urls = "\n".join(
        f"  <url><loc>{xml_escape(state.options.origin + path)}</loc></url>"
        for path in ("/", *DOCUMENTS, *described)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{urls}\n</urlset>\n"
    )


DOCUMENTS: Mapping[str, Document] = {
    "/.well-known/agent.json": _json(_agent),
    "/.well-known/open-registration.json": _json(_open_registration),
    "/.well-known/agent-gateway.json": _json(_gateway),
    "/.well-known/ai-network.json": _json(_network),
    "/.well-known/agent-directory.json": _json(_directory),
    "/.well-known/agents.json": _json(_agents),
    "/.well-known/capabilities.json": _json(_capabilities),
    "/.well-known/agent-protocol.json": _json(_protocol),
    "/llms.txt": Document("text/plain", _llms_text),
    "/for-ai-agents.html": Document("text/html", _for_agents),
    "/robots.txt": Document("text/plain", _robots_text),
    "/sitemap.xml": Document("application/xml", _sitemap),
}
"""By path, in the contract's order."""
