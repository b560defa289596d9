"""Edge functions that a language model wrote for a hobbyist, and a human who reviews.

Nearly everything is {"success": false, "error": "..."} with status 200, because the
browser's client hides the body of any other answer; what is thrown is caught, and its
message told as it is, JSON.parse's included. The body names the agent as well as the task,
and a result is a column of text that holds JSON. Somebody looks at it later: until then
completing says that it is pending, and once it is approved completing pays.
"""

import json
import time
import uuid
from secrets import token_hex
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

PROMPTS = (
    "a kettle sings in the caravan",
    "send the postcards before friday",
    "the goat ate the seating plan",
    "mind the step behind the stage",
    "we ran out of orange chalk",
    "his umbrella points to the sea",
    "the lift stops between two floors",
    "count the candles once again",
    "a choir rehearses in the garage",
    "the pilot waved at the children",
)
REVIEW_SECONDS = 2.0
CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "authorization, x-client-info, apikey, content-type",
}


class ThrownError(Exception):
    """`throw new Error(message)`, caught at the end of the function."""


def not_json(text: str) -> str:
    """Return what V8 says of a text that JSON.parse does not take."""
    if not text:
        return "Unexpected end of JSON input"
    shown = f'"{text}"' if len(text) <= 12 else f'"{text[:10]}"...'
    return f"Unexpected token '{text[0]}', {shown} is not valid JSON"


def json_parse(value: object) -> Any:
    """Return what JSON.parse makes of a value, which it turns into text first."""
    text = value if isinstance(value, str) else "[object Object]"
    try:
        return json.loads(text)
    except ValueError:
        if text.startswith("[object"):
            raise ThrownError('"[object Object]" is not valid JSON') from None
        raise ThrownError(not_json(text)) from None


def leaves(value: object) -> list[str]:
    """Return every text in a result: the reviewer reads all of it."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in leaves(one)]
    if isinstance(value, list):
        return [text for one in value for text in leaves(one)]
    return [value] if isinstance(value, str) else []


class VibeCoded(Backend):
    """Ten tasks in a table that a template made."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}  # token -> agent
        self.balances: dict[str, int] = {}
        self.submitted: dict[str, float] = {}  # task -> when
        self.rows: dict[str, Json] = {}
        for n, prompt in enumerate(PROMPTS):
            key = str(uuid.uuid4())
            self.rows[key] = {
                "id": key,
                "title": "Uppercase a sentence",
                "description": prompt,
                "category": "text-processing",
                "difficulty": "easy",
                "reward": n % 4 + 2,
                "status": "open",
                "assigned_agent_id": None,
                "result": None,
                "created_at": "2025-06-11T09:14:03.551+00:00",
            }

    def texts(self) -> dict[str, str]:
        return {key: row["description"] for key, row in self.rows.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), f"agt_{token_hex(16)}"
        self.agents[token], self.balances[agent] = agent, 100
        return Response(
            200,
            {
                "success": True,
                "message": "🎉 Agent created successfully! Welcome to the network.",
                "agent_id": agent,
                "access_token": token,
                "credits": 100,
            },
            CORS,
        )

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        rows = [row for row in self.rows.values() if row["status"] == "open"]
        rows = rows[: int(limit) if limit.isdecimal() else 20]
        return Response(200, {"success": True, "tasks": rows, "count": len(rows)}, CORS)

    marketplace = tasks

    def function(self, request: Request, run: Any) -> Response:
        """Run a function in the try and catch that all of them share."""
        if request.token not in self.agents:
            told = {"success": False, "error": "Invalid or missing access token"}
            return Response(401, told, CORS)
        try:
            try:
                body = request.json()
            except ValueError:
                raise ThrownError(not_json(request.raw.decode())) from None
            return Response(200, {"success": True, **run(body)}, CORS)
        except ThrownError as thrown:
            told = {"success": False, "error": str(thrown)}
            return Response(200, told, CORS, refused=True)

    def wanted(self, body: Any, *names: str) -> tuple[Json, str]:
        """Return the row and the agent, if all the fields are there and right."""
        if not isinstance(body, dict) or not all(body.get(name) for name in names):
            raise ThrownError(f"Missing required fields: {', '.join(names)}")
        agent, key = body["agent_id"], body["task_id"]
        if agent not in self.balances:
            raise ThrownError("Agent not found")
        if not isinstance(key, str) or key not in self.rows:
            raise ThrownError("Task not found")
        return self.rows[key], agent

    def claim(self, request: Request) -> Response:
        return self.function(request, self.on_claim)

    def on_claim(self, body: Any) -> Json:
        row, agent = self.wanted(body, "agent_id", "task_id")
        if row["status"] != "open":
            raise ThrownError("Task is no longer available")
        row.update(status="in_progress", assigned_agent_id=agent)
        self.book.claimed(row["id"])
        return {"message": "Task claimed successfully!", "task": row}

    def submit(self, request: Request) -> Response:
        return self.function(request, self.on_submit)

    def on_submit(self, body: Any) -> Json:
        row, agent = self.wanted(body, "agent_id", "task_id", "result")
        if row["assigned_agent_id"] != agent or row["status"] != "in_progress":
            raise ThrownError("Task not found or not assigned to this agent")
        result = json_parse(body["result"])
        row.update(status="pending_review", result=body["result"])
        if row["description"].upper() not in leaves(result):
            row["status"] = "rejected"
        self.submitted[row["id"]] = time.monotonic()
        return {
            "message": "Result submitted! A human will review it shortly.",
            "task": {"id": row["id"], "status": row["status"]},
        }

    def complete(self, request: Request) -> Response:
        answer = self.function(request, self.on_complete)
        # Not yet is not a fault of the request.
        answer.refused &= "pending review" not in str(answer.body)
        return answer

    def on_complete(self, body: Any) -> Json:
        row, agent = self.wanted(body, "agent_id", "task_id")
        if row["assigned_agent_id"] != agent:
            raise ThrownError("Task not found or not assigned to this agent")
        if row["status"] == "completed":
            raise ThrownError("Task already completed")
        if row["status"] != "pending_review":
            raise ThrownError(f"Task cannot be completed (status: {row['status']})")
        if time.monotonic() - self.submitted[row["id"]] < REVIEW_SECONDS:
            raise ThrownError("Task result is still pending review")
        row["status"] = "completed"
        self.balances[agent] += row["reward"]
        self.book.pay(row["id"], row["reward"])
        return {
            "message": f"Task completed! You earned {row['reward']} credits 🚀",
            "credits_earned": row["reward"],
            "new_balance": self.balances[agent],
        }
