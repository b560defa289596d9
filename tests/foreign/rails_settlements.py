"""Rails API: strong parameters, full_messages, AASM.

A copy desk with "work orders". Lists {"work_orders": [...], "meta": {...}}: each with a UUID `id`,
`number`, `job` ("upcase"), `brief`, `copy` (the text), `fee` (a decimal column, so a string: "9.0"),
`fee_currency`, `aasm_state` ("published"), `requester`, `due_on`, `created_at`, `updated_at`.
claim wants {"claim": {"work_order_id": uuid}}; 201 {"claim": {"id": int, "work_order_id", ...}}.
submit wants {"submission": {"claim_id": int, "body": str}}; 201 {"submission": {"id": int, ...}}.
complete wants {"settlement": {"submission_id": int}}; pays, `head :ok` (200 with an empty body).
Refusals: 400 {"error": "param is missing or the value is empty or invalid: claim"} without the root
key, 422 {"errors": full_messages} ("Work order must exist", "Body can't be blank"), 409 {"error":
AASM's message}; 401 is the plain text of authenticate_or_request_with_http_token. Parameters that
are not permitted are dropped silently. A body that does not parse is {"status": 400, "error"}.
"""

import re
import uuid
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

ORDERS = [
    (
        "Bell & Daughters",
        "our oldest oak barrels have rested here since the great flood",
        11,
    ),
    ("Harbour Radio", "good evening and welcome to the late night shipping report", 8),
    ("Tilda Marsh", "thank you for walking my dog while i was away", 6),
    (
        "Northside Cycling Club",
        "meet at the iron bridge on sunday and bring a spare tube",
        13,
    ),
    ("Pine Street School", "the spring concert begins at seven in the small hall", 10),
    ("Orchard Press", "nobody in the village remembered who had built the tower", 19),
]
SPACE = uuid.UUID("0b6f3b0e-52c6-4b7e-9a41-6f1d2a9c7750")
STAMP = "2026-03-02T09:14:07.311Z"


class ParameterMissing(Exception):
    """ActionController::ParameterMissing."""

    def __init__(self, key: str) -> None:
        super().__init__(f"param is missing or the value is empty or invalid: {key}")


class RecordInvalid(Exception):
    """ActiveRecord::RecordInvalid, with the record's full messages."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__("Validation failed: " + ", ".join(messages))
        self.messages = messages


class InvalidTransition(Exception):
    """AASM::InvalidTransition."""

    def __init__(self, event: str, state: str) -> None:
        super().__init__(f"Event '{event}' cannot transition from '{state}'.")


class ParseError(Exception):
    """ActionDispatch::Http::Parameters::ParseError."""


class Unauthorized(Exception):
    """The token is not one of ours."""


EVENTS = {
    "assign": ("published", "assigned"),
    "deliver": ("assigned", "delivered"),
    "settle": ("delivered", "settled"),
}


def fire(order: dict[str, Any], event: str) -> None:
    """Do what AASM's event! does."""
    source, target = EVENTS[event]
    if order["aasm_state"] != source:
        raise InvalidTransition(event, order["aasm_state"])
    order["aasm_state"] = target


def cast_id(value: Any) -> int | None:
    """Return what ActiveModel::Type::Integer makes of a value."""
    if value is None or value == "":
        return None
    found = re.match(r"\s*-?[0-9]{1,18}", str(int(value is True) or value))
    return int(found[0]) if found else 0


def blank(value: Any) -> bool:
    return value is None or value is False or not str(value).strip()


