"""A letterers' co-operative: Perl, Mojolicious with the OpenAPI plugin.

Members write the wording of shop signs and labels. The application was written by a member
years ago, specification first: JSON::Validator checks every body and names every fault by
its path; whatever the schema cannot say, the application says in the same envelope.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from datetime import date, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ORDERS = [
    (412, "Bakery window", "fresh rolls from six o'clock", 14),
    (415, "Bicycle workshop door", "please ring twice, we are in the yard", 22),
    (416, "Seed packet", "broad beans: sow in march", 9),
    (420, "Ferry landing", "last boat leaves at 21.40", 31),
    (421, "Café awning", "café and crêpes since 1987", 18),
    (427, "Museum cloakroom", "umbrellas to the left, rucksacks to the right", 26),
]


def _kind(value: Any) -> str:
    """Return the name that JSON::Validator gives to a value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


def _fault(value: Any, schema: dict[str, Any]) -> str:
    """Return what JSON::Validator has to say against a value, or ""."""
    wanted, got = schema["type"], _kind(value)
    if wanted == "integer":
        if got != "number" or value != int(value):
            return f"Expected integer - got {got}."
    elif got != wanted:
        return f"Expected {wanted} - got {got}."
    if "minimum" in schema and value < schema["minimum"]:
        return f"{value} < minimum({schema['minimum']})"
    if "maximum" in schema and value > schema["maximum"]:
        return f"{value} > maximum({schema['maximum']})"
    if "minLength" in schema and len(value) < schema["minLength"]:
        return f"String is too short: {len(value)}/{schema['minLength']}."
    if schema.get("format") == "date":
        try:
            if not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
                return "Does not match date format."
            date.fromisoformat(value)
        except ValueError:
            return "Does not match date format."
    return ""


_TEXT = {"type": "string", "minLength": 1}
_CLAIM = {
    "order": {"type": "integer"},
    "member_no": _TEXT,
    "ready_by": {"type": "string", "format": "date"},
}
_SUBMIT = {
    "bench_ticket": _TEXT,
    "lettering": _TEXT,
    "hours": {"type": "number", "minimum": 0.25, "maximum": 40},
}
_COMPLETE = {
    "bench_ticket": _TEXT,
    "member_no": _TEXT,
    "proofread": {"type": "boolean"},
}


def _errors(status: int, *faults: tuple[str, str]) -> Response:
    """Return the envelope of Mojolicious::Plugin::OpenAPI."""
    listed = [{"message": said, "path": path} for path, said in faults]
    return Response(status, {"errors": listed, "status": status})


