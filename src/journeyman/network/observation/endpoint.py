"""What was seen of one endpoint."""

from dataclasses import dataclass, field
from typing import Self

from journeyman.domain import JSON
from journeyman.network.observation.answer import AnswerRecord
from journeyman.network.observation.header import MOST_HEADERS, HeaderRecord, telling
from journeyman.network.observation.latency import Latency
from journeyman.network.observation.request import RequestRecord
from journeyman.network.observation.shape import MOST_PLACES, Looking
from journeyman.network.observation.sight import Observed
from journeyman.network.observation.stored import (
    MalformedRecordError,
    count_in,
    counts_in,
    object_in,
    text_in,
)

MOST_ANSWERS = 24
"""Kinds of answers that one endpoint's record may have."""


@dataclass(slots=True)
class EndpointRecord:
    """Counts, shapes and times of one endpoint."""

    seen: int = 0
    """How often it was called."""
    first_at: str = ""
    """ISO 8601, in UTC; so `last_at`."""
    last_at: str = ""
    outcomes: dict[str, int] = field(default_factory=dict)
    """How the calls ended: `confirmed`, `refused: absent`, `not sent`, `unknown`."""
    answers: dict[str, AnswerRecord] = field(default_factory=dict)
    request: RequestRecord = field(default_factory=RequestRecord)
    headers: dict[str, HeaderRecord] = field(default_factory=dict)
    latency: Latency = field(default_factory=Latency)
    """Of the calls that were answered."""
    is_cut: bool = False
    """Something new was left out, because the record is full."""
    places: int = 0
    """How many places its shapes have in all; see `MOST_PLACES`."""

    def learn(self, seen: Observed, at: str) -> bool:
        """Take one call into account; tell whether it showed anything new."""
        self.seen += 1
        self.first_at, self.last_at = self.first_at or at, at
        looking = Looking(seen.secrets, places=max(0, MOST_PLACES - self.places))
        room = looking.places
        looking.has_news = seen.outcome not in self.outcomes
        self.outcomes[seen.outcome] = self.outcomes.get(seen.outcome, 0) + 1
        if seen.status is not None:
            self.latency.learn(seen.seconds)
            self._learn_headers(seen, looking)
            self._learn_answer(seen, at, looking)
        if seen.is_yes:
            self.request.learn(seen, looking)
        self.places += room - looking.places
        self.is_cut = self.is_cut or looking.is_cut
        return looking.has_news

    def to_json(self) -> JSON:
        """Give it for the journal."""
        return {
            "seen": self.seen,
            "first_at": self.first_at,
            "last_at": self.last_at,
            "outcomes": dict(self.outcomes),
            "answers": [answer.to_json() for answer in self.answers.values()],
            "request": self.request.to_json(),
            "headers": {name: h.to_json() for name, h in self.headers.items()},
            "latency": self.latency.to_json(),
            "is_cut": self.is_cut,
            "places": self.places,
        }

    @classmethod
    def from_json(cls, told: JSON) -> Self:
        """Read what `to_json` gave.

        Raises:
            MalformedRecordError: it is something else.
        """
        record = object_in(told)
        answers = record.get("answers")
        if not isinstance(answers, list):
            raise MalformedRecordError("a list of answers was stored here")
        read = [AnswerRecord.from_json(answer) for answer in answers]
        headers = object_in(record.get("headers"))
        return cls(
            seen=count_in(record.get("seen")),
            first_at=text_in(record.get("first_at")),
            last_at=text_in(record.get("last_at")),
            outcomes=counts_in(record.get("outcomes")),
            answers={answer.key: answer for answer in read},
            request=RequestRecord.from_json(record.get("request")),
            headers={n: HeaderRecord.from_json(h) for n, h in headers.items()},
            latency=Latency.from_json(record.get("latency")),
            is_cut=bool(record.get("is_cut")),
            places=count_in(record.get("places")),
        )

    def _learn_headers(self, seen: Observed, looking: Looking) -> None:
        for name, value in telling(seen.headers):
            if name not in self.headers:
                if len(self.headers) >= MOST_HEADERS:
                    looking.is_cut = True
                    continue
                looking.has_news = True
                self.headers[name] = HeaderRecord()
            self.headers[name].learn(value)

    def _learn_answer(self, seen: Observed, at: str, looking: Looking) -> None:
        found = AnswerRecord(seen.status or 0, seen.is_yes)
        known = self.answers.get(found.key)
        if known is None:
            if len(self.answers) >= MOST_ANSWERS:
                looking.is_cut = True
                return
            looking.has_news = True
            known = self.answers[found.key] = found
        known.learn(seen, at, looking)
