"""A Directus project used as the back end: each action is an item of a collection.

claim creates an item of `assignments`, submit one of `deliverables` (a flow checks and
pays it), complete one of `signoffs`. Decimals are strings, as Directus gives them.
"""

import json
import secrets
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SEED = [
    ("Spring headline", "new arrivals for the garden", "11.00"),
    ("Newsletter subject", "five quiet beaches, one long weekend", "19.00"),
    ("Hero teaser", "café culture comes home", "27.00"),
    ("Button caption", "add to basket", "5.00"),
    ("Footer claim", "made by people who care", "13.00"),
]
_GUIDELINE = "Deliver the source text in upper case."
_FORMATS = ["plain", "markdown", "html"]
_FIELDS = {
    "assignments": ["task", "assignee"],
    "deliverables": ["assignment", "output", "format"],
    "signoffs": ["deliverable", "confirmed"],
}


def _reply(status: int, body: Any) -> Response:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    kind = "application/json; charset=utf-8"
    return Response(status, text, {"Content-Type": kind, "X-Powered-By": "Directus"})


def _error(message: str, code: str, **extensions: Any) -> dict[str, Any]:
    return {"message": message, "extensions": {**extensions, "code": code}}


class _DirectusError(Exception):
    def __init__(self, status: int, *errors: dict[str, Any]) -> None:
        self.response = _reply(status, {"errors": list(errors)})


def _invalid(field: str, kind: str, valid: Any = None) -> dict[str, Any]:
    """Return one FAILED_VALIDATION error in the product's own words."""
    extensions: dict[str, Any] = {"field": field, "path": [], "type": kind}
    said = "Value is required."
    if kind == "nempty":
        said = "Value can't be empty."
    elif kind in ("eq", "in"):
        extensions["valid"] = valid
        listed = valid if kind == "in" else [json.dumps(valid).strip('"')]
        said = "Value has to be one of " if kind == "in" else "Value has to be "
        said += ", ".join(f'"{v}"' for v in listed) + "."
    message = f'Validation failed for field "{field}". {said}'
    return _error(message, "FAILED_VALIDATION", **extensions)


def _foreign_key(collection: str, field: str, value: Any) -> _DirectusError:
    where = {"collection": collection, "field": field, "value": value}
    said = f'Invalid foreign key "{value}" for field "{field}" in collection "{collection}".'
    return _DirectusError(400, _error(said, "INVALID_FOREIGN_KEY", **where))


def _not_unique(collection: str, field: str, value: Any) -> _DirectusError:
    where = {"collection": collection, "field": field, "value": value}
    said = f'Value "{value}" for field "{field}" in collection "{collection}"'
    error = _error(f"{said} has to be unique.", "RECORD_NOT_UNIQUE", **where)
    return _DirectusError(400, error)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


