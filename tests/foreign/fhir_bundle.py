"""A hospital's workflow server in the manner of FHIR: tasks come in a searchset Bundle.

A resource stands in an entry; its text is one of the typed `input`s and what is paid for
it an extension, each found by a name that stands beside the value. Pages are linked in the
bundle. Actions are simple operations over plain JSON, which answer with the Task and
refuse with an OperationOutcome. An identifier is a reference, "Task/...", in requests.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
PATH = "/functions/v1/get-marketplace-tasks"
REWARD = "https://fhir.example.org/StructureDefinition/task-reward"
ROWS = (
    ("w7k2", "the patient prefers tea", 4),
    ("p0d9", "ward three is being painted", 6),
    ("m4x1", "visiting hours end at eight", 3),
    ("c8s5", "the lift stops on every floor", 5),
    ("t2f6", "bring the blue folder down", 2),
    ("h9a3", "the kitchen closes at nine", 7),
    ("q5n8", "night shift starts on sunday", 4),
)
PER_PAGE = 3


@dataclass
class Task:
    id: str
    text: str
    reward: int
    status: str = "requested"
    owner: str = ""
    output: str = ""
    version: int = 1

    def resource(self) -> dict[str, object]:
        resource: dict[str, object] = {
            "resourceType": "Task",
            "id": self.id,
            "meta": {"versionId": str(self.version)},
            "extension": [
                {
                    "url": REWARD,
                    "valueQuantity": {"value": self.reward, "unit": "credits"},
                }
            ],
            "status": self.status,
            "intent": "order",
            "priority": "routine",
            "code": {"coding": [{"code": "capitals", "display": "Write in capitals"}]},
            "authoredOn": "2026-10-04T08:15:00+00:00",
            "requester": {"reference": "Organization/north-clinic"},
            "input": [
                {"type": {"text": "language"}, "valueCode": "en"},
                {"type": {"text": "text"}, "valueString": self.text},
            ],
        }
        if self.owner:
            resource["owner"] = {"reference": f"Device/{self.owner}"}
        if self.output:
            told = {"type": {"text": "result"}, "valueString": self.output}
            resource["output"] = [told]
        return resource


class OutcomeError(Exception):
    def __init__(self, status: int, code: str, diagnostics: str, *at: str) -> None:
        super().__init__(diagnostics)
        issue = {"severity": "error", "code": code, "diagnostics": diagnostics}
        self.response = Response(
            status,
            {
                "resourceType": "OperationOutcome",
                "issue": [{**issue, "expression": list(at)}],
            },
        )


def telling(action: Action) -> Action:
    """Answer with the outcome where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except OutcomeError as no:
            return no.response

    return answer


class FhirBundle(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Task(*row) for row in ROWS]
        self._open = {task.id: task for task in open_}
        old = [
            Task("a1b2", "the bed is made", 3, "completed", "d4e1", "THE BED IS MADE"),
            Task("z3y4", "the window is shut", 5, "in-progress", "d4e1"),
        ]
        self._tasks = {task.id: task for task in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {task.id: task.text for task in self._open.values()}

    def missing(self, request: Request) -> Response:
        return OutcomeError(404, "not-found", f"Unknown: {request.path}").response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = secrets.token_hex(4), secrets.token_urlsafe(30)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        offset = int(request.query.get("_offset", "0"))
        count = min(int(request.query.get("limit", PER_PAGE)), PER_PAGE)
        page = list(self._tasks.values())[offset : offset + count]
        here = f"{request.base}{PATH}"
        link = [{"relation": "self", "url": f"{here}?_offset={offset}"}]
        if offset + count < len(self._tasks):
            more = f"{here}?_offset={offset + count}"
            link.append({"relation": "next", "url": more})
        entry = [
            {
                "fullUrl": f"{request.base}/fhir/Task/{task.id}",
                "resource": task.resource(),
                "search": {"mode": "match"},
            }
            for task in page
        ]
        bundle = {
            "resourceType": "Bundle",
            "id": secrets.token_hex(6),
            "type": "searchset",
            "total": len(self._tasks),
            "link": link,
            "entry": entry,
        }
        kind = {"Content-Type": "application/fhir+json; charset=utf-8"}
        return Response(200, bundle, kind)

    @telling
    def claim(self, request: Request) -> Response:
        agent, task, _ = self._read(request)
        if task.status != "requested":
            raise OutcomeError(409, "conflict", f"Task is {task.status}", "Task.status")
        self.book.claimed(task.id)
        task.owner = agent
        return self._moved(task, "accepted")

    @telling
    def submit(self, request: Request) -> Response:
        agent, task, given = self._read(request, "output")
        self._own(agent, task)
        if given["output"] != task.text.upper():
            raise OutcomeError(422, "business-rule", "Not in capitals", "output")
        task.output = given["output"]
        return self._moved(task, "in-progress")

    @telling
    def complete(self, request: Request) -> Response:
        agent, task, _ = self._read(request)
        self._own(agent, task)
        if not task.output:
            raise OutcomeError(409, "conflict", "Task has no output", "Task.output")
        self.book.pay(task.id, task.reward)
        return self._moved(task, "completed")

    def _moved(self, task: Task, status: str) -> Response:
        task.status, task.version = status, task.version + 1
        headers = {
            "Content-Type": "application/fhir+json; charset=utf-8",
            "ETag": f'W/"{task.version}"',
        }
        return Response(200, task.resource(), headers)

    def _own(self, agent: str, task: Task) -> None:
        if task.owner != agent:
            raise OutcomeError(403, "forbidden", "Task has another owner", "Task.owner")

    def _read(self, request: Request, *more: str) -> tuple[str, Task, dict[str, str]]:
        if request.token not in self._agents:
            raise OutcomeError(401, "login", "Authentication is required")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise OutcomeError(400, "structure", "The body is not a JSON object")
        for name in ("task", *more):
            if not isinstance(given.get(name), str):
                told = f"{name}: minimum required = 1, but only found 0"
                raise OutcomeError(400, "required", told, name)
        task = self._tasks.get(given["task"].removeprefix("Task/"))
        if task is None:
            raise OutcomeError(404, "not-found", f"{given['task']} is not known")
        return self._agents[request.token], task, given
