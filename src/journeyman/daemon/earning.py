"""Can we earn here? What each step from the listing to the credits has shown so far."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from journeyman.domain.outcomes import Refusal
from journeyman.domain.tasks import TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import EntryKind
from journeyman.network.service_model.evidence import (
    EndpointRecord,
    Shape,
    records_from,
)
from journeyman.network.service_model.model import RefusedShape, RequestModel
from journeyman.network.service_model.naming import Path, id_name_score, words_of
from journeyman.network.service_model.request import RequestShape
from journeyman.network.service_model.roles import (
    PROSE_WORDS,
    REWARD_WORDS,
    STATE_WORDS,
)
from journeyman.network.service_model.search import MODEL_FACT, read_document

CONFIRMED = "confirmed"
LISTINGS = ("marketplace_tasks", "public_marketplace")
_GATEWAY = """\
[network]
# The name and the key that the network's documentation gives to everybody.
headers = { apikey = "..." }"""
_DELIVERED = (TaskState.SUBMITTED, TaskState.COMPLETING, TaskState.COMPLETED)
_CLAIMED = (
    *(TaskState.CLAIMED, TaskState.EXECUTING, TaskState.EXECUTED),
    *(TaskState.SUBMITTING, TaskState.DECLINED, TaskState.FAILED, TaskState.REJECTED),
    *_DELIVERED,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class Standing(StrEnum):
    """What is known of one step."""

    PROVEN = "proven"
    REFUSED = "refused"
    UNTRIED = "untried"


@dataclass(frozen=True, slots=True)
class Step:
    """One step to a credit."""

    name: str
    standing: Standing
    reason: str
    """What proves it, what the network said, or what it waits for."""
    toml: str = ""
    """Settings to complete and to paste, where that could help."""

    @property
    def refusal(self) -> str:
        """What is refused, and why, in a sentence."""
        return f"{_REFUSED.get(self.name, self.name)}: {self.reason}"


_REFUSED = {
    "listed": "the listing is refused",
    "understood": "the listing is not understood",
    "claimable": "claims are refused",
    "deliverable": "results are refused",
    "completable": "completions are refused",
}
"""By the name of a step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What a journal holds of one network, as far as earning goes."""

    endpoints: Mapping[str, EndpointRecord] = field(default_factory=dict)
    """By name."""
    requests: Mapping[str, RequestModel] = field(default_factory=dict)
    """By action."""
    tasks_seen: int = 0
    tasks: Mapping[str, int] = field(default_factory=dict)
    """How many there are, by state."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """How many were skipped, by reason."""
    last_reasons: Mapping[str, str] = field(default_factory=dict)
    """Why the last task came to a state that ends it, by state."""
    given: tuple[str, ...] = ()
    """Names of values that answers gave for a task whose next request waits."""
    earned: int = 0
    """Credits."""
    is_pay_shown: bool = True
    """The network has named an amount that it paid."""


def can_earn(known: Known) -> tuple[Step, ...]:
    """Return the six steps, in order."""
    steps = [_listed(known), _understood(known)]
    for name, action, states, ends_in in (
        ("claimable", "claim", _CLAIMED, TaskState.LOST),
        ("deliverable", "submit", _DELIVERED, TaskState.REJECTED),
        ("completable", "complete", (TaskState.COMPLETED,), TaskState.REJECTED),
    ):
        reached = sum(known.tasks.get(state, 0) for state in states)
        said = known.last_reasons.get(ends_in, "")
        steps.append(_acted(known, name, action, reached, said))
    return (*steps, _paid(known))


def summary(steps: tuple[Step, ...]) -> str:
    """Return the answer in one line."""
    refused = [one for one in steps if one.standing is Standing.REFUSED]
    if refused:
        return f"no: {refused[0].refusal}"
    paid = steps[-1]
    if paid.standing is Standing.PROVEN:
        return f"yes: {paid.reason}"
    waiting = next(one for one in steps if one.standing is not Standing.PROVEN)
    return f"not known yet: {waiting.name}: {waiting.reason}"


def _listed(known: Known) -> Step:
    ended, joined = _ended(known, *LISTINGS), _ended(known, "register")
    if ended[CONFIRMED]:
        answered = f"answered {_times(ended[CONFIRMED])}"
        return Step("listed", Standing.PROVEN, answered)
    if known.tasks_seen:
        # How often it answered is written once a minute, tasks at once.
        return Step("listed", Standing.PROVEN, f"{known.tasks_seen} tasks were listed")
    if not joined[CONFIRMED] and (refusals := _refusals(joined)):
        reason = f"the registration was {refusals}; `journeyman run` shows the words"
        toml = _GATEWAY if Refusal.UNAUTHORIZED in refusals else ""
        return Step("listed", Standing.REFUSED, reason, toml)
    if refusals := _refusals(ended):
        return Step("listed", Standing.REFUSED, refusals)
    return Step("listed", Standing.UNTRIED, "the marketplace has not answered yet")


def _understood(known: Known) -> Step:
    name = "understood"
    if known.tasks_seen:
        return Step(name, Standing.PROVEN, f"{known.tasks_seen} tasks were read")
    lists = [found for shape in _listed_shapes(known) for found in _lists_in(shape)]
    if lists:
        place, records = max(lists, key=lambda one: one[1].size)
        fields = ", ".join([*records.fields][:_MOST_FIELDS]) or "none"
        reason = (
            f"it has records, and none of them was read as a task (fields: {fields}); "
            "`journeyman market --json` shows what came"
        )
        return Step(name, Standing.REFUSED, reason, _listing_table(place, records))
    return Step(name, Standing.UNTRIED, "no task was listed yet")


def _acted(known: Known, name: str, action: str, reached: int, said: str) -> Step:
    ended, model = _ended(known, action), known.requests.get(action, RequestModel())
    if times := max(reached, ended[CONFIRMED]):
        return _answered(name, times, is_proof=bool(reached or action != "complete"))
    if model.refused:
        last = model.refused[-1]
        table = _table(action, _likeliest(model), known.given)
        suggested = _suggested(model)
        return Step(name, Standing.REFUSED, last.message + suggested, table)
    if refusals := _refusals(ended):
        return Step(
            name, Standing.REFUSED, f"{said} ({refusals})" if said else refusals
        )
    if ended:
        return Step(name, Standing.UNTRIED, "no request had a definite answer yet")
    obstacle = _obstacle(known) if action == "claim" else ""
    return Step(name, Standing.UNTRIED, obstacle or "nothing has come this far yet")


def _likeliest(model: RequestModel) -> RefusedShape:
    """Return the refused body that is nearest to a right one, as far as is known.

    Where nothing was learned, the first was the likeliest. Else the last that taught
    something, of those that say the most under names that were not refused: a later
    one may have left out what tells the task.
    """
    taught = [one for one in model.refused if one.has_taught]
    fitting = [
        one
        for one in taught
        if not one.shape.repeats_values
        and not any(model.constraints.is_unknown(o.path) for o in one.shape.placed)
    ]
    if fitting:
        return max(reversed(fitting), key=_values_in)
    return taught[-1] if taught else model.refused[0]


def _values_in(refused: RefusedShape) -> int:
    return sum(bool(one.source) for one in refused.shape.placed)


def _answered(name: str, times: int, *, is_proof: bool) -> Step:
    """Return a step that was answered with a yes.

    One to a completion is no proof: it may say that the work is being looked at.
    """
    if is_proof:
        return Step(name, Standing.PROVEN, _times(times))
    reason = f"answered {_times(times)}, and no task is completed yet"
    return Step(name, Standing.UNTRIED, reason)


def _suggested(model: RequestModel) -> str:
    """Return what a language model proposed, which the network has not confirmed."""
    named = [".".join(f.path) for one in model.suggestions for f in one.findings]
    names = ", ".join(dict.fromkeys(named))
    return f" (suggested by the language model: {names})" if names else ""


def _obstacle(known: Known) -> str:
    """Return why nothing was claimed, where all tasks were skipped for one reason."""
    skipped, wanted = sum(known.skipped.values()), known.tasks.get(TaskState.WANTED, 0)
    if len(known.skipped) == 1 and skipped == known.tasks_seen and not wanted:
        return f"all {skipped} tasks are skipped: {next(iter(known.skipped))}"
    return ""


def _paid(known: Known) -> Step:
    if known.earned:
        how = "" if known.is_pay_shown else " at listed rewards; no answer named any"
        return Step("paid", Standing.PROVEN, f"{known.earned} credits earned{how}")
    completed = known.tasks.get(TaskState.COMPLETED, 0)
    if completed:
        reason = f"{completed} tasks are completed, and none of them paid anything"
        return Step("paid", Standing.UNTRIED, reason)
    if waiting := known.tasks.get(TaskState.COMPLETING, 0):
        tasks = "1 task waits" if waiting == 1 else f"{waiting} tasks wait"
        reason = f"{tasks} for the network's verdict"
        return Step("paid", Standing.UNTRIED, reason)
    return Step("paid", Standing.UNTRIED, "no task is completed yet")


def _ended(known: Known, *names: str) -> Counter[str]:
    """Count how the calls of some endpoints ended."""
    ended: Counter[str] = Counter()
    for name in names:
        if record := known.endpoints.get(name):
            for how, number in record.outcomes.items():
                ended[how] += number
    return ended


def _refusals(ended: Counter[str]) -> str:
    definite = [(how, n) for how, n in ended.most_common() if how.startswith("refused")]
    return ", ".join(f"{how}, {_times(number)}" for how, number in definite)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _listed_shapes(known: Known) -> Iterator[Shape]:
    for name in LISTINGS:
        for answer in known.endpoints.get(name, EndpointRecord()).answers.values():
            if answer.is_yes:
                yield answer.body


_MOST_FIELDS = 12
"""Of a record, that are named."""


def _lists_in(shape: Shape, above: Path = ()) -> Iterator[tuple[Path, Shape]]:
    """Yield where arrays of objects are, and what those look like."""
    if shape.items is not None and "object" in shape.items.kinds:
        yield above, shape.items
        return
    inner = [((*above, name), one) for name, one in shape.fields.items()]
    inner += [(above, one) for one in (shape.items, shape.entries) if one]
    for path, one in inner:
        yield from _lists_in(one, path)


def _fields_in(shape: Shape, above: Path = ()) -> Iterator[tuple[Path, Shape]]:
    """Yield the fields of a record that hold a value."""
    for name, one in shape.fields.items():
        path = (*above, name)
        if not {*one.kinds} <= {"object", "array", "null"}:
            yield path, one
        yield from _fields_in(one, path)


_NUMBERS = ("integer", "number")


def _listing_table(place: Path, records: Shape) -> str:
    """Return the settings that would read a listing, for its owner to mend."""
    fields = [*_fields_in(records)]
    ids = [p for p, one in fields if {"string", "integer"} & {*one.kinds}]
    found = {
        "id": max(ids, key=id_name_score, default=("...",)),
        "text": _named(fields, PROSE_WORDS, "string"),
        "reward": _named(fields, REWARD_WORDS, *_NUMBERS, "string"),
        "status": _named(fields, STATE_WORDS, "string", *_NUMBERS),
    }
    lines = [f"{role} = {_place(path)}" for role, path in found.items() if path]
    others = [_place(path) for path, _ in fields if path not in found.values()]
    return "\n".join(
        [
            "[contract.listing]",
            *([f"records = {_place(place)}"] if place else []),
            *lines,
            *([f"# also there: {', '.join(others[:_MOST_FIELDS])}"] if others else []),
        ]
    )


def _named(
    fields: list[tuple[Path, Shape]], words: frozenset[str], *kinds: str
) -> Path:
    """Return the first field with one of the words in its name."""
    named = (
        p for p, one in fields if {*kinds} & {*one.kinds} and words & {*words_of(p[-1])}
    )
    return next(named, ())


def _place(path: Path) -> str:
    return json.dumps(".".join(path))


def _table(action: str, refused: RefusedShape, given: Iterable[str]) -> str:
    """Return the settings that would send the refused body, for its owner to mend.

    `given` names what it could say besides.
    """
    lines = [f"[contract.requests.{action}]", *_places(refused.shape)]
    unused = [name for name in given if refused.shape.path_of(name) is None]
    if unused:
        lines.append(f"# also known: {', '.join(map(json.dumps, unused))}")
    constants = [
        f"{'.'.join(map(_key, one.path))} = {json.dumps(one.constant)}"
        for one in refused.shape.placed
        if not one.source and one.constant is not None
    ]
    lines += [f"constants = {{ {', '.join(constants)} }}"] if constants else []
    return "\n".join(lines)


def _places(shape: RequestShape) -> Iterator[str]:
    for one in shape.placed:
        if one.source:
            yield f"{_key(one.source)} = {_place(one.path)}"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name)


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkRecord:
    """What is known of a network's endpoints."""

    endpoints: Mapping[str, EndpointRecord]
    """By name."""
    requests: Mapping[str, RequestModel]
    """By action."""


