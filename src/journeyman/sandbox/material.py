"""The real texts and facts that tasks are generated from, shipped as package data."""

import csv
import io
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from importlib.resources.abc import Traversable


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """The opening of a work that is in the public domain."""

    title: str
    author: str
    year: int
    sentences: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """All its words, punctuation kept, in order."""
        return [word for sentence in self.sentences for word in sentence.split()]

    @property
    def origin(self) -> str:
        """The source to name beside a quotation."""
        return f"{self.title}, by {self.author} ({self.year})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Element:
    """A chemical element."""

    number: int
    symbol: str
    name: str
    period: int
    group: int | None
    """1 to 18; None in the f-block."""
    mass: Decimal
    """Standard atomic weight, or a mass number where there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Country:
    """A country as ISO 3166-1 codes it."""

    alpha2: str
    alpha3: str
    name: str
    continent: str
    capital: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """What a customer writes, with {thing} and {days} to be filled in."""

    label: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """Everything that tasks are generated from."""

    passages: tuple[Passage, ...]
    elements: tuple[Element, ...]
    countries: tuple[Country, ...]
    stop_words: tuple[str, ...]
    notices: tuple[str, ...]
    """Of events, with the facts to be filled in."""
    messages: tuple[Message, ...]


def load_material() -> Material:
    """Read the package data."""
    data = files("journeyman.sandbox") / "data"
    folder = data / "passages"
    texts = sorted(folder.iterdir(), key=lambda entry: entry.name)
    return Material(
        passages=tuple(_passage(text) for text in texts if text.name.endswith(".txt")),
        elements=tuple(_element(row) for row in _rows(data / "elements.csv")),
        countries=tuple(Country(**row) for row in _rows(data / "countries.csv")),
        stop_words=tuple((data / "stop_words.txt").read_text("utf-8").split()),
        notices=tuple((data / "notices.txt").read_text("utf-8").splitlines()),
        messages=tuple(Message(**row) for row in _rows(data / "messages.csv")),
    )


def _passage(source: Traversable) -> Passage:
    head, _, body = source.read_text("utf-8").partition("\n\n")
    header = dict(line.split(": ", 1) for line in head.splitlines())
    return Passage(
        title=header["Title"],
        author=header["Author"],
        year=int(header["Year"]),
        sentences=tuple(body.splitlines()),
    )


def _rows(source: Traversable) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(source.read_text("utf-8"))))


def _element(row: dict[str, str]) -> Element:
    return Element(
        number=int(row["number"]),
        symbol=row["symbol"],
        name=row["name"],
        period=int(row["period"]),
        group=int(row["group"]) if row["group"] else None,
        mass=Decimal(row["mass"]),
    )