class LetterersCoop(Backend):
    """Orders are taken to the bench, lettered, proofread; the pay-out comes last."""

    def __init__(self) -> None:
        super().__init__()
        wanted_by = (date.today() + timedelta(days=14)).isoformat()  # noqa: DTZ011
        self._members: dict[str, dict[str, Any]] = {}  # by token
        self._tickets: dict[str, dict[str, Any]] = {}
        self._orders = {
            number: {
                "order": number,
                "for": place,
                "brief": "Write out the wording in capitals, punctuation as it stands.",
                "wording": wording,
                "fee": {"amount": fee, "unit": "credits"},
                "wanted_by": wanted_by,
                "state": "wanted",
            }
            for number, place, wording, fee in _ORDERS
        }

    def texts(self) -> dict[str, str]:
        """Return the wording of every order."""
        return {str(number): wording for number, _, wording, _ in _ORDERS}

    def missing(self, request: Request) -> Response:
        """Say that there is no such route."""
        return _errors(404, ("/", "Not Found."))

    def register(self, request: Request) -> Response:
        """Take in a member."""
        self.book.registrations += 1
        number = f"C-{140 + self.book.registrations}"
        token = secrets.token_hex(20)
        self._members[token] = {"member_no": number, "credits": 100}
        agent = f"letterer_{140 + self.book.registrations}"
        start = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, {**start, "member_no": number})

    def tasks(self, request: Request) -> Response:
        """List the wanted orders as a bare array; nobody needs a token to look."""
        limit: Any = request.query.get("limit", "25")
        limit = int(limit) if re.fullmatch(r"-?\d+", limit) else limit
        fault = _fault(limit, {"type": "integer", "minimum": 1, "maximum": 25})
        if fault:
            return _errors(400, ("/limit", fault))
        wanted = [o for o in self._orders.values() if o["state"] == "wanted"]
        return Response(200, wanted[:limit], {"X-Total-Count": str(len(wanted))})

    def marketplace(self, request: Request) -> Response:
        """List the same for passers-by."""
        return self.tasks(request)

    def agents(self, request: Request) -> Response:
        """List the members."""
        return Response(200, [m["member_no"] for m in self._members.values()])

    def directory(self, request: Request) -> Response:
        """List the members; they have no manifests."""
        return (
            self.missing(request) if "slug" in request.query else self.agents(request)
        )

    def checkout(self, request: Request) -> Response:
        """Say what the plugin says of an operation without a controller."""
        return _errors(501, ("/", "Not Implemented."))

    def post(self, request: Request) -> Response:
        """Say the same of posting."""
        return _errors(501, ("/", "Not Implemented."))

    def _read(
        self, request: Request, schema: dict[str, dict[str, Any]]
    ) -> tuple[dict[str, Any], dict[str, Any]] | Response:
        """Return the member and the checked body, or the refusal."""
        member = self._members.get(request.token)
        if member is None:
            said = (
                "Invalid token." if request.token else "Authorization header required."
            )
            return _errors(401, ("/security/0/bearer", said))
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _errors(400, ("/body", f"Expected object - got {_kind(body)}."))
        faults = []
        unknown = sorted(set(body) - set(schema))
        if unknown:
            faults.append(("/body", f"Properties not allowed: {', '.join(unknown)}."))
        for name in sorted(schema):
            said = (
                _fault(body[name], schema[name])
                if name in body
                else "Missing property."
            )
            if said:
                faults.append((f"/body/{name}", said))
        if faults:
            return _errors(400, *faults)
        if body.get("member_no", member["member_no"]) != member["member_no"]:
            said = f"This token belongs to member {member['member_no']}."
            return _errors(403, ("/body/member_no", said))
        if "bench_ticket" in body:
            ticket = self._tickets.get(body["bench_ticket"])
            if ticket is None or ticket["member_no"] != member["member_no"]:
                return _errors(
                    404, ("/body/bench_ticket", "No such ticket on your bench.")
                )
        return member, body

    def claim(self, request: Request) -> Response:
        """Put an order on the member's bench."""
        read = self._read(request, _CLAIM)
        if isinstance(read, Response):
            return read
        member, body = read
        order = self._orders.get(body["order"])
        if order is None:
            return _errors(404, ("/body/order", f"There is no order {body['order']}."))
        for ticket in self._tickets.values():
            if ticket["order"] is order:
                mine = ticket["member_no"] == member["member_no"]
                where = (
                    f"your bench, ticket {ticket['no']}" if mine else "another bench"
                )
                said = f"Order {order['order']} is already on {where}."
                return _errors(409, ("/body/order", said))
        if not date.today().isoformat() <= body["ready_by"] <= order["wanted_by"]:  # noqa: DTZ011
            said = f"Must lie between today and wanted_by ({order['wanted_by']})."
            return _errors(422, ("/body/ready_by", said))
        number = f"BT-{secrets.token_hex(3)}"
        self._tickets[number] = {"no": number, "order": order, **member, "right": False}
        order["state"] = "on_the_bench"
        self.book.claimed(str(order["order"]))
        return Response(200, {"bench_ticket": number, **order})

    def submit(self, request: Request) -> Response:
        """Take the lettering and compare it."""
        read = self._read(request, _SUBMIT)
        if isinstance(read, Response):
            return read
        ticket = self._tickets[read[1]["bench_ticket"]]
        if ticket["right"]:
            return _errors(409, ("/body/bench_ticket", "The lettering is already in."))
        if read[1]["lettering"] != ticket["order"]["wording"].upper():
            said = "The lettering is not the wording in capitals."
            return _errors(422, ("/body/lettering", said))
        ticket["right"] = True
        ticket["order"]["state"] = "lettered"
        return Response(200, {"bench_ticket": ticket["no"], "state": "lettered"})

    def complete(self, request: Request) -> Response:
        """Pay out an order that was lettered and proofread."""
        read = self._read(request, _COMPLETE)
        if isinstance(read, Response):
            return read
        member, body = read
        ticket = self._tickets[body["bench_ticket"]]
        order = ticket["order"]
        if not ticket["right"]:
            return _errors(
                409, ("/body/bench_ticket", "Nothing has been lettered yet.")
            )
        if order["state"] == "paid_out":
            return _errors(
                409, ("/body/bench_ticket", "The order is already paid out.")
            )
        if not body["proofread"]:
            said = "An order is paid out once the member has proofread it."
            return _errors(422, ("/body/proofread", said))
        order["state"] = "paid_out"
        fee = order["fee"]["amount"]
        member["credits"] += fee
        self.book.pay(str(order["order"]), fee)
        paid = {"order": order["order"], "state": "paid_out", "paid_out": fee}
        return Response(200, {**paid, "credits": member["credits"]})
