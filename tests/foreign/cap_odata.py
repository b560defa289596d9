"""A SAP CAP (cds 8, Node) service: OData V4 actions on a service of its own.

Lists {"@odata.context", "@odata.count", "value"} four at a time whatever the limit,
with an @odata.nextLink to the rest; ids are UUIDs under `ID`, associations
`status_code` and `currency_code`, decimals are strings ("25.00" CRD), taken tasks are
in the list. Refuses with {"error": {code, message, target, details}}, all missing
values together, and an enum check that tells the values. A claim returns an assignment
whose `ID` goes back as `assignment_ID`. Complete is an action without a return type:
204, paid at once.
"""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SPACE = uuid.UUID("b2f0c8de-2a77-4f0b-9a1c-5d2e8f3b6a90")
_OPEN = [
    ("goods receipt posted for plant 1000", 25),
    ("purchase order awaits release", 40),
    ("vendor master record was changed", 15),
    ("period closing starts on monday", 30),
    ("delivery split into two handling units", 55),
    ("cost centre 4711 is locked", 20),
    ("credit memo request approved", 35),
    ("transport released to quality system", 10),
    ("batch determination found no stock", 45),
]
_TAKEN = [("number range nearly exhausted", 20), ("inspection lot created", 15)]
_STATUS = {"O": "Open", "A": "Assigned", "C": "Completed"}
_CONTEXT = "@odata.context"


