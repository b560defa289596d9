"""Supabase edge functions in TypeScript: zod 3, `error.flatten()`, a shared rate limit.

`flatten` keeps the first part of a path only, so a fault inside of `result`, which is a
discriminated union, is told under `result`. A claim is a row of its own, and the later
functions are about that row. The limiter is one for all functions and says until when, as
a date. `limit` is coerced and bounded, and pages go by `offset`.
"""

import uuid
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from secrets import token_urlsafe
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
PROMPTS = (
    "the bakery opens before the sun",
    "three bicycles lean on one wall",
    "a heron waits beside the lock",
    "she kept the ticket in a book",
    "rain again by the end of may",
    "nobody answered the garden phone",
    "two spoons of sugar and a stir",
    "the map was folded the wrong way",
    "lanterns hang along the quay",
)
MOST, WINDOW = 15, timedelta(seconds=5)
DEFAULT_LIMIT, MOST_LIMIT = 5, 50
KINDS = {str: "string", int: "number", float: "number", bool: "boolean", list: "array"}


class HttpError(Exception):
    def __init__(
        self, status: int, body: Json, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(body)
        self.status, self.body, self.headers = status, body, headers or {}


def kind_of(value: object) -> str:
    """Return how zod calls the type of a value."""
    return "null" if value is None else KINDS.get(type(value), "object")


def id_fault(body: Json, name: str) -> str:
    """Return what z.string().uuid() says of a field."""
    if name not in body:
        return "Required"
    if not isinstance(body[name], str):
        return f"Expected string, received {kind_of(body[name])}"
    try:
        uuid.UUID(body[name])
    except ValueError:
        return "Invalid uuid"
    return ""


def union_fault(body: Json, name: str) -> str:
    """Return what the discriminated union of a result says of a field."""
    if name not in body:
        return "Required"
    result = body[name]
    if not isinstance(result, dict):
        return f"Expected object, received {kind_of(result)}"
    field = {"text": "content", "json": "data", "url": "href"}.get(
        str(result.get("type"))
    )
    if field is None:
        return "Invalid discriminator value. Expected 'text' | 'json' | 'url'"
    if field not in result:
        return "Required"
    if field != "data" and not isinstance(result[field], str):
        return f"Expected string, received {kind_of(result[field])}"
    return ""


def parsed(request: Request, **schema: Callable[[Json, str], str]) -> Json:
    """Return the body, or throw what safeParse found, flattened."""
    try:
        body = request.json()
    except ValueError:
        raise HttpError(400, {"error": "Request body must be valid JSON"}) from None
    form, fields = [], {}
    if isinstance(body, dict):
        found = {name: fault(body, name) for name, fault in schema.items()}
        fields = {name: [fault] for name, fault in found.items() if fault}
    else:
        form = [f"Expected object, received {kind_of(body)}"]
    if form or fields:
        details = {"formErrors": form, "fieldErrors": fields}
        raise HttpError(400, {"error": "Invalid request body", "details": details})
    checked: Json = body
    return checked


class SupabaseZod(Backend):
    """Nine tasks, their claims, and a ledger."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.calls: deque[datetime] = deque()
        self.claims: dict[str, Json] = {}
        self.rows: dict[str, Json] = {}
        for n, prompt in enumerate(PROMPTS):
            key = str(uuid.uuid4())
            self.rows[key] = {
                "id": key,
                "title": f"Uppercase #{n + 1}",
                "instructions": prompt,
                "category": "writing",
                "reward_credits": n % 4 + 2,
                "status": "open",
                "created_at": "2026-11-02T08:30:00.000Z",
            }

    def texts(self) -> dict[str, str]:
        return {key: row["instructions"] for key, row in self.rows.items()}

    def function(self, request: Request, run: Callable[[Request], Json]) -> Response:
        if request.token not in self.agents:
            return Response(401, {"error": "Unauthorized"})
        try:
            self.count()
            return Response(200, run(request))
        except HttpError as no:
            return Response(no.status, no.body, no.headers)

    def count(self) -> None:
        now = datetime.now(UTC)
        while self.calls and now - self.calls[0] > WINDOW:
            self.calls.popleft()
        if len(self.calls) >= MOST:
            free = self.calls[0] + WINDOW + timedelta(seconds=1)
            raise HttpError(
                429,
                {"error": "Rate limit exceeded"},
                {"Retry-After": format_datetime(free, usegmt=True)},
            )
        self.calls.append(now)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), token_urlsafe(32)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        return self.function(request, self.on_tasks)

    def on_tasks(self, request: Request) -> Json:
        limit = int(request.query.get("limit", DEFAULT_LIMIT))
        if not 1 <= limit <= MOST_LIMIT:
            told = f"Number must be less than or equal to {MOST_LIMIT}"
            details = {"formErrors": [], "fieldErrors": {"limit": [told]}}
            raise HttpError(400, {"error": "Invalid query", "details": details})
        offset = int(request.query.get("offset", 0))
        open_ = [row for row in self.rows.values() if row["status"] == "open"]
        page = open_[offset : offset + limit]
        return {
            "data": page,
            "meta": {"total": len(open_), "limit": limit, "offset": offset},
        }

    def claim(self, request: Request) -> Response:
        return self.function(request, self.on_claim)

    def on_claim(self, request: Request) -> Json:
        body = parsed(request, task_id=id_fault)
        row = self.rows.get(body["task_id"])
        if row is None:
            raise HttpError(404, {"error": "Task not found"})
        if row["status"] != "open":
            raise HttpError(409, {"error": "Task already claimed"})
        row["status"] = "claimed"
        claim = {
            "id": str(uuid.uuid4()),
            "task_id": row["id"],
            "agent_id": self.agents[request.token],
            "status": "active",
        }
        self.claims[str(claim["id"])] = claim
        self.book.claimed(row["id"])
        return {"data": {"claim": claim}}

    def claimed(self, request: Request, body: Json) -> Json:
        claim = self.claims.get(body["claim_id"])
        if claim is None or claim["agent_id"] != self.agents[request.token]:
            raise HttpError(404, {"error": "Claim not found"})
        return claim

    def submit(self, request: Request) -> Response:
        return self.function(request, self.on_submit)

    def on_submit(self, request: Request) -> Json:
        body = parsed(request, claim_id=id_fault, result=union_fault)
        claim = self.claimed(request, body)
        if claim["status"] != "active":
            raise HttpError(409, {"error": "A result was already submitted"})
        wanted = self.rows[claim["task_id"]]["instructions"].upper()
        if body["result"].get("content") != wanted:
            raise HttpError(422, {"error": "Result did not pass automatic checks"})
        claim["status"] = "submitted"
        return {"data": {"claim": claim}}

    def complete(self, request: Request) -> Response:
        return self.function(request, self.on_complete)

    def on_complete(self, request: Request) -> Json:
        claim = self.claimed(request, parsed(request, claim_id=id_fault))
        row = self.rows[claim["task_id"]]
        if claim["status"] == "active":
            raise HttpError(409, {"error": "Submit a result first"})
        if claim["status"] == "submitted":
            claim["status"] = row["status"] = "completed"
            self.book.pay(row["id"], row["reward_credits"])
        entry = {"type": "task_reward", "amount": row["reward_credits"]}
        return {"data": {"claim": claim, "transaction": entry}}
