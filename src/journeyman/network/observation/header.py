"""The headers that tell of limits: their names, and their values where a number is."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from journeyman.domain import JSON
from journeyman.network.observation.stored import count_in, number_in, object_in

MOST_HEADERS = 16
"""Names that one endpoint's record may have."""

#: Retry-After (RFC 9110, section 10.2.3), RateLimit and RateLimit-Policy (the IETF's
#: httpapi draft), and what is spelled X-RateLimit-Remaining, X-Rate-Limit-Reset, ...
_TELLING = re.compile(r"retry-after|(?:x-)?rate-?limit(?:-[a-z]{1,12}){0,3}")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


@dataclass(slots=True)
class HeaderRecord:
    """One header of an endpoint's answers."""

    seen: int = 0
    least: float | None = None
    most: float | None = None
    """Of its values that were numbers."""

    def learn(self, value: str) -> None:
        """Count it; of a value that is no number nothing is kept."""
        self.seen += 1
        if _NUMBER.fullmatch(value.strip()):
            number = float(value)
            self.least = number if self.least is None else min(self.least, number)
            self.most = number if self.most is None else max(self.most, number)

    def to_json(self) -> JSON:
        """Give it for the journal."""
        return {"seen": self.seen, "least": self.least, "most": self.most}

    @classmethod
    def from_json(cls, told: JSON) -> Self:
        """Read what `to_json` gave.

        Raises:
            MalformedRecordError: it is something else.
        """
        header = object_in(told)
        return cls(
            count_in(header.get("seen")),
            number_in(header.get("least")),
            number_in(header.get("most")),
        )


def telling(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give the headers that tell of limits; names come in lower case."""
    for name, value in headers.items():
        # Most headers are sorted out without a pattern: this is done for each answer.
        if ("limit" in name or "retry" in name) and _TELLING.fullmatch(name):
            yield name, value
