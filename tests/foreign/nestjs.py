"""A NestJS service with class-validator DTOs and Mongoose behind it.

The ValidationPipe whitelists and forbids the rest, so a refusal lists every fault of the
body at once, unknown names first. Identifiers are Mongo's `_id`. The token stands only in
a header of the registration's answer. Submitting answers the submission's document, and
completing, which pays, wants the `_id` of that one beside the task's.
"""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

WORDS = (
    "the harbour smells of tar and oranges",
    "five candles burn on the window sill",
    "she sold the piano for a rowing boat",
    "every second step of the stairs creaks",
    "the orchard is quiet after the harvest",
    "he reads the weather from the crows",
    "a blue door opens onto the courtyard",
    "the violin maker never plays on sundays",
    "snow has closed the upper pass",
    "they buried the bell below the oak",
    "the well gives sweet water in may",
    "follow the white stones to the cabin",
)
OBJECT_ID = re.compile(r"[0-9a-fA-F]{24}")
JSON = "application/json; charset=utf-8"
BORN = 0x69A5_2B00  # the second in which the first document was made

Rule = tuple[Callable[[Any], bool], str]


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_filled(value: Any) -> bool:
    return value is not None and value != ""


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_mongo_id(value: Any) -> bool:
    return isinstance(value, str) and OBJECT_ID.fullmatch(value) is not None


NOT_EMPTY: Rule = (_is_filled, "{} should not be empty")
IS_STRING: Rule = (_is_string, "{} must be a string")
IS_OBJECT: Rule = (_is_object, "{} must be an object")
IS_MONGO_ID: Rule = (_is_mongo_id, "{} must be a mongodb id")
ID = (NOT_EMPTY, IS_MONGO_ID)
DTOS: dict[str, dict[str, tuple[Rule, ...]]] = {
    "claim": {"taskId": ID},
    "submit": {
        "taskId": ID,
        "result": (NOT_EMPTY, IS_STRING),
        "evidence": (IS_OBJECT,),
    },
    "complete": {"taskId": ID, "submissionId": ID},
}
OPTIONAL = {"evidence"}


class HttpException(Exception):  # noqa: N818 - Nest's name
    """Nest's exception and the body that its filter writes."""

    def __init__(self, status: int, error: str, message: str | list[str] = "") -> None:
        super().__init__(error)
        body = (
            {"message": message, "error": error, "statusCode": status}
            if message
            else {"message": error, "statusCode": status}
        )
        self.response = Response(status, body, {"Content-Type": JSON})


def _body(request: Request) -> dict[str, Any]:
    """Return the body as Express' JSON parser leaves it."""
    if request.headers.get_content_type() != "application/json" or not request.raw:
        return {}
    try:
        body = request.json()
    except ValueError:
        body = None
    if isinstance(body, list):
        return {str(at): part for at, part in enumerate(body)}
    if not isinstance(body, dict):
        shown = request.raw.decode(errors="replace")
        raise HttpException(
            400,
            "Bad Request",
            f"Unexpected token '{shown[0]}', \"{shown}\" is not valid JSON",
        )
    return body


def _validated(action: str, request: Request) -> dict[str, Any]:
    """Return the body, or raise all that is wrong with it."""
    body, dto = _body(request), DTOS[action]
    faults = [f"property {name} should not exist" for name in body if name not in dto]
    for name, rules in dto.items():
        value = body.get(name)
        if name in OPTIONAL and value is None:
            continue
        faults += [text.format(name) for holds, text in rules if not holds(value)]
    if faults:
        raise HttpException(400, "Bad Request", faults)
    return body


@dataclass
class Task:
    """One task and how far it has come."""

    id: str
    text: str
    reward: int
    day: int
    status: str = "open"  # open, claimed, submitted, completed
    owner: str = ""
    submission: str = ""

    def document(self) -> dict[str, Any]:
        """Return Mongoose's document."""
        born = f"2026-03-{self.day:02}T06:14:40.{self.day * 37:03}Z"
        document = {
            "_id": self.id,
            "description": self.text,
            "reward": self.reward,
            "status": self.status,
            "createdAt": born,
            "updatedAt": born,
            "__v": 0,
        }
        return document | ({"claimedBy": self.owner} if self.owner else {})

    def submission_document(self) -> dict[str, Any]:
        """Return the document of the submission."""
        return {
            "_id": self.submission,
            "task": self.id,
            "agent": self.owner,
            "result": self.text.upper(),
            "status": "accepted" if self.status == "submitted" else "paid",
            "__v": 0,
        }


