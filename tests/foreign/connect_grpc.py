"""A start-up's Go service behind gRPC-gateway: google.rpc.Status with details.

Resource names, protojson (int64 in quotes, enums by name, durations as "600s"), unknown
fields discarded. Submitting the right result pays; completing closes the assignment.
"""

import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_HTTP = {3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 12: 501, 16: 401}
_DOMAIN = "labor.tillerwork.dev"
_MOST_ACTIVE = 3
_ASSIGNMENT = "tasks/{task}/assignments/{assignment}"
_WORK = [
    ("7c1f0a", "Uppercase release name", "quiet otter", 14),
    ("b20e94", "Uppercase dock sign", "deliveries at gate four", 27),
    ("19d3e8", "Uppercase column header", "net weight in grams", 8),
    ("e5a760", "Uppercase alert text", "disk usage above ninety percent", 33),
    ("4488fc", "Uppercase menu entry", "crème brûlée with berries", 19),
]


def _now(seconds: int = 0) -> str:
    return f"{datetime.now(UTC) + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


class _Status(Exception):  # noqa: N818
    """A status error, as status.New(...).WithDetails(...) makes it."""

    def __init__(self, code: int, message: str, kind: str = "", **detail: Any) -> None:
        super().__init__(message)
        type_ = {"@type": f"type.googleapis.com/google.rpc.{kind}"}
        body: dict[str, Any] = {"code": code, "message": message}
        body |= {"details": [type_ | detail] if kind else []}
        self.response = Response(_HTTP[code], body)


def _info(reason: str) -> dict[str, Any]:
    return {"kind": "ErrorInfo", "reason": reason, "domain": _DOMAIN, "metadata": {}}


def _precondition(message: str, type_: str, subject: str) -> _Status:
    why = {"type": type_, "subject": subject, "description": message}
    return _Status(9, message, "PreconditionFailure", violations=[why])


def _not_found(kind: str, name: str) -> _Status:
    of = {"resourceType": f"{_DOMAIN}/{kind.capitalize()}", "resourceName": name}
    of |= {"owner": "", "description": ""}
    return _Status(5, f'{kind} "{name}" not found', "ResourceInfo", **of)


def _proto(request: Request, fields: dict[str, str]) -> dict[str, Any]:  # noqa: PLR0915
    """Read a body into a message as protojson does; absent fields are zero values."""
    text = request.raw.decode(errors="replace")
    message: dict[str, Any] = dict.fromkeys(fields, "")
    if not text.strip():
        return message
    try:
        body = json.loads(text)
    except ValueError as e:
        at = getattr(e, "pos", 0)
        why = f"syntax error (line 1:{at + 1}): unexpected token {text[at:][:9]}"
        raise _Status(3, f"proto: {why}") from e
    if not isinstance(body, dict):
        raise _Status(3, f"proto: syntax error (line 1:1): unexpected token {text[0]}")

    def read(into: dict[str, Any], source: dict[str, Any], prefix: str) -> None:
        for given, value in source.items():
            name = prefix + re.sub("[A-Z]", lambda m: "_" + m[0].lower(), given)
            if name not in fields or value is None:
                continue
            written = json.dumps(value, ensure_ascii=False)
            at = f"(line 1:{text.find(json.dumps(given)) + len(given) + 5})"
            if fields[name] == "message":
                if not isinstance(value, dict):
                    why = f"syntax error {at}: unexpected token {written}"
                    raise _Status(3, f"proto: {why}")
                read(into, value, name + ".")
            elif not isinstance(value, str):
                why = f"invalid value for string field {given}: {written}"
                if fields[name] == "duration":
                    why = f"unexpected token {written}"
                raise _Status(3, f"proto: {at}: {why}")
            elif fields[name] == "duration" and not re.fullmatch(r"-?[0-9]+s", value):
                why = f"invalid google.protobuf.Duration value {written}"
                raise _Status(3, f"proto: {at}: {why}")
            else:
                into[name] = value

    read(message, body, "")
    return message


def _validate(violations: dict[str, str]) -> None:
    """Refuse a message with every violation that was found."""
    found = [{"field": f, "description": d} for f, d in violations.items() if d]
    if found:
        why = "request has invalid fields"
        raise _Status(3, why, "BadRequest", fieldViolations=found)


def _name(value: str, pattern: str) -> str:
    if not value:
        return "value is required"
    shape = re.sub(r"\{\w+\}", "[^/]+", pattern)
    return "" if re.fullmatch(shape, value) else f'must have the form "{pattern}"'


def _rpc(run: Callable[[Any, str, Request], Any]) -> Any:
    """Put a method behind the token and turn a status into the gateway's answer."""

    def call(self: Any, request: Request) -> Response:
        try:
            agent = self._tokens.get(request.token)
            if agent is None:
                why = ("invalid" if request.token else "missing") + " bearer token"
                raise _Status(16, why, **_info("ACCESS_TOKEN_INVALID"))
            return Response(200, run(self, agent, request))
        except _Status as e:
            return e.response

    return call


