"""The requests that worked: the shape of their bodies, and what went with them."""

import json
from dataclasses import dataclass, field
from typing import Self

from journeyman.domain import JSON
from journeyman.network.observation.shape import Looking, Shape
from journeyman.network.observation.sight import Observed
from journeyman.network.observation.stored import count_in, counts_in, object_in

LONGEST_LOOKED_AT = 64 * 1024
"""In bytes; a longer body is counted, and not parsed a second time."""
_OURS = frozenset({"result", "output", "answer", "evidence", "input", "payload"})
"""What a task or a strategy put under these says nothing about the network."""


@dataclass(slots=True)
class RequestRecord:
    """Of one endpoint, the requests that were answered with a yes."""

    worked: int = 0
    with_token: int = 0
    """How many of them carried the token."""
    query: dict[str, int] = field(default_factory=dict)
    """How often each parameter was among them."""
    body: Shape = field(default_factory=Shape)

    def learn(self, seen: Observed, looking: Looking) -> None:
        """Take one request that worked into account."""
        self.worked += 1
        self.with_token += seen.has_token
        for name in seen.query:
            looking.has_news = looking.has_news or name not in self.query
            self.query[name] = self.query.get(name, 0) + 1
        if seen.content is not None and len(seen.content) <= LONGEST_LOOKED_AT:
            looking.closed = _OURS
            self.body.learn(json.loads(seen.content), looking)

    def to_json(self) -> JSON:
        """Give it for the journal."""
        return {
            "worked": self.worked,
            "with_token": self.with_token,
            "query": dict(self.query),
            "body": self.body.to_json(),
        }

    @classmethod
    def from_json(cls, told: JSON) -> Self:
        """Read what `to_json` gave.

        Raises:
            MalformedRecordError: it is something else.
        """
        request = object_in(told)
        return cls(
            worked=count_in(request.get("worked")),
            with_token=count_in(request.get("with_token")),
            query=counts_in(request.get("query")),
            body=Shape.from_json(request.get("body")),
        )
