"""Tidepool: specimen tags for an aquarium, on NestJS with class-validator."""

import json
import re
import secrets
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SPECIMENS = [
    ("Tank 3", "common starfish, five arms", 16),
    ("Tank 4", "hermit crab in a whelk shell", 21),
    ("Tank 7", "sea hare with purple ink", 27),
    ("Tank 9", "lumpsucker on wet rock", 13),
    ("Tank 12", "brittle star, do not lift", 18),
]
UUID4 = re.compile(
    r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    re.IGNORECASE,
)
NAMES = {
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    422: "Unprocessable Entity",
}
LANGUAGES = ("en", "la")


def uuid4(value: Any, name: str) -> list[str]:
    return (
        []
        if isinstance(value, str) and UUID4.match(value)
        else [f"{name} must be a UUID"]
    )


def text(value: Any, name: str) -> list[str]:
    errors = [f"{name} should not be empty"] if value in (None, "") else []
    return errors + ([] if isinstance(value, str) else [f"{name} must be a string"])


def language(value: Any, name: str) -> list[str]:
    return (
        []
        if value in LANGUAGES
        else [f"{name} must be one of the following values: {', '.join(LANGUAGES)}"]
    )


class NestTidepool(Backend):
    """camelCase DTOs, a `{data, meta}` interceptor, Nest's `{message, error, statusCode}`.

    Listing: `{data: [{id, tank, inscription, bounty, status}], meta: {total}}`. Claim wants
    `{taskId}`; submit `{taskId, tag: {text, language}}` (text in capitals, language one of
    en, la); complete `{taskId}` checks the tag and pays `bountyPaid`. ValidationPipe:
    whitelist with forbidNonWhitelisted, messages as a list.
    """

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}
        self.entities: dict[str, dict[str, Any]] = {}
        for tank, inscription, bounty in SPECIMENS:
            ident = str(uuid.uuid4())
            self.entities[ident] = {
                "id": ident,
                "tank": tank,
                "inscription": inscription,
                "bounty": bounty,
                "status": "AVAILABLE",
                "description": "Engrave the inscription as a tag, in capital letters.",
                "assigneeId": None,
                "createdAt": datetime.now(UTC).isoformat()[:23] + "Z",
            }
        self.doable = list(self.entities)
        ident = str(uuid.uuid4())
        self.entities[ident] = {
            **self.entities[self.doable[0]],
            "id": ident,
            "tank": "Tank 1",
            "status": "COMPLETED",
            "inscription": "beadlet anemone",
        }
        self.tags: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {i: self.entities[i]["inscription"] for i in self.doable}

    def _no(self, status: int, message: Any) -> Response:
        return Response(
            status, {"message": message, "error": NAMES[status], "statusCode": status}
        )

    def missing(self, request: Request) -> Response:
        return self._no(404, f"Cannot {request.method} {request.path}")

    def _ok(self, data: Any, **meta: Any) -> Response:
        return Response(200, {"data": data, **({"meta": meta} if meta else {})})

    def _unauthorized(self) -> Response:
        return Response(401, {"message": "Unauthorized", "statusCode": 401})

    def _validate(
        self, body: dict[str, Any], dto: dict[str, Any], prefix: str = ""
    ) -> list[str]:
        errors = [
            f"{prefix}property {n} should not exist" for n in body if n not in dto
        ]
        for name, rule in dto.items():
            value = body.get(name)
            if not isinstance(rule, dict):
                errors += (
                    rule(value, name)
                    if not prefix
                    else [prefix + e for e in rule(value, name)]
                )
            elif isinstance(value, dict):
                errors += self._validate(value, rule, f"{prefix}{name}.")
            else:
                errors.append(
                    f"{name} should not be null or undefined"
                    if value is None
                    else f"nested property {name} must be either object or array"
                )
        return errors

    def _enter(self, request: Request, dto: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Return the agent, the task and the body, or a refusal first."""
        member = self.members.get(request.token)
        if member is None:
            return self._unauthorized(), None, None
        try:
            body = json.loads(request.raw) if request.raw else {}
        except ValueError:
            return self._no(400, "Unexpected token in JSON at position 0"), None, None
        errors = self._validate(body if isinstance(body, dict) else {}, dto)
        if errors:
            return self._no(400, errors), None, None
        task = self.entities.get(body["taskId"].lower())
        if task is None:
            return self._no(404, f"Task {body['taskId']} not found"), None, None
        return member, task, body

    def register(self, request: Request) -> Response:
        member = {"id": str(uuid.uuid4()), "credits": 100}
        token = secrets.token_hex(32)
        self.members[token] = member
        self.book.registrations += 1
        return Response(
            200, {"agent_id": member["id"], "access_token": token, "credits": 100}
        )

    def marketplace(self, request: Request) -> Response:
        rows = [t for t in self.entities.values() if t["status"] == "AVAILABLE"]
        return self._ok(rows, total=len(rows))

    def tasks(self, request: Request) -> Response:
        if request.token not in self.members:
            return self._unauthorized()
        limit = request.query.get("limit", "20")
        if not limit.isdecimal():
            return self._no(
                400,
                [
                    "limit must not be greater than 100",
                    "limit must not be less than 1",
                    "limit must be an integer number",
                ],
            )
        if not 1 <= int(limit) <= 100:
            return self._no(
                400,
                [
                    f"limit must not be {'less than 1' if int(limit) < 1 else 'greater than 100'}"
                ],
            )
        rows = list(self.entities.values())
        return self._ok(rows[: int(limit)], total=len(rows), limit=int(limit))

    def agents(self, request: Request) -> Response:
        return self._ok(
            [{"id": m["id"], "isActive": True} for m in self.members.values()],
            total=len(self.members),
        )

    def directory(self, request: Request) -> Response:
        return (
            self._no(404, "Agent not found")
            if request.query.get("slug")
            else self.agents(request)
        )

    def claim(self, request: Request) -> Response:
        member, task, _ = self._enter(request, {"taskId": uuid4})
        if isinstance(member, Response):
            return member
        if task["assigneeId"] != member["id"]:
            if task["status"] != "AVAILABLE":
                return self._no(409, "Task is not available")
            task.update(status="CLAIMED", assigneeId=member["id"])
            self.book.claimed(task["id"])
        return self._ok(task)

    def submit(self, request: Request) -> Response:
        member, task, body = self._enter(
            request, {"taskId": uuid4, "tag": {"text": text, "language": language}}
        )
        if isinstance(member, Response):
            return member
        if task["assigneeId"] != member["id"]:
            return self._no(403, "Task is not assigned to you")
        if task["status"] == "COMPLETED":
            return self._no(409, "Task is already completed")
        self.tags[task["id"]] = body["tag"]["text"]
        task["status"] = "SUBMITTED"
        return self._ok(
            {"taskId": task["id"], "tag": body["tag"], "status": "SUBMITTED"}
        )

    def complete(self, request: Request) -> Response:
        member, task, _ = self._enter(request, {"taskId": uuid4})
        if isinstance(member, Response):
            return member
        if task["assigneeId"] != member["id"]:
            return self._no(403, "Task is not assigned to you")
        if task["status"] == "CLAIMED":
            return self._no(409, "Task has no submitted tag")
        if task["status"] == "SUBMITTED":
            if self.tags[task["id"]] != task["inscription"].upper():
                task["status"] = "CLAIMED"
                return self._no(
                    422,
                    "Tag rejected: tag.text is not the inscription in capital letters. Submit again.",
                )
            task["status"] = "COMPLETED"
            member["credits"] += task["bounty"]
            self.book.pay(task["id"], task["bounty"])
        return self._ok(
            {
                "taskId": task["id"],
                "status": "COMPLETED",
                "bountyPaid": task["bounty"],
                "balance": member["credits"],
            }
        )

    def checkout(self, request: Request) -> Response:
        try:
            body = json.loads(request.raw or b"{}")
        except ValueError:
            return self._no(400, "Unexpected token in JSON at position 0")
        body = body if isinstance(body, dict) else {}
        errors = [
            e for n in ("plan", "agent_id", "price_id") for e in text(body.get(n), n)
        ]
        errors += [
            f"{n} must be an integer number"
            for n in ("requested_credits", "amount_cents")
            if not isinstance(body.get(n), int)
        ]
        if errors:
            return self._no(400, errors)
        return Response(
            200,
            {
                "ok": True,
                "sessionId": secrets.token_hex(10),
                "mode": "payment",
                "agentId": body["agent_id"],
                "plan": body["plan"],
            },
        )
