"""An ASP.NET Core 8 Web API: ValidationProblemDetails, System.Text.Json, Guids.

What is missing is told all at once, by the names of the C# properties ("The TaskId field
is required."), though JSON is camelCase and names compare without case; what cannot be
converted is told first and by its path ("$.taskId"). Unknown members are ignored. A claim
wants the agent's own id as the worker's, and its answer has the lease token that a
submission wants. The listing is paged by ?pageIndex= and rewards are objects.
"""

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn
from uuid import UUID

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the ferry was late again today",
    "fresh snow lay on the north ridge",
    "his umbrella turned inside out",
    "two cats share one warm window",
    "the clerk stamped every page twice",
    "a pot of basil grows on the sill",
    "no one answered the back door",
    "the choir sang without a piano",
    "sand gets into everything you own",
    "the shop sells string and buttons",
    "a yellow kite hung in the oak",
    "breakfast is served until eleven",
)
PAGE = 5
RFC = "https://tools.ietf.org/html/rfc9110#section-"
PROBLEMS = {
    400: (RFC + "15.5.1", "Bad Request"),
    401: (RFC + "15.5.2", "Unauthorized"),
    403: (RFC + "15.5.4", "Forbidden"),
    404: (RFC + "15.5.5", "Not Found"),
    409: (RFC + "15.5.10", "Conflict"),
}
GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
NULLABLE_GUID = "System.Nullable`1[System.Guid]"
# Each action's request model: its properties, all [Required], with their types.
CLAIM = {"TaskId": NULLABLE_GUID, "WorkerId": NULLABLE_GUID}
SUBMIT = {
    "TaskId": NULLABLE_GUID,
    "LeaseToken": "System.String",
    "Response": "System.String",
}
COMPLETE = {"TaskId": NULLABLE_GUID}
MODELS = {
    "ClaimTaskRequest": CLAIM,
    "SubmitTaskRequest": SUBMIT,
    "CompleteTaskRequest": COMPLETE,
}


