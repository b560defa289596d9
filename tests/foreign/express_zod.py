"""An Express application whose bodies are strict Zod objects, nested by resource.

A body that does not fit is answered with the ZodError itself: every issue at once, with
the path, what was expected and what was received, and the keys that it does not recognise.
Nothing is flat: a task is named as {"task": {"id": number}}, an agent and a submission as
objects of their own. Ids of tasks are numbers, those of agents are text.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from itertools import count
from secrets import token_hex, token_urlsafe
from typing import Any, TypeAlias

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
Handler = Callable[["ExpressZod", Request], Response]
Path = tuple[str, ...]
Parser = Callable[[object, Path], list[Json]]
Shape: TypeAlias = "Mapping[str, Parser | Shape]"

TEXTS = {
    "the tailor keeps pins in a teacup": 2,
    "a grey heron stands by the weir": 6,
    "count the chairs before the guests sit": 4,
    "the attic window will not close": 1,
    "she sells plums from a handcart": 8,
    "fog covered the fields until ten": 3,
    "the chess club meets above the bank": 7,
    "mind the loose board on the stairs": 5,
    "his notes are written in pencil": 9,
    "the swans have left the lower pond": 2,
    "oil the hinges once every month": 3,
    "a choir of frogs sang all night": 6,
}
MISSING = object()


class HttpError(Exception):
    """Handed to next(); the error middleware answers it."""

    def __init__(self, status: int, name: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.name = name


def handler(method: Handler) -> Handler:
    """Put the error middleware behind a handler."""

    @wraps(method)
    def answer(self: "ExpressZod", request: Request) -> Response:
        try:
            return method(self, request)
        except InvalidError as invalid:
            error: Json = {"issues": invalid.issues, "name": "ZodError"}
            return Response(400, {"success": False, "error": error})
        except HttpError as failed:
            error = {"name": failed.name, "message": str(failed)}
            return Response(failed.status, {"success": False, "error": error})

    return answer


class InvalidError(Exception):
    """A schema's safeParse did not succeed."""

    def __init__(self, issues: list[Json]) -> None:
        super().__init__()
        self.issues = issues


def received(value: object) -> str:
    """Return Zod's name of a value's type."""
    if value is MISSING:
        return "undefined"
    if value is None:
        return "null"
    kinds = {bool: "boolean", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "number")


def mistyped(expected: str, value: object, path: Path) -> list[Json]:
    found = received(value)
    required = f"Expected {expected}, received {found}"
    return [
        {
            "code": "invalid_type",
            "expected": expected,
            "received": found,
            "path": list(path),
            "message": "Required" if value is MISSING else required,
        }
    ]


def z_string(value: object, path: Path) -> list[Json]:
    """z.string().min(1)."""
    if not isinstance(value, str):
        return mistyped("string", value, path)
    if value:
        return []
    message = "String must contain at least 1 character(s)"
    bounds = {"minimum": 1, "type": "string", "inclusive": True, "exact": False}
    issue = {"code": "too_small", **bounds, "message": message, "path": list(path)}
    return [issue]


def z_integer(value: object, path: Path) -> list[Json]:
    """z.number().int()."""
    if received(value) != "number":
        return mistyped("number", value, path)
    if isinstance(value, float) and not value.is_integer():
        issue = {"code": "invalid_type", "expected": "integer", "received": "float"}
        message = "Expected integer, received float"
        return [issue | {"message": message, "path": list(path)}]
    return []


def parse(shape: Shape, value: object, path: Path = ()) -> list[Json]:
    """Return every issue of a value with z.object(shape).strict()."""
    if not isinstance(value, dict):
        return mistyped("object", value, path)
    issues: list[Json] = []
    for key, inner in shape.items():
        found, place = value.get(key, MISSING), (*path, key)
        if callable(inner):
            issues += inner(found, place)
        else:
            issues += parse(inner, found, place)
    if keys := [key for key in value if key not in shape]:
        names = ", ".join(f"'{key}'" for key in keys)
        message = f"Unrecognized key(s) in object: {names}"
        issue = {"code": "unrecognized_keys", "keys": keys, "path": list(path)}
        issues.append(issue | {"message": message})
    return issues


TASK: Shape = {"id": z_integer}
CLAIM: Shape = {"task": TASK, "agent": {"id": z_string}}
SUBMIT: Shape = {"task": TASK, "submission": {"content": z_string}}
COMPLETE: Shape = {"task": TASK}


