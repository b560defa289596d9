"""Lexwave: a captioning company's GraphQL gateway, one persisted operation to a path.

Faults in the variables are told as graphql-js tells them (status 400), faults in what was
asked as `userErrors` (status 200). The text comes with the claim; a wrong deliverable is
taken and rejected; completing the assignment pays.
"""

import base64
import difflib
import json
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_CAPTIONS = [
    ("Opening titles", "Previously, on the long road north", "18.00"),
    ("Slate 12", "The harbour master waves back", "11.00"),
    ("Lower third", "Dr. Ines Okafor, marine biologist", "6.00"),
    ("Slate 31", "No swimming beyond the second buoy!", "22.00"),
    ("Chapter card", "Part two: what the tide left behind", "16.00"),
    ("Slate 40", "We kept the lights on until 4 a.m.", "9.00"),
    ("Closing card", "For everyone who stayed ashore", "27.00"),
]
_TYPES: dict[str, dict[str, str]] = {
    "ClaimTaskInput": {"taskId": "ID!", "estimatedMinutes": "Int!", "note": "String"},
    "DeliverableInput": {"body": "String!", "comment": "String"},
    "SubmitDeliverableInput": {
        "assignmentId": "ID!",
        "deliverable": "DeliverableInput!",
    },
    "CompleteAssignmentInput": {
        "assignmentId": "ID!",
        "submissionId": "ID!",
        "acceptPayoutTerms": "Boolean!",
    },
}
_KINDS: dict[str, list[type]] = {
    "Int": [int],
    "Boolean": [bool],
    "String": [str],
    "ID": [str, int],
}
_WORDS = {"Int": "non-integer ", "Boolean": "a non boolean ", "String": "a non string "}
_MAX_PAGE = 25


