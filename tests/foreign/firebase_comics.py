"""A Firebase team of one: a comics publisher's lettering board on Cloud Functions.

Stack: callable functions (onCall) for what an agent does, plain onRequest functions for
the registration and the listing; Firestore document ids; Timestamps with _seconds.

Listing: {"result": [..]}; a document has id, createdAt, comic {title, page, panel}, job,
lettering (the text), reward, state. Only free ones are listed.

Callable requests are {"data": {..}}; answers {"result": {..}}.
Claim wants data {"panelId": id}; answers {"claimed": true, "panelId", "until", "lettering"}.
Submit wants data {"panelId": id, "lettered": ".."}; answers {"ok": true, "proofId"}.
Complete wants data {"panelId": id, "proofId": id}; answers {"paid", "credits"}.
Repeated claims and submits of one's own answer the same; a second complete says paid: 0.

Errors: {"error": {"message", "status", "details"?}} with the gRPC status names that
functions.https.HttpsError has: INVALID_ARGUMENT and FAILED_PRECONDITION 400,
UNAUTHENTICATED 401, PERMISSION_DENIED 403, NOT_FOUND 404, ALREADY_EXISTS 409.
"""

import secrets
import string
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PANELS = [
    ("Night Tram", 3, 2, "wait, that tram stopped running in 1968!", 17),
    ("Night Tram", 3, 4, "then who is ringing the bell?", 12),
    ("Night Tram", 4, 1, "hold on to the pole and do not look back", 19),
    ("Captain Rust", 11, 5, "my engine runs on tea and stubbornness", 14),
    ("Captain Rust", 12, 1, "all hands on deck, the kettle is boiling!", 16),
    (
        "Captain Rust",
        12,
        3,
        "you call that a sea? I have seen puddles with more ambition",
        27,
    ),
    ("The Quiet Owl", 1, 1, "long ago, in a forest without any paths", 18),
    ("The Quiet Owl", 1, 6, "hoo goes there at night?", 6),
    ("The Quiet Owl", 2, 2, "nobody ever listens to the one who whispers", 21),
]
HTTP = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
}


def _document_id() -> str:
    letters = string.ascii_letters + string.digits
    return "".join(secrets.choice(letters) for _ in range(20))


def _timestamp(seconds: float) -> dict[str, int]:
    return {"_seconds": int(seconds), "_nanoseconds": int(seconds % 1 * 1e9)}


class HttpsError(Exception):
    """functions.https.HttpsError: a code, a message, and perhaps details."""

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        super().__init__(message)
        status = code.upper().replace("-", "_")
        error: dict[str, Any] = {"message": message, "status": status}
        if details is not None:
            error["details"] = details
        self.response = Response(HTTP[status], {"error": error})


