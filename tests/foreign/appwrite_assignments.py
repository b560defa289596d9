"""A backend-as-a-service in the manner of Appwrite 1.5.

Records are documents with `$id` and its kin, lists are `total` and `documents`, parameters
are checked one after the other (`Param "x" is not optional.`), a document's attributes by
the collection's structure, and every refusal has `message`, `code`, `type` and `version`.
A submission is judged when it is made; completing an approved one pays.
"""

import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    ("Broadcast ticker", "storm warning for the northern coast", 30),
    ("Stage sign", "quiet please, recording in progress", 14),
    ("Runway marker", "hold short of taxiway bravo", 22),
    ("Locker tag", "property of the rowing club", 8),
    ("Film title card", "meanwhile, on the other side of town", 40),
    ("Crate stencil", "this side up / handle with care", 11),
]


class _AppwriteError(Exception):
    def __init__(self, code: int, type_: str, message: str) -> None:
        super().__init__(message)
        body = {"message": message, "code": code, "type": type_, "version": "1.5.7"}
        self.response = Response(code, body)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _uid(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9][\w.-]{0,35}", value):
        return ""
    chars = (
        "a-z, A-Z, 0-9, period, hyphen and underscore. Can't start with a special char"
    )
    return f"UID must contain at most 36 chars. Valid chars are {chars}"


def _json(value: Any) -> str:
    try:
        value = json.loads(value) if isinstance(value, str) else value
        fine = value is None or isinstance(value, str | dict | list)
    except ValueError:
        fine = False
    return "" if fine else "Value must be a valid JSON string"


def _white_list(*allowed: str) -> Callable[[Any], str]:
    fault = f"Value must be one of ({', '.join(allowed)})"
    return lambda value: "" if value in allowed else fault


def _params(request: Request, **checks: Callable[[Any], str]) -> list[Any]:
    """Return the named parameters in order; the first wrong one is refused."""
    try:
        body = json.loads(request.raw)
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    for name, check in checks.items():
        fault = ""
        if body.get(name) in (None, ""):
            fault = f'Param "{name}" is not optional.'
        elif wrong := check(body[name]):
            fault = f"Invalid `{name}` param: {wrong}"
        if fault:
            raise _AppwriteError(400, "general_argument_invalid", fault)
    return [body[name] for name in checks]


def _structure(data: Any) -> str:
    """Return the output out of a submission's data."""
    data = json.loads(data) if isinstance(data, str) else data
    if not isinstance(data, dict) or not data:
        missing = "The document data is missing. Try again with document data populated"
        raise _AppwriteError(400, "document_missing_data", missing)
    fault = ""
    if data.get("output") is None:
        fault = 'Missing required attribute "output"'
    elif unknown := [name for name in data if name != "output"]:
        fault = f'Unknown attribute: "{unknown[0]}"'
    elif not isinstance(data["output"], str) or len(data["output"]) > 4096:
        rule = "Value must be a valid string and no longer than 4096 chars"
        fault = f'Attribute "output" has invalid type. {rule}'
    if fault:
        fault = f"Invalid document structure: {fault}"
        raise _AppwriteError(400, "document_invalid_structure", fault)
    return str(data["output"])


def _active(assignment: dict[str, Any]) -> None:
    if (status := assignment["status"]) != "active":
        raise _AppwriteError(
            409, "document_update_conflict", f"Assignment is {status}."
        )


