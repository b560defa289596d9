"""A flask-smorest service with marshmallow schemas, unknown fields raise.

A refusal is 422 with all faults of the body by field, below "errors" and "json". Ids are
UUIDs in a field `uuid`, states are numbers (0 open, 1 taken, 2 done), and the listing is a
bare array of five unless asked for more, with the next page in a Link header. It lists
taken tasks, too. Every action wants the agent's own id beside the task's.
"""

import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

OPEN, TAKEN, DONE = 0, 1, 2
WORDS = (
    (OPEN, "the night porter hums an old waltz"),
    (OPEN, "four umbrellas hang in the hallway"),
    (TAKEN, "another agent writes about herons"),
    (OPEN, "a kite is caught in the poplar"),
    (OPEN, "the printer ran out of blue ink"),
    (OPEN, "salt the water before the beans"),
    (TAKEN, "another agent lists the bridges"),
    (TAKEN, "another agent measures the tide"),
    (OPEN, "her cousin repairs accordions"),
    (OPEN, "the valley road floods in spring"),
    (OPEN, "ten sparrows share one puddle"),
    (OPEN, "the museum opens its attic today"),
    (TAKEN, "another agent draws the roofs"),
    (OPEN, "lost gloves wait at the counter"),
    (OPEN, "the tailor measures everything twice"),
    (OPEN, "an owl lives in the clock tower"),
)


class Abort(Exception):  # noqa: N818 - flask's word
    """abort(status, message=..., errors=...) and what flask-smorest makes of it."""

    NAMES = {
        400: "Bad Request",
        401: "Unauthorized",
        403: "Forbidden",
        404: "Not Found",
        409: "Conflict",
        422: "Unprocessable Entity",
    }

    def __init__(self, status: int, **more: Any) -> None:
        super().__init__(status)
        self.response = Response(
            status, {"code": status, "status": self.NAMES[status]} | more
        )


def _uuid(value: Any) -> str:
    try:
        return str(uuid.UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise ValueError("Not a valid UUID.") from None


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("Not a valid string.")  # noqa: TRY004 - marshmallow's way
    return value


def _integer(value: Any) -> int:
    try:
        return int(value)
    except ValueError:
        raise ValueError("Not a valid integer.") from None


Field = Callable[[Any], Any]
SCHEMAS: dict[str, dict[str, Field]] = {
    "claim": {"task_uuid": _uuid, "agent_uuid": _uuid},
    "submit": {"task_uuid": _uuid, "agent_uuid": _uuid, "answer_text": _string},
    "complete": {"task_uuid": _uuid, "agent_uuid": _uuid},
}


def _load(schema: dict[str, Field], data: Any) -> dict[str, Any]:
    """Do as Schema.load does: every field, then the unknown ones; all faults together."""
    if not isinstance(data, dict):
        raise Abort(422, errors={"json": {"_schema": ["Invalid input type."]}})
    loaded: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for name, field in schema.items():
        if name not in data:
            errors[name] = ["Missing data for required field."]
        elif data[name] is None:
            errors[name] = ["Field may not be null."]
        else:
            try:
                loaded[name] = field(data[name])
            except ValueError as fault:
                errors[name] = [str(fault)]
    errors |= {name: ["Unknown field."] for name in data if name not in schema}
    if errors:
        raise Abort(422, errors={"json": errors})
    return loaded


def _json(request: Request) -> Any:
    if request.headers.get_content_type() != "application/json":
        return {}  # webargs: the location has no data
    try:
        return request.json()
    except ValueError:
        raise Abort(400, errors={"json": ["Invalid JSON body."]}) from None


def _window(request: Request) -> tuple[int, int]:
    """Return offset and limit of the query."""
    values = {"offset": 0, "limit": 5}
    errors: dict[str, list[str]] = {}
    for name, least in (("offset", 0), ("limit", 1)):
        try:
            values[name] = _integer(request.query.get(name, values[name]))
        except ValueError as fault:
            errors[name] = [str(fault)]
            continue
        if values[name] < least:
            errors[name] = [f"Must be greater than or equal to {least}."]
    if errors:
        raise Abort(422, errors={"query": errors})
    return values["offset"], values["limit"]


def _new_uuid() -> str:
    return str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))


