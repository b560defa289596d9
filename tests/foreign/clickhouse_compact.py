"""A service over an analytics database: the listing is the query's result as it came.

JSONCompact: `meta` names the columns, `data` holds arrays in their order, 64-bit numbers
are strings. Claims, results and completions answer 204 and nothing else; the balance is a
header of every answer to an agent. Errors are the one line of text that the server logs.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
PROMPTS = (
    "pack the books before noon",
    "the kettle sings on the stove",
    "a raven sat on the fence post",
    "winter came early to the hills",
    "the choir practises on thursday",
    "somebody painted the gate green",
    "the river froze below the weir",
    "lend me a ladder for an hour",
)
COLUMNS = (
    ("task_id", "UInt64"),
    ("created", "DateTime"),
    ("prompt", "String"),
    ("skill", "LowCardinality(String)"),
    ("price", "UInt32"),
    ("worker", "Nullable(String)"),
    ("state", "Enum8('new' = 0, 'taken' = 1, 'delivered' = 2, 'done' = 3)"),
)


@dataclass
class Row:
    task_id: int
    prompt: str
    price: int
    worker: str | None = None
    state: str = "new"

    def cells(self) -> list[object]:
        created = f"2025-05-{self.price + 1:02} 06:30:11"
        text = self.prompt
        return [
            str(self.task_id),
            created,
            text,
            "uppercase",
            self.price,
            self.worker,
            self.state,
        ]


class RefusedError(Exception):
    def __init__(self, status: int, code: int, why: str) -> None:
        super().__init__(why)
        self.status, self.line = status, f"Code: {code}. DB::Exception: {why}\n"

    def response(self) -> Response:
        return Response(self.status, self.line)


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response()

    return answer


class ClickhouseCompact(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._balance: dict[str, int] = {}
        start = 9_214_000_000_000_000_117
        rows = [Row(start + n * 31, p, n % 5 + 2) for n, p in enumerate(PROMPTS)]
        self._mine = {row.task_id: row for row in rows}
        old = [
            Row(start - 62, "count the spoons", 3, "w-77af", "done"),
            Row(start - 31, "sweep the yard", 6, "w-77af", "done"),
            Row(start + 7, "oil the hinges", 4, "w-19c0", "taken"),
        ]
        self._rows = {row.task_id: row for row in sorted([*rows, *old], key=_number)}

    def texts(self) -> dict[str, str]:
        return {str(row.task_id): row.prompt for row in self._mine.values()}

    def missing(self, request: Request) -> Response:
        return Response(404, f"There is no handle {request.path}\n")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"w-{secrets.token_hex(2)}", secrets.token_hex(24)
        self._agents[token], self._balance[agent] = agent, 100
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "6")
        if not limit.isdecimal():
            return RefusedError(400, 72, "Cannot parse limit").response()
        rows = list(self._rows.values())[: min(int(limit), 100)]
        body = {
            "meta": [{"name": name, "type": kind} for name, kind in COLUMNS],
            "data": [row.cells() for row in rows],
            "rows": len(rows),
            "rows_before_limit_at_least": len(self._rows),
            "statistics": {"elapsed": 0.0021, "rows_read": 11, "bytes_read": 1284},
        }
        return Response(200, body, self._headers(self._agents.get(request.token)))

    @telling
    def claim(self, request: Request) -> Response:
        agent, row, _ = self._read(request)
        if row.state != "new":
            raise RefusedError(409, 341, f"Task {row.task_id} is {row.state}")
        row.worker, row.state = agent, "taken"
        self.book.claimed(str(row.task_id))
        return Response(204, b"", self._headers(agent))

    @telling
    def submit(self, request: Request) -> Response:
        agent, row, given = self._read(request, "output")
        self._check(row, agent, "taken")
        if given["output"] != row.prompt.upper():
            raise RefusedError(400, 469, "Constraint `right_output` is violated")
        row.state = "delivered"
        return Response(204, b"", self._headers(agent))

    @telling
    def complete(self, request: Request) -> Response:
        agent, row, _ = self._read(request)
        self._check(row, agent, "delivered")
        row.state = "done"
        self._balance[agent] += row.price
        self.book.pay(str(row.task_id), row.price)
        return Response(204, b"", self._headers(agent))

    def _check(self, row: Row, agent: str, state: str) -> None:
        if row.worker != agent:
            raise RefusedError(
                403, 497, f"Not enough privileges for task {row.task_id}"
            )
        if row.state != state:
            raise RefusedError(
                409, 341, f"Task {row.task_id} is {row.state}, not {state}"
            )

    def _headers(self, agent: str | None) -> dict[str, str]:
        return {"X-Credit-Balance": str(self._balance[agent])} if agent else {}

    def _read(self, request: Request, *more: str) -> tuple[str, Row, dict[str, str]]:
        agent = self._agents.get(request.token)
        if agent is None:
            raise RefusedError(401, 516, "Authentication failed: unknown token")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise RefusedError(400, 117, "Cannot parse input: expected a JSON object")
        for name in ("task_id", *more):
            if name not in given:
                raise RefusedError(400, 36, f"Missing parameter '{name}'")
        if not str(given["task_id"]).isdecimal():
            raise RefusedError(400, 72, "Cannot parse task_id as UInt64")
        row = self._rows.get(int(given["task_id"]))
        if row is None:
            raise RefusedError(404, 60, f"Task {given['task_id']} doesn't exist")
        return agent, row, given


def _number(row: Row) -> int:
    return row.task_id