def _guarded(action: Callable[[Any, Request], Response]) -> Any:
    def guarded(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except _AppwriteError as error:
            return error.response

    return guarded


class AppwriteAssignments(Backend):
    """A database of tasks, assignments and submissions behind functions."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        names = ("tasks", "assignments", "submissions")
        self._docs: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in names}
        for title, text, bounty in _TASKS:
            payload = {"kind": "text/uppercase", "text": text}
            data = {"title": title, "payload": payload, "bountyCredits": bounty}
            data |= {"status": "available", "assignment": None}
            self._create("tasks", 'read("any")', **data)

    def _create(self, collection: str, permission: str, **data: Any) -> dict[str, Any]:
        id_ = secrets.token_hex(10)
        self._docs[collection][id_] = {
            **data,
            "$id": id_,
            "$createdAt": _now(),
            "$updatedAt": _now(),
            "$permissions": [permission],
            "$databaseId": "network",
            "$collectionId": collection,
        }
        return self._docs[collection][id_]

    def texts(self) -> dict[str, str]:
        """Return the tasks' texts by `$id`."""
        return {id_: d["payload"]["text"] for id_, d in self._docs["tasks"].items()}

    def missing(self, request: Request) -> Response:
        """Answer as Appwrite's router does."""
        text = "The requested route was not found. Please refer to the API docs and try again."
        return _AppwriteError(404, "general_route_not_found", text).response

    def _user(self, request: Request, scope: str) -> dict[str, Any]:
        if not request.token:
            text = f"User (role: guests) missing scope ({scope})"
            raise _AppwriteError(401, "general_unauthorized_scope", text)
        if request.token not in self._users:
            text = "Failed to verify JWT. Invalid token: Incomplete segments"
            raise _AppwriteError(401, "user_jwt_invalid", text)
        return self._users[request.token]

    def _find(self, collection: str, id_: str, owner: str = "") -> dict[str, Any]:
        doc = self._docs[collection].get(id_)
        if doc is None or (owner and doc["userId"] != owner):
            text = "Document with the requested ID could not be found."
            raise _AppwriteError(404, "document_not_found", text)
        return doc

    def register(self, request: Request) -> Response:
        """Create an account."""
        self.book.registrations += 1
        token = secrets.token_hex(64)
        user = self._users[token] = {"agent_id": secrets.token_hex(10), "credits": 100}
        return Response(200, {**user, "access_token": token})

    def _list(self, request: Request, owner: str) -> Response:
        limit = request.query.get("limit", "25")
        if not limit.isdecimal() or int(limit) > 100:
            text = (
                "Invalid `limit` param: Value must be a valid range between 0 and 100"
            )
            raise _AppwriteError(400, "general_argument_invalid", text)
        given = self._docs["assignments"].values()
        mine = {d["$id"] for d in given if d["userId"] == owner}
        tasks = self._docs["tasks"].values()
        docs = [
            d for d in tasks if d["status"] == "available" or d["assignment"] in mine
        ]
        return Response(200, {"total": len(docs), "documents": docs[: int(limit)]})

    @_guarded
    def marketplace(self, request: Request) -> Response:
        """List what anybody may read."""
        return self._list(request, "")

    @_guarded
    def tasks(self, request: Request) -> Response:
        """List the available tasks and the caller's own."""
        return self._list(request, self._user(request, "documents.read")["agent_id"])

    @_guarded
    def claim(self, request: Request) -> Response:
        """Create an assignment."""
        user = self._user(request, "documents.write")
        (id_,) = _params(request, taskId=_uid)
        task = self._find("tasks", id_)
        if task["status"] != "available":
            text = "An assignment for the task is already present. Task status: "
            raise _AppwriteError(
                409, "document_already_exists", f"{text}{task['status']}."
            )
        fields = {"taskId": id_, "userId": user["agent_id"], "status": "active"}
        doc = self._create(
            "assignments", 'read("user:{}")'.format(fields["userId"]), **fields
        )
        task |= {"status": "assigned", "assignment": doc["$id"], "$updatedAt": _now()}
        self.book.claimed(id_)
        return Response(201, doc)

    @_guarded
    def submit(self, request: Request) -> Response:
        """Create a submission and judge it."""
        user = self._user(request, "documents.write")
        id_, data = _params(request, assignmentId=_uid, data=_json)
        me = user["agent_id"]
        assignment = self._find("assignments", id_, me)
        output = _structure(data)
        _active(assignment)
        right = output == self.texts()[assignment["taskId"]].upper()
        fields = {"assignmentId": id_, "userId": me, "output": output}
        fields["review"] = "approved" if right else "rejected"
        fields["reviewNote"] = (
            "" if right else "Output must be payload.text in upper case."
        )
        doc = self._create("submissions", f'read("user:{me}")', **fields)
        return Response(201, doc, refused=not right)

    @_guarded
    def complete(self, request: Request) -> Response:
        """Close the assignment of an approved submission and pay it."""
        user = self._user(request, "documents.write")
        statuses = _white_list("completed", "cancelled")
        id_, status = _params(request, submissionId=_uid, status=statuses)
        submission = self._find("submissions", id_, user["agent_id"])
        assignment = self._docs["assignments"][submission["assignmentId"]]
        task = self._docs["tasks"][assignment["taskId"]]
        _active(assignment)
        earned = 0
        if status == "cancelled":
            task |= {"status": "available", "assignment": None}
            self.book.held.discard(task["$id"])
        elif submission["review"] != "approved":
            text = "The submission was rejected. Create a new submission for the assignment."
            raise _AppwriteError(400, "general_bad_request", text)
        else:
            earned = task["bountyCredits"]
            task["status"] = "completed"
            user["credits"] += earned
            self.book.pay(task["$id"], earned)
        assignment |= {"status": status, "$updatedAt": _now()}
        money = {"earnedCredits": earned, "balance": user["credits"]}
        return Response(200, {**assignment, **money})
