"""Wortwerk, a translation bureau in Zurich: vendors accept jobs at the listed fee.

Lists jobs in pages of five (`page.next` is an address), OPEN ones among ASSIGNED ones.
Accepting wants the job number and the accepted fee, and answers 201 with an assignment;
delivering and invoicing want the assignment's id, invoicing a reference of one's own
too. Refuses with RFC 7807 problems that name every bad parameter. Pays when the invoice
of a delivered assignment comes in (complete). A second acceptance by the holder is a
conflict that names the assignment. texts() has the jobs that are open at the start.
"""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

JOBS = [
    # number, service, fee in credits, source text
    ("WW-24-0311", "MTPE", 14, "Please keep the lid closed while the drum is turning."),
    ("WW-24-0312", "TEP", 22, "The lessee returns the keys on the last working day."),
    ("WW-24-0315", "MTPE", 9, "Fresh every morning: rye, spelt and walnut bread."),
    ("WW-24-0316", "TEP", 31, "This warranty does not cover damage caused by frost."),
    ("WW-24-0319", "LQA", 12, "Change at Olten for the regional train to Aarau."),
    ("WW-24-0320", "MTPE", 17, "Your parcel is waiting at counter 4 until Friday."),
    ("WW-24-0324", "TEP", 26, "Shareholders may be represented by a written proxy."),
    ("WW-24-0326", "LQA", 11, "Café and terrace are open from April to October."),
]
ELSEWHERE = [
    ("WW-24-0313", "TEP", 28, "Take one tablet in the evening with a glass of water."),
    ("WW-24-0321", "LQA", 10, "Dogs are welcome on the upper deck."),
]


