"""What documents declare: endpoints, addresses, prices, limits."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from html import unescape

from journeyman.domain.tasks import JSON
from journeyman.network.answers import Document
from journeyman.network.records import Fields, spelling
from journeyman.network.wording import safe_line

DEEPEST = 12
"""Levels of objects and arrays."""
MOST_OBJECTS = 5_000
"""Of one document."""


@dataclass(frozen=True, slots=True)
class Found:
    """One object of a document."""

    key: str
    """Under which it stands, spelled without case and `_`; of a list, the list's."""
    fields: Fields
    body: dict[str, JSON]
    depth: int
    """0 is the document itself."""


def objects_in(document: JSON) -> Iterator[Found]:
    """Yield the objects of a document, the outer ones first."""
    waiting: deque[tuple[str, JSON, int]] = deque([("", document, 0)])
    for _ in range(MOST_OBJECTS):
        if not waiting:
            return
        key, value, depth = waiting.popleft()
        if isinstance(value, dict):
            yield Found(key, Fields(value), value, depth)
            inner = [(spelling(name), one) for name, one in value.items()]
        elif isinstance(value, list):
            inner = [(key, one) for one in value]
        else:
            continue
        if depth < DEEPEST:
            waiting += (
                (name, one, depth + 1)
                for name, one in inner
                if isinstance(one, dict | list)
            )


class Subject(StrEnum):
    """What a statement is about."""

    ENDPOINT = "endpoint"
    BASE_ADDRESS = "base address"
    PORTAL = "portal address"
    AUTHENTICATION = "authentication"
    STARTER_CREDITS = "starter credits"
    EXCHANGE_RATE = "credits for 1 USD"
    ENTRY_PRICE = "price of free entry"
    ACTIVATION = "activation"
    VERSION = "version"
    LIMITS = "limits"


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a document says."""

    subject: Subject
    said: str
    path: str
    """Of the document."""
    method: str = ""
    """Of an endpoint, where the document names one."""


#: Where each subject stands, spelled without case and `_`.
_NAMES: dict[Subject, tuple[str, ...]] = {
    Subject.BASE_ADDRESS: (
        *("baseurl", "apibaseurl", "apibase", "baseaddress"),
        *("serviceurl", "gatewayurl", "serverurl"),
    ),
    Subject.PORTAL: ("portalurl", "portaladdress"),
    Subject.AUTHENTICATION: ("authmethod", "authenticationmethod"),
    Subject.STARTER_CREDITS: (
        *("startercredits", "startingcredits", "initialcredits"),
        *("freecredits", "signupcredits", "welcomecredits"),
    ),
    Subject.EXCHANGE_RATE: (
        *("creditsperusd", "creditsperdollar", "usdtocredits", "exchangerate"),
    ),
    Subject.ENTRY_PRICE: ("freeentrypriceusd", "entrypriceusd", "registrationpriceusd"),
    Subject.ACTIVATION: ("activation",),
}
_AUTHENTICATION = frozenset({"auth", "authentication", "authorization", "security"})
_METHODS = ("method", "type", "scheme")
_LIMITS = frozenset({"limits", "ratelimit", "ratelimits", "quotas", "quota"})
_ADDRESSES = ("url", "endpoint", "path", "href", "uri")
_ENDPOINT_LISTS = frozenset({"endpoints", "routes", "apis"})
_CALLED = ("endpoint", "endpoints")
_ADDRESS = re.compile(r"https?://[^\s<>\"'`]+|/[^\s<>\"'`]*", re.IGNORECASE)
_IN_PROSE = re.compile(
    r"\b(GET|POST|PUT|PATCH|DELETE)\s+(https?://[^\s<>\"'`()]+|/[\w./-]+)",
)
_RATE = re.compile(
    r"\b1\s*(?:USD|US dollar|dollar)\s*(?:=|is|:|buys)\s*([0-9][0-9,]{0,11})\s*credits",
    re.IGNORECASE,
)
_GIFT = re.compile(
    r"\b(?:gives|get|receives?|with)\s+(?:you\s+)?([0-9][0-9,]{0,11})\s+"
    r"(?:(?:starter|starting|free)\s+)?credits",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^<>]{0,2000}>")
MOST_STATEMENTS = 300
"""Of one document."""


def statements_in(document: Document) -> list[Statement]:
    """Return what a document says, each thing once."""
    if document.json is not None:
        said = _in_json(document.path, document.json)
    else:
        said = _in_prose(document.path, document.text)
    return list(dict.fromkeys(said))[:MOST_STATEMENTS]


def _in_prose(path: str, text: str) -> Iterator[Statement]:
    plain = unescape(_TAG.sub(" ", text))
    for method, address in _IN_PROSE.findall(plain):
        yield Statement(Subject.ENDPOINT, address.rstrip(".,:;"), path, method)
    for pattern, subject in (
        (_RATE, Subject.EXCHANGE_RATE),
        (_GIFT, Subject.STARTER_CREDITS),
    ):
        for number in pattern.findall(plain):
            yield Statement(subject, number.replace(",", ""), path)


def _in_json(path: str, body: JSON) -> Iterator[Statement]:
    for found in objects_in(body):
        declared = (
            *_rules(found),
            *_authentication(found),
            *_limits(found),
            *_endpoints(found),
        )
        for subject, value, method in declared:
            said = _as_said(value)
            if said:
                yield Statement(subject, said, path, method)


def _rules(found: Found) -> Iterator[tuple[Subject, JSON, str]]:
    for subject, names in _NAMES.items():
        value = found.fields.value(names)
        rate = _RATE.fullmatch(value) if isinstance(value, str) else None
        yield subject, rate[1].replace(",", "") if rate else value, ""
    if found.depth == 0:
        yield Subject.VERSION, found.fields.get("version"), ""
        if found.fields.has(("activation", "open")):
            yield Subject.ENTRY_PRICE, found.fields.get("priceusd"), ""


def _authentication(found: Found) -> Iterator[tuple[Subject, JSON, str]]:
    if found.key in _AUTHENTICATION:
        yield Subject.AUTHENTICATION, found.fields.value(_METHODS), ""


def _limits(found: Found) -> Iterator[tuple[Subject, JSON, str]]:
    if found.key in _LIMITS:
        parts = [
            f"{name} {value}"
            for name, value in sorted(found.body.items())
            if isinstance(value, int | float | str)
        ]
        yield Subject.LIMITS, ", ".join(parts), ""


def _endpoints(found: Found) -> Iterator[tuple[Subject, JSON, str]]:
    """Find endpoints that are described by an object, or named by a key."""
    method = found.fields.get("method")
    known = method.upper() if isinstance(method, str) else ""
    if known:
        yield Subject.ENDPOINT, found.fields.value(_ADDRESSES), known
        return
    for name, value in found.body.items():
        is_named = found.key in _ENDPOINT_LISTS or spelling(name).endswith(_CALLED)
        for one in value if isinstance(value, list) else [value]:
            address, verb = _address_in(one)
            if address and (is_named or "/functions/v1/" in address):
                yield Subject.ENDPOINT, address, verb


def _address_in(value: JSON) -> tuple[str, str]:
    """Return the address and the method in `https://...`, `/...` or `POST /...`."""
    if not isinstance(value, str):
        return "", ""
    both = _IN_PROSE.fullmatch(value)
    if both:
        return both[2], both[1]
    return (value, "") if _ADDRESS.fullmatch(value) else ("", "")


def _as_said(value: JSON) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ""
    return safe_line(str(value))
