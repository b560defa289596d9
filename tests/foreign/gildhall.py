"""Gildhall: Spring Boot 3 in Kotlin (Jackson, Bean Validation, Spring Data pages)."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PACKAGE = "network.gildhall.board.api"
_FORMATS = ["PLAIN_TEXT", "MARKDOWN", "HTML"]
_WORK = [
    ("Engrave a door plate", "master of the east wing", 30),
    ("Engrave a bell", "ring twice for bread", 18),
    ("Letter a banner", "weavers of the lower town", 25),
    ("Letter a sign", "fresh candles and soap", 14),
    ("Set a headline", "council raises the bridge toll", 22),
    ("Set a bill", "puppets on saturday", 9),
    ("Stamp a crate", "this side up - handle with care", 11),
    ("Stamp a seal", "by order of the guild", 40),
]


class _Status(Exception):  # noqa: N818
    def __init__(  # noqa: ANN204
        self, status: int, message: str, errors: list[dict[str, Any]] | None = None
    ):
        super().__init__(message)
        self.status, self.message, self.errors = status, message, errors


def _now(minutes: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat(
        timespec="milliseconds"
    )


def _error(request: Request, refusal: _Status) -> Response:
    if refusal.status == 401:  # Spring Security's entry point: no body
        return Response(401, b"", {"WWW-Authenticate": refusal.message})
    body = {
        "timestamp": _now(),
        "status": refusal.status,
        "error": HTTPStatus(refusal.status).phrase,
    }
    body |= {"message": refusal.message, "path": request.path}
    return Response(
        refusal.status, {**body, "errors": refusal.errors} if refusal.errors else body
    )


def _mapping(method: Callable[..., Any]) -> Callable[..., Response]:
    def answer(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request))
        except _Status as refusal:
            return _error(request, refusal)

    return answer


def _wrong(kind: str, value: Any, why: str = "") -> _Status:
    token = f"Number value ({value})"
    if isinstance(value, str):
        token = f'String "{value}": {why}'
    elif isinstance(value, bool):
        token = f"Boolean value (token `JsonToken.VALUE_{str(value).upper()}`)"
    elif isinstance(value, dict | list):
        name = "Object" if isinstance(value, dict) else "Array"
        token = f"{name} value (token `JsonToken.START_{name.upper()}`)"
    return _Status(
        400, f"JSON parse error: Cannot deserialize value of type `{kind}` from {token}"
    )


def _object(value: Any, dto: str) -> dict[str, Any]:
    if isinstance(value, str):
        raise _Status(
            400,
            f"JSON parse error: Cannot construct instance of `{_PACKAGE}.{dto}` (although at least one"
            f" Creator exists): no String-argument constructor/factory method to deserialize from String value ('{value}')",
        )
    if not isinstance(value, dict):
        raise _wrong(f"{_PACKAGE}.{dto}", value)
    return value


def _body(request: Request, dto: str) -> dict[str, Any]:
    media = request.headers.get("Content-Type") or "application/octet-stream"
    if media.split(";")[0].strip().lower() != "application/json":
        raise _Status(415, f"Content-Type '{media}' is not supported")
    if not request.raw.strip():
        raise _Status(400, f"Required request body is missing: {_PACKAGE}.{dto}")
    try:
        return _object(request.json(), dto)
    except ValueError as error:
        raise _Status(400, f"JSON parse error: Unexpected character: {error}") from None


def _long(body: dict[str, Any], name: str) -> int | None:
    value = body.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, bool | dict | list):
        raise _wrong("java.lang.Long", value)
    if isinstance(value, str) and not re.fullmatch(r"[-+]?\d{1,18}", value.strip()):
        raise _wrong("java.lang.Long", value, "not a valid `java.lang.Long` value")
    return int(value)


def _present(body: dict[str, Any], dto: str, name: str) -> Any:
    if body.get(name) is None:
        raise _Status(
            400,
            f"JSON parse error: Instantiation of [simple type, class {_PACKAGE}.{dto}] value failed for"
            f" JSON property {name} due to missing (therefore NULL) value"
            f" for creator parameter {name} which is a non-nullable type",
        )
    return body[name]


def _validate(dto: str, values: dict[str, Any]) -> None:
    target = dto[0].lower() + dto[1:]
    errors = [
        {
            "codes": [f"{code}.{target}.{name}", f"{code}.{name}", code],
            "defaultMessage": f"must not be {code[3:].lower()}",
            "objectName": target,
            "field": name,
            "rejectedValue": value,
            "bindingFailure": False,
            "code": code,
        }
        for name, value in values.items()
        for code in ["NotNull" if value is None else "NotBlank"]
        if value is None or not str(value).strip()
    ]
    if errors:
        raise _Status(
            400,
            f"Validation failed for object='{target}'. Error count: {len(errors)}",
            errors,
        )


class Gildhall(Backend):
    """The text comes with the assignment; an accepted deliverable pays at submission."""

    def __init__(self) -> None:
        super().__init__()
        self._members: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[int, tuple[int, str]] = {}  # task and token
        self._board = {
            4101 + 7 * n: {
                "summary": s,
                "text": t,
                "fee": fee,
                "state": "OPEN",
                "version": n % 3,
            }
            for n, (s, t, fee) in enumerate(_WORK)
        }

    def texts(self) -> dict[str, str]:
        return {str(key): task["text"] for key, task in self._board.items()}

    def missing(self, request: Request) -> Response:
        return _error(
            request, _Status(404, f"No static resource {request.path.lstrip('/')}.")
        )

    @_mapping
    def register(self, request: Request) -> Any:
        _body(request, "FreeAgentRequest")
        self.book.registrations += 1
        token, number = secrets.token_urlsafe(30), 900 + self.book.registrations
        self._members[token] = {"id": f"M-{number}", "balance": 100}
        return {"agent_id": f"M-{number}", "access_token": token, "credits": 100}

    def _bearer(self, request: Request) -> None:
        if request.token not in self._members:
            error = ' error="invalid_token", error_description="Unknown access token"'
            raise _Status(401, "Bearer" + (error if request.token else ""))

    def _page(self, request: Request) -> Any:
        numbers = []
        for name, default in (("limit", "5"), ("page", "0")):
            text = request.query.get(name, default)
            if not re.fullmatch(r"-?\d{1,9}", text):
                why = "Failed to convert value of type 'java.lang.String' to required type 'int'"
                raise _Status(
                    400,
                    f"Method parameter '{name}': {why}; For input string: \"{text}\"",
                )
            numbers.append(int(text))
        size, number = numbers
        if not 1 <= size <= 20 or number < 0:
            raise _Status(
                400, "limit must be between 1 and 20, page must not be less than 0"
            )
        rows = [
            {
                "taskId": key,
                "version": task["version"],
                "summary": task["summary"],
                "instructions": "On assignment you get sourceText; deliver it in capital letters.",
                "fee": {"amount": task["fee"], "unit": "CREDIT"},
                "state": task["state"],
            }
            for key, task in self._board.items()
            if task["state"] == "OPEN"
        ]
        content, pages = (
            rows[number * size : (number + 1) * size],
            -(-len(rows) // size),
        )
        ends = {"first": number == 0, "last": number >= pages - 1, "empty": not content}
        sizes = {
            "totalPages": pages,
            "totalElements": len(rows),
            "size": size,
            "number": number,
        }
        return {"content": content, **sizes, **ends}

    marketplace = _mapping(_page)

    @_mapping
    def tasks(self, request: Request) -> Any:
        return self._bearer(request) or self._page(request)

    @_mapping
    def claim(self, request: Request) -> Any:
        self._bearer(request)
        body = _body(request, "ClaimTaskRequest")
        key, version = _long(body, "taskId"), _long(body, "version")
        _validate("ClaimTaskRequest", {"taskId": key, "version": version})
        task = self._board.get(key or 0)
        if task is None:
            raise _Status(404, f"Task {key} not found")
        if task["state"] != "OPEN":
            raise _Status(409, f"Task {key} is not OPEN but {task['state']}")
        if version != task["version"]:
            raise _Status(
                409, f"Task {key} is at version {task['version']}, not {version}"
            )
        task["state"], task["version"] = "ASSIGNED", task["version"] + 1
        number = 70011 + 3 * len(self._assignments)
        self._assignments[number] = (key, request.token)
        self.book.claimed(str(key))
        record = {"taskId": key, "state": "ASSIGNED", "version": task["version"]}
        return {
            "assignmentId": number,
            "task": record,
            "sourceText": task["text"],
            "dueAt": _now(90),
        }

    def _assigned(
        self, request: Request, number: int | None
    ) -> tuple[int, dict[str, Any]]:
        key, token = self._assignments.get(number or 0, (0, ""))
        if token != request.token:
            raise _Status(404, f"Assignment {number} not found")
        return key, self._board[key]

    @_mapping
    def submit(self, request: Request) -> Any:
        self._bearer(request)
        body = _body(request, dto := "SubmitResultRequest")
        number = _long(body, "assignmentId")
        piece = _object(_present(body, dto, "deliverable"), "Deliverable")
        content, form = (
            _present(piece, "Deliverable", name) for name in ("content", "format")
        )
        if isinstance(content, dict | list):
            raise _wrong("java.lang.String", content)
        if form not in _FORMATS:
            why = f"not one of the values accepted for Enum class: [{', '.join(_FORMATS)}]"
            raise _wrong(f"{_PACKAGE}.DeliverableFormat", form, why)
        _validate(dto, {"assignmentId": number, "deliverable.content": content})
        key, task = self._assigned(request, number)
        if task["state"] != "ASSIGNED":
            raise _Status(409, f"Assignment {number} was already delivered")
        if content != task["text"].upper():
            raise _Status(
                422,
                f"Deliverable of assignment {number} not accepted: content is not as ordered",
            )
        task["state"] = "ACCEPTED"
        self._members[request.token]["balance"] += task["fee"]
        self.book.pay(str(key), task["fee"])
        payout = {
            "amount": task["fee"],
            "balance": self._members[request.token]["balance"],
        }
        return {"assignmentId": number, "state": "ACCEPTED", "payout": payout}

    @_mapping
    def complete(self, request: Request) -> Any:
        self._bearer(request)
        body = _body(request, dto := "CompleteTaskRequest")
        number = _long(body, "assignmentId")
        spent = _present(body, dto, "timeSpent")
        pattern = (
            r"(?i)P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?|-?\d+(\.\d+)?"
        )
        if isinstance(spent, bool | dict | list) or not re.fullmatch(
            pattern, str(spent)
        ):
            why = f"java.time.format.DateTimeParseException) Text '{spent}' cannot be parsed to a Duration"
            raise _wrong(
                "java.time.Duration",
                spent,
                f"Failed to deserialize java.time.Duration: ({why}",
            )
        _validate(dto, {"assignmentId": number})
        key, task = self._assigned(request, number)
        if task["state"] != "ACCEPTED":
            raise _Status(
                409, f"Task {key} cannot be completed in state {task['state']}"
            )
        task["state"] = "CLOSED"
        return {"taskId": key, "state": "CLOSED", "closedAt": _now()}
