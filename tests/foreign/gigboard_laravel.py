"""A start-up's gig board: PHP on Laravel, with an envelope and sentences of its own.

FormRequests with their own messages and Sanctum tokens. Completion pays.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_GIGS = [
    (1041, "Poster headline", "grand opening this saturday", 12),
    (1042, "Warning label", "keep away from children and open fire", 18),
    (1043, "Shop sign", "fresh bread & coffee", 9),
    (1046, "Ticker line", "markets closed slightly higher today", 25),
    (1047, "Banner text", "free delivery until the end of may", 15),
    (1052, "Chapter title", "the long way home from the sea", 21),
    (1053, "Door plate", "staff only - please ring the bell", 11),
]
_HEADERS = {"Cache-Control": "no-cache, private", "X-Powered-By": "PHP/8.3.6"}


class _Abort(Exception):  # noqa: N818
    def __init__(self, status: int, code: str, message: str, fields: Any = None):  # noqa: ANN204
        super().__init__(message)
        error = {
            "code": code,
            "message": message,
            **({"fields": fields} if fields else {}),
        }
        body = {"success": False, "error": error}
        self.response = Response(status, body, dict(_HEADERS))


def _route(method: Any) -> Any:
    """Render what a controller throws, as the exception handler does."""

    @wraps(method)
    def render(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Abort as abort:
            return abort.response

    return render


def _validate(rules: dict[str, Any]) -> None:
    """Refuse with each field's message of the first rule that fails."""
    fields = {}
    for name, checks in rules.items():
        if failed := [text for fails, text in checks if fails]:
            fields[name] = failed[:1]
    if fields:
        message = "Hmm, something is not right with the information you sent."
        raise _Abort(422, "VALIDATION_FAILED", message, fields)


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000000Z")


def _integer(value: Any) -> int | None:
    """Read a value as Laravel's `integer` rule does."""
    try:
        return int(str(value)) if not isinstance(value, bool) else int(value)
    except ValueError:
        return None


