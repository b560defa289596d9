"""A Clojure service: reitit's coercion errors with Malli's humanized words, and kebabs.

All faults at once, in a map like the body. Keywords lost their colons on the way to JSON.
Maps are closed: a key too many is a disallowed key. Work is a vector of parts, each with a
kind and a value. Completing pays.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PHRASES = (
    "parentheses hold hands in the dark",
    "the reader evaluates a quiet morning",
    "atoms swap places over breakfast",
    "a lazy sequence of small errands",
    "thread the needle through the last form",
    "transducers carry water up the hill",
    "the map of the valley is immutable",
    "conjure another spoon from the drawer",
    "specs were left on the piano again",
    "a keyword opens the garden shed",
    "reduce the sauce over a low flame",
    "the symbol resolves after some rain",
)
KINDS = {"text", "edn"}


def humanized(body: Any, schema: dict[str, Any]) -> Any:
    """Return what `malli.error/humanize` says; None says nothing."""
    if not isinstance(body, dict):
        return ["invalid type"]
    told: dict[str, Any] = {}
    for key, check in schema.items():
        if key not in body:
            told[key] = ["missing required key"]
        elif isinstance(check, list):
            told[key] = vector_of(body[key], check[0])
        elif check is str and not isinstance(body[key], str):
            told[key] = ["should be a string"]
        elif isinstance(check, set) and body[key] not in check:
            *some, last = sorted(check)
            told[key] = [f"should be either {', '.join(some)} or {last}"]
    for key in body:
        if key not in schema:
            told[key] = ["disallowed key"]
    return {key: said for key, said in told.items() if said} or None


def vector_of(value: Any, schema: dict[str, Any]) -> Any:
    if not isinstance(value, list):
        return ["invalid type"]
    if not value:
        return ["should have at least 1 elements"]
    inside = [humanized(one, schema) for one in value]
    return inside if any(inside) else None


class ClojureMalli(Backend):
    """Twelve chores."""

    def __init__(self) -> None:
        super().__init__()
        self.chores = {f"chore-{secrets.token_hex(5)}": one for one in PHRASES}
        self.pay = {chore: n % 4 + 1 for n, chore in enumerate(self.chores)}
        self.state: dict[str, str] = dict.fromkeys(self.chores, "open")
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.chores)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"agent-{secrets.token_hex(4)}", secrets.token_hex(24)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def view(self, chore: str) -> dict[str, Any]:
        return {
            "chore-id": chore,
            "chore-state": self.state[chore],
            "wording": self.chores[chore],
            "pay": {"amount": self.pay[chore], "currency": "credits"},
        }

    def tasks(self, request: Request) -> Response:
        return Response(200, {"chores": [self.view(chore) for chore in self.chores]})

    def answered(self, request: Request, schema: Any, run: Any) -> Response:
        if request.token not in self.agents:
            return Response(401, {"type": "unauthenticated"})
        body = request.json()
        if told := humanized(body, schema):
            return Response(
                400,
                {
                    "type": "reitit.coercion/request-coercion",
                    "coercion": "malli",
                    "in": ["request", "body-params"],
                    "humanized": told,
                },
            )
        if body["chore-id"] not in self.chores:
            return Response(404, {"type": "not-found", "chore-id": body["chore-id"]})
        found: Response = run(body, body["chore-id"])
        return found

    def claim(self, request: Request) -> Response:
        return self.answered(request, {"chore-id": str}, self.on_claim)

    def on_claim(self, body: Any, chore: str) -> Response:
        if self.state[chore] != "open":
            return Response(409, {"type": "chore/not-open"})
        self.state[chore] = "taken"
        self.book.claimed(chore)
        return Response(200, self.view(chore))

    def submit(self, request: Request) -> Response:
        schema = {"chore-id": str, "parts": [{"kind": KINDS, "value": str}]}
        return self.answered(request, schema, self.on_submit)

    def on_submit(self, body: Any, chore: str) -> Response:
        if self.state[chore] == "open":
            return Response(409, {"type": "chore/not-taken"})
        if body["parts"][0]["value"] != self.chores[chore].upper():
            return Response(409, {"type": "chore/wrong-value"})
        if self.state[chore] == "taken":
            self.state[chore] = "handed-in"
        return Response(200, self.view(chore))

    def complete(self, request: Request) -> Response:
        return self.answered(request, {"chore-id": str}, self.on_complete)

    def on_complete(self, body: Any, chore: str) -> Response:
        if self.state[chore] not in {"handed-in", "finished"}:
            return Response(409, {"type": "chore/not-handed-in"})
        if chore not in self.book.paid:
            self.book.pay(chore, self.pay[chore])
            self.state[chore] = "finished"
        return Response(200, self.view(chore))
