"""What documents declare, compared with the contract and the settings."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from html import unescape
from urllib.parse import SplitResult, urlsplit

from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import JSON
from journeyman.network.answers import Document
from journeyman.network.endpoints import (
    ENDPOINTS,
    Endpoint,
    checked_address,
    origin_of,
    same_network,
)
from journeyman.network.service_model.reading import Found, objects_in, spelling
from journeyman.network.wording import safe_line

MOST_STATEMENTS = 300
"""Of one document."""


# -- what is declared -------------------------------------------------------------

ENDPOINT = "endpoint"
BASE = "base address"
PORTAL = "portal address"
AUTHENTICATION = "authentication"
GIFT = "starter credits"
RATE = "credits for 1 USD"
ENTRY = "price of free entry"
ACTIVATION = "activation"
VERSION = "version"
LIMITS = "limits"

#: The constants of the contract (sections 1, 5.3 and 9).
_CONSTANTS = {
    AUTHENTICATION: "bearer_token",
    GIFT: "100",
    RATE: "100",
    ENTRY: "0",
    ACTIVATION: "instant",
    VERSION: "2.1.0",
}
#: Where each subject stands, spelled without case and `_`.
_NAMES: Mapping[str, tuple[str, ...]] = {
    BASE: (
        *("baseurl", "apibaseurl", "apibase", "baseaddress"),
        *("serviceurl", "gatewayurl", "serverurl", "apiurl", "api", "apiroot"),
    ),
    PORTAL: ("portalurl", "portaladdress"),
    AUTHENTICATION: ("authmethod", "authenticationmethod"),
    GIFT: (
        *("startercredits", "startingcredits", "initialcredits"),
        *("freecredits", "signupcredits", "welcomecredits"),
    ),
    RATE: ("creditsperusd", "creditsperdollar", "usdtocredits", "exchangerate"),
    ENTRY: ("freeentrypriceusd", "entrypriceusd", "registrationpriceusd"),
    ACTIVATION: ("activation",),
}
_AUTHENTICATION = frozenset({"auth", "authentication", "authorization", "security"})
_LIMITS = frozenset({"limits", "ratelimit", "ratelimits", "quotas", "quota"})
_ENDPOINT_LISTS = frozenset({"endpoints", "routes", "apis"})
_ADDRESS = re.compile(r"https?://[^\s<>\"'`]+|/[^\s<>\"'`]*", re.IGNORECASE)
_CALL = re.compile(
    r"\b(GET|POST|PUT|PATCH|DELETE)\s+(https?://[^\s<>\"'`()]+|/[\w./-]+)",
)
_IN_PROSE = {
    RATE: re.compile(
        r"\b1\s*(?:USD|US dollar|dollar)\s*(?:=|is|:|buys)\s*([0-9][0-9,]{0,11})"
        r"\s*credits",
        re.IGNORECASE,
    ),
    GIFT: re.compile(
        r"\b(?:gives|get|receives?|with)\s+(?:you\s+)?([0-9][0-9,]{0,11})\s+"
        r"(?:(?:starter|starting|free)\s+)?credits",
        re.IGNORECASE,
    ),
}
_TAG = re.compile(r"<[^<>]{0,2000}>")


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a document says."""

    subject: str
    said: str
    method: str = ""
    """Of an endpoint, where the document names one."""


def statements_in(document: Document) -> list[Statement]:
    """Return what a document says, each thing once."""
    if document.json is None:
        said = _in_prose(document.text)
    else:
        whole = document.json
        said = (
            one
            for found in objects_in(whole)
            for one in _in_object(found, is_whole=found.body is whole)
        )
    return list(dict.fromkeys(said))[:MOST_STATEMENTS]


def _in_prose(text: str) -> Iterator[Statement]:
    plain = unescape(_TAG.sub(" ", text))
    for method, address in _CALL.findall(plain):
        yield Statement(ENDPOINT, address.rstrip(".,:;"), method)
    for subject, pattern in _IN_PROSE.items():
        for number in pattern.findall(plain):
            yield Statement(subject, number.replace(",", ""))


