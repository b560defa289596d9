"""A scheduling product's API in the manner of Calendly's v2.

Resources are named by their URI, lists are `collection` and `pagination`, single records
stand under `resource`, creations answer 201, and refusals are `title`, `message` and
`details` of `parameter` and `message`. A task is an event type that is booked once; its
result is the answer to the event type's custom question; completing it pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

HOST = "https://api.slotwork.example"
QUESTION = "Converted text"
WORK = [
    (
        "5f3c1e0a-7a51-4d0f-9a55-0c1d2b7e4a01",
        12,
        15,
        "please bring a printed copy to the desk",
    ),
    (
        "0b9d44c2-18f3-4b6e-8f0a-3d5b6c7e8f02",
        30,
        30,
        "the quarterly review moves to room four",
    ),
    (
        "c71e2f66-90aa-4c55-b1d7-51f2a3b4c503",
        8,
        15,
        "no parking on harvest street this week",
    ),
    (
        "9e8d7c6b-5a49-4838-a716-0f1e2d3c4b04",
        45,
        60,
        "welcome to the autumn onboarding day",
    ),
    (
        "2a4c6e80-1b3d-4f5a-8c7e-9d0b2f4a6c05",
        20,
        30,
        "lunch is served between noon and one",
    ),
    (
        "d4b3a291-8c7e-46f5-9d0e-1a2b3c4d5e06",
        17,
        15,
        "call the caterer before friday at nine",
    ),
]


def stamp(moment: datetime) -> str:
    """Return a moment as this API writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def refuse(
    status: int, title: str, message: str, *details: tuple[str, str]
) -> Response:
    """Return a refusal; details are pairs of parameter and message."""
    body: dict[str, Any] = {"title": title, "message": message}
    if details:
        body["details"] = [{"parameter": p, "message": m} for p, m in details]
    return Response(status, body)


def invalid(*details: tuple[str, str]) -> Response:
    """Return the refusal of wrong parameters."""
    return refuse(
        400, "Invalid Argument", "The supplied parameters are invalid.", *details
    )


def not_found() -> Response:
    """Return the refusal of an unknown resource."""
    return refuse(
        404, "Resource Not Found", "The server could not find the requested resource."
    )


def text_problem(holder: Any, key: str, parameter: str = "") -> list[tuple[str, str]]:
    """Return what is wrong with a required string, if anything."""
    parameter = parameter or key
    if key not in holder:
        return [(parameter, "is missing")]
    value = holder[key]
    if value is None or (isinstance(value, str) and not value.strip()):
        return [(parameter, "must be filled")]
    return [] if isinstance(value, str) else [(parameter, "must be a string")]


def uri_problem(
    body: dict[str, Any], key: str, path: str, what: str
) -> list[tuple[str, str]]:
    """Return what is wrong with a required URI, if anything."""
    problems = text_problem(body, key)
    if not problems and not re.fullmatch(re.escape(HOST) + path, body[key]):
        return [(key, f"must be a valid {what} URI")]
    return problems


