"""CrewBoard: a start-up's Express service, every body parsed by a strict zod 3 schema.

Camel case, `{success, data}` around everything, cuids, a cursor, and pay on completion.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import random
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_UNDEFINED = object()
_Check = Callable[[Any, list[Any]], list[dict[str, Any]]]
_WORK = [
    ("Shout the release note", "Version 4.2 ships with faster cold starts.", 25),
    ("Headline for the landing page", "Hire a crew of agents in minutes", 40),
    ("Normalise a SKU", "crw-board-0042-b", 10),
    ("Banner for the status page", "All systems operational since Monday", 30),
    ("Poster line", "Less busywork, more coffee!", 15),
    ("Label for the parcel", "fragile: handle with care (2 of 3)", 55),
]


def _cuid(rng: Any = secrets.SystemRandom()) -> str:  # noqa: B008
    letters = "0123456789abcdefghijklmnopqrstuvwxyz"
    return "cm" + "".join(rng.choice(letters) for _ in range(23))


def _now(minutes: int = 0) -> str:
    at = datetime.now(UTC) + timedelta(minutes=minutes)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _typeof(value: Any) -> str:
    if value is _UNDEFINED or value is None:
        return "null" if value is None else "undefined"
    names = {bool: "boolean", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "number")


def _issue(code: str, path: list[Any], message: str, **more: Any) -> dict[str, Any]:
    return {"code": code, **more, "path": path, "message": message}


def _wrong_type(expected: str, value: Any, path: list[Any]) -> list[dict[str, Any]]:
    got = _typeof(value)
    said = "Required" if got == "undefined" else f"Expected {expected}, received {got}"
    return [_issue("invalid_type", path, said, expected=expected, received=got)]


def _string(least: int = 0, cuid: bool = False) -> _Check:  # noqa: FBT001, FBT002
    def check(value: Any, path: list[Any]) -> list[dict[str, Any]]:
        if not isinstance(value, str):
            return _wrong_type("string", value, path)
        if cuid and not re.fullmatch(r"c[^\s-]{8,}", value, re.IGNORECASE):
            return [_issue("invalid_string", path, "Invalid cuid", validation="cuid")]
        if len(value) >= least:
            return []
        rest = {"minimum": least, "type": "string", "inclusive": True, "exact": False}
        return [
            _issue(
                "too_small",
                path,
                f"String must contain at least {least} character(s)",
                **rest,
            )
        ]

    return check


def _true(value: Any, path: list[Any]) -> list[dict[str, Any]]:
    got = {} if value is _UNDEFINED else {"received": value}
    said = "Invalid literal value, expected true"
    issue = _issue("invalid_literal", path, said, expected=True, **got)
    return [] if value is True else [issue]


def _enum(*options: str) -> _Check:
    listed = " | ".join(f"'{one}'" for one in options)

    def check(value: Any, path: list[Any]) -> list[dict[str, Any]]:
        if value in options or not isinstance(value, str):
            return [] if value in options else _wrong_type(listed, value, path)
        said = f"Invalid enum value. Expected {listed}, received '{value}'"
        return [
            _issue("invalid_enum_value", path, said, received=value, options=options)
        ]

    return check


def _object(**shape: _Check) -> _Check:
    def check(value: Any, path: list[Any]) -> list[dict[str, Any]]:
        if not isinstance(value, dict):
            return _wrong_type("object", value, path)
        found = []
        for name, one in shape.items():
            found += one(value.get(name, _UNDEFINED), [*path, name])
        if extra := [name for name in value if name not in shape]:
            said = "Unrecognized key(s) in object: " + ", ".join(
                f"'{name}'" for name in extra
            )
            found.append(_issue("unrecognized_keys", path, said, keys=extra))
        return found

    return check


_ID = _string(cuid=True)
_CLAIM = _object(taskId=_ID, agentId=_ID, acceptTerms=_true)
_DELIVERABLE = _object(format=_enum("text", "markdown"), content=_string(1))
_SUBMIT = _object(claimId=_ID, deliverable=_DELIVERABLE, summary=_string(10))
_COMPLETE = _object(submissionId=_ID)


def _answer(status: int, body: Any) -> Response:
    return Response(status, body, {"X-Powered-By": "Express"})


def _ok(data: Any, **more: Any) -> Response:
    return _answer(200, {"success": True, "data": data, **more})


def _no(status: int, code: str, message: str, **more: Any) -> Response:
    return _answer(
        status, {"success": False, "error": {"code": code, "message": message, **more}}
    )


class CrewBoard(Backend):
    """Express and zod."""

    def __init__(self) -> None:
        super().__init__()
        rng = random.Random(42)  # noqa: S311
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, text, reward in _WORK:
            told = "Convert inputText to upper case. Deliver only the converted text."
            task = {"id": _cuid(rng), "title": title, "description": told}
            task |= {"inputText": text, "rewardCredits": reward, "status": "OPEN"}
            self._tasks[task["id"]] = task | {"createdAt": _now(-90)}

    def texts(self) -> dict[str, str]:
        return {key: task["inputText"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        page = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        page += "<title>Error</title>\n</head>\n<body>\n<pre>Cannot "
        page += f"{request.method} {request.path}</pre>\n</body>\n</html>\n"
        kind = "text/html; charset=utf-8"
        return Response(404, page, {"Content-Type": kind, "X-Powered-By": "Express"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"id": _cuid(), "credits": 100, "createdAt": _now()}
        token = "cb_live_" + secrets.token_hex(20)
        self._agents[token] = agent
        return _answer(
            200, {"agent_id": agent["id"], "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        said = request.query.get("limit", "5")
        rest: dict[str, Any] = {"type": "number", "inclusive": True, "exact": False}
        if not re.fullmatch(r"-?\d+", said):
            rest = {"code": "invalid_type", "expected": "number", "received": "nan"}
            rest["message"] = "Expected number, received nan"
        elif int(said) > 50:
            rest |= {"code": "too_big", "maximum": 50}
            rest["message"] = "Number must be less than or equal to 50"
        elif int(said) < 1:
            rest |= {"code": "too_small", "minimum": 1}
            rest["message"] = "Number must be greater than or equal to 1"
        if "code" in rest:
            return _no(
                400,
                "VALIDATION_ERROR",
                "Invalid query parameters",
                issues=[_issue(path=["limit"], **rest)],
            )
        keys = list(self._tasks)
        cursor = request.query.get("cursor", "")
        if cursor and cursor not in keys:
            return _no(400, "INVALID_CURSOR", "Invalid cursor")
        start = keys.index(cursor) if cursor else 0
        following = [
            key for key in keys[start:] if self._tasks[key]["status"] == "OPEN"
        ]
        page, after = following[: int(said)], following[int(said) :]
        info = {"nextCursor": after[0] if after else None, "hasMore": bool(after)}
        return _ok([self._tasks[key] for key in page], pageInfo=info)

    marketplace = tasks

    def _parse(self, request: Request, schema: _Check) -> tuple[dict[str, Any], Any]:
        agent = self._agents.get(request.token)
        if agent is None:
            said = (
                "Invalid access token"
                if request.token
                else "Missing Authorization header"
            )
            return {}, _no(401, "UNAUTHORIZED", said)
        body: Any = {}  # express.json() leaves other media types alone
        if request.raw and request.headers.get_content_type() == "application/json":
            try:
                body = request.json()
            except ValueError:
                raw = request.raw.decode(errors="replace")
                said = f"Unexpected token '{raw[0]}', {json.dumps(raw[:10])}"
                return {}, _no(400, "INVALID_JSON", f"{said}... is not valid JSON")
        if issues := schema(body, []):
            return {}, _no(
                400, "VALIDATION_ERROR", "Invalid request body", issues=issues
            )
        return agent, body

    def claim(self, request: Request) -> Response:
        agent, body = self._parse(request, _CLAIM)
        if isinstance(body, Response):
            return body
        if body["agentId"] != agent["id"]:
            return _no(403, "FORBIDDEN", "agentId does not match the access token")
        task = self._tasks.get(body["taskId"])
        if task is None:
            return _no(404, "TASK_NOT_FOUND", "Task not found")
        if task["status"] != "OPEN":
            return _no(409, "TASK_NOT_OPEN", f"Task is {task['status']}")
        task["status"] = "CLAIMED"
        claim = {"id": _cuid(), "taskId": task["id"], "agentId": agent["id"]}
        claim |= {"status": "ACTIVE", "expiresAt": _now(30)}
        self._claims[claim["id"]] = claim
        self.book.claimed(task["id"])
        return _ok({"claim": claim})

    def submit(self, request: Request) -> Response:
        agent, body = self._parse(request, _SUBMIT)
        if isinstance(body, Response):
            return body
        claim = self._claims.get(body["claimId"])
        if claim is None or claim["agentId"] != agent["id"]:
            return _no(404, "CLAIM_NOT_FOUND", "Claim not found")
        if claim["status"] != "ACTIVE":
            return _no(409, "CLAIM_NOT_ACTIVE", f"Claim is {claim['status']}")
        task = self._tasks[claim["taskId"]]
        if body["deliverable"]["content"] != task["inputText"].upper():
            return _no(
                422,
                "DELIVERABLE_REJECTED",
                "Deliverable content did not pass the automatic check",
            )
        claim["status"] = task["status"] = "SUBMITTED"
        made = {"id": _cuid(), "claimId": claim["id"], "status": "APPROVED"}
        self._submissions[made["id"]] = made
        return _ok({"submission": made | {"createdAt": _now()}})

    def complete(self, request: Request) -> Response:
        agent, body = self._parse(request, _COMPLETE)
        if isinstance(body, Response):
            return body
        made = self._submissions.get(body["submissionId"])
        claim = self._claims[made["claimId"]] if made else None
        if claim is None or claim["agentId"] != agent["id"]:
            return _no(404, "SUBMISSION_NOT_FOUND", "Submission not found")
        task = self._tasks[claim["taskId"]]
        if task["status"] == "COMPLETED":
            return _no(409, "ALREADY_COMPLETED", "Task is already completed")
        claim["status"] = task["status"] = "COMPLETED"
        agent["credits"] += task["rewardCredits"]
        self.book.pay(task["id"], task["rewardCredits"])
        payout = {"amount": task["rewardCredits"], "newBalance": agent["credits"]}
        return _ok({"task": task, "payout": payout})
