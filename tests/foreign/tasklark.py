"""Tasklark: a start-up's task board, FastAPI with Pydantic v2 models."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_WORK = [
    ("Shouting headline", "storm closes the coastal road until friday", 12),
    ("Label for a shelf", "dried apricots, 500 g", 5),
    ("Banner text", "welcome back, class of ninety-four!", 20),
    ("Sign at the gate", "please ring the bell twice", 8),
    ("Subject line", "your parcel leaves our depot today", 15),
    ("Ticker entry", "rates unchanged; bonds steady", 9),
    ("Poster", "open rehearsal on the market square", 30),
]
_NO_STRING = "Input should be a valid string"


class _HTTPException(Exception):  # noqa: N818
    def __init__(self, status: int, detail: Any, headers: dict[str, str] | None = None):  # noqa: ANN204
        self.response = Response(status, {"detail": detail}, headers or {})


def _iso(minutes: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=minutes)
    return moment.isoformat().replace("+00:00", "Z")


class _Invalid:
    """Collects a request's validation errors as Pydantic words them."""

    def __init__(self) -> None:
        self.errors: list[dict[str, Any]] = []

    def add(
        self, kind: str, loc: list[Any], msg: str, given: Any, ctx: Any = None
    ) -> None:
        error = {"type": kind, "loc": loc, "msg": msg, "input": given}
        self.errors.append(error if ctx is None else {**error, "ctx": ctx})

    def check(self) -> None:
        if self.errors:
            raise _HTTPException(422, self.errors)

    def model(self, value: Any, loc: list[Any]) -> bool:
        if not isinstance(value, dict):
            message = (
                "Input should be a valid dictionary or object to extract fields from"
            )
            self.add("model_attributes_type", loc, message, value)
        return isinstance(value, dict)

    def has(self, data: dict[str, Any], name: str, loc: list[Any]) -> bool:
        if name not in data:
            self.add("missing", [*loc, name], "Field required", data)
        return name in data

    def uuid(self, data: dict[str, Any], name: str) -> str:
        if not self.has(data, name, ["body"]):
            return ""
        value, loc = data[name], ["body", name]
        if not isinstance(value, str):
            message = "UUID input should be a string, bytes or UUID object"
            self.add("uuid_type", loc, message, value)
            return ""
        try:
            return str(uuid.UUID(value))
        except ValueError:
            why = f"invalid length: expected length 32 for simple format, found {len(value)}"
            if bad := re.search(r"[^0-9a-fA-F-]", value):
                why = "invalid character: expected an optional prefix of `urn:uuid:` followed by "
                why += f"[0-9a-fA-F-], found `{bad.group()}` at {bad.start() + 1}"
            message = f"Input should be a valid UUID, {why}"
            self.add("uuid_parsing", loc, message, value, {"error": why})
            return ""

    def integer(self, value: Any, loc: list[Any], low: int, high: int) -> int:
        message = "Input should be a valid integer"
        if isinstance(value, str) and not re.fullmatch(
            r"\s*[+-]?\d{1,18}(\.0+)?\s*", value
        ):
            self.add(
                "int_parsing",
                loc,
                f"{message}, unable to parse string as an integer",
                value,
            )
        elif isinstance(value, float) and value % 1:
            message += ", got a number with a fractional part"
            self.add("int_from_float", loc, message, value)
        elif not isinstance(value, (int, float, str)):
            self.add("int_type", loc, message, value)
        elif (number := int(float(value))) < low:
            message = f"Input should be greater than or equal to {low}"
            self.add("greater_than_equal", loc, message, value, {"ge": low})
        elif number > high:
            message = f"Input should be less than or equal to {high}"
            self.add("less_than_equal", loc, message, value, {"le": high})
        else:
            return number
        return 0


def _endpoint(method: Any) -> Any:
    def answer(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request))
        except _HTTPException as error:
            return error.response

    return answer


