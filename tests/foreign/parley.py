"""Parley: RPC in GraphQL's manner; each path runs one stored operation with `variables`.

Nearly every answer is a 200: `errors` speaks for the executor, `userErrors` for the market.
A text is shown to the one who holds the assignment. Completion judges and pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import difflib
import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TYPES: dict[str, dict[str, str]] = {
    "ClaimTaskInput": {"taskId": "ID!"},
    "SubmitResultInput": {"assignmentId": "ID!", "deliverable": "DeliverableInput!"},
    "DeliverableInput": {"body": "String!", "comment": "String"},
    "CompleteTaskInput": {"assignmentId": "ID!", "submissionId": "ID!"},
}
_PARAMETERS = ["variables", "extensions"]
_PAGE, _MAX_PAGE = 4, 50
_SEED = [
    ("Shout a motto", "we agree to disagree", 9),
    ("Shout a toast", "to absent friends", 14),
    ("Shout a verdict", "the motion is carried", 22),
    ("Shout a summons", "all delegates to the hall", 6),
    ("Shout a rule", "one speaker at a time", 11),
    ("Shout a date", "the 3rd of may, half past nine", 18),
    ("Shout a farewell", "until the next session", 30),
]


class _Errors(Exception):  # noqa: N818
    """Errors of the executor."""

    def __init__(
        self, *messages: str, code: str, status: int = 200, **more: Any
    ) -> None:
        super().__init__(*messages)
        extensions = {"code": code, **more}
        errors = [
            {"message": message, "extensions": extensions} for message in messages
        ]
        self.answer = Response(status, {"errors": errors, "data": None}, refused=True)


class _UserError(Exception):
    """What the market has against a well-formed request."""

    def __init__(self, code: str, message: str, *field: str) -> None:
        super().__init__(message)
        self.entry = {"field": ["input", *field], "message": message, "code": code}


def _gid(kind: str, key: Any) -> str:
    return base64.b64encode(f"{kind}:{key}".encode()).decode()


def _inspect(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{key}: {_inspect(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return json.dumps(value, ensure_ascii=False)


def _coerce(value: Any, kind: str, path: str, found: list[str]) -> Any:
    """Return the value as the type has it, and add to what was found wrong."""
    at = f' at "{path}"' if path != "input" else ""
    prefix = f'Variable "$input" got invalid value {_inspect(value)}{at}; '
    name = kind.rstrip("!")
    if value is None:
        if kind.endswith("!"):
            found.append(f'{prefix}Expected non-nullable type "{kind}" not to be null.')
    elif name == "ID":
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            found.append(f"{prefix}ID cannot represent value: {_inspect(value)}")
        return str(value)
    elif name == "String":
        if not isinstance(value, str):
            found.append(
                prefix
                + f"String cannot represent a non string value: {_inspect(value)}"
            )
    elif not isinstance(value, dict):
        found.append(f'{prefix}Expected type "{name}" to be an object.')
    else:
        fields, result = _TYPES[name], {}
        for field, field_kind in fields.items():
            if field in value:
                result[field] = _coerce(
                    value[field], field_kind, f"{path}.{field}", found
                )
            elif field_kind[-1] == "!":
                lacking = (
                    f'Field "{field}" of required type "{field_kind}" was not provided.'
                )
                found.append(prefix + lacking)
        for field in value:
            if field not in fields:
                near = difflib.get_close_matches(field, fields, 1)
                hint = f' Did you mean "{near[0]}"?' if near else ""
                found.append(
                    f'{prefix}Field "{field}" is not defined by type "{name}".{hint}'
                )
        return result
    return value


class Parley(Backend):
    """A market that speaks of nodes, edges and mutations."""

    def __init__(self) -> None:
        super().__init__()
        self._viewers: dict[str, dict[str, Any]] = {}  # by token
        self._nodes: dict[str, dict[str, Any]] = {}
        for number, (headline, text, amount) in enumerate(_SEED, 41):
            key = _gid("Task", number)
            node = {"id": key, "headline": headline, "state": "OPEN"}
            self._nodes[key] = {**node, "text": text, "amount": amount}
        self._assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its global id."""
        return {key: node["text"] for key, node in self._nodes.items()}

    def _input(self, request: Request, kind: str) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            message = "POST body sent invalid JSON."
            raise _Errors(message, code="BAD_REQUEST", status=400) from None
        if not isinstance(body, dict):
            raise _Errors(
                "POST body must be a JSON object.", code="BAD_REQUEST", status=400
            )
        for name in body:
            if name not in _PARAMETERS:
                message = f'Unexpected parameter "{name}" in the request body.'
                raise _Errors(
                    message, code="BAD_REQUEST", status=400, allowed=_PARAMETERS
                )
        variables = body.get("variables")
        if not isinstance(variables, dict) or "input" not in variables:
            message = f'Variable "$input" of required type "{kind}!" was not provided.'
            raise _Errors(message, code="BAD_USER_INPUT")
        found: list[str] = []
        value = _coerce(variables["input"], f"{kind}!", "input", found)
        if found:
            raise _Errors(*found, code="BAD_USER_INPUT")
        return value

    def _mutate(
        self, request: Request, name: str, kind: str, resolver: Any
    ) -> Response:
        try:
            viewer = self._viewers.get(request.token)
            if viewer is None:
                raise _Errors("You must be authenticated.", code="UNAUTHENTICATED")
            value = self._input(request, kind)
        except _Errors as stop:
            return stop.answer
        try:
            return Response(
                200, {"data": {name: {**resolver(viewer, value), "userErrors": []}}}
            )
        except _UserError as no:
            return Response(
                200, {"data": {name: {"userErrors": [no.entry]}}}, refused=True
            )

    def missing(self, request: Request) -> Response:
        """Answer as the server under the executor does."""
        return Response(404, f"Cannot {request.method} {request.path}")

    def _assignment(
        self, viewer: dict[str, Any], key: str, *states: str
    ) -> dict[str, Any]:
        held = self._assignments.get(key)
        if held is None or held["viewer"] is not viewer:
            message = (
                f"Could not resolve to an Assignment with the global id of '{key}'."
            )
            raise _UserError("NOT_FOUND", message, "assignmentId")
        if held["state"] not in states:
            message = (
                f"Assignment is {held['state']}, but must be {' or '.join(states)}."
            )
            raise _UserError("INVALID_STATE", message, "assignmentId")
        return held

    def register(self, request: Request) -> Response:
        """Create an agent; this one answer has no envelope."""
        viewer = {"id": _gid("Agent", len(self._viewers) + 1), "credits": 100}
        token = "prl_" + secrets.token_hex(20)
        self._viewers[token] = viewer
        self.book.registrations += 1
        return Response(
            200, {"agent_id": viewer["id"], "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        """Return a connection of the open tasks; `after` takes a cursor."""
        limit, after = (
            request.query.get("limit", str(_PAGE)),
            request.query.get("after"),
        )
        first = int(limit) if limit.isdecimal() else 0
        if not 1 <= first <= _MAX_PAGE:
            message = f'Variable "$limit" must be an Int between 1 and {_MAX_PAGE}, not {limit}.'
            return _Errors(message, code="BAD_USER_INPUT").answer
        cursors = {key: _gid("cursor", place) for place, key in enumerate(self._nodes)}
        if after and after not in cursors.values():
            message = f"`{after}` does not appear to be a valid cursor."
            return _Errors(message, code="BAD_USER_INPUT").answer
        start = list(cursors.values()).index(after) + 1 if after else 0
        rest = [
            key for key in list(cursors)[start:] if self._nodes[key]["state"] == "OPEN"
        ]
        page = rest[:first]
        edges = [
            {"cursor": cursors[key], "node": self._task(self._nodes[key])}
            for key in page
        ]
        end = cursors[page[-1]] if page else None
        info = {"hasNextPage": len(rest) > first, "endCursor": end}
        return Response(200, {"data": {"tasks": {"edges": edges, "pageInfo": info}}})

    marketplace = tasks

    def _task(self, node: dict[str, Any]) -> dict[str, Any]:
        return {
            "__typename": "Task",
            "id": node["id"],
            "headline": node["headline"],
            "instructions": "Claim to receive the brief. Deliver brief.text in capital letters.",
            "reward": {"amount": f"{node['amount']}.00", "currencyCode": "CREDIT"},
            "state": node["state"],
        }

    def claim(self, request: Request) -> Response:
        """Open an assignment and show its text."""
        return self._mutate(request, "claimTask", "ClaimTaskInput", self._claim)

    def _claim(self, viewer: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
        node = self._nodes.get(value["taskId"])
        if node is None:
            message = f"Could not resolve to a Task with the global id of '{value['taskId']}'."
            raise _UserError("NOT_FOUND", message, "taskId")
        if node["state"] != "OPEN":
            raise _UserError("TAKEN", "Task has already been assigned.", "taskId")
        node["state"] = "ASSIGNED"
        key = _gid("Assignment", secrets.randbelow(10**8))
        self._assignments[key] = {"viewer": viewer, "node": node, "state": "ACTIVE"}
        self.book.claimed(node["id"])
        opened = {"id": key, "state": "ACTIVE", "brief": {"text": node["text"]}}
        return {"assignment": {**opened, "task": self._task(node)}}

    def submit(self, request: Request) -> Response:
        """Take a deliverable, unjudged."""
        return self._mutate(request, "submitResult", "SubmitResultInput", self._submit)

    def _submit(self, viewer: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
        held = self._assignment(viewer, value["assignmentId"], "ACTIVE", "REJECTED")
        key = _gid("Submission", secrets.randbelow(10**8))
        held.update(
            state="IN_REVIEW", submission=key, text=value["deliverable"]["body"]
        )
        assignment = {"id": value["assignmentId"], "state": "IN_REVIEW"}
        return {"submission": {"id": key, "assignment": assignment}}

    def complete(self, request: Request) -> Response:
        """Judge the submission and settle."""
        return self._mutate(
            request, "completeTask", "CompleteTaskInput", self._complete
        )

    def _complete(
        self, viewer: dict[str, Any], value: dict[str, Any]
    ) -> dict[str, Any]:
        held = self._assignment(viewer, value["assignmentId"], "IN_REVIEW")
        if value["submissionId"] != held["submission"]:
            message = "Submission does not belong to this assignment."
            raise _UserError("NOT_FOUND", message, "submissionId")
        node = held["node"]
        if held["text"] != node["text"].upper():
            held["state"] = "REJECTED"
            message = "Deliverable was rejected in review. Submit a new one."
            raise _UserError("REJECTED", message, "submissionId")
        held["state"] = node["state"] = "SETTLED"
        viewer["credits"] += node["amount"]
        self.book.pay(node["id"], node["amount"])
        assignment = {"id": value["assignmentId"], "state": "SETTLED"}
        return {"assignment": assignment, "payout": self._task(node)["reward"]}
