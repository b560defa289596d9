"""An AWS API Gateway with request models, a Lambda function and a DynamoDB table behind it.

The gateway says of a bad body only {"message": "Invalid request body"}, never what is wrong
with it; the function is as curt. What is wanted stands in an OpenAPI description with
$ref'd component schemas, which /llms.txt links to. Names are PascalCase, and keys carry the
type of their record, as in "TASK#01H...".
"""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

WORDS = (
    "the glassblower works before sunrise",
    "eleven geese follow the tractor",
    "a brass key opens the garden gate",
    "the soup is better on the second day",
    "no bus stops here after eight",
    "the cartographer left one island out",
    "warm the seeds in a damp cloth",
    "two brothers share a single coat",
    "the quarry pond is colder than it looks",
    "write the date on every jar",
    "the parrot answers the telephone",
    "sand fills the empty swimming pool",
)
LLMS = """\
# Task exchange

> A small exchange of tasks for software agents. Join, claim a task, submit its output,
> complete it, and earn credits.

## Docs

- [OpenAPI description](/docs/openapi.json): every request and every answer
"""
NO_SUCH_KEY = """\
<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message>\
<Key>{}</Key></Error>
"""
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

Schema = dict[str, Any]


def _model(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "required": list(properties),
        "additionalProperties": False,
        "properties": properties,
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _key(kind: str, description: str) -> Schema:
    pattern = f"^{kind}#[0-9A-HJKMNP-TV-Z]{{26}}$"
    return {"type": "string", "pattern": pattern, "description": description}


STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
STATUS: Schema = {
    "type": "string",
    "enum": ["OPEN", "CLAIMED", "SUBMITTED", "COMPLETED"],
}
COMPONENTS: dict[str, Schema] = {
    "TaskKey": _key("TASK", "Key of a task, as the listing has it."),
    "AgentKey": _key(
        "AGENT", "Key of the calling agent: the agent_id of its registration."
    ),
    "Output": _model(
        Text={
            "type": "string",
            "minLength": 1,
            "description": "The result: the Text of the task in upper case.",
        }
    ),
    "RegisterRequest": {"type": "object"},
    "ClaimTaskRequest": _model(TaskKey=_ref("TaskKey"), AgentKey=_ref("AgentKey")),
    "SubmitTaskRequest": _model(
        TaskKey=_ref("TaskKey"), AgentKey=_ref("AgentKey"), Output=_ref("Output")
    ),
    "CompleteTaskRequest": _model(TaskKey=_ref("TaskKey"), AgentKey=_ref("AgentKey")),
    "Agent": _model(agent_id=_ref("AgentKey"), access_token=STRING, credits=INTEGER),
    "Task": _model(
        TaskKey=_ref("TaskKey"),
        Text=STRING,
        Reward=INTEGER,
        Status=STATUS,
        CreatedAt=STRING,
    ),
    "TaskList": {
        "type": "object",
        "required": ["Items", "Count"],
        "properties": {
            "Items": {"type": "array", "items": _ref("Task")},
            "Count": INTEGER,
            "LastEvaluatedKey": {"type": "object"},
        },
    },
    "Payment": _model(Task=_ref("Task"), Paid=INTEGER, Balance=INTEGER),
    "Error": _model(message=STRING),
}
# What each operation takes (nothing: a GET) and answers.
OPERATIONS: dict[str, tuple[str, str]] = {
    "register": ("RegisterRequest", "Agent"),
    "tasks": ("", "TaskList"),
    "marketplace": ("", "TaskList"),
    "claim": ("ClaimTaskRequest", "Task"),
    "submit": ("SubmitTaskRequest", "Task"),
    "complete": ("CompleteTaskRequest", "Payment"),
}
FAULTS = {
    "400": "The body does not match its model.",
    "401": "The bearer token is missing or unknown.",
    "403": "AgentKey is not the agent of the token, or the task is another agent's.",
    "404": "There is no such task.",
    "409": "The task is not in the state that this step needs.",
    "422": "The output is not right.",
}


def _content(name: str) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": _ref(name)}}}


def _operation(action: str) -> dict[str, Any]:
    wanted, answered = OPERATIONS[action]
    responses = {"200": {"description": "Done."} | _content(answered)}
    operation: dict[str, Any] = {"operationId": action, "responses": responses}
    if not wanted:
        return operation
    operation["requestBody"] = {"required": True} | _content(wanted)
    if action != "register":
        responses |= {
            code: {"description": text} | _content("Error")
            for code, text in FAULTS.items()
        }
        operation["security"] = [{"bearer": []}]
    return operation


def _description(base: str) -> dict[str, Any]:
    paths = {
        path: {method.lower(): _operation(action)}
        for (method, path), action in ACTIONS.items()
        if action in OPERATIONS
    }
    return {
        "openapi": "3.0.1",
        "info": {"title": "task-exchange-prod", "version": "2026-01-18T12:02:51Z"},
        "servers": [{"url": base}],
        "paths": paths,
        "components": {
            "schemas": COMPONENTS,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _matches(value: Any, schema: Schema) -> bool:
    """Return whether a value matches a schema, of the words that the models use."""
    if "$ref" in schema:
        return _matches(value, COMPONENTS[schema["$ref"].rpartition("/")[2]])
    if schema["type"] == "string":
        return (
            isinstance(value, str)
            and len(value) >= schema.get("minLength", 0)
            and re.search(schema.get("pattern", ""), value) is not None
        )
    properties = schema.get("properties", {})
    return (
        isinstance(value, dict)
        and all(name in value for name in schema.get("required", ()))
        and (
            schema.get("additionalProperties", True)
            or value.keys() <= properties.keys()
        )
        and all(
            _matches(value[name], part)
            for name, part in properties.items()
            if name in value
        )
    )


class Fault(Exception):  # noqa: N818 - a word of the trade
    """An answer that ends the handling of a request."""

    def __init__(self, status: int, message: str, kind: str = "") -> None:
        super().__init__(message)
        headers = {"x-amzn-ErrorType": kind} if kind else {}
        self.response = Response(status, {"message": message}, headers)


def _new_key(kind: str) -> str:
    return f"{kind}#01H" + "".join(secrets.choice(CROCKFORD) for _ in range(23))


@dataclass
class Task:
    """One task and how far it has come."""

    key: str
    text: str
    reward: int
    hour: int
    status: str = "OPEN"
    owner: str = ""

    def item(self) -> dict[str, Any]:
        """Return the record as the table has it."""
        return {
            "TaskKey": self.key,
            "Text": self.text,
            "Reward": self.reward,
            "Status": self.status,
            "CreatedAt": f"2026-05-11T{self.hour:02}:00:00Z",
        }


class AwsGateway(Backend):
    """The service and its portal."""

    def __init__(self) -> None:
        super().__init__()
        tasks = [
            Task(_new_key("TASK"), text, 1 + at * 2 % 9, at)
            for at, text in enumerate(WORDS)
        ]
        self._tasks = {task.key: task for task in tasks}
        self._agents: dict[str, str] = {}  # token -> agent
        self._credits: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        return {task.key: task.text for task in self._tasks.values()}

    def missing(self, request: Request) -> Response:
        # What the gateway says of a path that it does not have.
        kind = "MissingAuthenticationTokenException"
        return Fault(403, "Missing Authentication Token", kind).response

    def document(self, request: Request) -> Response:
        if request.path == "/llms.txt":
            return Response(200, LLMS)
        if request.path == "/docs/openapi.json":
            return Response(200, _description(request.base))
        if request.path.startswith("/functions/"):
            return self.missing(request)
        body = NO_SUCH_KEY.format(request.path.removeprefix("/"))
        return Response(404, body, {"Content-Type": "application/xml"})

    def register(self, request: Request) -> Response:
        agent, token = _new_key("AGENT"), secrets.token_urlsafe(32)
        self._agents[token] = agent
        self._credits[agent] = 100
        self.book.registrations += 1
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        items = [task.item() for task in self._tasks.values() if task.status == "OPEN"]
        return Response(200, {"Items": items, "Count": len(items)})

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
        act: Callable[[Task, dict[str, Any]], dict[str, Any]],
    ) -> Response:
        try:
            task, body = self._authorized(action, request)
            return Response(200, act(task, body))
        except Fault as fault:
            return fault.response

    def _authorized(self, action: str, request: Request) -> tuple[Task, dict[str, Any]]:
        """Do as the gateway does: authorize, look at the body, and call the function."""
        agent = self._agents.get(request.token)
        if agent is None:
            raise Fault(401, "Unauthorized", "UnauthorizedException")
        body = self._body(action, request)
        if body["AgentKey"] != agent:
            raise Fault(403, "Forbidden")
        if body["TaskKey"] not in self._tasks:
            raise Fault(404, "Not Found")
        return self._tasks[body["TaskKey"]], body

    def _body(self, action: str, request: Request) -> dict[str, Any]:
        if request.headers.get_content_type() != "application/json":
            raise Fault(415, "Unsupported Media Type", "UnsupportedMediaTypeException")
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict) or not _matches(
            body, _ref(OPERATIONS[action][0])
        ):
            raise Fault(400, "Invalid request body", "BadRequestException")
        return body

    def _claimed(self, task: Task, body: dict[str, Any]) -> dict[str, Any]:
        if task.status != "OPEN":
            raise Fault(409, "The conditional request failed")
        task.status, task.owner = "CLAIMED", body["AgentKey"]
        self.book.claimed(task.key)
        return task.item()

    def _submitted(self, task: Task, body: dict[str, Any]) -> dict[str, Any]:
        self._check(task, body, "CLAIMED")
        if body["Output"]["Text"] != task.text.upper():
            raise Fault(422, "Output rejected")
        task.status = "SUBMITTED"
        return task.item()

    def _completed(self, task: Task, body: dict[str, Any]) -> dict[str, Any]:
        self._check(task, body, "SUBMITTED")
        task.status = "COMPLETED"
        self.book.pay(task.key, task.reward)
        self._credits[task.owner] += task.reward
        balance = self._credits[task.owner]
        return {"Task": task.item(), "Paid": task.reward, "Balance": balance}

    def _check(self, task: Task, body: dict[str, Any], status: str) -> None:
        if task.owner and task.owner != body["AgentKey"]:
            raise Fault(403, "Forbidden")
        if task.status != status:
            raise Fault(409, "The conditional request failed")
