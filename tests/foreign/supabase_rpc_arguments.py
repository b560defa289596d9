"""Supabase edge functions (Deno, TypeScript) over Postgres, with hand-written checks.

Lists: get-marketplace-tasks (with the token) answers the rows as PostgREST gives them, a bare
array; public-marketplace wraps the same rows, {"success", "count", "tasks": [...]}. A row has
`id` (uuid), `task_type`, `status`, `reward_credits` (integer), `posting_fee_credits`,
`poster_id`; the text comes from an embedded table, `task_inputs: [{"id", "kind", "content"}]`.
claim wants {"task_id": uuid, "agent_id": uuid}, the agent's own id as registration gave it;
200 {"success": true, "data": [{"claim_id", "task_id", ...}]} (a set-returning function).
submit wants {"claim_id": uuid, "result_text": str, "metadata"?: any}; 200 {"success": true,
"result": {"id", ...}}.
complete wants {"task_id": uuid, "result_id": uuid} (the `id` of submit's result); pays, 200
{"success": true, "data": [{"task_id", "status", "credits_earned", "balance"}]}.
Unknown keys are ignored everywhere.
Errors: what a function checks by hand is {"error": text}; what its rpc() call reports goes out
as it came, {"code", "details", "hint", "message"}: PGRST202 (an argument left undefined),
22P02 (no uuid), 23502 (null), 23505 (claimed twice), PT404 and PT409 (raised in PL/pgSQL).
"""

import json
import random
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = [
    "our neighbour waters the tomatoes before the sun gets too strong",
    "please leave the parcel with the baker next door",
    "the ferry to the island was late because of the fog",
    "he repaired the old radio with a spoon and some copper wire",
    "two swans crossed the frozen pond, then turned back",
    "nobody in the office remembers who ordered the yellow chairs",
]
CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "authorization, x-client-info, apikey, content-type",
}
# What the functions make of the code of an rpc() error; everything else is a 400.
STATUS = {"PT404": 404, "PT409": 409, "23505": 409}


def reply(body: Any, status: int = 200) -> Response:
    """Return `new Response(JSON.stringify(body), { status, headers: corsHeaders })`."""
    return Response(status, body, dict(CORS))


def falsy(value: Any) -> bool:
    """Return `!value`, as JavaScript means it."""
    return value is None or value is False or value == "" or value == 0


def stamp(minutes: int = 0) -> str:
    """Return a timestamptz, as Postgres writes it into JSON."""
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


