"""A translation bureau on Rails 8 in API mode.

Bodies are `params.expect(assignment: [...])` and the like; ParamsWrapper wraps a flat
body by the model's columns, what is not permitted is dropped without a word, and the
record says all its faults at once. Quality assurance is a background job, so that a
delivery is judged a moment after it came; it is paid by an invoice.
"""

import hashlib
import json
import secrets
import time
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_STAMPS = ("id", "created_at", "updated_at")
# The columns of each model, which ParamsWrapper takes up, and what `expect` permits.
_COLUMNS = {
    "assignment": (
        *_STAMPS,
        "agent_id",
        "job_id",
        "state",
        "agreed_fee",
        "terms_accepted",
        "due_at",
    ),
    "delivery": (
        *_STAMPS,
        "assignment_id",
        "state",
        "target_locale",
        "target_text",
        "production_method",
        "remarks",
    ),
    "invoice": (*_STAMPS, "delivery_id", "number", "amount", "currency", "paid_at"),
}
_PERMITTED = {
    "assignment": ("job_id", "agreed_fee", "terms_accepted"),
    "delivery": (
        "assignment_id",
        "target_locale",
        "target_text",
        "production_method",
        "remarks",
    ),
    "invoice": ("delivery_id", "amount", "currency"),
}
_METHODS = ("machine", "post_edited", "human")
_LIMIT = 3  # assignments that an agent may have running

_JOBS = [
    (1042, "Menu card", "Grilled trout with almonds & brown butter", "12.0", "open"),
    (1043, "Notice", "The lift is out of service until Friday", "9.0", "open"),
    (1047, "Label", "Keep dry. Keep away from children.", "7.0", "open"),
    (1048, "Slogan", "Good shoes take you good places", "22.0", "assigned"),
    (1051, "Poster", "one night only: the brass band of Żywiec", "14.0", "open"),
    (1052, "Sign", "mind your head", "5.0", "open"),
    (
        1055,
        "Headline",
        "Council approves the new bridge after long debate",
        "18.0",
        "open",
    ),
    (1056, "Caption", "Left to right: Anna, Pieter and the dog", "8.0", "cancelled"),
    (1060, "Subtitle", "- Who's there?\n- Nobody you know.", "11.0", "open"),
    (1061, "Button", "save & continue <later>", "4.0", "open"),
    (1063, "Banner", "closing-down sale: everything 50% off", "10.0", "open"),
]


