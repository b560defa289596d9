"""An agent marketplace on Supabase edge functions (Deno) with a Postgres table behind.

snake_case rows as PostgREST gives them, {"error": "..."} refusals one check at a time, CORS
headers on everything, 500 with the exception's own words, and a plpgsql function that checks
the result and pays when the task is completed.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "authorization, x-client-info, apikey, content-type",
}
_UUID = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)
_PREFIX = "/functions/v1/"
_SEED = [
    ("Shout the tagline", "agents that get things done", 10),
    ("Shout the button", "start free trial", 5),
    ("Shout the changelog", "webhooks are now retried", 35),
    ("Shout the status line", "all systems operational", 16),
    ("Shout the quote", "ship small, ship often", 24),
    ("Shout the footer", "made in lisbon and tallinn", 13),
]


class _Answer(Exception):  # noqa: N818
    """An early `return json(...)`."""

    def __init__(self, status: int, error: str, **more: Any) -> None:
        self.status, self.body = status, {"error": error, **more}


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _serve(method: Any) -> Any:
    """Deno.serve(async (req) => { try { ... } catch (e) { ... } })."""

    def function(self: "SupabaseEdgeBackend", request: Request) -> Response:
        headers = {**_CORS, "sb-request-id": str(uuid.uuid4())}
        try:
            return Response(200, {"ok": True, **method(self, request)}, headers)
        except _Answer as answer:
            return Response(answer.status, {"ok": False, **answer.body}, headers)

    return function


class SupabaseEdgeBackend(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._results: dict[str, dict[str, Any]] = {}  # task_submissions by task_id
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, text, reward in _SEED:
            key = str(uuid.uuid4())
            self._tasks[key] = {
                "id": key,
                "created_at": _now(),
                "title": title,
                "task_type": "text_transform",
                "payload": {"operation": "uppercase", "text": text},
                "reward_credits": reward,
                "status": "open",
                "claimed_by": None,
                "claimed_at": None,
            }

    def texts(self) -> dict[str, str]:
        return {key: row["payload"]["text"] for key, row in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        if not request.path.startswith(_PREFIX):
            return Response(404, {"error": "requested path is invalid"})
        if any(path == request.path for _, path in ACTIONS):
            return Response(
                405, {"ok": False, "error": "Method not allowed"}, dict(_CORS)
            )
        body = {"code": "NOT_FOUND", "message": "Requested function was not found"}
        return Response(404, body)

    def document(self, request: Request) -> Response:
        return self.missing(request)

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise _Answer(401, "Missing Authorization header")
        if request.token not in self._agents:
            raise _Answer(401, "Invalid access token")
        return self._agents[request.token]

    def _json(self, request: Request) -> dict[str, Any]:
        """await req.json(), and what the catch says when it throws."""
        if not request.raw.strip():
            raise _Answer(500, "Unexpected end of JSON input")
        try:
            body = request.json()
        except ValueError:
            first = request.raw.decode(errors="replace").strip()[:10]
            text = f"Unexpected token '{first[0]}', \"{first}\" is not valid JSON"
            raise _Answer(500, text) from None
        return body if isinstance(body, dict) else {}

    def _require(self, body: dict[str, Any], *names: str) -> None:
        if absent := [name for name in names if not body.get(name)]:
            raise _Answer(400, f"Missing required fields: {', '.join(absent)}")

    def _own(self, agent: dict[str, Any], body: dict[str, Any]) -> None:
        if body["agent_id"] != agent["id"]:
            raise _Answer(403, "agent_id does not match access token")

    def _task(self, key: Any) -> dict[str, Any]:
        """supabase.from("tasks").select("*").eq("id", key).maybeSingle()"""
        if not isinstance(key, str) or not _UUID.fullmatch(key):
            text = f'invalid input syntax for type uuid: "{key}"'
            raise _Answer(400, text, code="22P02")
        if key.lower() not in self._tasks:
            raise _Answer(404, "Task not found")
        return self._tasks[key.lower()]

    @_serve
    def register(self, request: Request) -> dict[str, Any]:
        self._json(request)
        self.book.registrations += 1
        token, key = f"ag_live_{secrets.token_hex(24)}", str(uuid.uuid4())
        handle = f"agent-{key[:8]}"
        self._agents[token] = {
            "id": key,
            "slug": handle,
            "credits": 100,
            "joined": _now(),
        }
        more = {"slug": handle, "status": "active"}
        return {"agent_id": key, "access_token": token, "credits": 100, **more}

    def _listing(self, request: Request) -> dict[str, Any]:
        """const limit = Math.min(Number(limitParam) || 20, 50)"""
        text = request.query.get("limit", "")
        limit = min(int(text) if text.isdecimal() and int(text) else 20, 50)
        rows = [row for row in self._tasks.values() if row["status"] == "open"]
        return {"tasks": [dict(row) for row in rows[:limit]], "total": len(rows)}

    @_serve
    def marketplace(self, request: Request) -> dict[str, Any]:
        return self._listing(request)

    @_serve
    def tasks(self, request: Request) -> dict[str, Any]:
        self._agent(request)
        return self._listing(request)

    @_serve
    def agents(self, request: Request) -> dict[str, Any]:
        rows = self._agents.values()
        return {
            "agents": [
                {"slug": row["slug"], "created_at": row["joined"]} for row in rows
            ]
        }

    @_serve
    def directory(self, request: Request) -> dict[str, Any]:
        slug = request.query.get("slug")
        rows = [row for row in self._agents.values() if slug in (None, row["slug"])]
        if slug and not rows:
            raise _Answer(404, "Agent not found")
        shown = [{"slug": row["slug"], "status": "active"} for row in rows]
        return {"manifest": shown[0]} if slug else {"agents": shown}

    @_serve
    def claim(self, request: Request) -> dict[str, Any]:
        agent, body = self._agent(request), self._json(request)
        self._require(body, "task_id", "agent_id")
        self._own(agent, body)
        task = self._task(body["task_id"])
        if task["status"] != "open":
            raise _Answer(409, "Task is not open", status=task["status"])
        task |= {"status": "claimed", "claimed_by": agent["id"], "claimed_at": _now()}
        self.book.claimed(task["id"])
        return {"message": "Task claimed", "task": dict(task)}

    @_serve
    def submit(self, request: Request) -> dict[str, Any]:
        agent, body = self._agent(request), self._json(request)
        self._require(body, "task_id", "agent_id", "result")
        self._own(agent, body)
        result = body["result"]
        if not isinstance(result, dict) or not isinstance(result.get("output"), str):
            raise _Answer(400, 'result must be an object: { "output": string }')
        task = self._task(body["task_id"])
        if task["claimed_by"] != agent["id"]:
            raise _Answer(403, "Task is not claimed by this agent")
        if task["status"] not in ("claimed", "submitted"):
            raise _Answer(409, f"Cannot submit a result for a {task['status']} task")
        task["status"] = "submitted"
        row = {"id": str(uuid.uuid4()), "task_id": task["id"], "created_at": _now()}
        self._results[task["id"]] = {**row, "result": result}
        return {"message": "Result submitted", "submission": self._results[task["id"]]}

    @_serve
    def complete(self, request: Request) -> dict[str, Any]:
        agent, body = self._agent(request), self._json(request)
        self._require(body, "task_id", "agent_id", "summary")
        self._own(agent, body)
        task = self._task(body["task_id"])
        if task["claimed_by"] != agent["id"]:
            raise _Answer(403, "Task is not claimed by this agent")
        if task["status"] != "submitted":
            raise _Answer(
                409, f"Task must be submitted before completion, is {task['status']}"
            )
        output = self._results[task["id"]]["result"]["output"]
        if output != task["payload"]["text"].upper():
            task["status"] = "claimed"
            text = "result rejected: result.output is not the uppercase of payload.text"
            raise _Answer(
                422, text, code="P0001", details=None, hint="Submit a new result."
            )
        task["status"] = "completed"
        reward = task["reward_credits"]
        self.book.pay(task["id"], reward)
        agent["credits"] += reward
        return {
            "task_id": task["id"],
            "credits_awarded": reward,
            "balance": agent["credits"],
        }

    @_serve
    def post(self, request: Request) -> dict[str, Any]:
        self._agent(request)
        raise _Answer(403, "Task posting is limited to verified agents")

    @_serve
    def checkout(self, request: Request) -> dict[str, Any]:
        raise _Answer(500, "STRIPE_SECRET_KEY is not set")
