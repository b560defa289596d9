"""A network of Firebase callable functions (onCall over HTTPS, hand-written checks).

Every request is wrapped in {"data": ...} and every answer in {"result": ...}; a body
without "data" (or with anything beside it) is only told "Bad Request", as firebase-functions
does. Faults come one at a time, in prose, and name the argument. The listing is a map whose
keys are the tasks' push ids: the records do not repeat them.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "carry the water up the hill",
    "three small boats left the harbour",
    "nobody counted the empty chairs",
    "the kettle sings before it boils",
    "a letter arrived without a stamp",
    "we painted the fence on sunday",
    "old maps forget the new roads",
    "the baker starts long before dawn",
    "rain fell softly on the tin roof",
    "her bicycle has a silver bell",
    "the last train leaves at nine",
    "seven crows sat on the wire",
)
PUSH = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
STATUS = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
}


class HttpsError(Exception):
    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass
class Task:
    id: str
    text: str
    credits: int
    owner: str = ""
    state: str = "open"

    def record(self) -> dict[str, object]:
        return {
            "prompt": self.text,
            "kind": "uppercase",
            "creditReward": self.credits,
            "state": self.state,
            "createdAt": {"_seconds": 1735689600 + self.credits, "_nanoseconds": 0},
        }


def push_id(number: int) -> str:
    tail, rest = "", (number + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC834
    for _ in range(15):
        rest, digit = divmod(rest, 64)
        tail += PUSH[digit]
    return f"-Nx8{PUSH[number + 20]}{tail}"


class FirebaseCallable(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        found = [Task(push_id(n), text, n % 9 + 1) for n, text in enumerate(TEXTS)]
        self._tasks = {task.id: task for task in found}

    def texts(self) -> dict[str, str]:
        return {task.id: task.text for task in self._tasks.values()}

    def missing(self, request: Request) -> Response:
        page = "<html><head><title>404 Page not found</title></head><body>"
        page += "<h1>Error: Page not found</h1></body></html>\n"
        return Response(404, page, {"Content-Type": "text/html; charset=utf-8"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        uid, token = secrets.token_urlsafe(21), secrets.token_urlsafe(48)
        self._agents[token] = uid
        agent = {"agent_id": uid, "access_token": token, "credits": 100}
        return Response(body={"result": agent})

    def tasks(self, request: Request) -> Response:
        still = {t.id: t.record() for t in self._tasks.values() if t.state == "open"}
        return Response(body={"result": {"tasks": still}})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._call(request, self._claim)

    def submit(self, request: Request) -> Response:
        return self._call(request, self._submit)

    def complete(self, request: Request) -> Response:
        return self._call(request, self._complete)

    def _call(
        self, request: Request, handler: Callable[[str, object], dict[str, object]]
    ) -> Response:
        try:
            data = _unwrapped(request)
            return Response(body={"result": handler(self._uid(request), data)})
        except HttpsError as no:
            error = {"message": no.message, "status": no.status}
            return Response(STATUS[no.status], {"error": error})

    def _uid(self, request: Request) -> str:
        if not request.headers.get("Authorization"):
            message = "The function must be called while authenticated."
            raise HttpsError("UNAUTHENTICATED", message)
        if request.token not in self._agents:
            raise HttpsError("UNAUTHENTICATED", "Unauthenticated")
        return self._agents[request.token]

    def _task(self, data: object) -> Task:
        task = self._tasks.get(_argument(data, "taskId"))
        if task is None:
            raise HttpsError("NOT_FOUND", "There is no task with this taskId.")
        return task

    def _own(self, uid: str, data: object) -> Task:
        task = self._task(data)
        if task.owner != uid:
            message = "This task is not claimed by the calling agent."
            raise HttpsError("PERMISSION_DENIED", message)
        return task

    def _claim(self, uid: str, data: object) -> dict[str, object]:
        task = self._task(data)
        if task.owner:
            raise HttpsError("ALREADY_EXISTS", "This task has already been claimed.")
        task.owner, task.state = uid, "claimed"
        self.book.claimed(task.id)
        return {"taskId": task.id, **task.record()}

    def _submit(self, uid: str, data: object) -> dict[str, object]:
        _argument(data, "taskId")
        deliverable = _argument(data, "deliverable")
        task = self._own(uid, data)
        if task.state != "claimed":
            message = "A deliverable for this task has already been accepted."
            raise HttpsError("ALREADY_EXISTS", message)
        if deliverable != task.text.upper():
            message = (
                "The deliverable was rejected: it is not the prompt in upper case."
            )
            raise HttpsError("INVALID_ARGUMENT", message)
        task.state = "submitted"
        return {"taskId": task.id, "state": task.state}

    def _complete(self, uid: str, data: object) -> dict[str, object]:
        task = self._own(uid, data)
        if task.state == "claimed":
            message = (
                "The task has no deliverable yet. Submit one before completing it."
            )
            raise HttpsError("FAILED_PRECONDITION", message)
        if task.state == "completed":
            raise HttpsError("ALREADY_EXISTS", "This task has already been completed.")
        task.state = "completed"
        self.book.pay(task.id, task.credits)
        return {"taskId": task.id, "state": task.state, "creditsPaid": task.credits}


def _unwrapped(request: Request) -> object:
    """Return the body's data, where firebase-functions would call the handler."""
    kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    try:
        body = request.json()
    except ValueError:
        body = None
    if (
        kind != "application/json"
        or not isinstance(body, dict)
        or set(body) != {"data"}
    ):
        raise HttpsError("INVALID_ARGUMENT", "Bad Request")
    data: object = body["data"]
    return data


def _argument(data: object, name: str) -> str:
    value = data.get(name) if isinstance(data, dict) else None
    if value is None or value == "":
        message = f"The function must be called with argument {json.dumps(name)}."
        raise HttpsError("INVALID_ARGUMENT", message)
    if not isinstance(value, str):
        message = f"The argument {json.dumps(name)} must be a string."
        raise HttpsError("INVALID_ARGUMENT", message)
    return value
