"""Reads the discovery documents, and what they point to on their own origin."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from urllib.parse import urljoin, urlsplit

import anyio
from protego import Protego

from journeyman.domain.outcomes import Confirmed, NotSent, Outcome, Refusal, Refused
from journeyman.domain.tasks import JSON
from journeyman.network.answers import Document
from journeyman.network.client import NetworkClient
from journeyman.network.discovery.comparison import (
    Compared,
    Expectations,
    compare,
    services_in,
    statements_in,
)
from journeyman.network.discovery.products import Product, each_once, products_in
from journeyman.network.endpoints import DISCOVERY_DOCUMENTS, origin_of
from journeyman.network.service_model.openapi import is_description
from journeyman.network.service_model.reading import objects_in, spelling
from journeyman.network.service_model.yaml_text import UnreadableYAMLError, parse_yaml

ROBOTS = "/robots.txt"
PRODUCT = "journeyman"
"""Our product token: what a `User-agent` line names to mean us (RFC 9309, 2.2.1)."""
_HOST = "http://portal.invalid"
"""Rules are about paths; the matcher wants an address."""
AT_ONCE = 4
"""Documents that are read at the same time."""
MOST_DOCUMENTS = 20
"""That are asked for, the twelve of the contract among them."""
USUAL_PLACES = (
    *("/openapi.json", "/functions/v1/openapi.json", "/swagger.json"),
    *("/v3/api-docs", "/api-docs", "/.well-known/openapi.json", "/openapi.yaml"),
)
"""Of a description, where no document names one: as web frameworks have it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """One document, or why it is not there."""

    path: str
    """On the portal; a whole address for what is not there."""
    found: str
    """`yes`, `absent`, `unreadable`, `not reached`, `disallowed` or `not asked`."""
    document: Document | None = None
    problem: str = ""
    """Why it is not there, or what is odd about it."""
    was_throttled: bool = False


@dataclass(frozen=True, slots=True)
class Description:
    """An OpenAPI description that the network publishes."""

    path: str
    """Of the document that it was found in."""
    document: JSON = field(repr=False)


@dataclass(frozen=True, slots=True)
class Survey:
    """All documents, what they declare, and what they offer."""

    pages: tuple[Page, ...]
    """The contract's, in its order; then others that were found."""
    compared: tuple[Compared, ...]
    products: tuple[Product, ...]
    description: Description | None = None
    services: tuple[str, ...] = ()
    """Base addresses of a service that the documents name, the likeliest first."""


async def survey(client: NetworkClient, expected: Expectations) -> Survey:
    """Read robots.txt, then what it allows, a few at once; then compare."""
    reading = _Reading(client, expected)
    await reading.read([expected.portal_url + path for path in DISCOVERY_DOCUMENTS])
    while pointed_at := reading.pointed_at():
        await reading.read(pointed_at)
    if _description_in(reading.pages.values()) is None:
        places = [_origin(expected.base_url) + path for path in USUAL_PLACES]
        await reading.read(places, is_guess=True)
    return _read_all(tuple(reading.pages.values()), expected)


