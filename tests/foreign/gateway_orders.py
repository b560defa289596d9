"""Edge functions (Deno) behind a schema-checking API gateway; localisation touch-ups.

Stack: small edge functions; in front a gateway that checks every body against a JSON schema
and puts every answer in one envelope: `{"meta", "data", "error"}`. Only registration is
passed through with its own fields beside `meta`, as its clients were there first.

Listing: `data.orders[]` with `orderRef` (string), `service` ("uppercase"), `brief`,
`sourceText`, `reward: {amount, unit}`, `locale` and `state`. Taken orders leave the list.
Claim: `{"orderRef"}` -> `data.assignment: {assignmentId, orderRef, expiresAt}`. A repeated
claim of one's own order answers the same assignment.
Submit: `{"assignmentId", "output": {"text"}}` -> `data.assignment` in state `delivered`.
Complete: `{"assignmentId"}` -> `data.payout: {amount, unit}`; a second one answers the same.
Errors: `error` holds `type` (urn), `title`, `detail`, `instance`. The gateway's own (401,
400 body checks, worded as its schema validator words them) and the functions' (wrapped as
`urn:gw:upstream-rejected` with the function's answer in `upstream`).
"""

import secrets
import time
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS: dict[str, tuple[str, str, int]] = {
    "ord_9k2fqa": ("en-GB", "add to basket and continue shopping", 9),
    "ord_3m7xtd": ("en-US", "your session has expired, please sign in again", 12),
    "ord_c81wzb": ("de-DE", "bitte wählen sie eine zahlungsart aus", 15),
    "ord_p04rle": ("en-GB", "we could not reach the server", 6),
    "ord_h6y2vn": ("fr-FR", "votre commande a bien été enregistrée", 14),
    "ord_u5s8jk": ("en-US", "free delivery on all orders over 40 dollars", 10),
    "ord_b2n0gi": ("en-GB", "show me only items in stock", 7),
    "ord_w7d3oc": ("en-US", "this cannot be undone. delete the file anyway?", 11),
}

# A schema: property -> type, or a schema of its own. All are required, no others allowed.
Schema = dict[str, Any]
CLAIM: Schema = {"orderRef": "string"}
SUBMIT: Schema = {"assignmentId": "string", "output": {"text": "string"}}
COMPLETE: Schema = {"assignmentId": "string"}


@dataclass
class Assignment:
    """An order in an agent's hands."""

    id: str
    order: str
    agent: str
    expires: float
    state: str = "assigned"


