"""Finding the links of a web page.

Each reference is written for a target that is known beforehand, so that nothing has
to parse the page or resolve a reference to know the answer.
"""

from html import escape
from random import Random
from typing import NamedTuple

from journeyman.sandbox.kinds import kind
from journeyman.sandbox.material import Material

_HOSTS = ("atlas.example", "museum.example", "library.example")


class _Link(NamedTuple):
    reference: str
    target: str | None
    """Where it leads; None where it is not a link to the web."""


class _Place(NamedTuple):
    """The page that the links are on: scheme://host/folder/sub/page."""

    scheme: str
    host: str
    folder: str
    sub: str
    page: str

    @property
    def root(self) -> str:
        return f"{self.scheme}://{self.host}"

    @property
    def address(self) -> str:
        return f"{self.root}/{self.folder}/{self.sub}/{self.page}"


def _make_links(rng: Random, material: Material) -> kind.Draft:
    codes = [one.alpha3.lower() for one in rng.sample(material.countries, 12)]
    place = _Place(rng.choice(("http", "https")), rng.choice(_HOSTS), *codes[:3])
    links = _possible_links(place, codes[3:])
    chosen = rng.choices(links, k=rng.randint(6, 14))
    heading = rng.choice(material.passages).title
    elements = [_element(rng, link.reference, heading) for link in chosen]
    targets = [link.target for link in chosen if link.target is not None]
    return kind.Draft(
        title="List the links of a page",
        description=(
            "List the targets of all `a` elements of `html` that have an `href`: made "
            "absolute against `base` (RFC 3986), without their fragment, only http and "
            "https, in document order, each once. Answer with a list of strings."
        ),
        input={"html": _page(heading, elements), "base": place.address},
        reward=rng.randint(5, 6),
        answer=list(dict.fromkeys(targets)),
    )


def _possible_links(place: _Place, names: list[str]) -> list[_Link]:
    here = f"{place.root}/{place.folder}/{place.sub}"
    one, two, three, four, *_ = names
    other = f"https://{two}.example/{one}"
    return [
        _Link(one, f"{here}/{one}"),
        _Link(f"./{two}#top", f"{here}/{two}"),
        _Link(f"../{three}", f"{place.root}/{place.folder}/{three}"),
        _Link(f"../../{four}?from={one}", f"{place.root}/{four}?from={one}"),
        _Link(f"/{two}/{one}", f"{place.root}/{two}/{one}"),
        _Link(f"//{three}.example/{two}", f"{place.scheme}://{three}.example/{two}"),
        _Link(other, other),
        _Link(f"{other}#part-2", other),
        _Link(f"?page=2&sort={four}", f"{place.address}?page=2&sort={four}"),
        _Link("#notes", place.address),
        _Link(f"mailto:{one}@{two}.example", None),
        _Link("javascript:void(0)", None),
        _Link(f"tel:+{len(one)}5550100", None),
    ]


def _element(rng: Random, reference: str, words: str) -> str:
    written, label = escape(reference), escape(words)
    link = rng.choice(
        (
            f'<a href="{written}">{label}</a>',
            f"<A class='x' HREF='{written}'>{label}</A>",
            f'<a title="a &gt; b" href="{written}"><em>{label}</em></a>',
        ),
    )
    decoy = rng.choice(
        (
            "",
            "",
            f'<a name="{label}">no link</a>',
            f'<!-- <a href="https://hidden.example/{written}">old</a> -->',
            f'<img src="{written}" alt="">',
        ),
    )
    return f"<li>{link}{decoy}</li>"


def _page(heading: str, elements: list[str]) -> str:
    title = escape(heading)
    return (
        f"<!doctype html>\n<html><head><title>{title}</title></head>\n<body>\n"
        f"<h1>{title}</h1>\n<ul>\n" + "\n".join(elements) + "\n</ul>\n</body></html>\n"
    )


def _check_links(_input: kind.Fields, answer: kind.Answer, result: object) -> None:
    kind.require_same(list(kind.read_strings(result)), answer)


KINDS = (kind.Kind("links", ("html", "links"), _make_links, _check_links),)
