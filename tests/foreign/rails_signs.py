"""Rails (API mode, strong parameters): a sign painter's shop that books letterers.

Listing: {"assignments": [...], "meta": {"total_count", "limit"}}; id, title, lettering,
instructions, payout, state, due_on. Needs a token; the marketplace does not and leaves the
lettering out. Finished assignments are not listed.

claim:    {"booking": {"assignment_id": int}}                 -> 201 {"booking": {...}}
submit:   {"delivery": {"booking_id": int, "body": str}}      -> 201 {"delivery": {...}}
complete: {"booking_id": int}                                 -> 200 {"booking": {...}}

Errors: a missing root key is 400 {"error": "param is missing or the value is empty: x"};
what the model will not have is 422 with ActiveModel's messages under the root key, e.g.
{"delivery": {"body": ["can't be blank"]}}; 404 is {"error": "Couldn't find ..."}.
Unpermitted parameters are dropped in silence; numbers may be strings, as Rails casts them.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ROWS = [
    (311, "Bakery window", "fresh bread from six every morning", "8.0"),
    (312, "Chandler's board", "rope, tar and lamp oil sold here", "10.0"),
    (314, "Harbour gate", "no bathing beyond the second buoy", "7.0"),
    (317, "School fence", "please leave the ponies alone, they bite", "13.0"),
    (318, "Tea room", "scones with jam until we run out", "9.0"),
    (321, "Ferry hut", "ring twice and wait for the boatman", "15.0"),
    (322, "Allotment", "the scarecrow is watching you steal these beans", "11.0"),
    (325, "Museum case", "kindly do not tap upon the glass", "6.0"),
    (330, "Garage door", "in constant use by a very small car", "17.0"),
]
_HOW = "Paint-ready copy: the lettering, in capital letters throughout."


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))


def _integer(value: Any) -> int | None:
    """Cast as ActiveModel::Type::Integer does."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float)):
        return int(value)
    if isinstance(value, str):
        digits = ""
        for letter in value.strip():
            if not letter.isdecimal():
                break
            digits += letter
        return int(digits) if digits else None
    return None


