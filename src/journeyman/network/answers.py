"""Reads the answers of a network: what an action came to, and listings of tasks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest

from journeyman.domain.tasks import JSON, AccessToken, AgentId, Task, TaskId
from journeyman.network.dialect import Dialect
from journeyman.network.http import UnreadableJSONError, parse
from journeyman.network.records import (
    Fields,
    RecordReader,
    as_amount,
    as_identifier,
    as_moment,
    as_string,
    names_of,
    spelling,
    spellings,
)
from journeyman.network.wording import codes_in, texts_in


@dataclass(frozen=True, slots=True)
class Registration:
    """A new agent (contract section 2, Agent)."""

    agent_id: AgentId
    access_token: AccessToken
    credits: int | None
    """The starting balance; None when the answer does not show it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutRequest:
    """The body of create-checkout (contract section 2, Checkout request)."""

    plan: str
    agent_id: AgentId
    price_id: str
    requested_credits: int
    amount_cents: int
    """In cents of a US dollar."""
    product_label: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutSession:
    """The answer of create-checkout: all fields optional (contract section 2)."""

    ok: bool | None = None
    session_id: str | None = None
    url: str | None = None
    """The hosted payment page."""
    mode: str | None = None
    agent_id: str | None = None
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """What a marketplace shows."""

    tasks: tuple[Task, ...]
    """In the network's order, each id once."""
    unreadable: int
    """How many records have no usable id."""
    total: int
    """How many records there were."""
    problem: str
    """Why something could not be read; empty when all was well."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A task is ours."""

    task: Task | None
    """As the answer describes it, when it does."""
    ours_already: bool
    """The network says that it was ours before this request."""
    balance: int | None
    """In credits, when the answer shows it; so in all receipts below."""
    lease_until: datetime | None = None
    """When the claim ends by itself, in UTC, when the answer shows it."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """A result was accepted."""

    balance: int | None


@dataclass(frozen=True, slots=True)
class Completed:
    """A task is done."""

    credits_earned: int | None
    """In credits, when the answer says so."""
    balance: int | None


@dataclass(frozen=True, slots=True)
class Posted:
    """A task was published."""

    task_id: TaskId | None = None
    """The network's name for it; None when the answer does not tell."""
    balance: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A discovery document."""

    path: str
    content_type: str
    """As the portal sent it; empty when it sent none."""
    text: str = field(repr=False)
    json: JSON = field(repr=False)
    """The parsed text where the path ends in `.json`, else None."""
    problem: str
    """What is odd about it though it could be read; empty when nothing is."""


_HEADER_SAFE = re.compile(r"[\x21-\x7e]+")


class WrongShapeError(Exception):
    """A 2xx answer lacks what makes it an answer; the message says what."""


def is_header_safe(value: str) -> bool:
    """Return whether a value can stand in a header as it is (visible ASCII)."""
    return bool(_HEADER_SAFE.fullmatch(value))


def kind_of(value: JSON) -> str:
    """Return what a JSON value is, as in "a JSON array"."""
    match value:
        case None:
            name = "null"
        case bool():
            name = "boolean"
        case str():
            name = "string"
        case list():
            name = "array"
        case dict():
            name = "object"
        case _:
            name = "number"
    return f"a JSON {name}"


class AnswerReader:
    """Reads what an action's answer says, under any of the dialect's names.

    All methods raise WrongShapeError where the answer is not an object.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._names = names_of(dialect)
        self._record = RecordReader(dialect)

    def registration(self, answer: JSON) -> Registration:
        """Read a new agent.

        Raises:
            WrongShapeError: there is no agent id or no token that can be used.
        """
        seen = self._with_account(self._open(answer))
        agent_id = seen.pick(self._names["agent_id"], as_identifier)
        token = seen.pick(self._names["token"], _as_token)
        if not agent_id or not token:
            missing = "access_token" if agent_id else "agent_id"
            raise WrongShapeError(f"a registration without a usable {missing}")
        shown = self._credits(seen, self._names["starter_credits"])
        return Registration(AgentId(agent_id), AccessToken(token), shown)

    def checkout(self, answer: JSON) -> CheckoutSession:
        """Read a checkout session; whatever is missing is None."""
        seen = self._open(answer)
        is_ok = seen.get("ok")
        return CheckoutSession(
            ok=is_ok if isinstance(is_ok, bool) else None,
            session_id=as_string(seen.get("sessionid")),
            url=as_string(seen.get("url")),
            mode=as_string(seen.get("mode")),
            agent_id=as_string(seen.get("agentid")),
            plan=as_string(seen.get("plan")),
        )

    def claimed(self, answer: JSON, task_id: TaskId) -> Claimed:
        """Read the answer to a claim of `task_id`."""
        seen = self._open(answer)
        task_records = self._records(seen)
        described = [
            self._record.described(one, task_id) for one in (*task_records, answer)
        ]
        return Claimed(
            next(filter(None, described), None),
            seen.says(self._names["ours_flags"], flag=True),
            self._balance(seen),
            self._lease(seen, task_records),
        )

    def claimed_before(self, answer: JSON, agent_id: AgentId) -> Claimed | None:
        """Read a refused claim; None unless it was refused because the task is ours."""
        if not isinstance(answer, dict):
            return None
        seen = self._open(answer)
        task_records = self._records(seen)
        claimants = self._names["claimant"]
        claimant = seen.under(*task_records).pick(claimants, self._record.agent)
        flags = self._names["ours_in_refusals"]
        if not (
            claimant == agent_id
            or seen.says(flags, flag=True)
            or self._says_ours(answer)
        ):
            return None
        lease = self._lease(seen, task_records)
        return Claimed(None, ours_already=True, balance=None, lease_until=lease)

    def submitted(self, answer: JSON) -> Submitted:
        """Read the answer to a result."""
        return Submitted(self._balance(self._open(answer)))

    def completed(self, answer: JSON) -> Completed:
        """Read the answer to a completion."""
        seen = self._open(answer)
        earned = self._credits(seen, self._names["earned"])
        return Completed(earned, self._balance(seen))

    def posted(self, answer: JSON) -> Posted:
        """Read the answer to a post."""
        seen = self._open(answer)
        whole = seen.under(*self._records(seen))
        task_id = whole.pick(self._names["id"], as_identifier)
        return Posted(TaskId(task_id) if task_id else None, self._balance(seen))

    def _open(self, answer: JSON) -> Fields:
        if not isinstance(answer, dict):
            raise WrongShapeError(f"{kind_of(answer)} where an object was expected")
        outer = Fields(answer)
        return outer.under(*outer.objects(self._names["answer_wrappers"]).values())

    def _records(self, seen: Fields) -> list[dict[str, JSON]]:
        return [*seen.objects(self._names["record_wrappers"]).values()]

    def _with_account(self, seen: Fields) -> Fields:
        return seen.under(*seen.objects(self._names["account_wrappers"]).values())

    def _balance(self, seen: Fields) -> int | None:
        return self._credits(self._with_account(seen), self._names["balance"])

    def _credits(self, seen: Fields, names: tuple[str, ...]) -> int | None:
        units = self._dialect.credit_units
        return seen.pick(names, lambda value: as_amount(value, units))

    def _lease(
        self, seen: Fields, task_records: list[dict[str, JSON]]
    ) -> datetime | None:
        """Read when a claim ends: the earliest moment that the answer shows."""
        names = self._names["lease"]
        more = (*names, *self._names["lease_in_wrapper"])
        shown: list[datetime | None] = []
        for layer in (seen, *[Fields(record) for record in task_records]):
            shown.append(layer.pick(names, as_moment))
            claims = layer.objects(self._names["lease_wrappers"])
            shown += [Fields(one).pick(more, as_moment) for one in claims.values()]
        return min(filter(None, shown), default=None)

    def _says_ours(self, answer: JSON) -> bool:
        codes = spellings(codes_in(answer, self._names["code_fields"]))
        said = " ".join(texts_in(answer, self._names["message_fields"])).lower()
        return any(code in self._names["ours_in_refusals"] for code in codes) or any(
            words in said for words in self._dialect.ours_words
        )