@dataclass(eq=False)
class _Reading:
    """Asks for documents of the portal and the service, each once."""

    client: NetworkClient
    expected: Expectations
    pages: dict[str, Page] = field(default_factory=dict)
    """By address."""
    _robots: dict[str, Outcome[Document]] = field(default_factory=dict)
    """By origin."""

    async def read(self, addresses: Sequence[str], *, is_guess: bool = False) -> None:
        """Ask for documents; those that were guessed leave no page if not there."""
        limiter = anyio.CapacityLimiter(AT_ONCE)
        found: dict[str, Page] = {}

        async def read_one(address: str) -> None:
            async with limiter:
                found[address] = await _with_yaml(await self._page(address))

        for origin in dict.fromkeys(map(_origin, addresses)):
            await self._read_rules(origin)
        async with anyio.create_task_group() as group:
            for address in addresses:
                if address not in self.pages:
                    group.start_soon(read_one, address)
        for address in addresses:
            if address in found and (found[address].document or not is_guess):
                self.pages[address] = found[address]

    def pointed_at(self) -> list[str]:
        """Return what the documents point to and was not asked for, within bounds."""
        own = {_origin(self.expected.portal_url), _origin(self.expected.base_url)}
        named: dict[str, bool] = {}
        for page in self.pages.values():
            if page.document is not None:
                origin = _origin(self._address_of(page))
                for address, describes in _documents_named(page.document, origin):
                    named[address] = describes or named.get(address, False)
        new = [
            address
            for address in sorted(named, key=lambda one: not named[one])
            if address not in self.pages and _origin(address) in own
        ]
        return new[: max(0, MOST_DOCUMENTS - len(self.pages))]

    def _address_of(self, page: Page) -> str:
        is_here = page.path.startswith("/")
        return self.expected.portal_url + page.path if is_here else page.path

    async def _read_rules(self, origin: str) -> None:
        if origin in self._robots:
            return
        portal = self.expected.portal_url
        if origin != _origin(portal):
            self._robots[origin] = await self.client.document(ROBOTS, origin)
            return
        outcome = self._robots[origin] = await self.client.document(ROBOTS)
        self.pages[portal + ROBOTS] = _page(ROBOTS, outcome)

    async def _page(self, address: str) -> Page:
        portal, origin = self.expected.portal_url, _origin(address)
        path = urlsplit(address).path
        name = address.removeprefix(portal) if origin == _origin(portal) else address
        if disallowed := _disallowed(path, name, self._robots[origin]):
            return disallowed
        if any(page.was_throttled for page in self.pages.values()):
            why = "not read: the network asks us to slow down"
            return Page(path=name, found="not asked", problem=why)
        is_portal = address == portal + name
        asked = (name, None) if is_portal else (path, origin)
        return _page(name, await self.client.document(*asked))


_YAML_DESCRIPTION = re.compile(r"^(?:openapi|swagger):\s", re.MULTILINE)
_BEGINNING = 5_000
"""In characters: where a description in YAML says that it is one."""


async def _with_yaml(page: Page) -> Page:
    """Return a page whose document is read where it is a description in YAML."""
    document = page.document
    if document is None or document.json is not None:
        return page
    if not _YAML_DESCRIPTION.search(document.text[:_BEGINNING]):
        return page
    try:
        read = await anyio.to_thread.run_sync(parse_yaml, document.text)
    except UnreadableYAMLError as error:
        return replace(page, problem=str(error))
    return replace(page, document=replace(document, json=read))


def _origin(address: str) -> str:
    parts = urlsplit(address)
    scheme, host, port = origin_of(parts)
    return f"{scheme}://{parts.netloc}" if host and port else ""


def _disallowed(path: str, name: str, robots: Outcome[Document]) -> Page | None:
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
            return Page(path=name, found="disallowed", problem=why)
        case _:
            why = "not read: robots.txt could not be read, so everything is disallowed"
            return Page(path=name, found="not asked", problem=why)


def _read_all(pages: tuple[Page, ...], expected: Expectations) -> Survey:
    in_order = {path: rank for rank, path in enumerate(DISCOVERY_DOCUMENTS)}
    pages = tuple(sorted(pages, key=lambda page: in_order.get(page.path, len(pages))))
    read = [page.document for page in pages if page.document is not None]
    documents = [one for one in read if not is_description(one.json)]
    said = [(one.path, said) for one in documents for said in statements_in(one)]
    description = _description_in(pages)
    return Survey(
        pages,
        tuple(compare(said, expected)),
        tuple(each_once(p for d in documents for p in products_in(d.path, d.json))),
        description,
        tuple(
            services_in(
                (one for _, one in said), description.document if description else None
            )
        ),
    )


