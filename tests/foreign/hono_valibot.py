"""A Hono app on an edge worker, validated by valibot's strictObject.

A refusal lists valibot's issues as they are, undefined members left out: each missing
key, each value of another type, and the first key that should not be there. Completing
wants a literal `true` for `confirm`. A submitted solution is reviewed for a second and a
half; until then completing is too early (425), after that it pays.
"""

import json
import secrets
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PUZZLES = (
    "the potter fires the kiln at dusk",
    "label every jar with the year",
    "a heron waits beside the weir",
    "the shepherd counts the flock again",
    "close the shutters against the wind",
    "ten candles stand on the long table",
    "the ice on the pond is thin",
    "bring the ladder from the shed",
    "an acorn fell on the tin roof",
    "the printer ran out of yellow ink",
    "knead the dough until it is smooth",
    "the path bends around the quarry",
)
SCHEMAS: dict[str, dict[str, Any]] = {
    "claim": {"id": str},
    "submit": {"id": str, "solution": str},
    "complete": {"id": str, "confirm": True},
}
ABSENT = object()
REVIEW_SECONDS = 1.5


class HttpError(Exception):
    """What the app's handler threw."""

    def __init__(self, status: int, body: Any, **headers: str) -> None:
        super().__init__(str(body))
        told = {"success": False, "error": body} if isinstance(body, str) else body
        self.response = Response(status, told, headers)


def attempt(step: Callable[[Request], Response], request: Request) -> Response:
    """Run a handler; what it throws is the answer."""
    try:
        return step(request)
    except HttpError as no:
        return no.response


def stringified(value: Any) -> str:
    """Return what valibot writes for a value that it received."""
    if value is ABSENT:
        return "undefined"
    if isinstance(value, list):
        return "Array"
    if isinstance(value, dict):
        return "Object"
    return json.dumps(value, ensure_ascii=False)


def issue(
    label: str, kind: str, value: Any, expected: str, path: dict[str, Any] | None
) -> dict[str, Any]:
    """Return an issue of a schema; JSON knows no undefined."""
    received = stringified(value)
    found: dict[str, Any] = {"kind": "schema", "type": kind}
    if value is not ABSENT:
        found["input"] = value
    found["expected"] = expected
    found["received"] = received
    found["message"] = f"Invalid {label}: Expected {expected} but received {received}"
    if path:
        found["path"] = [path]
    return found