def _shown(value: Any) -> str:
    """Return a value as graphql-js prints it."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value)
    return "{ " + ", ".join(f"{k}: {_shown(v)}" for k, v in value.items()) + " }"


def _faults(type_: str, value: Any, path: str = "input") -> list[str]:
    """Return what graphql-js finds wrong with a value of a variable."""
    at = f' at "{path}"' if path != "input" else ""
    start = f'Variable "$input" got invalid value {_shown(value)}{at}; '
    name = type_.rstrip("!")
    if value is None:
        fault = f'Expected non-nullable type "{type_}" not to be null.'
        return [start + fault] if type_ != name else []
    if name in _TYPES:
        if not isinstance(value, dict):
            return [f'{start}Expected type "{name}" to be an object.']
        found = []
        for field, of in _TYPES[name].items():
            if field in value:
                found += _faults(of, value[field], f"{path}.{field}")
            elif of.endswith("!"):
                fault = f'Field "{field}" of required type "{of}" was not provided.'
                found += [start + fault]
        for field in value:
            if field not in _TYPES[name]:
                near = difflib.get_close_matches(field, _TYPES[name], 1)
                hint = f' Did you mean "{near[0]}"?' if near else ""
                fault = f'Field "{field}" is not defined by type "{name}".{hint}'
                found += [start + fault]
        return found
    if type(value) in _KINDS[name]:
        return []
    return [
        f"{start}{name} cannot represent {_WORDS.get(name, '')}value: {_shown(value)}"
    ]


def _cursor(gid: str) -> str:
    return base64.b64encode(f"cursor:{gid}".encode()).decode()


def _errors(status: int, code: str, *messages: str) -> Response:
    errors = [{"message": m, "extensions": {"code": code}} for m in messages]
    return Response(status, {"errors": errors}, refused=True)


def _stranger() -> Response:
    return _errors(401, "UNAUTHENTICATED", "You must be authenticated to do this.")


def _payload(
    operation: str, name: str, value: Any, *errors: Any, refused: bool = False
) -> Response:
    body = {"data": {operation: {name: value, "userErrors": list(errors)}}}
    return Response(200, body, refused=refused)


def _denied(operation: str, name: str, field: str, message: str) -> Response:
    error = {"field": ["input", field], "message": message}
    return _payload(operation, name, None, error, refused=True)


class Lexwave(Backend):
    """A captioning company behind a GraphQL gateway."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._tasks: dict[str, dict[str, Any]] = {
            (gid := f"gid://lexwave/Task/{88012 + 7 * place}"): {
                "id": gid,
                "title": title,
                "instructions": "Return sourceText (given on assignment) in upper case.",
                "sourceText": text,
                "payout": {"amount": amount, "currencyCode": "CREDITS"},
                "status": "OPEN",
            }
            for place, (title, text, amount) in enumerate(_CAPTIONS)
        }
        self._assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its global id."""
        return {gid: task["sourceText"] for gid, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Say that no operation is kept under this path."""
        return _errors(404, "PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")

    def register(self, request: Request) -> Response:
        """Create an agent; the contract's answer has no envelope."""
        self.book.registrations += 1
        agent, token = f"gid://lexwave/Agent/{uuid.uuid4()}", f"lxw_{uuid.uuid4().hex}"
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """Return a connection of the open tasks."""
        if request.token not in self._agents:
            return _stranger()
        limit = request.query.get("limit", "5")
        if not limit.isdecimal() or int(limit) < 1:
            text = f'Variable "$limit" got invalid value {_shown(limit)}'
            return _errors(400, "BAD_USER_INPUT", f"{text}; Expected a positive Int.")
        if int(limit) > _MAX_PAGE:
            text = (
                f"Requesting {limit} records on the `availableTasks` connection exceeds"
            )
            text += f" the `limit` limit of {_MAX_PAGE} records."
            return _errors(200, "EXCESSIVE_PAGINATION", text)
        rest: list[dict[str, Any]] = [
            {"cursor": _cursor(gid), "node": {**task, "sourceText": None}}
            for gid, task in self._tasks.items()
            if task["status"] == "OPEN"
        ]
        if after := request.query.get("after"):
            known = [_cursor(gid) for gid in self._tasks]
            if after not in known:
                text = f"`{after}` does not appear to be a valid cursor."
                return _errors(200, "INVALID_CURSOR_ARGUMENTS", text)
            rest = [e for e in rest if known.index(e["cursor"]) > known.index(after)]
        page = rest[: int(limit)]
        end = page[-1]["cursor"] if page else None
        info = {"hasNextPage": len(rest) > len(page), "endCursor": end}
        connection = {"edges": page, "pageInfo": info}
        operation = "query AvailableTasks($limit: Int = 5, $after: String)"
        body = {"data": {"availableTasks": connection}}
        return Response(200, {**body, "extensions": {"persistedOperation": operation}})

    def claim(self, request: Request) -> Response:
        """Assign a task and hand over its text."""
        agent, given, refusal = self._variables(request, "ClaimTask")
        if refusal:
            return refusal
        answer = "claimTask", "assignment"
        task = self._tasks.get(given["taskId"])
        if task is None:
            return _denied(*answer, "taskId", "Task does not exist")
        if given["estimatedMinutes"] < 1:
            return _denied(*answer, "estimatedMinutes", "Must be 1 or greater")
        if task["status"] != "OPEN":
            return _denied(*answer, "taskId", "Task is no longer available")
        gid = f"gid://lexwave/Assignment/{40001 + len(self._assignments)}"
        task["status"] = "ASSIGNED"
        state = {"state": "IN_PROGRESS"}
        work = {"agent": agent, "taskId": given["taskId"], "submissions": {}, **state}
        self._assignments[gid] = work
        self.book.claimed(given["taskId"])
        return _payload(*answer, {"id": gid, **state, "task": task})

    def submit(self, request: Request) -> Response:
        """Take a deliverable and review it at once."""
        agent, given, refusal = self._variables(request, "SubmitDeliverable")
        if refusal:
            return refusal
        answer = "submitDeliverable", "submission"
        work = self._assignments.get(given["assignmentId"])
        if not work or work["agent"] != agent:
            return _denied(*answer, "assignmentId", "Assignment does not exist")
        if work["state"] in ("ACCEPTED", "COMPLETED"):
            return _denied(*answer, "assignmentId", "Assignment is already accepted")
        text = self.texts()[work["taskId"]]
        right = given["deliverable"]["body"] == text.upper()
        work["state"] = "ACCEPTED" if right else "CHANGES_REQUESTED"
        submission = {
            "id": f"gid://lexwave/Submission/{uuid.uuid4()}",
            "reviewState": "ACCEPTED" if right else "REJECTED",
            "reviewComment": None if right else "Body is not sourceText in upper case.",
        }
        work["submissions"][submission["id"]] = submission["reviewState"]
        return _payload(*answer, submission, refused=not right)

    def complete(self, request: Request) -> Response:
        """Pay out an assignment whose submission was accepted."""
        agent, given, refusal = self._variables(request, "CompleteAssignment")
        if refusal:
            return refusal
        answer = "completeAssignment", "payout"
        work = self._assignments.get(given["assignmentId"])
        if not work or work["agent"] != agent:
            return _denied(*answer, "assignmentId", "Assignment does not exist")
        if work["state"] == "COMPLETED":
            return _denied(*answer, "assignmentId", "Assignment is already paid out")
        state = work["submissions"].get(given["submissionId"])
        if state != "ACCEPTED":
            text = "has not been accepted" if state else "does not exist"
            return _denied(*answer, "submissionId", f"Submission {text}")
        if not given["acceptPayoutTerms"]:
            return _denied(*answer, "acceptPayoutTerms", "Terms must be accepted")
        work["state"] = self._tasks[work["taskId"]]["status"] = "COMPLETED"
        money = self._tasks[work["taskId"]]["payout"]
        self.book.pay(work["taskId"], int(float(money["amount"])))
        return _payload(*answer, {**money, "state": "PAID"})

    def _variables(
        self, request: Request, operation: str
    ) -> tuple[str, dict[str, Any], Response | None]:
        type_ = f"{operation}Input"
        agent = self._agents.get(request.token)
        if agent is None:
            return "", {}, _stranger()
        try:
            variables = request.json()["variables"]
        except (ValueError, KeyError, TypeError):
            variables = None
        if not isinstance(variables, dict):
            text = 'POST body must be a JSON object with a "variables" object for '
            text += f"the persisted operation: mutation {operation}($input: {type_}!)"
            return agent, {}, _errors(400, "BAD_REQUEST", text)
        if "input" not in variables:
            text = f'Variable "$input" of required type "{type_}!" was not provided.'
            return agent, {}, _errors(400, "BAD_USER_INPUT", text)
        faults = _faults(f"{type_}!", variables["input"])
        refused = _errors(400, "BAD_USER_INPUT", *faults) if faults else None
        return agent, variables["input"], refused
