"""A copy desk on Express 4 with express-validator 7 and Mongoose.

Lists {"success": true, "data": <mongoose-paginate page>}: data.docs has for each commission
`_id` (24 hex digits), `client` (populated: another `_id` and `name`), `brief.headline`,
`brief.copy` (the text), `fee` (Decimal128: {"$numberDecimal": "12"}), `status`, `__v`.
Every step makes a document of its own, and the next step names that one:
claim wants {"commissionId": hex}; 201 {"success", "data": assignment}, whose `_id` is the
assignment's and whose `commission` is populated.
submit wants {"assignmentId": hex, "manuscript": {"body": str, "format": "plain"|"markdown"}};
201 {"success", "data": delivery} with the delivery's `_id`; wrong work is a 422 with a message.
complete wants {"deliveryId": hex}; pays, 200 {"success", "data": {"commission", "payment"}}.
Refused bodies are 422 {"success": false, "errors": [{"type": "field", "value", "msg", "path",
"location"}]}: all errors, often two for one field, `value` left out where nothing was sent, most
of them "Invalid value". All else is {"success": false, "message"}; unknown keys are ignored.
"""

import json
import re
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

COPY = [
    (
        "Poster for the harbour fair",
        "the harbour fair opens at noon beside the old lighthouse",
        12,
    ),
    ("Shop window", "fresh bread and warm cakes every morning from six", 6),
    (
        "Theatre curtain notice",
        "please switch off your phones before the second act begins",
        9,
    ),
    ("Library banner", "borrow as many books as you can carry home tonight", 7),
    (
        "Ferry timetable header",
        "the evening ferry does not run on sundays or in heavy fog",
        15,
    ),
    ("Garden gate", "visitors are kindly asked to close the gate behind them", 11),
]
CLIENTS = [
    ("Marlow & Finch", 0x11),
    ("Northgate Council", 0x12),
    ("The Copper Kettle", 0x13),
]
HEX = re.compile(r"[0-9a-fA-F]{24}")
ABSENT = object()


def send(status: int, **body: Any) -> Response:
    """Return what res.status(...).json(...) sends."""
    kind = {
        "Content-Type": "application/json; charset=utf-8",
        "X-Powered-By": "Express",
    }
    return Response(status, {"success": status < 400, **body}, kind)


def object_id(serial: int) -> str:
    """Return an ObjectId: time, machine, counter."""
    return f"{0x6790A3C0 + serial:08x}5be1f04d7c{0x2E41D0 + serial:06x}"


def strings(value: Any) -> list[str]:
    """Return the strings that a standard validator looks at: of an array, each element's."""
    many = value if isinstance(value, list) else [value]
    return [
        ""
        if one is ABSENT or one is None
        else one
        if isinstance(one, str)
        else str(one).lower()
        if isinstance(one, bool)
        else "[object Object]"
        if isinstance(one, dict)
        else str(one)
        for one in many
    ]


CHECKS: dict[str, Any] = {
    "notEmpty": lambda value: all(strings(value)),
    "isMongoId": lambda value: all(HEX.fullmatch(one) for one in strings(value)),
    "isString": lambda value: isinstance(value, str),
    "isObject": lambda value: isinstance(value, dict),
    "isFormat": lambda value: all(
        one in ("plain", "markdown") for one in strings(value)
    ),
    "isLimit": lambda value: all(
        re.fullmatch(r"[-+]?[0-9]+", one) and 1 <= int(one) <= 100
        for one in strings(value)
    ),
}


def failures(
    given: Any, chains: dict[str, list[tuple[str, str]]], location: str
) -> list[Any]:
    """Return validationResult(req).array(): without bail, every check that fails is one."""
    found = []
    for path, chain in chains.items():
        value = given
        for key in path.split("."):
            value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
        for check, message in chain:
            if not CHECKS[check](value):
                shown = {} if value is ABSENT else {"value": value}
                where = {
                    "msg": message or "Invalid value",
                    "path": path,
                    "location": location,
                }
                found.append({"type": "field", **shown, **where})
    return found


