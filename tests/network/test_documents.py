"""The portal's static documents, well or badly served."""

import pytest
from tests.network.conftest import ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed, Refused, Unknown
from journeyman.network.answers import Document
from journeyman.network.client import NetworkClient

PAGE = b"<!doctype html><title>My app</title>"


async def document_of(network: NetworkClient, path: str) -> Document:
    outcome = await network.document(path)
    assert isinstance(outcome, Confirmed), outcome
    return outcome.value


async def test_a_json_document_is_parsed(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    content = b'\xef\xbb\xbf{"status": "rejected", "ok": false}'
    server.will(answer(200, content))

    document = await document_of(network, "/.well-known/agent.json")

    assert document.json == {"status": "rejected", "ok": False}
    assert document.content_type == "application/json"
    assert document.text.startswith("{")
    assert document.problem == ""


async def test_a_text_document_is_kept_as_text(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(200, b"# Hi \xff", {"content-type": "text/plain"}))

    document = await document_of(network, "/llms.txt")

    assert (document.text, document.json) == ("# Hi \ufffd", None)
    assert document.problem == ""
    assert server.requests[0].headers["accept"] == "*/*"


async def test_json_is_parsed_by_its_type_where_the_path_says_nothing(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(answer(200, {"openapi": "3.0.1"}))

    assert (await document_of(network, "/v3/api-docs")).json == {"openapi": "3.0.1"}


@pytest.mark.parametrize(
    ("header", "described_at"),
    [
        ('</spec>; rel="service-desc"', ("/spec",)),
        (
            "</css>; rel=preload, <https://a.example/s>; rel=service-desc",
            ("https://a.example/s",),
        ),
        ('</a>; type="application/json"; rel="next describedby"', ("/a",)),
        ('</a>; rel="service-doc"', ()),
        ("nonsense <", ()),
    ],
)
async def test_a_link_header_says_where_the_service_is_described(
    server: ScriptedServer,
    network: NetworkClient,
    header: str,
    described_at: tuple[str, ...],
) -> None:
    server.will(answer(200, {}, {"link": header}))

    document = await document_of(network, "/.well-known/agent.json")

    assert document.described_at == described_at


async def test_a_document_of_another_origin_is_never_asked_for(
    server: ScriptedServer, network: NetworkClient
) -> None:
    with pytest.raises(ValueError, match="neither the portal nor the service"):
        await network.document("/openapi.json", "https://evil.example")

    assert server.requests == []


@pytest.mark.parametrize(
    ("path", "content", "kind", "problem"),
    [
        ("/a.json", b"{}", "text/plain", "JSON, but sent as text/plain"),
        ("/a.json", b"{}", "", "JSON, but sent as no content type"),
        ("/a.json", b"5", "application/json", "neither an object nor an array"),
        ("/robots.txt", PAGE, "text/html", "an HTML page (text/html, 'My app')"),
        ("/sitemap.xml", b"", "application/xml", "it is empty"),
        ("/sitemap.xml", b"<urlset>", "text/xml", "not well-formed XML"),
        ("/sitemap.xml", b"<!DOCTYPE x><urlset/>", "text/xml", "a document type"),
        ("/sitemap.xml", b"<rss/>", "text/xml", "XML of 'rss', not a sitemap"),
        ("/robots.txt", b"hello", "text/plain", "no User-agent line"),
        ("/llms.txt", b"hello", "text/plain", "no `# title`"),
    ],
)
async def test_an_oddly_served_document_is_read_and_said_to_be_odd(
    server: ScriptedServer,
    network: NetworkClient,
    path: str,
    content: bytes,
    kind: str,
    problem: str,
) -> None:
    server.will(answer(200, content, {"content-type": kind}))

    assert problem in (await document_of(network, path)).problem


async def test_a_page_where_json_was_promised_is_unreadable(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(200, PAGE, {"content-type": "text/html"}))

    outcome = await network.document("/.well-known/agent.json")

    assert isinstance(outcome, Unknown)
    assert "an HTML page (text/html, 'My app'), not JSON" in outcome.message


async def test_an_absent_document_is_refused_as_absent(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    server.will(answer(404, PAGE, {"content-type": "text/html"}))

    outcome = await network.document("/llms.txt")

    assert isinstance(outcome, Refused)
    assert outcome.refusal == "absent"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/sitemap.xml", '<?xml version="1.0"?><urlset xmlns="http://x"></urlset>'),
        ("/sitemap.xml", "\ufeff<sitemapindex/>"),
        ("/robots.txt", "# rules\nUser-agent: *\nDisallow:"),
        ("/llms.txt", "\n# Network\n"),
    ],
)
async def test_a_text_document_as_it_should_be_is_not_odd(
    server: ScriptedServer,
    network: NetworkClient,
    path: str,
    content: str,
) -> None:
    kind = "application/xml" if path.endswith("xml") else "text/plain"
    server.will(answer(200, content.encode(), {"content-type": kind}))

    assert (await document_of(network, path)).problem == ""


@pytest.mark.parametrize(
    "path",
    ["llms.txt", "//evil.example/x", "http://evil.example/", "/a b", "/a?b=1", "/\\e"],
)
async def test_a_path_that_could_lead_away_is_refused(
    server: ScriptedServer,
    network: NetworkClient,
    path: str,
) -> None:
    with pytest.raises(ValueError, match="begins with one /"):
        await network.document(path)

    assert server.requests == []
