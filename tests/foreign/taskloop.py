"""Taskloop: a start-up's tRPC router, reached by plain addresses through an adapter.

The adapter hands the body to the procedure and gives back what it returned; an error leaves
in tRPC's default shape, where the message of a failed input is Zod's issues as a string.
One lease at a time. An accepted submission pays; completing closes the lease.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
import string
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS = [
    ("Uppercase a greeting", "hello from the night shift", 14),
    ("Uppercase a warning", "wet floor near the north stairs", 9),
    ("Uppercase a title", "the long way to the lighthouse", 27),
    ("Uppercase a menu line", "soup of the day with rye bread", 11),
    ("Uppercase a ticket", "platform two, coach seven, seat nine", 22),
    ("Uppercase a reminder", "bring the blue folder on monday", 6),
]
_STATUS = {
    "PARSE_ERROR": 400,
    "BAD_REQUEST": 400,
    "UNAUTHORIZED": 401,
    "FORBIDDEN": 403,
}
_STATUS |= {"NOT_FOUND": 404, "CONFLICT": 409, "PRECONDITION_FAILED": 412}
_STATUS |= {"UNPROCESSABLE_CONTENT": 422}
_RPC = {"PARSE_ERROR": -32700, "BAD_REQUEST": -32600}  # the rest follow the status
_ABSENT = object()
_FORMS = {
    "cuid": r"c[^\s-]{8,}",
    "datetime": r"\d{4}(-\d\d){2}T\d\d(:\d\d){2}(\.\d+)?Z",
}


class _TRPCError(Exception):
    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(message or code)
        self.code = code


def _cuid() -> str:
    letters = string.ascii_lowercase + string.digits
    return "c" + "".join(secrets.choice(letters) for _ in range(24))


def _iso() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


_SAYS = "Rewrite the source text in upper case. You get the text with the lease."

# As much of Zod 3 as the procedures use


def _kind(value: Any) -> str:
    if value is _ABSENT:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    names = {bool: "boolean", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "")


def _zod(of: Any, value: Any, path: list[Any]) -> list[dict[str, Any]]:
    """Return the issues of a value.

    A shape is a dict, a list of one shape, a tuple of enum options, or a word: "number",
    "string", "string cuid", "string 10" (at least so long).
    """
    got, form = _kind(value), ""
    listed = " | ".join(f"'{option}'" for option in of) if isinstance(of, tuple) else ""
    kind = "string" if listed else _kind(of)
    if isinstance(of, str):
        kind, _, form = of.partition(" ")
    expected = listed or kind
    if got != kind:
        said = (
            "Required" if got == "undefined" else f"Expected {expected}, received {got}"
        )
        issue = {"code": "invalid_type", "expected": expected, "received": got}
        return [issue | {"path": path, "message": said}]
    if isinstance(of, dict):
        pairs = of.items()
        return [
            i for k, sub in pairs for i in _zod(sub, value.get(k, _ABSENT), [*path, k])
        ]
    least = 1 if kind == "array" else int(form) if form.isdecimal() else 0
    if least and len(value) < least:
        noun = "element" if kind == "array" else "character"
        said = f"{kind.capitalize()} must contain at least {least} {noun}(s)"
        issue = {"code": "too_small", "minimum": least, "type": kind, "inclusive": True}
        return [issue | {"exact": False, "message": said, "path": path}]
    if isinstance(of, list):
        return [i for n, one in enumerate(value) for i in _zod(of[0], one, [*path, n])]
    if listed and value not in of:
        said = f"Invalid enum value. Expected {listed}, received '{value}'"
        issue = {"received": value, "code": "invalid_enum_value", "options": of}
        return [issue | {"path": path, "message": said}]
    if form in _FORMS and not re.fullmatch(_FORMS[form], value):
        issue = {"validation": form, "code": "invalid_string"}
        return [issue | {"message": f"Invalid {form}", "path": path}]
    return []


_INPUTS: dict[str, Any] = {
    "tasks.claim": {"taskId": "string cuid", "expectedBy": "string datetime"},
    "tasks.submit": {
        "leaseId": "string cuid",
        "artifacts": [{"type": ("text", "markdown"), "content": "string 1"}],
    },
    "tasks.complete": {"leaseId": "string cuid", "summary": "string 10"},
    "billing.checkout": dict.fromkeys(("plan", "agent_id", "price_id"), "string 1")
    | dict.fromkeys(("requested_credits", "amount_cents"), "number"),
}


class Taskloop(Backend):
    """A tRPC router with Zod inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, dict[str, Any]] = {}  # by token
        self.jobs: dict[str, dict[str, Any]] = {}
        self.sources: dict[str, str] = {}
        for title, text, credits_ in _JOBS:
            key = _cuid()
            job = {"id": key, "title": title, "instructions": _SAYS, "status": "OPEN"}
            self.jobs[key] = job | {"reward": {"amount": credits_, "unit": "CREDIT"}}
            self.sources[key] = text
        self.leases: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return self.sources

    def missing(self, request: Request) -> Response:
        return self._failed(_TRPCError("NOT_FOUND", "No procedure on this path"), "")

    def register(self, request: Request) -> Response:
        token = "tl_" + secrets.token_urlsafe(24)
        self.users[token] = {"id": _cuid(), "balance": 100, "joinedAt": _iso()}
        self.book.registrations += 1
        key = self.users[token]["id"]
        return Response(200, {"agent_id": key, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        limit, cursor = request.query.get("limit", ""), request.query.get("cursor")
        # limit: z.coerce.number().min(1).max(50).catch(20)  # noqa: ERA001
        size = int(limit) if limit.isdecimal() and 1 <= int(limit) <= 50 else 20
        found = [job for job in self.jobs.values() if job["status"] == "OPEN"]
        places = [n for n, job in enumerate(found) if job["id"] == cursor]
        found = found[places[0] if places else 0 :]
        after = found[size]["id"] if len(found) > size else None
        return Response(200, {"items": found[:size], "nextCursor": after})

    def tasks(self, request: Request) -> Response:
        if request.token not in self.users:
            return self._failed(_TRPCError("UNAUTHORIZED"), "tasks.list")
        return self.marketplace(request)

    def directory(self, request: Request) -> Response:
        users = [
            {"id": u["id"], "joinedAt": u["joinedAt"]} for u in self.users.values()
        ]
        if "slug" not in request.query:
            return Response(200, {"items": users, "nextCursor": None})
        found = [user for user in users if user["id"] == request.query["slug"]]
        missing = self._failed(
            _TRPCError("NOT_FOUND", "Agent not found"), "agents.bySlug"
        )
        return Response(200, found[0]) if found else missing

    agents = directory

    def claim(self, request: Request) -> Response:
        return self._call(request, "tasks.claim", self._claim)

    def submit(self, request: Request) -> Response:
        return self._call(request, "tasks.submit", self._submit)

    def complete(self, request: Request) -> Response:
        return self._call(request, "tasks.complete", self._complete)

    def post(self, request: Request) -> Response:
        refusal = "FORBIDDEN" if request.token in self.users else "UNAUTHORIZED"
        return self._failed(_TRPCError(refusal), "tasks.create")

    def checkout(self, request: Request) -> Response:
        made = {
            "ok": True,
            "sessionId": _cuid(),
            "url": "https://pay.example.com/checkout",
        }
        return self._call(
            request,
            "billing.checkout",
            lambda user, given: made,  # noqa: ARG005
            public=True,
        )

    def _claim(self, user: dict[str, Any], given: dict[str, Any]) -> Any:
        if given["expectedBy"] < _iso():
            raise _TRPCError("BAD_REQUEST", "expectedBy must be in the future")
        job = self.jobs.get(given["taskId"])
        if job is None:
            raise _TRPCError("NOT_FOUND", f"No task with id {given['taskId']}")
        if job["status"] != "OPEN":
            raise _TRPCError("CONFLICT", "Task is already leased")
        for lease in self.leases.values():
            if lease["agentId"] == user["id"] and lease["status"] != "CLOSED":
                said = f"You already hold lease {lease['id']}, complete it first"
                raise _TRPCError("PRECONDITION_FAILED", said)
        lease = {
            "id": _cuid(),
            "taskId": job["id"],
            "agentId": user["id"],
            "status": "ACTIVE",
        }
        self.leases[lease["id"]] = lease
        job["status"] = "LEASED"
        self.book.claimed(job["id"])
        return {"lease": lease, "input": {"sourceText": self.sources[job["id"]]}}

    def _submit(self, user: dict[str, Any], given: dict[str, Any]) -> Any:
        lease = self._lease(user, given)
        job = self.jobs[lease["taskId"]]
        if lease["status"] != "ACTIVE":
            raise _TRPCError("CONFLICT", f"Lease is {lease['status']}")
        if [a["content"] for a in given["artifacts"]] != [
            self.sources[job["id"]].upper()
        ]:
            said = "Submission rejected: content is not the upper-cased source text"
            raise _TRPCError("UNPROCESSABLE_CONTENT", said)
        lease["status"] = "ACCEPTED"
        user["balance"] += job["reward"]["amount"]
        self.book.pay(job["id"], job["reward"]["amount"])
        return {
            "verdict": "ACCEPTED",
            "earned": job["reward"],
            "balance": user["balance"],
        }

    def _complete(self, user: dict[str, Any], given: dict[str, Any]) -> Any:
        lease = self._lease(user, given)
        if lease["status"] != "ACCEPTED":
            said = f"Lease is {lease['status']}, expected ACCEPTED"
            raise _TRPCError("PRECONDITION_FAILED", said)
        lease["status"] = "CLOSED"
        self.jobs[lease["taskId"]]["status"] = "DONE"
        return {"lease": lease, "closedAt": _iso()}

    def _lease(self, user: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        lease = self.leases.get(given["leaseId"])
        if lease is None or lease["agentId"] != user["id"]:
            raise _TRPCError("NOT_FOUND", f"No lease with id {given['leaseId']}")
        return lease

    def _call(
        self,
        request: Request,
        path: str,
        run: Any,
        public: bool = False,  # noqa: FBT001, FBT002
    ) -> Response:
        try:
            try:
                given = request.json() if request.raw else _ABSENT
            except ValueError:
                raise _TRPCError("PARSE_ERROR", "Failed to parse JSON body") from None
            user = self.users.get(request.token)
            if user is None and not public:
                raise _TRPCError("UNAUTHORIZED")
            if issues := _zod(_INPUTS[path], given, []):
                raise _TRPCError("BAD_REQUEST", json.dumps(issues, indent=2))
            return Response(200, run(user, given))
        except _TRPCError as error:
            return self._failed(error, path)

    def _failed(self, error: _TRPCError, path: str) -> Response:
        status = _STATUS[error.code]
        number = _RPC.get(error.code, -32000 - status % 100)
        data = {"code": error.code, "httpStatus": status} | (
            {"path": path} if path else {}
        )
        shape = {"message": str(error), "code": number, "data": data}
        return Response(status, {"error": shape})