class Tasklark(Backend):
    """Claims by task, submissions by claim; completing a submission pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, Any] = {}
        self._submissions: dict[str, Any] = {}
        self._replies: dict[tuple[str, str], Any] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for number, (title, text, reward) in enumerate(_WORK):
            key = str(uuid.uuid4())
            self._tasks[key] = {
                "id": key,
                "title": title,
                "input_text": text,
                "reward": reward,
                "description": "Return input_text converted to upper case, nothing else.",
                "status": "open",
                "created_at": _iso(-180 * number - 47),
            }

    def texts(self) -> dict[str, str]:
        return {key: task["input_text"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        for (method, path), action in ACTIONS.items():
            if (
                path == request.path
                and hasattr(self, action)
                and method != request.method
            ):
                return Response(
                    405, {"detail": "Method Not Allowed"}, {"Allow": method}
                )
        return Response(404, {"detail": "Not Found"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "tlk_" + secrets.token_urlsafe(24)
        self._agents[token] = {"agent_id": str(uuid.uuid4()), "credits": 100}
        return Response(
            200, {**self._agents[token], "access_token": token, "created_at": _iso()}
        )

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            why = (
                "Could not validate credentials"
                if request.token
                else "Not authenticated"
            )
            raise _HTTPException(401, why, {"WWW-Authenticate": "Bearer"})
        return self._agents[request.token]

    def _body(self, request: Request) -> tuple[dict[str, Any], Any, _Invalid]:
        """Return agent, body and the errors so far, in the order FastAPI looks at them."""
        body: Any = None
        kind = (
            request.headers.get("Content-Type", "application/json")
            .split(";")[0]
            .strip()
        )
        if request.raw and (kind == "application/json" or kind.endswith("+json")):
            try:
                body = json.loads(request.raw.decode(errors="replace"))
            except json.JSONDecodeError as error:
                wrong, at, why = _Invalid(), ["body", error.pos], {"error": error.msg}
                wrong.add("json_invalid", at, "JSON decode error", {}, why)
                wrong.check()
        elif request.raw:
            body = request.raw.decode(errors="replace")
        agent, invalid = self._agent(request), _Invalid()
        if "complete" in request.path and "Idempotency-Key" not in request.headers:
            invalid.add(
                "missing", ["header", "idempotency-key"], "Field required", None
            )
        if body is None:
            invalid.add("missing", ["body"], "Field required", None)
        elif invalid.model(body, ["body"]):
            return agent, body, invalid
        raise _HTTPException(422, invalid.errors)

    @_endpoint
    def tasks(self, request: Request) -> Any:
        if request.path.endswith("tasks"):  # the marketplace needs no token
            self._agent(request)
        invalid = _Invalid()
        limit = invalid.integer(
            request.query.get("limit", 20), ["query", "limit"], 1, 50
        )
        offset = invalid.integer(
            request.query.get("offset", 0), ["query", "offset"], 0, 10**9
        )
        invalid.check()
        items = [task for task in self._tasks.values() if task["status"] == "open"]
        page = items[offset : offset + limit]
        return {"items": page, "total": len(items), "limit": limit, "offset": offset}

    marketplace = tasks

    @_endpoint
    def claim(self, request: Request) -> Any:
        agent, body, invalid = self._body(request)
        key, at = invalid.uuid(body, "task_id"), ["body", "estimated_minutes"]
        if invalid.has(body, "estimated_minutes", ["body"]):
            minutes = invalid.integer(body["estimated_minutes"], at, 1, 240)
        invalid.check()
        if (task := self._tasks.get(key)) is None:
            raise _HTTPException(404, "Task not found")
        if task["status"] != "open":
            raise _HTTPException(409, f"Task is not open (status: {task['status']})")
        task["status"] = "claimed"
        new, owner = str(uuid.uuid4()), agent["agent_id"]
        self._claims[new] = {
            "id": new,
            "task_id": key,
            "agent_id": owner,
            "status": "active",
        }
        self.book.claimed(key)
        return {**self._claims[new], "expires_at": _iso(minutes)}

    @_endpoint
    def submit(self, request: Request) -> Any:
        agent, body, invalid = self._body(request)
        key, at, output = (
            invalid.uuid(body, "claim_id"),
            ["body", "output"],
            body.get("output"),
        )
        if invalid.has(body, "output", ["body"]) and invalid.model(output, at):
            kind, content = output.get("format"), output.get("content")
            if invalid.has(output, "format", at) and kind not in (
                "text",
                "markdown",
                "json",
            ):
                names = "'text', 'markdown' or 'json'"
                message, ctx = f"Input should be {names}", {"expected": names}
                invalid.add("literal_error", [*at, "format"], message, kind, ctx)
            if invalid.has(output, "content", at) and not isinstance(content, str):
                invalid.add("string_type", [*at, "content"], _NO_STRING, content)
        invalid.check()
        if (claim := self._claims.get(key)) is None:
            raise _HTTPException(404, "Claim not found")
        if claim["agent_id"] != agent["agent_id"]:
            raise _HTTPException(403, "Not enough permissions")
        if claim["status"] != "active":
            raise _HTTPException(
                409, f"Claim is not active (status: {claim['status']})"
            )
        if content != self._tasks[claim["task_id"]]["input_text"].upper():
            raise _HTTPException(
                400, "Output rejected: content is not the expected result"
            )
        claim["status"] = "submitted"
        new = str(uuid.uuid4())
        self._submissions[new] = {"id": new, "claim_id": key, "status": "accepted"}
        return self._submissions[new]

    @_endpoint
    def complete(self, request: Request) -> Any:
        agent, body, invalid = self._body(request)
        key = invalid.uuid(body, "submission_id")
        invalid.check()
        again = (request.token, request.headers["Idempotency-Key"])
        if old := self._replies.get(again):
            if old["submission_id"] == key:
                return old
            raise _HTTPException(
                409, "Idempotency-Key was already used for another submission"
            )
        if (submission := self._submissions.get(key)) is None:
            raise _HTTPException(404, "Submission not found")
        claim = self._claims[submission["claim_id"]]
        if claim["agent_id"] != agent["agent_id"]:
            raise _HTTPException(403, "Not enough permissions")
        if claim["status"] == "completed":
            raise _HTTPException(409, "Submission is already completed")
        task = self._tasks[claim["task_id"]]
        claim["status"] = task["status"] = "completed"
        agent["credits"] += task["reward"]
        self.book.pay(task["id"], task["reward"])
        reply = {
            "task_id": task["id"],
            "submission_id": key,
            "balance": agent["credits"],
        }
        reply |= {"status": "completed", "credits_earned": task["reward"]}
        return self._replies.setdefault(again, reply)
