"""How the sandbox refuses: before it starts, and by HTTP in one of seven formats.

The contract shows neither the bodies of errors nor their statuses.

| error format | modelled on                                          | invalid body |
|--------------|------------------------------------------------------|--------------|
| json         | our own: a code for programs, a sentence for people  | 422          |
| supabase     | PostgREST's and PostgreSQL's codes                   | 400          |
| problem-json | RFC 9457, with its `errors` and JSON pointers        | 422          |
| fastapi      | FastAPI's `detail`                                   | 422          |
| zod          | a handler that passes a Zod error on                 | 400          |
| plain        | a sentence as text                                   | 400          |
| html         | a page                                               | 400          |
"""

import json
from collections.abc import Callable, Mapping
from enum import Enum, auto
from html import escape
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

ErrorFormatName = Literal[
    "json", "supabase", "problem-json", "fastapi", "zod", "plain", "html"
]
_MOST_FIELD_ERRORS = 3
"""In one answer."""


class SandboxError(Exception):
    """The sandbox cannot start; its text is for people, without a traceback."""

    def __init__(self, problem: str, fix: str = "") -> None:
        """`problem` is what is wrong and where, `fix` what to do about it."""
        super().__init__(f"{problem}\n{fix}" if fix else problem)
        self.problem = problem
        self.fix = fix


class FieldErrorKind(Enum):
    """What can be wrong with one field of a body."""

    MISSING = auto()
    UNKNOWN = auto()
    INVALID = auto()


class FieldError(NamedTuple):
    """One field of a request that did not validate."""

    path: tuple[str | int, ...]
    """Names and indexes from the outside to the field; empty is the whole body."""
    kind: FieldErrorKind
    message: str
    location: str = "body"
    """Or `query`, `header`, `path`."""

    @property
    def name(self) -> str:
        """The path as text, such as `task.id`."""
        return ".".join(map(str, self.path)) or f"the {self.location}"


