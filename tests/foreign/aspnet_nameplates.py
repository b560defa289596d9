"""ASP.NET Core with FluentValidation: a railway workshop engraves nameplates.

Listing: {items, pageNumber, pageSize, totalCount}; a work order has workOrderId (guid),
orderCode, depot, operation, legend, bounty, state, dueOn.
claim: {"workOrderId": guid} -> 200 {jobCardId (guid), workOrder, acceptedAt}; again by the holder:
409 problem with the extension jobCardId.
submit: {"jobCardId": guid, "engraving": {"text": str}} -> {jobCardId, state "Engraved", ...}.
complete: {"jobCardId": guid, "outcome": "Finished" | "Abandoned"} -> {state, credited, balance}.
Abandoned is only for a card without an engraving and puts the work order back on offer.
System.Text.Json: names match without case, unknown members are ignored, types are strict.
Errors: application/problem+json. 400 has `errors` {"JobCardId": ["'Job Card Id' must not be
empty."]} or {"$.jobCardId": ["The JSON value could not be converted to ..."]}; others have
title and detail (401, 404, 409, 422).
"""

import re
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
EMPTY = "00000000-0000-0000-0000-000000000000"
ORDERS = [
    ("Eastfield", "built at eastfield works for the mail trains", 14),
    ("Eastfield", "duchess of the lower marches", 8),
    ("Halloway", "mind the step when the platform curves", 11),
    ("Halloway", "restored by volunteers over nine patient winters", 16),
    ("Port Sable", "boiler inspected, next test due in spring", 12),
    ("Port Sable", "first engine to cross the viaduct in snow", 13),
    (
        "Quarry Road",
        "no passengers beyond this point, shunting at all hours of the day",
        22,
    ),
    ("Quarry Road", "pull the chain in an emergency only", 10),
    ("Summit", "highest station on the line", 6),
]
TITLES = {
    401: ("Unauthorized", "rfc7235#section-3.1"),
    404: ("Not Found", "rfc7231#section-6.5.4"),
    409: ("Conflict", "rfc7231#section-6.5.8"),
    422: ("Unprocessable Entity", "rfc4918#section-11.2"),
}


def trace() -> str:
    return f"00-{uuid.uuid4().hex}-{uuid.uuid4().hex[:16]}-00"


def iso(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at))


def problem(status: int, detail: str, **more: Any) -> Response:
    title, section = TITLES[status]
    body = {
        "type": f"https://tools.ietf.org/html/{section}",
        "title": title,
        "status": status,
        "detail": detail,
        "traceId": trace(),
        **more,
    }
    return Response(
        status, body, {"Content-Type": "application/problem+json; charset=utf-8"}
    )


def invalid(errors: dict[str, list[str]]) -> Response:
    body = {
        "type": "https://tools.ietf.org/html/rfc7231#section-6.5.1",
        "title": "One or more validation errors occurred.",
        "status": 400,
        "traceId": trace(),
        "errors": errors,
    }
    return Response(
        400, body, {"Content-Type": "application/problem+json; charset=utf-8"}
    )


def member(body: dict[str, Any], name: str) -> Any:
    """Return a member of an object by its name without case; the last one wins."""
    found = None
    for key, value in body.items():
        if key.lower() == name.lower():
            found = value
    return found


