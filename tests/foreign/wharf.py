"""A small team's service in Java on Dropwizard: Jersey resources, Hibernate Validator.

Bean validation answers 422 with a list of sentences, the rest are code and message.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import re
import secrets
import time
import uuid
from typing import Any
from urllib.parse import quote

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = [
    ("Shout a weather line", "light rain until noon, then clear", 18),
    ("Shout a recipe step", "stir gently and add the salt last", 12),
    ("Shout a platform call", "the night train is twenty minutes late", 27),
    ("Shout a warning", "do not feed the pelicans", 8),
    ("Shout a headline", "town council saves the clock tower", 35),
    ("Shout a greeting", "welcome to the island of small boats", 15),
]
_MEDIA = ["text/plain", "text/markdown"]
_PAGE, _UNSET = 4, {"String": "blank"}
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class _Abort(Exception):  # noqa: N818
    """A WebApplicationException: the arguments are those of its response."""


def _error(status: int, message: str, **more: str) -> _Abort:
    return _Abort(status, {"code": status, "message": message, **more})


def _invalid(*errors: str, status: int = 422) -> _Abort:
    return _Abort(status, {"errors": errors})


def _unreadable(details: str) -> _Abort:
    return _error(400, "Unable to process JSON", details=details)


def _typed(name: str, kind: str, value: Any) -> Any:
    """Bind one value as Jackson would."""
    shown, where = json.dumps(value), f' (field "{name}")'
    refusal = "Cannot deserialize value of type `java."
    if kind == "UUID":
        if not isinstance(value, str) or not _UUID.fullmatch(value):
            why = "UUID has to be represented by standard 36-char representation"
            raise _unreadable(f"{refusal}util.UUID` from {shown}: {why}{where}")
        return value.lower()
    if kind == "boolean":
        if value not in (True, False, "true", "false"):
            why = 'only "true" or "false" recognized'
            raise _unreadable(f"{refusal}lang.Boolean` from {shown}: {why}{where}")
        return value in (True, "true")
    if isinstance(value, (dict, list)):
        start = "Object" if isinstance(value, dict) else "Array"
        raise _unreadable(f"{refusal}lang.String` from {start} value{where}")
    return value if isinstance(value, str) else shown


def _entity(request: Request, **fields: Any) -> dict[str, Any]:
    """Read the body into a DTO and validate it; a dict among the fields nests."""
    media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
    if media != "application/json":
        raise _error(415, "HTTP 415 Unsupported Media Type")
    if not request.raw.strip():
        raise _invalid("The request body must not be null")
    try:
        body = request.json()
    except ValueError:
        raise _unreadable("Unexpected character or end-of-input in the body") from None
    errors: list[str] = []
    found = _bind("", body, fields, errors)
    if errors:
        raise _invalid(*sorted(errors))
    return found


def _bind(at: str, body: Any, fields: dict[str, Any], errors: list[str]) -> Any:
    if not isinstance(body, dict):
        where = f' (field "{at[:-1]}")' if at else ""
        raise _unreadable(f"Cannot construct instance from {json.dumps(body)}{where}")
    found = {}
    for name, kind in fields.items():
        path, value = at + name, body.get(name)
        if value is None:
            errors.append(f"{path} must not be " + _UNSET.get(str(kind), "null"))
        elif isinstance(kind, dict):
            found[name] = _bind(path + ".", value, kind, errors)
        else:
            found[name] = value = _typed(path, kind, value)
            if kind == "boolean" and value is False:
                errors.append(f"{path} must be true")
            if kind == "String" and not value.strip():
                errors.append(f"{path} must not be blank")
            if kind == "media" and value not in _MEDIA:
                errors.append(f"{path} must be one of [{', '.join(_MEDIA)}]")
    return found


class Wharf(Backend):
    """UUIDs, terms to accept, the text with the assignment; submission pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[str, dict[str, Any]] = {}
        self._texts: dict[str, str] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        synopsis = "Convert the text, handed out with the assignment, to upper case."
        for headline, text, amount in _TASKS:
            key = str(uuid.uuid4())
            self._texts[key] = text
            self._tasks[key] = {
                "taskId": key,
                "headline": headline,
                "synopsis": synopsis,
                "bounty": {"amount": amount, "unit": "CREDITS"},
                "phase": "AVAILABLE",
                "acceptedMediaTypes": _MEDIA,
                "publishedAt": round(time.time() - 7200, 3),
            }

    def texts(self) -> dict[str, str]:
        """Return the source texts by task id."""
        return dict(self._texts)

    def __getattribute__(self, name: str) -> Any:
        """Wrap every resource method in the exception mappers."""
        member = super().__getattribute__(name)
        if name not in ACTIONS.values():
            return member

        def resource(request: Request) -> Response:
            try:
                return member(request)
            except _Abort as abort:
                return Response(*abort.args)

        return resource

    def missing(self, request: Request) -> Response:
        """Answer as Jersey does without a matching resource method."""
        wrong = request.path in {p for verb, p in ACTIONS if verb != request.method}
        status, name = (405, "Method Not Allowed") if wrong else (404, "Not Found")
        return Response(status, {"code": status, "message": f"HTTP {status} {name}"})

    def _principal(self, request: Request) -> dict[str, Any]:
        agent = self._agents.get(request.token)
        if agent is None:
            said = "Credentials are required to access this resource."
            raise _Abort(401, said, {"WWW-Authenticate": 'Bearer realm="wharf"'})
        return agent

    def _assignment(self, agent: dict[str, Any], key: str) -> dict[str, Any]:
        assignment = self._assignments.get(key, {})
        if assignment.get("agentId") != agent["agent_id"]:
            raise _error(404, f"Assignment {key} not found")
        return assignment

    def register(self, request: Request) -> Response:
        """Create an agent."""
        _entity(request)
        self.book.registrations += 1
        token = secrets.token_hex(32)
        agent = {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100}
        self._agents[token] = agent
        return Response(200, dict(agent))

    def marketplace(self, request: Request) -> Response:
        """Return what is available."""
        items = [t for t in self._tasks.values() if t["phase"] == "AVAILABLE"]
        return Response(200, {"items": items, "count": len(items)})

    def tasks(self, request: Request) -> Response:
        """Return a page; the cursor is the place of the last task on it."""
        self._principal(request)
        try:
            limit = int(request.query.get("limit", _PAGE))
            after = int(base64.b64decode(request.query.get("cursor", "LTE="), b"-_"))
        except ValueError:
            raise _error(400, "query param limit or cursor is not valid.") from None
        if not 1 <= limit <= 20:
            bound = "greater than 0" if limit < 1 else "less than or equal to 20"
            raise _invalid(f"query param limit must be {bound}", status=400)
        rows = [t for t in enumerate(self._tasks.values()) if t[0] > after]
        found = [row for row in rows if row[1]["phase"] == "AVAILABLE"]
        page: dict[str, Any] = {"limit": limit, "hasMore": len(found) > limit}
        if len(found) > limit:
            last = base64.b64encode(str(found[limit - 1][0]).encode(), b"-_").decode()
            link = f"{request.base}{request.path}?limit={limit}&cursor={quote(last)}"
            page |= {"nextCursor": last, "next": link}
        return Response(200, {"items": [t for _, t in found[:limit]], "page": page})

    def claim(self, request: Request) -> Response:
        """Assign a task and hand out its text."""
        agent = self._principal(request)
        dto = _entity(request, taskId="UUID", agentId="UUID", acceptTerms="boolean")
        if dto["agentId"] != agent["agent_id"]:
            raise _error(403, "agentId does not match the authenticated agent")
        task = self._tasks.get(dto["taskId"])
        if task is None:
            raise _error(404, f"Task {dto['taskId']} not found")
        if task["phase"] != "AVAILABLE":
            raise _error(409, f"Task {dto['taskId']} is {task['phase']}")
        task["phase"] = "ASSIGNED"
        self.book.claimed(task["taskId"])
        key, dto["phase"] = str(uuid.uuid4()), "ASSIGNED"
        self._assignments[key] = {"assignmentId": key, **dto}
        material = {"material": {"sourceText": self._texts[task["taskId"]]}}
        return Response(200, {"assignment": {"assignmentId": key, **dto} | material})

    def submit(self, request: Request) -> Response:
        """Review the deliverable, and pay for it if it is right."""
        agent = self._principal(request)
        parts = {"mediaType": "media", "content": "String"}
        dto = _entity(request, assignmentId="UUID", deliverable=parts)
        assignment = self._assignment(agent, dto["assignmentId"])
        if assignment["phase"] != "ASSIGNED":
            raise _error(409, f"Assignment is {assignment['phase']}")
        key = assignment["taskId"]
        if dto["deliverable"]["content"] != self._texts[key].upper():
            review = {"verdict": "REJECTED", "reason": "not sourceText in upper case"}
            return Response(200, {"review": review}, refused=True)
        amount = self._tasks[key]["bounty"]["amount"]
        assignment |= {"phase": "APPROVED", "receiptId": f"RC-{secrets.token_hex(5)}"}
        self._tasks[key]["phase"] = "APPROVED"
        self.book.pay(key, amount)
        agent["credits"] += amount
        body = {"review": {"verdict": "APPROVED", "receiptId": assignment["receiptId"]}}
        body["ledger"] = {"credited": amount, "balance": agent["credits"]}
        return Response(200, body)

    def complete(self, request: Request) -> Response:
        """Close an approved assignment with its receipt."""
        agent = self._principal(request)
        dto = _entity(request, assignmentId="UUID", receiptId="String")
        assignment = self._assignment(agent, dto["assignmentId"])
        if assignment["phase"] != "APPROVED":
            raise _error(409, f"Assignment is {assignment['phase']}")
        if dto["receiptId"] != assignment["receiptId"]:
            raise _error(400, "receiptId does not belong to this assignment")
        assignment["phase"] = self._tasks[assignment["taskId"]]["phase"] = "CLOSED"
        return Response(200, {"assignment": assignment})
