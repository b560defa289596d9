"""An auction house's lot titles: an in-house servlet that answers 200 to everything.

Titles for the printed catalogue, in capitals. Every answer is {"success", "errorCode",
"errorMessage", "result"}; a refusal is a 200 with success false. Lots are numbered within their
sale, so a lot is named by `saleNo` and `lotNo` together; the list is a flat `lots` with both,
`department`, `cataloguer`, `title`, `estimate` (in pounds) and `commissionCredits`.
Claim {"saleNo", "lotNo"}; submit {"saleNo", "lotNo", "catalogueTitle"};
complete {"saleNo", "lotNo"}; complete pays. All missing parameters are told at once.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LOTS = [
    (
        2041,
        17,
        "Furniture",
        "a walnut writing desk with two hidden drawers",
        "400-600",
        21,
    ),
    (
        2041,
        18,
        "Furniture",
        "a pair of painted hall chairs with the arms of a bishop",
        "250-350",
        19,
    ),
    (
        2041,
        22,
        "Clocks",
        "a carriage clock in its leather case with the key",
        "300-500",
        20,
    ),
    (
        2041,
        25,
        "Clocks",
        "a longcase clock by a maker of york lacking its pendulum",
        "800-1200",
        26,
    ),
    (2052, 17, "Silver", "six teaspoons engraved with a running fox", "80-120", 15),
    (2052, 18, "Silver", "a christening mug with a dent and a good story", "60-90", 14),
    (
        2052,
        31,
        "Pictures",
        "a view of the harbour at dusk signed and dated lower left",
        "1500-2000",
        30,
    ),
]


class AuctionLots(Backend):
    """Everything is a 200; a lot's name is two numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.cataloguers: dict[str, dict[str, Any]] = {}
        self.lots: dict[Any, dict[str, Any]] = {
            (sale, lot): {
                "saleNo": sale,
                "lotNo": lot,
                "department": department,
                "title": title,
                "estimate": estimate,
                "commissionCredits": credits_,
                "lotStatus": "UNCATALOGUED",
                "cataloguer": None,
            }
            for sale, lot, department, title, estimate, credits_ in LOTS
        }

    @staticmethod
    def _key(lot: dict[str, Any]) -> str:
        return f"{lot['saleNo']}/{lot['lotNo']}"

    def texts(self) -> dict[str, str]:
        """Return the title of every lot by sale/lot."""
        return {self._key(lot): lot["title"] for lot in self.lots.values()}

    @staticmethod
    def _ok(result: Any) -> Response:
        return Response(
            200,
            {
                "success": True,
                "errorCode": None,
                "errorMessage": None,
                "result": result,
            },
        )

    @staticmethod
    def _no(code: str, message: str) -> Response:
        return Response(
            200,
            {
                "success": False,
                "errorCode": code,
                "errorMessage": message,
                "result": None,
            },
            refused=True,
        )

    def register(self, request: Request) -> Response:
        """Create an agent; this one answer is the contract's, not the house's."""
        self.book.registrations += 1
        token = secrets.token_hex(16).upper()
        agent = {"agent_id": f"C{1000 + len(self.cataloguers)}", "credits": 100}
        self.cataloguers[token] = agent
        return Response(200, {**agent, "access_token": token})

    def _cataloguer(self, request: Request) -> Any:
        agent = self.cataloguers.get(request.token)
        if agent is None:
            return self._no(
                "AUTH_REQUIRED", "Access token is missing or not recognised"
            )
        return agent

    def _list(self, limit: int) -> Response:
        free = [lot for lot in self.lots.values() if not lot["cataloguer"]]
        return self._ok({"lots": free[:limit], "lotCount": len(free)})

    def marketplace(self, request: Request) -> Response:
        """List the lots without a catalogue title to anybody."""
        return self._list(1000)

    def tasks(self, request: Request) -> Response:
        """List the lots without a catalogue title."""
        agent = self._cataloguer(request)
        if isinstance(agent, Response):
            return agent
        limit = request.query.get("limit", "1000")
        if not limit.isdigit():
            return self._no("INVALID_PARAMETER", "limit must be a number")
        return self._list(int(limit))

    def _parameters(self, request: Request, *names: str) -> Any:
        """Return (parameters, lot), or a refusal."""
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return self._no("MALFORMED_REQUEST", "Request body is not valid JSON")
        if not isinstance(body, dict):
            return self._no("MALFORMED_REQUEST", "Request body must be a JSON object")
        missing = [n for n in names if body.get(n) is None or body[n] == ""]
        if missing:
            plural = "s" if len(missing) > 1 else ""
            return self._no(
                "MISSING_PARAMETER",
                f"Missing required parameter{plural}: {', '.join(missing)}",
            )
        numbers = []
        for name in ("saleNo", "lotNo"):
            if isinstance(body[name], bool) or not str(body[name]).isdigit():
                return self._no("INVALID_PARAMETER", f"{name} must be a number")
            numbers.append(int(body[name]))
        sale, number = numbers
        if sale not in {s for s, _ in self.lots}:
            return self._no("SALE_NOT_FOUND", f"There is no sale {sale}")
        lot = self.lots.get((sale, number))
        if lot is None:
            return self._no("LOT_NOT_FOUND", f"There is no lot {number} in sale {sale}")
        return body, lot

    def claim(self, request: Request) -> Response:
        """Give a lot to a cataloguer."""
        agent = self._cataloguer(request)
        if isinstance(agent, Response):
            return agent
        checked = self._parameters(request, "saleNo", "lotNo")
        if isinstance(checked, Response):
            return checked
        _, lot = checked
        if lot["cataloguer"] not in (None, agent["agent_id"]):
            return self._no(
                "LOT_TAKEN", f"Lot {self._key(lot)} is with another cataloguer"
            )
        if lot["cataloguer"] is None:
            lot.update(cataloguer=agent["agent_id"], lotStatus="WITH_CATALOGUER")
            self.book.claimed(self._key(lot))
        return self._ok(lot)

    def submit(self, request: Request) -> Response:
        """Take the title for the catalogue."""
        agent = self._cataloguer(request)
        if isinstance(agent, Response):
            return agent
        checked = self._parameters(request, "saleNo", "lotNo", "catalogueTitle")
        if isinstance(checked, Response):
            return checked
        body, lot = checked
        if lot["cataloguer"] != agent["agent_id"]:
            return self._no("NOT_YOUR_LOT", f"Lot {self._key(lot)} is not with you")
        if lot["lotStatus"] == "CATALOGUED":
            return self._no(
                "ALREADY_CATALOGUED", f"Lot {self._key(lot)} is in the catalogue"
            )
        title = body["catalogueTitle"]
        if not isinstance(title, str):
            return self._no("INVALID_PARAMETER", "catalogueTitle must be text")
        if title != lot["title"].upper():
            return self._no(
                "TITLE_REJECTED", "catalogueTitle must be the lot's title in capitals"
            )
        lot["lotStatus"] = "TITLE_ENTERED"
        return self._ok(
            {
                "saleNo": lot["saleNo"],
                "lotNo": lot["lotNo"],
                "lotStatus": "TITLE_ENTERED",
            }
        )

    def complete(self, request: Request) -> Response:
        """Enter the lot in the catalogue and pay the commission."""
        agent = self._cataloguer(request)
        if isinstance(agent, Response):
            return agent
        checked = self._parameters(request, "saleNo", "lotNo")
        if isinstance(checked, Response):
            return checked
        _, lot = checked
        if lot["cataloguer"] != agent["agent_id"]:
            return self._no("NOT_YOUR_LOT", f"Lot {self._key(lot)} is not with you")
        if lot["lotStatus"] == "WITH_CATALOGUER":
            return self._no("NO_TITLE", f"Lot {self._key(lot)} has no catalogue title")
        if lot["lotStatus"] == "TITLE_ENTERED":
            lot["lotStatus"] = "CATALOGUED"
            agent["credits"] += lot["commissionCredits"]
            self.book.pay(self._key(lot), lot["commissionCredits"])
        return self._ok(
            {
                "saleNo": lot["saleNo"],
                "lotNo": lot["lotNo"],
                "lotStatus": lot["lotStatus"],
                "commissionPaid": lot["commissionCredits"],
                "accountCredits": agent["credits"],
            }
        )