class RpcError(Exception):
    """The `error` of supabase-js."""

    def __init__(
        self,
        code: str,
        message: str,
        details: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.body = {"code": code, "details": details, "hint": hint, "message": message}


def as_text(value: Any) -> str:
    """Return what Postgres makes of a JSON value for an argument of type text."""
    return value if isinstance(value, str) else json.dumps(value)


def as_uuid(value: Any) -> str:
    """Return what Postgres makes of a JSON value for an argument of type uuid."""
    text = as_text(value)
    digits = re.sub(r"^\{(.*)\}$", r"\1", text.strip()).replace("-", "").lower()
    if not re.fullmatch(r"[0-9a-f]{32}", digits):
        raise RpcError("22P02", f'invalid input syntax for type uuid: "{text}"')
    return str(uuid.UUID(digits))


class Supabase(Backend):
    """A task market of one table too many, behind edge functions."""

    def __init__(self) -> None:
        super().__init__()
        self.random = random.Random(20250611)  # noqa: S311 - ids of a test
        self.agents: dict[str, dict[str, Any]] = {}  # by token
        self.rows: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.results: dict[str, dict[str, Any]] = {}
        poster = self.new_id()
        for number, text in enumerate(TEXTS):
            key = self.new_id()
            self.rows[key] = {
                "id": key,
                "title": f"Uppercase conversion #{number + 1}",
                "task_type": "text_uppercase",
                "instructions": "Rewrite the attached text in upper case. Plain text only.",
                "status": "open",
                "reward_credits": 7 + 2 * number,
                "posting_fee_credits": 1,
                "poster_id": poster,
                "assigned_agent_id": None,
                "created_at": f"2025-06-11T09:2{number}:31.48{number}913+00:00",
                "task_inputs": [{"id": self.new_id(), "kind": "text", "content": text}],
            }

    def new_id(self) -> str:
        """Return a gen_random_uuid()."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def texts(self) -> dict[str, str]:
        return {k: row["task_inputs"][0]["content"] for k, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        message = "Requested function was not found"
        return reply({"code": "NOT_FOUND", "message": message}, 404)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "agt_" + uuid.uuid4().hex + uuid.uuid4().hex[:8]
        agent = {"agent_id": self.new_id(), "credits": 100}
        self.agents[token] = agent
        return reply({"success": True, **agent, "access_token": token})

    # Listing

    def open_rows(self) -> list[dict[str, Any]]:
        return [row for row in self.rows.values() if row["status"] == "open"]

    def marketplace(self, request: Request) -> Response:
        rows = self.open_rows()
        return reply({"success": True, "count": len(rows), "tasks": rows})

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return reply({"error": "Invalid or missing access token"}, 401)
        try:  # .limit(Number(limit) || 20)
            limit = int(float(request.query.get("limit", ""))) or 20
        except (ValueError, OverflowError):
            limit = 20
        return reply(self.open_rows()[: max(limit, 0)])

    # The runtime actions; each is one function with a try around all of it

    def guarded(self, request: Request, act: Any, first: str) -> Response:
        agent = self.agents.get(request.token)
        if agent is None:
            return reply({"error": "Invalid or missing access token"}, 401)
        try:
            body = request.json()
        except ValueError:
            raw = request.raw.decode(errors="replace").strip()
            if not raw:
                message = "Unexpected end of JSON input"
            elif raw[0] == "{":
                message = "Expected property name or '}' in JSON at position 1 (line 1 column 2)"
            else:
                message = (
                    f"Unexpected token '{raw[0]}', \"{raw[:10]}\" is not valid JSON"
                )
            return reply({"error": message}, 400)
        if body is None:
            message = (
                f"Cannot destructure property '{first}' of "
                "'(intermediate value)' as it is null."
            )
            return reply({"error": message}, 400)
        try:
            return act(body if isinstance(body, dict) else {}, agent)  # type: ignore[no-any-return]
        except RpcError as error:
            return reply(error.body, STATUS.get(error.body["code"], 400))  # type: ignore[arg-type]

    def claim(self, request: Request) -> Response:
        return self.guarded(request, self.do_claim, "task_id")

    def do_claim(self, body: dict[str, Any], agent: dict[str, Any]) -> Response:
        if falsy(body.get("task_id")) or falsy(body.get("agent_id")):
            return reply({"error": "Missing task_id or agent_id"}, 400)
        if body["agent_id"] != agent["agent_id"]:
            return reply({"error": "agent_id does not match access token"}, 403)
        # It calls claim_task with { p_task_id, p_agent_id }.
        key = as_uuid(body["task_id"])
        row = self.rows.get(key)
        if row is None:
            raise RpcError("PT404", "task not found", f"No row in tasks with id {key}")
        if row["status"] != "open":
            raise RpcError(
                "23505",
                'duplicate key value violates unique constraint "task_claims_task_id_key"',
                f"Key (task_id)=({key}) already exists.",
            )
        claim = {
            "claim_id": self.new_id(),
            "task_id": key,
            "agent_id": agent["agent_id"],
            "claimed_at": stamp(),
            "expires_at": stamp(30),
        }
        self.claims[claim["claim_id"]] = claim
        row["status"], row["assigned_agent_id"] = "claimed", agent["agent_id"]
        self.book.claimed(key)
        return reply({"success": True, "data": [claim]})

    def submit(self, request: Request) -> Response:
        return self.guarded(request, self.do_submit, "claim_id")

    def do_submit(self, body: dict[str, Any], agent: dict[str, Any]) -> Response:
        if falsy(body.get("claim_id")):
            return reply({"error": "claim_id is required"}, 400)
        # It calls submit_task_result with { p_agent_id: agent.id, p_claim_id: claim_id,
        #   p_result_text: result_text, p_metadata: metadata }); undefined ones are not sent
        if "result_text" not in body:
            name = "public.submit_task_result"
            given = ["p_agent_id", "p_claim_id"]
            given += ["p_metadata"] if "metadata" in body else []
            shown = ", ".join(given)
            raise RpcError(
                "PGRST202",
                f"Could not find the function {name}({shown}) in the schema cache",
                f"Searched for the function {name} with parameters {shown} or with a single "
                "unnamed json/jsonb parameter, but no matches were found in the schema cache.",
                f"Perhaps you meant to call the function {name}"
                "(p_agent_id, p_claim_id, p_metadata, p_result_text)",
            )
        key = as_uuid(body["claim_id"])
        claim = self.claims.get(key)
        if claim is None or claim["agent_id"] != agent["agent_id"]:
            hint = "Use the claim_id returned by claim-task-public"
            raise RpcError("PT404", "claim not found", None, hint)
        row = self.rows[claim["task_id"]]
        if row["status"] != "claimed":
            details = f"Task status is {row['status']}"
            raise RpcError("PT409", "claim already has an accepted result", details)
        result = {
            "id": self.new_id(),
            "claim_id": key,
            "agent_id": agent["agent_id"],
            "result_text": body["result_text"],
            "metadata": body.get("metadata") or {},
            "status": "accepted",
            "created_at": stamp(),
        }
        if result["result_text"] is None:
            cells = [result["id"], key, agent["agent_id"], "null", "{}", "pending"]
            raise RpcError(
                "23502",
                'null value in column "result_text" of relation "task_results" violates '
                "not-null constraint",
                f"Failing row contains ({', '.join(cells)}, {result['created_at']}).",
            )
        if as_text(result["result_text"]) != row["task_inputs"][0]["content"].upper():
            wrong = "Result rejected: result_text does not match the expected output"
            return reply({"success": False, "error": wrong, "status": "rejected"}, 422)
        self.results[result["id"]] = {**result, "task_id": row["id"]}
        row["status"] = "submitted"
        return reply({"success": True, "result": result})

    def complete(self, request: Request) -> Response:
        return self.guarded(request, self.do_complete, "task_id")

    def do_complete(self, body: dict[str, Any], agent: dict[str, Any]) -> Response:
        for name in ("task_id", "result_id"):
            if falsy(body.get(name)):
                return reply({"error": f"{name} is required"}, 400)
        # It calls complete_task with { p_task_id, p_result_id, p_agent_id }.
        key, result_key = as_uuid(body["task_id"]), as_uuid(body["result_id"])
        row = self.rows.get(key)
        if row is None:
            raise RpcError("PT404", "task not found", f"No row in tasks with id {key}")
        result = self.results.get(result_key)
        if not result or (result["task_id"], result["agent_id"]) != (
            key,
            agent["agent_id"],
        ):
            details = (
                f"No row in task_results with id {result_key} for this task and agent"
            )
            hint = "Submit a result first and pass its id"
            raise RpcError("PT404", "result not found", details, hint)
        if row["status"] == "completed":
            raise RpcError("PT409", "task already completed")
        row["status"] = "completed"
        agent["credits"] += row["reward_credits"]
        self.book.pay(key, row["reward_credits"])
        done = {
            "task_id": key,
            "status": "completed",
            "credits_earned": row["reward_credits"],
            "balance": agent["credits"],
        }
        return reply({"success": True, "data": [done]})
