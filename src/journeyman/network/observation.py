"""Learns from each call; the daemon keeps what it has learned."""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Self

from journeyman.domain.tasks import JSON
from journeyman.network import observed_shape


class Observed(NamedTuple):
    """A call that has ended; a tuple, because one is made for each call."""

    endpoint: str
    """The endpoint's name, or "document"."""
    query: Mapping[str, str]
    content: bytes | None
    """The body that was sent."""
    has_token: bool
    """Whether the token was sent."""
    status: int | None
    """None: no answer came."""
    headers: Mapping[str, str]
    """Of the answer; names in lower case."""
    body: JSON
    """Of the answer, parsed."""
    text: str
    problem: str
    """Why the answer's body could not be read; empty when it could."""
    seconds: float
    outcome: str
    """How it ended, as the log names it: `confirmed`, `refused: absent`, ..."""
    is_yes: bool
    secrets: tuple[str, ...]
    """What must not be kept, wherever it stands."""


Observe = Callable[[Observed], None]
"""Is shown each call that has ended; must not raise, and not take long."""


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
    """How many bodies were not JSON, empty ones among them."""
    body: observed_shape.Shape = field(default_factory=observed_shape.Shape)
    _last_text: int | None = field(default=None, repr=False)
    """A hash of the last body: an idle network answers the same again and again."""

    def learn(self, seen: Observed, at: str, looking: observed_shape.Looking) -> None:
        """Record one such answer."""
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
        """Return it for the journal."""
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
        answer = observed_shape.object_in(told)
        return cls(
            status=observed_shape.count_in(answer.get("status")),
            is_yes=bool(answer.get("is_yes")),
            seen=observed_shape.count_in(answer.get("seen")),
            last_at=observed_shape.text_in(answer.get("last_at")),
            media_types=observed_shape.counts_in(answer.get("media_types")),
            unreadable=observed_shape.count_in(answer.get("unreadable")),
            body=observed_shape.Shape.from_json(answer.get("body")),
        )


def _media_type(value: str) -> str:
    kind = value.partition(";")[0].strip().lower()
    return kind if kind in _MEDIA_TYPES or not kind else "other"


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
    body: observed_shape.Shape = field(default_factory=observed_shape.Shape)

    def learn(self, seen: Observed, looking: observed_shape.Looking) -> None:
        """Record one request that worked."""
        self.worked += 1
        self.with_token += seen.has_token
        for name in seen.query:
            looking.has_news = looking.has_news or name not in self.query
            self.query[name] = self.query.get(name, 0) + 1
        if seen.content is not None and len(seen.content) <= LONGEST_LOOKED_AT:
            looking.closed = _OURS
            self.body.learn(json.loads(seen.content), looking)

    def to_json(self) -> JSON:
        """Return it for the journal."""
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
        request = observed_shape.object_in(told)
        return cls(
            worked=observed_shape.count_in(request.get("worked")),
            with_token=observed_shape.count_in(request.get("with_token")),
            query=observed_shape.counts_in(request.get("query")),
            body=observed_shape.Shape.from_json(request.get("body")),
        )


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
        """Count it; of a value that is not a number nothing is kept."""
        self.seen += 1
        if _NUMBER.fullmatch(value.strip()):
            number = float(value)
            self.least = number if self.least is None else min(self.least, number)
            self.most = number if self.most is None else max(self.most, number)

    def to_json(self) -> JSON:
        """Return it for the journal."""
        return {"seen": self.seen, "least": self.least, "most": self.most}

    @classmethod
    def from_json(cls, told: JSON) -> Self:
        """Read what `to_json` gave.

        Raises:
            MalformedRecordError: it is something else.
        """
        header = observed_shape.object_in(told)
        return cls(
            observed_shape.count_in(header.get("seen")),
            observed_shape.number_in(header.get("least")),
            observed_shape.number_in(header.get("most")),
        )


