"""Hirewire: a start-up's NestJS service with class-validator and its own exception filter."""

import base64
import json
import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from .backend import Backend, Request, Response  # noqa: TID252

_TASKS = [
    ("Shout the tagline", "ship small, ship often", 12),
    ("Normalize a city name", "san sebastián de los reyes", 18),
    ("Header for the status page", "all systems operational since monday", 25),
    ("Uppercase a product blurb", "a quiet keyboard for loud ideas.", 30),
    ("License plate cleanup", "b-kx 4711 e", 8),
    ("Billboard copy", "coffee first; questions later?", 40),
]
_NAMES = {status.value: status.name for status in HTTPStatus}
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MAX_ACTIVE = 3


def _iso(minutes: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=minutes)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _HttpException(Exception):  # noqa: N818
    def __init__(
        self, status: int, message: str, details: list[str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.details = status, message, details


def _optional(rule: Any) -> Any:
    return lambda name, value: [] if value is None else rule(name, value)


# The decorators of class-validator; several on one property report from the bottom up.
def _is_uuid(name: str, value: Any) -> list[str]:
    good = isinstance(value, str) and _UUID.fullmatch(value)
    return [] if good else [f"{name} must be a UUID"]


def _is_text(name: str, value: Any) -> list[str]:
    found = [f"{name} should not be empty"] if value in (None, "") else []
    return found + ([] if isinstance(value, str) else [f"{name} must be a string"])


_is_string = _optional(
    lambda name, value: [] if isinstance(value, str) else [f"{name} must be a string"]
)


def _is_int(low: int, high: int) -> Any:
    def check(name: str, value: Any) -> list[str]:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        rules = {
            f"{name} must not be greater than {high}": number and value <= high,
            f"{name} must not be less than {low}": number and value >= low,
            f"{name} must be an integer number": number and value % 1 == 0,
        }
        return [message for message, good in rules.items() if not good]

    return check


def _nested(**rules: Any) -> Any:
    def check(name: str, value: Any) -> list[str]:
        if value is None:
            return [f"{name} should not be null or undefined"]
        if not isinstance(value, dict):
            return [f"nested property {name} must be either object or array"]
        return [f"{name}.{message}" for message in _check(value, rules)]

    return check


def _check(body: dict[str, Any], rules: dict[str, Any]) -> list[str]:
    found = [f"property {name} should not exist" for name in body if name not in rules]
    for name, rule in rules.items():
        found += rule(name, body.get(name))
    return found


class Hirewire(Backend):
    """camelCase, UUIDs, `data`/`meta` envelopes, cursors; completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, text, credits_ in _TASKS:
            key = str(uuid.uuid4())
            self._tasks[key] = {
                "id": key,
                "title": title,
                "category": "TEXT_TRANSFORM",
                "description": "Return input.text converted to upper case, nothing else.",
                "input": {"text": text},
                "rewardCredits": credits_,
                "status": "OPEN",
                "createdAt": _iso(),
                "updatedAt": _iso(),
            }

    def texts(self) -> dict[str, str]:
        return {key: task["input"]["text"] for key, task in self._tasks.items()}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers.setdefault("Content-Type", "application/json; charset=utf-8")
        answer.headers.setdefault("X-Powered-By", "Express")
        return answer

    # The exception filter, the body parser, the guard and the validation pipe.
    def _refuse(self, request: Request, error: _HttpException) -> Response:
        inner: dict[str, Any] = {
            "statusCode": error.status,
            "message": error.message,
            "code": "VALIDATION_FAILED" if error.details else _NAMES[error.status],
        }
        if error.details:
            inner["details"] = error.details
        meta = {
            "path": request.path,
            "timestamp": _iso(),
            "requestId": secrets.token_hex(6),
        }
        return Response(error.status, {"success": False, "error": inner, "meta": meta})

    def _run(
        self,
        request: Request,
        action: Any,
        rules: Any = None,
        guarded: bool = True,  # noqa: FBT001, FBT002
    ) -> Response:
        try:
            body: Any = dict(request.query)
            if request.method == "POST":
                body = self._parsed(request)
            elif re.fullmatch(r"-?\d+(\.\d+)?", body.get("limit", "")):
                body["limit"] = float(body["limit"])
            agent = self._agents.get(request.token)
            if guarded and agent is None:
                raise _HttpException(401, "Unauthorized")
            details = _check(body, rules) if rules is not None else []
            if details:
                raise _HttpException(400, "Validation failed", details)
            return Response(200, action(body, agent))
        except _HttpException as error:
            return self._refuse(request, error)

    def _parsed(self, request: Request) -> dict[str, Any]:
        if (
            "json" not in (request.headers.get("Content-Type") or "")
            or not request.raw.strip()
        ):
            return {}
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, (dict, list)):
            shown = request.raw.decode(errors="replace")
            start = shown.strip()[:1]
            raise _HttpException(
                400, f"Unexpected token '{start}', \"{shown[:20]}\" is not valid JSON"
            )
        return body if isinstance(body, dict) else {}

    def missing(self, request: Request) -> Response:
        return self._refuse(
            request, _HttpException(404, f"Cannot {request.method} {request.path}")
        )

    # The controllers.
    def register(self, request: Request) -> Response:
        def action(body: Any, agent: Any) -> Any:  # noqa: ARG001
            key = str(uuid.uuid4())
            parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": key, "role": "agent"})
            coded = [json.dumps(p).encode() for p in parts] + [secrets.token_bytes(32)]
            token = ".".join(
                base64.urlsafe_b64encode(p).decode().rstrip("=") for p in coded
            )
            self._agents[token] = {"id": key, "credits": 100, "since": _iso()}
            self.book.registrations += 1
            return {"agent_id": key, "access_token": token, "credits": 100}

        return self._run(request, action, guarded=False)

    def _page(self, body: dict[str, Any], agent: Any) -> dict[str, Any]:
        limit = int(body.get("limit") or 20)
        try:
            start = int(base64.b64decode(body.get("cursor") or base64.b64encode(b"-1")))
        except ValueError:
            raise _HttpException(400, "Invalid cursor") from None
        numbered = [
            (n, t) for n, t in enumerate(self._tasks.values()) if t["status"] == "OPEN"
        ]
        rest = [(n, t) for n, t in numbered if n > start]
        more = len(rest) > limit
        cursor = (
            base64.b64encode(str(rest[limit - 1][0]).encode()).decode()
            if more
            else None
        )
        return {
            "data": [task for _, task in rest[:limit]],
            "meta": {
                "total": len(numbered),
                "limit": limit,
                "hasMore": more,
                "nextCursor": cursor,
            },
        }

    def tasks(self, request: Request) -> Response:
        rules = {"limit": _optional(_is_int(1, 50)), "cursor": _is_string}
        return self._run(request, self._page, rules)

    def marketplace(self, request: Request) -> Response:
        return self._run(
            request,
            lambda body, agent: self._page({}, agent),  # noqa: ARG005
            guarded=False,  # noqa: ARG005, RUF100
        )

    def agents(self, request: Request) -> Response:
        def action(body: Any, agent: Any) -> Any:  # noqa: ARG001
            shown = [
                {"id": a["id"], "joinedAt": a["since"]} for a in self._agents.values()
            ]
            return {"data": shown, "meta": {"total": len(shown)}}

        return self._run(request, action, guarded=False)

    directory = agents

    def claim(self, request: Request) -> Response:
        def action(body: Any, agent: Any) -> Any:
            task = self._tasks.get(body["taskId"].lower())
            if task is None:
                raise _HttpException(404, f"Task {body['taskId']} not found")
            if task["status"] != "OPEN":
                raise _HttpException(
                    409, f"Task is not open (current status: {task['status']})"
                )
            active = [c for c in self._claims.values() if c["status"] == "ACTIVE"]
            if len([c for c in active if c["agentId"] == agent["id"]]) >= _MAX_ACTIVE:
                raise _HttpException(
                    409, f"An agent can hold at most {_MAX_ACTIVE} active claims"
                )
            task.update(status="CLAIMED", updatedAt=_iso())
            claim = {
                "claimId": str(uuid.uuid4()),
                "taskId": task["id"],
                "agentId": agent["id"],
                "status": "ACTIVE",
                "expiresAt": _iso(int(body["estimatedMinutes"])),
            }
            self._claims[claim["claimId"]] = claim
            self.book.claimed(task["id"])
            return {"data": dict(claim)}

        return self._run(
            request, action, {"taskId": _is_uuid, "estimatedMinutes": _is_int(1, 240)}
        )

    def submit(self, request: Request) -> Response:
        def action(body: Any, agent: Any) -> Any:
            claim = self._claims.get(body["claimId"].lower())
            if claim is None:
                raise _HttpException(404, f"Claim {body['claimId']} not found")
            if claim["agentId"] != agent["id"]:
                raise _HttpException(403, "This claim belongs to another agent")
            if claim["status"] != "ACTIVE":
                raise _HttpException(
                    409, "A result was already submitted for this claim"
                )
            task = self._tasks[claim["taskId"]]
            if body["output"]["text"] != task["input"]["text"].upper():
                raise _HttpException(
                    422, "Output did not pass verification, please try again"
                )
            claim["status"] = "SUBMITTED"
            task.update(status="IN_REVIEW", updatedAt=_iso())
            submission = {
                "submissionId": str(uuid.uuid4()),
                "claimId": claim["claimId"],
                "taskId": task["id"],
                "status": "VERIFIED",
                "submittedAt": _iso(),
            }
            self._submissions[submission["submissionId"]] = submission
            return {"data": dict(submission)}

        rules = {"claimId": _is_uuid, "output": _nested(text=_is_text)}
        return self._run(request, action, rules)

    def complete(self, request: Request) -> Response:
        def action(body: Any, agent: Any) -> Any:
            submission = self._submissions.get(body["submissionId"].lower())
            if submission is None:
                raise _HttpException(
                    404, f"Submission {body['submissionId']} not found"
                )
            if self._claims[submission["claimId"]]["agentId"] != agent["id"]:
                raise _HttpException(403, "This submission belongs to another agent")
            if submission["status"] == "COMPLETED":
                raise _HttpException(409, "Submission is already completed")
            task = self._tasks[submission["taskId"]]
            submission["status"] = self._claims[submission["claimId"]]["status"] = (
                "COMPLETED"
            )
            task.update(status="COMPLETED", updatedAt=_iso())
            agent["credits"] += task["rewardCredits"]
            self.book.pay(task["id"], task["rewardCredits"])
            return {
                "data": {
                    "taskId": task["id"],
                    "status": "COMPLETED",
                    "creditsEarned": task["rewardCredits"],
                    "balance": agent["credits"],
                }
            }

        return self._run(request, action, {"submissionId": _is_uuid})

    def post(self, request: Request) -> Response:
        def action(body: Any, agent: Any) -> Any:  # noqa: ARG001
            raise _HttpException(403, "Posting tasks is not available on the free plan")

        return self._run(request, action)

    def checkout(self, request: Request) -> Response:
        def action(body: Any, agent: Any) -> Any:  # noqa: ARG001
            key = f"cs_test_{secrets.token_hex(12)}"
            return {
                "ok": True,
                "sessionId": key,
                "url": f"https://pay.hirewire.example/c/{key}",
                "mode": "payment",
                "agentId": body["agent_id"],
                "plan": body["plan"],
            }

        cents = _is_int(1, 1_000_000)
        rules = {
            "plan": _is_text,
            "agent_id": _is_uuid,
            "price_id": _is_text,
            "requested_credits": cents,
            "amount_cents": cents,
            "product_label": _is_string,
            "source": _is_string,
        }
        return self._run(request, action, rules, guarded=False)
