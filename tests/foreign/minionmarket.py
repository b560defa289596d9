"""Minion Market: a hackathon project, Node on Express, every check written by hand.

Refusals are {success: false, error}, the rest is Express' HTML page. Completion pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import html
import json
import math
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    ("Shout the greeting", "hello from the minion market, glad you are here", 10),
    ("Poster headline", "free pizza at midnight in room 204", 15),
    ("Sign for the door", "please knock before you enter", 8),
    ("Team cheer", "we ship at dawn and sleep at noon", 20),
    ("Slide title", "how we taught a toaster to pay rent", 12),
    ("Loud commit message", "fix the fix of the fix", 25),
]
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Error</title>
</head>
<body>
<pre>{}</pre>
</body>
</html>
"""


class _Stop(Exception):  # noqa: N818
    """A handler that has answered early."""

    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


def _json(status: int, body: Any) -> Response:
    return Response(
        status,
        json.dumps(body, separators=(",", ":"), ensure_ascii=False),
        {"X-Powered-By": "Express", "Content-Type": "application/json; charset=utf-8"},
    )


def _page(status: int, text: str) -> Response:
    return Response(
        status,
        _PAGE.format(text),
        {
            "X-Powered-By": "Express",
            "Content-Security-Policy": "default-src 'none'",
            "Content-Type": "text/html; charset=utf-8",
        },
    )


def _no(status: int, error: str) -> _Stop:
    return _Stop(_json(status, {"success": False, "error": error}))


def _falsy(value: Any) -> bool:
    """Return what JavaScript's `!value` is."""
    return value is None or value is False or value == "" or value == 0  # noqa: PLR1714


def _number(value: Any) -> float:
    """Return what JavaScript's `Number(value)` is, near enough."""
    try:
        number = float(value) if isinstance(value, (str, int, float)) else math.nan
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