class AspnetNameplates(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.cards: dict[str, dict[str, Any]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        for number, (depot, legend, bounty) in enumerate(ORDERS):
            key = str(uuid.uuid4())
            self.orders[key] = {
                "workOrderId": key,
                "orderCode": f"NP/{depot[:2].upper()}/{number + 61:03}",
                "depot": depot,
                "operation": "Engrave the legend in upper case",
                "legend": legend,
                "bounty": bounty,
                "state": "Released",
                "dueOn": iso(time.time() + 86400)[:10],
            }

    def texts(self) -> dict[str, str]:
        return {key: order["legend"] for key, order in self.orders.items()}

    def authorize(self, request: Request) -> Response | None:
        if request.token in self.agents:
            return None
        answer = problem(401, "A valid bearer token is required.")
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer

    def read(self, request: Request) -> tuple[dict[str, Any], Response | None]:
        """Return the body's object, with the model binder's refusals."""
        if refusal := self.authorize(request):
            return {}, refusal
        if not request.raw.strip():
            return {}, invalid({"": ["A non-empty request body is required."]})
        try:
            body = request.json()
        except ValueError:
            message = "The input is not valid JSON. Path: $ | LineNumber: 0."
            return {}, invalid(
                {"$": [message], "command": ["The command field is required."]}
            )
        if body is None:
            return {}, invalid({"": ["A non-empty request body is required."]})
        if not isinstance(body, dict):
            return {}, self.unconvertible("$", "Workshop.Contracts.Command")
        return body, None

    def unconvertible(self, path: str, kind: str) -> Response:
        message = f"The JSON value could not be converted to {kind}. Path: {path} | LineNumber: 0."
        return invalid({path: [message], "command": ["The command field is required."]})

    def guid(self, body: dict[str, Any], name: str) -> tuple[str, Response | None]:
        """Return a Guid member, the empty Guid when it is absent."""
        if not any(key.lower() == name.lower() for key in body):
            return EMPTY, None
        value = member(body, name)
        if not isinstance(value, str) or not GUID.fullmatch(value):
            return EMPTY, self.unconvertible(f"$.{name}", "System.Guid")
        return value.lower(), None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"CfDJ8{uuid.uuid4().hex}{uuid.uuid4().hex}"
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        self.agents[token] = agent
        return Response(200, {**agent, "access_token": token, "token_type": "Bearer"})

    def listing(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not re.fullmatch(r"-?\d{1,9}", limit):
            return invalid({"limit": [f"The value '{limit}' is not valid."]})
        if not 1 <= int(limit) <= 100:
            message = f"'Limit' must be between 1 and 100. You entered {limit}."
            return invalid({"Limit": [message]})
        rows = [order for order in self.orders.values() if order["state"] == "Released"]
        return Response(
            200,
            {
                "items": rows[: int(limit)],
                "pageNumber": 1,
                "pageSize": int(limit),
                "totalCount": len(rows),
            },
        )

    def tasks(self, request: Request) -> Response:
        return self.authorize(request) or self.listing(request)

    def marketplace(self, request: Request) -> Response:
        return self.listing(request)

    def claim(self, request: Request) -> Response:
        body, refusal = self.read(request)
        if refusal:
            return refusal
        key, refusal = self.guid(body, "workOrderId")
        if refusal:
            return refusal
        if key == EMPTY:
            return invalid({"WorkOrderId": ["'Work Order Id' must not be empty."]})
        order = self.orders.get(key)
        if not order:
            return problem(404, f"Work order {key} was not found.")
        agent = self.agents[request.token]["agent_id"]
        for number, card in self.cards.items():
            if card["workOrderId"] == key and card["state"] != "Abandoned":
                if card["agentId"] == agent:
                    detail = "You already hold a job card for this work order."
                    return problem(409, detail, jobCardId=number)
                return problem(409, "Another agent holds this work order.")
        number = str(uuid.uuid4())
        self.cards[number] = {"workOrderId": key, "agentId": agent, "state": "Accepted"}
        order["state"] = "InWork"
        self.book.claimed(key)
        return Response(
            200,
            {"jobCardId": number, "workOrder": order, "acceptedAt": iso(time.time())},
        )

    def card(
        self, request: Request, number: str, errors: dict[str, list[str]]
    ) -> tuple[dict[str, Any], Response | None]:
        """Return the agent's own job card, with the validator's and the handler's refusals."""
        if number == EMPTY:
            errors = {"JobCardId": ["'Job Card Id' must not be empty."], **errors}
        if errors:
            return {}, invalid(errors)
        card = self.cards.get(number)
        if not card or card["agentId"] != self.agents[request.token]["agent_id"]:
            return {}, problem(404, f"Job card {number} was not found.")
        if card["state"] in ("Finished", "Abandoned"):
            return {}, problem(409, f"Job card is already {card['state']}.")
        return card, None

    def submit(self, request: Request) -> Response:
        body, refusal = self.read(request)
        if refusal:
            return refusal
        number, refusal = self.guid(body, "jobCardId")
        if refusal:
            return refusal
        engraving = member(body, "engraving")
        if engraving is not None and not isinstance(engraving, dict):
            return self.unconvertible("$.engraving", "Workshop.Contracts.EngravingDto")
        text = member(engraving or {}, "text")
        if text is not None and not isinstance(text, str):
            return self.unconvertible("$.engraving.text", "System.String")
        errors = {}
        if engraving is None:
            errors["Engraving"] = ["'Engraving' must not be empty."]
        elif text is None or not text.strip():
            errors["Engraving.Text"] = ["'Text' must not be empty."]
        card, refusal = self.card(request, number, errors)
        if refusal:
            return refusal
        if text != self.texts()[card["workOrderId"]].upper():
            return problem(
                422, "Engraving.Text is not the legend of the work order in upper case."
            )
        card["state"] = "Engraved"
        return Response(200, {"jobCardId": number, **card})

    def complete(self, request: Request) -> Response:
        body, refusal = self.read(request)
        if refusal:
            return refusal
        number, refusal = self.guid(body, "jobCardId")
        if refusal:
            return refusal
        outcome = member(body, "outcome")
        if outcome is not None and not isinstance(outcome, str):
            return self.unconvertible("$.outcome", "System.String")
        outcome = {"finished": "Finished", "abandoned": "Abandoned"}.get(
            (outcome or "").lower()
        )
        errors = {}
        if not outcome:
            errors["Outcome"] = ["'Outcome' must be either Finished or Abandoned."]
        card, refusal = self.card(request, number, errors)
        if refusal:
            return refusal
        order, agent = self.orders[card["workOrderId"]], self.agents[request.token]
        if outcome == "Finished" and card["state"] != "Engraved":
            return problem(409, "Job card has no engraving yet.")
        if outcome == "Abandoned" and card["state"] == "Engraved":
            return problem(409, "Job card has an engraving and cannot be abandoned.")
        card["state"] = outcome
        credited = 0
        if outcome == "Abandoned":
            order["state"] = "Released"
            self.book.held.discard(order["workOrderId"])
        else:
            order["state"] = "Finished"
            credited = order["bounty"]
            agent["credits"] += credited
            self.book.pay(order["workOrderId"], credited)
        return Response(
            200,
            {
                "jobCardId": number,
                "state": outcome,
                "credited": credited,
                "balance": agent["credits"],
            },
        )