def telling(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return the headers that tell of limits; names come in lower case."""
    for name, value in headers.items():
        # Most headers are sorted out without a pattern: this is done for each answer.
        if ("limit" in name or "retry" in name) and _TELLING.fullmatch(name):
            yield name, value


#: Upper bounds in seconds; what took longer lies in one more bucket behind them.
BOUNDS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    *(0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0),
)


def _empty() -> list[int]:
    return [0] * (len(BOUNDS) + 1)


@dataclass(slots=True)
class Latency:
    """A histogram of seconds."""

    counts: list[int] = field(default_factory=_empty)

    def learn(self, seconds: float) -> None:
        """Count one call."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1

    def quantile(self, part: float) -> float | None:
        """Return seconds within which this part (0 to 1) of all calls was answered.

        It is a bucket's upper bound. None: there were no calls, or they took longer
        than the last bound.
        """
        wanted, so_far = part * sum(self.counts), 0
        for bound, count in zip(BOUNDS, self.counts, strict=False):
            so_far += count
            if so_far and so_far >= wanted:
                return bound
        return None

    def to_json(self) -> JSON:
        """Return it for the journal."""
        return list(self.counts)

    @classmethod
    def from_json(cls, told: JSON) -> Self:
        """Read what `to_json` gave.

        Raises:
            MalformedRecordError: it is something else.
        """
        if not isinstance(told, list) or len(told) != len(BOUNDS) + 1:
            raise observed_shape.MalformedRecordError("a histogram of other buckets")
        return cls([observed_shape.count_in(count) for count in told])


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
        """Record one call; return whether it showed anything new."""
        self.seen += 1
        self.first_at, self.last_at = self.first_at or at, at
        looking = observed_shape.Looking(
            seen.secrets, places=max(0, observed_shape.MOST_PLACES - self.places)
        )
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
        """Return it for the journal."""
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
        record = observed_shape.object_in(told)
        answers = record.get("answers")
        if not isinstance(answers, list):
            raise observed_shape.MalformedRecordError(
                "a list of answers was stored here"
            )
        read = [AnswerRecord.from_json(answer) for answer in answers]
        headers = observed_shape.object_in(record.get("headers"))
        return cls(
            seen=observed_shape.count_in(record.get("seen")),
            first_at=observed_shape.text_in(record.get("first_at")),
            last_at=observed_shape.text_in(record.get("last_at")),
            outcomes=observed_shape.counts_in(record.get("outcomes")),
            answers={answer.key: answer for answer in read},
            request=RequestRecord.from_json(record.get("request")),
            headers={n: HeaderRecord.from_json(h) for n, h in headers.items()},
            latency=Latency.from_json(record.get("latency")),
            is_cut=bool(record.get("is_cut")),
            places=observed_shape.count_in(record.get("places")),
        )

    def _learn_headers(self, seen: Observed, looking: observed_shape.Looking) -> None:
        for name, value in telling(seen.headers):
            if name not in self.headers:
                if len(self.headers) >= MOST_HEADERS:
                    looking.is_cut = True
                    continue
                looking.has_news = True
                self.headers[name] = HeaderRecord()
            self.headers[name].learn(value)

    def _learn_answer(
        self, seen: Observed, at: str, looking: observed_shape.Looking
    ) -> None:
        found = AnswerRecord(seen.status or 0, seen.is_yes)
        known = self.answers.get(found.key)
        if known is None:
            if len(self.answers) >= MOST_ANSWERS:
                looking.is_cut = True
                return
            looking.has_news = True
            known = self.answers[found.key] = found
        known.learn(seen, at, looking)


class Observer:
    """What is known of some endpoints, in memory, growing with each call."""

    def __init__(self, endpoints: Iterable[str], now: Callable[[], datetime]) -> None:
        """Watch these endpoints, by name; calls of others are not kept."""
        self._watched = frozenset(endpoints)
        self._now = now
        self._records: dict[str, EndpointRecord] = {}
        self._changed: set[str] = set()
        self.has_news = False
        """Something was seen, since `written`, that was not known: not only counts."""

    def learn(self, seen: Observed) -> None:
        """Learn from a call that has ended."""
        if seen.endpoint not in self._watched:
            return
        record = self._records.setdefault(seen.endpoint, EndpointRecord())
        at = self._now().isoformat(timespec="seconds")
        self.has_news = record.learn(seen, at) or self.has_news
        self._changed.add(seen.endpoint)

    def load(self, stored: Mapping[str, JSON]) -> None:
        """Go on from what an earlier run has learned."""
        self._records = records_from(stored)

    def changed(self) -> dict[str, JSON]:
        """Return the records that changed since `written`, by endpoint."""
        return {name: self._records[name].to_json() for name in sorted(self._changed)}

    def written(self) -> None:
        """Note that all of it was kept."""
        self._changed.clear()
        self.has_news = False


def records_from(stored: Mapping[str, JSON]) -> dict[str, EndpointRecord]:
    """Read stored records; one that cannot be read is begun anew."""
    return {
        name: record
        for name, told in stored.items()
        if (record := _read(told)) is not None
    }


def _read(told: JSON) -> EndpointRecord | None:
    try:
        return EndpointRecord.from_json(told)
    except observed_shape.MalformedRecordError:
        return None
