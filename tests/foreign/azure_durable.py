"""An Azure Functions app (isolated worker): FluentValidation, Cosmos and Durable.

Lists {"Items", "ContinuationToken"} in Pascal case, four a page; a work order's
identity is WorkOrderId and PartitionKey together. Reads bodies without regard to case.
Refuses with the bare list of FluentValidation's failures (PropertyName, ErrorMessage,
ErrorCode), all at once; 401 has no body; two leases at most. Claiming (201) gives a
lease, submit answers 204. Complete answers 202 as a Durable orchestration does, with a
statusQueryGetUri; pays when the orchestration is over, a second or two later.
"""

import secrets
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS = [
    (
        "0b6f3a52-51c4-4c8e-9a6e-0d2f5c7a1101",
        "eu-north",
        "Turbine hall floor plan is stored in cabinet nine.",
        16,
        "",
    ),
    (
        "0b6f3a52-51c4-4c8e-9a6e-0d2f5c7a1102",
        "eu-north",
        "Replace the filter when the lamp turns amber.",
        8,
        "",
    ),
    (
        "0b6f3a52-51c4-4c8e-9a6e-0d2f5c7a1103",
        "eu-north",
        "Valve seven must stay closed during the test.",
        12,
        "Leased",
    ),
    (
        "4e1d9c70-8a0b-47f2-b1f3-77aa90be2201",
        "eu-west",
        "Grease the upper bearing every forty hours.",
        9,
        "",
    ),
    (
        "4e1d9c70-8a0b-47f2-b1f3-77aa90be2202",
        "eu-west",
        "Noise above eighty decibels needs ear protection.",
        20,
        "",
    ),
    (
        "4e1d9c70-8a0b-47f2-b1f3-77aa90be2203",
        "eu-west",
        "The spare key hangs behind the blue door.",
        5,
        "",
    ),
    (
        "c0ffee11-2233-4455-8677-8899aabb3301",
        "us-east",
        "Drain the tank before you open the hatch.",
        11,
        "",
    ),
]
REVIEW = 1.5  # seconds
DURABLE = "/runtime/webhooks/durabletask/instances/"


def _failure(name: str, code: str, message: str, value: Any) -> dict[str, Any]:
    words = "".join(" " + c if c.isupper() else c for c in name).strip()
    return {
        "PropertyName": name,
        "ErrorMessage": message.replace("{PropertyName}", words),
        "AttemptedValue": value,
        "CustomState": None,
        "Severity": 0,
        "ErrorCode": code,
        "FormattedMessagePlaceholderValues": {
            "PropertyName": words,
            "PropertyValue": value,
            "PropertyPath": name,
        },
    }


def _error(status: int, error: str, message: str) -> Response:
    return Response(status, {"Error": error, "Message": message})


