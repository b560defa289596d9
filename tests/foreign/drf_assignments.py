"""A start-up's service in Python: Django REST Framework, serializers and viewsets.

Integer keys, decimals as strings, limit/offset pages with links, errors by field. A claim
makes an assignment, a submit makes a submission (checked by the serializer), and completing
the submission pays.
"""

import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_POSTS = {path for method, path in ACTIONS if method == "POST"}
_COMMON = {
    "Vary": "Accept",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}
_404 = "<h1>Not Found</h1><p>The requested resource was not found on this server.</p>"
_SEED = [
    ("Shelf labels, spring range", "oak side table, natural finish", 8),
    ("Warehouse signage", "mind the step at gate 4", 12),
    ("Gift card headline", "with love from all of us", 15),
    ("Poster headline", "open house this saturday", 20),
    ("Menu heading", "soups & small plates", 25),
    ("Ticket imprint", "admit one, row c, seat 17", 30),
]


class _APIException(Exception):  # noqa: N818
    def __init__(self, status: int, data: Any, **headers: str) -> None:
        self.status, self.data, self.headers = status, data, headers


def _invalid(**errors: str) -> _APIException:
    return _APIException(400, {name: [text] for name, text in errors.items()})


class _Invalid(Exception): ...  # noqa: N818


def _char(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _Invalid("Not a valid string.")
    if not (text := str(value).strip()):
        raise _Invalid("This field may not be blank.")
    return text


def _date(value: Any) -> date:
    try:
        if re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", value):
            return date(*map(int, value.split("-")))
    except (TypeError, ValueError):
        pass
    raise _Invalid(
        "Date has wrong format. Use one of these formats instead: YYYY-MM-DD."
    )


def _related(rows: dict[int, Any]) -> Callable[[Any], Any]:
    def field(value: Any) -> Any:
        if value == "":
            raise _Invalid("This field may not be null.")
        try:
            key = int("" if isinstance(value, bool) else value)
        except (TypeError, ValueError):
            kind = type(value).__name__
            raise _Invalid(
                f"Incorrect type. Expected pk value, received {kind}."
            ) from None
        if key not in rows:
            raise _Invalid(f'Invalid pk "{value}" - object does not exist.')
        return rows[key]

    return field


def _validated(data: Any, **fields: Callable[[Any], Any]) -> dict[str, Any]:
    if not isinstance(data, dict):
        text = f"Invalid data. Expected a dictionary, but got {type(data).__name__}."
        raise _invalid(non_field_errors=text)
    values, errors = {}, {}
    for name, convert in fields.items():
        try:
            if name not in data:
                raise _Invalid("This field is required.")
            if data[name] is None:
                raise _Invalid("This field may not be null.")
            values[name] = convert(data[name])
        except _Invalid as error:
            errors[name] = str(error)
    if errors:
        raise _invalid(**errors)
    return values


def _view(auth: bool) -> Callable[..., Any]:  # noqa: FBT001
    """APIView.dispatch: authenticate, parse, run, and turn exceptions into answers."""

    def decorate(method: Callable[..., Any]) -> Callable[..., Response]:
        def dispatch(self: "DjangoRestBackend", request: Request) -> Response:
            headers = {**_COMMON, "Allow": f"{request.method}, OPTIONS"}
            try:
                known = [self._agent(request)] if auth else []
                argument = self._data(request) if request.method == "POST" else request
                return Response(200, method(self, *known, argument), headers)
            except _APIException as error:
                return Response(error.status, error.data, {**headers, **error.headers})

        return dispatch

    return decorate


class DjangoRestBackend(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[int, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}
        deadline = (datetime.now(UTC) + timedelta(days=10)).date().isoformat()
        self._tasks: dict[int, dict[str, Any]] = {
            number: {
                "id": number,
                "title": title,
                "description": "Return the value of source_text in upper case.",
                "source_text": text,
                "category": {"id": 2, "name": "Text formatting"},
                "reward": f"{reward}.00",
                "status": "open",
                "deadline": deadline,
            }
            for number, (title, text, reward) in enumerate(_SEED, 1041)
        }

    def texts(self) -> dict[str, str]:
        return {str(key): row["source_text"] for key, row in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, _404, {"Content-Type": "text/html; charset=utf-8"})

    def document(self, request: Request) -> Response:
        if request.path in _POSTS:
            body = {"detail": f'Method "{request.method}" not allowed.'}
            return Response(405, body, {"Allow": "POST, OPTIONS", **_COMMON})
        return self.missing(request)

    def _agent(self, request: Request) -> dict[str, Any]:
        parts = (request.headers.get("Authorization") or "").split()
        if not parts or parts[0].lower() != "bearer":
            text = "Authentication credentials were not provided."
        elif len(parts) == 1:
            text = "Invalid token header. No credentials provided."
        elif parts[1] not in self._agents:
            text = "Invalid token."
        else:
            return self._agents[parts[1]]
        raise _APIException(401, {"detail": text}, **{"WWW-Authenticate": "Bearer"})

    def _data(self, request: Request) -> Any:
        if not request.raw:
            return {}
        kind = request.headers.get("Content-Type") or ""
        if kind.partition(";")[0].strip().lower() != "application/json":
            raise _APIException(
                415, {"detail": f'Unsupported media type "{kind}" in request.'}
            )
        try:
            return request.json()
        except ValueError as error:
            raise _APIException(
                400, {"detail": f"JSON parse error - {error}"}
            ) from None

    def _page(self, request: Request) -> dict[str, Any]:
        def number(name: str, default: int, least: int) -> int:
            value = request.query.get(name, "")
            return int(value) if value.isdecimal() and int(value) >= least else default

        limit, offset = min(number("limit", 5, 1), 50), number("offset", 0, 0)
        rows = [row for row in self._tasks.values() if row["status"] == "open"]
        link = f"{request.base}{request.path}?limit={limit}&offset="
        return {
            "count": len(rows),
            "next": f"{link}{offset + limit}" if offset + limit < len(rows) else None,
            "previous": f"{link}{max(offset - limit, 0)}" if offset > 0 else None,
            "results": rows[offset : offset + limit],
        }

    @_view(auth=False)
    def register(self, data: Any) -> dict[str, Any]:
        _validated(data)
        self.book.registrations += 1
        token, agent = secrets.token_hex(20), {"id": str(uuid.uuid4()), "balance": 100}
        self._agents[token] = agent
        return {"agent_id": agent["id"], "access_token": token, "credits": 100}

    marketplace = _view(auth=False)(_page)
    tasks = _view(auth=True)(lambda self, agent, request: self._page(request))  # noqa: ARG005

    @_view(auth=False)
    def agents(self, request: Request) -> dict[str, Any]:
        if "slug" in request.query:
            raise _APIException(404, {"detail": "No Agent matches the given query."})
        rows = [{"id": row["id"]} for row in self._agents.values()]
        return {"count": len(rows), "next": None, "previous": None, "results": rows}

    directory = agents

    @_view(auth=True)
    def claim(self, agent: dict[str, Any], data: Any) -> dict[str, Any]:
        valid = _validated(data, task=_related(self._tasks), delivery_date=_date)
        task, day = valid["task"], valid["delivery_date"]
        if task["status"] != "open":
            raise _invalid(task="This task is no longer open.")
        if day < datetime.now(UTC).date():
            raise _invalid(delivery_date="Delivery date cannot be in the past.")
        if day.isoformat() > task["deadline"]:
            raise _invalid(
                delivery_date="Delivery date cannot be after the task deadline."
            )
        task["status"] = "assigned"
        self.book.claimed(str(task["id"]))
        row = {"id": 311 + len(self._assignments), "task": task["id"]}
        row |= {"assignee": agent["id"], "status": "active", "delivery_date": str(day)}
        return self._assignments.setdefault(row["id"], row)

    @_view(auth=True)
    def submit(self, agent: dict[str, Any], data: Any) -> dict[str, Any]:
        rows = self._assignments.items()
        own = {key: row for key, row in rows if row["assignee"] == agent["id"]}
        valid = _validated(data, assignment=_related(own), output=_char)
        assignment = valid["assignment"]
        if assignment["status"] != "active":
            raise _invalid(
                assignment="A submission for this assignment already exists."
            )
        if valid["output"] != self.texts()[str(assignment["task"])].upper():
            raise _invalid(
                output="Output is not the upper case of the task's source_text."
            )
        assignment["status"] = "submitted"
        row = {"id": 78 + len(self._submissions), "assignment": assignment["id"]}
        row |= {"agent": agent["id"], "output": valid["output"], "is_completed": False}
        return self._submissions.setdefault(row["id"], row)

    @_view(auth=True)
    def complete(self, agent: dict[str, Any], data: Any) -> dict[str, Any]:
        rows = self._submissions.items()
        own = {key: row for key, row in rows if row["agent"] == agent["id"]}
        row = _validated(data, submission=_related(own))["submission"]
        if row["is_completed"]:
            raise _invalid(submission="This submission has already been completed.")
        task = self._tasks[self._assignments[row["assignment"]]["task"]]
        row["is_completed"], task["status"] = True, "completed"
        self.book.pay(str(task["id"]), int(float(task["reward"])))
        agent["balance"] += int(float(task["reward"]))
        return {**row, "paid": task["reward"], "balance": f"{agent['balance']}.00"}

    @_view(auth=True)
    def post(self, agent: dict[str, Any], data: Any) -> dict[str, Any]:
        text = "You do not have permission to perform this action."
        raise _APIException(403, {"detail": text})
