"""A data scientist's service: FastAPI over a data frame that is written out as it is.

`df.to_json()` answers the listing, so that each column is an object whose keys are the
rows' index (with gaps, since the rows were filtered); states are small numbers, times are
milliseconds, and what is not there is null. Requests are pydantic models in snake case.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
OPEN, TAKEN, DELIVERED, PAID = range(4)
ROWS = (
    (4011, "the median is not the mean", 5),
    (4012, "plot the residuals first", 3),
    (4017, "sample without replacement", 6),
    (4020, "label both of the axes", 2),
    (4023, "outliers are people too", 4),
    (4024, "save the notebook before lunch", 7),
)
WORDS = {int: ("int_parsing", "integer"), str: ("string_type", "string")}


@dataclass
class Row:
    task_id: int
    text: str
    reward: int
    status: int = OPEN
    worker: str | None = None


class DetailError(Exception):
    def __init__(self, status: int, detail: object) -> None:
        super().__init__(detail)
        self.response = Response(status, {"detail": detail})


def telling(action: Action) -> Action:
    """Answer with the detail where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except DetailError as no:
            return no.response

    return answer


class PandasFrame(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Row(*row) for row in ROWS]
        self._open = {row.task_id: row for row in open_}
        old = [
            Row(4002, "drop the empty rows", 3, PAID, "w1"),
            Row(4008, "join on both keys", 4, TAKEN, "w2"),
        ]
        # The index, which says nothing to anybody but the frame.
        self._frame = dict(
            zip((1, 4, 5, 6, 9, 12, 13, 16), [*old, *open_], strict=True)
        )

    def texts(self) -> dict[str, str]:
        return {str(row.task_id): row.text for row in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"w{10 + self.book.registrations}", secrets.token_hex(16)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = int(request.query.get("limit", "100"))
        rows = dict(list(self._frame.items())[:limit])

        def column(value: Callable[[Row], object]) -> dict[str, object]:
            return {str(at): value(row) for at, row in rows.items()}

        frame = {
            "task_id": column(lambda row: row.task_id),
            "text": column(lambda row: row.text),
            "reward": column(lambda row: row.reward),
            "status": column(lambda row: row.status),
            "worker": column(lambda row: row.worker),
            "created": column(lambda row: 1_790_000_000_000 + row.task_id * 60_000),
            "due": dict.fromkeys(map(str, rows)),
        }
        return Response(200, frame)

    @telling
    def claim(self, request: Request) -> Response:
        agent, row, _ = self._read(request)
        if row.status != OPEN:
            raise DetailError(409, f"task {row.task_id} has status {row.status}")
        row.status, row.worker = TAKEN, agent
        self.book.claimed(str(row.task_id))
        return Response(200, {"task_id": row.task_id, "status": row.status})

    @telling
    def submit(self, request: Request) -> Response:
        agent, row, given = self._read(request, answer=str)
        self._own(agent, row, TAKEN)
        if given["answer"] != row.text.upper():
            raise DetailError(422, "answer: wrong")
        row.status = DELIVERED
        return Response(200, {"task_id": row.task_id, "status": row.status})

    @telling
    def complete(self, request: Request) -> Response:
        agent, row, _ = self._read(request)
        self._own(agent, row, DELIVERED)
        row.status = PAID
        self.book.pay(str(row.task_id), row.reward)
        return Response(200, {"task_id": row.task_id, "status": row.status})

    def _own(self, agent: str, row: Row, status: int) -> None:
        if row.worker != agent or row.status != status:
            raise DetailError(409, f"task {row.task_id} has status {row.status}")

    def _read(self, request: Request, **more: type) -> tuple[str, Row, dict[str, Any]]:
        if request.token not in self._agents:
            raise DetailError(401, "Not authenticated")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            told = {"type": "model_attributes_type", "loc": ["body"]}
            raise DetailError(422, [{**told, "msg": "Input should be an object"}])
        faults = []
        for name, kind in {"task_id": int, **more}.items():
            fault, word = WORDS[kind]
            if name not in given:
                fault, message = "missing", "Field required"
            elif isinstance(given[name], kind):
                continue
            else:
                message = f"Input should be a valid {word}"
            faults.append({"type": fault, "loc": ["body", name], "msg": message})
        if faults:
            raise DetailError(422, faults)
        for row in self._frame.values():
            if row.task_id == given["task_id"]:
                return self._agents[request.token], row, given
        raise DetailError(404, f"no task {given['task_id']}")
