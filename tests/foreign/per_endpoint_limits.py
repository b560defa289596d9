"""A network that limits one endpoint only.

Two claims a second are served; the next is answered 429 with Retry-After: 1, before
anything else is looked at, even the token. Listing, submitting and completing are never
limited, so that an agent that waits for its next claim need not wait with those.
The limit is the whole network's, not one agent's.
"""

import secrets
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CLAIMS = 2
WINDOW = 1.0  # seconds
TEXTS = [
    "the bell rings twice on market days",
    "her umbrella never leaves the hall",
    "goats climb the wall of the dam",
    "a spoon of salt ruins the jam",
    "the tram line ends at the zoo",
    "he whistles when the kettle does",
    "lanterns drift along the canal",
    "our roof was mended with tin",
    "the baker speaks to his oven",
    "moss grows on the quiet side",
    "a violin was left on the bus",
    "the river bends around the mill",
    "chalk dust covers the old desk",
    "four swans sleep by the lock",
    "the cellar smells of apples",
]
SHAPES: dict[str, dict[str, type]] = {
    "claim": {"task": int},
    "submit": {"task": int, "result": str},
    "complete": {"task": int},
}
WORDS = {int: "a whole number", str: "text"}


@dataclass
class Task:
    id: int
    text: str
    credits: int
    agent: str = ""
    state: str = "open"

    def shown(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "state": self.state,
            "text": self.text,
            "credits": self.credits,
        }


def _no(status: int, message: str, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status, {"error": message}, named)


def _fault(body: Any, shape: dict[str, type]) -> str:
    """Return the first fault of a body, which may hold only the fields of the shape."""
    if not isinstance(body, dict):
        return "send a JSON object"
    for name, kind in shape.items():
        if name not in body:
            return f"'{name}' is missing"
        if type(body[name]) is not kind:
            return f"'{name}' must be {WORDS[kind]}"
    unknown = [name for name in body if name not in shape]
    return f"'{unknown[0]}' is not a known field" if unknown else ""


class PerEndpointLimits(Backend):
    """Fifteen tasks, two claims a second."""

    def __init__(self) -> None:
        super().__init__()
        self.all = {n: Task(n, text, n % 9 + 1) for n, text in enumerate(TEXTS, 1)}
        self.tokens: dict[str, str] = {}  # token -> agent
        self.served: deque[float] = deque(maxlen=CLAIMS)  # when the last claims were

    def texts(self) -> dict[str, str]:
        return {str(t.id): t.text for t in self.all.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"a{secrets.randbelow(10**9):09d}", secrets.token_hex(20)
        self.tokens[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [t.shown() for t in self.all.values() if t.state == "open"]
        return Response(200, {"items": free, "count": len(free)})

    marketplace = tasks

    def _found(self, request: Request, action: str) -> tuple[str, Task, Any] | Response:
        """Return who asks, for which task, and the body; or the refusal."""
        if not (agent := self.tokens.get(request.token, "")):
            return _no(401, "invalid token", WWW_Authenticate="Bearer")
        try:
            body = request.json()
        except ValueError:
            return _no(400, "invalid JSON")
        if fault := _fault(body, SHAPES[action]):
            return _no(400, fault)
        if not (task := self.all.get(body["task"])):
            return _no(404, "no such task")
        if action != "claim" and task.agent != agent:
            return _no(403, "claim the task first")
        return agent, task, body

    def claim(self, request: Request) -> Response:
        now = time.monotonic()
        if len(self.served) == CLAIMS and now - self.served[0] < WINDOW:
            return _no(429, "too many claims", Retry_After="1")
        self.served.append(now)
        if isinstance(found := self._found(request, "claim"), Response):
            return found
        agent, task, _ = found
        if task.agent:
            return _no(409, "the task is taken")
        task.agent, task.state = agent, "claimed"
        self.book.claimed(str(task.id))
        return Response(200, task.shown())

    def submit(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "submit"), Response):
            return found
        _, task, body = found
        if task.state != "claimed":
            return _no(409, f"the task is {task.state} already")
        if body["result"] != task.text.upper():
            return _no(422, "'result' is not the right one")
        task.state = "submitted"
        return Response(200, task.shown())

    def complete(self, request: Request) -> Response:
        if isinstance(found := self._found(request, "complete"), Response):
            return found
        _, task, _ = found
        if task.state == "claimed":
            return _no(409, "submit the result first")
        if task.state == "completed":
            return _no(409, "the task is completed already")
        task.state = "completed"
        self.book.pay(str(task.id), task.credits)
        return Response(200, {**task.shown(), "credits_earned": task.credits})