class RefusalError(Exception):
    """A request that is refused, and changes nothing."""

    def __init__(
        self,
        status: HTTPStatus,
        error: str,
        message: str,
        field_errors: tuple[FieldError, ...] = (),
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`error` is a short code for programs, `message` a sentence for people."""
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.field_errors = field_errors
        self.headers = headers


class ErrorFormat(NamedTuple):
    """One way of writing errors."""

    media_type: str
    invalid: HTTPStatus
    """The status for a body that does not validate."""
    write: Callable[[RefusalError], str]
    fields: tuple[str, ...] = ()
    """The fields of an error's body, where it is JSON."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI description of the answer."""
        schema: dict[str, Any] = {"type": "string"}
        if self.fields:
            properties = {name: _SCHEMAS.get(name, {}) for name in self.fields}
            required = [*self.fields]
            schema = {"type": "object", "properties": properties, "required": required}
        return {
            "description": "Refused",
            "content": {self.media_type: {"schema": schema}},
        }

    def response(self, refusal: RefusalError) -> Response:
        """Write a refusal as a whole answer."""
        headers = dict(refusal.headers)
        if refusal.status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "Bearer"
        return Response(
            self.write(refusal),
            status_code=refusal.status,
            headers=headers,
            media_type=self.media_type,
        )


_SCHEMAS: Mapping[str, dict[str, Any]] = {
    "ok": {"type": "boolean"},
    "success": {"type": "boolean"},
    "status": {"type": "integer"},
    **{name: {"type": "string"} for name in ("code", "message", "title", "type")},
}
"""Of fields that have one type in all formats that have them."""


def install_error_handlers(app: FastAPI, error_format: ErrorFormat) -> None:
    """Write every error in one format, whoever raises it."""

    async def on_refusal(_request: Request, error: Exception) -> Response:
        if not isinstance(error, RefusalError):
            raise error
        return error_format.response(error)

    async def on_invalid(_request: Request, error: Exception) -> Response:
        if not isinstance(error, RequestValidationError):
            raise error
        return error_format.response(_invalid_request(error, error_format.invalid))

    async def on_http(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        answer = error_format.response(_http_refusal(request, error))
        answer.headers.update(error.headers or {})
        return answer

    async def on_bug(_request: Request, _error: Exception) -> Response:
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        message = "the sandbox has a bug; its log has the details"
        return error_format.response(RefusalError(status, "internal_error", message))

    app.add_exception_handler(RefusalError, on_refusal)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(Exception, on_bug)


def _http_refusal(request: Request, error: HTTPException) -> RefusalError:
    status = HTTPStatus(error.status_code)
    return RefusalError(
        status,
        status.name.lower(),
        f"{request.method} {request.url.path}: {status.phrase}; "
        "/llms.txt lists the endpoints",
    )


def _invalid_request(error: RequestValidationError, status: HTTPStatus) -> RefusalError:
    field_errors = tuple(map(_field_error, error.errors()[:_MOST_FIELD_ERRORS]))
    message = "; ".join(f"{one.name}: {one.message}" for one in field_errors)
    return RefusalError(status, "invalid_request", message, field_errors)


def _field_error(problem: dict[str, Any]) -> FieldError:
    kinds = {
        "missing": FieldErrorKind.MISSING,
        "extra_forbidden": FieldErrorKind.UNKNOWN,
    }
    kind = kinds.get(problem["type"], FieldErrorKind.INVALID)
    location, *path = problem["loc"]
    return FieldError(tuple(path), kind, problem["msg"], location)


def _as_json(refusal: RefusalError) -> str:
    return _json({"ok": False, "error": refusal.error, "message": refusal.message})


def _as_supabase(refusal: RefusalError) -> str:
    code, message = f"PT{refusal.status}", refusal.message
    if refusal.field_errors:
        # PostgREST looks up the columns before it tries a row: unknown ones come first.
        order = [*_POSTGREST]
        first = min(refusal.field_errors, key=lambda one: order.index(one.kind))
        code, template = _POSTGREST[first.kind]
        message = template.format(name=first.name, message=first.message)
    elif refusal.status == HTTPStatus.UNAUTHORIZED:
        code = "PGRST301"
    return _json(
        {"code": code, "message": message, "details": refusal.error, "hint": None},
    )


_POSTGREST: Mapping[FieldErrorKind, tuple[str, str]] = {
    FieldErrorKind.UNKNOWN: (
        "PGRST204",
        "Could not find the '{name}' column in the schema cache",
    ),
    FieldErrorKind.MISSING: (
        "23502",
        'null value in column "{name}" violates not-null constraint',
    ),
    FieldErrorKind.INVALID: (
        "22P02",
        'invalid input for column "{name}": {message}',
    ),
}
"""Codes and messages, in the order in which PostgREST finds such errors."""


def _as_problem(refusal: RefusalError) -> str:
    problem = {
        "type": f"urn:problem:{refusal.error.replace('_', '-')}",
        "title": refusal.error.replace("_", " ").capitalize(),
        "status": refusal.status,
        "detail": refusal.message,
    }
    if refusal.field_errors:
        problem["errors"] = [
            {"detail": one.message, "pointer": _pointer(one)}
            for one in refusal.field_errors
        ]
    return _json(problem)


def _pointer(one: FieldError) -> str:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in one.path)
    return "#" + "".join(f"/{step}" for step in steps)


def _as_fastapi(refusal: RefusalError) -> str:
    if not refusal.field_errors:
        return _json({"detail": refusal.message})
    types = {
        FieldErrorKind.MISSING: "missing",
        FieldErrorKind.UNKNOWN: "extra_forbidden",
        FieldErrorKind.INVALID: "value_error",
    }
    details = [
        {"type": types[one.kind], "loc": [one.location, *one.path], "msg": one.message}
        for one in refusal.field_errors
    ]
    return _json({"detail": details})


def _as_zod(refusal: RefusalError) -> str:
    error: object = refusal.message
    if refusal.field_errors:
        issues = [_zod_issue(one) for one in refusal.field_errors]
        error = {"name": "ZodError", "issues": issues}
    return _json({"success": False, "error": error})


def _zod_issue(one: FieldError) -> dict[str, Any]:
    match one.kind:
        case FieldErrorKind.MISSING:
            return {
                "code": "invalid_type",
                "received": "undefined",
                "path": one.path,
                "message": "Required",
            }
        case FieldErrorKind.UNKNOWN:
            *path, key = one.path
            return {
                "code": "unrecognized_keys",
                "keys": [key],
                "path": path,
                "message": f"Unrecognized key(s) in object: '{key}'",
            }
        case FieldErrorKind.INVALID:
            return {"code": "custom", "path": one.path, "message": one.message}


def _as_text(refusal: RefusalError) -> str:
    return f"{refusal.status.phrase}: {refusal.message}\n"


def _as_page(refusal: RefusalError) -> str:
    heading = f"{refusal.status.value} {refusal.status.phrase}"
    return (
        f"<!DOCTYPE html>\n<html><head><title>{heading}</title></head>\n"
        f"<body><h1>{heading}</h1>\n<p>{escape(refusal.message)}</p></body></html>\n"
    )


def _json(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


_JSON = "application/json"
_400, _422 = HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY
ERROR_FORMATS: Mapping[ErrorFormatName, ErrorFormat] = {
    "json": ErrorFormat(_JSON, _422, _as_json, ("ok", "error", "message")),
    "supabase": ErrorFormat(
        _JSON, _400, _as_supabase, ("code", "message", "details", "hint")
    ),
    "problem-json": ErrorFormat(
        "application/problem+json",
        _422,
        _as_problem,
        ("type", "title", "status", "detail"),
    ),
    "fastapi": ErrorFormat(_JSON, _422, _as_fastapi, ("detail",)),
    "zod": ErrorFormat(_JSON, _400, _as_zod, ("success", "error")),
    "plain": ErrorFormat("text/plain", _400, _as_text),
    "html": ErrorFormat("text/html", _400, _as_page),
}
