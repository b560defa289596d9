"""The discovery documents: read politely, compared with the contract, not trusted."""

import json
from collections.abc import Mapping

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.conftest import ClientFor, ScriptedServer, answer
from tests.network.service_model.test_evidence import ANY_JSON

from journeyman.domain.outcomes import (
    Confirmed,
    NotSent,
    Outcome,
    Refusal,
    Refused,
    Unknown,
)
from journeyman.domain.tasks import JSON
from journeyman.network.answers import Document
from journeyman.network.client import NetworkClient
from journeyman.network.discovery.comparison import Agreement, Compared, Expectations
from journeyman.network.discovery.products import Product
from journeyman.network.discovery.survey import USUAL_PLACES, Survey, survey
from journeyman.network.endpoints import DISCOVERY_DOCUMENTS

BASE = "https://network.example"
PORTAL = "https://portal.example"
EXPECTED = Expectations(BASE, PORTAL)
GATEWAY = "/.well-known/agent-gateway.json"
NETWORK = "/.well-known/ai-network.json"
CLAIM = "/functions/v1/claim-task-public"
ABSENT = Refused(Refusal.ABSENT, "404 Not Found", 404)


class FakePortal(NetworkClient):
    """Answers what it was given; every other document is absent."""

    def __init__(self, documents: Mapping[str, "JSON | Outcome[Document]"]) -> None:
        self.documents = documents
        self.asked: list[str] = []
        self.busy = self.busiest = 0

    async def document(self, path: str, origin: str | None = None) -> Outcome[Document]:
        address = f"{origin or ''}{path}"
        self.asked.append(address)
        self.busy += 1
        self.busiest = max(self.busy, self.busiest)
        await anyio.lowlevel.checkpoint()
        self.busy -= 1
        given = self.documents.get(address, ABSENT)
        if isinstance(given, Confirmed | Refused | NotSent | Unknown):
            return given
        text = given if isinstance(given, str) else json.dumps(given)
        parsed = None if isinstance(given, str) else given
        return Confirmed(Document(path, "", text, parsed, ""))


async def surveyed(documents: "Mapping[str, JSON | Outcome[Document]]") -> Survey:
    return await survey(FakePortal(documents), EXPECTED)


async def rows_about(
    subject: str, content: JSON, path: str = GATEWAY
) -> list[Compared]:
    found = await surveyed({path: content})
    return [row for row in found.compared if row.subject == subject]


async def verdicts_about(subject: str, content: JSON, path: str = GATEWAY) -> list[str]:
    return [row.verdict for row in await rows_about(subject, content, path)]


async def products_of(*listed: JSON) -> tuple[Product, ...]:
    return (await surveyed({NETWORK: {"products": list(listed)}})).products


# -- reading ---------------------------------------------------------------


async def test_all_twelve_are_asked_for_robots_first_and_a_few_at_once() -> None:
    portal = FakePortal({})

    found = await survey(portal, EXPECTED)

    assert portal.asked[0] == "/robots.txt"
    assert set(portal.asked[:12]) == set(DISCOVERY_DOCUMENTS)
    assert portal.busiest == 4
    assert [page.path for page in found.pages] == list(DISCOVERY_DOCUMENTS)
    assert {page.found for page in found.pages} == {"absent"}


@pytest.mark.parametrize(
    ("rules", "kept_out"),
    [
        ("User-agent: *\nDisallow: /llms.txt", {"/llms.txt"}),
        ("User-agent: *\nAllow: /\nDisallow: /llms", {"/llms.txt"}),
        (
            "User-agent: *\nDisallow: /\nAllow: /*.json$\nAllow: /llms",
            {"/sitemap.xml", "/for-ai-agents.html"},
        ),
        ("User-agent: other\nDisallow: /", set()),
        (
            "User-agent: *\nDisallow:\nUser-agent: journeyman\nDisallow: /site",
            {"/sitemap.xml"},
        ),
        ("<!doctype html><title>My app</title>", set()),
        ("", set()),
    ],
)
async def test_robots_txt_is_obeyed(rules: str, kept_out: set[str]) -> None:
    portal = FakePortal({"/robots.txt": rules})

    found = await survey(portal, EXPECTED)

    assert {page.path for page in found.pages if page.found == "disallowed"} == kept_out
    assert not kept_out & set(portal.asked)


