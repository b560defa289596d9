"""Rails 8 API with strong parameters and jbuilder views.

tasks: {"tasks": [{"id": 31, "name", "body", "price", "state", "created_at"}], "meta": {...}}
claim: {"claim": {"task_id": 31}} -> {"claim": {"id": 900, "task": {...}}}
submit: {"submission": {"claim_id": 900, "body": "..."}} -> {"submission": {"id": 5000, ...}}
complete: {"submission": {"id": 5000}} -> {"submission": ..., "payment": {...}}
A missing root key is 400 {"error": "param is missing ..."}; a failed save is
422 {"errors": {"body": ["can't be blank"]}, "full_messages": [...]}.
"""

import secrets
import time
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response


@dataclass
class Task:
    """app/models/task.rb."""

    id: int
    name: str
    body: str
    price: int
    state: str = "open"


@dataclass
class Claim:
    """app/models/claim.rb."""

    id: int
    task: Task
    agent: int
    submission: int = 0


class RailsJbuilder(Backend):
    """Controllers with before_action :authenticate and rescue_from."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, int] = {}
        self.credits: dict[int, int] = {}
        self.claims: dict[int, Claim] = {}
        self.records: dict[int, Task] = {}
        for index, (name, body, price) in enumerate(
            [
                ("Crate label one", "handle with care and keep this side up", 8),
                ("Crate label two", "contains glass bottles of olive oil", 12),
                ("Pallet card", "do not stack more than three crates high", 10),
                ("Cold room", "store between two and eight degrees", 15),
                ("Gate sign", "drivers must report to the office first", 9),
                ("Dock sign", "switch off the engine while unloading", 11),
            ]
        ):
            self.records[31 + index] = Task(31 + index, name, body, price)

    def texts(self) -> dict[str, str]:
        """Return what can be earned."""
        return {str(one.id): one.body for one in self.records.values()}

    def stamp(self) -> str:
        """Return a time as Rails writes it."""
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time()))

    def errors(self, errors: dict[str, list[str]]) -> Response:
        """Render record.errors."""
        full = [
            f"{name.replace('_id', '').replace('_', ' ').capitalize()} {message}"
            for name, messages in errors.items()
            for message in messages
        ]
        return Response(422, {"errors": errors, "full_messages": full})

    def missing_record(self, model: str, key: Any) -> Response:
        """Rescue ActiveRecord::RecordNotFound."""
        return Response(404, {"error": f"Couldn't find {model} with 'id'={key}"})

    def params(self, request: Request, root: str) -> Response | dict[str, Any]:
        """Authenticate and require the root key."""
        if request.token not in self.agents:
            return Response(401, {"error": "HTTP Token: Access denied."})
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            return Response(
                400, {"error": "Error occurred while parsing request parameters"}
            )
        inner = body.get(root) if isinstance(body, dict) else None
        if not isinstance(inner, dict) or not inner:
            return Response(
                400,
                {"error": f"param is missing or the value is empty or invalid: {root}"},
            )
        return inner

    def number(self, value: Any) -> int:
        """Cast as an integer column does."""
        try:
            return int(value)
        except (TypeError, ValueError):
            return 0

    def task_view(self, task: Task) -> dict[str, Any]:
        """tasks/_task.json.jbuilder."""
        return {
            "id": task.id,
            "name": task.name,
            "instructions": "Give us the body in capital letters",
            "body": task.body,
            "price": task.price,
            "state": task.state,
            "url": f"/tasks/{task.id}.json",
        }

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        number, token = len(self.agents) + 1, secrets.token_hex(12)
        self.agents[token] = number
        self.credits[number] = 100
        return Response(
            201,
            {
                "agent_id": str(number),
                "access_token": token,
                "credits": 100,
                "created_at": self.stamp(),
            },
        )

    def marketplace(self, request: Request) -> Response:
        """tasks/index.json.jbuilder."""
        found = [one for one in self.records.values() if one.state == "open"]
        limit = self.number(request.query.get("limit", "25")) or 25
        return Response(
            200,
            {
                "tasks": [self.task_view(one) for one in found[:limit]],
                "meta": {
                    "total_count": len(found),
                    "per_page": limit,
                    "current_page": 1,
                },
            },
        )

    def tasks(self, request: Request) -> Response:
        """List for an agent."""
        if request.token not in self.agents:
            return Response(401, {"error": "HTTP Token: Access denied."})
        return self.marketplace(request)

    def claim_view(self, claim: Claim) -> dict[str, Any]:
        """claims/_claim.json.jbuilder."""
        return {
            "id": claim.id,
            "agent_id": claim.agent,
            "task": self.task_view(claim.task),
        }

    def claim(self, request: Request) -> Response:
        """ClaimsController#create."""
        params = self.params(request, "claim")
        if isinstance(params, Response):
            return params
        task = self.records.get(self.number(params.get("task_id")))
        if task is None:
            if params.get("task_id") in (None, ""):
                return self.errors({"task_id": ["can't be blank"]})
            return self.missing_record("Task", params["task_id"])
        agent = self.agents[request.token]
        for claim in self.claims.values():
            if claim.task is task:
                if claim.agent == agent:
                    return Response(200, {"claim": self.claim_view(claim)})
                return self.errors({"task_id": ["has already been taken"]})
        claim = Claim(900 + len(self.claims), task, agent)
        self.claims[claim.id] = claim
        task.state = "claimed"
        self.book.claimed(str(task.id))
        return Response(201, {"claim": self.claim_view(claim)})

    def submission_view(self, claim: Claim) -> dict[str, Any]:
        """submissions/_submission.json.jbuilder."""
        return {
            "id": claim.submission,
            "claim_id": claim.id,
            "state": "paid" if claim.task.state == "done" else "accepted",
            "created_at": self.stamp(),
        }

    def submit(self, request: Request) -> Response:
        """SubmissionsController#create."""
        params = self.params(request, "submission")
        if isinstance(params, Response):
            return params
        errors: dict[str, list[str]] = {}
        if params.get("claim_id") in (None, ""):
            errors["claim_id"] = ["can't be blank"]
        body = params.get("body")
        if not isinstance(body, str) or not body.strip():
            errors["body"] = ["can't be blank"]
        if errors:
            return self.errors(errors)
        claim = self.claims.get(self.number(params["claim_id"]))
        if claim is None or claim.agent != self.agents[request.token]:
            return self.missing_record("Claim", params["claim_id"])
        if body != claim.task.body.upper():
            return self.errors({"body": ["is not the task's body in capital letters"]})
        if claim.submission:
            return Response(200, {"submission": self.submission_view(claim)})
        claim.submission = 5000 + claim.id
        claim.task.state = "submitted"
        return Response(201, {"submission": self.submission_view(claim)})

    def complete(self, request: Request) -> Response:
        """SubmissionsController#complete."""
        params = self.params(request, "submission")
        if isinstance(params, Response):
            return params
        if params.get("id") in (None, ""):
            return self.errors({"id": ["can't be blank"]})
        number, agent = self.number(params["id"]), self.agents[request.token]
        for claim in self.claims.values():
            if number and claim.submission == number and claim.agent == agent:
                break
        else:
            return self.missing_record("Submission", params["id"])
        task = claim.task
        if task.state != "done":
            task.state = "done"
            self.credits[agent] += task.price
            self.book.pay(str(task.id), task.price)
        return Response(
            200,
            {
                "submission": self.submission_view(claim),
                "payment": {"amount": task.price, "balance": self.credits[agent]},
            },
        )