class Rails(Backend):
    """Work orders, claims, submissions and settlements, as a Rails API."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.claims: dict[int, dict[str, Any]] = {}
        self.submissions: dict[int, dict[str, Any]] = {}
        self.owners: dict[int, str] = {}  # by claim
        for index, (requester, copy, fee) in enumerate(ORDERS):
            key = str(uuid.uuid5(SPACE, copy))
            self.orders[key] = {
                "id": key,
                "number": f"WO-{2291 + 4 * index}",
                "job": "upcase",
                "brief": "Write this copy in upper case",
                "copy": copy,
                "fee": f"{fee}.0",
                "fee_currency": "credits",
                "aasm_state": "published",
                "requester": {"id": 70 + index, "name": requester},
                "due_on": "2031-04-30",
                "created_at": STAMP,
                "updated_at": STAMP,
            }

    def texts(self) -> dict[str, str]:
        return {key: order["copy"] for key, order in self.orders.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"status": 404, "error": "Not Found"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = uuid.uuid4().hex[:24]
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        self.agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def marketplace(self, request: Request) -> Response:
        return self.index(request)

    def tasks(self, request: Request) -> Response:
        return self.rescued(self.private_index, request)

    def private_index(self, request: Request) -> Response:
        self.authenticate(request)
        return self.index(request)

    def index(self, request: Request) -> Response:
        found = [
            row for row in self.orders.values() if row["aasm_state"] == "published"
        ]
        limit = min(max(cast_id(request.query.get("limit")) or 25, 1), 100)
        meta = {
            "current_page": 1,
            "total_pages": -(-len(found) // limit),
            "total_count": len(found),
        }
        return Response(200, {"work_orders": found[:limit], "meta": meta})

    def claim(self, request: Request) -> Response:
        return self.rescued(self.create_claim, request)

    def submit(self, request: Request) -> Response:
        return self.rescued(self.create_submission, request)

    def complete(self, request: Request) -> Response:
        return self.rescued(self.create_settlement, request)

    def rescued(self, action: Any, request: Request) -> Response:
        """Do what ApplicationController's rescue_from lines do."""
        try:
            return action(request)  # type: ignore[no-any-return]
        except Unauthorized:
            realm = {"WWW-Authenticate": 'Token realm="Application"'}
            return Response(401, "HTTP Token: Access denied.\n", realm)
        except ParseError:
            return Response(400, {"status": 400, "error": "Bad Request"})
        except ParameterMissing as error:
            return Response(400, {"error": str(error)})
        except RecordInvalid as error:
            return Response(422, {"errors": error.messages})
        except InvalidTransition as error:
            return Response(409, {"error": str(error)})

    def authenticate(self, request: Request) -> dict[str, Any]:
        if request.token not in self.agents:
            raise Unauthorized
        return self.agents[request.token]

    def params(self, request: Request, root: str, *permitted: str) -> dict[str, Any]:
        """Return params.require(root).permit(*permitted): only scalars pass."""
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        given: Any = {}
        if kind == "application/json" and request.raw.strip():
            try:
                given = request.json()
            except ValueError:
                raise ParseError from None
            if not isinstance(given, dict):
                given = {"_json": given}
        elif kind == "application/x-www-form-urlencoded":
            for name, value in parse_qsl(request.raw.decode(errors="replace")):
                outer, bracket, inner = name.rstrip("]").partition("[")
                if not bracket:
                    given[outer] = value
                elif isinstance(given.setdefault(outer, {}), dict):
                    given[outer][inner] = value
        # The body is parsed before the controller authenticates.
        self.authenticate(request)
        inner = given.get(root)
        if not isinstance(inner, dict) or not inner:
            raise ParameterMissing(root)
        return {
            key: inner[key]
            for key in permitted
            if key in inner and not isinstance(inner[key], (dict, list))
        }

    def create_claim(self, request: Request) -> Response:
        given = self.params(request, "claim", "work_order_id")
        order = self.orders.get(str(given.get("work_order_id") or "").lower())
        if order is None:
            raise RecordInvalid(["Work order must exist"])
        fire(order, "assign")
        key = 5531 + len(self.claims)
        claim = {
            "id": key,
            "work_order_id": order["id"],
            "expires_at": "2031-04-30T23:59:59.000Z",
            "created_at": STAMP,
        }
        self.claims[key] = claim
        self.owners[key] = request.token
        self.book.claimed(order["id"])
        shown = {**claim, "work_order_state": order["aasm_state"]}
        return Response(201, {"claim": shown})

    def create_submission(self, request: Request) -> Response:
        given = self.params(request, "submission", "claim_id", "body")
        key = cast_id(given.get("claim_id")) or 0
        claim = self.claims.get(key)
        if claim is not None and self.owners[key] != request.token:
            claim = None
        body, messages = given.get("body"), []
        if claim is None:
            messages.append("Claim must exist")
        if blank(body):
            messages.append("Body can't be blank")
        if claim is None or messages:
            raise RecordInvalid(messages)
        order = self.orders[claim["work_order_id"]]
        if str(body).strip() != order["copy"].upper():
            raise RecordInvalid(["Body is not the copy in upper case"])
        fire(order, "deliver")
        number = 20817 + len(self.submissions)
        submission = {
            "id": number,
            "claim_id": claim["id"],
            "body": body,
            "work_order_state": order["aasm_state"],
            "created_at": STAMP,
        }
        self.submissions[number] = submission
        return Response(201, {"submission": submission})

    def create_settlement(self, request: Request) -> Response:
        given = self.params(request, "settlement", "submission_id")
        submission = self.submissions.get(cast_id(given.get("submission_id")) or 0)
        if submission is None or self.owners[submission["claim_id"]] != request.token:
            raise RecordInvalid(["Submission must exist"])
        order = self.orders[self.claims[submission["claim_id"]]["work_order_id"]]
        fire(order, "settle")
        fee = int(float(order["fee"]))
        self.agents[request.token]["credits"] += fee
        self.book.pay(order["id"], fee)
        accept = request.headers.get("Accept") or "*/*"
        kind = "application/json" if accept == "application/json" else "text/html"
        return Response(200, b"", {"Content-Type": kind})
