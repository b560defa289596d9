"""Whether a text document is what its name promises."""

import re
from xml.parsers import expat

_ROOTS = ("urlset", "sitemapindex")
"""What a sitemap may be (sitemaps.org, protocol)."""
_AGENT_LINE = re.compile(r"^\s*user-agent\s*:", re.IGNORECASE | re.MULTILINE)


class _RefusedError(Exception):
    """The XML does something that no sitemap needs; the message says what."""


def content_oddity(path: str, text: str) -> str:
    """Say what is odd about the content of a document; empty when nothing is."""
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
    roots: list[str] = []

    def begin(name: str, _attributes: object) -> None:
        if not roots:
            roots.append(name)

    def refuse(*_: object) -> None:
        # Its entities could unfold to any size.
        raise _RefusedError("XML with a document type, which is not read")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = begin
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text.encode(errors="replace"), True)
    except _RefusedError as error:
        return str(error)
    except expat.ExpatError as error:
        return f"no well-formed XML ({error})"
    root = roots[0].rpartition(" ")[2] if roots else "nothing"
    return "" if root in _ROOTS else f"XML of {root!r}, not a sitemap"
