"""A Micronaut service that speaks HAL: _embedded, _links, and errors inside of both.

`{"_embedded": {"errors": [{"message": "command.reservation: must not be null"}]}}`. A task
has no identifier but its self link and a number; its links say what may be done. A claim
is a reservation, which both other steps are about, and names the agent. A busy service
answers 503 and tells in X-Retry-In-Ms for how long.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BODIES = (
    "the kettle and the crow agree on noon",
    "hang the lantern where the path forks",
    "a small bell for the smaller goat",
    "the ferryman counts in seven tongues",
    "paint the shutters before the storm",
    "nine plums and one patient wasp",
    "the cartographer erased the swamp",
    "wind the clock but mind the cuckoo",
    "the orchard gate has lost its latch",
    "two moons in the same rain barrel",
    "bring the ladder and the good news",
    "a hedgehog inspects the new doormat",
)
PAGE = 5
EVERY = 9
"""So many requests, and one finds the service busy."""


class HalError(Exception):
    def __init__(self, status: int, *messages: str) -> None:
        super().__init__(messages)
        self.status, self.messages = status, messages


class MicronautHal(Backend):
    """Twelve orders."""

    def __init__(self) -> None:
        super().__init__()
        self.orders = {7001 + 3 * n: body for n, body in enumerate(BODIES)}
        self.worth = {order: n % 4 + 2 for n, order in enumerate(self.orders)}
        self.reserved: dict[int, int] = {}  # order -> reservation
        self.delivered: set[int] = set()
        self.agents: dict[str, str] = {}
        self.seen = 0

    def texts(self) -> dict[str, str]:
        return {str(order): body for order, body in self.orders.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"ag-{secrets.token_hex(5)}", secrets.token_hex(24)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [order for order in self.orders if order not in self.reserved]
        page = int(request.query.get("page", "0") or 0)
        shown = free[page * PAGE : (page + 1) * PAGE]
        links = {"self": {"href": f"{request.path}?page={page}"}}
        if (page + 1) * PAGE < len(free):
            links["next"] = {"href": f"{request.path}?page={page + 1}"}
        return Response(
            200,
            {
                "_embedded": {"orders": [self.view(order) for order in shown]},
                "_links": links,
                "page": {"size": PAGE, "number": page, "totalElements": len(free)},
            },
        )

    def view(self, order: int) -> dict[str, Any]:
        return {
            "orderNumber": order,
            "body": self.orders[order],
            "worth": f"{self.worth[order]} credits",
            "_links": {
                "self": {"href": f"/orders/{order}"},
                "claim": {"href": "/functions/v1/claim-task-public"},
            },
        }

    def answered(self, request: Request, run: Any) -> Response:
        if request.token not in self.agents:
            return Response(401, "")
        self.seen += 1
        if self.seen % EVERY == 0:
            return Response(503, {"message": "Busy"}, {"X-Retry-In-Ms": "400"})
        try:
            body = request.json()
            if not isinstance(body, dict):
                raise HalError(400, "Required Body [command] not specified")
            return Response(200, run(body))
        except HalError as no:
            errors = [{"message": one} for one in no.messages]
            links = {"self": {"href": request.path, "templated": False}}
            return Response(
                no.status,
                {"_links": links, "_embedded": {"errors": errors}, "message": "Error"},
            )

    def wanted(self, body: dict[str, Any], **fields: type) -> None:
        told = []
        for name, kind in fields.items():
            if body.get(name) is None:
                told.append(f"command.{name}: must not be null")
            elif not isinstance(body[name], kind):
                java = {int: "long", str: "java.lang.String"}[kind]
                told.append(
                    f"Failed to convert argument [{name}] for value [{body[name]}] due "
                    f"to: cannot deserialize to type {java}"
                )
        if told:
            raise HalError(400, *told)

    def reservation(self, body: dict[str, Any]) -> int:
        for order, reservation in self.reserved.items():
            if reservation == body["reservation"]:
                return order
        raise HalError(404, "Page Not Found")

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, body: dict[str, Any]) -> Any:
        self.wanted(body, orderNumber=int, agent=str)
        order = body["orderNumber"]
        if order not in self.orders:
            raise HalError(404, "Page Not Found")
        if order in self.reserved:
            raise HalError(409, "order is reserved")
        self.reserved[order] = 310 + len(self.reserved)
        self.book.claimed(str(order))
        return {
            "reservation": self.reserved[order],
            "_embedded": {"order": self.view(order)},
            "_links": {"submit": {"href": "/functions/v1/submit-task-result-public"}},
        }

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, body: dict[str, Any]) -> Any:
        self.wanted(body, reservation=int, product=str)
        order = self.reservation(body)
        if body["product"] != self.orders[order].upper():
            raise HalError(409, "the product is not what was ordered")
        self.delivered.add(order)
        return {"reservation": body["reservation"], "state": "DELIVERED"}

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, body: dict[str, Any]) -> Any:
        self.wanted(body, reservation=int)
        order = self.reservation(body)
        if order not in self.delivered:
            raise HalError(409, "nothing was delivered")
        if str(order) not in self.book.paid:
            self.book.pay(str(order), self.worth[order])
        return {"reservation": body["reservation"], "state": "PAID"}
