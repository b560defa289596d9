"""A network that hands out work which it does not take back for a while.

For the first twenty seconds after the first claim every submit, whatever its body, is
answered 403 "submissions are closed for your tier"; then all goes its way. An agent
should stop claiming when it cannot deliver, keep what it made, and ask again later.
Bodies are camelCase, with the agent's own id in the claim.
"""

import secrets
import time
import uuid
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CLOSED_FOR = 20.0  # seconds
TASKS = 40
SUBJECTS = ["the gardener", "a stray cat", "my neighbour", "the postman", "one sailor"]
VERBS = [
    "forgets",
    "repairs",
    "carries",
    "hides",
    "paints",
    "sells",
    "borrows",
    "finds",
]
OBJECTS = ["a wooden ladder", "three green bottles", "the broken radio"]
SHAPES: dict[str, dict[str, type]] = {
    "claim": {"taskId": str, "agentId": str},
    "submit": {"taskId": str, "answer": str},
    "complete": {"taskId": str},
}


@dataclass
class Task:
    id: str
    text: str
    credits: int
    agent: str = ""
    status: str = "available"

    def shown(self) -> dict[str, Any]:
        return {
            "taskId": self.id,
            "prompt": self.text,
            "rewardCredits": self.credits,
            "status": self.status,
        }


def _no(status: int, message: str) -> Response:
    return Response(status, {"error": message})


def _text(n: int) -> str:
    return f"{SUBJECTS[n % 5]} {VERBS[n // 5]} {OBJECTS[n % 3]} on day {n + 1}"


def _fault(body: Any, shape: dict[str, type]) -> str:
    """Return all faults of a body in one sentence, or ""."""
    if not isinstance(body, dict):
        return "expected a JSON object"
    missing = [name for name in shape if name not in body]
    if missing:
        return f"missing required fields: {', '.join(missing)}"
    wrong = [n for n, kind in shape.items() if not isinstance(body[n], kind)]
    if wrong:
        return f"these fields must be strings: {', '.join(wrong)}"
    unknown = [name for name in body if name not in shape]
    return f"unexpected fields: {', '.join(unknown)}" if unknown else ""


class BlockedSubmit(Backend):
    """Forty tasks, and a door that opens late."""

    def __init__(self) -> None:
        super().__init__()
        made = [Task(str(uuid.uuid4()), _text(n), n % 9 + 1) for n in range(TASKS)]
        self.all = {task.id: task for task in made}
        self.tokens: dict[str, str] = {}  # token -> agent
        self.first_claim: float | None = None

    def texts(self) -> dict[str, str]:
        return {t.id: t.text for t in self.all.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(32)
        self.tokens[token] = agent
        return Response(
            200,
            {"agent_id": agent, "access_token": token, "credits": 100, "tier": "free"},
        )

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "")
        size = max(int(limit), 1) if limit.isdecimal() else TASKS
        free = [t.shown() for t in self.all.values() if t.status == "available"]
        return Response(200, {"tasks": free[:size], "total": len(free)})

    marketplace = tasks

    def _found(self, request: Request, action: str) -> tuple[str, Task, Any] | Response:
        """Return who asks, for which task, and the body; or the refusal."""
        if not (agent := self.tokens.get(request.token, "")):
            return _no(401, "a valid access token is required")
        if action == "submit" and self._closed():
            return _no(403, "submissions are closed for your tier")
        try:
            body = request.json()
        except ValueError:
            return _no(400, "malformed JSON")
        if fault := _fault(body, SHAPES[action]):
            return _no(400, fault)
        if body.get("agentId", agent) != agent:
            return _no(400, "agentId is not the agent of this access token")
        if not (task := self.all.get(body["taskId"])):
            return _no(404, "no task has this taskId")
        if task.agent not in ({"", agent} if action == "claim" else {agent}):
            return _no(409, "the task is not yours")
        return agent, task, body

    def _closed(self) -> bool:
        if self.first_claim is None:
            return True
        return time.monotonic() - self.first_claim < CLOSED_FOR

    def claim(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "claim"), Response):
            return found
        agent, task, _ = found
        if task.agent:
            return _no(409, "you have already claimed this task")
        if self.first_claim is None:
            self.first_claim = time.monotonic()
        task.agent, task.status = agent, "claimed"
        self.book.claimed(task.id)
        return Response(200, task.shown())

    def submit(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "submit"), Response):
            return found
        _, task, body = found
        if task.status != "claimed":
            return _no(409, "an answer has already been submitted")
        if body["answer"] != task.text.upper():
            return _no(422, "the answer is wrong")
        task.status = "submitted"
        return Response(200, task.shown())

    def complete(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "complete"), Response):
            return found
        _, task, _ = found
        if task.status == "claimed":
            return _no(409, "submit an answer before completing the task")
        if task.status == "completed":
            return _no(409, "the task has already been completed")
        task.status = "completed"
        self.book.pay(task.id, task.credits)
        return Response(200, {**task.shown(), "creditsEarned": task.credits})
