"""A gig market in the public API style of Freelancer.com: projects, bids, milestones."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_OWNER = 21760418
_FIRST = 38904117
_ROWS = (
    ("Shop window text", "fresh bread every morning", 20),
    ("Parking notice", "reserved for visitors", 35),
    ("Stamp for letters", "return to sender", 15),
    ("Menu heading", "soup of the day", 28),
    ("Trail marker", "keep to the left path", 40),
    ("Door sticker", "closed for the holidays", 22),
    ("Poster line", "bring a friend for free", 50),
)
_START = 1762160000


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def _bad(message: str) -> _Refusal:
    return _Refusal(400, "RestExceptionCodes.BAD_REQUEST", message)


def _number(body: dict[str, Any], name: str, whole: bool = True) -> Any:  # noqa: FBT001, FBT002
    if body.get(name) is None:
        raise _bad(f"Missing required parameter: {name}")
    value = body[name]
    kinds: Any = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        kind = "an integer" if whole else "a number"
        raise _bad(f"Invalid value for parameter {name}: must be {kind}")
    return value


def _string(body: dict[str, Any], name: str) -> str:
    if body.get(name) is None:
        raise _bad(f"Missing required parameter: {name}")
    if not isinstance(body[name], str):
        raise _bad(f"Invalid value for parameter {name}: must be a string")
    if not body[name].strip():
        raise _bad(f"Invalid value for parameter {name}: must not be empty")
    return body[name]


def _answering(action: Any) -> Any:
    """Turn what an action raises into the answer."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except _Refusal as no:
            return self._error(no)

    return answer