class ProblemError(Exception):
    """A refusal; with errors it is ValidationProblemDetails."""

    def __init__(self, status: int, detail: str = "", errors: object = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors = status, detail, errors

    def response(self) -> Response:
        type_, title = PROBLEMS[self.status]
        if self.errors:
            title = "One or more validation errors occurred."
        body: dict[str, object] = {"type": type_, "title": title, "status": self.status}
        if self.detail:
            body["detail"] = self.detail
        if self.errors:
            body["errors"] = self.errors
        body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
        headers = {"Content-Type": "application/problem+json; charset=utf-8"}
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return Response(self.status, body, headers)


def invalid(**errors: str) -> ProblemError:
    return ProblemError(400, errors={name: [why] for name, why in errors.items()})


@dataclass
class Task:
    id: str
    text: str
    credits: int
    owner: str = ""
    status: str = "Available"
    lease: str = field(default_factory=lambda: secrets.token_hex(12))

    def dto(self) -> dict[str, object]:
        return {
            "id": self.id,
            "description": self.text,
            "kind": "Uppercase",
            "reward": {"amount": self.credits, "unit": "credits"},
            "status": self.status,
            "createdAt": f"2025-02-{self.credits:02}T14:05:33.2174402+00:00",
        }


class AspNet(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        first = 0x6F1C3A52_9D0E_4B7A_8C21_5E90D4A7B300
        found = [
            Task(
                str(UUID(int=first + (n * 0x51ED270B << 64) + n, version=4)),
                text,
                n * 4 % 9 + 1,
            )
            for n, text in enumerate(TEXTS)
        ]
        self._tasks = {task.id: task for task in found}

    def texts(self) -> dict[str, str]:
        return {task.id: task.text for task in self._tasks.values()}

    def missing(self, request: Request) -> Response:
        return ProblemError(404).response()

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = (
            str(UUID(bytes=secrets.token_bytes(16), version=4)),
            secrets.token_hex(40),
        )
        self._agents[token] = agent
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        asked = request.query.get("pageIndex", "1")
        if not re.fullmatch(r"-?\d{1,9}", asked):
            return invalid(pageIndex=f"The value '{asked}' is not valid.").response()
        page = max(1, int(asked))
        left = [
            task.dto() for task in self._tasks.values() if task.status == "Available"
        ]
        total = -(-len(left) // PAGE)
        listing = {
            "items": left[(page - 1) * PAGE : page * PAGE],
            "pageIndex": page,
            "totalPages": total,
            "hasPreviousPage": page > 1,
            "hasNextPage": page < total,
        }
        return Response(body=listing)

    def claim(self, request: Request) -> Response:
        return self._controller(request, "ClaimTaskRequest", self._claim)

    def submit(self, request: Request) -> Response:
        return self._controller(request, "SubmitTaskRequest", self._submit)

    def complete(self, request: Request) -> Response:
        return self._controller(request, "CompleteTaskRequest", self._complete)

    def _controller(
        self,
        request: Request,
        model: str,
        act: Callable[[str, Task, dict[str, str]], dict[str, object]],
    ) -> Response:
        try:
            agent = self._authorize(request)
            given = bind(request.raw, model)
            return Response(body=act(agent, self._find(given), given))
        except ProblemError as problem:
            return problem.response()

    def _authorize(self, request: Request) -> str:
        if request.token not in self._agents:
            raise ProblemError(401)
        return self._agents[request.token]

    def _find(self, given: dict[str, str]) -> Task:
        task = self._tasks.get(given["TaskId"].lower())
        if task is None:
            raise ProblemError(404, f"Task {given['TaskId']} was not found.")
        return task

    def _claim(
        self, agent: str, task: Task, given: dict[str, str]
    ) -> dict[str, object]:
        if given["WorkerId"].lower() != agent:
            raise ProblemError(
                403, "WorkerId must be the id of the authenticated agent."
            )
        if task.owner not in {"", agent}:
            raise ProblemError(409, "The task is leased to another worker.")
        if not task.owner:
            task.owner, task.status = agent, "Leased"
            self.book.claimed(task.id)
        return {
            "taskId": task.id,
            "workerId": agent,
            "status": task.status,
            "leaseToken": task.lease,
        }

    def _submit(
        self, agent: str, task: Task, given: dict[str, str]
    ) -> dict[str, object]:
        if task.owner != agent:
            raise ProblemError(
                403, "The task is not leased to the authenticated agent."
            )
        if given["LeaseToken"] != task.lease:
            raise invalid(
                LeaseToken="The LeaseToken is not the one of this task's lease."
            )
        if task.status != "Leased":
            raise ProblemError(409, "A response to the task has already been accepted.")
        if given["Response"] != task.text.upper():
            raise invalid(
                Response="The Response must be the Description in upper case."
            )
        task.status = "Submitted"
        return {"taskId": task.id, "status": task.status}

    def _complete(self, agent: str, task: Task, _: dict[str, str]) -> dict[str, object]:
        if task.owner != agent:
            raise ProblemError(
                403, "The task is not leased to the authenticated agent."
            )
        if task.status != "Submitted":
            done = task.status == "Completed"
            why = "is already completed" if done else "has no accepted response"
            raise ProblemError(409, f"The task {why}.")
        task.status = "Completed"
        self.book.pay(task.id, task.credits)
        paid = {"amount": task.credits, "unit": "credits"}
        return {"taskId": task.id, "status": task.status, "paid": paid}


def bind(raw: bytes, model: str) -> dict[str, str]:
    """Bind a body to a model: first System.Text.Json, then [Required]."""
    body = _deserialized(raw, model)
    properties = {name.lower(): name for name in MODELS[model]}
    bound: dict[str, str] = {}
    for key, value in body.items():
        name = properties.get(key.lower())
        if name is None or value is None:
            continue
        if not _converts(value, MODELS[model][name]):
            _unconvertible(MODELS[model][name], f"$.{key}", *_end_of(raw, key, value))
        bound[name] = str(value)
    empty = [name for name in sorted(MODELS[model]) if not bound.get(name, "").strip()]
    if empty:
        raise invalid(**{name: f"The {name} field is required." for name in empty})
    return bound


def _deserialized(raw: bytes, model: str) -> dict[str, object]:
    if not raw.strip():
        empty = "A non-empty request body is required."
        raise invalid(**{"": empty, "request": "The request field is required."})
    try:
        body = json.loads(raw)
    except UnicodeDecodeError:
        _not_json("The input is not valid UTF-8.", 0, 0)
    except json.JSONDecodeError as error:
        found = error.doc[error.pos : error.pos + 1]
        why = f"'{found}' is an invalid start of a value."
        if error.msg.startswith("Expecting property name"):
            why = f"'{found}' is an invalid start of a property name. Expected a '\"'."
        if not found:
            why = "Expected depth to be zero at the end of the JSON payload."
        _not_json(why, error.lineno - 1, error.colno - 1)
    if not isinstance(body, dict):
        _unconvertible(f"Market.Api.Contracts.{model}", "$", 0, 1)
    return body


def _converts(value: object, type_: str) -> bool:
    if not isinstance(value, str):
        return False
    return type_ != NULLABLE_GUID or GUID.fullmatch(value) is not None


def _unconvertible(type_: str, path: str, line: int, column: int) -> NoReturn:
    why = f"The JSON value could not be converted to {type_}."
    where = f"Path: {path} | LineNumber: {line} | BytePositionInLine: {column}."
    required = "The request field is required."
    raise invalid(**{path: f"{why} {where}", "request": required})


def _not_json(why: str, line: int, column: int) -> NoReturn:
    where = f"Path: $ | LineNumber: {line} | BytePositionInLine: {column}."
    raise invalid(
        **{"$": f"{why} {where}", "request": "The request field is required."}
    )


def _end_of(raw: bytes, key: str, value: object) -> tuple[int, int]:
    """Return the line and the byte where the reader stood after a member's token."""
    found = re.search(re.escape(json.dumps(key)).encode() + rb"\s*:\s*", raw)
    start = found.end() if found else 0
    token = raw[start : start + 1]  # of an object or a list only the bracket is read
    if not isinstance(value, dict | list):
        _, length = json.JSONDecoder().raw_decode(raw[start:].decode())
        token = raw[start : start + length]
    before = raw[: start + len(token)]
    return before.count(b"\n"), len(before) - before.rfind(b"\n") - 1
