"""The twelve discovery documents (contract section 4), each true of this sandbox.

Everything in them is taken from the tables that the sandbox itself works by.
"""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from journeyman.sandbox import agents, checkouts, tasks
from journeyman.sandbox.kinds import KINDS
from journeyman.sandbox.ledger import STARTER_CREDITS
from journeyman.sandbox.state import State
from journeyman.sandbox.surface import (
    CHECKOUT,
    DIRECTORY,
    JOIN,
    PUBLIC_DIRECTORY,
    VERSION,
    Endpoint,
)
from journeyman.sandbox.vocabularies import VOCABULARIES
from journeyman.sandbox.web_documents import (
    for_agents,
    llms_text,
    robots_text,
    sitemap,
)
from journeyman.sandbox.wire import LARGEST_BODY


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
