"""What was learned about the shapes of requests, and the form in which it is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from journeyman.domain import ACTIONS, JSON
from journeyman.network.dialects import Candidate, Complaint, remembered_shape

MAX_OPEN = 300
"""Requests whose outcome is unknown, for each action; the oldest are forgotten."""


class ShapeMemory(Protocol):
    """Keeps one JSON value for one network, through restarts."""

    def load(self) -> JSON:
        """Give what was saved last; None when nothing ever was."""
        ...

    def save(self, learned: JSON) -> None:
        """Keep it durably before returning."""
        ...


class PassingMemory:
    """Remembers only as long as it lives: for clients that act for a moment."""

    def __init__(self, learned: JSON = None) -> None:
        self._learned = learned

    def load(self) -> JSON:
        """Give what was saved last."""
        return self._learned

    def save(self, learned: JSON) -> None:
        """Keep it."""
        self._learned = learned


@dataclass(frozen=True, slots=True)
class TriedShape:
    """A shape that the network refused today."""

    candidate: Candidate
    names_fields: bool
    """Whether the refusal said which fields there should be."""
    message: str
    status: int


@dataclass(slots=True)
class Learned:
    """What is known about the shape of one action."""

    in_force: Candidate | None = None
    """What the next request looks like; None begins with the first candidate."""
    works: bool = False
    """Whether the network has understood it."""
    since: str = ""
    """When it was first understood, in UTC."""
    day: str = ""
    """The UTC day that the rest is about."""
    refused: list[TriedShape] = field(default_factory=list)
    complaint: Complaint = field(default_factory=Complaint)
    """All that the refusals named."""
    closed: bool = False
    """No other shape is tried any more that day."""
    open: dict[str, Candidate] = field(default_factory=dict)
    """By idempotency key: what was sent and has no definite answer yet."""

    def begin(self, day: str) -> None:
        """Forget what was tried on another day."""
        self.day, self.closed = day, False
        self.refused, self.complaint = [], Complaint()
        if not self.works:
            self.in_force = None

    @property
    def marks(self) -> set[str]:
        """The shapes that were refused that day."""
        return {tried.candidate.shape.mark for tried in self.refused}

    def sends(self, key: str, candidate: Candidate) -> None:
        """Note what is sent under a key, until there is a definite answer to it."""
        self.open.pop(key, None)
        self.open[key] = candidate
        if len(self.open) > MAX_OPEN:
            # A post of unknown outcome is never repeated, so its key would stay.
            del self.open[next(iter(self.open))]

    def as_json(self) -> dict[str, JSON]:
        """Give it as JSON."""
        return {
            "in_force": _as_json(self.in_force),
            "works": self.works,
            "since": self.since,
            "day": self.day,
            "refused": [
                {
                    "candidate": _as_json(tried.candidate),
                    "names_fields": tried.names_fields,
                    "message": tried.message,
                    "status": tried.status,
                }
                for tried in self.refused
            ],
            "missing": list(self.complaint.missing),
            "unknown": list(self.complaint.unknown),
            "closed": self.closed,
            "open": {key: _as_json(candidate) for key, candidate in self.open.items()},
        }


def read_learned(saved: JSON) -> dict[str, Learned]:
    """Read what was saved; what cannot be read counts as never learned."""
    known = saved.get("actions") if isinstance(saved, dict) else None
    known = known if isinstance(known, dict) else {}
    return {action: _learned(action, known.get(action)) for action in ACTIONS}


def write_learned(learned: Mapping[str, Learned], configured: str) -> JSON:
    """Give all actions as JSON; `configured` says which candidates there were."""
    actions: dict[str, JSON] = {name: one.as_json() for name, one in learned.items()}
    return {"configured": configured, "actions": actions}


def _learned(action: str, saved: JSON) -> Learned:
    if not isinstance(saved, dict):
        return Learned()
    in_force = _candidate(action, saved.get("in_force"))
    opened = saved.get("open")
    read = {
        key: _candidate(action, one)
        for key, one in (opened if isinstance(opened, dict) else {}).items()
    }
    return Learned(
        in_force=in_force,
        works=saved.get("works") is True and in_force is not None,
        since=str(saved.get("since") or ""),
        day=str(saved.get("day") or ""),
        refused=[
            tried
            for one in _list(saved.get("refused"))
            if (tried := _tried(action, one)) is not None
        ],
        complaint=Complaint(
            tuple(map(str, _list(saved.get("missing")))),
            tuple(map(str, _list(saved.get("unknown")))),
        ),
        closed=saved.get("closed") is True,
        open={key: one for key, one in read.items() if one is not None},
    )


def _tried(action: str, saved: JSON) -> TriedShape | None:
    if not isinstance(saved, dict):
        return None
    candidate = _candidate(action, saved.get("candidate"))
    if candidate is None:
        return None
    status = saved.get("status")
    return TriedShape(
        candidate,
        saved.get("names_fields") is True,
        str(saved.get("message") or ""),
        status if isinstance(status, int) else 0,
    )


def _candidate(action: str, saved: JSON) -> Candidate | None:
    if not isinstance(saved, dict):
        return None
    shape = remembered_shape(action, saved.get("shape"))
    return Candidate(str(saved.get("dialect")), shape) if shape else None


def _as_json(candidate: Candidate | None) -> JSON:
    if candidate is None:
        return None
    return {"dialect": candidate.name, "shape": candidate.shape.as_table()}


def _list(saved: JSON) -> Sequence[JSON]:
    return saved if isinstance(saved, list) else ()
