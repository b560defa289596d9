"""A network written like a bank: camelCase, and money as decimal strings with an asset.

Registration nests the agent, its token and its balance ("100.00") under `data`. A reward
is {"value": "7.00", "asset": "CREDIT"}; complete answers a payout and a wallet of the
same kind, and nowhere is there a field with a number of credits. A task's id is an
integer, `number`, and its text is in `brief`. Claim gives the id that the rest wants.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BRIEFS = [
    "the vault was empty on tuesday",
    "a copper coin fell in the well",
    "ledgers burn slower than letters",
    "the auditor drinks weak tea",
    "snow delayed the silver coach",
    "one signature was in green ink",
    "the scales lean to the left",
    "nobody counts the paper clips",
    "an heir arrived without shoes",
    "the clerk hums while he adds",
    "rust ate the second key",
    "a pearl was priced as glass",
]
SHAPES: dict[str, dict[str, type]] = {
    "claim": {"number": int},
    "submit": {"assignmentId": str, "deliverable": str},
    "complete": {"assignmentId": str},
}
WORDS = {int: "an integer", str: "a string"}


@dataclass
class Task:
    number: int
    brief: str
    credits: int
    agent: str = ""
    assignment: str = ""
    status: str = "OPEN"

    def shown(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "brief": self.brief,
            "reward": _money(self.credits),
            "status": self.status,
        }

    def assigned(self) -> Response:
        record = {"assignmentId": self.assignment, **self.shown()}
        return Response(200, {"data": {"assignment": record}})


def _money(credits_: int) -> dict[str, str]:
    return {"value": f"{credits_}.00", "asset": "CREDIT"}


def _no(status: int, code: str, message: str) -> Response:
    return Response(status, {"error": {"code": code, "message": message}})


def _fault(body: Any, shape: dict[str, type]) -> str:
    """Return the first fault of a body, which may hold only the fields of the shape."""
    if not isinstance(body, dict):
        return "The request body must be a JSON object."
    for name, kind in shape.items():
        if name not in body:
            return f"The property '{name}' is required."
        if type(body[name]) is not kind:
            return f"The property '{name}' must be {WORDS[kind]}."
    unknown = [name for name in body if name not in shape]
    return f"The property '{unknown[0]}' is not allowed." if unknown else ""


class DecimalMoney(Backend):
    """Twelve tasks, paid with decimal strings."""

    def __init__(self) -> None:
        super().__init__()
        self.all = {
            4700 + n: Task(4700 + n, brief, n * 2 % 9 + 1)
            for n, brief in enumerate(BRIEFS, 1)
        }
        self.tokens: dict[str, str] = {}  # token -> agent
        self.wallets: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        return {str(t.number): t.brief for t in self.all.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"AG-{secrets.token_hex(5).upper()}", secrets.token_urlsafe(30)
        self.tokens[token] = agent
        self.wallets[agent] = 100
        data = {
            "agent": {"agentId": agent},
            "credentials": {"accessToken": token, "expiresIn": None},
            "wallet": {"balance": "100.00"},
        }
        return Response(200, {"data": data})

    def tasks(self, request: Request) -> Response:
        free = [t.shown() for t in self.all.values() if t.status == "OPEN"]
        return Response(200, {"data": {"tasks": free}})

    marketplace = tasks

    def _checked(self, request: Request, action: str) -> tuple[str, Any] | Response:
        """Return who asks and the body; or the refusal."""
        if not (agent := self.tokens.get(request.token, "")):
            return _no(
                401, "UNAUTHENTICATED", "The access token is missing or unknown."
            )
        try:
            body = request.json()
        except ValueError:
            return _no(400, "MALFORMED_BODY", "The request body is not valid JSON.")
        if fault := _fault(body, SHAPES[action]):
            return _no(400, "INVALID_REQUEST", fault)
        return agent, body

    def _assignment(
        self, request: Request, action: str
    ) -> tuple[str, Task, Any] | Response:
        """Return who asks, the task of the named assignment, and the body."""
        if isinstance(checked := self._checked(request, action), Response):
            return checked
        agent, body = checked
        for task in self.all.values():
            if task.agent == agent and task.assignment == body["assignmentId"]:
                return agent, task, body
        return _no(404, "NOT_FOUND", "You have no assignment with this assignmentId.")

    def claim(self, request: Request) -> Response:
        if isinstance(checked := self._checked(request, "claim"), Response):
            return checked
        agent, body = checked
        if not (task := self.all.get(body["number"])):
            return _no(404, "NOT_FOUND", "There is no task with this number.")
        if task.agent not in {"", agent}:
            return _no(
                409, "TASK_UNAVAILABLE", "The task is assigned to another agent."
            )
        if not task.agent:
            task.agent, task.status = agent, "ASSIGNED"
            task.assignment = f"AS-{secrets.token_hex(5).upper()}"
            self.book.claimed(str(task.number))
        return task.assigned()

    def submit(self, request: Request) -> Response:
        if isinstance(found := self._assignment(request, "submit"), Response):
            return found
        _, task, body = found
        if task.status != "ASSIGNED":
            return _no(409, "ALREADY_DELIVERED", "The deliverable is here already.")
        if body["deliverable"] != task.brief.upper():
            return _no(422, "REJECTED", "The deliverable does not meet the brief.")
        task.status = "DELIVERED"
        return task.assigned()

    def complete(self, request: Request) -> Response:
        if isinstance(found := self._assignment(request, "complete"), Response):
            return found
        agent, task, _ = found
        if task.status == "ASSIGNED":
            return _no(409, "NOT_DELIVERED", "Submit a deliverable first.")
        if task.status == "SETTLED":
            return _no(409, "ALREADY_SETTLED", "The assignment is settled already.")
        task.status = "SETTLED"
        self.book.pay(str(task.number), task.credits)
        self.wallets[agent] += task.credits
        balance = f"{self.wallets[agent]}.00"
        return Response(
            200, {"payout": _money(task.credits), "wallet": {"balance": balance}}
        )
