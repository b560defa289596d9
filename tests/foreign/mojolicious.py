"""A Perl service: Mojolicious with its OpenAPI plugin and JSON::Validator's errors.

A fault is a path into the body and a few words: {"path": "/body/ticket", "message":
"Missing property."}. Extra properties are refused together, at the object. The result is an
object of its own, and completing wants the receipt that submitting gave.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SUBJECTS = (
    "there is more than one way to whistle",
    "the camel waits outside the bakery",
    "a lazy quantifier sleeps until ten",
    "chomp the last carrot and be happy",
    "warnings are for people with umbrellas",
    "the hash browns arrived in any order",
    "bless the teapot into a new package",
    "local weather is not global weather",
    "an onion has fewer layers than this",
    "the oyster keeps a regular expression",
    "die gracefully or print a poem",
    "unless it rains we wash the marquee",
)
INTEGER, STRING = "integer", "string"
SPECS: dict[str, dict[str, Any]] = {
    "claim": {"ticket": INTEGER},
    "submit": {"ticket": INTEGER, "reply": {"text": STRING}},
    "complete": {"ticket": INTEGER, "receipt": STRING},
}


def kind_of(value: Any) -> str:
    """Return a value's type in JSON::Validator's words."""
    kinds = {bool: "boolean", int: INTEGER, float: "number", str: STRING, list: "array"}
    return "object" if isinstance(value, dict) else kinds.get(type(value), "null")


def faults(spec: dict[str, Any], given: Any, path: str) -> list[dict[str, str]]:
    """Return every fault of an object, depth first."""
    if not isinstance(given, dict):
        told = f"Expected object - got {kind_of(given)}."
        return [{"message": told, "path": path}]
    found = []
    if extra := sorted(set(given) - set(spec)):
        told = f"Properties not allowed: {', '.join(extra)}."
        found.append({"message": told, "path": path})
    for name, kind in spec.items():
        at = f"{path}/{name}"
        if name not in given:
            found.append({"message": "Missing property.", "path": at})
        elif isinstance(kind, dict):
            found += faults(kind, given[name], at)
        elif kind_of(given[name]) != kind:
            told = f"Expected {kind} - got {kind_of(given[name])}."
            found.append({"message": told, "path": at})
    return found


def no(status: int, message: str, path: str = "/") -> Response:
    errors = [{"message": message, "path": path}]
    return Response(status, {"errors": errors, "status": status})


class Mojolicious(Backend):
    """Twelve tickets."""

    def __init__(self) -> None:
        super().__init__()
        self.tickets: dict[int, dict[str, Any]] = {
            n * 3 + 812: {
                "number": n * 3 + 812,
                "subject": subject,
                "fee": f"{n % 8 + 1}.00",
                "queue": "market",
                "open": True,
            }
            for n, subject in enumerate(SUBJECTS)
        }
        self.agents: dict[str, str] = {}
        self.owners: dict[int, str] = {}
        self.receipts: dict[int, str] = {}
        self.closed: set[int] = set()

    def texts(self) -> dict[str, str]:
        return {str(key): one["subject"] for key, one in self.tickets.items()}

    def missing(self, request: Request) -> Response:
        return no(404, "Not Found.")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"mojo-{secrets.token_hex(5)}", secrets.token_hex(30)
        self.agents[token] = agent
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(201, answer)

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "100")
        if not limit.isdigit():
            return no(400, "Expected integer - got string.", "/limit")
        free = [one for one in self.tickets.values() if one["open"]]
        return Response(200, {"tickets": free[: int(limit)], "count": len(free)})

    marketplace = tasks

    def checked(self, request: Request, action: str) -> dict[str, Any] | Response:
        """Return the body if the specification and the ticket allow it."""
        if not (agent := self.agents.get(request.token)):
            return no(401, "Unauthorized.")
        try:
            body = request.json()
        except ValueError:
            return no(400, "Expected object - got null.", "/body")
        if found := faults(SPECS[action], body, "/body"):
            return Response(400, {"errors": found, "status": 400})
        if body["ticket"] not in self.tickets:
            return no(404, "No such ticket.", "/body/ticket")
        if action != "claim" and self.owners.get(body["ticket"]) != agent:
            return no(403, "This ticket is not yours.", "/body/ticket")
        return dict(body)

    def claim(self, request: Request) -> Response:
        if isinstance(body := self.checked(request, "claim"), Response):
            return body
        ticket = self.tickets[body["ticket"]]
        if not ticket["open"]:
            return no(409, "Ticket is already taken.", "/body/ticket")
        ticket["open"] = False
        self.owners[ticket["number"]] = self.agents[request.token]
        self.book.claimed(str(ticket["number"]))
        return Response(200, {"ticket": ticket["number"], "state": "taken"})

    def submit(self, request: Request) -> Response:
        if isinstance(body := self.checked(request, "submit"), Response):
            return body
        number = body["ticket"]
        if number in self.receipts:
            return no(409, "Reply was already given.", "/body/reply")
        if body["reply"]["text"] != self.tickets[number]["subject"].upper():
            return no(422, "The reply is not correct.", "/body/reply/text")
        self.receipts[number] = f"rcpt-{secrets.token_hex(6)}"
        answer = {"ticket": number, "receipt": self.receipts[number]}
        return Response(202, answer)

    def complete(self, request: Request) -> Response:
        if isinstance(body := self.checked(request, "complete"), Response):
            return body
        number = body["ticket"]
        if self.receipts.get(number) != body["receipt"]:
            return no(409, "Receipt does not match.", "/body/receipt")
        fee = self.tickets[number]["fee"]
        if number not in self.closed:
            self.closed.add(number)
            self.book.pay(str(number), int(float(fee)))
        return Response(200, {"ticket": number, "state": "closed", "paid": fee})
