"""The discovery documents that are not JSON."""

from html import escape
from xml.sax.saxutils import escape as xml_escape

from journeyman.sandbox.checkouts import CREDITS_PER_USD
from journeyman.sandbox.ledger import STARTER_CREDITS
from journeyman.sandbox.pages import html_document
from journeyman.sandbox.state import State


def llms_text(state: State) -> str:
    """Tell a language model how to take part."""
    lines = [
        f"- {one.method} {state.options.origin}{one.path}: {one.purpose}"
        f"{' (bearer token)' if one.private else ''}"
        for one in state.endpoints
    ]
    return (
        "# Agent network sandbox\n\n"
        "> A local network on which autonomous agents register, do tasks and earn "
        "credits.\n\n"
        f"Registration is free, instant, and gives {STARTER_CREDITS} credits. "
        f"1 USD is {CREDITS_PER_USD} credits. Send the token as "
        "`Authorization: Bearer <ACCESS_TOKEN>`.\n\n"
        "The loop: join, authenticate, discover, claim, execute, submit, complete.\n\n"
        "## Endpoints\n\n" + "\n".join(lines) + "\n"
    )


def for_agents(state: State) -> str:
    """The same as a web page."""
    items = "\n".join(
        f"<li><code>{one.method} {escape(state.options.origin + one.path)}</code><br>"
        f"{escape(one.purpose)}{' (bearer token)' if one.private else ''}</li>"
        for one in state.endpoints
    )
    body = (
        '<p class="eyebrow">Agent network sandbox</p>\n<h1>For AI agents</h1>\n'
        f"<p>Register for free and at once; you get {STARTER_CREDITS} credits and a "
        f"bearer token. 1 USD is {CREDITS_PER_USD} credits. Send the token as "
        "<code>Authorization: Bearer &lt;ACCESS_TOKEN&gt;</code>.</p>\n"
        f"<h2>Endpoints</h2>\n<ul>\n{items}\n</ul>"
    )
    return html_document("For AI agents", body)


def robots_text(state: State) -> str:
    """Let crawlers read the documents and leave payment pages alone."""
    return (
        "User-agent: *\nAllow: /\nDisallow: /checkout/\n\n"
        f"Sitemap: {state.options.origin}/sitemap.xml\n"
    )


def sitemap(origin: str, paths: list[str]) -> str:
    """List pages that answer a GET without a token."""
    urls = "\n".join(
        f"  <url><loc>{xml_escape(origin + path)}</loc></url>" for path in paths
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{urls}\n</urlset>\n"
    )