class WortwerkBureau(Backend):
    """Jobs, assignments, invoices."""

    def __init__(self) -> None:
        """Open the books of the day."""
        super().__init__()
        self.jobs = {row[0]: row for row in sorted(JOBS + ELSEWHERE)}
        self.status = {number: "OPEN" for number, *_ in JOBS}
        self.status |= {number: "ASSIGNED" for number, *_ in ELSEWHERE}
        self.vendors: dict[str, str] = {}  # token -> vendor
        self.balance: dict[str, int] = {}
        self.assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the source text of every job that can be had."""
        return {number: text for number, _, _, text in JOBS}

    @staticmethod
    def _problem(status: int, kind: str, detail: str, **more: Any) -> Response:
        body = {
            "type": f"https://api.wortwerk.example/problems/{kind}",
            "title": kind.replace("-", " ").capitalize(),
            "status": status,
            "detail": detail,
            **more,
        }
        return Response(status, body, {"Content-Type": "application/problem+json"})

    def missing(self, request: Request) -> Response:
        """Say that there is no such resource."""
        return self._problem(404, "not-found", f"No resource at {request.path}.")

    def register(self, request: Request) -> Response:
        """Sign up a vendor."""
        self.book.registrations += 1
        vendor, token = str(uuid.uuid4()), secrets.token_urlsafe(24)
        self.vendors[token] = vendor
        self.balance[vendor] = 100
        number = f"V-{1040 + len(self.vendors)}"
        body = {"agent_id": vendor, "vendorNumber": number, "access_token": token}
        return Response(200, body | {"credits": 100})

    def _page(self, request: Request) -> Response:
        try:
            number = max(int(request.query.get("page", 1)), 1)
            size = min(max(int(request.query.get("limit", 5)), 1), 5)
        except ValueError:
            return self._problem(400, "bad-query", "page and limit are whole numbers.")
        rows = list(self.jobs.values())
        jobs = [
            {
                "jobNumber": job,
                "status": self.status[job],
                "service": service,
                "languagePair": {"source": "en-GB", "target": "en-CH"},
                "sourceText": text,
                "wordCount": len(text.split()),
                "fee": {"value": fee, "unit": "credits"},
            }
            for job, service, fee, text in rows[(number - 1) * size : number * size]
        ]
        following = f"{request.base}{request.path}?limit={size}&page={number + 1}"
        page = {
            "number": number,
            "size": size,
            "totalElements": len(rows),
            "next": following if number * size < len(rows) else None,
        }
        return Response(200, {"jobs": jobs, "page": page})

    def marketplace(self, request: Request) -> Response:
        """Show the board to anybody."""
        return self._page(request)

    def tasks(self, request: Request) -> Response:
        """Show the board to a vendor."""
        return self._denied(request) or self._page(request)

    def _denied(self, request: Request) -> Response | None:
        if request.token in self.vendors:
            return None
        return self._problem(401, "unauthorized", "A vendor's bearer token is needed.")

    def _body(self, request: Request, wanted: dict[str, tuple[type, str]]) -> Any:
        """Return the body, or the problem with it."""
        try:
            body = request.json()
        except ValueError:
            return self._problem(400, "malformed-json", "The body is not JSON.")
        if not isinstance(body, dict):
            return self._problem(400, "malformed-json", "The body is not an object.")
        bad = []
        for name, (kind, what) in wanted.items():
            value = body.get(name)
            if value is None or (isinstance(value, str) and not value.strip()):
                bad.append({"name": name, "reason": f"is required: {what}"})
            elif not isinstance(value, kind) or isinstance(value, bool):
                bad.append({"name": name, "reason": f"has the wrong type: {what}"})
        if bad:
            detail = "See invalidParams."
            return self._problem(400, "validation-failed", detail, invalidParams=bad)
        return body

    def claim(self, request: Request) -> Response:
        """Accept a job at its fee."""
        fee = (int, "the listed fee you accept, a whole number of credits")
        wanted = {"jobNumber": (str, "number of an open job"), "acceptedFee": fee}
        body = self._denied(request) or self._body(request, wanted)
        if isinstance(body, Response):
            return body
        number, vendor = body["jobNumber"], self.vendors[request.token]
        if number not in self.jobs:
            return self._problem(404, "unknown-job", f"There is no job {number}.")
        for key, held in self.assignments.items():
            if held["job"] == number and held["vendor"] == vendor:
                detail = "You have accepted this job before."
                return self._problem(409, "already-yours", detail, assignmentId=key)
        if self.status[number] != "OPEN":
            return self._problem(409, "job-not-open", "Another vendor was faster.")
        if body["acceptedFee"] != self.jobs[number][2]:
            detail = f"The fee of {number} is {self.jobs[number][2]} credits."
            return self._problem(422, "fee-mismatch", detail)
        key = str(uuid.uuid4())
        self.assignments[key] = {"job": number, "vendor": vendor}
        self.status[number] = "ASSIGNED"
        self.book.claimed(number)
        body = {"assignmentId": key, "jobNumber": number, "status": "IN_PROGRESS"}
        return Response(201, {"assignment": body})

    def _assignment(self, request: Request, wanted: Any) -> Any:
        """Return the body of a vendor who holds the assignment that it names."""
        key = (str, "id of your assignment, from its acceptance")
        body = self._denied(request)
        body = body or self._body(request, {"assignmentId": key} | wanted)
        if isinstance(body, Response):
            return body
        held = self.assignments.get(body["assignmentId"])
        if not held or held["vendor"] != self.vendors[request.token]:
            return self._problem(
                404, "unknown-assignment", "No such assignment of yours."
            )
        return body

    def submit(self, request: Request) -> Response:
        """Take a delivery in."""
        wanted = {"targetText": (str, "the finished text")}
        body = self._assignment(request, wanted)
        if isinstance(body, Response):
            return body
        number = self.assignments[body["assignmentId"]]["job"]
        if self.status[number] != "ASSIGNED":
            return self._problem(409, "already-delivered", f"{number} is delivered.")
        if body["targetText"] != self.jobs[number][3].upper():
            detail = "The text did not pass our check; please revise and deliver again."
            return self._problem(422, "quality-check", detail)
        self.status[number] = "DELIVERED"
        answer = {"assignmentId": body["assignmentId"], "status": "DELIVERED"}
        return Response(200, {"assignment": answer, "nextStep": "invoice (complete)"})

    def complete(self, request: Request) -> Response:
        """Pay an invoice."""
        wanted = {"invoiceReference": (str, "your own reference, any text")}
        body = self._assignment(request, wanted)
        if isinstance(body, Response):
            return body
        held = self.assignments[body["assignmentId"]]
        number, fee = held["job"], self.jobs[held["job"]][2]
        if self.status[number] == "ASSIGNED":
            return self._problem(409, "not-delivered", f"Deliver {number} first.")
        if self.status[number] == "INVOICED":
            return self._problem(409, "already-invoiced", f"{number} is paid.")
        self.status[number] = "INVOICED"
        self.book.pay(number, fee)
        self.balance[held["vendor"]] += fee
        total = {"value": fee, "unit": "credits"}
        paid = {"reference": body["invoiceReference"], "status": "PAID", "total": total}
        balance = self.balance[held["vendor"]]
        return Response(200, {"invoice": paid, "accountCredits": balance})
