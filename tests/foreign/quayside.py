"""A Java Dropwizard (Jersey, Jackson, Hibernate Validator) shipping documents desk.

Says no with a list of `errors` (422) or with `code` and `message`, as Dropwizard does.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

Reader = Callable[[Any], Any]
REALM = {"WWW-Authenticate": 'Bearer realm="quayside"'}
PACKAGE = "com.quayside.desk.api."
DOC_TYPES = (
    "BILL_OF_LADING",
    "PACKING_LIST",
    "CERTIFICATE_OF_ORIGIN",
    "CARGO_MANIFEST",
)
LONG = 2**63


class MismatchedInputError(Exception):
    """What Jackson throws at a value of the wrong kind."""


def _token(value: Any) -> str:
    if isinstance(value, dict):
        return "Object value (token `JsonToken.START_OBJECT`)"
    if isinstance(value, list):
        return "Array value (token `JsonToken.START_ARRAY`)"
    return f"Boolean value (token `JsonToken.VALUE_{str(value).upper()}`)"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict | list):
        raise MismatchedInputError(
            f"Cannot deserialize value of type `java.lang.String` from {_token(value)}"
        )
    return _plain(value)


def _long(value: Any) -> int | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, dict | list | bool):
        raise MismatchedInputError(
            f"Cannot deserialize value of type `java.lang.Long` from {_token(value)}"
        )
    if isinstance(value, str):
        digits = value.strip()
        if not digits.lstrip("+-").isascii() or not digits.lstrip("+-").isdigit():
            raise MismatchedInputError(
                "Cannot deserialize value of type `java.lang.Long` from String "
                f'"{value}": not a valid `java.lang.Long` value'
            )
        value = digits
    number = LONG if value in (float("inf"), -float("inf")) else int(value)
    if not -LONG <= number < LONG:
        raise MismatchedInputError(
            f"Numeric value ({number}) out of range of long "
            "(-9223372036854775808 - 9223372036854775807)"
        )
    return number


def _doc_type(value: Any) -> str | None:
    if value is None:
        return None
    text = "{" if isinstance(value, dict) else "[" if isinstance(value, list) else ""
    text = text or _plain(value)
    name = "".join(text.split()).replace("-", "_").replace(".", "_").upper()
    if name not in DOC_TYPES:
        raise MismatchedInputError(f"{text} was not one of [{', '.join(DOC_TYPES)}]")
    return name


def _bean(name: str, fields: dict[str, Reader]) -> Reader:
    def read(value: Any) -> dict[str, Any] | None:
        if value is None:
            return None
        if isinstance(value, dict):
            return {field: get(value.get(field)) for field, get in fields.items()}
        kind = f"`{PACKAGE}{name}`"
        if isinstance(value, list):
            raise MismatchedInputError(
                f"Cannot deserialize value of type {kind} from {_token(value)}"
            )
        if value == "":
            raise MismatchedInputError(
                f'Cannot coerce empty String ("") to {kind} value '
                "(but could if coercion was enabled using `CoercionConfig`)"
            )
        if isinstance(value, bool):
            how, source = "boolean/Boolean", f"boolean value ({json.dumps(value)})"
        elif isinstance(value, int):
            how, source = "int/Int", f"Number value ({value})"
        elif isinstance(value, float):
            how, source = "double/Double", f"Number value ({value})"
        else:
            how, source = "String", f"String value ('{value}')"
        raise MismatchedInputError(
            f"Cannot construct instance of {kind} (although at least one Creator "
            f"exists): no {how}-argument constructor/factory method to deserialize "
            f"from {source}"
        )

    return read


CLAIM = _bean("ClaimRequest", {"claim": _bean("Claim", {"docketNo": _long})})
SUBMIT = _bean(
    "LodgementRequest",
    {
        "bookingRef": _text,
        "document": _bean(
            "LodgedDocument", {"docType": _doc_type, "content": _text, "remarks": _text}
        ),
    },
)
COMPLETE = _bean("SettlementRequest", {"bookingRef": _text, "lodgementNo": _long})

DOCKETS = [
    ("NLRTM", "BILL_OF_LADING", "Type the consignee block of the reefer booking", 15),
    ("SGSIN", "PACKING_LIST", "Number the pallets of the ceramic tiles", 9),
    ("DEHAM", "CARGO_MANIFEST", "Order the manifest lines by hold", 22),
    ("BRSSZ", "CERTIFICATE_OF_ORIGIN", "State the origin of the green coffee", 13),
    ("CNSHA", "BILL_OF_LADING", "Write the shipped on board clause", 18),
    ("ZADUR", "PACKING_LIST", "Sum the gross weights of the wine crates", 7),
    ("AEJEA", "CARGO_MANIFEST", "Declare the dangerous goods on deck two", 35),
    ("INNSA", "CERTIFICATE_OF_ORIGIN", "Attest the cotton yarn for the customs", 12),
    ("USSAV", "BILL_OF_LADING", "Amend the notify party of the kaolin load", 20),
    ("ESVLC", "PACKING_LIST", "List the marks on the orange cartons", 8),
    ("GBFXT", "CARGO_MANIFEST", "Strike the short shipped containers out", 17),
]


@dataclass
class Docket:
    """One document to be drawn up."""

    number: int
    port: str
    doc_type: str
    text: str
    fee: int
    status: str = "AWAITING_CLERK"


@dataclass
class Booking:
    """A docket in the hands of a clerk."""

    ref: str
    docket: Docket
    clerk: str
    lodgement: int = 0
    content: str = ""


class Quayside(Backend):
    """The shipping documents desk."""

    def __init__(self) -> None:
        super().__init__()
        self._dockets = {
            48113 + 7 * index: Docket(48113 + 7 * index, port, doc_type, text, fee)
            for index, (port, doc_type, text, fee) in enumerate(DOCKETS)
        }
        self._clerks: dict[str, str] = {}
        self._balances: dict[str, int] = {}
        self._bookings: dict[str, Booking] = {}
        self._lodgements = 900100

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its identifier."""
        return {str(docket.number): docket.text for docket in self._dockets.values()}

    def missing(self, request: Request) -> Response:
        """Return Jersey's 404 or 405."""
        methods = [method for method, path in ACTIONS if path == request.path]
        if methods and request.method not in methods:
            answer = self._message(405, "HTTP 405 Method Not Allowed")
            answer.headers["Allow"] = f"{methods[0]},OPTIONS"
            return answer
        return self._message(404, "HTTP 404 Not Found")

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        clerk = f"CLK{10400 + self.book.registrations}"
        token = secrets.token_hex(20)
        self._clerks[token] = clerk
        self._balances[clerk] = 100
        return Response(200, {"agent_id": clerk, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        """List the dockets that wait for a clerk."""
        return self._listing("AWAITING_CLERK", 50)

    def tasks(self, request: Request) -> Response:
        """List the dockets, whatever their status."""
        limit = 50
        if request.query.get("limit"):
            try:
                limit = int(request.query["limit"])
            except ValueError:
                return self._message(400, "query param limit is not a number.")
            if limit < 1:
                return self._errors(
                    "query param limit must be greater than or equal to 1", status=400
                )
            if limit > 200:
                return self._errors(
                    "query param limit must be less than or equal to 200", status=400
                )
        return self._listing("", limit)

    def claim(self, request: Request) -> Response:
        """Book a docket for a clerk."""
        clerk, body, refusal = self._read(request, CLAIM)
        if refusal:
            return refusal
        if body["claim"] is None:
            return self._errors("claim must not be null")
        number = body["claim"]["docketNo"]
        if number is None:
            return self._errors("claim.docketNo must not be null")
        docket = self._dockets.get(number)
        if docket is None:
            return self._message(404, f"Docket {number} does not exist")
        if docket.status != "AWAITING_CLERK":
            return self._message(409, f"Docket {number} is {docket.status}")
        docket.status = "ASSIGNED"
        booking = Booking(f"BK-{secrets.token_hex(4).upper()}", docket, clerk)
        self._bookings[booking.ref] = booking
        self.book.claimed(str(number))
        due = datetime.now(UTC) + timedelta(hours=4)
        return Response(
            200,
            {
                "bookingRef": booking.ref,
                "docketNo": number,
                "status": docket.status,
                "dueAt": due.strftime("%Y-%m-%dT%H:%M:%SZ"),
            },
        )

    def submit(self, request: Request) -> Response:
        """Lodge the document of a booking."""
        clerk, body, refusal = self._read(request, SUBMIT)
        if refusal:
            return refusal
        errors = []
        if not (body["bookingRef"] or "").strip():
            errors.append("bookingRef must not be blank")
        document = body["document"]
        if document is None:
            errors.append("document must not be null")
        else:
            if not (document["content"] or "").strip():
                errors.append("document.content must not be blank")
            elif len(document["content"]) > 20000:
                errors.append("document.content size must be between 0 and 20000")
            if document["docType"] is None:
                errors.append("document.docType must not be null")
            if len(document["remarks"] or "") > 250:
                errors.append("document.remarks size must be between 0 and 250")
        if errors:
            return self._errors(*errors)
        booking, refusal = self._booking(clerk, body["bookingRef"])
        if refusal:
            return refusal
        docket = booking.docket
        if docket.status != "ASSIGNED":
            return self._message(409, f"Booking {booking.ref} is {docket.status}")
        if document["docType"] != docket.doc_type:
            return self._errors(
                f"document.docType must be {docket.doc_type} for docket {docket.number}"
            )
        self._lodgements += 1
        booking.lodgement, booking.content = self._lodgements, document["content"]
        docket.status = "LODGED"
        return Response(
            200,
            {
                "bookingRef": booking.ref,
                "lodgementNo": booking.lodgement,
                "status": docket.status,
            },
        )

    def complete(self, request: Request) -> Response:
        """Settle a lodged document."""
        clerk, body, refusal = self._read(request, COMPLETE)
        if refusal:
            return refusal
        errors = []
        if not (body["bookingRef"] or "").strip():
            errors.append("bookingRef must not be blank")
        if body["lodgementNo"] is None:
            errors.append("lodgementNo must not be null")
        if errors:
            return self._errors(*errors)
        booking, refusal = self._booking(clerk, body["bookingRef"])
        if refusal:
            return refusal
        docket = booking.docket
        if docket.status != "LODGED":
            return self._message(
                409, f"Booking {booking.ref} is {docket.status}, expected LODGED"
            )
        if body["lodgementNo"] != booking.lodgement:
            return self._message(
                404, f"Booking {booking.ref} has no lodgement {body['lodgementNo']}"
            )
        if booking.content != docket.text.upper():
            docket.status = "ASSIGNED"
            return self._message(
                409, f"Lodgement {booking.lodgement} was rejected, lodge it again"
            )
        docket.status = "SETTLED"
        self.book.pay(str(docket.number), docket.fee)
        self._balances[clerk] += docket.fee
        return Response(
            200,
            {
                "bookingRef": booking.ref,
                "status": docket.status,
                "settlement": {
                    "amount": docket.fee,
                    "currency": "CREDITS",
                    "balanceAfter": self._balances[clerk],
                },
            },
        )

    def _listing(self, status: str, limit: int) -> Response:
        dockets = [
            docket
            for docket in self._dockets.values()
            if docket.status == (status or docket.status)
        ]
        return Response(
            200,
            {
                "dockets": [
                    {
                        "docketNo": docket.number,
                        "docType": docket.doc_type,
                        "portOfLoading": docket.port,
                        "instructions": docket.text,
                        "status": docket.status,
                        "fee": {"amount": docket.fee, "currency": "CREDITS"},
                    }
                    for docket in dockets[:limit]
                ],
                "totalCount": len(dockets),
            },
        )

    def _booking(self, clerk: str, ref: str) -> tuple[Any, Response | None]:
        booking = self._bookings.get(ref)
        if booking is None:
            return None, self._message(404, f"Booking {ref} does not exist")
        if booking.clerk != clerk:
            return None, self._message(403, "HTTP 403 Forbidden")
        return booking, None

    def _read(self, request: Request, bean: Reader) -> tuple[str, Any, Response | None]:
        media_type = (request.headers.get("Content-Type") or "").partition(";")[0]
        if media_type.strip().lower() != "application/json":
            return "", None, self._message(415, "HTTP 415 Unsupported Media Type")
        clerk = self._clerks.get(request.token, "")
        if not clerk:
            return (
                "",
                None,
                Response(
                    401, "Credentials are required to access this resource.", {**REALM}
                ),
            )
        if not request.raw.strip():
            return clerk, None, self._errors("The request body must not be null")
        try:
            body = bean(json.loads(request.raw, parse_constant=self._refuse))
        except MismatchedInputError as mismatch:
            return clerk, None, self._unprocessable(str(mismatch))
        except ValueError:
            return (
                clerk,
                None,
                self._unprocessable(
                    "Unexpected character or end-of-input: was expecting a valid JSON "
                    "value (JSON String, Number, Array, Object or token 'null', 'true' "
                    "or 'false')"
                ),
            )
        if body is None:
            return clerk, None, self._errors("The request body must not be null")
        return clerk, body, None

    @staticmethod
    def _refuse(name: str) -> Any:
        raise ValueError(name)

    @staticmethod
    def _errors(*errors: str, status: int = 422) -> Response:
        return Response(status, {"errors": list(errors)})

    @staticmethod
    def _message(code: int, message: str) -> Response:
        return Response(code, {"code": code, "message": message})

    @staticmethod
    def _unprocessable(details: str) -> Response:
        return Response(
            400,
            {"code": 400, "message": "Unable to process JSON", "details": details},
        )
