"""Headers: those that an owner may add, those that are ours, and links in answers."""

import re
from collections.abc import Collection, Iterator, Mapping

from journeyman.domain.tasks import JSON

OWN_HEADERS = frozenset(
    {
        *("accept", "accept-encoding", "authorization", "connection"),
        *("content-length", "content-type", "cookie", "expect", "host"),
        *("idempotency-key", "proxy-authorization", "te", "transfer-encoding"),
        *("upgrade", "user-agent"),
    }
)
"""They are the client's, or frame the message."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VISIBLE = re.compile(r"[\x20-\x7e]*")


_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_REL = re.compile(r"\brel\s*=\s*[\"']?([^\"',;]+)", re.IGNORECASE)


def links_in(header: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the addresses in a `Link` header, with their relations (RFC 8288)."""
    for address, attributes in _LINK.findall(header):
        rel = _REL.search(attributes)
        yield address, set(rel[1].lower().split()) if rel else set()


def header_problems(
    headers: Mapping[str, JSON], own: Collection[str] = OWN_HEADERS
) -> Iterator[str]:
    """Return what is wrong with headers, each to be put behind the table's name."""
    for name, value in headers.items():
        if name.lower() in own:
            yield f".{name} is set by Journeyman itself"
        elif not _TOKEN.fullmatch(name):
            yield f" has {name!r}, which is not a valid header name"
        if not (isinstance(value, str) and _VISIBLE.fullmatch(value)):
            # The value is not quoted: it may be a key.
            yield f".{name} must be text in visible ASCII"