def _in_object(found: Found, *, is_whole: bool) -> Iterator[Statement]:
    fields, key = found.fields, found.key
    said = {subject: fields.value(names) for subject, names in _NAMES.items()}
    rate = said[RATE]
    if isinstance(rate, str) and (both := _IN_PROSE[RATE].fullmatch(rate)):
        said[RATE] = both[1].replace(",", "")
    if is_whole:
        said[VERSION] = fields.get("version")
        if said[ENTRY] is None and fields.has(("activation", "open")):
            said[ENTRY] = fields.get("priceusd")
    if said[AUTHENTICATION] is None and key in _AUTHENTICATION:
        said[AUTHENTICATION] = fields.value(("method", "type", "scheme"))
    if key in _LIMITS:
        plain = (one for one in sorted(found.body.items()) if _is_plain(one[1]))
        said[LIMITS] = ", ".join(f"{name} {value}" for name, value in plain)
    for subject, value in said.items():
        if _is_plain(value) and (line := safe_line(str(value))):
            yield Statement(subject, line)
    yield from _endpoints(found)


def _is_plain(value: JSON) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def _endpoints(found: Found) -> Iterator[Statement]:
    """Find endpoints that are described by an object, or named by a key."""
    method = found.fields.get("method")
    if isinstance(method, str) and method:
        address = found.fields.value(("url", "endpoint", "path", "href", "uri"))
        if isinstance(address, str):
            yield Statement(ENDPOINT, safe_line(address), method.upper())
        return
    for name, value in found.body.items():
        is_called = spelling(name).endswith(("endpoint", "endpoints"))
        is_named = is_called or found.key in _ENDPOINT_LISTS
        for one in value if isinstance(value, list) else [value]:
            both = _CALL.fullmatch(one) if isinstance(one, str) else None
            verb, address = both.groups() if both else ("", one)
            if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
                continue
            if is_named or "/functions/v1/" in address:
                yield Statement(ENDPOINT, safe_line(address), verb)


def services_in(statements: Iterable[Statement], description: JSON) -> list[str]:
    """Return the base addresses of services that are named, the likeliest first.

    They are stated, or an endpoint of the contract is stated there, or they are among
    the servers of an OpenAPI description.
    """
    stated = {BASE: _base_of, ENDPOINT: _base_of_endpoint}
    votes = Counter(
        stated[one.subject](one.said) for one in statements if one.subject in stated
    )
    servers = description.get("servers") if isinstance(description, dict) else None
    for server in servers if isinstance(servers, list) else ():
        url = server.get("url") if isinstance(server, dict) else None
        votes[_base_of(url) if isinstance(url, str) else ""] += 1
    return [base for base, _ in votes.most_common() if base]


def _base_of_endpoint(address: str) -> str:
    plain = address.rstrip("/")
    ours = (one.path for one in ENDPOINTS if plain.endswith(one.path))
    path = next(ours, None)
    return _base_of(plain.removesuffix(path)) if path else ""


def _base_of(address: str) -> str:
    """Return what could be set as base_url; empty where it cannot be."""
    try:
        return checked_address(address, "address").removesuffix("/functions/v1")
    except ConfigurationError:
        return ""


# -- how it compares --------------------------------------------------------------


class Agreement(StrEnum):
    """The verdict of one comparison; first what needs a person's eye."""

    #: It names an address that is not ours: never used, and never given the token.
    ELSEWHERE = "elsewhere"
    #: It says something else than the contract or the settings.
    DRIFT = "drift"
    #: The contract says nothing about it.
    NEW = "new"
    #: It says what the contract or the settings say.
    AGREES = "agrees"
    #: The contract says it, and no document does.
    UNSAID = "unsaid"


_ORDER = list(Agreement)


