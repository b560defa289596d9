"""Lantern: Firebase callable functions over Firestore documents, as one file of stdlib.

Callables speak {"data": ...} -> {"result": ...} or {"error": {message, status, details}}, with
HttpsError's codes and their HTTP statuses. The listing is Firestore's REST form of a collection
(typed values, full document names, nextPageToken), read under security rules. What was handed in
is a document of its own, and a trigger (onDocumentCreated) looks at it a little later.
"""

import base64
import hashlib
import json
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

DATABASE = "projects/lantern-prod/databases/(default)/documents"
TRIGGER_SECONDS = 0.4
CODES = {
    "invalid-argument": 400, "failed-precondition": 400, "unauthenticated": 401,
    "permission-denied": 403, "not-found": 404, "already-exists": 409, "internal": 500,
}  # fmt: skip
SEED = [
    ("Porch lights on from dusk, please.", 14, ["signage", "short"]),
    ("Lost: grey cat, answers to Miso. Call the bakery.", 21, ["poster"]),
    ("Tonight only: two soups for the price of one!", 18, ["menu", "short"]),
    ("Bike repair café, every second Saturday at 10.", 16, ["poster", "accents"]),
    ("Slow down - hedgehogs crossing.", 10, ["signage", "short"]),
]
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
JS_TYPES = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    list: "array",
    dict: "object",
}


class HttpsError(Exception):
    """functions.https.HttpsError: what a callable throws."""

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        error = {"message": message, "status": code.upper().replace("-", "_")}
        if details is not None:
            error = {"details": details, **error}
        self.answer = Response(CODES[code], {"error": error})


def auto_id(*parts: Any) -> str:
    """Return twenty letters and digits, as collection.doc() makes them."""
    number = int.from_bytes(
        hashlib.sha256("/".join(map(str, parts)).encode()).digest(), "big"
    )
    return "".join(ALPHABET[number // 62**place % 62] for place in range(20))


def iso(when: float) -> str:
    return (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(when))
        + f".{int(when % 1 * 1e6):06d}Z"
    )


def typed(value: Any) -> dict[str, Any]:
    """Return a value as Firestore's REST interface writes it."""
    if value is None:
        return {"nullValue": None}
    if isinstance(value, bool):
        return {"booleanValue": value}
    if isinstance(value, int):
        return {"integerValue": str(value)}
    if isinstance(value, float):  # only times are floats here
        return {"timestampValue": iso(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]}}
    if isinstance(value, dict):
        return {
            "mapValue": {"fields": {name: typed(item) for name, item in value.items()}}
        }
    return {"stringValue": value}


def google_error(code: int, status: str, message: str) -> Response:
    return Response(
        code, {"error": {"code": code, "message": message, "status": status}}
    )


