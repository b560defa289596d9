"""Quillbase: a Parse Server; classes with pointers, class rules, one Cloud function."""

import secrets
import string
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SOURCES = [
    ("a heron stood in the shallow water", 10),
    ("nine lanterns, one for every bridge", 15),
    ("the orchard gate is never locked", 22),
    ("bring a coat, the evenings are cold", 35),
    ("moss grows on the north wall", 6),
]
_TYPES = {bool: "Boolean", int: "Number", float: "Number", str: "String", list: "Array"}


class _ParseError(Exception):
    """A Parse.Error; its code decides the status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _object_id() -> str:
    letters = string.ascii_letters + string.digits
    return "".join(secrets.choice(letters) for _ in range(10))


def _iso(days: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(days=days)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _pointer(class_name: str, object_id: str) -> dict[str, str]:
    return {"__type": "Pointer", "className": class_name, "objectId": object_id}


def _type_of(value: Any) -> str:
    """Name the type of a value as the schema controller does."""
    if isinstance(value, dict):
        if value.get("__type") == "Pointer" and value.get("className"):
            return f"Pointer<{value['className']}>"
        return "Date" if value.get("__type") == "Date" else "Object"
    return _TYPES.get(type(value), "Object")


class Quillbase(Backend):
    """Pointers in requests, `code` and `error` in refusals, `results` and `result`."""

    def __init__(self) -> None:
        super().__init__()
        self._sessions: dict[str, dict[str, Any]] = {}
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        desk = _object_id()
        for source, bounty in _SOURCES:
            key, now = _object_id(), _iso()
            self._tasks[key] = {
                "objectId": key,
                "goal": "Write the sourceText in upper case",
                "sourceText": source,
                "bounty": bounty,
                "isOpen": True,
                "closesAt": {"__type": "Date", "iso": _iso(30)},
                "postedBy": _pointer("_User", desk),
                "createdAt": now,
                "updatedAt": now,
            }

    def texts(self) -> dict[str, str]:
        return {key: task["sourceText"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        page = f"<pre>Cannot {request.method} {request.path}</pre>\n"
        headers = {"Content-Type": "text/html; charset=utf-8"}
        return Response(404, f"<!DOCTYPE html>\n{page}", headers)

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers.setdefault("Content-Type", "application/json; charset=utf-8")
        answer.headers["Access-Control-Allow-Origin"] = "*"
        return answer

    # ---- what the server does for every class

    @staticmethod
    def _refuse(error: _ParseError) -> Response:
        status = {1: 500, 101: 404}.get(error.code, 400)
        if error.code < 0:  # the body parser's, which has no code
            return Response(400, {"error": str(error)})
        return Response(status, {"code": error.code, "error": str(error)})

    def _user(self, request: Request) -> dict[str, Any] | None:
        if not request.token:
            return None
        if request.token not in self._sessions:
            raise _ParseError(209, "Invalid session token")
        return self._sessions[request.token]

    def _signed_in(self, request: Request) -> dict[str, Any]:
        """Keep the class rule requiresAuthentication."""
        user = self._user(request)
        if user is None:
            message = "Permission denied, user needs to be authenticated."
            raise _ParseError(101, message)
        return user

    @staticmethod
    def _body(request: Request) -> dict[str, Any]:
        if not request.raw.strip():
            return {}
        try:
            body = request.json()
        except ValueError:
            first = request.raw.decode(errors="replace").strip()[0]
            message = f"Unexpected token {first} in JSON at position 0"
            message = "Unexpected end of JSON input" if first in "{[" else message
            raise _ParseError(-1, message) from None
        return body if isinstance(body, dict) else {}

    def _validated(
        self, request: Request, class_name: str, schema: dict[str, str]
    ) -> dict[str, Any]:
        """Read a new object of a class whose fields are all required."""
        body = self._body(request)
        for name, expected in schema.items():
            value = body.get(name)
            if value is not None and _type_of(value) != expected:
                message = f"schema mismatch for {class_name}.{name}; expected"
                message = f"{message} {expected} but got {_type_of(value)}"
                raise _ParseError(111, message)
        for name in schema:
            if body.get(name) in (None, ""):
                raise _ParseError(142, f"{name} is required")
        return body

    # ---- the actions

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, key = f"r:{secrets.token_hex(16)}", _object_id()
        self._sessions[token] = {"objectId": key, "credits": 100}
        return Response(200, {"agent_id": key, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        rows = [task for task in self._tasks.values() if task["isOpen"]]
        try:
            self._user(request)
            limit = int(request.query.get("limit", 100))
            skip = int(request.query.get("skip", 0))
        except _ParseError as error:
            return self._refuse(error)
        except ValueError:
            return self._refuse(_ParseError(102, "limit and skip must be numbers"))
        return Response(200, {"results": rows[max(skip, 0) :][: max(limit, 0)]})

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        rows = [{"objectId": u["objectId"]} for u in self._sessions.values()]
        return Response(200, {"results": rows})

    directory = agents

    def claim(self, request: Request) -> Response:
        """Create a Claim; its beforeSave takes the task."""
        try:
            user = self._signed_in(request)
            body = self._validated(request, "Claim", {"task": "Pointer<Task>"})
            task = self._tasks.get(str(body["task"].get("objectId")))
            if task is None:
                raise _ParseError(101, "Object not found.")
            if not task["isOpen"]:
                raise _ParseError(141, "This task is no longer open.")
        except _ParseError as error:
            return self._refuse(error)
        key, now = _object_id(), _iso()
        task["isOpen"], task["updatedAt"] = False, now
        self._claims[key] = {"task": task, "user": user, "done": False}
        self.book.claimed(task["objectId"])
        return Response(200, {"objectId": key, "createdAt": now})

    def submit(self, request: Request) -> Response:
        """Create a Submission; its beforeSave sets the verdict."""
        try:
            user = self._signed_in(request)
            schema = {"claim": "Pointer<Claim>", "output": "String"}
            body = self._validated(request, "Submission", schema)
            claim = self._claims.get(str(body["claim"].get("objectId")))
            if claim is None or claim["user"] is not user:
                raise _ParseError(101, "Object not found.")
            if claim["done"]:
                raise _ParseError(141, "This claim is finished.")
        except _ParseError as error:
            return self._refuse(error)
        right = body["output"] == claim["task"]["sourceText"].upper()
        key = _object_id()
        self._submissions[key] = {"claim": claim, "right": right}
        verdict = "accepted" if right else "rejected"
        answer = {"objectId": key, "createdAt": _iso(), "verdict": verdict}
        return Response(200, answer, refused=not right)

    def complete(self, request: Request) -> Response:  # noqa: PLR0915
        """Run the Cloud function, behind its validator."""
        try:
            user = self._user(request)
            if user is None:
                raise _ParseError(142, "Validation failed. Please login to continue.")
            params = self._body(request)
            for name in ("submissionId", "outcome"):
                value = params.get(name)
                if value is None:
                    message = f"Validation failed. Please specify data for {name}."
                    raise _ParseError(142, message)
                if not isinstance(value, str):
                    message = f"Validation failed. Invalid type for {name}."
                    raise _ParseError(142, f"{message} Expected: string")
            if params["outcome"] not in ("finished", "withdrawn"):
                message = "Validation failed. Invalid option for outcome."
                raise _ParseError(142, f"{message} Expected: finished, withdrawn")
            submission = self._submissions.get(params["submissionId"])
            if submission is None or submission["claim"]["user"] is not user:
                raise _ParseError(101, "Object not found.")
            claim = submission["claim"]
            task = claim["task"]
            if claim["done"]:
                raise _ParseError(141, "This claim is finished.")
            if params["outcome"] == "finished" and not submission["right"]:
                raise _ParseError(141, "A rejected submission cannot be finished.")
        except _ParseError as error:
            return self._refuse(error)
        claim["done"] = True
        earned = task["bounty"] if params["outcome"] == "finished" else 0
        if earned:
            user["credits"] += earned
            self.book.pay(task["objectId"], earned)
        else:
            task["isOpen"] = True
            self.book.held.discard(task["objectId"])
        return Response(200, {"result": {"earned": earned, "balance": user["credits"]}})

    def post(self, request: Request) -> Response:
        message = "Permission denied for action create on class Task."
        return self._refuse(_ParseError(119, message))