async def test_nothing_else_is_asked_for_while_robots_txt_cannot_be_read() -> None:
    portal = FakePortal({"/robots.txt": Unknown("502 Bad Gateway", 502)})

    found = await survey(portal, EXPECTED)

    assert [path for path in portal.asked if path.startswith("/")] == ["/robots.txt"]
    assert {page.found for page in found.pages} == {"unreadable", "not asked"}


async def test_a_portal_that_is_not_there_is_told() -> None:
    found = await surveyed({"/robots.txt": NotSent("connection refused")})

    robots = next(page for page in found.pages if page.path == "/robots.txt")
    assert (robots.found, robots.problem) == ("not reached", "connection refused")


async def test_the_token_is_sent_to_none_of_the_documents(
    server: ScriptedServer, client_for: ClientFor
) -> None:
    server.will(answer(200, {"base_url": "http://elsewhere.example"}))

    async with client_for(server.base_url) as client:
        await survey(client, Expectations(server.base_url, server.base_url))

    assert len(server.requests) == 12 + len(USUAL_PLACES)
    assert not any("authorization" in one.headers for one in server.requests)


# -- links and descriptions -------------------------------------------------

OPENAPI: JSON = {
    "openapi": "3.1.0",
    "servers": [{"url": "https://api.example/functions/v1/"}],
    "paths": {"/claim-task-public": {"post": {}}},
}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (GATEWAY, {"openapi": f"{PORTAL}/spec/v2.json"}),
        (GATEWAY, {"api": {"type": "openapi", "spec": "/spec/v2.json"}}),
        (GATEWAY, {"links": [{"rel": "service-desc", "href": "/spec/v2.json"}]}),
        ("/llms.txt", "# Net\n\n- [API](/spec/v2.json): every endpoint\n"),
        ("/llms.txt", f"# Net\n\nSee {PORTAL}/spec/v2.json."),
        ("/for-ai-agents.html", '<a href="/spec/v2.json">the interface</a>'),
        (
            "/sitemap.xml",
            f"<urlset><url><loc>{PORTAL}/spec/v2.json</loc></url></urlset>",
        ),
        ("/robots.txt", f"User-agent: *\nAllow: /\n# {PORTAL}/spec/v2.json"),
    ],
)
async def test_a_description_is_found_by_a_link(path: str, content: JSON) -> None:
    portal = FakePortal({path: content, f"{PORTAL}/spec/v2.json": OPENAPI})
    portal.documents = {**portal.documents, "/spec/v2.json": OPENAPI}

    found = await survey(portal, EXPECTED)

    assert found.description is not None
    assert (found.description.path, found.description.document) == (
        "/spec/v2.json",
        OPENAPI,
    )
    assert not any(place in portal.asked for place in USUAL_PLACES)


async def test_a_page_of_a_manual_leads_to_a_description() -> None:
    manual = '<script>SwaggerUIBundle({url: "/v3/api-docs/public"})</script>'
    found = await surveyed(
        {
            "/.well-known/agent.json": {"documentation": "/manual"},
            "/manual": manual,
            "/v3/api-docs/public": OPENAPI,
        }
    )

    assert found.description is not None


async def test_a_description_inside_another_document_is_found() -> None:
    found = await surveyed({GATEWAY: {"interface": OPENAPI}})

    assert found.description is not None
    assert found.description.path == GATEWAY


@pytest.mark.parametrize("place", USUAL_PLACES)
async def test_the_usual_places_of_the_service_are_tried_last(place: str) -> None:
    found = await surveyed({BASE + place: OPENAPI})

    assert found.description is not None
    assert found.description.path == BASE + place


async def test_links_to_elsewhere_are_not_followed() -> None:
    portal = FakePortal(
        {GATEWAY: {"openapi": "https://evil.example/openapi.json", "spec": "//evil/x"}}
    )

    await survey(portal, EXPECTED)

    assert not any("evil" in address for address in portal.asked)


async def test_a_portal_of_endless_links_is_left_after_twenty_documents() -> None:
    links: JSON = [f"/more/{number}.json" for number in range(500)]
    everywhere = {f"/more/{number}.json": links for number in range(500)}
    portal = FakePortal({GATEWAY: links, **everywhere})

    await survey(portal, EXPECTED)

    assert sum(address.startswith("/more") for address in portal.asked) == 8


