"""Deskwell: a help desk where a task is a ticket, taken, replied to and resolved.

snake_case and whole numbers for everything; statuses are numbers as well; a refusal is a
list of fields with a message and a code, or one `code` with one `message`.
"""

import re
import secrets
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_OPEN, _PENDING, _RESOLVED, _CLOSED = 2, 3, 4, 5
_SEED = (
    ("my parcel never arrived", 20),
    ("please reset the door code", 35),
    ("invoice is short by two euros", 15),
    ("printer jams on every page", 50),
    ("the app forgets my language", 40),
    ("who waters the lobby plants?", 10),
    ("screen stays black after lunch", 65),
)
_WANTS = {
    "number": "It should be a/an Positive Integer",
    "text": "It should be a/an String",
    "status": "It should be one of these values: '4,5'",
    "time": "It should be in the 'hh:mm' format",
}
_KINDS = {str: "String", bool: "Boolean", int: "Integer", float: "Float"}
_KINDS |= {list: "Array", dict: "Object"}
_Body = dict[str, Any]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _one(status: int, code: str, message: str) -> Response:
    return Response(status, {"code": code, "message": message})


def _invalid(*errors: tuple[str, str, str]) -> Response:
    return Response(
        400,
        {
            "description": "Validation failed",
            "errors": [{"field": f, "message": m, "code": c} for f, m, c in errors],
        },
    )


