"""A cinema chain's marquee desk: Rails (API mode, strong parameters, ActiveModel errors).

Orders for the lettered boards above the doors. The list is `marquee_orders`; an order has a
`film`, the `copy` that goes on the board and a `fee`. Every body is wrapped in the model's
root as `params.require(:marquee_order)` wants it:
claim {"marquee_order": {"id"}}, submit {"marquee_order": {"id", "board_copy"}},
complete {"marquee_order": {"id"}}; complete pays. Validation errors are 422
{"errors": {"board_copy": ["can't be blank"]}}, a missing root is 400.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS = [
    (
        5101,
        "The Last Lighthouse",
        "Roxy",
        "the last lighthouse now showing in screens one and two",
        12,
        "open",
    ),
    (
        5102,
        "Copper Moon",
        "Roxy",
        "copper moon opens friday with the director in person",
        15,
        "open",
    ),
    (
        5103,
        "Silent Comedy Night",
        "Alhambra",
        "silent comedy night with live piano every second sunday",
        10,
        "open",
    ),
    (
        5104,
        "Paper Tigers",
        "Alhambra",
        "held over by popular demand paper tigers final week",
        14,
        "posted",
    ),
    (
        5105,
        "Family Matinee",
        "Gaumont",
        "family matinee all seats half price before noon on saturday",
        9,
        "open",
    ),
    (
        5106,
        "The Orchard Thieves",
        "Gaumont",
        "the orchard thieves sold out tonight tickets left for monday",
        18,
        "open",
    ),
    (
        5107,
        "Midnight Train to Oslo",
        "Roxy",
        "midnight train to oslo one late show only bring a coat",
        11,
        "open",
    ),
]


class CinemaMarquee(Backend):
    """Rails: wrapped parameters, states open -> assigned -> drafted -> posted."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.orders: dict[Any, dict[str, Any]] = {
            number: {
                "id": number,
                "film": film,
                "theatre": theatre,
                "copy": text,
                "fee": fee,
                "status": status,
                "assignee": None if status == "open" else "ag_house",
            }
            for number, film, theatre, text, fee, status in ORDERS
        }
        self.earnable = [o["id"] for o in self.orders.values() if o["status"] == "open"]

    def texts(self) -> dict[str, str]:
        """Return the copy of the orders that can be earned."""
        return {str(number): self.orders[number]["copy"] for number in self.earnable}

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(24)
        agent = {"agent_id": f"ag_{secrets.token_hex(5)}", "credits": 100}
        self.agents[token] = agent
        return Response(201, {**agent, "access_token": token, "token_type": "Bearer"})

    def _me(self, request: Request) -> dict[str, Any] | Response:
        agent = self.agents.get(request.token)
        if agent is None:
            return Response(
                401,
                {"error": "HTTP Token: Access denied."},
                {"WWW-Authenticate": 'Token realm="Application"'},
            )
        return agent

    @staticmethod
    def _shown(order: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": order["id"],
            "film": order["film"],
            "theatre": order["theatre"],
            "copy": order["copy"],
            "fee": order["fee"],
            "status": order["status"],
        }

    def marketplace(self, request: Request) -> Response:
        """List the open orders to anybody."""
        shown = [self._shown(o) for o in self.orders.values() if o["status"] == "open"]
        return Response(200, {"marquee_orders": shown})

    def tasks(self, request: Request) -> Response:
        """List all orders, whatever their state."""
        me = self._me(request)
        if isinstance(me, Response):
            return me
        try:
            limit = int(request.query.get("limit") or 25)
        except ValueError:
            return Response(400, {"status": 400, "error": "Bad Request"})
        shown = [self._shown(o) for o in self.orders.values()][: max(limit, 0)]
        return Response(
            200, {"marquee_orders": shown, "meta": {"total_count": len(self.orders)}}
        )

    def _order(self, request: Request) -> tuple[Any, Any, Response | None]:
        """Return the agent's parameters and the order they name, or a refusal."""
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return (
                None,
                None,
                Response(
                    400,
                    {
                        "status": 400,
                        "error": "Error occurred while parsing request parameters",
                    },
                ),
            )
        params = body.get("marquee_order") if isinstance(body, dict) else None
        if not isinstance(params, dict) or not params:
            return (
                None,
                None,
                Response(
                    400,
                    {
                        "status": 400,
                        "error": "param is missing or the value is empty: marquee_order",
                    },
                ),
            )
        number = params.get("id")
        if number is None or number == "":
            return None, None, self._invalid({"id": ["can't be blank"]})
        if not str(number).isdigit():
            return None, None, self._invalid({"id": ["is not a number"]})
        order = self.orders.get(int(str(number)))
        if order is None:
            return (
                None,
                None,
                Response(
                    404,
                    {
                        "status": 404,
                        "error": f"Couldn't find MarqueeOrder with 'id'={number}",
                    },
                ),
            )
        return params, order, None

    @staticmethod
    def _invalid(errors: dict[str, list[str]]) -> Response:
        return Response(422, {"errors": errors})

    def claim(self, request: Request) -> Response:
        """Assign an order."""
        me = self._me(request)
        if isinstance(me, Response):
            return me
        _, order, no = self._order(request)
        if no:
            return no
        if order["assignee"] == me["agent_id"]:
            return Response(200, {"marquee_order": self._shown(order)})
        if order["assignee"]:
            return Response(
                409, {"errors": {"base": ["Order has already been assigned"]}}
            )
        order.update(status="assigned", assignee=me["agent_id"])
        self.book.claimed(str(order["id"]))
        return Response(200, {"marquee_order": self._shown(order)})

    def submit(self, request: Request) -> Response:
        """Take the copy as it goes on the board."""
        me = self._me(request)
        if isinstance(me, Response):
            return me
        params, order, no = self._order(request)
        if no:
            return no
        if order["assignee"] != me["agent_id"]:
            return Response(403, {"errors": {"base": ["Order is not assigned to you"]}})
        if order["status"] == "posted":
            return Response(409, {"errors": {"status": ["is already posted"]}})
        copy = params.get("board_copy")
        if not isinstance(copy, str) or not copy.strip():
            return self._invalid({"board_copy": ["can't be blank"]})
        if copy != order["copy"].upper():
            problem = (
                "must be in capital letters"
                if copy != copy.upper()
                else "doesn't match the order's copy"
            )
            return self._invalid({"board_copy": [problem]})
        order["status"] = "drafted"
        return Response(
            200, {"marquee_order": {**self._shown(order), "board_copy": copy}}
        )

    def complete(self, request: Request) -> Response:
        """Post the board and pay."""
        me = self._me(request)
        if isinstance(me, Response):
            return me
        _, order, no = self._order(request)
        if no:
            return no
        if order["assignee"] != me["agent_id"]:
            return Response(403, {"errors": {"base": ["Order is not assigned to you"]}})
        if order["status"] == "assigned":
            return self._invalid({"board_copy": ["has not been submitted yet"]})
        if order["status"] == "drafted":
            order["status"] = "posted"
            me["credits"] += order["fee"]
            self.book.pay(str(order["id"]), order["fee"])
        return Response(
            200,
            {
                "marquee_order": self._shown(order),
                "fee_paid": order["fee"],
                "balance": me["credits"],
            },
        )
