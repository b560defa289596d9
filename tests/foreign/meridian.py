"""Meridian Mutual: an insurer's SOAP service that was put into JSON, wrappers and all."""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS = [
    ("WO0000118301", "Hull letter", 45, "we regret that barnacles are not covered"),
    ("WO0000118302", "Hail letter", 28, "kindly photograph the dented bonnet"),
    ("WO0000118307", "Theft letter", 37, "a receipt for the tuba would help us"),
    ("WO0000118311", "Flood letter", 52, "please describe the height of the water"),
]


class Meridian(Backend):
    """An insurance company: every body is one wrapped element and so is every answer.

    {"AssignWorkOrderRequest": {"CorrelationId": ..., "WorkOrderNumber": ...}} for the claim,
    {"RecordWorkProductRequest": {... "WorkProduct": {"ContentType", "Content"}}} for the
    result, {"CloseWorkOrderRequest": {...}} for completion, which settles the remuneration.
    The correlation id is the caller's and is echoed. Business faults come with 200 and
    ServiceStatus ERROR, one at a time with a code; only a bad token is 401.
    """

    def __init__(self) -> None:
        super().__init__()
        self.adjusters: dict[str, dict[str, Any]] = {}
        self.orders = {
            number: {
                "number": number,
                "subject": subject,
                "credits": credits_,
                "text": text,
                "status": "UNASSIGNED",
                "adjuster": None,
                "settlement": None,
            }
            for number, subject, credits_, text in ORDERS
        }

    def texts(self) -> dict[str, str]:
        """Return the letter of every work order."""
        return {number: text for number, _, _, text in ORDERS}

    def envelope(
        self, name: str, content: dict[str, Any], correlation: Any = None
    ) -> Response:
        """Return a successful answer."""
        return Response(
            200,
            {
                f"{name}Response": {
                    "ServiceStatus": {
                        "StatusCode": "SUCCESS",
                        "CorrelationId": correlation,
                    },
                    **content,
                }
            },
        )

    def fault(self, name: str, code: str, text: str, status: int = 200) -> Response:
        """Return a fault."""
        return Response(
            status,
            {
                f"{name}Response": {
                    "ServiceStatus": {
                        "StatusCode": "ERROR",
                        "FaultCode": code,
                        "FaultText": text,
                    }
                }
            },
            refused=True,
        )

    def register(self, request: Request) -> Response:
        """Onboard an adjuster; the portal team insisted on a flat answer."""
        adjuster, token = f"ADJ{secrets.randbelow(10**7):07d}", secrets.token_hex(32)
        self.adjusters[token] = {"id": adjuster, "balance": 100}
        self.book.registrations += 1
        return Response(
            200, {"agent_id": adjuster, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        """List the work orders."""
        name = "ListWorkOrders"
        limit = request.query.get("limit", "50")
        if not limit.isdigit():
            return self.fault(name, "MM-1004", "Parameter 'limit' is not numeric")
        shown = list(self.orders.values())[: int(limit)]
        return self.envelope(
            name,
            {
                "WorkOrderList": {
                    "Count": len(shown),
                    "WorkOrder": [
                        {
                            "WorkOrderNumber": order["number"],
                            "Subject": order["subject"],
                            "WorkType": "CAPITALISATION",
                            "WorkOrderStatus": order["status"],
                            "Remuneration": {
                                "Amount": str(order["credits"]),
                                "Currency": "CREDIT",
                            },
                        }
                        for order in shown
                    ],
                }
            },
        )

    marketplace = tasks

    def unwrap(
        self, request: Request, name: str
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | Response:
        """Return the adjuster, the order and the element, or a fault."""
        adjuster = self.adjusters.get(request.token)
        if adjuster is None:
            return self.fault(
                name, "MM-0401", "Security token missing or not recognised", 401
            )
        try:
            body = request.json()
        except ValueError:
            return self.fault(name, "MM-1000", "Message is not well-formed JSON")
        element = body.get(f"{name}Request") if isinstance(body, dict) else None
        if not isinstance(element, dict):
            return self.fault(
                name, "MM-1001", f"Element '{name}Request' is missing or not an object"
            )
        for field in ("CorrelationId", "WorkOrderNumber"):
            if field not in element:
                return self.fault(
                    name, "MM-1002", f"Element '{name}Request/{field}' is missing"
                )
            if (
                not isinstance(element[field], str)
                or not 1 <= len(element[field]) <= 64
            ):
                return self.fault(
                    name,
                    "MM-1003",
                    f"Element '{name}Request/{field}' must be a string of 1 to 64 characters",
                )
        order = self.orders.get(element["WorkOrderNumber"])
        if order is None:
            return self.fault(
                name,
                "MM-2001",
                f"Work order {element['WorkOrderNumber']} does not exist",
            )
        if order["adjuster"] not in (None, adjuster["id"]):
            return self.fault(
                name, "MM-2003", "Work order is assigned to another adjuster"
            )
        if order["adjuster"] is None and name != "AssignWorkOrder":
            return self.fault(name, "MM-2004", "Work order is not assigned to you")
        return adjuster, order, element

    def header(self, order: dict[str, Any]) -> dict[str, Any]:
        """Return what every answer tells of a work order."""
        return {"WorkOrderNumber": order["number"], "WorkOrderStatus": order["status"]}

    def claim(self, request: Request) -> Response:
        """Assign a work order."""
        name = "AssignWorkOrder"
        unwrapped = self.unwrap(request, name)
        if isinstance(unwrapped, Response):
            return unwrapped
        adjuster, order, element = unwrapped
        if order["adjuster"] is None:
            order.update(status="ASSIGNED", adjuster=adjuster["id"])
            self.book.claimed(order["number"])
        return self.envelope(
            name,
            {
                **self.header(order),
                "AdjusterId": adjuster["id"],
                "SourceDocument": {
                    "ContentType": "text/plain",
                    "Content": order["text"],
                },
            },
            element["CorrelationId"],
        )

    def submit(self, request: Request) -> Response:
        """Record the work product."""
        name = "RecordWorkProduct"
        unwrapped = self.unwrap(request, name)
        if isinstance(unwrapped, Response):
            return unwrapped
        _, order, element = unwrapped
        product = element.get("WorkProduct")
        path = f"{name}Request/WorkProduct"
        if not isinstance(product, dict):
            return self.fault(
                name, "MM-1002", f"Element '{path}' is missing or not an object"
            )
        if product.get("ContentType") != "text/plain":
            return self.fault(
                name, "MM-1005", f"Element '{path}/ContentType' must be 'text/plain'"
            )
        if not isinstance(product.get("Content"), str):
            return self.fault(
                name, "MM-1002", f"Element '{path}/Content' is missing or not a string"
            )
        if product["Content"] != order["text"].upper():
            return self.fault(
                name,
                "MM-3001",
                "Work product rejected: Content must be the source document in capitals",
            )
        if order["status"] == "ASSIGNED":
            order["status"] = "PRODUCT_RECORDED"
        return self.envelope(name, self.header(order), element["CorrelationId"])

    def complete(self, request: Request) -> Response:
        """Close the work order and settle."""
        name = "CloseWorkOrder"
        unwrapped = self.unwrap(request, name)
        if isinstance(unwrapped, Response):
            return unwrapped
        adjuster, order, element = unwrapped
        if order["status"] == "ASSIGNED":
            return self.fault(
                name, "MM-2005", "Work order has no recorded work product"
            )
        if order["status"] == "PRODUCT_RECORDED":
            order.update(
                status="CLOSED", settlement=f"ST{secrets.randbelow(10**8):08d}"
            )
            adjuster["balance"] += order["credits"]
            self.book.pay(order["number"], order["credits"])
        return self.envelope(
            name,
            {
                **self.header(order),
                "Settlement": {
                    "SettlementNumber": order["settlement"],
                    "Remuneration": {
                        "Amount": str(order["credits"]),
                        "Currency": "CREDIT",
                    },
                    "AccountBalance": str(adjuster["balance"]),
                },
            },
            element["CorrelationId"],
        )
