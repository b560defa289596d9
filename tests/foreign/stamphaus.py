"""Stamphaus: a small lettering company's job board, a PHP service on Laravel.

Form requests say what is wrong with every field at once, API resources wrap what is
right in `data`, lists come in the pages of the length-aware paginator.
"""

import json
import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import ACTIONS, Backend, Request, Response

JOBS = [
    (41, "Door plate", "dr. amelia hart, second floor", 15),
    (42, "Shop window", "fresh bread from seven o'clock", 22),
    (43, "Van side", "harbour & sons removals since 1962", 40),
    (45, "Menu board", "soup of the day with brown rolls", 18),
    (46, "Gallery banner", "late opening every thursday until 21:00", 35),
    (47, "Warning sign", "mind the step and the low beam", 12),
    (50, "Boat name", "the patient heron of littlehampton", 28),
]
ASSIGNMENT = "required|integer|exists:assignments"
MINUTES = "required|integer|between:1,480"
BRIEF = "Set the copy in capitals throughout; everything else stays exactly as it is."


def _now(ahead: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=ahead)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _trimmed(value: Any) -> Any:
    """Do what the TrimStrings and ConvertEmptyStringsToNull middleware do."""
    if isinstance(value, dict):
        return {key: _trimmed(item) for key, item in value.items()}
    return (value.strip() or None) if isinstance(value, str) else value


def _json(body: Any, status: int = 200) -> Response:
    text = json.dumps(body, separators=(",", ":")).replace("/", "\\/")
    return Response(status, text, {"Content-Type": "application/json"})


class _Abort(Exception):  # noqa: N818
    def __init__(self, status: int, message: str, errors: Any = None) -> None:
        super().__init__(message)
        self.body = {"message": message} | ({"errors": errors} if errors else {})
        self.status = status


def _route(action: Callable[..., Response]) -> Callable[..., Response]:
    def handled(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except _Abort as abort:
            return _json(abort.body, abort.status)

    return handled


def _invalid(errors: dict[str, list[str]]) -> _Abort:
    message, more = next(iter(errors.values()))[0], len(errors) - 1
    some = f" (and {more} more error{'s' if more > 1 else ''})"
    return _Abort(422, message + (some if more else ""), errors)


def _is_integer(value: Any) -> bool:
    return value is True or bool(re.fullmatch(r"[+-]?(0|[1-9]\d*)", str(value)))


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "integer": (_is_integer, "an integer"),
    "string": (lambda value: isinstance(value, str), "a string"),
    "array": (lambda value: isinstance(value, (dict, list)), "an array"),
    "accepted": (lambda value: value in ("yes", "on", 1, "1", "true"), "accepted"),
}


def _validate(
    data: Any, rules: dict[str, str], known: dict[str, Any]
) -> dict[str, Any]:
    """Check the rules of a form request; `exists` looks into the tables in `known`."""
    good, errors = {}, {}
    for field, line in rules.items():
        value = data
        for part in field.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        name, wrong = field.replace("_", " "), ""
        for rule in line.split("|"):
            rule, _, argument = rule.partition(":")  # noqa: PLW2901
            if rule == "required" and value in (None, [], {}):
                wrong = f"The {name} field is required."
            elif rule in _CHECKS and not _CHECKS[rule][0](value):
                wrong = f"The {name} field must be {_CHECKS[rule][1]}."
            elif rule == "between":
                low, high = map(int, argument.split(","))
                if not low <= int(value) <= high:
                    wrong = f"The {name} field must be between {low} and {high}."
            elif rule == "exists" and int(value) not in known[argument]:
                wrong = f"The selected {name} is invalid."
            if wrong or (rule == "nullable" and value is None):
                break
        good[field] = int(value) if value and "integer" in line and not wrong else value
        if wrong:
            errors[field] = [wrong]
    if errors:
        raise _invalid(errors)
    return good


