"""An ASP.NET Core 9 service: [ApiController], System.Text.Json, enums as strings.

Automatic 400s are ValidationProblemDetails. A fault of deserialization comes first and
alone (with "The request field is required." beside it), then all faults of the data
annotations. Names are read without case, numbers may be strings, unknown ones are ignored.
The text is shown by the claim only; the check of the result happens at submit.
"""

import base64
import binascii
import contextlib
import json
import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from tests.foreign.backend import Backend, Request, Response

_NS = "Quillport.Api.Contracts"
_FORMATS = ["PlainText", "Markdown", "Html"]
_TYPES = {
    400: ("https://tools.ietf.org/html/rfc9110#section-15.5.1", "Bad Request"),
    404: ("https://tools.ietf.org/html/rfc9110#section-15.5.5", "Not Found"),
    409: ("https://tools.ietf.org/html/rfc9110#section-15.5.10", "Conflict"),
    415: (
        "https://tools.ietf.org/html/rfc9110#section-15.5.16",
        "Unsupported Media Type",
    ),
    422: ("https://tools.ietf.org/html/rfc4918#section-11.2", "Unprocessable Entity"),
}
_TEXTS = [
    "release notes for the spring build",
    "mind the gap between train and platform",
    "all visitors must sign the ledger",
    "Fresh bread daily, except Sundays",
    "the committee meets in room nine",
    "please return the blue umbrella",
    "three dozen eggs and a lemon",
    "No parking beyond this point",
    "keep the gate closed; sheep at large",
    "a short walk to the lighthouse",
]
_MOST = 3  # active assignments of one agent


