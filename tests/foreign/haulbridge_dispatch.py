"""Haulbridge, a road haulier's dispatch desk that hands paper orders to agents.

Everything sits in an envelope of success, code, msg and data, and the gateway answers
200 to a yes and a no alike (401 only without a token). Orders have a number and a
numeric state with its description; freight is in hundredths of a credit, unit beside
it. Taking an order wants a carrier mode and gives a waybill, the same one when asked
again; the proof of delivery goes to the waybill; complete settles it with a
confirmation "Y" and pays. Refuses hand-rolled, one parameter at a time.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS = [
    # number, lane, freight in credits, the note to be typed up
    (70023114, "RTM-DUI", 18, "12 pallets of ceramic tiles, do not double stack"),
    (70023117, "RTM-ANR", 12, "reefer at minus 18, log the temperature at each stop"),
    (70023120, "DUI-KSF", 24, "customer closed from noon to 1 pm, dock 6 at the back"),
    (70023126, "HAM-BRE", 9, "return empties: 30 crates, 4 roll cages"),
    (70023131, "HAM-POZ", 33, "ADR class 3, two drums, papers in the cab"),
    (70023138, "ANR-LIL", 15, "driver must ring the bell at gate B and wait"),
    (70023140, "LIL-PAR", 21, "tail lift needed, no forklift on the site"),
    (70023149, "KSF-LEJ", 27, "seal 884213 intact on arrival, photo taken"),
    (70023152, "LEJ-PRG", 30, "swap trailer HB-771 against HB-804 in Dresden"),
]
GONE = [(70023118, "RTM-DUI", 20, "six IBC tanks, empty, not cleaned")]
STATES = {
    10: "WAITING_DISPATCH",
    20: "DISPATCHED",
    40: "POD_RECEIVED",
    50: "SETTLED",
}
MODES = ["OWN_FLEET", "SUBCONTRACT", "SPOT"]
RESULTS = ["DELIVERED", "PARTIAL", "REFUSED_BY_CONSIGNEE"]


class HaulbridgeDispatch(Backend):
    """Orders, waybills, proofs of delivery."""

    def __init__(self) -> None:
        """Lay out the orders of the day."""
        super().__init__()
        self.orders = {row[0]: row for row in sorted(ORDERS + GONE)}
        self.state = {row[0]: 10 for row in ORDERS} | {row[0]: 20 for row in GONE}
        self.carriers: dict[str, str] = {}
        self.waybills: dict[str, tuple[int, str]] = {}  # number -> order, carrier

    def texts(self) -> dict[str, str]:
        """Return the note of every order that waits for dispatch."""
        return {str(number): note for number, _, _, note in ORDERS}

    @staticmethod
    def _ok(data: Any) -> Response:
        return Response(200, {"success": True, "code": "0", "msg": "OK", "data": data})

    @staticmethod
    def _no(code: str, msg: str, status: int = 200) -> Response:
        body = {"success": False, "code": code, "msg": msg, "data": None}
        return Response(status, body, refused=True)

    def missing(self, request: Request) -> Response:
        """Answer as the gateway does."""
        return self._no("GW-0404", f"no route for {request.method} {request.path}", 404)

    def register(self, request: Request) -> Response:
        """Take a carrier on."""
        self.book.registrations += 1
        carrier, token = f"HB-A-{1001 + len(self.carriers)}", secrets.token_hex(20)
        self.carriers[token] = carrier
        return self._ok({"agentId": carrier, "accessToken": token, "credits": 100})

    @staticmethod
    def _money(credits_: int) -> dict[str, Any]:
        return {"amount": credits_ * 100, "unit": "CREDIT_CENT"}

    def marketplace(self, request: Request) -> Response:
        """List the orders that are not settled."""
        number, size = request.query.get("pageNo"), request.query.get("limit")
        page_no = int(number) if number and number.isdecimal() else 1
        page_size = min(int(size), 50) if size and size.isdecimal() else 20
        page_no, page_size = max(page_no, 1), max(page_size, 1)
        rows = [row for row in self.orders.values() if self.state[row[0]] != 50]
        shown = [
            {
                "orderNo": number,
                "orderState": self.state[number],
                "orderStateDesc": STATES[self.state[number]],
                "lane": lane,
                "cargoNote": note,
                "freight": self._money(freight) | {"display": f"{freight}.00 credits"},
            }
            for number, lane, freight, note in rows[(page_no - 1) * page_size :]
        ][:page_size]
        page = {"pageNo": page_no, "pageSize": page_size, "total": len(rows)}
        return self._ok({"list": shown, **page})

    def tasks(self, request: Request) -> Response:
        """List the orders for a carrier."""
        if request.token not in self.carriers:
            return self._no("AUTH-0001", "token invalid or missing", 401)
        return self.marketplace(request)

    def _params(self, request: Request) -> Any:
        if request.token not in self.carriers:
            return self._no("AUTH-0001", "token invalid or missing", 401)
        try:
            body = request.json()
        except ValueError:
            return self._no("SYS-0400", "request body is not valid JSON")
        if not isinstance(body, dict):
            return self._no("SYS-0400", "request body must be a JSON object")
        return body

    def claim(self, request: Request) -> Response:
        """Give an order to a carrier."""
        body = self._params(request)
        if isinstance(body, Response):
            return body
        number = body.get("orderNo")
        if number is None:
            return self._no("DISP-1001", "parameter orderNo can not be null")
        if isinstance(number, str) and number.isdecimal():
            number = int(number)
        if not isinstance(number, int) or number not in self.orders:
            return self._no("DISP-1002", f"order not found: {number}")
        if body.get("carrierMode") not in MODES:
            msg = f"parameter carrierMode must be one of [{', '.join(MODES)}]"
            return self._no("DISP-1003", msg)
        carrier = self.carriers[request.token]
        mine = [key for key, row in self.waybills.items() if row == (number, carrier)]
        if not mine and self.state[number] != 10:
            return self._no("DISP-2001", "order already dispatched to another carrier")
        waybill = mine[0] if mine else f"WB{secrets.token_hex(4).upper()}"
        if not mine:
            self.waybills[waybill] = (number, carrier)
            self.state[number] = 20
            self.book.claimed(str(number))
        return self._ok(self._waybill(waybill))

    def _waybill(self, waybill: str) -> dict[str, Any]:
        number = self.waybills[waybill][0]
        state = self.state[number]
        return {
            "waybillNo": waybill,
            "orderNo": number,
            "orderState": state,
            "orderStateDesc": STATES[state],
        }

    def _held(self, request: Request) -> Any:
        """Return the parameters of a carrier who holds the waybill in them."""
        body = self._params(request)
        if isinstance(body, Response):
            return body
        waybill = body.get("waybillNo")
        if waybill is None:
            return self._no("DISP-1001", "parameter waybillNo can not be null")
        row = self.waybills.get(waybill) if isinstance(waybill, str) else None
        if not row or row[1] != self.carriers[request.token]:
            return self._no("DISP-1004", f"waybill not found: {waybill}")
        return body

    def submit(self, request: Request) -> Response:
        """Take a proof of delivery in."""
        body = self._held(request)
        if isinstance(body, Response):
            return body
        number, pod = self.waybills[body["waybillNo"]][0], body.get("pod")
        if not isinstance(pod, dict):
            return self._no("POD-3001", "parameter pod must be {content, result}")
        content = pod.get("content")
        if not isinstance(content, str) or not content.strip():
            return self._no("POD-3002", "parameter pod.content can not be blank")
        if pod.get("result") not in RESULTS:
            msg = f"parameter pod.result must be one of [{', '.join(RESULTS)}]"
            return self._no("POD-3003", msg)
        if pod["result"] != "DELIVERED":
            msg = "only DELIVERED can be handled online, ring the desk for the others"
            return self._no("POD-3005", msg)
        if self.state[number] != 20:
            return self._no("POD-3006", "proof of delivery already received")
        if content != self.orders[number][3].upper():
            return self._no("POD-3004", "pod.content does not agree with our records")
        self.state[number] = 40
        return self._ok(self._waybill(body["waybillNo"]))

    def complete(self, request: Request) -> Response:
        """Settle a waybill."""
        body = self._held(request)
        if isinstance(body, Response):
            return body
        number = self.waybills[body["waybillNo"]][0]
        if body.get("confirm") != "Y":
            return self._no("SET-4001", "parameter confirm must be Y")
        if self.state[number] == 50:
            return self._no("SET-4003", "waybill already settled")
        if self.state[number] != 40:
            return self._no("SET-4002", "proof of delivery not received yet")
        self.state[number] = 50
        self.book.pay(str(number), self.orders[number][2])
        paid = self._money(self.orders[number][2])
        return self._ok(self._waybill(body["waybillNo"]) | {"settled": paid})
