"""A railway sign depot's message bus over HTTP in Perl: Mojolicious, JSON::Validator.

All that is said is an envelope, `header` and `body`, both ways; each message answers another
one, which it names in `in_reply_to`: taking an order answers the offer, delivering the proof
answers the assignment, closing answers the acceptance of the proof. A sender makes up its own
`msg_id`, and a message that was handled once is answered the same when it comes again.

HTTP only carries: 400 is an envelope that the bus cannot read, with the validator's list; what
the depot itself declines comes with 200 as `order.declined`.
"""

import json
import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS = (
    ("SGN-0417", "Platform board", "stand behind the yellow line", 9),
    ("SGN-0418", "Platform board", "trains on track six may be longer than they appear", 17),
    ("SGN-0421", "Buffet", "soup from eleven, pie from noon", 8),
    ("SGN-0424", "Left luggage", "no ladders, no livestock, no poems", 12),
    ("SGN-0425", "Signal box", "do not whistle at the levers", 7),
    ("SGN-0430", "Timetable frame", "runs on sundays except this one", 10),
    ("SGN-0433", "Footbridge", "mind your hat in the wind", 6),
    ("SGN-0434", "Lamp room", "return the lantern cold", 5),
    ("SGN-0438", "Ticket hall", "second class to the left, lost class to the right", 19),
    ("SGN-0441", "Goods yard", "shunting by hand: keep clear", 11),
    ("SGN-0446", "Last carriage", "this end does not call at elder halt", 23),
)  # fmt: skip
FIRST_OFFSET = 40_112
UUID = "uuid"


def obj(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"required": required, "properties": properties}


def envelope(kind: str, **body: Any) -> dict[str, Any]:
    """Return the schema of a message that agents send."""
    return obj(
        ["header", "body"],
        header=obj(
            ["msg_id", "msg_type", "in_reply_to"],
            msg_id={"format": UUID},
            msg_type={"enum": [kind]},
            in_reply_to={"format": UUID},
            sent_at={},
            sender={},
        ),
        body=obj(list(body), **body),
    )


TAKE = envelope("order.take", order_no={})
DELIVER = envelope("order.deliver", order_no={}, proof={"minLength": 1})
CLOSE = envelope("order.close", order_no={})

Errors = list[dict[str, str]]


def kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    names = {str: "string", list: "array", dict: "object"}
    return names[type(value)]  # type: ignore[index]


def validate(schema: dict[str, Any], value: Any, path: str = "") -> Errors:
    """Return what JSON::Validator finds, by path; whatever is no object is a string."""
    wanted = "object" if "properties" in schema else "string"
    if kind_of(value) != wanted:
        words = f"Expected {wanted} - got {kind_of(value)}."
        return [{"path": path or "/", "message": words}]
    if wanted == "string":
        words = ""
        if value not in schema.get("enum", [value]):
            words = f"Not in enum list: {', '.join(schema['enum'])}."
        elif len(value) < schema.get("minLength", 0):
            words = f"String is too short: {len(value)}/{schema['minLength']}."
        elif schema.get("format") == UUID and not re.fullmatch(
            r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value
        ):
            words = "Does not match uuid format."
        return [{"path": path, "message": words}] if words else []
    found: Errors = [
        {"path": f"{path}/{name}", "message": "Missing property."}
        for name in schema["required"]
        if name not in value
    ]
    if unknown := sorted(set(value) - set(schema["properties"])):
        words = f"Properties not allowed: {', '.join(unknown)}."
        found.append({"path": path or "/", "message": words})
    for name, inner in schema["properties"].items():
        if name in value:
            found += validate(inner, value[name], f"{path}/{name}")
    return sorted(found, key=lambda error: error["path"])


