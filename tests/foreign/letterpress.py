"""A small team's service: Flask with flask-smorest, marshmallow and Flask-HTTPAuth.

Bodies are checked by marshmallow schemas (all faults at once, unknown fields refused),
errors have flask-smorest's shape, a page is told in the X-Pagination header, and a missing
token gets Flask-HTTPAuth's plain words. An accepted delivery is paid at once; completing
only closes the booking.
"""

import json
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS = [
    (4017, "Poster headline, spring fair", "Spring fair opens on Saturday at noon", 12),
    (4018, "Door plate, second floor", "Please ring twice and wait here", 7),
    (4021, "Menu header", "Soups, stews and everything in between", 15),
    (4022, "Warning label", "Do not open while the lamp is lit", 9),
    (4026, "Book spine", "The long way round: a memoir", 21),
    (4030, "Ticket stub", "Admit one - row f, seat 14", 5),
    (4031, "Shop window", "Closing down sale, last 3 days", 18),
]
_DEFAULT_LIMIT, _MAX_LIMIT, _MAX_OPEN = 4, 20, 3


class _Invalid(ValueError):  # noqa: N818
    """A marshmallow ValidationError of one field."""


def _integer(low: int) -> Callable[[Any], int]:
    def load(value: Any) -> int:
        try:
            number = int(value)
        except (OverflowError, TypeError, ValueError):
            raise _Invalid("Not a valid integer.") from None
        if number < low:
            raise _Invalid(f"Must be greater than or equal to {low}.")
        return number

    return load


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _Invalid("Not a valid string.")
    if not 1 <= len(value) <= 5000:
        raise _Invalid("Length must be between 1 and 5000.")
    return value


def _uuid(value: Any) -> str:
    try:
        return str(uuid.UUID(value))
    except (AttributeError, TypeError, ValueError):
        raise _Invalid("Not a valid UUID.") from None


def _abort(status: int, message: str = "", errors: Any = None) -> Response:
    phrase = "Unprocessable Entity" if status == 422 else HTTPStatus(status).phrase
    body: dict[str, Any] = {"code": status, "status": phrase}
    if message:
        body["message"] = message
    if errors:
        body["errors"] = errors
    return Response(status, body)


def _load(request: Request, schema: dict[str, Callable[[Any], Any]]) -> Any:
    """Return the loaded body, or the Response that refuses it (as webargs does)."""
    body: Any = {}
    if request.headers.get_content_type() == "application/json" and request.raw:
        try:
            body = json.loads(request.raw)
        except ValueError:
            return _abort(400, errors={"json": ["Invalid JSON body."]})
    if not isinstance(body, dict):
        return _abort(422, errors={"json": {"_schema": ["Invalid input type."]}})
    data: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for name, load in schema.items():
        if name not in body:
            errors[name] = ["Missing data for required field."]
        elif body[name] is None:
            errors[name] = ["Field may not be null."]
        else:
            try:
                data[name] = load(body[name])
            except _Invalid as error:
                errors[name] = [str(error)]
    for name in body:
        if name not in schema:
            errors[name] = ["Unknown field."]
    return _abort(422, errors={"json": errors}) if errors else data


