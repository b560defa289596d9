"""Relecture: a proofreaders' cooperative of four in Lyon, on Flask with flask-smorest.

Marshmallow schemas, a bare array with an X-Pagination header, and an entity tag on every
task that each change has to quote in If-Match. The cooperative pays against a dated
completion.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import hashlib
import json
import secrets
from collections.abc import Callable
from datetime import date
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_NAMES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}
_NAMES |= {409: "Conflict", 412: "Precondition Failed", 422: "Unprocessable Entity"}
_NAMES |= {428: "Precondition Required"}
_TASKS = [
    (311, "Menu du midi", "Soupe du jour, quiche aux poireaux et tarte fine", 14),
    (312, "Station signs", "Mind the step when leaving the train", 9),
    (315, "Exhibition panel", "The silk weavers of the Croix-Rousse, 1831 to 1848", 22),
    (318, "Label for a jar", "Confiture d'abricots, fruits du Rhône", 6),
    (320, "Closing notice", "The office will be closed from 1 to 15 August", 17),
    (327, "Book spine", "A short history of printing in Lyon", 11),
]
_BRIEF = "Set source_text in capital letters and change nothing else."


class _Abort(Exception):  # noqa: N818
    """What flask_smorest.abort raises."""

    def __init__(
        self, code: int, message: str = "", errors: Any = None, headers: Any = None
    ) -> None:
        body: dict[str, Any] = {"code": code, "status": _NAMES[code]}
        if message:
            body["message"] = message
        if errors:
            body["errors"] = errors
        self.response = Response(code, body, headers or {})


def _integer(value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise ValueError  # noqa: TRY004
        return int(value)
    except (TypeError, ValueError):
        raise ValueError("Not a valid integer.") from None


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("Not a valid string.")  # noqa: TRY004
    return value


def _positive(value: Any) -> int:
    number = _integer(value)
    if number < 1:
        raise ValueError("Must be greater than or equal to 1.")
    return number


def _date(value: Any) -> date:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError("Not a valid date.") from None


def _limit(value: Any) -> int:
    number = _integer(value)
    if not 1 <= number <= 100:
        raise ValueError(
            "Must be greater than or equal to 1 and less than or equal to 100."
        )
    return number


def _load(data: Any, schema: dict[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Load a body as a marshmallow schema does; every field is required."""
    if not isinstance(data, dict):
        raise _Abort(422, errors={"json": {"_schema": ["Invalid input type."]}})
    loaded: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for name, convert in schema.items():
        if name not in data:
            errors[name] = ["Missing data for required field."]
        elif data[name] is None:
            errors[name] = ["Field may not be null."]
        else:
            try:
                loaded[name] = convert(data[name])
            except ValueError as error:
                errors[name] = [str(error)]
    errors.update({name: ["Unknown field."] for name in data if name not in schema})
    if errors:
        raise _Abort(422, errors={"json": errors})
    return loaded


