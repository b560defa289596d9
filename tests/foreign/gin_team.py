"""A small team's service in Go: Gin with go-playground/validator, written the usual way.

Handlers call `c.ShouldBindJSON(&req)` and answer `gin.H{"error": err.Error()}`, so the
client reads the struct's Go names in validation errors and the JSON names in type errors.
"""

import json
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    (1041, "Shelf label 1", "fresh oat milk, 1 litre", 12),
    (1042, "Shelf label 2", "brown eggs from the valley", 9),
    (1043, "Window banner", "everything must go by friday", 25),
    (1044, "Receipt footer", "thank you & come again", 6),
    (1045, "Delivery tag", "handle with care - glass inside", 15),
    (1046, "Door sign", "please ring twice for service", 18),
    (1047, "Crate stencil", "lot 7: keep dry", 31),
]

_H = "[0-9a-f]"
_UUID4 = re.compile(f"{_H}{{8}}-{_H}{{4}}-4{_H}{{3}}-[89ab]{_H}{{3}}-{_H}{{12}}")

_CHECKS: Any = {"required": bool, "uuid4": _UUID4.fullmatch, "gt": lambda v: v > 0}
# struct -> [(Go name, JSON name, Go type, validator tags)]
_STRUCTS = {
    "ClaimRequest": [
        ("TaskID", "taskId", "int64", ["required"]),
        ("AgentID", "agentId", "string", ["required", "uuid4"]),
    ],
    "SubmitRequest": [
        ("ClaimID", "claimId", "string", ["required", "uuid4"]),
        ("Output", "output", "string", ["required"]),
        ("ElapsedMs", "elapsedMs", "int64", ["required", "gt"]),
    ],
    "CompleteRequest": [
        ("TaskID", "taskId", "int64", ["required"]),
        ("SubmissionID", "submissionId", "int64", ["required"]),
    ],
}


class _Abort(Exception):  # noqa: N818
    def __init__(self, status: int, message: str) -> None:
        self.response = _reply({"error": message}, status)


