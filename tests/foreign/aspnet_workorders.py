"""ASP.NET Core 9 controllers: [ApiController], System.Text.Json, ProblemDetails.

Lists `items` with pageNumber/totalPages/hasNextPage; ids are Guids; states PascalCase.
Claim wants `workOrderId` and `acceptedRate` (the order's rate, as a confirmation) and
answers 201 with an `assignmentId`; submit wants it with `kind` (an enum whose values each
order shows), `content` and a `summary` of 10 to 120 characters; complete wants the
assignment. C# `required` members refuse under `errors.$`, DataAnnotations under the member's
name, rules as ProblemDetails with `detail`. Pays at complete: `status` Paid.
"""

import json
import re
import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROBLEM = {"Content-Type": "application/problem+json; charset=utf-8"}
SPACE = uuid.UUID("0b3f6a5e-7a41-4d0b-9a7c-6a1f8c0d2e11")
ORDERS = [
    ("Boiler room", "Do not store paint next to the boiler", 4, True),
    ("Site entrance", "Hard hats are required beyond this point", 5, True),
    ("Crane log", "No lifting above wind force six", 3, True),
    ("Canteen", "The canteen closes at two on Saturdays", 2, False),
    ("Scaffold tag", "Inspected on the third of April", 6, True),
    ("Skip hire", "No plasterboard in the blue skip", 3, True),
    ("Parking", "Bay nine is reserved for deliveries", 4, False),
]
GUID = re.compile(r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
MEMBERS = {
    "ClaimRequest": {"workOrderId": "System.Guid", "acceptedRate": "System.Int32"},
    "SubmitRequest": {
        "assignmentId": "System.Guid",
        "kind": "SiteBoard.Api.Contracts.OutputKind",
        "content": "System.String",
        "summary": "System.String",
    },
    "CompleteRequest": {"assignmentId": "System.Guid"},
}
KINDS = ("plaintext", "markdown", "structured")


class AspnetWorkorders(Backend):
    """Work orders of a building site's board."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: set[str] = set()
        self.orders: dict[str, dict[str, Any]] = {
            str(uuid.uuid5(SPACE, title)): {
                "title": title,
                "instructions": text,
                "outputKind": "PlainText",
                "rate": rate,
                "rateUnit": "Credits",
                "status": "Open" if free else "Assigned",
            }
            for title, text, rate, free in ORDERS
        }
        free = {k: o for k, o in self.orders.items() if o["status"] == "Open"}
        self.free = {k: o["instructions"] for k, o in free.items()}
        self.assignments: dict[str, dict[str, str]] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.free)

    @staticmethod
    def _problem(status: int, title: str, **more: Any) -> Response:
        section = {400: "5.1", 401: "5.2", 404: "5.5", 409: "5.10", 422: "5.21"}[status]
        body: dict[str, Any] = {
            "type": f"https://tools.ietf.org/html/rfc9110#section-15.{section}"
        }
        body |= {"title": title, "status": status} | more
        trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
        return Response(status, body | {"traceId": trace}, PROBLEM)

    def missing(self, request: Request) -> Response:
        return self._problem(404, "Not Found")

    def _invalid(self, errors: dict[str, list[str]]) -> Response:
        return self._problem(
            400, "One or more validation errors occurred.", errors=errors
        )

    def _bind(self, request: Request, record: str) -> Any:
        """Bind the body to a record as System.Text.Json does, or refuse."""

        def fails(path: str, said: str) -> Response:
            return self._invalid(
                {path: [said], "request": ["The request field is required."]}
            )

        if request.token not in self.agents:
            return self._problem(401, "Unauthorized")
        if not request.raw.strip():
            return fails("", "A non-empty request body is required.")
        name_of = f"SiteBoard.Api.Contracts.{record}"
        try:
            body = request.json()
        except ValueError:
            first = request.raw[:1].decode(errors="replace")
            said = f"'{first}' is an invalid start of a value. Path: $ | LineNumber: 0"
            return fails("$", f"{said} | BytePositionInLine: 0.")
        if not isinstance(body, dict):
            said = f"The JSON value could not be converted to {name_of}. Path: $"
            return fails("$", f"{said} | LineNumber: 0 | BytePositionInLine: 1.")
        members = {name.lower(): (name, kind) for name, kind in MEMBERS[record].items()}
        bound: dict[str, Any] = {}
        for key, value in body.items():
            if key.lower() not in members:
                continue
            name, kind = members[key.lower()]
            good = {
                "System.Guid": isinstance(value, str) and bool(GUID.match(value)),
                "System.Int32": not isinstance(value, bool) and str(value).isdigit(),
                "System.String": value is None or isinstance(value, str),
            }.get(kind, isinstance(value, str) and value.lower() in KINDS)
            if not good:
                at = request.raw.find(json.dumps(key).encode()) + len(key) + 4
                said = (
                    f"The JSON value could not be converted to {kind}. Path: $.{name}"
                )
                return fails(
                    f"$.{name}", f"{said} | LineNumber: 0 | BytePositionInLine: {at}."
                )
            bound[name] = int(value) if kind == "System.Int32" else value
        if lacking := [n for n in MEMBERS[record] if n not in bound]:
            names = ", ".join(f"'{n}'" for n in lacking)
            said = f"JSON deserialization for type '{name_of}' was missing required properties"
            return fails("$", f"{said} including: {names}.")
        return self._annotated(bound)

    def _annotated(self, bound: dict[str, Any]) -> Any:
        """Hold a bound record against its DataAnnotations; a Response refuses."""
        errors: dict[str, list[str]] = {}
        for name in ("content", "summary"):
            if name in bound and not (bound[name] or "").strip():
                errors[name.title()] = [f"The {name.title()} field is required."]
        if (
            "summary" in bound
            and "Summary" not in errors
            and not 10 <= len(bound["summary"]) <= 120
        ):
            said = "The field Summary must be a string with a minimum length of 10"
            errors["Summary"] = [f"{said} and a maximum length of 120."]
        return self._invalid(errors) if errors else bound

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"CfDJ8{secrets.token_urlsafe(48)}"
        self.agents.add(token)
        grant = {"tokenType": "Bearer", "accessToken": token, "expiresIn": 3600}
        return Response(
            200, {"agentId": str(uuid.uuid4()), "credits": 100, "token": grant}
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return self._problem(401, "Unauthorized")
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        query = {k.lower(): v for k, v in request.query.items()}
        for name in ("limit", "pageNumber"):
            if not query.get(name.lower(), "1").isdigit():
                said = f"The value '{query[name.lower()]}' is not valid."
                return self._invalid({name: [said]})
        size = max(1, min(int(query.get("limit", 5)), 5))
        page = max(1, int(query.get("pagenumber", 1)))
        rows = [{"id": key} | order for key, order in self.orders.items()]
        pages = -(-len(rows) // size)
        body = {"items": rows[(page - 1) * size : page * size], "pageNumber": page}
        body |= {
            "totalPages": pages,
            "totalCount": len(rows),
            "hasPreviousPage": page > 1,
        }
        return Response(200, body | {"hasNextPage": page < pages})

    def claim(self, request: Request) -> Response:
        bound = self._bind(request, "ClaimRequest")
        if isinstance(bound, Response):
            return bound
        key = bound["workOrderId"].lower()
        if not (order := self.orders.get(key)):
            return self._problem(
                404, "Not Found", detail=f"Work order {key} does not exist."
            )
        if order["status"] != "Open":
            return self._problem(
                409, "Conflict", detail=f"Work order is {order['status']}."
            )
        if bound["acceptedRate"] != order["rate"]:
            said = f"acceptedRate must equal the current rate of the work order ({order['rate']})."
            return self._problem(409, "Rate mismatch", detail=said)
        order["status"] = "Assigned"
        assignment = str(uuid.uuid4())
        made = {
            "order": key,
            "agent": request.token,
            "content": "",
            "status": "Assigned",
        }
        self.assignments[assignment] = made
        self.book.claimed(key)
        body = {"assignmentId": assignment, "workOrderId": key, "status": "Assigned"}
        return Response(201, body | {"dueAt": "2026-01-01T12:00:00+00:00"})

    def _assignment(self, request: Request, bound: Any) -> Any:
        found = self.assignments.get(bound["assignmentId"].lower())
        if found and found["agent"] == request.token:
            return found
        return self._problem(404, "Not Found", detail="You have no such assignment.")

    def submit(self, request: Request) -> Response:
        bound = self._bind(request, "SubmitRequest")
        found = (
            bound if isinstance(bound, Response) else self._assignment(request, bound)
        )
        if isinstance(found, Response):
            return found
        if found["status"] not in ("Assigned", "Submitted"):
            return self._problem(
                409, "Conflict", detail=f"Assignment is {found['status']}."
            )
        found |= {"content": bound["content"], "status": "Submitted"}
        self.orders[found["order"]]["status"] = "Submitted"
        return Response(
            202, {"assignmentId": bound["assignmentId"], "status": "Submitted"}
        )

    def complete(self, request: Request) -> Response:
        bound = self._bind(request, "CompleteRequest")
        found = (
            bound if isinstance(bound, Response) else self._assignment(request, bound)
        )
        if isinstance(found, Response):
            return found
        order = self.orders[found["order"]]
        if found["status"] == "Submitted":
            if found["content"] == order["instructions"].upper():
                found["status"] = order["status"] = "Paid"
                self.book.pay(found["order"], order["rate"])
            else:
                found["status"] = order["status"] = "Rejected"
                return self._problem(
                    422, "Rejected", detail="The content was not accepted."
                )
        if found["status"] != "Paid":
            return self._problem(
                409, "Conflict", detail=f"Assignment is {found['status']}."
            )
        body = {"assignmentId": bound["assignmentId"], "status": "Paid"}
        return Response(200, body | {"creditsPaid": order["rate"]})
