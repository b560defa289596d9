"""Reading the answers to actions: what was confirmed, and with what in it."""

import re
from datetime import datetime

from journeyman.domain import JSON, AccessToken, AgentId, Task, TaskId
from journeyman.network.dialect import Dialect
from journeyman.network.fields import Fields, spellings
from journeyman.network.reading import RecordReader, names_of
from journeyman.network.receipts import (
    CheckoutSession,
    Claimed,
    Completed,
    Posted,
    Registration,
    Submitted,
)
from journeyman.network.values import (
    as_amount,
    as_identifier,
    as_moment,
    as_string,
)
from journeyman.network.wording import codes_in, texts_in

_HEADER_SAFE = re.compile(r"[\x21-\x7e]+")


class WrongShapeError(Exception):
    """A 2xx answer lacks what makes it an answer; the message says what."""


def is_header_safe(value: str) -> bool:
    """Tell whether a value can stand in a header as it is (visible ASCII)."""
    return bool(_HEADER_SAFE.fullmatch(value))


def object_of(answer: JSON) -> dict[str, JSON]:
    """Give the answer if it is an object.

    Raises:
        WrongShapeError: it is something else.
    """
    if not isinstance(answer, dict):
        raise WrongShapeError(f"{kind_of(answer)} where an object was expected")
    return answer


def kind_of(value: JSON) -> str:
    """Name what a JSON value is, as in "a JSON array"."""
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
    """Reads what an action's answer tells, under any of the dialect's names."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._names = names_of(dialect)
        self._record = RecordReader(dialect)

    def registration(self, answer: JSON) -> Registration:
        """Read a new agent.

        Raises:
            WrongShapeError: there is no agent id or no token that can be used.
        """
        seen = self._with_account(answer)
        agent_id = seen.pick(self._names["agent_id"], as_identifier)
        token = seen.pick(self._names["token"], _as_token)
        if not agent_id or not token:
            missing = "access_token" if agent_id else "agent_id"
            raise WrongShapeError(f"a registration without a usable {missing}")
        credit_names = self._names["starter_credits"]
        return Registration(
            AgentId(agent_id),
            AccessToken(token),
            self._credits(seen, credit_names),
        )

    def checkout(self, answer: JSON) -> CheckoutSession:
        """Read a checkout session; whatever is missing is None."""
        seen = self._open(answer)

        def string(name: str) -> str | None:
            return seen.pick(spellings([name]), as_string)

        return CheckoutSession(
            ok=seen.pick(("ok",), lambda v: v if isinstance(v, bool) else None),
            session_id=string("session_id"),
            url=string("url"),
            mode=string("mode"),
            agent_id=string("agent_id"),
            plan=string("plan"),
        )

    def claimed(self, answer: JSON, task_id: TaskId) -> Claimed:
        """Read the answer to a claim of `task_id`."""
        seen = self._open(answer)
        inside = seen.objects(self._names["record_wrappers"]).values()
        read = (self._described(body, task_id) for body in (*inside, answer))
        task = next((task for task in read if task), None)
        ours = seen.pick(
            self._names["ours_flags"], lambda v: True if v is True else None
        )
        lease = self.lease(answer)
        return Claimed(task, bool(ours), self._balance(answer), lease)

    def lease(self, answer: JSON) -> datetime | None:
        """Read when a claim ends by itself: the earliest of what the answer shows."""
        seen = self._open(answer)
        inside = seen.objects(self._names["record_wrappers"]).values()
        layers = (seen, *(Fields(record) for record in inside))
        return min(filter(None, map(self._lease_in, layers)), default=None)

    def _lease_in(self, seen: Fields) -> datetime | None:
        names = self._names["lease"]
        more = (*names, *self._names["lease_in_wrapper"])
        claims = seen.objects(self._names["lease_wrappers"]).values()
        shown = [seen.pick(names, as_moment)]
        shown += [Fields(claim).pick(more, as_moment) for claim in claims]
        return min(filter(None, shown), default=None)

    def submitted(self, answer: JSON) -> Submitted:
        """Read the answer to a result."""
        return Submitted(self._balance(answer))

    def completed(self, answer: JSON) -> Completed:
        """Read the answer to a completion."""
        earned = self._credits(self._open(answer), self._names["earned"])
        return Completed(earned, self._balance(answer))

    def posted(self, answer: JSON) -> Posted:
        """Read the answer to a post."""
        seen = self._open(answer)
        inside = seen.objects(self._names["record_wrappers"]).values()
        task_id = seen.under(*inside).pick(self._names["id"], as_identifier)
        return Posted(TaskId(task_id) if task_id else None, self._balance(answer))

    def _described(self, record: JSON, task_id: TaskId) -> Task | None:
        """Read a record if it is this task and says what there is to do."""
        task = self._record.task(record)
        asked = task is not None and task.id == task_id
        return task if asked and self._record.describes_work(record) else None

    def says_ours(self, answer: JSON, agent_id: AgentId) -> bool:
        """Tell whether a refused claim was refused because the task is ours."""
        if not isinstance(answer, dict):
            return False
        seen = self._open(answer)
        inside = seen.objects(self._names["record_wrappers"]).values()
        claimants = self._names["claimant"]
        if seen.under(*inside).pick(claimants, self._record.agent) == agent_id:
            return True
        flags = self._names["ours_in_refusals"]
        return any(seen.get(flag) is True for flag in flags) or self._in_words(answer)

    def _in_words(self, answer: JSON) -> bool:
        codes = spellings(codes_in(answer, self._names["code_fields"]))
        said = " ".join(texts_in(answer, self._names["message_fields"])).lower()
        return any(code in self._names["ours_in_refusals"] for code in codes) or any(
            words in said for words in self._dialect.ours_words
        )

    def _open(self, answer: JSON) -> Fields:
        outer = Fields(object_of(answer))
        return outer.under(*outer.objects(self._names["answer_wrappers"]).values())

    def _with_account(self, answer: JSON) -> Fields:
        seen = self._open(answer)
        return seen.under(*seen.objects(self._names["account_wrappers"]).values())

    def _balance(self, answer: JSON) -> int | None:
        return self._credits(self._with_account(answer), self._names["balance"])

    def _credits(self, seen: Fields, names: tuple[str, ...]) -> int | None:
        units = self._dialect.credit_units
        return seen.pick(names, lambda value: as_amount(value, units))


def _as_token(value: JSON) -> str | None:
    usable = isinstance(value, str) and is_header_safe(value)
    return value if usable and isinstance(value, str) else None
