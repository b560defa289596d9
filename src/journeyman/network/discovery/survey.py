"""Reads the twelve discovery documents and says what they declare."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import anyio
from protego import Protego

from journeyman.domain.outcomes import Confirmed, NotSent, Outcome, Refusal, Refused
from journeyman.network.discovery.comparison import Compared, Expectations, compare
from journeyman.network.discovery.products import Product, products_in
from journeyman.network.discovery.statements import statements_in
from journeyman.network.endpoints import DISCOVERY_DOCUMENTS
from journeyman.network.receipts import Document

PATH = "/robots.txt"
PRODUCT = "journeyman"
"""Our product token: what a `User-agent` line must name to mean us (section 2.2.1)."""
_HOST = "http://portal.invalid"
"""Rules are about paths; the matcher wants an address."""


class Robots:
    """The rules for us in one robots.txt."""

    def __init__(self, rules: Protego | None, *, unreachable: str = "") -> None:
        self._rules = rules
        self.unreachable = unreachable
        """Why the rules could not be had, so that nothing may be read; or empty."""

    def allows(self, path: str) -> bool:
        """Return whether we may read a page."""
        if self.unreachable:
            return False
        return self._rules is None or self._rules.can_fetch(f"{_HOST}{path}", PRODUCT)


def robots_from(outcome: Outcome[Document]) -> Robots:
    """Read the rules from the answer to a request for them.

    A definite no means that there are no rules (section 2.3.1.3). Where the server
    could not be reached or failed, everything is disallowed (section 2.3.1.4).
    """
    if isinstance(outcome, Confirmed):
        return Robots(Protego.parse(outcome.value.text))
    if isinstance(outcome, Refused):
        return Robots(None)
    return Robots(None, unreachable=outcome.message)


ROBOTS = PATH

AT_ONCE = 4
"""Documents that are asked for at the same time."""


class Portal(Protocol):
    """Where documents are read."""

    async def document(self, path: str) -> Outcome[Document]:
        """Read one document, without the token."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """What became of one document."""

    path: str
    found: str
    """`yes`, `absent`, `unreadable`, `not reached`, `disallowed` or `not asked`."""
    document: Document | None = None
    problem: str = ""
    """Why it is not there, or what is odd about it."""


@dataclass(frozen=True, slots=True)
class Survey:
    """All documents, what they say, and what they offer."""

    pages: tuple[Page, ...]
    """In the contract's order."""
    compared: tuple[Compared, ...]
    products: tuple[Product, ...]


async def survey(portal: Portal, expected: Expectations) -> Survey:
    """Read robots.txt, then what it allows, a few at once; then compare."""
    outcome = await portal.document(ROBOTS)
    robots = robots_from(outcome)
    pages = {ROBOTS: _page(ROBOTS, outcome)}
    lanes = anyio.CapacityLimiter(AT_ONCE)

    async def read(path: str) -> None:
        async with lanes:
            pages[path] = _page(path, await portal.document(path))

    async with anyio.create_task_group() as group:
        for path in DISCOVERY_DOCUMENTS:
            if path != ROBOTS and robots.allows(path):
                group.start_soon(read, path)
    ordered = tuple(pages.get(p) or _kept_out(p, robots) for p in DISCOVERY_DOCUMENTS)
    return _read_all(ordered, expected)


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


def _kept_out(path: str, robots: Robots) -> Page:
    if robots.unreachable:
        why = "not asked for: robots.txt could not be read, so nothing may be"
        return Page(path=path, found="not asked", problem=why)
    why = "robots.txt does not allow us to read it"
    return Page(path=path, found="disallowed", problem=why)
