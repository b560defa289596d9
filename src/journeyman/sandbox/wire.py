"""HTTP as the sandbox speaks it: what a body must be, and how errors look."""

import json
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, NoReturn

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from journeyman.sandbox.error_bodies import Vocabulary
from journeyman.sandbox.errors import Complaint, Flaw, Refusal

LARGEST_BODY = 1024 * 1024
"""In bytes."""
_DRAINED = 32 * LARGEST_BODY
"""Read this far, so that a client that still sends can read why it is refused."""
_DEEPEST = 64
"""Levels of nesting; far more would exhaust the JSON writer's stack later."""


class StrictRequest(Request):
    """A request whose body is small, UTF-8 and JSON that can be written again."""

    async def body(self) -> bytes:
        """Read the whole body; of one that is too large, keep nothing."""
        if not hasattr(self, "_body"):
            received, size = bytearray(), 0
            async for part in self.stream():
                size += len(part)
                if size <= LARGEST_BODY:
                    received += part
                elif size > _DRAINED:
                    break
            if size > LARGEST_BODY:
                raise _too_large()
            self._body = bytes(received)
        return self._body

    async def json(self) -> Any:  # noqa: ANN401 - a JSON value, as in the base class
        """Read the body as JSON; a byte-order mark before it is passed over."""
        if not hasattr(self, "_json"):
            self._json = _read_json(await self.body())
        return self._json


class StrictRoute(APIRoute):
    """A route that gets a `StrictRequest`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Read the body before FastAPI does, which has its own words for a bad one."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            strict = StrictRequest(request.scope, request.receive)
            if self.body_field is not None and await strict.body():
                _require_json_type(strict)
                await strict.json()
            return await handle(strict)

        return handle_strictly


def install_error_answers(app: FastAPI, vocabulary: Vocabulary) -> None:
    """Write every error in one vocabulary, whoever raises it."""

    async def on_refusal(_request: Request, error: Exception) -> Response:
        if not isinstance(error, Refusal):
            raise error
        return refused(error, vocabulary)

    async def on_invalid(_request: Request, error: Exception) -> Response:
        if not isinstance(error, RequestValidationError):
            raise error
        return refused(_invalid(error, vocabulary.invalid), vocabulary)

    async def on_http(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        answer = refused(_http_refusal(request, error), vocabulary)
        answer.headers.update(error.headers or {})
        return answer

    async def on_fault(_request: Request, _error: Exception) -> Response:
        fault = Refusal(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "internal_error",
            "the sandbox has a fault; its log says which",
        )
        return refused(fault, vocabulary)

    app.add_exception_handler(Refusal, on_refusal)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(Exception, on_fault)


def refused(refusal: Refusal, vocabulary: Vocabulary) -> Response:
    """Write a refusal."""
    unauthorized = refusal.status == HTTPStatus.UNAUTHORIZED
    return Response(
        vocabulary.write(refusal),
        status_code=refusal.status,
        headers={"WWW-Authenticate": "Bearer"} if unauthorized else None,
        media_type=vocabulary.media_type,
    )


def _http_refusal(request: Request, error: HTTPException) -> Refusal:
    status = HTTPStatus(error.status_code)
    return Refusal(
        status,
        status.name.lower(),
        f"{request.method} {request.url.path}: {status.phrase}; "
        "/llms.txt lists what there is",
    )


def _invalid(error: RequestValidationError, status: HTTPStatus) -> Refusal:
    complaints = tuple(_complaint(one) for one in error.errors()[:_TOLD])
    told = "; ".join(f"{one.name}: {one.message}" for one in complaints)
    return Refusal(status, "invalid_request", told, complaints)


def _complaint(problem: dict[str, Any]) -> Complaint:
    flaw = _FLAWS.get(problem["type"], Flaw.WRONG)
    where, *place = problem["loc"]
    return Complaint(tuple(place), flaw, problem["msg"], where)


_FLAWS = {"missing": Flaw.MISSING, "extra_forbidden": Flaw.UNKNOWN}
_TOLD = 3
"""Complaints in one answer."""


def _read_json(body: bytes) -> object:
    try:
        value = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
        _require_shallow(value)
        # What cannot be written again, such as half of a surrogate pair or a number
        # beyond all bounds, would only fail later.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise Refusal(
            HTTPStatus.BAD_REQUEST,
            "malformed_json",
            f"the body must be JSON in UTF-8: {error}",
        ) from error
    return value


def _require_json_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type.lower() != "application/json":
        raise Refusal(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "not_json",
            f"send 'Content-Type: application/json', not {media_type[:80]!r}",
        )


def _require_shallow(value: object) -> None:
    level = [value]
    for _depth in range(_DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise ValueError(f"it is nested more than {_DEEPEST} levels deep")


def _inside(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _too_large() -> Refusal:
    return Refusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "body_too_large",
        f"the body may have {LARGEST_BODY} bytes",
    )