def _as_token(value: JSON) -> str | None:
    return value if isinstance(value, str) and is_header_safe(value) else None


_SAMPLE = 20
"""Records looked at to judge an array."""
_NAMES_SHOWN = 8
"""Field names quoted when no tasks were found."""
_TASK_NAME_WORTH = 20
"""More than the likeness of any record: such a name is authoritative."""
_NEUTRAL_NAME_WORTH = 2
_TASK_LIKENESS = 3
"""An id and two other features: so many are needed where no array shows them all."""

_Path = tuple[str, ...]
"""Names from the root to a value, reduced by `spelling`."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: _Path
    records: Sequence[JSON]
    keys: Sequence[str] = ()
    """The names of the records, where they are the values of an object."""


class ListingReader:
    """Reads an answer as a list of tasks."""

    def __init__(self, dialect: Dialect) -> None:
        self._depth = dialect.container_depth
        self._names = names_of(dialect)
        self._record = RecordReader(dialect)
        names = ("task_containers", "containers", "no_containers", "record_wrappers")
        more = ("record_wrappers_without_id", "account_wrappers", "message_fields")
        self._no_keys = {n for field in (*names, *more) for n in self._names[field]}

    def listing(self, answer: JSON) -> Listing:
        """Return the tasks of an answer; records without an id are only counted.

        Raises:
            WrongShapeError: the answer is neither an array nor an object.
        """
        answer = _unquoted(answer)
        if not isinstance(answer, list | dict):
            raise WrongShapeError(f"{kind_of(answer)} where a list was expected")
        found = self._find(answer)
        if found is None:
            return Listing((), 0, 0, f"no list of tasks in {_described(answer)}")
        tasks: dict[TaskId, Task] = {}
        unreadable = 0
        for record, key in zip_longest(found.records, found.keys):
            task = self._record.task(record, key)
            if task is None:
                unreadable += 1
            else:
                tasks.setdefault(task.id, task)
        problem = ""
        if unreadable:
            problem = f"{unreadable} of {len(found.records)} records have no usable id"
        return Listing(tuple(tasks.values()), unreadable, len(found.records), problem)

    def _find(self, answer: JSON) -> _Candidate | None:
        best, best_worth = None, 0.0
        has_list = False
        for candidate in self._candidates(answer):
            has_list = has_list or self._name_worth(candidate.path) is not None
            worth = self._worth(candidate)
            if worth > best_worth:
                best, best_worth = candidate, worth
        return best if best or has_list else self._single(answer)

    def _single(self, answer: JSON) -> _Candidate | None:
        """Find one task that stands alone, where nothing is a list."""
        for path, value in self._walk(answer):
            if self._name_worth(path) is None:
                continue
            is_task = self._record.likeness(value) >= _TASK_LIKENESS
            if is_task and self._record.promises_reward(value):
                return _Candidate(path, [value])
        return None

    def _candidates(self, answer: JSON) -> Iterator[_Candidate]:
        for path, value in self._walk(answer):
            if isinstance(value, list):
                yield _Candidate(path, value)
            elif isinstance(value, dict) and self._is_keyed(path, value):
                yield _Candidate(path, [*value.values()], [*value])

    def _walk(self, answer: JSON) -> Iterator[tuple[_Path, JSON]]:
        """Walk the objects, shallow ones first; arrays are not entered."""
        level: list[tuple[_Path, JSON]] = [((), answer)]
        for _ in range(self._depth + 1):
            below: list[tuple[_Path, JSON]] = []
            for path, value in level:
                yield path, value
                if isinstance(value, dict) and not self._is_keyed(path, value):
                    below += [((*path, spelling(k)), v) for k, v in value.items()]
            level = below

    def _is_keyed(self, path: _Path, value: dict[str, JSON]) -> bool:
        """Return whether an object is a list of tasks, each under a name of its own."""
        sample = [*value.items()][:_SAMPLE]
        if not sample or any(spelling(key) in self._no_keys for key, _ in sample):
            return False
        likeness = [self._record.likeness(record, key) for key, record in sample]
        if min(likeness) < _TASK_LIKENESS:
            return False
        is_named = self._name_worth(path) == _TASK_NAME_WORTH
        return is_named or any(self._record.promises_reward(r) for _, r in sample)

    def _worth(self, candidate: _Candidate) -> float:
        """Weigh a candidate; 0 is "certainly not the tasks"."""
        name = self._name_worth(candidate.path)
        if name is None:
            return 0
        if not candidate.records:
            return max(name - 1, 0)
        sample = zip_longest(candidate.records[:_SAMPLE], candidate.keys[:_SAMPLE])
        likeness = [self._record.likeness(record, key) for record, key in sample]
        if not any(likeness):
            return 0.5 if name else 0
        if not name and max(likeness) == 1:
            return 0  # an id alone, under a name that says nothing
        return name + sum(likeness) / len(likeness)

    def _name_worth(self, path: _Path) -> int | None:
        if path and path[-1] in self._names["no_containers"]:
            return None
        if any(name in self._names["task_containers"] for name in path):
            return _TASK_NAME_WORTH
        known = self._names["containers"]
        return _NEUTRAL_NAME_WORTH if not path or path[-1] in known else 0


def _unquoted(answer: JSON) -> JSON:
    """Return the list out of a text that is itself JSON: some services encode twice."""
    if not isinstance(answer, str) or not answer.lstrip().startswith(("[", "{")):
        return answer
    try:
        return parse(answer)
    except UnreadableJSONError:
        return answer


def _described(answer: JSON) -> str:
    if not isinstance(answer, dict):
        return "the answer (an array without tasks)"
    names = ", ".join(name[:40] for name in list(answer)[:_NAMES_SHOWN])
    return f"the answer (its fields: {names or 'none'})"