def body_of(request: Request) -> object:
    """Return req.body: what express.json() made of it, {} if it did not look."""
    if "json" not in (request.headers.get("Content-Type") or "") or not request.raw:
        return {}
    try:
        return json.loads(request.raw)
    except json.JSONDecodeError as bad:
        found = bad.doc[bad.pos : bad.pos + 1]
        token = f"Unexpected token '{found}', \"{bad.doc}\" is not valid JSON"
        message = token if found else "Unexpected end of JSON input"
        raise HttpError(400, "SyntaxError", message) from None


def now() -> str:
    moment = datetime.now(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ExpressZod(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, Json] = {
            key: {
                "id": key,
                "type": "text",
                "title": "Shout the following sentence (capital letters)",
                "content": text,
                "reward": {"amount": TEXTS[text], "currency": "credits"},
                "status": "open",
                "createdAt": now(),
            }
            for key, text in zip(count(70123, 7), TEXTS, strict=False)
        }
        self.members: dict[str, Json] = {}  # token -> agent
        self.owners: dict[int, str] = {}  # task -> agent

    def texts(self) -> dict[str, str]:
        return {str(key): row["content"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        line = f"Cannot {request.method} {request.path}"
        page = (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"<title>Error</title>\n</head>\n<body>\n<pre>{line}</pre>\n</body>\n</html>\n"
        )
        return Response(404, page, {"Content-Type": "text/html; charset=utf-8"})

    def register(self, request: Request) -> Response:
        agent = {"agent_id": f"agt_{token_hex(10)}", "access_token": token_urlsafe(30)}
        self.members[agent["access_token"]] = {"id": agent["agent_id"], "credits": 100}
        self.book.registrations += 1
        return Response(200, agent | {"credits": 100})

    def tasks(self, request: Request) -> Response:
        rows = [row for row in self.rows.values() if row["status"] == "open"]
        limit = request.query.get("limit", "")
        shown = rows[: int(limit)] if limit.isdecimal() else rows
        return Response(200, {"success": True, "data": {"tasks": shown}})

    def _begin(self, request: Request, shape: Shape) -> tuple[Json, Json, Json]:
        """Return agent, body and task: the parser, the guard, then the schema."""
        body = body_of(request)
        if not request.token:
            message = "No authorization token was found"
            raise HttpError(401, "UnauthorizedError", message)
        if request.token not in self.members:
            raise HttpError(401, "UnauthorizedError", "Invalid token")
        if issues := parse(shape, body):
            raise InvalidError(issues)
        assert isinstance(body, dict)
        row = self.rows.get(int(body["task"]["id"]))
        if row is None:
            message = f"Task {body['task']['id']} not found"
            raise HttpError(404, "NotFoundError", message)
        return self.members[request.token], body, row

    @handler
    def claim(self, request: Request) -> Response:
        agent, body, row = self._begin(request, CLAIM)
        if body["agent"]["id"] != agent["id"]:
            message = "agent.id does not match the authenticated agent"
            raise HttpError(403, "ForbiddenError", message)
        if row["status"] != "open":
            message = f"Task {row['id']} is not open (status: {row['status']})"
            raise HttpError(409, "ConflictError", message)
        row["status"] = "claimed"
        self.owners[row["id"]] = agent["id"]
        self.book.claimed(str(row["id"]))
        return self._success(row, claimedAt=now())

    def _success(self, row: Json, **more: object) -> Response:
        task = {"id": row["id"], "status": row["status"]}
        return Response(200, {"success": True, "data": {"task": task, **more}})

    def _own(self, agent: Json, row: Json, status: str) -> None:
        if self.owners.get(row["id"]) != agent["id"]:
            message = f"Task {row['id']} is not claimed by this agent"
            raise HttpError(403, "ForbiddenError", message)
        if row["status"] != status:
            message = f"Task {row['id']} has status {row['status']}, expected {status}"
            raise HttpError(409, "ConflictError", message)

    @handler
    def submit(self, request: Request) -> Response:
        agent, body, row = self._begin(request, SUBMIT)
        self._own(agent, row, "claimed")
        if body["submission"]["content"] != row["content"].upper():
            message = "submission.content is not the expected result"
            raise HttpError(422, "RejectedError", message)
        row["status"] = "submitted"
        return self._success(row, submission={"accepted": True, "submittedAt": now()})

    @handler
    def complete(self, request: Request) -> Response:
        agent, _, row = self._begin(request, COMPLETE)
        self._own(agent, row, "submitted")
        row["status"] = "completed"
        agent["credits"] += row["reward"]["amount"]
        self.book.pay(str(row["id"]), row["reward"]["amount"])
        return self._success(row, earned=row["reward"], balance=agent["credits"])
