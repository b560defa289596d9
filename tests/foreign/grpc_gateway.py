"""A Go service behind grpc-gateway: protojson, and protoc-gen-validate's words.

Codes are gRPC's numbers. A name that the message does not have is told by the parser,
`proto: (line 1:2): unknown field "task_id"`; what is empty by the validator, `invalid
AcquireRequest.WorkUnitId: value length must be at least 1 runes`, with Go's names. int64
arrives as a string, states are constants of an enum, the next page has a token. A
completion is an operation that is done only when it was asked for again.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

INPUTS = (
    "the stub waits by the garden wall",
    "a deadline propagates down the river",
    "unary birds sing only one song",
    "stream the soup into twelve bowls",
    "the buffer was flushed at midnight",
    "metadata travels in the top pocket",
    "reflect the lamp in both mirrors",
    "the gateway opens toward the orchard",
    "interceptors knit beside the door",
    "marshal the geese across the road",
    "keep the channel warm until spring",
    "a proto loaf rises without yeast",
)
PAGE = 5
OPEN, ACQUIRED, UPLOADED, SETTLED = (
    f"WORK_UNIT_STATE_{word}" for word in ("OPEN", "ACQUIRED", "UPLOADED", "SETTLED")
)
POLLS = 2
JSON_KINDS = {int: "number", list: "[", dict: "{", bool: "bool"}


class StatusError(Exception):
    def __init__(self, http: int, code: int, message: str) -> None:
        super().__init__(message)
        self.http, self.code, self.message = http, code, message


def go(name: str) -> str:
    return name[0].upper() + name[1:]


def parsed(body: Any, message: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Parse as protojson does, then validate."""
    if not isinstance(body, dict):
        raise StatusError(400, 3, "proto: syntax error (line 1:1): unexpected token [")
    known = {spelled: name for name in fields for spelled in (name, snake(name))}
    found: dict[str, Any] = {}
    for spelled, value in body.items():
        name = known.get(spelled)
        if name is None:
            raise StatusError(
                400,
                3,
                f'proto: (line 1:{len(found) * 9 + 2}): unknown field "{spelled}"',
            )
        if isinstance(fields[name], dict):
            if not isinstance(value, dict):
                words = (
                    f"proto: syntax error (line 1:2): unexpected token {value!r:.20}"
                )
                raise StatusError(400, 3, words)
            found[name] = embedded(value, message, name, fields[name])
        elif not isinstance(value, str):
            kind = JSON_KINDS.get(type(value), "null")
            words = f"proto: (line 1:2): invalid value for string field {name}: {kind}"
            raise StatusError(400, 3, words)
        else:
            found[name] = value
    for name, inside in fields.items():
        if isinstance(inside, dict) and name not in found:
            words = f"invalid {message}.{go(name)}: value is required"
            raise StatusError(400, 3, words)
        if not found.get(name):
            words = "value length must be at least 1 runes"
            raise StatusError(400, 3, f"invalid {message}.{go(name)}: {words}")
    return found


def embedded(value: Any, message: str, name: str, fields: dict[str, Any]) -> Any:
    """Parse a message in a message, whose faults are told with where it is."""
    try:
        return parsed(value, go(name), fields)
    except StatusError as no:
        if not no.message.startswith("invalid "):
            raise
        words = "embedded message failed validation | caused by: "
        told = f"invalid {message}.{go(name)}: {words}{no.message}"
        raise StatusError(400, 3, told) from no


def snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


class GrpcGateway(Backend):
    """Twelve work units."""

    def __init__(self) -> None:
        super().__init__()
        self.units = {secrets.token_urlsafe(9): text for text in INPUTS}
        self.price = {unit: n % 3 + 1 for n, unit in enumerate(self.units)}
        self.state = dict.fromkeys(self.units, OPEN)
        self.leases: dict[str, str] = {}  # lease -> unit
        self.polls = dict.fromkeys(self.units, 0)
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.units)

    def missing(self, request: Request) -> Response:
        return Response(404, {"code": 5, "message": "Not Found", "details": []})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = secrets.token_urlsafe(9), secrets.token_urlsafe(32)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def view(self, unit: str) -> dict[str, Any]:
        return {
            "workUnitId": unit,
            "state": self.state[unit],
            "prompt": self.units[unit],
            "priceCredits": str(self.price[unit]),
        }

    def tasks(self, request: Request) -> Response:
        start = int(request.query.get("pageToken", "p0")[1:] or 0)
        every = [*self.units]
        more = start + PAGE < len(every)
        return Response(
            200,
            {
                "workUnits": [self.view(one) for one in every[start : start + PAGE]],
                "nextPageToken": f"p{start + PAGE}" if more else "",
                "totalSize": len(every),
            },
        )

    def answered(
        self, request: Request, message: str, fields: dict[str, Any], run: Any
    ) -> Response:
        try:
            if request.token not in self.agents:
                raise StatusError(401, 16, "missing bearer token")
            body = parsed(request.json(), message, fields)
            return Response(200, run(body))
        except StatusError as no:
            body = {"code": no.code, "message": no.message, "details": []}
            return Response(no.http, body)

    def leased(self, body: dict[str, Any]) -> str:
        unit = self.leases.get(body["leaseId"])
        if unit is None:
            raise StatusError(404, 5, "lease not found")
        return unit

    def claim(self, request: Request) -> Response:
        fields = {"workUnitId": str}
        return self.answered(request, "AcquireRequest", fields, self.on_claim)

    def on_claim(self, body: dict[str, Any]) -> Any:
        unit = body["workUnitId"]
        if unit not in self.units:
            raise StatusError(404, 5, "work unit not found")
        if self.state[unit] != OPEN:
            raise StatusError(409, 9, "work unit is not open")
        self.state[unit] = ACQUIRED
        lease = f"lease-{secrets.token_hex(6)}"
        self.leases[lease] = unit
        self.book.claimed(unit)
        return {"lease": {"leaseId": lease, "workUnit": self.view(unit)}}

    def submit(self, request: Request) -> Response:
        fields: dict[str, Any] = {"leaseId": str, "payload": {"text": str}}
        return self.answered(request, "UploadRequest", fields, self.on_submit)

    def on_submit(self, body: dict[str, Any]) -> Any:
        unit = self.leased(body)
        if body["payload"]["text"] != self.units[unit].upper():
            raise StatusError(409, 9, "the payload was not accepted")
        if self.state[unit] == ACQUIRED:
            self.state[unit] = UPLOADED
        return {"workUnit": self.view(unit)}

    def complete(self, request: Request) -> Response:
        fields = {"leaseId": str}
        return self.answered(request, "SettleRequest", fields, self.on_complete)

    def on_complete(self, body: dict[str, Any]) -> Any:
        unit = self.leased(body)
        if self.state[unit] == ACQUIRED:
            raise StatusError(409, 9, "nothing was uploaded")
        self.polls[unit] += 1
        name = f"operations/settle-{body['leaseId']}"
        if self.polls[unit] <= POLLS:
            return {"name": name, "done": False, "metadata": {"step": "auditing"}}
        if unit not in self.book.paid:
            self.book.pay(unit, self.price[unit])
            self.state[unit] = SETTLED
        answer = {"workUnit": self.view(unit), "creditsPaid": str(self.price[unit])}
        return {"name": name, "done": True, "response": answer}
