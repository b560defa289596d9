"""Reading the portal's static documents (contract section 4)."""

import re
from contextlib import suppress
from xml.etree import ElementTree as ET

from journeyman.domain.tasks import JSON
from journeyman.network.answers import Document
from journeyman.network.call import Reply
from journeyman.network.headers import links_in
from journeyman.network.json_text import UnreadableJSONError, parse
from journeyman.network.wording import what_came

_EXPECTED_TYPES = {
    ".json": ("json",),
    ".txt": ("text/plain", "text/markdown"),
    ".html": ("html",),
    ".xml": ("xml",),
}
"""By suffix: what the content type of such a document contains."""
_ROOTS = ("urlset", "sitemapindex")
"""What a sitemap may be (sitemaps.org, protocol)."""
_DESCRIBES = frozenset({"service-desc", "describedby"})
_AGENT_LINE = re.compile(r"^\s*user-agent\s*:", re.IGNORECASE | re.MULTILINE)


def is_json_path(path: str) -> bool:
    """Return whether a document is JSON by its path."""
    return path.endswith(".json")


def checked_path(path: str) -> str:
    """Return the path if it stays on the portal.

    Raises:
        ValueError: it does not begin with exactly one `/`, so that it could lead
            to another host, or it carries a space, a query or a fragment.
    """
    leaves = not path.startswith("/") or path.startswith("//") or "\\" in path
    if leaves or any(c in "?#" or c.isspace() for c in path):
        raise ValueError(f"a document's path begins with one /, not {path!r}")
    return path


def read_document(path: str, reply: Reply) -> Document:
    """Return a document that could be read, with what is odd about it."""
    kind = reply.headers.get("content-type", "")
    body = reply.body
    if body is None and "json" in kind:
        with suppress(UnreadableJSONError):
            body = parse(reply.text)
    links = links_in(reply.headers.get("link", ""))
    described_at = tuple(one for one, rels in links if one and rels & _DESCRIBES)
    oddity = _oddity(path, kind, reply)
    return Document(path, kind, reply.text, body, oddity, described_at)


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
        return _content_oddity(path, reply.text)
    if is_json_path(path):
        return f"JSON, but sent as {came or 'no content type'}"
    return f"{what_came(reply.text, kind)}, not what {suffix} promises"


def _content_oddity(path: str, text: str) -> str:
    """Return what is odd about a document's content; empty when nothing is."""
    if path.endswith(".xml"):
        return _sitemap_oddity(text)
    if path.endswith("/robots.txt"):
        has_rules = _AGENT_LINE.search(text)
        return "" if has_rules else "no User-agent line in it, so it has no rules"
    if path.endswith("/llms.txt"):
        has_title = text.lstrip().startswith("# ")
        return "" if has_title else "no `# title` at its start, as llms.txt files have"
    return ""


def _sitemap_oddity(text: str) -> str:
    """Check that it is well-formed XML, and that of a sitemap by its root."""
    if "<!DOCTYPE" in text:
        # Its entities could unfold to any size.
        return "XML with a document type, which is not read"
    try:
        root = ET.fromstring(text)  # noqa: S314  # without entities: see above
    except ET.ParseError as error:
        return f"not well-formed XML ({error})"
    name = root.tag.rpartition("}")[2]
    return "" if name in _ROOTS else f"XML of {name!r}, not a sitemap"
