"""The discovery documents and the OpenAPI description, compared with reality."""

import re
from collections.abc import Awaitable, Callable
from typing import Any
from xml.etree import ElementTree as ET

import httpx2 as httpx
import pytest
from bs4 import BeautifulSoup
from openapi_spec_validator import validate

Fields = dict[str, Any]
Open = Callable[..., Awaitable[httpx.AsyncClient]]
BASE_URL = "http://127.0.0.1:8080"
WELL_KNOWN = [
    f"/.well-known/{name}.json"
    for name in (
        "agent",
        "open-registration",
        "agent-gateway",
        "ai-network",
        "agent-directory",
        "agents",
        "capabilities",
        "agent-protocol",
    )
]
OTHERS = {
    "/llms.txt": "text/plain",
    "/for-ai-agents.html": "text/html",
    "/robots.txt": "text/plain",
    "/sitemap.xml": "application/xml",
}
DOCUMENTS = [*WELL_KNOWN, *OTHERS]
# Contract section 4: number, method, path.
ENDPOINTS = {
    ("POST", "/functions/v1/create-free-agent-public"),
    ("POST", "/functions/v1/create-checkout"),
    ("GET", "/functions/v1/public-marketplace"),
    ("GET", "/functions/v1/public-agents-directory"),
    ("GET", "/functions/v1/agents-directory"),
    ("GET", "/functions/v1/get-marketplace-tasks"),
    ("POST", "/functions/v1/claim-task-public"),
    ("POST", "/functions/v1/submit-task-result-public"),
    ("POST", "/functions/v1/complete-task-public"),
    ("POST", "/functions/v1/write-post-task-public"),
}


async def document(visitor: httpx.AsyncClient, name: str) -> Fields:
    content: Fields = (await visitor.get(f"/.well-known/{name}.json")).json()
    return content


@pytest.mark.parametrize("path", WELL_KNOWN)
async def test_a_well_known_document_is_json(
    path: str, visitor: httpx.AsyncClient
) -> None:
    answer = await visitor.get(path)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert isinstance(answer.json(), dict)


@pytest.mark.parametrize("path", OTHERS)
async def test_another_document_has_its_own_type(
    path: str, visitor: httpx.AsyncClient
) -> None:
    answer = await visitor.get(path)

    assert answer.status_code == 200
    assert answer.headers["content-type"].partition(";")[0] == OTHERS[path]


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_every_address_in_a_document_is_served(
    path: str, visitor: httpx.AsyncClient
) -> None:
    text = (await visitor.get(path)).text

    for address in re.findall(rf"{BASE_URL}[^\s\"'<>:`)]*", text):
        answer = await visitor.get(address.partition("?")[0])
        assert answer.status_code in {200, 401, 405}, address


async def test_the_sitemap_lists_what_exists_and_needs_no_token(
    visitor: httpx.AsyncClient,
) -> None:
    text = (await visitor.get("/sitemap.xml")).text
    root = ET.fromstring(text)  # noqa: S314 - the sandbox's own document
    addresses = [str(loc.text) for loc in root.iter() if loc.tag.endswith("}loc")]

    assert {f"{BASE_URL}{path}" for path in DOCUMENTS} <= set(addresses)
    for address in addresses:
        assert (await visitor.get(address)).status_code == 200


@pytest.mark.parametrize("path", ["/llms.txt", "/for-ai-agents.html"])
async def test_the_pages_for_agents_name_every_endpoint(
    path: str, visitor: httpx.AsyncClient
) -> None:
    text = (await visitor.get(path)).text

    for method, endpoint in ENDPOINTS:
        assert f"{method} {BASE_URL}{endpoint}" in text


async def test_the_gateway_tells_which_endpoints_need_the_token(
    visitor: httpx.AsyncClient,
) -> None:
    gateway = await document(visitor, "agent-gateway")

    listed = {(one["method"], one["url"]) for one in gateway["endpoints"]}
    assert listed == {(method, BASE_URL + path) for method, path in ENDPOINTS}
    for one in gateway["endpoints"]:
        answer = await visitor.request(one["method"], one["url"])
        assert (answer.status_code == 401) == (one["auth"] == "bearer_token")