class RailsSigns(Backend):
    """Sign lettering on Rails."""

    def __init__(self) -> None:
        super().__init__()
        self.started = time.time()
        self.assignments: dict[int, dict[str, Any]] = {
            number: {
                "id": number,
                "title": title,
                "lettering": text,
                "instructions": _HOW,
                "payout": payout,
                "state": "available",
                "due_on": _iso(self.started + 5 * 86400)[:10],
                "created_at": _iso(self.started),
                "updated_at": _iso(self.started),
            }
            for number, title, text, payout in _ROWS
        }
        self.agents: dict[str, dict[str, Any]] = {}
        self.bookings: dict[int, dict[str, Any]] = {}
        self.deliveries = 0

    def texts(self) -> dict[str, str]:
        return {str(k): row["lettering"] for k, row in self.assignments.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {
            "agent_id": str(4000 + len(self.agents) * 7),
            "name": f"letterer-{len(self.agents) + 1}",
            "credits": 100,
            "access_token": secrets.token_urlsafe(24),
            "created_at": _iso(time.time()),
        }
        self.agents[str(agent["access_token"])] = agent
        return Response(200, agent)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return _unauthorized()
        limit = max(1, min(_integer(request.query.get("limit")) or 25, 100))
        rows = self._available()
        meta = {"total_count": len(rows), "limit": limit}
        return Response(200, {"assignments": rows[:limit], "meta": meta})

    def marketplace(self, request: Request) -> Response:
        rows = [
            {k: row[k] for k in ("id", "title", "payout", "due_on")}
            for row in self._available()
        ]
        return Response(200, {"assignments": rows})

    def claim(self, request: Request) -> Response:
        agent = self.agents.get(request.token)
        if agent is None:
            return _unauthorized()
        booking, no = _require(request, "booking")
        if no:
            return no
        if not isinstance(booking, dict):
            return _bad_request("booking")
        row = self.assignments.get(_integer(booking.get("assignment_id")) or 0)
        if row is None:
            return Response(422, {"booking": {"assignment": ["must exist"]}})
        for held in self.bookings.values():
            if held["assignment_id"] == row["id"]:
                taken = ["has already been taken"]
                if held["agent_id"] == agent["agent_id"]:
                    taken = [f"is already booked by you (booking {held['id']})"]
                return Response(422, {"booking": {"assignment": taken}})
        made = {
            "id": 9001 + len(self.bookings),
            "assignment_id": row["id"],
            "agent_id": agent["agent_id"],
            "state": "booked",
            "created_at": _iso(time.time()),
        }
        self.bookings[made["id"]] = made
        row["state"] = "booked"
        self.book.claimed(str(row["id"]))
        return Response(201, {"booking": made})

    def submit(self, request: Request) -> Response:
        agent = self.agents.get(request.token)
        if agent is None:
            return _unauthorized()
        delivery, no = _require(request, "delivery")
        if no:
            return no
        if not isinstance(delivery, dict):
            return _bad_request("delivery")
        errors: dict[str, list[str]] = {}
        booking = self._booking(agent, delivery.get("booking_id"))
        body = delivery.get("body")
        if booking is None:
            errors["booking"] = ["must exist"]
        elif booking["state"] == "completed":
            errors["booking"] = ["is already completed"]
        # permit(:body) lets only scalars through
        if isinstance(body, (dict, list)) or body is None or not str(body).strip():
            errors["body"] = ["can't be blank"]
        elif booking is not None:
            wanted = self.assignments[booking["assignment_id"]]["lettering"].upper()
            if str(body) != wanted:
                errors["body"] = ["must be the lettering in capital letters"]
        if errors or booking is None:
            return Response(422, {"delivery": errors})
        booking["state"] = "delivered"
        self.deliveries += 1
        made = {
            "id": self.deliveries,
            "booking_id": booking["id"],
            "body": body,
            "created_at": _iso(time.time()),
        }
        return Response(201, {"delivery": made})

    def complete(self, request: Request) -> Response:
        agent = self.agents.get(request.token)
        if agent is None:
            return _unauthorized()
        number, no = _require(request, "booking_id")
        if no:
            return no
        booking = self._booking(agent, number)
        if booking is None:
            word = f"Couldn't find Booking with 'id'={number}"
            return Response(404, {"error": word})
        row = self.assignments[booking["assignment_id"]]
        if booking["state"] == "booked":
            base = ["has no delivery yet"]
            return Response(422, {"booking": {"base": base}})
        if booking["state"] == "delivered":
            booking["state"] = "completed"
            row["state"] = "completed"
            self.book.pay(str(row["id"]), int(float(row["payout"])))
            agent["credits"] += int(float(row["payout"]))
        paid = {**booking, "payout": row["payout"], "balance": f"{agent['credits']}.0"}
        return Response(200, {"booking": paid})

    def _available(self) -> list[dict[str, Any]]:
        return [r for r in self.assignments.values() if r["state"] == "available"]

    def _booking(self, agent: Any, number: Any) -> dict[str, Any] | None:
        booking = self.bookings.get(_integer(number) or 0)
        if booking and booking["agent_id"] == agent["agent_id"]:
            return booking
        return None


def _unauthorized() -> Response:
    return Response(
        401,
        "HTTP Token: Access denied.\n",
        {"WWW-Authenticate": 'Token realm="Application"'},
    )


def _bad_request(name: str) -> Response:
    word = f"param is missing or the value is empty: {name}"
    return Response(400, {"error": word})


def _require(request: Request, name: str) -> tuple[Any, Response | None]:
    """Do as `params.require` does."""
    try:
        params = request.json() if request.raw.strip() else {}
    except ValueError:
        return None, Response(400, {"status": 400, "error": "Bad Request"})
    value = params.get(name) if isinstance(params, dict) else None
    if value is None or value in ("", {}, []):
        return None, _bad_request(name)
    return value, None