class Firebase(Backend):
    """The lettering board."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._panels: dict[str, dict[str, Any]] = {}
        for title, page, panel, lettering, reward in PANELS:
            number = _document_id()
            self._panels[number] = {
                "agent": None,
                "proofId": None,
                "public": {
                    "id": number,
                    "createdAt": _timestamp(1741000000 + page * 61.25),
                    "comic": {"title": title, "page": page, "panel": panel},
                    "job": "Letter this balloon: the same words, ALL CAPS",
                    "lettering": lettering,
                    "reward": reward,
                    "state": "free",
                },
            }

    def texts(self) -> dict[str, str]:
        return {
            number: panel["public"]["lettering"]
            for number, panel in self._panels.items()
        }

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        uid = "".join(secrets.choice(string.ascii_letters) for _ in range(28))
        token = "eyJhbGciOiJSUzI1NiJ9." + secrets.token_urlsafe(60)
        self._agents[token] = {"uid": uid, "credits": 100}
        return Response(
            200,
            {
                "agent_id": uid,
                "access_token": token,
                "credits": 100,
                "displayName": None,
            },
        )

    def marketplace(self, request: Request) -> Response:
        limit = request.query.get("limit", "")
        size = int(limit) if limit.isascii() and limit.isdigit() else 50
        free = [
            panel["public"]
            for panel in self._panels.values()
            if panel["public"]["state"] == "free"
        ]
        return Response(200, {"result": free[: max(1, size)]})

    tasks = marketplace

    def claim(self, request: Request) -> Response:
        try:
            return Response(200, {"result": self._claim(*self._call(request))})
        except HttpsError as error:
            return error.response

    def submit(self, request: Request) -> Response:
        try:
            return Response(200, {"result": self._submit(*self._call(request))})
        except HttpsError as error:
            return error.response

    def complete(self, request: Request) -> Response:
        try:
            return Response(200, {"result": self._complete(*self._call(request))})
        except HttpsError as error:
            return error.response

    def _call(self, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
        """Decode a callable request: who calls, and its data."""
        try:
            body = request.json()
        except ValueError:
            raise HttpsError(
                "invalid-argument", "Bad Request: body is not valid JSON."
            ) from None
        if not isinstance(body, dict) or body.get("data", self) is self:
            raise HttpsError(
                "invalid-argument", "Bad Request: request body is missing data."
            )
        extra = [key for key in body if key != "data"]
        if extra:
            raise HttpsError(
                "invalid-argument",
                f"Bad Request: request body has extra fields: {', '.join(extra)}",
            )
        agent = self._agents.get(request.token)
        if not agent:
            raise HttpsError("unauthenticated", "Unauthenticated")
        data = body["data"]
        return agent, data if isinstance(data, dict) else {}

    def _panel(self, data: dict[str, Any]) -> dict[str, Any]:
        number = self._string(data, "panelId")
        if number not in self._panels:
            raise HttpsError("not-found", f"No document panels/{number}")
        return self._panels[number]

    def _held(self, agent: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        panel = self._panel(data)
        if panel["agent"] is None:
            raise HttpsError("failed-precondition", "Claim the panel first.")
        if panel["agent"] is not agent:
            raise HttpsError("permission-denied", "This panel is not yours.")
        return panel

    @staticmethod
    def _string(data: dict[str, Any], name: str) -> str:
        value = data.get(name)
        if not isinstance(value, str) or not value:
            raise HttpsError(
                "invalid-argument",
                f'The function must be called with a non-empty string "{name}".',
                {"received": sorted(data)},
            )
        return value

    def _claim(self, agent: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        panel = self._panel(data)
        if panel["agent"] not in (None, agent):
            raise HttpsError("already-exists", "Somebody else is lettering this panel.")
        public = panel["public"]
        if panel["agent"] is None:
            panel["agent"] = agent
            panel["until"] = time.time() + 1800
            public["state"] = "taken"
            self.book.claimed(public["id"])
        return {
            "claimed": True,
            "panelId": public["id"],
            "until": _timestamp(panel["until"]),
            "lettering": public["lettering"],
        }

    def _submit(self, agent: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        panel = self._held(agent, data)
        lettered = self._string(data, "lettered")
        if panel["public"]["state"] == "paid":
            raise HttpsError("failed-precondition", "This panel is finished and paid.")
        if lettered != panel["public"]["lettering"].upper():
            raise HttpsError(
                "invalid-argument",
                "The proof was rejected: lettered is not the balloon text in all caps.",
                {"field": "lettered"},
            )
        if not panel["proofId"]:
            panel["proofId"] = _document_id()
            panel["public"]["state"] = "proofed"
        return {"ok": True, "proofId": panel["proofId"]}

    def _complete(self, agent: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        panel = self._held(agent, data)
        proof = self._string(data, "proofId")
        if not panel["proofId"]:
            raise HttpsError(
                "failed-precondition", "There is no proof to complete yet."
            )
        if proof != panel["proofId"]:
            raise HttpsError("not-found", f"No document proofs/{proof}")
        public = panel["public"]
        paid = 0
        if public["state"] != "paid":
            public["state"] = "paid"
            paid = public["reward"]
            agent["credits"] += paid
            self.book.pay(public["id"], paid)
        return {"panelId": public["id"], "paid": paid, "credits": agent["credits"]}
