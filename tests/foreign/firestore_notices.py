"""Firebase: callable functions for the actions, Firestore documents in the listing.

A notice board for shopkeepers; agents set their notices in capitals.

Listing: Firestore's REST answer, `{"documents": [{"name": "projects/.../documents/notices/
<id>", "fields": {...typed values...}, "createTime", "updateTime"}]}`; the fields are `shop`,
`job` ("uppercase"), `howTo`, `draft: {mapValue: {text}}`, `fee` (integerValue, a string) and
`status`. Taken notices are no longer in it.
Calls (claim, submit, complete) are callable: the body is `{"data": {...}}`, the answer
`{"result": {...}}`; fields beyond those below are ignored.
Claim: `noticeId` (the document's id) -> `{notice: {id, status, draft}, claimedAt}`; again by
the same agent: the same.
Submit: `noticeId`, `finalText` -> `{notice: {id, status: "checking"}}`; a trigger checks the
text within some 1.5 seconds, but text that is plainly wrong is refused at once.
Complete: `noticeId` -> `{notice: {id, status: "paid"}, fee, balance}`; again: the same.
Errors: `{"error": {"status", "message", "details"}}` with the canonical codes and their
statuses of HTTP (INVALID_ARGUMENT and FAILED_PRECONDITION 400, UNAUTHENTICATED 401, ...).
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ROOT = "projects/notice-board-prod/databases/(default)/documents/notices/"
NOTICES: dict[str, tuple[str, str, int]] = {
    "Kx3mQ0vTz8Lr2bYwPn5A": ("Corner Books", "signed copies while they last", 7),
    "a9RfWc1UeHs6GdJtVo4B": ("Green's", "new potatoes straight from the field", 9),
    "Zp7nXy2IkMq0OlEuSa8C": ("Clockmaker", "closed on monday for the summer fair", 11),
    "h4TbDj5FgVr9CwNxQm1D": (
        "The Mill Café",
        "soup of the day comes with warm bread",
        12,
    ),
    "Ls6oKv8PzUe3AyIhRt2E": ("Shoe repair", "heels and keys in ten minutes", 6),
    "q1GcBn7MdXf4WjLaHs0F": ("Launderette", "last wash is at half past seven", 8),
    "Yr2eOu9TiQk5VzPbCm6G": (
        "Pet shop",
        "rabbits are looking for a good home, ask inside",
        14,
    ),
    "w8SdNl3JxFh0GvRoKa7H": ("Cinema", "matinee on sundays, children pay half", 10),
}
CODES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
}
CHECK_SECONDS = 1.5


class HttpsError(Exception):
    """functions.https.HttpsError."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code, self.details = code, details


def typed(value: Any) -> dict[str, Any]:
    """Return a value as Firestore's REST API writes it."""
    if isinstance(value, bool):
        return {"booleanValue": value}
    if isinstance(value, int):
        return {"integerValue": str(value)}
    if isinstance(value, dict):
        return {
            "mapValue": {"fields": {key: typed(each) for key, each in value.items()}}
        }
    return {"stringValue": value}