def id_of(path: str) -> dict[str, list[tuple[str, str]]]:
    """Return body(path).notEmpty().withMessage(...).isMongoId()."""
    return {path: [("notEmpty", f"{path} is required"), ("isMongoId", "")]}


def cast_error(value: Any, kind: str, path: str, model: str) -> Response:
    """Return the error handler's answer to Mongoose's CastError."""
    message = f'Cast to {kind} failed for value "{value}" (type Array) at path "{path}"'
    return send(400, message=f'{message} for model "{model}"')


class CopyDesk(Backend):
    """Commissions, assignments and deliveries, each a collection."""

    def __init__(self) -> None:
        super().__init__()
        self.serial = 0
        self.agents: dict[str, dict[str, Any]] = {}  # by token
        self.commissions: dict[str, dict[str, Any]] = {}
        self.assignments: dict[str, dict[str, Any]] = {}
        self.deliveries: dict[str, dict[str, Any]] = {}
        for number, (headline, copy, fee) in enumerate(COPY):
            client, mark = CLIENTS[number % 3]
            key = self.new_id()
            self.commissions[key] = {
                "_id": key,
                "client": {"_id": object_id(mark * 0x10000), "name": client},
                "brief": {"headline": headline, "copy": copy, "treatment": "all caps"},
                "fee": {"$numberDecimal": str(fee)},
                "status": "listed",
                "createdAt": f"2025-01-22T08:{10 + number}:04.117Z",
                "updatedAt": f"2025-01-22T08:{10 + number}:04.117Z",
                "__v": 0,
            }

    def new_id(self) -> str:
        self.serial += 1
        return object_id(self.serial)

    def texts(self) -> dict[str, str]:
        return {key: row["brief"]["copy"] for key, row in self.commissions.items()}

    def missing(self, request: Request) -> Response:
        page = (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            "<title>Error</title>\n</head>\n<body>\n"
            f"<pre>Cannot {request.method} {request.path}</pre>\n</body>\n</html>\n"
        )
        return Response(404, page, {"Content-Type": "text/html; charset=utf-8"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(32)
        agent = {"agent_id": self.new_id(), "credits": 100}
        self.agents[token] = agent
        return send(200, **agent, access_token=token)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return send(401, message="Unauthorized: missing or invalid token")
        if "limit" in request.query:
            errors = failures(request.query, {"limit": [("isLimit", "")]}, "query")
            if errors:
                return send(422, errors=errors)
        return self.page(int(request.query.get("limit", 10)))

    def marketplace(self, request: Request) -> Response:
        return self.page(10)

    def page(self, limit: int) -> Response:
        """Return what Commission.paginate() resolves to."""
        found = [row for row in self.commissions.values() if row["status"] == "listed"]
        more = len(found) > limit
        page = {
            "docs": found[:limit],
            "totalDocs": len(found),
            "limit": limit,
            "totalPages": max(1, -(-len(found) // limit)),
            "page": 1,
            "pagingCounter": 1,
            "hasPrevPage": False,
            "hasNextPage": more,
            "prevPage": None,
            "nextPage": 2 if more else None,
        }
        return send(200, data=page)

    def body(self, request: Request, chains: dict[str, Any]) -> Any:
        """Return req.body after express.json(), the token and the validators, or a refusal."""
        given: Any = {}
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        raw = request.raw.decode(errors="replace")
        if kind == "application/json" and raw:
            first = raw.lstrip()[:1]
            try:
                if first not in ("{", "["):
                    raise json.JSONDecodeError("strict violation", raw, raw.find(first))
                given = json.loads(raw)
            except json.JSONDecodeError as error:
                shown = raw if len(raw) <= 40 else raw[:30] + "..."
                message = f"Unexpected token '{raw[error.pos :][:1]}', \"{shown}\" is not valid JSON"
                if error.msg.startswith("Expecting property name"):
                    message = f"Expected property name or '}}' in JSON at position {error.pos}"
                elif error.pos >= len(raw):
                    message = "Unexpected end of JSON input"
                return send(400, message=message)
        if request.token not in self.agents:
            return send(401, message="Unauthorized: missing or invalid token")
        errors = failures(given, chains, "body")
        return send(422, errors=errors) if errors else given

    def claim(self, request: Request) -> Response:
        given = self.body(request, id_of("commissionId"))
        if isinstance(given, Response):
            return given
        if not isinstance(given["commissionId"], str):
            return cast_error(given["commissionId"], "ObjectId", "_id", "Commission")
        row = self.commissions.get(given["commissionId"].lower())
        if row is None:
            return send(404, message="Commission not found")
        if row["status"] != "listed":
            return send(409, message="Commission has already been assigned")
        row["status"] = "assigned"
        assignment = {
            "_id": self.new_id(),
            "commission": row,
            "agent": self.agents[request.token]["agent_id"],
            "status": "active",
            "__v": 0,
        }
        self.assignments[assignment["_id"]] = assignment
        self.book.claimed(row["_id"])
        return send(201, message="Commission assigned", data=assignment)

    def submit(self, request: Request) -> Response:
        chains = {
            **id_of("assignmentId"),
            "manuscript": [("isObject", "manuscript must be an object")],
            "manuscript.body": [("isString", ""), ("notEmpty", "")],
            "manuscript.format": [
                ("isFormat", "format must be one of: plain, markdown")
            ],
        }
        given = self.body(request, chains)
        if isinstance(given, Response):
            return given
        if not isinstance(given["assignmentId"], str):
            return cast_error(given["assignmentId"], "ObjectId", "_id", "Assignment")
        manuscript = given["manuscript"]
        if not isinstance(manuscript["format"], str):
            return cast_error(manuscript["format"], "string", "format", "Delivery")
        assignment = self.assignments.get(given["assignmentId"].lower())
        agent = self.agents[request.token]["agent_id"]
        if assignment is None or assignment["agent"] != agent:
            return send(404, message="Assignment not found")
        if assignment["status"] != "active":
            return send(409, message="Assignment has already been delivered")
        row = assignment["commission"]
        if manuscript["body"] != row["brief"]["copy"].upper():
            return send(
                422, message="Manuscript rejected: body is not the copy in all caps"
            )
        assignment["status"] = row["status"] = "delivered"
        delivery = {
            "_id": self.new_id(),
            "assignment": assignment["_id"],
            "agent": agent,
            "wordCount": len(manuscript["body"].split()),
            "status": "approved",
            "__v": 0,
        }
        self.deliveries[delivery["_id"]] = delivery
        return send(201, message="Manuscript received", data=delivery)

    def complete(self, request: Request) -> Response:
        given = self.body(request, id_of("deliveryId"))
        if isinstance(given, Response):
            return given
        if not isinstance(given["deliveryId"], str):
            return cast_error(given["deliveryId"], "ObjectId", "_id", "Delivery")
        delivery = self.deliveries.get(given["deliveryId"].lower())
        agent = self.agents[request.token]
        if delivery is None or delivery["agent"] != agent["agent_id"]:
            return send(404, message="Delivery not found")
        if delivery["status"] == "paid":
            return send(409, message="Delivery has already been paid")
        row = self.assignments[delivery["assignment"]]["commission"]
        delivery["status"], row["status"] = "paid", "closed"
        fee = int(row["fee"]["$numberDecimal"])
        agent["credits"] += fee
        self.book.pay(row["_id"], fee)
        payment = {
            "fee": row["fee"],
            "balance": {"$numberDecimal": str(agent["credits"])},
        }
        closed = {"_id": row["_id"], "status": "closed"}
        return send(
            200, message="Paid", data={"commission": closed, "payment": payment}
        )
