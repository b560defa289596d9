"""A small team's Laravel 11 service: Sanctum tokens, form requests, API resources.

Validation answers 422 with every broken rule at once, listings are paginated resources,
and an approved submission pays; completing only closes the claim and frees its slot.
"""

import random
import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = (
    ("Headline for landing page", "ship faster with fewer meetings", 10),
    ("Banner for summer sale", "up to 40% off everything", 6),
    ("Button labels", "start free trial", 4),
    ("Slide title", "quarterly results at a glance", 13),
    ("Poster for meetup", "php berlin: queues, jobs & workers", 17),
    ("Warning notice", "this action can't be undone", 8),
    ("Newsletter subject", "your weekly café guide", 5),
    ("Badge text", "verified seller since 2019", 20),
)
_OPEN_CLAIMS = 2


class _AbortError(Exception):
    def __init__(self, status: int, message: str, errors: Any = None) -> None:
        super().__init__(message)
        body = {"message": message} | ({"errors": errors} if errors else {})
        self.response = Response(status, body)


def _abort_if(wrong: bool, status: int, message: str) -> None:  # noqa: FBT001 - Laravel's order
    if wrong:
        raise _AbortError(status, message)


def _route(method: Any) -> Any:
    """Do what the exception handler does."""

    def answer(self: Any, request: Request) -> Response:
        try:
            done: Response = method(self, request)
        except _AbortError as abort:
            return abort.response
        return done

    return answer


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | str) and bool(re.fullmatch(r"-?[0-9]+", str(value)))


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RULES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "accepted": (lambda v: v in (True, 1, "1", "true", "on", "yes"), "accepted"),
    "integer": (_is_integer, "an integer"),
    "string": (lambda v: isinstance(v, str), "a string"),
    "uuid": (lambda v: isinstance(v, str) and _UUID.fullmatch(v), "a valid UUID"),
}


def _validate(body: dict[str, Any], rules: dict[str, str]) -> dict[str, Any]:
    """Return the validated fields, as Laravel's validator has it."""
    errors: dict[str, list[str]] = {}
    valid = {}
    for name, rule in rules.items():
        value: Any = body
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        label = name.replace("_", " ")
        if value is None or value in ("", []):
            errors[name] = [f"The {label} field is required."]
        elif not _RULES[rule][0](value):
            errors[name] = [f"The {label} field must be {_RULES[rule][1]}."]
        else:
            valid[name] = int(value) if rule == "integer" else value
    if errors:
        raise _invalid(errors)
    return valid


def _invalid(errors: dict[str, list[str]]) -> _AbortError:
    """Return a ValidationException."""
    messages = [message for field in errors.values() for message in field]
    more = len(messages) - 1
    tail = f" (and {more} more error{'s' * (more > 1)})" if more else ""
    return _AbortError(422, messages[0] + tail, errors)


def _trimmed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _trimmed(inner) for name, inner in value.items()}
    return value.strip() if isinstance(value, str) else value


