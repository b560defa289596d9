"""Bahnhofsschrift: signs and announcements for railway stations, on Spring Boot.

Stack: Spring Boot 3, Spring MVC, Jackson, Jakarta validation, Spring Data, default error
attributes with `server.error.include-message=always` and `include-binding-errors=always`. The
listing is a Spring Data `Page`: `{"content": [{"orderId": 70013, "station", "feeCredits",
"characters", ...}], "pageable", "totalElements", ...}`. The text is told with the claim.

Claim wants `orderId` and `deliveryMode` (enum INLINE, ATTACHMENT) and answers the ticket:
`{"ticketNo": "T-2207", "order": {...}, "copyText": "..."}`. Submit wants `ticketNo` and
`copy: {content, language}`. Complete wants `ticketNo` and `signedOffBy`, and pays.

Errors: `{"timestamp", "status", "error", "message", "errors": [...], "path"}`; Jackson's
complaints as `message`; 401 by Spring Security has no body. Unknown fields are ignored.
"""

import json
import secrets
import time
import uuid
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS = [
    (
        "Altenmoor",
        "Departure board",
        "The train to Seestadt leaves from track nine",
        22,
    ),
    ("Altenmoor", "Platform sign", "Please stand behind the yellow line", 14),
    ("Seestadt Hbf", "Poster", "Night trains run again from the first of May", 26),
    (
        "Seestadt Hbf",
        "Departure board",
        "Delay of ten minutes due to leaves on the line",
        17,
    ),
    ("Kleinwinkel", "Door sticker", "Bicycles board at the rear of the train", 12),
    ("Kleinwinkel", "Platform sign", "Lift out of order, use the north ramp", 19),
    ("Fuchsberg", "Poster", "Travel in company: five ride on one ticket", 31),
    ("Fuchsberg", "Door sticker", "Quiet car, phones and parrots off please", 15),
]
REASONS = {400: "Bad Request", 403: "Forbidden", 404: "Not Found", 409: "Conflict"}
REASONS[422] = "Unprocessable Entity"
MODES = ["INLINE", "ATTACHMENT"]
PACKAGE = "de.bahnhofsschrift.api"


@dataclass
class Order:
    """An entity."""

    order_id: int
    station: str
    medium: str
    copy_text: str
    fee: int
    status: str = "OFFERED"
    ticket: str = ""
    typesetter: str = ""
    mode: str = ""


class NotReadableError(Exception):
    """Jackson could not bind the body."""


