"""Which shape to try next, by what the refusals so far have named."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from journeyman.domain import ACTIONS
from journeyman.network.dialects.complaint import Complaint
from journeyman.network.dialects.shape import ActionShape, WritingDialect
from journeyman.network.fields import spelling

MENDED = "mended"
"""The name of a shape that is made of a refused one and of what was said about it."""

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "task_id": ("taskid", "id", "taskuuid", "uuid", "taskref", "identifier", "task"),
    "agent_id": ("agentid", "agent", "agentuuid", "workerid", "worker", "claimedby"),
    "result": (
        *("result", "output", "answer", "response", "solution", "submission"),
        *("deliverable", "content"),
    ),
    "evidence": ("evidence", "proof", "notes", "metadata", "meta", "details"),
    "title": ("title", "name", "headline", "subject"),
    "description": ("description", "details", "instructions", "prompt", "body"),
    "reward": (
        *("reward", "rewardcredits", "credits", "bounty", "price", "budget"),
        *("amount", "payout"),
    ),
    "kind": ("kind", "type", "category", "tasktype"),
    "tags": ("tags", "labels", "skills"),
    "input": ("input", "payload", "data", "params"),
}
"""What networks call our values, as `spelling` reduces it. In order: `id` is an
agent's only where the task has a name."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A shape with the name that an operator knows it by."""

    name: str
    shape: ActionShape


def candidates_for(
    action: str,
    dialects: Sequence[WritingDialect],
) -> Iterator[Candidate]:
    """Give the ready shapes of an action, each only once."""
    seen: set[str] = set()
    for dialect in dialects:
        shape = dialect.shapes.get(action)
        if shape is not None and shape.mark not in seen:
            seen.add(shape.mark)
            yield Candidate(dialect.name, shape)


def next_candidate(
    action: str,
    dialects: Sequence[WritingDialect],
    refused: Collection[str],
    complaint: Complaint,
    last: ActionShape | None = None,
) -> Candidate | None:
    """Give the most promising shape that was not refused; None when there is none.

    `refused` are marks of shapes, `complaint` is all that their refusals named, `last`
    is the one that may be mended. Of equals the first wins, and a mended one is last:
    a whole vocabulary is likelier than a patched one.
    """
    ready = [*candidates_for(action, dialects)]
    if last is not None and complaint.names_fields:
        bases = [last, *(c.shape for c in ready)]
        ready += (Candidate(MENDED, mended(action, base, complaint)) for base in bases)
    left = [c for c in ready if c.shape.mark not in refused and _says_enough(action, c)]
    return max(left, key=lambda c: _agreement(c.shape, complaint), default=None)


def mended(action: str, shape: ActionShape, complaint: Complaint) -> ActionShape:
    """Give a shape what it is said to lack, and take away what is not known."""
    places = {
        name: place
        for name, place in shape.places.items()
        if not any(_is_named(place, path) for path in complaint.unknown)
    }
    for path in complaint.missing:
        if not replace(shape, places=places).has(path):
            value = _value_called(action, path, places, complaint)
            if value is not None:
                places[value] = path
    # In the order of our names, so that equal shapes have equal bytes.
    ordered = {name: places[name] for name in ACTIONS[action].names if name in places}
    return replace(shape, places=ordered)


def _value_called(
    action: str,
    path: str,
    places: Mapping[str, str],
    complaint: Complaint,
) -> str | None:
    """Name the value that a network calls so, unless it is where it should be."""
    *around, last = path.split(".")
    called = {spelling(last), spelling("".join([*around[-1:], last]))}
    for name in ACTIONS[action].names:
        is_settled = places.get(name) in complaint.missing
        if called & {*OTHER_NAMES[name]} and not is_settled:
            return name
    return None


def _says_enough(action: str, candidate: Candidate) -> bool:
    placed = candidate.shape.places
    places = [*placed.values()]
    whole = all(name in placed for name in ACTIONS[action].essential)
    nested = any(a != b and b.startswith(f"{a}.") for a in places for b in places)
    return whole and len({*places}) == len(places) and not nested


def _agreement(shape: ActionShape, complaint: Complaint) -> int:
    there = sum(shape.has(path) for path in complaint.missing)
    not_there = sum(not shape.has(path) for path in complaint.unknown)
    return there + not_there


def _is_named(place: str, path: str) -> bool:
    return place == path or place.startswith(f"{path}.")
