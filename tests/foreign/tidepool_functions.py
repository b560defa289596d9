"""Tidepool: edge functions behind a gateway that looks at the bearer token and no more.

The gateway answers `code` and `message`; the functions behind it answer `error`. Rows are
flat and snake_case, as the database has them. Completion pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import hashlib
import hmac
import json
import time
import uuid
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_SPACE = uuid.UUID("6f0c2b1e-53a7-4a0e-9c55-0d1f6a7be210")
_MAX_ACTIVE = 3
_SEED = [
    ("Banner for the harbour festival", "boats at dawn, music at dusk", 12),
    ("Warning plate for pump room", "do not open while running", 8),
    ("Header of the weekly digest", "seven days by the water", 15),
    ("Name tag for the new ferry", "the patient heron", 5),
    ("Sign for the tide table", "low water 06:14, high water 12:31", 20),
    ("Stamp for returned crates", "return to quay no. 4", 10),
]


class _Stop(Exception):  # noqa: N818
    def __init__(self, status: int, /, **body: Any) -> None:
        super().__init__(status)
        self.answer = Response(status, body)


class Tidepool(Backend):
    """A marketplace made of one edge function for each path."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._rows: dict[str, dict[str, Any]] = {}
        for number, (title, text, reward) in enumerate(_SEED):
            key = str(uuid.uuid5(_SPACE, title))
            self._rows[key] = {
                "id": key,
                "title": title,
                "description": "Return input_text in upper case, nothing else changed.",
                "category": "text",
                "input_text": text,
                "reward_credits": reward,
                "status": "open",
                "claimed_by": None,
                "created_at": f"2025-03-0{number + 1}T09:30:00.000Z",
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its uuid."""
        return {key: row["input_text"] for key, row in self._rows.items()}

    def handle(self, request: Request) -> Response:
        """Add what the platform adds to every answer."""
        answer = super().handle(request)
        answer.headers.setdefault("Access-Control-Allow-Origin", "*")
        answer.headers.setdefault("x-served-by", "edge-runtime")
        return answer

    def missing(self, request: Request) -> Response:
        """Say that the function is not deployed, or not for this method."""
        if any(path == request.path for _, path in ACTIONS):  # noqa: SIM102
            if (request.method, request.path) not in ACTIONS:
                return Response(405, {"error": "Method not allowed"})
        return Response(
            404, {"code": "NOT_FOUND", "message": "Requested function was not found"}
        )

    # --- the gateway

    def _caller(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise _Stop(401, code=401, message="Missing authorization header")
        if not request.token:
            raise _Stop(401, code=401, message="Auth header is not 'Bearer {token}'")
        agent = self._agents.get(request.token)
        if agent is None:
            raise _Stop(401, code=401, message="Invalid JWT")
        return agent

    def _token(self, agent_id: str) -> str:
        def part(data: bytes) -> str:
            return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

        now = int(time.time())
        claims = {
            "iss": "tidepool",
            "sub": agent_id,
            "role": "authenticated",
            "iat": now,
        }
        head = (
            part(b'{"alg":"HS256","typ":"JWT"}')
            + "."
            + part(json.dumps(claims).encode())
        )
        mac = hmac.new(uuid.uuid4().bytes, head.encode(), hashlib.sha256).digest()
        return f"{head}.{part(mac)}"

    # --- what the functions have in common

    def _body(self, request: Request, *required: str) -> dict[str, Any]:
        if not request.raw.strip():
            raise _Stop(400, error="Unexpected end of JSON input")
        try:
            body = request.json()
        except ValueError:
            start = request.raw.decode(errors="replace")
            raise _Stop(
                400,
                error=f"Unexpected token '{start[:1]}', \"{start[:10]}\"... is not valid JSON",
            ) from None
        if not isinstance(body, dict):
            body = {}
        lacking = [name for name in required if body.get(name) in (None, "")]
        if lacking:
            noun = "field" if len(lacking) == 1 else "fields"
            raise _Stop(400, error=f"Missing required {noun}: {', '.join(lacking)}")
        return body

    def _row(self, key: Any) -> dict[str, Any]:
        try:
            key = str(uuid.UUID(str(key)))
        except ValueError:
            raise _Stop(
                400, error=f'invalid input syntax for type uuid: "{key}"', code="22P02"
            ) from None
        if key not in self._rows:
            raise _Stop(404, error="Task not found")
        return self._rows[key]

    def _own(
        self, key: Any, agent: dict[str, Any], status: str, verb: str
    ) -> dict[str, Any]:
        row = self._row(key)
        if row["status"] == "open":
            raise _Stop(409, error="Task has not been claimed", status="open")
        if row["claimed_by"] != agent["id"]:
            raise _Stop(403, error="Task is claimed by another agent")
        if row["status"] != status:
            raise _Stop(
                409,
                error=f"Cannot {verb} a task with status '{row['status']}', expected '{status}'",
                status=row["status"],
            )
        return row

    # --- the functions

    def register(self, request: Request) -> Response:
        """Create a free agent."""
        agent = {"id": str(uuid.uuid4()), "credits": 100}
        token = self._token(agent["id"])
        self._agents[token] = agent
        self.book.registrations += 1
        body = {"agent_id": agent["id"], "access_token": token, "credits": 100}
        return Response(200, {"success": True, **body})

    def _list(self, request: Request) -> Response:
        limit, offset = 20, 0
        for name in ("limit", "offset"):
            if name in request.query and not request.query[name].isdecimal():
                raise _Stop(400, error=f"{name} must be a non-negative integer")
        limit = min(int(request.query.get("limit", limit)), 100) or 20
        offset = int(request.query.get("offset", offset))
        rows = [row for row in self._rows.values() if row["status"] == "open"]
        page = rows[offset : offset + limit]
        body = {"success": True, "tasks": page, "count": len(page), "total": len(rows)}
        return Response(200, body)

    def _run(self, request: Request, function: Any, *required: str) -> Response:
        try:
            agent = self._caller(request)
            body = self._body(request, *required) if request.method == "POST" else {}
            return function(request, agent, body)
        except _Stop as stop:
            return stop.answer

    def marketplace(self, request: Request) -> Response:
        """List open tasks to anybody."""
        try:
            return self._list(request)
        except _Stop as stop:
            return stop.answer

    def tasks(self, request: Request) -> Response:
        """List open tasks to an agent."""
        return self._run(request, lambda req, agent, body: self._list(req))  # noqa: ARG005

    def agents(self, request: Request) -> Response:
        """List the agents."""
        rows = [
            {"id": agent["id"], "status": "active"} for agent in self._agents.values()
        ]
        return Response(200, {"success": True, "agents": rows, "count": len(rows)})

    directory = agents

    def claim(self, request: Request) -> Response:
        """Give an open task to the caller."""
        return self._run(request, self._claim, "task_id")

    def _claim(
        self, request: Request, agent: dict[str, Any], body: dict[str, Any]
    ) -> Response:
        row = self._row(body["task_id"])
        if row["status"] != "open":
            raise _Stop(409, error="Task is no longer available", status=row["status"])
        active = [
            other
            for other in self._rows.values()
            if other["claimed_by"] == agent["id"] and other["status"] != "completed"
        ]
        if len(active) >= _MAX_ACTIVE:
            raise _Stop(
                429,
                error=f"Too many active claims (max {_MAX_ACTIVE}). Complete one first.",
            )
        row.update(status="claimed", claimed_by=agent["id"])
        self.book.claimed(row["id"])
        return Response(200, {"success": True, "message": "Task claimed", "task": row})

    def submit(self, request: Request) -> Response:
        """Take the output of a claimed task."""
        return self._run(request, self._submit, "task_id", "output")

    def _submit(
        self, request: Request, agent: dict[str, Any], body: dict[str, Any]
    ) -> Response:
        row = self._own(body["task_id"], agent, "claimed", "submit")
        if not isinstance(body["output"], str):
            raise _Stop(400, error="output must be a string")
        if body["output"] != row["input_text"].upper():
            raise _Stop(422, error="Output failed verification", task_id=row["id"])
        row["status"] = "submitted"
        return Response(
            200, {"success": True, "task_id": row["id"], "status": "submitted"}
        )

    def complete(self, request: Request) -> Response:
        """Pay for a submitted task."""
        return self._run(request, self._complete, "task_id")

    def _complete(
        self, request: Request, agent: dict[str, Any], body: dict[str, Any]
    ) -> Response:
        row = self._own(body["task_id"], agent, "submitted", "complete")
        row["status"] = "completed"
        agent["credits"] += row["reward_credits"]
        self.book.pay(row["id"], row["reward_credits"])
        return Response(
            200,
            {
                "success": True,
                "task_id": row["id"],
                "status": "completed",
                "credits_earned": row["reward_credits"],
                "credits_balance": agent["credits"],
            },
        )
