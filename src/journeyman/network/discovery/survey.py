"""Reads the twelve discovery documents and reports what they declare."""

from collections.abc import Iterable
from dataclasses import dataclass

import anyio
from protego import Protego

from journeyman.domain.outcomes import Confirmed, NotSent, Outcome, Refusal, Refused
from journeyman.network.answers import Document
from journeyman.network.client import NetworkClient
from journeyman.network.discovery.comparison import Compared, Expectations, compare
from journeyman.network.discovery.products import Product, products_in
from journeyman.network.discovery.statements import statements_in
from journeyman.network.endpoints import DISCOVERY_DOCUMENTS

ROBOTS = "/robots.txt"
PRODUCT = "journeyman"
"""Our product token: what a `User-agent` line names to mean us (RFC 9309, 2.2.1)."""
_HOST = "http://portal.invalid"
"""Rules are about paths; the matcher wants an address."""
AT_ONCE = 4
"""Documents that are read at the same time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """One document, or why it is not there."""

    path: str
    found: str
    """`yes`, `absent`, `unreadable`, `not reached`, `disallowed` or `not asked`."""
    document: Document | None = None
    problem: str = ""
    """Why it is not there, or what is odd about it."""


@dataclass(frozen=True, slots=True)
class Survey:
    """All documents, what they declare, and what they offer."""

    pages: tuple[Page, ...]
    """In the contract's order."""
    compared: tuple[Compared, ...]
    products: tuple[Product, ...]


async def survey(client: NetworkClient, expected: Expectations) -> Survey:
    """Read robots.txt, then what it allows, a few at once; then compare."""
    outcome = await client.document(ROBOTS)
    pages = {ROBOTS: _page(ROBOTS, outcome)}
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def read(path: str) -> None:
        async with limiter:
            pages[path] = _page(path, await client.document(path))

    async with anyio.create_task_group() as group:
        for path in DISCOVERY_DOCUMENTS:
            if path == ROBOTS:
                continue
            if disallowed := _disallowed(path, outcome):
                pages[path] = disallowed
            else:
                group.start_soon(read, path)
    return _read_all(tuple(pages[path] for path in DISCOVERY_DOCUMENTS), expected)


def _disallowed(path: str, robots: Outcome[Document]) -> Page | None:
    """Return the page of a document that we may not read, or None (RFC 9309, 2.3.1).

    A definite no to robots.txt means that there are no rules. Where the server could
    not be reached or failed, everything is disallowed.
    """
    match robots:
        case Refused():
            return None
        case Confirmed(document):
            if Protego.parse(document.text).can_fetch(f"{_HOST}{path}", PRODUCT):
                return None
            why = "robots.txt does not allow us to read it"
            return Page(path=path, found="disallowed", problem=why)
        case _:
            why = "not read: robots.txt could not be read, so everything is disallowed"
            return Page(path=path, found="not asked", problem=why)


def _read_all(pages: tuple[Page, ...], expected: Expectations) -> Survey:
    documents = [page.document for page in pages if page.document is not None]
    said = [one for document in documents for one in statements_in(document)]
    return Survey(pages, tuple(compare(said, expected)), tuple(_products(documents)))


def _products(documents: Iterable[Document]) -> list[Product]:
    """Return each product once: documents repeat each other's catalogue."""
    found: dict[tuple[str, str, int | None, int | None], Product] = {}
    for document in documents:
        for one in products_in(document.path, document.json):
            key = (one.price_id or one.label, one.plan, one.credits, one.cents)
            found.setdefault(key, one)
    return list(found.values())


def _page(path: str, outcome: Outcome[Document]) -> Page:
    if isinstance(outcome, Confirmed):
        document = outcome.value
        return Page(path=path, found="yes", document=document, problem=document.problem)
    found = "unreadable"
    if isinstance(outcome, NotSent):
        found = "not reached"
    elif isinstance(outcome, Refused) and outcome.refusal is Refusal.ABSENT:
        found = "absent"
    return Page(path=path, found=found, problem=outcome.message)
