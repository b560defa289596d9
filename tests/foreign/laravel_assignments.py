"""A micro-job board on Laravel: accepting a task makes an assignment, which is delivered.

The text to work on is only shown to the assignee; an approved delivery pays, and completing
closes the assignment and frees its place.
"""

import json
import secrets
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_MAX_OPEN = 2
_JOBS = [
    (1041, "Shelf label, dairy aisle", 18, "whole milk, one litre"),
    (1042, "Door sign for the workshop", 25, "please knock before entering"),
    (1043, "Headline for the newsletter", 40, "spring comes early to the valley"),
    (1044, "Caption under a photograph", 12, "the old bridge in 1932"),
    (1045, "Warning on a crate", 31, "fragile - this side up"),
    (1046, "Banner for the fair", 55, "fresh bread & warm soup at noon"),
]
_ORDER = "Write the source text out in capital letters and change nothing else."


class _Invalid(Exception):  # noqa: N818
    def __init__(self, errors: dict[str, list[str]]) -> None:
        self.errors = errors


class _Abort(Exception):  # noqa: N818
    def __init__(self, status: int, message: str) -> None:
        self.status = status
        self.message = message


def _label(name: str) -> str:
    return name.replace("_", " ")


def _date(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(value))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


class LaravelAssignments(Backend):
    """Assignments with an identifier of their own; delivery pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._taken: set[int] = set()
        self._assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {str(number): text for number, _, _, text in _JOBS}

    def missing(self, request: Request) -> Response:
        """Answer as the router does."""
        return Response(
            404, {"message": f"The route {request.path[1:]} could not be found."}
        )

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        number = 300 + self.book.registrations
        token = f"{number}|{secrets.token_hex(20)}"
        self._agents[token] = {"id": f"agt_{number}", "credits": 100}
        agent = {"agent_id": f"agt_{number}", "access_token": token, "credits": 100}
        return Response(200, {**agent, "token_type": "Bearer"})

    def marketplace(self, request: Request) -> Response:
        """List open tasks to anyone."""
        return self._guard(request, self._index, public=True)

    def tasks(self, request: Request) -> Response:
        """List open tasks to an agent."""
        return self._guard(request, self._index)

    def claim(self, request: Request) -> Response:
        """Accept a task: make an assignment."""
        return self._guard(request, self._accept)

    def submit(self, request: Request) -> Response:
        """Deliver an assignment; a right one is paid."""
        return self._guard(request, self._deliver)

    def complete(self, request: Request) -> Response:
        """Close a delivered assignment."""
        return self._guard(request, self._close)

    def _guard(self, request: Request, action: Any, public: bool = False) -> Response:  # noqa: FBT001, FBT002
        agent = self._agents.get(request.token)
        if agent is None and not public:
            return Response(401, {"message": "Unauthenticated."})
        try:
            return Response(200, action(request, agent))
        except _Invalid as problem:
            messages = [line for lines in problem.errors.values() for line in lines]
            more = len(messages) - 1
            tail = f" (and {more} more error{'s' * (more > 1)})" if more else ""
            return Response(
                422, {"message": messages[0] + tail, "errors": problem.errors}
            )
        except _Abort as problem:
            return Response(problem.status, {"message": problem.message})

    @staticmethod
    def _input(request: Request) -> dict[str, Any]:
        try:
            body = json.loads(request.raw)
        except ValueError:
            return {}  # as Laravel has it, no input at all
        return body if isinstance(body, dict) else {}

    @staticmethod
    def _required(body: dict[str, Any], *names: str) -> dict[str, list[str]]:
        return {
            name: [f"The {_label(name)} field is required."]
            for name in names
            if body.get(name) is None or str(body[name]).strip() == ""
        }

    def _index(self, request: Request, agent: Any) -> dict[str, Any]:
        errors = {}
        numbers = {"limit": 4, "page": 1}
        for name in numbers:  # noqa: PLC0206
            value = request.query.get(name, str(numbers[name]))
            if not value.isascii() or not value.removeprefix("-").isdigit():
                errors[name] = [f"The {name} field must be an integer."]
            elif int(value) < 1:
                errors[name] = [f"The {name} field must be at least 1."]
            elif name == "limit" and int(value) > 50:
                errors[name] = ["The limit field must not be greater than 50."]
            else:
                numbers[name] = int(value)
        if errors:
            raise _Invalid(errors)
        limit, page = numbers["limit"], numbers["page"]
        jobs = [job for job in _JOBS if job[0] not in self._taken]
        last = max(1, -(-len(jobs) // limit))
        start = (page - 1) * limit
        shown = jobs[start : start + limit]
        path = request.base + request.path
        link = (path + f"?limit={limit}&page={{}}").format
        return {
            "data": [
                {
                    "id": number,
                    "title": title,
                    "instructions": _ORDER,
                    "payout": payout,
                    "status": "open",
                }
                for number, title, payout, _ in shown
            ],
            "links": {
                "prev": link(page - 1) if page > 1 else None,
                "next": link(page + 1) if page < last else None,
            },
            "meta": {"current_page": page, "last_page": last, "path": path}
            | {"per_page": limit, "total": len(jobs)},
        }

    def _accept(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        body = self._input(request)
        errors = self._required(body, "task_id", "due_at")
        job = next((j for j in _JOBS if str(j[0]) == str(body.get("task_id"))), None)
        if "task_id" not in errors and job is None:
            errors["task_id"] = ["The selected task id is invalid."]
        due = _date(body.get("due_at"))
        if "due_at" not in errors:
            if due is None:
                errors["due_at"] = ["The due at field must be a valid date."]
            elif due <= datetime.now(UTC):
                errors["due_at"] = ["The due at field must be a date after now."]
        if errors or job is None or due is None:
            raise _Invalid(errors)
        if job[0] in self._taken:
            raise _Abort(409, "This task has already been assigned.")
        every = self._assignments.values()
        if (
            sum(a["agent"] is agent and a["status"] != "closed" for a in every)
            >= _MAX_OPEN
        ):
            line = f"You already have {_MAX_OPEN} open assignments. "
            raise _Abort(
                409, line + "Complete one of them before you accept another task."
            )
        self._taken.add(job[0])
        key = str(uuid.uuid4())
        made = {"agent": agent, "job": job, "status": "accepted", "due": due}
        self._assignments[key] = made
        self.book.claimed(str(job[0]))
        return self._resource(key, source_text=job[3], instructions=_ORDER)

    def _find(self, request: Request, agent: Any, *names: str) -> tuple[str, Any]:
        body = self._input(request)
        errors = self._required(body, "assignment_id", *names)
        key = str(body.get("assignment_id"))
        if "assignment_id" not in errors:
            try:
                uuid.UUID(key)
            except ValueError:
                errors["assignment_id"] = [
                    "The assignment id field must be a valid UUID."
                ]
            else:
                if key not in self._assignments:
                    errors["assignment_id"] = ["The selected assignment id is invalid."]
        for name in names:
            if name not in errors and not isinstance(body[name], str):
                errors[name] = [f"The {_label(name)} field must be a string."]
        if errors:
            raise _Invalid(errors)
        if self._assignments[key]["agent"] is not agent:
            raise _Abort(403, "This action is unauthorized.")
        return key, body

    def _deliver(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        key, body = self._find(request, agent, "content")
        assignment = self._assignments[key]
        if assignment["status"] != "accepted":
            raise _Abort(409, "This assignment has already been delivered.")
        number, _, payout, text = assignment["job"]
        if body["content"] != text.upper():
            raise _Invalid(
                {"content": ["The content does not follow the instructions."]}
            )
        assignment["status"] = "delivered"
        agent["credits"] += payout
        self.book.pay(str(number), payout)
        return self._resource(key, paid=payout, balance=agent["credits"])

    def _close(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        key, body = self._find(request, agent, "feedback")
        assignment = self._assignments[key]
        if assignment["status"] != "delivered":
            wrong = {
                "accepted": "has not been delivered yet",
                "closed": "is already closed",
            }
            raise _Abort(409, f"This assignment {wrong[assignment['status']]}.")
        assignment["status"] = "closed"
        return self._resource(key, feedback=body["feedback"])

    def _resource(self, key: str, **more: Any) -> dict[str, Any]:
        assignment = self._assignments[key]
        number, title, payout, _ = assignment["job"]
        return {
            "data": {
                "id": key,
                "status": assignment["status"],
                "due_at": assignment["due"].strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
                "task": {"id": number, "title": title, "payout": payout},
                **more,
            }
        }
