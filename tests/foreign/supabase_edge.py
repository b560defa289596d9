"""Supabase edge functions in front of PostgREST tables.

The task list is a bare array of rows. A claim wants {"task_id": <uuid>}; submit passes its body straight to
an insert into task_submissions, so it wants exactly the columns {"claim_id": <uuid>, "content": <text>};
complete wants {"claim_id": <uuid>} and pays. Refusals are {"error": "..."} from the functions'
own checks, or PostgREST's {code, message, details, hint} from the database.
"""

import time
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SEED = [
    ("Event badge", "speaker at the open data meeting", 6, "open"),
    ("Status page title", "all systems are working as they should", 10, "open"),
    ("Forum rule", "be kind and stay on the subject", 5, "open"),
    ("Feature flag note", "this option is only shown to our testers", 9, "open"),
    ("Retired banner", "the beta closes at the end of the month", 9, "completed"),
    ("Release headline", "faster search and a calmer home screen", 12, "open"),
    ("Support macro", "we have passed your question to the team", 7, "open"),
    ("Consent text", "you may withdraw your consent at any time", 8, "open"),
]
CORS = {"Access-Control-Allow-Origin": "*"}


def database(
    status: int, code: str, message: str, details: str | None = None
) -> Response:
    """Return a PostgREST error."""
    body = {"code": code, "details": details, "hint": None, "message": message}
    return Response(status, body, dict(CORS))


def function_error(status: int, message: str) -> Response:
    """Return what the functions answer themselves."""
    return Response(status, {"error": message}, dict(CORS))


def bad_uuid(value: Any) -> Response | None:
    """Return Postgres's word on a value that is no uuid."""
    try:
        uuid.UUID(value if isinstance(value, str) else "")
    except ValueError:
        return database(
            400,
            "22P02",
            f'invalid input syntax for type uuid: "{str(value).lower() if isinstance(value, bool) else value}"',
        )
    return None