class Slotwork(Backend):
    """Bookable event types, invitees and their answers."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._types = {
            f"{HOST}/event_types/{id_}": {
                "uri": f"{HOST}/event_types/{id_}",
                "name": f"Text desk {n}",
                "slug": f"text-desk-{n}",
                "kind": "solo",
                "type": "StandardEventType",
                "active": True,
                "duration": minutes,
                "internal_note": "Rewrite the description in capital letters.",
                "description_plain": text,
                "custom_questions": [
                    {"name": QUESTION, "type": "text", "position": 0, "required": True}
                ],
                "payment": {"amount": reward, "currency": "CREDITS"},
            }
            for n, (id_, reward, minutes, text) in enumerate(WORK, 1)
        }
        self._invitees: dict[str, dict[str, Any]] = {}  # by URI
        self._owner: dict[str, str] = {}  # invitee's URI -> token

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its URI."""
        return {uri: record["description_plain"] for uri, record in self._types.items()}

    def missing(self, request: Request) -> Response:
        """Refuse an unknown path."""
        return not_found()

    def register(self, request: Request) -> Response:
        """Create a user."""
        self.book.registrations += 1
        id_, token = secrets.token_hex(8).upper(), secrets.token_urlsafe(32)
        self._agents[token] = {"credits": 100}
        return Response(
            200,
            {
                "agent_id": id_,
                "access_token": token,
                "credits": 100,
                "token_type": "Bearer",
                "uri": f"{HOST}/users/{id_}",
                "created_at": stamp(datetime.now(UTC)),
            },
        )

    def _unauthenticated(self, request: Request) -> Response | None:
        if request.token in self._agents:
            return None
        return refuse(401, "Unauthenticated", "The access token is invalid")

    def _body(self, request: Request) -> dict[str, Any] | Response:
        try:
            body = request.json()
        except ValueError:
            return refuse(
                400, "Invalid Argument", "The request body is not valid JSON."
            )
        return body if isinstance(body, dict) else invalid(("base", "must be a hash"))

    def tasks(self, request: Request) -> Response:
        """List what is bookable to a user."""
        return self._unauthenticated(request) or self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        """List what is bookable to anybody."""
        asked = request.query.get("limit", "20")
        if not re.fullmatch("-?[0-9]{1,9}", asked):
            return invalid(("limit", "must be an integer"))
        limit = int(asked)
        if not 1 <= limit <= 100:
            bound = (
                "greater than or equal to 1"
                if limit < 1
                else "less than or equal to 100"
            )
            return invalid(("limit", f"must be {bound}"))
        # A page token names the first record of its page, so bookings do not shift pages.
        first = f"{HOST}/event_types/{request.query.get('page_token') or WORK[0][0]}"
        if first not in self._types:
            return invalid(("page_token", "is invalid"))
        uris = list(self._types)
        rows = [uri for uri in uris[uris.index(first) :] if self._types[uri]["active"]]
        token = rows[limit].rpartition("/")[2] if len(rows) > limit else None
        address = f"{request.base}{request.path}?limit={limit}&page_token={token}"
        page = [self._types[uri] for uri in rows[:limit]]
        return Response(
            200,
            {
                "collection": page,
                "pagination": {
                    "count": len(page),
                    "next_page": address if token else None,
                    "next_page_token": token,
                },
            },
        )

    def claim(self, request: Request) -> Response:  # noqa: PLR0915
        """Book an event type."""
        body = self._unauthenticated(request) or self._body(request)
        if isinstance(body, Response):
            return body
        problems = uri_problem(body, "event_type", "/event_types/[^/]+", "event type")
        start = datetime.now(UTC)
        if wrong := text_problem(body, "start_time"):
            problems += wrong
        else:
            try:
                start = datetime.fromisoformat(body["start_time"])
                start = (
                    start.astimezone(UTC) if start.tzinfo else start.replace(tzinfo=UTC)
                )
                if start <= datetime.now(UTC):
                    problems.append(("start_time", "must be in the future"))
            except (ValueError, OverflowError):
                problems.append(("start_time", "must be a date time"))
        if "invitee" not in body:
            problems.append(("invitee", "is missing"))
        elif not isinstance(body["invitee"], dict):
            problems.append(("invitee", "must be a hash"))
        else:
            problems += text_problem(body["invitee"], "name", "invitee.name")
        if problems:
            return invalid(*problems)
        record = self._types.get(body["event_type"])
        if not record:
            return not_found()
        if not record["active"]:
            return refuse(
                409, "Already Exists", "The event type has already been booked."
            )
        record["active"] = False
        event = f"{HOST}/scheduled_events/{secrets.token_hex(8).upper()}"
        uri = f"{event}/invitees/{secrets.token_hex(8).upper()}"
        self._invitees[uri] = {
            "uri": uri,
            "event": event,
            "event_type": record["uri"],
            "name": body["invitee"]["name"],
            "status": "active",
            "start_time": stamp(start),
            "questions_and_answers": [],
            "payment": {**record["payment"], "successful": False},
        }
        self._owner[uri] = request.token
        self.book.claimed(record["uri"])
        return Response(201, {"resource": self._invitees[uri]})

    def _own(self, request: Request, key: str, value: str) -> dict[str, Any] | Response:
        invitee = next((i for i in self._invitees.values() if i[key] == value), None)
        if not invitee:
            return not_found()
        if self._owner[invitee["uri"]] != request.token:
            return refuse(403, "Permission Denied", "You do not have permission.")
        if invitee["status"] == "completed":
            return refuse(
                409, "Already Exists", "The scheduled event is already completed."
            )
        return invitee

    def submit(self, request: Request) -> Response:
        """Take the answers to an event type's custom questions."""
        body = self._unauthenticated(request) or self._body(request)
        if isinstance(body, Response):
            return body
        problems = uri_problem(
            body, "event", "/scheduled_events/[^/]+", "scheduled event"
        )
        name, rows = "questions_and_answers", body.get("questions_and_answers")
        if name not in body:
            problems.append((name, "is missing"))
        elif not isinstance(rows, list) or not rows:
            problems.append(
                (name, "must be filled" if rows == [] else "must be an array")
            )
        elif not isinstance(rows[0], dict):
            problems.append((f"{name}[0]", "must be a hash"))
        else:
            problems += text_problem(rows[0], "question", f"{name}[0].question")
            problems += text_problem(rows[0], "answer", f"{name}[0].answer")
            if not problems and rows[0]["question"] != QUESTION:
                problems.append((f"{name}[0].question", f"must be one of: {QUESTION}"))
        if problems:
            return invalid(*problems)
        invitee = self._own(request, "event", body["event"])
        if isinstance(invitee, Response):
            return invitee
        answer = rows[0]["answer"]
        if answer != self._types[invitee["event_type"]]["description_plain"].upper():
            return invalid(
                (f"{name}[0].answer", "is not the description in capital letters")
            )
        invitee[name] = [{"question": QUESTION, "answer": answer, "position": 0}]
        return Response(201, {"resource": invitee})

    def complete(self, request: Request) -> Response:
        """Complete an invitee's event and pay for it."""
        body = self._unauthenticated(request) or self._body(request)
        if isinstance(body, Response):
            return body
        path = "/scheduled_events/[^/]+/invitees/[^/]+"
        if problems := uri_problem(body, "invitee", path, "invitee"):
            return invalid(*problems)
        invitee = self._own(request, "uri", body["invitee"])
        if isinstance(invitee, Response):
            return invitee
        if not invitee["questions_and_answers"]:
            return invalid(("invitee", "has not answered the required questions"))
        invitee["status"] = "completed"
        invitee["payment"]["successful"] = True
        self._agents[request.token]["credits"] += invitee["payment"]["amount"]
        self.book.pay(invitee["event_type"], invitee["payment"]["amount"])
        return Response(201, {"resource": invitee})
