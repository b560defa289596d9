"""A Go service: chi, encoding/json that disallows unknown fields, and ozzo-validation.

ozzo sorts its faults and puts them in one line, `claim_id: cannot be blank; output: (text:
cannot be blank.).`; chi's render wraps the line into {"status", "error"}. Pages follow a
cursor. A claim is a thing of its own, and what is handed in belongs to it.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LINES = (
    "gophers dig under the east fence",
    "a channel closes with nobody waiting",
    "the mutex sleeps in the hallway",
    "defer the dishes until tomorrow",
    "nil is a perfectly good pointer",
    "the garbage truck stops the world",
    "two routines race to the bakery",
    "an interface without any methods",
    "the slice grows beyond its array",
    "select whichever door opens first",
    "panic quietly and recover at noon",
    "the compiler dislikes unused umbrellas",
)
PAGE = 5


def refuse(status: int, words: str, error: str) -> Response:
    return Response(status, {"status": words, "error": error})


def invalid(error: str) -> Response:
    return refuse(400, "Invalid request.", error)


def decode(body: Any, shape: dict[str, Any], struct: str) -> str | None:
    """Return what encoding/json has against a body, the first thing only."""
    if not isinstance(body, dict):
        kind = "array" if isinstance(body, list) else "string"
        return f"json: cannot unmarshal {kind} into Go value of type api.{struct}"
    for name, value in body.items():
        if name not in shape:
            return f'json: unknown field "{name}"'
        kind = shape[name]
        where = f"into Go struct field {struct}.{name} of type"
        if isinstance(kind, dict):
            if not isinstance(value, dict):
                given = "string" if isinstance(value, str) else "number"
                return f"json: cannot unmarshal {given} {where} api.Output"
            if fault := decode(value, kind, f"{struct}.{name}"):
                return fault
        elif not isinstance(value, str):
            given = "object" if isinstance(value, dict) else "number"
            return f"json: cannot unmarshal {given} {where} string"
    return None


def validate(body: dict[str, Any], shape: dict[str, Any]) -> str:
    """Return ozzo's line, or "" if all is well."""
    faults = []
    for name, kind in sorted(shape.items()):
        if isinstance(kind, dict):
            if inner := validate(body.get(name) or {}, kind):
                faults.append(f"{name}: ({inner})")
        elif not body.get(name):
            faults.append(f"{name}: cannot be blank")
    return "; ".join(faults) + "." if faults else ""


class ChiOzzo(Backend):
    """Twelve lines in Postgres."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, line in enumerate(LINES):
            key = f"tsk_{secrets.token_hex(8)}"
            self.rows[key] = {
                "id": key,
                "kind": "rewrite",
                "input": line,
                "price": n % 4 + 1,
                "status": "open",
                "created_at": f"2026-10-11T07:{n:02}:19Z",
            }
        self.claims: dict[str, dict[str, Any]] = {}
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: row["input"] for key, row in self.rows.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(24)
        self.agents.add(token)
        agent = f"agt_{secrets.token_hex(8)}"
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        after = request.query.get("cursor", "")
        every = [*self.rows]
        begin = every.index(after) + 1 if after in self.rows else 0
        found = [key for key in every[begin:] if self.rows[key]["status"] == "open"]
        part, more = found[:PAGE], len(found) > PAGE
        return Response(
            200,
            {
                "tasks": [self.rows[key] for key in part],
                "next_cursor": part[-1] if more else None,
            },
        )

    def bound(
        self, request: Request, struct: str, shape: dict[str, Any]
    ) -> tuple[Response | None, dict[str, Any]]:
        """Return a refusal, or the body."""
        if request.token not in self.agents:
            return refuse(401, "Unauthorized.", "token is missing or invalid"), {}
        try:
            body = request.json()
        except ValueError as error:
            return invalid(str(error)), {}
        if fault := decode(body, shape, struct) or validate(body, shape):
            return invalid(fault), {}
        return None, body

    def claim(self, request: Request) -> Response:
        refusal, body = self.bound(request, "ClaimRequest", {"task_id": str})
        if refusal:
            return refusal
        row = self.rows.get(body["task_id"])
        if row is None:
            return refuse(404, "Resource not found.", "task not found")
        if row["status"] != "open":
            return refuse(409, "Conflict.", "task is already claimed")
        row["status"] = "claimed"
        key = f"clm_{secrets.token_hex(8)}"
        self.claims[key] = {"id": key, "task_id": row["id"], "status": "active"}
        self.book.claimed(row["id"])
        return Response(201, {"claim": self.claims[key]})

    def submit(self, request: Request) -> Response:
        shape = {"claim_id": str, "output": {"text": str}}
        refusal, body = self.bound(request, "SubmitRequest", shape)
        if refusal:
            return refusal
        claim = self.claims.get(body["claim_id"])
        if claim is None:
            return refuse(404, "Resource not found.", "claim not found")
        if claim["status"] != "active":
            return refuse(409, "Conflict.", "claim is not active")
        if body["output"]["text"] != self.rows[claim["task_id"]]["input"].upper():
            return refuse(422, "Unprocessable.", "output was rejected by the checker")
        claim["status"] = "submitted"
        return Response(200, {"claim": claim})

    def complete(self, request: Request) -> Response:
        refusal, body = self.bound(request, "CompleteRequest", {"claim_id": str})
        if refusal:
            return refusal
        claim = self.claims.get(body["claim_id"])
        if claim is None:
            return refuse(404, "Resource not found.", "claim not found")
        row = self.rows[claim["task_id"]]
        if claim["status"] == "submitted":
            claim["status"], row["status"] = "paid", "done"
            self.book.pay(row["id"], row["price"])
        elif claim["status"] != "paid":
            return refuse(409, "Conflict.", "claim has no submission")
        return Response(200, {"claim": claim, "credited": row["price"]})