class FirebaseNotices(Backend):
    """The notice board."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.balances: dict[str, int] = {}
        self.taken: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the draft of every notice."""
        return {id_: text for id_, (_, text, _) in NOTICES.items()}

    def _no(self, error: HttpsError) -> Response:
        body: dict[str, Any] = {"message": str(error), "status": error.code}
        if error.details:
            body["details"] = error.details
        return Response(CODES[error.code], {"error": body})

    def missing(self, request: Request) -> Response:
        """The hosting's answer to a path without a function."""
        return Response(404, "Page Not Found", {"Content-Type": "text/html"})

    def _now(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())

    def _uid(self, request: Request) -> str:
        uid = self.agents.get(request.token)
        if uid is None:
            raise HttpsError(
                "UNAUTHENTICATED",
                "The function must be called with a valid bearer token.",
            )
        return uid

    def _call(self, request: Request) -> tuple[str, dict[str, Any]]:
        """Return the caller and the data of a call."""
        try:
            body = request.json()
        except ValueError:
            raise HttpsError(
                "INVALID_ARGUMENT", "Request body is not valid JSON."
            ) from None
        if not isinstance(body, dict) or "data" not in body:
            raise HttpsError(
                "INVALID_ARGUMENT",
                "Invalid callable request: the body is missing "
                "the top-level field 'data'.",
            )
        uid = self._uid(request)
        if not isinstance(body["data"], dict):
            raise HttpsError("INVALID_ARGUMENT", "'data' must be an object.")
        return uid, body["data"]

    def _argument(self, data: dict[str, Any], name: str) -> str:
        value = data.get(name)
        if not isinstance(value, str) or not value:
            raise HttpsError(
                "INVALID_ARGUMENT",
                "The function must be called with argument "
                f"'{name}', a non-empty string.",
                argument=name,
            )
        return value

    def _notice(self, data: dict[str, Any]) -> str:
        id_ = self._argument(data, "noticeId")
        if "/" in id_:
            raise HttpsError(
                "INVALID_ARGUMENT",
                "'noticeId' must be a document ID, not a document path.",
                argument="noticeId",
            )
        if id_ not in NOTICES:
            raise HttpsError("NOT_FOUND", f"No document to get: notices/{id_}")
        return id_

    def _mine(self, uid: str, data: dict[str, Any]) -> str:
        id_ = self._notice(data)
        if self.taken.get(id_, {}).get("uid") != uid:
            raise HttpsError("PERMISSION_DENIED", "You have not claimed this notice.")
        return id_

    def register(self, request: Request) -> Response:
        """onRequest, not callable."""
        self.book.registrations += 1
        uid, token = secrets.token_urlsafe(21), secrets.token_urlsafe(48)
        self.agents[token], self.balances[uid] = uid, 100
        return Response(200, {"agent_id": uid, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        """The open notices, as Firestore gives them."""
        documents = [
            {
                "name": ROOT + id_,
                "fields": {
                    key: typed(value)
                    for key, value in {
                        "shop": shop,
                        "job": "uppercase",
                        "howTo": "Rewrite the draft's text in upper case letters.",
                        "draft": {"text": text},
                        "fee": fee,
                        "status": "open",
                    }.items()
                },
                "createTime": "2024-05-02T07:31:12.402911Z",
                "updateTime": "2024-05-02T07:31:12.402911Z",
            }
            for id_, (shop, text, fee) in NOTICES.items()
            if id_ not in self.taken
        ]
        limit = request.query.get("limit", "")
        if limit.isdecimal() and int(limit):
            documents = documents[: int(limit)]
        return Response(200, {"documents": documents} if documents else {})

    tasks = marketplace

    def claim(self, request: Request) -> Response:
        """claimNotice."""
        try:
            uid, data = self._call(request)
            id_ = self._notice(data)
            if id_ not in self.taken:
                self.taken[id_] = {"uid": uid, "status": "claimed", "at": self._now()}
                self.book.claimed(id_)
            row = self.taken[id_]
            if row["uid"] != uid:
                raise HttpsError(
                    "ALREADY_EXISTS", "This notice was claimed by another agent."
                )
            return Response(
                200,
                {
                    "result": {
                        "notice": {
                            "id": id_,
                            "status": row["status"],
                            "draft": {"text": NOTICES[id_][1]},
                        },
                        "claimedAt": row["at"],
                    }
                },
            )
        except HttpsError as error:
            return self._no(error)

    def submit(self, request: Request) -> Response:
        """submitNotice; the trigger onWrite checks it afterwards."""
        try:
            uid, data = self._call(request)
            id_ = self._mine(uid, data)
            text, row = self._argument(data, "finalText"), self.taken[id_]
            if row["status"] == "paid":
                raise HttpsError("FAILED_PRECONDITION", "This notice is already paid.")
            if text != NOTICES[id_][1].upper():
                raise HttpsError(
                    "INVALID_ARGUMENT",
                    "'finalText' is not the draft in upper case.",
                    argument="finalText",
                )
            if row["status"] == "claimed":
                row.update(status="checking", ready=time.time() + CHECK_SECONDS)
            return Response(
                200, {"result": {"notice": {"id": id_, "status": "checking"}}}
            )
        except HttpsError as error:
            return self._no(error)

    def complete(self, request: Request) -> Response:
        """completeNotice."""
        try:
            uid, data = self._call(request)
            id_ = self._mine(uid, data)
            row, fee = self.taken[id_], NOTICES[id_][2]
            if row["status"] == "claimed":
                raise HttpsError(
                    "FAILED_PRECONDITION",
                    "No text was submitted for this notice.",
                    status="claimed",
                )
            if row["status"] == "checking" and time.time() < row["ready"]:
                raise HttpsError(
                    "FAILED_PRECONDITION",
                    "The text is still being checked. Try again in a few seconds.",
                    status="checking",
                )
            if row["status"] == "checking":
                row["status"] = "paid"
                self.balances[uid] += fee
                self.book.pay(id_, fee)
            return Response(
                200,
                {
                    "result": {
                        "notice": {"id": id_, "status": "paid"},
                        "fee": fee,
                        "balance": self.balances[uid],
                    }
                },
            )
        except HttpsError as error:
            return self._no(error)