def network_record(journal: Journal, base_url: str) -> NetworkRecord:
    """Read it from a journal; a running daemon has it in memory."""
    saved = journal.facts.get(MODEL_FACT.format(base_url=base_url))
    return NetworkRecord(
        endpoints=records_from(journal.observations.of(base_url.rstrip("/"))),
        requests=read_document(saved).model.requests,
    )


def known_of(
    journal: Journal, record: NetworkRecord, *, is_report: bool = True
) -> Known:
    """Return what is known of one network.

    Only for a report all tasks are looked at, for why they were skipped.
    """
    counts = journal.tasks.counts()
    ends = {TaskState.LOST, TaskState.REJECTED} & counts.keys()
    said = {state: journal.tasks.last_reason(state) for state in ends}
    return Known(
        endpoints=record.endpoints,
        requests=record.requests,
        tasks_seen=journal.totals.get("tasks.seen"),
        tasks=counts,
        skipped=journal.tasks.skip_reasons(2) if is_report else {},
        last_reasons={state: reason for state, reason in said.items() if reason},
        given=_given_names(journal) if is_report else (),
        earned=journal.ledger.totals().get(EntryKind.EARNED, 0),
        is_pay_shown=not is_report or journal.ledger.is_pay_shown(),
    )


_MOST_NAMES = 20


def _given_names(journal: Journal) -> tuple[str, ...]:
    waiting = (TaskState.SUBMITTING, TaskState.COMPLETING)
    rows = [row for state in waiting for row in journal.tasks.recent(state, 1)]
    names = dict.fromkeys(name for row in rows for name in row.given)
    return tuple(names)[:_MOST_NAMES]
