"""Kontorix: the work orders of a back-office company.

In the manner of Spring Boot: Jackson in UpperCamelCase, Bean Validation, a company's envelope.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
import uuid
from datetime import UTC, date, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS = [
    ("Letterhead", 8, "Brandt and Sons, makers of fine scales since 1911"),
    ("Shelf label", 3, "Ledger volumes 14 to 22, do not remove"),
    ("Door notice", 13, "Accounts department closed for stocktaking on Friday"),
    ("Stamp text", 4, "Received and checked, second floor"),
    ("Invoice footer", 17, "Payable within 30 days; quote order no. 5518/k"),
    ("Envelope line", 6, "Private: for the attention of Mrs. Okafor only"),
    ("Archive card", 22, "Minutes of the annual meeting, signed copy, box 9"),
]
FORMATS = ("PLAIN_TEXT", "RICH_TEXT")


class BusinessException(RuntimeError):  # noqa: N818
    """Caught by the @RestControllerAdvice, which writes the envelope."""

    def __init__(self, status: int, code: str, text: str, faults: Any = ()):  # noqa: ANN204
        super().__init__(text)
        self.status, self.code, self.text, self.faults = (
            status,
            code,
            text,
            list(faults),
        )


def fault(name: str, constraint: str, text: str) -> dict[str, str]:
    return {"Property": name, "Constraint": constraint, "Text": text}


class Kontorix(Backend):
    """An order is assigned, delivered, inspected and settled; settlement pays."""

    def __init__(self) -> None:
        super().__init__()
        self.agents_by_token: dict[str, str] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.assignees, self.deliveries, self.accounts = {}, {}, {}
        for number, (subject, credits_, wording) in enumerate(ORDERS):
            key = f"WO-{2025000417 + 13 * number}"
            self.orders[key] = {
                "WorkOrderNo": key,
                "Subject": subject,
                "Instruction": "Deliver the OriginalWording in upper case.",
                "OriginalWording": wording,
                "RemunerationCredits": credits_,
                "ProcessingStatus": "RELEASED",
                "Revision": 0,
            }

    def texts(self) -> dict[str, str]:
        return {key: order["OriginalWording"] for key, order in self.orders.items()}

    def envelope(self, code: str, text: str, body: Any, faults: Any = ()) -> Any:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        header = {"ReturnCode": code, "ReturnText": text}
        header |= {"CorrelationId": str(uuid.uuid4()), "Timestamp": now}
        return {"Header": header, "Body": body, "Faults": list(faults)}

    def answer(self, request: Request, service: Any, secured: bool = True) -> Response:  # noqa: FBT001, FBT002
        headers = {"Cache-Control": "no-cache, no-store", "X-Frame-Options": "DENY"}
        try:
            body = service(request, self.principal(request) if secured else "")
        except BusinessException as error:
            if error.status == 401:
                headers["WWW-Authenticate"] = 'Bearer realm="kontorix"'
            body = self.envelope(error.code, error.text, None, error.faults)
            return Response(error.status, body, headers)
        rejected = isinstance(body, dict) and body.get("InspectionResult") == "REJECTED"
        code, text = ("KX-0107", "Inspection failed") if rejected else ("KX-0000", "OK")
        return Response(200, self.envelope(code, text, body), headers, refused=rejected)

    def principal(self, request: Request) -> str:
        if not request.token:
            text = "Full authentication is required to access this resource"
            raise BusinessException(401, "KX-1001", text)
        if request.token not in self.agents_by_token:
            raise BusinessException(401, "KX-1002", "Access token is not valid")
        return self.agents_by_token[request.token]

    def bind(self, request: Request, **properties: str) -> dict[str, Any]:
        """@Valid @RequestBody: Jackson stops at the first, validation tells all."""
        media_type = request.headers.get("Content-Type") or ""
        if request.raw and not media_type.lower().startswith("application/json"):
            text = f"Content-Type '{media_type}' is not supported"
            raise BusinessException(415, "KX-2003", text)
        if not request.raw:
            raise BusinessException(400, "KX-2001", "Required request body is missing")
        try:
            body = request.json()
        except ValueError as error:
            raise BusinessException(
                400, "KX-2001", f"JSON parse error: {error}"
            ) from None
        if not isinstance(body, dict):
            text = (
                "JSON parse error: Cannot deserialize value: a JSON object is expected"
            )
            raise BusinessException(400, "KX-2001", text)
        values = {name: body.get(name) for name in properties}
        for name, kind in properties.items():
            if values[name] is not None:
                values[name] = self.deserialize(name, kind, values[name])
        checks = [
            self.validate(name, kind, values[name]) for name, kind in properties.items()
        ]
        faults = [found for found in checks if found]
        if faults:
            text = f"Validation failed, {len(faults)} error(s)"
            raise BusinessException(400, "KX-2002", text, faults)
        return values

    @staticmethod
    def deserialize(name: str, kind: str, value: Any) -> Any:
        types = {"date": "java.time.LocalDate", "integer": "java.lang.Integer"}
        types |= {"format": "com.kontorix.DeliveryFormat", "string": "java.lang.String"}
        shown = f'String "{value}"' if isinstance(value, str) else "this JSON value"
        start = f"JSON parse error: Cannot deserialize value of type `{types[kind]}` "
        reason = "a scalar value is expected"
        try:
            if isinstance(value, (dict, list)):
                raise ValueError  # noqa: TRY004
            if kind == "date":
                reason = "a date in the form yyyy-MM-dd is expected"
                return date.fromisoformat(str(value))
            if kind == "integer":
                reason = "not a valid `java.lang.Integer` value"
                return int(str(value))
            if kind == "format" and value not in FORMATS:
                reason = f"not one of the values accepted for Enum class: [{', '.join(FORMATS)}]"
                raise ValueError
            return str(value)
        except ValueError:
            faults = [fault(name, "TypeMismatch", reason)]
            text = f"{start}from {shown}: {reason}"
            raise BusinessException(400, "KX-2001", text, faults) from None

    @staticmethod
    def validate(name: str, kind: str, value: Any) -> Any:
        if kind == "string" and (value is None or not value.strip()):
            return fault(name, "NotBlank", "must not be blank")
        if kind == "format" and value is None:
            return fault(name, "NotNull", f"must be one of {', '.join(FORMATS)}")
        if value is None:
            return fault(name, "NotNull", "must not be null")
        if kind == "date" and value < date.today():  # noqa: DTZ011
            return fault(
                name,
                "FutureOrPresent",
                "must be a date in the present or in the future",
            )
        return None

    def order(self, values: dict[str, Any], agent: str = "") -> dict[str, Any]:
        key = values["WorkOrderNo"]
        if key not in self.orders:
            raise BusinessException(404, "KX-3001", f"Work order {key} does not exist")
        if agent and self.assignees.get(key) != agent:
            raise BusinessException(
                403, "KX-3002", f"Work order {key} is not assigned to {agent}"
            )
        return self.orders[key]

    def expect(self, order: dict[str, Any], status: str, revision: int | None) -> None:
        key = order["WorkOrderNo"]
        if order["ProcessingStatus"] != status:
            text = f"Work order {key} has status {order['ProcessingStatus']}, expected {status}"
            raise BusinessException(409, "KX-3003", text)
        if revision is not None and revision != order["Revision"]:
            text = f"given revision {revision}, current revision {order['Revision']}"
            text = f"Work order {key} was changed in the meantime: {text}"
            raise BusinessException(409, "KX-3004", text)

    def step(self, order: dict[str, Any], status: str) -> None:
        order["ProcessingStatus"] = status
        order["Revision"] += 1

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"AG{50000 + self.book.registrations}", secrets.token_urlsafe(32)
        self.agents_by_token[token], self.accounts[agent] = agent, 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def find_page(self, request: Request, _: str) -> Any:
        numbers = {}
        for name, default, least, most in (("limit", 5, 1, 25), ("page", 0, 0, 10**6)):
            given = request.query.get(name) or str(default)
            number = int(given) if given.isdecimal() else None
            if number is None or not least <= number <= most:
                faults = [fault(name, "Range", f"must be between {least} and {most}")]
                raise BusinessException(
                    400, "KX-2002", "Validation failed, 1 error(s)", faults
                )
            numbers[name] = number
        size, page = numbers["limit"], numbers["page"]
        rows = list(self.orders.values())
        more = (page + 1) * size < len(rows)
        link = f"{request.path}?limit={size}&page={page + 1}" if more else None
        paging = {
            "PageIndex": page,
            "PageSize": size,
            "TotalItems": len(rows),
            "NextPage": link,
        }
        return {"WorkOrders": rows[page * size : (page + 1) * size], "Paging": paging}

    def tasks(self, request: Request) -> Response:
        return self.answer(request, self.find_page, secured=False)

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        def assign(request: Request, agent: str) -> Any:
            values = self.bind(request, WorkOrderNo="string", PlannedFinishDate="date")
            order = self.order(values)
            self.expect(order, "RELEASED", None)
            self.step(order, "ASSIGNED")
            self.assignees[order["WorkOrderNo"]] = agent
            self.book.claimed(order["WorkOrderNo"])
            finish = values["PlannedFinishDate"].isoformat()
            return {"WorkOrder": order, "Assignee": agent, "PlannedFinishDate": finish}

        return self.answer(request, assign)

    def submit(self, request: Request) -> Response:
        def deliver(request: Request, agent: str) -> Any:
            kinds = {"WorkOrderNo": "string", "Revision": "integer"}
            kinds |= {"DeliveryFormat": "format", "DeliveredWording": "string"}
            values = self.bind(request, **kinds)
            order = self.order(values, agent)
            self.expect(order, "ASSIGNED", values["Revision"])
            key = order["WorkOrderNo"]
            body: dict[str, Any] = {"WorkOrderNo": key, "DeliveryNo": None}
            if values["DeliveredWording"] != order["OriginalWording"].upper():
                remark = "DeliveredWording is not the OriginalWording in upper case"
                body |= {"InspectionResult": "REJECTED", "Remark": remark}
            else:
                self.step(order, "DELIVERED")
                self.deliveries[key] = f"DN-{930001 + len(self.deliveries)}"
                body |= {
                    "DeliveryNo": self.deliveries[key],
                    "InspectionResult": "APPROVED",
                }
            status, revision = order["ProcessingStatus"], order["Revision"]
            return {**body, "ProcessingStatus": status, "Revision": revision}

        return self.answer(request, deliver)

    def complete(self, request: Request) -> Response:
        def settle(request: Request, agent: str) -> Any:
            kinds = {
                "WorkOrderNo": "string",
                "Revision": "integer",
                "DeliveryNo": "string",
            }
            values = self.bind(request, **kinds)
            order = self.order(values, agent)
            self.expect(order, "DELIVERED", values["Revision"])
            key, amount = order["WorkOrderNo"], order["RemunerationCredits"]
            if values["DeliveryNo"] != self.deliveries[key]:
                text = f"Delivery {values['DeliveryNo']} does not belong to work order {key}"
                raise BusinessException(422, "KX-3005", text)
            self.step(order, "SETTLED")
            self.book.pay(key, amount)
            self.accounts[agent] += amount
            account = {"AgentNo": agent, "BalanceCredits": self.accounts[agent]}
            return {"WorkOrder": order, "CreditedAmount": amount, "Account": account}

        return self.answer(request, settle)

    def missing(self, request: Request) -> Response:
        return Response(
            404, self.envelope("KX-4004", f"No endpoint {request.path}", None)
        )
