"""Hasura: tables are listed in snake case, actions take a camel-case `input` object.

One error at a time, with a path into the arguments that ends where the fault was found:
for a missing field that is the object around it. Variables that the query does not
declare are refused before all else, fields that the input type does not have after the
missing ones. A result is an object of its own type. What comes back is named by the action.
"""

import itertools
import secrets
import uuid
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

INSTRUCTIONS = (
    "a heron stands in the shallow water",
    "the kettle sings before it boils",
    "move the wardrobe to the other wall",
    "a stranger asked for the old road",
    "the kitchen drawer is full of string",
    "snow covered the tracks by noon",
    "the apprentice sharpened every chisel",
    "bring the boat in before the storm",
    "the curtain rises on an empty stage",
    "she counted the stairs in the dark",
    "the vineyard slopes toward the east",
    "an old song drifted from the harbour",
)
Type = dict[str, Any]  # field -> uuid, String, or a type
RESULT: Type = {"text": "String"}
INPUTS: dict[str, tuple[str, Type]] = {
    "claim": ("ClaimTaskInput", {"taskId": "uuid"}),
    "submit": ("SubmitResultInput", {"claimId": "uuid", "result": RESULT}),
    "complete": ("CompleteTaskInput", {"claimId": "uuid"}),
}
FOUND = {str: "a string", bool: "a boolean", list: "a list", dict: "an object"}


class HasuraError(Exception):
    def __init__(
        self, code: str, message: str, path: str = "$", status: int = 400
    ) -> None:
        super().__init__(message)
        body = {"code": code, "message": message, "path": path}
        self.response = Response(status, body)


def invalid(message: str, path: str) -> HasuraError:
    return HasuraError("validation-failed", message, path)


def parsed(value: Any, name: str, kind: Type | str, path: str) -> Any:
    """Return a value of a GraphQL type."""
    if isinstance(kind, str):
        return scalar(value, kind, path)
    if not isinstance(value, dict):
        found = FOUND.get(type(value), "a number")
        told = f"expected an object for type '{name}', but found {found}"
        raise invalid(told, path)
    for field in kind:
        if value.get(field) is None:
            raise invalid(f"missing required field '{field}'", path)
    for field in value:
        if field not in kind:
            told = f"field '{field}' not found in type: '{name}'"
            raise invalid(told, f"{path}.{field}")
    return {
        field: parsed(value[field], "TaskResult", inner, f"{path}.{field}")
        for field, inner in kind.items()
    }


def scalar(value: Any, kind: str, path: str) -> str:
    if not isinstance(value, str):
        found = FOUND.get(type(value), "a number")
        raise invalid(f"expected a string for type '{kind}', but found {found}", path)
    if kind == "uuid":
        try:
            return str(uuid.UUID(value))
        except ValueError as fault:
            told = f'invalid input syntax for type uuid: "{value}"'
            raise HasuraError("data-exception", told, path) from fault
    return value


class Hasura(Backend):
    """Twelve rows behind three actions."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.numbers = itertools.count(1)
        for at, text in enumerate(INSTRUCTIONS):
            key = str(uuid.uuid5(uuid.NAMESPACE_DNS, text))
            self.rows[key] = {
                "task_id": key,
                "instruction": text,
                "credit_reward": at * 7 % 9 + 1,
                "task_state": "OPEN",
                "claims_aggregate": {"aggregate": {"count": 0}},
                "created_at": f"2025-02-{at + 1:02}T10:00:00.52871+00:00",
                "__typename": "tasks",
            }

    def texts(self) -> dict[str, str]:
        return {key: row["instruction"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return HasuraError("not-found", "Endpoint not found", status=404).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), f"eyJ0eXAiOiJKV1Qi.{secrets.token_hex(30)}"
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        rows = [row for row in self.rows.values() if row["task_state"] == "OPEN"]
        limit = request.query.get("limit", "50")
        if not limit.isdecimal():
            told = "expected a 32-bit integer for type 'Int', but found a string"
            return invalid(told, "$.args.limit").response
        total = {"aggregate": {"count": len(rows)}}
        return Response(200, {"tasks": rows[: int(limit)], "tasks_aggregate": total})

    def agent(self, request: Request) -> str:
        if request.token not in self.agents:
            told = "Could not verify JWT: JWSError JWSInvalidSignature"
            raise HasuraError("invalid-jwt", told, status=401)
        return self.agents[request.token]

    def action(
        self, request: Request, name: str, run: Callable[[str, Any], Any]
    ) -> Response:
        try:
            agent = self.agent(request)
            kind, fields = INPUTS[name]
            given = parsed(arguments(request), kind, fields, "$.args.input")
            return Response(200, run(agent, given))
        except HasuraError as no:
            return no.response

    def claim(self, request: Request) -> Response:
        return self.action(request, "claim", self.on_claim)

    def on_claim(self, agent: str, given: dict[str, Any]) -> Any:
        row = self.rows.get(given["taskId"])
        if row is None:
            raise HasuraError("not-found", "no such task", "$.args.input.taskId", 404)
        if row["task_state"] != "OPEN":
            raise HasuraError("conflict", "task is not open", status=409)
        row["task_state"] = "IN_PROGRESS"
        claim = str(uuid.uuid4())
        self.claims[claim] = {"agent": agent, "row": row, "result": None}
        self.book.claimed(given["taskId"])
        shown = {
            "claimId": claim,
            "task": {"id": given["taskId"], "state": "IN_PROGRESS"},
        }
        return {"claimTask": shown}

    def own(self, agent: str, given: dict[str, Any]) -> dict[str, Any]:
        claim = self.claims.get(given["claimId"])
        if claim is None or claim["agent"] != agent:
            raise HasuraError("not-found", "no such claim", "$.args.input.claimId", 404)
        return claim

    def submit(self, request: Request) -> Response:
        return self.action(request, "submit", self.on_submit)

    def on_submit(self, agent: str, given: dict[str, Any]) -> Any:
        claim = self.own(agent, given)
        if given["result"]["text"] != claim["row"]["instruction"].upper():
            path = "$.args.input.result.text"
            raise HasuraError("wrong-result", "result was not accepted", path)
        claim["result"] = given["result"]
        return {"submitResult": {"affectedRows": 1}}

    def complete(self, request: Request) -> Response:
        return self.action(request, "complete", self.on_complete)

    def on_complete(self, agent: str, given: dict[str, Any]) -> Any:
        claim = self.own(agent, given)
        if claim["result"] is None:
            raise HasuraError("conflict", "claim has no result", status=409)
        row = claim["row"]
        if row["task_id"] not in self.book.paid:
            row["task_state"] = "DONE"
            self.book.pay(row["task_id"], row["credit_reward"])
        paid = {"creditsPaid": row["credit_reward"], "state": "DONE"}
        return {"completeTask": paid}


def arguments(request: Request) -> Any:
    """Return the one variable of the query."""
    try:
        body = request.json()
    except ValueError as fault:
        raise HasuraError("invalid-json", "invalid json") from fault
    if not isinstance(body, dict):
        raise HasuraError("parse-failed", "expected Object, but encountered something")
    if unknown := [name for name in body if name != "input"]:
        told = f"unexpected variables in variableValues: {', '.join(unknown)}"
        raise invalid(told, "$")
    if body.get("input") is None:
        told = 'expecting a value for non-nullable variable: "input"'
        raise invalid(told, "$")
    return body["input"]