class MinionMarket(Backend):
    """The network."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: list[dict[str, Any]] = []
        self._tasks: list[dict[str, Any]] = [
            {
                "id": number,
                "title": title,
                "description": "Return inputText in UPPERCASE, change nothing else.",
                "inputText": text,
                "reward": reward,
                "status": "open",
                "claimedBy": None,
            }
            for number, (title, text, reward) in enumerate(_TASKS, 1)
        ]
        self._submissions: dict[int, str] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {str(task["id"]): task["inputText"] for task in self._tasks}

    def missing(self, request: Request) -> Response:
        """Answer as Express does without a route."""
        return _page(404, f"Cannot {request.method} {html.escape(request.path)}")

    def _body(self, request: Request) -> dict[str, Any]:
        """Do what `app.use(express.json())` does."""
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if kind.lower() != "application/json" or not request.raw:
            return {}
        try:
            body = request.json()
            if not isinstance(body, (dict, list)):
                raise ValueError  # noqa: TRY004
        except ValueError:
            text = request.raw.decode(errors="replace")
            first = text.strip()[:1]
            says = (
                f"Unexpected token '{first}', \"{text[:40]}\" is not valid JSON"
                if first and first not in "{["
                else "Expected property name or '}' in JSON at position 1"
            )
            says = html.escape(says).replace("&#x27;", "&#39;")
            at = "<br> &nbsp; &nbsp;at JSON.parse (&lt;anonymous&gt;)"
            raise _Stop(_page(400, f"SyntaxError: {says}{at}")) from None
        return body if isinstance(body, dict) else {}

    def _agent(self, request: Request) -> dict[str, Any]:
        """Do what the middleware `requireAgent` does."""
        header = request.headers.get("Authorization")
        if not header:
            raise _no(401, "No token provided")
        words = header.split(" ")
        for agent in self._agents:
            if len(words) > 1 and agent["token"] == words[1]:
                return agent
        raise _no(401, "Invalid token")

    def _task(self, body: dict[str, Any], agent: dict[str, Any]) -> dict[str, Any]:
        """Do what the helper `findTask` does."""
        if body["agentId"] != agent["id"]:
            raise _no(403, "agentId does not match your token")
        for task in self._tasks:
            if task["id"] == _number(body["taskId"]):
                return task
        raise _no(404, "Task not found")

    def register(self, request: Request) -> Response:
        """Make an agent."""
        try:
            self._body(request)
        except _Stop as stop:
            return stop.answer
        self.book.registrations += 1
        key, token = f"agent_{len(self._agents) + 1}", secrets.token_hex(16)
        self._agents.append({"id": key, "token": token, "credits": 100})
        said = {"agent_id": key, "access_token": token, "credits": 100}
        return _json(200, {"success": True, **said})

    def tasks(self, request: Request) -> Response:
        """List all tasks, whatever their status."""
        limit = _number(request.query.get("limit") or "nothing")
        some = self._tasks if math.isnan(limit) else self._tasks[: int(limit)]
        return _json(200, {"success": True, "count": len(some), "tasks": some})

    marketplace = tasks

    def _run(self, request: Request, work: Any) -> Response:
        try:
            body = self._body(request)
            return work(body, self._agent(request))
        except _Stop as stop:
            return stop.answer

    def claim(self, request: Request) -> Response:
        """Give a task to an agent."""
        return self._run(request, self._claim)

    def _claim(self, body: dict[str, Any], agent: dict[str, Any]) -> Response:
        for name in ("taskId", "agentId"):
            if _falsy(body.get(name)):
                raise _no(400, f"{name} is required")
        task = self._task(body, agent)
        if task["status"] != "open":
            raise _no(409, f"Task is already {task['status']}")
        task["status"], task["claimedBy"] = "claimed", agent["id"]
        self.book.claimed(str(task["id"]))
        says = "Task claimed, good luck!"
        return _json(200, {"success": True, "message": says, "task": task})

    def submit(self, request: Request) -> Response:
        """Check a result."""
        return self._run(request, self._submit)

    def _submit(self, body: dict[str, Any], agent: dict[str, Any]) -> Response:
        if any(_falsy(body.get(name)) for name in ("taskId", "agentId", "result")):
            raise _no(400, "taskId, agentId and result are required")
        if not isinstance(body["result"], str):
            raise _no(400, "result must be a string")
        task = self._task(body, agent)
        if task["claimedBy"] != agent["id"]:
            raise _no(403, "You have to claim this task first")
        if task["status"] != "claimed":
            raise _no(409, f"Task is already {task['status']}")
        if body["result"] != task["inputText"].upper():
            raise _no(400, "Wrong result, read the description and try again")
        task["status"] = "submitted"
        receipt = self._submissions[task["id"]] = f"sub_{secrets.token_hex(4)}"
        says = "Looks good! Now complete the task to get paid"
        more = {"submissionId": receipt, "task": task}
        return _json(200, {"success": True, "message": says, **more})

    def complete(self, request: Request) -> Response:
        """Pay."""
        return self._run(request, self._complete)

    def _complete(self, body: dict[str, Any], agent: dict[str, Any]) -> Response:
        if any(_falsy(body.get(name)) for name in ("taskId", "agentId")):
            raise _no(400, "taskId and agentId are required")
        task = self._task(body, agent)
        if task["claimedBy"] != agent["id"]:
            raise _no(403, "This is not your task")
        if task["status"] == "completed":
            raise _no(409, "Task is already completed")
        if task["status"] != "submitted":
            raise _no(400, "Submit a result first")
        if _falsy(body.get("submissionId")):
            raise _no(400, "submissionId is required")
        if body["submissionId"] != self._submissions[task["id"]]:
            raise _no(400, "submissionId does not belong to this task")
        spent = body.get("minutesSpent")
        if not isinstance(spent, (int, float)) or isinstance(spent, bool) or spent < 0:
            raise _no(400, "minutesSpent must be a number >= 0")
        task["status"] = "completed"
        agent["credits"] += task["reward"]
        self.book.pay(str(task["id"]), task["reward"])
        says = f"Nice! You earned {task['reward']} credits"
        return _json(
            200, {"success": True, "message": says, "credits": agent["credits"]}
        )

    def post(self, request: Request) -> Response:
        """Say that the night was too short."""
        return _json(501, {"success": False, "error": "Posting tasks is coming soon!"})
