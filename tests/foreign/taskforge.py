"""A start-up's agent-task API: FastAPI, SQLModel, dependencies and HTTPException details."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import secrets
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SEED = [
    ("Shout the tagline", "Ship small, ship often.", 12),
    ("Banner for the landing page", "Your data, your rules.", 20),
    ("Header of the changelog", "What is new in version 3.2", 8),
    ("Label for the warehouse", "fragile - keep this side up", 15),
    ("Subject of the newsletter", "five things we learned in march", 30),
]
MAX_ACTIVE_CLAIMS = 3


@dataclass
class _Task:
    id: int
    title: str
    input_text: str
    reward_credits: int
    status: str = "open"


@dataclass
class _Claim:
    id: str
    task: _Task
    agent_id: str
    submission: int = 0


class _HTTPException(Exception):  # noqa: N818
    def __init__(self, status: int, detail: Any, headers: dict[str, str] | None = None):  # noqa: ANN204
        self.answer = Response(status, {"detail": detail}, headers or {})


def _endpoint(work: Any) -> Any:
    def call(network: Any, request: Request) -> Response:
        try:
            return Response(200, work(network, request))
        except _HTTPException as error:
            return error.answer

    return call


def _now() -> str:
    return datetime.now(UTC).replace(tzinfo=None).isoformat()


def _field(kind: str, value: Any, low: int, high: int | None) -> tuple[Any, tuple]:
    """Validate one value as pydantic does; return it with (type, msg, ctx) of an error."""
    if kind == "int":
        try:
            value = int(value) if isinstance(value, str) else value
        except ValueError:
            return None, (
                "int_parsing",
                "Input should be a valid integer, unable to parse string as an integer",
                {},
            )
        if not isinstance(value, int):
            return None, ("int_type", "Input should be a valid integer", {})
        if value < low:
            text = f"Input should be greater than or equal to {low}"
            return None, ("greater_than_equal", text, {"ge": low})
        if high is not None and value > high:
            return None, (
                "less_than_equal",
                f"Input should be less than or equal to {high}",
                {"le": high},
            )
    elif not isinstance(value, str):
        return None, ("string_type", "Input should be a valid string", {})
    elif kind == "uuid" and len(value.replace("-", "")) != 32:
        why = (
            f"invalid length: expected length 32 for simple format, found {len(value)}"
        )
        return None, (
            "uuid_parsing",
            f"Input should be a valid UUID, {why}",
            {"error": why},
        )
    return value, ()


# name -> (kind or nested model, required, default, lower bound, upper bound)
_CLAIM = {"task_id": ("int", True, None, 1, None)}
_OUTPUT = {"output_text": ("str", True, None, 1, None)}
_SUBMIT = {
    "claim_id": ("uuid", True, None, 0, None),
    "result": (_OUTPUT, True, None, 0, None),
}
_COMPLETE = {"submission_id": ("int", True, None, 1, None)}
_CHECKOUT = dict.fromkeys(
    ("plan", "agent_id", "price_id"), ("str", True, None, 1, None)
)
_CHECKOUT |= dict.fromkeys(
    ("requested_credits", "amount_cents"), ("int", True, None, 1, None)
)
_PAGE = {"skip": ("int", False, 0, 0, None), "limit": ("int", False, 20, 1, 100)}


def _missing(loc: list, value: Any) -> dict[str, Any]:
    return {"type": "missing", "loc": loc, "msg": "Field required", "input": value}


def _model(value: Any, spec: dict, loc: list, errors: list) -> dict[str, Any]:
    if not isinstance(value, dict):
        errors.append(
            {
                "type": "model_attributes_type",
                "loc": loc,
                "msg": "Input should be a "
                "valid dictionary or object to extract fields from",
                "input": value,
            }
        )
        return {}
    made: dict[str, Any] = {name: rule[2] for name, rule in spec.items()}
    for name, (kind, required, _, low, high) in spec.items():
        if name not in value:
            errors += [_missing([*loc, name], value)] if required else []
        elif isinstance(kind, dict):
            made[name] = _model(value[name], kind, [*loc, name], errors)
        else:
            made[name], error = _field(kind, value[name], low, high)
            if error:
                kind, text, ctx = error  # noqa: PLW2901
                found = {
                    "type": kind,
                    "loc": [*loc, name],
                    "msg": text,
                    "input": value[name],
                }
                errors.append(found | ({"ctx": ctx} if ctx else {}))
    return made


def _validated(value: Any, spec: dict, where: str) -> dict[str, Any]:
    made = _model(value, spec, [where], errors := [])
    if errors:
        raise _HTTPException(422, errors)
    return made


class TaskForge(Backend):
    """TaskForge: integer tasks, UUID claims, integer submissions; completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks = {i: _Task(i, *row) for i, row in enumerate(_SEED, 1)}
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, _Claim] = {}
        self._submissions: dict[int, _Claim] = {}

    def texts(self) -> dict[str, str]:
        return {str(task.id): task.input_text for task in self._tasks.values()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"detail": "Not Found"})

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _HTTPException(
                401, "Not authenticated", {"WWW-Authenticate": "Bearer"}
            )
        if request.token not in self._agents:
            raise _HTTPException(403, "Could not validate credentials")
        return self._agents[request.token]

    def _body(
        self,
        request: Request,
        spec: dict,
        private: bool = True,  # noqa: FBT001, FBT002
    ) -> tuple[dict, dict]:
        body = None
        if request.raw:
            try:
                body = request.json()
            except json.JSONDecodeError as error:
                found = {
                    "type": "json_invalid",
                    "loc": ["body", error.pos],
                    "input": {},
                }
                raise _HTTPException(
                    422,
                    [
                        {
                            **found,
                            "msg": "JSON decode error",
                            "ctx": {"error": error.msg},
                        }
                    ],
                ) from None
        agent = self._agent(request) if private else {}
        if body is None:
            raise _HTTPException(422, [_missing(["body"], None)])
        return agent, _validated(body, spec, "body")

    def _own(self, agent: dict, claim: _Claim | None, name: str) -> _Claim:
        if claim is None:
            raise _HTTPException(404, f"{name} not found")
        if claim.agent_id != agent["agent_id"]:
            raise _HTTPException(403, "Not enough permissions")
        return claim

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "tf_" + secrets.token_urlsafe(32)
        agent = self._agents[token] = {"agent_id": str(uuid.uuid4()), "credits": 100}
        return Response(200, {**agent, "access_token": token, "token_type": "bearer"})

    @_endpoint
    def checkout(self, request: Request) -> Any:
        _, body = self._body(request, _CHECKOUT, private=False)
        return {
            "ok": True,
            "sessionId": "cs_test_" + secrets.token_hex(12),
            "plan": body["plan"],
            "agentId": body["agent_id"],
        }

    @_endpoint
    def marketplace(self, request: Request) -> Any:
        page = _validated(request.query, _PAGE, "query")
        found = [task for task in self._tasks.values() if task.status == "open"]
        data = [
            {
                "id": task.id,
                "title": task.title,
                "task_type": "text_transform",
                "instructions": "Return input_text in upper case, otherwise unchanged.",
                "input_text": task.input_text,
                "reward_credits": task.reward_credits,
                "status": task.status,
            }
            for task in found
        ]
        return {
            "data": data[page["skip"] : page["skip"] + page["limit"]],
            "count": len(data),
        }

    tasks = marketplace

    def directory(self, request: Request) -> Response:
        if "slug" in request.query:
            return Response(404, {"detail": "Agent not found"})
        return self.agents(request)

    def agents(self, request: Request) -> Response:
        data = [{"agent_id": a["agent_id"]} for a in self._agents.values()]
        return Response(200, {"data": data, "count": len(data)})

    @_endpoint
    def claim(self, request: Request) -> Any:
        agent, body = self._body(request, _CLAIM)
        if (task := self._tasks.get(body["task_id"])) is None:
            raise _HTTPException(404, "Task not found")
        if task.status != "open":
            raise _HTTPException(
                409,
                {
                    "code": "task_not_open",
                    "status": task.status,
                    "message": f"Task {task.id} is not open",
                },
            )
        mine = [c for c in self._claims.values() if c.agent_id == agent["agent_id"]]
        if sum(c.task.status == "claimed" for c in mine) >= MAX_ACTIVE_CLAIMS:
            raise _HTTPException(
                409,
                {
                    "code": "claim_limit_reached",
                    "limit": MAX_ACTIVE_CLAIMS,
                    "message": "Too many active claims, submit one first",
                },
            )
        claim = _Claim(str(uuid.uuid4()), task, agent["agent_id"])
        self._claims[claim.id] = claim
        task.status = "claimed"
        self.book.claimed(str(task.id))
        return {
            "id": claim.id,
            "task_id": task.id,
            "status": "active",
            "claimed_at": _now(),
        }

    @_endpoint
    def submit(self, request: Request) -> Any:
        agent, body = self._body(request, _SUBMIT)
        claim = self._own(agent, self._claims.get(body["claim_id"].lower()), "Claim")
        if claim.submission:
            raise _HTTPException(
                409,
                {
                    "code": "already_submitted",
                    "submission_id": claim.submission,
                    "message": "Claim already has a submission",
                },
            )
        if body["result"]["output_text"] != claim.task.input_text.upper():
            raise _HTTPException(
                400,
                {
                    "code": "result_rejected",
                    "task_id": claim.task.id,
                    "message": "output_text is not the expected output",
                },
            )
        claim.submission = 1001 + len(self._submissions)
        self._submissions[claim.submission] = claim
        claim.task.status = "submitted"
        return {
            "id": claim.submission,
            "claim_id": claim.id,
            "task_id": claim.task.id,
            "status": "accepted",
            "submitted_at": _now(),
        }

    @_endpoint
    def complete(self, request: Request) -> Any:
        agent, body = self._body(request, _COMPLETE)
        found = self._submissions.get(body["submission_id"])
        task = self._own(agent, found, "Submission").task
        if task.status == "completed":
            raise _HTTPException(400, "Task already completed")
        task.status = "completed"
        agent["credits"] += task.reward_credits
        self.book.pay(str(task.id), task.reward_credits)
        return {"task_id": task.id, "status": "completed", "balance": agent["credits"]}

    @_endpoint
    def post(self, request: Request) -> Any:
        self._agent(request)
        raise _HTTPException(403, "Posting tasks is not available on the free plan")