class CapOdata(Backend):
    """A market service modelled in CDS."""

    page = 4

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        for text, amount in _OPEN + _TAKEN:
            key = str(uuid.uuid5(_SPACE, text))
            self.rows[key] = {
                "ID": key,
                "createdAt": "2025-02-11T06:00:00Z",
                "modifiedAt": "2025-02-11T06:00:00Z",
                "briefing": text,
                "reward": f"{amount}.00",
                "currency_code": "CRD",
                "currency": {"code": "CRD", "name": "Credits", "minorUnit": 0},
                "status_code": "O" if (text, amount) in _OPEN else "A",
            }
        self.rows = dict(sorted(self.rows.items()))
        self.assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the open tasks' texts."""
        return {str(uuid.uuid5(_SPACE, text)): text for text, _ in _OPEN}

    def _error(
        self, status: int, code: str, message: str, target: str = "", **more: Any
    ) -> Response:
        error: dict[str, Any] = {"code": code, "message": message}
        error |= {"target": target} if target else {}
        error |= {"@Common.numericSeverity": 4, **more}
        media = {
            "Content-Type": "application/json;odata.metadata=minimal",
            "OData-Version": "4.0",
        }
        return Response(status, {"error": error}, media)

    def _ok(self, context: str, **body: Any) -> Response:
        media = {
            "Content-Type": "application/json;odata.metadata=minimal",
            "OData-Version": "4.0",
        }
        return Response(200, {_CONTEXT: f"$metadata#{context}", **body}, media)

    def missing(self, request: Request) -> Response:
        """Return what CAP says of what is not in the model."""
        return Response(404, {"error": {"code": "404", "message": "Not Found"}})

    def register(self, request: Request) -> Response:
        """Run the action registerAgent."""
        self.book.registrations += 1
        token, ident = secrets.token_urlsafe(40), str(uuid.uuid4())
        self.agents[token] = {"ID": ident, "credits": 100}
        made = {"agent_ID": ident, "access_token": token, "credits": 100}
        return self._ok("MarketService.Registration", **made)

    def marketplace(self, request: Request) -> Response:
        """Read the tasks that are not completed, one page."""
        skip = request.query.get("$skiptoken", "0")
        limit = request.query.get("limit", "1000")
        if not skip.isdigit() or not limit.isdigit():
            return self._error(400, "400", "Parsing URL failed at position 1")
        start = int(skip)
        rows = [row for row in self.rows.values() if row["status_code"] != "C"]
        top = max(min(int(limit) - start, self.page), 0)
        shown = [
            {
                **row,
                "status": {
                    "code": row["status_code"],
                    "name": _STATUS[row["status_code"]],
                },
            }
            for row in rows[start : start + top]
        ]
        body: dict[str, Any] = {"@odata.count": len(rows), "value": shown}
        if start + top < min(len(rows), int(limit)):
            action = request.path.rsplit("/", 1)[1]
            body["@odata.nextLink"] = f"{action}?limit={limit}&$skiptoken={start + top}"
        return self._ok("Tasks(status(),currency())", **body)

    def tasks(self, request: Request) -> Response:
        """Read the tasks as an agent."""
        if request.token not in self.agents:
            return self._unauthorized()
        return self.marketplace(request)

    def _unauthorized(self) -> Response:
        return Response(
            401, "Unauthorized", {"WWW-Authenticate": 'Bearer realm="Users"'}
        )

    def _data(self, request: Request, **types: str) -> dict[str, Any] | Response:
        """Return the parameters of an action after CAP's input validation."""
        if request.token not in self.agents:
            return self._unauthorized()
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return self._error(400, "400", "Invalid JSON in request body")
        if not isinstance(body, dict):
            return self._error(400, "400", "Expected an object in request body")
        details: list[dict[str, Any]] = []
        for name, kind in types.items():
            value, code, message = body.get(name), "", ""
            if value is None or (isinstance(value, str) and not value.strip()):
                code, message = "ASSERT_MANDATORY", "Provide the missing value."
            elif not isinstance(value, str):
                code = "ASSERT_DATA_TYPE"
                message = f"Value {value!r} is not a valid String"
            elif kind == "UUID":
                try:
                    uuid.UUID(value)
                except ValueError:
                    code, message = (
                        "ASSERT_DATA_TYPE",
                        f"Value {value!r} is not a valid UUID",
                    )
            elif kind != "String" and value not in kind.split():
                known = ", ".join(f'"{word}"' for word in kind.split())
                code = "ASSERT_ENUM"
                wrong = "is invalid according to enum declaration"
                message = f'Value "{value}" {wrong} {{{known}}}'
            if code:
                detail = {"code": code, "message": message, "target": name}
                details.append({**detail, "@Common.numericSeverity": 4})
        if len(details) == 1:
            only = details[0]
            return self._error(400, only["code"], only["message"], only["target"])
        if details:
            text = (
                "Multiple errors occurred. Please see the details for more information."
            )
            return self._error(400, "MULTIPLE_ERRORS", text, details=details)
        return body

    def _assignment(self, request: Request, body: dict[str, Any]) -> Any:
        found = self.assignments.get(body["assignment_ID"].lower())
        if not found or found["token"] != request.token:
            return self._error(404, "404", "Assignment not found", "assignment_ID")
        if found["status_code"] == "C":
            return self._error(
                409, "409", "Assignment is already completed", "assignment_ID"
            )
        return found

    def claim(self, request: Request) -> Response:
        """Run the action claimTask(task_ID: UUID)."""
        body = self._data(request, task_ID="UUID")
        if isinstance(body, Response):
            return body
        row = self.rows.get(body["task_ID"].lower())
        if not row:
            return self._error(404, "404", "Task not found", "task_ID")
        key = ""
        for known in self.assignments.values():
            if known["task_ID"] == row["ID"] and known["token"] == request.token:
                key = known["ID"]
        if not key:
            if row["status_code"] != "O":
                word = _STATUS[row["status_code"]]
                return self._error(
                    409, "TASK_NOT_OPEN", f"Task is in status {word}", "task_ID"
                )
            key = str(uuid.uuid4())
            row["status_code"] = "A"
            made = {"ID": key, "task_ID": row["ID"], "status_code": "A"}
            self.assignments[key] = {**made, "token": request.token, "content": None}
            self.book.claimed(row["ID"])
        agent, state = (
            self.agents[request.token]["ID"],
            self.assignments[key]["status_code"],
        )
        shown = {
            "ID": key,
            "task_ID": row["ID"],
            "agent_ID": agent,
            "status_code": state,
        }
        return self._ok("Assignments/$entity", **shown)

    def submit(self, request: Request) -> Response:
        """Run the action submitResult(assignment_ID, format, content)."""
        kinds = "plain markdown json"
        body = self._data(request, assignment_ID="UUID", format=kinds, content="String")
        if isinstance(body, Response):
            return body
        found = self._assignment(request, body)
        if isinstance(found, Response):
            return found
        found["content"] = body["content"]
        given = {"ID": str(uuid.uuid4()), "assignment_ID": found["ID"]}
        return self._ok("Results/$entity", **given, format=body["format"])

    def complete(self, request: Request) -> Response:
        """Run the action completeTask(assignment_ID), which returns nothing."""
        body = self._data(request, assignment_ID="UUID")
        if isinstance(body, Response):
            return body
        found = self._assignment(request, body)
        if isinstance(found, Response):
            return found
        row = self.rows[found["task_ID"]]
        if found["content"] is None:
            return self._error(
                409, "NO_RESULT", "Submit a result first", "assignment_ID"
            )
        if found["content"] != row["briefing"].upper():
            return self._error(
                422, "RESULT_REJECTED", "Result does not match the briefing"
            )
        found["status_code"] = row["status_code"] = "C"
        amount = int(row["reward"].split(".")[0])
        self.agents[request.token]["credits"] += amount
        self.book.pay(row["ID"], amount)
        return Response(204, "", {"OData-Version": "4.0"})