class AzureDurable(Backend):
    """Work orders, leases and orchestrations."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._leases: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {row[0]: row[2] for row in ORDERS if not row[4]}

    def _settle(self) -> None:
        """Let the orchestrations go on that had their time."""
        for lease in self._leases.values():
            if lease["state"] == "Review" and time.monotonic() >= lease["due"]:
                order = next(row for row in ORDERS if row[0] == lease["order"])
                right = lease["content"] == order[2].upper()
                lease["state"] = "Paid" if right else "Rejected"
                if right:
                    self.book.pay(order[0], order[3])

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def document(self, request: Request) -> Response:
        self._settle()
        if not request.path.startswith(DURABLE):
            return self.missing(request)
        run = request.path[len(DURABLE) :]
        lease = next((x for x in self._leases.values() if x["run"] == run), None)
        if not lease:
            return self.missing(request)
        running = lease["state"] == "Review"
        output: dict[str, Any] | None = None
        if lease["state"] == "Paid":
            output = {"Approved": True, "CreditsPaid": self.book.paid[lease["order"]]}
        elif lease["state"] == "Rejected":
            output = {
                "Approved": False,
                "Reason": "Content is not what the work order asks for. Submit again.",
            }
        body = {
            "name": "ReviewOrchestrator",
            "instanceId": lease["run"],
            "runtimeStatus": "Running" if running else "Completed",
            "output": output,
        }
        return Response(202 if running else 200, body)

    def _body(
        self, request: Request, *names: str
    ) -> tuple[dict[str, Any], Response | None]:
        self._settle()
        if request.token not in self._agents:
            return {}, Response(401, b"")
        try:
            body = request.json() if request.raw else {}
            given = {str(n).lower(): v for n, v in body.items()}
        except (ValueError, AttributeError):
            message = "The request body is not a JSON object."
            return {}, _error(400, "InvalidBody", message)
        values = {name: given.get(name.lower()) for name in names}
        failures = []
        for name, value in values.items():
            if value is None or value == "":
                text = "'{PropertyName}' must not be empty."
                failures.append(_failure(name, "NotEmptyValidator", text, value))
            elif not isinstance(value, str):
                text = "'{PropertyName}' must be a string."
                failures.append(_failure(name, "PredicateValidator", text, value))
            elif name == "Outcome" and value not in ("Completed", "Abandoned"):
                text = "'{PropertyName}' must be one of: Completed, Abandoned."
                failures.append(_failure(name, "PredicateValidator", text, value))
        return values, Response(400, failures) if failures else None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, agent = secrets.token_urlsafe(32), str(uuid.uuid4())
        self._agents[token] = agent
        return Response(200, {"AgentId": agent, "AccessToken": token, "Credits": 100})

    def tasks(self, request: Request) -> Response:
        self._settle()
        if request.token not in self._agents:
            return Response(401, b"")
        limit = request.query.get("limit", "")
        start = request.query.get("continuationToken", "")
        size = min(int(limit), 20) if limit.isdigit() and int(limit) else 4
        at = int(start[3:]) if start[:3] == "ct-" and start[3:].isdigit() else 0
        states = {
            lease["order"]: "Closed" if lease["state"] == "Paid" else "Leased"
            for lease in self._leases.values()
        }
        items = [
            {
                "WorkOrderId": i,
                "PartitionKey": key,
                "Instructions": text,
                "State": taken or states.get(i, "Available"),
                "Reward": {"Amount": credits_, "Unit": "Credits"},
            }
            for i, key, text, credits_, taken in ORDERS
        ]
        more = f"ct-{at + size}" if at + size < len(items) else None
        return Response(
            200, {"Items": items[at : at + size], "ContinuationToken": more}
        )

    def claim(self, request: Request) -> Response:
        values, refusal = self._body(request, "WorkOrderId", "PartitionKey")
        if refusal:
            return refusal
        wanted = (values["WorkOrderId"], values["PartitionKey"])
        order = next((row for row in ORDERS if row[:2] == wanted), None)
        if not order:
            message = "No work order has this id in this partition."
            return _error(404, "WorkOrderNotFound", message)
        agent = self._agents[request.token]
        mine = [x for x in self._leases.values() if x["agent"] == agent]
        lease = next((x for x in self._leases.values() if x["order"] == order[0]), None)
        if order[4] or (lease and lease["agent"] != agent):
            message = "The work order is leased to another agent."
            return _error(409, "AlreadyLeased", message)
        if not lease:
            if sum(x["state"] in ("Open", "Submitted", "Rejected") for x in mine) >= 2:
                message = "An agent holds 2 leases at most. Complete one first."
                return _error(409, "LeaseLimitExceeded", message)
            lease = {
                "id": str(uuid.uuid4()),
                "order": order[0],
                "agent": agent,
                "state": "Open",
                "content": None,
                "due": 0.0,
                "run": secrets.token_hex(16),
            }
            self._leases[lease["id"]] = lease
            self.book.claimed(order[0])
        return Response(
            201,
            {"LeaseId": lease["id"], "WorkOrderId": order[0], "State": lease["state"]},
        )

    def _lease(self, request: Request, values: dict[str, Any]) -> Any:
        lease = self._leases.get(values["LeaseId"])
        return (
            lease if lease and lease["agent"] == self._agents[request.token] else None
        )

    def submit(self, request: Request) -> Response:
        values, refusal = self._body(request, "LeaseId", "Content")
        if refusal:
            return refusal
        lease = self._lease(request, values)
        if not lease:
            return _error(404, "LeaseNotFound", "You hold no lease with this LeaseId.")
        if lease["state"] in ("Review", "Paid"):
            return _error(409, "LeaseClosed", "The lease is in review or closed.")
        lease.update(content=values["Content"], state="Submitted")
        return Response(204, b"")

    def complete(self, request: Request) -> Response:
        values, refusal = self._body(request, "LeaseId", "Outcome")
        if refusal:
            return refusal
        lease = self._lease(request, values)
        if not lease:
            return _error(404, "LeaseNotFound", "You hold no lease with this LeaseId.")
        if values["Outcome"] == "Abandoned" and lease["state"] != "Paid":
            del self._leases[lease["id"]]
            self.book.held.discard(lease["order"])
            return Response(204, b"")
        if lease["state"] in ("Open", "Rejected"):
            message = "Submit the content before you complete the lease."
            return _error(409, "NothingSubmitted", message)
        if lease["state"] == "Submitted":
            lease.update(state="Review", due=time.monotonic() + REVIEW)
        uri = f"{request.base}{DURABLE}{lease['run']}"
        return Response(
            202,
            {"id": lease["run"], "statusQueryGetUri": uri},
            {"Location": uri, "Retry-After": "1"},
        )