def _check(body: _Body, rules: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return what is wrong with the fields of a body: every one at once."""
    surplus = "Unexpected/invalid field in request"
    wrong = [(name, surplus, "invalid_field") for name in body if name not in rules]
    for name, rule in rules.items():
        value = body.get(name)
        if value in (None, ""):
            wrong.append((name, _WANTS[rule], "missing_field"))
            continue
        said = f"Value set is of type {_KINDS[type(value)]}.{_WANTS[rule]}"
        if (rule == "number" and not (type(value) is int and value > 0)) or (
            rule == "text" and not isinstance(value, str)
        ):
            wrong.append((name, said, "datatype_mismatch"))
        elif (
            rule == "status"
            and (type(value) is not int or value not in (_RESOLVED, _CLOSED))
        ) or (rule == "time" and not re.fullmatch(r"\d{1,3}:[0-5]\d", str(value))):
            wrong.append((name, _WANTS[rule], "invalid_value"))
    return wrong


class Deskwell(Backend):
    """The help desk: an agent is an agent, and a task is a ticket."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, int] = {}  # token -> agent
        self._balance: dict[int, int] = {}
        self._tickets: dict[int, _Body] = {}
        self._replies: dict[int, str] = {}
        self._next_conversation = 510033001
        for number, (text, credits_) in enumerate(_SEED):
            self._tickets[4107 + 3 * number] = {
                "id": 4107 + 3 * number,
                "subject": "Rewrite this description in capital letters",
                "description_text": text,
                "status": _OPEN,
                "priority": 1 + number % 3,
                "type": "Task",
                "responder_id": None,
                "custom_fields": {"cf_reward_credits": credits_},
                "tags": ["uppercase"],
                "created_at": f"2025-03-0{number + 1}T08:30:00Z",
                "updated_at": f"2025-03-0{number + 1}T08:30:00Z",
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every ticket by its number."""
        return {
            str(number): t["description_text"] for number, t in self._tickets.items()
        }

    def handle(self, request: Request) -> Response:
        """Answer one request, with the headers that every answer has."""
        answer = super().handle(request)
        answer.headers["X-Deskwell-Api-Version"] = "current=v2; requested=v2"
        answer.headers["X-Request-Id"] = secrets.token_hex(16)
        return answer

    def missing(self, request: Request) -> Response:
        """Answer what is not there: nothing is said about it."""
        return Response(404, b"")

    def register(self, request: Request) -> Response:
        """Add an agent to the desk."""
        self.book.registrations += 1
        agent = 84000090000 + 17 * self.book.registrations
        token = secrets.token_urlsafe(15)
        self._agents[token], self._balance[agent] = agent, 100
        return Response(
            200,
            {
                "agent_id": str(agent),
                "access_token": token,
                "credits": 100,
                "responder_id": agent,
            },
        )

    def _denied(self, request: Request) -> Response | None:
        if request.token in self._agents:
            return None
        message = "You have to be logged in to perform this action."
        return _one(401, "invalid_credentials", message)

    def tasks(self, request: Request) -> Response:
        """List what is open, page by page; the next page is in the Link header."""
        if denied := self._denied(request):
            return denied
        numbers = {}
        for name, default, most in (("limit", "30", 100), ("page", "1", 500)):
            given = request.query.get(name, default)
            if not given.isdecimal() or not 1 <= int(given) <= most:
                message = (
                    f"It should be a Positive Integer less than or equal to {most}"
                )
                return _invalid((name, message, "invalid_value"))
            numbers[name] = int(given)
        limit, page = numbers["limit"], numbers["page"]
        found = [dict(t) for t in self._tickets.values() if t["status"] == _OPEN]
        answer = Response(200, found[(page - 1) * limit : page * limit])
        if len(found) > page * limit:
            address = f"{request.base}{request.path}?limit={limit}&page={page + 1}"
            answer.headers["Link"] = f'<{address}>; rel="next"'
        return answer

    def marketplace(self, request: Request) -> Response:
        """Answer as the desk's search does, for anyone."""
        found = [dict(t) for t in self._tickets.values() if t["status"] == _OPEN]
        return Response(200, {"total": len(found), "results": found})

    def agents(self, request: Request) -> Response:
        """List the agents."""
        return Response(
            200, [{"id": agent, "available": True} for agent in self._balance]
        )

    def _ticket(
        self, request: Request, rules: dict[str, str]
    ) -> tuple[Response | None, _Body, _Body]:
        """Return a refusal, or the body and the ticket that it is about."""
        if denied := self._denied(request):
            return denied, {}, {}
        if "application/json" not in (request.headers.get("Content-Type") or ""):
            message = "Content-Type header should be set to application/json"
            return _one(415, "invalid_content_type", message), {}, {}
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            message = "Request body has invalid json format"
            return _one(400, "invalid_json", message), {}, {}
        if wrong := _check(body, {"ticket_id": "number", **rules}):
            return _invalid(*wrong), {}, {}
        ticket = self._tickets.get(body["ticket_id"])
        return (None if ticket else self.missing(request)), body, ticket or {}

    def claim(self, request: Request) -> Response:
        """Assign the ticket; an agent can assign it to no one else."""
        refusal, body, ticket = self._ticket(request, {"responder_id": "number"})
        if refusal:
            return refusal
        agent = self._agents[request.token]
        if body["responder_id"] != agent:
            message = "There is no agent matching the given responder_id"
            return _invalid(("responder_id", message, "invalid_value"))
        if ticket["status"] != _OPEN:
            message = "The ticket is already assigned to an agent."
            return _one(409, "inconsistent_state", message)
        ticket.update(responder_id=agent, status=_PENDING, updated_at=_now())
        self.book.claimed(str(ticket["id"]))
        return Response(200, dict(ticket))

    def _mine(self, request: Request, ticket: _Body) -> Response | None:
        if ticket["responder_id"] != self._agents[request.token]:
            message = "You are not authorized to perform this action."
            return _one(403, "access_denied", message)
        if ticket["status"] != _PENDING:
            message = "The ticket is already resolved."
            return _one(409, "inconsistent_state", message)
        return None

    def submit(self, request: Request) -> Response:
        """Reply to the ticket; what the reply is worth shows when it is resolved."""
        refusal, body, ticket = self._ticket(request, {"body": "text"})
        refusal = refusal or self._mine(request, ticket)
        if refusal:
            return refusal
        self._replies[ticket["id"]] = body["body"]
        self._next_conversation += 1
        return Response(
            200,
            {
                "id": self._next_conversation,
                "ticket_id": ticket["id"],
                "user_id": ticket["responder_id"],
                "body_text": body["body"],
                "created_at": _now(),
            },
        )

    def complete(self, request: Request) -> Response:
        """Resolve or close the ticket, which pays if the last reply is right."""
        rules = {"status": "status", "time_spent": "time"}
        refusal, body, ticket = self._ticket(request, rules)
        refusal = refusal or self._mine(request, ticket)
        if refusal:
            return refusal
        reply, number = self._replies.get(ticket["id"]), ticket["id"]
        if reply is None:
            message = "The ticket cannot be resolved without a reply to the requester"
            return _invalid(("status", message, "inconsistent_state"))
        if reply != ticket["description_text"].upper():
            message = "The last reply is not the description_text in capital letters"
            return _invalid(("status", message, "inconsistent_state"))
        credits_, agent = (
            ticket["custom_fields"]["cf_reward_credits"],
            ticket["responder_id"],
        )
        ticket.update(status=body["status"], updated_at=_now())
        self._balance[agent] += credits_
        self.book.pay(str(number), credits_)
        stats = {"resolved_at": _now(), "time_spent": body["time_spent"]}
        earned = {"reward_credits": credits_, "credit_balance": self._balance[agent]}
        return Response(200, {**ticket, "stats": stats, "bonus": earned})
