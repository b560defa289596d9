"""The answers of one endpoint that had one status and one meaning."""

from dataclasses import dataclass, field
from typing import Self

from journeyman.domain import JSON
from journeyman.network.observation.shape import Looking, Shape
from journeyman.network.observation.sight import Observed
from journeyman.network.observation.stored import (
    count_in,
    counts_in,
    object_in,
    text_in,
)

_MEDIA_TYPES = frozenset(
    {
        *("application/json", "application/problem+json", "application/vnd.api+json"),
        *("text/html", "text/plain", "application/xml", "text/xml"),
        *("application/octet-stream", "application/x-www-form-urlencoded"),
    },
)
"""Any other is `other`: a header may hold anything."""


@dataclass(slots=True)
class AnswerRecord:
    """The answers of one status that meant the same, a yes or a no."""

    status: int
    is_yes: bool
    seen: int = 0
    last_at: str = ""
    """ISO 8601, in UTC; as everywhere here."""
    media_types: dict[str, int] = field(default_factory=dict)
    """How many answers said that they are of this type; empty for no type."""
    unreadable: int = 0
    """How many bodies were no JSON, empty ones among them."""
    body: Shape = field(default_factory=Shape)
    _last_text: int | None = field(default=None, repr=False)
    """A hash of the last body: an idle network answers the same again and again."""

    def learn(self, seen: Observed, at: str, looking: Looking) -> None:
        """Take one such answer into account."""
        self.seen += 1
        self.last_at = at
        kind = _media_type(seen.headers.get("content-type", ""))
        looking.has_news = looking.has_news or kind not in self.media_types
        self.media_types[kind] = self.media_types.get(kind, 0) + 1
        if seen.problem:
            self.unreadable += 1
            return
        text = hash(seen.text)
        if text != self._last_text:
            self.body.learn(seen.body, looking)
        self._last_text = text

    @property
    def key(self) -> str:
        """Its name in an endpoint's record: `200`, or `200 no`."""
        return f"{self.status}" if self.is_yes else f"{self.status} no"

    def to_json(self) -> JSON:
        """Give it for the journal."""
        return {
            "status": self.status,
            "is_yes": self.is_yes,
            "seen": self.seen,
            "last_at": self.last_at,
            "media_types": dict(self.media_types),
            "unreadable": self.unreadable,
            "body": self.body.to_json(),
        }

    @classmethod
    def from_json(cls, told: JSON) -> Self:
        """Read what `to_json` gave.

        Raises:
            MalformedRecordError: it is something else.
        """
        answer = object_in(told)
        return cls(
            status=count_in(answer.get("status")),
            is_yes=bool(answer.get("is_yes")),
            seen=count_in(answer.get("seen")),
            last_at=text_in(answer.get("last_at")),
            media_types=counts_in(answer.get("media_types")),
            unreadable=count_in(answer.get("unreadable")),
            body=Shape.from_json(answer.get("body")),
        )


def _media_type(value: str) -> str:
    kind = value.partition(";")[0].strip().lower()
    return kind if kind in _MEDIA_TYPES or not kind else "other"
