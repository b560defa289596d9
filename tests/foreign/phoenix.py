"""A Phoenix service with Ecto changesets, and a proxy that cuts two answers off.

Each action matches on a wrapper in its parameters; without it there is only a bare "Bad
Request". The wrapper and what it holds stand in the links of the listing's records, which
change as a task goes on; an agent's own tasks stay listed. Changesets cast what they can,
ignore what they do not know and tell all faults by field. The first two submissions that
are accepted are carried out, but the connection closes without an answer, and a repeat says
that the task has been taken already.
"""

import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

WORDS = (
    "the beekeeper whistles on the way home",
    "nine lanterns float down the canal",
    "the window faces an empty square",
    "a storm took the roof of the barn",
    "the chess players never look up",
    "fold the letter and say nothing",
    "the mountain hut has room for six",
    "a thin cat guards the fish market",
    "the river is too wide for the old ferry",
    "somebody painted the benches green",
    "the signal man waves at every train",
    "winter came early to the northern farms",
)
FIRST, LOST_ANSWERS = 7, 2
JSON = "application/json; charset=utf-8"
PATHS = {action: path for (_, path), action in ACTIONS.items()}
# What can be done next in a state, and how its parameters are wrapped.
NEXT = {
    "open": ("claim", "claim"),
    "claimed": ("submit", "submission"),
    "submitted": ("complete", "completion"),
}

Errors = dict[str, Any]


class Fault(Exception):  # noqa: N818 - a word of the trade
    """An answer that ends the handling of a request."""

    def __init__(self, status: int, errors: Errors) -> None:
        super().__init__(errors)
        self.response = Response(status, {"errors": errors}, {"Content-Type": JSON})


def _plain(status: int, detail: str) -> Fault:
    """Return what Phoenix' ErrorJSON says."""
    return Fault(status, {"detail": detail})


def _changeset(field: str, message: str) -> Fault:
    return Fault(422, {field: [message]})


def _integer(value: Any) -> int:
    """Cast as Ecto's :integer does: a whole number, or a string of one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit():
        return int(value)
    raise ValueError(value)


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(value)


FIELDS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "claim": {"task_id": _integer},
    "submission": {"task_id": _integer, "content": _string},
    "completion": {"task_id": _integer},
}


def _cast(wrapper: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Do as cast and validate_required do: all faults, and only known fields."""
    changes: dict[str, Any] = {}
    errors: Errors = {}
    for name, cast in FIELDS[wrapper].items():
        value = parameters.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            errors[name] = ["can't be blank"]
            continue
        try:
            changes[name] = cast(value)
        except ValueError:
            errors[name] = ["is invalid"]
    if errors:
        raise Fault(422, errors)
    return changes


def _parameters(wrapper: str, request: Request) -> dict[str, Any]:
    """Return what the action's pattern matches, or fail as without a clause for it."""
    try:
        body = request.json()
    except ValueError:
        body = None
    is_json = request.headers.get_content_type() == "application/json"
    inner = body.get(wrapper) if is_json and isinstance(body, dict) else None
    if not isinstance(inner, dict):
        raise _plain(400, "Bad Request")
    return inner


@dataclass
class Task:
    """One task and how far it has come."""

    id: int
    text: str
    reward: int
    state: str = "open"  # open, claimed, submitted, paid
    owner: str | None = None

    def data(self, base: str) -> dict[str, Any]:
        """Return the record of the view."""
        links: dict[str, Any] = {}
        if self.state in NEXT:
            action, wrapper = NEXT[self.state]
            links[action] = {
                "href": base + PATHS[action],
                "method": "post",
                "body": {wrapper: {"task_id": self.id}},
            }
        return {
            "id": self.id,
            "body": self.text,
            "reward": self.reward,
            "state": self.state,
            "claimed_by": self.owner,
            "inserted_at": f"2026-06-{self.id:02}T17:20:00Z",
            "links": links,
        }


class Phoenix(Backend):
    """The service."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks = {
            FIRST + at: Task(FIRST + at, text, 1 + at * 8 % 9)
            for at, text in enumerate(WORDS)
        }
        self._agents: dict[str, str] = {}  # token -> agent
        self._credits: dict[str, int] = {}
        self._to_lose = LOST_ANSWERS

    def texts(self) -> dict[str, str]:
        return {str(task.id): task.text for task in self._tasks.values()}

    def missing(self, request: Request) -> Response:
        return _plain(404, "Not Found").response

    def register(self, request: Request) -> Response:
        agent = str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))
        token = secrets.token_urlsafe(32)
        self._agents[token] = agent
        self._credits[agent] = 100
        self.book.registrations += 1
        body = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, body, {"Content-Type": JSON})

    def tasks(self, request: Request) -> Response:
        return self._listing(request, self._agents.get(request.token))

    def marketplace(self, request: Request) -> Response:
        return self._listing(request, None)

    def claim(self, request: Request) -> Response:
        return self._answer("claim", request, self._claimed)

    def submit(self, request: Request) -> Response:
        return self._answer("submission", request, self._submitted)

    def complete(self, request: Request) -> Response:
        return self._answer("completion", request, self._completed)

    def _listing(self, request: Request, agent: str | None) -> Response:
        listed = [
            task.data(request.base)
            for task in self._tasks.values()
            if task.state == "open" or (agent and task.owner == agent)
        ]
        return Response(200, {"data": listed}, {"Content-Type": JSON})

    def _answer(
        self,
        wrapper: str,
        request: Request,
        act: Callable[[str, Task, dict[str, Any]], None],
    ) -> Response:
        try:
            agent = self._agents.get(request.token)
            if agent is None:
                raise _plain(401, "Unauthorized")
            changes = _cast(wrapper, _parameters(wrapper, request))
            task = self._tasks.get(changes["task_id"])
            if task is None:
                raise _changeset("task_id", "does not exist")
            act(agent, task, changes)
        except Fault as fault:
            return fault.response
        body = {"data": task.data(request.base)}
        if task.state == "paid":
            body["meta"] = {"credits": self._credits[agent]}
        return Response(200, body, {"Content-Type": JSON})

    def _claimed(self, agent: str, task: Task, _changes: dict[str, Any]) -> None:
        if task.state != "open":
            raise _changeset("task_id", "has already been taken")
        task.state, task.owner = "claimed", agent
        self.book.claimed(str(task.id))

    def _submitted(self, agent: str, task: Task, changes: dict[str, Any]) -> None:
        if task.owner != agent:
            raise _changeset("task_id", "is not claimed by you")
        if changes["content"] != task.text.upper():
            raise _changeset("content", "must be the body of the task in upper case")
        if task.state != "claimed":
            raise _changeset("task_id", "has already been taken")
        task.state = "submitted"
        if self._to_lose:
            self._to_lose -= 1
            raise ConnectionAbortedError

    def _completed(self, agent: str, task: Task, _changes: dict[str, Any]) -> None:
        if task.owner != agent:
            raise _changeset("task_id", "is not claimed by you")
        if task.state == "claimed":
            raise _changeset("task_id", "has not been submitted")
        if task.state == "paid":
            raise _changeset("task_id", "has already been taken")
        task.state = "paid"
        self.book.pay(str(task.id), task.reward)
        self._credits[agent] += task.reward