def kind(value: Any) -> str:
    """Return the JSON type of a value, as the validator calls it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for type_, name in ((str, "string"), (int, "integer"), (float, "number")):
        if isinstance(value, type_):
            return name
    return "array" if isinstance(value, list) else "object"


def quoted(names: list[str]) -> str:
    """Return a list of names as the validator prints it."""
    return "[" + ",".join(f'"{name}"' for name in names) + "]"


def violations(value: Any, schema: Schema, at: str = "") -> list[str]:
    """Return what a body has against its schema."""
    where = f"{at}: " if at else ""
    if not isinstance(value, dict):
        return [
            (
                f"{where}instance type ({kind(value)}) does not match any allowed primitive "
                'type (allowed: ["object"])'
            )
        ]
    found = []
    if unknown := sorted(set(value) - set(schema)):
        found.append(
            f"{where}object instance has properties which are not allowed by the schema: "
            + quoted(unknown)
        )
    if missing := sorted(set(schema) - set(value)):
        found.append(
            f"{where}object has missing required properties ({quoted(missing)})"
        )
    for name, wanted in schema.items():
        if name not in value:
            continue
        if isinstance(wanted, dict):
            found += violations(value[name], wanted, f"{at}/{name}")
        elif kind(value[name]) != wanted:
            found.append(
                f"{at}/{name}: instance type ({kind(value[name])}) does not match any "
                f'allowed primitive type (allowed: ["{wanted}"])'
            )
    return found


class EdgeGateway(Backend):
    """Localisation touch-ups behind the gateway."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.balance: dict[str, int] = {}
        self.assignments: dict[str, Assignment] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every order."""
        return {ref: text for ref, (_, text, _) in ORDERS.items()}

    def _meta(self) -> dict[str, Any]:
        return {
            "requestId": secrets.token_hex(8),
            "route": "edge-eu-1",
            "servedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }

    def _ok(self, data: dict[str, Any]) -> Response:
        return Response(200, {"meta": self._meta(), "data": data, "error": None})

    def _error(
        self,
        request: Request,
        status: int,
        type_: str,
        title: str,
        detail: str,
        **more: Any,
    ) -> Response:
        error = {
            "type": f"urn:gw:{type_}",
            "title": title,
            "status": status,
            "detail": detail,
            "instance": request.path,
            **more,
        }
        return Response(status, {"meta": self._meta(), "data": None, "error": error})

    def _upstream(
        self, request: Request, status: int, code: str, message: str
    ) -> Response:
        return self._error(
            request,
            status,
            "upstream-rejected",
            "The function declined the request",
            message,
            upstream={"status": status, "body": {"code": code, "message": message}},
        )

    def missing(self, request: Request) -> Response:
        """Answer a path for which the gateway has no route."""
        return self._error(
            request,
            404,
            "no-route",
            "No route",
            f"No route matched {request.method} {request.path}",
        )

    def _enter(
        self, request: Request, schema: Schema
    ) -> tuple[str, Any, Response | None]:
        """Return the agent and the body of a private call, or the gateway's refusal."""
        agent = self.agents.get(request.token, "")
        if not agent:
            return (
                "",
                None,
                self._error(
                    request,
                    401,
                    "unauthenticated",
                    "Unauthenticated",
                    "A valid bearer token is required on this route",
                ),
            )
        try:
            body = request.json()
        except ValueError:
            return (
                agent,
                None,
                self._error(
                    request,
                    400,
                    "body-unreadable",
                    "Unreadable request body",
                    "The body is not well-formed application/json",
                ),
            )
        if found := violations(body, schema):
            return (
                agent,
                None,
                self._error(
                    request,
                    400,
                    "body-invalid",
                    "Invalid request body",
                    "[" + "; ".join(found) + "]",
                ),
            )
        return agent, body, None

    def register(self, request: Request) -> Response:
        """Make an agent."""
        self.book.registrations += 1
        agent, token = f"agt_{secrets.token_hex(5)}", secrets.token_urlsafe(24)
        self.agents[token], self.balance[agent] = agent, 100
        return Response(
            200,
            {
                "agent_id": agent,
                "access_token": token,
                "credits": 100,
                "meta": self._meta(),
            },
        )

    def _listing(self, request: Request) -> Response:
        taken = {assignment.order for assignment in self.assignments.values()}
        orders = [
            {
                "orderRef": ref,
                "service": "uppercase",
                "brief": "Return sourceText in upper case. Keep spacing and punctuation.",
                "locale": locale,
                "sourceText": text,
                "reward": {"amount": credits_, "unit": "credits"},
                "state": "open",
            }
            for ref, (locale, text, credits_) in ORDERS.items()
            if ref not in taken
        ]
        limit = request.query.get("limit", "50")
        if not limit.isdigit() or not 1 <= int(limit) <= 100:
            return self._error(
                request,
                400,
                "query-invalid",
                "Invalid query parameter",
                "limit must be an integer from 1 to 100",
            )
        return self._ok({"orders": orders[: int(limit)], "remaining": len(orders)})

    def marketplace(self, request: Request) -> Response:
        """List the open orders."""
        return self._listing(request)

    def tasks(self, request: Request) -> Response:
        """List the open orders for a known agent."""
        if request.token not in self.agents:
            return self._error(
                request,
                401,
                "unauthenticated",
                "Unauthenticated",
                "A valid bearer token is required on this route",
            )
        return self._listing(request)

    def _shown(self, assignment: Assignment) -> dict[str, Any]:
        return {
            "assignmentId": assignment.id,
            "orderRef": assignment.order,
            "state": assignment.state,
            "expiresAt": time.strftime(
                "%Y-%m-%dT%H:%M:%SZ", time.gmtime(assignment.expires)
            ),
        }

    def claim(self, request: Request) -> Response:
        """Give an order to an agent."""
        agent, body, refusal = self._enter(request, CLAIM)
        if refusal:
            return refusal
        ref = body["orderRef"]
        if ref not in ORDERS:
            return self._upstream(
                request, 404, "ORDER_NOT_FOUND", f"No order with ref {ref}"
            )
        for assignment in self.assignments.values():
            if assignment.order == ref:
                if assignment.agent != agent:
                    return self._upstream(
                        request,
                        409,
                        "ORDER_TAKEN",
                        "Another agent is working on this order",
                    )
                return self._ok({"assignment": self._shown(assignment)})
        assignment = Assignment(
            f"asg_{secrets.token_hex(6)}", ref, agent, time.time() + 1800
        )
        self.assignments[assignment.id] = assignment
        self.book.claimed(ref)
        return self._ok({"assignment": self._shown(assignment)})

    def _mine(self, request: Request, agent: str, id_: str) -> Assignment | Response:
        assignment = self.assignments.get(id_)
        if assignment is None or assignment.agent != agent:
            return self._upstream(
                request,
                404,
                "ASSIGNMENT_NOT_FOUND",
                f"You have no assignment with id {id_}",
            )
        return assignment

    def submit(self, request: Request) -> Response:
        """Take the text of an assignment."""
        agent, body, refusal = self._enter(request, SUBMIT)
        if refusal:
            return refusal
        found = self._mine(request, agent, body["assignmentId"])
        if isinstance(found, Response):
            return found
        if found.state == "closed":
            return self._upstream(
                request, 409, "ASSIGNMENT_CLOSED", "This assignment is closed and paid"
            )
        if body["output"]["text"] != ORDERS[found.order][1].upper():
            return self._upstream(
                request,
                422,
                "QA_REJECTED",
                "output.text is not sourceText in upper case",
            )
        found.state = "delivered"
        return self._ok({"assignment": self._shown(found)})

    def complete(self, request: Request) -> Response:
        """Close a delivered assignment and pay it."""
        agent, body, refusal = self._enter(request, COMPLETE)
        if refusal:
            return refusal
        found = self._mine(request, agent, body["assignmentId"])
        if isinstance(found, Response):
            return found
        if found.state == "assigned":
            return self._upstream(
                request,
                409,
                "NOT_DELIVERED",
                "Nothing has been delivered for this assignment yet",
            )
        amount = ORDERS[found.order][2]
        if found.state == "delivered":
            found.state = "closed"
            self.balance[agent] += amount
            self.book.pay(found.order, amount)
        return self._ok(
            {
                "assignment": self._shown(found),
                "payout": {"amount": amount, "unit": "credits"},
                "balance": self.balance[agent],
            }
        )
