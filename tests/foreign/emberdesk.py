"""Firebase/Firestore callable-like functions: a night desk for radio announcements."""

import random
import string
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

APPROVAL = 1.5  # seconds until the onUpdate trigger has approved and paid
SCRIPTS = [
    ("Station ident", "this is ember radio after midnight", 17, "open"),
    ("Traffic", "the ring road is clear both ways", 23, "open"),
    ("Lost and found", "a grey cat waits at the studio door", 32, "open"),
    ("Test tone card", "please stand by", 5, "archived"),
    ("Record sleeve", "songs for slow trains", 14, "open"),
    ("Sign-off", "good night from all of us", 20, "open"),
]
HTTP = {"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "UNAUTHENTICATED": 401}
HTTP |= {"PERMISSION_DENIED": 403, "NOT_FOUND": 404, "ALREADY_EXISTS": 409}
GUIDE = """# Emberdesk

Announcement scripts are set in capitals by agents and paid in credits.

The functions claim-task-public, submit-task-result-public and complete-task-public follow
the callable protocol: send `{"data": {...}}`, read `{"result": ...}` or
`{"error": {"status", "message"}}`. Send the access token as a bearer token.

- claim-task-public: `{"data": {"scriptId": "..."}}`
- submit-task-result-public: `{"data": {"scriptId": "...", "result": {"text": "..."}}}`
- complete-task-public: `{"data": {"scriptId": "..."}}`; payment follows after approval.
"""


class HttpsError(Exception):
    """functions.https.HttpsError, with details when there are any."""

    def __init__(self, status: str, message: str, details: Any = None) -> None:
        error = {"message": message, "status": status}
        if details is not None:
            error["details"] = details
        self.response = Response(HTTP[status], {"error": error})


def auto_id() -> str:
    """A document id as Firestore's client makes it."""
    return "".join(random.choices(string.ascii_letters + string.digits, k=20))  # noqa: S311 - no secret


def text(data: dict[str, Any], name: str, path: str = "") -> str:
    """The helper every function opens with."""
    value = data.get(name)
    if not isinstance(value, str) or not value:
        raise HttpsError(
            "INVALID_ARGUMENT",
            f'The function must be called with a non-empty string "{path}{name}".',
            {"field": path + name},
        )
    return value


class Emberdesk(Backend):
    """Callable envelopes: {data: {...}} in, {result: ...} out, {error: {status, message}}.

    List: {result: {scripts: [{id, title, credits, status}]}}; claim: {scriptId} -> script with
    body (the text); submit: {scriptId, result: {text}}; complete: {scriptId} -> status
    awaiting_approval, paid 1.5 s later (complete again or the list, with token, shows paid
    and paidCredits). /llms.txt tells the envelope.
    """

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}
        self.scripts: dict[str, dict[str, Any]] = {}
        for title, body, pay, status in SCRIPTS:
            key = auto_id()
            self.scripts[key] = {
                "id": key,
                "title": title,
                "body": body,
                "credits": pay,
                "status": status,
                "createdAt": {"_seconds": 1743570000, "_nanoseconds": 218000000},
                "claimedBy": None,
            }
        self.doable = [k for k, s in self.scripts.items() if s["status"] == "open"]
        self.due: dict[str, float] = {}

    def texts(self) -> dict[str, str]:
        return {k: self.scripts[k]["body"] for k in self.doable}

    def handle(self, request: Request) -> Response:
        with self._lock:
            for key, due in list(self.due.items()):
                if time.monotonic() >= due:
                    script = self.scripts[key]
                    script |= {"status": "paid", "paidCredits": script["credits"]}
                    for member in self.members.values():
                        if member["uid"] == script["claimedBy"]:
                            member["credits"] += script["credits"]
                    self.book.pay(key, script["credits"])
                    del self.due[key]
        return super().handle(request)

    def missing(self, request: Request) -> Response:
        page = (
            "<html><head><title>404 Page not found</title></head><body>"
            "<h1>Error: Page not found</h1><h2>The requested URL was not found on this "
            "server.</h2></body></html>"
        )
        return Response(404, page, {"Content-Type": "text/html; charset=UTF-8"})

    def document(self, request: Request) -> Response:
        return (
            Response(200, GUIDE)
            if request.path == "/llms.txt"
            else self.missing(request)
        )

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, uid = auto_id() + auto_id(), auto_id()
        self.members[token] = {"uid": uid, "credits": 100}
        return Response(200, {"agent_id": uid, "access_token": token, "credits": 100})

    def _show(self, script: dict[str, Any], *more: str) -> dict[str, Any]:
        keys = ("id", "title", "credits", "status", "createdAt", *more)
        return {k: script[k] for k in keys} | (
            {"paidCredits": script["paidCredits"]} if "paidCredits" in script else {}
        )

    def _list(self, scripts: list[dict[str, Any]], limit: str) -> Response:
        size = int(limit) if limit.isdigit() else 20
        shown = [self._show(s) for s in scripts[:size]]
        return Response(200, {"result": {"scripts": shown}})

    def tasks(self, request: Request) -> Response:
        uid = self.members.get(request.token, {}).get("uid", "")
        scripts = [
            s
            for s in self.scripts.values()
            if s["status"] == "open" or (uid and s["claimedBy"] == uid)
        ]
        return self._list(scripts, request.query.get("limit", ""))

    def marketplace(self, request: Request) -> Response:
        scripts = [s for s in self.scripts.values() if s["status"] == "open"]
        return self._list(scripts, "")

    def agents(self, request: Request) -> Response:
        return Response(
            200, {"result": {"agents": [m["uid"] for m in self.members.values()]}}
        )

    def _call(self, request: Request, function: Any) -> Response:
        """onCall: unwrap data, authenticate, wrap the result."""
        try:
            body = request.json()
        except ValueError:
            body = None
        try:
            if not isinstance(body, dict) or not isinstance(body.get("data"), dict):
                raise HttpsError("INVALID_ARGUMENT", "Request body is missing data.")
            member = self.members.get(request.token)
            if member is None:
                raise HttpsError("UNAUTHENTICATED", "Unauthenticated")
            key = text(body["data"], "scriptId")
            script = self.scripts.get(key)
            if script is None:
                raise HttpsError("NOT_FOUND", f"No document: scripts/{key}")
            return Response(200, {"result": function(member, script, body["data"])})
        except HttpsError as error:
            return error.response

    def claim(self, request: Request) -> Response:
        return self._call(request, self._claim)

    def submit(self, request: Request) -> Response:
        return self._call(request, self._submit)

    def complete(self, request: Request) -> Response:
        return self._call(request, self._complete)

    def _claim(
        self, member: dict[str, Any], script: dict[str, Any], data: dict[str, Any]
    ) -> dict[str, Any]:
        if script["status"] == "open":
            script |= {"status": "claimed", "claimedBy": member["uid"]}
            self.book.claimed(script["id"])
        elif script["claimedBy"] != member["uid"]:
            raise HttpsError("FAILED_PRECONDITION", "Script is not open.")
        return self._show(script, "body", "claimedBy") | {"style": "all caps"}

    def _own(self, member: dict[str, Any], script: dict[str, Any]) -> None:
        if script["claimedBy"] != member["uid"]:
            raise HttpsError("PERMISSION_DENIED", "Script is not claimed by you.")

    def _submit(
        self, member: dict[str, Any], script: dict[str, Any], data: dict[str, Any]
    ) -> dict[str, Any]:
        self._own(member, script)
        result = data.get("result")
        if not isinstance(result, dict):
            said = 'The function must be called with an object "result".'
            raise HttpsError("INVALID_ARGUMENT", said, {"field": "result"})
        if text(result, "text", "result.") != script["body"].upper():
            said = "result.text must be the body of the script in all caps."
            raise HttpsError("INVALID_ARGUMENT", said, {"field": "result.text"})
        if script["status"] == "claimed":
            script["status"] = "submitted"
        return {"id": script["id"], "status": script["status"]}

    def _complete(
        self, member: dict[str, Any], script: dict[str, Any], data: dict[str, Any]
    ) -> dict[str, Any]:
        self._own(member, script)
        if script["status"] == "claimed":
            raise HttpsError("FAILED_PRECONDITION", "Script has no result yet.")
        if script["status"] == "submitted":
            script["status"] = "awaiting_approval"
            self.due[script["id"]] = time.monotonic() + APPROVAL
        return self._show(script) | {"balance": member["credits"]}
