"""An event-sourced service in C#: ASP.NET controllers over Marten streams.

A task is a stream of events. Every action is a command with an id that its sender makes up
(a Guid, so that a command sent twice is handled once) and the version of the stream it was
decided on. What comes back is the events that were appended; one command may append two.
The listing is an asynchronous projection and lags a little behind. Refusals are problem
details; what System.Text.Json cannot read is told with its path.
"""

import json
import re
import secrets
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TASKS = (
    ("Gallery label 1", 12, "a heron stands in the reeds at dusk"),
    ("Gallery label 2", 9, "two boats, oil on board, unsigned"),
    ("Gallery label 3", 15, "study for a larger window"),
    ("Gallery label 4", 7, "lent by the town of visby"),
    ("Gallery label 5", 11, "the collector with his parrot"),
    ("Gallery label 6", 8, "do not touch the marble, please"),
    ("Gallery label 7", 14, "bread, knife and a folded letter"),
    ("Gallery label 8", 10, "the sea before the great storm"),
    ("Gallery label 9", 6, "portrait of an unknown clerk"),
    ("Gallery label 10", 13, "fragment of a painted ceiling"),
)
RAISED = {2: 3, 6: 5, 7: 2}  # by how much the reward of some was raised later
SPACE = uuid.UUID("4c1de9a2-6f7b-4b0e-9d55-0b8f2a7c3e10")
LAG = 0.6  # seconds that the projection daemon is behind
GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
RFC = "https://tools.ietf.org/html/rfc9110#section-15.5."
SPACES = " \t\r\n"

ENVELOPE = {"commandId": "Guid", "taskId": "Guid", "expectedVersion": "Int64"}
COMMANDS: dict[str, dict[str, str]] = {
    "ClaimTask": ENVELOPE,
    "SubmitResult": ENVELOPE | {"content": "String"},
    "CompleteTask": ENVELOPE,
}


class Refusal(Exception):
    def __init__(self, status: int, title: str, **more: Any) -> None:
        super().__init__(title)
        kind = more.pop("type", f"{RFC}{status - 399}")
        body = {"type": kind, "title": title, "status": status, **more}
        body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
        self.response = Response(
            status, body, {"Content-Type": "application/problem+json; charset=utf-8"}
        )


def invalid(errors: dict[str, list[str]]) -> Refusal:
    return Refusal(400, "One or more validation errors occurred.", errors=errors)


def unreadable(words: str, path: str, before: str) -> Refusal:
    """Return a JsonException as model state has it; `before` is what was read so far."""
    line, column = before.count("\n"), len(before.rpartition("\n")[2].encode())
    where = f"Path: {path} | LineNumber: {line} | BytePositionInLine: {column}."
    return invalid(
        {path: [f"{words} {where}"], "command": ["The command field is required."]}
    )


def members(text: str, start: int) -> list[tuple[str, Any, int]]:
    """Return the members of an object that is known to be well-formed, with their ends.

    The end of an object or array is that of its first sign: the reader fails there.
    """
    decoder, found, at = json.JSONDecoder(), [], start + 1  # type: ignore[var-annotated]
    while True:
        while text[at] in SPACES + ",":
            at += 1
        if text[at] == "}":
            return found
        name, at = decoder.raw_decode(text, at)
        while text[at] in SPACES + ":":
            at += 1
        value, end = decoder.raw_decode(text, at)
        found.append((name, value, at + 1 if isinstance(value, (dict, list)) else end))
        at = end