class Bahnhofsschrift(Backend):
    """The application."""

    def __init__(self) -> None:
        super().__init__()
        orders = (Order(70013 + 7 * n, *row) for n, row in enumerate(ORDERS))
        self.orders = {order.order_id: order for order in orders}
        self.typesetters: dict[str, str] = {}
        self.accounts: dict[str, int] = {}
        self.tickets = 2206

    def texts(self) -> dict[str, str]:
        """Return each order's text."""
        return {str(order.order_id): order.copy_text for order in self.orders.values()}

    def _error(
        self, request: Request, status: int, message: str, errors: Any = None
    ) -> Response:
        """Return the default error attributes."""
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000+00:00", time.gmtime(time.time()))
        body: dict[str, Any] = {"timestamp": now, "status": status}
        body |= {"error": REASONS[status], "message": message}
        if errors:
            body["errors"] = errors
        return Response(status, body | {"path": request.path})

    def missing(self, request: Request) -> Response:
        """Answer as for a path without a handler."""
        return self._error(request, 404, f"No static resource {request.path[1:]}.")

    def register(self, request: Request) -> Response:
        """Create a typesetter."""
        self.book.registrations += 1
        who, token = str(uuid.uuid4()), secrets.token_urlsafe(40)
        self.typesetters[token] = who
        self.accounts[who] = 100
        return Response(200, {"agent_id": who, "access_token": token, "credits": 100})

    def _page(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.isdecimal():
            message = (
                "Failed to convert value of type 'java.lang.String' to required type"
            )
            message += f" 'int'; For input string: \"{limit}\""
            return self._error(request, 400, message)
        size = max(1, int(limit))
        rows = [order for order in self.orders.values() if order.status == "OFFERED"]
        content = [self._view(order) for order in rows[:size]]
        order = {"sorted": False}
        return Response(
            200,
            {
                "content": content,
                "pageable": {
                    "pageNumber": 0,
                    "pageSize": size,
                    "sort": order,
                    "offset": 0,
                },
                "totalElements": len(rows),
                "last": len(rows) <= size,
                "size": size,
                "empty": not content,
            },
        )

    def tasks(self, request: Request) -> Response:
        """List the offered orders to a typesetter."""
        if request.token not in self.typesetters:
            return Response(401, b"", {"WWW-Authenticate": "Bearer"})
        return self._page(request)

    def marketplace(self, request: Request) -> Response:
        """List the offered orders to everybody."""
        return self._page(request)

    def _view(self, order: Order) -> dict[str, Any]:
        return {
            "orderId": order.order_id,
            "station": order.station,
            "medium": order.medium,
            "description": "Set the copy in capital letters (toUpperCase), words and "
            "punctuation unchanged. The copy is on the ticket.",
            "characters": len(order.copy_text),
            "feeCredits": order.fee,
            "deliveryModes": MODES,
            "status": order.status,
        }

    def _ticket(self, order: Order) -> dict[str, Any]:
        return {
            "ticketNo": order.ticket,
            "deliveryMode": order.mode,
            "order": self._view(order),
            "copyText": order.copy_text,
            "copyLanguage": "en",
        }

    def _read(
        self, request: Request, dto: str, kinds: dict[str, str]
    ) -> dict[str, Any]:
        """Return the body as Jackson binds it; absent fields are None."""
        if not request.raw.strip():
            raise NotReadableError(f"Required request body is missing: {PACKAGE}.{dto}")
        try:
            body = json.loads(request.raw)
        except ValueError as error:
            raise NotReadableError(f"JSON parse error: {error}") from error
        if not isinstance(body, dict):
            token = f"{'Array' if isinstance(body, list) else 'String'} value"
            start = "JSON parse error: Cannot deserialize value of type"
            raise NotReadableError(f"{start} `{PACKAGE}.{dto}` from {token}")
        bound: dict[str, Any] = {}
        for name, kind in kinds.items():
            value = body.get(name)
            bound[name] = None if value is None else self._bind(value, kind)
        return bound

    def _bind(self, value: Any, kind: str) -> Any:
        """Return a value as Jackson coerces it."""
        start = f"JSON parse error: Cannot deserialize value of type `{kind}` from "
        if kind.endswith(".CopyDto"):
            if not isinstance(value, dict):
                raise NotReadableError(
                    f"JSON parse error: Cannot construct instance of `{kind}`: no String-"
                    f"argument constructor/factory method to deserialize from {value!r}"
                )
            given = {n: value.get(n) for n in ("content", "language")}
            return {
                n: self._bind(v, "java.lang.String") if v else None
                for n, v in given.items()
            }
        if isinstance(value, (dict, list)):
            token = "START_OBJECT" if isinstance(value, dict) else "START_ARRAY"
            name = token.split("_")[1].title()
            raise NotReadableError(f"{start}{name} value (token `JsonToken.{token}`)")
        if kind == "java.lang.Long":
            if isinstance(value, bool) or not str(value).isdecimal():
                raise NotReadableError(
                    f'{start}String "{value}": not a valid `{kind}` value'
                )
            return int(value)
        if kind.endswith("DeliveryMode") and value not in MODES:
            raise NotReadableError(
                f'{start}String "{value}": not one of the values accepted for Enum class: '
                f"[{', '.join(MODES)}]"
            )
        return str(value)

    def _violations(
        self, request: Request, object_name: str, found: list[tuple[str, Any, str, str]]
    ) -> Response:
        """Return the answer to a MethodArgumentNotValidException."""
        errors = [
            {
                "codes": [f"{code}.{object_name}.{name}", f"{code}.{name}", code],
                "arguments": [
                    {"codes": [f"{object_name}.{name}", name], "defaultMessage": name}
                ],
                "defaultMessage": message,
                "objectName": object_name,
                "field": name,
                "rejectedValue": value,
                "bindingFailure": False,
                "code": code,
            }
            for name, value, code, message in found
        ]
        message = (
            f"Validation failed for object='{object_name}'. Error count: {len(errors)}"
        )
        return self._error(request, 400, message, errors)

    def _enter(
        self, request: Request, dto: str, kinds: dict[str, str]
    ) -> tuple[str, dict[str, Any], Response | None]:
        who = self.typesetters.get(request.token, "")
        if not who:
            return "", {}, Response(401, b"", {"WWW-Authenticate": "Bearer"})
        try:
            return who, self._read(request, dto, kinds), None
        except NotReadableError as error:
            return "", {}, self._error(request, 400, str(error))

    def claim(self, request: Request) -> Response:
        """Open a ticket."""
        kinds = {"orderId": "java.lang.Long", "deliveryMode": f"{PACKAGE}.DeliveryMode"}
        who, body, refusal = self._enter(request, "ClaimRequest", kinds)
        if refusal:
            return refusal
        null = [
            (n, None, "NotNull", "must not be null") for n in kinds if body[n] is None
        ]
        if null:
            return self._violations(request, "claimRequest", null)
        order = self.orders.get(body["orderId"])
        if order is None:
            return self._error(request, 404, f"Order {body['orderId']} not found")
        if order.typesetter and order.typesetter != who:
            return self._error(
                request, 409, f"Order {order.order_id} is {order.status}"
            )
        if not order.typesetter:
            self.tickets += 1
            order.ticket, order.typesetter = f"T-{self.tickets}", who
            order.status, order.mode = "IN_SETTING", body["deliveryMode"]
            self.book.claimed(str(order.order_id))
        return Response(200, self._ticket(order))

    def _mine(self, who: str, ticket: str) -> Order | None:
        rows = self.orders.values()
        return next(
            (o for o in rows if o.ticket == ticket and o.typesetter == who), None
        )

    def submit(self, request: Request) -> Response:
        """Take the set copy."""
        kinds = {"ticketNo": "java.lang.String", "copy": f"{PACKAGE}.CopyDto"}
        who, body, refusal = self._enter(request, "SubmissionRequest", kinds)
        if refusal:
            return refusal
        found = []
        if not (body["ticketNo"] or "").strip():
            found.append(
                ("ticketNo", body["ticketNo"], "NotBlank", "must not be blank")
            )
        if body["copy"] is None:
            found.append(("copy", None, "NotNull", "must not be null"))
        for name, value in (body["copy"] or {}).items():
            if not (value or "").strip():
                found.append((f"copy.{name}", value, "NotBlank", "must not be blank"))
            elif name == "language" and len(value) != 2:
                found.append(
                    ("copy.language", value, "Size", "size must be between 2 and 2")
                )
        if found:
            return self._violations(request, "submissionRequest", found)
        order = self._mine(who, body["ticketNo"])
        if order is None:
            return self._error(request, 404, f"Ticket {body['ticketNo']} not found")
        if order.status == "SETTLED":
            return self._error(request, 409, f"Ticket {order.ticket} is SETTLED")
        if body["copy"]["content"] != order.copy_text.upper():
            return self._error(
                request, 422, "copy.content is not the copyText in capitals"
            )
        order.status = "PROOFREAD"
        return Response(200, self._ticket(order))

    def complete(self, request: Request) -> Response:
        """Settle the ticket."""
        kinds = dict.fromkeys(("ticketNo", "signedOffBy"), "java.lang.String")
        who, body, refusal = self._enter(request, "CompletionRequest", kinds)
        if refusal:
            return refusal
        blank = [n for n in kinds if not (body[n] or "").strip()]
        if blank:
            found = [(n, body[n], "NotBlank", "must not be blank") for n in blank]
            return self._violations(request, "completionRequest", found)
        order = self._mine(who, body["ticketNo"])
        if order is None:
            return self._error(request, 404, f"Ticket {body['ticketNo']} not found")
        if order.status != "PROOFREAD":
            message = f"Ticket {order.ticket} is {order.status}, expected PROOFREAD"
            return self._error(request, 409, message)
        order.status = "SETTLED"
        self.accounts[who] += order.fee
        self.book.pay(str(order.order_id), order.fee)
        settlement = {"feeCredits": order.fee, "accountBalance": self.accounts[who]}
        return Response(200, self._ticket(order) | {"settlement": settlement})
