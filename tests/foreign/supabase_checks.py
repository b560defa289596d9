"""Supabase edge functions over Postgres with row-level security.

Lists {"success": true, "tasks": [...], "count": n}: rows of public.tasks, each with `id` (uuid),
`title`, `instructions`, `input` (jsonb {"source_text"}), `result_kind` (enum), `reward_credits`,
`status`.
claim wants {"task_id": uuid, "worker_agent_id": uuid}; 200 {"success", "claim": {...}}.
submit wants {"task_id": uuid, "worker_agent_id": uuid, "result_kind": the task's own kind,
"result": {"output": str}}; 200 {"success", "submission": {"id": bigint, ...}}.
complete wants {"submission_id": bigint, "worker_agent_id": uuid}; pays, 200 {"success", ...}.
worker_agent_id is the agent_id of the registration.
The functions check only that fields are there: {"error": "Missing required fields: a, b"}.
All else is what Postgres says through PostgREST: {"error": {"code", "details", "hint",
"message"}} with PostgREST's status (22P02, 23514 and P0001 400; 42501 403; 23503 and 23505 409).
The tables have row-level security, so Postgres keeps the failing values out of `details`.
The gateway says {"code": 401, "message"} to a token that is missing or bad.
"""

import base64
import json
import re
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = [
    "the harbour master counts every boat before the evening fog arrives",
    "a wooden spoon lay forgotten on the window sill of the bakery",
    "our neighbour plays the cello whenever the rain keeps him indoors",
    "two grey cats guard the gate of the old botanical garden",
    "the postman remembers the names of all the dogs in our street",
    "nobody could explain why the tower clock struck thirteen that night",
]
SPACE = uuid.UUID("5f1d2c7e-0b94-4c0e-9a53-6f5f0a3b9c11")
RESULT_KINDS = ("plain_text", "markdown", "json_document")  # create type result_kind


class PostgrestError(Exception):
    """An error as supabase-js hands it to the function."""

    def __init__(
        self, status: int, code: str, message: str, details: str | None = None
    ) -> None:
        super().__init__(message)
        body = {"code": code, "details": details, "hint": None, "message": message}
        self.response = Response(status, {"error": body})


class HttpError(Exception):
    """An error that the function itself throws."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.response = Response(status, {"error": message})


def as_text(value: Any) -> str:
    """Return the text that Postgres casts from a JSON value."""
    return value if isinstance(value, str) else json.dumps(value)


def cast_uuid(value: Any) -> str:
    text = as_text(value)
    if not re.fullmatch(
        r"\{?[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\}?", text
    ):
        raise PostgrestError(
            400, "22P02", f'invalid input syntax for type uuid: "{text}"'
        )
    return str(uuid.UUID(text))


def cast_bigint(value: Any) -> int:
    text = as_text(value)
    if not re.fullmatch(r"\s*[-+]?\d+\s*", text):
        raise PostgrestError(
            400, "22P02", f'invalid input syntax for type bigint: "{text}"'
        )
    return int(text)


def cast_enum(value: Any, name: str, labels: tuple[str, ...]) -> str:
    text = as_text(value)
    if text not in labels:
        raise PostgrestError(
            400, "22P02", f'invalid input value for enum {name}: "{text}"'
        )
    return text


def rls(table: str) -> PostgrestError:
    message = f'new row violates row-level security policy for table "{table}"'
    return PostgrestError(403, "42501", message)


def check(table: str, constraint: str) -> PostgrestError:
    message = f'new row for relation "{table}" violates check constraint "{constraint}"'
    return PostgrestError(400, "23514", message)


def unique(constraint: str) -> PostgrestError:
    message = f'duplicate key value violates unique constraint "{constraint}"'
    return PostgrestError(409, "23505", message)


def require_fields(body: Any, fields: list[str]) -> None:
    """The team's helper: absent, null and empty all count as missing."""
    given = body if isinstance(body, dict) else {}
    missing = [name for name in fields if given.get(name) in (None, "")]
    if missing:
        raise HttpError(400, f"Missing required fields: {', '.join(missing)}")


def now() -> str:
    return datetime.now(UTC).isoformat()


