"""BrightDesk: a start-up's copy desk on FastAPI; its own envelope around pydantic's words."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_COPY = [
    ("Headline for the spring sale", "fresh colours for brighter mornings", 14),
    ("Shelf label", "organic oat biscuits, 250 g", 9),
    ("Banner for the landing page", "ship faster with fewer meetings", 22),
    ("Street sign", "caution: wet paint on both sides", 11),
    ("Podcast episode title", "why the night train came back", 17),
    ("Menu heading", "soups, salads and small plates", 19),
]


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int, code: str, message: str, fields: Any = None):  # noqa: ANN204
        self.status, self.code, self.message, self.fields = (
            status,
            code,
            message,
            fields,
        )


def _uuid(value: Any) -> tuple[Any, str, str]:
    if not isinstance(value, str):
        return None, "uuid_type", "UUID input should be a string, bytes or UUID object"
    for place, letter in enumerate(value, 1):
        if letter not in "0123456789abcdefABCDEF-":
            why = "expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-]"
            why = f"Input should be a valid UUID, invalid character: {why}, found `{letter}`"
            return None, "uuid_parsing", f"{why} at {place}"
    try:
        return str(uuid.UUID(value)), "", ""
    except ValueError:
        why = (
            f"invalid length: expected length 32 for simple format, found {len(value)}"
        )
    return None, "uuid_parsing", f"Input should be a valid UUID, {why}"


def _int(low: int, high: int) -> Any:
    def check(value: Any) -> tuple[Any, str, str]:
        stem = "Input should be a valid integer"
        if isinstance(value, str):
            if not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", value):
                return (
                    None,
                    "int_parsing",
                    f"{stem}, unable to parse string as an integer",
                )
            value = int(value)
        if isinstance(value, float) and not value.is_integer():
            return (
                None,
                "int_from_float",
                f"{stem}, got a number with a fractional part",
            )
        if not isinstance(value, int | float):
            return None, "int_type", stem
        stem = "Input should be"
        if value < low:
            return None, "greater_than_equal", f"{stem} greater than or equal to {low}"
        if value > high:
            return None, "less_than_equal", f"{stem} less than or equal to {high}"
        return int(value), "", ""

    return check


def _text(value: Any) -> tuple[Any, str, str]:
    if not isinstance(value, str):
        return None, "string_type", "Input should be a valid string"
    if value:
        return value, "", ""
    return None, "string_too_short", "String should have at least 1 character"


def _format(value: Any) -> tuple[Any, str, str]:
    if value in ["plain_text", "markdown", "html"]:
        return value, "", ""
    return None, "enum", "Input should be 'plain_text', 'markdown' or 'html'"


def _validated(
    place: str, model: Any, values: Any, errors: list[Any]
) -> dict[str, Any]:
    clean = {}
    for name, check in model.items():
        kind, why = "missing", "Field required"
        if name in values:
            clean[name], kind, why = check(values[name])
        if kind:
            errors.append((f"{place}.{name}", why, kind))
    if errors:
        raise _invalid(errors)
    return clean


def _invalid(errors: list[tuple[str, str, str]]) -> _Refused:
    fields = [
        {"field": where, "message": why, "type": kind} for where, why, kind in errors
    ]
    return _Refused(422, "validation_error", "Request validation failed", fields)


def _envelope(error: _Refused) -> Response:
    inner = {
        "code": error.code,
        "message": error.message,
        "details": error.fields or [],
    }
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
    return Response(error.status, {"error": inner}, headers)


def _route(handler: Any) -> Any:
    def call(self: Any, request: Request) -> Response:
        try:
            return handler(self, request)
        except _Refused as error:
            return _envelope(error)

    return call


class BrightDesk(Backend):
    """Flat snake_case records, UUIDs, limit and offset, 422; completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        self._settled: dict[tuple[str, str], dict[str, Any]] = {}
        self._rows: dict[str, dict[str, Any]] = {}
        for title, text, reward in _COPY:
            key = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{title}.brightdesk.example"))
            self._rows[key] = {
                "id": key,
                "title": title,
                "brief": "Set source_text in capital letters. Change nothing else.",
                "source_text": text,
                "reward_credits": reward,
                "status": "open",
            }

    def texts(self) -> dict[str, str]:
        return {key: row["source_text"] for key, row in self._rows.items()}

    def missing(self, request: Request) -> Response:
        if request.path in {path for _, path in ACTIONS}:
            return _envelope(_Refused(405, "method_not_allowed", "Method Not Allowed"))
        return _envelope(_Refused(404, "not_found", "Not Found"))

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            why = (
                "Invalid or expired access token"
                if request.token
                else "Not authenticated"
            )
            raise _Refused(401, "unauthorized", why)
        return self._agents[request.token]

    def _read(self, request: Request, model: dict[str, Any], headers: Any = ()) -> Any:
        """Return the agent and the validated body, in FastAPI's order of checks."""
        body: Any = None
        if request.raw:
            body = request.raw.decode(errors="replace")
            if "json" in request.headers.get("Content-Type", ""):
                try:
                    body = request.json()
                except ValueError as error:
                    where = f"body.{getattr(error, 'pos', 0)}"
                    raise _invalid([(where, "JSON decode error", "json_invalid")])  # noqa: B904
        agent = self._agent(request)
        lacking = [name for name in headers if not request.headers.get(name)]
        errors = [(f"header.{name}", "Field required", "missing") for name in lacking]
        if body is None:
            raise _invalid([*errors, ("body", "Field required", "missing")])
        if not isinstance(body, dict):
            why = "Input should be a valid dictionary or object to extract fields from"
            raise _invalid([*errors, ("body", why, "model_attributes_type")])
        return agent, _validated("body", model, body, errors)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"bd_live_{secrets.token_urlsafe(24)}"
        self._agents[token] = {"agent_id": str(uuid.uuid4()), "credits": 100}
        return Response(200, {**self._agents[token], "access_token": token})

    @_route
    def tasks(self, request: Request) -> Response:
        model = {"limit": _int(1, 50), "offset": _int(0, 10**9)}
        asked = {"limit": "5", "offset": "0", **request.query}
        query, rows = _validated("query", model, asked, []), list(self._rows.values())
        page = rows[query["offset"] :][: query["limit"]]
        return Response(200, {"items": page, "total": len(rows), **query})

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        return Response(
            200, {"items": [one["agent_id"] for one in self._agents.values()]}
        )

    directory = agents

    def post(self, request: Request) -> Response:
        return _envelope(
            _Refused(403, "plan_required", "Not available on the free plan")
        )

    checkout = post

    @_route
    def claim(self, request: Request) -> Response:
        model = {
            "task_id": _uuid,
            "agent_id": _uuid,
            "estimated_minutes": _int(1, 1440),
        }
        agent, body = self._read(request, model)
        if body["agent_id"] != agent["agent_id"]:
            raise _Refused(403, "forbidden", "agent_id does not match the access token")
        if (row := self._rows.get(body["task_id"])) is None:
            raise _Refused(404, "task_not_found", "Task not found")
        if row["status"] != "open":
            raise _Refused(409, "task_not_open", f"Task is already {row['status']}")
        row["status"], key = "claimed", str(uuid.uuid4())
        self.book.claimed(row["id"])
        self._claims[key] = {"task_id": row["id"], "agent_id": agent["agent_id"]}
        until = datetime.now(UTC) + timedelta(minutes=body["estimated_minutes"])
        claim = {"claim_id": key, "expires_at": until.isoformat(), "status": "active"}
        return Response(200, claim)

    @_route
    def submit(self, request: Request) -> Response:
        model = {"claim_id": _uuid, "output_text": _text, "output_format": _format}
        agent, body = self._read(request, model)
        claim = self._claims.get(body["claim_id"], {})
        if claim.get("agent_id") != agent["agent_id"]:
            raise _Refused(404, "claim_not_found", "Claim not found")
        row = self._rows[claim["task_id"]]
        if row["status"] != "claimed":
            raise _Refused(409, "task_not_claimed", f"Task is already {row['status']}")
        right = body["output_text"] == row["source_text"].upper()
        key = str(uuid.uuid4())
        answer = {"submission_id": key, "task_id": row["id"], "status": "approved"}
        if not right:
            note = "Output does not match the brief. Submit again."
            answer |= {"status": "rejected", "review_note": note}
        row["status"] = "submitted" if right else "claimed"
        self._submissions[key] = {**answer, "agent_id": agent["agent_id"]}
        return Response(200, answer, refused=not right)

    @_route
    def complete(self, request: Request) -> Response:
        model = {"task_id": _uuid, "submission_id": _uuid}
        agent, body = self._read(request, model, ["idempotency-key"])
        replay = (request.headers["Idempotency-Key"], body["submission_id"])
        if replay in self._settled:
            return Response(200, self._settled[replay])
        submission = self._submissions.get(body["submission_id"])
        if submission is None or submission["agent_id"] != agent["agent_id"]:
            raise _Refused(404, "submission_not_found", "Submission not found")
        if submission["task_id"] != body["task_id"]:
            raise _Refused(409, "submission_mismatch", "Submission is for another task")
        if (state := submission["status"]) != "approved":
            raise _Refused(409, "submission_not_approved", f"Submission is {state}")
        row = self._rows[submission["task_id"]]
        submission["status"], row["status"] = "settled", "completed"
        self.book.pay(row["id"], row["reward_credits"])
        agent["credits"] += row["reward_credits"]
        answer = {"task_id": row["id"], "credits_earned": row["reward_credits"]}
        self._settled[replay] = {**answer, "balance": agent["credits"]}
        return Response(200, self._settled[replay])
