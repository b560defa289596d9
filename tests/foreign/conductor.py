"""A workflow engine in the manner of Conductor.

Workers poll by task type and get the next task of it, update it with a TaskResult, and
the engine pays as soon as a task is COMPLETED; completing the workflow only closes it.
"""

import json
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_DEFINITIONS = {
    # task type -> its output key
    "normalize_address": "normalizedAddress",
    "shout_banner": "bannerText",
}
_TASKS = [
    ("normalize_address", "14 Mill Row, Upper Tansley", 20),
    ("shout_banner", "doors open at seven", 5),
    ("normalize_address", "Flat 2b, 9 Quay Street", 12),
    ("shout_banner", "Last day of the sale", 8),
    ("normalize_address", "The Old Forge, Nether Wick", 16),
    ("shout_banner", "mind the wet paint", 3),
    ("normalize_address", "Unit 6, Brook Park", 10),
    ("shout_banner", "Welcome home, crew 12", 7),
]
_STATUSES = ["COMPLETED", "FAILED", "FAILED_WITH_TERMINAL_ERROR", "IN_PROGRESS"]
_SUMMARY = ("workflowType", "scheduledTime", "status", "taskType", "taskId")
_INVALID = "Validation failed, check below errors for detail."


def _millis() -> int:
    return int(time.time() * 1000)


class _Error(Exception):
    """An error with its status, its message and the violations, if it has some."""

    def __init__(self, status: int, message: str, violations: Any = ()) -> None:
        super().__init__(message)
        self.status, self.message, self.violations = status, message, violations


