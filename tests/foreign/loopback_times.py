"""A LoopBack service whose tasks have no state: what happened are times.

`claimedAt`, `submittedAt` and `paidAt` are null until then, and nothing says who has a
task. `filter={"skip": 4}` is there for those who know it; `limit` and `skip` work, too, and
the listing says `count`. The token is called `id`, as LoopBack calls it, with a `ttl` and a
`userId`. What was paid is an entry in the account's transactions, in the completion's answer.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]

TEXTS = (
    "the barn swallows left in august",
    "seven boats lie in the harbour",
    "the baker whistles every morning",
    "a thin path leads to the quarry",
    "the clock in the hall is slow",
    "our goat has eaten the notice",
)
SIZE = 5


@dataclass
class Task:
    number: int
    text: str
    reward: float
    agent: int = 0
    claimed: float = 0.0
    submitted: float = 0.0
    paid: float = 0.0

    def shown(self) -> dict[str, object]:
        return {
            "taskId": self.number,
            "instructions": self.text,
            "type": "uppercase",
            "rewardCredits": self.reward,
            "createdAt": "2025-10-02T11:15:00.000Z",
            "claimedAt": _moment(self.claimed),
            "submittedAt": _moment(self.submitted),
            "paidAt": _moment(self.paid),
        }


def _moment(at: float) -> str | None:
    if not at:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))


class RefusedError(Exception):
    def __init__(self, status: int, name: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.error = {"statusCode": status, "name": name, "message": message, **details}
        self.status = status

    def response(self) -> Response:
        return Response(self.status, {"error": self.error})


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response()

    return answer


class LoopbackTimes(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, int] = {}
        self._transactions: dict[int, list[dict[str, object]]] = {}
        open_ = [Task(40 + n, text, n % 3 + 2.0) for n, text in enumerate(TEXTS)]
        self._open = {task.number: task for task in open_}
        then = time.time() - 7_200
        old = [
            Task(31, "count the sheep", 3.0, 2, then, then, then),
            Task(32, "shear the sheep", 4.0, 2, then),
        ]
        self._tasks = {task.number: task for task in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {str(task.number): task.text for task in self._open.values()}

    def missing(self, request: Request) -> Response:
        told = f'Endpoint "{request.method} {request.path}" not found.'
        return RefusedError(404, "NotFoundError", told).response()

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = 800 + self.book.registrations, secrets.token_urlsafe(48)
        self._agents[token] = agent
        self._transactions[agent] = [self._transaction("starter", 100.0)]
        token_ = {"id": token, "ttl": 1_209_600, "userId": agent}
        return Response(
            200, {"accessToken": token_, "agentId": agent, "credits": 100.0}
        )

    def tasks(self, request: Request) -> Response:
        skip, limit = request.query.get("skip", "0"), request.query.get("limit", "5")
        if not (skip.isdecimal() and limit.isdecimal()):
            told = "The query has invalid values."
            return RefusedError(400, "BadRequestError", told).response()
        start, size = int(skip), min(int(limit), SIZE)
        found = [task.shown() for task in self._tasks.values()]
        shown = found[start : start + size]
        return Response(200, {"count": len(found), "skip": start, "tasks": shown})

    @telling
    def claim(self, request: Request) -> Response:
        agent, task, _ = self._read(request)
        if task.claimed:
            raise RefusedError(409, "ConflictError", "The task has been claimed.")
        task.agent, task.claimed = agent, time.time()
        self.book.claimed(str(task.number))
        return Response(204, b"")

    @telling
    def submit(self, request: Request) -> Response:
        agent, task, given = self._read(request, "result")
        self._check(agent, task)
        if given["result"] != task.text.upper():
            raise RefusedError(422, "UnprocessableEntityError", "The result is wrong.")
        task.submitted = time.time()
        return Response(204, b"")

    @telling
    def complete(self, request: Request) -> Response:
        agent, task, _ = self._read(request)
        self._check(agent, task)
        if not task.submitted or task.paid:
            raise RefusedError(409, "ConflictError", "There is nothing to complete.")
        task.paid = time.time()
        self.book.pay(str(task.number), int(task.reward))
        entries = self._transactions[agent]
        entries.append(self._transaction("reward", task.reward, task.number))
        balance = sum(float(str(one["amount"])) for one in entries)
        account = {"balance": balance, "transactions": entries[-1:]}
        return Response(200, {"account": account})

    def _transaction(
        self, kind: str, amount: float, task: int = 0
    ) -> dict[str, object]:
        return {"kind": kind, "amount": amount, "taskId": task or None}

    def _check(self, agent: int, task: Task) -> None:
        if task.agent != agent:
            raise RefusedError(403, "ForbiddenError", "The task is not yours.")

    def _read(self, request: Request, *more: str) -> tuple[int, Task, dict[str, Any]]:
        if request.token not in self._agents:
            raise RefusedError(401, "UnauthorizedError", "Authorization Required")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            told = "The request body is invalid."
            raise RefusedError(422, "UnprocessableEntityError", told)
        details = [
            {
                "path": "",
                "code": "required",
                "message": f"must have required property '{name}'",
                "info": {"missingProperty": name},
            }
            for name in ("taskId", *more)
            if name not in given
        ]
        if details:
            told = "The request body is invalid. See error object `details` property."
            name = "UnprocessableEntityError"
            raise RefusedError(422, name, told, details=details)
        task = self._tasks.get(given["taskId"]) if _is_whole(given["taskId"]) else None
        if task is None:
            told = f"Entity not found: Task with id {given['taskId']!r}"
            raise RefusedError(404, "EntityNotFoundError", told)
        return self._agents[request.token], task, given


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
