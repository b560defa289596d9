"""KestrelWorks: a sign maker's small service in C#, on FastEndpoints.

Requests are checked by FluentValidation and refused with FastEndpoints' stock
ErrorResponse; names are camelCase and read without case, identifiers are Guids. An
agent claims, hands in under its assignment, and is paid when it completes the submission.
"""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_JOBS = [
    ("Door plate, reception", "Please ring the bell and wait inside", 12),
    ("Window lettering, bakery", "Fresh bread from seven o'clock", 18),
    ("Warehouse aisle marker", "Aisle 14: pumps, valves & gaskets", 25),
    ("Warning label", "Disconnect mains before opening (230 V)", 31),
    ("Memorial bench", "For Ada, who loved this view", 40),
]
_EMPTY = str(uuid.UUID(int=0))
_DEFAULTS = {"guid": _EMPTY, "int": 0, "bool": False, "string": None}
_INT = "Either the JSON value is not in a supported format, "
_INT += "or is out of bounds for an Int32."
_KINDS = {
    "bool": ("boolean", ("True", "False"), ""),
    "int": ("number", ("Number", "String"), _INT),
    "guid": (
        "string",
        ("String",),
        "The JSON value is not in a supported Guid format.",
    ),
    "string": ("string", ("String", "Null"), ""),
}
_TOKENS = {str: "String", list: "StartArray", dict: "StartObject", type(None): "Null"}


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, body: Any = b"", **headers: str) -> None:
        self.response = Response(status, body, headers)


def _errors(errors: dict[str, list[str]], status: int = 400) -> _Refusal:
    body = {"statusCode": status, "message": "One or more errors occurred!"}
    headers = {"Content-Type": "application/problem+json; charset=utf-8"}
    return _Refusal(status, {**body, "errors": errors}, **headers)


def _general(message: str, status: int) -> _Refusal:
    return _errors({"generalErrors": [message]}, status)


def _ok(body: Any) -> Response:
    return Response(200, body, {"Content-Type": "application/json; charset=utf-8"})