async def test_a_portal_that_asks_to_slow_down_is_left_alone() -> None:
    slow = Refused(Refusal.THROTTLED, "429 Too Many Requests", 429)
    portal = FakePortal(dict.fromkeys(DISCOVERY_DOCUMENTS[:4], slow))

    await survey(portal, EXPECTED)

    assert len(portal.asked) <= 13


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (GATEWAY, {"base_url": "https://api.example/"}),
        (GATEWAY, {"api": "https://api.example"}),
        (GATEWAY, {"endpoints": {"claim": f"https://api.example{CLAIM}"}}),
        ("/llms.txt", f"POST https://api.example{CLAIM}"),
        ("/openapi.json", OPENAPI),
    ],
)
async def test_the_service_that_documents_name_is_known(
    path: str, content: JSON
) -> None:
    found = await surveyed({path: content, "/llms-full.txt": "", "/sitemap.xml": path})

    at_base = await surveyed({BASE + path: content})
    assert "https://api.example" in (*found.services, *at_base.services)


YAML = f"""
openapi: 3.1.0
info: {{title: Jobs, version: "1"}}
paths:
  {CLAIM}:
    post: {{responses: {{200: {{description: fine}}}}}}
"""


async def test_a_description_in_yaml_is_found_and_read() -> None:
    found = await surveyed({BASE + "/openapi.yaml": YAML})

    assert found.description is not None
    assert isinstance(found.description.document, dict)
    assert found.description.document["openapi"] == "3.1.0"


async def test_yaml_that_cannot_be_read_is_told_and_no_description() -> None:
    found = await surveyed({BASE + "/openapi.yaml": "openapi: 3.1.0\npaths: ["})

    assert found.description is None


# -- comparing -------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "verdict"),
    [
        ({"endpoints": [{"method": "POST", "url": BASE + CLAIM}]}, "agrees"),
        ({"endpoints": [{"method": "post", "path": CLAIM}]}, "agrees"),
        ({"claim_endpoint": BASE + CLAIM}, "agrees"),
        ({"endpoints": ["/x", f"POST {BASE}{CLAIM}"]}, "agrees"),
        ({"endpoints": ["GET " + CLAIM]}, "drift"),
        ({"text": f"see {BASE}{CLAIM}"}, "unsaid"),
        ({"a": {"b": {"c": BASE + CLAIM + "/"}}}, "agrees"),
        ({"endpoints": {"claim": "/v2/claim-task-public"}}, "drift"),
        ({"endpoints": [{"method": "PUT", "url": BASE + CLAIM}]}, "drift"),
        (
            {"endpoints": [{"method": "POST", "url": f"https://evil.example{CLAIM}"}]},
            "elsewhere",
        ),
        ({"endpoints": {"claim": f"http://network.example{CLAIM}"}}, "elsewhere"),
        ({"endpoints": {"claim": f"https://network.example:444{CLAIM}"}}, "elsewhere"),
    ],
)
async def test_a_declared_endpoint_is_compared(content: JSON, verdict: str) -> None:
    assert await verdicts_about("endpoint claim", content) == [verdict]


async def test_an_endpoint_that_the_contract_does_not_know_is_new_or_elsewhere() -> (
    None
):
    content: JSON = {
        "endpoints": {
            "bid": f"{BASE}/functions/v1/bid",
            "pay": "https://evil.example/pay",
            "page": f"{PORTAL}/pay",
        },
    }

    rows = await rows_about("endpoint", content)

    assert {row.said: str(row.verdict) for row in rows} == {
        f"{BASE}/functions/v1/bid": "new",
        f"{PORTAL}/pay": "new",
        "https://evil.example/pay": "elsewhere",
    }


@pytest.mark.parametrize(
    ("subject", "content", "verdict"),
    [
        ("base address", {"base_url": f"{BASE}/"}, "agrees"),
        ("base address", {"api": {"apiBaseUrl": "https://evil.example"}}, "elsewhere"),
        ("base address", {"baseUrl": f"{BASE}/v2"}, "drift"),
        ("base address", {"baseUrl": "/"}, "drift"),
        ("base address", {"baseUrl": "https://[oops"}, "drift"),
        ("portal address", {"portal_url": PORTAL}, "agrees"),
        ("authentication", {"authentication": {"method": "bearer_token"}}, "agrees"),
        ("authentication", {"auth": {"type": "Bearer"}}, "agrees"),
        ("authentication", {"auth_method": "api_key"}, "drift"),
        ("starter credits", {"economy": {"starterCredits": 100}}, "agrees"),
        ("starter credits", {"starter_credits": "50"}, "drift"),
        ("credits for 1 USD", {"credits_per_usd": 100.0}, "agrees"),
        ("credits for 1 USD", {"credits_per_usd": 90}, "drift"),
        ("credits for 1 USD", {"exchange_rate": "1 USD = 100 credits"}, "agrees"),
        ("price of free entry", {"free_entry_price_usd": 0}, "agrees"),
        ("price of free entry", {"entry_price_usd": 0, "open": True}, "agrees"),
        ("price of free entry", {"open": True, "price_usd": 5}, "drift"),
        ("authentication", {"auth": {"auth_method": "bearer"}}, "agrees"),
        ("activation", {"activation": "instant"}, "agrees"),
        ("version", {"version": "2.1.0"}, "agrees"),
        ("version", {"version": "3.0.0"}, "drift"),
        ("limits", {"rate_limits": {"per_minute": 60}}, "new"),
        ("version", {"agents": [{"version": "9"}]}, "unsaid"),
        ("version", [{"version": "9"}], "unsaid"),
    ],
)
async def test_the_rules_are_compared(
    subject: str, content: JSON, verdict: str
) -> None:
    assert await verdicts_about(subject, content) == [verdict]