class Letterpress(Backend):
    """Jobs of a print shop that sets short passages in capitals."""

    def __init__(self) -> None:
        super().__init__()
        self._jobs: dict[int, dict[str, Any]] = {
            id_: {"title": title, "passage": text, "fee": fee, "state": "open"}
            for id_, title, text, fee in _JOBS
        }
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._bookings: dict[str, dict[str, Any]] = {}
        self._now = datetime.now(UTC).replace(microsecond=0)

    def texts(self) -> dict[str, str]:
        """Return the passages by job id."""
        return {str(id_): job["passage"] for id_, job in self._jobs.items()}

    def missing(self, request: Request) -> Response:
        """Answer as Flask does for an unknown route, in flask-smorest's JSON."""
        return _abort(404)

    def _agent(self, request: Request) -> Any:
        headers = {
            "WWW-Authenticate": 'Bearer realm="Authentication Required"',
            "Content-Type": "text/html; charset=utf-8",
        }
        agent = self._agents.get(request.token)
        return agent or Response(401, "Unauthorized Access", headers)

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        agent = self._agents[token] = {"agent_id": str(uuid.uuid4()), "credits": 100}
        return Response(200, {**agent, "access_token": token})

    def tasks(self, request: Request) -> Response:
        """List the open jobs, a page at a time."""
        errors, numbers = {}, {"limit": _DEFAULT_LIMIT, "page": 1}
        for name in numbers:  # noqa: PLC0206
            try:
                if name in request.query:
                    numbers[name] = _integer(1)(request.query[name])
                if name == "limit" and numbers[name] > _MAX_LIMIT:
                    raise _Invalid(f"Must be less than or equal to {_MAX_LIMIT}.")
            except _Invalid as error:
                errors[name] = [str(error)]
        if errors:
            return _abort(422, errors={"query": errors})
        limit, page = numbers["limit"], numbers["page"]
        jobs = [
            {
                "id": id_,
                "title": job["title"],
                "instructions": "Deliver the passage in capital letters, nothing else changed.",
                "passage": job["passage"],
                "fee": f"{job['fee']}.00",
                "state": job["state"],
                "created_at": self._now.isoformat(),
            }
            for id_, job in self._jobs.items()
            if job["state"] == "open"
        ]
        pages = -(-len(jobs) // limit)
        head = {"total": len(jobs), "total_pages": pages}
        if jobs:
            head |= {"first_page": 1, "last_page": pages, "page": page}
            if page > 1:
                head["previous_page"] = page - 1
            if page < pages:
                head["next_page"] = page + 1
        shown = {"jobs": jobs[(page - 1) * limit : page * limit]}
        return Response(200, shown, {"X-Pagination": json.dumps(head)})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Book a job."""
        if isinstance(agent := self._agent(request), Response):
            return agent
        data = _load(request, {"job_id": _integer(1)})
        if isinstance(data, Response):
            return data
        id_ = data["job_id"]
        if id_ not in self._jobs:
            return _abort(404, f"Job {id_} does not exist.")
        mine = [
            b for b in self._bookings.values() if b["agent_id"] == agent["agent_id"]
        ]
        for booking in mine:
            if booking["job_id"] == id_:
                return Response(200, booking)
        if self._jobs[id_]["state"] != "open":
            return _abort(409, f"Job {id_} is already booked by another agent.")
        if sum(b["state"] == "booked" for b in mine) >= _MAX_OPEN:
            text = f"You already hold {_MAX_OPEN} open bookings. Deliver one of them first."
            return _abort(409, text)
        booking = {
            "booking_id": str(uuid.uuid4()),
            "job_id": id_,
            "agent_id": agent["agent_id"],
            "state": "booked",
            "expires_at": (self._now + timedelta(hours=24)).isoformat(),
        }
        self._bookings[booking["booking_id"]] = booking
        self._jobs[id_]["state"] = "booked"
        self.book.claimed(str(id_))
        return Response(201, booking)

    def _booking(self, agent: dict[str, Any], id_: str) -> Any:
        booking = self._bookings.get(id_)
        if booking is None or booking["agent_id"] != agent["agent_id"]:
            return _abort(404, "No such booking.")
        return booking

    def submit(self, request: Request) -> Response:
        """Take a delivery, and pay it when it is right."""
        if isinstance(agent := self._agent(request), Response):
            return agent
        schema = {"booking_id": _uuid, "content": _string, "minutes_spent": _integer(0)}
        data = _load(request, schema)
        if isinstance(data, Response):
            return data
        if isinstance(booking := self._booking(agent, data["booking_id"]), Response):
            return booking
        if booking["state"] != "booked":
            return _abort(
                409, f"This booking is {booking['state']}; it takes no delivery."
            )
        job = self._jobs[booking["job_id"]]
        if data["content"] != job["passage"].upper():
            return _abort(
                422, "Delivery rejected: content is not the passage in capitals."
            )
        booking["state"] = job["state"] = "delivered"
        agent["credits"] += job["fee"]
        self.book.pay(str(booking["job_id"]), job["fee"])
        paid = {"paid": f"{job['fee']}.00", "balance": f"{agent['credits']}.00"}
        return Response(201, {**booking, **paid})

    def complete(self, request: Request) -> Response:
        """Close a delivered booking."""
        if isinstance(agent := self._agent(request), Response):
            return agent
        data = _load(request, {"booking_id": _uuid, "remark": _string})
        if isinstance(data, Response):
            return data
        if isinstance(booking := self._booking(agent, data["booking_id"]), Response):
            return booking
        if booking["state"] == "booked":
            return _abort(409, "Nothing has been delivered for this booking yet.")
        booking["state"] = self._jobs[booking["job_id"]]["state"] = "closed"
        return Response(200, {**booking, "remark": data["remark"]})
