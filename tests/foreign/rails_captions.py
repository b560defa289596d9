"""A Rails 7 API: strong parameters, ActiveModel errors, integer ids.

The job market: a captioning bureau that farms out broadcast captions to agents.

Listing (Jbuilder and Kaminari): `{"jobs": [...], "meta": {"current_page", "total_pages",
"total_count"}}`; a job has `id`, `reference`, `headline`, `brief`, `source_text`, `fee` and
`fee_unit`, `state`, `created_at`, `updated_at`. `limit` is Kaminari's per_page (25).
Claim wants `{"assignment": {"job_id": 1}}` and answers `{"assignment": {"id", ...}}`.
Submit wants `{"submission": {"assignment_id": 1, "caption": "..."}}` and answers
`{"submission": {...}}` with state `approved`. Complete wants `{"assignment": {"id": 1}}`,
pays, and answers the assignment with `fee_paid`.
Errors: 400 `{"error": "param is missing or the value is empty: assignment"}`, 404
`{"error": "Couldn't find Assignment with 'id'=9"}`, 422 `{"errors": {attribute: [message]},
"full_messages": [...]}`, 401 in plain text. Keys that are not permitted are dropped in
silence, and scalars are cast as ActiveModel casts them.
"""

import re
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

JOBS = [
    ("Evening news opener", "Good evening and welcome to the nine o'clock news", 14),
    ("Weather strap", "Heavy rain is expected across the north tonight", 11),
    ("Quiz show cue", "You have thirty seconds to answer the final question", 13),
    ("Travel bulletin", "Two lanes are closed on the ring road", 9),
    ("Cookery caption", "Leave the dough to rest for one hour", 8),
    ("Sports ticker", "The match was called off because of fog", 10),
    ("Documentary card", "Filmed over three winters on the same island", 16),
    ("Charity appeal", "Every call you make helps a family", 7),
]


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())


def _integer(value: Any) -> int | None:
    """Cast as ActiveModel::Type::Integer does."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return int(value)
    if isinstance(value, str) and value.strip():
        found = re.match(r"\s*[-+]?\d+", value)
        return int(found[0]) if found else 0
    return None


def _string(value: Any) -> str | None:
    """Cast as ActiveModel::Type::String does."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "t" if value else "f"
    return str(value)