@dataclass(frozen=True, slots=True)
class Compared:
    """One thing that documents say, beside what was expected."""

    subject: str
    said: str
    expected: str
    """By the contract or the settings; empty where they say nothing."""
    verdict: Agreement
    documents: tuple[str, ...]
    """The paths of the documents that say so."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """Where we believe the service and its portal to be."""

    base_url: str
    portal_url: str

    def by_subject(self) -> dict[str, str]:
        """Return what the documents should say."""
        endpoints = {
            f"{ENDPOINT} {one.name}": f"{one.method} {self.base_url}{one.path}"
            for one in ENDPOINTS
        }
        return {**_CONSTANTS, BASE: self.base_url, **endpoints}


def compare(
    statements: Iterable[tuple[str, Statement]], expected: Expectations
) -> list[Compared]:
    """Compare what was said, each thing beside the path of its document.

    What several documents say is one row; the order is that of `Agreement`.
    """
    rows: dict[tuple[str, str, str, Agreement], list[str]] = {}
    wanted = expected.by_subject()
    for path, one in statements:
        subject, verdict = _judge(one, expected)
        said = f"{one.method} {one.said}".strip()
        due = expected.portal_url if subject == PORTAL else wanted.get(subject, "")
        rows.setdefault((subject, said, due, verdict), []).append(path)
    found = [Compared(*key, tuple(dict.fromkeys(paths))) for key, paths in rows.items()]
    unsaid = set(wanted) - {row.subject for row in found}
    found += (Compared(one, "", wanted[one], Agreement.UNSAID, ()) for one in unsaid)
    return sorted(found, key=lambda row: (_ORDER.index(row.verdict), row.subject))


def _judge(one: Statement, expected: Expectations) -> tuple[str, Agreement]:
    if one.subject == ENDPOINT:
        return _judge_endpoint(one, expected)
    if one.subject == LIMITS:
        return one.subject, Agreement.NEW
    if one.subject in {BASE, PORTAL}:
        ours = expected.base_url if one.subject == BASE else expected.portal_url
        return one.subject, _judge_address(one.said, ours)
    agrees = _is_same(one.said, _CONSTANTS[one.subject])
    if one.subject == AUTHENTICATION:
        agrees = spelling(one.said) in {"bearer", "bearertoken"}
    return one.subject, Agreement.AGREES if agrees else Agreement.DRIFT


def _is_same(said: str, wanted: str) -> bool:
    try:
        return said.lower() == wanted or float(said) == float(wanted)
    except ValueError:
        return False


def _judge_address(said: str, wanted: str) -> Agreement:
    address = _parsed(said)
    if address is None or not address.hostname:
        return Agreement.DRIFT
    if same_network(said, wanted):
        return Agreement.AGREES
    return Agreement.DRIFT if _is_at(address, wanted) else Agreement.ELSEWHERE


def _judge_endpoint(one: Statement, expected: Expectations) -> tuple[str, Agreement]:
    address = _parsed(one.said)
    if address is None:
        return one.subject, Agreement.DRIFT
    endpoint = _meant(address.path)
    subject = f"{ENDPOINT} {endpoint.name}" if endpoint else ENDPOINT
    if address.hostname and not _is_at(address, expected.base_url):
        is_page = endpoint is None and _is_at(address, expected.portal_url)
        return subject, Agreement.NEW if is_page else Agreement.ELSEWHERE
    if endpoint is None:
        return subject, Agreement.NEW
    own_path = urlsplit(expected.base_url).path.rstrip("/") + endpoint.path
    is_there = address.path.rstrip("/") in {endpoint.path, own_path}
    agrees = is_there and one.method in ("", endpoint.method)
    return subject, Agreement.AGREES if agrees else Agreement.DRIFT


def _meant(path: str) -> Endpoint | None:
    """Find the endpoint of the contract that a path names by its last part."""
    last = path.rstrip("/").rpartition("/")[2]
    named = (one for one in ENDPOINTS if one.path.rpartition("/")[2] == last)
    return next(named, None)


def _is_at(address: SplitResult, url: str) -> bool:
    """Return whether an address has the origin of another one."""
    return origin_of(address) == origin_of(urlsplit(url))


def _parsed(said: str) -> SplitResult | None:
    try:
        address = urlsplit(said)
        _ = address.port  # raises for one that is not a number
    except ValueError:
        return None
    return address
