"""Edge functions that insert the body as it came, and hand back PostgreSQL's own words.

`supabase.from("claims").insert(body).select().single()`: a column that the table does not
have is PGRST204, one that must not be null is 23502, an id that is none is 22P02. Each
function returns { error: error.message } with status 400, as the examples do. The policies
set who is asking; a claim is a row, a submission is a row, and completing names the latter.
"""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the orchard keeper prunes at dusk",
    "pears ripen faster in paper bags",
    "a ladder leans against the quince",
    "wasps found the fallen plums",
    "the cider press creaks all night",
    "frost came early to the valley",
    "seven hens patrol the rhubarb",
    "the beekeeper moves without gloves",
    "a scarecrow in a velvet jacket",
    "the well rope is nearly worn through",
    "bramble grows over the east gate",
    "an owl nests in the apple store",
)


def error(message: str, status: int = 400) -> Response:
    return Response(status, {"error": message})


def is_uuid(value: Any) -> bool:
    try:
        uuid.UUID(str(value))
    except ValueError:
        return False
    return True


class SupabaseInsert(Backend):
    """A project with three tables."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, text in enumerate(TEXTS):
            key = str(uuid.uuid4())
            self.rows[key] = {
                "id": key,
                "created_at": f"2026-11-01T09:{n:02}:41.52+00:00",
                "title": "Uppercase this",
                "description": text,
                "category": "text",
                "reward_credits": n % 6 + 1,
                "status": "open",
                "posted_by": None,
            }
        self.claims: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["description"] for key, row in self.rows.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), f"agt_{secrets.token_urlsafe(32)}"
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = int(request.query.get("limit", "50") or 50)
        found = [row for row in self.rows.values() if row["status"] == "open"]
        return Response(200, {"data": found[:limit], "error": None})

    def inserted(
        self, request: Request, table: str, needed: tuple[str, ...], known: set[str]
    ) -> tuple[Response | None, dict[str, Any]]:
        """Return what the database refuses, or the body."""
        if request.token not in self.agents:
            return error("Invalid or missing token", 401), {}
        try:
            body = request.json()
        except ValueError:
            return error("Unexpected end of JSON input"), {}
        body = body if isinstance(body, dict) else {}
        for name in body:
            if name not in known | {*needed}:
                words = f"Could not find the '{name}' column of '{table}' in the schema"
                return error(f"{words} cache"), {}
        for name in needed:
            if name.endswith("_id") and name in body and not is_uuid(body[name]):
                words = f'invalid input syntax for type uuid: "{body[name]}"'
                return error(words), {}
        for name in needed:
            if body.get(name) is None:
                words = f'null value in column "{name}" of relation "{table}" violates'
                return error(f"{words} not-null constraint"), {}
        return None, body

    def unknown(self, table: str, name: str) -> Response:
        words = f'insert or update on table "{table}" violates foreign key constraint'
        return error(f'{words} "{table}_{name}_fkey"', 409)

    def claim(self, request: Request) -> Response:
        refusal, body = self.inserted(request, "claims", ("task_id",), {"note"})
        if refusal:
            return refusal
        row = self.rows.get(body["task_id"])
        if row is None:
            return self.unknown("claims", "task_id")
        if row["status"] != "open":
            words = "duplicate key value violates unique constraint"
            return error(f'{words} "claims_task_id_key"', 409)
        row["status"] = "claimed"
        key = str(uuid.uuid4())
        self.claims[key] = {
            "id": key,
            "task_id": row["id"],
            "agent_id": self.agents[request.token],
            "status": "active",
            "note": None,
        }
        self.book.claimed(row["id"])
        return Response(200, self.claims[key])

    def submit(self, request: Request) -> Response:
        refusal, body = self.inserted(
            request, "submissions", ("claim_id", "content"), {"attachments"}
        )
        if refusal:
            return refusal
        claim = self.claims.get(body["claim_id"])
        if claim is None:
            return self.unknown("submissions", "claim_id")
        if claim["status"] != "active":
            return error("claim is not active", 409)
        if body["content"] != self.rows[claim["task_id"]]["description"].upper():
            return error("submission rejected", 422)
        claim["status"] = "submitted"
        key = str(uuid.uuid4())
        self.submissions[key] = {
            "id": key,
            "claim_id": claim["id"],
            "content": body["content"],
            "status": "pending",
        }
        return Response(200, self.submissions[key])

    def complete(self, request: Request) -> Response:
        if request.token not in self.agents:
            return error("Invalid or missing token", 401)
        body = request.json()
        key = body.get("submission_id") if isinstance(body, dict) else None
        if not key:
            return error("submission_id is required")
        submission = self.submissions.get(key)
        if submission is None:
            return error("Submission not found", 404)
        row = self.rows[self.claims[submission["claim_id"]]["task_id"]]
        if submission["status"] == "pending":
            submission["status"] = "approved"
            row["status"] = "completed"
            self.book.pay(row["id"], row["reward_credits"])
        return Response(
            200, {"success": True, "credits_awarded": row["reward_credits"]}
        )
