"""Links out of a page with Beautiful Soup: skipping broken parts instead of failing."""

from urllib.parse import urldefrag, urljoin, urlsplit

from journeyman import Context, Decline, Example, Result, Strategy, param

LONGEST_BASE = 2_000  # characters; browsers stop at about as much

PAGE = """<p><a href="/a#top">A</a> <a href='b?q=1'>B</a> <a name="x">no link</a>
<a href="mailto:me@example.org">write</a> <a href="/a">A again</a></p>"""


def target(base: str, href: str) -> str | None:
    """Make a link absolute (RFC 3986); None if it is not the address of a page."""
    try:
        address = urldefrag(urljoin(base, href.strip())).url
        return address if urlsplit(address).scheme in {"http", "https"} else None
    except ValueError:
        return None


class Links(Strategy):
    """Lists where the links of an HTML page lead, each target once."""

    api, version = 1, "1.0.0"
    kinds = {"links"}
    tags = {"html", "links"}
    inputs = {"html": str, "base": str}
    examples = [
        Example(
            {
                "kind": "links",
                "input": {"html": PAGE, "base": "https://example.org/c/"},
            },
            expect=["https://example.org/a", "https://example.org/c/b?q=1"],
        ),
    ]

    max_characters: int = param(300_000, ge=1, help="decline larger pages")

    def run(self, html: str, base: str, ctx: Context) -> Result:
        """Read leniently, as browsers do: most pages are not quite valid."""
        # Here, because it takes as long to import as all other strategies together.
        from bs4 import BeautifulSoup  # noqa: PLC0415 - as it says
        from bs4.exceptions import ParserRejectedMarkup  # noqa: PLC0415 - as it says

        if len(html) > self.max_characters or len(base) > LONGEST_BASE:
            raise Decline("the page is too large", characters=len(html))
        try:
            # The tag in front says that this is a page, whatever it looks like.
            page = BeautifulSoup("<html>" + html, "html.parser")
        except (ParserRejectedMarkup, RecursionError) as error:
            raise Decline("the page cannot be read", why=str(error)) from error
        hrefs = [anchor["href"] for anchor in page.find_all("a", href=True)]
        targets = [target(base, href) for href in hrefs]
        output = list(dict.fromkeys(found for found in targets if found))
        ctx.log.debug("links found", anchors=len(hrefs), targets=len(output))
        return Result(output, evidence={"anchors": len(hrefs)})
