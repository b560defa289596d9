"""A GraphQL-minded RPC: each path runs one stored operation with the body as its variables.

Everything answers HTTP 200; a refusal is {"data": null, "errors": [...]} and must be told
by its body. The one variable is `input`, and graphql-js checks it: all faults at once, and
with a suggestion when a name is nearly right. The listing is a Relay connection, five edges
a page (?after=CURSOR); ids are opaque base64.
"""

import json
import secrets
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the quiet library closes at eight",
    "bring two lemons and some salt",
    "a green lamp stood by the door",
    "the river froze in early january",
    "every clock in the house was wrong",
    "they found the key under a stone",
    "the puppy chased its own shadow",
    "winter coats hang in the hallway",
    "the orchestra tuned for ten minutes",
    "a spider repaired its broken web",
    "tomorrow the market opens late",
    "the lighthouse blinked twice and stopped",
)
PAGE = 5
# The schema: input object types, and which of them each operation's $input has.
TYPES = {
    "ClaimTaskInput": {"taskId": "ID!"},
    "SubmitTaskInput": {"taskId": "ID!", "output": "String!"},
    "CompleteTaskInput": {"taskId": "ID!"},
}


class GraphQLError(Exception):
    def __init__(self, *messages: str, code: str = "BAD_USER_INPUT") -> None:
        super().__init__(*messages)
        self.messages, self.code = messages, code


@dataclass
class Task:
    id: str
    text: str
    credits: int
    cursor: str
    owner: str = ""
    status: str = "OPEN"

    def node(self) -> dict[str, object]:
        return {
            "__typename": "Task",
            "id": self.id,
            "title": self.text,
            "kind": "UPPERCASE",
            "rewardCredits": self.credits,
            "status": self.status,
        }


def opaque(text: str) -> str:
    return b64encode(text.encode()).decode()


