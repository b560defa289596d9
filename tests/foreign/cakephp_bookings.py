"""A CakePHP 5 application with the FriendsOfCake Crud plugin: agents book jobs.

Lists entities under {"success", "data", "pagination"} by page, five at a time, jobs
that others have booked among them; the reward is a DECIMAL column, so a string as
"12.00". Refuses as Crud does: 422 with data.errors by field and rule (_required,
integer, inList, _isUnique); other exceptions as {"message", "url", "code"}. Booking a
job makes a booking whose id is wanted from there on; the output needs remarks beside
it. Pays at once when the booking is set to finished; a job that is given up is open
again.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ROWS = [
    (
        1204,
        "Harbour notice",
        "Berth four is closed for dredging until Friday noon.",
        "12.00",
    ),
    (1205, "Ferry leaflet", "Foot passengers board through the green gate.", "7.00"),
    (
        1207,
        "Tide table note",
        "High water at Leith is forty minutes later than shown.",
        "9.00",
    ),
    (
        1208,
        "Pilot briefing",
        "Ask for the pilot two hours before the outer buoy.",
        "15.00",
    ),
    (1211, "Café sign", "Le café du port est fermé le lundi.", "5.00"),
    (1212, "Crane manual", "Never lift above a walkway that is in use.", "21.00"),
    (1215, "Fuel list", "Marine diesel is sold at the east pontoon only.", "8.00"),
    (
        1216,
        "Lost property",
        "One blue rope fender was handed in at the office.",
        "6.00",
    ),
]
BOOKED = {1205, 1212}  # by somebody else, long ago
REQUIRED = {"_required": "This field is required"}
EMPTY = {"_empty": "This field cannot be left empty"}


def _integer(value: Any) -> dict[str, str]:
    if value is None or value == "":
        return EMPTY
    if isinstance(value, bool) or not (str(value).isascii() and str(value).isdigit()):
        return {"integer": "The provided value must be an integer"}
    return {}


def _text(value: Any) -> dict[str, str]:
    if value is None or value == "":
        return EMPTY
    if not isinstance(value, str):
        return {"scalar": "The provided value must be a string"}
    return {}


class CakephpBookings(Backend):
    """Jobs, bookings and outputs, each a table."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, int] = {}
        self._bookings: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(i): brief for i, _, brief, _ in ROWS if i not in BOOKED}

    def _exception(self, request: Request, code: int, message: str) -> Response:
        return Response(code, {"message": message, "url": request.path, "code": code})

    def _invalid(self, request: Request, errors: dict[str, dict[str, str]]) -> Response:
        count = sum(len(rules) for rules in errors.values())
        message = (
            f"{count} validation errors occurred"
            if count > 1
            else "A validation error occurred"
        )
        data = {
            "message": message,
            "url": request.path,
            "code": 422,
            "errorCount": count,
        }
        return Response(422, {"success": False, "data": {**data, "errors": errors}})

    def missing(self, request: Request) -> Response:
        return self._exception(request, 404, "Not Found")

    def _data(
        self, request: Request, rules: dict[str, Any]
    ) -> tuple[dict[str, Any], Response | None]:
        """Return the posted data and the refusal, if any."""
        if request.token not in self._agents:
            return {}, self._exception(
                request, 401, "Authentication is required to continue"
            )
        try:
            data = request.json() if request.raw else {}
        except ValueError:
            return {}, self._exception(request, 400, "Bad Request")
        if not isinstance(data, dict):
            data = {}
        found = {
            n: rule(data[n]) if n in data else REQUIRED for n, rule in rules.items()
        }
        errors = {n: e for n, e in found.items() if e}
        return data, self._invalid(request, errors) if errors else None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, number = secrets.token_hex(20), 40 + len(self._agents)
        self._agents[token] = number
        return Response(
            201,
            {
                "success": True,
                "data": {"id": number, "token": token, "credits": "100.00"},
            },
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self._agents:
            return self._exception(
                request, 401, "Authentication is required to continue"
            )
        page, limit = (
            int(request.query[n]) if request.query.get(n, "").isdigit() else usual
            for n, usual in (("page", 1), ("limit", 5))
        )
        limit = min(max(limit, 1), 100)
        pages = -(-len(ROWS) // limit)
        if not 1 <= page <= pages:
            return self._exception(request, 404, "Page not found")
        of = {
            b["job_id"]: b for b in self._bookings.values() if b["status"] != "given_up"
        }
        data = []
        for i, title, brief, reward in ROWS[(page - 1) * limit : page * limit]:
            booking = of.get(i)
            status = "open" if i not in BOOKED and not booking else "booked"
            if booking and booking["status"] == "finished":
                status = "finished"
            mine = None
            if booking and booking["agent_id"] == self._agents[request.token]:
                mine = {"id": booking["id"], "status": booking["status"]}
            data.append(
                {
                    "id": i,
                    "title": title,
                    "brief": brief,
                    "credits": reward,
                    "status": status,
                    "booking": mine,
                    "created": "2025-03-04T08:15:00+00:00",
                    "modified": "2025-03-04T08:15:00+00:00",
                }
            )
        pagination = {
            "current_page": page,
            "page_count": pages,
            "has_next_page": page < pages,
            "has_prev_page": page > 1,
            "count": len(ROWS),
            "limit": limit,
        }
        return Response(200, {"success": True, "data": data, "pagination": pagination})

    def claim(self, request: Request) -> Response:
        data, refusal = self._data(request, {"job_id": _integer})
        if refusal:
            return refusal
        job = int(data["job_id"])
        if job not in {row[0] for row in ROWS}:
            return self._invalid(
                request, {"job_id": {"_existsIn": "This value does not exist"}}
            )
        active = {
            b["job_id"] for b in self._bookings.values() if b["status"] != "given_up"
        }
        if job in BOOKED or job in active:
            return self._invalid(
                request, {"job_id": {"_isUnique": "This job is already booked"}}
            )
        booking: dict[str, Any] = {
            "id": 9001 + len(self._bookings),
            "job_id": job,
            "status": "booked",
            "agent_id": self._agents[request.token],
        }
        self._bookings[booking["id"]] = booking
        self.book.claimed(str(job))
        return Response(201, {"success": True, "data": booking})

    def _booking(self, request: Request, data: dict[str, Any]) -> Any:
        booking = self._bookings.get(int(data["booking_id"]))
        return (
            booking
            if booking and booking["agent_id"] == self._agents[request.token]
            else None
        )

    def submit(self, request: Request) -> Response:
        data, refusal = self._data(
            request, {"booking_id": _integer, "output": _text, "remarks": _text}
        )
        if refusal:
            return refusal
        booking = self._booking(request, data)
        if not booking:
            return self._invalid(
                request, {"booking_id": {"_existsIn": "This value does not exist"}}
            )
        if booking["status"] not in ("booked", "delivered"):
            return self._invalid(
                request, {"booking_id": {"isActive": "This booking is closed"}}
            )
        if data["output"] != self.texts()[str(booking["job_id"])].upper():
            return self._invalid(
                request,
                {"output": {"quality": "The output was checked and is not correct"}},
            )
        booking["status"] = "delivered"
        row = {
            "id": booking["id"] + 500,
            "booking_id": booking["id"],
            "remarks": data["remarks"],
        }
        return Response(201, {"success": True, "data": row})

    def complete(self, request: Request) -> Response:
        def in_list(value: Any) -> dict[str, str]:
            if value in ("finished", "given_up"):
                return {}
            return {
                "inList": "The provided value must be one of: `finished`, `given_up`"
            }

        data, refusal = self._data(request, {"booking_id": _integer, "status": in_list})
        if refusal:
            return refusal
        booking = self._booking(request, data)
        if not booking:
            return self._invalid(
                request, {"booking_id": {"_existsIn": "This value does not exist"}}
            )
        if booking["status"] in ("finished", "given_up"):
            return self._invalid(
                request, {"booking_id": {"isActive": "This booking is closed"}}
            )
        if data["status"] == "finished":
            if booking["status"] != "delivered":
                return self._invalid(
                    request,
                    {
                        "status": {
                            "hasOutput": "There is no output for this booking yet"
                        }
                    },
                )
            reward = next(row[3] for row in ROWS if row[0] == booking["job_id"])
            self.book.pay(str(booking["job_id"]), int(float(reward)))
            booking["credits"] = reward
        else:
            self.book.held.discard(str(booking["job_id"]))
        booking["status"] = data["status"]
        return Response(200, {"success": True, "data": booking})