class GrpcGateway(Backend):
    """A Go service behind gRPC-gateway."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks: dict[str, dict[str, Any]] = {}
        for id_, title, text, credits_ in _WORK:
            task = {"name": f"tasks/{id_}", "displayName": title, "inputText": text}
            self._tasks[f"tasks/{id_}"] = task | {
                "instructions": "Answer with inputText in upper case.",
                "state": "TASK_STATE_OPEN",
                "rewardCredits": str(credits_),
                "createTime": "2025-02-11T08:00:00Z",
            }
        self._tokens: dict[str, str] = {}
        self._assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {k: t["inputText"] for k, t in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Return the gateway's answer to a route that it does not have."""
        return _Status(5, "Not Found").response

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        name, token = f"agents/{secrets.token_hex(6)}", secrets.token_urlsafe(32)
        self._tokens[token] = name
        return Response(200, {"agent_id": name, "access_token": token, "credits": 100})

    def _list(self, request: Request) -> Response:
        size = request.query.get("limit", "0")
        if not re.fullmatch(r"-?[0-9]+", size):
            why = f'error: strconv.ParseInt: parsing "{size}": invalid syntax'
            return _Status(3, f"type mismatch, parameter: limit, {why}").response
        token = request.query.get("pageToken") or request.query.get("page_token") or ""
        if token and token not in {t.encode().hex() for t in self._tasks}:
            return _Status(3, "invalid page token").response
        names = list(self._tasks)
        start = names.index(bytes.fromhex(token).decode()) if token else 0
        left = [self._tasks[n] for n in names[start:]]
        left = [t for t in left if t["state"] == "TASK_STATE_OPEN"]
        count = min(max(int(size), 0) or 25, 100)
        after = left[count]["name"].encode().hex() if len(left) > count else ""
        return Response(200, {"tasks": left[:count], "nextPageToken": after})

    tasks = marketplace = _list  # both are public

    @_rpc
    def claim(self, agent: str, request: Request) -> Any:
        """Assign a task: {task, leaseDuration}."""
        body = _proto(request, {"task": "string", "lease_duration": "duration"})
        lease = body["lease_duration"]
        ok = lease and 60 <= int(lease[:-1]) <= 3600
        bounds = 'value is required and must be between "60s" and "3600s"'
        wrong = _name(body["task"], "tasks/{task}")
        _validate({"task": wrong, "lease_duration": "" if ok else bounds})
        task = self._tasks.get(body["task"])
        if task is None:
            raise _not_found("task", body["task"])
        if task["state"] != "TASK_STATE_OPEN":
            why = f"task is in state {task['state']}, want TASK_STATE_OPEN"
            raise _precondition(why, "TASK_STATE", task["name"])
        mine = [a for a in self._assignments.values() if a["assignee"] == agent]
        states = [a["state"] for a in mine]
        if states.count("ASSIGNMENT_STATE_ACTIVE") >= _MOST_ACTIVE:
            why = f"at most {_MOST_ACTIVE} active assignments per agent"
            over = {"subject": agent, "description": why}
            raise _Status(8, why, "QuotaFailure", violations=[over])
        task["state"] = "TASK_STATE_ASSIGNED"
        self.book.claimed(task["name"])
        name = f"{task['name']}/assignments/{secrets.token_hex(4)}"
        self._assignments[name] = {"name": name, "assignee": agent} | {
            "state": "ASSIGNMENT_STATE_ACTIVE",
            "expireTime": _now(int(lease[:-1])),
            "settlement": None,
        }
        return self._assignments[name]

    def _assignment(self, agent: str, name: str, state: str) -> dict[str, Any]:
        found = self._assignments.get(name)
        if found is None or found["assignee"] != agent:
            raise _not_found("assignment", name)
        if found["state"] != f"ASSIGNMENT_STATE_{state}":
            why = f"assignment is in {found['state']}, want ASSIGNMENT_STATE_{state}"
            raise _precondition(why, "ASSIGNMENT_STATE", name)
        return found

    @_rpc
    def submit(self, agent: str, request: Request) -> Any:
        """Verify and pay: {assignment, artifact: {text}}."""
        kinds = {"assignment": "string", "artifact": "message"}
        body = _proto(request, kinds | {"artifact.text": "string"})
        text = body["artifact.text"]
        wrong = "" if text else "value is required"
        name = _name(body["assignment"], _ASSIGNMENT)
        _validate({"assignment": name, "artifact.text": wrong})
        found = self._assignment(agent, body["assignment"], "ACTIVE")
        task = self._tasks[found["name"].partition("/assignments")[0]]
        if text != task["inputText"].upper():
            raise _Status(9, "artifact failed verification", **_info("MISMATCH"))
        found["state"] = "ASSIGNMENT_STATE_VERIFIED"
        task["state"] = "TASK_STATE_DONE"
        self.book.pay(task["name"], int(task["rewardCredits"]))
        found["settlement"] = {"credits": task["rewardCredits"], "settleTime": _now()}
        return found

    @_rpc
    def complete(self, agent: str, request: Request) -> Any:
        """Close a verified assignment: {name}."""
        body = _proto(request, {"name": "string"})
        _validate({"name": _name(body["name"], _ASSIGNMENT)})
        found = self._assignment(agent, body["name"], "VERIFIED")
        found["state"] = "ASSIGNMENT_STATE_CLOSED"
        return found