def _handler(method: Callable[[Any, Request], Response]) -> Any:
    def wrapped(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Abort as abort:
            return abort.response

    return wrapped


def _reply(body: Any, status: int = 200) -> Response:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&":  # encoding/json escapes these
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Response(status, text, {"Content-Type": "application/json; charset=utf-8"})


def _now(hours: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(hours=hours)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _syntax(text: str, error: json.JSONDecodeError) -> str:
    if error.pos >= len(text) or "Unterminated" in error.msg:
        return "unexpected EOF"
    where = "looking for beginning of value"
    if "property name" in error.msg:
        where = "looking for beginning of object key string"
    elif "delimiter" in error.msg:
        where = "after object key" + (":value pair" if "','" in error.msg else "")
    return f"invalid character '{text[error.pos]}' {where}"


def _json_type(value: Any) -> str:
    kinds = {bool: "bool", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "number")


def _tag_failed(struct: str, go: str, tag: str) -> str:
    field = f"Error:Field validation for '{go}'"
    return f"Key: '{struct}.{go}' {field} failed on the '{tag}' tag"


def _bind(request: Request, struct: str) -> dict[str, Any]:
    text = request.raw.decode(errors="replace").lstrip()
    if not text:
        raise _Abort(400, "EOF")
    try:
        body, _ = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        raise _Abort(400, _syntax(text, error)) from None
    body = {} if body is None else body
    if not isinstance(body, dict):
        into = f"Go value of type api.{struct}"
        raise _Abort(400, f"json: cannot unmarshal {_json_type(body)} into {into}")
    fields = {name.lower(): (name, kind) for _, name, kind, _ in _STRUCTS[struct]}
    bound: dict[str, Any] = {n: 0 if k == "int64" else "" for n, k in fields.values()}
    for key, value in body.items():
        if key.lower() not in fields or value is None:
            continue
        name, kind = fields[key.lower()]
        got = _json_type(value)
        if got == "number" and kind == "int64" and not isinstance(value, int):
            got = f"number {value}"
        if got != ("number" if kind == "int64" else "string"):
            into = f"Go struct field {struct}.{name} of type {kind}"
            raise _Abort(400, f"json: cannot unmarshal {got} into {into}")
        bound[name] = value
    failed = []
    for go, name, _, tags in _STRUCTS[struct]:
        broken = [tag for tag in tags if not _CHECKS[tag](bound[name])]
        if broken:
            failed.append(_tag_failed(struct, go, broken[0]))
    if failed:
        raise _Abort(400, "\n".join(failed))
    return bound


class GinTeam(Backend):
    """Labels in capitals, by a team of four with a Postgres and a Gin router."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # token -> agent
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}
        self._rows: dict[Any, dict[str, Any]] = {
            number: {
                "id": number,
                "title": title,
                "instructions": "Convert inputText to upper case, nothing else.",
                "inputText": text,
                "rewardCredits": reward,
                "status": "open",
                "createdAt": _now(number - 1060),
            }
            for number, title, text, reward in _TASKS
        }

    def texts(self) -> dict[str, str]:
        return {str(number): text for number, _, text, _ in _TASKS}

    def missing(self, request: Request) -> Response:
        return Response(404, "404 page not found", {"Content-Type": "text/plain"})

    def _auth(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            raise _Abort(401, "missing or invalid bearer token")
        return self._agents[request.token]

    def _row(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["taskId"] not in self._rows:
            raise _Abort(404, "task not found")
        return self._rows[body["taskId"]]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        key, token = str(uuid.uuid4()), f"agt_{uuid.uuid4().hex}"
        self._agents[token] = {"id": key, "credits": 100}
        return _reply({"agent_id": key, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        rows = [row for row in self._rows.values() if row["status"] == "open"]
        return _reply({"tasks": rows, "total": len(rows)})

    def agents(self, request: Request) -> Response:
        return _reply({"agents": [{"id": a["id"]} for a in self._agents.values()]})

    directory = agents

    @_handler
    def tasks(self, request: Request) -> Response:
        self._auth(request)
        window = {"limit": 20, "offset": 0}
        for name in window:  # noqa: PLC0206
            if text := request.query.get(name, ""):
                if not re.fullmatch(r"[+-]?[0-9]+", text):
                    said = f'strconv.ParseInt: parsing "{text}": invalid syntax'
                    raise _Abort(400, said)
                window[name] = int(text)
            low, high = (1, 50) if name == "limit" else (0, 10000)
            if not low <= window[name] <= high:
                tag = "min" if window[name] < low else "max"
                raise _Abort(400, _tag_failed("ListQuery", name.title(), tag))
        rows = list(self._rows.values())[window["offset"] :][: window["limit"]]
        return _reply({"tasks": rows, "total": len(self._rows), **window})

    @_handler
    def claim(self, request: Request) -> Response:
        agent = self._auth(request)
        body = _bind(request, "ClaimRequest")
        if body["agentId"] != agent["id"]:
            raise _Abort(403, "agentId does not belong to this token")
        row = self._row(body)
        if row["status"] != "open":
            raise _Abort(409, f"task is not open (status: {row['status']})")
        row["status"] = "claimed"
        claim = {"id": str(uuid.uuid4()), **body}
        self._claims[claim["id"]] = claim
        self.book.claimed(str(row["id"]))
        return _reply({"claim": {**claim, "expiresAt": _now(2)}})

    @_handler
    def submit(self, request: Request) -> Response:
        agent = self._auth(request)
        body = _bind(request, "SubmitRequest")
        claim = self._claims.get(body["claimId"])
        if not claim or claim["agentId"] != agent["id"]:
            raise _Abort(404, "claim not found")
        row = self._rows[claim["taskId"]]
        if row["status"] != "claimed":
            raise _Abort(409, f"task already {row['status']}")
        if body["output"] != row["inputText"].upper():
            raise _Abort(422, "output rejected: it is not inputText in upper case")
        row["status"] = "submitted"
        number = 501 + len(self._submissions)
        self._submissions[number] = claim
        made = {"id": number, "taskId": row["id"], "status": "accepted"}
        return _reply({"submission": made})

    @_handler
    def complete(self, request: Request) -> Response:
        agent = self._auth(request)
        body = _bind(request, "CompleteRequest")
        row = self._row(body)
        claim = self._submissions.get(body["submissionId"])
        if not claim or (claim["taskId"], claim["agentId"]) != (row["id"], agent["id"]):
            raise _Abort(404, "submission not found")
        if row["status"] != "submitted":
            raise _Abort(409, f"task already {row['status']}")
        row["status"] = "completed"
        agent["credits"] += row["rewardCredits"]
        self.book.pay(str(row["id"]), row["rewardCredits"])
        paid = {"paid": row["rewardCredits"], "balance": agent["credits"]}
        return _reply({"task": row, **paid})
