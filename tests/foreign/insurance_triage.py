"""An insurer's claims triage: here a "claim" is the task, and one is assigned to it.

Lists payload.openClaims by page, three at a time, under a header with a request id, and
the agent's own assignments beside them. Refuses with a message list from the host
system: {"messages": [{"severity": "E", "id": "CLM-0012", "element": "/claimNumber",
"text"}]}, all at once. An assignment id is wanted for the assessment (with a severity
class from 1 to 5) and for the decision (APPROVE, REFER, DECLINE). The decision is in
review (202) until one looks again, at the list or with the same decision; pays then.
Honoraria are strings, "18.00".
"""

import itertools
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CLAIMS = [
    (
        "CL-24-0099123",
        "MOTOR",
        "The parked car was struck by a delivery van at the rear.",
        "18.00",
    ),
    (
        "CL-24-0099131",
        "HOME",
        "Water came through the kitchen ceiling overnight.",
        "12.00",
    ),
    ("CL-24-0099140", "TRAVEL", "A suitcase was lost between Oslo and Lisbon.", "7.00"),
    ("CL-24-0099152", "HOME", "Hail broke four panes of the greenhouse.", "9.00"),
    ("CL-24-0099158", "MOTOR", "The windscreen cracked on the motorway.", "5.00"),
    ("CL-24-0099163", "MARINE", "The mast came down in a squall off Skagen.", "25.00"),
    (
        "CL-24-0099170",
        "PET",
        "The dog swallowed a tennis ball and was operated on.",
        "10.00",
    ),
]
ELSEWHERE = {"CL-24-0099140"}
PAGE = 3
DECISIONS = ("APPROVE", "REFER", "DECLINE")


def _error(id_: str, text: str, element: str = "") -> dict[str, str]:
    return {"severity": "E", "id": id_, "element": element, "text": text}


