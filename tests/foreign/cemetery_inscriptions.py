"""A cemetery's inscription office: orders for stones, kept by a small municipal office.

The list is {"office", "orders": [{order, plot, name_on_file, opens_with, fee, stage}]}; the whole
inscription is told to the mason who takes the order.
claim {order} -> {order, stage: "with mason", inscription, fee}
submit {order, cut_text, letters} -> {order, stage: "cut", certificate}; letters counts the characters of cut_text
complete {order, certificate} -> {order, stage: "set", fee_paid, balance}
Refusals: {"status": "declined", "reasons": [{"entry": field, "reason": "..."}]}.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS: list[tuple[str, str, str, str, int, str]] = [
    (
        "24-0117",
        "F 14",
        "Hallam",
        "a quiet man who mended clocks for the whole parish",
        22,
        "awaiting mason",
    ),
    (
        "24-0118",
        "F 15",
        "Orme",
        "she taught three generations to read and to sing",
        20,
        "awaiting mason",
    ),
    (
        "24-0121",
        "C 02",
        "Tregear",
        "lost at sea and remembered by his five sisters",
        19,
        "awaiting mason",
    ),
    (
        "24-0125",
        "K 31",
        "Lindqvist",
        "the gate was always open and the kettle always warm",
        24,
        "awaiting mason",
    ),
    (
        "24-0126",
        "A 08",
        "Moreau",
        "gardener of this ground for forty one years",
        18,
        "awaiting mason",
    ),
    (
        "23-0980",
        "B 19",
        "Pike",
        "here rests a faithful servant of the railway",
        17,
        "set",
    ),
]


class CemeteryInscriptions(Backend):
    """The inscription office of a cemetery."""

    def __init__(self) -> None:
        super().__init__()
        self.masons: dict[str, dict[str, Any]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        for number, plot, name, inscription, fee, stage in ORDERS:
            self.orders[number] = {
                "order": number,
                "plot": plot,
                "name_on_file": name,
                "inscription": inscription,
                "fee": fee,
                "stage": stage,
                "mason": "",
                "certificate": "",
            }
        self.earnable = {
            n: str(o["inscription"])
            for n, o in self.orders.items()
            if o["stage"] == "awaiting mason"
        }

    def texts(self) -> dict[str, str]:
        """Return the inscription of every order that can be earned."""
        return dict(self.earnable)

    def _decline(self, status: int, *reasons: tuple[str | None, str]) -> Response:
        listed = [{"entry": entry, "reason": reason} for entry, reason in reasons]
        return Response(status, {"status": "declined", "reasons": listed})

    def _unlisted(self) -> Response:
        return self._decline(401, (None, "The bearer is not on the list of masons."))

    def _paper(
        self, request: Request, entries: dict[str, type]
    ) -> dict[str, Any] | Response:
        if request.token not in self.masons:
            return self._unlisted()
        try:
            data = request.json() if request.raw.strip() else {}
        except ValueError:
            return self._decline(400, (None, "The request is not valid JSON."))
        if not isinstance(data, dict):
            return self._decline(400, (None, "The request must be a JSON object."))
        reasons: list[tuple[str | None, str]] = []
        for entry, kind in entries.items():
            value = data.get(entry)
            if value is None or value == "":
                reasons.append((entry, "This entry is required."))
            elif kind is int and type(value) is not int:
                reasons.append((entry, "This entry must be a whole number."))
            elif kind is str and not isinstance(value, str):
                reasons.append((entry, "This entry must be text."))
        return self._decline(400, *reasons) if reasons else data

    def register(self, request: Request) -> Response:
        """Put a mason on the list."""
        self.book.registrations += 1
        token = secrets.token_hex(18)
        agent_id = f"M-{len(self.masons) + 61}"
        self.masons[token] = {"agent_id": agent_id, "credits": 100}
        return Response(
            200, {"agent_id": agent_id, "access_token": token, "credits": 100}
        )

    def _list(self, limit: int) -> Response:
        rows: list[dict[str, Any]] = []
        for order in list(self.orders.values())[:limit]:
            row = {name: order[name] for name in ("order", "plot", "name_on_file")}
            row["opens_with"] = " ".join(order["inscription"].split()[:3]) + " ..."
            rows.append({**row, "fee": order["fee"], "stage": order["stage"]})
        return Response(
            200,
            {
                "office": "Inscription Office, Hill Cemetery",
                "rule": "Inscriptions are cut in capitals. The mason who takes an order receives the whole inscription.",
                "as_of": time.strftime("%Y-%m-%d", time.gmtime(time.time())),
                "orders": rows,
            },
        )

    def marketplace(self, request: Request) -> Response:
        """Show the orders to everybody."""
        return self._list(len(self.orders))

    def tasks(self, request: Request) -> Response:
        """Show the orders to a mason."""
        if request.token not in self.masons:
            return self._unlisted()
        limit = request.query.get("limit", "50")
        if not limit.isdigit():
            return self._decline(400, ("limit", "This entry must be a whole number."))
        return self._list(int(limit))

    def claim(self, request: Request) -> Response:
        """Give an order to a mason."""
        data = self._paper(request, {"order": str})
        if isinstance(data, Response):
            return data
        order = self.orders.get(data["order"])
        if order is None:
            return self._decline(
                404, ("order", f"No order {data['order']} is on file.")
            )
        if order["stage"] == "awaiting mason":
            order["stage"], order["mason"] = "with mason", request.token
            self.book.claimed(order["order"])
        elif order["mason"] != request.token:
            return self._decline(
                409,
                (
                    "order",
                    f"The order is not awaiting a mason; its stage is: {order['stage']}.",
                ),
            )
        return Response(
            200,
            {
                name: order[name]
                for name in ("order", "plot", "stage", "inscription", "fee")
            },
        )

    def _order(self, request: Request, number: str) -> dict[str, Any] | Response:
        order = self.orders.get(number)
        if order is None:
            return self._decline(404, ("order", f"No order {number} is on file."))
        if order["mason"] != request.token:
            return self._decline(403, ("order", "The order was not given to you."))
        return order

    def submit(self, request: Request) -> Response:
        """Take the text as it is cut, with the count of its characters."""
        data = self._paper(request, {"order": str, "cut_text": str, "letters": int})
        if isinstance(data, Response):
            return data
        order = self._order(request, data["order"])
        if isinstance(order, Response):
            return order
        if order["stage"] == "set":
            return self._decline(409, ("order", "The stone is already set."))
        count = len(data["cut_text"])
        if data["letters"] != count:
            return self._decline(
                422,
                (
                    "letters",
                    f"The count of characters of cut_text, spaces included, is {count}, not {data['letters']}.",
                ),
            )
        if data["cut_text"] != order["inscription"].upper():
            return self._decline(
                422, ("cut_text", "The text differs from the inscription in capitals.")
            )
        order["stage"] = "cut"
        order["certificate"] = order["certificate"] or "HC-" + secrets.token_hex(3)
        return Response(
            200,
            {
                "order": order["order"],
                "stage": "cut",
                "certificate": order["certificate"],
            },
        )

    def complete(self, request: Request) -> Response:
        """Set the stone against the certificate and pay the fee."""
        data = self._paper(request, {"order": str, "certificate": str})
        if isinstance(data, Response):
            return data
        order = self._order(request, data["order"])
        if isinstance(order, Response):
            return order
        if order["stage"] == "with mason":
            return self._decline(409, ("order", "The inscription has not been cut."))
        if data["certificate"] != order["certificate"]:
            return self._decline(
                422,
                ("certificate", "This is not the certificate issued for the cut text."),
            )
        mason = self.masons[request.token]
        if order["stage"] == "cut":
            order["stage"] = "set"
            mason["credits"] += order["fee"]
            self.book.pay(order["order"], order["fee"])
        return Response(
            200,
            {
                "order": order["order"],
                "stage": "set",
                "fee_paid": order["fee"],
                "balance": mason["credits"],
            },
        )
