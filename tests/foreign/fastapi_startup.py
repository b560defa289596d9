"""A start-up's service on FastAPI with Pydantic v2 models, written the usual way.

Snake case, UUIDs, `detail` errors; the agent's id goes along in a header; the result is
checked when it is submitted and paid when the task is completed.
"""

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
    ("Uppercase a greeting", "hello from the north harbour", 12),
    ("Uppercase a product slogan", "fresh bread, every single morning", 15),
    ("Uppercase a warning label", "do not open while running", 9),
    ("Uppercase a street name", "rue de l'abbaye 14b", 7),
    ("Uppercase a headline", "council votes on new bridge", 21),
    ("Uppercase a chorus line", "we sail at dawn & sing at noon", 18),
]


class _HTTPException(Exception):  # noqa: N818
    def __init__(self, status: int, detail: Any, headers: dict[str, str] | None = None):  # noqa: ANN204
        self.response = Response(status, {"detail": detail}, headers or {})


def _error(
    kind: str, loc: list[Any], msg: str, given: Any, **ctx: Any
) -> dict[str, Any]:
    error = {"type": kind, "loc": loc, "msg": msg, "input": given}
    return {**error, "ctx": ctx} if ctx else error


def _uuid(value: Any, loc: list[Any]) -> dict[str, Any] | None:
    message = "UUID input should be a string, bytes or UUID object"
    if not isinstance(value, str):
        return _error("uuid_type", loc, message, value)
    try:
        uuid.UUID(value)
        return None  # noqa: TRY300
    except ValueError:
        why = (
            f"invalid length: expected length 32 for simple format, found {len(value)}"
        )
        if odd := re.search("[^0-9a-fA-F-]", value):
            why = (
                "invalid character: expected an optional prefix of `urn:uuid:` followed "
                f"by [0-9a-fA-F-], found `{odd[0]}` at {odd.start() + 1}"
            )
        message = f"Input should be a valid UUID, {why}"
        return _error("uuid_parsing", loc, message, value, error=why)


def _str(value: Any, loc: list[Any]) -> dict[str, Any] | None:
    if isinstance(value, str):
        return None
    return _error("string_type", loc, "Input should be a valid string", value)


def _integer(value: Any, loc: list[Any], low: int = 0, high: int | None = None) -> Any:
    message = "Input should be a valid integer"
    if not isinstance(value, (str, int, float)):
        return _error("int_type", loc, message, value)
    if isinstance(value, float) and not value.is_integer():
        message += ", got a number with a fractional part"
        return _error("int_from_float", loc, message, value)
    try:
        number = int(value)
    except ValueError:
        message += ", unable to parse string as an integer"
        return _error("int_parsing", loc, message, value)
    message = "Input should be {} than or equal to {}"
    if number < low:
        kind, message = "greater_than_equal", message.format("greater", low)
        return _error(kind, loc, message, value, ge=low)
    if high is not None and number > high:
        kind, message = "less_than_equal", message.format("less", high)
        return _error(kind, loc, message, value, le=high)
    return None


def _format(value: Any, loc: list[Any]) -> dict[str, Any] | None:
    expected = "'text', 'markdown' or 'json'"
    if value in ("text", "markdown", "json"):
        return None
    return _error("enum", loc, f"Input should be {expected}", value, expected=expected)


def _endpoint(**model: Any) -> Any:
    """Let a function take the agent and the valid body, as FastAPI's decorators do."""
    return lambda function: lambda self, request: self._run(function, request, model)