class SupabaseEdge(Backend):
    """Tables tasks, task_claims and task_submissions."""

    def __init__(self) -> None:
        super().__init__()
        self.agents_: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        for number, (title, text, reward, status) in enumerate(SEED):
            key = str(uuid.uuid5(uuid.NAMESPACE_URL, f"supabase-task-{number}"))
            self.rows[key] = {
                "id": key,
                "created_at": f"2025-05-0{number + 1}T10:12:00.412+00:00",
                "title": title,
                "instructions": "Return input_text converted to uppercase.",
                "input_text": text,
                "reward_credits": reward,
                "status": status,
            }

    def texts(self) -> dict[str, str]:
        rows = zip(self.rows, SEED, strict=True)
        return {key: row[1] for key, row in rows if row[3] == "open"}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"sbp_{uuid.uuid4().hex}"
        agent = {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100}
        self.agents_[token] = dict(agent)
        return Response(200, agent, dict(CORS))

    def unauthorized(self, request: Request) -> Response | None:
        """Return the gateway's refusal."""
        if request.token in self.agents_:
            return None
        message = "Invalid JWT" if request.token else "Missing authorization header"
        return Response(401, {"code": 401, "message": message}, dict(CORS))

    def body(self, request: Request) -> dict[str, Any] | Response:
        """Return `await req.json()`."""
        if no := self.unauthorized(request):
            return no
        try:
            data = request.json()
        except ValueError:
            reason = (
                "Unexpected token in JSON"
                if request.raw
                else "Unexpected end of JSON input"
            )
            return function_error(400, reason)
        return data if isinstance(data, dict) else {}

    def marketplace(self, request: Request) -> Response:
        rows = [row for row in self.rows.values() if row["status"] == "open"]
        return Response(200, {"tasks": rows, "count": len(rows)}, dict(CORS))

    def tasks(self, request: Request) -> Response:
        if no := self.unauthorized(request):
            return no
        raw = request.query.get("limit", "20")
        limit = int(raw) if raw.isdecimal() else 20
        rows = [row for row in self.rows.values() if row["status"] == "open"][:limit]
        ends = f"0-{len(rows) - 1}/*" if rows else "*/*"
        return Response(200, rows, {**CORS, "Content-Range": ends})

    def claim(self, request: Request) -> Response:
        data = self.body(request)
        if isinstance(data, Response):
            return data
        key = data.get("task_id")
        if not key:
            return function_error(400, "Missing required field: task_id")
        if no := bad_uuid(key):
            return no
        row = self.rows.get(str(uuid.UUID(key)))
        if row is None:
            return database(
                406,
                "PGRST116",
                "Cannot coerce the result to a single JSON object",
                "The result contains 0 rows",
            )
        if row["status"] == "completed":
            return function_error(409, "Task is not open")
        if row["status"] == "claimed":
            return database(
                409,
                "23505",
                'duplicate key value violates unique constraint "task_claims_task_id_key"',
                f"Key (task_id)=({row['id']}) already exists.",
            )
        row["status"] = "claimed"
        claim = {
            "id": str(uuid.uuid4()),
            "task_id": row["id"],
            "agent_id": self.agents_[request.token]["agent_id"],
            "status": "claimed",
            "claimed_at": datetime.fromtimestamp(time.time(), UTC).isoformat(),
        }
        self.claims[str(claim["id"])] = claim
        self.book.claimed(row["id"])
        return Response(200, {"success": True, "claim": claim}, dict(CORS))

    def submit(self, request: Request) -> Response:
        data = self.body(request)
        if isinstance(data, Response):
            return data
        table = "task_submissions"
        for name in data:
            if name not in ("claim_id", "content"):
                return database(
                    400,
                    "PGRST204",
                    f"Could not find the '{name}' column of '{table}' in the schema cache",
                )
        if data.get("claim_id") is not None and (no := bad_uuid(data["claim_id"])):
            return no
        for name in ("claim_id", "content"):
            if data.get(name) is None:
                return database(
                    400,
                    "23502",
                    f'null value in column "{name}" of relation "{table}" violates not-null constraint',
                    f"Failing row contains ({uuid.uuid4()}, {data.get('claim_id') or 'null'}, "
                    f"{data.get('content') or 'null'}, pending).",
                )
        claim = self.claims.get(str(uuid.UUID(data["claim_id"])))
        if claim is None:
            return database(
                409,
                "23503",
                f'insert or update on table "{table}" violates foreign key constraint "{table}_claim_id_fkey"',
                f'Key (claim_id)=({data["claim_id"]}) is not present in table "task_claims".',
            )
        if claim["agent_id"] != self.agents_[request.token]["agent_id"]:
            return database(
                403,
                "42501",
                f'new row violates row-level security policy for table "{table}"',
            )
        if claim["status"] != "claimed":
            return database(
                409,
                "23505",
                f'duplicate key value violates unique constraint "{table}_claim_id_key"',
                f"Key (claim_id)=({claim['id']}) already exists.",
            )
        if data["content"] != self.rows[claim["task_id"]]["input_text"].upper():
            return database(
                400, "P0001", "content is not the uppercase form of input_text"
            )
        claim["status"] = "submitted"
        submission = {
            "id": str(uuid.uuid4()),
            "claim_id": claim["id"],
            "content": data["content"],
        }
        return Response(200, {"success": True, "submission": submission}, dict(CORS))

    def complete(self, request: Request) -> Response:
        data = self.body(request)
        if isinstance(data, Response):
            return data
        key = data.get("claim_id")
        if not key:
            return function_error(400, "Missing required field: claim_id")
        if no := bad_uuid(key):
            return no
        agent = self.agents_[request.token]
        claim = self.claims.get(str(uuid.UUID(key)))
        if claim is None or claim["agent_id"] != agent["agent_id"]:
            return function_error(404, "Claim not found")
        if claim["status"] == "claimed":
            return function_error(400, "No submission found for this claim")
        if claim["status"] == "completed":
            return function_error(409, "Claim already completed")
        row = self.rows[claim["task_id"]]
        claim["status"] = row["status"] = "completed"
        agent["credits"] += row["reward_credits"]
        self.book.pay(row["id"], row["reward_credits"])
        return Response(
            200,
            {
                "success": True,
                "credits_awarded": row["reward_credits"],
                "new_balance": agent["credits"],
            },
            dict(CORS),
        )