class Lantern(Backend):
    """The functions, and the documents they work on."""

    def __init__(self) -> None:
        super().__init__()
        self.born = time.time() - 86400.0
        self.documents: dict[str, dict[str, Any]] = {}  # tasks/{taskId}
        self.submissions: dict[
            tuple[str, str], dict  # type: ignore[type-arg]
        ] = {}  # tasks/{taskId}/submissions/{submissionId}
        self.users: dict[str, dict[str, Any]] = {}  # by ID token
        for number, (text, bounty, tags) in enumerate(SEED):
            self.documents[auto_id("task", number)] = {
                "brief": "Type this out again in capital letters.",
                "text": text,
                "tags": tags,
                "bounty": {"credits": bounty, "bonus": False},
                "openTo": "everyone",
                "status": "open",
                "workerUid": None,
                "createdAt": self.born + 3600.5 * number,
            }

    def texts(self) -> dict[str, str]:
        return {key: document["text"] for key, document in self.documents.items()}

    def missing(self, request: Request) -> Response:
        page = f"<html><head><title>Page Not Found</title></head><body>Cannot {request.method} {request.path}</body></html>"
        return Response(404, page, {"Content-Type": "text/html; charset=utf-8"})

    # -- the callable protocol -----------------------------------------------------------------

    def call(self, request: Request, run: Any) -> Response:
        """Unwrap, authenticate, run, wrap: functions.https.onCall."""
        try:
            media = (
                (request.headers.get("Content-Type") or "")
                .partition(";")[0]
                .strip()
                .lower()
            )
            if media != "application/json":
                raise HttpsError(
                    "invalid-argument",
                    f"Request has incorrect Content-Type. {media}".strip(),
                )
            try:
                body = request.json()
            except ValueError:
                raise HttpsError(
                    "invalid-argument", "Request body is not valid JSON."
                ) from None
            if not isinstance(body, dict) or "data" not in body:
                raise HttpsError("invalid-argument", "Request body is missing data.")
            if extra := [name for name in body if name != "data"]:
                raise HttpsError(
                    "invalid-argument",
                    f"Request body has extra fields: {', '.join(extra)}",
                )
            if request.token and request.token not in self.users:
                raise HttpsError("unauthenticated", "Unauthenticated")
            if not request.token:
                raise HttpsError(
                    "unauthenticated",
                    "The function must be called while authenticated.",
                )
            data = body["data"]
            if not isinstance(data, dict):
                kind = "null" if data is None else JS_TYPES[type(data)]
                raise HttpsError(
                    "invalid-argument", f"data must be an object, got {kind}."
                )
            return Response(200, {"result": run(self.users[request.token], data)})
        except HttpsError as no:
            return no.answer

    def argument(
        self, data: dict[str, Any], function: str, name: str, containing: str
    ) -> str:
        """Return a string out of data, or throw as Firebase's own samples do."""
        value = data.get(name)
        if value is None or value == "":
            raise HttpsError(
                "invalid-argument",
                f'{function} must be called with an argument "{name}" containing {containing}.',
                {"argument": name, "expected": "string", "received": list(data)},
            )
        if not isinstance(value, str):
            raise HttpsError(
                "invalid-argument",
                f'Argument "{name}" must be a string, got {JS_TYPES[type(value)]}.',
                {"argument": name, "expected": "string"},
            )
        if name.endswith("Id") and "/" in value:
            raise HttpsError(
                "invalid-argument",
                f'Argument "{name}" must be a document id, got a path: the id is the last segment of "{value}".',
                {"argument": name, "expected": "document id"},
            )
        return value

    def document_of(self, key: str) -> dict[str, Any]:
        if key not in self.documents:
            raise HttpsError(
                "not-found", f"No document to update: {DATABASE}/tasks/{key}"
            )
        return self.documents[key]

    def held(self, user: dict[str, Any], key: str, function: str) -> dict[str, Any]:
        document = self.document_of(key)
        if document["workerUid"] is None:
            raise HttpsError(
                "failed-precondition",
                f"tasks/{key} has status 'open'. Claim it before calling {function}.",
            )
        if document["workerUid"] != user["uid"]:
            raise HttpsError(
                "permission-denied", f"tasks/{key} is claimed by another worker."
            )
        return document

    # -- functions -----------------------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """An onRequest function, not a callable: signs an anonymous user in."""
        self.book.registrations += 1
        uid = auto_id("user", self.book.registrations) + "Zk3PqW1x"
        claims = {
            "iss": "https://securetoken.google.com/lantern-prod",
            "sub": uid,
            "provider_id": "anonymous",
        }
        token = ".".join(
            base64.urlsafe_b64encode(part).rstrip(b"=").decode()
            for part in (b'{"alg":"RS256","typ":"JWT"}', json.dumps(claims).encode(),
                         hashlib.sha512(uid.encode()).digest())
        )  # fmt: skip
        self.users[token] = {"uid": uid, "credits": 100}
        return Response(
            200,
            {"agent_id": uid, "access_token": token, "credits": 100, "isNewUser": True},
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self.users:
            if not request.token:
                return google_error(
                    403, "PERMISSION_DENIED", "Missing or insufficient permissions."
                )
            return google_error(
                401,
                "UNAUTHENTICATED",
                "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie "
                "or other valid authentication credential.",
            )
        size, start = (
            request.query.get("limit") or "20",
            request.query.get("pageToken") or "",
        )
        if not size.isdecimal() or not 1 <= int(size) <= 300:
            message = f"Invalid value at 'page_size' (TYPE_INT32), \"{size}\""
            return google_error(400, "INVALID_ARGUMENT", message)
        found = sorted(
            key
            for key, document in self.documents.items()
            if document["status"] == "open"
        )
        try:
            after = base64.urlsafe_b64decode(start).decode()
        except ValueError:
            return google_error(400, "INVALID_ARGUMENT", "page token is invalid")
        rest = [key for key in found if key > after]
        page = rest[: int(size)]
        answer: dict[str, Any] = (
            {"documents": [self.shown(key) for key in page]} if page else {}
        )
        if len(rest) > len(page):
            answer["nextPageToken"] = base64.urlsafe_b64encode(
                page[-1].encode()
            ).decode()
        return Response(200, answer)

    def shown(self, key: str) -> dict[str, Any]:
        document = self.documents[key]
        return {
            "name": f"{DATABASE}/tasks/{key}",
            "fields": {name: typed(value) for name, value in document.items()},
            "createTime": iso(document["createdAt"]),
            "updateTime": iso(document["createdAt"] + 1.25),
        }

    def claim(self, request: Request) -> Response:
        return self.call(request, self.claim_task)

    def claim_task(self, user: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        key = self.argument(
            data, "claimTask", "taskId", "the id of the task document to claim"
        )
        document = self.document_of(key)
        if document["workerUid"] not in (None, user["uid"]):
            raise HttpsError(
                "already-exists", f"tasks/{key} is claimed by another worker."
            )
        if document["status"] == "completed":
            raise HttpsError(
                "failed-precondition", f"tasks/{key} has status 'completed'."
            )
        if document["workerUid"] is None:  # claiming twice does no harm
            document["workerUid"], document["status"] = user["uid"], "claimed"
            self.book.claimed(key)
        return {"taskId": key, "status": document["status"], "workerUid": user["uid"]}

    def submit(self, request: Request) -> Response:
        return self.call(request, self.submit_result)

    def submit_result(
        self, user: dict[str, Any], data: dict[str, Any]
    ) -> dict[str, Any]:
        name = "submitTaskResult"
        key = self.argument(
            data, name, "taskId", "the id of a task document that you have claimed"
        )
        answer = self.argument(data, name, "answer", "the finished text")
        document = self.held(user, key, name)
        if document["status"] == "completed":
            raise HttpsError(
                "failed-precondition", f"tasks/{key} has status 'completed'."
            )
        submission = auto_id(key, len(self.submissions))
        document["status"] = "in_review"
        self.submissions[key, submission] = {
            "answer": answer,
            "due": time.monotonic() + TRIGGER_SECONDS,
        }
        return {
            "submissionId": submission,
            "path": f"tasks/{key}/submissions/{submission}",
            "review": "pending",
        }

    def complete(self, request: Request) -> Response:
        return self.call(request, self.complete_task)

    def complete_task(
        self, user: dict[str, Any], data: dict[str, Any]
    ) -> dict[str, Any]:
        name = "completeTask"
        key = self.argument(
            data, name, "taskId", "the id of a task document that you have claimed"
        )
        submission = self.argument(
            data, name, "submissionId", "the id of your submission to that task"
        )
        document = self.held(user, key, name)
        path = f"tasks/{key}/submissions/{submission}"
        found = self.submissions.get((key, submission))
        if found is None:
            raise HttpsError("not-found", f"No document to update: {DATABASE}/{path}")
        if document["status"] == "completed":
            raise HttpsError(
                "failed-precondition",
                f"tasks/{key} has status 'completed' and is paid out.",
            )
        if time.monotonic() < found["due"]:
            raise HttpsError(
                "failed-precondition",
                f"{path} has review 'pending'. Reviews take about a second; try again then.",
                {"review": "pending"},
            )
        if found["answer"] != document["text"].upper():
            raise HttpsError(
                "failed-precondition",
                f"{path} has review 'rejected': the answer is not the text of the task in capital letters. "
                "Call submitTaskResult again with a corrected answer.",
                {"review": "rejected"},
            )
        credits_ = document["bounty"]["credits"]
        document["status"] = "completed"
        user["credits"] += credits_
        self.book.pay(key, credits_)
        return {
            "success": True,
            "taskId": key,
            "earned": credits_,
            "wallet": {"credits": user["credits"]},
        }