class _JsonError(Exception):
    """JsonException: a path and a message."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


class _Body:
    """A body and where its values stand, for the byte positions of the messages."""

    def __init__(self, raw: bytes) -> None:
        self.text = raw.decode(errors="replace")

    def convert(self, path: str, type_: str) -> _JsonError:
        start = 0
        for name in path.split(".")[1:]:
            if found := re.compile(f'"{re.escape(name)}"\\s*:\\s*').search(
                self.text, start
            ):
                start = found.end()
        end = start + 1
        if self.text[start : start + 1] not in ("{", "["):
            with contextlib.suppress(ValueError):
                end = json.JSONDecoder().raw_decode(self.text, start)[1]
        before = self.text[:end]
        line = before.count("\n")
        at = len(before.rsplit("\n", 1)[-1].encode())
        return _JsonError(
            path,
            f"The JSON value could not be converted to {type_}. Path: {path} | "
            f"LineNumber: {line} | BytePositionInLine: {at}.",
        )

    def root(self, type_: str) -> dict[str, Any] | None:
        try:
            value = json.loads(self.text)
        except ValueError as error:
            at = getattr(error, "pos", 0)
            shown = self.text[at : at + 1]
            raise _JsonError(
                "$",
                (
                    f"'{shown}' is an invalid start of a value."
                    if shown
                    else "Expected depth to be zero at the end of the JSON payload. There "
                    "is an open JSON object or array that should be closed."
                )
                + f" Path: $ | LineNumber: 0 | BytePositionInLine: {at}.",
            ) from None
        if value is not None and not isinstance(value, dict):
            raise self.convert("$", type_)
        return value


def _get(body: dict[str, Any], name: str) -> tuple[str, Any]:
    """Return the name as it was written, and the value: names compare without case."""
    for key, value in body.items():
        if key.lower() == name.lower():
            return key, value
    return name, None


def _nullable(type_: str) -> str:
    return f"System.Nullable`1[{type_}]"


def _guid(source: _Body, path: str, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and re.fullmatch(
        "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value
    ):
        return value.lower()
    raise source.convert(path, _nullable("System.Guid"))


def _number(source: _Body, path: str, value: Any, type_: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, str):
        pattern = (
            r"-?\d+" if type_ == "System.Int32" else r"-?\d+(\.\d+)?([eE][+-]?\d+)?"
        )
        if re.fullmatch(pattern, value):
            return float(value)
    elif (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and (type_ != "System.Int32" or isinstance(value, int))
    ):
        return float(value)
    raise source.convert(path, _nullable(type_))


def _string(source: _Body, path: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise source.convert(path, "System.String")


class AspnetLeases(Backend):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._balance: dict[str, int] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        self._row = 2001
        for number, text in enumerate(_TEXTS):
            key = str(uuid.uuid5(uuid.NAMESPACE_URL, f"quillport/{number}"))
            self._tasks[key] = {
                "text": text,
                "credits": 12 + 3 * (number % 4),
                # Two are with other agents and only shown.
                "status": "Leased" if number in (1, 6) else "Open",
            }
        self._texts = {
            key: task["text"]
            for key, task in self._tasks.items()
            if task["status"] == "Open"
        }

    def texts(self) -> dict[str, str]:
        """Return the texts of the open tasks."""
        return dict(self._texts)

    # -- how it says no ---------------------------------------------------------------

    def _send(self, status: int, body: dict[str, Any]) -> Response:
        body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
        return Response(
            status, body, {"Content-Type": "application/problem+json; charset=utf-8"}
        )

    def _problem(self, status: int, detail: str = "", **more: Any) -> Response:
        type_, title = _TYPES[status]
        body: dict[str, Any] = {"type": type_, "title": title, "status": status}
        if detail:
            body["detail"] = detail
        return self._send(status, {**body, **more})

    def _validation(self, errors: dict[str, list[str]]) -> Response:
        return self._send(
            400,
            {
                "type": _TYPES[400][0],
                "title": "One or more validation errors occurred.",
                "status": 400,
                "errors": errors,
            },
        )

    def missing(self, request: Request) -> Response:
        """Answer as Kestrel without an endpoint: nothing."""
        return Response(404, b"", {})

    def _guarded(self, request: Request, inner: Any) -> Response:
        if request.token not in self._agents:
            challenge = 'Bearer error="invalid_token"' if request.token else "Bearer"
            return Response(401, b"", {"WWW-Authenticate": challenge})
        if request.method == "GET":
            return cast("Response", inner(request))
        kind = (request.headers.get("Content-Type") or "").split(";")[0].strip()
        if request.raw and kind not in ("application/json", "text/json"):
            return self._problem(415)
        if not request.raw:
            return self._validation(
                {
                    "": ["A non-empty request body is required."],
                    "request": ["The request field is required."],
                }
            )
        try:
            return cast("Response", inner(request))
        except _JsonError as error:
            return self._validation(
                {
                    "request": ["The request field is required."],
                    error.path: [str(error)],
                }
            )

    def _null(self) -> Response:
        return self._validation(
            {
                "": ["A non-empty request body is required."],
                "request": ["The request field is required."],
            }
        )

    def _json(self, body: dict[str, Any]) -> Response:
        return Response(200, body, {"Content-Type": "application/json; charset=utf-8"})

    def _version(self) -> str:
        self._row += 1
        return base64.b64encode(self._row.to_bytes(8, "big")).decode()

    # -- the controllers --------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(40)
        self._agents[token] = agent
        self._balance[agent] = 100
        return self._json(
            {
                "agent_id": agent,
                "access_token": token,
                "token_type": "Bearer",
                "credits": 100,
            }
        )

    def _summary(self, key: str) -> dict[str, Any]:
        task = self._tasks[key]
        return {
            "taskId": key,
            "title": "Uppercase a line of text",
            "instructions": "Return the input text of the assignment converted to upper "
            "case. The input is disclosed when the task is leased.",
            "category": "TextTransform",
            "status": task["status"],
            "creditReward": task["credits"],
            "acceptedFormats": ["PlainText"],
            "leaseMinutes": {"minimum": 5, "maximum": 120},
            "createdUtc": "2026-02-03T10:41:09.2817364Z",
        }

    def tasks(self, request: Request) -> Response:
        """List the tasks that are not closed."""
        return self._guarded(request, self._list)

    def _list(self, request: Request) -> Response:
        limit = request.query.get("limit", "25")
        if not re.fullmatch(r"-?\d+", limit):
            return self._validation({"limit": [f"The value '{limit}' is not valid."]})
        if not 1 <= int(limit) <= 50:
            return self._validation(
                {"limit": ["The field limit must be between 1 and 50."]}
            )
        items = [
            self._summary(key)
            for key, task in self._tasks.items()
            if task["status"] in ("Open", "Leased")
        ]
        return self._json(
            {
                "items": items[: int(limit)],
                "totalCount": len(items),
                "hasMore": len(items) > int(limit),
            }
        )

    def claim(self, request: Request) -> Response:
        """Lease a task: {taskId, leaseMinutes}."""
        return self._guarded(request, self._claim)

    def _claim(self, request: Request) -> Response:
        source = _Body(request.raw)
        body = source.root(f"{_NS}.LeaseTaskRequest")
        if body is None:
            return self._null()
        name, value = _get(body, "taskId")
        key = _guid(source, f"$.{name}", value)
        name, value = _get(body, "leaseMinutes")
        minutes = _number(source, f"$.{name}", value, "System.Int32")
        errors = {}
        if key is None:
            errors["TaskId"] = ["The TaskId field is required."]
        if minutes is None:
            errors["LeaseMinutes"] = ["The LeaseMinutes field is required."]
        elif not 5 <= minutes <= 120:
            errors["LeaseMinutes"] = [
                "The field LeaseMinutes must be between 5 and 120."
            ]
        if errors or key is None or minutes is None:
            return self._validation(errors)
        task = self._tasks.get(key)
        if task is None:
            return self._problem(404)
        if task["status"] != "Open":
            return self._problem(
                409,
                f"Task {key} cannot be leased because its status is {task['status']}.",
            )
        agent = self._agents[request.token]
        active = sum(
            one["agent"] == agent and one["status"] != "Completed"
            for one in self._assignments.values()
        )
        if active >= _MOST:
            return self._problem(
                409,
                f"The agent already has {active} active assignments (maximum {_MOST}). "
                "Complete one before leasing another task.",
            )
        task["status"] = "Leased"
        assignment = str(uuid.uuid4())
        self._assignments[assignment] = {
            "task": key,
            "agent": agent,
            "status": "InProgress",
            "version": self._version(),
        }
        self.book.claimed(key)
        until = datetime.now(UTC) + timedelta(minutes=minutes)
        return self._json(
            {
                "assignmentId": assignment,
                "taskId": key,
                "status": "InProgress",
                "input": {"format": "PlainText", "text": task["text"]},
                "leaseExpiresUtc": until.strftime("%Y-%m-%dT%H:%M:%S.%f0Z"),
                "rowVersion": self._assignments[assignment]["version"],
            }
        )

    def _mine(self, request: Request, assignment: str) -> dict[str, Any] | None:
        one = self._assignments.get(assignment)
        return one if one and one["agent"] == self._agents[request.token] else None

    def submit(self, request: Request) -> Response:
        """Submit: {assignmentId, result: {format, content}, confidence}."""
        return self._guarded(request, self._submit)

    def _submit(self, request: Request) -> Response:  # noqa: PLR0915 - one action
        source = _Body(request.raw)
        body = source.root(f"{_NS}.SubmitResultRequest")
        if body is None:
            return self._null()
        values: dict[str, Any] = {"Format": None, "Content": None}
        for name, value in body.items():  # System.Text.Json reads in the body's order
            path = f"$.{name}"
            match name.lower():
                case "assignmentid":
                    values["AssignmentId"] = _guid(source, path, value)
                case "confidence":
                    values["Confidence"] = _number(source, path, value, "System.Double")
                case "result":
                    if value is not None and not isinstance(value, dict):
                        raise source.convert(path, f"{_NS}.ResultPayload")
                    values["Result"] = value
                    for inner, part in (value or {}).items():
                        if inner.lower() == "format":
                            values["Format"] = self._format(
                                source, f"{path}.{inner}", part
                            )
                        elif inner.lower() == "content":
                            values["Content"] = _string(source, f"{path}.{inner}", part)
                case _:
                    pass
        errors: dict[str, list[str]] = {}
        confidence, assignment = values.get("Confidence"), values.get("AssignmentId")
        if values.get("Result") is None:
            errors["Result"] = ["The Result field is required."]
        else:
            for name in ("Format", "Content"):
                if not (values[name] or "").strip():
                    errors[f"Result.{name}"] = [f"The {name} field is required."]
        if confidence is None:
            errors["Confidence"] = ["The Confidence field is required."]
        elif not 0 <= confidence <= 1:
            errors["Confidence"] = ["The field Confidence must be between 0 and 1."]
        if assignment is None:
            errors["AssignmentId"] = ["The AssignmentId field is required."]
        if errors or assignment is None:
            return self._validation(errors)
        one = self._mine(request, assignment)
        if one is None:
            return self._problem(404)
        if one["status"] == "Completed":
            return self._problem(409, "The assignment is already completed.")
        if values["Format"] != "PlainText":
            return self._problem(
                422,
                f"Format {values['Format']} is not accepted for this task. Accepted "
                "formats: PlainText.",
            )
        if values["Content"] != self._tasks[one["task"]]["text"].upper():
            return self._problem(
                422, "The result did not pass the automatic check.", check="ExactMatch"
            )
        one["status"], one["version"] = "Submitted", self._version()
        return self._json(
            {
                "assignmentId": assignment,
                "taskId": one["task"],
                "status": "Submitted",
                "check": {"kind": "ExactMatch", "passed": True},
                "rowVersion": one["version"],
            }
        )

    def _format(self, source: _Body, path: str, value: Any) -> str | None:
        if value is None:
            return None
        if isinstance(value, str):
            for name in _FORMATS:
                if name.lower() == value.strip().lower():
                    return name
        elif isinstance(value, int) and not isinstance(value, bool):
            return _FORMATS[value] if 0 <= value < len(_FORMATS) else str(value)
        raise source.convert(path, _nullable(f"{_NS}.ResultFormat"))

    def complete(self, request: Request) -> Response:
        """Complete: {assignmentId, rowVersion}."""
        return self._guarded(request, self._complete)

    def _complete(self, request: Request) -> Response:
        source = _Body(request.raw)
        body = source.root(f"{_NS}.CompleteAssignmentRequest")
        if body is None:
            return self._null()
        name, value = _get(body, "assignmentId")
        assignment = _guid(source, f"$.{name}", value)
        name, version = _get(body, "rowVersion")
        if version is not None:
            try:
                if not isinstance(version, str):
                    raise ValueError  # noqa: TRY004 - caught below
                base64.b64decode(version, validate=True)
            except (ValueError, binascii.Error):
                raise source.convert(f"$.{name}", "System.Byte[]") from None
        errors = {}
        if version is None:
            errors["RowVersion"] = ["The RowVersion field is required."]
        if assignment is None:
            errors["AssignmentId"] = ["The AssignmentId field is required."]
        if errors or assignment is None:
            return self._validation(errors)
        one = self._mine(request, assignment)
        if one is None:
            return self._problem(404)
        if one["status"] != "Submitted":
            return self._problem(
                409,
                f"An assignment with status {one['status']} cannot be completed; "
                "expected Submitted.",
            )
        if one["version"] != version:
            return self._problem(
                409,
                "The assignment was changed since rowVersion was issued. Use the "
                "rowVersion of the latest response.",
            )
        task = self._tasks[one["task"]]
        one["status"] = task["status"] = "Completed"
        self._balance[one["agent"]] += task["credits"]
        self.book.pay(one["task"], task["credits"])
        return self._json(
            {
                "assignmentId": assignment,
                "taskId": one["task"],
                "status": "Completed",
                "creditsAwarded": task["credits"],
                "balance": self._balance[one["agent"]],
                "completedUtc": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f0Z"),
            }
        )