async def test_the_stated_limits_are_the_limits(
    visitor: httpx.AsyncClient, member: httpx.AsyncClient
) -> None:
    limits = (await document(visitor, "agent-gateway"))["limits"]
    path = "/functions/v1/get-marketplace-tasks"

    largest = await member.get(path, params={"limit": limits["largest_page"]})
    beyond = await member.get(path, params={"limit": limits["largest_page"] + 1})

    assert (largest.status_code, beyond.status_code) == (200, 422)


async def test_every_published_product_can_be_bought(
    visitor: httpx.AsyncClient, member: httpx.AsyncClient
) -> None:
    economy = (await document(visitor, "ai-network"))["economy"]

    assert economy["credits_per_usd"] == economy["starter_credits"] == 100
    for product in economy["products"]:
        amount = product["credits"] or 123
        answer = await visitor.post(
            "/functions/v1/create-checkout",
            json={
                "plan": product["plan"],
                "agent_id": member.headers["X-Agent"],
                "price_id": product["price_id"],
                "requested_credits": amount,
                "amount_cents": amount * 100 // economy["credits_per_usd"],
            },
        )
        assert answer.status_code == 200, answer.text


async def test_registration_works_as_its_document_says(
    visitor: httpx.AsyncClient,
) -> None:
    told = await document(visitor, "open-registration")

    answer = await visitor.request(
        told["endpoint"]["method"],
        told["endpoint"]["url"],
        json=told["request"]["body"],
    )

    assert sorted(answer.json()) == sorted(told["response_fields"])
    assert answer.json()["credits"] == told["starter_credits"]


async def test_the_agents_document_is_the_directory(
    visitor: httpx.AsyncClient, member: httpx.AsyncClient
) -> None:
    listed = await document(visitor, "agents")
    directory = (await visitor.get("/functions/v1/public-agents-directory")).json()

    assert listed["agents"] == directory["agents"]
    ids = [one["agent_id"] for one in listed["agents"]]
    assert member.headers["X-Agent"] in ids


async def test_openapi_is_valid_and_has_the_contracts_paths(
    visitor: httpx.AsyncClient,
) -> None:
    described = (await visitor.get("/openapi.json")).json()

    validate(described)
    assert "HTTPValidationError" not in described["components"]["schemas"]
    assert described["info"]["version"] == "2.1.0"
    assert {
        (method.upper(), path)
        for path, methods in described["paths"].items()
        for method in methods
    } == ENDPOINTS


async def test_the_checkout_schemas_equal_the_contracts_tables(
    visitor: httpx.AsyncClient,
) -> None:
    schemas = (await visitor.get("/openapi.json")).json()["components"]["schemas"]
    request, response = schemas["CheckoutRequest"], schemas["CheckoutResponse"]

    assert fields(request) == {
        "plan": "string",
        "agent_id": "string",
        "price_id": "string",
        "requested_credits": "integer",
        "amount_cents": "integer",
        "product_label": "string",
        "source": "string",
    }
    assert request["required"] == [
        "plan",
        "agent_id",
        "price_id",
        "requested_credits",
        "amount_cents",
    ]
    assert fields(response) == {
        "ok": "boolean",
        "sessionId": "string",
        "url": "string",
        "mode": "string",
        "agentId": "string",
        "plan": "string",
    }
    assert "required" not in response


async def test_openapi_tells_which_endpoints_need_the_token(
    visitor: httpx.AsyncClient,
) -> None:
    described = (await visitor.get("/openapi.json")).json()
    gateway = await document(visitor, "agent-gateway")

    private = {
        path
        for path, methods in described["paths"].items()
        for operation in methods.values()
        if operation.get("security") == [{"bearer_token": []}]
    }

    assert private == set(gateway["authentication"]["private_endpoints"])


async def test_the_home_page_leads_on(visitor: httpx.AsyncClient) -> None:
    page = BeautifulSoup((await visitor.get("/")).text, "html.parser")

    assert "The ledger balances" in page.text
    for anchor in page.find_all("a"):
        assert (await visitor.get(str(anchor["href"]))).status_code == 200


def fields(schema: Fields) -> dict[str, str]:
    return {name: one["type"] for name, one in schema["properties"].items()}


async def test_an_undescribed_sandbox_has_no_description_and_names_none(
    open_sandbox: Open,
) -> None:
    visitor = await open_sandbox(undescribed=True)

    assert (await visitor.get("/openapi.json")).status_code == 404
    for path in ("/", *DOCUMENTS):
        assert "openapi" not in (await visitor.get(path)).text.lower()
