"""Kitewharf: gigs kept in a realtime database, served by Firebase-like callable functions.

Callables take {"data": ...} and answer {"result": ...} or {"error": ...}; the two plain HTTP
functions (registration and the listings) do without the envelope of the request.
"""

import json
import secrets
import string
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_STATUS = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429,
}
_GIGS = [
    ("-OKw1fT3mZq8RbYc2LdA", "Dock sign", "mind the gap between boat and quay", 8),
    ("-OKw1fT7pXv4NsGh9KeB", "Crate label", "fragile: forty-two glass floats", 15),
    ("-OKw1fTBrUw6MtJk5PfC", "Radio call", "kite two, wind is backing south-west", 11),
    ("-OKw1fTFsVy1LuHn3QgD", "Menu board", "soupe à l'oignon, crème brûlée", 22),
    ("-OKw1fTJtWz7KvGm8RhE", "Tide notice", "high water at 06:40 and 19:05", 5),
    ("-OKw1fTNuXa2JwFl4SiF", "Berth plate", "berth nine is kept for the pilot", 18),
    ("-OKw1fTRvYb9IxEk6TjG", "Warning flag", "no swimming beyond the red buoys", 13),
]
_MAX_ACTIVE = 2
_ALNUM = string.ascii_letters + string.digits


class _HttpsError(Exception):
    """What a callable throws to say no."""

    def __init__(self, status: str, message: str, details: Any = None) -> None:
        super().__init__(message)
        self.status, self.message, self.details = status, message, details


def _key(length: int) -> str:
    return "".join(secrets.choice(_ALNUM) for _ in range(length))


def _timestamp(at: float) -> dict[str, int]:
    return {"_seconds": int(at), "_nanoseconds": int(at % 1 * 1000) * 1_000_000}


def _send(status: int, body: Any, refused: bool = False) -> Response:  # noqa: FBT001, FBT002
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "Access-Control-Allow-Origin": "*",
        "Function-Execution-Id": _key(12).lower(),
    }
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(status, text, headers, refused)


