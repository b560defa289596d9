"""ASP.NET Core 8 MVC ([ApiController]) with records, System.Text.Json and ProblemDetails.

Lists {"items": [...], "totalCount": n}; each work order has a guid `id`, a readable `number`
("WO-20417"), `operation` ("UpperCase"), `instructions`, `input` ({"text", "culture"}),
`payout` (a decimal of credits) and `status` ("Open").
claim wants {"workOrderId": guid, "agentId": guid} (the agent_id of the registration); answers
{"reservation": {"id": int, "reservedUntilUtc": time}, "workOrder": {...}}.
submit wants {"reservationId": int, "deliverables": [{"content": str}]} (exactly one;
`mediaType` is optional); answers {"submissionId": guid, "status": "Accepted"}.
complete wants {"reservationId": int, "submissionId": guid}; pays.
Refusals are application/problem+json. Model validation: a ValidationProblemDetails whose `errors`
are keyed by the C# names (WorkOrderId, Deliverables[0].Content), though the JSON is camelCase. A
value of the wrong type: `errors` keyed by the JSON path, next to MVC's own "request": ["The request
field is required."], where `request` is only the action's parameter. Names are read without regard
to case, unknown ones are ignored, numbers may come as strings (the web defaults).
"""

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from tests.foreign.backend import Backend, Request, Response

TEXTS = [
    "every evening the ferry crosses the bay with its lights on",
    "please water the tomatoes twice a day while we are away",
    "the orchestra rehearsed in an empty factory near the canal",
    "my uncle repairs radios that nobody else wants to keep",
    "snow fell on the vineyard and the village went quiet early",
    "the children built a raft from barrels, planks and old rope",
]
PAYOUTS = [9, 14, 11, 6, 20, 8]
KINDS = {
    400: "1 Bad Request",
    401: "2 Unauthorized",
    403: "4 Forbidden",
    404: "5 Not Found",
}
KINDS |= {
    409: "10 Conflict",
    415: "16 Unsupported Media Type",
}  # with RFC 9110's section 15.5.*
GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
NO_BODY = {"": ["A non-empty request body is required."]}
NO_REQUEST = {"request": ["The request field is required."]}
NS = "Quayside.WorkOrders.Contracts."
DOTNET = {
    "guid": "System.Nullable`1[System.Guid]",
    "int": "System.Nullable`1[System.Int32]",
}
# A contract: its class, and by C# name the type and whether it is [Required].
GUID_, INT_ = ("guid", True), ("int", True)
CONTENT = {"Content": ("string", True), "MediaType": ("string", False)}
WORK = ([("DeliverableDto", CONTENT)], True)
CLAIM = ("ClaimWorkOrderRequest", {"WorkOrderId": GUID_, "AgentId": GUID_})
SUBMIT = ("SubmitWorkRequest", {"ReservationId": INT_, "Deliverables": WORK})
COMPLETE = ("CompleteWorkRequest", {"ReservationId": INT_, "SubmissionId": GUID_})


class Node(NamedTuple):
    """A JSON value and where its first token ends, as the reader would stand there."""

    value: Any  # an object is ("{}", [(name, Node), ...])
    at: int


def scan(text: str, start: int = 0) -> tuple[Node, int]:
    """Return the value at a place in text that is known to be JSON, and its end."""

    def skip(place: int, over: str = r"[\s,:]*") -> int:
        return re.compile(over).match(text, place).end()  # type: ignore[union-attr]

    start = skip(start)
    if text[start] in "{[":
        pairs: list[Any] = []
        place = skip(start + 1)
        while text[place] not in "}]":
            name = ""
            if text[start] == "{":
                name, place = scanstring(text, place + 1)
            node, place = scan(text, place)
            pairs.append((name, node) if text[start] == "{" else node)
            place = skip(place)
        return Node(
            ("{}", pairs) if text[start] == "{" else pairs, start + 1
        ), place + 1
    if text[start] == '"':
        word, end = scanstring(text, start + 1)
        return Node(word, end), end
    end = skip(start, r"[^\s,\]}]+")
    return Node(json.loads(text[start:end]), end), end


class JsonException(Exception):
    """System.Text.Json's: what it says, the path and the place."""


def dotnet(kind: Any) -> str:
    """Return how .NET names a type in a message."""
    if isinstance(kind, list):
        return f"System.Collections.Generic.List`1[{dotnet(kind[0])}]"
    return (
        NS + kind[0] if isinstance(kind, tuple) else DOTNET.get(kind, "System.String")
    )


