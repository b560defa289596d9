"""External tasks of a process engine in the manner of Camunda 7, behind a thin facade.

The listing is the engine's own: a bare array in which what a task is about stands among
`variables`, each with a type and a value, and nothing is called a state: a task is free
while nobody's `workerId` is on it, and cannot be locked while its process is suspended.
The facade's actions are plain, and a yes is 204 without a body.
"""

import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
ROWS = (
    ("the parcel waits at the depot", 5),
    ("two signatures are missing", 3),
    ("the forklift needs new tyres", 6),
    ("gate four opens at seven", 2),
    ("pallets go to the north hall", 4),
    ("the scale shows nine grams", 5),
)


@dataclass
class ExternalTask:
    text: str
    reward: int
    worker: str | None = None
    suspended: bool = False
    answer: str = ""
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    process: str = field(default_factory=lambda: str(uuid.uuid4()))

    def shown(self) -> dict[str, object]:
        until = "2031-04-01T12:00:00.000+0000" if self.worker else None
        return {
            "activityId": "Activity_capitals",
            "activityInstanceId": f"Activity_capitals:{self.process[:8]}",
            "errorMessage": None,
            "executionId": self.process,
            "id": self.id,
            "lockExpirationTime": until,
            "processDefinitionId": "writing:4:8c1f2a90",
            "processDefinitionKey": "writing",
            "processInstanceId": self.process,
            "retries": None,
            "suspended": self.suspended,
            "workerId": self.worker,
            "topicName": "capitals",
            "tenantId": None,
            "variables": {
                "language": {"type": "String", "value": "en", "valueInfo": {}},
                "text": {"type": "String", "value": self.text, "valueInfo": {}},
                "reward": {"type": "Integer", "value": self.reward, "valueInfo": {}},
            },
            "priority": 0,
            "businessKey": None,
        }


class EngineError(Exception):
    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.response = Response(
            status, {"type": kind, "message": message, "code": None}
        )


def telling(action: Action) -> Action:
    """Answer with the engine's exception where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except EngineError as no:
            return no.response

    return answer


class CamundaExternal(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [ExternalTask(*row) for row in ROWS]
        self._open = {task.id: task for task in open_}
        taken = ExternalTask("count the crates", 7, worker="worker-berlin-2")
        asleep = ExternalTask("weigh the crates", 8, suspended=True)
        all_ = [taken, *open_[:3], asleep, *open_[3:]]
        self._tasks = {task.id: task for task in all_}

    def texts(self) -> dict[str, str]:
        return {task.id: task.text for task in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"worker-{secrets.token_hex(3)}", secrets.token_urlsafe(24)
        self._agents[token] = agent
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        return Response(200, [task.shown() for task in self._tasks.values()])

    @telling
    def claim(self, request: Request) -> Response:
        agent, task, _ = self._read(request)
        if task.suspended:
            raise EngineError(
                400, "SuspendedEntityInteractionException", "task is suspended"
            )
        if task.worker:
            message = f"External Task {task.id} is already locked by '{task.worker}'"
            raise EngineError(409, "BadUserRequestException", message)
        task.worker = agent
        self.book.claimed(task.id)
        return Response(204)

    @telling
    def submit(self, request: Request) -> Response:
        agent, task, given = self._read(request, "result")
        self._own(agent, task)
        if given["result"] != task.text.upper():
            raise EngineError(
                422, "RestException", "the result is not the text in capitals"
            )
        task.answer = str(given["result"])
        return Response(204)

    @telling
    def complete(self, request: Request) -> Response:
        agent, task, _ = self._read(request)
        self._own(agent, task)
        if not task.answer:
            raise EngineError(409, "RestException", "there is no result yet")
        del self._tasks[task.id]
        self.book.pay(task.id, task.reward)
        return Response(204)

    def _own(self, agent: str, task: ExternalTask) -> None:
        if task.worker != agent:
            message = f"External Task {task.id} cannot be changed by '{agent}'."
            raise EngineError(403, "AuthorizationException", message)

    def _read(
        self, request: Request, *more: str
    ) -> tuple[str, ExternalTask, dict[str, object]]:
        if request.token not in self._agents:
            raise EngineError(401, "AuthorizationException", "Please authenticate")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise EngineError(400, "JsonParseException", "Cannot read the request body")
        for name in ("externalTaskId", *more):
            if not isinstance(given.get(name), str):
                raise EngineError(
                    400, "InvalidRequestException", f"{name} is null or not a string"
                )
        task = self._tasks.get(given["externalTaskId"])
        if task is None:
            message = f"External task with id {given['externalTaskId']} does not exist"
            raise EngineError(404, "RestException", message)
        return self._agents[request.token], task, given
