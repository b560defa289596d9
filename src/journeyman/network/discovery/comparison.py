"""Compares what documents declare with the contract and the settings."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

from journeyman.network.discovery.statements import Statement, Subject
from journeyman.network.endpoints import ENDPOINTS, Endpoint, origin_of, same_network
from journeyman.network.records import spelling


class Agreement(StrEnum):
    """The verdict of one comparison."""

    #: The document says what the contract or the settings say.
    AGREES = "agrees"
    #: It says something else.
    DRIFT = "drift"
    #: It names an address that is not ours: never used, and never given the token.
    ELSEWHERE = "elsewhere"
    #: The contract says nothing about it.
    NEW = "new"
    #: The contract says it, and no document does.
    UNSAID = "unsaid"


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


#: The constants of the contract (sections 1, 5.3 and 9).
_CONSTANTS: dict[Subject, str] = {
    Subject.AUTHENTICATION: "bearer_token",
    Subject.STARTER_CREDITS: "100",
    Subject.EXCHANGE_RATE: "100",
    Subject.ENTRY_PRICE: "0",
    Subject.ACTIVATION: "instant",
    Subject.VERSION: "2.1.0",
}
_BEARER = frozenset({"bearertoken", "bearer"})


def compare(
    statements: Iterable[Statement],
    expected: Expectations,
) -> list[Compared]:
    """Compare what was said; the same thing said by several documents is one row.

    They come in the order of `_ORDER`.
    """
    rows: dict[tuple[str, str, str, Agreement], list[str]] = {}
    for one in statements:
        subject, wanted, verdict = _judge(one, expected)
        said = f"{one.method} {one.said}".strip()
        rows.setdefault((subject, said, wanted, verdict), []).append(one.path)
    found = [
        Compared(subject, said, wanted, verdict, tuple(dict.fromkeys(paths)))
        for (subject, said, wanted, verdict), paths in rows.items()
    ]
    found += _unsaid({row.subject for row in found}, expected)
    return sorted(found, key=lambda row: (_ORDER.index(row.verdict), row.subject))


#: First what needs a person's eye.
_ORDER = (
    *(Agreement.ELSEWHERE, Agreement.DRIFT, Agreement.NEW),
    *(Agreement.AGREES, Agreement.UNSAID),
)


def _unsaid(said: set[str], expected: Expectations) -> Iterator[Compared]:
    wanted = {str(subject): value for subject, value in _CONSTANTS.items()}
    wanted[Subject.BASE_ADDRESS] = expected.base_url
    for endpoint in ENDPOINTS:
        wanted[_subject_of(endpoint)] = _address_of(endpoint, expected)
    for subject, value in wanted.items():
        if subject not in said:
            yield Compared(subject, "", value, Agreement.UNSAID, ())


def _subject_of(endpoint: Endpoint) -> str:
    return f"{Subject.ENDPOINT} {endpoint.name}"


def _address_of(endpoint: Endpoint, expected: Expectations) -> str:
    return f"{endpoint.method} {expected.base_url}{endpoint.path}"


def _judge(one: Statement, expected: Expectations) -> tuple[str, str, Agreement]:
    if one.subject is Subject.ENDPOINT:
        return _judge_endpoint(one, expected)
    if one.subject is Subject.LIMITS:
        return one.subject, "", Agreement.NEW
    if one.subject in (Subject.BASE_ADDRESS, Subject.PORTAL):
        is_base = one.subject is Subject.BASE_ADDRESS
        wanted = expected.base_url if is_base else expected.portal_url
        return one.subject, wanted, _judge_address(one.said, wanted)
    wanted = _CONSTANTS[one.subject]
    agrees = _is_same(one.said, wanted, one.subject)
    return one.subject, wanted, Agreement.AGREES if agrees else Agreement.DRIFT


def _is_same(said: str, wanted: str, subject: Subject) -> bool:
    if subject is Subject.AUTHENTICATION:
        return spelling(said) in _BEARER
    if said.lower() == wanted:
        return True
    try:
        return float(said) == float(wanted)
    except ValueError:
        return False


def _judge_address(said: str, wanted: str) -> Agreement:
    address = _parsed(said)
    if address is None or not address.hostname:
        return Agreement.DRIFT
    if same_network(said, wanted):
        return Agreement.AGREES
    return Agreement.DRIFT if _is_at(address, wanted) else Agreement.ELSEWHERE


def _judge_endpoint(
    one: Statement, expected: Expectations
) -> tuple[str, str, Agreement]:
    address = _parsed(one.said)
    if address is None:
        return one.subject, "", Agreement.DRIFT
    endpoint = _meant(address.path)
    is_ours = not address.hostname or _is_at(address, expected.base_url)
    wanted = ""
    subject: str = one.subject
    if endpoint is not None:
        subject, wanted = _subject_of(endpoint), _address_of(endpoint, expected)
    if not is_ours:
        is_page = endpoint is None and _is_at(address, expected.portal_url)
        return subject, wanted, Agreement.NEW if is_page else Agreement.ELSEWHERE
    if endpoint is None:
        return subject, wanted, Agreement.NEW
    agrees = _is_path(address, endpoint, expected.base_url) and (
        one.method in ("", endpoint.method)
    )
    return subject, wanted, Agreement.AGREES if agrees else Agreement.DRIFT


def _meant(path: str) -> Endpoint | None:
    """Find the endpoint of the contract that a path names by its last part."""
    last = path.rstrip("/").rpartition("/")[2]
    for endpoint in ENDPOINTS:
        if last == endpoint.path.rpartition("/")[2]:
            return endpoint
    return None


def _is_path(address: SplitResult, endpoint: Endpoint, base_url: str) -> bool:
    path = address.path.rstrip("/")
    if path == endpoint.path:
        return True
    return path == urlsplit(base_url).path.rstrip("/") + endpoint.path


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
