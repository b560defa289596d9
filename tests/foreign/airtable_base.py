"""A task table in the manner of Airtable's web API, with a little automation behind it.

A record is an id, a time and `fields`, whose names are the columns that a person typed:
"Task", "What to do", "Payout" ("5 credits"). Four records a page; `offset` is a token for
the next. The table holds everything: what is done, what somebody else has. One fault is
told at a time, as Airtable does it.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
WORK = (
    ("Harbour sign", "the harbour opens at six", 5),
    ("Bakery note", "two loaves are still warm", 3),
    ("Garden label", "rosemary grows by the wall", 8),
    ("Door plate", "please knock before entering", 2),
    ("Ferry notice", "the last boat leaves at nine", 7),
    ("Tea tin", "keep this tin away from light", 4),
    ("Trail marker", "turn left after the old mill", 6),
)
PAGE = 4


@dataclass
class Record:
    id: str
    fields: dict[str, object]
    agent: str = ""
    result: str = ""

    def shown(self) -> dict[str, object]:
        return {
            "id": self.id,
            "createdTime": "2025-06-02T09:41:00.000Z",
            "fields": self.fields,
        }


@dataclass
class RefusedError(Exception):
    status: int
    kind: str
    message: str = ""

    def response(self) -> Response:
        error: object = {"type": self.kind, "message": self.message}
        return Response(self.status, {"error": error if self.message else self.kind})


def _record(
    number: int, title: str, text: str, credits_: int, **more: object
) -> Record:
    fields: dict[str, object] = {
        "Task": title,
        "What to do": text,
        "Kind": ["uppercase"],
        "Payout": f"{credits_} credits",
        "Status": "Open",
    }
    name = f"rec{number * 7919:05d}Qx{number:02d}LmT7w"
    return Record(name, fields | {k.capitalize(): v for k, v in more.items()})


@dataclass
class _Table:
    records: list[Record] = field(default_factory=list)

    def find(self, record: object) -> Record:
        for one in self.records:
            if one.id == record:
                return one
        raise RefusedError(404, "NOT_FOUND")


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response()

    return answer


class AirtableBase(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        others = [
            _record(90, "Clock face", "wind me on sundays", 3, status="Paid"),
            _record(91, "Mill stone", "no grinding today", 9, status="In progress"),
            _record(92, "Lamp post", "this lamp burns oil", 4, status="Done"),
            _record(93, "Old well", "water is not for drinking", 6, status="Paid"),
        ]
        for one in others:
            one.agent = one.fields["Worker"] = "usrMarthaQ81"
        open_ = [_record(n, *work) for n, work in enumerate(WORK, 1)]
        self._open = {one.id: one for one in open_}
        # As people type: what is old stands among what is new.
        self._table = _Table([*others[:3], *open_[:3], others[3], *open_[3:]])

    def texts(self) -> dict[str, str]:
        return {one.id: str(one.fields["What to do"]) for one in self._open.values()}

    def missing(self, request: Request) -> Response:
        return RefusedError(404, "NOT_FOUND").response()

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = "usr" + secrets.token_hex(6), "pat" + secrets.token_urlsafe(30)
        self._agents[token] = agent
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        offset = request.query.get("offset", "")
        start = 0
        if offset:
            found = [n for n, one in enumerate(self._table.records) if one.id in offset]
            if not found:
                return RefusedError(
                    422, "LIST_RECORDS_ITERATOR_NOT_AVAILABLE"
                ).response()
            start = found[0]
        shown = self._table.records[start : start + PAGE]
        body: dict[str, object] = {"records": [one.shown() for one in shown]}
        if start + PAGE < len(self._table.records):
            body["offset"] = f"itr8Zk/{self._table.records[start + PAGE].id}"
        return Response(200, body)

    @telling
    def claim(self, request: Request) -> Response:
        agent, given = self._read(request, "recordId")
        record = self._table.find(given["recordId"])
        if record.fields["Status"] != "Open":
            raise RefusedError(409, "RECORD_LOCKED", "This task is not open any more.")
        record.agent = agent
        record.fields |= {"Status": "In progress", "Worker": agent}
        self.book.claimed(record.id)
        return Response(200, record.shown())

    @telling
    def submit(self, request: Request) -> Response:
        agent, given = self._read(request, "recordId", "result")
        record = self._mine(agent, given)
        if given["result"] != str(record.fields["What to do"]).upper():
            raise RefusedError(422, "INVALID_RESULT", "The result is not right.")
        record.fields |= {"Status": "Delivered", "Result": given["result"]}
        return Response(200, record.shown())

    @telling
    def complete(self, request: Request) -> Response:
        agent, given = self._read(request, "recordId")
        record = self._mine(agent, given)
        if record.fields["Status"] == "Paid":
            raise RefusedError(409, "RECORD_LOCKED", "This task has been paid.")
        if record.fields["Status"] != "Delivered":
            raise RefusedError(409, "RECORD_LOCKED", "Deliver the result first.")
        record.fields |= {"Status": "Paid", "Paid on": "2025-06-09"}
        credits_ = int(str(record.fields["Payout"]).split()[0])
        self.book.pay(record.id, credits_)
        return Response(200, record.shown())

    def _mine(self, agent: str, given: dict[str, object]) -> Record:
        record = self._table.find(given["recordId"])
        if record.agent != agent:
            raise RefusedError(
                403, "NOT_YOUR_RECORD", "Somebody else works on this task."
            )
        return record

    def _read(self, request: Request, *names: str) -> tuple[str, dict[str, object]]:
        if request.token not in self._agents:
            raise RefusedError(
                401, "AUTHENTICATION_REQUIRED", "Authentication required"
            )
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            why = "Could not parse request body"
            raise RefusedError(422, "INVALID_REQUEST_BODY", why)
        for name in names:
            if name not in given:
                why = f'Could not find field "{name}" in the request body'
                raise RefusedError(422, "INVALID_REQUEST_MISSING_FIELDS", why)
            if not isinstance(given[name], str):
                why = f'Field "{name}" cannot accept the provided value'
                raise RefusedError(422, "INVALID_VALUE_FOR_COLUMN", why)
        return self._agents[request.token], given
