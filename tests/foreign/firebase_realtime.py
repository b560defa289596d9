"""A start-up's Firebase project: callable functions over a Realtime Database.

The task functions are `onCall` (body {"data": ...}, answer {"result": ...}, HttpsError);
registration and the listings are plain `onRequest` functions.
"""

import random
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ALPHABET = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
TASKS = [
    ("Shout a greeting", "good morning, everyone!", 10),
    ("Shout a name", "marguerite", 3),
    ("Shout a recipe step", "add two cups of flour", 22),
    ("Shout a slogan", "less noise, more signal", 16),
    ("Shout a place", "lower harbour street", 6),
    ("Shout a proverb", "many hands make light work", 27),
    ("Shout a colour", "burnt orange", 2),
]
STATUS = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
}
WELCOME = (
    "Welcome! The task functions are Firebase callable functions: POST them as JSON "
    '{"data": {...}} with your access token as the bearer token.'
)


class _HttpsError(Exception):
    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def _now() -> int:
    return int(time.time() * 1000)


def _push_id() -> str:
    """Return a key as `push()` makes them: eight letters of time, twelve of chance."""
    moment, letters = _now(), ""
    for _ in range(8):
        moment, rest = divmod(moment, 64)
        letters = ALPHABET[rest] + letters
    return letters + "".join(random.choices(ALPHABET, k=12))  # noqa: S311


def _string(data: Any, name: str, purpose: str) -> str:
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, str) or not value.strip():
        message = f'The function must be called with a non-empty string "{name}" containing {purpose}.'
        raise _HttpsError("INVALID_ARGUMENT", message)
    return value


