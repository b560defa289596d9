"""A Kotlin service on Spring WebFlux: problem+json with violations, leases, a Flux of rows.

Members are nullable, so that what is missing is a violation; what cannot be bound at all is
"Failed to read HTTP message" and no more. A lease holds a work order; its token goes with
the result. A result names its media type. Completing takes the order again, and not the lease.
"""

import re
import secrets
import uuid
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

DETAILS = (
    "replace the bulb in the north stair",
    "oil the hinges of the garden gate",
    "the boiler hums in b flat",
    "read the meter behind the piano",
    "bleed the radiators on floor two",
    "a pigeon nests in the air intake",
    "paint the railing before the rain",
    "tighten the bolts on the swing",
    "the lift stops between two thoughts",
    "sweep the leaves from the drain",
    "find the key to the fuse box",
    "the doorbell rings in the cellar",
    "measure the draught under the door",
)
PROBLEM = {"Content-Type": "application/problem+json"}
MEDIA_TYPE = "[a-z]+/[a-z0-9.+-]+"


class Unreadable(Exception):  # noqa: N818 - a decoder's failure
    """Jackson could not bind the body."""


def text_of(body: Json, name: str) -> str | None:
    """Return a member as Jackson binds it to a String?."""
    value = body.get(name)
    if isinstance(value, dict | list):
        raise Unreadable
    return value if value is None or isinstance(value, str) else str(value).lower()


def uuid_of(body: Json, name: str) -> str | None:
    """Return a member as Jackson binds it to a UUID?."""
    value = body.get(name)
    if value is None:
        return None
    try:
        return str(uuid.UUID(value))
    except (ValueError, TypeError, AttributeError) as fault:
        raise Unreadable from fault


class WebFlux(Backend):
    """Thirteen work orders."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.orders: dict[str, Json] = {}
        for n, details in enumerate(DETAILS):
            one = str(uuid.UUID(int=secrets.randbits(128), version=4))
            self.orders[one] = {
                "workOrderId": one,
                "number": f"WO-{n + 2200}",
                "category": "TEXT",
                "details": details,
                "compensation": {"value": n % 3 + 1.0, "unit": "CREDITS"},
                "phase": "RELEASED",
                "version": 0,
            }
        self.leases: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {one: order["details"] for one, order in self.orders.items()}

    def problem(self, status: int, title: str, detail: str, **more: Any) -> Response:
        told = {"type": "about:blank", "title": title, "status": status}
        return Response(status, told | {"detail": detail, **more}, PROBLEM)

    def missing(self, request: Request) -> Response:
        return self.problem(404, "Not Found", "No static resource.")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(40)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [one for one in self.orders.values() if one["phase"] == "RELEASED"]
        limit = request.query.get("limit", "")
        return Response(200, free[: int(limit)] if limit.isdigit() else free)

    def call(self, request: Request, step: Callable[[Json], Response]) -> Response:
        if request.token not in self.agents:
            return Response(401, "", {"WWW-Authenticate": "Bearer"})
        try:
            body = request.json()
            if isinstance(body, dict):
                return step(body)
        except (ValueError, Unreadable):
            pass
        return self.problem(400, "Bad Request", "Failed to read HTTP message")

    def invalid(self, violations: list[tuple[str, str]]) -> Response:
        told = [{"field": name, "message": words} for name, words in violations]
        detail = "Invalid request content."
        return self.problem(400, "Bad Request", detail, violations=told)

    def claim(self, request: Request) -> Response:
        return self.call(request, self.on_claim)

    def on_claim(self, body: Json) -> Response:
        one = uuid_of(body, "workOrderId")
        minutes = body.get("leaseMinutes")
        violations = [] if one else [("workOrderId", "must not be null")]
        if minutes is None:
            violations.append(("leaseMinutes", "must not be null"))
        elif isinstance(minutes, bool) or not isinstance(minutes, int):
            raise Unreadable
        elif not 1 <= minutes <= 60:
            bound = "less" if minutes > 60 else "greater"
            violations.append(
                (
                    "leaseMinutes",
                    f"must be {bound} than or equal to {60 if minutes > 60 else 1}",
                )
            )
        if violations:
            return self.invalid(violations)
        if one not in self.orders:
            return self.problem(404, "Not Found", f"Work order {one} does not exist")
        order = self.orders[one]
        if order["phase"] != "RELEASED":
            return self.problem(409, "Conflict", f"Work order {one} is leased")
        order["phase"], order["version"] = "LEASED", 1
        lease = str(uuid.uuid4())
        self.leases[lease] = one
        self.book.claimed(one)
        told = {"workOrderId": one, "leaseToken": lease, "phase": "LEASED"}
        return Response(200, told)

    def submit(self, request: Request) -> Response:
        return self.call(request, self.on_submit)

    def on_submit(self, body: Json) -> Response:
        lease = uuid_of(body, "leaseToken")
        result: Any = body.get("result")
        violations = [] if lease else [("leaseToken", "must not be null")]
        if result is None:
            violations.append(("result", "must not be null"))
        elif not isinstance(result, dict):
            raise Unreadable
        else:
            media, content = text_of(result, "mediaType"), text_of(result, "content")
            if not media:
                violations.append(("result.mediaType", "must not be blank"))
            elif not re.fullmatch(MEDIA_TYPE, media):
                words = f'must match "{MEDIA_TYPE}"'
                violations.append(("result.mediaType", words))
            if not content:
                violations.append(("result.content", "must not be blank"))
        if violations:
            return self.invalid(violations)
        if lease not in self.leases:
            return self.problem(404, "Not Found", "The lease does not exist")
        order = self.orders[self.leases[lease]]
        if result["content"] != order["details"].upper():
            return self.problem(422, "Unprocessable Content", "The result is wrong")
        if order["phase"] == "LEASED":
            order["phase"] = "DELIVERED"
        return Response(
            202, {"workOrderId": order["workOrderId"], "phase": "DELIVERED"}
        )

    def complete(self, request: Request) -> Response:
        return self.call(request, self.on_complete)

    def on_complete(self, body: Json) -> Response:
        if not (one := uuid_of(body, "workOrderId")):
            return self.invalid([("workOrderId", "must not be null")])
        if one not in self.orders:
            return self.problem(404, "Not Found", f"Work order {one} does not exist")
        order = self.orders[one]
        if order["phase"] not in {"DELIVERED", "CLOSED"}:
            return self.problem(409, "Conflict", "Work order was not delivered")
        if order["phase"] == "DELIVERED":
            order["phase"] = "CLOSED"
            self.book.pay(one, int(order["compensation"]["value"]))
        return Response(200, order)
