"""Harborly: a start-up's work platform, in TypeScript on NestJS.

ValidationPipe with forbidNonWhitelisted; the start-up's own filter carries its sentences.
"""

import hashlib
import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    ("Gate announcement", "boarding for all rows starts now", 25),
    ("Ferry timetable note", "no crossings after nine on sundays", 12),
    ("Container marking", "keep dry, this side up", 31),
    ("Pier notice", "mind the gap between quay and deck", 16),
    ("Crew bulletin", "safety drill at noon on deck four", 7),
    ("Café board", "today: café crème and apple tart", 20),
]
_HOW = "Return the body converted to upper case."
_NAMES = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound"}
_NAMES |= {409: "Conflict", 422: "UnprocessableEntity"}


class _HttpException(Exception):  # noqa: N818
    def __init__(self, status: int, *messages: str):  # noqa: ANN204
        self.status, self.messages = status, list(messages)


def _now(**later: int) -> str:
    when = datetime.now(UTC) + timedelta(**later)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_date(value: Any) -> bool:
    try:
        return bool(datetime.fromisoformat(value))
    except (TypeError, ValueError):
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and len(value) >= 10


# A rule is what class-validator's decorators say of one property, the lowest first.
_MONGO_ID = [(lambda v: re.fullmatch("[0-9a-f]{24}", str(v)), "must be a mongodb id")]
_STRING = (lambda value: isinstance(value, str), "must be a string")
_CONTENT = [(lambda value: value not in (None, ""), "should not be empty"), _STRING]
_SUMMARY = [(_is_long, "must be longer than or equal to 10 characters"), _STRING]
_DATE = [(_is_date, "must be a valid ISO 8601 date string")]
_BOOLEAN = (lambda value: isinstance(value, bool), "must be a boolean value")
_TRUE = [(lambda value: value is True, "must be equal to true"), _BOOLEAN]
_UNITS = ["minutes", "hours", "days"]
_ONE_OF = f"must be one of the following values: {', '.join(_UNITS)}"


def _whole(low: int, high: int) -> list[Any]:
    return [
        (
            lambda value: _is_number(value) and value <= high,
            f"must not be greater than {high}",
        ),
        (
            lambda value: _is_number(value) and value >= low,
            f"must not be less than {low}",
        ),
        (
            lambda value: _is_number(value) and value % 1 == 0,
            "must be an integer number",
        ),
    ]


_ESTIMATE = {"value": _whole(1, 90), "unit": [(lambda value: value in _UNITS, _ONE_OF)]}
_CLAIM_DTO = {
    "task": {"id": _MONGO_ID},
    "worker": {"agentId": _MONGO_ID, "commitment": {"estimate": _ESTIMATE}},
}
_SUBMIT_DTO = {
    "claimId": _MONGO_ID,
    "deliverable": {"content": _CONTENT, "report": {"summary": _SUMMARY}},
}
_COMPLETE_DTO = {
    "deliverableId": _MONGO_ID,
    "confirmation": {"finishedAt": _DATE, "termsAccepted": _TRUE},
}


def _errors(dto: dict[str, Any], value: Any, parent: str = "") -> list[str]:
    """Return the flattened messages of ValidationPipe."""
    found = [
        f"{parent}property {name} should not exist" for name in value if name not in dto
    ]
    for name, rule in dto.items():
        inner = value.get(name)
        if isinstance(rule, list):
            found += [f"{parent}{name} {why}" for fits, why in rule if not fits(inner)]
        elif isinstance(inner, dict):
            found += _errors(rule, inner, f"{parent}{name}.")
        else:
            if inner is None:
                found.append(f"{parent}{name} should not be null or undefined")
            found.append(f"{parent}{name} must be an object")
    return found


def _controller(handler: Any) -> Any:
    """Wrap a success as the TransformInterceptor does, a failure as the filter does."""

    headers = {"Content-Type": "application/json; charset=utf-8"}

    def call(self: Any, request: Request) -> Response:
        try:
            body = {"success": True, **handler(self, request), "timestamp": _now()}
            return Response(200, body, dict(headers))
        except _HttpException as error:
            inner = {
                "name": f"{_NAMES[error.status]}Exception",
                "messages": error.messages,
            }
            body = {"success": False, "statusCode": error.status, "error": inner}
            body |= {
                "path": request.path,
                "method": request.method,
                "timestamp": _now(),
            }
            return Response(error.status, body, dict(headers))

    return call


