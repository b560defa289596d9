"""A board for freelancers: applying is not yet having the job, and money comes in cents.

Claiming is an application (202), which the client accepts a second later: repeating the
application then answers with the contract, and the job says so in the listing. Delivering
before that is 409. A contract has one milestone, about which the later steps are; after the
delivery the client looks at it (202), approves it, and the escrow pays amountCents. Errors
have a code and a map of fields. A hundred credits are a dollar, so a cent is a credit.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

BRIEFS = (
    "the gallery opens with a whisper",
    "translate the menu into rain",
    "a bicycle waits for its rider",
    "seven editors share one pencil",
    "the logo needs more cheese",
    "a podcast about quiet rooms",
    "the client is always on a boat",
    "crop the photograph at the elbow",
    "our newsletter went to the wrong moon",
)
PAGE = 4
ACCEPT_SECONDS = 1.2
APPROVE_SECONDS = 1.5


class ApiError(Exception):
    def __init__(self, status: int, code: str, message: str, /, **fields: str) -> None:
        super().__init__(message)
        self.status = status
        self.body: Json = {"error": {"code": code, "message": message}}
        if fields:
            self.body["error"]["fields"] = fields


class FreelanceBoard(Backend):
    """Nine jobs."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, str] = {}
        self.jobs: dict[str, Json] = {}
        self.applications: dict[str, Json] = {}  # job -> application
        self.milestones: dict[str, Json] = {}
        for n, brief in enumerate(BRIEFS):
            key = f"~01{secrets.token_hex(8)}"
            self.jobs[key] = {
                "id": key,
                "title": "Capitalise one line of copy",
                "description": brief,
                "budget": {"type": "fixed", "amountCents": 100 * (n % 4) + 150},
                "proposals": n,
                "status": "open",
                "client": {"country": "NZ", "paymentVerified": True},
                "postedOn": "2025-05-05",
            }

    def texts(self) -> dict[str, str]:
        return {key: job["description"] for key, job in self.jobs.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        user, token = f"usr_{secrets.token_hex(5)}", secrets.token_urlsafe(28)
        self.users[token] = user
        return Response(200, {"agent_id": user, "access_token": token, "credits": 100})

    def accepted(self, job: str) -> Json | None:
        """Return the application for a job after the client has had time to read it."""
        application = self.applications.get(job)
        if application is None or application["state"] != "pending":
            return application
        if time.monotonic() - application["at"] < ACCEPT_SECONDS:
            return application
        milestone = {
            "id": f"ms_{secrets.token_hex(5)}",
            "title": "Final delivery",
            "amountCents": self.jobs[job]["budget"]["amountCents"],
            "state": "funded",
        }
        self.milestones[milestone["id"]] = {"job": job, "shown": milestone}
        application.update(
            state="accepted",
            contract={"id": f"ct_{secrets.token_hex(5)}", "milestones": [milestone]},
        )
        self.jobs[job]["status"] = "in_contract"
        return application

    @staticmethod
    def public(application: Json) -> Json:
        return {name: value for name, value in application.items() if name != "at"}

    def tasks(self, request: Request) -> Response:
        mine = request.token in self.users
        shown = []
        for key, job in self.jobs.items():
            application = self.accepted(key)
            more = (
                {"application": self.public(application)}
                if application and mine
                else {}
            )
            shown.append({**job, **more})
        offset = int(request.query.get("offset", "0") or 0)
        page = shown[offset : offset + PAGE]
        paging = {"offset": offset, "count": len(page), "total": len(shown)}
        return Response(200, {"jobs": page, "paging": paging})

    def answered(self, request: Request, run: Any) -> Response:
        try:
            status, told = run(self.parsed(request))
            return Response(status, told)
        except ApiError as error:
            return Response(error.status, error.body)

    def parsed(self, request: Request) -> Json:
        if request.token not in self.users:
            raise ApiError(401, "UNAUTHENTICATED", "Log in to continue.")
        try:
            body = request.json()
        except ValueError:
            raise ApiError(400, "BAD_JSON", "The body is not JSON.") from None
        return body if isinstance(body, dict) else {}

    @staticmethod
    def wanted(body: Json, *names: str) -> list[str]:
        bad = {
            name: "must be a string" if name in body else "is required"
            for name in names
            if not isinstance(body.get(name), str) or not body[name]
        }
        if bad:
            told = "Some fields need your attention."
            raise ApiError(422, "VALIDATION_FAILED", told, **bad)
        return [body[name] for name in names]

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, body: Json) -> tuple[int, Json]:
        (job,) = self.wanted(body, "jobId")
        if job not in self.jobs:
            raise ApiError(404, "JOB_NOT_FOUND", "This job is no longer listed.")
        if job not in self.applications:
            self.applications[job] = {
                "id": f"app_{secrets.token_hex(5)}",
                "jobId": job,
                "state": "pending",
                "at": time.monotonic(),
            }
            self.book.claimed(job)
        application = self.accepted(job)
        assert application
        status = 202 if application["state"] == "pending" else 200
        return status, {"application": self.public(application)}

    def milestone(self, key: str) -> tuple[str, Json]:
        if key not in self.milestones:
            raise ApiError(404, "MILESTONE_NOT_FOUND", "No such milestone.")
        found = self.milestones[key]
        return found["job"], found["shown"]

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, body: Json) -> tuple[int, Json]:
        key, message = self.wanted(body, "milestoneId", "message")
        job, shown = self.milestone(key)
        if shown["state"] != "funded":
            raise ApiError(409, "MILESTONE_STATE", f"Milestone is {shown['state']}.")
        if message != self.jobs[job]["description"].upper():
            raise ApiError(409, "CHANGES_REQUESTED", "The client asks for changes.")
        shown["state"] = "submitted"
        self.milestones[key]["at"] = time.monotonic()
        return 200, {"milestone": shown}

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, body: Json) -> tuple[int, Json]:
        (key,) = self.wanted(body, "milestoneId")
        job, shown = self.milestone(key)
        if shown["state"] == "funded":
            raise ApiError(409, "MILESTONE_STATE", "Nothing was submitted.")
        if shown["state"] == "submitted":
            if time.monotonic() - self.milestones[key]["at"] < APPROVE_SECONDS:
                return 202, {"milestone": {**shown, "state": "in_review"}}
            shown["state"] = "paid"
            self.jobs[job]["status"] = "closed"
            self.book.pay(job, shown["amountCents"])
        payout = {"amountCents": shown["amountCents"], "currency": "USD"}
        return 200, {"milestone": shown, "payout": payout}
