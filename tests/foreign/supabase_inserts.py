"""Supabase Edge Functions over Postgres: `supabase.rpc()` and direct table inserts.

Lists {"ok": true, "tasks": [...], "count": n}: rows with `id` (uuid), `agent_id` (the POSTER's),
`title`, `category`, `instructions`, `input.source_text` (jsonb), `deliverable_spec`
([{"kind": "plain_text", "required": true}]), `reward_credits`, `status` ("open").
claim wants {"agent_id", "task_id"}, agent_id being the caller's own; the rpc `returns table`, so
200 {"ok": true, "data": [{"claim_id": bigint, "task_id", "claim_status", "expires_at"}]}.
submit inserts the body into task_submissions: {"agent_id", "task_id", "claim_id",
"deliverables": [{"kind": "plain_text", "content": str}]}, optional `notes` and `metadata`; a key
that is no column is refused; 200 {"ok": true, "submission": {"id": uuid, ...}}.
complete wants {"agent_id", "task_id", "submission_id"}; pays; 200 {"ok": true, "data": [{...}]}.
Errors are {"ok": false, "error_code", "message", "fields"}: missing agent_id/task_id by the
function (VALIDATION_FAILED), everything else as PostgREST/Postgres words it (PGRST204, 22P02,
23502, 23503, 23514, P0001). The gateway's own 401 is {"code": 401, "message"}.
"""

import re
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SOURCES = [
    "the ferry to the northern islands leaves twice a day in winter",
    "a tired postman leaned his bicycle against the bakery wall",
    "please water the tomatoes before the sun reaches the garden",
    "nobody in the village remembered who had built the bridge",
    "fresh bread and salted butter were waiting on the kitchen table",
    "he whistled an old sailor song while mending the nets",
]
SPACE = uuid.UUID("7b2f0a44-51c3-4c1e-9a55-0d3f2c7be910")
POSTER = "c0ffb6f2-3a18-4a0e-8a53-5b0c55d5a1e7"
COLUMNS = ("agent_id", "task_id", "claim_id", "deliverables", "notes", "metadata")
KINDS = ("plain_text", "markdown", "json", "file_url")


def no(status: int, code: str, message: str, *fields: str) -> Response:
    """Return the functions' shared error body."""
    body = {"ok": False, "error_code": code, "message": message, "fields": [*fields]}
    return Response(status, body)