def _now(minutes: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


def _convert(name: str, kind: str, value: Any) -> Any:
    """Read one value as System.Text.Json reads it with the web defaults."""
    number = str(value) if isinstance(value, bool) else "Number"
    token = _TOKENS.get(type(value), number)
    clr, tokens, wrong = _KINDS[kind]
    if token not in tokens:
        text = f"Cannot get the value of a token type '{token}' as a {clr}."
        raise _errors({name: [text]})
    try:
        if kind == "guid":
            return str(uuid.UUID(value))
        return int(str(value)) if kind == "int" else value
    except ValueError:
        raise _errors({name: [wrong]}) from None


def _bind(request: Request, kinds: dict[str, str]) -> dict[str, Any]:
    try:
        body = request.json() if request.raw.strip() else {}
    except ValueError:
        body = None
    if not isinstance(body, dict):
        text = "The JSON value could not be converted to the request type. Path: $"
        raise _errors({"serializerErrors": [text]})
    given = {str(name).lower(): value for name, value in body.items()}
    read = {name: _DEFAULTS[kind] for name, kind in kinds.items()}
    for name in read:
        if name.lower() in given:
            read[name] = _convert(name, kinds[name], given[name.lower()])
    return read


def _validate(fields: dict[str, Any], rules: dict[str, Any]) -> None:
    """Apply FluentValidation's rules: a range, a least length, or the kind's own."""
    errors: dict[str, list[str]] = {}
    for name, value in fields.items():
        rule, text = rules.get(name), ""
        words = "".join(" " + c if c.isupper() else c for c in name)
        shown = f"'{words[0].upper()}{words[1:]}'"
        if isinstance(rule, tuple):
            low, high = rule
            if not low <= value <= high:
                text = f"{shown} must be between {low} and {high}. You entered {value}."
        elif value is False:
            text = f"{shown} must be equal to 'True'."
        elif value in (None, _EMPTY) or not str(value).strip():
            text = f"{shown} must not be empty."
        elif rule and len(value) < rule:
            text = f"The length of {shown} must be at least {rule} characters. "
            text += f"You entered {len(value)} characters."
        if text:
            errors[name] = [text]
    if errors:
        raise _errors(errors)


def _endpoint(
    rules: dict[str, Any], **kinds: str
) -> Callable[[Any], Callable[..., Response]]:
    """Route, authenticate, bind and validate, in ASP.NET's order, then answer."""

    def decorate(answer: Any) -> Callable[..., Response]:
        def run(self: Any, request: Request) -> Response:
            media = (request.headers.get("Content-Type") or "").split(";")[0].strip()
            agent = self._agents.get(request.token)
            try:
                if request.method == "POST" and media.lower() != "application/json":
                    raise _Refusal(415)
                if agent is None:
                    why = 'Bearer error="invalid_token"' if request.token else "Bearer"
                    raise _Refusal(401, **{"WWW-Authenticate": why})
                if not kinds:
                    return _ok(answer(self, request, agent))
                fields = _bind(request, kinds)
                _validate(fields, rules)
                return _ok(answer(self, agent, **fields))
            except _Refusal as refusal:
                return refusal.response

        return run

    return decorate


class KestrelWorks(Backend):
    """The network of the sign maker."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, Any] = {}  # by token
        self._tasks: dict[str, Any] = {}
        self._assignments, self._submissions = dict[str, Any](), dict[str, Any]()
        for number, (title, text, reward) in enumerate(_JOBS, 1041):
            key = str(uuid.uuid4())
            self._tasks[key] = {
                "id": key,
                "reference": f"SGN-{number}",
                "title": title,
                "brief": "Set sourceText in capital letters. Change nothing else.",
                "sourceText": text,
                "reward": {"amount": reward, "currency": "credits"},
                "status": "Open",
            }

    def texts(self) -> dict[str, str]:
        return {key: task["sourceText"] for key, task in self._tasks.items()}

    def _open(self) -> list[Any]:
        return [dict(t) for t in self._tasks.values() if t["status"] == "Open"]

    def missing(self, request: Request) -> Response:
        allow = [method for method, path in ACTIONS if path == request.path]
        return Response(405, b"", {"Allow": allow[0]}) if allow else Response(404)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        key, token = str(uuid.uuid4()), uuid.uuid4().hex + uuid.uuid4().hex
        self._agents[token] = {"id": key, "credits": 100}
        return _ok({"agent_id": key, "access_token": token, "credits": 100})

    def agents(self, request: Request) -> Response:
        return _ok({"items": [{"id": a["id"]} for a in self._agents.values()]})

    directory = agents

    @_endpoint({})
    def post(self, request: Request, agent: Any) -> Any:
        raise _Refusal(403)  # the policy asks for a paid plan

    checkout = post

    @_endpoint({})
    def tasks(self, request: Request, agent: Any) -> Any:
        numbers = {"limit": 5, "page": 1}
        for name in numbers.keys() & request.query.keys():
            try:
                numbers[name] = int(request.query[name])
            except ValueError:
                text = f"Value [{request.query[name]}] is not valid for a [Int32] "
                raise _errors({name: [text + "property!"]}) from None
        _validate(numbers, {"limit": (1, 25), "page": (1, 1000)})
        limit, page = numbers["limit"], numbers["page"]
        free = self._open()
        more = {"totalCount": len(free), "hasNextPage": page * limit < len(free)}
        items = free[(page - 1) * limit : page * limit]
        return {"items": items, "page": page, "pageSize": limit, **more}

    def marketplace(self, request: Request) -> Response:
        return _ok({"items": self._open(), "totalCount": len(self._open())})

    @_endpoint({"estimatedMinutes": (5, 480)}, taskId="guid", estimatedMinutes="int")
    def claim(self, agent: Any, taskId: str, estimatedMinutes: int) -> Any:
        task = self._tasks.get(taskId)
        if task is None:
            raise _general(f"Task '{taskId}' was not found.", 404)
        if task["status"] != "Open":
            raise _general(f"Task {task['reference']} is no longer open.", 409)
        mine = [a for a in self._assignments.values() if a["agentId"] == agent["id"]]
        if sum(a["status"] == "Active" for a in mine) >= 3:
            raise _general("An agent may hold at most 3 active assignments.", 409)
        key, task["status"] = str(uuid.uuid4()), "Assigned"
        held = {"assignmentId": key, "taskId": taskId, "agentId": agent["id"]}
        held |= {"status": "Active", "dueAt": _now(estimatedMinutes)}
        self._assignments[key] = held
        self.book.claimed(taskId)
        return held

    def _own(self, store: Any, kind: str, key: str, agent: Any) -> Any:
        if store.get(key, {}).get("agentId") != agent["id"]:
            raise _general(f"{kind} '{key}' was not found.", 404)
        return store[key]

    @_endpoint({"notes": 10}, assignmentId="guid", resultText="string", notes="string")
    def submit(self, agent: Any, assignmentId: str, resultText: str, notes: str) -> Any:
        held = self._own(self._assignments, "Assignment", assignmentId, agent)
        if held["status"] != "Active":
            raise _general("A result was already submitted for this assignment.", 409)
        if resultText != self._tasks[held["taskId"]]["sourceText"].upper():
            raise _errors({"resultText": ["The text is not sourceText in capitals."]})
        key, held["status"] = str(uuid.uuid4()), "Submitted"
        self._submissions[key] = held
        return {"submissionId": key, "status": "Submitted", "submittedAt": _now()}

    @_endpoint({}, submissionId="guid", confirmDelivery="bool")
    def complete(self, agent: Any, submissionId: str, confirmDelivery: bool) -> Any:  # noqa: FBT001
        held = self._own(self._submissions, "Submission", submissionId, agent)
        if held["status"] != "Submitted":
            raise _general("This submission was already completed.", 409)
        task = self._tasks[held["taskId"]]
        held["status"], task["status"] = "Completed", "Completed"
        agent["credits"] += task["reward"]["amount"]
        self.book.pay(task["id"], task["reward"]["amount"])
        paid = {"payout": task["reward"], "balance": agent["credits"]}
        return {"taskId": task["id"], "status": "Completed", **paid}