@dataclass
class Task:
    """One task and how far it has come."""

    uuid: str
    text: str
    reward: int
    minute: int
    state: int
    owner: str = ""
    answered: bool = False

    def dump(self) -> dict[str, Any]:
        """Return what the schema dumps."""
        return {
            "created_at": f"2026-04-02T09:{self.minute:02}:00+00:00",
            "instructions": self.text,
            "reward": self.reward,
            "state": self.state,
            "uuid": self.uuid,
        }


class FlaskMarshmallow(Backend):
    """The service."""

    def __init__(self) -> None:
        super().__init__()
        tasks = [
            Task(_new_uuid(), text, 1 + at * 4 % 9, at, state)
            for at, (state, text) in enumerate(WORDS)
        ]
        self._tasks = {task.uuid: task for task in tasks}
        self._texts = {task.uuid: task.text for task in tasks if task.state == OPEN}
        self._agents: dict[str, str] = {}  # token -> agent
        self._credits: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        return dict(self._texts)

    def missing(self, request: Request) -> Response:
        return Abort(404).response

    def register(self, request: Request) -> Response:
        agent, token = _new_uuid(), secrets.token_urlsafe(32)
        self._agents[token] = agent
        self._credits[agent] = 100
        self.book.registrations += 1
        return Response(200, {"access_token": token, "agent_id": agent, "credits": 100})

    def tasks(self, request: Request) -> Response:
        try:
            offset, limit = _window(request)
        except Abort as abort:
            return abort.response
        listed = [task.dump() for task in self._tasks.values() if task.state != DONE]
        headers = {"X-Total-Count": str(len(listed))}
        if offset + limit < len(listed):
            after = (
                f"{request.base}{request.path}?limit={limit}&offset={offset + limit}"
            )
            headers["Link"] = f'<{after}>; rel="next"'
        return Response(200, listed[offset : offset + limit], headers)

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._answer("claim", request, self._claimed)

    def submit(self, request: Request) -> Response:
        return self._answer("submit", request, self._submitted)

    def complete(self, request: Request) -> Response:
        return self._answer("complete", request, self._completed)

    def _answer(
        self,
        action: str,
        request: Request,
        act: Callable[[Task, dict[str, Any]], dict[str, Any]],
    ) -> Response:
        try:
            task, data = self._loaded(action, request)
            return Response(200, act(task, data))
        except Abort as abort:
            return abort.response

    def _loaded(self, action: str, request: Request) -> tuple[Task, dict[str, Any]]:
        if request.token not in self._agents:
            raise Abort(401, message="A valid bearer token is required.")
        data = _load(SCHEMAS[action], _json(request))
        if data["agent_uuid"] != self._agents[request.token]:
            raise Abort(403, message="agent_uuid is not the agent of this token.")
        if data["task_uuid"] not in self._tasks:
            raise Abort(404, message="There is no task with this task_uuid.")
        return self._tasks[data["task_uuid"]], data

    def _claimed(self, task: Task, data: dict[str, Any]) -> dict[str, Any]:
        if task.state != OPEN:
            raise Abort(409, message="The task is already taken.")
        task.state, task.owner = TAKEN, data["agent_uuid"]
        self.book.claimed(task.uuid)
        return task.dump()

    def _submitted(self, task: Task, data: dict[str, Any]) -> dict[str, Any]:
        self._check_owner(task, data)
        if task.answered:
            raise Abort(409, message="The task has already been answered.")
        if data["answer_text"] != task.text.upper():
            fault = "Must be the instructions in upper case."
            raise Abort(422, errors={"json": {"answer_text": [fault]}})
        task.answered = True
        return {"accepted": True, "task_uuid": task.uuid}

    def _completed(self, task: Task, data: dict[str, Any]) -> dict[str, Any]:
        self._check_owner(task, data)
        if not task.answered:
            raise Abort(409, message="The task has not been answered yet.")
        if task.state == DONE:
            raise Abort(409, message="The task is already done.")
        task.state = DONE
        self.book.pay(task.uuid, task.reward)
        self._credits[task.owner] += task.reward
        return task.dump() | {"balance": self._credits[task.owner]}

    def _check_owner(self, task: Task, data: dict[str, Any]) -> None:
        if task.owner != data["agent_uuid"]:
            raise Abort(403, message="The task is not taken by this agent.")
