"""Bidwharf: a freelancing marketplace of projects, bids and milestones.

In the manner of a large bidding site's REST API: every answer is wrapped in
`status`/`result`/`request_id`, errors carry an `error_code` out of named enumerations, and
bodies are checked against a JSON schema whose sentences reach the caller.
"""

import time
import uuid
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_PROJECTS = [
    (30417721, "Product labels in capitals", "organic rosehip jam, 250 g", 12),
    (30417802, "Billboard headline", "the ferry leaves at dawn", 18),
    (30418119, "Warning sign copy", "mind the gap between pontoon and quay", 25),
    (30418350, "Film credits", "sound recorded by m. okafor & sons", 9),
    (30418466, "Newspaper masthead", "The Harbour Courier, est. 1887", 31),
    (30418903, "Radio call list", "november-seven, this is lima-two; over", 15),
]

_ID = {"type": "integer"}
_BID = {
    "project_id": _ID,
    "bidder_id": _ID,
    "amount": {"type": "number"},
    "period": {"type": "integer", "minimum": 1},
    "description": {"type": "string", "minLength": 1},
}
_CONTENT = {"type": "object", "properties": {"content": {"type": "string"}}}
_DELIVERY = {"bid_id": _ID, "deliverable": _CONTENT}
_ACTION = {"type": "string", "enum": ["request_release"]}
_RELEASE = {"milestone_id": _ID, "action": _ACTION, "amount": {"type": "number"}}
_TYPES: dict[str, Any] = {"integer": int, "number": (int, float)}
_TYPES |= {"string": str, "object": dict}


def _problems(value: Any, schema: dict[str, Any], path: str = "") -> list[str]:
    """Return what a schema validator would say of a value."""
    at, kind, said = f"{path}: " if path else "", schema["type"], []
    if not isinstance(value, _TYPES[kind]) or isinstance(value, bool):
        return [f"{at}{value!r} is not of type {kind!r}"]
    if value not in schema.get("enum", [value]):
        return [f"{at}{value!r} is not one of {schema['enum']!r}"]
    if "minimum" in schema and value < schema["minimum"]:
        return [f"{at}{value!r} is less than the minimum of {schema['minimum']}"]
    if "minLength" in schema and len(value) < schema["minLength"]:
        return [f"{at}{value!r} is too short"]
    for name, inner in schema.get("properties", {}).items():
        if name not in value:
            said.append(f"{at}{name!r} is a required property")
        else:
            said += _problems(value[name], inner, f"{path}.{name}" if path else name)
    return said


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, code: str, message: str) -> None:
        self.answer = Response(
            status,
            {
                "status": "error",
                "message": message,
                "error_code": code,
                **_request_id(),
            },
        )


def _request_id() -> dict[str, str]:
    return {"request_id": uuid.uuid4().hex}


def _success(result: Any) -> Response:
    return Response(200, {"status": "success", "result": result, **_request_id()})


def _bad(message: str) -> _Refusal:
    return _Refusal(400, "RestExceptionCodes.BAD_REQUEST", message)


def _project(status: int, code: str, message: str) -> _Refusal:
    return _Refusal(status, f"ProjectExceptionCodes.{code}", message)


