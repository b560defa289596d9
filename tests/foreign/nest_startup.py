"""A start-up's service in TypeScript on NestJS, class-validator and Mongoose.

Camel case, ObjectIds, `message`/`error`/`statusCode` errors, unknown properties are
forbidden; an accepted deliverable is paid at once, completion closes the assignment.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    ("Shout the tagline", "coffee that keeps its promises", 10),
    ("Shout the sign", "mind the gap between train & platform", 14),
    ("Shout the recipe title", "grandma's lemon cake", 6),
    ("Shout the error", "disk quota exceeded on volume 3", 11),
    ("Shout the verse", "the owl and the pussycat went to sea", 25),
    ("Shout the address", "42 elm street, apartment 7c", 8),
    ("Shout the memo", "all hands meeting moved to friday", 17),
]
_MIME = ["text/plain", "text/markdown", "text/html"]
_JSON = {"X-Powered-By": "Express", "Content-Type": "application/json; charset=utf-8"}
_MAX_ACTIVE = 2
_NAMES = {400: "Bad Request", 403: "Forbidden", 404: "Not Found", 409: "Conflict"}
_Check = Callable[[Any, str], list[str]]


def _object_id() -> str:
    stamp = int(datetime.now().timestamp())  # noqa: DTZ005
    return f"{stamp:08x}{secrets.token_hex(8)}"


def _now(hours: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(hours=hours)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _HttpException(Exception):  # noqa: N818
    def __init__(self, status: int, message: Any = None) -> None:
        body = {"message": message, "error": _NAMES.get(status)}
        if status == 401:
            body = {"message": "Unauthorized"}
        self.response = Response(status, {**body, "statusCode": status}, _JSON)


# The decorators of class-validator, with its sentences.


def _mongo_id(value: Any, name: str) -> list[str]:
    if isinstance(value, str) and re.fullmatch("[0-9a-fA-F]{24}", value):
        return []
    return [f"{name} must be a mongodb id"]


def _int(low: int, high: int) -> _Check:
    def check(value: Any, name: str) -> list[str]:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        rules = [
            (number and value <= high, f"{name} must not be greater than {high}"),
            (number and value >= low, f"{name} must not be less than {low}"),
            (number and value % 1 == 0, f"{name} must be an integer number"),
        ]
        return [message for right, message in rules if not right]

    return check


def _string(value: Any, name: str) -> list[str]:
    errors = [] if isinstance(value, str) else [f"{name} must be a string"]
    return errors + ([f"{name} should not be empty"] if value in ("", None) else [])


def _is_in(values: list[str]) -> _Check:
    message = "must be one of the following values: " + ", ".join(values)
    return lambda value, name: [] if value in values else [f"{name} {message}"]


def _nested(dto: dict[str, _Check]) -> _Check:
    def check(value: Any, name: str) -> list[str]:
        if not isinstance(value, dict):
            return [f"{name} must be an object"]
        return [f"{name}.{message}" for message in _validate(value, dto)]

    return check


def _validate(value: dict[str, Any], dto: dict[str, _Check]) -> list[str]:
    errors = [f"property {name} should not exist" for name in value if name not in dto]
    for name, check in dto.items():
        errors += check(value.get(name), name)
    return errors


_QUERY = {"limit": _int(1, 50), "page": _int(1, 10000)}
_DELIVERABLE = {"body": _string, "mimeType": _is_in(_MIME)}


def _post(**dto: _Check) -> Any:
    """Let a handler take the agent and the validated body."""
    return lambda handler: lambda self, request: self._run(handler, request, dto)


class NestStartup(Backend):
    """The service."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks: dict[str, dict[str, Any]] = {}
        for name, text, amount in _WORK:
            key = _object_id()
            self._tasks[key] = {
                "_id": key,
                "name": name,
                "brief": "Deliver the content in capital letters.",
                "kind": "TEXT_UPPERCASE",
                "content": text,
                "bounty": {"amount": amount, "currency": "CREDITS"},
                "state": "OPEN",
                "createdAt": _now(),
            }
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {key: task["content"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        return _HttpException(404, f"Cannot {request.method} {request.path}").response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"agent_id": _object_id(), "credits": 100}
        token = f"ant_{secrets.token_hex(20)}"
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token}, _JSON)

    def _ok(self, data: Any) -> Response:
        return Response(200, {"success": True, "data": data}, _JSON)

    def _run(self, action: Any, request: Request, dto: dict[str, _Check]) -> Response:
        """Parse, guard, pipe, handle: the order of a Nest request."""
        try:
            body: Any = {}
            if request.raw and "json" in (request.headers.get("Content-Type") or ""):
                try:
                    body = json.loads(request.raw)
                except ValueError as e:
                    text = request.raw.decode(errors="replace")
                    at = min(getattr(e, "pos", 0), len(text) - 1)
                    message = f"Unexpected token {text[at]} in JSON at position {at}"
                    raise _HttpException(400, message) from e
            if (agent := self._agents.get(request.token)) is None:
                raise _HttpException(401)
            if not isinstance(body, dict):
                message = "an unknown value was passed to the validate function"
                raise _HttpException(400, [message])
            if errors := _validate(body, dto):
                raise _HttpException(400, errors)
            return action(self, agent, body)
        except _HttpException as e:
            return e.response

    def tasks(self, request: Request) -> Response:
        query: dict[str, Any] = {"limit": 5, "page": 1}
        for name, value in request.query.items():
            query[name] = int(value) if re.fullmatch("-?[0-9]{1,9}", value) else value
        if errors := _validate(query, _QUERY):
            return _HttpException(400, errors).response
        limit, page = query["limit"], query["page"]
        found = [task for task in self._tasks.values() if task["state"] == "OPEN"]
        pages = -(-len(found) // limit)
        following = f"{request.base}{request.path}?page={page + 1}&limit={limit}"
        answer = self._ok(found[(page - 1) * limit : page * limit])
        meta = {"totalItems": len(found), "itemsPerPage": limit}
        answer.body["meta"] = {**meta, "currentPage": page, "totalPages": pages}
        answer.body["links"] = {"next": following if page < pages else None}
        return answer

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def agents(self, request: Request) -> Response:
        return self._ok([{"_id": a["agent_id"]} for a in self._agents.values()])

    def post(self, request: Request) -> Response:
        return _HttpException(403, "Upgrade your plan to post tasks").response

    @_post(taskId=_mongo_id, agentId=_mongo_id, estimatedMinutes=_int(1, 240))
    def claim(self, agent: dict[str, Any], body: dict[str, Any]) -> Response:
        if body["agentId"] != agent["agent_id"]:
            raise _HttpException(403, "agentId does not belong to this access token")
        if (task := self._tasks.get(body["taskId"])) is None:
            raise _HttpException(404, f"Task with id {body['taskId']} not found")
        if task["state"] != "OPEN":
            raise _HttpException(409, f"Task {task['_id']} is {task['state']}")
        mine = [
            a for a in self._assignments.values() if a["agentId"] == agent["agent_id"]
        ]
        if sum(item["state"] != "CLOSED" for item in mine) >= _MAX_ACTIVE:
            message = f"Agent already has {_MAX_ACTIVE} assignments that are not closed"
            raise _HttpException(409, message)
        task["state"] = "ASSIGNED"
        assignment = {
            "_id": _object_id(),
            "taskId": task["_id"],
            "agentId": agent["agent_id"],
            "state": "IN_PROGRESS",
            "estimatedMinutes": body["estimatedMinutes"],
            "dueAt": _now(hours=4),
        }
        self._assignments[assignment["_id"]] = assignment
        self.book.claimed(task["_id"])
        return self._ok({"assignment": assignment})

    def _own(self, agent: dict[str, Any], key: str) -> dict[str, Any]:
        found = self._assignments.get(key)
        if found is None or found["agentId"] != agent["agent_id"]:
            raise _HttpException(404, f"Assignment with id {key} not found")
        return found

    @_post(assignmentId=_mongo_id, deliverable=_nested(_DELIVERABLE))
    def submit(self, agent: dict[str, Any], body: dict[str, Any]) -> Response:
        assignment = self._own(agent, body["assignmentId"])
        if assignment["state"] != "IN_PROGRESS":
            raise _HttpException(409, f"Assignment is {assignment['state']}")
        task = self._tasks[assignment["taskId"]]
        if body["deliverable"]["body"] != task["content"].upper():
            reason = "Deliverable does not match the brief"
            answer = self._ok({"accepted": False, "reason": reason})
            answer.refused = True
            return answer
        assignment["state"], task["state"] = "DELIVERED", "DONE"
        agent["credits"] += task["bounty"]["amount"]
        self.book.pay(task["_id"], task["bounty"]["amount"])
        payout = {**task["bounty"], "balanceAfter": agent["credits"]}
        return self._ok({"accepted": True, "assignment": assignment, "payout": payout})

    @_post(assignmentId=_mongo_id, minutesSpent=_int(0, 1440))
    def complete(self, agent: dict[str, Any], body: dict[str, Any]) -> Response:
        assignment = self._own(agent, body["assignmentId"])
        if assignment["state"] == "IN_PROGRESS":
            raise _HttpException(409, "Assignment has no accepted deliverable yet")
        if assignment["state"] == "CLOSED":
            raise _HttpException(409, "Assignment is already closed")
        assignment.update(state="CLOSED", minutesSpent=body["minutesSpent"])
        return self._ok({"assignment": assignment})
