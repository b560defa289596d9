"""A C# minimal API without a validator: a sentence for the first thing that is wrong.

Names are Pascal case, since the naming policy was set to null; they are read without case.
Refusals are plain text. What cannot be bound is a 400 with no body. Handing in an answer
makes a receipt, whose number completing asks for.
"""

import itertools
import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

SOURCES = (
    "the gazette prints on thin paper",
    "an umbrella leaned against the safe",
    "the clerk stamps both copies",
    "seven ledgers and one lamp",
    "the window opens onto the yard",
    "count the coins before the bell",
    "a draught turned the page",
    "the typewriter lacks an e",
    "lock the drawer and hide the key",
    "the courier prefers the back stairs",
)


class BindingError(Exception):
    """The body is not what the parameter's type needs."""


class MinimalApi(Backend):
    """Ten tasks of a small office."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, int] = {}
        self.receipts: dict[int, int] = {}
        self.numbers = itertools.count(500_017)
        self.entries: dict[int, Json] = {
            n: {
                "Id": n,
                "Kind": "Uppercase",
                "Source": text,
                "Fee": n % 4 + 2,
                "State": "Free",
                "Holder": None,
            }
            for n, text in enumerate(SOURCES, 7040)
        }

    def texts(self) -> dict[str, str]:
        return {str(n): one["Source"] for n, one in self.entries.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16).upper()
        self.agents[token] = self.book.registrations
        told = {"agent_id": f"A{self.agents[token]}", "access_token": token}
        return Response(200, told | {"credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [one for one in self.entries.values() if one["State"] == "Free"]
        limit = request.query.get("limit", "")
        shown = free[: int(limit)] if limit.isdigit() else free
        return Response(200, {"Total": len(free), "Items": shown})

    def call(self, request: Request, step: Callable[[Json], Response]) -> Response:
        if request.token not in self.agents:
            return Response(401, "")
        try:
            body = request.json()
            return step({name.lower(): value for name, value in body.items()})
        except (ValueError, AttributeError, BindingError):
            return Response(400, "")

    def number(self, body: Json, name: str) -> int:
        """Return a member bound to an int; absent is 0, and text of digits is read."""
        value = body.get(name, 0)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise BindingError
        return value

    def no(self, status: int, words: str) -> Response:
        return Response(status, words, {"Content-Type": "text/plain; charset=utf-8"})

    def claim(self, request: Request) -> Response:
        return self.call(request, self.on_claim)

    def on_claim(self, body: Json) -> Response:
        reference = self.number(body, "taskreference")
        if not reference:
            return self.no(400, "Task reference must be supplied.")
        if reference not in self.entries:
            return self.no(404, "Task not found.")
        one = self.entries[reference]
        if one["State"] != "Free":
            return self.no(409, "Task is taken.")
        one["State"], one["Holder"] = "Taken", "you"
        self.book.claimed(str(reference))
        return Response(200, one)

    def submit(self, request: Request) -> Response:
        return self.call(request, self.on_submit)

    def on_submit(self, body: Json) -> Response:
        reference, answer = self.number(body, "taskreference"), body.get("answer")
        if answer is not None and not isinstance(answer, str):
            raise BindingError
        if not reference:
            return self.no(400, "Task reference must be supplied.")
        if not (answer or "").strip():
            return self.no(400, "An answer must be supplied.")
        one = self.entries.get(reference)
        if not one:
            return self.no(404, "Task not found.")
        if one["State"] == "Free":
            return self.no(409, "Task is not yours.")
        if answer != one["Source"].upper():
            return self.no(422, "Answer is wrong.")
        known = [n for n, task in self.receipts.items() if task == reference]
        receipt = known[0] if known else next(self.numbers)
        self.receipts[receipt] = reference
        if one["State"] == "Taken":
            one["State"] = "Answered"
        return Response(200, {"TaskReference": reference, "ReceiptNumber": receipt})

    def complete(self, request: Request) -> Response:
        return self.call(request, self.on_complete)

    def on_complete(self, body: Json) -> Response:
        reference = self.number(body, "taskreference")
        receipt = self.number(body, "receiptnumber")
        if not reference:
            return self.no(400, "Task reference must be supplied.")
        if not receipt:
            return self.no(400, "Receipt number must be supplied.")
        if self.receipts.get(receipt) != reference:
            return self.no(400, "Receipt number does not match task.")
        one = self.entries[reference]
        if one["State"] != "Settled":
            one["State"] = "Settled"
            self.book.pay(str(reference), one["Fee"])
        return Response(200, {"Settled": True, "Fee": one["Fee"]})
