"""Inkbounty, an exchange of small writing bounties: FastAPI with Pydantic models.

Bodies are flat snake_case models that forbid extra fields; a review answers a submission
at once and the completion pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_BOUNTIES = [
    ("Sign for the harbour cafe", "fresh crab sandwiches until noon", 18),
    ("Poster line for the jazz night", "three trumpets and a borrowed piano", 25),
    ("Warning label", "do not open while the drum is turning", 9),
    ("Title card", "the long way home from tromso", 40),
    ("Shelf marker", "maps, atlases & tide tables", 12),
    ("Banner of the regatta", "all hands on deck at 6:30 am", 31),
]
_FORMATS = ("text/plain", "text/markdown")


class _HTTP(Exception):  # noqa: N818
    """HTTPException, or a RequestValidationError where the detail is a list."""

    def __init__(self, status: int, detail: Any, headers: Any = {}) -> None:  # noqa: B006
        super().__init__(status, detail, headers)


def _invalid(*errors: dict) -> _HTTP:
    return _HTTP(422, list(errors))


def _error(kind: str, loc: list[Any], msg: str, value: Any, **ctx: Any) -> dict:
    return {"type": kind, "loc": loc, "msg": msg, "input": value} | (
        {"ctx": ctx} if ctx else {}
    )


def _uuid(value: Any, loc: list[Any]) -> list[dict]:
    if not isinstance(value, str):
        msg = "UUID input should be a string, bytes or UUID object"
        return [_error("uuid_type", loc, msg, value)]
    try:
        uuid.UUID(value)
    except ValueError:
        why = (
            f"invalid length: expected length 32 for simple format, found {len(value)}"
        )
        return [
            _error(
                "uuid_parsing",
                loc,
                f"Input should be a valid UUID, {why}",
                value,
                error=why,
            )
        ]
    return []


def _string(value: Any, loc: list[Any]) -> list[dict]:
    if isinstance(value, str):
        return []
    return [_error("string_type", loc, "Input should be a valid string", value)]


def _format(value: Any, loc: list[Any]) -> list[dict]:
    if value in _FORMATS:
        return []
    names = " or ".join(f"'{name}'" for name in _FORMATS)
    return [_error("enum", loc, f"Input should be {names}", value, expected=names)]


def _datetime(value: Any, loc: list[Any]) -> list[dict]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return []
    if not isinstance(value, str):
        return [_error("datetime_type", loc, "Input should be a valid datetime", value)]
    try:
        datetime.fromisoformat(value)
    except ValueError:
        why = "input is too short" if len(value) < 10 else "invalid character in year"
        msg = f"Input should be a valid datetime or date, {why}"
        return [_error("datetime_from_date_parsing", loc, msg, value, error=why)]
    return []


def _model(value: Any, loc: list[Any], fields: dict[str, Any]) -> list[dict]:
    if not isinstance(value, dict):
        msg = "Input should be a valid dictionary or object to extract fields from"
        return [_error("model_attributes_type", loc, msg, value)]
    found: list[dict] = []
    for name, check in fields.items():
        if name not in value:
            found.append(_error("missing", [*loc, name], "Field required", value))
        else:
            found += check(value[name], [*loc, name])
    for name in value.keys() - fields.keys():
        extra = "extra_forbidden", [*loc, name], "Extra inputs are not permitted"
        found.append(_error(*extra, value[name]))
    return found


def _result(value: Any, loc: list[Any]) -> list[dict]:
    return _model(value, loc, {"format": _format, "content": _string})


class Inkbounty(Backend):
    """The exchange; assignments are what an agent holds."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict] = {}
        self._assignments: dict[str, dict] = {}
        self._tasks = {
            uid: {
                "uid": uid,
                "headline": headline,
                "guidelines": "Return source_text in capital letters.",
                "source_text": text,
                "bounty": bounty,
                "status": "open",
            }
            for headline, text, bounty in _BOUNTIES
            for uid in [str(uuid.uuid4())]
        }

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its uid."""
        return {uid: task["source_text"] for uid, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Return Starlette's answer to an unknown path or method."""
        for method, path in ACTIONS:
            if path == request.path and method != request.method:
                return Response(
                    405, {"detail": "Method Not Allowed"}, {"Allow": method}
                )
        return Response(404, {"detail": "Not Found"})

    def _run(self, request: Request, fields: dict | None, view: Any) -> Response:
        """Parse the body, solve the dependencies, and call the view."""
        body: Any = None
        try:
            if fields is not None and request.raw:
                try:
                    body = request.json()
                except json.JSONDecodeError as e:
                    loc, msg = ["body", e.pos], "JSON decode error"
                    raise _invalid(
                        _error("json_invalid", loc, msg, {}, error=e.msg)
                    ) from e
            agent = self._agents.get(request.token)
            if agent is None:
                bad = "Invalid authentication credentials"
                detail = bad if request.token else "Not authenticated"
                raise _HTTP(401, detail, {"WWW-Authenticate": "Bearer"})
            if fields and body is None:
                raise _invalid(_error("missing", ["body"], "Field required", None))
            if fields and (found := _model(body, ["body"], fields)):
                raise _invalid(*found)
            answer = view(agent, body)
            return answer if isinstance(answer, Response) else Response(200, answer)
        except _HTTP as e:
            return Response(e.args[0], {"detail": e.args[1]}, e.args[2])

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = f"ink_{secrets.token_urlsafe(24)}"
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token, "token_type": "bearer"})

    def _page(self, query: dict[str, str]) -> dict:
        values, found = {}, []
        for name, default, low, high in (("limit", 50, 1, 100), ("offset", 0, 0, None)):
            raw, loc = query.get(name, str(default)), ["query", name]
            try:
                values[name] = int(raw)
            except ValueError:
                msg = "Input should be a valid integer, unable to parse string as an integer"
                found.append(_error("int_parsing", loc, msg, raw))
                continue
            if values[name] < low:
                msg = f"Input should be greater than or equal to {low}"
                found.append(_error("greater_than_equal", loc, msg, raw, ge=low))
            elif high and values[name] > high:
                msg = f"Input should be less than or equal to {high}"
                found.append(_error("less_than_equal", loc, msg, raw, le=high))
        if found:
            raise _invalid(*found)
        limit, offset = values["limit"], values["offset"]
        page = list(self._tasks.values())[offset : offset + limit]
        return {
            "items": page,
            "total": len(self._tasks),
            "limit": limit,
            "offset": offset,
        }

    def marketplace(self, request: Request) -> Response:
        """List the tasks for anybody."""
        return Response(200, self._page({}))

    def tasks(self, request: Request) -> Response:
        """List the tasks for an agent."""
        return self._run(request, None, lambda agent, _: self._page(request.query))  # noqa: ARG005

    def claim(self, request: Request) -> Response:
        """Assign a task to the agent."""

        def view(agent: dict, body: dict) -> dict:
            task = self._tasks.get(str(uuid.UUID(body["task_uid"])))
            if task is None:
                raise _HTTP(404, "Task not found")
            if task["status"] != "open":
                raise _HTTP(409, f"Task is {task['status']}, not open")
            task["status"] = "assigned"
            self.book.claimed(task["uid"])
            uid = str(uuid.uuid4())
            self._assignments[uid] = {
                "uid": uid,
                "task_uid": task["uid"],
                "worker_uid": agent["agent_id"],
                "status": "in_progress",
                "deadline": (datetime.now(UTC) + timedelta(hours=2)).isoformat(),
            }
            return self._assignments[uid]

        return self._run(request, {"task_uid": _uuid}, view)

    def _own(self, agent: dict, body: dict) -> dict:
        assignment = self._assignments.get(str(uuid.UUID(body["assignment_uid"])))
        if assignment is None:
            raise _HTTP(404, "Assignment not found")
        if assignment["worker_uid"] != agent["agent_id"]:
            raise _HTTP(403, "This assignment belongs to another worker")
        return assignment

    def submit(self, request: Request) -> Response:
        """Review a result; a failed review sends the assignment back."""

        def view(agent: dict, body: dict) -> Response:
            own = self._own(agent, body)
            if own["status"] not in ("in_progress", "changes_requested"):
                raise _HTTP(409, f"Assignment is {own['status']}; nothing to submit")
            text = self._tasks[own["task_uid"]]["source_text"]
            right = body["result"]["content"] == text.upper()
            own["status"] = "approved" if right else "changes_requested"
            review = {
                "passed": right,
                "comment": "" if right else "Guidelines not followed.",
            }
            return Response(200, {**own, "review": review}, refused=not right)

        return self._run(request, {"assignment_uid": _uuid, "result": _result}, view)

    def complete(self, request: Request) -> Response:
        """Close an approved assignment and pay its bounty."""

        def view(agent: dict, body: dict) -> dict:
            own = self._own(agent, body)
            if own["status"] != "approved":
                raise _HTTP(409, f"Assignment is {own['status']}, not approved")
            task = self._tasks[own["task_uid"]]
            own["status"], task["status"] = "closed", "done"
            agent["credits"] += task["bounty"]
            self.book.pay(task["uid"], task["bounty"])
            return {**own, "paid": task["bounty"], "balance": agent["credits"]}

        fields = {"assignment_uid": _uuid, "finished_at": _datetime}
        return self._run(request, fields, view)
