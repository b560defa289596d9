"""A gateway that turns an old XML service's documents into JSON, as xml2js does it.

Attributes stand under "$", a text that has attributes beside it under "_", and every
element is a list, also where there can only be one. The identifier and the state of an
order are attributes, its fee an element with a currency. Actions take plain JSON, and the
gateway makes the XML.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
ROWS = (
    ("WO-00310", "grease the third hinge", 5),
    ("WO-00311", "read the meter in the cellar", 3),
    ("WO-00313", "the valve turns to the left", 8),
    ("WO-00316", "the key hangs by the door", 2),
    ("WO-00317", "bleed the radiators twice", 6),
    ("WO-00320", "note the number on the pump", 4),
)


@dataclass
class Order:
    id: str
    text: str
    fee: int
    state: str = "OPEN"
    contractor: str = ""
    report: str = ""

    def shown(self) -> dict[str, object]:
        more = {"contractor": [self.contractor]} if self.contractor else {}
        return {
            "$": {"id": self.id, "state": self.state, "revision": "3"},
            "headline": [f"Order {self.id[-3:]}"],
            "instruction": [self.text],
            "fee": [{"_": f"{self.fee}.00", "$": {"currency": "CREDIT"}}],
            "site": [{"street": ["Mill Lane 4"], "town": ["Harrow"]}],
            **more,
        }


class FaultError(Exception):
    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__(text)
        fault = {"$": {"code": code}, "reason": [text]}
        self.response = Response(status, {"fault": fault})


def telling(action: Action) -> Action:
    """Answer with the fault where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except FaultError as no:
            return no.response

    return answer


class XmlGateway(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Order(*row) for row in ROWS]
        self._open = {order.id: order for order in open_}
        old = [
            Order("WO-00298", "sweep the yard", 3, "INVOICED", "C-12"),
            Order("WO-00305", "paint the fence", 9, "ASSIGNED", "C-12"),
        ]
        self._orders = {order.id: order for order in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {order.id: order.text for order in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"C-{60 + self.book.registrations}", secrets.token_hex(20)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        orders = [order.shown() for order in self._orders.values()]
        about = {"xmlns": "urn:example:orders:2", "count": str(len(orders))}
        return Response(200, {"orderList": {"$": about, "order": orders}})

    @telling
    def claim(self, request: Request) -> Response:
        agent, order, _ = self._read(request)
        if order.state != "OPEN":
            raise FaultError(409, "State", f"Order {order.id} is {order.state}")
        order.state, order.contractor = "ASSIGNED", agent
        self.book.claimed(order.id)
        return Response(200, {"order": order.shown()})

    @telling
    def submit(self, request: Request) -> Response:
        agent, order, given = self._read(request, "report")
        self._own(agent, order, "ASSIGNED")
        if given["report"] != order.text.upper():
            raise FaultError(422, "Content", "The report is not in capitals")
        order.state, order.report = "REPORTED", given["report"]
        return Response(200, {"order": order.shown()})

    @telling
    def complete(self, request: Request) -> Response:
        agent, order, _ = self._read(request)
        self._own(agent, order, "REPORTED")
        order.state = "INVOICED"
        self.book.pay(order.id, order.fee)
        return Response(200, {"order": order.shown()})

    def _own(self, agent: str, order: Order, state: str) -> None:
        if order.contractor != agent or order.state != state:
            raise FaultError(409, "State", f"Order {order.id} is {order.state}")

    def _read(self, request: Request, *more: str) -> tuple[str, Order, dict[str, str]]:
        if request.token not in self._agents:
            raise FaultError(401, "Security", "Authentication failed")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise FaultError(400, "Syntax", "The body is not an object")
        for name in ("orderId", *more):
            if not given.get(name):
                raise FaultError(400, "Schema", f"Element '{name}' is missing")
            if not isinstance(given[name], str):
                raise FaultError(400, "Schema", f"Element '{name}' is not a string")
        order = self._orders.get(given["orderId"])
        if order is None:
            raise FaultError(404, "Reference", f"There is no order {given['orderId']}")
        return self._agents[request.token], order, given
