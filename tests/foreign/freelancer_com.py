"""A freelance product's API, in the manner of Freelancer.com's public documentation.

Tasks are projects, a claim is a bid (awarded at once), a result is handed in for the
bid and becomes a milestone, and completion is an action on the milestone. Refusals
carry one message and one error_code.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_USD = {"id": 1, "code": "CRD", "sign": "C", "name": "Credit", "exchange_rate": 0.01}

_WORK = [
    ("Capitalise a shop window text", "fresh bread every morning", 20, 30),
    ("Upper case for a t-shirt print", "born to run slowly", 10, 15),
    ("Headline for a flyer", "garage sale this sunday", 30, 45),
    ("Subtitle conversion", "previously on the night shift", 12, 18),
    ("Label for a spice jar", "smoked paprika, mild", 5, 8),
    ("Safety notice", "wear your helmet at all times", 40, 60),
]


class _Error(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def _bad(message: str) -> _Error:
    return _rest(400, "BAD_REQUEST", message)


def _project(status: int, name: str, message: str) -> _Error:
    return _Error(status, f"ProjectExceptionCodes.{name}", message)


def _rest(status: int, name: str, message: str) -> _Error:
    return _Error(status, f"RestExceptionCodes.{name}", message)


def _whole(body: dict[str, Any], name: str, least: int = 1) -> int:
    """Return a required whole number; numbers in quotes are read as numbers."""
    if name not in body:
        raise _bad(f"'{name}' is a required property")
    value = body[name]
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _bad(f"{name}: {value!r} is not of type 'integer'")
    if value < least:
        raise _bad(f"{name}: {value!r} is less than the minimum of {least}")
    return value


def _text(body: dict[str, Any], name: str) -> str:
    if name not in body:
        raise _bad(f"'{name}' is a required property")
    if not isinstance(body[name], str):
        raise _bad(f"{name}: {body[name]!r} is not of type 'string'")
    if not body[name]:
        raise _bad(f"{name}: '' is too short")
    return body[name]


def _route(run: Callable[[Any, int, Any], Any]) -> Any:
    return lambda self, request: self._answer(request, partial(run, self))


class FreelancerCom(Backend):
    """Projects, bids and milestones."""

    def __init__(self) -> None:
        super().__init__()
        self._projects: dict[int, dict[str, Any]] = {}
        self._texts: dict[int, str] = {}
        for number, (title, text, low, high) in enumerate(_WORK):
            id_ = 38114207 + 113 * number
            self._texts[id_] = text
            self._projects[id_] = {
                "id": id_,
                "owner_id": 6021844 + number % 2,
                "title": title,
                "status": "active",
                "frontend_project_status": "open",
                "type": "fixed",
                "seo_url": f"data-entry/{title.lower().replace(' ', '-')}",
                "currency": _USD,
                "budget": {"minimum": low, "maximum": high},
                "bid_stats": {"bid_count": 0, "bid_avg": None},
                "description": "We need a short text in capital letters (upper case). "
                "The source_text comes with your awarded bid.",
                "time_submitted": 1741000000 + 3600 * number,
                "bidperiod": 7,
            }
        self._tokens: dict[str, int] = {}
        self._bids: dict[int, dict[str, Any]] = {}
        self._milestones: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {str(k): t for k, t in self._texts.items()}

    @staticmethod
    def _refuse(error: _Error) -> Response:
        body = {"status": "error", "message": error.message, "error_code": error.code}
        return Response(error.status, body | {"request_id": secrets.token_hex(16)})

    def missing(self, request: Request) -> Response:
        """Return the answer to an unknown path."""
        message = "The requested resource could not be found"
        return self._refuse(_Error(404, "RestExceptionCodes.NOT_FOUND", message))

    def _answer(
        self, request: Request, run: Callable[[int, dict[str, Any]], Any]
    ) -> Response:
        try:
            user = self._tokens.get(request.token)
            if user is None:
                why = "You must be logged in to perform this request"
                raise _rest(401, "NOT_AUTHENTICATED", why)
            body: Any = request.query
            if request.method == "POST":
                try:
                    body = request.json()
                except ValueError as e:
                    raise _bad("Request body is not valid JSON") from e
                if not isinstance(body, dict):
                    raise _bad(f"{body!r} is not of type 'object'")
            result = run(user, body)
        except _Error as e:
            return self._refuse(e)
        id_ = secrets.token_hex(16)
        return Response(200, {"status": "success", "result": result, "request_id": id_})

    def register(self, request: Request) -> Response:
        """Create a user."""
        self.book.registrations += 1
        user = 71530000 + 7 * self.book.registrations
        token = secrets.token_urlsafe(22)
        self._tokens[token] = user
        answer = {"agent_id": str(user), "access_token": token, "credits": 100}
        return Response(200, answer | {"token_type": "Bearer", "scope": "fln:project"})

    @_route
    def tasks(self, user: int, query: Any) -> Any:
        """List the active projects."""
        asked = {"limit": "10", "offset": "0"} | query
        limit = _whole(asked, "limit")
        offset = _whole(asked, "offset", 0)
        if limit > 100:
            raise _bad(f"limit: {limit} is greater than the maximum of 100")
        open_ = [p for p in self._projects.values() if p["status"] == "active"]
        return {
            "projects": open_[offset : offset + limit],
            "users": None,
            "total_count": len(open_),
        }

    @_route
    def claim(self, user: int, body: Any) -> Any:
        """Place a bid, which is awarded and accepted at once."""
        id_ = _whole(body, "project_id")
        bidder = _whole(body, "bidder_id")
        amount = _whole(body, "amount")
        period = _whole(body, "period")
        project = self._projects.get(id_)
        if project is None:
            raise _project(404, "PROJECT_NOT_FOUND", f"Project {id_} not found")
        if bidder != user:
            why = "bidder_id must be the id of the authenticated user"
            raise _rest(403, "FORBIDDEN", why)
        if project["status"] != "active":
            why = "This project is not open for bidding"
            raise _project(409, "PROJECT_NOT_OPEN", why)
        low, high = project["budget"].values()
        if not low <= amount <= high:
            why = f"Bid amount must be between {low} and {high}"
            raise _project(400, "BID_AMOUNT_INVALID", why)
        if period > 30:
            raise _bad(f"period: {period} is greater than the maximum of 30 (days)")
        project["status"] = "frozen"
        project["frontend_project_status"] = "work_in_progress"
        self.book.claimed(str(id_))
        bid = {
            "id": 402771300 + 17 * (len(self._bids) + 1),
            "project_id": id_,
            "bidder_id": user,
            "amount": amount,
            "period": period,
            "description": body.get("description"),
            "award_status": "awarded",
            "paid_status": "unpaid",
            "time_submitted": 1742000000 + len(self._bids),
        }
        self._bids[bid["id"]] = bid
        return bid | {"source_text": self._texts[id_]}

    @_route
    def submit(self, user: int, body: Any) -> Any:
        """Take a deliverable and open a milestone for it."""
        bid_id = _whole(body, "bid_id")
        deliverable = _text(body, "deliverable")
        bid = self._bids.get(bid_id)
        if bid is None or bid["bidder_id"] != user:
            raise _project(404, "BID_NOT_FOUND", f"Bid {bid_id} not found")
        if any(m["bid_id"] == bid_id for m in self._milestones.values()):
            why = "A milestone already exists for this bid"
            raise _project(409, "DUPLICATE_MILESTONE", why)
        if deliverable != self._texts[bid["project_id"]].upper():
            raise _Error(
                400,
                "ProjectExceptionCodes.DELIVERABLE_REJECTED",
                "The employer has rejected this deliverable: it is not "
                "source_text in upper case",
            )
        milestone = {
            "transaction_id": 9180450 + 3 * (len(self._milestones) + 1),
            "bid_id": bid_id,
            "project_id": bid["project_id"],
            "amount": bid["amount"],
            "status": "frozen",
        }
        self._milestones[milestone["transaction_id"]] = milestone
        return {"milestone": milestone}

    @_route
    def complete(self, user: int, body: Any) -> Any:
        """Request the release of the milestone, which pays."""
        id_ = _whole(body, "transaction_id")
        action = _text(body, "action")
        milestone = self._milestones.get(id_)
        if action != "request_release":
            raise _bad(f"action: {action!r} is not one of ['request_release']")
        if milestone is None or self._bids[milestone["bid_id"]]["bidder_id"] != user:
            raise _project(404, "MILESTONE_NOT_FOUND", f"Milestone {id_} not found")
        if milestone["status"] != "frozen":
            why = "This milestone has already been released"
            raise _project(409, "MILESTONE_ALREADY_RELEASED", why)
        milestone["status"] = "cleared"
        self._bids[milestone["bid_id"]]["paid_status"] = "fully_paid"
        self._projects[milestone["project_id"]]["status"] = "closed"
        self.book.pay(str(milestone["project_id"]), milestone["amount"])
        return None