class _HaltError(Exception):
    """What rescue_from catches."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


class Rails7(Backend):
    """A monolith with a thin controller for every action."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.assignments: dict[int, dict[str, Any]] = {}
        self.submissions: dict[int, dict[str, Any]] = {}
        self.jobs: dict[int, dict[str, Any]] = {
            number: {
                "id": number,
                "reference": f"CAP-{number:05d}",
                "headline": headline,
                "brief": "Caption in block capitals: give source_text in upper case, with "
                "its punctuation and spacing left alone.",
                "source_text": text,
                "fee": fee,
                "fee_unit": "credits",
                "state": "open",
                "created_at": _now(),
                "updated_at": _now(),
            }
            for number, (headline, text, fee) in enumerate(JOBS, 1041)
        }

    def texts(self) -> dict[str, str]:
        """Return the source text of every job by its id."""
        return {str(number): job["source_text"] for number, job in self.jobs.items()}

    def missing(self, request: Request) -> Response:
        """Answer as the exceptions app does to a RoutingError."""
        return Response(404, {"status": 404, "error": "Not Found"})

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(24)
        agent = {"id": 500 + len(self.agents), "credits": 100}
        self.agents[token] = agent
        return Response(
            200,
            {
                "agent_id": str(agent["id"]),
                "access_token": token,
                "token_type": "Bearer",
                "credits": 100,
                "created_at": _now(),
            },
        )

    def tasks(self, request: Request) -> Response:
        """List one page of the open jobs."""
        per = _integer(request.query.get("limit")) or 25
        page = max(_integer(request.query.get("page")) or 1, 1)
        per = min(per, 100) if per > 0 else 25
        found = [job for job in self.jobs.values() if job["state"] == "open"]
        return Response(
            200,
            {
                "jobs": found[(page - 1) * per : page * per],
                "meta": {
                    "current_page": page,
                    "total_pages": -(-len(found) // per),
                    "total_count": len(found),
                },
            },
        )

    marketplace = tasks

    def _authenticate(self, request: Request) -> dict[str, Any]:
        agent = self.agents.get(request.token)
        if agent is None:
            raise _HaltError(
                Response(
                    401,
                    "HTTP Token: Access denied.\n",
                    {"WWW-Authenticate": 'Token realm="Application"'},
                )
            )
        return agent

    @staticmethod
    def _require(request: Request, key: str, *permitted: str) -> dict[str, Any]:
        """Do what params.require(key).permit(*permitted) does."""
        try:
            params = request.json() if request.raw else {}
        except ValueError:
            raise _HaltError(
                Response(400, {"status": 400, "error": "Bad Request"})
            ) from None
        value = params.get(key) if isinstance(params, dict) else None
        if value is None or value is False or value in ("", [], {}):  # blank?
            message = f"param is missing or the value is empty: {key}"
            raise _HaltError(Response(400, {"error": message}))
        if not isinstance(value, dict):  # NoMethodError: undefined method `permit'
            raise _HaltError(
                Response(500, {"status": 500, "error": "Internal Server Error"})
            )
        return {
            name: value[name]
            for name in permitted
            if name in value and not isinstance(value[name], dict | list)
        }

    @staticmethod
    def _invalid(errors: dict[str, list[str]]) -> Response:
        full = [
            message
            if name == "base"
            else f"{name.removesuffix('_id').replace('_', ' ').capitalize()} {message}"
            for name, messages in errors.items()
            for message in messages
        ]
        return Response(422, {"errors": errors, "full_messages": full})

    def claim(self, request: Request) -> Response:
        """Create an assignment."""
        try:
            agent = self._authenticate(request)
            params = self._require(request, "assignment", "job_id")
        except _HaltError as halt:
            return halt.response
        job = self.jobs.get(_integer(params.get("job_id")) or 0)
        if job is None:
            return self._invalid({"job": ["must exist"]})
        if job["state"] != "open":
            return self._invalid({"job_id": ["has already been taken"]})
        assignment = {
            "id": 9000 + len(self.assignments) + 1,
            "job_id": job["id"],
            "agent_id": agent["id"],
            "state": "in_progress",
            "created_at": _now(),
            "updated_at": _now(),
        }
        self.assignments[assignment["id"]] = assignment
        job["state"] = "assigned"
        self.book.claimed(str(job["id"]))
        return Response(200, {"assignment": assignment})

    def _own(self, agent: dict[str, Any], value: Any) -> dict[str, Any] | None:
        found = self.assignments.get(_integer(value) or 0)
        return found if found and found["agent_id"] == agent["id"] else None

    def submit(self, request: Request) -> Response:
        """Create a submission for an assignment."""
        try:
            agent = self._authenticate(request)
            params = self._require(request, "submission", "assignment_id", "caption")
        except _HaltError as halt:
            return halt.response
        errors: dict[str, list[str]] = {}
        assignment = self._own(agent, params.get("assignment_id"))
        caption = _string(params.get("caption"))
        if assignment is None:
            errors["assignment"] = ["must exist"]
        elif assignment["id"] in self.submissions:
            errors["assignment_id"] = ["has already been taken"]
        if caption is None or not caption.strip():
            errors["caption"] = ["can't be blank"]
        elif (
            assignment is not None
            and caption != self.jobs[assignment["job_id"]]["source_text"].upper()
        ):
            errors["caption"] = ["is not the source text in upper case"]
        if errors or assignment is None:
            return self._invalid(errors)
        submission = {
            "id": 300 + len(self.submissions),
            "assignment_id": assignment["id"],
            "caption": caption,
            "state": "approved",
            "created_at": _now(),
            "updated_at": _now(),
        }
        self.submissions[assignment["id"]] = submission
        assignment["state"] = "submitted"
        assignment["updated_at"] = _now()
        return Response(200, {"submission": submission})

    def complete(self, request: Request) -> Response:
        """Close an assignment and pay its fee."""
        try:
            agent = self._authenticate(request)
            params = self._require(request, "assignment", "id")
        except _HaltError as halt:
            return halt.response
        if params.get("id") is None:
            return Response(404, {"error": "Couldn't find Assignment without an ID"})
        assignment = self._own(agent, params["id"])
        if assignment is None:
            message = f"Couldn't find Assignment with 'id'={params['id']}"
            return Response(404, {"error": message})
        if assignment["state"] == "in_progress":
            return self._invalid({"base": ["Assignment has no approved submission"]})
        if assignment["state"] == "completed":
            return self._invalid({"base": ["Assignment has already been completed"]})
        job = self.jobs[assignment["job_id"]]
        assignment["state"] = job["state"] = "completed"
        assignment["updated_at"] = _now()
        agent["credits"] += job["fee"]
        self.book.pay(str(job["id"]), job["fee"])
        return Response(
            200,
            {
                "assignment": {**assignment, "fee_paid": job["fee"]},
                "agent": {"id": agent["id"], "credits": agent["credits"]},
            },
        )
