"""Millrace: a workflow engine whose external tasks are locked, fed variables and completed.

A Java engine behind JAX-RS and Jackson: camelCase, typed variables, errors of
`type`/`message`/`code`, sentences of the engine and of the JSON mapper.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import time
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_DTO = "org.camunda.bpm.engine.rest.dto"
_VALUE = f"{_DTO}.VariableValueDto"
_CLAIM = f"{_DTO}.externaltask.LockExternalTaskDto"
_SUBMIT = f"{_DTO}.PatchVariablesDto"
_COMPLETE = f"{_DTO}.externaltask.CompleteExternalTaskDto"
_TYPES = ("String", "Integer", "Long", "Double", "Boolean", "Date", "Null", "Json")
_TOKENS = {str: "String", bool: "Boolean", int: "Integer", float: "Floating-point"}
_TOKENS |= {list: "Array", dict: "Object", type(None): "null"}
_SEED = (
    ("the gate opens at dawn", 12),
    ("river stones, worn smooth", 18),
    ("count the sacks of grain", 9),
    ("wheel number four is idle", 25),
    ("oil the axle before winter", 14),
    ("flour dust in the rafters", 31),
)
_Body = dict[str, Any]


class _Refused(Exception):  # noqa: N818
    def __init__(
        self, message: str, kind: str = "RestException", status: int = 400
    ) -> None:
        self.response = Response(
            status, {"type": kind, "message": message, "code": None}
        )


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000")


def _known(value: _Body, dto: str, names: tuple[str, ...], chain: str) -> None:
    """Refuse a field that the DTO does not have, as Jackson does."""
    for name in value:
        if name not in names:
            listed = ", ".join(f'"{known}"' for known in names)
            raise _Refused(
                f'Unrecognized field "{name}" (class {dto}), not marked as ignorable '
                f"({len(names)} known properties: {listed}])\n"
                f' (through reference chain: {chain}["{name}"])',
                "UnrecognizedPropertyException",
            )


def _mismatch(java: str, value: Any, chain: str) -> _Refused:
    return _Refused(
        f"Cannot deserialize value of type `{java}` from {_TOKENS[type(value)]} value\n"
        f" (through reference chain: {chain})",
        "MismatchedInputException",
    )


def _string(body: _Body, name: str, dto: str) -> str:
    """Return a string field, which must stand there; Jackson makes strings of numbers."""
    value = body.get(name)
    if isinstance(value, (dict, list)):
        raise _mismatch("java.lang.String", value, f'{dto}["{name}"]')
    if value is None:
        raise _Refused(f"{name} is null")
    return str(value)


def _variables(body: _Body, name: str, dto: str) -> _Body:
    """Return the typed variables of a body, by name."""
    given = body.get(name)
    if given is None:
        raise _Refused(f"{name} is null")
    if not isinstance(given, dict):
        java = f"java.util.LinkedHashMap<java.lang.String,{_VALUE}>"
        raise _mismatch(java, given, f'{dto}["{name}"]')
    found = {}
    for variable, value in given.items():
        chain = f'{dto}["{name}"]->java.util.LinkedHashMap["{variable}"]'
        if not isinstance(value, (dict, str)):
            raise _mismatch(_VALUE, value, chain)
        if isinstance(value, str):
            raise _Refused(
                f"Cannot construct instance of `{_VALUE}` (although at least one Creator "
                "exists): no String-argument constructor/factory method to deserialize "
                f"from String value ('{value}')\n (through reference chain: {chain})",
                "MismatchedInputException",
            )
        _known(value, _VALUE, ("value", "type", "valueInfo"), f"{chain}->{_VALUE}")
        kind = str(value.get("type") or "String")
        kind = kind[:1].upper() + kind[1:]
        if kind not in _TYPES:
            raise _Refused(f"Cannot modify variables: Unsupported value type '{kind}'")
        found[variable] = {"type": kind, "value": value.get("value"), "valueInfo": {}}
    return found


class Millrace(Backend):
    """The engine: an agent is a user, a task an external task of a running process."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, str] = {}  # token -> user
        self._balance: dict[str, int] = {}
        self._tasks: dict[str, dict[str, Any]] = {
            str(uuid.uuid5(uuid.NAMESPACE_URL, f"millrace/{number}")): {
                "text": text, "credits": credits_, "worker": None, "user": None,
                "until": 0.0, "variables": {}, "done": False,
                "process": str(uuid.uuid5(uuid.NAMESPACE_URL, f"millrace/p{number}")),
            }
            for number, (text, credits_) in enumerate(_SEED)
        }  # fmt: skip

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its identifier."""
        return {found: task["text"] for found, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Answer as JAX-RS does where no resource is."""
        return _Refused("HTTP 404 Not Found", "NotFoundException", 404).response

    def register(self, request: Request) -> Response:
        """Create a user."""
        self.book.registrations += 1
        user, token = f"worker-{uuid.uuid4().hex[:10]}", uuid.uuid4().hex * 2
        self._users[token], self._balance[user] = user, 100
        return Response(200, {"agent_id": user, "access_token": token, "credits": 100})

    def _record(self, found: str) -> _Body:
        task = self._tasks[found]
        return {
            "activityId": "Activity_Uppercase",
            "id": found,
            "lockExpirationTime": _stamp(task["until"]) if task["worker"] else None,
            "processDefinitionKey": "uppercaseText",
            "processInstanceId": task["process"],
            "suspended": False,
            "workerId": task["worker"],
            "topicName": "uppercase-text",
            "priority": 0,
            "extensionProperties": {
                "documentation": "Put the process variable 'text' into upper case.",
                "resultVariable": "upperText",
                "credits": str(task["credits"]),
            },
        }

    def tasks(self, request: Request) -> Response:
        """List the external tasks that nobody has locked: a bare array, for anyone."""
        limit = request.query.get("limit", "50")
        if not limit.isdecimal():
            message = f"Cannot set query parameter 'limit' to value '{limit}'"
            return _Refused(message, "InvalidRequestException").response
        now = time.time()
        free = [
            x
            for x, task in self._tasks.items()
            if not task["done"] and task["until"] < now
        ]
        return Response(200, [self._record(found) for found in free[: int(limit)]])

    marketplace = tasks

    def _work(
        self, request: Request, dto: str, names: tuple[str, ...], work: Any
    ) -> Response:
        """Answer one action on a task, or pass on how it was refused."""
        user = self._users.get(request.token)
        if user is None:
            return Response(401, b"", {"WWW-Authenticate": "Bearer"})
        try:
            if "json" not in (request.headers.get("Content-Type") or ""):
                raise _Refused(
                    "HTTP 415 Unsupported Media Type", "NotSupportedException", 415
                )
            try:
                body = request.json()
            except ValueError as error:
                raise _Refused(
                    f"Unexpected input: {error}", "JsonParseException"
                ) from None
            if not isinstance(body, dict):
                raise _mismatch(dto, body, dto)
            _known(body, dto, ("externalTaskId", *names), dto)
            found = _string(body, "externalTaskId", dto)
            task = self._tasks.get(found)
            if task is None or task["done"]:
                message = f"External task with id {found} does not exist"
                raise _Refused(message, status=404)
            if work != self._claim and task["user"] != user:
                message = f"External Task {found} is not locked by user '{user}'."
                raise _Refused(message, "AuthorizationException", 403)
            return Response(200, work(user, body, found, task))
        except _Refused as refused:
            return refused.response

    def claim(self, request: Request) -> Response:
        """Lock an external task for a worker; the answer carries its variables."""
        return self._work(request, _CLAIM, ("workerId", "lockDuration"), self._claim)

    def submit(self, request: Request) -> Response:
        """Set variables of the process."""
        return self._work(
            request, _SUBMIT, ("modifications", "deletions"), self._submit
        )

    def complete(self, request: Request) -> Response:
        """Complete the external task, which pays."""
        return self._work(request, _COMPLETE, ("workerId", "variables"), self._complete)

    def _claim(self, user: str, body: _Body, found: str, task: dict[str, Any]) -> _Body:
        worker, lasts = _string(body, "workerId", _CLAIM), body.get("lockDuration") or 0
        try:  # Jackson takes "60000" for a Long, too
            lasts = (
                lasts
                if isinstance(lasts, int) and lasts is not True
                else int(str(lasts))
            )
        except ValueError:
            raise _mismatch(
                "java.lang.Long", lasts, f'{_CLAIM}["lockDuration"]'
            ) from None
        if lasts <= 0:
            raise _Refused("lockDuration is not greater than 0")
        if task["until"] > time.time() and (task["worker"], task["user"]) != (
            worker,
            user,
        ):
            raise _Refused(
                f"External Task {found} cannot be locked by worker '{worker}'. "
                f"It is locked by worker '{task['worker']}'."
            )
        task.update(
            worker=worker, user=user, until=time.time() + min(lasts, 10**10) / 1000
        )
        self.book.claimed(found)
        text = {"type": "String", "value": task["text"], "valueInfo": {}}
        return {**self._record(found), "variables": {"text": text, **task["variables"]}}

    def _submit(
        self, user: str, body: _Body, found: str, task: dict[str, Any]
    ) -> _Body:
        given = _variables(body, "modifications", _SUBMIT)
        right = task["text"].upper()
        if "upperText" in given and given["upperText"]["value"] != right:
            raise _Refused(
                f"Cannot modify variables for external task {found}: Invalid value submitted "
                "for form field 'upperText': validation of upperCase(text) failed."
            )
        task["variables"].update(given)
        return task["variables"]

    def _complete(
        self, user: str, body: _Body, found: str, task: dict[str, Any]
    ) -> _Body:
        worker = _string(body, "workerId", _COMPLETE)
        if worker != task["worker"]:
            raise _Refused(
                f"External Task {found} cannot be completed by worker '{worker}'. "
                f"It is locked by worker '{task['worker']}'."
            )
        if body.get("variables") is not None:
            self._submit(user, {"modifications": body["variables"]}, found, task)
        if "upperText" not in task["variables"]:
            message = "Unknown property used in expression: ${upperText}. Cause: Cannot resolve "
            raise _Refused(
                message + "identifier 'upperText'", "ProcessEngineException", 500
            )
        task["done"] = True
        self._balance[user] += task["credits"]
        self.book.pay(found, task["credits"])
        answer = {
            "externalTaskId": found,
            "timestamp": _stamp(time.time()),
            "successLog": True,
        }
        return {
            **answer,
            "creditsEarned": task["credits"],
            "creditBalance": self._balance[user],
        }
