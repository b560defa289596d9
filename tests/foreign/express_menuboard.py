"""Express with Joi (abortEarly: false) and Mongo: restaurants order copy for their menu boards.

Listing: a bare array of tickets {_id (24 hex), ticketNo, restaurant, ask, copy, reward, status,
createdAt}; the public marketplace is the same without the copy.
claim: {ticketId, etaMinutes (1..120)} -> {ok, ticket, workKey}; again by the holder: the same.
submit: {ticketId, workKey, deliverable: {format: "plain", body: str}} -> {ok, ticket}.
complete: {ticketId, workKey} -> {ok, earned, wallet}; a second time the same with earned 0.
Unknown keys are not allowed, Joi converts numbers in strings.
Errors: 400 {ok: false, error: "ValidationError", message, details: [{message, path, type}]};
others {ok: false, error, message} with 401, 403, 404, 409, 422.
"""

import re
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TICKETS = [
    ("Chez Odile", "soup of the day with brown bread", 8),
    ("The Anchor", "fresh mussels until they are gone", 9),
    ("Noodle Yard", "mind the chilli oil, it is hotter than it looks", 15),
    ("Trattoria Sole", "half price pizza every tuesday before seven", 12),
    ("Bean There", "second cup free if you read the paper aloud", 13),
    ("Smoke & Salt", "the brisket takes fourteen hours, so order early", 17),
    ("Le Petit Four", "no cakes today, the oven is being mended", 11),
    (
        "Green Fork",
        "ask us about nuts, gluten, milk and anything else you cannot eat",
        20,
    ),
    ("Harbour Chips", "please do not feed the gulls", 6),
    ("Curry Leaf", "family thali for four with rice and bread", 14),
]


def detail(message: str, path: list[str], kind: str) -> dict[str, Any]:
    label = ".".join(path) or "value"
    return {"message": f'"{label}" {message}', "path": path, "type": kind}


def string(pattern: str = "", length: int = 0, valid: str = "") -> Any:
    def check(value: Any, path: list[str]) -> list[dict[str, Any]]:
        if valid and value != valid:
            return [detail(f"must be [{valid}]", path, "any.only")]
        if not isinstance(value, str):
            return [detail("must be a string", path, "string.base")]
        if not value:
            return [detail("is not allowed to be empty", path, "string.empty")]
        found = []
        if pattern and not re.fullmatch(pattern, value):
            found.append(
                detail("must only contain hexadecimal characters", path, "string.hex")
            )
        if length and len(value) != length:
            found.append(
                detail(
                    f"length must be {length} characters long", path, "string.length"
                )
            )
        return found

    return check


def number(low: int, high: int) -> Any:
    def check(value: Any, path: list[str]) -> list[dict[str, Any]]:
        if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?", value):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return [detail("must be a number", path, "number.base")]
        if value != int(value):
            return [detail("must be an integer", path, "number.integer")]
        if value < low:
            return [
                detail(f"must be greater than or equal to {low}", path, "number.min")
            ]
        if value > high:
            return [detail(f"must be less than or equal to {high}", path, "number.max")]
        return []

    return check


def keys(**schema: Any) -> Any:
    def check(value: Any, path: list[str]) -> list[dict[str, Any]]:
        if not isinstance(value, dict):
            return [detail("must be of type object", path, "object.base")]
        found = []
        for name, inner in schema.items():
            if name in value:
                found += inner(value[name], [*path, name])
            else:
                found.append(detail("is required", [*path, name], "any.required"))
        for name in value:
            if name not in schema:
                found.append(detail("is not allowed", [*path, name], "object.unknown"))
        return found

    return check


OBJECT_ID = string("[0-9a-fA-F]+", 24)
CLAIM = keys(ticketId=OBJECT_ID, etaMinutes=number(1, 120))
SUBMIT = keys(
    ticketId=OBJECT_ID,
    workKey=string(),
    deliverable=keys(format=string(valid="plain"), body=string()),
)
COMPLETE = keys(ticketId=OBJECT_ID, workKey=string())


def fail(status: int, error: str, message: str, **more: Any) -> Response:
    return Response(status, {"ok": False, "error": error, "message": message, **more})


