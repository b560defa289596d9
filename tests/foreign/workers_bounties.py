"""A start-up's agent marketplace: Hono on Cloudflare Workers, zod 3, rows out of D1."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TASKS = [
    ("Uppercase a product headline", "wireless earbuds with noise cancelling", 12),
    ("Uppercase a shipping label", "fragile: handle with care", 8),
    ("Uppercase a license plate note", "blue van, plate kx-41-zt", 5),
    ("Uppercase a banner", "summer sale starts on friday!", 20),
    ("Uppercase a SKU line", "sku 8841-b / cotton tee / size m", 15),
    ("Uppercase a warning sign", "no entry beyond this point", 10),
]
_OUTPUT_TYPES = ["text", "json", "url"]


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _kind(value: Any) -> str:
    """Name a parsed value as zod does."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


class WorkersBounties(Backend):
    """Submission pays (auto-approval); completion only closes the task."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        now = datetime.now(UTC)
        self._tasks: dict[str, dict[str, Any]] = {}
        for number, (title, text, reward) in enumerate(_TASKS):
            key = str(uuid.uuid4())
            self._tasks[key] = {
                "id": key,
                "title": title,
                "description": "Return input_text converted to upper case. "
                "Keep punctuation, digits and spaces exactly as they are.",
                "input_text": text,
                "reward_credits": reward,
                "status": "open",
                "claimed_by": None,
                "created_at": (now - timedelta(hours=9 * number + 2)).strftime(
                    "%Y-%m-%d %H:%M:%S"
                ),
            }

    def texts(self) -> dict[str, str]:
        return {key: task["input_text"] for key, task in self._tasks.items()}

    # -- Hono's and zod's ways of saying no

    def _text(self, status: int, text: str, **headers: str) -> Response:
        return Response(
            status, text, {"Content-Type": "text/plain;charset=UTF-8", **headers}
        )

    def _fail(self, status: int, error: str) -> Response:
        return Response(status, {"success": False, "error": error})

    def missing(self, request: Request) -> Response:
        return self._text(404, "404 Not Found")

    def _auth(self, request: Request) -> Response | None:
        """Do what hono/bearer-auth does."""
        header = request.headers.get("Authorization")
        if not header:
            return self._text(
                401, "Unauthorized", **{"WWW-Authenticate": 'Bearer realm=""'}
            )
        if not re.fullmatch(r"Bearer +[A-Za-z0-9._~+/-]+=* *", header):
            return self._text(
                400,
                "Bad Request",
                **{"WWW-Authenticate": 'Bearer error="invalid_request"'},
            )
        if request.token not in self._agents:
            return self._text(
                401,
                "Unauthorized",
                **{"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
        return None

    def _body(self, request: Request) -> Any:
        """Return the body as Hono's validator sees it; a Response when it is no JSON."""
        if "application/json" not in (request.headers.get("Content-Type") or ""):
            return {}
        try:
            return request.json()
        except ValueError:
            return self._text(400, "Malformed JSON in request body")

    def _issue(self, path: list[str], expected: str, holder: dict, key: str) -> dict:
        there = key in holder
        received = _kind(holder[key]) if there else "undefined"
        return {
            "code": "invalid_type",
            "expected": expected,
            "received": received,
            "path": path,
            "message": f"Expected {expected}, received {received}"
            if there
            else "Required",
        }

    def _uuid(self, body: dict, key: str) -> list[dict]:
        if not isinstance(body.get(key), str):
            return [self._issue([key], "string", body, key)]
        if not _UUID.fullmatch(body[key]):
            return [
                {
                    "validation": "uuid",
                    "code": "invalid_string",
                    "message": "Invalid uuid",
                    "path": [key],
                }
            ]
        return []

    def _output(self, body: dict) -> list[dict]:
        output = body.get("output")
        if not isinstance(output, dict):
            return [self._issue(["output"], "object", body, "output")]
        issues = []
        names = " | ".join(f"'{name}'" for name in _OUTPUT_TYPES)
        if not isinstance(output.get("type"), str):
            issues.append(self._issue(["output", "type"], names, output, "type"))
        elif output["type"] not in _OUTPUT_TYPES:
            issues.append(
                {
                    "received": output["type"],
                    "code": "invalid_enum_value",
                    "options": _OUTPUT_TYPES,
                    "path": ["output", "type"],
                    "message": f"Invalid enum value. Expected {names}, "
                    f"received '{output['type']}'",
                }
            )
        if not isinstance(output.get("content"), str):
            issues.append(
                self._issue(["output", "content"], "string", output, "content")
            )
        return issues

    def _zod(self, issues: list[dict]) -> Response:
        return Response(
            400, {"success": False, "error": {"issues": issues, "name": "ZodError"}}
        )

    def _checked(self, request: Request, *rules: Any) -> tuple[dict, Response | None]:
        """Authenticate, parse and validate."""
        refusal = self._auth(request)
        if refusal:
            return {}, refusal
        body = self._body(request)
        if isinstance(body, Response):
            return {}, body
        if not isinstance(body, dict):
            issue = self._issue([], "object", {"": body}, "")
            return {}, self._zod([issue])
        issues = [issue for rule in rules for issue in rule(body)]
        return body, self._zod(issues) if issues else None

    # -- routes

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "sk_agent_" + secrets.token_hex(24)
        agent = {"id": str(uuid.uuid4()), "credits": 100}
        self._agents[token] = agent
        return Response(
            200,
            {
                "success": True,
                "agent_id": agent["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def _listing(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not re.fullmatch(r"-?\d+", limit):
            return self._zod(
                [
                    self._issue(["limit"], "number", {}, "limit")
                    | {"received": "nan", "message": "Expected number, received nan"}
                ]
            )
        if not 1 <= int(limit) <= 50:
            low = int(limit) < 1
            return self._zod(
                [
                    {
                        "code": "too_small" if low else "too_big",
                        "minimum" if low else "maximum": 1 if low else 50,
                        "type": "number",
                        "inclusive": True,
                        "exact": False,
                        "message": "Number must be greater than or equal to 1"
                        if low
                        else "Number must be less than or equal to 50",
                        "path": ["limit"],
                    }
                ]
            )
        rows = [task for task in self._tasks.values() if task["status"] == "open"]
        return Response(
            200,
            {
                "success": True,
                "tasks": rows[: int(limit)],
                "hasMore": len(rows) > int(limit),
            },
        )

    def marketplace(self, request: Request) -> Response:
        return self._listing(request)

    def tasks(self, request: Request) -> Response:
        return self._auth(request) or self._listing(request)

    def agents(self, request: Request) -> Response:
        return Response(200, {"success": True, "agents": list(self._agents.values())})

    def claim(self, request: Request) -> Response:
        body, refusal = self._checked(request, lambda b: self._uuid(b, "taskId"))
        if refusal:
            return refusal
        task = self._tasks.get(body["taskId"])
        if not task:
            return self._fail(404, "Task not found")
        if task["status"] != "open":
            return self._fail(409, "Task is no longer available")
        claim = {
            "id": str(uuid.uuid4()),
            "taskId": task["id"],
            "agentId": self._agents[request.token]["id"],
            "status": "active",
            "expiresAt": _iso(datetime.now(UTC) + timedelta(hours=1)),
        }
        self._claims[claim["id"]] = claim
        task.update(status="claimed", claimed_by=claim["agentId"])
        self.book.claimed(task["id"])
        return Response(200, {"success": True, "claim": claim})

    def _mine(self, request: Request, body: dict) -> tuple[dict, Response | None]:
        claim = self._claims.get(body["claimId"])
        if not claim:
            return {}, self._fail(404, "Claim not found")
        if claim["agentId"] != self._agents[request.token]["id"]:
            return {}, self._fail(403, "This claim belongs to another agent")
        return claim, None

    def submit(self, request: Request) -> Response:
        body, refusal = self._checked(
            request, lambda b: self._uuid(b, "claimId"), self._output
        )
        if refusal:
            return refusal
        claim, refusal = self._mine(request, body)
        if refusal:
            return refusal
        if claim["status"] != "active":
            return self._fail(409, "A result was already submitted for this claim")
        task = self._tasks[claim["taskId"]]
        if body["output"]["type"] != "text":
            return self._fail(422, "This task only accepts output.type 'text'")
        if body["output"]["content"] != task["input_text"].upper():
            return self._fail(
                422, "Submission rejected: output failed automatic review"
            )
        agent = self._agents[request.token]
        agent["credits"] += task["reward_credits"]
        claim["status"] = "approved"
        task["status"] = "approved"
        self.book.pay(task["id"], task["reward_credits"])
        return Response(
            200,
            {
                "success": True,
                "submission": {"claimId": claim["id"], "status": "approved"},
                "payout": {
                    "credits": task["reward_credits"],
                    "balance": agent["credits"],
                },
            },
        )

    def complete(self, request: Request) -> Response:
        body, refusal = self._checked(request, lambda b: self._uuid(b, "claimId"))
        if refusal:
            return refusal
        claim, refusal = self._mine(request, body)
        if refusal:
            return refusal
        if claim["status"] == "active":
            return self._fail(409, "Submit a result before completing the task")
        claim["status"] = self._tasks[claim["taskId"]]["status"] = "completed"
        return Response(200, {"success": True, "task": self._tasks[claim["taskId"]]})