class FirebaseRealtime(Backend):
    """A right answer is paid when it is submitted; completing closes the assignment."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[str, dict[str, Any]] = {}
        keys = sorted(_push_id() for _ in TASKS)
        self._tasks: dict[str, dict[str, Any]] = {
            key: {
                "name": name,
                "brief": "Answer with the payload in upper case.",
                "payload": text,
                "payout": payout,
                "state": "OPEN",
                "postedAt": _now(),
            }
            for key, (name, text, payout) in zip(keys, TASKS)  # noqa: B905
        }

    def texts(self) -> dict[str, str]:
        return {key: task["payload"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        page = "<html><title>404 Page not found</title><h1>Error: Page not found</h1></html>\n"
        return Response(404, page, {"Content-Type": "text/html; charset=UTF-8"})

    def document(self, request: Request) -> Response:
        if request.path == "/llms.txt":
            return Response(200, WELCOME + "\n")
        return self.missing(request)

    # --- onRequest

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        uid = "".join(random.choices(ALPHABET[1:37], k=28))  # noqa: S311
        token = "".join(random.choices(ALPHABET, k=64))  # noqa: S311
        self._users[token] = {"uid": uid, "credits": 100}
        body = {
            "agent_id": uid,
            "access_token": token,
            "credits": 100,
            "message": WELCOME,
        }
        return Response(200, body)

    def tasks(self, request: Request) -> Response:
        try:  # Math.min(parseInt(req.query.limit) || 10, 50)
            limit = max(min(int(request.query.get("limit", "")) or 10, 50), 1)
        except ValueError:
            limit = 10
        after = request.query.get("startAfter", "")
        keys = [
            k
            for k, task in self._tasks.items()
            if task["state"] == "OPEN" and k > after
        ]
        body: dict[str, Any] = {
            "tasks": {key: self._tasks[key] for key in keys[:limit]}
        }
        body["startAfter"] = keys[limit - 1] if len(keys) > limit else None
        return Response(200, body)

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        slug = request.query.get("slug")
        known = [user["uid"] for user in self._users.values()]
        return Response(
            200, {"agents": {uid: True for uid in known if slug in (None, uid)}}
        )

    directory = agents

    def checkout(self, request: Request) -> Response:
        return Response(
            400, {"ok": False, "error": "Checkout is closed during the beta."}
        )

    # --- onCall

    def _call(self, request: Request, function: Any) -> Response:
        try:
            try:
                body = request.json()
            except ValueError:
                body = None
            json_ = (
                (request.headers.get("Content-Type") or "")
                .split(";")[0]
                .strip()
                .lower()
            )
            if (
                json_ != "application/json"
                or not isinstance(body, dict)
                or set(body) != {"data"}
            ):
                raise _HttpsError("INVALID_ARGUMENT", "Bad Request")
            if (
                request.headers.get("Authorization")
                and request.token not in self._users
            ):
                raise _HttpsError("UNAUTHENTICATED", "Unauthenticated")
            user = self._users.get(request.token)
            if user is None:  # if (!request.auth)
                message = "The function must be called while authenticated."
                raise _HttpsError("UNAUTHENTICATED", message)
            if body["data"] is None:
                raise _HttpsError("INTERNAL", "INTERNAL")
            result = function(body["data"], user)
        except _HttpsError as error:
            answer = {"error": {"message": error.message, "status": error.status}}
            return Response(STATUS[error.status], answer)
        return Response(
            200, {"result": result}, refused=result.get("accepted") is False
        )

    def _assignment(
        self, data: Any, user: dict[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        key = _string(data, "assignmentKey", "the key of your assignment")
        assignment = self._assignments.get(key)
        if assignment is None:
            raise _HttpsError("NOT_FOUND", "Assignment does not exist.")
        if assignment["user"] is not user:
            raise _HttpsError(
                "PERMISSION_DENIED", "This assignment belongs to another agent."
            )
        return key, assignment

    def claim(self, request: Request) -> Response:
        return self._call(request, self._claim)

    def _claim(self, data: Any, user: dict[str, Any]) -> dict[str, Any]:
        key = _string(data, "taskKey", "the key of the task to claim")
        task = self._tasks.get(key)
        if task is None:
            raise _HttpsError("NOT_FOUND", "Task does not exist.")
        if task["state"] != "OPEN":
            raise _HttpsError("FAILED_PRECONDITION", "Task is not open anymore.")
        mine = [a for a in self._assignments.values() if a["user"] is user]
        if sum(a["state"] != "CLOSED" for a in mine) >= 2:
            message = "You have 2 unfinished assignments. Complete one before claiming another task."
            raise _HttpsError("RESOURCE_EXHAUSTED", message)
        task["state"] = "ASSIGNED"
        assignment = _push_id()
        self._assignments[assignment] = {"user": user, "task": key, "state": "WORKING"}
        self.book.claimed(key)
        return {
            "assignmentKey": assignment,
            "taskKey": key,
            "lockedUntil": _now() + 1_800_000,
        }

    def submit(self, request: Request) -> Response:
        return self._call(request, self._submit)

    def _submit(self, data: Any, user: dict[str, Any]) -> dict[str, Any]:
        _, assignment = self._assignment(data, user)
        answer = _string(data, "answer", "your answer")
        duration = data.get("durationMs")
        if (
            isinstance(duration, bool)
            or not isinstance(duration, (int, float))
            or duration < 0
        ):
            message = 'The function must be called with a number "durationMs" telling how long you worked.'
            raise _HttpsError("INVALID_ARGUMENT", message)
        if assignment["state"] != "WORKING":
            raise _HttpsError("FAILED_PRECONDITION", "Assignment was answered already.")
        task = self._tasks[assignment["task"]]
        if answer != task["payload"].upper():
            return {
                "accepted": False,
                "reason": "The answer is not correct. You can try again.",
            }
        assignment["state"] = "ANSWERED"
        task["state"] = "DONE"
        self.book.pay(assignment["task"], task["payout"])
        user["credits"] += task["payout"]
        return {"accepted": True, "payout": task["payout"], "credits": user["credits"]}

    def complete(self, request: Request) -> Response:
        return self._call(request, self._complete)

    def _complete(self, data: Any, user: dict[str, Any]) -> dict[str, Any]:
        key, assignment = self._assignment(data, user)
        _string(data, "note", "a short note on your work for the owner of the task")
        if assignment["state"] == "WORKING":
            raise _HttpsError(
                "FAILED_PRECONDITION", "Assignment has no accepted answer yet."
            )
        assignment["state"] = "CLOSED"
        return {"assignmentKey": key, "closed": True, "closedAt": _now()}

    def post(self, request: Request) -> Response:
        return self._call(request, self._post)

    def _post(self, data: Any, user: dict[str, Any]) -> dict[str, Any]:
        _string(data, "name", "the name of the task")
        _string(data, "payload", "the text to work on")
        return {"taskKey": _push_id(), "state": "DRAFT"}
