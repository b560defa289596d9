"""A service in Google's API style (AIP): resource names, nested messages, etags.

A task has no other identifier than its name, "tasks/...". Names that the request's
message does not have, and values of the wrong kind, are reported all at once by the JSON
parser; required fields after that, as fieldViolations with the path of each. A result is
a message in a message. Submitting answers with an etag, and completing (which pays)
wants it back.
"""

import base64
import json
import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROMPTS = (
    "the beekeeper wears a white veil",
    "turn the soil before the frost",
    "a red kite circles over the ridge",
    "store the onions in a dry place",
    "the canal froze for eleven days",
    "copy the address on the envelope",
    "children built a raft from planks",
    "the hall smells of wax and pine",
    "oil the hinges of the garden gate",
    "four wagons stood behind the inn",
    "the tide returns after midnight",
    "wrap the cheese in clean cloth",
)
# A message's fields: the name of a message, or string.
MESSAGES: dict[str, dict[str, str]] = {
    "ClaimTaskRequest": {"name": "string"},
    "SubmitTaskRequest": {"name": "string", "result": "TaskResult"},
    "CompleteTaskRequest": {"name": "string", "etag": "string"},
    "TaskResult": {"textResult": "TextResult"},
    "TextResult": {"content": "string"},
}
STATUSES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ABORTED": 409,
    "ALREADY_EXISTS": 409,
}
NO_CREDENTIALS = (
    "Request is missing required authentication credential. Expected OAuth 2 access "
    "token, login cookie or other valid authentication credential."
)
BAD_CREDENTIALS = (
    "Request had invalid authentication credentials. Expected OAuth 2 access token, "
    "login cookie or other valid authentication credential."
)
REQUIRED = "Required field is missing."
PAGE = 5
Violation = dict[str, str]


class StatusError(Exception):
    """A google.rpc.Status that is not OK."""

    def __init__(
        self, status: str, message: str, violations: list[Violation] | None = None
    ) -> None:
        super().__init__(message)
        code = STATUSES[status]
        error: dict[str, Any] = {"code": code, "message": message, "status": status}
        if violations:
            kind = "type.googleapis.com/google.rpc.BadRequest"
            error["details"] = [{"@type": kind, "fieldViolations": violations}]
        self.response = Response(code, {"error": error})
        if code == 401:
            self.response.headers["WWW-Authenticate"] = 'Bearer realm="agents"'


def attempt(step: Callable[[Request], Response], request: Request) -> Response:
    """Run a method; the status it fails with is the answer."""
    try:
        return step(request)
    except StatusError as no:
        return no.response


def camel(name: str) -> str:
    """Return a field's JSON name; the parser takes its proto name, too."""
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def page_start(token: str) -> str:
    """Return the name of the task that a page starts with, or nothing."""
    try:
        return base64.urlsafe_b64decode(token.encode() + b"==").decode()
    except ValueError:
        return ""


def parse(body: dict[str, Any], message: str, path: str) -> list[Violation]:
    """Return what the JSON parser cannot put into a message."""
    found: list[Violation] = []
    at = {"field": path} if path else {}
    where = f" at '{path}'" if path else ""
    for name, value in body.items():
        kind = MESSAGES[message].get(camel(name))
        inner = f"{path}.{name}" if path else name
        if kind is None:
            told = f'Unknown name "{name}"{where}: Cannot find field.'
            found.append(
                {**at, "description": f"Invalid JSON payload received. {told}"}
            )
        elif kind == "string":
            if value is not None and not isinstance(value, str):
                told = f"Invalid value at '{inner}' (TYPE_STRING), {json.dumps(value)}"
                found.append({"field": inner, "description": told})
        elif isinstance(value, dict):
            found += parse(value, kind, inner)
        elif value is not None:
            full = f"type.googleapis.com/agents.v1.{kind}"
            told = f"Invalid value at '{inner}' ({full}), {json.dumps(value)}"
            found.append({"field": inner, "description": told})
    return found


def normal(body: dict[str, Any], message: str) -> dict[str, Any]:
    """Return a message with JSON names and without what is not set."""
    found = {}
    for name, value in body.items():
        kind = MESSAGES[message][camel(name)]
        if value is not None:
            found[camel(name)] = value if kind == "string" else normal(value, kind)
    return found


def lacking(body: dict[str, Any], message: str, path: str) -> list[Violation]:
    """Return the required fields that are not set."""
    found: list[Violation] = []
    for name, kind in MESSAGES[message].items():
        value = body.get(name)
        if value is None or value == "":
            found.append({"field": path + name, "description": REQUIRED})
        elif kind != "string":
            found += lacking(value, kind, f"{path}{name}.")
    return found


def message_of(request: Request, message: str) -> dict[str, Any]:
    """Transcode a body into a request message and check it."""
    try:
        body = request.json() if request.raw.strip() else {}
    except ValueError as fault:
        told = "Invalid JSON payload received. Unexpected token."
        raise StatusError("INVALID_ARGUMENT", told, [{"description": told}]) from fault
    if not isinstance(body, dict):
        told = 'Invalid JSON payload received. Unknown name "": Root element must be a message.'
        raise StatusError("INVALID_ARGUMENT", told, [{"description": told}])
    if faults := parse(body, message, ""):
        told = "\n".join(fault["description"] for fault in faults)
        raise StatusError("INVALID_ARGUMENT", told, faults)
    found = normal(body, message)
    if faults := lacking(found, message, ""):
        told = "Request contains an invalid argument."
        raise StatusError("INVALID_ARGUMENT", told, faults)
    return found