class SupabaseRls(Backend):
    """Edge functions that insert as the caller and let the database object."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}  # by token
        self.rows: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {}  # by task
        self.submissions: dict[int, dict[str, Any]] = {}
        self.sequence = 4180
        poster = str(uuid.uuid5(SPACE, "poster"))
        for number, text in enumerate(TEXTS):
            key = str(uuid.uuid5(SPACE, text))
            self.rows[key] = {
                "id": key,
                "poster_agent_id": poster,
                "title": f"Uppercase job #{number + 1}",
                "category": "text_transform",
                "instructions": "Write input.source_text in upper case.",
                "input": {"source_text": text, "language": "en"},
                "result_kind": "plain_text",
                "reward_credits": 6 + 2 * number,
                "status": "open",
                "created_at": f"2025-05-1{number}T08:3{number}:12.48213{number}+00:00",
            }

    def texts(self) -> dict[str, str]:
        return {key: row["input"]["source_text"] for key, row in self.rows.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        claims = {"aud": "authenticated", "role": "authenticated"}
        parts = [
            {"alg": "HS256", "typ": "JWT"},
            {**claims, "sub": agent["agent_id"], "iss": "agent-network"},
        ]
        encoded = [
            base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
            for part in parts
        ]
        token = ".".join([*encoded, uuid.uuid4().hex])
        self.agents[token] = agent
        answer = {"success": True, **agent, "access_token": token}
        return Response(200, {**answer, "token_type": "bearer"})

    def listing(self, limit: int) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "open"][:limit]
        return Response(200, {"success": True, "tasks": found, "count": len(found)})

    def marketplace(self, request: Request) -> Response:
        return self.listing(100)

    def tasks(self, request: Request) -> Response:
        # Math.min(Number(url.searchParams.get("limit")) || 50, 100)
        given = request.query.get("limit", "")
        limit = int(given) if re.fullmatch(r"\d+", given) else 0
        return self.listing(min(limit or 50, 100))

    def function(self, request: Request, name: str) -> Response:
        """Run an edge function behind the gateway's check of the token."""
        if not request.token:
            body = {"code": 401, "message": "Missing authorization header"}
            return Response(401, body)
        agent = self.agents.get(request.token)
        if agent is None:
            return Response(401, {"code": 401, "message": "Invalid JWT"})
        try:
            body = request.json()
        except ValueError as error:
            text, at = request.raw.decode(errors="replace"), getattr(error, "pos", 0)
            message = "Unexpected end of JSON input"
            if text[at:]:
                message = f"Unexpected token '{text[at]}', \"{text}\" is not valid JSON"
            return Response(400, {"error": message})
        try:
            return Response(200, getattr(self, f"{name}_function")(body, agent))
        except (HttpError, PostgrestError) as error:
            return error.response

    def claim(self, request: Request) -> Response:
        return self.function(request, "claim")

    def submit(self, request: Request) -> Response:
        return self.function(request, "submit")

    def complete(self, request: Request) -> Response:
        return self.function(request, "complete")

    def claim_function(self, body: Any, agent: dict[str, Any]) -> dict[str, Any]:
        require_fields(body, ["task_id", "worker_agent_id"])
        task_id = cast_uuid(body["task_id"])
        worker = cast_uuid(body["worker_agent_id"])
        if worker != agent["agent_id"]:
            raise rls("task_claims")
        if task_id in self.claims:
            raise unique("task_claims_task_id_key")
        if task_id not in self.rows:
            raise PostgrestError(
                409,
                "23503",
                'insert or update on table "task_claims" violates foreign key '
                'constraint "task_claims_task_id_fkey"',
                'Key is not present in table "tasks".',
            )
        row = {
            "id": str(uuid.uuid4()),
            "task_id": task_id,
            "worker_agent_id": worker,
            "claimed_at": now(),
        }
        self.claims[task_id] = row
        self.rows[task_id]["status"] = "claimed"
        self.book.claimed(task_id)
        return {"success": True, "claim": row}

    def submit_function(self, body: Any, agent: dict[str, Any]) -> dict[str, Any]:
        require_fields(body, ["task_id", "worker_agent_id", "result_kind", "result"])
        table = "task_submissions"
        kind = cast_enum(body["result_kind"], "result_kind", RESULT_KINDS)
        task_id = cast_uuid(body["task_id"])
        worker = cast_uuid(body["worker_agent_id"])
        result = body["result"]
        claim = self.claims.get(task_id)
        # The policy: it is the caller's row, on a task that the caller has claimed.
        if worker != agent["agent_id"] or not claim:
            raise rls(table)
        if claim["worker_agent_id"] != worker:
            raise rls(table)
        if not isinstance(result, dict):
            raise check(table, "result_must_be_object")
        if not isinstance(result.get("output"), str):
            raise check(table, "result_output_is_string")
        if any(one["task_id"] == task_id for one in self.submissions.values()):
            raise unique("task_submissions_task_id_key")
        task = self.rows[task_id]
        # after insert trigger grade_submission()
        if kind != task["result_kind"]:
            message = f"submission rejected: this task wants {task['result_kind']}"
            raise PostgrestError(400, "P0001", message)
        if result["output"] != task["input"]["source_text"].upper():
            message = "submission rejected: output is not source_text in upper case"
            raise PostgrestError(400, "P0001", message)
        self.sequence += 1
        row = {
            "id": self.sequence,
            "task_id": task_id,
            "worker_agent_id": worker,
            "result_kind": kind,
            "result": result,
            "status": "accepted",
            "submitted_at": now(),
        }
        self.submissions[self.sequence] = row
        task["status"] = "submitted"
        return {"success": True, "submission": row}

    def complete_function(self, body: Any, agent: dict[str, Any]) -> dict[str, Any]:
        require_fields(body, ["submission_id", "worker_agent_id"])
        number = cast_bigint(body["submission_id"])
        worker = cast_uuid(body["worker_agent_id"])
        row = self.submissions.get(number)
        if row is None or not row["worker_agent_id"] == worker == agent["agent_id"]:
            raise HttpError(404, "Submission not found")
        if row["status"] == "completed":
            raise HttpError(409, "Submission is already completed")
        row["status"] = "completed"
        task = self.rows[row["task_id"]]
        task["status"] = "completed"
        agent["credits"] += task["reward_credits"]
        self.book.pay(row["task_id"], task["reward_credits"])
        return {
            "success": True,
            "submission": {"id": number, "status": "completed"},
            "credits_awarded": task["reward_credits"],
            "balance": agent["credits"],
        }