def _view(method: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(method)
    def answer(self: "Relecture", request: Request) -> Response:
        try:
            return method(self, request)
        except _Abort as abort:
            return abort.response

    return answer


class Relecture(Backend):
    """Capital letters by the piece, with If-Match on every change."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._tasks: dict[int, dict[str, Any]] = {
            number: {
                "id": number,
                "title": title,
                "instructions": _BRIEF,
                "source_text": text,
                "fee": fee,
                "status": "open",
                "assignee": None,
            }
            for number, title, text, fee in _TASKS
        }

    def texts(self) -> dict[str, str]:
        return {str(number): text for number, _, text, _ in _TASKS}

    def missing(self, request: Request) -> Response:
        return _Abort(404).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"agent_id": f"agent-{secrets.token_hex(5)}", "credits": 100}
        token = secrets.token_urlsafe(24)
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    @_view
    def tasks(self, request: Request) -> Response:
        me = self._login(request)
        args, errors = {"page": 1, "limit": 20}, {}
        for name, convert in (("page", _positive), ("limit", _limit)):
            try:
                args[name] = convert(request.query.get(name, args[name]))
            except ValueError as error:
                errors[name] = [str(error)]
        if errors:
            raise _Abort(422, errors={"query": errors})
        mine = (None, me["agent_id"])
        seen = [task for task in self._tasks.values() if task["assignee"] in mine]
        page, last = args["page"], max(1, -(-len(seen) // args["limit"]))
        about = {"total": len(seen), "total_pages": last, "first_page": 1}
        about |= {"last_page": last, "page": page}
        if page > 1:
            about["previous_page"] = page - 1
        if page < last:
            about["next_page"] = page + 1
        start = (page - 1) * args["limit"]
        shown = [self._dump(task) for task in seen[start : start + args["limit"]]]
        return Response(200, shown, {"X-Pagination": json.dumps(about)})

    @_view
    def claim(self, request: Request) -> Response:
        me = self._login(request)
        task = self._task(_load(self._json(request), {"task_id": _integer}))
        if task["status"] != "open":
            raise _Abort(409, "This task is no longer open.")
        self._check_etag(request, task)
        task |= {"status": "assigned", "assignee": me["agent_id"]}
        self.book.claimed(str(task["id"]))
        return self._changed(task)

    @_view
    def submit(self, request: Request) -> Response:
        me = self._login(request)
        schema = {"task_id": _integer, "delivered_text": _string}
        schema["minutes_spent"] = _positive
        data = _load(self._json(request), schema)
        task = self._task(data, me, "assigned")
        self._check_etag(request, task)
        if data["delivered_text"] != task["source_text"].upper():
            wrong = [f"Does not follow the instructions: {_BRIEF}"]
            raise _Abort(422, errors={"json": {"delivered_text": wrong}})
        task |= {"status": "delivered", "minutes_spent": data["minutes_spent"]}
        return self._changed(task)

    @_view
    def complete(self, request: Request) -> Response:
        me = self._login(request)
        schema = {"task_id": _integer, "completed_on": _date}
        data = _load(self._json(request), schema)
        task = self._task(data, me, "delivered")
        self._check_etag(request, task)
        task |= {"status": "paid", "completed_on": data["completed_on"].isoformat()}
        me["credits"] += task["fee"]
        self.book.pay(str(task["id"]), task["fee"])
        return self._changed(task)

    def _login(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            challenge = {"WWW-Authenticate": 'Bearer realm="Relecture"'}
            raise _Abort(401, "Missing or unknown access token.", headers=challenge)
        return self._agents[request.token]

    def _json(self, request: Request) -> Any:
        if "json" not in (request.headers.get("Content-Type") or ""):
            return {}
        try:
            return request.json()
        except ValueError:
            raise _Abort(400, errors={"json": ["Invalid JSON body."]}) from None

    def _task(
        self, data: dict[str, Any], me: dict[str, Any] | None = None, status: str = ""
    ) -> dict[str, Any]:
        task = self._tasks.get(data["task_id"])
        if task is None:
            raise _Abort(404, f"There is no task {data['task_id']}.")
        if me and task["assignee"] != me["agent_id"]:
            raise _Abort(403, "This task is not assigned to you.")
        if status and task["status"] != status:
            raise _Abort(409, f"This task is {task['status']}, not {status}.")
        return task

    def _etag(self, task: dict[str, Any]) -> str:
        return hashlib.sha1(json.dumps(task, sort_keys=True).encode()).hexdigest()  # noqa: S324

    def _dump(self, task: dict[str, Any]) -> dict[str, Any]:
        return {**task, "etag": self._etag(task)}

    def _changed(self, task: dict[str, Any]) -> Response:
        return Response(200, self._dump(task), {"ETag": f'"{self._etag(task)}"'})

    def _check_etag(self, request: Request, task: dict[str, Any]) -> None:
        given = request.headers.get("If-Match")
        if not given:
            told = 'This request is required to be conditional; try using "If-Match".'
            raise _Abort(428, told)
        if self._etag(task) not in [tag.strip().strip('"') for tag in given.split(",")]:
            raise _Abort(412, "If-Match is not the current etag of this task.")