async def test_prose_is_compared_too() -> None:
    text = (
        f"# Network\nRegistration is free and gives 50 credits. 1 USD = 100 credits.\n"
        f"- POST {BASE}{CLAIM}: claim\n"
    )
    page = f"<p>1 USD is 90 credits</p><code>POST https://evil.example{CLAIM}</code>"

    found = await surveyed({"/llms.txt": text, "/for-ai-agents.html": page})

    said = {(row.subject, row.said): str(row.verdict) for row in found.compared}
    assert said[("starter credits", "50")] == "drift"
    assert said[("credits for 1 USD", "100")] == "agrees"
    assert said[("credits for 1 USD", "90")] == "drift"
    assert said[("endpoint claim", f"POST {BASE}{CLAIM}")] == "agrees"
    assert said[("endpoint claim", f"POST https://evil.example{CLAIM}")] == "elsewhere"


async def test_what_several_documents_say_is_one_row_and_problems_come_first() -> None:
    found = await surveyed(
        {
            GATEWAY: {"version": "2.1.0", "base_url": "https://evil.example"},
            NETWORK: {"version": "2.1.0"},
        },
    )

    assert found.compared[0].verdict is Agreement.ELSEWHERE
    version = next(row for row in found.compared if row.subject == "version")
    assert set(version.documents) == {NETWORK, GATEWAY}


# -- products --------------------------------------------------------------


async def test_a_product_is_offered_with_what_is_said_of_it() -> None:
    (one,) = await products_of(
        {
            "name": "500 credits",
            "price": "$5.00",
            "credits": "500",
            "priceId": "price_500",
            "plan": "credit_pack",
            "checkout_url": "https://pay.example/500",
        },
    )

    assert (one.label, one.price_id, one.plan) == (
        "500 credits",
        "price_500",
        "credit_pack",
    )
    assert (one.credits, one.cents, one.checkout) == (
        500,
        500,
        "https://pay.example/500",
    )
    assert one.problem == ""


@pytest.mark.parametrize(
    ("fields", "cents", "is_odd"),
    [
        ({"price_usd": 5, "credits": 500}, 500, False),
        ({"price_usd": 4.99, "credits": 500}, 499, True),
        ({"amount_cents": 500, "credits": 500}, 500, False),
        ({"usd": "5 USD", "credits": 600}, 500, True),
        ({"price": "free", "price_id": "p", "credits": 5}, None, False),
        ({"price": "price_abc", "price_usd": 1, "credits": 100}, 100, False),
    ],
)
async def test_a_price_that_breaks_the_exchange_rate_is_marked(
    fields: dict[str, JSON],
    cents: int | None,
    is_odd: bool,  # noqa: FBT001 - a case
) -> None:
    (one,) = await products_of(fields)

    assert one.cents == cents
    assert bool(one.problem) is is_odd
    assert not is_odd or "breaks 1 USD = 100 credits" in one.problem


@pytest.mark.parametrize(
    "fields",
    [
        {"price_cents": 1000},
        {"price": "10.00"},
        {"price": "$10"},
        {"price": 10},
        {"price": 1000},
        {"amount": 1000, "currency": "usd"},
        {"amount": "10.00", "currency": "USD"},
        {"unit_amount": 1000, "currency": "usd"},
        {"price": {"usd": 10}},
        {"price": {"amount": 1000, "currency": "usd"}},
        {"price": {"value": "10.00", "currency_code": "USD"}},
        {"pricing": {"one_time": True, "amountMinor": 1000}},
        {"cost": "10 USD"},
    ],
)
async def test_a_price_is_read_in_whatever_field_and_unit(
    fields: dict[str, JSON],
) -> None:
    (one,) = await products_of({"id": "pack", "credits": 1000, **fields})

    assert (one.price_id, one.credits, one.cents, one.problem) == (
        "pack",
        1000,
        1000,
        "",
    )


