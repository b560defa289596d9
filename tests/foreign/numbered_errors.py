"""A service whose refusals are numbers: a code, where to read of it, a trace and a time.

The documentation behind the link wants a login. One fault at a time, each with a code of
its own; the trace and the time are others each time, so that no two refusals are the same.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the switchboard has forty lamps",
    "a wrong number rings at dawn",
    "hold the line for the operator",
    "the cable crosses two borders",
    "coins drop into the pay phone",
    "the pager beeped in the theatre",
    "a voice reads the exact time",
    "static drowns the second verse",
)
CODES = {
    "task_id": 20101,
    "agent_id": 20102,
    "assignment_id": 20103,
    "result": 20104,
}


class Refused(Exception):  # noqa: N818 - a word of the trade
    def __init__(self, status: int, code: int) -> None:
        super().__init__(code)
        body = {
            "status": status,
            "code": code,
            "more_info": f"https://docs.switchboard.invalid/errors/{code}",
            "trace": secrets.token_hex(16),
            "time": datetime.now(UTC).isoformat(),
        }
        self.response = Response(status, body)


class NumberedErrors(Backend):
    """Eight tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {
            f"TK{secrets.token_hex(16)}": {"text": text, "reward": at % 5 + 1}
            for at, text in enumerate(TEXTS)
        }
        self.agents: dict[str, str] = {}
        self.assignments: dict[str, dict[str, str]] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["text"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Refused(404, 20404).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"AG{secrets.token_hex(16)}", secrets.token_hex(16)
        self.agents[token] = agent
        told = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        taken = {one["task_id"] for one in self.assignments.values()}
        rows = [
            {"id": key, **row, "status": "assigned" if key in taken else "open"}
            for key, row in self.rows.items()
        ]
        return Response(200, {"tasks": rows})

    def answered(
        self, request: Request, names: list[str], step: Callable[..., Any]
    ) -> Response:
        try:
            return Response(200, step(*self.values(request, names)))
        except Refused as refused:
            return refused.response

    def values(self, request: Request, names: list[str]) -> list[str]:
        if request.token not in self.agents:
            raise Refused(401, 20003)
        try:
            body = request.json()
        except ValueError:
            raise Refused(400, 20001) from None
        if not isinstance(body, dict):
            raise Refused(400, 20001)
        for name in names:
            if not isinstance(body.get(name), str) or not body[name]:
                raise Refused(400, CODES[name])
        agent = self.agents[request.token]
        if body.get("agent_id", agent) != agent:
            raise Refused(403, 20105)
        return [body[name] for name in names]

    def claim(self, request: Request) -> Response:
        return self.answered(request, ["task_id", "agent_id"], self.on_claim)

    def on_claim(self, task: str, agent: str) -> Any:
        if task not in self.rows:
            raise Refused(404, 20110)
        if any(one["task_id"] == task for one in self.assignments.values()):
            raise Refused(409, 20111)
        key = f"AS{secrets.token_hex(16)}"
        self.assignments[key] = {"task_id": task, "status": "assigned"}
        self.book.claimed(task)
        return {"assignment_id": key, **self.assignments[key]}

    def assignment(self, key: str) -> dict[str, str]:
        if key not in self.assignments:
            raise Refused(404, 20112)
        return self.assignments[key]

    def submit(self, request: Request) -> Response:
        return self.answered(request, ["assignment_id", "result"], self.on_submit)

    def on_submit(self, key: str, result: str) -> Any:
        one = self.assignment(key)
        if result != self.rows[one["task_id"]]["text"].upper():
            raise Refused(422, 20113)
        if one["status"] == "assigned":
            one["status"] = "submitted"
        return {"assignment_id": key, **one}

    def complete(self, request: Request) -> Response:
        return self.answered(request, ["assignment_id"], self.on_complete)

    def on_complete(self, key: str) -> Any:
        one = self.assignment(key)
        if one["status"] == "assigned":
            raise Refused(409, 20114)
        if one["status"] == "submitted":
            one["status"] = "paid"
            self.book.pay(one["task_id"], self.rows[one["task_id"]]["reward"])
        return {"assignment_id": key, **one}