class GraphqlRpc(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._tasks = [
            Task(opaque(f"Task:{4100 + n}"), text, n * 5 % 9 + 1, opaque(f"cursor:{n}"))
            for n, text in enumerate(TEXTS)
        ]

    def texts(self) -> dict[str, str]:
        return {task.id: task.text for task in self._tasks}

    def missing(self, request: Request) -> Response:
        page = f"<pre>Cannot {request.method} {request.path}</pre>\n"
        return Response(404, page, {"Content-Type": "text/html; charset=utf-8"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = opaque(f"Agent:{secrets.randbits(40)}"), secrets.token_hex(32)
        self._agents[token] = agent
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(body={"data": {"createFreeAgent": answer}})

    def tasks(self, request: Request) -> Response:
        start, after = 0, request.query.get("after")
        if after:
            cursors = [task.cursor for task in self._tasks]
            if after not in cursors:
                return _refused(
                    "tasks", GraphQLError("Invalid cursor for argument: after")
                )
            start = cursors.index(after) + 1
        left = [task for task in self._tasks[start:] if task.status == "OPEN"]
        page = left[:PAGE]
        connection = {
            "edges": [{"cursor": task.cursor, "node": task.node()} for task in page],
            "pageInfo": {
                "hasNextPage": len(left) > PAGE,
                "endCursor": page[-1].cursor if page else None,
            },
        }
        return Response(body={"data": {"tasks": connection}})

    def claim(self, request: Request) -> Response:
        return self._run(request, "claimTask", "ClaimTaskInput", self._claim)

    def submit(self, request: Request) -> Response:
        return self._run(request, "submitTask", "SubmitTaskInput", self._submit)

    def complete(self, request: Request) -> Response:
        return self._run(request, "completeTask", "CompleteTaskInput", self._complete)

    def _run(
        self,
        request: Request,
        operation: str,
        type_: str,
        resolve: Callable[[str, dict[str, str]], Task],
    ) -> Response:
        try:
            given = _variable(request, type_)
            payload = {"task": resolve(self._viewer(request), given).node()}
            return Response(body={"data": {operation: payload}})
        except GraphQLError as error:
            return _refused(operation, error)

    def _viewer(self, request: Request) -> str:
        if request.token not in self._agents:
            message = "You must be authenticated to perform this action."
            raise GraphQLError(message, code="UNAUTHENTICATED")
        return self._agents[request.token]

    def _task(self, given: dict[str, str]) -> Task:
        for task in self._tasks:
            if task.id == given["taskId"]:
                return task
        message = f"Could not resolve to a Task with the id of '{given['taskId']}'."
        raise GraphQLError(message, code="NOT_FOUND")

    def _own(self, agent: str, given: dict[str, str]) -> Task:
        task = self._task(given)
        if task.owner != agent:
            raise GraphQLError("You have not claimed this task.", code="FORBIDDEN")
        return task

    def _claim(self, agent: str, given: dict[str, str]) -> Task:
        task = self._task(given)
        if task.owner and task.owner != agent:
            message = "This task has been claimed by another agent."
            raise GraphQLError(message, code="CONFLICT")
        if not task.owner:
            task.owner, task.status = agent, "CLAIMED"
            self.book.claimed(task.id)
        return task

    def _submit(self, agent: str, given: dict[str, str]) -> Task:
        task = self._own(agent, given)
        if given["output"] != task.text.upper():
            raise GraphQLError("The output is not the title of the task in upper case.")
        if task.status == "CLAIMED":
            task.status = "SUBMITTED"
        return task

    def _complete(self, agent: str, given: dict[str, str]) -> Task:
        task = self._own(agent, given)
        if task.status == "CLAIMED":
            message = "The task has no accepted output and cannot be completed."
            raise GraphQLError(message, code="CONFLICT")
        if task.status == "SUBMITTED":
            task.status = "COMPLETED"
            self.book.pay(task.id, task.credits)
        return task


def _refused(operation: str, error: GraphQLError) -> Response:
    extensions = {"code": error.code}
    errors = [
        {"message": message, "path": [operation], "extensions": extensions}
        for message in error.messages
    ]
    return Response(body={"data": None, "errors": errors}, refused=True)


def _variable(request: Request, type_: str) -> dict[str, str]:
    """Return $input as graphql-js coerces it; other variables are ignored, as there."""
    try:
        variables = request.json()
    except ValueError:
        variables = None
    if not isinstance(variables, dict):
        message = "POST body missing, invalid Content-Type, or not a JSON object."
        raise GraphQLError(message, code="BAD_REQUEST")
    if "input" not in variables:
        message = f'Variable "$input" of required type "{type_}!" was not provided.'
        raise GraphQLError(message)
    value = variables["input"]
    if value is None:
        message = f'Variable "$input" of non-null type "{type_}!" must not be null.'
        raise GraphQLError(message)
    if faults := list(_faults(value, type_)):
        raise GraphQLError(
            *(f'Variable "$input" got invalid value {f}' for f in faults)
        )
    return {name: str(value[name]) for name in TYPES[type_]}


def _faults(value: object, type_: str) -> Iterator[str]:
    whole = inspect(value)
    if not isinstance(value, dict):
        yield f'{whole}; Expected type "{type_}" to be an object.'
        return
    for name, wanted in TYPES[type_].items():
        if name not in value:
            yield f'{whole}; Field "{name}" of required type "{wanted}" was not provided.'
        elif fault := _leaf_fault(value[name], wanted):
            yield f'{inspect(value[name])} at "input.{name}"; {fault}'
    for name in value:
        if name not in TYPES[type_]:
            hint = did_you_mean(name, list(TYPES[type_]))
            yield f'{whole}; Field "{name}" is not defined by type "{type_}".{hint}'


def _leaf_fault(value: object, wanted: str) -> str:
    if value is None:
        return f'Expected non-nullable type "{wanted}" not to be null.'
    if isinstance(value, str):
        return ""
    if wanted == "String!":
        return f"String cannot represent a non string value: {inspect(value)}"
    if isinstance(value, bool) or not isinstance(value, int):
        return f"ID cannot represent value: {inspect(value)}"
    return ""


def inspect(value: object, depth: int = 0) -> str:
    """Write a value as graphql-js does in its messages."""
    if isinstance(value, dict):
        if value and depth > 2:
            return "[Object]"
        inner = ", ".join(f"{k}: {inspect(v, depth + 1)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        if value and depth > 2:
            return "[Array]"
        items = [inspect(item, depth + 1) for item in value[:10]]
        if (more := len(value) - 10) > 0:
            items.append("... 1 more item" if more == 1 else f"... {more} more items")
        return f"[{', '.join(items)}]"
    return json.dumps(value, ensure_ascii=False)


def did_you_mean(name: str, options: list[str]) -> str:
    limit = int(len(name) * 0.4) + 1
    near = [(distance(name, option), option) for option in options]
    found = [f'"{option}"' for far, option in sorted(near) if far <= limit]
    if not found:
        return ""
    *most, last = found
    commas = ", ".join(most) + ("," if len(most) > 1 else "")
    return f" Did you mean {commas} or {last}?" if most else f" Did you mean {last}?"


def distance(one: str, two: str) -> int:
    """Count the edits between two names, where a wrong case alone counts as one."""
    if one == two:
        return 0
    one, two = one.lower(), two.lower()
    if one == two:
        return 1
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(two, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]
