"""A Django REST Framework backend: each piece of work is done in a "session".

Lists are LimitOffsetPagination pages ({count, next, previous, results}). A claim wants
{"task": <pk>} and creates a session (201); submit wants {"session": <uuid>, "output": <str>};
complete wants {"session": <uuid>} and pays. Refusals are DRF's {"field": ["..."]} or {"detail": "..."}.
"""

import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

REQUIRED = "This field is required."
SOURCES = [
    (11, "Shop banner", "free delivery on all orders placed before noon", 8, "open"),
    (12, "Warning strip", "mind the gap between the door and the step", 6, "open"),
    (
        13,
        "Newsletter heading",
        "seven ways to keep your bicycle dry in winter",
        9,
        "open",
    ),
    (14, "Poster line", "the lantern parade starts at the old harbour", 7, "assigned"),
    (15, "Menu heading", "soups and salads made fresh every morning", 5, "open"),
    (
        16,
        "Ticket note",
        "please keep this ticket until the end of your journey",
        10,
        "open",
    ),
    (17, "Door sign", "staff only beyond this point thank you", 4, "open"),
]


@dataclass
class Session:
    """One agent's work at one task."""

    id: str
    task: int
    owner: str
    state: str = "open"
    output: str | None = None
    opened: float = 0.0