class Harborly(Backend):
    """Nested camelCase, Mongo ids, pages of available work, 400; completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._accounts: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._deliverables: dict[str, dict[str, Any]] = {}
        self._work: dict[str, dict[str, Any]] = {}
        for heading, body, amount in _WORK:
            key = hashlib.sha256(heading.encode()).hexdigest()[:24]
            self._work[key] = {
                "id": key,
                "state": "AVAILABLE",
                "content": {"heading": heading, "instructions": _HOW, "body": body},
                "compensation": {"amount": amount, "unit": "credits"},
                "schedule": {
                    "createdAt": "2025-05-19T07:30:00.000Z",
                    "dueAt": _now(days=7),
                },
            }

    def texts(self) -> dict[str, str]:
        return {key: task["content"]["body"] for key, task in self._work.items()}

    @_controller
    def missing(self, request: Request) -> Any:
        raise _HttpException(404, f"Cannot {request.method} {request.path}")

    def _guarded(self, request: Request, dto: Any = None) -> tuple[Any, Any]:
        """Return account and body: the body parser first, then the guard, then the pipe."""
        body: Any = {}
        if request.raw and "json" in (request.headers.get("Content-Type") or ""):
            try:
                body = request.json()
            except ValueError:
                text = request.raw.decode(errors="replace")
                why = f"Unexpected token '{text[0]}', \"{text[:20]}\" is not valid JSON"
                raise _HttpException(400, why) from None
        if request.token not in self._accounts:
            raise _HttpException(401, "Unauthorized")
        if errors := _errors(dto or {}, body if dto and isinstance(body, dict) else {}):
            raise _HttpException(400, *errors)
        return self._accounts[request.token], body

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"eyJhbGciOiJIUzI1NiJ9.{secrets.token_urlsafe(30)}.{secrets.token_urlsafe(32)}"
        self._accounts[token] = {"agent_id": secrets.token_hex(12), "credits": 100}
        return Response(200, {**self._accounts[token], "access_token": token})

    @_controller
    def tasks(self, request: Request) -> Any:
        if not request.path.endswith("/public-marketplace"):
            self._guarded(request)
        query: dict[str, Any] = {"page": 1, "limit": 10}
        for name, value in request.query.items():
            query[name] = int(value) if re.fullmatch(r"-?\d{1,9}", value) else value
        if errors := _errors({"page": _whole(1, 10**6), "limit": _whole(1, 25)}, query):
            raise _HttpException(400, *errors)
        free = [task for task in self._work.values() if task["state"] == "AVAILABLE"]
        page, limit = query["page"], query["limit"]
        meta = {"page": page, "limit": limit, "totalItems": len(free)}
        meta["totalPages"] = -(-len(free) // limit)
        return {"data": free[(page - 1) * limit : page * limit], "meta": meta}

    marketplace = tasks

    @_controller
    def agents(self, request: Request) -> Any:
        return {
            "data": [{"agentId": one["agent_id"]} for one in self._accounts.values()]
        }

    directory = agents

    @_controller
    def post(self, request: Request) -> Any:
        raise _HttpException(403, "Forbidden resource")

    checkout = post

    @_controller
    def claim(self, request: Request) -> Any:
        account, body = self._guarded(request, _CLAIM_DTO)
        if body["worker"]["agentId"] != account["agent_id"]:
            raise _HttpException(403, "You can only claim tasks for your own agent")
        task = self._work.get(body["task"]["id"])
        if task is None:
            raise _HttpException(404, f"Task with id {body['task']['id']} not found")
        if task["state"] != "AVAILABLE":
            raise _HttpException(409, f"Task {task['id']} is no longer available")
        task["state"] = "CLAIMED"
        self.book.claimed(task["id"])
        estimate = body["worker"]["commitment"]["estimate"]
        claim = {"id": secrets.token_hex(12), "state": "ACTIVE"}
        claim["expiresAt"] = _now(**{estimate["unit"]: estimate["value"]})
        self._claims[claim["id"]] = {"task": task, "owner": account["agent_id"]}
        return {
            "data": {"claim": claim, "task": {"id": task["id"], "state": "CLAIMED"}}
        }

    @_controller
    def submit(self, request: Request) -> Any:
        account, body = self._guarded(request, _SUBMIT_DTO)
        claim = self._claims.get(body["claimId"], {})
        if claim.get("owner") != account["agent_id"]:
            raise _HttpException(404, f"Claim with id {body['claimId']} not found")
        task = claim["task"]
        if task["state"] != "CLAIMED":
            raise _HttpException(
                409, "A deliverable was already accepted for this claim"
            )
        if body["deliverable"]["content"] != task["content"]["body"].upper():
            why = "Deliverable rejected: content does not follow the instructions"
            raise _HttpException(422, why)
        task["state"] = "DELIVERED"
        key = secrets.token_hex(12)
        self._deliverables[key] = claim
        return {"data": {"deliverable": {"id": key, "state": "ACCEPTED"}}}

    @_controller
    def complete(self, request: Request) -> Any:
        account, body = self._guarded(request, _COMPLETE_DTO)
        claim = self._deliverables.get(body["deliverableId"])
        if claim is None or claim["owner"] != account["agent_id"]:
            raise _HttpException(
                404, f"Deliverable with id {body['deliverableId']} not found"
            )
        task = claim["task"]
        if task["state"] == "COMPLETED":
            raise _HttpException(409, f"Task {task['id']} is already completed")
        task["state"] = "COMPLETED"
        amount = task["compensation"]["amount"]
        self.book.pay(task["id"], amount)
        account["credits"] += amount
        return {
            "data": {
                "payout": {"amount": amount},
                "wallet": {"balance": account["credits"]},
            }
        }