class FastApiStartup(Backend):
    """The service."""

    def __init__(self) -> None:
        super().__init__()
        expires = datetime.now(UTC) + timedelta(days=3)
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, text, reward in _WORK:
            key = str(uuid.uuid4())
            self._tasks[key] = {
                "id": key,
                "title": title,
                "instructions": "Return input_text converted to upper case, nothing else.",
                "input_text": text,
                "reward_credits": reward,
                "status": "open",
                "expires_at": expires.isoformat(),
            }
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {key: task["input_text"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        key = (request.method, request.path)
        if key not in ACTIONS and any(path == request.path for _, path in ACTIONS):
            return Response(405, {"detail": "Method Not Allowed"})
        return Response(404, {"detail": "Not Found"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        self._agents[token := secrets.token_urlsafe(24)] = agent
        return Response(200, {**agent, "access_token": token})

    def _user(self, request: Request) -> dict[str, Any]:
        if request.token in self._agents:
            return self._agents[request.token]
        why = "Invalid access token" if request.token else "Not authenticated"
        raise _HTTPException(401, why, {"WWW-Authenticate": "Bearer"})

    def _body(self, request: Request, model: dict[str, Any]) -> tuple[Any, Any]:
        """Return the agent and the valid body, as the dependencies would."""
        body: Any = request.raw.decode(errors="replace") or None
        if body and "json" in (request.headers.get("Content-Type") or "json"):
            try:
                body = json.loads(body)
            except json.JSONDecodeError as e:
                error = _error("json_invalid", ["body", e.pos], "JSON decode error", {})
                raise _HTTPException(422, [{**error, "ctx": {"error": e.msg}}]) from e
        agent = self._user(request)
        given = request.headers.get("X-Agent-Id")
        loc: list[Any] = ["header", "x-agent-id"]
        lacking = _error("missing", loc, "Field required", None)
        errors = [lacking if given is None else _uuid(given, loc)]
        if body is None:
            errors.append(_error("missing", ["body"], "Field required", None))
        elif not isinstance(body, dict):
            message = (
                "Input should be a valid dictionary or object to extract fields from"
            )
            errors.append(_error("model_attributes_type", ["body"], message, body))
        else:
            for name, check in model.items():
                if name in body:
                    errors.append(check(body[name], ["body", name]))
                else:
                    errors.append(
                        _error("missing", ["body", name], "Field required", body)
                    )
        if errors := [error for error in errors if error]:
            raise _HTTPException(422, errors)
        if str(uuid.UUID(given)) != agent["agent_id"]:
            raise _HTTPException(403, "X-Agent-Id does not match the access token")
        ids = {
            name: str(uuid.UUID(body[name])) for name in model if model[name] is _uuid
        }
        return agent, {**body, **ids}

    def _page(self, request: Request) -> Response:
        limit, offset = request.query.get("limit", 50), request.query.get("offset", 0)
        checked = _integer(limit, ["query", "limit"], 1, 100)
        errors = [checked, _integer(offset, ["query", "offset"])]
        if errors := [error for error in errors if error]:
            return Response(422, {"detail": errors})
        limit, offset = int(limit), int(offset)
        items = [task for task in self._tasks.values() if task["status"] == "open"]
        body = {"items": items[offset : offset + limit], "total": len(items)}
        return Response(200, {**body, "limit": limit, "offset": offset})

    def marketplace(self, request: Request) -> Response:
        return self._page(request)

    def tasks(self, request: Request) -> Response:
        try:
            self._user(request)
        except _HTTPException as e:
            return e.response
        return self._page(request)

    def agents(self, request: Request) -> Response:
        return Response(200, [{"id": a["agent_id"]} for a in self._agents.values()])

    def _run(self, action: Any, request: Request, model: dict[str, Any]) -> Response:
        try:
            return Response(200, action(self, *self._body(request, model)))
        except _HTTPException as e:
            return e.response

    def post(self, request: Request) -> Response:
        return Response(403, {"detail": "Posting tasks is not enabled for free agents"})

    @_endpoint(task_id=_uuid)
    def claim(self, agent: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        if (task := self._tasks.get(body["task_id"])) is None:
            raise _HTTPException(404, "Task not found")
        if task["status"] != "open":
            raise _HTTPException(409, "Task is not open")
        task["status"] = "claimed"
        claim = {
            "claim_id": str(uuid.uuid4()),
            "task_id": task["id"],
            "agent_id": agent["agent_id"],
            "status": "active",
            "claimed_at": datetime.now(UTC).isoformat(),
        }
        self._claims[claim["claim_id"]] = claim
        self.book.claimed(task["id"])
        return claim

    @_endpoint(
        claim_id=_uuid, output=_str, output_format=_format, duration_seconds=_integer
    )
    def submit(self, agent: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        claim = self._claims.get(body["claim_id"])
        if claim is None or claim["agent_id"] != agent["agent_id"]:
            raise _HTTPException(404, "Claim not found")
        if claim["status"] != "active":
            raise _HTTPException(409, "Claim already has an accepted submission")
        if body["output"] != self._tasks[claim["task_id"]]["input_text"].upper():
            raise _HTTPException(400, "Output does not satisfy the task instructions")
        claim["status"] = "submitted"
        self._tasks[claim["task_id"]]["status"] = "submitted"
        self._submissions[key := 1001 + len(self._submissions)] = claim
        return {
            "submission_id": key,
            "claim_id": claim["claim_id"],
            "status": "accepted",
        }

    @_endpoint(task_id=_uuid, submission_id=_integer)
    def complete(self, agent: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        claim = self._submissions.get(int(body["submission_id"]))
        if claim is None or claim["agent_id"] != agent["agent_id"]:
            raise _HTTPException(404, "Submission not found")
        if claim["task_id"] != body["task_id"]:
            raise _HTTPException(400, "Submission does not belong to this task")
        task = self._tasks[claim["task_id"]]
        if task["status"] == "completed":
            raise _HTTPException(409, "Task already completed")
        task["status"] = claim["status"] = "completed"
        agent["credits"] += task["reward_credits"]
        self.book.pay(task["id"], task["reward_credits"])
        return {"status": "completed", "credits": agent["credits"]}
