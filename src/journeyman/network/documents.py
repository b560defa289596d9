"""Reading the portal's static documents (contract section 4)."""

from journeyman.domain import JSON
from journeyman.network.document_content import content_oddity
from journeyman.network.http import Reply
from journeyman.network.receipts import Document
from journeyman.network.wording import what_came

_EXPECTED_TYPES = {
    ".json": ("json",),
    ".txt": ("text/plain", "text/markdown"),
    ".html": ("html",),
    ".xml": ("xml",),
}
"""By suffix: what the content type of such a document contains."""


def is_json_path(path: str) -> bool:
    """Tell whether a document is JSON by its path."""
    return path.endswith(".json")


def checked_path(path: str) -> str:
    """Give the path if it stays on the portal.

    Raises:
        ValueError: it does not begin with exactly one `/`, so that it could lead
            to another host, or it carries a space, a query or a fragment.
    """
    leaves = not path.startswith("/") or path.startswith("//") or "\\" in path
    if leaves or any(c in "?#" or c.isspace() for c in path):
        raise ValueError(f"a document's path begins with one /, not {path!r}")
    return path


def read_document(path: str, reply: Reply) -> Document:
    """Give a document that could be read, and say what is odd about it."""
    kind = reply.headers.get("content-type", "")
    return Document(path, kind, reply.text, reply.body, _oddity(path, kind, reply))


def _oddity(path: str, kind: str, reply: Reply) -> str:
    body: JSON = reply.body
    if is_json_path(path) and not isinstance(body, dict | list):
        return "JSON, but neither an object nor an array"
    if not reply.text.strip():
        return "it is empty"
    suffix = path[path.rfind(".") :]
    expected = _EXPECTED_TYPES.get(suffix, ())
    came = kind.partition(";")[0].strip().lower()
    if not expected or any(part in came for part in expected):
        return content_oddity(path, reply.text)
    if is_json_path(path):
        return f"JSON, but sent as {came or 'no content type'}"
    return f"{what_came(reply.text, kind)}, not what {suffix} promises"