class Bidwharf(Backend):
    """Bids win at once; an accepted deliverable makes a milestone, its release pays."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, int] = {}  # token -> user id
        self._balance: dict[int, int] = {}
        self._bids: dict[int, dict[str, Any]] = {}
        self._milestones: dict[int, dict[str, Any]] = {}
        self._now = int(time.time())

    def texts(self) -> dict[str, str]:
        """Return the text of every project."""
        return {str(number): text for number, _, text, _ in _PROJECTS}

    def missing(self, request: Request) -> Response:
        """Return the house's 404, or 405 for a known path."""
        status, code, said = 404, "NOT_FOUND", "The requested URL was not found."
        known = any(path == request.path for _, path in ACTIONS)
        if known and (request.method, request.path) not in ACTIONS:
            status, code = 405, "METHOD_NOT_ALLOWED"
            said = "The method is not allowed for the requested URL."
        return _Refusal(status, f"RestExceptionCodes.{code}", said).answer

    def _run(self, request: Request, schema: dict[str, Any], action: Any) -> Response:
        """Authenticate, validate the body, and act."""
        try:
            if request.token not in self._users:
                said = "You must be logged in to perform this request."
                raise _Refusal(401, "RestExceptionCodes.NOT_AUTHENTICATED", said)
            try:
                body = request.json() if schema else {}
            except ValueError:
                raise _bad("The request body could not be decoded as JSON.") from None
            problems = _problems(body, {"type": "object", "properties": schema})
            if problems:
                raise _bad("Error while validating input: " + "; ".join(problems))
            return _success(action(self._users[request.token], body))
        except _Refusal as refusal:
            return refusal.answer

    def register(self, request: Request) -> Response:
        """Make a user; the answer is the one that the contract shows."""
        self.book.registrations += 1
        user = 61840200 + self.book.registrations * 37
        token = uuid.uuid4().hex + uuid.uuid4().hex[:8]
        self._users[token] = user
        self._balance[user] = 100
        shown = {"agent_id": str(user), "access_token": token, "credits": 100}
        return Response(200, {**shown, "user": {"id": user, "role": "freelancer"}})

    def _page(self, request: Request) -> dict[str, Any]:
        page = {"limit": 10, "offset": 0}
        for name, (low, high) in {"limit": (1, 100), "offset": (0, 9999)}.items():
            given = request.query.get(name, str(page[name]))
            if not given.isdecimal() or not low <= int(given) <= high:
                said = f"expected an integer from {low} to {high}"
                raise _bad(f"Invalid value {given!r} for parameter {name!r}: {said}.")
            page[name] = int(given)
        taken = {bid["project_id"] for bid in self._bids.values()}
        rows = [
            {
                "id": number,
                "title": title,
                "status": "active",
                "frontend_project_status": "open",
                "currency": {"id": 77, "code": "CRD", "name": "Credits", "sign": "c"},
                "type": "fixed",
                "budget": {"minimum": float(pay), "maximum": float(pay)},
                "preview_description": "Return the source text in CAPITAL LETTERS.",
                "source_text": text,
                "jobs": [{"id": 39, "name": "Data Entry"}],
                "bidperiod": 7,
                "submitdate": self._now - 3600 * place,
            }
            for place, (number, title, text, pay) in enumerate(_PROJECTS, 1)
            if number not in taken
        ]
        shown = rows[page["offset"] : page["offset"] + page["limit"]]
        return {"projects": shown, "total_count": len(rows)}

    def marketplace(self, request: Request) -> Response:
        """List the open projects, also to strangers."""
        try:
            return _success(self._page(request))
        except _Refusal as refusal:
            return refusal.answer

    def tasks(self, request: Request) -> Response:
        """List the open projects to a user."""
        return self._run(request, {}, lambda user, body: self._page(request))  # noqa: ARG005

    def claim(self, request: Request) -> Response:
        """Bid on a project."""
        return self._run(request, _BID, self._bid)

    def _bid(self, user: int, body: dict[str, Any]) -> dict[str, Any]:
        project, amount = body["project_id"], body["amount"]
        pay = next((row[3] for row in _PROJECTS if row[0] == project), None)
        if pay is None:
            raise _project(
                404, "PROJECT_NOT_FOUND", f"Project {project} was not found."
            )
        if body["bidder_id"] != user:
            said = f"bidder_id must be the id of the authenticated user ({user})."
            raise _project(403, "PERMISSION_DENIED", said)
        for bid in self._bids.values():
            if bid["project_id"] == project:
                if bid["bidder_id"] == user:
                    said = "You have already bid on that project."
                    raise _project(409, "DUPLICATE_BID", said)
                said = "This project is not open for bidding."
                raise _project(409, "PROJECT_NOT_OPEN", said)
        if amount != pay:
            said = (
                "Your bid amount must be within the budget of the project "
                f"(minimum {pay:.2f}, maximum {pay:.2f} CRD)."
            )
            raise _project(400, "BID_AMOUNT_OUT_OF_RANGE", said)
        number = 410077300 + len(self._bids) * 13
        won = {"award_status": "awarded", "time_submitted": int(time.time())}
        self._bids[number] = {
            "id": number,
            **{name: body[name] for name in _BID},
            **won,
        }
        self.book.claimed(str(project))
        return self._bids[number]

    def submit(self, request: Request) -> Response:
        """Deliver the work of a bid."""
        return self._run(request, _DELIVERY, self._deliver)

    def _deliver(self, user: int, body: dict[str, Any]) -> dict[str, Any]:
        bid = self._bids.get(body["bid_id"])
        if bid is None or bid["bidder_id"] != user:
            raise _project(404, "BID_NOT_FOUND", f"Bid {body['bid_id']} was not found.")
        if any(m["bid_id"] == bid["id"] for m in self._milestones.values()):
            said = "This bid has already been delivered."
            raise _project(409, "ALREADY_DELIVERED", said)
        text = self.texts()[str(bid["project_id"])]
        if body["deliverable"]["content"] != text.upper():
            said = "The deliverable is not the source text in capital letters."
            raise _project(400, "DELIVERABLE_REJECTED", said)
        number = 8800140 + len(self._milestones) * 3
        self._milestones[number] = {
            "milestone_id": number,
            "bid_id": bid["id"],
            "project_id": bid["project_id"],
            "amount": float(bid["amount"]),
            "status": "frozen",
        }
        return {"milestones": {str(number): self._milestones[number]}}

    def complete(self, request: Request) -> Response:
        """Release a milestone, which pays it."""
        return self._run(request, _RELEASE, self._release)

    def _release(self, user: int, body: dict[str, Any]) -> dict[str, Any]:
        number = body["milestone_id"]
        stone = self._milestones.get(number)
        if stone is None or self._bids[stone["bid_id"]]["bidder_id"] != user:
            said = f"Milestone {number} was not found."
            raise _project(404, "MILESTONE_NOT_FOUND", said)
        if stone["status"] == "cleared":
            said = "This milestone was already released."
            raise _project(409, "ALREADY_RELEASED", said)
        if body["amount"] != stone["amount"]:
            said = (
                f"The amount must equal the milestone amount ({stone['amount']:.2f})."
            )
            raise _project(400, "INVALID_AMOUNT", said)
        stone["status"] = "cleared"
        self._balance[user] += int(stone["amount"])
        self.book.pay(str(stone["project_id"]), int(stone["amount"]))
        return {**stone, "account_balance": float(self._balance[user])}