class Kitewharf(Backend):
    """Two gigs at a time; a deliverable is checked at once, completion pays for it."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._gigs: dict[str, dict[str, Any]] = {
            key: {
                "title": title,
                "passage": passage,
                "status": "OPEN",
                "instructions": "Deliver the passage in capital letters.",
                "bounty": {"amount": amount, "currency": "CREDITS"},
                "postedBy": "h4RvN0cTqYb2wKsLz7XeJm1DpGu3",
                "createdAt": _timestamp(time.time() - 86400),
            }
            for key, title, passage, amount in _GIGS
        }

    def texts(self) -> dict[str, str]:
        """Return the passages by the gigs' keys."""
        return {key: gig["passage"] for key, gig in self._gigs.items()}

    def missing(self, request: Request) -> Response:
        """Say that there is no such function, as the hosting does."""
        page = "<title>404 Page not found</title><h1>Error: Page not found</h1>"
        return Response(404, page, {"Content-Type": "text/html; charset=utf-8"})

    # -- plain HTTP functions

    def register(self, request: Request) -> Response:
        """Create an anonymous user."""
        uid, token = _key(28), "kw." + _key(22) + "." + _key(43)
        self._users[token] = {"uid": uid, "balance": 100}
        self.book.registrations += 1
        return _send(200, {"agent_id": uid, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        """List the open gigs for everyone."""
        return self._guard(lambda: self._listing(request))

    def tasks(self, request: Request) -> Response:
        return self._guard(lambda: self._user(request) and self._listing(request))

    def agents(self, request: Request) -> Response:
        users = {user["uid"]: True for user in self._users.values()}
        return _send(200, {"result": {"agents": users}})

    directory = agents

    def _listing(self, request: Request) -> dict[str, Any]:
        raw = request.query.get("limit", "20")
        if not (raw.isascii() and raw.isdigit() and 1 <= int(raw) <= 50):
            raise _HttpsError("INVALID_ARGUMENT", "limit must be between 1 and 50.")
        after = request.query.get("pageToken", "")
        if after and after not in self._gigs:
            raise _HttpsError("INVALID_ARGUMENT", "Invalid pageToken.")
        gigs = self._gigs.items()
        keys = [key for key, gig in gigs if key > after and gig["status"] == "OPEN"]
        page = keys[: int(raw)]
        listing: dict[str, Any] = {"gigs": {key: self._gigs[key] for key in page}}
        if len(keys) > len(page):
            listing["nextPageToken"] = page[-1]
        return listing

    # -- callables

    def claim(self, request: Request) -> Response:
        return self._guard(lambda: self._claim(*self._call(request)))

    def submit(self, request: Request) -> Response:
        return self._guard(lambda: self._submit(*self._call(request)))

    def complete(self, request: Request) -> Response:
        return self._guard(lambda: self._complete(*self._call(request)))

    def post(self, request: Request) -> Response:
        return self._guard(lambda: self._post(*self._call(request)))

    def _claim(self, user: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        key = self._string(data, "gigId", "the key of the gig to claim")
        gig = self._gigs.get(key)
        if gig is None:
            raise _HttpsError("NOT_FOUND", f"No gig exists at /gigs/{key}.")
        if gig["status"] != "OPEN":
            raise _HttpsError("ALREADY_EXISTS", "This gig has already been claimed.")
        mine = [(i, c) for i, c in self._claims.items() if c["uid"] == user["uid"]]
        active = [claim_id for claim_id, c in mine if c["status"] == "ACTIVE"]
        if len(active) >= _MAX_ACTIVE:
            what = (
                f"You may hold at most {_MAX_ACTIVE} active claims. Complete one first."
            )
            raise _HttpsError("RESOURCE_EXHAUSTED", what, {"activeClaims": active})
        claim_id = _key(20)
        gig["status"] = "CLAIMED"
        self._claims[claim_id] = {
            "uid": user["uid"],
            "gigId": key,
            "status": "ACTIVE",
            "deliverables": {},
        }
        self.book.claimed(key)
        now = _timestamp(time.time())
        return {"claimId": claim_id, "gigId": key, "status": "ACTIVE", "claimedAt": now}

    def _submit(self, user: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        claim = self._owned(user, data)
        deliverable = data.get("deliverable")
        if not isinstance(deliverable, dict):
            what = (
                'The function must be called with an argument "deliverable", an object'
            )
            raise _HttpsError("INVALID_ARGUMENT", what + ' with a property "text".')
        if not isinstance(deliverable.get("text"), str) or not deliverable["text"]:
            what = '"deliverable.text" must be a non-empty string.'
            raise _HttpsError("INVALID_ARGUMENT", what)
        if claim["status"] != "ACTIVE":
            raise _HttpsError("FAILED_PRECONDITION", "This claim is already completed.")
        passed = deliverable["text"] == self._gigs[claim["gigId"]]["passage"].upper()
        claim["deliverables"][deliverable_id := _key(20)] = passed
        reason = None if passed else "The text is not the passage in capital letters."
        check = {"passed": passed, "reason": reason}
        status = "ACCEPTED" if passed else "REJECTED"
        return {"deliverableId": deliverable_id, "status": status, "check": check}

    def _complete(self, user: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        claim = self._owned(user, data)
        if claim["status"] != "ACTIVE":
            raise _HttpsError("FAILED_PRECONDITION", "This claim is already completed.")
        what = "the ID of the accepted deliverable"
        deliverable_id = self._string(data, "deliverableId", what)
        if deliverable_id not in claim["deliverables"]:
            raise _HttpsError("NOT_FOUND", "This claim has no such deliverable.")
        if not claim["deliverables"][deliverable_id]:
            what = (
                "This deliverable was rejected. Submit another one for the same claim."
            )
            raise _HttpsError("FAILED_PRECONDITION", what)
        gig = self._gigs[claim["gigId"]]
        claim["status"], gig["status"] = "COMPLETED", "PAID"
        user["balance"] += gig["bounty"]["amount"]
        self.book.pay(claim["gigId"], gig["bounty"]["amount"])
        return {
            "status": "COMPLETED",
            "payout": gig["bounty"],
            "balance": user["balance"],
        }

    def _post(self, user: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        raise _HttpsError("PERMISSION_DENIED", "Only verified sponsors can post gigs.")

    # -- what the functions library does

    def _guard(self, function: Callable[[], Any]) -> Response:
        try:
            result = function()
        except _HttpsError as error:
            body = {"message": error.message, "status": error.status}
            body |= {"details": error.details} if error.details else {}
            return _send(_STATUS[error.status], {"error": body})
        return _send(200, {"result": result}, result.get("status") == "REJECTED")

    def _user(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            what = "The function must be called while authenticated."
            raise _HttpsError("UNAUTHENTICATED", what)
        if request.token not in self._users:
            raise _HttpsError("UNAUTHENTICATED", "Unauthenticated")
        return self._users[request.token]

    def _call(self, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if kind.lower() != "application/json":
            what = f"Request has incorrect Content-Type. {kind}"
            raise _HttpsError("INVALID_ARGUMENT", what)
        try:
            body = request.json()
        except ValueError:
            raise _HttpsError("INVALID_ARGUMENT", "Bad Request") from None
        if not isinstance(body, dict) or body.get("data") is None:
            raise _HttpsError("INVALID_ARGUMENT", "Request body is missing data.")
        extra = [name for name in body if name != "data"]
        if extra:
            what = f"Request body has extra fields: {', '.join(extra)}"
            raise _HttpsError("INVALID_ARGUMENT", what)
        if not isinstance(body["data"], dict):
            raise _HttpsError("INVALID_ARGUMENT", "data must be an object.")
        return self._user(request), body["data"]

    def _string(self, data: dict[str, Any], name: str, what: str) -> str:
        value = data.get(name)
        if not isinstance(value, str) or not value:
            what = f'The function must be called with an argument "{name}" containing {what}.'
            raise _HttpsError("INVALID_ARGUMENT", what)
        return value

    def _owned(self, user: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        claim_id = self._string(data, "claimId", "the ID of your claim")
        claim = self._claims.get(claim_id)
        if claim is None:
            raise _HttpsError("NOT_FOUND", f"No claim exists at /claims/{claim_id}.")
        if claim["uid"] != user["uid"]:
            raise _HttpsError(
                "PERMISSION_DENIED", "This claim belongs to another agent."
            )
        return claim