def step_of(origin: str, body: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the one item of a path."""
    found = {"type": "object", "origin": origin, "input": body, "key": key}
    return found | ({"value": body[key]} if key in body else {})


def issues_of(body: Any, schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all that a strictObject has against a value."""
    if not isinstance(body, dict):
        return [issue("type", "strict_object", body, "Object", None)]
    found: list[dict[str, Any]] = []
    for key, wanted in schema.items():
        value = body.get(key, ABSENT)
        if value is ABSENT:
            path = step_of("key", body, key)
            found.append(issue("key", "strict_object", value, f'"{key}"', path))
        elif wanted is str and not isinstance(value, str):
            path = step_of("value", body, key)
            found.append(issue("type", "string", value, "string", path))
        elif wanted is True and value is not True:
            path = step_of("value", body, key)
            found.append(issue("type", "literal", value, "true", path))
    for key in body:
        if key not in schema:
            path = step_of("key", body, key)
            found.append(issue("key", "strict_object", key, "never", path))
            break
    return found


def valid(request: Request, schema: str) -> dict[str, Any]:
    """Do what vValidator("json", schema) does."""
    body: Any = {}
    if "json" in (request.headers.get("Content-Type") or ""):
        try:
            body = request.json()
        except ValueError as fault:
            no = HttpError(400, {})
            no.response.body = "Malformed JSON in request body"
            raise no from fault
    if issues := issues_of(body, SCHEMAS[schema]):
        raise HttpError(400, {"success": False, "issues": issues})
    return dict(body)


class Hono(Backend):
    """Tasks on an edge worker."""

    def __init__(self) -> None:
        super().__init__()
        self.records: dict[str, dict[str, Any]] = {}
        for at, puzzle in enumerate(PUZZLES):
            task = f"V1StGXR8_{at * 7 + 10:x}Z5jdHi{'BmyTqkLwPcNf'[at]}"
            self.records[task] = {
                "id": task,
                "puzzle": puzzle,
                "credits": (at * 5) % 9 + 1,
                "status": "available",
                "createdAt": 1_780_000_000_000 + at * 3_600_000,
            }
        self.tokens: dict[str, str] = {}
        self.holders: dict[str, str] = {}
        self.submitted: dict[str, float] = {}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        ray = {"CF-RAY": f"{secrets.token_hex(8)}-FRA", "CF-Cache-Status": "DYNAMIC"}
        answer.headers = {**answer.headers, **ray}
        return answer

    def texts(self) -> dict[str, str]:
        return {task: row["puzzle"] for task, row in self.records.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "404 Not Found")

    def register(self, request: Request) -> Response:
        agent, token = secrets.token_urlsafe(15), secrets.token_urlsafe(32)
        self.tokens[token] = agent
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        rows = [row for row in self.records.values() if row["status"] == "available"]
        limit = request.query.get("limit", "")
        if limit.isascii() and limit.isdigit():
            rows = rows[: int(limit)]
        return Response(body={"success": True, "data": rows})

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def agent(self, request: Request) -> str:
        """Return who calls; bearerAuth answers in plain text."""
        if request.token in self.tokens:
            return self.tokens[request.token]
        given = request.headers.get("Authorization")
        challenge = 'Bearer error="invalid_token"' if given else 'Bearer realm=""'
        no = HttpError(401, {}, **{"WWW-Authenticate": challenge})
        no.response.body = "Unauthorized"
        raise no

    def held(self, task: str, agent: str) -> dict[str, Any]:
        if task not in self.records:
            raise HttpError(404, "Task not found")
        if self.holders.get(task) != agent:
            raise HttpError(403, "Task is not claimed by you")
        return self.records[task]

    def claim(self, request: Request) -> Response:
        return attempt(self.on_claim, request)

    def on_claim(self, request: Request) -> Response:
        agent = self.agent(request)
        task = valid(request, "claim")["id"]
        if task not in self.records:
            raise HttpError(404, "Task not found")
        if task in self.holders:
            raise HttpError(409, "Task already claimed")
        self.holders[task] = agent
        self.records[task]["status"] = "claimed"
        self.book.claimed(task)
        return Response(body={"success": True, "data": self.records[task]})

    def submit(self, request: Request) -> Response:
        return attempt(self.on_submit, request)

    def on_submit(self, request: Request) -> Response:
        agent = self.agent(request)
        body = valid(request, "submit")
        row = self.held(body["id"], agent)
        if row["status"] != "claimed":
            raise HttpError(409, f"Task is already {row['status']}")
        if body["solution"] != row["puzzle"].upper():
            raise HttpError(422, "Wrong solution")
        row["status"] = "submitted"
        self.submitted[row["id"]] = time.monotonic()
        return Response(
            body={"success": True, "data": {"id": row["id"], "review": "pending"}}
        )

    def complete(self, request: Request) -> Response:
        return attempt(self.on_complete, request)

    def on_complete(self, request: Request) -> Response:
        agent = self.agent(request)
        row = self.held(valid(request, "complete")["id"], agent)
        if row["id"] not in self.submitted:
            raise HttpError(409, "Nothing has been submitted")
        if time.monotonic() - self.submitted[row["id"]] < REVIEW_SECONDS:
            raise HttpError(425, "Too early: review pending")
        if row["status"] != "completed":
            row["status"] = "completed"
            self.book.pay(row["id"], row["credits"])
        paid = {"id": row["id"], "status": "completed", "creditsPaid": row["credits"]}
        return Response(body={"success": True, "data": paid})