def message(kind: str, to: str | None, body: Any, expects: str | None = None) -> Any:
    """Return an envelope from the depot."""
    header = {
        "msg_id": str(uuid.uuid4()),
        "msg_type": kind,
        "in_reply_to": to,
        "sender": "depot",
        "sent_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if expects:
        header["expects"] = expects
    return {"header": header, "body": body}


class Fault(Exception):  # noqa: N818
    """What the bus cannot carry."""

    def __init__(
        self, status: int, fault: str, text: str, errors: Any = None, to: Any = None
    ) -> None:
        super().__init__(fault)
        body = {"fault": fault, "text": text} | ({"errors": errors} if errors else {})
        self.response = Response(status, message("bus.fault", to, body))


class Declined(Exception):  # noqa: N818
    """What the depot does not want."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(reason)
        self.body = {"reason": reason, "text": text}


def channel(schema: dict[str, Any]) -> Callable[..., Callable[..., Response]]:
    """Read a message off the wire, have it handled once, and write the reply."""

    def around(inner: Callable[..., Any]) -> Callable[..., Response]:
        @wraps(inner)
        def outer(self: "SwitchyardMojo", request: Request) -> Response:
            try:
                crew = self.crew(request)
                given = self.read(request, schema)
                header = given["header"]
                sent = (crew["agent_id"], header["msg_id"].lower())
                known = self.handled.get(sent)
                if known and known[0] == given:
                    return Response(200, known[1])
                if known:
                    words = f"msg_id {header['msg_id']} was used for another message"
                    raise Fault(409, "duplicate_msg_id", words, to=header["msg_id"])
                try:
                    reply = inner(self, crew, header, given["body"])
                except Declined as declined:
                    reply = message("order.declined", header["msg_id"], declined.body)
                    return Response(200, reply, refused=True)
                self.handled[sent] = (given, reply)
                return Response(200, reply)
            except Fault as fault:
                return fault.response

        return outer

    return around


class SwitchyardMojo(Backend):
    """Eleven offers on the channel signs.open."""

    def __init__(self) -> None:
        super().__init__()
        self.crews: dict[str, dict[str, Any]] = {}
        self.handled: dict[tuple[str, str], tuple[Any, Any]] = {}
        self.offers: dict[str, dict[str, Any]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        morning = datetime.now(UTC) - timedelta(hours=4)
        for n, (order, place, copy, pay) in enumerate(ORDERS):
            body = {
                "order_no": order,
                "place": place,
                "copy": copy,
                "style": "all capitals",
                "pay_credits": pay,
            }
            offer = message("order.offered", None, body, expects="order.take")
            sent = morning + timedelta(minutes=11 * n)
            offer["header"]["sent_at"] = sent.strftime("%Y-%m-%dT%H:%M:%SZ")
            offer["header"]["offset"] = FIRST_OFFSET + 3 * n
            self.offers[order] = offer
            self.orders[order] = {"state": "offered", "crew": None, "pay": pay}
            self.orders[order]["last"] = offer["header"]["msg_id"]

    def texts(self) -> dict[str, str]:
        return {order: copy for order, _, copy, _ in ORDERS}

    def missing(self, request: Request) -> Response:
        words = f"nothing listens at {request.method} {request.path}"
        return Fault(404, "no_such_channel", words).response

    def crew(self, request: Request) -> dict[str, Any]:
        if request.token not in self.crews:
            words = "no crew goes by this bearer token"
            raise Fault(401, "not_authenticated", words)
        return self.crews[request.token]

    def read(self, request: Request, schema: dict[str, Any]) -> dict[str, Any]:
        try:
            given = json.loads(request.raw)
        except ValueError as error:
            words = f"Malformed JSON: {getattr(error, 'msg', error)}"
            raise Fault(400, "not_json", words) from None
        if errors := validate(schema, given):
            header = given.get("header") if isinstance(given, dict) else None
            to = header.get("msg_id") if isinstance(header, dict) else None
            words = "the envelope does not validate"
            raise Fault(400, "bad_envelope", words, errors, to)
        return given  # type: ignore[no-any-return]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        crew, token = f"crew-{secrets.token_hex(5)}", secrets.token_hex(24)
        self.crews[token] = {"agent_id": crew, "credits": 100}
        return Response(200, {"agent_id": crew, "access_token": token, "credits": 100})

    def snapshot(self, request: Request) -> Response:
        """Return the offers that still stand, from an offset on."""
        numbers = {}
        for name, default in (("limit", 6), ("from_offset", 0)):
            given = request.query.get(name, str(default))
            if not re.fullmatch(r"\d{1,9}", given):
                words = "Expected integer - got string."
                errors = [{"path": f"/{name}", "message": words}]
                words = "the query does not validate"
                return Fault(400, "bad_query", words, errors).response
            numbers[name] = int(given)
        limit = max(1, min(numbers["limit"], 100))
        found = [
            offer
            for order, offer in self.offers.items()
            if self.orders[order]["state"] == "offered"
            and offer["header"]["offset"] >= numbers["from_offset"]
        ]
        next_ = found[limit]["header"]["offset"] if len(found) > limit else None
        body = {
            "channel": "signs.open",
            "messages": found[:limit],
            "next_offset": next_,
        }
        return Response(200, message("channel.snapshot", None, body))

    def marketplace(self, request: Request) -> Response:
        return self.snapshot(request)

    def tasks(self, request: Request) -> Response:
        try:
            self.crew(request)
        except Fault as fault:
            return fault.response
        return self.snapshot(request)

    def order(self, number: str) -> dict[str, Any]:
        if number not in self.orders:
            raise Declined("unknown_order", f"there is no order {number}")
        return self.orders[number]

    def mine(self, crew: dict[str, Any], number: str) -> dict[str, Any]:
        order = self.order(number)
        if order["crew"] != crew["agent_id"]:
            raise Declined("not_your_order", f"{number} is not assigned to you")
        return order

    @staticmethod
    def threaded(
        header: Any, order: dict[str, Any], number: str, answered: str
    ) -> None:
        """Decline a message that does not answer the right one."""
        if header["in_reply_to"].lower() != order["last"]:
            words = f"in_reply_to has to be the msg_id of {answered} for {number}"
            raise Declined("out_of_thread", words)

    @channel(TAKE)
    def claim(self, crew: dict[str, Any], header: Any, body: Any) -> Any:
        """Assign an order that was on offer."""
        number = body["order_no"]
        order = self.order(number)
        if order["state"] != "offered":
            raise Declined("offer_gone", f"{number} is no longer on offer")
        self.threaded(header, order, number, "order.offered")
        self.book.claimed(number)
        order |= {"state": "assigned", "crew": crew["agent_id"]}
        body = {"order_no": number, "crew": crew["agent_id"], "state": "assigned"}
        reply = message(
            "order.assigned", header["msg_id"], body, expects="order.deliver"
        )
        order["last"] = reply["header"]["msg_id"]
        return reply

    @channel(DELIVER)
    def submit(self, crew: dict[str, Any], header: Any, body: Any) -> Any:
        """Accept the proof of an assigned order."""
        number = body["order_no"]
        order = self.mine(crew, number)
        if order["state"] != "assigned":
            words = f"the proof of {number} has been accepted before"
            raise Declined("already_delivered", words)
        self.threaded(header, order, number, "order.assigned")
        if body["proof"].strip() != self.texts()[number].upper():
            words = f"the proof is not the copy of {number} in all capitals"
            raise Declined("proof_rejected", words)
        order["state"] = "proofed"
        body = {"order_no": number, "state": "proofed"}
        reply = message("proof.accepted", header["msg_id"], body, expects="order.close")
        order["last"] = reply["header"]["msg_id"]
        return reply

    @channel(CLOSE)
    def complete(self, crew: dict[str, Any], header: Any, body: Any) -> Any:
        """Pay for an order whose proof was accepted."""
        number = body["order_no"]
        order = self.mine(crew, number)
        if order["state"] == "closed":
            raise Declined("already_closed", f"{number} is closed and paid")
        if order["state"] != "proofed":
            raise Declined("no_proof", f"no proof of {number} has been accepted yet")
        self.threaded(header, order, number, "proof.accepted")
        order["state"] = "closed"
        crew["credits"] += order["pay"]
        self.book.pay(number, order["pay"])
        body = {
            "order_no": number,
            "state": "closed",
            "paid_credits": order["pay"],
            "balance_credits": crew["credits"],
        }
        return message("order.closed", header["msg_id"], body)
