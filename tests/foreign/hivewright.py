"""Hivewright: a start-up's marketplace, NestJS with class-validator on Mongoose."""

import json
import re
import secrets
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    ("Neon sign", "fresh noodles until midnight", 40, ["sign"]),
    (
        "Telegram style",
        "arriving tuesday stop send the car stop",
        15,
        ["retro", "short"],
    ),
    ("Warning label", "do not open while the drum is turning", 25, ["safety"]),
    ("Team shirt", "harbour rowing club, crew of 12", 10, ["print"]),
    ("Menu heading", "soups & small plates", 8, ["print", "short"]),
    ("Chapter title", "the lighthouse keeper's ledger", 18, ["books"]),
]
_KINDS = ["text", "file", "link"]
_REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    422: "Unprocessable Entity",
}


def _object_id() -> str:
    return f"{int(time.time()):08x}{secrets.token_hex(8)}"


def _date(ahead: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=ahead)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _HttpException(Exception):  # noqa: N818
    def __init__(self, status: int, message: Any) -> None:
        super().__init__(message)
        self.status, self.message = status, message

    def response(self) -> Response:
        reason = _REASONS[self.status]
        body = {"message": self.message, "error": reason, "statusCode": self.status}
        if self.message == reason:  # what the bare exception of Nest says
            del body["error"]
        return Response(self.status, body, {"X-Powered-By": "Express"})


# The decorators of class-validator: a name in the messages -> the value -> is it well.
def _is_mongo_id(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"[0-9a-fA-F]{24}", value))