def show(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def is_uuid(value: Any) -> bool:
    try:
        return bool(uuid.UUID(value))
    except (ValueError, AttributeError, TypeError):
        return False


def stamp(ahead: int = 0) -> str:
    moment = time.gmtime(time.time() + ahead)
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000+00:00", moment)


class SupabaseRpc(Backend):
    """Edge functions that mostly pass on what Postgres says."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}  # by token
        self.rows: dict[str, dict[str, Any]] = {}
        self.claims: dict[int, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        for n, text in enumerate(SOURCES):
            key = str(uuid.uuid5(SPACE, text))
            self.rows[key] = {
                "id": key,
                "agent_id": POSTER,
                "title": "Uppercase conversion",
                "category": "text_transform",
                "instructions": "Write the source text in upper case.",
                "input": {"source_text": text},
                "deliverable_spec": [{"kind": "plain_text", "required": True}],
                "reward_credits": 7 + 2 * n,
                "status": "open",
                "claimed_by": None,
                "created_at": f"2025-03-0{n + 1}T09:1{n}:22.418{n}07+00:00",
            }

    def texts(self) -> dict[str, str]:
        return {key: row["input"]["source_text"] for key, row in self.rows.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "ak_live_" + uuid.uuid4().hex + uuid.uuid4().hex
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        self.agents[token] = agent
        return Response(200, {"ok": True, **agent, "access_token": token})

    def marketplace(self, request: Request) -> Response:
        return self.listing(100)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return self.stranger(request)
        limit = request.query.get("limit", "")
        return self.listing(min(int(limit), 100) if limit.isdigit() else 20)

    def listing(self, limit: int) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "open"][:limit]
        return Response(200, {"ok": True, "tasks": found, "count": len(found)})

    def stranger(self, request: Request) -> Response:
        if not request.token:
            message = "Missing authorization header"
            return Response(401, {"code": 401, "message": message})
        return Response(401, {"code": 401, "message": "Invalid JWT"})

    def body(self, request: Request, *needed: str) -> dict[str, Any] | Response:
        """Return the parsed body after the checks that the functions themselves do."""
        if request.token not in self.agents:
            return self.stranger(request)
        try:
            given = request.json()
        except ValueError:
            why = (
                "Expected a JSON object"
                if request.raw
                else "Unexpected end of JSON input"
            )
            return no(400, "INVALID_JSON", why)
        if not isinstance(given, dict):
            return no(400, "INVALID_JSON", "Expected a JSON object")
        absent = [name for name in needed if given.get(name) in (None, "")]
        if absent:
            message = "Missing required fields: " + ", ".join(absent)
            return no(400, "VALIDATION_FAILED", message, *absent)
        for name in needed:
            if not is_uuid(given[name]):
                message = f'invalid input syntax for type uuid: "{show(given[name])}"'
                return no(400, "22P02", message, name)
        if given["agent_id"] != self.agents[request.token]["agent_id"]:
            message = "agent_id does not belong to this access token"
            return no(403, "AGENT_MISMATCH", message, "agent_id")
        return given

    def claim(self, request: Request) -> Response:
        given = self.body(request, "agent_id", "task_id")
        if isinstance(given, Response):
            return given
        row = self.rows.get(given["task_id"])
        if row is None:
            return no(404, "TASK_NOT_FOUND", "task not found", "task_id")
        if row["status"] != "open" and row["claimed_by"] != given["agent_id"]:
            return no(409, "TASK_NOT_OPEN", f"task is {row['status']}", "task_id")
        if row["status"] == "completed":
            return no(409, "TASK_NOT_OPEN", "task is completed", "task_id")
        if row["status"] == "open":
            row.update(status="claimed", claimed_by=given["agent_id"])
            number = 48213 + len(self.claims)
            self.claims[number] = {
                "claim_id": number,
                "task_id": row["id"],
                "claim_status": "active",
                "expires_at": stamp(3600),
            }
            self.book.claimed(row["id"])
        mine = [c for c in self.claims.values() if c["task_id"] == row["id"]]
        return Response(200, {"ok": True, "data": mine[-1:]})

    def insert(self, given: dict[str, Any]) -> Response | None:
        """Return what Postgres has against this row of task_submissions."""
        table = "task_submissions"
        for name in given:
            if name not in COLUMNS:
                why = f"Could not find the '{name}' column of '{table}' in the schema cache"
                return no(400, "PGRST204", why, name)
        claim = given.get("claim_id")
        if claim is not None and not re.fullmatch(r"-?\d+", str(claim)):
            why = f'invalid input syntax for type bigint: "{show(claim)}"'
            return no(400, "22P02", why, "claim_id")
        for name in ("claim_id", "deliverables"):
            if given.get(name) is None:
                why = (
                    f'null value in column "{name}" of relation "{table}" '
                    "violates not-null constraint"
                )
                return no(400, "23502", why, name)
        items = given["deliverables"]
        if not isinstance(items, list):
            why = (
                f'new row for relation "{table}" violates check constraint '
                f'"{table}_deliverables_is_array"'
            )
            return no(400, "23514", why, "deliverables")
        if not items:
            why = "deliverables must contain at least one item"
            return no(400, "P0001", why, "deliverables")
        for n, item in enumerate(items):
            if not isinstance(item, dict):
                why = f"deliverables[{n}] must be an object with kind and content"
                return no(400, "P0001", why, f"deliverables[{n}]")
            for name in ("kind", "content"):
                at = f"deliverables[{n}].{name}"
                if item.get(name) in (None, ""):
                    return no(400, "P0001", f"{at} is required", at)
                if not isinstance(item[name], str):
                    return no(400, "P0001", f"{at} must be a string", at)
            if item["kind"] not in KINDS:
                why = f'invalid input value for enum deliverable_kind: "{item["kind"]}"'
                return no(400, "22P02", why, f"deliverables[{n}].kind")
        if int(claim) not in self.claims:  # type: ignore[arg-type]
            why = (
                f'insert or update on table "{table}" violates foreign key '
                f'constraint "{table}_claim_id_fkey"'
            )
            return no(409, "23503", why, "claim_id")
        return None

    def submit(self, request: Request) -> Response:
        given = self.body(request, "agent_id", "task_id")
        if isinstance(given, Response):
            return given
        refusal = self.insert(given)
        if refusal:
            return refusal
        row = self.rows.get(given["task_id"])
        if row is None:
            return no(404, "TASK_NOT_FOUND", "task not found", "task_id")
        claim = self.claims[int(given["claim_id"])]
        if claim["task_id"] != row["id"] or row["claimed_by"] != given["agent_id"]:
            why = "claim does not belong to this task and agent"
            return no(409, "CLAIM_MISMATCH", why, "claim_id", "task_id")
        if row["status"] != "claimed":
            why = 'duplicate key value violates unique constraint "task_submissions_claim_id_key"'
            return no(409, "23505", why, "claim_id")
        first = given["deliverables"][0]
        if first["kind"] != "plain_text":
            why = "deliverables do not match deliverable_spec: expected kind plain_text"
            return no(422, "SPEC_MISMATCH", why, "deliverables[0].kind")
        if first["content"] != row["input"]["source_text"].upper():
            why = "Result rejected: content is not the source text in upper case"
            return no(422, "RESULT_REJECTED", why, "deliverables[0].content")
        row["status"] = "submitted"
        made = {
            "id": str(uuid.uuid4()),
            **{name: given.get(name) for name in COLUMNS},
            "claim_id": claim["claim_id"],
            "review_status": "auto_approved",
            "created_at": stamp(),
        }
        self.submissions[made["id"]] = made
        return Response(200, {"ok": True, "submission": made})

    def complete(self, request: Request) -> Response:
        given = self.body(request, "agent_id", "task_id", "submission_id")
        if isinstance(given, Response):
            return given
        row = self.rows.get(given["task_id"])
        if row is None:
            return no(404, "TASK_NOT_FOUND", "task not found", "task_id")
        made = self.submissions.get(given["submission_id"])
        if made is None or made["task_id"] != row["id"]:
            why = "submission not found for this task"
            return no(404, "SUBMISSION_NOT_FOUND", why, "submission_id")
        agent = self.agents[request.token]
        if made["agent_id"] != agent["agent_id"]:
            return no(403, "AGENT_MISMATCH", "not your submission", "submission_id")
        if row["status"] == "submitted":
            row["status"] = "completed"
            agent["credits"] += row["reward_credits"]
            self.book.pay(row["id"], row["reward_credits"])
        answer = {
            "task_id": row["id"],
            "task_status": row["status"],
            "credits_awarded": row["reward_credits"],
            "new_balance": agent["credits"],
        }
        return Response(200, {"ok": True, "data": [answer]})