class NestJs(Backend):
    """The service."""

    def __init__(self) -> None:
        super().__init__()
        self._machine = secrets.token_hex(5)
        self._made = secrets.randbelow(0xFF0000)
        tasks = [
            Task(self._object_id(), text, 1 + at * 7 % 9, 1 + at)
            for at, text in enumerate(WORDS)
        ]
        self._tasks = {task.id: task for task in tasks}
        self._agents: dict[str, str] = {}  # token -> agent
        self._credits: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        return {task.id: task.text for task in self._tasks.values()}

    def missing(self, request: Request) -> Response:
        message = f"Cannot {request.method} {request.path}"
        return HttpException(404, "Not Found", message).response

    def register(self, request: Request) -> Response:
        agent, token = self._object_id(), secrets.token_urlsafe(32)
        self._agents[token] = agent
        self._credits[agent] = 100
        self.book.registrations += 1
        body = {"agent": {"id": agent, "credits": 100}}
        return Response(200, body, {"Content-Type": JSON, "X-Access-Token": token})

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "50")
        if not limit.isdecimal():
            message = "Validation failed (numeric string is expected)"
            return HttpException(400, "Bad Request", message).response
        found = [
            task.document() for task in self._tasks.values() if task.status == "open"
        ]
        return Response(200, found[: int(limit) or None], {"Content-Type": JSON})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._answer("claim", request, self._claimed)

    def submit(self, request: Request) -> Response:
        return self._answer("submit", request, self._submitted)

    def complete(self, request: Request) -> Response:
        return self._answer("complete", request, self._completed)

    def _answer(
        self,
        action: str,
        request: Request,
        act: Callable[[str, Task, dict[str, Any]], dict[str, Any]],
    ) -> Response:
        try:
            task, body = self._guarded(action, request)
            answer = act(self._agents[request.token], task, body)
        except HttpException as exception:
            return exception.response
        return Response(200, answer, {"Content-Type": JSON})

    def _guarded(self, action: str, request: Request) -> tuple[Task, dict[str, Any]]:
        """Do as Nest does: guards first, then pipes, then the handler."""
        if request.token not in self._agents:
            raise HttpException(401, "Unauthorized")
        body = _validated(action, request)
        task = self._tasks.get(body["taskId"].lower())
        if task is None:
            raise HttpException(404, "Not Found", f"Task {body['taskId']} not found")
        return task, body

    def _object_id(self) -> str:
        self._made += 1
        return f"{BORN + self._made % 977:08x}{self._machine}{self._made:06x}"

    def _claimed(self, agent: str, task: Task, _body: dict[str, Any]) -> dict[str, Any]:
        if task.status != "open":
            raise HttpException(409, "Conflict", f"Task is already {task.status}")
        task.status, task.owner = "claimed", agent
        self.book.claimed(task.id)
        return task.document()

    def _submitted(
        self, agent: str, task: Task, body: dict[str, Any]
    ) -> dict[str, Any]:
        if task.owner != agent:
            raise HttpException(403, "Forbidden", "Task is not claimed by you")
        if body["result"] != task.text.upper():
            message = "result must be the description in upper case"
            raise HttpException(422, "Unprocessable Entity", message)
        if task.status == "claimed":
            task.status, task.submission = "submitted", self._object_id()
        return task.submission_document()  # a repeat finds the one that is there

    def _completed(
        self, agent: str, task: Task, body: dict[str, Any]
    ) -> dict[str, Any]:
        if task.owner != agent:
            raise HttpException(403, "Forbidden", "Task is not claimed by you")
        if body["submissionId"].lower() != task.submission:
            message = f"Submission {body['submissionId']} not found"
            raise HttpException(404, "Not Found", message)
        if task.status == "completed":
            raise HttpException(409, "Conflict", "Task is already completed")
        task.status = "completed"
        self.book.pay(task.id, task.reward)
        self._credits[agent] += task.reward
        return {"task": task.document(), "credits": self._credits[agent]}