def moment(seconds: float) -> str:
    """Return a time as DRF's DateTimeField writes it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


class DrfSessions(Backend):
    """Work sessions behind a TokenAuthentication."""

    def __init__(self) -> None:
        super().__init__()
        self.balances: dict[str, int] = {}
        self.rows = {row[0]: row for row in SOURCES}
        self.states = {row[0]: row[4] for row in SOURCES}
        self.sessions: dict[str, Session] = {}

    def texts(self) -> dict[str, str]:
        return {str(row[0]): row[2] for row in SOURCES if row[4] == "open"}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = uuid.uuid4().hex + uuid.uuid4().hex[:8]
        self.balances[token] = 100
        return Response(
            201,
            {
                "agent_id": f"agent-{self.book.registrations}",
                "access_token": token,
                "credits": 100,
            },
        )

    def denied(self, request: Request) -> Response | None:
        """Return 401 if the request has no good token."""
        if request.token in self.balances:
            return None
        detail = (
            "Invalid token."
            if request.token
            else "Authentication credentials were not provided."
        )
        return Response(401, {"detail": detail}, {"WWW-Authenticate": "Bearer"})

    def body(self, request: Request) -> dict[str, Any] | Response:
        """Return the parsed body or DRF's word on why it is none."""
        try:
            data = request.json() if request.raw.strip() else {}
        except ValueError as error:
            return Response(400, {"detail": f"JSON parse error - {error}"})
        if not isinstance(data, dict):
            kind = type(data).__name__
            return Response(
                400,
                {
                    "non_field_errors": [
                        f"Invalid data. Expected a dictionary, but got {kind}."
                    ]
                },
            )
        return data

    def page(self, request: Request) -> Response:
        """Return one page of the task list."""
        try:
            limit = int(request.query.get("limit", "20"))
        except ValueError:
            limit = 20
        limit = min(limit, 100) if limit > 0 else 20
        try:
            offset = max(0, int(request.query.get("offset", "0")))
        except ValueError:
            offset = 0
        here = f"{request.base}{request.path}?limit={limit}"
        shown = SOURCES[offset : offset + limit]
        return Response(
            200,
            {
                "count": len(SOURCES),
                "next": f"{here}&offset={offset + limit}"
                if offset + limit < len(SOURCES)
                else None,
                "previous": f"{here}&offset={max(0, offset - limit)}"
                if offset
                else None,
                "results": [self.shown(row[0]) for row in shown],
            },
        )

    def shown(self, pk: int) -> dict[str, Any]:
        """Return one task as its serializer writes it."""
        _, title, text, reward, _ = self.rows[pk]
        return {
            "id": pk,
            "title": title,
            "instructions": "Return the source text in capital letters, nothing else changed.",
            "source_text": text,
            "reward_credits": reward,
            "state": self.states[pk],
        }

    def marketplace(self, request: Request) -> Response:
        return self.page(request)

    def tasks(self, request: Request) -> Response:
        return self.denied(request) or self.page(request)

    def session_answer(
        self, session: Session, status: int = 200, **more: Any
    ) -> Response:
        """Return a session as its serializer writes it."""
        record = {
            "id": session.id,
            "task": session.task,
            "state": session.state,
            "output": session.output,
            "opened_at": moment(session.opened),
        }
        return Response(status, {**record, **more})

    def claim(self, request: Request) -> Response:
        if no := self.denied(request):
            return no
        data = self.body(request)
        if isinstance(data, Response):
            return data
        if "task" not in data:
            return Response(400, {"task": [REQUIRED]})
        value = data["task"]
        if value is None:
            return Response(400, {"task": ["This field may not be null."]})
        try:
            if isinstance(value, (bool, list, dict)):
                raise TypeError
            pk = int(value)
        except (TypeError, ValueError):
            kind = type(value).__name__
            return Response(
                400, {"task": [f"Incorrect type. Expected pk value, received {kind}."]}
            )
        if pk not in self.rows:
            return Response(
                400, {"task": [f'Invalid pk "{pk}" - object does not exist.']}
            )
        for session in self.sessions.values():
            if (
                session.task == pk
                and session.owner == request.token
                and session.state != "closed"
            ):
                return self.session_answer(session)
        if self.states[pk] != "open":
            return Response(409, {"detail": "This task is not open."})
        self.states[pk] = "assigned"
        session = Session(str(uuid.uuid4()), pk, request.token, opened=time.time())
        self.sessions[session.id] = session
        self.book.claimed(str(pk))
        return self.session_answer(session, 201)

    def session_errors(self, data: dict[str, Any], token: str) -> list[str]:
        """Return what is wrong with the field `session`."""
        if "session" not in data:
            return [REQUIRED]
        if data["session"] is None:
            return ["This field may not be null."]
        try:
            key = str(uuid.UUID(str(data["session"])))
        except ValueError:
            return ["Must be a valid UUID."]
        found = self.sessions.get(key)
        if found is None or found.owner != token:
            return [f'Invalid pk "{key}" - object does not exist.']
        return []

    def submit(self, request: Request) -> Response:
        if no := self.denied(request):
            return no
        data = self.body(request)
        if isinstance(data, Response):
            return data
        errors = {}
        if wrong := self.session_errors(data, request.token):
            errors["session"] = wrong
        output = data.get("output")
        if "output" not in data:
            errors["output"] = [REQUIRED]
        elif output is None:
            errors["output"] = ["This field may not be null."]
        elif not isinstance(output, str):
            errors["output"] = ["Not a valid string."]
        elif not output.strip():
            errors["output"] = ["This field may not be blank."]
        if errors:
            return Response(400, errors)
        session = self.sessions[str(uuid.UUID(str(data["session"])))]
        if session.state == "closed":
            return Response(409, {"detail": "This session is already closed."})
        if str(output).strip() != self.rows[session.task][2].upper():
            return Response(
                400, {"output": ["Output does not match the instructions of the task."]}
            )
        session.output, session.state = str(output).strip(), "submitted"
        return self.session_answer(session)

    def complete(self, request: Request) -> Response:
        if no := self.denied(request):
            return no
        data = self.body(request)
        if isinstance(data, Response):
            return data
        if wrong := self.session_errors(data, request.token):
            return Response(400, {"session": wrong})
        session = self.sessions[str(uuid.UUID(str(data["session"])))]
        if session.state == "open":
            return Response(
                409, {"detail": "This session has no submitted output yet."}
            )
        reward = self.rows[session.task][3]
        if session.state == "submitted":
            session.state = self.states[session.task] = "closed"
            self.balances[request.token] += reward
            self.book.pay(str(session.task), reward)
        return self.session_answer(
            session, reward_credits=reward, balance=self.balances[request.token]
        )
