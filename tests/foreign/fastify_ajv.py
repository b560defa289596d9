"""A Fastify service with Ajv schemas, as a Node team would write it.

Bodies are validated one fault at a time, required names first, and unknown names are
refused without being named. The listing goes by cursor, twenty entries a page; what can be
claimed comes only after three pages of tasks that are reserved for others. A claim answers
a nonce, and the later steps have to hand it back; completing pays.
"""

import base64
import binascii
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

WORDS = (
    "the lighthouse keeper counts seven gulls",
    "rain falls softly on the tin roof",
    "a red bicycle leans against the fence",
    "nobody has wound the clock since monday",
    "three foxes cross the frozen river",
    "the baker leaves the window open at night",
    "an old map shows two roads to the mill",
    "pour the tea before the guests arrive",
    "the last train stops at every village",
    "grandfather keeps his letters in a drawer",
    "wild garlic grows behind the chapel",
    "turn left where the paving ends",
)
RESERVED = 60
PAGE = 20
JSON = "application/json; charset=utf-8"

Schema = dict[str, Any]


def _closed(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


STRING: Schema = {"type": "string"}
SCHEMAS: dict[str, Schema] = {
    "register": _closed(),
    "claim": _closed(taskRef=STRING),
    "submit": _closed(taskRef=STRING, nonce=STRING, payload=_closed(text=STRING)),
    "complete": _closed(taskRef=STRING, nonce=STRING),
}


class Fault(Exception):  # noqa: N818 - a word of the trade
    """An answer that ends the handling of a request."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(body)
        self.response = Response(status, body, {"Content-Type": JSON})


def _fault(status: int, error: str, message: str, code: str = "") -> Fault:
    body: dict[str, Any] = {"statusCode": status}
    if code:
        body["code"] = code
    return Fault(status, body | {"error": error, "message": message})


def _invalid(message: str) -> Fault:
    return _fault(400, "Bad Request", message, "FST_ERR_VALIDATION")


def _coerced(value: Any) -> Any:
    """Return what Ajv's coerceTypes: "array" makes of a value that should be a string."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return value


def _validated(value: Any, schema: Schema, where: str) -> Any:
    """Return the coerced value or raise the first fault, in the order of Ajv's keywords."""
    if schema["type"] == "string":
        value = _coerced(value)
        if not isinstance(value, str):
            raise _invalid(f"{where} must be string")
        return value
    if not isinstance(value, dict):
        raise _invalid(f"{where} must be object")
    for name in schema["required"]:
        if name not in value:
            raise _invalid(f"{where} must have required property '{name}'")
    if value.keys() - schema["properties"].keys():
        raise _invalid(f"{where} must NOT have additional properties")
    return {
        name: _validated(value[name], part, f"{where}/{name}")
        for name, part in schema["properties"].items()
    }


def _parsed(request: Request) -> Any:
    media_type = request.headers.get_content_type()
    if media_type != "application/json":
        raise _fault(
            415,
            "Unsupported Media Type",
            f"Unsupported Media Type: {media_type}",
            "FST_ERR_CTP_INVALID_MEDIA_TYPE",
        )
    if not request.raw:
        raise _fault(
            400,
            "Bad Request",
            "Body cannot be empty when content-type is set to 'application/json'",
            "FST_ERR_CTP_EMPTY_JSON_BODY",
        )
    try:
        return request.json()
    except ValueError:
        raise _fault(
            400,
            "Bad Request",
            "Body is not valid JSON but content-type is set to 'application/json'",
            "FST_ERR_CTP_INVALID_JSON_BODY",
        ) from None


def _cursor_of(sequence: int) -> str:
    return base64.urlsafe_b64encode(b'{"after":%d}' % sequence).decode().rstrip("=")


def _after(cursor: str) -> int:
    try:
        return int(json.loads(base64.urlsafe_b64decode(cursor + "=="))["after"])
    except (binascii.Error, ValueError, KeyError, TypeError):
        raise _fault(400, "Bad Request", "querystring/cursor is not a cursor") from None


def _page_size(limit: str) -> int:
    if not limit.isdecimal():
        raise _invalid("querystring/limit must be integer")
    if int(limit) < 1:
        raise _invalid("querystring/limit must be >= 1")
    return min(int(limit), PAGE)


@dataclass
class Task:
    """One task and how far it has come."""

    sequence: int
    ref: str
    text: str
    reward: int
    status: str = "available"  # reserved, available, claimed, submitted, completed
    owner: str = ""
    nonce: str = ""

    def entry(self) -> dict[str, Any]:
        """Return the record of the listing."""
        return {
            "ref": self.ref,
            "status": self.status,
            "text": self.text,
            "reward": self.reward,
            "postedAt": f"2026-03-{1 + self.sequence // 24:02}T{self.sequence % 24:02}:05:00.000Z",
        }


def _stocked() -> dict[str, Task]:
    tasks: dict[str, Task] = {}
    for at in range(RESERVED + len(WORDS)):
        ref = "tsk_" + secrets.token_hex(6)
        if at < RESERVED:
            text = f"{WORDS[at % len(WORDS)]}, chapter {1 + at // len(WORDS)}"
            tasks[ref] = Task(at + 1, ref, text, 1 + at % 9, "reserved")
        else:
            tasks[ref] = Task(at + 1, ref, WORDS[at - RESERVED], 1 + at % 9)
    return tasks


class Fastify(Backend):
    """The service."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks = _stocked()
        self._agents: dict[str, str] = {}  # token -> agent
        self._credits: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        return {
            task.ref: task.text
            for task in self._tasks.values()
            if task.status != "reserved"
        }

    def missing(self, request: Request) -> Response:
        message = f"Route {request.method}:{request.path} not found"
        body = {"message": message, "error": "Not Found", "statusCode": 404}
        return Response(404, body, {"Content-Type": JSON})

    def register(self, request: Request) -> Response:
        return self._answer(request, "register", self._registered)

    def tasks(self, request: Request) -> Response:
        try:
            after = _after(request.query["cursor"]) if "cursor" in request.query else 0
            size = _page_size(request.query.get("limit", str(PAGE)))
        except Fault as fault:
            return fault.response
        listed = [
            task
            for task in self._tasks.values()
            if task.sequence > after and task.status in {"reserved", "available"}
        ]
        page = listed[:size]
        more = _cursor_of(page[-1].sequence) if len(listed) > size else None
        body = {"entries": [task.entry() for task in page], "nextCursor": more}
        return Response(200, body, {"Content-Type": JSON})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._answer(request, "claim", self._claimed)

    def submit(self, request: Request) -> Response:
        return self._answer(request, "submit", self._submitted)

    def complete(self, request: Request) -> Response:
        return self._answer(request, "complete", self._completed)

    def _answer(
        self,
        request: Request,
        action: str,
        act: Callable[[str, dict[str, Any]], dict[str, Any]],
    ) -> Response:
        """Do as Fastify does: authenticate, parse, validate, and only then handle."""
        try:
            agent = "" if action == "register" else self._agent(request)
            body = _validated(_parsed(request), SCHEMAS[action], "body")
            return Response(200, act(agent, body), {"Content-Type": JSON})
        except Fault as fault:
            return fault.response

    def _agent(self, request: Request) -> str:
        if request.token in self._agents:
            return self._agents[request.token]
        word = "invalid" if request.headers.get("Authorization") else "missing"
        # As @fastify/bearer-auth says it, which has a format of its own.
        raise Fault(401, {"error": f"{word} authorization header"})

    def _registered(self, _agent: str, _body: dict[str, Any]) -> dict[str, Any]:
        agent, token = "agt_" + secrets.token_hex(6), secrets.token_urlsafe(24)
        self._agents[token] = agent
        self._credits[agent] = 100
        self.book.registrations += 1
        return {"agent_id": agent, "access_token": token, "credits": 100}

    def _claimed(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        task = self._task(body)
        if task.status != "available":
            word = (
                "reserved for another agent"
                if task.status == "reserved"
                else "already claimed"
            )
            raise _fault(409, "Conflict", f"task {task.ref} is {word}")
        task.status, task.owner, task.nonce = "claimed", agent, secrets.token_hex(12)
        self.book.claimed(task.ref)
        return {"taskRef": task.ref, "nonce": task.nonce}

    def _submitted(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        task = self._own(agent, body)
        if task.status != "claimed":
            raise _fault(409, "Conflict", f"task {task.ref} is already {task.status}")
        if body["payload"]["text"] != task.text.upper():
            message = "payload.text must be the text of the task in upper case"
            raise _fault(422, "Unprocessable Entity", message)
        task.status = "submitted"
        return {"taskRef": task.ref, "status": task.status}

    def _completed(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        task = self._own(agent, body)
        if task.status == "claimed":
            raise _fault(409, "Conflict", f"task {task.ref} has not been submitted")
        if task.status == "submitted":
            task.status = "completed"
            self.book.pay(task.ref, task.reward)
            self._credits[agent] += task.reward
        return {
            "taskRef": task.ref,
            "status": task.status,
            "creditsEarned": task.reward,
            "balance": self._credits[agent],
        }

    def _task(self, body: dict[str, Any]) -> Task:
        if body["taskRef"] not in self._tasks:
            raise _fault(404, "Not Found", f"task {body['taskRef']} does not exist")
        return self._tasks[body["taskRef"]]

    def _own(self, agent: str, body: dict[str, Any]) -> Task:
        task = self._task(body)
        if task.owner != agent:
            raise _fault(403, "Forbidden", f"task {task.ref} is not claimed by you")
        if body["nonce"] != task.nonce:
            raise _fault(
                409, "Conflict", "nonce is not the one that the claim answered"
            )
        return task