def bind(request: Request, command: str) -> dict[str, Any]:
    """Bind the body to a command as MVC does with JsonSerializerDefaults.Web."""
    media = (
        (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    )
    if media != "application/json" and not media.endswith("+json"):
        raise Refusal(415, "Unsupported Media Type")
    text = request.raw.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise invalid(
            {
                "": ["A non-empty request body is required."],
                "command": ["The command field is required."],
            }
        )
    try:
        body = json.loads(text)
    except json.JSONDecodeError as error:
        sign = text[error.pos : error.pos + 1]
        words = f"'{sign}' is an invalid start of a value."
        if not sign:
            words = "Expected depth to be zero at the end of the JSON payload."
        elif "property name" in error.msg:
            words = f"'{sign}' is an invalid start of a property name. Expected a '\"'."
        elif "','" in error.msg:
            words = (
                f"'{sign}' is invalid after a value. Expected either ',', '}}', or ']'."
            )
        raise unreadable(words, "$", text[: error.pos]) from None
    start = len(text) - len(text.lstrip(SPACES))
    mismatch = "The JSON value could not be converted to"
    if not isinstance(body, dict):
        kind = f"Ledgerline.Tasks.Commands.{command}."
        raise unreadable(f"{mismatch} {kind}", "$", text[: start + 1])
    names = {name.lower(): name for name in COMMANDS[command]}
    found: dict[str, Any] = {}
    for given, value, end in members(text, start):
        name = names.get(given.lower())
        if name is None:
            continue  # unmapped members are skipped
        kind = COMMANDS[command][name]
        right = isinstance(value, str)
        if kind == "Guid":
            right = right and GUID.fullmatch(value) is not None
        elif kind == "Int64":
            number = right and re.fullmatch(r"-?\d+", value)
            if number:
                value = int(value)  # NumberHandling: AllowReadingFromString
            right = isinstance(value, int) and not isinstance(value, bool)
        elif value is None:
            right = True
        if not right:
            path = f"$.{given}"
            raise unreadable(f"{mismatch} System.{kind}.", path, text[:end])
        found[name] = value
    if lacking := [name for name in COMMANDS[command] if name not in found]:
        words = (
            f"JSON deserialization for type 'Ledgerline.Tasks.Commands.{command}' was "
            "missing required properties, including the following: "
        )
        raise invalid(
            {
                "$": [words + ", ".join(lacking)],
                "command": ["The command field is required."],
            }
        )
    errors: dict[str, list[str]] = {}
    if "content" in found and not (found["content"] or "").strip():
        errors["Content"] = ["The Content field is required."]
    for name, spoken in (("commandId", "Command Id"), ("taskId", "Task Id")):
        found[name] = found[name].lower()
        if not uuid.UUID(found[name]).int:
            errors[name[0].upper() + name[1:]] = [f"'{spoken}' must not be empty."]
    if found["expectedVersion"] < 1:
        errors["ExpectedVersion"] = [
            "'Expected Version' must be greater than or equal to '1'."
        ]
    if errors:
        raise invalid(errors)
    return found


def action(inner: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(inner)
    def outer(self: "LedgerlineMarten", request: Request) -> Response:
        try:
            return inner(self, request)
        except Refusal as refusal:
            return refusal.response

    return outer


class LedgerlineMarten(Backend):
    """Ten streams; a command is handled against the stream as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.streams: dict[str, dict[str, Any]] = {}
        # What the projection has seen: (when, row), in order, for each stream.
        self.rows: dict[str, list[tuple[float, dict[str, Any]]]] = {}
        self.handled: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
        self.sequence = 20_518
        for n, (title, reward, text) in enumerate(TASKS):
            task = str(uuid.uuid5(SPACE, title))
            self.streams[task] = {
                "taskId": task,
                "version": 3 if n in RAISED else 2,  # drafted, published, reward raised
                "state": "Published",
                "title": title,
                "sourceText": text,
                "reward": {"value": reward + RAISED.get(n, 0), "unit": "credits"},
                "assignee": None,
            }
            self.sequence += self.streams[task]["version"]
            self.rows[task] = [(0.0, dict(self.streams[task]))]

    def texts(self) -> dict[str, str]:
        return {task: row["sourceText"] for task, row in self.streams.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(30)
        self.agents[token] = {"agent_id": agent, "credits": 100}
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def page(self, request: Request) -> Response:
        number: dict[str, int] = {}
        for name, default in (("limit", 25), ("skip", 0)):
            asked = request.query.get(name, str(default))
            if not re.fullmatch(r"-?\d{1,9}", asked):
                raise invalid({name: [f"The value '{asked}' is not valid."]})
            number[name] = int(asked)
        if not 1 <= number["limit"] <= 100:
            raise invalid({"limit": ["The field limit must be between 1 and 100."]})
        now = time.monotonic()
        seen = []
        for history in self.rows.values():
            row = [row for when, row in history if when <= now - LAG or not when][-1]
            if row["state"] == "Published":
                seen.append(row)
        skip, limit = max(number["skip"], 0), number["limit"]
        return Response(
            200,
            {
                "items": seen[skip : skip + limit],
                "totalCount": len(seen),
                "skip": skip,
                "limit": limit,
                "instructions": "Content is the source text in capital letters.",
                "projection": {"name": "OpenTasks", "highWaterMark": self.sequence},
            },
        )

    @action
    def marketplace(self, request: Request) -> Response:
        return self.page(request)

    @action
    def tasks(self, request: Request) -> Response:
        self.agent(request)
        return self.page(request)

    def agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self.agents:
            refusal = Refusal(401, "Unauthorized", type=f"{RFC}2")
            why = ' error="invalid_token"' if request.token else ""
            refusal.response.headers["WWW-Authenticate"] = f"Bearer{why}"
            raise refusal
        return self.agents[request.token]

    def command(
        self,
        request: Request,
        name: str,
        state: str,
        decide: Callable[
            [dict[str, Any], dict[str, Any], dict[str, Any]],
            list[tuple[str, str, dict[str, Any]]],
        ],
    ) -> Response:
        """Handle a command: decide returns (event, state after it, data) of each event."""
        agent = self.agent(request)
        given = bind(request, name)
        key = (agent["agent_id"], given["commandId"])
        if key in self.handled:
            print_, answer = self.handled[key]
            if print_ != json.dumps([name, given]):
                raise Refusal(
                    409,
                    "Duplicate command",
                    type="https://ledgerline.example/problems/duplicate-command",
                    detail=f"Command '{given['commandId']}' has already been handled "
                    "with a different body.",
                )
            return Response(200, answer)
        stream = self.streams.get(given["taskId"])
        if stream is None:
            words = f"No event stream with id '{given['taskId']}' was found."
            raise Refusal(404, "Not Found", detail=words)
        if given["expectedVersion"] != stream["version"]:
            raise Refusal(
                409,
                "Concurrency conflict",
                type="https://ledgerline.example/problems/concurrency",
                detail="Unexpected starting version number for event stream "
                f"'{stream['taskId']}', expected {given['expectedVersion']} but was "
                f"{stream['version']}",
            )
        if stream["assignee"] not in (None, agent["agent_id"]):
            words = f"Task '{stream['taskId']}' is assigned to another agent."
            raise Refusal(403, "Forbidden", detail=words)
        if stream["state"] != state:
            raise Refusal(
                422,
                "Command rejected",
                type="https://ledgerline.example/problems/invalid-transition",
                detail=f"{name} needs a task that is {state}, this one is "
                f"{stream['state']}.",
            )
        appended = []
        for event, after, data in decide(agent, stream, given):
            self.sequence += 1
            stream["version"] += 1
            stream["state"] = after
            appended.append(
                {
                    "eventType": event,
                    "version": stream["version"],
                    "sequence": self.sequence,
                    "timestamp": datetime.now(UTC).isoformat(),
                    "data": data,
                }
            )
        self.rows[stream["taskId"]].append((time.monotonic(), dict(stream)))
        answer = {
            "streamId": stream["taskId"],
            "version": stream["version"],
            "causationId": given["commandId"],
            "events": appended,
        }
        self.handled[key] = (json.dumps([name, given]), answer)
        return Response(200, answer)

    @action
    def claim(self, request: Request) -> Response:
        return self.command(request, "ClaimTask", "Published", self.on_claim)

    def on_claim(
        self, agent: dict[str, Any], stream: dict[str, Any], given: dict[str, Any]
    ) -> list[tuple[str, str, dict[str, Any]]]:
        stream["assignee"] = agent["agent_id"]
        self.book.claimed(stream["taskId"])
        return [("TaskClaimed", "Claimed", {"agentId": agent["agent_id"]})]

    @action
    def submit(self, request: Request) -> Response:
        return self.command(request, "SubmitResult", "Claimed", self.on_submit)

    def on_submit(
        self, agent: dict[str, Any], stream: dict[str, Any], given: dict[str, Any]
    ) -> list[tuple[str, str, dict[str, Any]]]:
        if given["content"] != stream["sourceText"].upper():
            raise Refusal(
                422,
                "Command rejected",
                type="https://ledgerline.example/problems/result-not-acceptable",
                detail="The content is not the source text in capital letters.",
            )
        return [
            ("ResultSubmitted", "Submitted", {"length": len(given["content"])}),
            ("ResultApproved", "Approved", {"approvedBy": "policy:exact-capitals"}),
        ]

    @action
    def complete(self, request: Request) -> Response:
        return self.command(request, "CompleteTask", "Approved", self.on_complete)

    def on_complete(
        self, agent: dict[str, Any], stream: dict[str, Any], given: dict[str, Any]
    ) -> list[tuple[str, str, dict[str, Any]]]:
        self.book.pay(stream["taskId"], stream["reward"]["value"])
        agent["credits"] += stream["reward"]["value"]
        paid = {"amount": stream["reward"], "balance": agent["credits"]}
        return [("TaskCompleted", "Completed", {}), ("RewardPaid", "Paid", paid)]
