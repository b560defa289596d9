"""Headers that an owner may add to requests, and those that are ours to set."""

import re
from collections.abc import Iterator, Mapping

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


def header_problems(headers: Mapping[str, JSON]) -> Iterator[str]:
    """Return what is wrong with headers, each to be put behind the table's name."""
    for name, value in headers.items():
        if name.lower() in OWN_HEADERS:
            yield f".{name} is set by Journeyman itself"
        elif not _TOKEN.fullmatch(name):
            yield f" has {name!r}, which is not a valid header name"
        if not (isinstance(value, str) and _VISIBLE.fullmatch(value)):
            # The value is not quoted: it may be a key.
            yield f".{name} must be text in visible ASCII"
