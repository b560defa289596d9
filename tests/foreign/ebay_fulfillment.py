"""A partner API in the manner of eBay's Sell APIs.

camelCase, order numbers in three groups, money as {"value", "currency"} with a string in
it, collections with href/total/limit/offset/next, errors as a list of errorId, domain,
category, message, longMessage and parameters. A shipping fulfillment is created with 201,
an empty body and a Location whose last segment is its id.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import itertools
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

_ORDERS = [  # order, line item, title, credits, text
    (
        "04-11873-20415",
        "10036412890104",
        "Vintage enamel sign",
        35,
        "mind the step, fresh paint",
    ),
    (
        "04-11873-20488",
        "10036412890221",
        "Brass nameplate",
        20,
        "office of miss adeline porter",
    ),
    (
        "11-09340-77120",
        "10036412891007",
        "Leather patch",
        55,
        "northern ramblers, est. 1974",
    ),
    (
        "11-09340-77153",
        "10036412891189",
        "Printed banner",
        15,
        "summer fair on the green",
    ),
    (
        "17-12206-30941",
        "10036412892365",
        "Engraved dog tag",
        40,
        "biscuit - call 555-0142",
    ),
    (
        "17-12206-31002",
        "10036412892440",
        "Greeting card",
        25,
        "with love from number nine",
    ),
]


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, error: dict[str, Any]) -> None:
        self.response = Response(status, {"errors": [error]})


def _no(
    error_id: int,
    message: str,
    long: str = "",
    status: int = 400,
    domain: str = "",
    **named: str,
) -> _Refusal:
    error: dict[str, Any] = {
        "errorId": error_id,
        "domain": domain or "API_FULFILLMENT",
        "category": "BUSINESS" if status == 409 else "REQUEST",
        "message": message,
        "longMessage": long or message,
    }
    if named:
        error["parameters"] = [{"name": n, "value": v} for n, v in named.items()]
    return _Refusal(status, error)


def _invalid(reason: str) -> _Refusal:
    long = "The request has errors. For help, see the documentation for this API."
    return _no(2004, "Invalid request", long, domain="ACCESS", reason=reason)


def _string(body: dict[str, Any], name: str) -> str:
    if body.get(name) is None:
        raise _invalid(f"Missing required field [{name}]")
    if not isinstance(body[name], str):
        raise _invalid(f"Could not serialize field [{name}], expected string")
    return str(body[name])


def _refusing(
    work: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    def answer(self: Any, request: Request) -> Response:
        try:
            return work(self, request)
        except _Refusal as refusal:
            return refusal.response

    return answer


class EbaySelling(Backend):
    """The seller's side of a marketplace: accept an order, fulfill it, have it paid out."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agent
        self._owner: dict[str, str] = {}  # order -> agent
        self._fulfillment: dict[str, str] = {}  # order -> fulfillment
        self._next = itertools.count(940550969993)
        self._orders = {
            order: {"line": line, "title": title, "pay": pay, "text": text}
            for order, line, title, pay, text in _ORDERS
        }

    def texts(self) -> dict[str, str]:
        return {order: record["text"] for order, record in self._orders.items()}

    def missing(self, request: Request) -> Response:
        return _no(2002, "Resource not found", status=404, domain="ACCESS").response

    def _status(self, order: str) -> str:
        if order in self.book.paid:
            return "FULFILLED"
        return "IN_PROGRESS" if order in self._owner else "NOT_STARTED"

    def _money(self, order: str) -> dict[str, str]:
        return {"value": f"{self._orders[order]['pay']}.0", "currency": "CREDITS"}

    def _record(self, order: str) -> dict[str, Any]:
        record = self._orders[order]
        title = f"{record['title']}: personalization text in capitals"
        line = {"lineItemId": record["line"], "title": title, "quantity": 1}
        return {
            "orderId": order,
            "creationDate": "2025-11-03T08:15:22.000Z",
            "orderFulfillmentStatus": self._status(order),
            "orderPaymentStatus": "PAID" if order in self.book.paid else "PENDING",
            "pricingSummary": {"total": self._money(order)},
            "buyer": {"username": f"buyer_{record['line'][-4:]}"},
            "personalizationText": record["text"],
            "lineItems": [line],
            "fulfillmentStartInstructions": [
                {"fulfillmentInstructionsType": "DIGITAL"}
            ],
        }

    def _agent(self, request: Request) -> str:
        where = "the Authorization HTTP request header."
        if not request.token:
            long = f"Access token is missing in {where}"
            raise _no(1002, "Missing access token", long, 401, "OAuth")
        if request.token not in self._agents:
            long = f"Invalid access token. Check the value of {where}"
            raise _no(1001, "Invalid access token", long, 401, "OAuth")
        return self._agents[request.token]

    def _start(self, request: Request) -> tuple[str, str, dict[str, Any]]:
        """Return the agent, the order it names and the body."""
        agent = self._agent(request)
        try:
            body = request.json()
        except ValueError:
            raise _invalid("Could not parse the request body as JSON") from None
        if not isinstance(body, dict):
            raise _invalid("The request body should be a JSON object")
        order = _string(body, "orderId")
        if order not in self._orders:
            raise _no(32100, f"Invalid order ID: {order}", status=404, orderId=order)
        if self._owner.get(order, agent) != agent:
            raise _no(
                32130,
                "The order was accepted by another seller.",
                status=409,
                orderId=order,
            )
        return agent, order, body

    def _held(self, request: Request) -> tuple[str, dict[str, Any]]:
        _, order, body = self._start(request)
        if order not in self._owner:
            raise _no(
                32140, "The order has not been accepted.", status=409, orderId=order
            )
        if order in self.book.paid:
            raise _no(
                32150, "The order is already fulfilled.", status=409, orderId=order
            )
        return order, body

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = f"seller-{self.book.registrations:05d}"
        token = f"v^1.1#i^1#p^3#f^0#r^0#t^H4sI{self.book.registrations:08d}"
        self._agents[token] = agent
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(
            body={**answer, "token_type": "User Access Token", "expires_in": 7200}
        )

    def _page(self, request: Request, orders: list[str]) -> Response:
        numbers = {"limit": 50, "offset": 0}
        for name, low in (("limit", 1), ("offset", 0)):
            value = request.query.get(name, str(numbers[name]))
            number = int(value) if value.isascii() and value.isdigit() else -1
            if not low <= number <= (200 if name == "limit" else 10**6):
                range_ = "from 1 to 200" if name == "limit" else "not less than 0"
                long = f"The value of {name} should be an integer {range_}."
                raise _no(30810, f"Invalid {name}: {value}", long, **{name: value})
            numbers[name] = number
        limit, offset = numbers["limit"], numbers["offset"]
        here = f"{request.base}{request.path}?"
        body: dict[str, Any] = {
            "href": here + urlencode(numbers),
            "total": len(orders),
            **numbers,
        }
        if offset + limit < len(orders):
            body["next"] = here + urlencode({"limit": limit, "offset": offset + limit})
        body["orders"] = [self._record(o) for o in orders[offset : offset + limit]]
        return Response(body=body)

    @_refusing
    def tasks(self, request: Request) -> Response:
        agent = self._agent(request)
        mine = [o for o in self._orders if self._owner.get(o, agent) == agent]
        return self._page(request, [o for o in mine if o not in self.book.paid])

    @_refusing
    def marketplace(self, request: Request) -> Response:
        return self._page(request, [o for o in self._orders if o not in self._owner])

    def agents(self, request: Request) -> Response:
        sellers = [{"sellerId": agent} for agent in self._agents.values()]
        return Response(body={"total": len(sellers), "sellers": sellers})

    directory = agents

    @_refusing
    def claim(self, request: Request) -> Response:
        agent, order, _ = self._start(request)
        if order in self._owner:
            raise _no(
                32135, "The order was already accepted.", status=409, orderId=order
            )
        self._owner[order] = agent
        self.book.claimed(order)
        return Response(body=self._record(order))

    @_refusing
    def submit(self, request: Request) -> Response:
        order, body = self._held(request)
        lines = body.get("lineItems")
        if lines is None:
            raise _invalid("Missing required field [lineItems]")
        if not isinstance(lines, list) or not all(isinstance(x, dict) for x in lines):
            shape = "array of {lineItemId: string, quantity: integer}"
            raise _invalid(f"Could not serialize field [lineItems], expected {shape}")
        if not lines or any("lineItemId" not in line for line in lines):
            raise _invalid("Missing required field [lineItems.lineItemId]")
        for line in lines:
            given, quantity = str(line["lineItemId"]), line.get("quantity", 1)
            if given != self._orders[order]["line"]:
                long = "The line item does not belong to the order."
                raise _no(
                    32210, f"Invalid line item ID: {given}", long, lineItemId=given
                )
            if quantity != 1:
                long = "The quantity should match the line item."
                raise _no(32220, "Invalid quantity", long, quantity=str(quantity))
        text = _string(body, "deliveredContent")
        if text != self._orders[order]["text"].upper():
            long = "The delivered content is not the personalization text in capitals."
            raise _no(32250, "The delivered content was rejected.", long, orderId=order)
        fulfillment = self._fulfillment.setdefault(order, str(next(self._next)))
        place = f"{request.base}/functions/v1/order/{order}/shipping_fulfillment/"
        return Response(201, b"", {"Location": place + fulfillment})

    @_refusing
    def complete(self, request: Request) -> Response:
        order, body = self._held(request)
        if order not in self._fulfillment:
            raise _no(
                32160,
                "The order has no shipping fulfillment.",
                status=409,
                orderId=order,
            )
        if body.get("fulfillmentId") is None:
            where = (
                "the last segment of the Location header of the shipping fulfillment"
            )
            raise _invalid(f"Missing required field [fulfillmentId], {where}")
        given = str(body["fulfillmentId"])
        if given != self._fulfillment[order]:
            raise _no(32110, f"Invalid fulfillment ID: {given}", fulfillmentId=given)
        self.book.pay(order, self._orders[order]["pay"])
        payout = {"amount": self._money(order), "payoutStatus": "SUCCEEDED"}
        return Response(body={**self._record(order), "payout": payout})

    def post(self, request: Request) -> Response:
        long = "Insufficient permissions to fulfill the request."
        return _no(1100, "Access denied", long, 403, "ACCESS").response

    def checkout(self, request: Request) -> Response:
        return Response(body={"ok": False, "mode": "unavailable"})