class Stamphaus(Backend):
    """Pays on completion; asks for an estimate, a declaration and the time spent."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[int, dict[str, Any]] = {}
        self._jobs: dict[int, dict[str, Any]] = {}
        for number, title, copy, reward in JOBS:
            job = {"id": number, "title": title, "brief": BRIEF, "copy": copy}
            job |= {"status": "published", "reward": f"{reward}.00"}
            self._jobs[number] = job | {"published_at": _now(-number)}

    def texts(self) -> dict[str, str]:
        """Return the copy of every job."""
        return {str(number): job["copy"] for number, job in self._jobs.items()}

    def missing(self, request: Request) -> Response:
        route = request.path.lstrip("/")
        allowed = [method for method, path in ACTIONS if path == request.path]
        if not allowed:
            return _json({"message": f"The route {route} could not be found."}, 404)
        verbs = "GET, HEAD" if allowed == ["GET"] else allowed[0]
        said = f"The {request.method} method is not supported for route {route}."
        return _json({"message": f"{said} Supported methods: {verbs}."}, 405)

    def _user(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            raise _Abort(401, "Unauthenticated.")
        return self._agents[request.token]

    def _input(
        self, request: Request, rules: dict[str, str], agent: Any
    ) -> dict[str, Any]:
        try:
            data = request.json()
        except ValueError:
            data = {}
        own = {k for k, a in self._assignments.items() if a["agent_id"] == agent["id"]}
        return _validate(
            _trimmed(data), rules, {"jobs": self._jobs, "assignments": own}
        )

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number, key = self.book.registrations, str(uuid.uuid4())
        token = f"{number}|{secrets.token_hex(20)}"
        agent = {"id": key, "slug": f"agent-{number}", "created_at": _now()}
        self._agents[token] = agent | {"balance": 100}
        return _json({"agent_id": key, "access_token": token, "credits": 100})

    @_route
    def tasks(self, request: Request) -> Response:
        self._user(request)
        return self.marketplace(request)

    @_route
    def marketplace(self, request: Request) -> Response:
        rules = {"limit": "nullable|integer|between:1,25", "page": "nullable|integer"}
        query = _validate(_trimmed(request.query), rules, {})
        size, page = query["limit"] or 5, max(query["page"] or 1, 1)
        rows = [job for job in self._jobs.values() if job["status"] == "published"]
        last, start = max(-(-len(rows) // size), 1), (page - 1) * size
        shown, path = rows[start : start + size], request.base + request.path
        kept = {key: v for key, v in request.query.items() if key != "page"}

        def link(number: int) -> str | None:
            address = f"{path}?{urlencode({**kept, 'page': number})}"
            return address if 1 <= number <= last else None

        ends = {"first": 1, "last": last, "prev": page - 1, "next": page + 1}
        links = {name: link(number) for name, number in ends.items()}
        meta = {"current_page": page, "last_page": last, "path": path}
        meta |= {"per_page": size, "total": len(rows)}
        return _json({"data": shown, "links": links, "meta": meta})

    @_route
    def claim(self, request: Request) -> Response:
        agent = self._user(request)
        rules = {"job_id": "required|integer|exists:jobs", "estimated_minutes": MINUTES}
        form = self._input(request, rules, agent)
        job = self._jobs[form["job_id"]]
        if job["status"] != "published":
            raise _Abort(409, "This job has already been assigned.")
        job["status"], number = "assigned", 9001 + len(self._assignments)
        assignment = {"id": number, "job_id": job["id"], "agent_id": agent["id"]}
        assignment |= {
            "status": "in_progress",
            "due_at": _now(form["estimated_minutes"]),
        }
        self._assignments[number] = assignment
        self.book.claimed(str(job["id"]))
        return _json({"data": assignment | {"job": job}})

    @_route
    def submit(self, request: Request) -> Response:
        agent = self._user(request)
        rules = {"assignment_id": ASSIGNMENT, "deliverable": "required|array"}
        rules |= {
            "deliverable.body": "required|string",
            "own_work": "required|accepted",
        }
        form = self._input(request, rules, agent)
        assignment = self._assignments[form["assignment_id"]]
        if assignment["status"] != "in_progress":
            raise _Abort(409, "This assignment has already been delivered.")
        if form["deliverable.body"] != self._jobs[assignment["job_id"]]["copy"].upper():
            said = "The deliverable.body must be the copy of the job, set in capitals."
            raise _invalid({"deliverable.body": [said]})
        assignment |= {"status": "delivered", "delivered_at": _now()}
        return _json({"data": assignment})

    @_route
    def complete(self, request: Request) -> Response:
        agent = self._user(request)
        rules = {"assignment_id": ASSIGNMENT, "minutes_spent": MINUTES}
        form = self._input(request, rules, agent)
        assignment = self._assignments[form["assignment_id"]]
        states = {"in_progress": "not been delivered yet", "paid": "already been paid"}
        if state := states.get(assignment["status"]):
            raise _Abort(409, f"This assignment has {state}.")
        job = self._jobs[assignment["job_id"]]
        self.book.pay(str(job["id"]), amount := int(float(job["reward"])))
        assignment["status"], job["status"] = "paid", "archived"
        agent["balance"] += amount
        payment = {"amount": job["reward"], "balance": f"{agent['balance']}.00"}
        return _json({"data": assignment | {"payment": payment}})

    @_route
    def post(self, request: Request) -> Response:
        self._user(request)
        raise _Abort(403, "This action is unauthorized.")

    checkout = post

    @_route
    def agents(self, request: Request) -> Response:
        shown = ("id", "slug", "created_at")
        rows = [{key: agent[key] for key in shown} for agent in self._agents.values()]
        if slug := request.query.get("slug"):
            rows = [row for row in rows if row["slug"] == slug]
            if not rows:
                raise _Abort(404, "No query results for model [App\\Models\\Agent].")
        return _json({"data": rows[0] if slug else rows})

    directory = agents
