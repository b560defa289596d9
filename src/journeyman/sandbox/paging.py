"""Pages of a listing: how one is asked for, and how an answer shows the next.

| pagination | asked for by  | shown                                      |
|------------|---------------|--------------------------------------------|
| cursor     | `cursor`      | `next_cursor`, null on the last page       |
| page       | `page`        | `page` (or `page_number`), `total_pages`   |
| offset     | `offset`      | `offset` and `total`                       |
| link       | `page`        | a `Link` header with `rel="next"`          |

Where a listing is a bare array, only a `Link` header can show anything.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from journeyman.sandbox.contract import DISCOVER
from journeyman.sandbox.errors import FieldError, FieldErrorKind, RefusalError
from journeyman.sandbox.options import Pagination, SandboxOptions
from journeyman.sandbox.tasks import Start, TaskRecords

_LARGEST = 10**9


class PageWindow(NamedTuple):
    """The part of a listing that is asked for."""

    size: int
    start: Start
    number: int = 0
    """Its number, from 0, where pages are numbered."""


class PageInfo(NamedTuple):
    """What an answer shows of its pages."""

    fields: Mapping[str, Any]
    """Beside the records."""
    headers: Mapping[str, str]


def asked_for(
    query: Mapping[str, str], options: SandboxOptions, limit: int
) -> PageWindow:
    """Return which page a request asks for.

    Raises:
        RefusalError: its parameter is not one that an answer of ours has shown.
    """
    if options.pagination == "none":
        return PageWindow(limit, Start())
    size = min(limit, options.page_size)
    match _pagination(options):
        case "cursor":
            return PageWindow(size, Start(after=_sequence(query.get("cursor", ""))))
        case "offset":
            skipped = _whole(query, "offset", 0)
            return PageWindow(size, Start(skipped=skipped), skipped // size)
        case _:
            first = _first(options)
            number = _whole(query, "page", first) - first
            return PageWindow(size, Start(skipped=number * size), number)


def around(page: PageWindow, options: SandboxOptions, listing: TaskRecords) -> PageInfo:
    """Return what the answer with that page shows."""
    before = page.start.skipped
    pages = -(-listing.total // page.size)
    if options.pagination == "none":
        return PageInfo({}, {})
    match _pagination(options):
        case "cursor":
            is_last = len(listing.records) < page.size
            after = None if is_last else _cursor(listing.last)
            return PageInfo({"next_cursor": after}, {})
        case "offset":
            return PageInfo({"offset": before, "total": listing.total}, {})
        case "page":
            name = "page_number" if options.listing_format == "paged" else "page"
            number = page.number + _first(options)
            return PageInfo({name: number, "total_pages": pages}, {})
        case _:
            following = page.number + 1
            number = following + _first(options)
            link = f'<{options.origin}{DISCOVER.path}?page={number}>; rel="next"'
            return PageInfo({}, {"Link": link} if following < pages else {})


def _pagination(options: SandboxOptions) -> Pagination:
    """Return how pages are shown; nothing stands beside the records of an array."""
    return "link" if options.listing_format == "bare" else options.pagination


def _first(options: SandboxOptions) -> int:
    """Return the first page's number, which in a `paged` listing is 0."""
    return 0 if options.listing_format == "paged" else 1


def _whole(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, str(default))
    if not text.isdecimal() or not default <= int(text[:12]) <= _LARGEST:
        raise _wrong(name)
    return int(text)


def _cursor(sequence: int) -> str:
    return urlsafe_b64encode(f"after:{sequence}".encode()).decode()


def _sequence(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        text = urlsafe_b64decode(cursor.encode()).decode().removeprefix("after:")
    except ValueError:
        raise _wrong("cursor") from None
    return _whole({"cursor": text}, "cursor", 0)


def _wrong(name: str) -> RefusalError:
    message = "it must be one that a listing has shown"
    wrong = FieldError((name,), FieldErrorKind.INVALID, message, "query")
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return RefusalError(status, "invalid_request", f"{name}: {message}", (wrong,))
