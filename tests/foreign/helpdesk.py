"""A help desk in the manner of Freshdesk's API v2.

Records are tickets in a bare array with a Link header, states are numbers, and a refusal
is `Validation failed` with a list of fields, sentences and codes. Closing a ticket pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_OPEN, _PENDING, _RESOLVED, _CLOSED = 2, 3, 4, 5
_TICKETS = [
    ("Label for parcel 18", "fragile, keep this side up", 15),
    ("Sign for the east door", "please ring twice", 8),
    ("Heading of the spring letter", "new opening hours from 3 april", 22),
    ("Plate for bench no. 4", "in memory of anna weaver", 30),
    ("Button of the order form", "send my order", 5),
    ("Banner for the sale", "everything must go by friday", 18),
]


def _now(shift: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(hours=shift)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _kind(value: Any) -> str:
    """Return the name that the API gives to the type of a value."""
    if value is None:
        return "Null"
    if isinstance(value, bool):
        return "Boolean"
    names = {int: "Integer", float: "Float", str: "String", list: "Array"}
    return names.get(type(value), "key/value pair")


def _error(field: str, message: str, code: str) -> dict[str, str]:
    return {"field": field, "message": message, "code": code}


def _invalid(*errors: dict[str, str]) -> Response:
    return Response(400, {"description": "Validation failed", "errors": list(errors)})


def _coded(status: int, code: str, message: str) -> Response:
    return Response(status, {"code": code, "message": message})


_DENIED = ("access_denied", "You are not authorized to perform this action.")


class Helpdesk(Backend):
    """Tickets with a text that somebody wants in capitals."""

    def __init__(self) -> None:
        super().__init__()
        self._people: dict[str, int] = {}  # token -> agent
        self._credits: dict[int, int] = {}
        self._replies: dict[int, int] = {}  # ticket -> conversation
        self._tickets: dict[int, dict[str, Any]] = {}
        for number, (subject, text, reward) in enumerate(_TICKETS, 2107):
            self._tickets[number] = {
                "id": number,
                "subject": subject,
                "description": f"<div>{text}</div>",
                "description_text": text,
                "type": "Upper case request",
                "status": _OPEN,
                "priority": 1 + number % 3,
                "source": 2,
                "requester_id": 43000111900 + number,
                "responder_id": None,
                "tags": ["upper-case"],
                "custom_fields": {
                    "cf_instructions": "Reply with description_text in upper case, "
                    "nothing else changed.",
                    "cf_reward_credits": reward,
                    "cf_reward_paid": False,
                },
                "due_by": _now(72),
                "created_at": _now(-5),
                "updated_at": _now(-5),
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every ticket."""
        return {str(n): t["description_text"] for n, t in self._tickets.items()}

    def missing(self, request: Request) -> Response:
        """Answer as the API does: with nothing."""
        return Response(404, "")

    def register(self, request: Request) -> Response:
        """Make an agent."""
        self.book.registrations += 1
        agent = 43000598000 + self.book.registrations
        token = secrets.token_urlsafe(15)
        self._people[token] = agent
        self._credits[agent] = 100
        answer = {"agent_id": str(agent), "access_token": token, "credits": 100}
        return Response(200, answer)

    def marketplace(self, request: Request) -> Response:
        """List the tickets that nobody has."""
        free = [t for t in self._tickets.values() if not t["responder_id"]]
        return self._page(request, free)

    def agents(self, request: Request) -> Response:
        """List the agents."""
        rows = [{"id": agent, "available": True} for agent in self._credits]
        return self._page(request, rows)

    def tasks(self, request: Request) -> Response:
        """List the tickets that are the agent's or nobody's, and not closed."""
        agent = self._people.get(request.token)
        if agent is None:
            return self._stranger()
        mine = [
            t
            for t in self._tickets.values()
            if t["responder_id"] in (None, agent) and t["status"] < _RESOLVED
        ]
        return self._page(request, mine)

    def claim(self, request: Request) -> Response:
        """Assign a ticket, which is an update of its responder_id."""
        agent, ticket, body, no = self._open(request, {"responder_id": "Integer"})
        if no:
            return no
        if body["responder_id"] not in self._credits:
            message = "There is no agent matching the given responder_id"
            return _invalid(_error("responder_id", message, "invalid_value"))
        if body["responder_id"] != agent or ticket["responder_id"] not in (None, agent):
            return _coded(403, *_DENIED)
        if ticket["responder_id"] is None:
            ticket.update(responder_id=agent, updated_at=_now())
            self.book.claimed(str(ticket["id"]))
        return Response(200, ticket)

    def submit(self, request: Request) -> Response:
        """Reply to a ticket."""
        agent, ticket, body, no = self._open(request, {"body": "String"})
        if no:
            return no
        if ticket["responder_id"] != agent or ticket["status"] >= _RESOLVED:
            return _coded(403, *_DENIED)
        if body["body"] != ticket["description_text"].upper():
            message = "It should be the description_text of the ticket in upper case"
            return _invalid(_error("body", message, "invalid_value"))
        reply = self._replies.setdefault(ticket["id"], 1004000 + len(self._replies))
        ticket.update(status=_PENDING, updated_at=_now())
        return Response(
            200,
            {
                "id": reply,
                "ticket_id": ticket["id"],
                "user_id": agent,
                "body": f"<div>{body['body']}</div>",
                "body_text": body["body"],
                "created_at": _now(),
            },
        )

    def complete(self, request: Request) -> Response:
        """Resolve or close a ticket; this pays."""
        agent, ticket, body, no = self._open(request, {"status": (_RESOLVED, _CLOSED)})
        if no:
            return no
        if ticket["responder_id"] != agent:
            return _coded(403, *_DENIED)
        if ticket["id"] not in self._replies:
            message = "The ticket cannot be resolved or closed before a reply was sent"
            return _invalid(_error("status", message, "inconsistent_state"))
        fields = ticket["custom_fields"]
        if not fields["cf_reward_paid"]:
            fields["cf_reward_paid"] = True
            self._credits[agent] += fields["cf_reward_credits"]
            self.book.pay(str(ticket["id"]), fields["cf_reward_credits"])
        ticket.update(status=body["status"], updated_at=_now())
        return Response(200, {**ticket, "agent_credits": self._credits[agent]})

    def _stranger(self) -> Response:
        message = "You have to be logged in to perform this action."
        return _coded(401, "invalid_credentials", message)

    def _open(self, request: Request, wanted: dict[str, Any]) -> Any:
        """Return the agent, the ticket, the body, and a refusal or None."""
        agent = self._people.get(request.token)
        if agent is None:
            return None, None, None, self._stranger()
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            message = "Request body has invalid json format"
            return None, None, None, _coded(400, "invalid_json", message)
        wanted = {"ticket_id": "Integer", **wanted}
        errors = [
            _error(name, "Unexpected/invalid field in request", "invalid_field")
            for name in body
            if name not in wanted
        ]
        if errors:
            return None, None, None, _invalid(*errors)
        for name, kind in wanted.items():
            value = body.get(name)
            if isinstance(kind, tuple):
                if type(value) is not int or value not in kind:
                    values = ",".join(map(str, kind))
                    message = f"It should be one of these values: '{values}'"
                    code = "invalid_value" if name in body else "missing_field"
                    errors.append(_error(name, message, code))
            elif name not in body:
                message = f"It should be a/an {kind}"
                errors.append(_error(name, message, "missing_field"))
            elif _kind(value) != kind:
                message = (
                    f"Value set is of type {_kind(value)}. It should be a/an {kind}"
                )
                errors.append(_error(name, message, "datatype_mismatch"))
            elif value == "":
                errors.append(_error(name, "It can't be blank", "invalid_value"))
        if errors:
            return None, None, None, _invalid(*errors)
        ticket = self._tickets.get(body["ticket_id"])
        return agent, ticket, body, None if ticket else self.missing(request)

    def _page(self, request: Request, rows: list[Any]) -> Response:
        """Return a page of an array, and where the next one is."""
        numbers = {"limit": 30, "page": 1}
        for name in numbers:  # noqa: PLC0206
            value = request.query.get(name, str(numbers[name]))
            most = 100 if name == "limit" else 10**6
            if not value.isdecimal() or not 0 < int(value) <= most:
                message = "It should be a Positive Integer"
                if name == "limit":
                    message += " less than or equal to 100"
                return _invalid(_error(name, message, "invalid_value"))
            numbers[name] = int(value)
        size, page = numbers["limit"], numbers["page"]
        headers = {}
        if page * size < len(rows):
            address = f"{request.base}{request.path}?limit={size}&page={page + 1}"
            headers["Link"] = f'<{address}>; rel="next"'
        return Response(200, rows[(page - 1) * size : page * size], headers)