def _description_in(pages: Iterable[Page]) -> Description | None:
    """Return the first description, alone in its document or inside another one."""
    found = (
        Description(page.path, one.body)
        for page in pages
        if page.document is not None
        for one in objects_in(page.document.json)
        if is_description(one.body)
    )
    return next(found, None)


def _page(path: str, outcome: Outcome[Document]) -> Page:
    if isinstance(outcome, Confirmed):
        document = outcome.value
        return Page(path=path, found="yes", document=document, problem=document.problem)
    found, was_throttled = "unreadable", False
    if isinstance(outcome, NotSent):
        found = "not reached"
    elif isinstance(outcome, Refused):
        was_throttled = outcome.refusal is Refusal.THROTTLED
        found = "absent" if outcome.refusal is Refusal.ABSENT else "unreadable"
    return Page(
        path=path, found=found, problem=outcome.message, was_throttled=was_throttled
    )


# -- where documents point to -----------------------------------------------------

MOST_LINKS = 200
"""Of one document."""
_DESCRIPTION_WORDS = ("openapi", "swagger", "apidocs", "apispec", "servicedesc")
"""Parts of a key or of a path, as `spelling` gives them, that tell of a description."""
_DESCRIPTION_KEYS = frozenset({"spec", "specification", "specurl", "servicemeta"})
_MANUAL_KEYS = frozenset({"documentation", "docs", "servicedoc", "reference"})
_DOCUMENT = re.compile(
    r"\.(?:json|txt|xml|ya?ml)$|^/\.well-known/|/docs?/?$", re.IGNORECASE
)
_IN_TEXT = re.compile(
    r"""https?://[^\s<>"'`)\]]+"""
    r"""|(?<=\]\()/[^\s)]*"""
    r"""|(?<=["'])/[\w.~/-]+(?=["'])"""
    r"""|(?<![\w/.:])/[\w.~/-]*(?:openapi|swagger|api-docs)[\w.~/-]*""",
)


def _documents_named(document: Document, origin: str) -> Iterator[tuple[str, bool]]:
    """Yield the documents that one points to; True: it may describe the service.

    `origin` completes links that begin with `/`. The addresses may be anywhere.
    """
    words_at: dict[str, set[str]] = {}
    for address, words in _links(document):
        target = _absolute(address, origin)
        if target and len(words_at) < MOST_LINKS:
            words_at.setdefault(target, set()).update(words)
    for address, keys in words_at.items():
        path = urlsplit(address).path
        said = " ".join((*keys, spelling(path)))
        describes = any(word in said for word in _DESCRIPTION_WORDS)
        describes = describes or bool(keys & _DESCRIPTION_KEYS)
        if describes or keys & _MANUAL_KEYS or _DOCUMENT.search(path):
            yield address, describes


def _links(document: Document) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each address, with the words under which it stands."""
    yield from ((address, ("servicedesc",)) for address in document.described_at)
    if document.json is None:
        for found in _IN_TEXT.findall(unescape(document.text)):
            yield found.rstrip(".,;:"), ()
    for one in objects_in({"": document.json}):
        rel = one.fields.get("rel")
        words = (*one.words, spelling(rel)) if isinstance(rel, str) else one.words
        for name, value in one.body.items():
            for address in value if isinstance(value, list) else [value]:
                if isinstance(address, str) and address.startswith(_BEGINNINGS):
                    yield address, (*words, spelling(name))


_BEGINNINGS = ("http://", "https://", "/")


def _absolute(address: str, origin: str) -> str:
    """Return an address that can be asked for; empty for any other."""
    try:
        parts = urlsplit(urljoin(f"{origin}/", address))
        _ = parts.port  # raises for one that is not a number
    except ValueError:
        return ""
    is_plain = parts.scheme in ("http", "https") and parts.hostname and not parts.query
    return f"{parts.scheme}://{parts.netloc}{parts.path or '/'}" if is_plain else ""