class InsuranceTriage(Backend):
    """The triage queue in front of the host system."""

    def __init__(self) -> None:
        super().__init__()
        self._handlers: dict[str, str] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        self._numbers = itertools.count(770001)

    def texts(self) -> dict[str, str]:
        return {row[0]: row[2] for row in CLAIMS if row[0] not in ELSEWHERE}

    def _answer(
        self, status: int, payload: Any = None, *messages: dict[str, str]
    ) -> Response:
        header = {
            "requestId": f"RQ{next(self._numbers)}",
            "returnCode": 8 if messages else 0,
        }
        body: dict[str, Any] = {"header": header}
        if payload is not None:
            body["payload"] = payload
        return Response(status, {**body, "messages": list(messages)})

    def missing(self, request: Request) -> Response:
        return self._answer(404, None, _error("GEN-0404", "Unknown service"))

    def _look(self, one: dict[str, Any]) -> None:
        if one["status"] == "IN_REVIEW":
            one["status"] = "SETTLED"
            honorarium = next(row[3] for row in CLAIMS if row[0] == one["claimNumber"])
            self.book.pay(one["claimNumber"], int(float(honorarium)))

    def _input(
        self, request: Request, **elements: str
    ) -> tuple[dict[str, Any], Response | None]:
        if request.token not in self._handlers:
            return {}, self._answer(
                401, None, _error("SEC-0001", "Bearer token is missing or not valid")
            )
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return {}, self._answer(
                400, None, _error("GEN-0002", "Message body is not a JSON object")
            )
        found = []
        for name, kind in elements.items():
            value, at = body.get(name), f"/{name}"
            if value is None or value == "":
                found.append(_error("CLM-0012", f"Element {name} is mandatory", at))
            elif kind == "class":
                if isinstance(value, bool) or value not in (1, 2, 3, 4, 5):
                    found.append(
                        _error(
                            "CLM-0031",
                            f"Element {name} must be a whole number from 1 to 5",
                            at,
                        )
                    )
            elif not isinstance(value, str):
                found.append(
                    _error("CLM-0014", f"Element {name} must be alphanumeric", at)
                )
            elif kind == "decision" and value not in DECISIONS:
                found.append(
                    _error(
                        "CLM-0030",
                        f"Element {name}: permitted values are {', '.join(DECISIONS)}",
                        at,
                    )
                )
        return body, self._answer(400, None, *found) if found else None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, handler = secrets.token_hex(24), f"EXT{500 + len(self._handlers)}"
        self._handlers[token] = handler
        return self._answer(
            200, {"handlerId": handler, "accessToken": token, "credits": "100.00"}
        )

    def tasks(self, request: Request) -> Response:
        _, refusal = self._input(request)
        if refusal:
            return refusal
        handler = self._handlers[request.token]
        mine = [a for a in self._assignments.values() if a["handler"] == handler]
        for one in mine:
            self._look(one)
        taken = ELSEWHERE | {
            a["claimNumber"]
            for a in self._assignments.values()
            if a["status"] != "SETTLED"
        }
        settled = {
            a["claimNumber"]
            for a in self._assignments.values()
            if a["status"] == "SETTLED"
        }
        rows = [
            {
                "claimNumber": number,
                "line": line,
                "narrative": narrative,
                "honorarium": {"value": value, "unit": "credits"},
                "assigned": number in taken,
            }
            for number, line, narrative, value in CLAIMS
            if number not in settled
        ]
        page = request.query.get("page", "1")
        limit = request.query.get("limit", "")
        size = min(int(limit), 10) if limit.isdigit() and int(limit) else PAGE
        at = (int(page) - 1) * size if page.isdigit() and int(page) else 0
        payload = {
            "openClaims": rows[at : at + size],
            "page": at // size + 1,
            "pages": -(-len(rows) // size),
            "myAssignments": [
                {n: a[n] for n in ("assignmentId", "claimNumber", "status")}
                for a in mine
            ],
        }
        return self._answer(200, payload)

    def claim(self, request: Request) -> Response:
        body, refusal = self._input(request, claimNumber="text")
        if refusal:
            return refusal
        number, handler = body["claimNumber"], self._handlers[request.token]
        if number not in {row[0] for row in CLAIMS}:
            return self._answer(
                404,
                None,
                _error("CLM-0001", f"Claim {number} not found", "/claimNumber"),
            )
        one = next(
            (a for a in self._assignments.values() if a["claimNumber"] == number), None
        )
        if number in ELSEWHERE or (one and one["handler"] != handler):
            return self._answer(
                409,
                None,
                _error(
                    "CLM-0020",
                    f"Claim {number} is assigned to another handler",
                    "/claimNumber",
                ),
            )
        if one:
            held = one["assignmentId"]
            text = f"Claim {number} is assigned to you already, assignment {held}"
            return self._answer(409, None, _error("CLM-0021", text, "/claimNumber"))
        random = secrets.randbelow(90000) + 10000
        one = {
            "assignmentId": f"AS{random}-{len(self._assignments)}",
            "claimNumber": number,
            "handler": handler,
            "status": "ASSIGNED",
        }
        self._assignments[one["assignmentId"]] = one
        self.book.claimed(number)
        return self._answer(
            201, {n: one[n] for n in ("assignmentId", "claimNumber", "status")}
        )

    def _assignment(
        self, request: Request, body: dict[str, Any]
    ) -> tuple[Any, Response | None]:
        one = self._assignments.get(body["assignmentId"])
        if one and one["handler"] == self._handlers[request.token]:
            return one, None
        return None, self._answer(
            404, None, _error("ASG-0001", "Assignment not found", "/assignmentId")
        )

    def submit(self, request: Request) -> Response:
        body, refusal = self._input(
            request, assignmentId="text", assessment="text", severityClass="class"
        )
        if refusal:
            return refusal
        one, refusal = self._assignment(request, body)
        if refusal:
            return refusal
        if one["status"] not in ("ASSIGNED", "ASSESSED"):
            return self._answer(
                409, None, _error("ASG-0009", "A decision was taken already")
            )
        if body["assessment"] != self.texts()[one["claimNumber"]].upper():
            return self._answer(
                422,
                None,
                _error(
                    "ASG-0015", "Assessment failed plausibility check", "/assessment"
                ),
            )
        one["status"] = "ASSESSED"
        return self._answer(
            200, {"assignmentId": one["assignmentId"], "status": "ASSESSED"}
        )

    def complete(self, request: Request) -> Response:
        body, refusal = self._input(request, assignmentId="text", decision="decision")
        if refusal:
            return refusal
        one, refusal = self._assignment(request, body)
        if refusal:
            return refusal
        if one["status"] == "ASSIGNED":
            return self._answer(
                409,
                None,
                _error("ASG-0010", "Assessment has to be sent before the decision"),
            )
        if one["status"] == "ASSESSED":
            one["status"] = "IN_REVIEW"
            note = "The decision is being reviewed. Send it again or see myAssignments."
            return self._answer(
                202,
                {
                    "assignmentId": one["assignmentId"],
                    "status": "IN_REVIEW",
                    "note": note,
                },
            )
        self._look(one)
        return self._answer(
            200, {"assignmentId": one["assignmentId"], "status": "SETTLED"}
        )
