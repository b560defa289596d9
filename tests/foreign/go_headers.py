"""A Go service whose refusals have no body: what is wrong stands in headers.

`X-Error-Code` and `X-Error-Detail`, one fault at a time. A unit has a revision; what
changes it must name the revision in `If-Match`, or is 428; an old one is 412. The answers
carry the new one in `ETag`.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the gopher digs below the fence",
    "a channel that nobody reads from",
    "wait for the last one to finish",
    "the tea is cold and so is the room",
    "every map is iterated differently",
    "the parrot repeats the wrong word",
    "tie both ends of the rope",
    "an umbrella opened in the hall",
)


class HttpError(Exception):
    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        told = {"X-Error-Code": code, "X-Error-Detail": detail}
        trace = {"X-Request-Id": secrets.token_hex(8)}
        self.response = Response(status, b"", {**told, **trace})


def text(body: dict[str, Any], name: str) -> str:
    """Return a field that must be there and must be a string."""
    found = body.get(name)
    if found in (None, ""):
        raise HttpError(400, "missing_field", f'field "{name}" is required')
    if not isinstance(found, str):
        raise HttpError(400, "wrong_type", f'field "{name}" must be a string')
    return found


class GoHeaders(Backend):
    """Eight units."""

    def __init__(self) -> None:
        super().__init__()
        self.units: dict[str, dict[str, Any]] = {
            f"u-{at * 17 + 4096:04x}": {
                "text": line,
                "fee": at % 3 + 1,
                "state": "idle",
                "revision": at + 3,
            }
            for at, line in enumerate(TEXTS)
        }
        self.tokens: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: unit["text"] for key, unit in self.units.items()}

    def missing(self, request: Request) -> Response:
        return HttpError(404, "no_route", "no such route").response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(12)
        self.tokens.add(token)
        told = {"agent_id": "a-1", "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        units = [
            {
                "unit": key,
                "text": unit["text"],
                "fee": unit["fee"],
                "state": unit["state"],
            }
            for key, unit in self.units.items()
        ]
        return Response(200, {"units": units})

    def handle_with(
        self,
        request: Request,
        step: Callable[[str, dict[str, Any], dict[str, Any]], None],
        *,
        guarded: bool,
    ) -> Response:
        try:
            body = self.body(request)
            key = text(body, "unit")
            unit = self.unit(key)
            if guarded:
                self.guard(request, unit)
            step(key, unit, body)
            unit["revision"] += 1
            tag = {"ETag": f'"{unit["revision"]}"'}
            return Response(200, {"unit": key, "state": unit["state"]}, tag)
        except HttpError as error:
            return error.response

    def body(self, request: Request) -> dict[str, Any]:
        if request.token not in self.tokens:
            raise HttpError(401, "unauthenticated", "who are you?")
        try:
            body = request.json()
        except ValueError:
            raise HttpError(400, "bad_json", "body is not JSON") from None
        if not isinstance(body, dict):
            raise HttpError(400, "bad_json", "body is not an object")
        return body

    def unit(self, key: str) -> dict[str, Any]:
        if key not in self.units:
            raise HttpError(404, "no_unit", "no such unit")
        return self.units[key]

    def guard(self, request: Request, unit: dict[str, Any]) -> None:
        given = request.headers.get("If-Match")
        if given is None:
            raise HttpError(428, "precondition_required", "send If-Match")
        if given.strip('"') != str(unit["revision"]):
            raise HttpError(412, "stale", "the unit has changed")

    def claim(self, request: Request) -> Response:
        return self.handle_with(request, self.on_claim, guarded=False)

    def on_claim(self, key: str, unit: dict[str, Any], body: dict[str, Any]) -> None:
        if unit["state"] != "idle":
            raise HttpError(409, "taken", "the unit is taken")
        unit["state"] = "busy"
        self.book.claimed(key)

    def submit(self, request: Request) -> Response:
        return self.handle_with(request, self.on_submit, guarded=True)

    def on_submit(self, key: str, unit: dict[str, Any], body: dict[str, Any]) -> None:
        if text(body, "payload") != unit["text"].upper():
            raise HttpError(422, "wrong_payload", "this is not the text in capitals")
        if unit["state"] != "busy":
            raise HttpError(409, "not_busy", "the unit is not being worked on")
        unit["state"] = "delivered"

    def complete(self, request: Request) -> Response:
        return self.handle_with(request, self.on_complete, guarded=True)

    def on_complete(self, key: str, unit: dict[str, Any], body: dict[str, Any]) -> None:
        if unit["state"] != "delivered":
            raise HttpError(409, "not_delivered", "nothing has been delivered")
        unit["state"] = "settled"
        self.book.pay(key, unit["fee"])
