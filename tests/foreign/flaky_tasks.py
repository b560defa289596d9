"""A network whose list is stale and whose parts fail now and then.

Six of its eighteen listed tasks cannot be claimed any more (410 or 404), and stay in the
list all the same. One task's first submit is refused with a 400 that asks for a retry of
the very same request; another's complete says 404 until the submission is indexed, three
seconds later. None of this says anything about the shape of the requests.
"""

import secrets
import time
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = [
    "a lighthouse keeper counts the ships",
    "cold soup is better in july",
    "nobody painted the north fence",
    "the clock tower runs four minutes late",
    "two foxes crossed the frozen pond",
    "every map leaves something out",
    "the last train carries only mail",
    "bread rises while the village sleeps",
    "an old piano stands in the barn",
    "seven kites are caught in one tree",
    "the ferry does not run in fog",
    "honey keeps for a thousand years",
]
GONE = {
    103: (410, "task withdrawn"),
    104: (404, "task not found"),
    108: (410, "task withdrawn"),
    111: (404, "task not found"),
    115: (410, "task withdrawn"),
    118: (404, "task not found"),
}
RETRIED = 105  # its first submit fails
UNINDEXED = 109  # its submission is found late
INDEXED_AFTER = 3.0  # seconds
SHAPES: dict[str, dict[str, type]] = {
    "claim": {"task_id": int},
    "submit": {"task_id": int, "content": str},
    "complete": {"task_id": int},
}
WORDS = {int: "an integer", str: "a string"}


@dataclass
class Task:
    id: int
    text: str
    reward: int
    agent: str = ""
    submitted_at: float = 0.0
    paid: bool = False


def _no(status: int, message: str) -> Response:
    return Response(status, {"error": message})


def _fault(body: Any, shape: dict[str, type]) -> str:
    """Return the first fault of a body, which may hold only the fields of the shape."""
    if not isinstance(body, dict):
        return "request body must be a JSON object"
    for name, kind in shape.items():
        if name not in body:
            return f"missing field: {name}"
        if type(body[name]) is not kind:
            return f"field {name} must be {WORDS[kind]}"
    unknown = sorted(set(body) - set(shape))
    return f"unknown field: {unknown[0]}" if unknown else ""


class FlakyTasks(Backend):
    """Eighteen listed tasks, of which twelve can be done."""

    def __init__(self) -> None:
        super().__init__()
        texts = iter(TEXTS)
        self.all = {
            n: Task(
                n,
                f"the shutters of house {n} are closed" if n in GONE else next(texts),
                n % 9 + 1,
            )
            for n in range(101, 119)
        }
        self.tokens: dict[str, str] = {}  # token -> agent
        self.retried = False

    def texts(self) -> dict[str, str]:
        return {str(n): t.text for n, t in self.all.items() if n not in GONE}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = secrets.token_hex(8), secrets.token_hex(24)
        self.tokens[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        listed = [
            {"id": t.id, "status": "open", "text": t.text, "reward_credits": t.reward}
            for t in self.all.values()
            if not t.agent
        ]
        return Response(200, listed)

    marketplace = tasks

    def _found(self, request: Request, action: str) -> tuple[str, Task, Any] | Response:
        """Return who asks, for which task, and the body; or the refusal."""
        if not (agent := self.tokens.get(request.token, "")):
            return _no(401, "unauthorized")
        try:
            body = request.json()
        except ValueError:
            return _no(400, "request body is not JSON")
        if fault := _fault(body, SHAPES[action]):
            return _no(400, fault)
        if not (task := self.all.get(body["task_id"])):
            return _no(404, "task not found")
        if action != "claim" and task.agent != agent:
            return _no(409, "task is not claimed by you")
        return agent, task, body

    def claim(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "claim"), Response):
            return found
        agent, task, _ = found
        if task.id in GONE:
            return _no(*GONE[task.id])
        if task.agent:
            return _no(409, "task is already claimed")
        task.agent = agent
        self.book.claimed(str(task.id))
        return Response(200, {"task_id": task.id, "status": "claimed"})

    def submit(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "submit"), Response):
            return found
        _, task, body = found
        if task.submitted_at:
            return _no(409, "content was already submitted")
        if task.id == RETRIED and not self.retried:
            self.retried = True
            return _no(400, "temporary validation failure, please retry")
        if body["content"] != task.text.upper():
            return _no(422, "content was rejected by the checker")
        task.submitted_at = time.monotonic()
        return Response(200, {"task_id": task.id, "status": "submitted"})

    def complete(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "complete"), Response):
            return found
        _, task, _ = found
        if not task.submitted_at:
            return _no(409, "nothing has been submitted for this task")
        age = time.monotonic() - task.submitted_at
        if task.id == UNINDEXED and age < INDEXED_AFTER:
            return _no(404, "submission not indexed yet")
        if task.paid:
            return _no(409, "task is already completed")
        task.paid = True
        self.book.pay(str(task.id), task.reward)
        return Response(
            200,
            {"task_id": task.id, "status": "completed", "credits_earned": task.reward},
        )