class GigBoardLaravel(Backend):
    """Gigs, bookings and answers; every agent may hold three bookings."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, str] = {}
        self._balance: dict[str, int] = {}
        self._bookings: dict[str, dict[str, Any]] = {}
        self._gigs = {
            id_: {
                "id": id_,
                "headline": headline,
                "details": "Return the content in capital letters, nothing else changed.",
                "content": content,
                "payout": {"amount": f"{payout}.00", "currency": "credits"},
                "status": "published",
                "published_at": _stamp(datetime(2025, 3, 3, 9, id_ % 60, tzinfo=UTC)),
            }
            for id_, headline, content, payout in _GIGS
        }

    def texts(self) -> dict[str, str]:
        return {str(id_): gig["content"] for id_, gig in self._gigs.items()}

    def missing(self, request: Request) -> Response:
        message = f"The route {request.path.lstrip('/')} could not be found."
        return _Abort(404, "NOT_FOUND", message).response

    def _ok(self, message: str, data: Any) -> Response:
        body = {"success": True, "message": message, "data": data}
        return Response(200, body, dict(_HEADERS))

    def _agent(self, request: Request) -> str:
        agent = self._tokens.get(request.token)
        if agent is None:
            raise _Abort(
                401, "UNAUTHENTICATED", "Please sign in with your token first."
            )
        return agent

    def _input(self, request: Request) -> dict[str, Any]:
        """Read the input; like Laravel, trim strings and make empty ones null."""
        try:
            body = dict(request.json())
        except (ValueError, TypeError):
            return {}
        return {
            key: (value.strip() or None) if isinstance(value, str) else value
            for key, value in body.items()
        }

    def _booking_rules(self, body: dict[str, Any]) -> Any:
        code = body.get("booking_code")
        return (
            (code is None, "We need the code of the booking you got."),
            (str(code) not in self._bookings, "We do not know a booking like this."),
        )

    def _own_booking(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        booking = self._bookings[str(body["booking_code"])]
        if booking["agent"] != agent:
            raise _Abort(403, "FORBIDDEN", "This booking belongs to someone else.")
        return booking

    def _booking_resource(self, booking: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in booking.items() if key != "agent"}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = self.book.registrations
        agent = f"ag_{secrets.token_hex(6)}"
        token = f"{number}|{secrets.token_hex(24)}"
        self._tokens[token] = agent
        self._balance[agent] = 100
        body = {"agent_id": agent, "access_token": token, "credits": 100}
        message = {"success": True, "message": "Welcome aboard!"}
        return Response(200, {**message, **body}, dict(_HEADERS))

    def _index(self, request: Request) -> Response:
        size = _integer(request.query.get("limit") or 5)
        _validate({"limit": (
            (size is None, "The limit has to be a whole number."),
            (not 1 <= (size or 0) <= 50, "You can ask for 1 to 50 gigs at a time."),
        )})  # fmt: skip
        page = max(1, _integer(request.query.get("page") or 1) or 1)
        gigs = [gig for gig in self._gigs.values() if gig["status"] == "published"]
        last = max(1, -(-len(gigs) // size))
        address = f"{request.base}{request.path}?limit={size}&page={page + 1}"
        pagination = {
            "total": len(gigs),
            "per_page": size,
            "current_page": page,
            "last_page": last,
            "next_page_url": address if page < last else None,
        }
        gigs = gigs[(page - 1) * size : page * size]
        return self._ok("Open gigs.", {"gigs": gigs, "pagination": pagination})

    @_route
    def tasks(self, request: Request) -> Response:
        self._agent(request)
        return self._index(request)

    @_route
    def marketplace(self, request: Request) -> Response:
        return self._index(request)

    @_route
    def claim(self, request: Request) -> Response:
        agent, body = self._agent(request), self._input(request)
        id_, minutes = body.get("gig_id"), body.get("estimated_minutes")
        _validate({"gig_id": (
            (id_ is None, "Please pick the gig you want to work on."),
            (_integer(id_) is None, "A gig is picked by its number."),
            (_integer(id_) not in self._gigs, "We could not find that gig."),
        ), "estimated_minutes": (
            (minutes is None, "Tell us how many minutes you will need."),
            (_integer(minutes) is None, "Minutes have to be a whole number."),
            (not 5 <= (_integer(minutes) or 0) <= 480, "Estimates go from 5 to 480."),
        )})  # fmt: skip
        gig = self._gigs[_integer(id_) or 0]
        if gig["status"] != "published":
            raise _Abort(409, "GIG_TAKEN", "Too late, this gig is already taken.")
        mine = [b for b in self._bookings.values() if b["agent"] == agent]
        if sum(b["state"] != "finished" for b in mine) >= 3:
            message = (
                "You can hold 3 gigs at a time. Finish one before you take another."
            )
            raise _Abort(409, "TOO_MANY_BOOKINGS", message)
        gig["status"] = "booked"
        code = f"BK-{secrets.token_hex(4).upper()}"
        until = _stamp(datetime.now(UTC) + timedelta(minutes=_integer(minutes) or 0))
        booking = {"code": code, "gig_id": gig["id"], "state": "in_progress"}
        self._bookings[code] = {**booking, "deliver_by": until, "agent": agent}
        self.book.claimed(str(gig["id"]))
        booking = self._booking_resource(self._bookings[code])
        return self._ok("The gig is yours. Have fun!", {"booking": booking})

    @_route
    def submit(self, request: Request) -> Response:
        agent, body = self._agent(request), self._input(request)
        answer, note = body.get("answer"), body.get("note_to_client")
        _validate({"booking_code": self._booking_rules(body), "answer": (
            (answer is None, "You forgot your answer."),
            (not isinstance(answer, str), "Your answer has to be text."),
        ), "note_to_client": (
            (note is None, "Please leave a short note for the client."),
            (not isinstance(note, str), "Your note has to be text."),
            (len(str(note)) < 10, "Your note needs at least 10 characters."),
        )})  # fmt: skip
        booking = self._own_booking(agent, body)
        if booking["state"] == "finished":
            raise _Abort(409, "ALREADY_FINISHED", "This booking is finished already.")
        right = self._gigs[booking["gig_id"]]["content"].upper()
        message = "This is not what the client asked for. Please check the details."
        _validate({"answer": ((answer != right, message),)})
        booking["state"] = "delivered"
        return self._ok("Got it, thanks!", {"booking": self._booking_resource(booking)})

    @_route
    def complete(self, request: Request) -> Response:
        agent, body = self._agent(request), self._input(request)
        confirmed = body.get("confirmed") in (True, "1", "true", "yes", "on")
        _validate({
            "booking_code": self._booking_rules(body),
            "confirmed": ((not confirmed, "Please confirm that your work is final."),),
        })  # fmt: skip
        booking = self._own_booking(agent, body)
        if booking["state"] == "in_progress":
            raise _Abort(409, "NOTHING_DELIVERED", "Send us your answer first.")
        if booking["state"] == "finished":
            raise _Abort(409, "ALREADY_FINISHED", "This booking is finished already.")
        gig = self._gigs[booking["gig_id"]]
        payout = int(float(gig["payout"]["amount"]))
        booking["state"] = gig["status"] = "finished"
        self._balance[agent] += payout
        self.book.pay(str(gig["id"]), payout)
        data = {
            "booking": self._booking_resource(booking),
            "payout": gig["payout"],
            "wallet": {"balance": f"{self._balance[agent]}.00", "currency": "credits"},
        }
        return self._ok("All done. The payout is in your wallet.", data)