class Bureau(Backend):
    """The bureau: assignment, delivery, quality assurance, invoice."""

    qa_seconds = 0.6

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._credits: dict[str, Decimal] = {}
        self._assignments: dict[int, dict[str, Any]] = {}
        self._deliveries: dict[int, dict[str, Any]] = {}
        self._invoices = 2600
        start = datetime(2026, 2, 16, 9, 30, 11, 204000, tzinfo=UTC)
        self._jobs: dict[int, dict[str, Any]] = {}
        for number, kind, text, fee, state in _JOBS:
            made = self._date(start + timedelta(minutes=47 * (number - 1040)))
            self._jobs[number] = {
                "id": number,
                "reference": f"TB-2026-{number}",
                "title": f"{kind}: capitals",
                "brief": "Deliver the source text in capital letters throughout (upper "
                "case); wording, punctuation and spacing stay as they are. The full "
                "source_text comes with the assignment.",
                "excerpt": text if len(text) <= 20 else text[:17] + "...",
                "source_locale": "en",
                "target_locale": "en-GB",
                "production_methods": list(_METHODS),
                "fee": fee,
                "currency": "CRD",
                "state": state,
                "created_at": made,
                "updated_at": made,
                "source_text": text,
            }

    @staticmethod
    def _date(moment: datetime) -> str:
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _now(self) -> str:
        return self._date(datetime.now(UTC))

    @staticmethod
    def _headers(body: str) -> dict[str, str]:
        return {
            "Content-Type": "application/json; charset=utf-8",
            "Cache-Control": "max-age=0, private, must-revalidate",
            "ETag": f'W/"{hashlib.md5(body.encode()).hexdigest()}"',  # noqa: S324 - no secret
            "X-Request-Id": str(uuid.uuid4()),
            "X-Runtime": "0.011482",
        }

    def _render(self, body: Any, status: int = 200, **headers: str) -> Response:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        for letter in "<>&\u2028\u2029":  # ActiveSupport's JSON escapes these
            text = text.replace(letter, f"\\u{ord(letter):04x}")
        return Response(status, text, self._headers(text) | headers)

    def missing(self, request: Request) -> Response:
        """Answer as PublicExceptions does where public/404.html was deleted."""
        if "application/json" in (request.headers.get("Accept") or ""):
            return self._render({"status": 404, "error": "Not Found"}, 404)
        return Response(
            404,
            "",
            {
                "Content-Type": "text/html; charset=utf-8",
                "X-Cascade": "pass",
                "X-Request-Id": str(uuid.uuid4()),
            },
        )

    def texts(self) -> dict[str, str]:
        """Return the texts of the jobs that are open from the start."""
        return {str(n): text for n, _, text, _, state in _JOBS if state == "open"}

    def _denied(self, request: Request) -> Response | None:
        """Refuse as `authenticate_or_request_with_http_token` does."""
        if request.token in self._agents:
            return None
        return Response(
            401,
            "HTTP Token: Access denied.\n",
            {
                "Content-Type": "text/plain; charset=utf-8",
                "WWW-Authenticate": 'Token realm="Application"',
                "X-Request-Id": str(uuid.uuid4()),
            },
        )

    def _expect(self, request: Request, root: str) -> tuple[Any, Response | None]:
        """Return `params.expect(root: [...])` of a private action."""
        if denied := self._denied(request):
            return None, denied
        is_json = request.headers.get_content_type() == "application/json"
        params: Any = {}
        if is_json and request.raw:
            try:
                params = request.json()
            except ValueError:
                return None, self._render(
                    {"error": "Error occurred while parsing request parameters"}, 400
                )
        if not isinstance(params, dict):
            params = {"_json": params}
        if is_json and root not in params:
            params[root] = {k: v for k, v in params.items() if k in _COLUMNS[root]}
        given = params.get(root)
        read = {}
        if isinstance(given, dict):
            read = {
                name: given[name]
                for name in _PERMITTED[root]
                if name in given and not isinstance(given[name], dict | list)
            }
        if not read:
            return None, self._render(
                {"error": f"param is missing or the value is empty or invalid: {root}"},
                400,
            )
        return read, None

    @staticmethod
    def _integer(value: Any) -> int | None:
        """Cast as an integer column does: the digits a text begins with, or 0."""
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, int | float):
            return int(value)
        text = (value or "").strip()
        if not text:
            return None
        digits = ""
        for letter in text:
            if not letter.isdigit():
                break
            digits += letter
        return int(digits or 0)

    @staticmethod
    def _decimal(value: Any) -> Decimal | None:
        if value is None or value == "":
            return None
        try:
            return Decimal(str(value))
        except InvalidOperation:
            return Decimal(0)

    @staticmethod
    def _equal(value: Decimal | None, wanted: str) -> list[str]:
        """Return what `comparison: { equal_to: }` says."""
        if value is None:
            return ["can't be blank"]
        return [] if value == Decimal(wanted) else [f"must be equal to {wanted}"]

    def _invalid(self, errors: dict[str, list[str]]) -> Response:
        return self._render({"errors": errors}, 422)

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(18)
        self._agents[token] = agent
        self._credits[agent] = Decimal(100)
        return self._render({"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        """List jobs in pages, without their full text."""
        limit = 25
        if "limit" in request.query:
            limit = min(max(self._integer(request.query["limit"]) or 1, 1), 25)
        page = max(self._integer(request.query.get("page", "1")) or 1, 1)
        jobs = [job for job in self._jobs.values() if job["state"] != "delivered"]
        pages = max(-(-len(jobs) // limit), 1)
        shown = jobs[(page - 1) * limit : page * limit]
        links = {"first": 1, "prev": page - 1, "next": page + 1, "last": pages}
        link = ", ".join(
            f'<{request.base}{request.path}?limit={limit}&page={number}>; rel="{name}"'
            for name, number in links.items()
            if 1 <= number <= pages
        )
        return self._render(
            {
                "jobs": [
                    {k: v for k, v in job.items() if k != "source_text"}
                    for job in shown
                ],
                "meta": {
                    "current_page": page,
                    "next_page": page + 1 if page < pages else None,
                    "total_pages": pages,
                    "total_count": len(jobs),
                },
            },
            Link=link,
        )

    def tasks(self, request: Request) -> Response:
        """List jobs for an agent that has a token."""
        return self._denied(request) or self.marketplace(request)

    def claim(self, request: Request) -> Response:
        """AssignmentsController#create."""
        given, refusal = self._expect(request, "assignment")
        if refusal:
            return refusal
        agent = self._agents[request.token]
        errors: dict[str, list[str]] = {}
        job = self._jobs.get(self._integer(given.get("job_id")) or 0)
        if job is None:
            errors["job"] = ["must exist"]
        elif said := self._equal(self._decimal(given.get("agreed_fee")), job["fee"]):
            errors["agreed_fee"] = said
        if given.get("terms_accepted") not in (True, 1, "1", "true", "t", "on"):
            errors["terms_accepted"] = ["must be accepted"]
        if job and job["state"] != "open":
            errors.setdefault("job", []).append("is no longer open")
        running = [
            a
            for a in self._assignments.values()
            if a["agent_id"] == agent and a["state"] != "invoiced"
        ]
        if len(running) >= _LIMIT:
            errors["base"] = [
                f"You have {len(running)} running assignments, the limit is {_LIMIT}"
            ]
        if errors or job is None:
            return self._invalid(errors)
        job["state"], job["updated_at"] = "assigned", self._now()
        assignment = {
            "id": 58210 + len(self._assignments),
            "job_id": job["id"],
            "agent_id": agent,
            "state": "in_progress",
            "agreed_fee": job["fee"],
            "terms_accepted": True,
            "due_at": self._date(datetime.now(UTC) + timedelta(hours=4)),
            "created_at": self._now(),
            "updated_at": self._now(),
        }
        self._assignments[assignment["id"]] = assignment
        self.book.claimed(str(job["id"]))
        return self._render(assignment | {"job": job})

    def submit(self, request: Request) -> Response:
        """DeliveriesController#create."""
        given, refusal = self._expect(request, "delivery")
        if refusal:
            return refusal
        errors: dict[str, list[str]] = {}
        assignment = self._assignments.get(
            self._integer(given.get("assignment_id")) or 0
        )
        if assignment and assignment["agent_id"] != self._agents[request.token]:
            assignment = None
        job = self._jobs[assignment["job_id"]] if assignment else None
        if assignment is None:
            errors["assignment"] = ["must exist"]
        elif self._last(assignment["id"], judged=True)["state"] in (
            "in_qa",
            "approved",
        ):
            errors["assignment"] = ["already has a delivery"]
        text = given.get("target_text")
        if text is None or not str(text).strip():
            errors["target_text"] = ["can't be blank"]
        locale = given.get("target_locale")
        if locale is None or not str(locale).strip():
            errors["target_locale"] = ["can't be blank"]
        elif job and locale != job["target_locale"]:
            errors["target_locale"] = ["is not included in the list"]
        if given.get("production_method") not in _METHODS:
            errors["production_method"] = ["is not included in the list"]
        if errors or assignment is None:
            return self._invalid(errors)
        delivery = {
            "id": 7719 + 3 * len(self._deliveries),
            "assignment_id": assignment["id"],
            "state": "in_qa",
            "target_locale": locale,
            "target_text": str(text),
            "production_method": given["production_method"],
            "remarks": given.get("remarks"),
            "created_at": self._now(),
            "updated_at": self._now(),
        }
        self._deliveries[delivery["id"]] = delivery | {
            "due": time.monotonic() + self.qa_seconds
        }
        assignment["state"] = "delivered"
        return self._render(delivery)

    def _last(self, assignment: int, *, judged: bool = False) -> dict[str, Any]:
        """Return the newest delivery of an assignment, judged if its time has come."""
        mine = [
            d for d in self._deliveries.values() if d["assignment_id"] == assignment
        ]
        if not mine:
            return {"state": "none"}
        if judged:
            self._judge(mine[-1])
        return mine[-1]

    def _judge(self, delivery: dict[str, Any]) -> None:
        """QualityAssuranceJob#perform, if it is due."""
        if delivery["state"] != "in_qa" or time.monotonic() < delivery["due"]:
            return
        assignment = self._assignments[delivery["assignment_id"]]
        job = self._jobs[assignment["job_id"]]
        right = delivery["target_text"] == job["source_text"].upper()
        delivery["state"] = "approved" if right else "rejected"
        assignment["state"] = "delivered" if right else "in_progress"

    def complete(self, request: Request) -> Response:
        """InvoicesController#create."""
        given, refusal = self._expect(request, "invoice")
        if refusal:
            return refusal
        errors: dict[str, list[str]] = {}
        agent = self._agents[request.token]
        delivery = self._deliveries.get(self._integer(given.get("delivery_id")) or 0)
        assignment: dict[str, Any] = {}
        job: dict[str, Any] = {}
        if delivery:
            assignment = self._assignments[delivery["assignment_id"]]
            if assignment["agent_id"] != agent:
                delivery = None
        if delivery is None:
            errors["delivery"] = ["must exist"]
        else:
            job = self._jobs[assignment["job_id"]]
            if said := self._equal(self._decimal(given.get("amount")), job["fee"]):
                errors["amount"] = said
        if given.get("currency") != "CRD":
            errors["currency"] = ["is not included in the list"]
        if errors or delivery is None:
            return self._invalid(errors)
        self._judge(delivery)
        if delivery["state"] == "in_qa":
            return self._render(
                {
                    "error": f"Delivery {delivery['id']} is still in QA, please try again shortly"
                },
                409,
                **{"Retry-After": "1"},
            )
        if delivery["state"] == "rejected":
            return self._invalid(
                {"delivery": ["was rejected in QA: not the source text in capitals"]}
            )
        if assignment["state"] == "invoiced":
            return self._invalid({"delivery": ["has already been taken"]})
        assignment["state"], job["state"] = "invoiced", "delivered"
        self._credits[agent] += Decimal(job["fee"])
        self.book.pay(str(job["id"]), int(Decimal(job["fee"])))
        self._invoices += 1
        return self._render(
            {
                "id": self._invoices,
                "number": f"INV-2026-{self._invoices}",
                "delivery_id": delivery["id"],
                "job_id": job["id"],
                "amount": job["fee"],
                "currency": "CRD",
                "state": "paid",
                "paid_at": self._now(),
                "balance": str(self._credits[agent]),
            }
        )