class DirectusCms(Backend):
    """A publisher's Directus with a collection of copy tasks."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # token -> item of agents
        self._assignments: dict[int, dict[str, Any]] = {}
        self._deliverables: dict[int, dict[str, Any]] = {}
        self._signoffs: dict[int, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, source, bounty in _SEED:
            key = str(uuid.uuid4())
            brief = {"title": title, "source_text": source, "guideline": _GUIDELINE}
            head = {"id": key, "status": "published", "date_created": _now()}
            self._tasks[key] = {**head, "brief": brief, "bounty": bounty}

    def texts(self) -> dict[str, str]:
        return {key: item["brief"]["source_text"] for key, item in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        said = f"Route {request.path} doesn't exist."
        error = _error(said, "ROUTE_NOT_FOUND", path=request.path)
        return _reply(404, {"errors": [error]})

    def _user(self, request: Request, action: str, collection: str) -> dict[str, Any]:
        if not request.token:
            reason = f'You don\'t have permission to perform "{action}" for '
            reason += f'collection "{collection}" or it does not exist.'
            raise _DirectusError(403, _error(reason, "FORBIDDEN", reason=reason))
        if request.token not in self._users:
            error = _error("Invalid user credentials.", "INVALID_CREDENTIALS")
            raise _DirectusError(401, error)
        return self._users[request.token]

    def _payload(
        self, request: Request, collection: str, **rules: tuple[str, Any]
    ) -> dict[str, Any]:
        try:
            payload = request.json()
        except ValueError as error:
            reason = f"Invalid payload. {error}."
            raise _DirectusError(400, _error(reason, "INVALID_PAYLOAD")) from None
        if not isinstance(payload, dict):
            reason = 'Invalid payload. "value" must be of type object.'
            raise _DirectusError(400, _error(reason, "INVALID_PAYLOAD"))
        unknown = [name for name in payload if name not in _FIELDS[collection]]
        if unknown:
            names = ", ".join(f'"{name}"' for name in unknown)
            noun, they = ("fields", "they do") if unknown[1:] else ("field", "it does")
            reason = f"You don't have permission to access {noun} {names} in "
            reason += f'collection "{collection}" or {they} not exist.'
            raise _DirectusError(403, _error(reason, "FORBIDDEN", reason=reason))
        errors = []
        for field in _FIELDS[collection]:
            value = payload.get(field)
            kind, valid = rules.get(field, ("required", None))
            if value is None:
                errors.append(_invalid(field, "required"))
            elif (
                (kind == "eq" and str(value).lower() != str(valid).lower())
                or (kind == "in" and value not in valid)
                or (kind == "nempty" and value == "")
            ):
                errors.append(_invalid(field, kind, valid))
        if errors:
            raise _DirectusError(400, *errors)
        return payload

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        user = {"id": str(uuid.uuid4()), "status": "active", "balance": 100}
        token = secrets.token_urlsafe(32)
        self._users[token] = user
        return _reply(
            200, {"agent_id": user["id"], "access_token": token, "credits": 100}
        )

    def marketplace(self, request: Request) -> Response:
        window = {"limit": 100, "page": 1, "offset": 0}
        for name in window:
            if text := request.query.get(name, ""):
                try:
                    window[name] = int(text)
                except ValueError:
                    message = f'Invalid query. "{name}" must be a number.'
                    return _reply(400, {"errors": [_error(message, "INVALID_QUERY")]})
        items = [item for item in self._tasks.values() if item["status"] == "published"]
        limit = window["limit"] if window["limit"] >= 0 else len(items)
        start = max(window["offset"], (window["page"] - 1) * limit, 0)
        page = items[start : start + limit]
        meta = {"total_count": len(self._tasks), "filter_count": len(items)}
        return _reply(200, {"meta": meta, "data": page})

    def tasks(self, request: Request) -> Response:
        try:
            self._user(request, "read", "tasks")
        except _DirectusError as error:
            return error.response
        return self.marketplace(request)

    def agents(self, request: Request) -> Response:
        return _reply(200, {"data": [{"id": u["id"]} for u in self._users.values()]})

    directory = agents

    def _create(self, request: Request, collection: str) -> Response:
        try:
            user = self._user(request, "create", collection)
            item = getattr(self, "_" + collection[:-1])(request, user)
            return _reply(200, {"data": item})
        except _DirectusError as error:
            return error.response

    def claim(self, request: Request) -> Response:
        return self._create(request, "assignments")

    def submit(self, request: Request) -> Response:
        return self._create(request, "deliverables")

    def complete(self, request: Request) -> Response:
        return self._create(request, "signoffs")

    def _assignment(self, request: Request, user: dict[str, Any]) -> dict[str, Any]:
        sent = self._payload(request, "assignments", assignee=("eq", user["id"]))
        task = self._tasks.get(str(sent["task"]))
        if not task:
            raise _foreign_key("assignments", "task", sent["task"])
        if task["status"] != "published":
            raise _not_unique("assignments", "task", task["id"])
        task["status"] = "in_progress"
        key = len(self._assignments) + 1
        made = {"id": key, "user_created": user["id"], "date_created": _now()}
        self._assignments[key] = {**made, **sent}
        self.book.claimed(task["id"])
        return self._assignments[key]

    def _find(self, collection: str, field: str, sent: Any, user: Any) -> Any:
        items = getattr(self, f"_{field}s")
        found = items.get(int(sent[field])) if str(sent[field]).isdecimal() else None
        if not found or found["user_created"] != user["id"]:
            raise _foreign_key(collection, field, sent[field])
        return found

    def _deliverable(self, request: Request, user: dict[str, Any]) -> dict[str, Any]:
        rules = {"output": ("nempty", None), "format": ("in", _FORMATS)}
        sent = self._payload(request, "deliverables", **rules)
        parent = self._find("deliverables", "assignment", sent, user)
        task = self._tasks[parent["task"]]
        if task["status"] != "in_progress":
            raise _not_unique("deliverables", "assignment", parent["id"])
        if sent["output"] != task["brief"]["source_text"].upper():
            said = 'Deliverable rejected. "output" does not follow the guideline.'
            error = _error(said, "DELIVERABLE_REJECTED", field="output")
            raise _DirectusError(422, error)
        task["status"] = "delivered"
        credits_ = int(float(task["bounty"]))
        user["balance"] += credits_
        self.book.pay(task["id"], credits_)
        key = 300 + len(self._deliverables)
        made = {"id": key, "user_created": user["id"], "date_created": _now()}
        verdict = {"status": "approved", "payout": task["bounty"]}
        self._deliverables[key] = {**made, **sent, **verdict}
        return self._deliverables[key]

    def _signoff(self, request: Request, user: dict[str, Any]) -> dict[str, Any]:
        sent = self._payload(request, "signoffs", confirmed=("eq", True))
        parent = self._find("signoffs", "deliverable", sent, user)
        if parent["id"] in self._signoffs:
            raise _not_unique("signoffs", "deliverable", parent["id"])
        item = {"id": len(self._signoffs) + 1, **sent, "balance": user["balance"]}
        self._signoffs[parent["id"]] = item
        task = self._tasks[self._assignments[int(parent["assignment"])]["task"]]
        task["status"] = "archived"
        return item