class FreelancerMarket(Backend):
    """A bid at the budget is awarded at once; the accepted work releases the milestone."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, int] = {}  # token -> user
        self._bids: dict[int, dict[str, Any]] = {}
        self._projects = {
            _FIRST + 13 * place: {
                "title": title,
                "text": text,
                "reward": reward,
                "state": "open",
                "time": _START + 3600 * place,
            }
            for place, (title, text, reward) in enumerate(_ROWS)
        }

    def texts(self) -> dict[str, str]:
        return {str(key): one["text"] for key, one in self._projects.items()}

    def _success(self, result: Any, refused: bool = False) -> Response:  # noqa: FBT001, FBT002
        body = {"status": "success", "result": result, "request_id": uuid.uuid4().hex}
        return Response(200, body, refused=refused)

    def _error(self, no: _Refusal) -> Response:
        body = {
            "status": "error",
            "message": no.message,
            "error_code": no.code,
            "request_id": uuid.uuid4().hex,
        }
        return Response(no.status, body)

    def missing(self, request: Request) -> Response:
        return self._error(
            _Refusal(
                404, "RestExceptionCodes.NOT_FOUND", "The requested URL was not found"
            )
        )

    def _project(self, key: int) -> dict[str, Any]:
        one = self._projects[key]
        return {
            "id": key,
            "owner_id": _OWNER,
            "title": one["title"],
            "status": "active" if one["state"] == "open" else "closed",
            "frontend_project_status": one["state"],
            "seo_url": "copy-typing/" + one["title"].replace(" ", "-").lower(),
            "currency": {"id": 99, "code": "CRD", "sign": "C", "name": "Credits"},
            "type": "fixed",
            "budget": {
                "minimum": float(one["reward"]),
                "maximum": float(one["reward"]),
            },
            "bidperiod": 7,
            "time_submitted": one["time"],
            "preview_description": "Type the input text in upper case letters.",
            "input_text": one["text"],
            "jobs": [{"id": 39, "name": "Copy Typing"}],
        }

    def _shown_bid(self, key: int) -> dict[str, Any]:
        bid = self._bids[key]
        return {
            "id": key,
            "bidder_id": bid["bidder"],
            "project_id": bid["project"],
            "amount": float(bid["amount"]),
            "period": bid["period"],
            "award_status": "awarded",
            "complete_status": "complete" if bid["closed"] else "incomplete",
            "paid_status": "paid" if bid["milestone"] else "unpaid",
        }

    def _signed_in(self, request: Request) -> tuple[int, dict[str, Any]]:
        user = self._users.get(request.token)
        if user is None:
            raise _Refusal(
                401,
                "RestExceptionCodes.NOT_AUTHENTICATED",
                "You must be logged in to perform this request",
            )
        try:
            body = request.json()
        except ValueError:
            raise _bad("Request body is not valid JSON") from None
        if not isinstance(body, dict):
            raise _bad("Request body must be a JSON object")
        return user, body

    def _own_bid(self, user: int, body: dict[str, Any]) -> int:
        key = _number(body, "bid_id")
        if key not in self._bids:
            raise _Refusal(
                404, "ProjectExceptionCodes.BID_NOT_FOUND", f"Bid {key} not found"
            )
        if self._bids[key]["bidder"] != user:
            raise _Refusal(
                403,
                "RestExceptionCodes.PERMISSION_DENIED",
                "You are not the owner of this bid",
            )
        return key

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = uuid.uuid4().hex[:30]
        user = 60412200 + 7 * self.book.registrations
        self._users[token] = user
        return Response(
            200, {"agent_id": str(user), "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        numbers = {"limit": 10, "offset": 0}
        for name in numbers:
            given = request.query.get(name)
            if given is None:
                continue
            if not given.isdecimal():
                return self._error(
                    _bad(
                        f"Invalid value for parameter {name}: "
                        "must be a non-negative integer"
                    )
                )
            numbers[name] = int(given)
        if numbers["limit"] > 100:
            return self._error(
                _bad("Invalid value for parameter limit: must be at most 100")
            )
        keys = [key for key, one in self._projects.items() if one["state"] == "open"]
        start, count = numbers["offset"], numbers["limit"]
        owner = {"id": _OWNER, "username": "signsandmore", "role": "employer"}
        return self._success(
            {
                "projects": [self._project(key) for key in keys[start : start + count]],
                "users": {str(_OWNER): owner},
                "selected_bids": None,
                "total_count": len(keys),
            }
        )

    marketplace = tasks

    @_answering
    def claim(self, request: Request) -> Response:
        user, body = self._signed_in(request)
        key = _number(body, "project_id")
        if key not in self._projects:
            raise _Refusal(
                404,
                "ProjectExceptionCodes.PROJECT_NOT_FOUND",
                f"Project {key} not found",
            )
        bidder = _number(body, "bidder_id")
        amount = _number(body, "amount", whole=False)
        period = _number(body, "period")
        if bidder != user:
            raise _Refusal(
                403,
                "RestExceptionCodes.PERMISSION_DENIED",
                "bidder_id must be the id of the logged in user",
            )
        one = self._projects[key]
        if any(
            bid["project"] == key and bid["bidder"] == user
            for bid in self._bids.values()
        ):
            raise _Refusal(
                409,
                "ProjectExceptionCodes.DUPLICATE_BID",
                "You have already bid on that project.",
            )
        if one["state"] != "open":
            raise _Refusal(
                409,
                "ProjectExceptionCodes.PROJECT_NOT_OPEN",
                "This project is no longer open for bidding.",
            )
        if amount != one["reward"]:
            raise _bad(
                "Your bid amount must be within the budget of the project: "
                f"minimum {one['reward']}.0, maximum {one['reward']}.0 CRD"
            )
        if not 1 <= period <= 7:
            raise _bad("period must be between 1 and 7 days")
        bid_id = 290118550 + 31 * len(self._bids)
        self._bids[bid_id] = {
            "project": key,
            "bidder": user,
            "amount": amount,
            "period": period,
            "milestone": 0,
            "closed": False,
        }
        one["state"] = "work_in_progress"
        self.book.claimed(str(key))
        return self._success(self._shown_bid(bid_id))

    @_answering
    def submit(self, request: Request) -> Response:
        user, body = self._signed_in(request)
        key = self._own_bid(user, body)
        work = _string(body, "deliverable")
        bid = self._bids[key]
        if bid["milestone"]:
            raise _Refusal(
                409,
                "ProjectExceptionCodes.MILESTONE_ALREADY_RELEASED",
                "The milestone of this bid has already been released.",
            )
        one = self._projects[bid["project"]]
        if work != one["text"].upper():
            return self._success(
                {
                    "bid_id": key,
                    "review_status": "rejected",
                    "reason": "The employer asks for a revision: the deliverable is not "
                    "the input text in upper case letters.",
                    "milestone": None,
                },
                refused=True,
            )
        bid["milestone"] = key + 5000000
        self.book.pay(str(bid["project"]), one["reward"])
        return self._success(
            {
                "bid_id": key,
                "review_status": "accepted",
                "reason": None,
                "milestone": {
                    "transaction_id": bid["milestone"],
                    "amount": float(one["reward"]),
                    "status": "cleared",
                },
            }
        )

    @_answering
    def complete(self, request: Request) -> Response:
        user, body = self._signed_in(request)
        key = self._own_bid(user, body)
        _string(body, "comment")
        bid = self._bids[key]
        if not bid["milestone"]:
            raise _Refusal(
                409,
                "ProjectExceptionCodes.PROJECT_NOT_COMPLETE",
                "The project cannot be completed before a deliverable is accepted.",
            )
        bid["closed"] = True
        self._projects[bid["project"]]["state"] = "complete"
        return self._success(self._shown_bid(key))