class Conductor(Backend):
    """A Conductor server with two task types and a queue for each."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._owners: dict[str, str] = {}  # task id -> agent id
        self._rewards: dict[str, int] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for seq, (type_, text, reward) in enumerate(_TASKS):
            id_ = str(uuid.uuid4())
            self._rewards[id_] = reward
            self._tasks[id_] = {
                "taskType": type_,
                "status": "SCHEDULED",
                "inputData": {"text": text, "creditReward": reward},
                "retryCount": 0,
                "taskDefName": type_,
                "scheduledTime": _millis() - 60_000 + seq,
                "workflowInstanceId": str(uuid.uuid4()),
                "workflowType": "text_upper_case",
                "taskId": id_,
                "responseTimeoutSeconds": 3600,
                "outputData": {},
                "workflowTask": {
                    "name": type_,
                    "taskReferenceName": f"{type_}_ref",
                    "description": "Returns inputData.text in upper case",
                    "inputKeys": ["text"],
                    "outputKeys": [_DEFINITIONS[type_]],
                },
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {id_: task["inputData"]["text"] for id_, task in self._tasks.items()}

    def _failed(self, error: _Error) -> Response:
        body: dict[str, Any] = {
            "status": error.status,
            "message": error.message,
            "instance": "conductor-server-6c9f7d",
            "retryable": False,
        }
        keys = ("path", "message", "invalidValue")
        if error.violations:
            body["validationErrors"] = [
                dict(zip(keys, v, strict=False)) for v in error.violations
            ]
        return Response(error.status, body)

    def missing(self, request: Request) -> Response:
        """Answer as Spring does without a handler."""
        return self._failed(_Error(404, f"No static resource {request.path[1:]}."))

    def register(self, request: Request) -> Response:
        """Create an application and its token."""
        token = f"eyJ{uuid.uuid4().hex}"
        agent = {"agent_id": f"app-{uuid.uuid4().hex[:12]}", "credits": 100}
        self._agents[token] = agent
        self.book.registrations += 1
        return Response(200, {**agent, "access_token": token})

    def tasks(self, request: Request) -> Response:
        """Search the scheduled tasks; the summaries are without their input."""
        found = [t for t in self._tasks.values() if t["status"] == "SCHEDULED"]
        start, size = request.query.get("start", ""), request.query.get("limit", "")
        page = found[int(start) if start.isdecimal() else 0 :]
        page = page[: int(size) if size.isdecimal() else 100]
        return Response(
            200,
            {
                "totalHits": len(found),
                "results": [
                    {
                        "workflowId": task["workflowInstanceId"],
                        **{key: task[key] for key in _SUMMARY},
                        "creditReward": task["inputData"]["creditReward"],
                    }
                    for task in page
                ],
            },
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Poll for the next task of a type."""
        return self._worker(request, self._poll)

    def submit(self, request: Request) -> Response:
        """Update a task with its result."""
        return self._worker(request, self._update)

    def complete(self, request: Request) -> Response:
        """Complete the workflow of a completed task."""
        return self._worker(request, self._complete)

    def _worker(self, request: Request, handle: Any) -> Response:
        agent = self._agents.get(request.token)
        if agent is None:
            why = "verification failed" if request.token else "cannot be null or empty"
            return Response(401, {"message": f"Token {why}", "error": "INVALID_TOKEN"})
        try:
            body = request.json()
            if not isinstance(body, dict):
                raise _Error(
                    400, "JSON parse error: the request body must be an object"
                )
            answer = handle(agent, body)
        except ValueError:
            return self._failed(_Error(400, "JSON parse error: Unexpected character"))
        except _Error as error:
            return self._failed(error)
        return answer if isinstance(answer, Response) else Response(200, answer)

    def _poll(self, agent: dict[str, Any], body: dict[str, Any]) -> Any:
        type_, worker = body.get("taskType"), body.get("workerId")
        wanted = {"taskType": "TaskType", "workerId": "WorkerId"}
        if violations := [
            (f"poll.request.{key}", f"{name} cannot be null or empty", body.get(key))
            for key, name in wanted.items()
            if not body.get(key)
        ]:
            raise _Error(400, _INVALID, violations)
        if str(type_) not in _DEFINITIONS:
            raise _Error(404, f"No such taskType found by name: {type_}")
        for id_, task in self._tasks.items():
            if task["taskType"] == type_ and task["status"] == "SCHEDULED":
                task.update(status="IN_PROGRESS", workerId=worker, startTime=_millis())
                self._owners[id_] = agent["agent_id"]
                self.book.claimed(id_)
                return task
        return Response(204, b"", refused=True)

    def _update(self, agent: dict[str, Any], body: dict[str, Any]) -> Any:  # noqa: PLR0915
        at = "updateTask.taskResult."
        status, output = body.get("status"), body.get("outputData")
        wanted = [
            ("workflowInstanceId", "Workflow Id cannot be null or empty"),
            ("taskId", "Task ID cannot be null or empty"),
            ("status", f"Status cannot be null, must be one of {', '.join(_STATUSES)}"),
        ]
        if violations := [(at + k, m, None) for k, m in wanted if not body.get(k)]:
            raise _Error(400, _INVALID, violations)
        if status not in _STATUSES:
            raise _Error(
                400,
                "JSON parse error: Cannot deserialize value of type "
                "`com.netflix.conductor.common.metadata.tasks.TaskResult$Status` from String "
                f"{json.dumps(status)}: not one of the values accepted for Enum class: "
                f"[{', '.join(_STATUSES)}]",
            )
        if output is not None and not isinstance(output, dict):
            raise _Error(
                400,
                "JSON parse error: Cannot construct instance of `java.util.LinkedHashMap` "
                "(although at least one Creator exists): no String-argument constructor/"
                'factory method to deserialize (through reference chain: TaskResult["outputData"])',
            )
        task = self._tasks.get(str(body["taskId"]))
        if task is None or self._owners.get(task["taskId"]) != agent["agent_id"]:
            raise _Error(404, f"No such task found by id: {body['taskId']}")
        if task["workflowInstanceId"] != body["workflowInstanceId"]:
            flow = body["workflowInstanceId"]
            raise _Error(404, f"No such workflow found by id: {flow}")
        id_ = task["taskId"]
        if task["status"] != "IN_PROGRESS":
            raise _Error(409, f"Task: {id_} is already in status {task['status']}")
        if status == "COMPLETED":
            key = _DEFINITIONS[task["taskType"]]
            value = (output or {}).get(key)
            if value is None:
                message = (
                    f"{key} is an output key of {task['taskType']} and cannot be null"
                )
                raise _Error(400, _INVALID, [(f"{at}outputData.{key}", message, None)])
            if value != task["inputData"]["text"].upper():
                message = f"{key} must be inputData.text in upper case"
                raise _Error(400, _INVALID, [(f"{at}outputData.{key}", message, value)])
            agent["credits"] += self._rewards[id_]
            self.book.pay(id_, self._rewards[id_])
        elif status != "IN_PROGRESS":
            self.book.held.discard(id_)
        task["outputData"].update(output or {})
        task["status"] = status
        if status == "FAILED":  # back into the queue
            task["status"] = "SCHEDULED"
            task["retryCount"] += 1
        return id_  # Conductor answers the id as plain text

    def _complete(self, agent: dict[str, Any], body: dict[str, Any]) -> Any:
        id_ = body.get("workflowId")
        if not id_:
            message = "WorkflowId cannot be null or empty."
            raise _Error(400, _INVALID, [("complete.request.workflowId", message, id_)])
        for task in self._tasks.values():
            if task["workflowInstanceId"] == id_:
                if task["status"] != "COMPLETED":
                    message = f"task {task['taskId']} is in status {task['status']}"
                    raise _Error(409, f"Workflow {id_} cannot be completed: {message}")
                return {
                    "workflowId": id_,
                    "workflowName": task["workflowType"],
                    "status": task["status"],
                    "output": task["outputData"],
                    "creditsPaid": self._rewards[task["taskId"]],
                    "creditBalance": agent["credits"],
                }
        raise _Error(404, f"No such workflow found by id: {id_}")
