"""A network behind a bad line: what was asked is done, but nobody hears of it.

Every third claim, submit or complete, counted together, is carried out and then the
connection is closed without an answer. An Idempotency-Key changes nothing; a repeat of
what is done is answered 409 "already ...", which an agent has to read as success. No
answer holds anything that a later request needs.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

TEXTS = [
    "the wire hums before a storm",
    "someone taps on the other end",
    "half a message is not a lie",
    "pigeons never read the letters",
    "the operator knits between calls",
    "static sounds like frying fish",
    "a cable sleeps on the sea floor",
    "the answer came by bicycle",
    "two cans and a piece of string",
    "the signal fire was only a barn",
    "echoes are late by their nature",
    "he shouted the number again",
]
SHAPES: dict[str, dict[str, type]] = {
    "claim": {"task_id": str},
    "submit": {"task_id": str, "result": str},
    "complete": {"task_id": str},
}


@dataclass
class Task:
    id: str
    text: str
    credits: int
    agent: str = ""
    submitted: bool = False
    completed: bool = False


def _no(status: int, message: str, **more: Any) -> Response:
    return Response(status, {"error": message, **more})


def _fault(body: Any, shape: dict[str, type]) -> str:
    """Return the first fault of a body; fields beyond the shape are ignored."""
    if not isinstance(body, dict):
        return "body must be an object"
    for name, kind in shape.items():
        if name not in body:
            return f"{name} required"
        if not isinstance(body[name], kind):
            return f"{name} must be a string"
    return ""


class Drops(Backend):
    """Twelve tasks over a line that loses every third answer."""

    def __init__(self) -> None:
        super().__init__()
        made = [Task(secrets.token_hex(4), t, n % 9 + 1) for n, t in enumerate(TEXTS)]
        self.all = {task.id: task for task in made}
        self.tokens: dict[str, str] = {}  # token -> agent
        self.asked = 0  # claims, submits and completes
        self.dropped = 0

    def handle(self, request: Request) -> Response:
        """Carry out the request, and lose every third action's answer.

        Raises:
            ConnectionAbortedError: The answer is lost.
        """
        answer = super().handle(request)
        if ACTIONS.get((request.method, request.path)) not in SHAPES:
            return answer
        with self._lock:
            self.asked += 1
            if self.asked % 3:
                return answer
            self.dropped += 1
        raise ConnectionAbortedError

    def texts(self) -> dict[str, str]:
        return {t.id: t.text for t in self.all.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = secrets.token_hex(6), secrets.token_urlsafe(24)
        self.tokens[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        listed = [
            {"task_id": t.id, "status": "open", "text": t.text, "credits": t.credits}
            for t in self.all.values()
            if not t.agent
        ]
        return Response(200, {"tasks": listed})

    marketplace = tasks

    def _found(self, request: Request, action: str) -> tuple[str, Task, Any] | Response:
        """Return who asks, for which task, and the body; or the refusal."""
        if not (agent := self.tokens.get(request.token, "")):
            return _no(401, "unauthorized")
        try:
            body = request.json()
        except ValueError:
            return _no(400, "body must be JSON")
        if fault := _fault(body, SHAPES[action]):
            return _no(400, fault)
        if not (task := self.all.get(body["task_id"])):
            return _no(404, "task not found")
        if action != "claim" and task.agent != agent:
            return _no(403, "not claimed by you")
        return agent, task, body

    def claim(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "claim"), Response):
            return found
        agent, task, _ = found
        if task.agent:
            who = "you" if task.agent == agent else "another agent"
            return _no(409, f"already claimed by {who}")
        task.agent = agent
        self.book.claimed(task.id)
        return Response(200, {"task_id": task.id, "status": "claimed"})

    def submit(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "submit"), Response):
            return found
        _, task, body = found
        if task.submitted:
            return _no(409, "already submitted")
        if body["result"] != task.text.upper():
            return _no(422, "result rejected")
        task.submitted = True
        return Response(200, {"task_id": task.id, "status": "submitted"})

    def complete(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "complete"), Response):
            return found
        _, task, _ = found
        if not task.submitted:
            return _no(409, "not submitted yet")
        if task.completed:
            return _no(409, "already completed", credits_earned=task.credits)
        task.completed = True
        self.book.pay(task.id, task.credits)
        done = {"task_id": task.id, "status": "completed"}
        return Response(200, {**done, "credits_earned": task.credits})