class GoogleAip(Backend):
    """Tasks that are known by their names."""

    def __init__(self) -> None:
        super().__init__()
        self.records: dict[str, dict[str, Any]] = {}
        for at, prompt in enumerate(PROMPTS):
            name = f"tasks/{at * 48271 + 1299709:x}{'kqzvbm'[at % 6]}{at:x}"
            self.records[name] = {
                "name": name,
                "prompt": prompt,
                "rewardCredits": (at * 7) % 9 + 1,
                "state": "OPEN",
                "createTime": f"2026-04-{at + 10}T06:30:00.482919Z",
            }
        self.tokens: dict[str, str] = {}
        self.holders: dict[str, str] = {}
        self.etags: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {name: row["prompt"] for name, row in self.records.items()}

    def missing(self, request: Request) -> Response:
        return StatusError("NOT_FOUND", "Method not found.").response

    def register(self, request: Request) -> Response:
        agent, token = f"agents/{secrets.token_hex(7)}", f"ya29.{secrets.token_hex(24)}"
        self.tokens[token] = agent
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        order, first = list(self.records), 0
        if token := request.query.get("pageToken", ""):
            name = page_start(token)
            if name not in order:
                told = "The provided page token is not valid."
                fault = {"field": "page_token", "description": told}
                return StatusError("INVALID_ARGUMENT", told, [fault]).response
            first = order.index(name)
        rows = [self.records[name] for name in order[first:]]
        rows = [row for row in rows if row["state"] == "OPEN"]
        body: dict[str, Any] = {"tasks": rows[:PAGE]}
        if rest := rows[PAGE:]:
            after = base64.urlsafe_b64encode(rest[0]["name"].encode())
            body["nextPageToken"] = after.decode().rstrip("=")
        return Response(body=body)

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def caller(self, request: Request) -> str:
        if not request.token:
            raise StatusError("UNAUTHENTICATED", NO_CREDENTIALS)
        if request.token not in self.tokens:
            raise StatusError("UNAUTHENTICATED", BAD_CREDENTIALS)
        return self.tokens[request.token]

    def record(self, name: str) -> dict[str, Any]:
        if not name.startswith("tasks/"):
            told = f'Invalid resource name "{name}". Expected format: tasks/{{task}}'
            fault = {"field": "name", "description": told}
            raise StatusError("INVALID_ARGUMENT", told, [fault])
        if name not in self.records:
            raise StatusError("NOT_FOUND", f"Resource '{name}' was not found")
        return self.records[name]

    def held(self, name: str, agent: str) -> dict[str, Any]:
        row = self.record(name)
        if self.holders.get(name) != agent:
            told = f"Task '{name}' is not claimed by the caller."
            raise StatusError("FAILED_PRECONDITION", told)
        return row

    def claim(self, request: Request) -> Response:
        return attempt(self.on_claim, request)

    def on_claim(self, request: Request) -> Response:
        agent = self.caller(request)
        row = self.record(message_of(request, "ClaimTaskRequest")["name"])
        if row["name"] in self.holders:
            told = f"Task '{row['name']}' is already claimed."
            raise StatusError("ALREADY_EXISTS", told)
        self.holders[row["name"]] = agent
        row["state"] = "CLAIMED"
        self.book.claimed(row["name"])
        return Response(body={**row, "assignee": agent})

    def submit(self, request: Request) -> Response:
        return attempt(self.on_submit, request)

    def on_submit(self, request: Request) -> Response:
        agent = self.caller(request)
        body = message_of(request, "SubmitTaskRequest")
        row = self.held(body["name"], agent)
        if row["state"] == "COMPLETED":
            told = f"Task '{row['name']}' is already completed."
            raise StatusError("FAILED_PRECONDITION", told)
        if body["result"]["textResult"]["content"] != row["prompt"].upper():
            told = "The content is not the expected result."
            fault = {"field": "result.textResult.content", "description": told}
            raise StatusError("INVALID_ARGUMENT", told, [fault])
        row["state"] = "SUBMITTED"
        self.etags[row["name"]] = f'W/"{secrets.token_hex(8)}"'
        return Response(body={**row, "etag": self.etags[row["name"]]})

    def complete(self, request: Request) -> Response:
        return attempt(self.on_complete, request)

    def on_complete(self, request: Request) -> Response:
        agent = self.caller(request)
        body = message_of(request, "CompleteTaskRequest")
        row = self.held(body["name"], agent)
        if row["name"] not in self.etags:
            told = f"Task '{row['name']}' has no submitted result."
            raise StatusError("FAILED_PRECONDITION", told)
        if body["etag"] != self.etags[row["name"]]:
            told = "The etag does not match the current version of the resource."
            raise StatusError("ABORTED", told)
        if row["state"] != "COMPLETED":
            row["state"] = "COMPLETED"
            self.book.pay(row["name"], row["rewardCredits"])
        return Response(body={**row, "creditsAwarded": row["rewardCredits"]})