class ExpressMenuboard(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.tickets: dict[str, dict[str, Any]] = {}
        self.holders: dict[str, tuple[str, str]] = {}  # ticket -> token, work key
        for place, (restaurant, copy, reward) in enumerate(TICKETS):
            key = secrets.token_hex(12)
            self.tickets[key] = {
                "_id": key,
                "ticketNo": f"MB-{1042 + place}",
                "restaurant": restaurant,
                "ask": "Set the copy in upper case",
                "copy": copy,
                "reward": reward,
                "status": "waiting",
                "createdAt": time.strftime(
                    "%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time())
                ),
                "__v": 0,
            }

    def texts(self) -> dict[str, str]:
        return {key: ticket["copy"] for key, ticket in self.tickets.items()}

    def check(
        self, request: Request, schema: Any
    ) -> tuple[dict[str, Any], Response | None]:
        if request.token not in self.agents:
            return {}, fail(401, "Unauthorized", "Missing or invalid bearer token")
        try:
            body = request.json() if request.raw else {}
            if not isinstance(body, (dict, list)):  # express.json() is strict
                raise ValueError("Unexpected token in JSON at position 0")  # noqa: TRY004
        except ValueError as problem:
            return {}, fail(400, "SyntaxError", str(problem))
        details = schema(body, [])
        if details:
            message = ". ".join(each["message"] for each in details)
            return {}, fail(400, "ValidationError", message, details=details)
        return dict(body), None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(24)
        self.agents[token] = {"id": secrets.token_hex(12), "wallet": 100}
        return Response(
            200,
            {
                "ok": True,
                "agent_id": self.agents[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def waiting(self, request: Request) -> list[dict[str, Any]]:
        limit = request.query.get("limit", "")
        rows = [row for row in self.tickets.values() if row["status"] == "waiting"]
        return rows[: int(limit)] if limit.isdecimal() and int(limit) else rows

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return fail(401, "Unauthorized", "Missing or invalid bearer token")
        return Response(200, self.waiting(request))

    def marketplace(self, request: Request) -> Response:
        hidden = ("copy", "__v")
        return Response(
            200,
            [
                {name: value for name, value in row.items() if name not in hidden}
                for row in self.waiting(request)
            ],
        )

    def claim(self, request: Request) -> Response:
        body, refusal = self.check(request, CLAIM)
        if refusal:
            return refusal
        key = body["ticketId"].lower()
        if key not in self.tickets:
            return fail(404, "NotFound", "Ticket not found")
        holder, _ = self.holders.get(key, (request.token, ""))
        if holder != request.token:
            return fail(409, "Conflict", "Ticket is already taken by another agent")
        ticket = self.tickets[key]
        if key not in self.holders:
            self.holders[key] = (request.token, secrets.token_urlsafe(9))
            ticket["status"] = "taken"
            ticket["etaMinutes"] = int(float(body["etaMinutes"]))
            ticket["__v"] += 1
            self.book.claimed(key)
        return Response(
            200, {"ok": True, "ticket": ticket, "workKey": self.holders[key][1]}
        )

    def held(
        self, request: Request, body: dict[str, Any]
    ) -> tuple[str, Response | None]:
        key = body["ticketId"].lower()
        if key not in self.tickets:
            return key, fail(404, "NotFound", "Ticket not found")
        if self.holders.get(key) != (request.token, body["workKey"]):
            return key, fail(403, "Forbidden", "workKey does not belong to this ticket")
        return key, None

    def submit(self, request: Request) -> Response:
        body, refusal = self.check(request, SUBMIT)
        if refusal:
            return refusal
        key, refusal = self.held(request, body)
        if refusal:
            return refusal
        ticket = self.tickets[key]
        if ticket["status"] == "closed":
            return fail(409, "Conflict", "Ticket is closed")
        if body["deliverable"]["body"] != ticket["copy"].upper():
            message = "deliverable.body must be the copy of the ticket in upper case"
            return fail(422, "DeliverableRejected", message)
        ticket["status"] = "delivered"
        ticket["__v"] += 1
        return Response(200, {"ok": True, "ticket": ticket})

    def complete(self, request: Request) -> Response:
        body, refusal = self.check(request, COMPLETE)
        if refusal:
            return refusal
        key, refusal = self.held(request, body)
        if refusal:
            return refusal
        ticket, agent, earned = self.tickets[key], self.agents[request.token], 0
        if ticket["status"] == "taken":
            return fail(409, "Conflict", "Nothing was delivered for this ticket yet")
        if ticket["status"] == "delivered":
            ticket["status"] = "closed"
            earned = ticket["reward"]
            agent["wallet"] += earned
            self.book.pay(key, earned)
        return Response(
            200,
            {
                "ok": True,
                "status": "closed",
                "earned": earned,
                "wallet": agent["wallet"],
            },
        )