def read(node: Node, kind: Any, path: str = "$") -> Any:
    """Return the deserialized value; records become dicts by C# name."""
    value = node.value
    if value is None:
        return None
    said = f"The JSON value could not be converted to {dotnet(kind)}."
    wrong = JsonException(said, path, node.at)
    if isinstance(kind, (list, tuple)) and type(kind) is not type(value):
        raise wrong
    if isinstance(kind, list):
        return [read(each, kind[0], f"{path}[{i}]") for i, each in enumerate(value)]
    if isinstance(kind, tuple):
        members = {name.lower(): name for name in kind[1]}
        made: dict[str, Any] = dict.fromkeys(kind[1])
        for name, inner in value[1]:
            if name.lower() in members:
                member = members[name.lower()]
                made[member] = read(inner, kind[1][member][0], f"{path}.{name}")
        return made
    if kind == "int":
        if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,9}", str(value)):
            raise wrong
        return int(value)
    if not isinstance(value, str) or (kind == "guid" and not GUID.fullmatch(value)):
        raise wrong
    return value.lower() if kind == "guid" else value


def invalid(made: dict[str, Any], kind: Any, at: str = "") -> dict[str, list[str]]:
    """Return the model state's errors by C# name."""
    errors: dict[str, list[str]] = {}
    for name, (inner, required) in kind[1].items():
        value = made[name]
        if required and (value is None or not str(value).strip()):
            errors[at + name] = [f"The {name} field is required."]
        elif isinstance(value, list) and len(value) != 1:
            said = f"The field {name} must be a string or array type with a "
            errors[at + name] = [
                f"{said}{'maximum' if value else 'minimum'} length of '1'."
            ]
        elif isinstance(value, list):
            for i, each in enumerate(value):
                errors |= invalid(each, inner[0], f"{at}{name}[{i}].") if each else {}
    return errors


