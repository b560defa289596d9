"""Javalin in Kotlin with its BodyValidator: keys in capitals where others have sentences.

{"taskId": [{"message": "NULLCHECK_FAILED", "args": {}, "value": null}]} is a refusal, and
`REQUEST_BODY: DESERIALIZATION_FAILED` what Jackson could not bind, with the request as its
value; no name is in that. A delivery has an id, by which it is confirmed.
"""

import itertools
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CANDLES = (
    "wax pools around the brass cup",
    "the wick leans toward the draught",
    "nine candles for a missing lamp",
    "smoke writes a short farewell",
    "the snuffer hangs by the mirror",
    "light travels slowly at supper",
    "a flame counts the quiet hours",
)


def no(status: int, title: str) -> Response:
    about = "https://javalin.io/documentation#default-responses"
    return Response(
        status, {"title": title, "status": status, "type": about, "details": {}}
    )


class Javalin(Backend):
    """Seven candles."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {
            n: {"id": n, "content": text, "price": n % 3 + 1, "status": "NEW"}
            for n, text in enumerate(CANDLES, start=61)
        }
        self.deliveries: dict[int, int] = {}
        self.numbers = itertools.count(40_001)
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {str(number): row["content"] for number, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return no(404, "Endpoint POST not found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        self.agents.add(token)
        agent = f"a-{secrets.token_hex(4)}"
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "NEW"]
        return Response(200, found)

    marketplace = tasks

    def validated(
        self, request: Request, shape: dict[str, type]
    ) -> tuple[Response | None, dict[str, Any]]:
        """Return a refusal, or the body."""
        if request.token not in self.agents:
            return no(401, "Unauthorized"), {}
        try:
            body = request.json()
        except ValueError:
            body = None
        unread = not isinstance(body, dict) or any(
            (kind is int and not str(body.get(name) or 0).isdigit())
            or isinstance(body.get(name), dict | list)
            for name, kind in shape.items()
        )
        if unread:
            words = "DESERIALIZATION_FAILED"
            fault = {"message": words, "args": {}, "value": request.raw.decode()}
            return Response(400, {"REQUEST_BODY": [fault]}), {}
        faults: dict[str, Any] = {
            name: [{"message": "NULLCHECK_FAILED", "args": {}, "value": None}]
            for name in shape
            if body.get(name) is None
        }
        return (Response(400, faults) if faults else None), body

    def claim(self, request: Request) -> Response:
        refusal, body = self.validated(request, {"taskId": int})
        if refusal:
            return refusal
        row = self.rows.get(int(body["taskId"]))
        if row is None:
            return no(404, "Task not found")
        if row["status"] != "NEW":
            return no(409, "Task is taken")
        row["status"] = "TAKEN"
        self.book.claimed(str(row["id"]))
        return Response(200, row)

    def submit(self, request: Request) -> Response:
        shape = {"taskId": int, "deliverable": str}
        refusal, body = self.validated(request, shape)
        if refusal:
            return refusal
        row = self.rows.get(int(body["taskId"]))
        if row is None:
            return no(404, "Task not found")
        if row["status"] != "TAKEN":
            return no(409, "Task is not taken")
        if body["deliverable"] != row["content"].upper():
            return no(422, "Deliverable rejected")
        row["status"] = "DELIVERED"
        number = next(self.numbers)
        self.deliveries[number] = row["id"]
        return Response(201, {"deliveryId": number, "status": "DELIVERED"})

    def complete(self, request: Request) -> Response:
        refusal, body = self.validated(request, {"deliveryId": int})
        if refusal:
            return refusal
        number = self.deliveries.get(int(body["deliveryId"]))
        if number is None:
            return no(404, "Delivery not found")
        row = self.rows[number]
        if row["status"] == "DELIVERED":
            row["status"] = "PAID"
            self.book.pay(str(row["id"]), row["price"])
        return Response(200, row)
