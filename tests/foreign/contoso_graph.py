"""Contoso Work: an OData service in the public style of Microsoft Graph.

`value` and `@odata.nextLink`, identity sets, etags and If-Match, Graph's error object,
and a review on completion that pays or sends the work back.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import random
import re
import secrets
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    ("Title slide", "Quarterly review, Fabrikam account", 22.0),
    ("Room sign", "Conference room 3 is reserved", 9.0),
    ("Mail subject", "Action required: rotate your keys", 31.0),
    ("Badge text", "visitor - escort needed", 14.0),
    ("Sheet heading", "Net revenue (in thousands)", 45.0),
    ("Channel name", "adventure works go-live", 18.0),
]
_MEDIA = "application/json;odata.metadata=minimal;odata.streaming=true;charset=utf-8"
_DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,12})?(Z|[+-]\d\d:\d\d)"
_LITERALS = {"Edm.String": ".*", "Edm.DateTimeOffset": _DATE}


class _ServiceException(Exception):  # noqa: N818
    """A refusal: status, code and message."""


def _now(hours: float = 0) -> str:
    at = datetime.now(UTC) + timedelta(hours=hours)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f0Z")


def _etag() -> str:
    inner = f"1-Work {secrets.token_hex(6)}".encode()
    return f'W/"{base64.b64encode(inner).decode()}"'


def _ok(body: dict[str, Any]) -> Response:
    headers = {"Content-Type": _MEDIA, "OData-Version": "4.0"}
    if "@odata.etag" in body:
        headers["ETag"] = body["@odata.etag"]
    return Response(200, dict(body), headers | {"request-id": str(uuid.uuid4())})


def _graph(handler: Callable[[Any, Request], Response]) -> Callable[..., Response]:
    def wrapped(self: Any, request: Request) -> Response:
        try:
            return handler(self, request)
        except _ServiceException as error:
            asked = str(uuid.uuid4())
            inner = {"date": _now()[:19], "request-id": asked}
            inner["client-request-id"] = request.headers.get("client-request-id", asked)
            status, code, message = error.args
            told = {"code": code, "message": message, "innerError": inner}
            headers = {"Content-Type": "application/json", "request-id": asked}
            return Response(status, {"error": told}, headers)

    return wrapped


def _bad(message: str) -> _ServiceException:
    return _ServiceException(400, "BadRequest", message)


def _absent(name: str) -> _ServiceException:
    said = f"Resource '{name}' does not exist or one of its queried reference-property objects are not present."
    return _ServiceException(404, "Request_ResourceNotFound", said)


def _node(name: str, value: Any, wanted: str) -> _ServiceException:
    node = {dict: "StartObject", list: "StartArray"}.get(type(value), "PrimitiveValue")
    said = f"An unexpected '{node}' node was found for property named '{name}' when "
    return _bad(f"{said}reading from the JSON reader. A '{wanted}' node was expected.")


def _primitive(name: str, value: Any, kind: str) -> None:
    if isinstance(value, dict | list):
        raise _node(name, value, "PrimitiveValue")
    if value is None:
        kind += "[Nullable=False]"
        said = f"A null value was found for the property named '{name}', which has the expected type '{kind}'."
        raise _bad(f"{said} The expected type '{kind}' does not allow null values.")
    if not isinstance(value, str) or not re.fullmatch(
        _LITERALS[kind], value, re.DOTALL
    ):
        literal = value if isinstance(value, str) else json.dumps(value)
        raise _bad(
            f"Cannot convert the literal '{literal}' to the expected type '{kind}'."
        )


def _complex(name: str, value: Any, kind: str, key: str) -> Any:
    if not isinstance(value, dict):
        raise _node(name, value, "StartObject")
    for given in value:
        if given not in (key, "displayName") and "@" not in given:
            said = f"The property '{given}' does not exist on type 'contoso.work.{kind}'. Make sure to only "
            raise _bad(
                f"{said}use property names that are defined by the type or mark the type as open type."
            )
    if value.get(key) is None:
        raise _bad(f"Value cannot be null. (Parameter '{name}.{key}')")
    return value[key]


def _parameters(request: Request, action: str, **kinds: str) -> dict[str, Any]:
    body = None
    with suppress(ValueError):
        body = request.json()
    if not isinstance(body, dict):
        said = (
            "Unable to read JSON request payload. Please ensure Content-Type header is "
        )
        raise _bad(f"{said}set and payload is of valid JSON format.")
    given = {name: value for name, value in body.items() if "@" not in name}
    for name, value in given.items():
        if name not in kinds:
            said = f"The parameter '{name}' in the request payload is not a valid parameter"
            raise _bad(f"{said} for the operation '{action}'.")
        if kinds[name].startswith("Edm."):
            _primitive(name, value, kinds[name])
    if lacking := ",".join(name for name in kinds if name not in given):
        said = (
            f"One or more parameters of the operation '{action}' are missing from the "
        )
        raise _bad(f"{said}request payload. The missing parameters are: {lacking}.")
    return given


class ContosoWork(Backend):
    """Microsoft Graph's manner."""

    def __init__(self) -> None:
        super().__init__()
        rng = random.Random(7)  # noqa: S311
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        key = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        publisher = {"application": {"id": key, "displayName": "Contoso Publishing"}}
        for title, text, amount in _WORK:
            key = base64.urlsafe_b64encode(rng.randbytes(21)).decode()
            told = "Provide the value of sourceText in upper case."
            task = {"@odata.etag": _etag(), "id": key, "title": title, "notes": told}
            task |= {"sourceText": text, "status": "notStarted", "percentComplete": 0}
            task |= {
                "compensation": {"amount": amount, "unit": "credits"},
                "createdBy": publisher,
            }
            task["createdDateTime"] = _now(-30)
            self._tasks[key] = task | {"assignedTo": None}

    def texts(self) -> dict[str, str]:
        return {key: task["sourceText"] for key, task in self._tasks.items()}

    @_graph
    def missing(self, request: Request) -> Response:
        segment = request.path.rsplit("/", 1)[-1]
        raise _bad(f"Resource not found for the segment '{segment}'.")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        key, token = str(uuid.uuid4()), "eyJ0eXAi" + secrets.token_urlsafe(48)
        self._agents[token] = {"id": key, "balance": 100.0}
        return _ok({"agent_id": key, "access_token": token, "credits": 100})

    def _agent(self, request: Request) -> dict[str, Any]:
        if agent := self._agents.get(request.token):
            return agent
        said = (
            "Lifetime validation failed, the token is expired."
            if request.token
            else "Access token is empty."
        )
        raise _ServiceException(401, "InvalidAuthenticationToken", said)

    @_graph
    def tasks(self, request: Request) -> Response:
        self._agent(request)
        said = request.query.get("limit", "4")
        if not said.isdecimal() or not 1 <= int(said) <= 999:
            raise _bad(
                f"Invalid page size specified: '{said}'. Must be between 1 and 999 inclusive."
            )
        skip = request.query.get("$skiptoken", "0")
        start = int(skip) if skip.isdecimal() else 0
        stop = start + int(said)
        every = list(self._tasks.values())
        told: dict[str, Any] = {"@odata.context": f"{request.base}/$metadata#workTasks"}
        if stop < len(every):
            told["@odata.nextLink"] = (
                f"{request.base}{request.path}?limit={said}&$skiptoken={stop}"
            )
        return _ok(told | {"value": every[start:stop]})

    @_graph
    def claim(self, request: Request) -> Response:
        agent = self._agent(request)
        given = _parameters(
            request, "claim", taskId="Edm.String", assignedTo="identitySet"
        )
        inner = _complex(
            "assignedTo", given["assignedTo"], "identitySet", "application"
        )
        who = _complex("assignedTo.application", inner, "identity", "id")
        if who != agent["id"]:
            raise _ServiceException(
                403, "Forbidden", f"The application '{who}' is not the calling agent."
            )
        task = self._tasks.get(given["taskId"])
        if task is None:
            raise _absent(given["taskId"])
        if task["status"] != "notStarted":
            raise _ServiceException(409, "Conflict", "The task is already assigned.")
        task |= {"@odata.etag": _etag(), "status": "inProgress", "percentComplete": 50}
        task["assignedTo"] = {"application": {"id": who}}
        work = {"@odata.etag": _etag(), "id": str(uuid.uuid4()), "taskId": task["id"]}
        work |= {"status": "inProgress", "assignedTo": task["assignedTo"]}
        work |= {"content": None, "assignedDateTime": _now(), "dueDateTime": _now(2)}
        self._assignments[work["id"]] = work
        self.book.claimed(task["id"])
        return _ok(work)

    def _work(self, request: Request, given: dict[str, Any], state: str) -> Any:
        key, agent = given["assignmentId"], self._agent(request)
        work = self._assignments.get(key)
        if work is None or work["assignedTo"]["application"]["id"] != agent["id"]:
            raise _absent(key)
        if work["status"] != state:
            said = f"The assignment has the status '{work['status']}'; this operation "
            raise _ServiceException(409, "Conflict", f"{said}requires '{state}'.")
        return work

    @_graph
    def submit(self, request: Request) -> Response:
        self._agent(request)
        kinds = {
            "assignmentId": "Edm.String",
            "content": "Edm.String",
            "finishedDateTime": "Edm.DateTimeOffset",
        }
        given = _parameters(request, "submitResult", **kinds)
        work = self._work(request, given, "inProgress")
        work |= {"@odata.etag": _etag(), "status": "waitingOnReview"}
        work |= {name: given[name] for name in ("content", "finishedDateTime")}
        return _ok(work)

    @_graph
    def complete(self, request: Request) -> Response:
        agent = self._agent(request)
        given = _parameters(request, "complete", assignmentId="Edm.String")
        work = self._work(request, given, "waitingOnReview")
        match = request.headers.get("If-Match", "").strip()
        if not match:
            said = (
                "The If-Match header must be specified (@odata.etag of the assignment)."
            )
            raise _ServiceException(428, "PreconditionRequired", said)
        if match not in ("*", work["@odata.etag"]):
            said = "The If-Match header does not match the current @odata.etag of the assignment."
            raise _ServiceException(412, "PreconditionFailed", said)
        task, work["@odata.etag"] = self._tasks[work["taskId"]], _etag()
        if work["content"] != task["sourceText"].upper():
            work["status"] = "inProgress"
            said = "The content did not pass review. Submit the result again."
            raise _ServiceException(422, "UnprocessableEntity", said)
        work["status"] = "completed"
        task |= {"@odata.etag": _etag(), "status": "completed", "percentComplete": 100}
        amount = task["compensation"]["amount"]
        agent["balance"] += amount
        self.book.pay(task["id"], int(amount))
        paid = {"amount": amount, "balance": agent["balance"], "unit": "credits"}
        return _ok(work | {"payment": paid})