class Larajobs(Backend):
    """The team's job board."""

    def __init__(self) -> None:
        super().__init__()
        ids = random.Random(11)  # noqa: S311 - no secret
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, text, reward in _TASKS:
            key = str(uuid.UUID(int=ids.getrandbits(128), version=4))
            self._tasks[key] = {
                "id": key,
                "title": title,
                "description": "Return the source text in upper case, nothing else.",
                "source_text": text,
                "reward_credits": reward,
                "status": "open",
                "created_at": _now(),
            }
        self._users: dict[str, dict[str, Any]] = {}
        self._claims: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its id."""
        return {key: task["source_text"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Return the router's 404 or 405."""
        path = request.path.strip("/")
        allowed = {known: method for method, known in ACTIONS}.get(request.path)
        if allowed and allowed != request.method:
            allowed = "GET, HEAD" if allowed == "GET" else allowed
            message = f"The {request.method} method is not supported for route {path}."
            message += f" Supported methods: {allowed}."
            return Response(405, {"message": message}, {"Allow": allowed})
        return Response(404, {"message": f"The route {path} could not be found."})

    def _user(self, request: Request) -> dict[str, Any]:
        _abort_if(request.token not in self._users, 401, "Unauthenticated.")
        return self._users[request.token]

    @staticmethod
    def _input(request: Request) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            body = {}  # what cannot be read is simply not there
        trimmed: dict[str, Any] = _trimmed(
            request.query | (body if isinstance(body, dict) else {})
        )
        return trimmed

    def _claimed(self, request: Request, user: Any, rules: Any) -> tuple[Any, Any]:
        fields = _validate(self._input(request), rules)
        claim = self._claims.get(fields["claim_id"])
        if claim is None:
            raise _invalid({"claim_id": ["The selected claim id is invalid."]})
        _abort_if(claim["agent_id"] != user["id"], 403, "This action is unauthorized.")
        return fields, claim

    def register(self, request: Request) -> Response:
        """Create a user with a Sanctum token."""
        self.book.registrations += 1
        user = {"id": f"agent_{secrets.token_hex(6)}", "credits": 100}
        token = f"{self.book.registrations}|{secrets.token_hex(24)}"
        self._users[token] = user
        return Response(
            200, {"agent_id": user["id"], "access_token": token, "credits": 100}
        )

    @_route
    def tasks(self, request: Request) -> Response:
        """List a page of the open tasks."""
        query = {"limit": "15", "page": "1"} | request.query
        per_page = _validate(query, {"limit": "integer"})["limit"]
        if not 1 <= per_page <= 100:
            raise _invalid({"limit": ["The limit field must be between 1 and 100."]})
        now = max(int(query["page"]), 1) if _is_integer(query["page"]) else 1
        found = [task for task in self._tasks.values() if task["status"] == "open"]
        last = max(-(-len(found) // per_page), 1)
        address = request.base + request.path

        def link(number: int) -> str | None:
            part = urlencode({"limit": per_page, "page": number})
            return f"{address}?{part}" if 1 <= number <= last else None

        links = {"first": link(1), "prev": link(now - 1), "next": link(now + 1)}
        meta = {"current_page": now, "last_page": last, "total": len(found)}
        shown = found[(now - 1) * per_page : now * per_page]
        return Response(200, {"data": shown, "links": links, "meta": meta})

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        """List the users."""
        return Response(200, {"data": [{"id": u["id"]} for u in self._users.values()]})

    @_route
    def claim(self, request: Request) -> Response:
        """Store a claim."""
        user = self._user(request)
        rules = {"task_id": "uuid", "estimated_minutes": "integer"}
        fields = _validate(self._input(request), rules)
        task = self._tasks.get(fields["task_id"].lower())
        if task is None:
            raise _invalid({"task_id": ["The selected task id is invalid."]})
        if fields["estimated_minutes"] < 1:
            message = "The estimated minutes field must be at least 1."
            raise _invalid({"estimated_minutes": [message]})
        _abort_if(task["status"] != "open", 409, "This task has already been claimed.")
        mine = [c for c in self._claims.values() if c["agent_id"] == user["id"]]
        full = sum(c["status"] != "completed" for c in mine) >= _OPEN_CLAIMS
        message = f"You may not have more than {_OPEN_CLAIMS} uncompleted claims."
        _abort_if(full, 403, message)
        claim = {
            "id": len(self._claims) + 31,
            "task_id": task["id"],
            "agent_id": user["id"],
        }
        self._claims[claim["id"]] = claim
        claim |= {"status": "in_progress", "created_at": _now()}
        task["status"] = "claimed"
        self.book.claimed(task["id"])
        return Response(200, {"data": claim | {"task": task}})

    @_route
    def submit(self, request: Request) -> Response:
        """Store a submission; an approved one pays."""
        user = self._user(request)
        rules = {"claim_id": "integer", "submission.content": "string"}
        fields, claim = self._claimed(request, user, rules)
        message = "A submission for this claim has already been approved."
        _abort_if(claim["status"] != "in_progress", 409, message)
        task = self._tasks[claim["task_id"]]
        if fields["submission.content"] != task["source_text"].upper():
            message = "The submission.content is not the source text in upper case."
            raise _invalid({"submission.content": [message]})
        claim["status"] = "approved"
        task["status"] = "done"
        user["credits"] += task["reward_credits"]
        self.book.pay(task["id"], task["reward_credits"])
        wallet = {"earned": task["reward_credits"], "balance": user["credits"]}
        return Response(200, {"data": claim, "wallet": wallet})

    @_route
    def complete(self, request: Request) -> Response:
        """Close an approved claim."""
        rules = {"claim_id": "integer", "confirmed": "accepted"}
        _, claim = self._claimed(request, self._user(request), rules)
        open_ = claim["status"] == "in_progress"
        _abort_if(open_, 409, "This claim has no approved submission yet.")
        _abort_if(claim["status"] == "completed", 409, "Claim already completed.")
        claim["status"] = "completed"
        return Response(200, {"data": claim, "message": "Claim completed."})