class AspNetWorkOrders(Backend):
    """Work orders under reservations, as one MVC controller with EF Core behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.reservations: dict[int, dict[str, Any]] = {}
        self.traces = 0
        for number, text in enumerate(TEXTS):
            key = str(uuid.uuid5(uuid.NAMESPACE_URL, f"quayside/work-orders/{number}"))
            order = {
                "id": key,
                "number": f"WO-{20417 + number}",
                "operation": "UpperCase",
            }
            order["instructions"] = "Return the input text converted to upper case."
            order |= {
                "input": {"text": text, "culture": "en-GB"},  # type: ignore[dict-item]
                "payout": float(PAYOUTS[number]),  # type: ignore[dict-item]
            }
            order |= {
                "status": "Open",
                "createdUtc": f"2025-02-1{number}T10:2{number}:05.2381937Z",
            }
            self.orders[key] = order

    def texts(self) -> dict[str, str]:
        return {key: order["input"]["text"] for key, order in self.orders.items()}

    def problem(
        self, status: int, detail: str = "", errors: Any = None, **more: Any
    ) -> Response:
        """Return ProblemDetails as ASP.NET's factory fills it in."""
        self.traces += 1
        trace = uuid.uuid5(uuid.NAMESPACE_OID, f"trace{self.traces}").hex
        part, _, title = KINDS[status].partition(" ")
        link = f"https://tools.ietf.org/html/rfc9110#section-15.5.{part}"
        body: dict[str, Any] = {"type": link, "title": title, "status": status}
        if errors is not None:
            body |= {
                "title": "One or more validation errors occurred.",
                "errors": errors,
            }
        body |= {"detail": detail} if detail else {}
        body |= {"traceId": f"00-{trace}-{trace[:16]}-00", **more}
        return Response(
            status, body, {"Content-Type": "application/problem+json; charset=utf-8"}
        )

    def missing(self, request: Request) -> Response:
        return self.problem(404)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"qs_{uuid.uuid4().hex}"
        self.agents[token] = {"agent_id": str(uuid.uuid4()), "credits": 100}
        return Response(200, self.agents[token] | {"access_token": token})

    def unauthorized(self, request: Request) -> Response | None:
        if request.token in self.agents:
            return None
        answer = self.problem(401)
        wrong = ' error="invalid_token"' * bool(request.token)
        answer.headers |= {"WWW-Authenticate": f"Bearer{wrong}"}
        return answer

    def listing(self, limit: int) -> Response:
        found = [order for order in self.orders.values() if order["status"] == "Open"]
        return Response(200, {"items": found[:limit], "totalCount": len(found)})

    def marketplace(self, request: Request) -> Response:
        return self.listing(50)

    def tasks(self, request: Request) -> Response:
        refusal = self.unauthorized(request)
        if refusal:
            return refusal
        limit = request.query.get("limit") or "50"
        if re.fullmatch(r"\d{1,3}", limit) and 1 <= int(limit) <= 100:
            return self.listing(int(limit))
        said = f"The value '{limit}' is not valid."
        if re.fullmatch(r"-?\d+", limit):
            said = "The field limit must be between 1 and 100."
        return self.problem(400, errors={"limit": [said]})

    def body(self, request: Request, kind: Any) -> dict[str, Any] | Response:
        """Return the bound and valid body, or what MVC says instead."""
        refusal = self.unauthorized(request)
        if refusal:
            return refusal
        media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if not re.fullmatch(r"application/(.+\+)?json|text/json", media.lower()):
            return self.problem(415)
        text = request.raw.decode(errors="replace")
        if text.strip() in ("", "null"):
            return self.problem(400, errors=NO_BODY | NO_REQUEST)
        try:
            json.loads(text)
            made = read(scan(text)[0], kind)
        except JsonException as wrong:
            return self.unread(text, *wrong.args)
        except json.JSONDecodeError as wrong:
            said = (
                f"'{text[wrong.pos : wrong.pos + 1]}' is an invalid start of a value."
            )
            if "property name" in wrong.msg:
                said = said.replace("value.", "property name. Expected a '\"'.")
            if wrong.pos >= len(text):
                said = "Expected depth to be zero at the end of the JSON payload."
            return self.unread(text, said, "$", wrong.pos)
        errors = invalid(made, kind)
        return self.problem(400, errors=errors) if errors else made

    def unread(self, text: str, said: str, path: str, at: int) -> Response:
        """Return what MVC makes of a JsonException."""
        *lines, last = text[:at].encode().split(b"\n")
        said += f" Path: {path} | LineNumber: {len(lines)} | BytePositionInLine: {len(last)}."
        return self.problem(400, errors=NO_REQUEST | {path: [said]})

    def claim(self, request: Request) -> Response:
        given = self.body(request, CLAIM)
        if isinstance(given, Response):
            return given
        if given["AgentId"] != self.agents[request.token]["agent_id"]:
            return self.problem(403, "agentId does not belong to the access token.")
        order = self.orders.get(given["WorkOrderId"])
        if order is None:
            return self.problem(
                404, f"Work order {given['WorkOrderId']} was not found."
            )
        if order["status"] != "Open":
            said = f"Work order {order['number']} is not open."
            for key, each in self.reservations.items():
                if each["order"] is order and each["token"] == request.token:
                    return self.problem(409, said, reservationId=key)
            return self.problem(409, said)
        order["status"] = "Reserved"
        key = 5012 + len(self.reservations)
        self.reservations[key] = {"order": order, "token": request.token, "done": ""}
        until = datetime.now(UTC) + timedelta(minutes=45)
        reservation = {
            "id": key,
            "reservedUntilUtc": until.strftime("%Y-%m-%dT%H:%M:%S.%f0Z"),
        }
        self.book.claimed(order["id"])
        return Response(200, {"reservation": reservation, "workOrder": order})

    def reserved(self, request: Request, kind: Any) -> tuple[Any, Any]:
        """Return the body and the reservation that it names, or a refusal for either."""
        given = self.body(request, kind)
        if isinstance(given, Response):
            return given, given
        key = given["ReservationId"]
        held = self.reservations.get(key)
        if held is None or held["token"] != request.token:
            return given, self.problem(404, f"Reservation {key} was not found.")
        if held["order"]["status"] == "Completed":
            return given, self.problem(409, f"Reservation {key} is already completed.")
        return given, held

    def submit(self, request: Request) -> Response:
        given, held = self.reserved(request, SUBMIT)
        if isinstance(held, Response):
            return held
        work = given["Deliverables"][0]
        if not work or work["Content"] != held["order"]["input"]["text"].upper():
            said = "Content is not the input text in upper case."
            return self.problem(400, errors={"Deliverables[0].Content": [said]})
        held["done"] = held["done"] or str(uuid.uuid4())
        held["order"]["status"] = "Submitted"
        return Response(200, {"submissionId": held["done"], "status": "Accepted"})

    def complete(self, request: Request) -> Response:
        given, held = self.reserved(request, COMPLETE)
        if isinstance(held, Response):
            return held
        if not held["done"]:
            return self.problem(409, "Nothing has been submitted for this reservation.")
        if given["SubmissionId"] != held["done"]:
            return self.problem(
                404, f"Submission {given['SubmissionId']} was not found."
            )
        order, agent = held["order"], self.agents[request.token]
        order["status"] = "Completed"
        agent["credits"] += int(order["payout"])
        self.book.pay(order["id"], int(order["payout"]))
        answer = {"status": "Completed", "credited": order["payout"]}
        return Response(200, {**answer, "creditBalance": agent["credits"]})