@pytest.mark.parametrize(
    ("fields", "period"),
    [
        ({"unit_amount": 900, "recurring": {"interval": "month"}}, "month"),
        ({"price": "$9", "interval": "year"}, "year"),
        ({"price_usd": 9, "billing_period": "monthly"}, "month"),
        ({"price": "$9/mo"}, "month"),
        ({"price_cents": 900, "mode": "subscription"}, "unknown period"),
        ({"price_cents": 900, "type": "recurring"}, "unknown period"),
        ({"price_cents": 900, "subscription": True}, "unknown period"),
        ({"price_cents": 900, "mode": "payment"}, ""),
        ({"price_cents": 900, "type": "one_time", "recurring": None}, ""),
    ],
)
async def test_a_subscription_is_told_from_what_is_paid_once(
    fields: dict[str, JSON], period: str
) -> None:
    (one,) = await products_of({"price_id": "p", "credits": 900, **fields})

    assert (one.cents, one.period) == (900, period)
    assert one.problem.startswith("a subscription") is bool(period)


async def test_a_subscription_without_credits_is_shown_too() -> None:
    (one,) = await products_of(
        {"name": "Pro", "plan": "pro", "price_usd": 20, "interval": "month"}
    )

    assert (one.label, one.plan, one.cents, one.period) == ("Pro", "pro", 2000, "month")


async def test_the_prices_of_one_product_are_its_rows() -> None:
    products = await products_of(
        {
            "id": "prod_1",
            "name": "Credits",
            "prices": [
                {"id": "price_1", "unit_amount": 500, "metadata": {"credits": "500"}},
                {
                    "id": "price_2",
                    "unit_amount": 400,
                    "recurring": {"interval": "month"},
                    "metadata": {"credits": "500"},
                },
            ],
        }
    )

    rows = [(p.label, p.price_id, p.credits, p.cents, p.period) for p in products]
    assert rows == [
        ("Credits", "price_1", 500, 500, ""),
        ("Credits", "price_2", 500, 400, "month"),
    ]


async def test_one_product_described_twice_is_one_row_with_all_that_is_said() -> None:
    found = await surveyed(
        {
            GATEWAY: {"offers": [{"price_id": "p", "credits": 100}]},
            NETWORK: {"products": [{"price_id": "p", "price_usd": 1, "name": "Pack"}]},
        }
    )

    (one,) = found.products
    assert (one.label, one.credits, one.cents) == ("Pack", 100, 100)


async def test_a_price_in_another_currency_is_not_taken_for_dollars() -> None:
    (one,) = await products_of(
        {"price_id": "p", "credits": 100, "amount": 100, "currency": "eur"}
    )

    assert one.cents is None


async def test_a_price_id_that_could_do_harm_on_a_command_line_is_not_offered() -> None:
    (one,) = await products_of({"price_id": "x; rm -rf ~", "usd": 1, "credits": 100})

    assert one.price_id == ""


async def test_the_same_product_in_two_documents_is_one() -> None:
    pack: JSON = {"price_id": "p", "credits": 100}

    found = await surveyed({GATEWAY: {"offers": [pack]}, NETWORK: {"products": [pack]}})

    assert len(found.products) == 1


@pytest.mark.parametrize(
    "record", [{"id": "t", "reward": 5, "credits": 5}, {"name": "x", "price": 3}, {}]
)
async def test_what_is_no_product_is_not_taken_for_one(record: JSON) -> None:
    assert await products_of(record) == ()


# -- anything --------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(ANY_JSON, st.text(max_size=200), st.text(max_size=200))
def test_no_content_of_documents_can_stop_a_survey(
    content: JSON, text: str, rules: str
) -> None:
    wrapped: JSON = {"endpoints": content, "products": [content], "base_url": text}

    found = anyio.run(
        surveyed,
        {
            GATEWAY: wrapped,
            NETWORK: {text: content, "method": "POST", "url": f"https://{text}"},
            "/llms.txt": f"POST https://{text}",
            "/robots.txt": f"User-agent: *\nAllow: /\n{rules}",
        },
    )

    assert len(found.pages) == len(DISCOVERY_DOCUMENTS)