def _is_int(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


_STRING = ("must be a string", lambda v: isinstance(v, str))
_NOT_EMPTY = ("should not be empty", lambda v: v is not None and v != "")
_MIN_1 = ("must not be less than 1", lambda v: v is not None and v >= 1)
_MONGO_ID = [("must be a mongodb id", _is_mongo_id), _NOT_EMPTY]
_ONE_OF = f"must be one of the following values: {', '.join(_KINDS)}"
_LONG = "must be longer than or equal to 10 characters"
_CLAIM = {"taskId": _MONGO_ID, "agentId": _MONGO_ID}
_DELIVERABLE = {
    "kind": [(_ONE_OF, lambda v: v in _KINDS)],
    "body": [_NOT_EMPTY, _STRING],
}
_SUBMIT = {"assignmentId": _MONGO_ID, "deliverable": _DELIVERABLE}
_COMPLETE = {
    "assignmentId": _MONGO_ID,
    "summary": [(_LONG, lambda v: isinstance(v, str) and len(v) >= 10), _STRING],
}
_PAGE = {
    "page": [_MIN_1, ("must be an integer number", _is_int)],
    "limit": [
        ("must not be greater than 100", lambda v: v is not None and v <= 100),
        _MIN_1,
        ("must be an integer number", _is_int),
    ],
}


def _violations(
    dto: dict[str, Any], value: dict[str, Any], prefix: str = ""
) -> list[str]:
    """Validate with whitelist and forbidNonWhitelisted on, as ValidationPipe flattens it."""
    found = [
        f"{prefix}property {name} should not exist" for name in value if name not in dto
    ]
    for name, rules in dto.items():
        given = value.get(name)
        if isinstance(rules, list):
            found += [
                f"{prefix}{name} {text}" for text, well in rules if not well(given)
            ]
        elif isinstance(given, dict):
            found += _violations(rules, given, f"{prefix}{name}.")
        else:
            if given is not None:
                found.append(f"nested property {name} must be either object or array")
            found.append(f"{name} must be an object")
    return found


def _route(handler: Any) -> Any:
    def answer(self: Any, request: Request) -> Response:
        try:
            data = handler(self, request)
        except _HttpException as error:
            return error.response()
        return Response(
            200, {"success": True, "data": data}, {"X-Powered-By": "Express"}
        )

    return answer


class Hivewright(Backend):
    """Assignments; a deliverable is judged and paid when it is submitted."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        self._sources: dict[str, str] = {}
        for title, text, amount, tags in _WORK:
            key, date = _object_id(), _date()
            self._sources[key] = text
            self._tasks[key] = {
                "_id": key,
                "title": title,
                "tags": tags,
                "brief": "You get a sourceText when you claim. Deliver it in capital letters.",
                "bounty": {"amount": amount, "currency": "CREDITS"},
                "status": "OPEN",
                "createdAt": date,
                "updatedAt": date,
                "__v": 0,
            }

    def texts(self) -> dict[str, str]:
        return dict(self._sources)

    def missing(self, request: Request) -> Response:
        message = f"Cannot {request.method} {request.path}"
        return _HttpException(404, message).response()

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        parts = [secrets.token_urlsafe(n) for n in (27, 48, 32)]
        token = "eyJ" + ".".join(parts)
        self._agents[token] = {"agent_id": _object_id(), "credits": 100}
        body = {**self._agents[token], "access_token": token, "token_type": "Bearer"}
        return Response(200, body, {"X-Powered-By": "Express"})

    def _input(
        self, request: Request, dto: dict[str, Any]
    ) -> tuple[dict[str, Any], Any]:
        """Return the agent and the body: body-parser first, then guard, then pipe."""
        body: Any = {}
        if request.raw and "json" in request.headers.get("Content-Type", ""):
            text = request.raw.decode(errors="replace").strip()
            try:
                body = json.loads(text)
                if not isinstance(body, (dict, list)):
                    raise json.JSONDecodeError("strict", text, 0)
            except json.JSONDecodeError as error:
                message = "Unexpected end of JSON input"
                if error.pos < len(text):
                    message = f"Unexpected token '{text[error.pos]}', \"{text}\" is not valid JSON"
                raise _HttpException(400, message) from None
        if request.token not in self._agents:
            raise _HttpException(401, "Unauthorized")
        if isinstance(body, list):
            raise _HttpException(
                400, ["an unknown value was passed to the validate function"]
            )
        if found := _violations(dto, body):
            raise _HttpException(400, found)
        return self._agents[request.token], body

    @_route
    def tasks(self, request: Request) -> Any:
        query: dict[str, Any] = {"page": 1.0, "limit": 10.0}
        for name, text in request.query.items():
            number = re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", text)
            query[name] = float(text) if number else None
        if found := _violations(_PAGE, query):
            raise _HttpException(400, found)
        page, limit = int(query["page"]), int(query["limit"])
        docs = [task for task in self._tasks.values() if task["status"] == "OPEN"]
        pages = max(1, -(-len(docs) // limit))
        return {
            "docs": docs[(page - 1) * limit : page * limit],
            "totalDocs": len(docs),
            "limit": limit,
            "page": page,
            "totalPages": pages,
            "hasNextPage": page < pages,
            "nextPage": page + 1 if page < pages else None,
        }

    marketplace = tasks

    @_route
    def claim(self, request: Request) -> Any:
        agent, body = self._input(request, _CLAIM)
        if body["agentId"] != agent["agent_id"]:
            raise _HttpException(403, "agentId does not match the authenticated agent")
        task = self._tasks.get(body["taskId"])
        if task is None:
            raise _HttpException(404, f"Task with id {body['taskId']} not found")
        if task["status"] != "OPEN":
            raise _HttpException(409, f"Task is already {task['status']}")
        task.update(status="ASSIGNED", updatedAt=_date(), __v=task["__v"] + 1)
        assignment = {
            "_id": _object_id(),
            "agent": agent["agent_id"],
            "task": task["_id"],
            "state": "IN_PROGRESS",
            "dueAt": _date(60),
            "__v": 0,
        }
        self._assignments[assignment["_id"]] = assignment
        self.book.claimed(task["_id"])
        source = self._sources[task["_id"]]
        work = {"_id": task["_id"], "title": task["title"], "sourceText": source}
        return {**assignment, "task": work}

    def _assignment(
        self, agent: dict[str, Any], key: str, state: str
    ) -> dict[str, Any]:
        assignment = self._assignments.get(key)
        if assignment is None:
            raise _HttpException(404, f"Assignment with id {key} not found")
        if assignment["agent"] != agent["agent_id"]:
            raise _HttpException(403, "Forbidden resource")
        if assignment["state"] != state:
            now = assignment["state"]
            raise _HttpException(409, f"Assignment must be {state}, but it is {now}")
        return assignment

    @_route
    def submit(self, request: Request) -> Any:
        agent, body = self._input(request, _SUBMIT)
        assignment = self._assignment(agent, body["assignmentId"], "IN_PROGRESS")
        task, deliverable = self._tasks[assignment["task"]], body["deliverable"]
        if deliverable["kind"] != "text":
            raise _HttpException(
                422, "This task only accepts deliverables of kind text"
            )
        if deliverable["body"] != self._sources[task["_id"]].upper():
            raise _HttpException(
                422, "Deliverable was rejected: body is not the expected text"
            )
        assignment["state"] = "APPROVED"
        amount = task["bounty"]["amount"]
        agent["credits"] += amount
        self.book.pay(task["_id"], amount)
        payout = {
            "amount": amount,
            "currency": "CREDITS",
            "newBalance": agent["credits"],
        }
        return {
            "assignmentId": assignment["_id"],
            "state": "APPROVED",
            "payout": payout,
        }

    @_route
    def complete(self, request: Request) -> Any:
        agent, body = self._input(request, _COMPLETE)
        assignment = self._assignment(agent, body["assignmentId"], "APPROVED")
        assignment.update(state="CLOSED", summary=body["summary"], closedAt=_date())
        self._tasks[assignment["task"]].update(status="CLOSED", updatedAt=_date())
        return assignment
